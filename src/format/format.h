/* format.h - what the formats of vector files share: the table to be written, buffered
 * reading, and the functions that make up a format. */
#ifndef TIDE_FORMAT_H
#define TIDE_FORMAT_H

#include "base/base.h"

#include <wordtide/formats.h>
#include <wordtide/tools.h>
#include <limits.h>

typedef struct tide_format tide_format;

/* -- number types (dtype.c) -------------------------------------------------------- */

typedef enum tide_dtype {
    TIDE_F32,
    TIDE_F16,
    TIDE_I8,  /* with a scale per row: the value is scale * byte */
    TIDE_F64, /* read only */
} tide_dtype;

size_t tide_dtype_size(tide_dtype dtype);

/* IEEE 754 half precision, rounded to nearest, ties to even. Overflow gives
 * infinity. */
uint16_t tide_half_from_float(float value);
float tide_half_to_float(uint16_t half);

/* `bytes` holds `dim` numbers of the dtype. The largest magnitude of an i8 row becomes
 * 127. */
void tide_encode(tide_dtype dtype, const float *vector, uint32_t dim,
                 unsigned char *bytes, float *scale);
void tide_decode(tide_dtype dtype, const unsigned char *bytes, uint32_t dim,
                 float scale, float *vector);

/* -- writing (format.c) ------------------------------------------------------------ */

/* The words to be written, in descending order of count, and the current row. */
typedef struct tide_table {
    int output_file; /* written to instead of a path, or -1 */
    const volatile sig_atomic_t *stop;
    tide_view *view;
    tide_entry *words; /* [count] */
    uint32_t count;
    uint32_t dim;
    tide_dtype dtype;
    float *vector;       /* [dim] current row */
    unsigned char *code; /* [dim] the same, encoded as dtype */
    float scale;
} tide_table;

/* The output of a format that writes a single file. */
tide_output *tide_table_output(const tide_table *table, const char *path,
                               tide_error *err);

/* Makes words[i] the current row: sets vector, code and scale. */
int tide_table_row(tide_table *table, uint32_t i, tide_error *err);

/* Writes the numbers of the current row as text, each preceded by `before`. Returns the
 * end. */
char *tide_put_numbers(char *target, const tide_table *table, char before);

/* Maximum bytes of a row of text: a word, a count and dim numbers. */
size_t tide_text_row_bytes(const tide_table *table);

/* Writes row i, the current one, to `to`. Returns the end. */
typedef char *tide_put_row(char *target, const tide_table *table, uint32_t i);

/* Writes a file that consists of `head` and all rows. */
int tide_write_rows(tide_table *table, const char *path, const char *head,
                    tide_put_row *put, tide_error *err);

/* Derives the path of a companion file: replaces the ending `old` by `ending`, or
 * appends `ending` if `path` ends differently. Returns false if the result is too
 * long. */
bool tide_path_sibling(const char *path, const char *old, const char *ending,
                       char sibling[PATH_MAX]);

/* -- reading: buffered files (cursor.c) ----------------------------------------- */

/* Buffer sizes: for a line of TIDE_DIM_MAX numbers; for a row of bytes or a word. */
#define TIDE_CURSOR_CAPACITY TIDE_SIZE(256 * 1024, 64 * 1024)
#define TIDE_PART_CAPACITY (64 * 1024)

typedef struct tide_cursor {
    const char *path; /* borrowed */
    int file;
    bool owns_file;      /* closes the file */
    tide_source *stream; /* instead of the file if that is not seekable, or NULL */
    bool at_end;
    char *bytes; /* [capacity + 1], followed by a 0 */
    size_t capacity;
    size_t at, size; /* bytes[at] to bytes[size - 1] are not consumed yet */
    uint64_t next;   /* file offset of bytes[size] */
    uint64_t end;    /* file offset where reading ends */
    uint64_t line;   /* lines consumed */
} tide_cursor;

/* "-", pipes and compressed files are read as streams. */
int tide_cursor_open(tide_cursor *c, const char *path, size_t capacity,
                     tide_error *err);

/* Size of the file in bytes; UINT64_MAX if unknown. */
uint64_t tide_cursor_length(const tide_cursor *c);

