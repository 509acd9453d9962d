/* projection.c - words on a plane that turns as little as possible.
 *
 * The plane is the one in which the words differ most (the first two principal components). It is found by
 * multiplying two directions with the covariance again and again, which needs two passes over the rows and no matrix;
 * whatever is not in the plane shrinks each time by the ratio of the third variance to the second. It begins with
 * the plane of the frame before, so that two or three rounds are enough, and stops where it does not turn any more.
 *
 * Within the plane every rotation and every mirror image is as good as any other. So the one is taken that brings the
 * words nearest to their spots in the frame before: of the 2 x 2 sum M of products of new and old spots, the best
 * rotation has the value hypot(M00 + M11, M01 - M10) and the best mirror image hypot(M00 - M11, M01 + M10).
 *
 * The scale is such that all but a fiftieth of the words are within 1. Nothing depends on chance or on threads.
 */
#include "history/projection.h"

#include "vector/vector.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS_MOST = 30 };
#define STILL 1e-9 /* of 2: how much of the plane lies outside of the one before */

int tide_projection_init(tide_projection *p, uint32_t places, uint32_t dim,
                         tide_error *err)
{
    *p = (tide_projection){.places = places, .dim = dim};
    p->basis = tide_alloc(dim, 2 * sizeof *p->basis);
    p->next = tide_alloc(dim, 2 * sizeof *p->next);
    p->mean = tide_alloc(dim, sizeof *p->mean);
    p->spots = tide_alloc(places, sizeof *p->spots);
    p->drawn = tide_alloc(places, sizeof *p->drawn);
    p->radii = tide_alloc(places, sizeof *p->radii);
    p->placed = tide_alloc(places, sizeof *p->placed);
    if (p->basis && p->next && p->mean && p->spots && p->drawn && p->radii && p->placed)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a map of %u words", places);
}

uint64_t tide_projection_bytes(uint32_t places, uint32_t dim)
{
    return 5 * sizeof(double) * dim + (5 * sizeof(double) + sizeof(bool)) * places;
}

void tide_projection_release(tide_projection *p)
{
    free(p->placed);
    free(p->radii);
    free(p->drawn);
    free(p->spots);
    free(p->mean);
    free(p->next);
    free(p->basis);
}

