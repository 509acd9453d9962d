/* cosines_tmpl.h - sixteen questions and many rows: which of them are near?
 *
 * The questions lie side by side, so that one coordinate of all of them fills a register (or two, or four). A number
 * of a row is spread over a register and multiplied with that: a lane is a question, and there is nothing to sum up
 * at the end. Eight rows are a tile. While one is worked on, the next is asked for, a few lines at a time: the rows come
 * from memory as fast as they are used, where the processor by itself would see too late that they follow each other.
 *
 *     cosine(q, x - c) = (qx - qc) / |x - c|     for a question q of length 1 and a centre c
 *
 * The product qx is a difference of larger numbers where c is long beside x - c; so the cosine counts as known only
 * where |x - c| is a tenth of |c| or more. With |x| then at most eleven times |x - c|, the error is some 1e-5.
 *
 * A part of kernels_tmpl.h.
 */
#include <float.h>

typedef int32_t lanes __attribute__((vector_size(LANES * 4)));

enum {
    TILE = 8, /* rows */
    PARTS = TIDE_QUESTIONS / LANES,
    AT_ONCE = LANES < 8 ? 2 : 8 / PARTS, /* rows whose sums fit the registers */
    LINE = 16
};

INLINE void products_of(const tide_questions *q, const float *const *rows,
                        const float *const *next, uint32_t stride, vec (*sums)[PARTS])
{
    for (int k = 0; k < AT_ONCE; k++)
        for (int p = 0; p < PARTS; p++)
            sums[k][p] = -load(q->offsets + p * LANES);
    for (uint32_t at = 0; at < stride; at += LINE) {
        for (int k = 0; k < AT_ONCE; k++)
            __builtin_prefetch(next[k] + at, 0, 2);
        uint32_t end = at + LINE < q->dim ? at + LINE : q->dim;
        for (uint32_t d = at; d < end; d++)
            for (int k = 0; k < AT_ONCE; k++)
                for (int p = 0; p < PARTS; p++)
                    sums[k][p] +=
                        rows[k][d] * load(q->vectors + d * TIDE_QUESTIONS + p * LANES);
    }
}

/* 1 / |x - c| of the rows of a tile, NAN where the cosine would not be known. */
INLINE void inverse_lengths(const tide_questions *q, const float *const *rows,
                            uint32_t stride, float *out)
{
    vec sums[TILE] = {{0}};
    for (uint32_t i = 0; i < stride; i += LANES) {
        vec centre = load(q->centre + i);
        for (int k = 0; k < TILE; k++) {
            vec apart = load(rows[k] + i) - centre;
            sums[k] += apart * apart;
        }
    }
    reduce8(sums, out);
    float least = 0.01f * q->centre_square;
    least = least > FLT_MIN ? least : FLT_MIN;
    for (int k = 0; k < TILE; k++)
        out[k] = out[k] >= least && out[k] <= FLT_MAX ? inverse_root(out[k]) : NAN;
}

/* Whether a score of the row is not below its bound. */
INLINE bool score_row(const tide_questions *q, const vec *products, float inverse,
                      float *scores)
{
    lanes near = {0};
    for (int p = 0; p < PARTS; p++) {
        vec score = products[p] * inverse;
        near |= ~(score < load(q->bounds + p * LANES));
        store(scores + p * LANES, score);
    }
    int32_t any = 0;
    for (int i = 0; i < LANES; i++)
        any |= near[i];
    return any;
}

static void cosines(const tide_questions *q, float *const *rows, size_t count,
                    uint32_t stride, float (*scores)[TIDE_QUESTIONS], bool *near)
{
    for (size_t j = 0; j < count; j += TILE) {
        const float *tile[TILE], *next[TILE];
        float inverse[TILE];
        vec sums[TILE][PARTS];
        for (size_t k = 0; k < TILE; k++) {
            tile[k] = rows[j + k < count ? j + k : count - 1];
            next[k] = rows[j + TILE + k < count ? j + TILE + k : count - 1];
        }
        for (int k = 0; k < TILE; k += AT_ONCE)
            products_of(q, tile + k, next + k, stride, sums + k);
        inverse_lengths(q, tile, stride, inverse);
        for (size_t k = 0; k < TILE && j + k < count; k++)
            near[j + k] = score_row(q, sums[k], inverse[k], scores[j + k]);
    }
}
