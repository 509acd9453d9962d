/* fit.c - a classifier from the posts that the tracker has kept.
 *
 * The labels are the most frequent of which there are posts; a post that several of them keep is one
 * example with several labels. Labels that are not among them are not told, and a post may well carry some.
 * Equal numbers of posts for every label make the frequent ones rarer than they are, as in the paper.
 *
 * Words are looked up in the vocabulary as it is now: those that have left it since the post came teach
 * nothing. Their vectors are copied, since examples are read for many epochs.
 */
#include "label/label.h"
#include "label/predictor.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

#define NO_ROW UINT32_MAX

enum { POST_LEAST = 64 }; /* bytes that a kept post takes: two cells */

typedef struct lesson {
    const tide_model *model;
    const tide_kernels *kernels;
    const tide_tracker *tracker;
    tide_classifier_options options;
    uint32_t each, anchors;

    tide_held_label *labels; /* [options.labels] */
    uint32_t *label_of;      /* [slots of the tracker] which of them it is; or NO_ROW */
    uint32_t *posts;         /* [post_count] */
    size_t post_count;

    tide_example *examples; /* [post_count] */
    uint32_t *numbers;      /* words and labels of all examples, one after the other */
    size_t used;
    uint32_t *row_of;  /* [slots of the vocabulary]; or NO_ROW */
    uint32_t *slot_of; /* [row_count] */
    uint32_t row_count;
    tide_matrix vectors;
} lesson;

static void release(lesson *l)
{
    tide_matrix_release(&l->vectors);
    free(l->slot_of);
    free(l->row_of);
    free(l->numbers);
    free(l->examples);
    free(l->posts);
    free(l->label_of);
    free(l->labels);
}

static int no_memory(tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to learn labels");
}

static uint32_t *numbers(size_t count, uint32_t value)
{
    uint32_t *all = tide_alloc(count, sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        all[i] = value;
    return all;
}

/* -- labels ---------------------------------------------------------------------------------------------- */

/* Labels may be held before a post with words has come. */
static uint32_t leave_out_empty(tide_held_label *labels, size_t count, uint32_t room)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < count && kept < room; i++)
        if (labels[i].kept)
            labels[kept++] = labels[i];
    return kept;
}

static int choose_labels(lesson *l, tide_error *err)
{
    uint32_t capacity = tide_tracker_state(l->tracker).capacity;
    l->labels = tide_alloc(capacity, sizeof *l->labels);
    l->label_of = numbers(capacity, NO_ROW);
    if (!l->labels || !l->label_of)
        return no_memory(err);
    size_t count = tide_tracker_top(l->tracker, l->labels, capacity);
    l->options.labels = leave_out_empty(l->labels, count, l->options.labels);
    if (!l->options.labels)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "no post with a label and a word has been seen");
    for (uint32_t i = 0; i < l->options.labels; i++)
        l->label_of[l->labels[i].slot] = i;
    return TIDE_OK;
}

/* -- posts ----------------------------------------------------------------------------------------------- */

static uint32_t chosen_of(const lesson *l, uint32_t label)
{
    uint32_t kept = l->labels[label].kept;
    return kept < l->each ? kept : l->each;
}

/* Puts the posts that are there for the first time at the front; returns how many. */
static size_t leave_out_known(uint32_t *posts, size_t count, uint64_t *known)
{
    size_t fresh = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bit = UINT64_C(1) << (posts[i] % 64), *word = &known[posts[i] / 64];
        posts[fresh] = posts[i];
        fresh += !(*word & bit);
        *word |= bit;
    }
    return fresh;
}

static int choose_posts(lesson *l, tide_error *err)
{
    size_t most = 0;
    for (uint32_t i = 0; i < l->options.labels; i++)
        most += chosen_of(l, i);
    uint32_t ids = tide_tracker_state(l->tracker).ids;
    uint64_t *known = tide_alloc(ids / 64 + 1, sizeof *known);
    l->posts = tide_alloc(most, sizeof *l->posts);
    if (!known || !l->posts) {
        free(known);
        return no_memory(err);
    }
    for (uint32_t i = 0; i < l->options.labels; i++) {
        uint32_t *posts = l->posts + l->post_count;
        size_t count =
            tide_tracker_sample(l->tracker, l->labels[i].slot, posts, chosen_of(l, i));
        l->post_count += leave_out_known(posts, count, known);
    }
    free(known);
    return TIDE_OK;
}

/* -- examples -------------------------------------------------------------------------------------------- */

/* The next word of a text, from *at on. */
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

/* The row of the word's vector, which it gets with its first example. */
static uint32_t row_of(lesson *l, const tide_word *word)
{
    uint32_t slot = tide_vocabulary_find(l->model->vocabulary, word);
    if (slot == TIDE_NO_SLOT)
        return NO_ROW;
    if (l->row_of[slot] == NO_ROW) {
        l->row_of[slot] = l->row_count;
        l->slot_of[l->row_count++] = slot;
    }
    return l->row_of[slot];
}

static void take_words(lesson *l, const tide_post *post, tide_example *example)
{
    tide_word word;
    for (uint32_t at = 0;
         example->word_count < l->options.words_most && next_word(post, &at, &word);) {
        uint32_t row = word.length <= TIDE_WORD_MAX ? row_of(l, &word) : NO_ROW;
        if (row == NO_ROW)
            continue;
        l->numbers[l->used++] = row;
        example->word_count++;
    }
}

