/* history_check.c - checks whether a history file can be used, without its model.
 *
 * The file is loaded the way a server loads it, into a history made with the same
 * dimension, step and number of snapshots over a model without words. Whether the
 * records are valid does not depend on the model.
 */
#include "file/file.h"
#include "history/history_file.h"
#include "history/snapshots.h"
#include "params/params.h"

#include <stdlib.h>

static int corrupt(const tide_store *store, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"history\" is corrupt",
                     tide_store_path(store));
}

static int count_records(const tide_store *store, const char *section, int64_t size,
                         uint64_t *count, tide_error *err)
{
    int64_t bytes = tide_store_size(store, section, err);
    *count = bytes < 0 ? 0 : (uint64_t)(bytes / size);
    return bytes < 0 ? (int)bytes : TIDE_OK;
}

static int read_header(tide_store *store, tide_history_facts *facts, tide_error *err)
{
    unsigned char bytes[8 * NUMBERS];
    facts->is_history = tide_store_has(store, "history");
    int status = tide_store_read(store, "history", bytes, sizeof bytes, err);
    if (status)
        return status;
    uint64_t dim = tide_get64(bytes + 8 * NUMBER_DIM),
             snapshots = tide_get64(bytes + 8 * NUMBER_SNAPSHOTS);
    if (!dim || dim > TIDE_DIM_MAX || snapshots < 2 ||
        snapshots > TIDE_HISTORY_SNAPSHOTS_MAX)
        return corrupt(store, err);
    facts->dim = (uint32_t)dim;
    facts->snapshots = (uint32_t)snapshots;
    facts->step = double_of(tide_get64(bytes + 8 * NUMBER_STEP));
    facts->alarms = tide_get64(bytes + 8 * NUMBER_ALARMS);
    status = count_records(store, "places", TRACKED_SIZE, &facts->tracked, err);
    return status ? status
                  : count_records(store, "words",
                                  word_size(tide_get64(bytes + 8 * NUMBER_VERSION)),
                                  &facts->words, err);
}

static tide_trainer *new_empty_trainer(uint32_t dim, tide_error *err)
{
    char text[16];
    tide_params *params = tide_params_new(err);
    tide_trainer *trainer = NULL;
    snprintf(text, sizeof text, "%u", dim);
    if (params && !tide_params_set(params, "profile", "fast", err) &&
        !tide_params_set(params, "vocab", "2", err) &&
        !tide_params_set(params, "dim", text, err))
        trainer = tide_trainer_new(params, err);
    tide_params_free(params);
    return trainer;
}

static int try_loading(const char *path, const tide_history_facts *facts,
                       tide_error *err)
{
    const tide_history_options options = {
        .tracked = 1, .watched = 1, .step = facts->step, .snapshots = facts->snapshots};
    tide_trainer *trainer = new_empty_trainer(facts->dim, err);
    tide_live *live =
        trainer ? tide_live_new(trainer, TIDE_VECTORS_INPUT, false, err) : NULL;
    tide_history *history = live ? tide_history_new(live, &options, err) : NULL;
    int status = history ? tide_history_load(history, path, err) : (int)err->status;
    tide_history_free(history);
    tide_live_free(live);
    tide_trainer_free(trainer);
    return status;
}

int tide_history_check(const char *path, tide_history_facts *facts, tide_error *err)
{
    tide_error ignored = {0};
    tide_history_facts found = {0};
    err = err ? err : &ignored;
    tide_store *store = tide_store_open(path, err);
    int status = store ? read_header(store, &found, err) : (int)err->status;
    if (!status &&
        !(found.step >= TIDE_HISTORY_STEP_MIN && found.step <= TIDE_HISTORY_STEP_MAX))
        status = corrupt(store, err);
    tide_store_close(store);
    if (facts)
        *facts = found;
    return status ? status : try_loading(path, &found, err);
}
