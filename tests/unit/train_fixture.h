/* train_fixture.h - fixtures for tests of training: trainers made from one line of
 * settings, the demo stream as text, facts that are true about it, and comparison of
 * files. */
#ifndef TIDE_TRAIN_FIXTURE_H
#define TIDE_TRAIN_FIXTURE_H

#include "demo/demo.h"
#include "file/store_internal.h"
#include "sgns/sgns.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <float.h>
#include <math.h>

#include "section_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Sanitizers cost a factor of ten and more: there the same tests run on less text. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* -- trainers ---------------------------------------------------------------------- */

/* Sets "name=value name=value ..." in order; returns the first error. */
static inline int try_settings(tide_params *params, const char *settings,
                               tide_error *err)
{
    int status = TIDE_OK;
    while (*settings && !status) {
        char name[64], value[64];
        int used = 0;
        assert_int_equal(sscanf(settings, "%63[^=]=%63s %n", name, value, &used), 2);
        status = tide_params_set(params, name, value, err);
        settings += used;
    }
    return status;
}

/* The default profile without subwords, and with few repeats: tests that concern these
 * set them. */
#define PLAIN "subword=0 replay=3"

static inline tide_params *params_of(const char *settings)
{
    tide_error err;
    tide_params *params = tide_params_new(&err);
    assert_non_null(params);
    if (try_settings(params, PLAIN, &err) || try_settings(params, settings, &err))
        fail_msg("%s: %s", settings, err.text);
    return params;
}

static inline tide_trainer *trainer_of(const char *settings)
{
    tide_error err;
    tide_params *params = params_of(settings);
    tide_trainer *trainer = tide_trainer_new(params, &err);
    tide_params_free(params);
    if (!trainer)
        fail_msg("%s: %s", settings, err.text);
    return trainer;
}

static inline const tide_sgns *sgns_of(tide_trainer *trainer)
{
    return tide_trainer_ingest(trainer)->sgns;
}

static inline tide_stats stats_of(const tide_trainer *trainer)
{
    tide_stats stats;
    tide_trainer_stats(trainer, &stats, sizeof stats);
    return stats;
}

static inline void feed(tide_trainer *trainer, const char *bytes, size_t size)
{
    assert_int_equal(tide_trainer_feed(trainer, bytes, size, NULL), TIDE_OK);
}

static inline void feed_text(tide_trainer *trainer, const char *text)
{
    feed(trainer, text, strlen(text));
}

static inline void save_to(tide_trainer *trainer, const char *path)
{
    tide_error err;
    if (tide_trainer_save(trainer, path, &err))
        fail_msg("%s", err.text);
}

static inline tide_trainer *load_from(const char *path)
{
    tide_error err;
    tide_trainer *trainer = tide_trainer_load(path, NULL, 0, &err);
    if (!trainer)
        fail_msg("%s", err.text);
    return trainer;
}

static inline bool matrix_is_finite(const tide_matrix *m, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t d = 0; d < m->dim; d++)
            if (!tide_finite(tide_matrix_row(m, row)[d]))
                return false;
    return true;
}

static inline bool is_finite(const tide_model *model)
{
    uint32_t used = tide_vocabulary_used(model->vocabulary);
    for (uint32_t row = 0; row < model->subword.count; row++)
        if (!tide_bfloats_are_within(&model->subword, row, FLT_MAX))
            return false;
    return matrix_is_finite(&model->input, used) &&
           matrix_is_finite(&model->output, used);
}

