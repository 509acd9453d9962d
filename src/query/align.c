/* align.c - the rotation that maps one set of vectors as closely as possible to
 * another.
 *
 * Two models of the same words can be equivalent and still have no vector in common,
 * because training determines vectors only up to a rotation. To see what differs beyond
 * that, one of them is rotated first. The orthogonal matrix R that minimizes the sum of
 * |from[i] R - to[i]|^2 is
 *
 *     R = U V^T,   where   U S V^T = sum of from[i]^T to[i]
 *
 * is a singular value decomposition (Schönemann, "A generalized solution of the
 * orthogonal Procrustes problem", Psychometrika 31, 1966).
 *
 * The decomposition uses one-sided Jacobi rotations (Hestenes, 1958): pairs of columns
 * are rotated until all columns are orthogonal. Then the columns are U S, and the
 * product of the rotations is V. It takes about ten sweeps over all pairs, 4 dim^3
 * operations each, and is accurate to the last digits. If the sum is rank-deficient,
 * some columns of U are free; they are set to the columns of V where possible, so that
 * R leaves unknown directions unchanged.
 *
 * Least squares give the most weight to the rows that fit worst: a few words that have
 * really moved pull the rotation toward them, and all other words then seem to have
 * moved a little. So when words are compared individually, the quarter that fits worst
 * is excluded from a second fit.
 *
 * Angles are computed from the distance of two unit vectors and not from their cosine,
 * which rounds to 1 for all small angles.
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
    double *columns;          /* [dim][dim] column-major: the sum, then U S, then U */
    double *right;            /* [dim][dim] column-major: V */
    double *squares;          /* [dim] squared lengths of `columns` */
    const _Atomic bool *stop; /* may be NULL */
    double null_square; /* columns with at most this square are 0 up to rounding */
} decomposition;

struct tide_aligner {
    decomposition s;
    size_t *order;    /* [dim] columns in descending order of length */
    double *rotation; /* [dim][dim] row-major */
    uint32_t rows;    /* maximum for tide_aligner_fit_majority */
    bool *outliers;   /* [rows] excluded from the second fit */
    double *angles;   /* [2][rows] in the order of the rows, and sorted */
};

static bool stopped(const decomposition *s)
{
    return s->stop && *s->stop;
}

static double dot(const double *a, const double *b, size_t dim)
{
    /* Four partial sums, in a fixed order, so that the compiler may vectorize without
     * changing the result between builds. */
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

/* -- the decomposition ------------------------------------------------------------- */

static void compute_squares(decomposition *s)
{
    double largest = 0, epsilon = DBL_EPSILON * (double)s->dim;
    for (size_t j = 0; j < s->dim; j++) {
        const double *column = s->columns + j * s->dim;
        s->squares[j] = dot(column, column, s->dim);
        largest = s->squares[j] > largest ? s->squares[j] : largest;
    }
    /* A column that is smaller than the longest one by this factor consists of rounding
     * errors only. Its direction is meaningless and must not be normalized. */
    s->null_square = largest * epsilon * epsilon;
}

/* Rotates two columns so that they become orthogonal, and accumulates the rotation in
 * V. Returns false if they already are.
 *
 * The tangent of the angle is the root of t^2 + 2 slope t - 1 = 0 with the smaller
 * absolute value: an angle of at most 45 degrees, since larger ones could keep the
 * sweeps from converging. Adding two terms of the same sign avoids cancellation. The
 * rotation moves tangent * product from one squared length to the other, so these need
 * not be recomputed from the columns until the next sweep. */
static bool rotate_pair(decomposition *s, size_t p, size_t q)
{
    double *a = s->columns + p * s->dim, *b = s->columns + q * s->dim;
    double product = dot(a, b, s->dim);
    if (s->squares[p] <= s->null_square || s->squares[q] <= s->null_square ||
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

/* One-sided Jacobi: sweeps over all pairs of columns until none needs a rotation. Every
 * sweep recomputes the squared lengths, because the updates in rotate_pair accumulate
 * rounding errors. */
static void decompose(decomposition *s)
{
    /* V starts as the identity. */
    for (size_t j = 0; j < s->dim; j++)
        s->right[j * s->dim + j] = 1;
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < SWEEPS_MAX; sweep++) {
        rotated = false;
        compute_squares(s);
        for (size_t p = 0; p + 1 < s->dim && !stopped(s); p++)
            for (size_t q = p + 1; q < s->dim; q++)
                rotated |= rotate_pair(s, p, q);
    }
    compute_squares(s);
}

/* -- U ----------------------------------------------------------------------------- */

/* Makes a unit column orthogonal to the first `done` columns of `order` by
 * Gram-Schmidt, and normalizes it. Returns the length that remained before that. If
 * little remains, one pass leaves rounding errors in the result; two are enough. */
static double orthogonalize(const decomposition *s, double *column, const size_t *order,
                            size_t done)
{
    double remaining = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < done; k++) {
            const double *other = s->columns + order[k] * s->dim;
            double projection = dot(column, other, s->dim);
            /* Subtracted one after the other from the current column (modified
             * Gram-Schmidt), which is more accurate than computing all projections
             * first. */
            for (size_t d = 0; d < s->dim; d++)
                column[d] -= projection * other[d];
        }
        double length = sqrt(dot(column, column, s->dim));
        remaining *= length;
        for (size_t d = 0; d < s->dim && length > 0; d++)
            column[d] /= length;
    }
    return remaining;
}

/* Sets a column of U to a direction orthogonal to the columns before it: preferably to
 * the corresponding column of V, which R then maps to itself. Otherwise the next column
 * of V is tried; at least one has 1 / sqrt(dim) of its length outside the span of the
 * columns before. */
