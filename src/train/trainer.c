/* trainer.c - the trainer: a model, its rates, the intake and the crew; and the file they share. */
#include "train/parts.h"

#include <stdlib.h>
#include <unistd.h>

struct tide_trainer {
    tide_params params;
    tide_model *model;
    tide_rates *rates;
    tide_learner learner;
    tide_intake *intake;
    tide_crew *crew;
    tide_positions positions;
    uint64_t passes; /* batch: how often all text has been read */
};

/* -- making --------------------------------------------------------------------------------------------- */

static int list_parts(const tide_params *p, tide_part parts[TIDE_PARTS_MAX])
{
    tide_shape shape = tide_params_shape(p);
    tide_sampler_options sampler = tide_params_sampler(p);
    const tide_part all[] = {
        {"vectors", tide_shape_vector_bytes(&shape)},
        {"subwords", tide_shape_subword_bytes(&shape)},
        {"vocabulary", tide_vocabulary_bytes(&shape.vocabulary)},
        {"rates", tide_rates_bytes(p)},
        {"negatives", tide_sampler_bytes(&sampler)},
        {"replay", tide_replay_bytes(p)},
        {"intake", tide_intake_bytes(p)},
        {"phrases", tide_phrases_bytes(p)},
        {"threads", tide_crew_bytes(p->threads, (uint32_t)p->dim)},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].bytes)
            parts[count++] = all[i];
    return count;
}

uint64_t tide_params_total(const tide_params *params)
{
    tide_part parts[TIDE_PARTS_MAX];
    uint64_t total = 0;
    for (int i = list_parts(params, parts); i-- > 0;)
        total += parts[i].bytes;
    return total;
}

int tide_params_budget(tide_params *params, tide_part parts[TIDE_PARTS_MAX],
                       tide_error *err)
{
    int status = tide_params_settle(params, err);
    return status ? status : list_parts(params, parts);
}

int tide_trainer_budget(const tide_trainer *trainer, tide_part parts[TIDE_PARTS_MAX])
{
    return list_parts(&trainer->params, parts);
}

/* Memory is touched when it is allocated, so what does not fit is better refused than tried. */
static int check_machine(const tide_params *params, tide_error *err)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    double here = (double)pages * (double)size,
           wanted = (double)tide_params_total(params);
    if (pages > 0 && wanted > here)
        return tide_fail(err, TIDE_ERROR_MEMORY,
                         "this needs %.1f GiB of memory and the machine has %.1f GiB",
                         wanted / 0x1p30, here / 0x1p30);
    return TIDE_OK;
}

static int prepare(tide_trainer *t, tide_store *store, tide_error *err)
{
    t->rates = tide_rates_new(&t->params, err);
    if (!t->rates)
        return TIDE_ERROR_MEMORY;
    t->learner = (tide_learner){.params = &t->params,
                                .model = t->model,
                                .rates = t->rates,
                                .kernels = tide_kernels_best()};
    tide_contexts_init(&t->learner.contexts, &t->params);
    t->intake = tide_intake_new(&t->params, &t->learner, store, err);
    if (!t->intake)
        return TIDE_ERROR_MEMORY;
    if (t->params.threads > 1)
        t->learner.closed = tide_intake_closed(t->intake);
    t->crew = tide_crew_new(&t->learner, t->params.threads, err);
    if (!t->crew)
        return TIDE_ERROR_MEMORY;
    tide_intake_school(t->intake, tide_crew_school(t->crew));
    return TIDE_OK;
}

static int print_params(tide_trainer *t, tide_error *err)
{
    free(t->model->params);
    t->model->params = tide_params_print(&t->params);
    return t->model->params ? TIDE_OK : tide_fail(err, TIDE_ERROR_MEMORY, "no memory");
}

static tide_trainer *trainer_alloc(const tide_params *params, tide_error *err)
{
    tide_trainer *t = tide_alloc(1, sizeof *t);
    if (!t) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
        return NULL;
    }
    t->params = *params;
    if (tide_params_settle(&t->params, err) || check_machine(&t->params, err)) {
        free(t);
        return NULL;
    }
    return t;
}

