/* kernels_tmpl.h - the arithmetic of training, written once in the compiler's vector
 * types.
 *
 * Each kernels_*.c defines LANES (floats per vector register), NAME and SET (the name
 * of its table) and includes this file; the build compiles it for one instruction set.
 * Training a center word with its contexts and negatives is a small matrix product,
 * done in two passes over the rows:
 *
 *     dots     eight rows at a time share each load of x and form eight independent
 *              chains of additions; a tree of shuffles then sums eight registers into
 *              one.
 *     spread   some registers of x and of the gradient stay loaded while all rows pass,
 *              and each row is read and written once.
 *
 * The quad kernels do the same for four centers, which have most of their contexts in
 * common, and the block kernels for eight centers that share their negatives, so that a
 * row is read and written once for all of them.
 *
 * Rows and sums are read and written without locks while other threads do the same
 * (Hogwild): an update may be lost, and a row may mix two states. Training tolerates
 * that. These files are the only ones compiled without ThreadSanitizer.
 */
#include "vector/vector.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef uint32_t bits __attribute__((vector_size(LANES * 4)));
typedef uint16_t half __attribute__((vector_size(LANES * 2)));
typedef float vec4 __attribute__((vector_size(16)));
typedef float vec8 __attribute__((vector_size(32)));

/* Registers of x, and as many of the gradient, that fit beside the temporaries: 24 of
 * the 32 registers of AVX-512, 12 of 16 elsewhere. */
#if LANES == 16
#define REGISTERS 12
#else
#define REGISTERS 6
#endif

INLINE vec load(const float *p)
{
    return *(const vec *)(const void *)p;
}

INLINE void store(float *p, vec v)
{
    *(vec *)(void *)p = v;
}

INLINE vec splat(float x)
{
    return x - (vec){0};
}

/* The sums of the lanes of four registers, in order. */
INLINE vec4 reduce4(vec4 a, vec4 b, vec4 c, vec4 d)
{
    /* First a and b, c and d are added in pairs of lanes, then these results: three
     * additions and no lane is ever idle, where four separate sums would need eight. */
    vec4 ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) +
              __builtin_shufflevector(a, b, 1, 5, 3, 7);
    vec4 cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) +
              __builtin_shufflevector(c, d, 1, 5, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/* reduce8: the sums of the lanes of eight registers, in order. */
#if LANES == 4
INLINE void reduce8(const vec *a, float *out)
{
    vec4 low = reduce4(a[0], a[1], a[2], a[3]), high = reduce4(a[4], a[5], a[6], a[7]);
    memcpy(out, &low, sizeof low);
    memcpy(out + 4, &high, sizeof high);
}
#else
INLINE vec8 add_halves(vec a)
{
#if LANES == 16
    return __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return a;
#endif
}

/* The first two steps of the tree of additions in reduce8. Each works within the
 * 128-bit halves of a register, where shuffles are cheap: add_pairs gives [a0+a1,
 * b0+b1, a2+a3, b2+b3 | the same for the upper half]. */
INLINE vec8 add_pairs(vec8 a, vec8 b)
{
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}

INLINE vec8 add_quads(vec8 ab, vec8 cd)
{
    return __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
}

INLINE void reduce8(const vec *a, float *out)
{
    vec8 low = add_quads(add_pairs(add_halves(a[0]), add_halves(a[1])),
                         add_pairs(add_halves(a[2]), add_halves(a[3])));
    vec8 high = add_quads(add_pairs(add_halves(a[4]), add_halves(a[5])),
                          add_pairs(add_halves(a[6]), add_halves(a[7])));
    vec8 sums = __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11) +
                __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
    memcpy(out, &sums, sizeof sums);
}
#endif

INLINE float sum_lanes(vec a)
{
#if LANES == 4
    vec4 four = a;
#else
    vec8 eight = add_halves(a);
    vec4 four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#endif
    four += __builtin_shufflevector(four, four, 2, 3, 0, 1);
    return four[0] + four[1];
}

/* Two accumulators halve the length of the dependency chain. */
static float dot(const float *x, const float *y, uint32_t stride)
{
    vec even = {0}, odd = {0};
    uint32_t i = 0;
    /* An addition takes four cycles but can start every cycle, so the two chains
     * overlap. */
    for (; i + LANES < stride; i += 2 * LANES) {
        even += load(x + i) * load(y + i);
        odd += load(x + i + LANES) * load(y + i + LANES);
    }
    if (i < stride)
        even += load(x + i) * load(y + i);
    return sum_lanes(even + odd);
}

