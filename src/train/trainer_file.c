/* trainer_file.c - saves and loads a trainer.
 *
 * The parameters in a file can ask for much more memory than the file has bytes. So
 * before that memory is allocated, the content is checked with a trainer that is only
 * as large as what was saved.
 */
#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/replay.h"
#include "train/train.h"
#include "train/trainer_internal.h"
#include "vocab/vocab.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    UNCHECKED_MAX = 64 << 20
}; /* memory beyond the file's size allowed without a check */

uint64_t tide_trainer_write(tide_trainer *t, tide_store_writer *writer)
{
    tide_trainer_repair(t);
    tide_sgns_progress progress = tide_workers_progress(t->workers);
    tide_model_save(t->model, writer);
    tide_optimizer_save(t->optimizer, tide_vocabulary_used(t->model->vocabulary),
                        writer);
    tide_ingest_save(t->ingest, writer);
    tide_store_put(writer, "trainer", &progress, sizeof progress);
    if (t->params.epochs)
        tide_store_put(writer, "passes", &t->passes, sizeof t->passes);
    tide_positions_save(&t->positions, writer);
    if (t->labels)
        tide_labels_save(t->labels, writer);
    return tide_store_finish(writer);
}

uint64_t tide_trainer_write_bytes(const tide_trainer *t)
{
    uint64_t rows = 2 * (uint64_t)tide_vocabulary_used(t->model->vocabulary) +
                    t->model->subword.count;
    return rows * t->model->shape.dim * sizeof(float);
}

int tide_trainer_save_keeping(tide_trainer *t, const char *path,
                              uint32_t keep_checkpoints, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_store_writer *writer = tide_store_create(path, err);
    if (!writer)
        return (int)err->status;
    tide_trainer_write(t, writer);
    return tide_store_commit_keeping(writer, keep_checkpoints, err);
}

int tide_trainer_save(tide_trainer *t, const char *path, tide_error *err)
{
    return tide_trainer_save_keeping(t, path, 0, err);
}

/* Of several values for one parameter the last counts, as for a new model. */
static bool is_overridden(const char *const (*changes)[2], size_t i, size_t count)
{
    for (size_t later = i + 1; later < count; later++)
        if (!strcmp(changes[later][0], changes[i][0]))
            return true;
    return false;
}

static int change_params(tide_params *params, const char *const (*changes)[2],
                         size_t count, tide_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = changes[i][0], *value = changes[i][1];
        char before[TEXT_MAX], after[TEXT_MAX];
        if (is_overridden(changes, i, count))
            continue;
        if (tide_params_text(params, name, before, sizeof before) < 0)
            return tide_fail(err, TIDE_ERROR_PARAMETER, "unknown parameter '%s'", name);
        tide_params changed = *params;
        int status = tide_params_set(&changed, name, value, err);
        if (status)
            return status;
        tide_params_text(&changed, name, after, sizeof after);
        if (!strcmp(before, after) || tide_params_is_default_request(name, value))
            continue;
        if (!tide_params_on_resume(name))
            return tide_fail(
                err, TIDE_ERROR_PARAMETER,
                "%s cannot be changed to %s: the model was started with %s", name,
                after, before);
        if (changed.epochs && !params->epochs)
            return tide_fail(
                err, TIDE_ERROR_PARAMETER,
                "epochs cannot be changed to %s: the model was started as a stream",
                after);
        *params = changed;
    }
    return TIDE_OK;
}

static int load_parts(tide_trainer *t, tide_store *store, tide_error *err)
{
    tide_sgns_progress saved;
    uint32_t used = tide_vocabulary_used(t->model->vocabulary);
    int status = tide_ingest_load(t->ingest, store, err);
    if (!status)
        status = tide_optimizer_load(t->optimizer, used, tide_ingest_clock(t->ingest),
                                     store, err);
    if (!status)
        status = tide_store_read(store, "trainer", &saved, sizeof saved, err);
    if (!status && t->params.epochs)
        status = tide_store_read(store, "passes", &t->passes, sizeof t->passes, err);
    if (!status)
        status = tide_positions_load(&t->positions, store, err);
    if (!status)
        status = tide_trainer_plan(t, err);
    if (status)
        return status;
    if (saved.centers > TIDE_COUNTED_MAX || !(saved.loss >= 0 && saved.loss < 1e300 &&
                                              saved.pairs >= 0 && saved.pairs < 1e300))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"trainer\" is corrupt",
                         tide_store_path(store));
    tide_workers_restore(t->workers, saved);
    return TIDE_OK;
}

/* The shape in the file's header must be the one that its parameters define. */
static bool same_shape(const tide_shape *a, const tide_shape *b)
{
    const tide_vocabulary_options *v = &a->vocabulary, *w = &b->vocabulary;
    return v->kind == w->kind && v->capacity == w->capacity && v->gate == w->gate &&
           v->half_life == w->half_life && v->seed == w->seed && a->dim == b->dim &&
           a->subwords.rows == b->subwords.rows &&
           a->subwords.shortest == b->subwords.shortest &&
           a->subwords.longest == b->subwords.longest;
}

