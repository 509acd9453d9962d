/* optimizer_file.c - the rates' part of a model file: sections rate.*. */
#include "file/file.h"
#include "params/params.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "vector/vector.h"

/* In the order of the slots. */
static void save_sums(tide_store_writer *writer, const char *section,
                      const tide_sums *s, uint32_t count)
{
    if (!s->values)
        return;
    tide_store_begin(writer, section);
    for (uint32_t slot = 0; slot < count; slot++)
        tide_store_append(writer, &s->values[tide_sum_at(slot, s->shift)],
                          sizeof(float));
}

void tide_optimizer_save(const tide_optimizer *r, uint32_t used,
                         tide_store_writer *writer)
{
    save_sums(writer, "rate.input", &r->sum_input, used);
    save_sums(writer, "rate.output", &r->sum_output, used);
    save_sums(writer, "rate.subword", &r->sum_subword, (uint32_t)r->params->subword);
    if (r->age_input)
        tide_store_put(writer, "rate.age", r->age_input, used * sizeof(uint32_t));
    if (r->age_output != r->age_input)
        tide_store_put(writer, "rate.age-output", r->age_output,
                       used * sizeof(uint32_t));
    if (r->each_input.rows) {
        tide_matrix_save(&r->each_input, used, "rate.each", writer);
        tide_matrix_save(&r->each_output, used, "rate.each-out", writer);
    }
    uint64_t origin[2] = {r->origin, r->params->rate_half_life};
    tide_store_put(writer, "rate.origin", origin, sizeof origin);
}

/* Sums must be finite and not negative, or every later step would be wrong. */
static int load_sums(tide_store *store, const char *section, tide_sums *s,
                     uint32_t count, tide_error *err)
{
    enum { PIECE = 1024 };
    float piece[PIECE];
    if (!s->values)
        return TIDE_OK;
    int64_t size = tide_store_size(store, section, err);
    if (size < 0)
        return (int)size;
    bool sound = (uint64_t)size == count * sizeof(float);
    for (uint32_t slot = 0; slot < count && sound; slot++) {
        if (slot % PIECE == 0) {
            uint32_t rest = count - slot < PIECE ? count - slot : PIECE;
            int status = tide_store_read_at(store, section, slot * sizeof(float), piece,
                                            rest * sizeof(float), err);
            if (status)
                return status;
        }
        float value = piece[slot % PIECE];
        sound = tide_finite(value) && value >= 0;
        s->values[tide_sum_at(slot, s->shift)] = value;
    }
    return sound ? TIDE_OK
                 : tide_fail(err, TIDE_ERROR_FORMAT, "%s: section %s is impossible",
                             tide_store_path(store), section);
}

static int load_ages(tide_store *store, const char *section, uint32_t *ages,
                     uint32_t used, tide_error *err)
{
    return ages ? tide_store_read(store, section, ages, used * sizeof *ages, err)
                : TIDE_OK;
}

/* When the half-life is another one now, the sums are brought to today's scale once. Decay has no sums, and
 * its scale does not grow. */
static int load_origin(tide_optimizer *r, tide_store *store, uint64_t tokens,
                       tide_error *err)
{
    uint64_t origin[2];
    int status = tide_store_read(store, "rate.origin", origin, sizeof origin, err);
    if (status)
        return status;
    if (r->params->rate == RATE_DECAY)
        return TIDE_OK;
    float scale = origin[0] <= tokens
                      ? tide_optimizer_scale_at(tokens - origin[0], origin[1])
                      : 0;
    if (!(scale >= 1 && tide_finite(scale)))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section rate.origin is impossible",
                         tide_store_path(store));
    r->origin = origin[0];
    if (origin[1] != r->params->rate_half_life)
        tide_optimizer_divide(r, tokens, scale);
    return TIDE_OK;
}

int tide_optimizer_load(tide_optimizer *r, uint32_t used, uint64_t tokens,
                        tide_store *store, tide_error *err)
{
    int status = load_sums(store, "rate.input", &r->sum_input, used, err);
    if (!status)
        status = load_sums(store, "rate.output", &r->sum_output, used, err);
    if (!status)
        status = load_sums(store, "rate.subword", &r->sum_subword,
                           (uint32_t)r->params->subword, err);
    if (!status)
        status = load_ages(store, "rate.age", r->age_input, used, err);
    if (!status && r->age_output != r->age_input)
        status = load_ages(store, "rate.age-output", r->age_output, used, err);
    if (!status && r->each_input.rows) {
        status = tide_matrix_load(&r->each_input, used, "rate.each", store, err);
        if (!status)
            status =
                tide_matrix_load(&r->each_output, used, "rate.each-out", store, err);
    }
    if (!status)
        status = load_origin(r, store, tokens, err);
    return status;
}