static void take_labels(lesson *l, const tide_post *post, tide_example *example)
{
    uint32_t *labels = l->numbers + l->used, count = 0;
    for (uint32_t i = 0; i < post->label_count; i++) {
        uint32_t label = l->label_of[post->labels[i]], at = count;
        if (label == NO_ROW)
            continue;
        for (; at > 0 && labels[at - 1] > label; at--)
            labels[at] = labels[at - 1];
        labels[at] = label;
        count++;
    }
    example->label_count = count;
    l->used += count;
}

static size_t numbers_of_post(const tide_classifier_options *o)
{
    return o->words_most + TIDE_POST_LABELS;
}

static int make_examples(lesson *l, tide_error *err)
{
    uint32_t words = tide_vocabulary_used(l->model->vocabulary);
    l->examples = tide_alloc(l->post_count, sizeof *l->examples);
    l->numbers =
        tide_alloc(l->post_count * numbers_of_post(&l->options), sizeof *l->numbers);
    l->row_of = numbers(words, NO_ROW);
    l->slot_of = numbers(words, 0);
    tide_post *post = tide_alloc(1, sizeof *post);
    if (!l->examples || !l->numbers || !l->row_of || !l->slot_of || !post) {
        free(post);
        return no_memory(err);
    }
    for (size_t i = 0; i < l->post_count; i++) {
        tide_example *example = &l->examples[i];
        tide_tracker_post(l->tracker, l->posts[i], post);
        example->words = l->numbers + l->used;
        take_words(l, post, example);
        example->labels = l->numbers + l->used;
        take_labels(l, post, example);
    }
    free(post);
    return TIDE_OK;
}

static int copy_vectors(lesson *l, tide_error *err)
{
    int status = tide_matrix_init(&l->vectors, l->row_count, l->options.dim, err);
    for (uint32_t row = 0; row < l->row_count && !status; row++)
        tide_model_input(l->model, l->kernels, l->slot_of[row],
                         tide_matrix_row(&l->vectors, row));
    return status;
}

/* -- learning -------------------------------------------------------------------------------------------- */

static int prepare(lesson *l, tide_error *err)
{
    int status = choose_labels(l, err);
    if (!status)
        status = choose_posts(l, err);
    if (!status)
        status = make_examples(l, err);
    return status ? status : copy_vectors(l, err);
}

static int learn(lesson *l, tide_fitted *k, tide_epoch_watch *watch, void *data,
                 tide_error *err)
{
    tide_classifier *classifier = tide_classifier_new(&l->options, err);
    int status = classifier
                     ? tide_classifier_train(classifier, l->examples, l->post_count,
                                             &l->vectors, watch, data, err)
                     : (int)err->status;
    if (!status)
        status = tide_fitted_init(k, l->model, classifier, err);
    if (status) {
        tide_classifier_free(classifier);
        return status;
    }
    status = tide_anchors_snapshot(&k->anchors, l->model, l->kernels, l->anchors, err);
    if (status) {
        tide_fitted_release(k);
        return status;
    }
    for (uint32_t i = 0; i < l->options.labels; i++)
        memcpy(k->texts[i], l->labels[i].name, l->labels[i].length);
    return TIDE_OK;
}

int tide_predictor_fit(tide_predictor *t, const tide_tracker *tracker,
                       const tide_predictor_options *options, tide_epoch_watch *watch,
                       void *data, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    lesson l = {.model = t->model,
                .kernels = t->kernels,
                .tracker = tracker,
                .options = options->classifier,
                .each = options->each,
                .anchors = options->anchors};
    tide_fitted learned;
    int status = prepare(&l, err);
    if (!status)
        status = learn(&l, &learned, watch, data, err);
    release(&l);
    if (status)
        return status;
    if (options->abandoned && *options->abandoned) {
        tide_fitted_release(&learned);
        return 1;
    }
    tide_fitted_release(&t->knowledge);
    t->knowledge = learned;
    t->fits++;
    return TIDE_OK;
}

static uint64_t knowledge_bytes(const tide_predictor_options *options, uint64_t anchors)
{
    const tide_classifier_options *c = &options->classifier;
    uint64_t label = TIDE_WORD_MAX + 1 + sizeof(char *) + sizeof(float);
    return tide_classifier_bytes(c) + tide_anchors_bytes(anchors, c->dim) +
           c->labels * label + c->words_most * sizeof(float *) +
           tide_matrix_bytes(c->words_most + 1, c->dim);
}

/* Words have a row and a slot, and a rank while the frequent ones are chosen. */
uint64_t tide_predictor_bytes(const tide_predictor_options *options,
                              const tide_tracker_options *tracker, uint64_t vocabulary)
{
    const tide_classifier_options *c = &options->classifier;
    uint64_t kept = tracker->memory / POST_LEAST,
             posts = (uint64_t)c->labels * options->each,
             anchors = options->anchors < vocabulary ? options->anchors : vocabulary;
    posts = posts < kept ? posts : kept;
    uint64_t examples = posts * (sizeof(uint32_t) + sizeof(tide_example) +
                                 numbers_of_post(c) * sizeof(uint32_t));
    uint64_t labels = tracker->labels * (sizeof(tide_held_label) + sizeof(uint32_t));
    uint64_t words = vocabulary * (2 * sizeof(uint32_t) + 2 * sizeof(uint64_t)) +
                     tide_matrix_bytes(vocabulary, c->dim);
    return sizeof(tide_predictor) + examples + labels + words + sizeof(tide_post) +
           2 * knowledge_bytes(options, anchors) +
           tide_classifier_training_bytes(c, posts);
}
