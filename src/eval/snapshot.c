/* snapshot.c - words and their vectors at one moment, and how they differ from those at another.
 *
 * Training turns all vectors together, slowly, and nothing that matters depends on it. So a word is
 * compared with itself twice: as it is, and after the rotation that brings all words nearest to where
 * they were (query/align.c). The first minus the second is what they turned together; what the second
 * lacks to 1 is what words have moved on their own, by learning and by chance. The overlap of
 * neighborhoods needs no rotation and says the same in other words.
 *
 * How much is chance can only be told by a run in which nothing happens (Antoniak and Mimno,
 * "Evaluating the stability of embedding-based word similarities", TACL 2018).
 */
#include "eval/eval.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

/* -- lists of words -------------------------------------------------------------------------------- */

tide_vocabulary *tide_index_new(uint32_t room, tide_error *err)
{
    const tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT,
                                             .capacity = room ? room : 1};
    return tide_vocabulary_new(&options, err);
}

/* Vocabularies read 16 bytes of a word, however short it is. */
static tide_word padded_word(const char *text, char padded[TIDE_WORD_MAX + 16])
{
    uint32_t length = (uint32_t)strnlen(text, TIDE_WORD_MAX);
    memset(padded, 0, TIDE_WORD_MAX + 16);
    memcpy(padded, text, length);
    return (tide_word){padded, length};
}

uint32_t tide_index_add(tide_vocabulary *index, const char *text)
{
    char padded[TIDE_WORD_MAX + 16];
    tide_word word = padded_word(text, padded);
    return tide_vocabulary_insert(index, &word, 1, 0);
}

uint32_t tide_index_find(const tide_vocabulary *index, const char *text)
{
    char padded[TIDE_WORD_MAX + 16];
    tide_word word = padded_word(text, padded);
    return tide_vocabulary_find(index, &word);
}

/* -- making ---------------------------------------------------------------------------------------- */

static void take_row(tide_snapshot *s, const tide_view *space, const char *word,
                     uint32_t place)
{
    tide_entry entry;
    s->held[place] = !tide_model_find(tide_view_model(space), word, &entry, NULL);
    if (s->held[place])
        tide_view_unit(space, entry.slot, tide_matrix_row(&s->rows, place));
}

tide_snapshot *tide_snapshot_new(const tide_view *space, const char *const *words,
                                 uint32_t count, tide_error *err)
{
    tide_snapshot *s = tide_alloc(1, sizeof *s);
    if (!s) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a snapshot");
        return NULL;
    }
    s->count = count;
    s->held = tide_alloc(count + 1, sizeof *s->held);
    s->index = s->held ? tide_index_new(count, err) : NULL;
    uint32_t dim = tide_model_dim(tide_view_model(space));
    if (!s->index || tide_matrix_init(&s->rows, count, dim, err)) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for vectors of %u words", count);
        tide_snapshot_free(s);
        return NULL;
    }
    for (uint32_t place = 0; place < count; place++)
        if (tide_index_add(s->index, words[place]) == place)
            take_row(s, space, words[place], place);
    return s;
}

void tide_snapshot_free(tide_snapshot *s)
{
    if (!s)
        return;
    tide_matrix_release(&s->rows);
    tide_vocabulary_free(s->index);
    free(s->held);
    free(s);
}

const char *tide_snapshot_word(const tide_snapshot *s, uint32_t place)
{
    uint32_t length;
    return tide_vocabulary_word(s->index, place, &length);
}

/* -- neighbors ------------------------------------------------------------------------------------ */

uint32_t tide_nearest_rows(const tide_matrix *rows, uint32_t row, uint32_t among,
                           const bool *allowed, uint32_t nearest[TIDE_NEAREST])
{
    const tide_kernels *k = tide_kernels_best();
    const float *x = tide_matrix_row(rows, row);
    tide_hit hits[TIDE_NEAREST];
    size_t count = 0;
    for (uint32_t other = 0; other < among; other++) {
        if (other == row || (allowed && !allowed[other]))
            continue;
        float score = k->dot(x, tide_matrix_row(rows, other), rows->stride);
        count =
            tide_hits_insert(hits, count, TIDE_NEAREST, (tide_hit){NULL, score, other});
    }
    for (size_t i = 0; i < count; i++)
        nearest[i] = hits[i].slot;
    return (uint32_t)count;
}

