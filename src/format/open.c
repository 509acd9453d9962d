/* open.c - any file of vectors as a model.
 *
 * A file of ours is loaded. Any other is read row by row into a vocabulary that holds every word and
 * a matrix of input vectors; contexts, parameters and n-grams it has none. How many rows there are
 * is believed only where the length of the file backs it. Otherwise the model grows by doubling, its
 * words granted again in the same order, so that they keep their slots.
 *
 * Most formats do not tell counts. Then every word is granted once, and slots tell the order; the
 * model is marked as `uncounted`, and nobody is told those counts.
 */
#include "format/format.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_ROOM = 4096, MARK = 4 };

/* -- room ------------------------------------------------------------------------------------------- */

/* Makes the model twice as large; false, and the model as it was, when that cannot be. */
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

/* -- rows ------------------------------------------------------------------------------------------- */

static bool is_held(const tide_model *model, const tide_row *row)
{
    tide_entry entry;
    return tide_model_find(model, row->word, &entry, NULL) == TIDE_OK;
}

static int take_row(tide_model **model, const tide_row *row, const char *path,
                    tide_error *err)
{
    if (is_held(*model, row)) {
        (*model)->origin.twice++;
        return TIDE_OK;
    }
    uint32_t used = tide_vocabulary_used((*model)->vocabulary);
    if (used == 0)
        (*model)->origin.uncounted = row->count == 0;
    if (used == (*model)->input.count && !grow(model, path, err))
        return TIDE_ERROR_MEMORY;
    bool told = !(*model)->origin.uncounted && row->count;
    uint32_t slot = tide_model_insert(*model, row->word, row->length,
                                      told ? row->count : 1, told ? row->error : 1);
    if (slot == TIDE_NO_SLOT)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the count of '%s' is too large",
                         path, row->word);
    memcpy(tide_matrix_row(&(*model)->input, slot), row->vector,
           (*model)->shape.dim * sizeof *row->vector);
    return TIDE_OK;
}

static tide_model *read_rows(tide_rows *rows, tide_error *err)
{
    bool backed = rows->count && !rows->cursor.stream;
    tide_model *model = tide_model_new_plain(
        backed ? (uint32_t)rows->count : FIRST_ROOM, rows->dim, err);
    tide_row row;
    int got = model ? 1 : TIDE_ERROR_MEMORY;
    while (got > 0 && (got = tide_rows_next(rows, &row, err)) > 0)
        if (take_row(&model, &row, rows->path, err))
            got = TIDE_ERROR_MEMORY;
    if (got < 0) {
        tide_model_free(model);
        return NULL;
    }
    model->origin.format = tide_rows_format(rows);
    model->origin.left_out = tide_rows_left_out(rows);
    model->shape.vocabulary.capacity = tide_model_size(model);
    return model;
}

/* -- opening ---------------------------------------------------------------------------------------- */

/* A pipe is not looked into: what is read of it is gone, and who writes it would see it close. */
static bool is_native(const char *path)
{
    char start[MARK];
    struct stat about;
    bool plain =
        strcmp(path, "-") != 0 && !stat(path, &about) && S_ISREG(about.st_mode);
    int file = plain ? open(path, O_RDONLY | O_CLOEXEC) : -1;
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

tide_origin tide_model_origin(const tide_model *model)
{
    tide_origin origin = model->origin;
    if (!origin.format)
        origin.format = "tide";
    return origin;
}