/* -- the plane --------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, uint32_t dim)
{
    double sum = 0;
    for (uint32_t d = 0; d < dim; d++)
        sum += a[d] * b[d];
    return sum;
}

/* What is left of a direction once another is taken out of it (NULL for none), of length 1. False when nothing is. */
static bool make_unit(double *a, const double *other, uint32_t dim)
{
    double before = dot(a, a, dim), part = other ? dot(a, other, dim) : 0;
    for (uint32_t d = 0; d < dim && other; d++)
        a[d] -= part * other[d];
    double square = dot(a, a, dim);
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

/* Two directions of length 1 at right angles. Where there is none left, an axis is taken. */
static void orthonormalize(double *basis, uint32_t dim)
{
    for (uint32_t k = 0; k < 2; k++) {
        double *a = basis + (size_t)k * dim;
        for (uint32_t axis = 0; axis < dim && !make_unit(a, k ? basis : NULL, dim);
             axis++)
            make_axis(a, axis, dim);
    }
}

/* Any two directions that are not likely to miss the plane. */
static void begin(tide_projection *p)
{
    tide_rng rng = tide_rng_seeded(1);
    for (size_t i = 0; i < 2 * (size_t)p->dim; i++)
        p->basis[i] = tide_rng_normal(&rng);
    orthonormalize(p->basis, p->dim);
    p->begun = true;
}

static uint32_t find_mean(tide_projection *p, const tide_matrix *rows,
                          const bool *usable)
{
    uint32_t count = 0;
    memset(p->mean, 0, p->dim * sizeof *p->mean);
    for (uint32_t i = 0; i < p->places; i++) {
        const float *row = tide_matrix_row(rows, i);
        for (uint32_t d = 0; d < p->dim && usable[i]; d++)
            p->mean[d] += (double)row[d];
        count += usable[i];
    }
    for (uint32_t d = 0; d < p->dim && count; d++)
        p->mean[d] /= count;
    return count;
}

static void project(const tide_projection *p, const float *row, double spot[2])
{
    spot[0] = spot[1] = 0;
    for (uint32_t d = 0; d < p->dim; d++) {
        double value = (double)row[d] - p->mean[d];
        spot[0] += value * p->basis[d];
        spot[1] += value * p->basis[p->dim + d];
    }
}

/* One multiplication with the covariance. Returns how much the plane has turned. */
static double turn_plane(tide_projection *p, const tide_matrix *rows,
                         const bool *usable)
{
    uint32_t dim = p->dim;
    memset(p->next, 0, 2 * dim * sizeof *p->next);
    for (uint32_t i = 0; i < p->places; i++) {
        const float *row = tide_matrix_row(rows, i);
        double spot[2];
        if (!usable[i])
            continue;
        project(p, row, spot);
        for (uint32_t d = 0; d < dim; d++) {
            double value = (double)row[d] - p->mean[d];
            p->next[d] += spot[0] * value;
            p->next[dim + d] += spot[1] * value;
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

/* -- spots ------------------------------------------------------------------------------------------- */

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static void scale(tide_projection *p, const bool *usable)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->places; i++)
        if (usable[i])
            p->radii[count++] = hypot(p->drawn[i][0], p->drawn[i][1]);
    qsort(p->radii, count, sizeof *p->radii, by_size);
    double radius = p->radii[count - 1 - count / 50];
    for (uint32_t i = 0; i < p->places && radius > 0; i++) {
        p->drawn[i][0] /= radius;
        p->drawn[i][1] /= radius;
    }
}

/* The 2 x 2 matrix, for a spot as a row from the left. */
static void find_turn(const tide_projection *p, const bool *usable, double turn[2][2])
{
    double m[2][2] = {{0}};
    for (uint32_t i = 0; i < p->places; i++)
        for (int a = 0; a < 2 && usable[i] && p->placed[i]; a++)
            for (int b = 0; b < 2; b++)
                m[a][b] += p->drawn[i][a] * p->spots[i][b];
    double straight = hypot(m[0][0] + m[1][1], m[0][1] - m[1][0]);
    double mirrored = hypot(m[0][0] - m[1][1], m[0][1] + m[1][0]);
    double sign = mirrored > straight ? -1 : 1, size = fmax(straight, mirrored);
    double cosine = size > 0 ? (m[0][0] + sign * m[1][1]) / size : 1;
    double sine = size > 0 ? (m[0][1] - sign * m[1][0]) / size : 0;
    turn[0][0] = cosine;
    turn[0][1] = sine;
    turn[1][0] = -sign * sine;
    turn[1][1] = sign * cosine;
}

static void turn_pair(double turn[2][2], double *x, double *y)
{
    double a = *x, b = *y;
    *x = a * turn[0][0] + b * turn[1][0];
    *y = a * turn[0][1] + b * turn[1][1];
}

void tide_projection_update(tide_projection *p, const tide_matrix *rows,
                            const bool *usable)
{
    if (!p->begun)
        begin(p);
    if (!find_mean(p, rows, usable))
        return;
    for (int round = 0; round < ROUNDS_MOST; round++)
        if (turn_plane(p, rows, usable) < STILL)
            break;
    for (uint32_t i = 0; i < p->places; i++)
        if (usable[i])
            project(p, tide_matrix_row(rows, i), p->drawn[i]);
    scale(p, usable);
    double turn[2][2];
    find_turn(p, usable, turn);
    for (uint32_t d = 0; d < p->dim; d++)
        turn_pair(turn, &p->basis[d], &p->basis[p->dim + d]);
    for (uint32_t i = 0; i < p->places; i++) {
        p->placed[i] = usable[i];
        if (!usable[i])
            continue;
        turn_pair(turn, &p->drawn[i][0], &p->drawn[i][1]);
        memcpy(p->spots[i], p->drawn[i], sizeof p->spots[i]);
    }
}
