/* snapshot.c - words and their vectors at one moment, compared with those at another.
 *
 * Training slowly rotates all vectors together, which is irrelevant. So a word is
 * compared with itself twice: directly, and after the rotation that best maps all words
 * to their earlier vectors (query/align.c). The difference of the two cosines is due to
 * the common rotation; how far the second is below 1 is how much words moved
 * individually, by learning and by chance. The overlap of neighborhoods measures the
 * same without a rotation.
 *
 * How much is due to chance can only be determined by a control run without changes
 * (Antoniak and Mimno, "Evaluating the stability of embedding-based word similarities",
 * TACL 2018).
 */
#include "eval/eval.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

/* -- lists of words ---------------------------------------------------------------- */

tide_vocabulary *tide_index_new(uint32_t capacity, tide_error *err)
{
    const tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT,
                                             .capacity = capacity ? capacity : 1};
    return tide_vocabulary_new(&options, err);
}

/* Vocabularies read 16 bytes even of a shorter word. */
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

/* -- creating ---------------------------------------------------------------------- */

static void load_row(tide_snapshot *s, const tide_view *view, const char *word,
                     uint32_t row)
{
    tide_entry entry;
    s->held[row] = !tide_model_find(tide_view_model(view), word, &entry, NULL);
    if (s->held[row])
        tide_view_unit(view, entry.slot, tide_matrix_row(&s->rows, row));
}

tide_snapshot *tide_snapshot_new(const tide_view *view, const char *const *words,
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
    uint32_t dim = tide_model_dim(tide_view_model(view));
    if (!s->index || tide_matrix_init(&s->rows, count, dim, err)) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for vectors of %u words", count);
        tide_snapshot_free(s);
        return NULL;
    }
    for (uint32_t row = 0; row < count; row++)
        if (tide_index_add(s->index, words[row]) == row)
            load_row(s, view, words[row], row);
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

const char *tide_snapshot_word(const tide_snapshot *s, uint32_t row)
{
    uint32_t length;
    return tide_vocabulary_word(s->index, row, &length);
}

/* -- neighbors --------------------------------------------------------------------- */

uint32_t tide_nearest_rows(const tide_matrix *rows, uint32_t row, uint32_t word_count,
                           const bool *allowed, uint32_t nearest[TIDE_NEAREST])
{
    const tide_kernels *k = tide_kernels_best();
    const float *x = tide_matrix_row(rows, row);
    tide_hit hits[TIDE_NEAREST];
    size_t count = 0;
    for (uint32_t other = 0; other < word_count; other++) {
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

/* -- comparing --------------------------------------------------------------------- */

/* The words that both snapshots hold, in the order of the first. */
typedef struct common {
    uint32_t *rows; /* [count] in the first snapshot */
    uint32_t count;
    uint32_t frequent;     /* first words, which the result is about */
    tide_matrix then, now; /* [count] */
    tide_aligner *aligner;
} common;

static uint32_t find_now(const tide_comparison *c, uint32_t row)
{
    const char *word = tide_snapshot_word(c->then, row);
    uint32_t row_now = tide_index_find(c->now->index, word);
    bool held = row_now != TIDE_NO_SLOT && c->now->held[row_now] && c->then->held[row];
    return held ? row_now : TIDE_NO_SLOT;
}

static int common_init(common *m, const tide_comparison *c, tide_error *err)
{
    uint32_t dim = c->then->rows.dim;
    m->rows = tide_alloc(c->word_count + 1, sizeof *m->rows);
    m->aligner = tide_aligner_new(dim, 0, err);
    if (!m->rows || !m->aligner)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare snapshots");
    for (uint32_t row = 0; row < c->word_count; row++)
        if (find_now(c, row) != TIDE_NO_SLOT) {
            m->rows[m->count++] = row;
            m->frequent += row < c->frequent;
        }
    int status = tide_matrix_init(&m->then, m->count, dim, err);
    if (!status)
        status = tide_matrix_init(&m->now, m->count, dim, err);
    size_t size = c->then->rows.stride * sizeof(float);
    for (uint32_t i = 0; i < m->count && !status; i++) {
        uint32_t row = m->rows[i];
        memcpy(tide_matrix_row(&m->then, i), tide_matrix_row(&c->then->rows, row),
               size);
        memcpy(tide_matrix_row(&m->now, i),
               tide_matrix_row(&c->now->rows, find_now(c, row)), size);
    }
    return status;
}

static void common_release(common *m)
{
    tide_matrix_release(&m->now);
    tide_matrix_release(&m->then);
    tide_aligner_free(m->aligner);
    free(m->rows);
}

/* The cosine of a word with itself after the common rotation. */
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
    for (uint32_t row = 0; row < c->word_count && aligned && !status; row++)
        aligned[row] = NAN;
    for (uint32_t i = 0; i < m.count && aligned && !status; i++)
        aligned[m.rows[i]] = (float)aligned_cosine(&m, i);
    common_release(&m);
    return status;
}
