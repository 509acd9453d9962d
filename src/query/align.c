/* align.c - the rotation that brings one set of vectors nearest to another.
 *
 * Two models of the same words can be equal in all that matters and still have no vector in common:
 * training fixes vectors up to a rotation. To see what has changed beyond that, one of them is
 * turned first. The orthogonal matrix R for which the sum of |from[i] R - to[i]|^2 is least is
 *
 *     R = U V^T,   where   U S V^T = sum of from[i]^T to[i]
 *
 * is a singular value decomposition (Schönemann, "A generalized solution of the orthogonal
 * Procrustes problem", Psychometrika 31, 1966).
 *
 * The decomposition is one-sided Jacobi (Hestenes, 1958): pairs of columns are rotated until all are
 * orthogonal. Then they are U S, and the product of the rotations is V. It needs some ten sweeps over
 * all pairs, 4 dim^3 operations each, and is exact to the last digits. Where the sum has no full rank,
 * some columns of U are free: what nothing is known about stays where it is as far as it can.
 *
 * Squares give most weight to what fits worst: a few words that have really moved pull the rotation their
 * way, and all others seem to have moved a little. So where words are to be judged one by one, the
 * quarter that the first rotation fits worst has no say in the second.
 *
 * Angles are found from the distance of two unit vectors and not from their cosine, which is 1 to the last
 * digit for every small angle.
 */
#include "query/query.h"
#include "vector/vector.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { SWEEPS_MAX = 60 };
#define ORTHOGONAL 1e-14          /* cosine of two columns that need no rotation */
#define DEGREES 57.29577951308232 /* of an angle of length 1 */

typedef struct decomposition {
    size_t dim;
    double *columns; /* [dim][dim] column by column: the sum, then U S, then U */
    double *right;   /* [dim][dim] column by column: V */
    double *squares; /* [dim] of the columns' lengths */
    const _Atomic bool *stop; /* NULL without */
    double null; /* a column whose square is not above this is zero but for rounding */
} decomposition;

struct tide_aligner {
    decomposition s;
    size_t *order;    /* [dim] columns by falling length */
    double *rotation; /* [dim][dim] row by row */
    uint32_t rows;    /* that can be fitted */
    bool *turned;     /* [rows] those that are left out of the second fit */
    double *angles;   /* [2][rows] as they are, and to be sorted */
};

static bool stopped(const decomposition *s)
{
    return s->stop && *s->stop;
}

static double dot(const double *a, const double *b, size_t dim)
{
    double sum[4] = {0};
    size_t d = 0;
    for (; d + 4 <= dim; d += 4)
        for (size_t lane = 0; lane < 4; lane++)
            sum[lane] += a[d + lane] * b[d + lane];
    for (; d < dim; d++)
        sum[0] += a[d] * b[d];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void rotate(double *restrict a, double *restrict b, double cosine, double sine,
                   size_t dim)
{
    for (size_t d = 0; d < dim; d++) {
        double x = a[d], y = b[d];
        a[d] = cosine * x - sine * y;
        b[d] = sine * x + cosine * y;
    }
}

static void add_products(decomposition *s, const float *from, const float *to)
{
    for (size_t column = 0; column < s->dim; column++) {
        double *sum = s->columns + column * s->dim, factor = (double)to[column];
        for (size_t row = 0; row < s->dim; row++)
            sum[row] += (double)from[row] * factor;
    }
}

/* -- the decomposition --------------------------------------------------------------------------- */

static void measure_columns(decomposition *s)
{
    double largest = 0, epsilon = DBL_EPSILON * (double)s->dim;
    for (size_t j = 0; j < s->dim; j++) {
        const double *column = s->columns + j * s->dim;
        s->squares[j] = dot(column, column, s->dim);
        largest = s->squares[j] > largest ? s->squares[j] : largest;
    }
    s->null = largest * epsilon * epsilon;
}

/* Makes two columns orthogonal. False when they are already. */
static bool rotate_pair(decomposition *s, size_t p, size_t q)
{
    double *a = s->columns + p * s->dim, *b = s->columns + q * s->dim;
    double product = dot(a, b, s->dim);
    if (s->squares[p] <= s->null || s->squares[q] <= s->null ||
        fabs(product) <= ORTHOGONAL * sqrt(s->squares[p]) * sqrt(s->squares[q]))
        return false;
    double slope = (s->squares[q] - s->squares[p]) / (2 * product);
    double tangent = copysign(1, slope) / (fabs(slope) + hypot(1, slope));
    double cosine = 1 / hypot(1, tangent), sine = cosine * tangent;
    rotate(a, b, cosine, sine, s->dim);
    rotate(s->right + p * s->dim, s->right + q * s->dim, cosine, sine, s->dim);
    s->squares[p] = fmax(0, s->squares[p] - tangent * product);
    s->squares[q] += tangent * product;
    return true;
}

static void decompose(decomposition *s)
{
    for (size_t j = 0; j < s->dim; j++)
        s->right[j * s->dim + j] = 1;
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < SWEEPS_MAX; sweep++) {
        rotated = false;
        measure_columns(s);
        for (size_t p = 0; p + 1 < s->dim && !stopped(s); p++)
            for (size_t q = p + 1; q < s->dim; q++)
                rotated |= rotate_pair(s, p, q);
    }
    measure_columns(s);
}

