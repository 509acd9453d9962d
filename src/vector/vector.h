/* vector.h - matrices of float rows, and the arithmetic on them. */
#ifndef TIDE_VECTOR_H
#define TIDE_VECTOR_H

#include "file/file.h"

/* -- matrix (matrix.c) ----------------------------------------------------------------------- */

/* Rows of `dim` floats at a stride that is a multiple of 16 and padded with zeros, each row
 * beginning on a cache line. Every kernel keeps the padding zero. */
typedef struct tide_matrix {
    float *rows; /* [count][stride] */
    uint32_t count;
    uint32_t dim;
    uint32_t stride;
} tide_matrix;

uint32_t tide_stride(uint32_t dim);
uint64_t tide_matrix_bytes(uint64_t count, uint32_t dim);

/* All zero. On failure rows is NULL. */
int tide_matrix_init(tide_matrix *m, uint32_t count, uint32_t dim, tide_error *err);
void tide_matrix_release(tide_matrix *m);

static inline float *tide_matrix_row(const tide_matrix *m, uint32_t row)
{
    return m->rows + (size_t)row * m->stride;
}

static inline void tide_prefetch_row(const float *row, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += 16)
        __builtin_prefetch(row + i, 1, 3);
}

/* The same for what is needed so late that the nearest cache has better use for its room until then. */
static inline void tide_prefetch_row_late(const float *row, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += 16)
        __builtin_prefetch(row + i, 1, 2);
}

/* The first `count` rows without their padding. A value that is not finite is refused. */
void tide_matrix_save(const tide_matrix *m, uint32_t count, const char *section,
                      tide_store_writer *writer);
int tide_matrix_load(tide_matrix *m, uint32_t count, const char *section,
                     tide_store *store, tide_error *err);

/* Tested on the bits, so that no compiler flag can fold it away. */
static inline bool tide_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

/* -- kernels (kernels.c chooses; kernels_tmpl.h is compiled once per instruction set) ----------- */

/* Vectors that share one set of rows. */
#define TIDE_BLOCK 8
#define TIDE_QUAD 4

/* How large a row-wise AdaGrad step is:
 *     sum += square * scale;  rate = max(floor, eta / sqrt(base + sum / scale)).
 * `scale` grows with the stream's age, which is how old gradients fade (sgns/optimizer.c). */
typedef struct tide_adagrad {
    float eta;
    float base;
    float floor;
    float scale;
    uint32_t shift; /* of the sums: see tide_sum_at */
} tide_adagrad;

/* Where the sum of a slot is. The first slots go to the most frequent words, and sixteen of their
 * sums in one cache line would be fought over by all threads; so neighbors lie 64 bytes apart and
 * slots that share a line are 1 << shift apart. There is room for 16 << shift sums. */
static inline size_t tide_sum_at(uint32_t slot, uint32_t shift)
{
    uint32_t low = slot & ((UINT32_C(1) << shift) - 1);
    return (size_t)low << 4 | slot >> shift;
}

/* Questions that many rows are asked at once. Places without a question have zeros and a bound of INFINITY. */
#define TIDE_QUESTIONS 16

typedef struct tide_questions {
    float offsets[TIDE_QUESTIONS] __attribute__((aligned(64))); /* <vector, center> */
    float bounds[TIDE_QUESTIONS]; /* cosines below are of no interest */
    float center_square;
    uint32_t dim;
    const float *vectors; /* [stride][TIDE_QUESTIONS], each of length 1 */
    const float *center;  /* [stride] */
} tide_questions;

/* Rows are `stride` floats on a cache line. The row and sum arguments may be written by other
 * threads at the same time: those races are intended, and this is the only code that has them. */
typedef struct tide_kernels {
    const char *name;

    float (*dot)(const float *x, const float *y, uint32_t stride);

    /* out[j] = <x, rows[j]>. `out` has room for count rounded up to 8. */
    void (*dots)(const float *x, float *const *rows, size_t count, uint32_t stride,
                 float *out);

    /* errors[j] = weights[j] * ((j < positives) - sigmoid(errors[j])). Room rounded up to 16. */
    void (*errors)(float *errors, const float *weights, size_t positives, size_t count);

    /* rates[j] = rate of the sum of slots[j], to which squares[j] is added first. Room rounded up to
     * 16. */
    void (*adagrad)(const tide_adagrad *how, float *sums, const uint32_t *slots,
                    const float *squares, size_t count, float *rates);

    /* The same of one sum. */
    float (*adagrad_one)(const tide_adagrad *how, float *sum, float square);

    /* The same of sums[j] + added[j], where `added` is what a thread keeps for itself until it gives it
     * back. Room rounded up to 16. */
    void (*adagrad_own)(const tide_adagrad *how, const float *sums, float *added,
                        const float *squares, size_t count, float *rates);

    /* gradient += errors[j] * rows[j], then rows[j] += rates[j] * errors[j] * x, for every j in
     * turn. */
    void (*spread)(const float *x, float *const *rows, const float *errors,
                   const float *rates, size_t count, uint32_t stride, float *gradient);

    /* The same for TIDE_BLOCK vectors x at once, which lie `stride` apart: out[j][i] =
     * <x_i, rows[j]>; and gradient_i += errors[j][i] * rows[j] for every i, then rows[j] +=
     * rates[j] * sum over i of errors[j][i] * x_i. */
    void (*block_dots)(const float *x, float *const *rows, size_t count,
                       uint32_t stride, float (*out)[TIDE_BLOCK]);
    void (*block_spread)(const float *x, float *const *rows,
                         const float (*errors)[TIDE_BLOCK], const float *rates,
                         size_t count, uint32_t stride, float *gradients);

    /* The same for TIDE_QUAD vectors, but row after row: a row that is there twice has moved when it comes
     * again. squares_out[j] = sum over i of errors[j][i]^2 * squares[i]. Room for `count` rounded up to 4. */
    void (*quad_dots)(const float *x, float *const *rows, size_t count, uint32_t stride,
                      float (*out)[TIDE_QUAD]);
    void (*quad_squares)(const float (*errors)[TIDE_QUAD], const float *squares,
                         size_t count, float *squares_out);
    void (*quad_spread)(const float *x, float *const *rows,
                        const float (*errors)[TIDE_QUAD], const float *rates,
                        size_t count, uint32_t stride, float *gradients);

    /* The paper's order: rows[j] += rates[j] * errors[j] * x, then gradient += errors[j] * rows[j],
     * for every j in turn. */
    void (*spread_after)(const float *x, float *const *rows, const float *errors,
                         const float *rates, size_t count, uint32_t stride,
                         float *gradient);

    /* AdaGrad for every coordinate, with sums shaped like the rows: as spread, then as add. */
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

    /* scores[j][i] = cosine(question i, rows[j] - center) to 1e-4, or NAN where that cannot be told;
     * near[j] = not all of them are below their bounds. `scores` begins on a cache line. */
    void (*cosines)(const tide_questions *questions, float *const *rows, size_t count,
                    uint32_t stride, float (*scores)[TIDE_QUESTIONS], bool *near);
} tide_kernels;

/* The best set that this processor can run. */
const tide_kernels *tide_kernels_best(void);

/* Set `index`, NULL past the last; *usable says whether this processor can run it. */
const tide_kernels *tide_kernels_at(size_t index, bool *usable);

#endif
