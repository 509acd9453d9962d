/* predictor_file.c - a predictor in a model file: the names of its labels, the anchors,
 * the classifier. */
#include "file/file.h"
#include "label/label.h"
#include "label/predictor.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { NUMBERS_SIZE = 2 * 8 };

static const char section[] = "label.names";

/* Section label.names: the number of trainings and the number of anchors, 8 bytes each;
 * then for every label its length in one byte and its name. */
void tide_predictor_save(const tide_predictor *p, tide_store_writer *writer)
{
    const tide_fitted *f = &p->fitted;
    unsigned char numbers[NUMBERS_SIZE];
    if (p->bag)
        tide_bag_save(p->bag, writer);
    if (!f->labels)
        return;
    tide_put64(numbers, p->fits);
    tide_put64(numbers + 8, tide_anchors_size(&f->anchors));
    tide_store_begin(writer, section);
    tide_store_append(writer, numbers, sizeof numbers);
    for (uint32_t i = 0; i < tide_predictor_size(p); i++) {
        unsigned char length = (unsigned char)strlen(f->texts[i]);
        tide_store_append(writer, &length, 1);
        tide_store_append(writer, f->texts[i], length);
    }
    tide_anchors_save(&f->anchors, writer);
    if (f->classifier)
        tide_classifier_save(f->classifier, writer);
}

static int corrupt(const tide_store *store, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                     tide_store_path(store), section);
}

static int load_names(tide_predictor *p, tide_store *store, tide_error *err)
{
    unsigned char numbers[NUMBERS_SIZE] = {0};
    int status = tide_store_read_at(store, section, 0, numbers, sizeof numbers, err);
    uint64_t at = sizeof numbers;
    for (uint32_t i = 0; i < tide_predictor_size(p) && !status; i++) {
        unsigned char length;
        char *text = p->fitted.texts[i];
        status = tide_store_read_at(store, section, at, &length, 1, err);
        if (!status && (!length || length > TIDE_WORD_MAX))
            status = corrupt(store, err);
        if (!status)
            status = tide_store_read_at(store, section, at + 1, text, length, err);
        if (!status && memchr(text, 0, length))
            status = corrupt(store, err);
        at += 1u + length;
    }
    if (!status && tide_store_size(store, section, err) != (int64_t)at)
        status = corrupt(store, err);
    uint64_t fits = tide_get64(numbers), anchors = tide_get64(numbers + 8);
    if (!status && (!fits || anchors > TIDE_CAPACITY_MAX))
        status = corrupt(store, err);
    if (!status)
        status = tide_anchors_load(&p->fitted.anchors, (uint32_t)anchors,
                                   p->model->shape.dim, store, err);
    p->fits = fits;
    return status;
}

/* Otherwise it is the bag that predicts. */
static bool has_network(const tide_store *store)
{
    return tide_store_has(store, "label.network");
}

int tide_predictor_peek(tide_store *store, uint64_t *fits, uint32_t *labels,
                        tide_error *err)
{
    unsigned char number[8] = {0};
    *fits = *labels = 0;
    if (!tide_store_has(store, section))
        return TIDE_OK;
    int64_t count = has_network(store) ? tide_classifier_labels(store, err)
                                       : tide_bag_saved_names(store, err);
    if (count < 0)
        return (int)count;
    *labels = (uint32_t)count;
    int status = tide_store_read_at(store, section, 0, number, sizeof number, err);
    *fits = tide_get64(number);
    return status;
}

int tide_predictor_load(tide_predictor *p, tide_store *store, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    if (!tide_store_has(store, section))
        return TIDE_OK;
    if (!has_network(store)) {
        int loaded = tide_predictor_load_bag(p, store, err);
        if (!loaded)
            loaded = load_names(p, store, err);
        if (loaded)
            tide_fitted_release(&p->fitted);
        return loaded;
    }
    tide_classifier *classifier = tide_classifier_load(store, err);
    if (!classifier)
        return (int)err->status;
    int status = tide_classifier_options_of(classifier)->dim == p->model->shape.dim
                     ? tide_fitted_init(&p->fitted, p->model, classifier, err)
                     : corrupt(store, err);
    if (status)
        tide_classifier_free(classifier);
    else
        status = load_names(p, store, err);
    if (status && p->fitted.classifier)
        tide_fitted_release(&p->fitted);
    return status;
}
