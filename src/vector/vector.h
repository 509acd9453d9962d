/* vector.h - matrices of float rows, and the arithmetic on them. */
#ifndef TIDE_VECTOR_H
#define TIDE_VECTOR_H

#include "file/file.h"

/* -- matrix (matrix.c) ------------------------------------------------------------- */

/* Rows of `dim` floats, padded with zeros to a stride that is a multiple of 16; each
 * row starts on a cache line. Every kernel leaves the padding zero. */
typedef struct tide_matrix {
    float *rows; /* [count][stride] */
    uint32_t count;
    uint32_t dim;
    uint32_t stride;
} tide_matrix;

uint32_t tide_stride(uint32_t dim);
uint64_t tide_matrix_bytes(uint64_t count, uint32_t dim);

/* All values start as zero. On failure `rows` is NULL. */
int tide_matrix_init(tide_matrix *m, uint32_t count, uint32_t dim, tide_error *err);
void tide_matrix_release(tide_matrix *m);

static inline float *tide_matrix_row(const tide_matrix *m, uint32_t row)
{
    return m->rows + (size_t)row * m->stride;
}

/* Prefetches a row for writing, into all caches. */
static inline void tide_prefetch_row(const float *row, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += 16)
        __builtin_prefetch(row + i, 1, 3);
}

/* Prefetches a row that is needed later, without displacing lines of the L1 cache. */
static inline void tide_prefetch_row_late(const float *row, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += 16)
        __builtin_prefetch(row + i, 1, 2);
}

/* Save and load the first `count` rows without their padding. Loading fails if a value
 * is not finite. */
void tide_matrix_save(const tide_matrix *m, uint32_t count, const char *section,
                      tide_store_writer *writer);
int tide_matrix_load(tide_matrix *m, uint32_t count, const char *section,
                     tide_store *store, tide_error *err);

/* Tests the bits, so that -ffast-math cannot optimize the test away. */
static inline bool tide_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

/* -- bfloats (bfloats.c) ----------------------------------------------------------- */

/* Rows of bfloat16, the upper halves of floats, with the stride of rows of floats. */
typedef struct tide_bfloats {
    uint16_t *rows; /* [count][stride] */
    uint32_t count;
    uint32_t dim;
    uint32_t stride;
} tide_bfloats;

uint64_t tide_bfloats_bytes(uint64_t count, uint32_t dim);

/* As for matrices. */
int tide_bfloats_init(tide_bfloats *m, uint32_t count, uint32_t dim, tide_error *err);
void tide_bfloats_release(tide_bfloats *m);
void tide_bfloats_save(const tide_bfloats *m, uint32_t count, const char *section,
                       tide_store_writer *writer);
int tide_bfloats_load(tide_bfloats *m, uint32_t count, const char *section,
                      tide_store *store, tide_error *err);

/* Whether no number of the row is NaN or of a magnitude above `max`. */
bool tide_bfloats_are_within(const tide_bfloats *m, uint32_t row, float max);

static inline uint16_t *tide_bfloats_row(const tide_bfloats *m, uint32_t row)
{
    return m->rows + (size_t)row * m->stride;
}

/* -- kernels (kernels.c; kernels_tmpl.h is compiled once per instruction set) ------ */

/* Vectors x processed together by the block and quad kernels. */
#define TIDE_BLOCK 8
#define TIDE_QUAD 4

/* Row-wise AdaGrad, with one sum of squared gradients per row:
 *     sum += square * scale;  rate = max(floor, eta / sqrt(base + sum / scale)).
 * `scale` grows with the age of the stream, so that old gradients decay
 * (sgns/optimizer.c). */
typedef struct tide_adagrad {
    float eta;
    float base;
    float floor;
    float scale;
    uint32_t shift; /* layout of the sums: see tide_sum_at */
} tide_adagrad;

/* Index of the sum of a slot. The first slots belong to the most frequent words, and
 * with sixteen of their sums in one cache line all threads would contend for it. So the
 * sums of adjacent slots are 64 bytes apart, and slots that share a line are 1 << shift
 * apart. The array has 16 << shift elements. */
static inline size_t tide_sum_at(uint32_t slot, uint32_t shift)
{
    uint32_t low = slot & ((UINT32_C(1) << shift) - 1);
    return (size_t)low << 4 | slot >> shift;
}

/* Queries compared with many rows at once. Unused ones have zero vectors and a bound of
 * INFINITY. */
#define TIDE_QUERY_BATCH 16

typedef struct tide_query_batch {
    float offsets[TIDE_QUERY_BATCH] __attribute__((aligned(64))); /* <vector, center> */
    float bounds[TIDE_QUERY_BATCH]; /* smaller cosines are ignored */
    float center_square;
    uint32_t dim;
    const float *vectors; /* [stride][TIDE_QUERY_BATCH], each of length 1 */
    const float *center;  /* [stride] */
} tide_query_batch;

/* Rows are `stride` floats and aligned to cache lines. Other threads may write the rows
 * and sums at the same time: these data races are intended, and only this code has
 * any. */
