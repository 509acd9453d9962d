/* oracle_batch.h - a second implementation of word2vec's batch skip-gram with negative
 * sampling, plain and slow.
 *
 * Linear searches, double precision, arrays of strings. It shares the random generator,
 * the hash and the alias sampler with the library, because both must draw the same
 * numbers; the sampler is built from the oracle's own counts. The order of the draws is
 * that of the algorithm: one for each known word that may be subsampled, one for each
 * window, S for the negatives of a pair.
 */
#ifndef ORACLE_BATCH_H
#define ORACLE_BATCH_H

#include "base/base.h"
#include "sampler/sampler.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH_TYPES = 4096, BATCH_DIM = 16, BATCH_SENTENCE = 1000 };

typedef struct batch_oracle {
    int D, C, S, epochs;
    uint64_t vocab, min_count, seed;
    double sample, alpha, min_alpha;

    char word[BATCH_TYPES][32]; /* by first occurrence, then by decreasing count */
    uint64_t count[BATCH_TYPES];
    int types, size; /* found; kept */
    uint64_t total, done;

    tide_vocabulary *vocabulary;
    tide_sampler *sampler;
    double v[BATCH_TYPES][BATCH_DIM], u[BATCH_TYPES][BATCH_DIM];
    tide_rng thinning;
    uint64_t emitted;
} batch_oracle;

static int batch_find(const batch_oracle *o, const char *word, int among)
{
    for (int k = 0; k < among; k++)
        if (!strcmp(o->word[k], word))
            return k;
    return -1;
}

/* Calls `each` for every word, and with NULL where a line ends. */
static void batch_words(batch_oracle *o, const char *text,
                        void (*each)(batch_oracle *o, const char *word))
{
    while (*text) {
        char word[32];
        size_t length = strcspn(text, " \n");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (length)
            each(o, word);
        text += length;
        if (*text == '\n')
            each(o, NULL);
        text += *text != 0;
    }
    each(o, NULL);
}

static void batch_count(batch_oracle *o, const char *word)
{
    if (!word)
        return;
    int k = batch_find(o, word, o->types);
    if (k < 0) {
        k = o->types++;
        strcpy(o->word[k], word);
    }
    o->count[k]++;
}

/* Insertion sort, which is stable. */
static void batch_sort(batch_oracle *o)
{
    for (int i = 1; i < o->types; i++)
        for (int k = i; k > 0 && o->count[k - 1] < o->count[k]; k--) {
            uint64_t count = o->count[k];
            char word[32];
            strcpy(word, o->word[k]);
            strcpy(o->word[k], o->word[k - 1]);
            strcpy(o->word[k - 1], word);
            o->count[k] = o->count[k - 1];
            o->count[k - 1] = count;
        }
}

/* Input within 0.5 / D, output 0: 24 bits for each value, two values per draw. */
static void batch_first_vector(batch_oracle *o, int k)
{
    tide_rng rng = tide_rng_seeded(tide_hash(o->word[k], strlen(o->word[k]), o->seed));
    for (int d = 0; d < o->D; d += 2) {
        uint64_t bits = tide_rng_next(&rng);
        o->v[k][d] = ((double)(bits >> 40) / 0x1p24 - 0.5) / o->D;
        if (d + 1 < o->D)
            o->v[k][d + 1] = ((double)(bits >> 8 & 0xffffff) / 0x1p24 - 0.5) / o->D;
    }
}