/* The products of x with up to `width` rows, 4 or 8. Always writes 8 results: with
 * fewer rows the last one is repeated, and with a width of 4 the upper four are 0.
 * `width` is a constant after inlining, so the sums stay in registers. */
INLINE void dot_group(const float *x, float *const *rows, size_t count, uint32_t stride,
                      float *out, int width)
{
    const float *r[8];
    for (int k = 0; k < width; k++)
        r[k] = rows[(size_t)k < count ? (size_t)k : count - 1];
    vec sums[8] = {{0}};
    /* Each load of x serves all rows, and the eight sums are independent of each
     * other. */
    for (uint32_t i = 0; i < stride; i += LANES) {
        vec xi = load(x + i);
        for (int k = 0; k < width; k++)
            sums[k] += xi * load(r[k] + i);
    }
    reduce8(sums, out);
}

static void dots(const float *x, float *const *rows, size_t count, uint32_t stride,
                 float *out)
{
    size_t j = 0;
    for (; j + 4 < count; j += 8)
        dot_group(x, rows + j, count - j, stride, out + j, 8);
    /* At most four rows are left: half the width saves half of the wasted work. */
    if (j < count)
        dot_group(x, rows + j, count - j, stride, out + j, 4);
}

/* The loops below are scalar and vectorized by the compiler. They run up to a multiple
 * of 16, so that there is no remainder to handle. */
INLINE size_t round_up16(size_t count)
{
    return (count + 15) / 16 * 16;
}

/* 1 / (1 + exp(-x)) with an error below 2e-7. With t = -x / ln 2 = n + f, where n is
 * the nearest integer, exp(-x) = 2^n * 2^f: 2^n is built from its exponent bits, 2^f is
 * a polynomial. */
INLINE float sigmoid(float x)
{
    /* Beyond 30 the result is 0 or 1 in single precision. The bound keeps the exponent
     * of 2^n in range, and turns a NaN into a number. */
    x = x < 30.0f ? x : 30.0f;
    x = x > -30.0f ? x : -30.0f;
    float t = x * -1.44269504f;
    float shifted = t + 12582912.0f; /* 1.5 * 2^23: rounds to the nearest integer */
    float f = t - (shifted - 12582912.0f);
    /* Taylor series of 2^f up to f^6, with an error of about 1e-7 for |f| <= 1/2. */
    float p = 1.5403530e-4f;
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    union {
        float value;
        int32_t bits;
    } n = {.value = shifted}, power;
    /* 0x4b400000 are the bits of 1.5 * 2^23, so the difference is n as an integer; 127
     * is the bias of the exponent. */
    power.bits = (n.bits - 0x4b400000 + 127) * (1 << 23);
    return 1.0f / (1.0f + p * power.value);
}

static void errors(float *restrict e, const float *restrict weights, size_t positives,
                   size_t count)
{
    /* The first `positives` products belong to contexts, with label 1, the others to
     * negatives, with label 0. What is computed beyond `count` is never used. */
    for (size_t j = 0; j < round_up16(count); j++) {
        float label = j < positives ? 1.0f : 0.0f;
        e[j] = weights[j] * (label - sigmoid(e[j]));
    }
}

/* 1 / sqrt(x) with a relative error of 5e-6, without division or square root: an
 * initial guess by halving the exponent, and two Newton steps. */
INLINE float inverse_root(float x)
{
    union {
        float value;
        uint32_t bits;
    } y = {.value = x};
    y.bits = 0x5f3759df - (y.bits >> 1);
    for (int i = 0; i < 2; i++)
        y.value *= 1.5f - 0.5f * x * y.value * y.value;
    return y.value;
}