/* A cursor over a part of the same file, with a buffer of TIDE_PART_CAPACITY. `whole`
 * must outlive it. */
int tide_cursor_part(tide_cursor *c, const tide_cursor *whole, uint64_t begin,
                     uint64_t end, tide_error *err);
void tide_cursor_close(tide_cursor *c);

/* Reads until at least `want` <= capacity bytes are buffered or the file ends. Returns
 * the number of bytes buffered. */
ptrdiff_t tide_cursor_fill(tide_cursor *c, size_t want, tide_error *err);

/* Consumes a line and replaces its newline by a 0. Returns 1, or 0 at the end of the
 * file. */
int tide_cursor_line(tide_cursor *c, char **line, size_t *length, tide_error *err);

/* -- reading: rows (rows.c) -------------------------------------------------------- */

struct tide_rows {
    const tide_format *format;
    char *path; /* owned */
    tide_cursor cursor;
    uint32_t dim;
    uint64_t count;     /* rows according to the header; 0 without one */
    uint64_t rows_read; /* so far, including those skipped */
    uint64_t skipped;
    float *vector; /* [dim], allocated once dim is known */
    char word[TIDE_WORD_MAX + 1];
    uint32_t length;
    uint64_t word_count, word_error;
    const char *params; /* of a native model, or NULL */
    void *state;        /* private to the format */
};

enum { TIDE_ROW_END = 0, TIDE_ROW_GOOD = 1, TIDE_ROW_BAD = 2 };

/* Checks the dimension and allocates `vector`. */
int tide_rows_set_dim(tide_rows *rows, uint64_t dim, tide_error *err);

/* Fails if the file is too short for `count` rows of at least `min_bytes` each. */
int tide_rows_check_count(const tide_rows *rows, uint64_t min_bytes, tide_error *err);

/* Fails for streams: for formats that need random access. */
int tide_rows_need_file(const tide_rows *rows, tide_error *err);

/* Sets the word of the row. Returns TIDE_ROW_BAD if it is not a valid word. */
int tide_rows_set_word(tide_rows *rows, const char *bytes, size_t length);

/* Valid UTF-8 of 1 to TIDE_WORD_MAX bytes without a zero. */
bool tide_is_word(const char *bytes, size_t length);

/* -- text (format_text.c): shared by word2vec and GloVe ------------------ */

/* Whether the text starts with a header line "N D". */
bool tide_text_header(const char *start, size_t size, uint64_t *count, uint64_t *dim,
                      size_t *length);

/* The number of columns of a line, and how many of them at its end are numbers. */
typedef struct tide_columns {
    size_t count;
    size_t numbers;
} tide_columns;

tide_columns tide_text_columns(const char *line);

/* Whether the first line ends with at least `dim` numbers. */
bool tide_text_is_row(const char *start, uint64_t dim);

/* Whether the bytes, which may end within a character, are not text. */
bool tide_text_is_binary(const char *bytes, size_t size);

/* Reads the next row of text. */
int tide_text_next(tide_rows *rows, tide_error *err);

/* -- the table (format.c) ---------------------------------------------------------- */

struct tide_format {
    /* Writing. `write` is NULL for a read-only format. `holds` says whether the format
     * can represent a word; NULL if it can represent any. */
    bool (*holds)(const char *word);
    int (*write)(tide_table *table, const char *path, tide_error *err);

    /* Reading. `open` is NULL for a write-only format. `start` is followed by a 0.
     * `next` returns TIDE_ROW_... or a negative status. `close` may be NULL. */
    bool (*detect)(const char *start, size_t size);
    int (*open)(tide_rows *rows, tide_error *err);
    int (*next)(tide_rows *rows, tide_error *err);
    void (*close)(tide_rows *rows);
};

/* A format by its name or its index; NULL if there is no such format. */
const tide_format *tide_format_find(const char *name, const tide_format_info **info);
const tide_format *tide_format_at(size_t index, const tide_format_info **info);

extern const tide_format tide_format_native, tide_format_safetensors, tide_format_npy,
    tide_format_word2vec_binary, tide_format_word2vec, tide_format_glove,
    tide_format_projector, tide_format_pgvector, tide_format_sqlite;

#endif