static void batch_keep(batch_oracle *o)
{
    tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT,
                                       .capacity = BATCH_TYPES};
    o->vocabulary = tide_vocabulary_new(&options, NULL);
    while (o->size < o->types && (uint64_t)o->size < o->vocab &&
           o->count[o->size] >= o->min_count) {
        char padded[64] = {0};
        strcpy(padded, o->word[o->size]);
        tide_word word = {padded, (uint32_t)strlen(padded)};
        tide_vocabulary_insert(o->vocabulary, &word, o->count[o->size], 0);
        batch_first_vector(o, o->size);
        o->total += o->count[o->size++];
    }
    tide_sampler_options sampler = {
        .kind = TIDE_SAMPLER_ALIAS, .capacity = BATCH_TYPES, .power = 0.75f};
    o->sampler = tide_sampler_new(&sampler, NULL);
    tide_sampler_build(o->sampler, o->vocabulary);
    o->thinning = tide_rng_seeded(o->seed ^ 0x1e7a4e);
}

static double batch_alpha(const batch_oracle *o)
{
    double all = (double)o->epochs * (double)o->total + 1;
    double alpha = o->alpha * (1 - (double)o->done / all);
    return alpha > o->min_alpha ? alpha : o->min_alpha;
}

static bool batch_stays(batch_oracle *o, int k)
{
    double f = (double)o->count[k] / (double)o->total;
    double chance = (sqrt(f / o->sample) + 1) * o->sample / f;
    return o->sample == 0 || (double)tide_rng_float(&o->thinning) < chance;
}

static void batch_pair(batch_oracle *o, int input, int context, tide_rng *rng)
{
    int target[1 + 16] = {context}, targets = 1;
    double error[1 + 16], gradient[BATCH_DIM] = {0}, alpha = batch_alpha(o);
    for (int s = 0; s < o->S; s++) {
        uint32_t slot;
        tide_draws_next(tide_sampler_draws(o->sampler), rng, &slot, 1);
        if ((int)slot != context)
            target[targets++] = (int)slot;
    }
    for (int t = 0; t < targets; t++) {
        double dot = 0;
        for (int d = 0; d < o->D; d++)
            dot += o->v[input][d] * o->u[target[t]][d];
        error[t] = (t == 0) - 1 / (1 + exp(-dot));
    }
    for (int t = 0; t < targets; t++)
        for (int d = 0; d < o->D; d++) {
            gradient[d] += error[t] * o->u[target[t]][d];
            o->u[target[t]][d] += alpha * error[t] * o->v[input][d];
        }
    for (int d = 0; d < o->D; d++)
        o->v[input][d] += alpha * gradient[d];
}

static void batch_learn(batch_oracle *o, const int *kept, int count)
{
    if (count < 2)
        return;
    tide_rng rng = tide_rng_seeded(o->seed + o->emitted++ * 0xc2b2ae3d27d4eb4fu);
    for (int at = 0; at < count; at++) {
        int width = 1 + (int)tide_rng_below(&rng, (uint64_t)o->C);
        for (int c = at - width; c <= at + width; c++)
            if (c >= 0 && c < count && c != at)
                batch_pair(o, kept[at], kept[c], &rng);
    }
}

static void batch_sentence(batch_oracle *o, const int *known, int count)
{
    int kept[BATCH_SENTENCE], stay = 0;
    o->done += (uint64_t)count;
    for (int i = 0; i < count; i++)
        if (batch_stays(o, known[i]))
            kept[stay++] = known[i];
    batch_learn(o, kept, stay);
}

/* The sentence consists of known words and ends with the line, or when it is full. */
static void batch_take(batch_oracle *o, const char *word)
{
    static int known[BATCH_SENTENCE], count;
    int k = word ? batch_find(o, word, o->size) : -1;
    if (k >= 0)
        known[count++] = k;
    if (!word || count == BATCH_SENTENCE) {
        batch_sentence(o, known, count);
        count = 0;
    }
}

static inline void batch_train(batch_oracle *o, const char *text)
{
    batch_words(o, text, batch_count);
    batch_sort(o);
    batch_keep(o);
    for (int epoch = 0; epoch < o->epochs; epoch++)
        batch_words(o, text, batch_take);
}

static inline void batch_free(batch_oracle *o)
{
    tide_sampler_free(o->sampler);
    tide_vocabulary_free(o->vocabulary);
    free(o);
}

#endif
