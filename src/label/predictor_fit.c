/* predictor_fit.c - trains a classifier on the posts that the tracker has kept.
 *
 * The labels are the most frequent ones that have posts. A post in the samples of
 * several labels is one example with several labels. Other labels are not predicted,
 * though posts may carry them. An equal number of posts per label makes frequent labels
 * rarer than they are, as in the paper.
 *
 * Words are looked up in the current vocabulary; those evicted since the post are
 * skipped. Their vectors are copied, since examples are read for many epochs.
 */
#include "label/label.h"
#include "label/predictor.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

#define NO_ROW UINT32_MAX

enum { MIN_POST_BYTES = 64 }; /* a kept post takes at least two cells */

typedef struct fit_state {
    const tide_model *model;
    const tide_kernels *kernels;
    const tide_tracker *tracker;
    tide_classifier_options options;
    uint32_t posts_per_label, anchors;

    tide_tracked_label *labels; /* [options.labels] */
    uint32_t *label_by_slot; /* [slots of the tracker] which of them it is; or NO_ROW */
    uint32_t *posts;         /* [post_count] */
    size_t post_count;

    tide_example *examples; /* [post_count] */
    uint32_t *indexes;      /* words and labels of all examples, one after the other */
    size_t index_count;
    uint32_t *row_by_slot; /* [slots of the vocabulary]; or NO_ROW */
    uint32_t *slot_by_row; /* [row_count] */
    uint32_t row_count;
    tide_matrix vectors;
} fit_state;

static void release_state(fit_state *f)
{
    tide_matrix_release(&f->vectors);
    free(f->slot_by_row);
    free(f->row_by_slot);
    free(f->indexes);
    free(f->examples);
    free(f->posts);
    free(f->label_by_slot);
    free(f->labels);
}

static int no_memory(tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to train a classifier");
}

static uint32_t *new_indexes(size_t count, uint32_t value)
{
    uint32_t *all = tide_alloc(count, sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        all[i] = value;
    return all;
}

/* -- labels ----------------------------------------------------------------------- */

/* A label may be tracked before a post with words was seen. */
static uint32_t remove_empty_labels(tide_tracked_label *labels, size_t count,
                                    uint32_t max_count)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < count && kept < max_count; i++)
        if (labels[i].kept)
            labels[kept++] = labels[i];
    return kept;
}

static int choose_labels(fit_state *f, tide_error *err)
{
    uint32_t capacity = tide_tracker_state(f->tracker).capacity;
    f->labels = tide_alloc(capacity, sizeof *f->labels);
    f->label_by_slot = new_indexes(capacity, NO_ROW);
    if (!f->labels || !f->label_by_slot)
        return no_memory(err);
    size_t count = tide_tracker_top(f->tracker, f->labels, capacity);
    f->options.labels = remove_empty_labels(f->labels, count, f->options.labels);
    if (!f->options.labels)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "no post with a label and a word has been read yet");
    for (uint32_t i = 0; i < f->options.labels; i++)
        f->label_by_slot[f->labels[i].slot] = i;
    return TIDE_OK;
}

/* -- posts ------------------------------------------------------------------------ */

static uint32_t post_count_of(const fit_state *f, uint32_t label)
{
    uint32_t kept = f->labels[label].kept;
    return kept < f->posts_per_label ? kept : f->posts_per_label;
}

/* Moves the posts that were not seen before to the front and returns their number.
 * `seen` has a bit per post id. */
static size_t remove_duplicates(uint32_t *posts, size_t count, uint64_t *seen)
{
    size_t unique = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bit = UINT64_C(1) << (posts[i] % 64), *word = &seen[posts[i] / 64];
        posts[unique] = posts[i];
        unique += !(*word & bit);
        *word |= bit;
    }
    return unique;
}