typedef struct tide_kernels {
    const char *name;

    float (*dot)(const float *x, const float *y, uint32_t stride);

    /* out[j] = <x, rows[j]>. `out` has `count` elements, rounded up to 8. */
    void (*dots)(const float *x, float *const *rows, size_t count, uint32_t stride,
                 float *out);

    /* errors[j] = weights[j] * ((j < positives) - sigmoid(errors[j])). The arrays have
     * `count` elements, rounded up to 16. */
    void (*errors)(float *errors, const float *weights, size_t positives, size_t count);

    /* Adds squares[j] to the sum of slots[j]; rates[j] is the resulting learning rate.
     * `rates` has `count` elements, rounded up to 16. */
    void (*adagrad)(const tide_adagrad *options, float *sums, const uint32_t *slots,
                    const float *squares, size_t count, float *rates);

    /* The same for one sum; returns the rate. */
    float (*adagrad_one)(const tide_adagrad *options, float *sum, float square);

    /* The same for sums[j] + added[j], where `added` is the part of a sum that only the
     * calling thread knows until it merges it. The arrays have `count` elements,
     * rounded up to 16. */
    void (*adagrad_partial)(const tide_adagrad *options, const float *sums,
                            float *added, const float *squares, size_t count,
                            float *rates);

    /* For each j in order: gradient += errors[j] * rows[j], then rows[j] += rates[j] *
     * errors[j] * x. */
    void (*spread)(const float *x, float *const *rows, const float *errors,
                   const float *rates, size_t count, uint32_t stride, float *gradient);

    /* The same for TIDE_BLOCK vectors x at once, `stride` apart: out[j][i] = <x_i,
     * rows[j]>. block_spread first computes gradient_i += errors[j][i] * rows[j] for
     * all i and j, then rows[j] += rates[j] * sum over i of errors[j][i] * x_i. */
    void (*block_dots)(const float *x, float *const *rows, size_t count,
                       uint32_t stride, float (*out)[TIDE_BLOCK]);
    void (*block_spread)(const float *x, float *const *rows,
                         const float (*errors)[TIDE_BLOCK], const float *rates,
                         size_t count, uint32_t stride, float *gradients);

    /* The same for TIDE_QUAD vectors, but quad_spread goes row by row: a row that
     * occurs twice is already updated the second time. squares_out[j] = sum over i of
     * errors[j][i]^2 * squares[i]. `errors` and `squares_out` have `count` elements,
     * rounded up to 4. */
    void (*quad_dots)(const float *x, float *const *rows, size_t count, uint32_t stride,
                      float (*out)[TIDE_QUAD]);
    void (*quad_squares)(const float (*errors)[TIDE_QUAD], const float *squares,
                         size_t count, float *squares_out);
    void (*quad_spread)(const float *x, float *const *rows,
                        const float (*errors)[TIDE_QUAD], const float *rates,
                        size_t count, uint32_t stride, float *gradients);

    /* `spread` in the order of the paper, for each j: rows[j] += rates[j] * errors[j] *
     * x, then gradient += errors[j] * rows[j]. */
    void (*spread_after)(const float *x, float *const *rows, const float *errors,
                         const float *rates, size_t count, uint32_t stride,
                         float *gradient);

    /* `spread` and `add` with AdaGrad per coordinate: the sums have the shape of the
     * rows. */
    void (*spread_coordinates)(const float *x, float *const *rows, float *const *sums,
                               const float *errors, float eta, size_t count,
                               uint32_t stride, float *gradient);
    void (*add_coordinates)(float *row, float *sums, const float *gradient, float eta,
                            uint32_t stride);

    /* row += step * x. */
    void (*add)(float *row, float step, const float *x, uint32_t stride);

    /* out = (sum of the rows) * factor. */
    void (*sum)(float *const *rows, size_t count, float factor, uint32_t stride,
                float *out);

    void (*copy)(float *row, const float *x, uint32_t stride);

    /* Rows of bfloat16, with the same stride: row = bfloats; bfloats = row, rounded to
     * nearest; bfloats += x. */
    void (*read_bfloats)(float *row, const uint16_t *bfloats, uint32_t stride);
    void (*write_bfloats)(uint16_t *bfloats, const float *row, uint32_t stride);
    void (*add_bfloats)(uint16_t *bfloats, const float *x, uint32_t stride);

    /* out = (sum of the rows of bfloat16) * factor. */
    void (*sum_bfloats)(uint16_t *const *rows, size_t count, float factor,
                        uint32_t stride, float *out);

    /* For each j in order: sum += rows[j], then rows[j] += rates[j] * x. A row is
     * rounded up or down at random, so that moves too small for its precision count in
     * the mean. The randomness comes from `noise` alone. */
    void (*spread_bfloats)(const float *x, uint16_t *const *rows, const float *rates,
                           size_t count, uint32_t stride, uint32_t noise, float *sum);

    /* scores[j][i] = cosine(query i, rows[j] - center) with an error below 1e-4, or NAN
     * where it would be less accurate. near[j] is set unless all scores of row j are
     * below their bounds. `scores` is aligned to a cache line. */
    void (*cosines)(const tide_query_batch *questions, float *const *rows, size_t count,
                    uint32_t stride, float (*scores)[TIDE_QUERY_BATCH], bool *near);
} tide_kernels;

/* The fastest set that this processor can run. */
const tide_kernels *tide_kernels_best(void);

/* Set number `index`; NULL past the last. *usable: whether this processor can run
 * it. */
const tide_kernels *tide_kernels_at(size_t index, bool *usable);

#endif
