/* labels.c - the labels of a stream: predicted before a post is learned, counted
 * afterwards.
 *
 *     post ──words──► predictor ──probabilities──► callback
 *       ├───words, labels──► tracker ──samples, at every refit──► predictor
 *       └───then, words, labels──► predictor, if it learns from every post
 *
 * A post arrives here after it was read and before any of it is counted or learned,
 * with its labels already removed from its words. So a prediction depends only on
 * earlier posts, and never on the post's own labels. If a text is read several times,
 * its posts are counted the first time.
 */
#include "file/file.h"
#include "label/bag.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"

#include <stdlib.h>

#define FITTED "label.fitted" /* every model with labels has this section */

struct tide_labels {
    const tide_params *params;
    tide_tracker *tracker;
    tide_predictor *predictor;
    uint64_t posts_at_fit;
    char text[SENTENCE_MAX * (TIDE_WORD_MAX + 1)];   /* of the current post */
    char names[TIDE_POST_LABELS][TIDE_WORD_MAX + 1]; /* its labels */

    void (*on_post)(void *data, const tide_predicted_post *prediction);
    tide_epoch_callback *on_epoch;
    void *data;
    tide_error problem;                /* of a refit; TIDE_OK if there is none */
    const volatile sig_atomic_t *stop; /* of the current run; NULL outside of one */
    const atomic_int *trainer_stop;    /* likewise: set by tide_trainer_stop */
    bool stoppable, aborted;           /* the current refit can be stopped; it was */
};

/* -- constructor ------------------------------------------------------------------ */

static tide_tracker_options tracker_options(const tide_params *params)
{
    return (tide_tracker_options){.labels = (uint32_t)params->label_slots,
                                  .max_posts = (uint32_t)params->label_posts,
                                  .post_bytes = (uint32_t)params->label_bytes,
                                  .memory = params->label_memory,
                                  .seed = params->seed};
}

static tide_predictor_options predictor_options(const tide_params *params)
{
    return (tide_predictor_options){
        .classifier = {.kind = (tide_classifier_kind)params->classifier,
                       .dim = (uint32_t)params->dim,
                       .labels = (uint32_t)params->label_top,
                       .maps = (uint32_t)params->classifier_maps,
                       .max_words = (uint32_t)params->classifier_words,
                       .batch = (uint32_t)params->classifier_batch,
                       .max_epochs = (uint32_t)params->classifier_epochs,
                       .patience = (uint32_t)params->classifier_patience,
                       .threads = (uint32_t)params->threads,
                       .dropout = (float)params->classifier_dropout,
                       .rate = (float)params->classifier_rate,
                       .held_out = (float)params->classifier_held_out,
                       .seed = params->seed},
        .posts_per_label = (uint32_t)params->label_each,
        .anchors = (uint32_t)params->label_anchors,
    };
}

uint64_t tide_labels_bytes(const tide_params *params)
{
    tide_tracker_options options = tracker_options(params);
    return params->labels ? sizeof(tide_labels) + tide_tracker_bytes(&options) : 0;
}

uint64_t tide_labels_fit_bytes(const tide_params *params)
{
    tide_tracker_options tracker = tracker_options(params);
    tide_predictor_options predictor = predictor_options(params);
    return params->labels ? tide_predictor_bytes(&predictor, &tracker, params->vocab)
                          : 0;
}

static int read_posts_at_fit(tide_store *store, uint64_t *posts, tide_error *err)
{
    unsigned char bytes[8];
    int status = tide_store_read(store, FITTED, bytes, sizeof bytes, err);
    if (!status)
        *posts = tide_get64(bytes);
    return status;
}

static int load(tide_labels *l, tide_store *store, tide_error *err)
{
    int status = tide_predictor_load(l->predictor, store, err);
    if (!status)
        status = read_posts_at_fit(store, &l->posts_at_fit, err);
    if (!status && l->posts_at_fit > tide_tracker_state(l->tracker).posts)
        status =
            tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"" FITTED "\" is corrupt",
                      tide_store_path(store));
    return status;
}

static int add_bag(tide_labels *l, tide_store *store, tide_error *err)
{
    tide_predictor_options options = predictor_options(l->params);
    tide_tracker_options tracker = tracker_options(l->params);
    if (options.classifier.kind != TIDE_CLASSIFIER_BAG)
        return TIDE_OK;
    int status = tide_predictor_add_bag(l->predictor, &options, &tracker,
                                        l->params->vocab, store, err);
    if (!status && store &&
        !tide_bag_saved(store)) /* the posts were for another kind */
        status = tide_predictor_catch_up(l->predictor, l->tracker, &options, err);
    return status;
}

