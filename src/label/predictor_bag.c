/* predictor_bag.c - a predictor whose classifier is a bag of words.
 *
 * It learns from every post, so a fit trains nothing: it only chooses the labels that
 * are predicted, the most frequent ones. In a model whose posts were read with another
 * classifier it begins with the posts that the tracker has kept, in the order in which
 * they arrived.
 */
#include "label/bag.h"
#include "label/label.h"
#include "label/predictor.h"
#include "label/tracker.h"
#include "params/params.h"

#include <stdlib.h>

/* As many labels are learned for each one that is predicted. */
enum { LABELS_PER_NAME = 4 };

/* -- constructor ------------------------------------------------------------------ */

/* It takes about as much memory as the vectors of the model: the words and pairs of
 * words have twice as many rows as the vocabulary, and as many posts are kept. */
static tide_bag_options bag_options(const tide_predictor_options *options,
                                    const tide_tracker_options *tracker,
                                    uint64_t vocabulary)
{
    const tide_classifier_options *c = &options->classifier;
    uint64_t labels = LABELS_PER_NAME * (uint64_t)c->labels;
    return (tide_bag_options){
        .dim = c->dim,
        .rows = (uint32_t)(2 * vocabulary),
        .labels = (uint32_t)(labels < tracker->labels ? labels : tracker->labels),
        .slots = tracker->labels,
        .words = c->max_words,
        .posts = (uint32_t)vocabulary,
        .seed = c->seed};
}

static int allocate_composed(tide_predictor *p, tide_error *err)
{
    return p->model->shape.subwords.rows && !p->composed_of.rows
               ? tide_matrix_init(&p->composed_of, 1, p->model->shape.dim, err)
               : TIDE_OK;
}

int tide_predictor_add_bag(tide_predictor *p, const tide_predictor_options *options,
                           const tide_tracker_options *tracker, uint64_t vocabulary,
                           tide_store *store, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_bag_options o = bag_options(options, tracker, vocabulary);
    p->bag = store && tide_bag_saved(store) ? tide_bag_load(&o, store, err)
                                            : tide_bag_new(&o, err);
    p->learns = true;
    return p->bag ? allocate_composed(p, err) : (int)err->status;
}

static int corrupt(const tide_store *store, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"bag.state\" is corrupt",
                     tide_store_path(store));
}

int tide_predictor_load_bag(tide_predictor *p, tide_store *store, tide_error *err)
{
    if (!p->bag)
        p->bag = tide_bag_load(NULL, store, err);
    if (!p->bag)
        return (int)err->status;
    if (!p->bag->name_count || p->bag->options.dim != p->model->shape.dim)
        return corrupt(store, err);
    int status = allocate_composed(p, err);
    if (!status)
        status = tide_fitted_init_names(&p->fitted, p->bag->name_count, err);
    if (!status)
        p->bag->names = p->fitted.names;
    return status;
}

static uint64_t names_bytes(uint64_t labels)
{
    return labels * (TIDE_WORD_MAX + 1 + sizeof(char *) + sizeof(float));
}

uint64_t tide_predictor_bag_bytes(const tide_predictor_options *options,
                                  const tide_tracker_options *tracker,
                                  uint64_t vocabulary)
{
    tide_bag_options o = bag_options(options, tracker, vocabulary);
    uint64_t posts = tracker->memory / (3 * sizeof(tide_cell)) * sizeof(uint32_t);
    return sizeof(tide_predictor) + tide_bag_bytes(&o) + tide_matrix_bytes(1, o.dim) +
           2 * names_bytes(options->classifier.labels) +
           tracker->labels * sizeof(tide_tracked_label) + sizeof(tide_post) + posts;
}

/* -- posts ------------------------------------------------------------------------ */

bool tide_predictor_add_to_bag(tide_predictor *p, const tide_word *word)
{
    float *composed = p->composed_of.rows ? tide_matrix_row(&p->composed_of, 0) : NULL;
    const float *vector = tide_predictor_vector(p, word, composed);
    if (vector)
        tide_bag_add(p->bag, word, vector);
    return vector;
}

bool tide_predictor_uses_bag(const tide_predictor *p)
{
    return p->fitted.labels && !p->fitted.classifier;
}

void tide_predictor_ask_bag(tide_predictor *p)
{
    const tide_bag *b = p->bag;
    const float *probabilities = tide_bag_predict(p->bag);
    memset(p->fitted.probabilities, 0, p->fitted.labels * sizeof(float));
    for (uint32_t i = 0; i < b->label_count; i++)
        if (b->labels[i].name)
            p->fitted.probabilities[b->labels[i].name - 1] = probabilities[i];
    tide_bag_clear(p->bag);
}