/* A number of a row of n-grams. */
static inline double bfloat_at(const tide_bfloats *m, uint32_t row, uint32_t d)
{
    uint32_t bits = (uint32_t)tide_bfloats_row(m, row)[d] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* -- the demo stream --------------------------------------------------------------- */

typedef struct corpus {
    char *bytes;
    size_t size;
} corpus;

/* Whole lines with at least this many tokens. */
static inline corpus demo_text(uint64_t seed, uint64_t tokens)
{
    size_t capacity = (size_t)tokens * 16 + 4096;
    corpus t = {malloc(capacity), 0};
    tide_demo *demo = tide_demo_new(seed, NULL);
    assert_true(t.bytes && demo);
    while (tide_demo_tokens(demo) < tokens || t.bytes[t.size - 1] != '\n') {
        assert_true(t.size < capacity);
        t.size += tide_demo_read(demo, t.bytes + t.size, 1);
    }
    tide_demo_free(demo);
    return t;
}

static inline tide_trainer *trained(const char *settings, const corpus *t)
{
    tide_trainer *trainer = trainer_of(settings);
    feed(trainer, t->bytes, t->size);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    return trainer;
}

/* -- what is true about it --------------------------------------------------------- */

/* The lines of tide_demo_truth, each split into words. */
typedef struct fact {
    char *words[512]; /* kind, name, and its members */
    size_t count;
} fact;

typedef struct truth {
    char *lines;
    fact *facts;
    size_t count;
} truth;

static inline truth truth_load(void)
{
    truth t = {0};
    size_t size = 0;
    FILE *out = open_memstream(&t.lines, &size);
    assert_non_null(out);
    assert_int_equal(tide_demo_truth(out, NULL), TIDE_OK);
    fclose(out);
    for (size_t i = 0; i < size; i++)
        t.count += t.lines[i] == '\n';
    t.facts = calloc(t.count, sizeof *t.facts);
    assert_non_null(t.facts);
    char *rest_of_lines = t.lines, *line;
    for (size_t i = 0; (line = strtok_r(rest_of_lines, "\n", &rest_of_lines)); i++) {
        char *rest = line, *word;
        while ((word = strtok_r(rest, "\t ", &rest)) && t.facts[i].count < 512)
            t.facts[i].words[t.facts[i].count++] = word;
    }
    return t;
}

static inline void truth_free(truth *t)
{
    free(t->facts);
    free(t->lines);
}

static inline bool is_in(const fact *f, const char *word)
{
    for (size_t i = 2; i < f->count; i++)
        if (!strcmp(f->words[i], word))
            return true;
    return false;
}

/* The share of the `near` nearest neighbors of a word that are of the same group, for
 * those of the first `words` words of every group that the model has. */
static inline double group_score(const tide_model *model, const truth *t, size_t words,
                                 size_t near)
{
    tide_view *space = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
    assert_non_null(space);
    size_t asked = 0, right = 0;
    for (size_t i = 0; i < t->count; i++) {
        const fact *f = &t->facts[i];
        for (size_t w = 2; w < f->count && w < 2 + words && f->words[0][0] == 'g';
             w++) {
            const char *word = f->words[w];
            tide_entry entry;
            tide_hit hits[16];
            if (tide_model_find(model, word, &entry, NULL))
                continue;
            tide_query query = {.positive = &word, .positive_count = 1};
            int found = tide_view_nearest(space, &query, hits, near, NULL);
            for (int h = 0; h < found; h++, asked++)
                right += is_in(f, hits[h].word);
        }
    }
    tide_view_free(space);
    return asked ? (double)right / (double)asked : 0;
}

/* The share of analogies answered correctly, of every `step`-th one. Those with an
 * unknown word count as wrong. */
static inline double analogy_score(const tide_model *model, const truth *t, size_t step)
{
    tide_view *space = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
    assert_non_null(space);
    size_t asked = 0, right = 0;
    for (size_t i = 0; i < t->count; i++) {
        char *const *w = t->facts[i].words + 2;
        tide_hit hit;
        if (t->facts[i].words[0][0] != 'a' || i % step)
            continue;
        asked++;
        if (tide_view_analogy(space, w[0], w[1], w[2], &hit, 1, NULL) == 1)
            right += !strcmp(hit.word, w[3]);
    }
    tide_view_free(space);
    return asked ? (double)right / (double)asked : 0;
}

/* -- files ------------------------------------------------------------------------- */

static inline void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline bool same_file(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb"), *two = fopen(b, "rb");
    assert_true(one && two);
    int byte, other;
    do {
        byte = getc(one);
        other = getc(two);
    } while (byte == other && byte != EOF);
    fclose(one);
    fclose(two);
    return byte == other;
}

#endif
