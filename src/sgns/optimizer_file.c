/* optimizer_file.c - the optimizer's part of a model file: sections rate.*. */
#include "file/file.h"
#include "params/params.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "vector/vector.h"

/* Values are in slot order. */
static void save_accumulators(tide_store_writer *writer, const char *section,
                              const tide_accumulators *a, uint32_t count)
{
    if (!a->values)
        return;
    tide_store_begin(writer, section);
    for (uint32_t slot = 0; slot < count; slot++)
        tide_store_append(writer, &a->values[tide_sum_at(slot, a->shift)],
                          sizeof(float));
}

void tide_optimizer_save(const tide_optimizer *o, uint32_t used,
                         tide_store_writer *writer)
{
    save_accumulators(writer, "rate.input", &o->input_accumulators, used);
    save_accumulators(writer, "rate.output", &o->output_accumulators, used);
    save_accumulators(writer, "rate.subword", &o->subword_accumulators,
                      (uint32_t)o->params->subword);
    if (o->age_input)
        tide_store_put(writer, "rate.age", o->age_input, used * sizeof(uint32_t));
    if (o->age_output != o->age_input)
        tide_store_put(writer, "rate.age-output", o->age_output,
                       used * sizeof(uint32_t));
    if (o->input_coordinates.rows) {
        tide_matrix_save(&o->input_coordinates, used, "rate.each", writer);
        tide_matrix_save(&o->output_coordinates, used, "rate.each-out", writer);
    }
    uint64_t origin[2] = {o->origin, o->params->rate_half_life};
    tide_store_put(writer, "rate.origin", origin, sizeof origin);
}

/* Rejects values that are negative or not finite: they would spoil every later step. */
static int load_accumulators(tide_store *store, const char *section,
                             tide_accumulators *a, uint32_t count, tide_error *err)
{
    enum { CHUNK = 1024 };
    float chunk[CHUNK];
    if (!a->values)
        return TIDE_OK;
    int64_t size = tide_store_size(store, section, err);
    if (size < 0)
        return (int)size;
    bool valid = (uint64_t)size == count * sizeof(float);
    for (uint32_t slot = 0; slot < count && valid; slot++) {
        if (slot % CHUNK == 0) {
            uint32_t length = count - slot < CHUNK ? count - slot : CHUNK;
            int status = tide_store_read_at(store, section, slot * sizeof(float), chunk,
                                            length * sizeof(float), err);
            if (status)
                return status;
        }
        float value = chunk[slot % CHUNK];
        valid = tide_finite(value) && value >= 0;
        a->values[tide_sum_at(slot, a->shift)] = value;
    }
    return valid ? TIDE_OK
                 : tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                             tide_store_path(store), section);
}

static int load_ages(tide_store *store, const char *section, uint32_t *ages,
                     uint32_t used, tide_error *err)
{
    return ages ? tide_store_read(store, section, ages, used * sizeof *ages, err)
                : TIDE_OK;
}

/* If the half-life was changed since the save, the accumulators are rescaled once. Rate
 * decay has no accumulators, and its scale does not grow. */
static int load_origin(tide_optimizer *o, tide_store *store, uint64_t tokens,
                       tide_error *err)
{
    uint64_t origin[2];
    int status = tide_store_read(store, "rate.origin", origin, sizeof origin, err);
    if (status)
        return status;
    if (o->params->optimizer == TIDE_OPTIMIZER_DECAY)
        return TIDE_OK;
    float scale = origin[0] <= tokens
                      ? tide_optimizer_scale_at(tokens - origin[0], origin[1])
                      : 0;
    if (!(scale >= 1 && tide_finite(scale)))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section \"rate.origin\" is corrupt",
                         tide_store_path(store));
    o->origin = origin[0];
    if (origin[1] != o->params->rate_half_life)
        tide_optimizer_divide_by(o, tokens, scale);
    return TIDE_OK;
}

int tide_optimizer_load(tide_optimizer *o, uint32_t used, uint64_t tokens,
                        tide_store *store, tide_error *err)
{
    int status =
        load_accumulators(store, "rate.input", &o->input_accumulators, used, err);
    if (!status)
        status =
            load_accumulators(store, "rate.output", &o->output_accumulators, used, err);
    if (!status)
        status = load_accumulators(store, "rate.subword", &o->subword_accumulators,
                                   (uint32_t)o->params->subword, err);
    if (!status)
        status = load_ages(store, "rate.age", o->age_input, used, err);
    if (!status && o->age_output != o->age_input)
        status = load_ages(store, "rate.age-output", o->age_output, used, err);
    if (!status && o->input_coordinates.rows) {
        status = tide_matrix_load(&o->input_coordinates, used, "rate.each", store, err);
        if (!status)
            status = tide_matrix_load(&o->output_coordinates, used, "rate.each-out",
                                      store, err);
    }
    if (!status)
        status = load_origin(o, store, tokens, err);
    return status;
}