static int read_params(tide_store *store, tide_params *params, tide_error *err)
{
    char text[TIDE_PARAMS_MAX];
    int64_t size = tide_store_size(store, "params", err);
    if (size < 0)
        return (int)size;
    if ((uint64_t)size >= sizeof text)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"params\" is too long",
                         tide_store_path(store));
    int status = tide_store_read(store, "params", text, (size_t)size, err);
    text[size] = 0;
    if (!status)
        status = tide_params_scan(params, text, tide_store_path(store), err);
    params->loaded = true;
    tide_params completed = *params;
    if (!status && tide_params_complete(&completed, NULL))
        status = tide_fail(err, TIDE_ERROR_FORMAT,
                           "%s: the parameters contradict each other",
                           tide_store_path(store));
    return status;
}

static int check_shape(tide_store *store, const tide_params *params, tide_error *err)
{
    tide_shape expected = tide_params_shape(params), found;
    int status = tide_model_read_shape(store, &found, err);
    if (!status && !same_shape(&expected, &found))
        status = tide_fail(err, TIDE_ERROR_FORMAT,
                           "%s: the parameters do not match the shape of the vectors",
                           tide_store_path(store));
    return status;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Reduces the parameters to the size of what was saved. */
static void shrink_to_saved(tide_params *p, const tide_model *model,
                            const tide_store *store)
{
    p->vocab = model->input.count;
    p->replay_ring = smaller(p->replay_ring, tide_replay_saved_size(store));
    p->reservoir = smaller(p->reservoir, tide_sampler_saved_size(store));
    p->threads = 1;
}

/* Reads a trainer. One that is not going to be trained is only as large as what was
 * saved. */
static tide_trainer *read_trainer(tide_store *store, const tide_params *params,
                                  bool to_train, tide_error *err)
{
    tide_trainer *t = tide_trainer_alloc(params, err);
    if (!t)
        return NULL;
    t->model = tide_model_read(store, to_train, err);
    if (t->model && !to_train)
        shrink_to_saved(&t->params, t->model, store);
    if (t->model && !tide_trainer_build(t, store, err) && !load_parts(t, store, err) &&
        !tide_trainer_print_params(t, err))
        return t;
    tide_trainer_free(t);
    return NULL;
}

/* If the trainer would take much more memory than the file has bytes, first reads the
 * file with a trainer that is not larger, so that a corrupt file cannot cause a huge
 * allocation. */
static int check_parts(tide_store *store, const tide_params *params, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    if (tide_budget_allocated(params) <= tide_store_length(store) + UNCHECKED_MAX)
        return TIDE_OK;
    tide_trainer *t = read_trainer(store, params, false, err);
    if (!t)
        return (int)err->status;
    tide_trainer_free(t);
    return TIDE_OK;
}

static tide_trainer *trainer_read(tide_store *store, tide_params *params,
                                  const char *const (*changes)[2], size_t count,
                                  tide_error *err)
{
    if (read_params(store, params, err) || change_params(params, changes, count, err) ||
        tide_params_complete(params, err) || check_shape(store, params, err) ||
        check_parts(store, params, err))
        return NULL;
    return read_trainer(store, params, true, err);
}

/* `origin` is the name of the newest checkpoint, which may be another one than
 * `path`. */
static tide_trainer *load_as(const char *path, const char *origin,
                             const char *const (*changes)[2], size_t count,
                             tide_error *err)
{
    tide_params *params = tide_params_new(err);
    tide_store *store = params ? tide_store_open(path, err) : NULL;
    tide_trainer *t = store ? trainer_read(store, params, changes, count, err) : NULL;
    tide_store_close(store);
    tide_params_free(params);
    if (t && !(t->origin = strdup(origin))) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to load %s", path);
        tide_trainer_free(t);
        t = NULL;
    }
    return t;
}

tide_trainer *tide_trainer_load(const char *path, const char *const (*changes)[2],
                                size_t count, tide_error *err)
{
    return load_as(path, path, changes, count, err);
}

/* An older checkpoint is tried only if the file itself is at fault. */
static bool is_bad_file(const tide_error *err)
{
    return err->status == TIDE_ERROR_FORMAT || err->status == TIDE_ERROR_IO;
}

/* Finds the next checkpoint older than number *age, and sets *age to its number. One
 * number may be missing, if a process was killed in the middle of renaming them. */
static bool find_older(const char *path, int *age, char older[PATH_MAX])
{
    for (int missing = 0; missing < 2; missing++) {
        int length = snprintf(older, PATH_MAX, "%s.%d", path, ++*age);
        if (length < PATH_MAX && access(older, F_OK) == 0)
            return true;
    }
    return false;
}

tide_trainer *
tide_trainer_recover(const char *path, const char *const (*changes)[2], size_t count,
                     void (*note)(void *data, bool warning, const char *text),
                     void *data, tide_error *err)
{
    tide_error newest = {0}, other = {0}, *failure = &newest;
    char older[PATH_MAX], line[PATH_MAX + 512];
    int age = 0;
    tide_trainer *t = tide_trainer_load(path, changes, count, &newest);
    while (!t && is_bad_file(failure) && find_older(path, &age, older)) {
        snprintf(line, sizeof line, "%s; trying %s", failure->text, older);
        if (note)
            note(data, true, line);
        failure = &other;
        t = load_as(older, path, changes, count, failure);
    }
    if (!t)
        tide_fail(err, newest.status, "%s", newest.text);
    return t;
}