static void fill_null_column(decomposition *s, const size_t *order, size_t done)
{
    double *column = s->columns + order[done] * s->dim;
    for (size_t tried = 0; tried < s->dim; tried++) {
        size_t which = (order[done] + tried) % s->dim;
        memcpy(column, s->right + which * s->dim, s->dim * sizeof *column);
        if (orthogonalize(s, column, order, done) > 0.5 / sqrt((double)s->dim))
            return;
    }
}

/* Sorts columns by descending length. Insertion sort is stable. */
static void order_columns(const decomposition *s, size_t *order)
{
    for (size_t j = 0; j < s->dim; j++) {
        size_t at = j;
        for (; at > 0 && s->squares[order[at - 1]] < s->squares[j]; at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
}

/* Turns U S into U: columns of length 1, orthogonal to each other. The longest columns
 * come first, since their direction is known best. */
static void normalize_columns(decomposition *s, size_t *order)
{
    order_columns(s, order);
    for (size_t k = 0; k < s->dim && !stopped(s); k++) {
        size_t j = order[k];
        double *column = s->columns + j * s->dim, length = sqrt(s->squares[j]);
        bool known = s->squares[j] > s->null_square;
        for (size_t d = 0; d < s->dim && known; d++)
            column[d] /= length;
        /* The columns of U S are orthogonal already, up to rounding. If less than half
         * of a unit column remains, rounding was all there was. */
        if (!known || orthogonalize(s, column, order, k) < 0.5)
            fill_null_column(s, order, k);
    }
}

/* -- R ----------------------------------------------------------------------------- */

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

/* Finds R for the rows that are not excluded. `excluded` may be NULL. */
static int fit(tide_aligner *a, const tide_matrix *from, const tide_matrix *to,
               const bool *excluded, tide_error *err)
{
    decomposition *s = &a->s;
    memset(s->columns, 0, s->dim * s->dim * sizeof *s->columns);
    memset(s->right, 0, s->dim * s->dim * sizeof *s->right);
    for (uint32_t i = 0; i < from->count; i++)
        if (!excluded || !excluded[i])
            add_products(s, tide_matrix_row(from, i), tide_matrix_row(to, i));
    /* Sums of products can only be infinite or NaN if some vector was. The
     * decomposition would not converge. */
    if (!all_finite(s))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "cannot align vectors with NaN or infinite components");
    decompose(s);
    normalize_columns(s, a->order);
    if (stopped(s))
        return tide_fail(err, TIDE_ERROR_PARAMETER, "alignment of vectors was stopped");
    multiply(s, a->rotation);
    return TIDE_OK;
}

/* -- the aligner ------------------------------------------------------------------- */

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
        a->outliers = tide_alloc((size_t)rows + 1, sizeof *a->outliers);
        a->angles = tide_alloc((size_t)rows + 1, 2 * sizeof *a->angles);
    }
    if (a && a->s.columns && a->s.right && a->s.squares && a->order && a->rotation &&
        a->outliers && a->angles)
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
    free(a->outliers);
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

/* Marks the quarter of the rows that the rotation fits worst. */
static void mark_outliers(tide_aligner *a, const tide_matrix *from,
                          const tide_matrix *to)
{
    double *sorted = a->angles + a->rows;
    for (uint32_t i = 0; i < from->count && !stopped(&a->s); i++)
        sorted[i] = a->angles[i] =
            tide_aligner_angle(a, tide_matrix_row(from, i), tide_matrix_row(to, i));
    qsort(sorted, from->count, sizeof *sorted, by_angle);
    /* The angle of the row that ranks at three quarters. Rows with exactly this angle
     * stay in, so identical models have no outliers. */
    double limit = sorted[from->count - 1 - from->count / 4];
    for (uint32_t i = 0; i < from->count; i++)
        a->outliers[i] = a->angles[i] > limit;
}

int tide_aligner_fit_majority(tide_aligner *a, const tide_matrix *from,
                              const tide_matrix *to, tide_error *err)
{
    assert(from->count <= a->rows);
    int status = fit(a, from, to, NULL, err);
    if (status || !from->count)
        return status;
    /* One repetition is enough: the first fit is good enough to tell which words have
     * moved, and iterating further would let the excluded set drift. */
    mark_outliers(a, from, to);
    return fit(a, from, to, a->outliers, err);
}

/* out = from R. */
static void apply_rotation(const tide_aligner *a, const float *from, double *out)
{
    size_t dim = a->s.dim;
    memset(out, 0, dim * sizeof *out);
    for (size_t row = 0; row < dim; row++)
        for (size_t column = 0; column < dim; column++)
            out[column] += (double)from[row] * a->rotation[row * dim + column];
}

double tide_aligner_cosine(const tide_aligner *a, const float *from, const float *to)
{
    double rotated[TIDE_DIM_MAX], product = 0;
    apply_rotation(a, from, rotated);
    for (size_t d = 0; d < a->s.dim; d++)
        product += rotated[d] * (double)to[d];
    return product;
}

double tide_aligner_angle(const tide_aligner *a, const float *from, const float *to)
{
    double rotated[TIDE_DIM_MAX], square = 0;
    apply_rotation(a, from, rotated);
    for (size_t d = 0; d < a->s.dim; d++) {
        /* For unit vectors at angle a the distance is 2 sin(a / 2). */
        double difference = rotated[d] - (double)to[d];
        square += difference * difference;
    }
    return 2 * asin(fmin(1, sqrt(square) / 2)) * DEGREES;
}
