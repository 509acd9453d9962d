/* history_fixture.h - for tests of histories: a model that is fed word by word and
 * whose vectors are set by the test. */
#ifndef TIDE_HISTORY_FIXTURE_H
#define TIDE_HISTORY_FIXTURE_H

#include "base/base.h"
#include "vector/vector.h"
#include "train_fixture.h"

#include <wordtide/history.h>

/* Training moves no vector measurably. */
#define STILL_SETTINGS "dim=8 rate=constant alpha=1e-9 replay=1 sample=0 admission=none"

typedef struct world {
    tide_trainer *trainer;
    tide_live *live;
    tide_history *history;
    double now;
} world;

static inline world world_of(const char *settings, const tide_history_options *options)
{
    world w = {.trainer = trainer_of(settings), .now = 1e9};
    tide_error err;
    w.live = tide_live_new(w.trainer, TIDE_VECTORS_INPUT, false, &err);
    assert_non_null(w.live);
    w.history = tide_history_new(w.live, options, &err);
    if (!w.history)
        fail_msg("%s", err.text);
    return w;
}

static inline void world_free(world *w)
{
    tide_history_free(w->history);
    tide_live_free(w->live);
    tide_trainer_free(w->trainer);
}

/* Feeds the word `times` times, each as a sentence. */
static inline void feed_word(const world *w, const char *word, int times)
{
    char text[80];
    int length = snprintf(text, sizeof text, "%s\n", word);
    for (int i = 0; i < times; i++)
        feed(w->trainer, text, (size_t)length);
}

/* Feeds w0, w1, ... each `times` times plus once for every word after it, so that their
 * order is known. */
static inline void feed_words(const world *w, int words, int times)
{
    char name[16];
    for (int i = 0; i < words; i++) {
        snprintf(name, sizeof name, "w%d", i);
        feed_word(w, name, times + words - i);
    }
}

static inline void update_after(world *w, double seconds)
{
    w->now += seconds;
    assert_true(tide_live_update(w->live));
    assert_int_equal(tide_history_update(w->history, w->now, NULL), TIDE_OK);
}

static inline void update_often(world *w, int times, double seconds)
{
    for (int i = 0; i < times; i++)
        update_after(w, seconds);
}

static inline tide_history_word word_of(const world *w, const char *word)
{
    tide_history_word found;
    tide_error err;
    if (tide_history_word_of(w->history, word, &found, &err))
        fail_msg("%s", err.text);
    return found;
}

static inline float *row_of(const world *w, const char *word)
{
    const tide_model *model = tide_trainer_model(w->trainer);
    tide_entry entry;
    assert_int_equal(tide_model_find(model, word, &entry, NULL), TIDE_OK);
    return tide_matrix_row(&model->input, entry.slot);
}

static inline float *numbered_row(const world *w, int word)
{
    char name[16];
    snprintf(name, sizeof name, "w%d", word);
    return row_of(w, name);
}

static inline void random_rows(const world *w, int words, tide_rng *rng)
{
    uint32_t dim = tide_model_dim(tide_trainer_model(w->trainer));
    for (int i = 0; i < words; i++)
        for (uint32_t d = 0; d < dim; d++)
            numbered_row(w, i)[d] = (float)tide_rng_normal(rng);
}

/* Rotates two components of a vector. */
static inline void rotate_row(float *row, uint32_t p, uint32_t q, double angle)
{
    double x = (double)row[p], y = (double)row[q];
    row[p] = (float)(cos(angle) * x - sin(angle) * y);
    row[q] = (float)(sin(angle) * x + cos(angle) * y);
}

/* Rotates all words alike, in many planes. */
static inline void rotate_all(const world *w, int words, uint64_t seed)
{
    uint32_t dim = tide_model_dim(tide_trainer_model(w->trainer));
    for (int i = 0; i < words; i++) {
        tide_rng rng = tide_rng_seeded(seed);
        for (uint32_t p = 0; p + 1 < dim; p++)
            for (uint32_t q = p + 1; q < dim; q++)
                rotate_row(numbered_row(w, i), p, q, 6.28 * tide_rng_double(&rng));
    }
}

static inline double angle_between(const float *x, const float *y, uint32_t dim)
{
    double xy = 0, xx = 0, yy = 0;
    for (uint32_t d = 0; d < dim; d++) {
        xy += (double)x[d] * (double)y[d];
        xx += (double)x[d] * (double)x[d];
        yy += (double)y[d] * (double)y[d];
    }
    return acos(xy / sqrt(xx * yy)) * 57.29577951308232;
}

#endif
