/* projection.c - a two-dimensional map of the words that moves as little as possible.
 *
 * Words are projected onto the plane of largest variance (the first two principal
 * components). The plane is found by orthogonal (power) iteration: two directions are
 * repeatedly multiplied by the covariance, which takes two passes over the rows and no
 * matrix. Components outside of the plane shrink each time by the ratio of the third
 * variance to the second. The iteration starts from the plane of the previous frame, so
 * two or three rounds usually suffice, and stops when the plane no longer rotates.
 *
 * Within the plane any rotation and reflection is equally good, so the one is chosen
 * that moves the words least from their previous points. Let M be the 2 x 2 sum of
 * products of new and old points. The best rotation then attains hypot(M00 + M11, M01 -
 * M10), and the best reflection hypot(M00 - M11, M01 + M10).
 *
 * The scale puts all but one in 50 words within radius 1. The result is deterministic.
 */
#include "history/projection.h"

#include "vector/vector.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 30 };
#define CONVERGED                                                                      \
    1e-9 /* how much of the plane, of 2, lies outside of the previous one */

int tide_projection_init(tide_projection *p, uint32_t rows, uint32_t dim,
                         tide_error *err)
{
    *p = (tide_projection){.rows = rows, .dim = dim};
    p->basis = tide_alloc(dim, 2 * sizeof *p->basis);
    p->next = tide_alloc(dim, 2 * sizeof *p->next);
    p->mean = tide_alloc(dim, sizeof *p->mean);
    p->points = tide_alloc(rows, sizeof *p->points);
    p->next_points = tide_alloc(rows, sizeof *p->next_points);
    p->radii = tide_alloc(rows, sizeof *p->radii);
    p->has_point = tide_alloc(rows, sizeof *p->has_point);
    if (p->basis && p->next && p->mean && p->points && p->next_points && p->radii &&
        p->has_point)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a map of %u words", rows);
}

uint64_t tide_projection_bytes(uint32_t rows, uint32_t dim)
{
    return 5 * sizeof(double) * dim + (5 * sizeof(double) + sizeof(bool)) * rows;
}

void tide_projection_release(tide_projection *p)
{
    free(p->has_point);
    free(p->radii);
    free(p->next_points);
    free(p->points);
    free(p->mean);
    free(p->next);
    free(p->basis);
}

/* -- plane ------------------------------------------------------------------------ */

static double dot(const double *a, const double *b, uint32_t dim)
{
    double sum = 0;
    for (uint32_t d = 0; d < dim; d++)
        sum += a[d] * b[d];
    return sum;
}

/* Removes `other` (unless NULL) from the direction `a` and normalizes what is left.
 * Returns false if nothing is: the directions were parallel up to rounding. */
static bool orthogonalize(double *a, const double *other, uint32_t dim)
{
    double before = dot(a, a, dim), part = other ? dot(a, other, dim) : 0;
    for (uint32_t d = 0; d < dim && other; d++)
        a[d] -= part * other[d];
    double square = dot(a, a, dim);
    /* Written so that NaN counts as nothing, too. */
    if (!(square > 1e-20 * before))
        return false;
    for (uint32_t d = 0; d < dim; d++)
        a[d] /= sqrt(square);
    return true;
}

static void make_axis(double *a, uint32_t axis, uint32_t dim)
{
    for (uint32_t d = 0; d < dim; d++)
        a[d] = d == axis;
}

/* Gram-Schmidt on the two directions. A direction that vanishes is replaced by an
 * axis. */
static void orthonormalize(double *basis, uint32_t dim)
{
    for (uint32_t k = 0; k < 2; k++) {
        double *a = basis + (size_t)k * dim;
        for (uint32_t axis = 0; axis < dim && !orthogonalize(a, k ? basis : NULL, dim);
             axis++)
            make_axis(a, axis, dim);
    }
}

/* Starts from two random directions, which are unlikely to be orthogonal to the
 * plane. */
static void init_basis(tide_projection *p)
{
    /* A fixed seed: the same history draws the same map. */
    tide_rng rng = tide_rng_seeded(1);
    for (size_t i = 0; i < 2 * (size_t)p->dim; i++)
        p->basis[i] = tide_rng_normal(&rng);
    orthonormalize(p->basis, p->dim);
    p->has_basis = true;
}

static uint32_t compute_mean(tide_projection *p, const tide_matrix *rows,
                             const bool *has_vector)
{
    uint32_t count = 0;
    memset(p->mean, 0, p->dim * sizeof *p->mean);
    for (uint32_t i = 0; i < p->rows; i++) {
        const float *row = tide_matrix_row(rows, i);
        for (uint32_t d = 0; d < p->dim && has_vector[i]; d++)
            p->mean[d] += (double)row[d];
        count += has_vector[i];
    }
    for (uint32_t d = 0; d < p->dim && count; d++)
        p->mean[d] /= count;
    return count;
}