tide_trainer *tide_trainer_make(const tide_params *params, tide_error *err)
{
    tide_trainer *t = trainer_alloc(params, err);
    if (!t)
        return NULL;
    tide_shape shape = tide_params_shape(&t->params);
    t->model = tide_model_new(&shape, err);
    if (!t->model || prepare(t, NULL, err) || print_params(t, err)) {
        tide_trainer_free(t);
        return NULL;
    }
    tide_init_subwords(&t->learner);
    return t;
}

tide_trainer *tide_trainer_new(const tide_params *params, tide_error *err)
{
    if (!tide_params_fixed(params))
        return tide_trainer_make(params, err);
    tide_fail(err, TIDE_ERROR_PARAMETER,
              params->frozen
                  ? "--frozen is for a model that is resumed"
                  : "--epochs needs text whose words are counted beforehand");
    return NULL;
}

int tide_trainer_plan(tide_trainer *t, tide_error *err)
{
    tide_rates_plan(t->rates, (double)t->params.epochs *
                                  (double)tide_vocabulary_total(t->model->vocabulary));
    if (!tide_params_fixed(&t->params) || tide_intake_ready(t->intake))
        return TIDE_OK;
    return tide_fail(
        err, TIDE_ERROR_PARAMETER,
        "--frozen yes: the model has not learned enough to have negatives");
}

void tide_trainer_free(tide_trainer *t)
{
    if (!t)
        return;
    tide_crew_free(t->crew);
    tide_intake_free(t->intake);
    tide_rates_free(t->rates);
    tide_model_free(t->model);
    tide_positions_clear(&t->positions);
    free(t);
}

/* -- learning ------------------------------------------------------------------------------------------- */

int tide_trainer_feed(tide_trainer *t, const void *bytes, size_t size, tide_error *err)
{
    (void)err;
    tide_intake_feed(t->intake, bytes, size);
    return TIDE_OK;
}

int tide_trainer_end(tide_trainer *t, tide_error *err)
{
    (void)err;
    tide_intake_end(t->intake);
    tide_intake_settle(t->intake);
    return TIDE_OK;
}

void tide_trainer_stats(const tide_trainer *t, tide_stats *stats)
{
    *stats = (tide_stats){0};
    tide_intake_stats(t->intake, stats);
    tide_progress progress = tide_crew_progress(t->crew);
    stats->trained = progress.centres;
    if (tide_params_batch(&t->params)) {
        stats->epochs = t->params.epochs;
        stats->epoch = t->passes < stats->epochs ? t->passes + 1 : stats->epochs;
    }
    stats->loss = progress.pairs > 0 ? progress.loss / progress.pairs : 0;
}

const tide_params *tide_trainer_params(const tide_trainer *t)
{
    return &t->params;
}

const tide_model *tide_trainer_model(const tide_trainer *t)
{
    return t->model;
}

tide_positions *tide_trainer_positions(tide_trainer *t)
{
    return &t->positions;
}

uint64_t *tide_trainer_passes(tide_trainer *t)
{
    return &t->passes;
}

tide_intake *tide_trainer_intake(tide_trainer *t)
{
    return t->intake;
}

int tide_trainer_import(tide_trainer *t, tide_rows *rows, const char *counts,
                        tide_imported *done, tide_error *err)
{
    tide_imported ignored;
    return tide_import(t->intake, &t->learner, rows, counts, done ? done : &ignored,
                       err);
}

/* -- the file -------------------------------------------------------------------------------------------- */

