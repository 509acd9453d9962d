/* model_oracle.h - naive implementations of queries, in double precision. */
#ifndef TIDE_MODEL_ORACLE_H
#define TIDE_MODEL_ORACLE_H

#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "train_fixture.h"

#include <xxhash.h>

/* -- n-grams ----------------------------------------------------------------------- */

/* Every substring of <word> that has the right number of whole characters, sorted by
 * position and length. */
static inline uint32_t naive_ngrams(const tide_subwords *subwords, const char *word,
                                    uint32_t *ids)
{
    char marked[256];
    int length = snprintf(marked, sizeof marked, "<%s>", word);
    uint32_t count = 0;
    for (int from = 0; from < length; from++)
        for (int to = from + 1; to <= length; to++) {
            uint32_t characters = 0;
            for (int i = from; i < to; i++)
                characters += (marked[i] & 0xc0) != 0x80;
            bool borders = (marked[from] & 0xc0) != 0x80 &&
                           (to == length || (marked[to] & 0xc0) != 0x80);
            if (borders && characters >= subwords->shortest &&
                characters <= subwords->longest && count < TIDE_SUBWORDS_MAX)
                ids[count++] = (uint32_t)(XXH3_64bits_withSeed(marked + from,
                                                               (size_t)(to - from), 0) %
                                          subwords->rows);
        }
    return count;
}

/* -- vectors ----------------------------------------------------------------------- */

typedef struct naive_view {
    const tide_model *model;
    tide_vectors vectors;
    double mean[64];
} naive_view;

static inline void naive_raw(const naive_view *s, uint32_t slot, double *out)
{
    const tide_model *m = s->model;
    uint32_t length, ids[TIDE_SUBWORDS_MAX];
    char word[TIDE_WORD_MAX + 1] = "";
    const char *bytes = tide_vocabulary_word(m->vocabulary, slot, &length);
    memcpy(word, bytes, length);
    uint32_t count = m->ngrams ? naive_ngrams(&m->shape.subwords, word, ids) : 0;
    for (uint32_t d = 0; d < m->shape.dim; d++) {
        double input = (double)tide_matrix_row(&m->input, slot)[d];
        for (uint32_t i = 0; i < count; i++)
            input += (double)tide_matrix_row(&m->subword, ids[i])[d];
        input /= count + 1.0;
        double output = (double)tide_matrix_row(&m->output, slot)[d];
        out[d] = s->vectors == TIDE_VECTORS_INPUT    ? input
                 : s->vectors == TIDE_VECTORS_OUTPUT ? output
                                                     : input + output;
    }
}

static inline void naive_vector(const naive_view *s, uint32_t slot, double *out)
{
    naive_raw(s, slot, out);
    for (uint32_t d = 0; d < s->model->shape.dim; d++)
        out[d] -= s->mean[d];
}

/* The models of the tests have fewer words than the mean is limited to. */
static inline naive_view naive_view_of(const tide_model *model, tide_vectors vectors,
                                       bool centered)
{
    naive_view s = {.model = model, .vectors = vectors};
    uint32_t used = tide_vocabulary_used(model->vocabulary), length, words = 0;
    double sum[64] = {0}, row[64];
    for (uint32_t slot = 0; slot < used; slot++)
        if (tide_vocabulary_word(model->vocabulary, slot, &length)) {
            naive_raw(&s, slot, row);
            words++;
            for (uint32_t d = 0; d < model->shape.dim; d++)
                sum[d] += row[d];
        }
    for (uint32_t d = 0; d < model->shape.dim && centered && words; d++)
        s.mean[d] = sum[d] / words;
    return s;
}

static inline double naive_dot(const double *x, const double *y, uint32_t dim)
{
    double sum = 0;
    for (uint32_t d = 0; d < dim; d++)
        sum += x[d] * y[d];
    return sum;
}

/* Returns the length that x had. */
static inline double naive_unit(double *x, uint32_t dim)
{
    double norm = sqrt(naive_dot(x, x, dim));
    for (uint32_t d = 0; d < dim && norm > 0; d++)
        x[d] /= norm;
    return norm;
}

static inline uint32_t slot_of(const tide_model *model, const char *word)
{
    tide_entry entry;
    return tide_model_find(model, word, &entry, NULL) ? TIDE_NO_SLOT : entry.slot;
}

/* -- nearest ----------------------------------------------------------------------- */

typedef struct naive_hit {
    uint32_t slot;
    double score;
} naive_hit;

static inline int by_descending_score(const void *a, const void *b)
{
    const naive_hit *x = a, *y = b;
    return x->score < y->score ? 1 : x->score > y->score ? -1 : 0;
}

static inline bool is_input(const tide_model *model, const tide_query *q, uint32_t slot)
{
    for (size_t i = 0; i < q->positive_count; i++)
        if (slot_of(model, q->positive[i]) == slot)
            return true;
    for (size_t i = 0; i < q->negative_count; i++)
        if (slot_of(model, q->negative[i]) == slot)
            return true;
    return false;
}

/* Returns the length of the sum of its words and its vector. */
static inline double naive_query(const naive_view *s, const tide_query *q, double *out)
{
    uint32_t dim = s->model->shape.dim;
    double row[64];
    for (uint32_t d = 0; d < dim; d++)
        out[d] = q->vector ? (double)q->vector[d] : 0;
    for (size_t i = 0; i < q->positive_count + q->negative_count; i++) {
        bool positive = i < q->positive_count;
        naive_vector(s,
                     slot_of(s->model, positive ? q->positive[i]
                                                : q->negative[i - q->positive_count]),
                     row);
        naive_unit(row, dim);
        for (uint32_t d = 0; d < dim; d++)
            out[d] += positive ? row[d] : -row[d];
    }
    return naive_unit(out, dim);
}

/* The `among` most frequent words without those of the query, sorted. Returns their
 * number. */
static inline size_t naive_nearest(const naive_view *s, const tide_query *q,
                                   naive_hit *hits, size_t capacity)
{
    const tide_model *m = s->model;
    tide_entry *entries = calloc(tide_model_size(m) + 1, sizeof *entries);
    assert_non_null(entries);
    size_t words = tide_model_words(m, entries, tide_model_size(m)), count = 0;
    double query[64], row[64];
    naive_query(s, q, query);
    for (size_t i = 0; i < words && (!q->top || i < q->top); i++) {
        if (is_input(m, q, entries[i].slot))
            continue;
        naive_vector(s, entries[i].slot, row);
        naive_unit(row, m->shape.dim);
        assert_true(count < capacity);
        hits[count++] =
            (naive_hit){entries[i].slot, naive_dot(query, row, m->shape.dim)};
    }
    free(entries);
    qsort(hits, count, sizeof *hits, by_descending_score);
    return count;
}

/* -- spelling ---------------------------------------------------------------------- */

/* The Damerau-Levenshtein distance by its definition (in the common form where a
 * swapped pair is not edited again), with a full table. */
static inline int naive_distance(const char *a, const char *b)
{
    static int d[80][80];
    int n = (int)strlen(a), m = (int)strlen(b);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (d[i - 1][j - 1] + (a[i - 1] != b[j - 1]) < best)
                best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

#endif