tide_labels *tide_labels_new(const tide_params *params, const tide_model *model,
                             const uint64_t *quarantined, tide_store *store,
                             tide_error *err)
{
    tide_labels *l = tide_alloc(1, sizeof *l);
    if (!l) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for labels");
        return NULL;
    }
    l->params = params;
    tide_tracker_options options = tracker_options(params);
    l->tracker = store ? tide_tracker_load(&options, store, err)
                       : tide_tracker_new(&options, err);
    l->predictor = l->tracker ? tide_predictor_new(model, quarantined, err) : NULL;
    if (l->predictor && !add_bag(l, store, err) && (!store || !load(l, store, err)))
        return l;
    tide_labels_free(l);
    return NULL;
}

void tide_labels_free(tide_labels *l)
{
    if (!l)
        return;
    tide_predictor_free(l->predictor);
    tide_tracker_free(l->tracker);
    free(l);
}

/* Sections label.*. */
void tide_labels_save(const tide_labels *l, tide_store_writer *writer)
{
    unsigned char fitted[8];
    tide_put64(fitted, l->posts_at_fit);
    tide_tracker_save(l->tracker, writer);
    tide_predictor_save(l->predictor, writer);
    tide_store_put(writer, FITTED, fitted, sizeof fitted);
}

/* -- posts ------------------------------------------------------------------------ */

/* Copies the distinct labels of a post as strings and returns their number. */
static uint32_t name_labels(tide_labels *l, const tide_post_read *post,
                            const char *names[TIDE_POST_LABELS])
{
    uint32_t count = 0;
    for (size_t i = 0; i < post->label_count && count < TIDE_POST_LABELS; i++) {
        char *name = l->names[count];
        memcpy(name, post->labels[i].bytes, post->labels[i].length);
        name[post->labels[i].length] = 0;
        bool duplicate = false;
        for (uint32_t j = 0; j < count; j++)
            duplicate = duplicate || !strcmp(names[j], name);
        names[count] = name;
        count += !duplicate;
    }
    return count;
}

static void predict_post(tide_labels *l, const tide_post_read *post)
{
    const char *labels[TIDE_POST_LABELS];
    for (size_t i = 0; i < post->word_count; i++)
        tide_predictor_add(l->predictor, &post->words[i]);
    tide_predictor_result result = tide_predictor_end(l->predictor);
    const tide_predicted_post predicted = {
        .post = tide_tracker_state(l->tracker).posts,
        .time = post->time,
        .labels = labels,
        .label_count = name_labels(l, post, labels),
        .words = result.words,
        .unknown = result.words - result.known,
        .fit = tide_predictor_fits(l->predictor),
        .names = tide_predictor_names(l->predictor),
        .name_count = tide_predictor_size(l->predictor),
        .probabilities = result.probabilities,
    };
    l->on_post(l->data, &predicted);
}

static void track_post(tide_labels *l, const tide_post_read *post)
{
    size_t length = 0;
    for (size_t i = 0; i < post->word_count; i++) {
        memcpy(l->text + length, post->words[i].bytes, post->words[i].length);
        length += post->words[i].length;
        l->text[length++] = ' ';
    }
    tide_tracker_add(l->tracker, post->labels, post->label_count, l->text,
                     length ? length - 1 : 0);
}

bool tide_labels_post(tide_labels *l, const tide_post_read *post, bool repeated)
{
    if (l->on_post)
        predict_post(l, post);
    if (repeated)
        return false;
    track_post(l, post);
    if (l->params->frozen != TIDE_FROZEN_ALL)
        tide_predictor_learn(l->predictor, l->tracker, post->words, post->word_count,
                             post->labels, post->label_count);
    uint64_t posts = tide_tracker_state(l->tracker).posts,
             every = l->params->label_refit;
    return every && posts % every == 0;
}

/* -- training the predictor ------------------------------------------------------- */

static int fit(tide_labels *l, const bool *aborted, tide_epoch_callback *on_epoch,
               void *data, tide_error *err)
{
    tide_predictor_options options = predictor_options(l->params);
    options.aborted = aborted;
    int status =
        tide_predictor_fit(l->predictor, l->tracker, &options, on_epoch, data, err);
    if (!status)
        l->posts_at_fit = tide_tracker_state(l->tracker).posts;
    return status;
}

int tide_labels_fit(tide_labels *l, tide_epoch_callback *on_epoch, void *data,
                    tide_error *err)
{
    return fit(l, NULL, on_epoch, data, err);
}

