/* labels.c - the labels of a stream: told before a post is learned, counted after.
 *
 *     post ──words──► teller ──probabilities──► whoever watches
 *       └───words, labels──► tracker ──samples, now and then──► teller
 *
 * A post comes here when it has been read and nothing of it has been counted or learned, its labels
 * already taken out of its words. So what is told of it depends on the posts before it alone, and never
 * on its own labels. When text is read several times, its posts are counted the first time.
 */
#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"

#include <stdlib.h>

#define FITTED "label.fitted" /* a section of every model with labels */

struct tide_labels {
    const tide_params *params;
    tide_tracker *tracker;
    tide_predictor *teller;
    uint64_t posts_at_fit;
    char text[SENTENCE_MAX * (TIDE_WORD_MAX + 1)];   /* of the present post */
    char names[TIDE_POST_LABELS][TIDE_WORD_MAX + 1]; /* of its labels */

    void (*watch)(void *data, const tide_predicted_post *told);
    tide_epoch_watch *watch_epoch;
    void *data;
    tide_error problem;                /* of learning on the way; TIDE_OK for none */
    const volatile sig_atomic_t *stop; /* as in the present run; NULL without */
    bool stoppable, abandoned; /* learning on the way may be stopped; has been */
};

/* -- making ---------------------------------------------------------------------------------------------- */

static tide_tracker_options tracker_options(const tide_params *params)
{
    return (tide_tracker_options){.labels = (uint32_t)params->label_slots,
                                  .most = (uint32_t)params->label_posts,
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
                       .maps = (uint32_t)params->maps,
                       .words_most = (uint32_t)params->post_words,
                       .batch = (uint32_t)params->batch,
                       .epochs_most = (uint32_t)params->fit_epochs,
                       .patience = (uint32_t)params->patience,
                       .threads = (uint32_t)params->threads,
                       .dropout = (float)params->dropout,
                       .rate = (float)params->fit_rate,
                       .held_out = (float)params->held_out,
                       .seed = params->seed},
        .each = (uint32_t)params->label_each,
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
    tide_predictor_options teller = predictor_options(params);
    return params->labels ? tide_predictor_bytes(&teller, &tracker, params->vocab) : 0;
}

static int read_fitted(tide_store *store, uint64_t *posts, tide_error *err)
{
    unsigned char bytes[8];
    int status = tide_store_read(store, FITTED, bytes, sizeof bytes, err);
    if (!status)
        *posts = tide_get64(bytes);
    return status;
}

static int load(tide_labels *l, tide_store *store, tide_error *err)
{
    int status = tide_predictor_load(l->teller, store, err);
    if (!status)
        status = read_fitted(store, &l->posts_at_fit, err);
    if (!status && l->posts_at_fit > tide_tracker_state(l->tracker).posts)
        status =
            tide_fail(err, TIDE_ERROR_FORMAT, "%s: section " FITTED " is impossible",
                      tide_store_path(store));
    return status;
}

tide_labels *tide_labels_new(const tide_params *params, const tide_model *model,
                             const uint64_t *closed, tide_store *store, tide_error *err)
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
    l->teller = l->tracker ? tide_predictor_new(model, closed, err) : NULL;
    if (l->teller && (!store || !load(l, store, err)))
        return l;
    tide_labels_free(l);
    return NULL;
}

void tide_labels_free(tide_labels *l)
{
    if (!l)
        return;
    tide_predictor_free(l->teller);
    tide_tracker_free(l->tracker);
    free(l);
}

/* Sections label.*. */
void tide_labels_save(const tide_labels *l, tide_store_writer *writer)
{
    unsigned char fitted[8];
    tide_put64(fitted, l->posts_at_fit);
    tide_tracker_save(l->tracker, writer);
    tide_predictor_save(l->teller, writer);
    tide_store_put(writer, FITTED, fitted, sizeof fitted);
}

/* -- a post ---------------------------------------------------------------------------------------------- */

/* The labels of a post, each once and with a 0 behind it; returns how many. */
static uint32_t name_labels(tide_labels *l, const tide_post_read *post,
                            const char *names[TIDE_POST_LABELS])
{
    uint32_t count = 0;
    for (size_t i = 0; i < post->label_count && count < TIDE_POST_LABELS; i++) {
        char *name = l->names[count];
        memcpy(name, post->labels[i].bytes, post->labels[i].length);
        name[post->labels[i].length] = 0;
        bool again = false;
        for (uint32_t j = 0; j < count; j++)
            again = again || !strcmp(names[j], name);
        names[count] = name;
        count += !again;
    }
    return count;
}

static void tell(tide_labels *l, const tide_post_read *post)
{
    const char *labels[TIDE_POST_LABELS];
    for (size_t i = 0; i < post->word_count; i++)
        tide_predictor_word(l->teller, &post->words[i]);
    tide_predictor_result telling = tide_predictor_end(l->teller);
    const tide_predicted_post told = {
        .post = tide_tracker_state(l->tracker).posts,
        .time = post->time,
        .labels = labels,
        .label_count = name_labels(l, post, labels),
        .words = telling.words,
        .unknown = telling.words - telling.known,
        .fit = tide_predictor_fits(l->teller),
        .names = tide_predictor_names(l->teller),
        .name_count = tide_predictor_size(l->teller),
        .probabilities = telling.probabilities,
    };
    l->watch(l->data, &told);
}