int tide_trainer_save(tide_trainer *t, const char *path, tide_error *err)
{
    tide_intake_settle(t->intake);
    tide_store_writer *writer = tide_store_create(path, err);
    if (!writer)
        return err ? (int)err->status : TIDE_ERROR_IO;
    tide_progress progress = tide_crew_progress(t->crew);
    tide_model_save(t->model, writer);
    tide_rates_save(t->rates, tide_vocabulary_used(t->model->vocabulary), writer);
    tide_intake_save(t->intake, writer);
    tide_store_put(writer, "trainer", &progress, sizeof progress);
    if (t->params.epochs)
        tide_store_put(writer, "passes", &t->passes, sizeof t->passes);
    tide_positions_save(&t->positions, writer);
    return tide_store_commit(writer, err);
}

static int change_params(tide_params *params, const char *const (*changes)[2],
                         size_t count, tide_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = changes[i][0], *value = changes[i][1];
        char before[TEXT_MAX], after[TEXT_MAX];
        if (tide_params_text(params, name, before, sizeof before) < 0)
            return tide_fail(err, TIDE_ERROR_PARAMETER, "there is no parameter '%s'",
                             name);
        tide_params changed = *params;
        int status = tide_params_set(&changed, name, value, err);
        if (status)
            return status;
        tide_params_text(&changed, name, after, sizeof after);
        if (!strcmp(before, after))
            continue;
        if (!tide_params_on_resume(name))
            return tide_fail(err, TIDE_ERROR_PARAMETER,
                             "--%s cannot become %s: the model was begun with %s", name,
                             after, before);
        if (changed.epochs && !params->epochs)
            return tide_fail(
                err, TIDE_ERROR_PARAMETER,
                "--epochs cannot become %s: the model was begun as a stream", after);
        *params = changed;
    }
    return TIDE_OK;
}

static int load_rest(tide_trainer *t, tide_store *store, tide_error *err)
{
    tide_progress saved;
    uint32_t used = tide_vocabulary_used(t->model->vocabulary);
    int status = tide_intake_load(t->intake, store, err);
    if (!status)
        status =
            tide_rates_load(t->rates, used, tide_intake_clock(t->intake), store, err);
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
    if (!(saved.loss >= 0 && saved.loss < 1e300 && saved.pairs >= 0 &&
          saved.pairs < 1e300))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section trainer is impossible",
                         tide_store_path(store));
    tide_crew_go_on_from(t->crew, saved);
    return TIDE_OK;
}

/* The shape in the file's header and the one its parameters ask for must be the same. */
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
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section params is too long",
                         tide_store_path(store));
    int status = tide_store_read(store, "params", text, (size_t)size, err);
    text[size] = 0;
    if (!status)
        status = tide_params_scan(params, text, err);
    tide_params settled = *params;
    if (!status && tide_params_settle(&settled, NULL))
        status =
            tide_fail(err, TIDE_ERROR_FORMAT, "%s: the parameters do not fit together",
                      tide_store_path(store));
    return status;
}

static tide_trainer *trainer_read(tide_store *store, tide_params *params,
                                  const char *const (*changes)[2], size_t count,
                                  tide_error *err)
{
    if (read_params(store, params, err) || change_params(params, changes, count, err))
        return NULL;
    tide_trainer *t = trainer_alloc(params, err);
    if (!t)
        return NULL;
    tide_shape wanted = tide_params_shape(&t->params), found;
    if (tide_model_read_shape(store, &found, err))
        goto failed;
    if (!same_shape(&wanted, &found)) {
        tide_fail(err, TIDE_ERROR_FORMAT, "%s: parameters and shape disagree",
                  tide_store_path(store));
        goto failed;
    }
    t->model = tide_model_read(store, true, err);
    if (!t->model || prepare(t, store, err) || load_rest(t, store, err) ||
        print_params(t, err))
        goto failed;
    return t;
failed:
    tide_trainer_free(t);
    return NULL;
}

tide_trainer *tide_trainer_load(const char *path, const char *const (*changes)[2],
                                size_t count, tide_error *err)
{
    tide_params *params = tide_params_new(err);
    tide_store *store = params ? tide_store_open(path, err) : NULL;
    tide_trainer *t = store ? trainer_read(store, params, changes, count, err) : NULL;
    tide_store_close(store);
    tide_params_free(params);
    return t;
}