/* -- U ------------------------------------------------------------------------------------------- */

/* Takes out of the column what others contain: those of `order` before `done`. Returns what is left
 * of its length, which becomes 1 again. Once is not enough where little is left, twice is. */
static double orthogonalise(const decomposition *s, double *column, const size_t *order,
                            size_t done)
{
    double left = 1;
    for (int round = 0; round < 2; round++) {
        for (size_t k = 0; k < done; k++) {
            const double *other = s->columns + order[k] * s->dim;
            double part = dot(column, other, s->dim);
            for (size_t d = 0; d < s->dim; d++)
                column[d] -= part * other[d];
        }
        double length = sqrt(dot(column, column, s->dim));
        left *= length;
        for (size_t d = 0; d < s->dim && length > 0; d++)
            column[d] /= length;
    }
    return left;
}

/* A direction that no column before has: that of V if it can be. One of the columns of V has at
 * least 1 / sqrt(dim) of its length outside of the others. */
static void invent_column(decomposition *s, const size_t *order, size_t done)
{
    double *column = s->columns + order[done] * s->dim;
    for (size_t tried = 0; tried < s->dim; tried++) {
        size_t which = (order[done] + tried) % s->dim;
        memcpy(column, s->right + which * s->dim, s->dim * sizeof *column);
        if (orthogonalise(s, column, order, done) > 0.5 / sqrt((double)s->dim))
            return;
    }
}

