/* classifier_file.c - a classifier in a model file.
 *
 * Sections, with little-endian numbers:
 *
 *     label.network  14 numbers of 64 bits, in the order of the enum below
 *     label.prior    the frequency of every label in training, as floats
 *     label.dense    [labels][features + 1] floats; missing for the kind `frequent`
 *     label.filters  [6 * maps rounded up to 8][dim] floats, see cnn.c; CNN only
 *     label.bias     [3 * maps] floats; CNN only
 *
 * Sizes are compared with those in the file before anything is allocated.
 */
#include "file/file.h"
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

#include <stdlib.h>

enum {
    AT_KIND,
    AT_DIM,
    AT_LABELS,
    AT_MAPS,
    AT_MAX_WORDS,
    AT_BATCH,
    AT_MAX_EPOCHS,
    AT_PATIENCE,
    AT_THREADS,
    AT_DROPOUT, /* floats from here to AT_SCALE, stored as their 32 bits */
    AT_RATE,
    AT_HELD_OUT,
    AT_SCALE,
    AT_SEED,
    NUMBERS,
};

static uint64_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint64_t number)
{
    uint32_t bits = (uint32_t)number;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tide_classifier_save(const tide_classifier *c, tide_store_writer *writer)
{
    const tide_classifier_options *o = &c->options;
    const uint64_t numbers[NUMBERS] = {
        [AT_KIND] = o->kind,
        [AT_DIM] = o->dim,
        [AT_LABELS] = o->labels,
        [AT_MAPS] = o->maps,
        [AT_MAX_WORDS] = o->max_words,
        [AT_BATCH] = o->batch,
        [AT_MAX_EPOCHS] = o->max_epochs,
        [AT_PATIENCE] = o->patience,
        [AT_THREADS] = o->threads,
        [AT_DROPOUT] = bits_of(o->dropout),
        [AT_RATE] = bits_of(o->rate),
        [AT_HELD_OUT] = bits_of(o->held_out),
        [AT_SCALE] = bits_of(c->trained ? c->scale : 0),
        [AT_SEED] = o->seed,
    };
    unsigned char bytes[8 * NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        tide_put64(bytes + 8 * i, numbers[i]);
    tide_store_put(writer, "label.network", bytes, sizeof bytes);
    tide_store_put(writer, "label.prior", c->prior, o->labels * sizeof *c->prior);
    if (c->features > 0)
        tide_matrix_save(&c->dense, o->labels, "label.dense", writer);
    if (c->encoder->windows) {
        tide_matrix_save(&c->filters, c->filters.count, "label.filters", writer);
        tide_matrix_save(&c->bias, 1, "label.bias", writer);
    }
}

/* -- load ------------------------------------------------------------------------- */

static int corrupt(tide_store *store, const char *section, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                     tide_store_path(store), section);
}

static int read_numbers(tide_store *store, uint64_t numbers[NUMBERS], tide_error *err)
{
    unsigned char bytes[8 * NUMBERS];
    int64_t size = tide_store_size(store, "label.network", err);
    if (size < 0)
        return (int)size;
    if (size != sizeof bytes)
        return corrupt(store, "label.network", err);
    int status = tide_store_read(store, "label.network", bytes, sizeof bytes, err);
    for (int i = 0; i < NUMBERS && !status; i++) {
        numbers[i] = tide_get64(bytes + 8 * i);
        if (i != AT_SEED && numbers[i] > UINT32_MAX)
            return corrupt(store, "label.network", err);
    }
    return status;
}

static int read_options(tide_store *store, tide_classifier_options *options,
                        float *scale, tide_error *err)
{
    uint64_t n[NUMBERS] = {0};
    int status = read_numbers(store, n, err);
    if (status)
        return status;
    *scale = float_of(n[AT_SCALE]);
    if (n[AT_KIND] >= TIDE_CLASSIFIER_KINDS || !tide_finite(*scale) || *scale < 0)
        return corrupt(store, "label.network", err);
    *options = (tide_classifier_options){
        .kind = (tide_classifier_kind)n[AT_KIND],
        .dim = (uint32_t)n[AT_DIM],
        .labels = (uint32_t)n[AT_LABELS],
        .maps = (uint32_t)n[AT_MAPS],
        .max_words = (uint32_t)n[AT_MAX_WORDS],
        .batch = (uint32_t)n[AT_BATCH],
        .max_epochs = (uint32_t)n[AT_MAX_EPOCHS],
        .patience = (uint32_t)n[AT_PATIENCE],
        .threads = (uint32_t)n[AT_THREADS],
        .dropout = float_of(n[AT_DROPOUT]),
        .rate = float_of(n[AT_RATE]),
        .held_out = float_of(n[AT_HELD_OUT]),
        .seed = n[AT_SEED],
    };
    if (tide_classifier_check(options, NULL))
        return corrupt(store, "label.network", err);
    return TIDE_OK;
}

static int check_size(tide_store *store, const char *section, uint64_t rows,
                      uint64_t dim, tide_error *err)
{
    if (rows * dim == 0) /* this kind does not have the section */
        return TIDE_OK;
    int64_t size = tide_store_size(store, section, err);
    if (size < 0)
        return (int)size;
    if ((uint64_t)size != rows * dim * sizeof(float))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section \"%s\" has the wrong size",
                         tide_store_path(store), section);
    return TIDE_OK;
}

static int check_sizes(tide_store *store, const tide_classifier_options *o,
                       tide_error *err)
{
    uint32_t features = tide_feature_count(o);
    bool windows = tide_encoder_of(o)->windows;
    int status = check_size(store, "label.prior", 1, o->labels, err);
    if (!status)
        status = check_size(store, "label.dense", features ? o->labels : 0,
                            features + 1, err);
    if (!status)
        status = check_size(store, "label.filters", windows ? tide_filter_rows(o) : 0,
                            o->dim, err);
    if (!status)
        status = check_size(store, "label.bias", windows ? 1 : 0, features, err);
    return status;
}

int64_t tide_classifier_labels(const tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, "label.prior", err);
    return size < 0 ? size : size / (int64_t)sizeof(float);
}

static int read_prior(tide_classifier *c, tide_store *store, tide_error *err)
{
    size_t size = c->options.labels * sizeof *c->prior;
    int status = tide_store_read(store, "label.prior", c->prior, size, err);
    for (uint32_t i = 0; i < c->options.labels && !status; i++)
        if (!(c->prior[i] >= 0 && c->prior[i] <= 1))
            status = corrupt(store, "label.prior", err);
    return status;
}

static int read_weights(tide_classifier *c, tide_store *store, tide_error *err)
{
    int status = read_prior(c, store, err);
    if (!status && c->features > 0)
        status =
            tide_matrix_load(&c->dense, c->options.labels, "label.dense", store, err);
    if (!status && c->encoder->windows)
        status = tide_matrix_load(&c->filters, c->filters.count, "label.filters", store,
                                  err);
    if (!status && c->encoder->windows)
        status = tide_matrix_load(&c->bias, 1, "label.bias", store, err);
    return status;
}

tide_classifier *tide_classifier_load(tide_store *store, tide_error *err)
{
    tide_classifier_options options = {0};
    float scale = 0;
    if (read_options(store, &options, &scale, err) || check_sizes(store, &options, err))
        return NULL;
    tide_classifier *c = tide_classifier_new(&options, err);
    if (!c)
        return NULL;
    if (read_weights(c, store, err)) {
        tide_classifier_free(c);
        return NULL;
    }
    c->trained = scale > 0;
    c->scale = c->trained ? scale : 1;
    return c;
}
