/* format.c - the table of formats, and what they share for writing.
 *
 * An export passes the format a tide_table: the words that the format can represent, in
 * descending order of count, and a view of the model that provides their vectors. The
 * format writes its file or files through tide_output, so a failed export never leaves
 * a partial file behind.
 */
#include "format/format.h"

#include "file/file.h"
#include "model/model.h"
#include "vector/vector.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef TIDE_SQLITE
#define SQLITE_FORMAT(FORMAT)                                                          \
    FORMAT(sqlite, "sqlite", "a SQLite database with a table named words", "f32",      \
           NULL, 0, 1)
#else
#define SQLITE_FORMAT(FORMAT)
#endif

/* One line per format: its functions, name, help, dtypes, file name ending, whether it
 * can be read, whether it can be written. Detection tries them in this order. */
#define FORMATS(FORMAT)                                                                \
    FORMAT(native, "tide", "a native wordtide model", "f32", NULL, 1, 0)               \
    FORMAT(safetensors, "safetensors", "tensors named embeddings, counts and words",   \
           "f32|f16|i8", ".safetensors", 1, 1)                                         \
    FORMAT(npy, "npy", "a NumPy array NAME.npy, with its words in NAME.words.tsv",     \
           "f32|f16|i8", NULL, 1, 1)                                                   \
    FORMAT(word2vec_binary, "word2vec-binary", "binary file of word2vec", "f32",       \
           ".bin", 1, 1)                                                               \
    FORMAT(word2vec, "word2vec", "text file of word2vec, gensim and fastText (.vec)",  \
           "f32", ".vec", 1, 1)                                                        \
    FORMAT(glove, "glove", "the same without the header line", "f32", ".txt", 1, 1)    \
    FORMAT(projector, "projector",                                                     \
           "TensorBoard: OUT_vectors.tsv, OUT_metadata.tsv, OUT_config.json", "f32",   \
           NULL, 0, 1)                                                                 \
    FORMAT(pgvector, "pgvector", "input for COPY in PostgreSQL with pgvector", "f32",  \
           ".tsv", 0, 1)                                                               \
    SQLITE_FORMAT(FORMAT)

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

static int bad_value(const tide_table *table, uint32_t i, const char *what,
                     tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "the vector of '%s' has a value that is %s", table->words[i].word,
                     what);
}

tide_output *tide_table_output(const tide_table *table, const char *path,
                               tide_error *err)
{
    return table->output_file < 0 ? tide_output_create(path, err)
                                  : tide_output_open(table->output_file, err);
}

int tide_table_row(tide_table *table, uint32_t i, tide_error *err)
{
    if (table->stop && __atomic_load_n(table->stop, __ATOMIC_RELAXED))
        return tide_fail(err, TIDE_ERROR_IO, "export was stopped");
    int status =
        tide_view_vector(table->view, table->words[i].word, table->vector, err);
    if (status)
        return status;
    for (uint32_t d = 0; d < table->dim; d++) {
        if (!tide_finite(table->vector[d]))
            return bad_value(table, i, "not finite", err);
        if (table->dtype == TIDE_F16 &&
            !tide_finite(tide_half_to_float(tide_half_from_float(table->vector[d]))))
            return bad_value(table, i, "too large for f16", err);
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

size_t tide_text_row_bytes(const tide_table *table)
{
    enum { AROUND = 2 * TIDE_WORD_MAX + 64 };
    return AROUND + table->dim * (size_t)(TIDE_DECIMAL_MAX + 1);
}

_Static_assert(2 * TIDE_WORD_MAX + 64 + TIDE_DIM_MAX * (TIDE_DECIMAL_MAX + 1) <=
                   TIDE_OUTPUT_BUFFER,
               "a row of text fits the buffer");

bool tide_path_sibling(const char *path, const char *old, const char *ending,
                       char sibling[PATH_MAX])
{
    size_t length = strlen(path), old_length = strlen(old);
    if (length > old_length && !strcmp(path + length - old_length, old))
        length -= old_length;
    if (length + strlen(ending) >= PATH_MAX)
        return false;
    memcpy(sibling, path, length);
    memcpy(sibling + length, ending, strlen(ending) + 1);
    return true;
}

/* -- export ------------------------------------------------------------------------ */

/* Finds a dtype by its name, which must be one that the format supports. */
static int find_dtype(const tide_format_info *info, const char *name, tide_dtype *dtype,
                      tide_error *err)
{
    static const char *const names[] = {
        [TIDE_F32] = "f32", [TIDE_F16] = "f16", [TIDE_I8] = "i8"};
    *dtype = TIDE_F32; /* every format supports it */
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
    return tide_fail(err, TIDE_ERROR_PARAMETER, "format %s holds %s, not '%s'",
                     info->name, info->dtypes, name);
}

/* Whether the word can be exported: the format can represent it, and it is found by its
 * own bytes, which is not so for a word with a 0 in it. */
static bool can_write(const tide_model *model, const tide_format *format,
                      const tide_entry *entry)
{
    tide_entry found;
    return tide_is_word(entry->word, strlen(entry->word)) &&
           (!format->holds || format->holds(entry->word)) &&
           tide_model_find(model, entry->word, &found, NULL) == TIDE_OK &&
           found.slot == entry->slot;
}

/* Selects the words to export, and counts those written and left out. */
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

static int write_table(const tide_model *model, const tide_export *options,
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
    table->view = tide_view_new(model, options->vectors, options->centered, err);
    if (!table->view)
        return TIDE_ERROR_MEMORY;
    choose_words(table, model, format, options->top, exported);
    if (exported->words + exported->left_out == 0 && size > 0)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to write %u words", size);
    return format->write(table, path, err);
}

/* Exports to the open file, or to the path if `file` is -1. */
static int export_to(const tide_model *model, const tide_export *options,
                     const char *path, int file, tide_exported *result, tide_error *err)
{
    const tide_format_info *info;
    const tide_format *format = tide_format_find(options->format, &info);
    if (!format)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "unknown format '%s'",
                         options->format);
    if (!format->write)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "format %s cannot be exported",
                         options->format);
    if (!info->ending && file >= 0)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "format %s needs a path, not %s",
                         options->format,
                         file == STDOUT_FILENO ? "standard output" : "an open file");
    tide_table table = {.output_file = file, .stop = options->stop};
    tide_exported exported = {0};
    int status = find_dtype(info, options->dtype, &table.dtype, err);
    if (!status)
        status = write_table(model, options, format, &table, path, &exported, err);
    if (!status && result)
        *result = exported;
    int saved_errno = errno; /* shows the caller why a write failed */
    tide_view_free(table.view);
    free(table.words);
    free(table.vector);
    free(table.code);
    errno = saved_errno;
    return status;
}

int tide_model_export(const tide_model *model, const tide_export *options,
                      const char *path, tide_exported *result, tide_error *err)
{
    int file = strcmp(path, "-") ? -1 : STDOUT_FILENO;
    return export_to(model, options, path, file, result, err);
}

int tide_model_export_open(const tide_model *model, const tide_export *options,
                           int file, tide_exported *result, tide_error *err)
{
    return export_to(model, options, "", file, result, err);
}