/* -- comparing ------------------------------------------------------------------------------------- */

/* The words that both snapshots hold, by their place in the first. */
typedef struct common {
    uint32_t *places; /* [count] in the first */
    uint32_t count;
    uint32_t frequent;     /* of them, those that the result is about */
    tide_matrix then, now; /* [count] */
    tide_aligner *aligner;
} common;

static uint32_t find_again(const tide_comparison *c, uint32_t place)
{
    const char *word = tide_snapshot_word(c->then, place);
    uint32_t again = tide_index_find(c->now->index, word);
    bool held = again != TIDE_NO_SLOT && c->now->held[again] && c->then->held[place];
    return held ? again : TIDE_NO_SLOT;
}

static int common_init(common *m, const tide_comparison *c, tide_error *err)
{
    uint32_t dim = c->then->rows.dim;
    m->places = tide_alloc(c->among + 1, sizeof *m->places);
    m->aligner = tide_aligner_new(dim, 0, err);
    if (!m->places || !m->aligner)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare snapshots");
    for (uint32_t place = 0; place < c->among; place++)
        if (find_again(c, place) != TIDE_NO_SLOT) {
            m->places[m->count++] = place;
            m->frequent += place < c->frequent;
        }
    int status = tide_matrix_init(&m->then, m->count, dim, err);
    if (!status)
        status = tide_matrix_init(&m->now, m->count, dim, err);
    size_t size = c->then->rows.stride * sizeof(float);
    for (uint32_t i = 0; i < m->count && !status; i++) {
        uint32_t place = m->places[i];
        memcpy(tide_matrix_row(&m->then, i), tide_matrix_row(&c->then->rows, place),
               size);
        memcpy(tide_matrix_row(&m->now, i),
               tide_matrix_row(&c->now->rows, find_again(c, place)), size);
    }
    return status;
}

static void common_release(common *m)
{
    tide_matrix_release(&m->now);
    tide_matrix_release(&m->then);
    tide_aligner_free(m->aligner);
    free(m->places);
}

/* The cosine of a word with itself, once it has been turned as all are. */
static double aligned_cosine(const common *m, uint32_t i)
{
    return tide_aligner_cosine(m->aligner, tide_matrix_row(&m->then, i),
                               tide_matrix_row(&m->now, i));
}

static double neighbor_overlap(const common *m, uint32_t i)
{
    uint32_t then[TIDE_NEAREST], now[TIDE_NEAREST];
    uint32_t count = tide_nearest_rows(&m->then, i, m->count, NULL, then);
    tide_nearest_rows(&m->now, i, m->count, NULL, now);
    return count ? (double)tide_common_count(then, now, count) / count : (double)NAN;
}

static void compare_frequent(const common *m, tide_stability *result)
{
    const tide_kernels *k = tide_kernels_best();
    double cosine = 0, aligned = 0, overlap = 0;
    for (uint32_t i = 0; i < m->frequent; i++) {
        cosine += (double)k->dot(tide_matrix_row(&m->then, i),
                                 tide_matrix_row(&m->now, i), m->then.stride);
        aligned += aligned_cosine(m, i);
        overlap += neighbor_overlap(m, i);
    }
    *result = (tide_stability){m->frequent, cosine / m->frequent, aligned / m->frequent,
                               overlap / m->frequent};
}

int tide_snapshot_compare(const tide_comparison *c, tide_stability *result,
                          float *aligned, tide_error *err)
{
    common m = {0};
    int status = common_init(&m, c, err);
    if (!status)
        status = tide_aligner_fit(m.aligner, &m.then, &m.now, err);
    if (!status)
        compare_frequent(&m, result);
    for (uint32_t place = 0; place < c->among && aligned && !status; place++)
        aligned[place] = NAN;
    for (uint32_t i = 0; i < m.count && aligned && !status; i++)
        aligned[m.places[i]] = (float)aligned_cosine(&m, i);
    common_release(&m);
    return status;
}