static int choose_posts(fit_state *f, tide_error *err)
{
    size_t max = 0;
    for (uint32_t i = 0; i < f->options.labels; i++)
        max += post_count_of(f, i);
    uint32_t ids = tide_tracker_state(f->tracker).ids;
    uint64_t *seen = tide_alloc(ids / 64 + 1, sizeof *seen);
    f->posts = tide_alloc(max, sizeof *f->posts);
    if (!seen || !f->posts) {
        free(seen);
        return no_memory(err);
    }
    for (uint32_t i = 0; i < f->options.labels; i++) {
        uint32_t *posts = f->posts + f->post_count;
        size_t count = tide_tracker_sample(f->tracker, f->labels[i].slot, posts,
                                           post_count_of(f, i));
        f->post_count += remove_duplicates(posts, count, seen);
    }
    free(seen);
    return TIDE_OK;
}

/* -- examples --------------------------------------------------------------------- */

/* Reads the next word of a post, from *at on. */
static bool next_word(const tide_post *post, uint32_t *at, tide_word *word)
{
    while (*at < post->length && post->text[*at] == ' ')
        ++*at;
    const char *start = post->text + *at;
    uint32_t length = (uint32_t)strcspn(start, " ");
    *word = (tide_word){start, length};
    *at += length;
    return length > 0;
}

/* The row of the word's vector. A word gets one with its first example. */
static uint32_t find_or_add_row(fit_state *f, const tide_word *word)
{
    uint32_t slot = tide_vocabulary_find(f->model->vocabulary, word);
    if (slot == TIDE_NO_SLOT)
        return NO_ROW;
    if (f->row_by_slot[slot] == NO_ROW) {
        f->row_by_slot[slot] = f->row_count;
        f->slot_by_row[f->row_count++] = slot;
    }
    return f->row_by_slot[slot];
}

static void add_words(fit_state *f, const tide_post *post, tide_example *example)
{
    tide_word word;
    for (uint32_t at = 0;
         example->word_count < f->options.max_words && next_word(post, &at, &word);) {
        uint32_t row =
            word.length <= TIDE_WORD_MAX ? find_or_add_row(f, &word) : NO_ROW;
        if (row == NO_ROW)
            continue;
        f->indexes[f->index_count++] = row;
        example->word_count++;
    }
}

static void add_labels(fit_state *f, const tide_post *post, tide_example *example)
{
    uint32_t *labels = f->indexes + f->index_count, count = 0;
    for (uint32_t i = 0; i < post->label_count; i++) {
        uint32_t label = f->label_by_slot[post->labels[i]], at = count;
        if (label == NO_ROW)
            continue;
        for (; at > 0 && labels[at - 1] > label; at--)
            labels[at] = labels[at - 1];
        labels[at] = label;
        count++;
    }
    example->label_count = count;
    f->index_count += count;
}

static size_t max_indexes_per_post(const tide_classifier_options *o)
{
    return o->max_words + TIDE_POST_LABELS;
}

static int make_examples(fit_state *f, tide_error *err)
{
    uint32_t words = tide_vocabulary_used(f->model->vocabulary);
    f->examples = tide_alloc(f->post_count, sizeof *f->examples);
    f->indexes = tide_alloc(f->post_count * max_indexes_per_post(&f->options),
                            sizeof *f->indexes);
    f->row_by_slot = new_indexes(words, NO_ROW);
    f->slot_by_row = new_indexes(words, 0);
    tide_post *post = tide_alloc(1, sizeof *post);
    if (!f->examples || !f->indexes || !f->row_by_slot || !f->slot_by_row || !post) {
        free(post);
        return no_memory(err);
    }
    for (size_t i = 0; i < f->post_count; i++) {
        tide_example *example = &f->examples[i];
        tide_tracker_post(f->tracker, f->posts[i], post);
        example->words = f->indexes + f->index_count;
        add_words(f, post, example);
        example->labels = f->indexes + f->index_count;
        add_labels(f, post, example);
    }
    free(post);
    return TIDE_OK;
}

static int copy_vectors(fit_state *f, tide_error *err)
{
    int status = tide_matrix_init(&f->vectors, f->row_count, f->options.dim, err);
    for (uint32_t row = 0; row < f->row_count && !status; row++)
        tide_model_input(f->model, f->kernels, f->slot_by_row[row],
                         tide_matrix_row(&f->vectors, row));
    return status;
}

/* -- training --------------------------------------------------------------------- */

