/* neighbors.c - the nearest words, for many words at once.
 *
 * The words of the list are taken in chunks that stay in the cache: a chunk is made of unit vectors
 * once and shown to all the words that are asked, each of which keeps the best it has seen. So a
 * model is read once, however many words are asked, and no copy of it is made.
 */
#include "eval/eval.h"
#include "query/query.h"
#include "vector/vector.h"

#include <stdlib.h>

enum { CHUNK = 256 };

typedef struct search {
    const tide_near_question *question;
    const tide_kernels *kernels;
    tide_matrix asked; /* [asked_count] unit vectors */
    tide_matrix chunk; /* [CHUNK] */
    float *rows[CHUNK];
    tide_hit *best; /* [asked_count][near] by falling score; slots are places */
    size_t *kept;   /* [asked_count] how many of them there are */
} search;

static void keep(search *s, uint32_t number, uint32_t place, float score)
{
    uint32_t near = s->question->near;
    tide_hit *best = s->best + (size_t)number * near;
    s->kept[number] =
        tide_hits_insert(best, s->kept[number], near, (tide_hit){NULL, score, place});
}

static void show_chunk(search *s, uint32_t from, uint32_t count)
{
    const tide_near_question *q = s->question;
    float scores[CHUNK];
    for (uint32_t i = 0; i < count; i++)
        tide_view_unit(q->space, q->slots[from + i], s->rows[i]);
    for (uint32_t number = 0; number < q->asked_count; number++) {
        s->kernels->dots(tide_matrix_row(&s->asked, number), s->rows, count,
                         s->chunk.stride, scores);
        for (uint32_t i = 0; i < count; i++)
            if (from + i != q->asked[number])
                keep(s, number, from + i, scores[i]);
    }
}

static int search_begin(search *s, tide_error *err)
{
    const tide_near_question *q = s->question;
    uint32_t dim = tide_model_dim(tide_view_model(q->space));
    int status = tide_matrix_init(&s->asked, q->asked_count, dim, err);
    if (!status)
        status = tide_matrix_init(&s->chunk, CHUNK, dim, err);
    if (status)
        return status;
    s->best = tide_alloc(q->asked_count, q->near * sizeof *s->best);
    s->kept = tide_alloc(q->asked_count, sizeof *s->kept);
    if (!s->best || !s->kept)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %u neighbors of %u",
                         q->near, q->asked_count);
    for (uint32_t i = 0; i < CHUNK; i++)
        s->rows[i] = tide_matrix_row(&s->chunk, i);
    for (uint32_t i = 0; i < q->asked_count; i++)
        tide_view_unit(q->space, q->slots[q->asked[i]], tide_matrix_row(&s->asked, i));
    return TIDE_OK;
}

int tide_near_find(const tide_near_question *question, uint32_t *found, tide_error *err)
{
    search s = {.question = question, .kernels = tide_kernels_best()};
    int status = search_begin(&s, err);
    uint32_t left = status ? 0 : question->count;
    while (left > 0) {
        uint32_t count = left < CHUNK ? left : CHUNK;
        show_chunk(&s, question->count - left, count);
        left -= count;
    }
    size_t wanted = (size_t)question->asked_count * question->near;
    for (size_t i = 0; i < wanted && !status; i++)
        found[i] = s.best[i].slot;
    free(s.kept);
    free(s.best);
    tide_matrix_release(&s.chunk);
    tide_matrix_release(&s.asked);
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