/* Columns by falling length; insertion keeps equal ones in their order. */
static void order_columns(const decomposition *s, size_t *order)
{
    for (size_t j = 0; j < s->dim; j++) {
        size_t at = j;
        for (; at > 0 && s->squares[order[at - 1]] < s->squares[j]; at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
}

/* From U S to U: columns of length 1, all orthogonal. */
static void normalize_columns(decomposition *s, size_t *order)
{
    order_columns(s, order);
    for (size_t k = 0; k < s->dim && !stopped(s); k++) {
        size_t j = order[k];
        double *column = s->columns + j * s->dim, length = sqrt(s->squares[j]);
        bool known = s->squares[j] > s->null;
        for (size_t d = 0; d < s->dim && known; d++)
            column[d] /= length;
        if (!known || orthogonalise(s, column, order, k) < 0.5)
            invent_column(s, order, k);
    }
}

/* -- R ------------------------------------------------------------------------------------------- */

static void multiply(const decomposition *s, double *rotation)
{
    memset(rotation, 0, s->dim * s->dim * sizeof *rotation);
    for (size_t j = 0; j < s->dim; j++) {
        const double *u = s->columns + j * s->dim, *v = s->right + j * s->dim;
        for (size_t row = 0; row < s->dim; row++)
            for (size_t column = 0; column < s->dim; column++)
                rotation[row * s->dim + column] += u[row] * v[column];
    }
}

static bool all_finite(const decomposition *s)
{
    for (size_t i = 0; i < s->dim * s->dim; i++)
        if (!isfinite(s->columns[i]))
            return false;
    return true;
}

/* `without` may be NULL. */
static int fit(tide_aligner *a, const tide_matrix *from, const tide_matrix *to,
               const bool *without, tide_error *err)
{
    decomposition *s = &a->s;
    memset(s->columns, 0, s->dim * s->dim * sizeof *s->columns);
    memset(s->right, 0, s->dim * s->dim * sizeof *s->right);
    for (uint32_t i = 0; i < from->count; i++)
        if (!without || !without[i])
            add_products(s, tide_matrix_row(from, i), tide_matrix_row(to, i));
    if (!all_finite(s))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "vectors to be aligned have numbers that are not finite");
    decompose(s);
    normalize_columns(s, a->order);
    if (stopped(s))
        return tide_fail(err, TIDE_ERROR_PARAMETER, "aligning vectors was stopped");
    multiply(s, a->rotation);
    return TIDE_OK;
}

/* -- the aligner ----------------------------------------------------------------------------------- */

tide_aligner *tide_aligner_new(uint32_t dim, uint32_t rows, tide_error *err)
{
    tide_aligner *a = tide_alloc(1, sizeof *a);
    if (a) {
        size_t square = (size_t)dim * dim;
        a->rows = rows;
        a->s.dim = dim;
        a->s.columns = tide_alloc(square, sizeof *a->s.columns);
        a->s.right = tide_alloc(square, sizeof *a->s.right);
        a->s.squares = tide_alloc(dim, sizeof *a->s.squares);
        a->order = tide_alloc(dim, sizeof *a->order);
        a->rotation = tide_alloc(square, sizeof *a->rotation);
        a->turned = tide_alloc((size_t)rows + 1, sizeof *a->turned);
        a->angles = tide_alloc((size_t)rows + 1, 2 * sizeof *a->angles);
    }
    if (a && a->s.columns && a->s.right && a->s.squares && a->order && a->rotation &&
        a->turned && a->angles)
        return a;
    tide_aligner_free(a);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to align vectors");
    return NULL;
}

void tide_aligner_free(tide_aligner *a)
{
    if (!a)
        return;
    free(a->angles);
    free(a->turned);
    free(a->rotation);
    free(a->order);
    free(a->s.squares);
    free(a->s.right);
    free(a->s.columns);
    free(a);
}

uint64_t tide_aligner_bytes(uint32_t dim, uint32_t rows)
{
    uint64_t row = sizeof(bool) + 2 * sizeof(double);
    return sizeof(tide_aligner) + 3 * sizeof(double) * dim * dim +
           (sizeof(double) + sizeof(size_t)) * dim + row * ((uint64_t)rows + 1);
}

void tide_aligner_set_stop(tide_aligner *a, const _Atomic bool *stop)
{
    a->s.stop = stop;
}

const double *tide_aligner_rotation(const tide_aligner *a)
{
    return a->rotation;
}

int tide_aligner_fit(tide_aligner *a, const tide_matrix *from, const tide_matrix *to,
                     tide_error *err)
{
    return fit(a, from, to, NULL, err);
}

static int by_angle(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* Marks the quarter of the rows that the rotation leaves farthest from where they should be. */
static void mark_turned(tide_aligner *a, const tide_matrix *from, const tide_matrix *to)
{
    double *sorted = a->angles + a->rows;
    for (uint32_t i = 0; i < from->count && !stopped(&a->s); i++)
        sorted[i] = a->angles[i] =
            tide_aligner_angle(a, tide_matrix_row(from, i), tide_matrix_row(to, i));
    qsort(sorted, from->count, sizeof *sorted, by_angle);
    double most = sorted[from->count - 1 - from->count / 4];
    for (uint32_t i = 0; i < from->count; i++)
        a->turned[i] = a->angles[i] > most;
}

int tide_aligner_fit_most(tide_aligner *a, const tide_matrix *from,
                          const tide_matrix *to, tide_error *err)
{
    assert(from->count <= a->rows);
    int status = fit(a, from, to, NULL, err);
    if (status || !from->count)
        return status;
    mark_turned(a, from, to);
    return fit(a, from, to, a->turned, err);
}

/* The row that the rotation brings `from` to. */
static void turn(const tide_aligner *a, const float *from, double *out)
{
    size_t dim = a->s.dim;
    memset(out, 0, dim * sizeof *out);
    for (size_t row = 0; row < dim; row++)
        for (size_t column = 0; column < dim; column++)
            out[column] += (double)from[row] * a->rotation[row * dim + column];
}

double tide_aligner_cosine(const tide_aligner *a, const float *from, const float *to)
{
    double turned[TIDE_DIM_MAX], product = 0;
    turn(a, from, turned);
    for (size_t d = 0; d < a->s.dim; d++)
        product += turned[d] * (double)to[d];
    return product;
}

double tide_aligner_angle(const tide_aligner *a, const float *from, const float *to)
{
    double turned[TIDE_DIM_MAX], square = 0;
    turn(a, from, turned);
    for (size_t d = 0; d < a->s.dim; d++) {
        double apart = turned[d] - (double)to[d];
        square += apart * apart;
    }
    return 2 * asin(fmin(1, sqrt(square) / 2)) * DEGREES;
}