static int prepare_examples(fit_state *f, tide_error *err)
{
    int status = choose_labels(f, err);
    if (!status)
        status = choose_posts(f, err);
    if (!status)
        status = make_examples(f, err);
    return status ? status : copy_vectors(f, err);
}

static int train_and_snapshot(fit_state *f, tide_fitted *result,
                              tide_epoch_callback *on_epoch, void *data,
                              tide_error *err)
{
    tide_classifier *classifier = tide_classifier_new(&f->options, err);
    int status = classifier
                     ? tide_classifier_train(classifier, f->examples, f->post_count,
                                             &f->vectors, on_epoch, data, err)
                     : (int)err->status;
    if (!status)
        status = tide_fitted_init(result, f->model, classifier, err);
    if (status) {
        tide_classifier_free(classifier);
        return status;
    }
    status =
        tide_anchors_snapshot(&result->anchors, f->model, f->kernels, f->anchors, err);
    if (status) {
        tide_fitted_release(result);
        return status;
    }
    for (uint32_t i = 0; i < f->options.labels; i++)
        memcpy(result->texts[i], f->labels[i].name, f->labels[i].length);
    return TIDE_OK;
}

int tide_predictor_fit(tide_predictor *p, const tide_tracker *tracker,
                       const tide_predictor_options *options,
                       tide_epoch_callback *on_epoch, void *data, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    if (options->classifier.kind == TIDE_CLASSIFIER_BAG)
        return tide_predictor_fit_bag(p, tracker, options, err);
    fit_state f = {.model = p->model,
                   .kernels = p->kernels,
                   .tracker = tracker,
                   .options = options->classifier,
                   .posts_per_label = options->posts_per_label,
                   .anchors = options->anchors};
    tide_fitted fitted;
    int status = prepare_examples(&f, err);
    if (!status)
        status = train_and_snapshot(&f, &fitted, on_epoch, data, err);
    release_state(&f);
    if (status)
        return status;
    if (options->aborted && *options->aborted) {
        tide_fitted_release(&fitted);
        return 1;
    }
    tide_fitted_release(&p->fitted);
    p->fitted = fitted;
    p->fits++;
    tide_bag_free(p->bag); /* what predicted before */
    p->bag = NULL;
    p->learns = false;
    return TIDE_OK;
}

static uint64_t fitted_bytes(const tide_predictor_options *options, uint64_t anchors)
{
    const tide_classifier_options *c = &options->classifier;
    uint64_t label = TIDE_WORD_MAX + 1 + sizeof(char *) + sizeof(float);
    return tide_classifier_bytes(c) + tide_anchors_bytes(anchors, c->dim) +
           c->labels * label + c->max_words * sizeof(float *) +
           tide_matrix_bytes(c->max_words + 1, c->dim);
}

/* Words have a row and a slot, and a rank while the anchors are chosen. */
uint64_t tide_predictor_bytes(const tide_predictor_options *options,
                              const tide_tracker_options *tracker, uint64_t vocabulary)
{
    const tide_classifier_options *c = &options->classifier;
    if (c->kind == TIDE_CLASSIFIER_BAG)
        return tide_predictor_bag_bytes(options, tracker, vocabulary);
    uint64_t kept = tracker->memory / MIN_POST_BYTES,
             posts = (uint64_t)c->labels * options->posts_per_label,
             anchors = options->anchors < vocabulary ? options->anchors : vocabulary;
    posts = posts < kept ? posts : kept;
    uint64_t examples = posts * (sizeof(uint32_t) + sizeof(tide_example) +
                                 max_indexes_per_post(c) * sizeof(uint32_t));
    uint64_t labels = tracker->labels * (sizeof(tide_tracked_label) + sizeof(uint32_t));
    uint64_t words = vocabulary * (2 * sizeof(uint32_t) + 2 * sizeof(uint64_t)) +
                     tide_matrix_bytes(vocabulary, c->dim);
    return sizeof(tide_predictor) + examples + labels + words + sizeof(tide_post) +
           2 * fitted_bytes(options, anchors) +
           tide_classifier_training_bytes(c, posts);
}
