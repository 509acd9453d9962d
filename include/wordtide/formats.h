/* wordtide/formats.h - vectors in the formats of other programs: word2vec, GloVe,
 * NumPy, safetensors and others. The conventions are those of wordtide.h. */
#ifndef WORDTIDE_FORMATS_H
#define WORDTIDE_FORMATS_H

#include <wordtide.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tide_format_info {
    const char *name; /* as in --format */
    const char *help;
    /* "f32|f16|i8": the number types it can hold, the default first */
    const char *dtypes;
    /* of its file name, such as ".vec"; NULL for a format that cannot be written to a
     * pipe or an open file */
    const char *ending;
    bool reads, writes;
} tide_format_info;

/* All formats; *count becomes their number. */
TIDE_API const tide_format_info *tide_formats(size_t *count);

/* -- export ------------------------------------------------------------------------ */

typedef struct tide_export {
    const char *format; /* required: a name of tide_formats */
    const char *dtype;  /* NULL: the format's first */
    tide_vectors vectors;
    bool centered;
    uint32_t top; /* only the most frequent words; 0 for all */
    const volatile sig_atomic_t
        *stop; /* fails after the current word if not 0; or NULL */
} tide_export;

typedef struct tide_exported {
    uint64_t words;
    uint64_t left_out; /* words that the format cannot represent */
} tide_exported;

/* Writes the words by descending count. The file is replaced atomically. A format with
 * several files appends to the path and replaces them one by one once all are written,
 * so a crash in between may leave new files beside old ones. "-" is standard output,
 * for formats with one file. */
TIDE_API int tide_model_export(const tide_model *model, const tide_export *how,
                               const char *path, tide_exported *done, tide_error *err);

/* Likewise to an open file at its current offset, for formats with an ending. */
TIDE_API int tide_model_export_open(const tide_model *model, const tide_export *how,
                                    int file, tide_exported *done, tide_error *err);

/* -- reading rows ------------------------------------------------------------------ */

/* The rows of a file of vectors, one after the other. */
typedef struct tide_rows tide_rows;

typedef struct tide_row {
    const char *word; /* zero-terminated */
    uint32_t length;
    const float *vector; /* [dim] */
    uint64_t count;      /* 0 if the file has no counts */
    uint64_t error;      /* count - error is a lower bound on the true count */
} tide_row;

/* `format` NULL: detected from the contents. The path may be "-" for standard input, a
 * pipe, or a compressed file, for formats that are read from beginning to end. */
TIDE_API tide_rows *tide_rows_open(const char *path, const char *format,
                                   tide_error *err);
TIDE_API void tide_rows_close(tide_rows *rows);
TIDE_API const char *tide_rows_format(const tide_rows *rows);
TIDE_API uint32_t tide_rows_dim(const tide_rows *rows);
TIDE_API uint64_t tide_rows_count(const tide_rows *rows); /* 0 if unknown */

/* As tide_model_params if the file is a model; otherwise "". */
TIDE_API const char *tide_rows_params(const tide_rows *rows);

/* The next row, valid until the following call; returns 1, or 0 at the end. Rows with
 * an invalid word (not UTF-8, empty, too long) or a NaN or infinity are skipped and
 * counted. */
TIDE_API int tide_rows_next(tide_rows *rows, tide_row *row, tide_error *err);
TIDE_API uint64_t tide_rows_left_out(const tide_rows *rows);

/* -- import ------------------------------------------------------------------------ */

typedef struct tide_imported {
    uint64_t words;
    uint64_t left_out;        /* rows whose word or vector is invalid */
    uint64_t duplicates;      /* rows for words that already had one */
    uint64_t beyond_capacity; /* words beyond the capacity of the vocabulary */
    uint64_t uncounted;       /* words missing from the file `counts` */
} tide_imported;

/* Starts a stream from vectors trained elsewhere, in a trainer that has not been
 * trained and has the same dimension. A word gets the count in the file of vectors, or
 * in the file `counts` ("word count" lines, or NULL; 1 for words not listed), or one
 * that falls with its rank. Words are added in file order, keep their vectors, and move
 * as little as words seen that often. After a failure the trainer may hold some of the
 * words and can only be freed. */
TIDE_API int tide_trainer_import(tide_trainer *trainer, tide_rows *rows,
                                 const char *counts, tide_imported *done,
                                 tide_error *err);

#ifdef __cplusplus
}
#endif

#endif