static void adagrad(const tide_adagrad *options, float *sums,
                    const uint32_t *restrict slots, const float *restrict squares,
                    size_t count, float *restrict rates)
{
    float scale = options->scale;
    /* The sums are gathered by slot in a loop of their own, because slots can repeat:
     * each occurrence must see the sum left by the one before it. The second loop has
     * no such dependency and is vectorized. */
    for (size_t j = 0; j < count; j++)
        rates[j] = sums[tide_sum_at(slots[j], options->shift)] += squares[j] * scale;
    /* All sums are stored multiplied by `scale`, which grows over time; that makes old
     * gradients count less without ever touching the sums (optimizer.c). eta /
     * sqrt(sum) in these units needs the factor sqrt(scale). */
    float eta = options->eta * sqrtf(scale), base = options->base * scale,
          floor = options->floor;
    for (size_t j = 0; j < round_up16(count); j++) {
        float rate = eta * inverse_root(base + rates[j]);
        rates[j] = rate > floor ? rate : floor;
    }
}

static float adagrad_one(const tide_adagrad *options, float *sum, float square)
{
    float all = *sum += square * options->scale;
    float rate = options->eta * sqrtf(options->scale) *
                 inverse_root(options->base * options->scale + all);
    return rate > options->floor ? rate : options->floor;
}

static void adagrad_partial(const tide_adagrad *options, const float *restrict sums,
                            float *restrict added, const float *restrict squares,
                            size_t count, float *restrict rates)
{
    float scale = options->scale, floor = options->floor;
    float eta = options->eta * sqrtf(scale), base = options->base * scale;
    /* Signed 32-bit indices vectorize better than size_t here: the comparison with n
     * becomes a lane mask of the same width as the floats. */
    int32_t n = (int32_t)count;
    for (int32_t j = 0; j < (int32_t)round_up16(count); j++) {
        float all = added[j] + (j < n ? squares[j] * scale : 0);
        added[j] = all;
        float rate = eta * inverse_root(base + sums[j] + all);
        rates[j] = rate > floor ? rate : floor;
    }
}

/* `spread` for the first `registers` registers of x, the rows and the gradient. x and
 * the gradient are loaded once and stay in registers over all rows; `registers` is a
 * constant after inlining, which makes that possible. With `after`, the gradient gets
 * the updated row instead of the old one. */
INLINE void spread_registers(const float *x, float *const *rows, const float *e,
                             const float *rates, size_t count, float *gradient,
                             int registers, bool after)
{
    vec xs[REGISTERS], sum[REGISTERS];
    for (int i = 0; i < registers; i++) {
        xs[i] = load(x + i * LANES);
        sum[i] = load(gradient + i * LANES);
    }
    for (size_t j = 0; j < count; j++) {
        /* The gradient of x takes the error alone; its learning rate is applied when x
         * itself moves. */
        vec error_lanes = splat(e[j]), step_lanes = splat(e[j] * rates[j]);
        float *row = rows[j];
        for (int i = 0; i < registers; i++) {
            vec old = load(row + i * LANES);
            vec updated = old + step_lanes * xs[i];
            sum[i] += error_lanes * (after ? updated : old);
            store(row + i * LANES, updated);
        }
    }
    for (int i = 0; i < registers; i++)
        store(gradient + i * LANES, sum[i]);
}

INLINE void spread_all(const float *x, float *const *rows, const float *e,
                       const float *rates, size_t count, uint32_t stride,
                       float *gradient, bool after)
{
    enum { ROWS_MAX = 64 }; /* pointers on the stack */
    for (size_t first = 0; first < count; first += ROWS_MAX) {
        float *parts[ROWS_MAX];
        size_t n = count - first < ROWS_MAX ? count - first : ROWS_MAX;
        /* Columns are processed in strips that fit the registers. `parts` points to the
         * strip of each row, so the inner function needs no index arithmetic. */
        for (uint32_t at = 0; at < stride; at += REGISTERS * LANES) {
            for (size_t j = 0; j < n; j++)
                parts[j] = rows[first + j] + at;
            uint32_t left = (stride - at) / LANES;
#define CASE(N)                                                                        \
    case N:                                                                            \
        spread_registers(x + at, parts, e + first, rates + first, n, gradient + at, N, \
                         after);                                                       \
        break
            /* One copy of the loop for each possible width of the last strip, so that
             * the number of registers is a constant in all of them. */
            switch (left < REGISTERS ? left : REGISTERS) {
                CASE(1);
                CASE(2);
                CASE(3);
                CASE(4);
                CASE(5);
                CASE(6);
#if REGISTERS > 6
                CASE(7);
                CASE(8);
                CASE(9);
                CASE(10);
                CASE(11);
                CASE(12);
#endif
            }
#undef CASE
        }
    }
}

