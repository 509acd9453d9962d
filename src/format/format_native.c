/* format_native.c - reads a native model as rows: its words in descending order of
 * count, with their input vectors. */
#include "format/format.h"
#include "model/model.h"

#include <stdlib.h>

typedef struct native {
    tide_model *model;
    tide_view *view;
    tide_entry *words;
} native;

static bool detect(const char *start, size_t size)
{
    return size >= 4 && !memcmp(start, "\x89TID", 4);
}

static void close_native(tide_rows *rows)
{
    native *n = rows->state;
    free(n->words);
    tide_view_free(n->view);
    tide_model_free(n->model);
    free(n);
}

static int open_native(tide_rows *rows, tide_error *err)
{
    int status = tide_rows_need_file(rows, err);
    if (status)
        return status;
    native *n = rows->state = tide_alloc(1, sizeof *n);
    if (!n)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", rows->path);
    tide_error load_error = {.status = TIDE_ERROR_MEMORY,
                             .text = "no memory to read a model"};
    n->model = tide_model_load(rows->path, &load_error);
    if (n->model)
        n->view = tide_view_new(n->model, TIDE_VECTORS_INPUT, false, &load_error);
    if (!n->view)
        return tide_fail(err, load_error.status, "%s", load_error.text);
    rows->params = tide_model_params(n->model);
    rows->count = tide_model_size(n->model);
    n->words = tide_alloc(rows->count + 1, sizeof *n->words);
    if (!n->words || tide_model_words(n->model, n->words, rows->count) != rows->count)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", rows->path);
    return tide_rows_set_dim(rows, tide_model_dim(n->model), err);
}

static int next_native(tide_rows *rows, tide_error *err)
{
    native *n = rows->state;
    (void)err;
    if (rows->rows_read == rows->count)
        return TIDE_ROW_END;
    const tide_entry *entry = &n->words[rows->rows_read];
    rows->word_count = entry->count;
    rows->word_error = entry->error;
    int result = tide_rows_set_word(rows, entry->word, strlen(entry->word));
    if (tide_view_vector(n->view, entry->word, rows->vector, NULL))
        result = TIDE_ROW_BAD; /* a word with a zero byte in it */
    return result;
}

const tide_format tide_format_native = {
    .detect = detect,
    .open = open_native,
    .next = next_native,
    .close = close_native,
};