static void project(const tide_projection *p, const float *row, double point[2])
{
    point[0] = point[1] = 0;
    for (uint32_t d = 0; d < p->dim; d++) {
        double value = (double)row[d] - p->mean[d];
        point[0] += value * p->basis[d];
        point[1] += value * p->basis[p->dim + d];
    }
}

/* Multiplies both directions by the covariance, without forming it: the sum over all
 * rows of the centered row times its coordinates in the plane. Returns how much of the
 * plane lies outside of the previous one: 2 minus the sum of squared cosines between
 * the two, which is 0 for the same plane in any basis. */
static double iterate(tide_projection *p, const tide_matrix *rows,
                      const bool *has_vector)
{
    uint32_t dim = p->dim;
    memset(p->next, 0, 2 * dim * sizeof *p->next);
    for (uint32_t i = 0; i < p->rows; i++) {
        const float *row = tide_matrix_row(rows, i);
        double point[2];
        if (!has_vector[i])
            continue;
        project(p, row, point);
        for (uint32_t d = 0; d < dim; d++) {
            double value = (double)row[d] - p->mean[d];
            p->next[d] += point[0] * value;
            p->next[dim + d] += point[1] * value;
        }
    }
    orthonormalize(p->next, dim);
    double shared = 0;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            double part = dot(p->next + a * dim, p->basis + b * dim, dim);
            shared += part * part;
        }
    memcpy(p->basis, p->next, 2 * dim * sizeof *p->basis);
    return 2 - shared;
}

/* -- points ----------------------------------------------------------------------- */

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static void scale_points(tide_projection *p, const bool *has_vector)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->rows; i++)
        if (has_vector[i])
            p->radii[count++] = hypot(p->next_points[i][0], p->next_points[i][1]);
    qsort(p->radii, count, sizeof *p->radii, by_size);
    /* The few outermost words may be far out and would squeeze all others into the
     * center. */
    double radius = p->radii[count - 1 - count / 50];
    for (uint32_t i = 0; i < p->rows && radius > 0; i++) {
        p->next_points[i][0] /= radius;
        p->next_points[i][1] /= radius;
    }
}

/* The orthogonal 2 x 2 matrix that takes the new points closest to the previous ones,
 * to be multiplied by a point as a row vector from the left. Only words on both maps
 * count. The sign decides between rotation and reflection, whichever attains more. */
static void find_alignment(const tide_projection *p, const bool *has_vector,
                           double alignment[2][2])
{
    double m[2][2] = {{0}};
    for (uint32_t i = 0; i < p->rows; i++)
        for (int a = 0; a < 2 && has_vector[i] && p->has_point[i]; a++)
            for (int b = 0; b < 2; b++)
                m[a][b] += p->next_points[i][a] * p->points[i][b];
    /* Without any word in common both are 0, and the matrix below becomes the
     * identity. */
    double straight = hypot(m[0][0] + m[1][1], m[0][1] - m[1][0]);
    double mirrored = hypot(m[0][0] - m[1][1], m[0][1] + m[1][0]);
    double sign = mirrored > straight ? -1 : 1, size = fmax(straight, mirrored);
    double cosine = size > 0 ? (m[0][0] + sign * m[1][1]) / size : 1;
    double sine = size > 0 ? (m[0][1] - sign * m[1][0]) / size : 0;
    alignment[0][0] = cosine;
    alignment[0][1] = sine;
    alignment[1][0] = -sign * sine;
    alignment[1][1] = sign * cosine;
}

static void rotate(double alignment[2][2], double *x, double *y)
{
    double a = *x, b = *y;
    *x = a * alignment[0][0] + b * alignment[1][0];
    *y = a * alignment[0][1] + b * alignment[1][1];
}

void tide_projection_update(tide_projection *p, const tide_matrix *rows,
                            const bool *has_vector)
{
    if (!p->has_basis)
        init_basis(p);
    if (!compute_mean(p, rows, has_vector))
        return;
    /* If it has not converged, because the second and third variance are nearly equal,
     * any plane is as good as another, and the next update continues from this one. */
    for (int iteration = 0; iteration < ROUNDS_MAX; iteration++)
        if (iterate(p, rows, has_vector) < CONVERGED)
            break;
    for (uint32_t i = 0; i < p->rows; i++)
        if (has_vector[i])
            project(p, tide_matrix_row(rows, i), p->next_points[i]);
    scale_points(p, has_vector);
    double alignment[2][2];
    find_alignment(p, has_vector, alignment);
    /* The basis is aligned as well, so that the next iteration starts from what was
     * shown. */
    for (uint32_t d = 0; d < p->dim; d++)
        rotate(alignment, &p->basis[d], &p->basis[p->dim + d]);
    for (uint32_t i = 0; i < p->rows; i++) {
        p->has_point[i] = has_vector[i];
        if (!has_vector[i])
            continue;
        rotate(alignment, &p->next_points[i][0], &p->next_points[i][1]);
        memcpy(p->points[i], p->next_points[i], sizeof p->points[i]);
    }
}
