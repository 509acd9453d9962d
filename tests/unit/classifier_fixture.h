/* classifier_fixture.h - small sets of labeled posts, and allocations that are counted
 * and can fail. Include it in one file.
 */
#ifndef CLASSIFIER_FIXTURE_H
#define CLASSIFIER_FIXTURE_H

#include "base/base.h"
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* -- counted and failing allocations ---------------------------------------------- */

static int allocations_left = -1; /* negative for no limit */
static size_t allocated;

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = NULL;
    if (allocations_left == 0)
        return ENOMEM;
    if (allocations_left > 0)
        allocations_left--;
    allocated += size;
    *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    return *block ? 0 : ENOMEM;
}

/* -- examples --------------------------------------------------------------------- */

enum { WORDS = 60, POSTS = 240, LONGEST = 9, LABELS_MOST = 4 };

typedef struct world {
    tide_matrix vectors;
    tide_example examples[POSTS];
    uint32_t words[POSTS][LONGEST];
    uint32_t labels[POSTS][LABELS_MOST];
    const float *rows[POSTS][LONGEST];
} world;

/* Random posts of 1 to 9 words, without labels yet. */
static inline world *world_new(uint32_t dim, uint64_t seed)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_int_equal(tide_matrix_init(&w->vectors, WORDS, dim, NULL), TIDE_OK);
    tide_rng rng = tide_rng_seeded(seed);
    for (uint32_t i = 0; i < WORDS; i++)
        for (uint32_t d = 0; d < dim; d++)
            tide_matrix_row(&w->vectors, i)[d] = 0.3f * (float)tide_rng_normal(&rng);
    for (uint32_t i = 0; i < POSTS; i++) {
        uint32_t count = 1 + (uint32_t)tide_rng_below(&rng, LONGEST);
        for (uint32_t k = 0; k < count; k++) {
            w->words[i][k] = (uint32_t)tide_rng_below(&rng, WORDS);
            w->rows[i][k] = tide_matrix_row(&w->vectors, w->words[i][k]);
        }
        w->examples[i] = (tide_example){w->words[i], count, w->labels[i], 0};
    }
    return w;
}

static inline void world_free(world *w)
{
    tide_matrix_release(&w->vectors);
    free(w);
}

static inline void add_label(world *w, uint32_t post, uint32_t label)
{
    w->labels[post][w->examples[post].label_count++] = label;
}

/* Labels that are independent of the words. */
static inline void label_at_random(world *w, uint32_t labels, uint64_t seed)
{
    tide_rng rng = tide_rng_seeded(seed);
    for (uint32_t i = 0; i < POSTS; i++)
        for (uint32_t label = 0; label < labels && label < LABELS_MOST; label++)
            if (tide_rng_below(&rng, 3) == 0)
                add_label(w, i, label);
}

static inline bool has_word(const world *w, uint32_t post, uint32_t from, uint32_t to)
{
    for (uint32_t k = 0; k < w->examples[post].word_count; k++)
        if (w->words[post][k] >= from && w->words[post][k] < to)
            return true;
    return false;
}

/* Label n means that one of ten certain words occurs. */
static inline void label_by_words(world *w)
{
    for (uint32_t i = 0; i < POSTS; i++)
        for (uint32_t label = 0; label < LABELS_MOST; label++)
            if (has_word(w, i, 10 * label, 10 * label + 10))
                add_label(w, i, label);
}

/* The defaults of the parameters, with fewer epochs. */
static inline tide_classifier_options usual_options(uint32_t dim, uint32_t labels)
{
    return (tide_classifier_options){
        .kind = TIDE_CLASSIFIER_CNN,
        .dim = dim,
        .labels = labels,
        .maps = 100,
        .max_words = 64,
        .batch = 50,
        .max_epochs = 50,
        .patience = 3,
        .threads = 1,
        .dropout = 0.5f,
        .rate = 0.001f,
        .held_out = 0.1f,
        .seed = 1,
    };
}

/* Every post has words 0 and 1 as neighbors; the label says which comes first. */
static inline void label_by_order(world *w)
{
    tide_rng rng = tide_rng_seeded(5);
    for (uint32_t i = 0; i < POSTS; i++) {
        uint32_t count = 2 + (uint32_t)tide_rng_below(&rng, LONGEST - 1);
        for (uint32_t k = 0; k < count; k++)
            w->words[i][k] = 2 + (uint32_t)tide_rng_below(&rng, WORDS - 2);
        w->examples[i].word_count = count;
        uint32_t at = (uint32_t)tide_rng_below(&rng, count - 1);
        uint32_t first = (uint32_t)tide_rng_below(&rng, 2);
        w->words[i][at] = first;
        w->words[i][at + 1] = 1 - first;
        if (first == 0)
            add_label(w, i, 0);
    }
}

static tide_classifier_options small_options(tide_classifier_kind kind, uint32_t dim,
                                             uint32_t labels)
{
    tide_classifier_options o = usual_options(dim, labels);
    o.kind = kind;
    o.maps = 5;
    o.max_words = 16;
    o.batch = 20;
    o.max_epochs = 6;
    o.rate = 0.01f;
    return o;
}

static inline tide_classifier *made(const tide_classifier_options *options)
{
    tide_error err;
    tide_classifier *c = tide_classifier_new(options, &err);
    assert_non_null(c);
    return c;
}

static inline tide_classifier *trained(const tide_classifier_options *options,
                                       const world *w, tide_epoch_callback *on_epoch,
                                       void *context)
{
    tide_classifier *c = made(options);
    tide_error err = {.text = ""};
    if (tide_classifier_train(c, w->examples, POSTS, &w->vectors, on_epoch, context,
                              &err))
        fail_msg("%s", err.text);
    return c;
}

static inline bool same_rows(const tide_matrix *a, const tide_matrix *b)
{
    return (!a->rows && !b->rows) ||
           memcmp(a->rows, b->rows, tide_matrix_bytes(a->count, a->dim)) == 0;
}

static inline bool same(const tide_classifier *a, const tide_classifier *b)
{
    return a->scale == b->scale && a->trained == b->trained &&
           memcmp(a->prior, b->prior, a->options.labels * sizeof(float)) == 0 &&
           same_rows(&a->dense, &b->dense) && same_rows(&a->filters, &b->filters) &&
           same_rows(&a->bias, &b->bias);
}

static inline bool keep_last(void *context, const tide_epoch *epoch)
{
    *(tide_epoch *)context = *epoch;
    return true;
}

#endif
