/* cosines_tmpl.h - approximate cosines of sixteen queries with many rows.
 *
 * The query vectors are interleaved, so that one coordinate of all of them fills one
 * register (or two, or four). A coordinate of a row is broadcast and multiplied with
 * these: each lane is a query, so no horizontal sum is needed at the end. Rows are
 * processed in tiles of eight. During one tile the next is prefetched, a few cache
 * lines at a time, so that rows arrive from memory as fast as they are used; the
 * hardware prefetcher would detect the access pattern too late.
 *
 *     cosine(q, x - c) = (qx - qc) / |x - c|    for a query q of length 1, center c
 *
 * The difference qx - qc loses precision where c is long compared with x - c. So the
 * cosine is reported as unknown unless |x - c| is at least a tenth of |c|. Then |x| is
 * at most eleven times |x - c|, and the error is about 1e-5.
 *
 * Included by kernels_tmpl.h.
 */
#include <float.h>

typedef int32_t lanes __attribute__((vector_size(LANES * 4)));

enum {
    TILE = 8,            /* rows */
    TILES_PER_GROUP = 8, /* tiles whose lengths are computed together */
    REGISTERS_PER_BATCH = TIDE_QUERY_BATCH / LANES,
    ROWS_PER_PASS =
        LANES < 8
            ? 2
            : 8 / REGISTERS_PER_BATCH, /* rows whose sums fit the registers together */
    LINE = 16
};

/* qx - qc for all queries and ROWS_PER_PASS rows. Rows and queries are padded with
 * zeros, so coordinates can be processed in groups of four. */
INLINE void dot_products(const tide_query_batch *q, const float *const *rows,
                         const float *const *next, size_t stride,
                         vec (*sums)[REGISTERS_PER_BATCH])
{
    for (int k = 0; k < ROWS_PER_PASS; k++)
        for (int p = 0; p < REGISTERS_PER_BATCH; p++)
            sums[k][p] = -load(q->offsets + p * LANES);
    for (size_t at = 0; at < stride; at += LINE) {
        for (int k = 0; k < ROWS_PER_PASS; k++)
            __builtin_prefetch(next[k] + at, 0, 2);
        size_t end = at + LINE < q->dim ? at + LINE : q->dim;
        for (size_t four = at; four < end; four += 4)
            for (size_t d = four; d < four + 4; d++)
                for (int k = 0; k < ROWS_PER_PASS; k++)
                    for (int p = 0; p < REGISTERS_PER_BATCH; p++)
                        sums[k][p] +=
                            rows[k][d] *
                            load(q->vectors + d * TIDE_QUERY_BATCH + p * LANES);
    }
}

/* |x - c|^2. */
INLINE void squared_distances(const float *center, const float *const *rows,
                              size_t stride, float *out)
{
    vec sums[TILE] = {{0}};
    for (size_t i = 0; i < stride; i += LANES) {
        vec base = load(center + i);
        for (int k = 0; k < TILE; k++) {
            vec difference = load(rows[k] + i) - base;
            sums[k] += difference * difference;
        }
    }
    reduce8(sums, out);
}

/* Replaces squared lengths by inverse lengths: NAN where the cosine would be
 * inaccurate. */
INLINE void inverse_lengths(float *squares, float center_square)
{
    float min_square = 0.01f * center_square;
    min_square = min_square > FLT_MIN ? min_square : FLT_MIN;
    for (int k = 0; k < TILE * TILES_PER_GROUP; k++) {
        float root = inverse_root(squares[k]);
        root = squares[k] >= min_square ? root : NAN;
        squares[k] = squares[k] <= FLT_MAX ? root : NAN;
    }
}

/* Turns the products of one row into cosines. Returns a mask of the queries whose
 * cosine is not below their bound, which includes NAN. */
INLINE lanes scale_and_compare(const tide_query_batch *q, float inverse, float *scores)
{
    lanes near = {0};
    for (int p = 0; p < REGISTERS_PER_BATCH; p++) {
        vec score = load(scores + p * LANES) * inverse;
        near |= ~(score < load(q->bounds + p * LANES));
        store(scores + p * LANES, score);
    }
    return near;
}

INLINE bool any_lane(lanes set)
{
    int32_t one = 0;
    for (int i = 0; i < LANES; i++)
        one |= set[i];
    return one;
}

/* near[k]: whether row k reaches the bound of any query. Usually no row of the tile
 * does, so all are tested together first. */
INLINE void scale_and_compare_tile(const tide_query_batch *q, const float *inverse,
                                   size_t count, float (*scores)[TIDE_QUERY_BATCH],
                                   bool *near)
{
    lanes set[TILE], all = {0};
    for (size_t k = 0; k < count; k++)
        all |= set[k] = scale_and_compare(q, inverse[k], scores[k]);
    bool any_near = any_lane(all);
    for (size_t k = 0; k < count; k++)
        near[k] = any_near && any_lane(set[k]);
}

INLINE void multiply_tile(const tide_query_batch *q, float *const *rows, size_t count,
                          size_t stride, float (*scores)[TIDE_QUERY_BATCH],
                          float *squares)
{
    const float *tile[TILE], *next[TILE];
    vec sums[TILE][REGISTERS_PER_BATCH];
    /* Past the end, repeat the last row: its results are computed and discarded. */
    for (size_t k = 0; k < TILE; k++) {
        tile[k] = rows[k < count ? k : count - 1];
        next[k] = rows[TILE + k < count ? TILE + k : count - 1];
    }
    for (int k = 0; k < TILE; k += ROWS_PER_PASS)
        dot_products(q, tile + k, next + k, stride, sums + k);
    for (size_t k = 0; k < TILE && k < count; k++)
        memcpy(scores[k], sums[k], sizeof sums[k]);
    squared_distances(q->center, tile, stride, squares);
}

static void cosines(const tide_query_batch *q, float *const *rows, size_t count,
                    uint32_t stride, float (*scores)[TIDE_QUERY_BATCH], bool *near)
{
    for (size_t first = 0; first < count; first += TILE * TILES_PER_GROUP) {
        float inverse[TILE * TILES_PER_GROUP] = {0};
        size_t end = count - first < TILE * TILES_PER_GROUP
                         ? count
                         : first + TILE * TILES_PER_GROUP;
        for (size_t j = first; j < end; j += TILE)
            multiply_tile(q, rows + j, count - j, stride, scores + j,
                          inverse + (j - first));
        inverse_lengths(inverse, q->center_square);
        for (size_t j = first; j < end; j += TILE)
            scale_and_compare_tile(q, inverse + (j - first),
                                   end - j < TILE ? end - j : TILE, scores + j,
                                   near + j);
    }
}