void tide_predictor_learn(tide_predictor *p, const tide_tracker *tracker,
                          const tide_word *words, size_t word_count,
                          const tide_word *labels, size_t label_count)
{
    if (!p->learns || !label_count)
        return;
    uint32_t slots[TIDE_POST_LABELS] = {0}, count = 0;
    for (size_t i = 0; i < label_count && count < TIDE_POST_LABELS; i++) {
        uint32_t slot = tide_tracker_find(tracker, &labels[i]);
        bool duplicate = slot == TIDE_NO_SLOT;
        for (uint32_t j = 0; j < count; j++)
            duplicate = duplicate || slots[j] == slot;
        if (!duplicate)
            slots[count++] = slot;
    }
    tide_bag_clear(p->bag);
    for (size_t i = 0; i < word_count; i++)
        tide_predictor_add_to_bag(p, &words[i]);
    tide_bag_learn(p->bag, tracker, slots, count,
                   tide_tracker_state(tracker).posts - 1);
    tide_bag_clear(p->bag);
}

/* -- posts that the tracker has kept ----------------------------------------------- */

static bool arrived_earlier(const void *tracker, uint32_t a, uint32_t b)
{
    const tide_tracker *t = tracker;
    return t->posts.cells[a].post.number < t->posts.cells[b].post.number;
}

static void learn_kept_post(tide_predictor *p, const tide_tracker *tracker,
                            const tide_post *post)
{
    tide_bag_clear(p->bag);
    for (uint32_t at = 0; at < post->length;) {
        uint32_t length = (uint32_t)strcspn(post->text + at, " ");
        if (length > 0 && length <= TIDE_WORD_MAX)
            tide_predictor_add_to_bag(p, &(tide_word){post->text + at, length});
        at += length + 1;
    }
    tide_bag_learn(p->bag, tracker, post->labels, post->label_count, post->number);
}

int tide_predictor_catch_up(tide_predictor *p, const tide_tracker *tracker,
                            const tide_predictor_options *options, tide_error *err)
{
    uint32_t capacity = p->bag->options.labels;
    tide_tracked_label *labels = tide_alloc(capacity, sizeof *labels);
    size_t count = labels ? tide_tracker_top(tracker, labels, capacity) : 0, max = 0;
    for (size_t i = 0; i < count; i++)
        max += labels[i].kept;
    uint32_t *ids = tide_alloc(max, sizeof *ids), found = 0;
    tide_post *post = tide_alloc(1, sizeof *post);
    for (size_t i = 0; i < count && ids && post; i++)
        found += (uint32_t)tide_tracker_sample(tracker, labels[i].slot, ids + found,
                                               options->posts_per_label);
    if (ids)
        tide_sort_indexes(ids, found, arrived_earlier, tracker);
    for (uint32_t i = 0; i < found && post; i++) {
        if (i > 0 && ids[i] == ids[i - 1])
            continue;
        tide_tracker_post(tracker, ids[i], post);
        learn_kept_post(p, tracker, post);
    }
    tide_bag_clear(p->bag);
    bool complete = labels && ids && post;
    free(post);
    free(ids);
    free(labels);
    return complete ? TIDE_OK
                    : tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read posts");
}

/* -- fit -------------------------------------------------------------------------- */

/* Keeps the labels that are in use, of `count` by falling count. */
static uint32_t choose_labels(const tide_bag *b, tide_tracked_label *labels,
                              size_t count, uint32_t max)
{
    uint32_t chosen = 0;
    for (size_t i = 0; i < count && chosen < max; i++)
        if (tide_bag_find(b, &labels[i]) != TIDE_NO_LABEL)
            labels[chosen++] = labels[i];
    return chosen;
}

static int set_labels(tide_predictor *p, const tide_tracked_label *labels,
                      uint32_t count, tide_error *err)
{
    tide_fitted fitted;
    int status = tide_fitted_init_names(&fitted, count, err);
    if (status)
        return status;
    for (uint32_t i = 0; i < count; i++)
        memcpy(fitted.texts[i], labels[i].name, labels[i].length);
    tide_fitted_release(&p->fitted);
    p->fitted = fitted;
    tide_bag_set_names(p->bag, fitted.names, count);
    for (uint32_t i = 0; i < count; i++)
        p->bag->labels[tide_bag_find(p->bag, &labels[i])].name = i + 1;
    p->fits++;
    return TIDE_OK;
}

int tide_predictor_fit_bag(tide_predictor *p, const tide_tracker *tracker,
                           const tide_predictor_options *options, tide_error *err)
{
    if (!p->learns)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "this classifier does not learn");
    uint32_t capacity = tide_tracker_state(tracker).capacity;
    tide_tracked_label *labels = tide_alloc(capacity, sizeof *labels);
    if (!labels)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to choose labels");
    size_t tracked = tide_tracker_top(tracker, labels, capacity);
    uint32_t count = choose_labels(p->bag, labels, tracked, options->classifier.labels);
    int status;
    if (!count)
        status = tide_fail(err, TIDE_ERROR_INPUT,
                           "no post with a label and a word has been read yet");
    else if (options->aborted && *options->aborted)
        status = 1;
    else
        status = set_labels(p, labels, count, err);
    free(labels);
    return status;
}
