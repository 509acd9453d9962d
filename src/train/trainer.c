/* trainer.c - the trainer: a model, its optimizer, the ingest, and the workers that
 * train. */
#include "file/file.h"
#include "format/format.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "sgns/sgns.h"
#include "train/import.h"
#include "train/train.h"
#include "train/trainer_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>
#include <unistd.h>

/* -- construction ------------------------------------------------------------------ */

/* Allocated memory is touched at once. So more than the machine has is refused
 * beforehand instead of swapping. */
static int check_machine(const tide_params *params, tide_error *err)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    double available = (double)pages * (double)size,
           needed = (double)tide_budget_allocated(params);
    if (pages > 0 && needed > available)
        return tide_fail(
            err, TIDE_ERROR_MEMORY,
            "training needs %.1f GiB of memory, but the machine has %.1f GiB",
            needed / 0x1p30, available / 0x1p30);
    return TIDE_OK;
}

int tide_trainer_build(tide_trainer *t, tide_store *store, tide_error *err)
{
    t->optimizer = tide_optimizer_new(&t->params, err);
    if (!t->optimizer)
        return TIDE_ERROR_MEMORY;
    t->sgns = (tide_sgns){.params = &t->params,
                          .model = t->model,
                          .optimizer = t->optimizer,
                          .kernels = tide_kernels_best()};
    tide_contexts_init(&t->sgns.contexts, &t->params);
    if (t->params.subword && !(t->sgns.ngrams = tide_ngrams_new(&t->params, err)))
        return TIDE_ERROR_MEMORY;
    t->ingest = tide_ingest_new(&t->params, &t->sgns, store, err);
    if (!t->ingest)
        return TIDE_ERROR_MEMORY;
    if (t->params.threads > 1) {
        t->sgns.selection = tide_ingest_selection(t->ingest);
        t->sgns.quarantined = t->sgns.selection->quarantined;
    }
    if (t->params.labels) {
        t->labels =
            tide_labels_new(&t->params, t->model, t->sgns.quarantined, store, err);
        if (!t->labels)
            return TIDE_ERROR_MEMORY;
        tide_ingest_set_labels(t->ingest, t->labels, &t->passes);
    }
    t->workers = tide_workers_new(&t->sgns, err);
    if (!t->workers)
        return TIDE_ERROR_MEMORY;
    tide_ingest_set_executor(t->ingest, tide_workers_executor(t->workers));
    return TIDE_OK;
}

int tide_trainer_print_params(tide_trainer *t, tide_error *err)
{
    free(t->model->params);
    t->model->params = tide_params_print(&t->params);
    return t->model->params ? TIDE_OK : tide_fail(err, TIDE_ERROR_MEMORY, "no memory");
}

tide_trainer *tide_trainer_alloc(const tide_params *params, tide_error *err)
{
    tide_trainer *t = tide_alloc(1, sizeof *t);
    if (!t) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
        return NULL;
    }
    t->params = *params;
    if (tide_params_complete(&t->params, err) || check_machine(&t->params, err)) {
        free(t);
        return NULL;
    }
    t->params.others = NULL; /* the vocabulary size is set */
    return t;
}

tide_trainer *tide_trainer_make(const tide_params *params, tide_error *err)
{
    tide_trainer *t = tide_trainer_alloc(params, err);
    if (!t)
        return NULL;
    tide_shape shape = tide_params_shape(&t->params);
    t->model = tide_model_new(&shape, err);
    if (!t->model || tide_trainer_build(t, NULL, err) ||
        tide_trainer_print_params(t, err)) {
        tide_trainer_free(t);
        return NULL;
    }
    tide_init_subwords(&t->sgns);
    return t;
}

tide_trainer *tide_trainer_new(const tide_params *params, tide_error *err)
{
    if (!tide_params_fixed_vocabulary(params))
        return tide_trainer_make(params, err);
    tide_fail(err, TIDE_ERROR_PARAMETER,
              params->frozen
                  ? "frozen needs a model that is resumed"
                  : "epochs needs text whose words have been counted before");
    return NULL;
}

int tide_trainer_plan(tide_trainer *t, tide_error *err)
{
    tide_optimizer_set_total(t->optimizer,
                             (double)t->params.epochs *
                                 (double)tide_vocabulary_total(t->model->vocabulary));
    if (!tide_params_fixed_vocabulary(&t->params) ||
        t->params.frozen == TIDE_FROZEN_ALL || tide_ingest_prepare_negatives(t->ingest))
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "frozen yes: the model has too few words to draw negatives from");
}