static void spread(const float *x, float *const *rows, const float *e,
                   const float *rates, size_t count, uint32_t stride, float *gradient)
{
    spread_all(x, rows, e, rates, count, stride, gradient, false);
}

/* tile_dots: the products of four vectors x with 2 * ROW_PAIRS rows. Each load of a row
 * serves four vectors, and each load of x serves all rows of the tile. There are as
 * many sums as registers allow, and eight of them are reduced at a time. out[k * pitch
 * + i] is the product of row k and vector i. */
#if LANES == 16
#define ROW_PAIRS 2
#else
#define ROW_PAIRS 1
#endif

INLINE void tile_dots(const float *x, float *const *rows, size_t count, uint32_t stride,
                      float *out, size_t pitch)
{
    const float *r[2 * ROW_PAIRS];
    /* Past the end the last row is repeated; its results are computed and discarded. */
    for (size_t k = 0; k < 2 * ROW_PAIRS; k++)
        r[k] = rows[k < count ? k : count - 1];
    vec sums[ROW_PAIRS][8] = {{{0}}};
    for (uint32_t at = 0; at < stride; at += LANES) {
        vec xs[4];
        for (int i = 0; i < 4; i++)
            xs[i] = load(x + (size_t)i * stride + at);
        for (int k = 0; k < 2 * ROW_PAIRS; k++) {
            vec row = load(r[k] + at);
            for (int i = 0; i < 4; i++)
                sums[k / 2][4 * (k % 2) + i] += xs[i] * row;
        }
    }
    /* Sums 0 to 3 are those of the first row of a pair with the four vectors, sums 4 to
     * 7 those of the second. */
    for (int p = 0; p < ROW_PAIRS; p++) {
        float eight[8];
        reduce8(sums[p], eight);
        for (size_t k = 0; k < 2 && 2 * (size_t)p + k < count; k++)
            memcpy(out + (2 * (size_t)p + k) * pitch, eight + 4 * k, 4 * sizeof(float));
    }
}

static void block_dots(const float *x, float *const *rows, size_t count,
                       uint32_t stride, float (*out)[TIDE_BLOCK])
{
    for (size_t j = 0; j < count; j += 2 * ROW_PAIRS)
        for (size_t i = 0; i < TIDE_BLOCK; i += 4)
            tile_dots(x + i * stride, rows + j, count - j, stride, &out[j][i],
                      TIDE_BLOCK);
}

static void quad_dots(const float *x, float *const *rows, size_t count, uint32_t stride,
                      float (*out)[TIDE_QUAD])
{
    for (size_t j = 0; j < count; j += 2 * ROW_PAIRS)
        tile_dots(x, rows + j, count - j, stride, out[j], TIDE_QUAD);
}

static void quad_squares(const float (*e)[TIDE_QUAD], const float *squares,
                         size_t count, float *out)
{
    vec4 all, of[4];
    memcpy(&all, squares, sizeof all);
    for (size_t j = 0; j < count; j += 4) {
        for (size_t k = 0; k < 4; k++) {
            memcpy(&of[k], e[j + k], sizeof of[k]);
            /* The squared length of a row's step: the errors toward the four centers,
             * weighted with the squared lengths of those. Products between different
             * centers are ignored. */
            of[k] *= of[k] * all;
        }
        of[0] = reduce4(of[0], of[1], of[2], of[3]);
        memcpy(out + j, &of[0], sizeof of[0]);
    }
}

/* quad_spread for one or two registers, at column `at`, of the rows. Those of the four
 * vectors x and the four gradients stay loaded while all rows pass. A row is stored
 * before the next one is loaded, so a row that occurs twice is seen updated the second
 * time. */