void tide_labels_stop(tide_labels *l, const volatile sig_atomic_t *stop,
                      const atomic_int *trainer_stop)
{
    l->stop = stop;
    l->trainer_stop = trainer_stop;
}

static bool stop_requested(const tide_labels *l)
{
    return l->stoppable &&
           ((l->stop && *l->stop) || (l->trainer_stop && *l->trainer_stop));
}

static bool refit_epoch(void *labels, const tide_epoch *epoch)
{
    tide_labels *l = labels;
    bool improving = !l->on_epoch || l->on_epoch(l->data, epoch);
    l->aborted = stop_requested(l);
    return improving && !l->aborted;
}

/* TIDE_ERROR_INPUT means that there are no labeled posts yet, which is not a
 * problem. */
bool tide_labels_refit(tide_labels *l, bool stoppable)
{
    tide_error err = {0};
    l->stoppable = stoppable;
    l->aborted = stop_requested(l);
    if (!l->aborted && fit(l, &l->aborted, refit_epoch, l, &err) < 0 &&
        err.status != TIDE_ERROR_INPUT)
        l->problem = err;
    return !l->aborted;
}

const char *tide_labels_problem(tide_labels *l)
{
    if (l->problem.status == TIDE_OK)
        return NULL;
    l->problem.status = TIDE_OK;
    return l->problem.text;
}

/* -- queries ---------------------------------------------------------------------- */

void tide_labels_watch(tide_labels *l,
                       void (*post)(void *data, const tide_predicted_post *prediction),
                       tide_epoch_callback *on_epoch, void *data)
{
    l->on_post = post;
    l->on_epoch = on_epoch;
    l->data = data;
}

static tide_label_stats public_stats(tide_tracker_stats stats_in)
{
    return (tide_label_stats){
        .posts = stats_in.posts,
        .unlabeled = stats_in.unlabeled,
        .empty = stats_in.empty,
        .cut = stats_in.cut,
        .extra_labels = stats_in.extra_labels,
        .kept = stats_in.kept,
        .used = stats_in.used,
        .limit = stats_in.limit,
        .labels = stats_in.labels,
        .capacity = stats_in.capacity,
    };
}

void tide_labels_stats(const tide_labels *l, tide_label_stats *stats)
{
    *stats = public_stats(tide_tracker_state(l->tracker));
    stats->predicted = tide_predictor_size(l->predictor);
    stats->fits = tide_predictor_fits(l->predictor);
    stats->posts_at_fit = l->posts_at_fit;
}

static int read_stats(tide_store *store, tide_label_stats *stats, tide_error *err)
{
    tide_tracker_stats stats_in;
    int status = tide_tracker_peek(store, &stats_in, err);
    if (status)
        return status;
    *stats = public_stats(stats_in);
    status = tide_predictor_peek(store, &stats->fits, &stats->predicted, err);
    return status ? status : read_posts_at_fit(store, &stats->posts_at_fit, err);
}

int tide_label_stats_read(const char *path, tide_label_stats *stats, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    *stats = (tide_label_stats){0};
    tide_store *store = tide_store_open(path, err);
    if (!store)
        return (int)err->status;
    int status =
        tide_store_has(store, FITTED) ? read_stats(store, stats, err) : TIDE_OK;
    tide_store_close(store);
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* The predicted labels in byte order, for a binary search: both lists may be long. */
static const char **sort_names(const tide_labels *l, uint32_t count)
{
    const char **names = tide_alloc(count, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++)
        names[i] = tide_predictor_names(l->predictor)[i];
    if (names)
        qsort(names, count, sizeof *names, by_bytes);
    return names;
}

size_t tide_labels_list(const tide_labels *l, tide_label *list, size_t max)
{
    uint32_t capacity = tide_tracker_state(l->tracker).capacity,
             predicted = tide_predictor_size(l->predictor);
    tide_tracked_label *tracked = tide_alloc(capacity, sizeof *tracked);
    const char **names = sort_names(l, predicted);
    size_t count =
        tracked && names ? tide_tracker_top(l->tracker, tracked, capacity) : 0;
    count = count < max ? count : max;
    for (size_t i = 0; i < count; i++)
        list[i] = (tide_label){.name = tracked[i].name,
                               .count = tracked[i].count,
                               .error = tracked[i].error,
                               .since = tracked[i].since,
                               .kept = tracked[i].kept,
                               .predicted = bsearch(&tracked[i].name, names, predicted,
                                                    sizeof *names, by_bytes) != NULL};
    free(names);
    free(tracked);
    return count;
}
