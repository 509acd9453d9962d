/* format.c - the table of formats, and what writing them has in common.
 *
 * An export is a table: the words by falling count, as far as the format can hold them,
 * and a way of looking at the model that gives each its vector. The format gets it with
 * a path and writes its file or files through tide_output, so that nobody ever finds
 * half of one.
 */
#include "format/format.h"

#include "file/file.h"
#include "model/model.h"
#include "vector/vector.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef TIDE_SQLITE
#define SQLITE(FORMAT)                                                                 \
    FORMAT(sqlite, "sqlite", "a SQLite table words", "f32", NULL, 0, 1)
#else
#define SQLITE(FORMAT)
#endif

/* One line a format: its functions, name, help, dtypes, ending, whether it reads, whether
 * it writes. Detection asks them in this order. */
#define FORMATS(FORMAT)                                                                \
    FORMAT(native, "tide", "a model of wordtide's own", "f32", NULL, 1, 0)             \
    FORMAT(safetensors, "safetensors", "tensors embeddings, counts and words",         \
           "f32|f16|i8", ".safetensors", 1, 1)                                         \
    FORMAT(npy, "npy", "a NumPy array NAME.npy, and NAME.words.tsv beside it",         \
           "f32|f16|i8", NULL, 1, 1)                                                   \
    FORMAT(word2vec_binary, "word2vec-binary", "word2vec's .bin", "f32", ".bin", 1, 1) \
    FORMAT(word2vec, "word2vec", "text as of word2vec, gensim and fastText's .vec",    \
           "f32", ".vec", 1, 1)                                                        \
    FORMAT(glove, "glove", "the same without its first line", "f32", ".txt", 1, 1)     \
    FORMAT(projector, "projector",                                                     \
           "TensorBoard's: OUT_vectors.tsv, OUT_metadata.tsv, OUT_config.json", "f32", \
           NULL, 0, 1)                                                                 \
    FORMAT(pgvector, "pgvector", "lines for COPY of PostgreSQL with pgvector", "f32",  \
           ".tsv", 0, 1)                                                               \
    SQLITE(FORMAT)

#define INFO(id, name, help, dtypes, ending, reads, writes)                            \
    {name, help, dtypes, ending, reads, writes},
#define FUNCTIONS(id, name, help, dtypes, ending, reads, writes) &tide_format_##id,

static const tide_format_info infos[] = {FORMATS(INFO)};
static const tide_format *const formats[] = {FORMATS(FUNCTIONS)};

enum { COUNT = sizeof infos / sizeof *infos };

const tide_format_info *tide_formats(size_t *count)
{
    *count = COUNT;
    return infos;
}

const tide_format *tide_format_at(size_t index, const tide_format_info **info)
{
    if (index >= COUNT)
        return NULL;
    *info = &infos[index];
    return formats[index];
}

const tide_format *tide_format_find(const char *name, const tide_format_info **info)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(infos[i].name, name))
            return tide_format_at(i, info);
    return NULL;
}

/* -- rows -------------------------------------------------------------------------- */

static int does_not_fit(const tide_table *table, uint32_t i, const char *what,
                        tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_PARAMETER, "the vector of '%s' has a number %s",
                     table->words[i].word, what);
}

tide_output *tide_table_output(const tide_table *table, const char *path,
                               tide_error *err)
{
    return table->open_file < 0 ? tide_output_create(path, err)
                                : tide_output_open(table->open_file, err);
}

int tide_table_row(tide_table *table, uint32_t i, tide_error *err)
{
    if (table->stop && __atomic_load_n(table->stop, __ATOMIC_RELAXED))
        return tide_fail(err, TIDE_ERROR_IO, "the export was stopped");
    int status =
        tide_view_vector(table->space, table->words[i].word, table->vector, err);
    if (status)
        return status;
    for (uint32_t d = 0; d < table->dim; d++) {
        if (!tide_finite(table->vector[d]))
            return does_not_fit(table, i, "that is not finite", err);
        if (table->dtype == TIDE_F16 &&
            !tide_finite(tide_half_to(tide_half_from(table->vector[d]))))
            return does_not_fit(table, i, "that is too large for f16", err);
    }
    tide_encode(table->dtype, table->vector, table->dim, table->code, &table->scale);
    return TIDE_OK;
}

char *tide_put_numbers(char *to, const tide_table *table, char before)
{
    for (uint32_t d = 0; d < table->dim; d++) {
        *to++ = before;
        to += tide_decimal_write(table->vector[d], to);
    }
    return to;
}

size_t tide_text_room(const tide_table *table)
{
    enum { AROUND = 2 * TIDE_WORD_MAX + 64 };
    return AROUND + table->dim * (size_t)(TIDE_DECIMAL_MAX + 1);
}

