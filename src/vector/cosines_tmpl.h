/* cosines_tmpl.h - sixteen questions and many rows: which of them are near?
 *
 * The questions lie side by side, so that one coordinate of all of them fills a register (or two, or four). A number
 * of a row is spread over a register and multiplied with that: a lane is a question, and there is nothing to sum up
 * at the end. Eight rows are a tile. While one is worked on, the next is asked for, a few lines at a time: the rows come
 * from memory as fast as they are used, where the processor by itself would see too late that they follow each other.
 *
 *     cosine(q, x - c) = (qx - qc) / |x - c|     for a question q of length 1 and a center c
 *
 * The product qx is a difference of larger numbers where c is long beside x - c; so the cosine counts as known only
 * where |x - c| is a tenth of |c| or more. With |x| then at most eleven times |x - c|, the error is some 1e-5.
 *
 * A part of kernels_tmpl.h.
 */
#include <float.h>

typedef int32_t lanes __attribute__((vector_size(LANES * 4)));

enum {
    TILE = 8,  /* rows */
    TILES = 8, /* whose lengths are worked out together */
    PARTS = TIDE_QUESTIONS / LANES,
    AT_ONCE = LANES < 8 ? 2 : 8 / PARTS, /* rows whose sums fit the registers */
    LINE = 16
};

/* qx - qc. Both sides end in zeros, so that coordinates may be taken by fours. */
INLINE void products_of(const tide_questions *q, const float *const *rows,
                        const float *const *next, size_t stride, vec (*sums)[PARTS])
{
    for (int k = 0; k < AT_ONCE; k++)
        for (int p = 0; p < PARTS; p++)
            sums[k][p] = -load(q->offsets + p * LANES);
    for (size_t at = 0; at < stride; at += LINE) {
        for (int k = 0; k < AT_ONCE; k++)
            __builtin_prefetch(next[k] + at, 0, 2);
        size_t end = at + LINE < q->dim ? at + LINE : q->dim;
        for (size_t four = at; four < end; four += 4)
            for (size_t d = four; d < four + 4; d++)
                for (int k = 0; k < AT_ONCE; k++)
                    for (int p = 0; p < PARTS; p++)
                        sums[k][p] += rows[k][d] *
                                      load(q->vectors + d * TIDE_QUESTIONS + p * LANES);
    }
}

/* |x - c|^2. */
INLINE void squares_of(const float *center, const float *const *rows, size_t stride,
                       float *out)
{
    vec sums[TILE] = {{0}};
    for (size_t i = 0; i < stride; i += LANES) {
        vec from = load(center + i);
        for (int k = 0; k < TILE; k++) {
            vec apart = load(rows[k] + i) - from;
            sums[k] += apart * apart;
        }
    }
    reduce8(sums, out);
}

/* The inverse roots of squares, NAN where the cosine would not be known. */
INLINE void invert(float *squares, float center_square)
{
    float least = 0.01f * center_square;
    least = least > FLT_MIN ? least : FLT_MIN;
    for (int k = 0; k < TILE * TILES; k++) {
        float root = inverse_root(squares[k]);
        root = squares[k] >= least ? root : NAN;
        squares[k] = squares[k] <= FLT_MAX ? root : NAN;
    }
}

/* Products become cosines; set are the lanes of those that are not below their bounds. */
INLINE lanes judge(const tide_questions *q, float inverse, float *scores)
{
    lanes near = {0};
    for (int p = 0; p < PARTS; p++) {
        vec score = load(scores + p * LANES) * inverse;
        near |= ~(score < load(q->bounds + p * LANES));
        store(scores + p * LANES, score);
    }
    return near;
}

INLINE bool any(lanes set)
{
    int32_t one = 0;
    for (int i = 0; i < LANES; i++)
        one |= set[i];
    return one;
}

/* Mostly no row of a tile has any, which one look tells. */
INLINE void judge_tile(const tide_questions *q, const float *inverse, size_t count,
                       float (*scores)[TIDE_QUESTIONS], bool *near)
{
    lanes set[TILE], all = {0};
    for (size_t k = 0; k < count; k++)
        all |= set[k] = judge(q, inverse[k], scores[k]);
    bool some = any(all);
    for (size_t k = 0; k < count; k++)
        near[k] = some && any(set[k]);
}

INLINE void multiply_tile(const tide_questions *q, float *const *rows, size_t count,
                          size_t stride, float (*scores)[TIDE_QUESTIONS],
                          float *squares)
{
    const float *tile[TILE], *next[TILE];
    vec sums[TILE][PARTS];
    for (size_t k = 0; k < TILE; k++) {
        tile[k] = rows[k < count ? k : count - 1];
        next[k] = rows[TILE + k < count ? TILE + k : count - 1];
    }
    for (int k = 0; k < TILE; k += AT_ONCE)
        products_of(q, tile + k, next + k, stride, sums + k);
    for (size_t k = 0; k < TILE && k < count; k++)
        memcpy(scores[k], sums[k], sizeof sums[k]);
    squares_of(q->center, tile, stride, squares);
}

static void cosines(const tide_questions *q, float *const *rows, size_t count,
                    uint32_t stride, float (*scores)[TIDE_QUESTIONS], bool *near)
{
    for (size_t first = 0; first < count; first += TILE * TILES) {
        float inverse[TILE * TILES] = {0};
        size_t end = count - first < TILE * TILES ? count : first + TILE * TILES;
        for (size_t j = first; j < end; j += TILE)
            multiply_tile(q, rows + j, count - j, stride, scores + j,
                          inverse + (j - first));
        invert(inverse, q->center_square);
        for (size_t j = first; j < end; j += TILE)
            judge_tile(q, inverse + (j - first), end - j < TILE ? end - j : TILE,
                       scores + j, near + j);
    }
}