void tide_trainer_free(tide_trainer *t)
{
    if (!t)
        return;
    tide_workers_free(t->workers);
    tide_labels_free(t->labels);
    tide_ingest_free(t->ingest);
    tide_ngrams_free(t->sgns.ngrams);
    tide_optimizer_free(t->optimizer);
    tide_model_free(t->model);
    tide_positions_clear(&t->positions);
    free(t->origin);
    free(t);
}

/* -- training ---------------------------------------------------------------------- */

int tide_trainer_feed(tide_trainer *t, const void *bytes, size_t size, tide_error *err)
{
    (void)err;
    tide_ingest_feed(t->ingest, bytes, size);
    return TIDE_OK;
}

int tide_trainer_end(tide_trainer *t, tide_error *err)
{
    (void)err;
    tide_ingest_end(t->ingest);
    tide_ingest_drain(t->ingest);
    return TIDE_OK;
}

void tide_trainer_stats(const tide_trainer *t, tide_stats *stats, size_t size)
{
    tide_stats all = {0};
    tide_ingest_stats(t->ingest, &all);
    tide_sgns_progress progress = tide_workers_progress(t->workers);
    all.trained = progress.centers;
    all.repaired = t->repaired;
    if (tide_params_batch(&t->params)) {
        all.epochs = t->params.epochs;
        all.epoch = t->passes < all.epochs ? t->passes + 1 : all.epochs;
    }
    all.loss = progress.pairs > 0 ? progress.loss / progress.pairs : 0;
    tide_copy_sized(stats, size, &all, sizeof all);
}

const tide_params *tide_trainer_params(const tide_trainer *t)
{
    return &t->params;
}

const tide_model *tide_trainer_model(const tide_trainer *t)
{
    return t->model;
}

const char *tide_trainer_origin(const tide_trainer *t)
{
    return t->origin;
}

tide_positions *tide_trainer_positions(tide_trainer *t)
{
    return &t->positions;
}

uint64_t *tide_trainer_passes(tide_trainer *t)
{
    return &t->passes;
}

tide_ingest *tide_trainer_ingest(tide_trainer *t)
{
    return t->ingest;
}

tide_live *tide_trainer_live(const tide_trainer *t)
{
    return t->live;
}

/* -- labels ------------------------------------------------------------------------ */

tide_labels *tide_trainer_labels_part(tide_trainer *t)
{
    return t->labels;
}

void tide_trainer_label_stats(const tide_trainer *t, tide_label_stats *stats)
{
    *stats = (tide_label_stats){0};
    if (t->labels)
        tide_labels_stats(t->labels, stats);
}

size_t tide_trainer_labels(const tide_trainer *t, tide_label *labels, size_t capacity)
{
    return t->labels ? tide_labels_list(t->labels, labels, capacity) : 0;
}

int tide_trainer_fit(tide_trainer *t, tide_epoch_callback *on_epoch, void *data,
                     tide_error *err)
{
    if (!t->labels)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "this model has no labels");
    tide_ingest_drain(t->ingest);
    return tide_labels_fit(t->labels, on_epoch, data, err);
}

void tide_trainer_watch_labels(tide_trainer *t,
                               void (*post)(void *data,
                                            const tide_predicted_post *predicted),
                               tide_epoch_callback *on_epoch, void *data)
{
    if (t->labels)
        tide_labels_watch(t->labels, post, on_epoch, data);
}

bool tide_trainer_can_resume(const tide_trainer *t, const char *source)
{
    for (size_t i = 0; i < t->positions.count; i++)
        if (t->positions.items[i].text && !strcmp(t->positions.items[i].spec, source))
            return true;
    return false;
}

int tide_trainer_import(tide_trainer *t, tide_rows *rows, const char *counts,
                        tide_imported *done, tide_error *err)
{
    tide_imported ignored;
    return tide_import(t->ingest, &t->sgns, rows, counts, done ? done : &ignored, err);
}

uint64_t tide_trainer_repair(tide_trainer *t)
{
    tide_repaired repaired;
    tide_ingest_drain(t->ingest);
    tide_repair_nans(&t->sgns, &repaired);
    t->repaired += repaired.words + repaired.subwords;
    return t->repaired;
}

void tide_trainer_stop(tide_trainer *trainer)
{
    trainer->stop = 1;
}

atomic_int *tide_trainer_stop_flag(tide_trainer *trainer)
{
    return &trainer->stop;
}