_Static_assert(2 * TIDE_WORD_MAX + 64 + TIDE_DIM_MAX * (TIDE_DECIMAL_MAX + 1) <=
                   TIDE_OUTPUT_ROOM,
               "a row of text has room in the buffer");

bool tide_path_beside(const char *path, const char *old, const char *ending,
                      char beside[PATH_MAX])
{
    size_t length = strlen(path), cut = strlen(old);
    if (length > cut && !strcmp(path + length - cut, old))
        length -= cut;
    if (length + strlen(ending) >= PATH_MAX)
        return false;
    memcpy(beside, path, length);
    memcpy(beside + length, ending, strlen(ending) + 1);
    return true;
}

/* -- export ------------------------------------------------------------------------ */

/* The dtype by its name, which must be among the format's. */
static int find_dtype(const tide_format_info *info, const char *name, tide_dtype *dtype,
                      tide_error *err)
{
    static const char *const names[] = {
        [TIDE_F32] = "f32", [TIDE_F16] = "f16", [TIDE_I8] = "i8"};
    *dtype = TIDE_F32; /* the first of every format */
    if (!name)
        return TIDE_OK;
    size_t length = strlen(name);
    for (const char *at = info->dtypes; *at;) {
        size_t item = strcspn(at, "|");
        for (size_t i = 0; i < 3; i++)
            if (item == length && !strncmp(at, name, item) && !strcmp(names[i], name)) {
                *dtype = (tide_dtype)i;
                return TIDE_OK;
            }
        at += item + (at[item] == '|');
    }
    return tide_fail(err, TIDE_ERROR_PARAMETER, "the format %s holds %s, not '%s'",
                     info->name, info->dtypes, name);
}

/* Words that cannot be asked for by their bytes are none. */
static bool can_write(const tide_model *model, const tide_format *format,
                      const tide_entry *entry)
{
    tide_entry found;
    return tide_is_word(entry->word, strlen(entry->word)) &&
           (!format->holds || format->holds(entry->word)) &&
           tide_model_find(model, entry->word, &found, NULL) == TIDE_OK &&
           found.slot == entry->slot;
}

/* The words that are written, and the number of those that are not. */
static void choose_words(tide_table *table, const tide_model *model,
                         const tide_format *format, uint32_t top,
                         tide_exported *exported)
{
    size_t count = tide_model_words(model, table->words, tide_model_size(model));
    if (top && count > top)
        count = top;
    for (size_t i = 0; i < count; i++)
        if (can_write(model, format, &table->words[i]))
            table->words[table->count++] = table->words[i];
    *exported = (tide_exported){table->count, count - table->count};
}

static int write_table(const tide_model *model, const tide_export *how,
                       const tide_format *format, tide_table *table, const char *path,
                       tide_exported *exported, tide_error *err)
{
    uint32_t size = tide_model_size(model);
    table->dim = tide_model_dim(model);
    table->words = tide_alloc(size + 1, sizeof *table->words);
    table->vector = tide_alloc(table->dim, sizeof *table->vector);
    table->code = tide_alloc(table->dim, tide_dtype_size(table->dtype));
    if (!table->words || !table->vector || !table->code)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to write %u words", size);
    table->space = tide_view_new(model, how->vectors, how->centered, err);
    if (!table->space)
        return TIDE_ERROR_MEMORY;
    choose_words(table, model, format, how->top, exported);
    if (exported->words + exported->left_out == 0 && size > 0)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to write %u words", size);
    return format->write(table, path, err);
}

/* To the path, or to the open file where that is not -1. */
static int export_either(const tide_model *model, const tide_export *how,
                         const char *path, int file, tide_exported *done,
                         tide_error *err)
{
    const tide_format_info *info;
    const tide_format *format = tide_format_find(how->format, &info);
    if (!format)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "'%s' is not a format",
                         how->format);
    if (!format->write)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "the format %s cannot be exported",
                         how->format);
    if (!info->ending && file >= 0)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the format %s needs a path, not %s", how->format,
                         file == STDOUT_FILENO ? "standard output" : "an open file");
    tide_table table = {.open_file = file, .stop = how->stop};
    tide_exported exported = {0};
    int status = find_dtype(info, how->dtype, &table.dtype, err);
    if (!status)
        status = write_table(model, how, format, &table, path, &exported, err);
    if (!status && done)
        *done = exported;
    int kept = errno; /* for a caller who wants to know why a write failed */
    tide_view_free(table.space);
    free(table.words);
    free(table.vector);
    free(table.code);
    errno = kept;
    return status;
}

int tide_model_export(const tide_model *model, const tide_export *how, const char *path,
                      tide_exported *done, tide_error *err)
{
    int file = strcmp(path, "-") ? -1 : STDOUT_FILENO;
    return export_either(model, how, path, file, done, err);
}

int tide_model_export_open(const tide_model *model, const tide_export *how, int file,
                           tide_exported *done, tide_error *err)
{
    return export_either(model, how, "", file, done, err);
}
