/* open.c - opens a file of vectors of any format as a model.
 *
 * A native model is loaded. Any other file is read row by row into an exact vocabulary
 * and a matrix of input vectors; it has no output vectors, parameters or n-grams. The
 * number of rows in a header is trusted only if the file is long enough for them.
 * Otherwise the model grows by doubling: the words are inserted again in the same
 * order, so that they keep their slots.
 *
 * Most formats have no counts. Then every word gets a count of 1, the order of the file
 * is the order of the slots, and the model is marked as `uncounted`, so that these
 * counts are not reported.
 */
#include "format/format.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INITIAL_CAPACITY = 4096, MAGIC_BYTES = 4 };

/* -- growing ----------------------------------------------------------------------- */

/* Doubles the capacity of the model. On failure returns false and leaves it
 * unchanged. */
static bool grow(tide_model **model, const char *path, tide_error *err)
{
    tide_model *old = *model;
    uint32_t used = tide_vocabulary_used(old->vocabulary), length;
    if (used > TIDE_CAPACITY_MAX / 2) {
        tide_fail(err, TIDE_ERROR_FORMAT, "%s: more than %u words", path, used);
        return false;
    }
    tide_model *larger = tide_model_new_plain(2 * used, old->shape.dim, err);
    if (!larger)
        return false;
    larger->origin = old->origin;
    for (uint32_t slot = 0; slot < used; slot++) {
        const char *word = tide_vocabulary_word(old->vocabulary, slot, &length);
        tide_model_insert(larger, word, length,
                          tide_vocabulary_count(old->vocabulary, slot),
                          tide_vocabulary_error(old->vocabulary, slot));
    }
    memcpy(larger->input.rows, old->input.rows,
           tide_matrix_bytes(used, old->shape.dim));
    tide_model_free(old);
    *model = larger;
    return true;
}

/* -- rows -------------------------------------------------------------------------- */

static bool is_held(const tide_model *model, const tide_row *row)
{
    tide_entry entry;
    return tide_model_find(model, row->word, &entry, NULL) == TIDE_OK;
}

static int add_row(tide_model **model, const tide_row *row, const char *path,
                   tide_error *err)
{
    if (is_held(*model, row)) {
        (*model)->origin.duplicates++;
        return TIDE_OK;
    }
    uint32_t used = tide_vocabulary_used((*model)->vocabulary);
    if (used == 0)
        (*model)->origin.uncounted = row->count == 0;
    if (used == (*model)->input.count && !grow(model, path, err))
        return TIDE_ERROR_MEMORY;
    bool counted = !(*model)->origin.uncounted && row->count;
    uint32_t slot =
        tide_model_insert(*model, row->word, row->length, counted ? row->count : 1,
                          counted ? row->error : 1);
    if (slot == TIDE_NO_SLOT)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: count of '%s' is too large", path,
                         row->word);
    memcpy(tide_matrix_row(&(*model)->input, slot), row->vector,
           (*model)->shape.dim * sizeof *row->vector);
    return TIDE_OK;
}

static tide_model *read_rows(tide_rows *rows, tide_error *err)
{
    bool count_is_reliable = rows->count && !rows->cursor.stream;
    tide_model *model = tide_model_new_plain(
        count_is_reliable ? (uint32_t)rows->count : INITIAL_CAPACITY, rows->dim, err);
    tide_row row;
    int result = model ? 1 : TIDE_ERROR_MEMORY;
    while (result > 0 && (result = tide_rows_next(rows, &row, err)) > 0)
        if (add_row(&model, &row, rows->path, err))
            result = TIDE_ERROR_MEMORY;
    if (result < 0) {
        tide_model_free(model);
        return NULL;
    }
    model->origin.format = tide_rows_format(rows);
    model->origin.left_out = tide_rows_left_out(rows);
    model->shape.vocabulary.capacity = tide_model_size(model);
    return model;
}

/* -- opening ----------------------------------------------------------------------- */

/* Checks the magic number of regular files only: peeking at a pipe would consume bytes,
 * and closing it would disconnect its writer. */
static bool is_native(const char *path)
{
    char start[MAGIC_BYTES];
    struct stat info;
    bool regular =
        strcmp(path, "-") != 0 && !stat(path, &info) && S_ISREG(info.st_mode);
    int file = regular ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    bool read = pread(file, start, sizeof start, 0) == sizeof start;
    close(file);
    return read && tide_format_native.detect(start, sizeof start);
}

tide_model *tide_model_open(const char *path, tide_error *err)
{
    if (is_native(path))
        return tide_model_load(path, err);
    tide_rows *rows = tide_rows_open(path, NULL, err);
    tide_model *model = rows ? read_rows(rows, err) : NULL;
    tide_rows_close(rows);
    return model;
}

const tide_origin *tide_model_origin(const tide_model *model)
{
    static const tide_origin native = {.format = "tide"};
    return model->origin.format ? &model->origin : &native;
}
