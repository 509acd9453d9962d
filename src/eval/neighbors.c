/* neighbors.c - the nearest words of many words at once.
 *
 * The list is processed in chunks that fit the cache: a chunk of unit vectors is
 * computed once and compared with all target words, each of which keeps its best hits.
 * So the model is read once, however many targets there are, and never copied.
 */
#include "eval/eval.h"
#include "query/query.h"
#include "vector/vector.h"

#include <stdlib.h>

enum { CHUNK = 256 };

typedef struct search {
    const tide_neighbor_query *query;
    const tide_kernels *kernels;
    tide_matrix targets; /* [target_count] unit vectors */
    tide_matrix chunk;   /* [CHUNK] */
    float *rows[CHUNK];
    tide_hit *best; /* [target_count][near] by descending score; slots are positions */
    size_t *found_count; /* [target_count] number of hits */
} search;

static void add_hit(search *s, uint32_t target, uint32_t position, float score)
{
    uint32_t near = s->query->near;
    tide_hit *best = s->best + (size_t)target * near;
    s->found_count[target] = tide_hits_insert(best, s->found_count[target], near,
                                              (tide_hit){NULL, score, position});
}

static void scan_chunk(search *s, uint32_t from, uint32_t count)
{
    const tide_neighbor_query *q = s->query;
    float scores[CHUNK];
    for (uint32_t i = 0; i < count; i++)
        tide_view_unit(q->view, q->slots[from + i], s->rows[i]);
    for (uint32_t target = 0; target < q->target_count; target++) {
        s->kernels->dots(tide_matrix_row(&s->targets, target), s->rows, count,
                         s->chunk.stride, scores);
        for (uint32_t i = 0; i < count; i++)
            if (from + i != q->targets[target])
                add_hit(s, target, from + i, scores[i]);
    }
}

static int search_init(search *s, tide_error *err)
{
    const tide_neighbor_query *q = s->query;
    uint32_t dim = tide_model_dim(tide_view_model(q->view));
    int status = tide_matrix_init(&s->targets, q->target_count, dim, err);
    if (!status)
        status = tide_matrix_init(&s->chunk, CHUNK, dim, err);
    if (status)
        return status;
    s->best = tide_alloc(q->target_count, q->near * sizeof *s->best);
    s->found_count = tide_alloc(q->target_count, sizeof *s->found_count);
    if (!s->best || !s->found_count)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %u neighbors of %u",
                         q->near, q->target_count);
    for (uint32_t i = 0; i < CHUNK; i++)
        s->rows[i] = tide_matrix_row(&s->chunk, i);
    for (uint32_t i = 0; i < q->target_count; i++)
        tide_view_unit(q->view, q->slots[q->targets[i]],
                       tide_matrix_row(&s->targets, i));
    return TIDE_OK;
}

int tide_neighbors_find(const tide_neighbor_query *query, uint32_t *found,
                        tide_error *err)
{
    search s = {.query = query, .kernels = tide_kernels_best()};
    int status = search_init(&s, err);
    uint32_t remaining = status ? 0 : query->count;
    while (remaining > 0) {
        uint32_t count = remaining < CHUNK ? remaining : CHUNK;
        scan_chunk(&s, query->count - remaining, count);
        remaining -= count;
    }
    size_t total = (size_t)query->target_count * query->near;
    for (size_t i = 0; i < total && !status; i++)
        found[i] = s.best[i].slot;
    free(s.found_count);
    free(s.best);
    tide_matrix_release(&s.chunk);
    tide_matrix_release(&s.targets);
    return status;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t tide_common_count(uint32_t *a, uint32_t *b, uint32_t count)
{
    qsort(a, count, sizeof *a, by_number);
    qsort(b, count, sizeof *b, by_number);
    uint32_t common = 0;
    for (uint32_t i = 0, j = 0; i < count && j < count;) {
        uint32_t x = a[i], y = b[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return common;
}