static void count(tide_labels *l, const tide_post_read *post)
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

bool tide_labels_post(tide_labels *l, const tide_post_read *post, bool again)
{
    if (l->watch)
        tell(l, post);
    if (again)
        return false;
    count(l, post);
    uint64_t posts = tide_tracker_state(l->tracker).posts,
             every = l->params->label_refit;
    return every && posts % every == 0;
}

/* -- learning to tell ------------------------------------------------------------------------------------ */

static int fit(tide_labels *l, const bool *abandoned, tide_epoch_watch *watch,
               void *data, tide_error *err)
{
    tide_predictor_options options = predictor_options(l->params);
    options.abandoned = abandoned;
    int status = tide_predictor_fit(l->teller, l->tracker, &options, watch, data, err);
    if (!status)
        l->posts_at_fit = tide_tracker_state(l->tracker).posts;
    return status;
}

int tide_labels_fit(tide_labels *l, tide_epoch_watch *watch, void *data,
                    tide_error *err)
{
    return fit(l, NULL, watch, data, err);
}

void tide_labels_stop(tide_labels *l, const volatile sig_atomic_t *stop)
{
    l->stop = stop;
}

static bool stop_asked(const tide_labels *l)
{
    return l->stoppable && l->stop && *l->stop;
}

static bool watch_refit(void *labels, const tide_epoch *epoch)
{
    tide_labels *l = labels;
    bool goes_on = !l->watch_epoch || l->watch_epoch(l->data, epoch);
    l->abandoned = stop_asked(l);
    return goes_on && !l->abandoned;
}

/* Until there are posts with labels, there is nothing to be learned, and nothing wrong. */
bool tide_labels_refit(tide_labels *l, bool stoppable)
{
    tide_error err = {0};
    l->stoppable = stoppable;
    l->abandoned = stop_asked(l);
    if (!l->abandoned && fit(l, &l->abandoned, watch_refit, l, &err) < 0 &&
        err.status != TIDE_ERROR_INPUT)
        l->problem = err;
    return !l->abandoned;
}

const char *tide_labels_problem(tide_labels *l)
{
    if (l->problem.status == TIDE_OK)
        return NULL;
    l->problem.status = TIDE_OK;
    return l->problem.text;
}

/* -- asking ---------------------------------------------------------------------------------------------- */

void tide_labels_watch(tide_labels *l,
                       void (*post)(void *data, const tide_predicted_post *told),
                       tide_epoch_watch *epoch, void *data)
{
    l->watch = post;
    l->watch_epoch = epoch;
    l->data = data;
}

static tide_label_stats stats_of(tide_tracker_stats facts)
{
    return (tide_label_stats){
        .posts = facts.posts,
        .unlabeled = facts.unlabeled,
        .empty = facts.empty,
        .cut = facts.cut,
        .extra_labels = facts.extra_labels,
        .kept = facts.kept,
        .used = facts.used,
        .room = facts.room,
        .labels = facts.labels,
        .capacity = facts.capacity,
    };
}

void tide_labels_stats(const tide_labels *l, tide_label_stats *stats)
{
    *stats = stats_of(tide_tracker_state(l->tracker));
    stats->told = tide_predictor_size(l->teller);
    stats->fits = tide_predictor_fits(l->teller);
    stats->posts_at_fit = l->posts_at_fit;
}

static int read_stats(tide_store *store, tide_label_stats *stats, tide_error *err)
{
    tide_tracker_stats facts;
    int status = tide_tracker_peek(store, &facts, err);
    if (status)
        return status;
    *stats = stats_of(facts);
    status = tide_predictor_peek(store, &stats->fits, &stats->told, err);
    return status ? status : read_fitted(store, &stats->posts_at_fit, err);
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

/* The names that are told, in the order of their bytes: both lists may be long. */
static const char **sorted_names(const tide_labels *l, uint32_t count)
{
    const char **names = tide_alloc(count, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++)
        names[i] = tide_predictor_names(l->teller)[i];
    if (names)
        qsort(names, count, sizeof *names, by_bytes);
    return names;
}

size_t tide_labels_list(const tide_labels *l, tide_label *list, size_t room)
{
    uint32_t capacity = tide_tracker_state(l->tracker).capacity,
             told = tide_predictor_size(l->teller);
    tide_held_label *held = tide_alloc(capacity, sizeof *held);
    const char **names = sorted_names(l, told);
    size_t count = held && names ? tide_tracker_top(l->tracker, held, capacity) : 0;
    count = count < room ? count : room;
    for (size_t i = 0; i < count; i++)
        list[i] = (tide_label){.name = held[i].name,
                               .count = held[i].count,
                               .error = held[i].error,
                               .since = held[i].since,
                               .kept = held[i].kept,
                               .told = bsearch(&held[i].name, names, told,
                                               sizeof *names, by_bytes) != NULL};
    free(names);
    free(held);
    return count;
}