INLINE void quad_spread_columns(const float *x, float *const *rows,
                                const float (*e)[TIDE_QUAD], const float *rates,
                                size_t count, uint32_t stride, float *gradients,
                                uint32_t at, int vectors)
{
    vec xs[TIDE_QUAD][2], sums[TIDE_QUAD][2];
    for (uint32_t i = 0; i < TIDE_QUAD; i++)
        for (int v = 0; v < vectors; v++) {
            xs[i][v] = load(x + i * stride + at + v * LANES);
            sums[i][v] = load(gradients + i * stride + at + v * LANES);
        }
    for (size_t j = 0; j < count; j++) {
        vec error[TIDE_QUAD], rate = splat(rates[j]);
        for (int i = 0; i < TIDE_QUAD; i++)
            error[i] = splat(e[j][i]);
        for (int v = 0; v < vectors; v++) {
            float *target = rows[j] + at + v * LANES;
            vec row = load(target);
            /* Two chains of additions instead of one. */
            vec one = error[0] * xs[0][v] + error[1] * xs[1][v];
            vec two = error[2] * xs[2][v] + error[3] * xs[3][v];
            for (int i = 0; i < TIDE_QUAD; i++)
                sums[i][v] += error[i] * row;
            store(target, row + rate * (one + two));
        }
    }
    for (uint32_t i = 0; i < TIDE_QUAD; i++)
        for (int v = 0; v < vectors; v++)
            store(gradients + i * stride + at + v * LANES, sums[i][v]);
}

static void quad_spread(const float *x, float *const *rows, const float (*e)[TIDE_QUAD],
                        const float *rates, size_t count, uint32_t stride,
                        float *gradients)
{
    uint32_t at = 0;
#if LANES == 16
    for (; at + LANES < stride; at += 2 * LANES)
        quad_spread_columns(x, rows, e, rates, count, stride, gradients, at, 2);
#endif
    for (; at < stride; at += LANES)
        quad_spread_columns(x, rows, e, rates, count, stride, gradients, at, 1);
}

/* Works on one register of columns at a time. The eight sums stay in registers through
 * the first pass over the rows and the eight x through the second: all sixteen together
 * would not fit. So the gradients see the rows from before the update, also when a row
 * occurs twice. The part of the rows that the second pass needs is then in the nearest
 * cache. */
static void block_spread(const float *x, float *const *rows,
                         const float (*e)[TIDE_BLOCK], const float *rates, size_t count,
                         uint32_t stride, float *gradients)
{
    for (uint32_t at = 0; at < stride; at += LANES) {
        vec xs[TIDE_BLOCK], sums[TIDE_BLOCK];
        for (size_t i = 0; i < TIDE_BLOCK; i++)
            sums[i] = load(gradients + i * stride + at);
        /* First pass: gradients, from the rows as they are. */
        for (size_t j = 0; j < count; j++)
            for (int i = 0; i < TIDE_BLOCK; i++)
                sums[i] += e[j][i] * load(rows[j] + at);
        for (size_t i = 0; i < TIDE_BLOCK; i++) {
            store(gradients + i * stride + at, sums[i]);
            xs[i] = load(x + i * stride + at);
        }
        /* Second pass: the rows move by the errors toward all eight centers
         * together. */
        for (size_t j = 0; j < count; j++) {
            vec step = e[j][0] * xs[0];
            for (int i = 1; i < TIDE_BLOCK; i++)
                step += e[j][i] * xs[i];
            store(rows[j] + at, load(rows[j] + at) + rates[j] * step);
        }
    }
}

static void spread_after(const float *x, float *const *rows, const float *e,
                         const float *rates, size_t count, uint32_t stride,
                         float *gradient)
{
    spread_all(x, rows, e, rates, count, stride, gradient, true);
}

/* Incremental SGNS has a sum for every coordinate, starting from almost 0. */
#define COORDINATE_BASE 1e-8f

static void spread_coordinates(const float *restrict x, float *const *rows,
                               float *const *sums, const float *e, float eta,
                               size_t count, uint32_t stride, float *restrict gradient)
{
    for (size_t j = 0; j < count; j++) {
        float *restrict row = rows[j], *restrict sum = sums[j], error = e[j];
        for (uint32_t i = 0; i < stride; i++) {
            /* The gradient for x uses the row from before its step, like all other
             * kernels. */
            float g = error * x[i];
            gradient[i] += error * row[i];
            sum[i] += g * g;
            row[i] += eta * g / sqrtf(sum[i] + COORDINATE_BASE);
        }
    }
}

static void add_coordinates(float *restrict row, float *restrict sums,
                            const float *restrict gradient, float eta, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i++) {
        sums[i] += gradient[i] * gradient[i];
        row[i] += eta * gradient[i] / sqrtf(sums[i] + COORDINATE_BASE);
    }
}

static void add(float *row, float step, const float *x, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += LANES)
        store(row + i, load(row + i) + step * load(x + i));
}

static void sum(float *const *rows, size_t count, float factor, uint32_t stride,
                float *out)
{
    for (uint32_t i = 0; i < stride; i += LANES) {
        vec all = {0};
        for (size_t j = 0; j < count; j++)
            all += load(rows[j] + i);
        store(out + i, factor * all);
    }
}

static void copy(float *row, const float *x, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += LANES)
        store(row + i, load(x + i));
}

/* A bfloat16 is the upper half of a float. */
INLINE vec load_bfloats(const uint16_t *p)
{
    half upper;
    memcpy(&upper, p, sizeof upper);
    return (vec)(__builtin_convertvector(upper, bits) << 16);
}

/* Rounds to nearest, ties to even: the lowest bit that is kept decides a tie. */
INLINE void store_bfloats(uint16_t *p, vec v)
{
    bits whole = (bits)v;
    half upper =
        __builtin_convertvector((whole + 0x7fff + (whole >> 16 & 1)) >> 16, half);
    memcpy(p, &upper, sizeof upper);
}

static void read_bfloats(float *row, const uint16_t *bfloats, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += LANES)
        store(row + i, load_bfloats(bfloats + i));
}

static void write_bfloats(uint16_t *bfloats, const float *row, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += LANES)
        store_bfloats(bfloats + i, load(row + i));
}

static void add_bfloats(uint16_t *bfloats, const float *x, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += LANES)
        store_bfloats(bfloats + i, load_bfloats(bfloats + i) + load(x + i));
}

static void sum_bfloats(uint16_t *const *rows, size_t count, float factor,
                        uint32_t stride, float *out)
{
    for (uint32_t i = 0; i < stride; i += LANES) {
        vec all = {0};
        for (size_t j = 0; j < count; j++)
            all += load_bfloats(rows[j] + i);
        store(out + i, factor * all);
    }
}

/* A random number for each of LANES numbers from position `at` on. It depends on the
 * position and not on LANES, so all kernel sets round alike. */
INLINE bits random_bits(uint32_t noise, uint32_t at)
{
    bits x = {0};
    for (uint32_t i = 0; i < LANES; i++)
        x[i] = i;
    x = (x + at) * 0x9e3779b9u + noise;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    return (x ^ x >> 12) * 0x297a2d39u;
}

static void spread_bfloats(const float *x, uint16_t *const *rows, const float *rates,
                           size_t count, uint32_t stride, uint32_t noise, float *sum)
{
    for (size_t j = 0; j < count; j++) {
        vec rate = splat(rates[j]);
        for (uint32_t i = 0; i < stride; i += LANES) {
            vec old = load_bfloats(rows[j] + i);
            store(sum + i, load(sum + i) + old);
            bits moved = (bits)(old + rate * load(x + i));
            /* What is cut off carries into what is kept if a random number below one
             * unit of the last place is added. A bfloat stays what it is. */
            bits rounded =
                (moved + (random_bits(noise, (uint32_t)j * stride + i) >> 16)) >> 16;
            half upper = __builtin_convertvector(rounded, half);
            memcpy(rows[j] + i, &upper, sizeof upper);
        }
    }
}

#include "vector/cosines_tmpl.h"

extern const tide_kernels SET;

const tide_kernels SET = {
    .name = NAME,
    .dot = dot,
    .dots = dots,
    .errors = errors,
    .adagrad = adagrad,
    .adagrad_one = adagrad_one,
    .adagrad_partial = adagrad_partial,
    .spread = spread,
    .block_dots = block_dots,
    .block_spread = block_spread,
    .quad_dots = quad_dots,
    .quad_squares = quad_squares,
    .quad_spread = quad_spread,
    .spread_after = spread_after,
    .spread_coordinates = spread_coordinates,
    .add_coordinates = add_coordinates,
    .add = add,
    .sum = sum,
    .copy = copy,
    .read_bfloats = read_bfloats,
    .write_bfloats = write_bfloats,
    .add_bfloats = add_bfloats,
    .sum_bfloats = sum_bfloats,
    .spread_bfloats = spread_bfloats,
    .cosines = cosines,
};
