/* format.h - what the formats of vectors share: the words to be written, the place in a
 * file that is read, and the functions that make a format. Private to the module. */
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
    TIDE_I8,  /* with a scale a row: the number is scale * byte */
    TIDE_F64, /* read only */
} tide_dtype;

size_t tide_dtype_size(tide_dtype dtype);

/* To the nearest, ties to even, as IEEE 754 has it; too large becomes infinite. */
uint16_t tide_half_from(float value);
float tide_half_to(uint16_t half);

/* `bytes` has room for dim numbers. The largest magnitude of an i8 row becomes 127. */
void tide_encode(tide_dtype dtype, const float *vector, uint32_t dim,
                 unsigned char *bytes, float *scale);
void tide_decode(tide_dtype dtype, const unsigned char *bytes, uint32_t dim,
                 float scale, float *vector);

/* -- writing (format.c) ------------------------------------------------------------ */

/* What is to be written: words by falling count. */
typedef struct tide_table {
    int open_file; /* that it goes to, instead of a path; -1 without */
    const volatile sig_atomic_t *stop;
    tide_view *space;
    tide_entry *words; /* [count] */
    uint32_t count;
    uint32_t dim;
    tide_dtype dtype;
    float *vector;       /* [dim]: of the word that was asked for last */
    unsigned char *code; /* [dim]: the same in the dtype */
    float scale;
} tide_table;

/* Where a format of one file writes. */
tide_output *tide_table_output(const tide_table *table, const char *path,
                               tide_error *err);

/* Looks up vector, code and scale of words[i]. */
int tide_table_row(tide_table *table, uint32_t i, tide_error *err);

/* "word 1.5 -2 ...", with this before every number; returns where it ends. */
char *tide_put_numbers(char *to, const tide_table *table, char before);

/* Room for a row of text: a word, a count and dim numbers. */
size_t tide_text_room(const tide_table *table);

/* Writes row i, which is in the table's `code`, at `to`; returns where it ends. */
typedef char *tide_put_row(char *to, const tide_table *table, uint32_t i);

/* Writes a file of `head` and all rows. */
int tide_write_rows(tide_table *table, const char *path, const char *head,
                    tide_put_row *put, tide_error *err);

/* The path of a file that belongs to another: `ending` takes the place of `old`, or is
 * added. False when it does not fit. */
bool tide_path_beside(const char *path, const char *old, const char *ending,
                      char beside[PATH_MAX]);

/* -- reading: a place in a file (cursor.c) ----------------------------------------- */

/* For any line of TIDE_DIM_MAX numbers; for any row of bytes, and any word. */
#define TIDE_CURSOR_ROOM TIDE_ROOM(256 * 1024, 64 * 1024)
#define TIDE_PART_ROOM (64 * 1024)

typedef struct tide_cursor {
    const char *path; /* borrowed */
    int file;
    bool owns; /* and closes the file */
    tide_source
        *stream; /* instead of the file, where it can only be read on; or NULL */
    bool ended;
    char *bytes; /* [room + 1] */
    size_t room;
    size_t at,
        size;      /* bytes[at] to bytes[size - 1] have been read and not been taken */
    uint64_t next; /* place in the file of bytes[size] */
    uint64_t end;  /* of the part of the file that is read */
    uint64_t line; /* lines taken */
} tide_cursor;

/* "-", a pipe and a compressed file are streams. */
int tide_cursor_open(tide_cursor *c, const char *path, size_t room, tide_error *err);

/* Bytes in the file; UINT64_MAX when they are not known. */
uint64_t tide_cursor_length(const tide_cursor *c);

/* Another one over a part of the same file, which must be open as long; it has the
 * smaller room. */
int tide_cursor_part(tide_cursor *c, const tide_cursor *whole, uint64_t begin,
                     uint64_t end, tide_error *err);
void tide_cursor_close(tide_cursor *c);

/* Reads until `want` <= room bytes are there or the file ends; returns how many are. */
ptrdiff_t tide_cursor_fill(tide_cursor *c, size_t want, tide_error *err);

/* Takes a line, its end replaced by a 0; returns 1, and 0 at the end of the file. */
int tide_cursor_line(tide_cursor *c, char **line, size_t *length, tide_error *err);

/* -- reading: rows (rows.c) -------------------------------------------------------- */

struct tide_rows {
    const tide_format *format;
    char *path; /* owned */
    tide_cursor cursor;
    uint32_t dim;
    uint64_t count;    /* that the file promises; 0 when it does not */
    uint64_t taken;    /* rows taken so far, those left out included */
    uint64_t left_out; /* of them */
    float *vector;     /* [dim], made once the dim is known */
    char word[TIDE_WORD_MAX + 1];
    uint32_t length;
    uint64_t word_count, word_error;
    const char *params; /* of a model; NULL */
    void *state;        /* the format's own */
};

enum { TIDE_ROW_END = 0, TIDE_ROW_GOOD = 1, TIDE_ROW_BAD = 2 };

/* The dim must be right for `vector` to be made. */
int tide_rows_set_dim(tide_rows *rows, uint64_t dim, tide_error *err);

/* Refuses a number of rows for which the file is too short, each having at least so
 * many bytes. */
int tide_rows_check_count(const tide_rows *rows, uint64_t least_bytes, tide_error *err);

/* Refuses what can only be read on: for formats that look about in their files. */
int tide_rows_need_file(const tide_rows *rows, tide_error *err);

/* Keeps the word; TIDE_ROW_BAD when it cannot be one. */
int tide_rows_set_word(tide_rows *rows, const char *bytes, size_t length);

/* Valid UTF-8 of 1 to TIDE_WORD_MAX bytes without a zero. */
bool tide_is_word(const char *bytes, size_t length);

/* -- text (format_text.c): what word2vec and GloVe have in common ------------------ */

/* Whether the text begins with the line "N D". */
bool tide_text_header(const char *start, size_t size, uint64_t *count, uint64_t *dim,
                      size_t *length);

/* How many columns the line has, and how many numbers are at its end. */
typedef struct tide_columns {
    size_t count;
    size_t numbers;
} tide_columns;

tide_columns tide_text_columns(const char *line);

/* Whether the first line ends with at least `dim` numbers. */
bool tide_text_is_row(const char *start, uint64_t dim);

/* Whether these bytes, which may end within a character, are no text. */
bool tide_text_is_binary(const char *bytes, size_t size);

/* The next row of text. */
int tide_text_next(tide_rows *rows, tide_error *err);

/* -- the table (format.c) ---------------------------------------------------------- */

struct tide_format {
    /* Writing. A format that only reads has no `write`. */
    bool (*holds)(const char *word); /* NULL: any word */
    int (*write)(tide_table *table, const char *path, tide_error *err);

    /* Reading. A format that only writes has no `open`. */
    bool (*detect)(const char *start, size_t size); /* with a 0 after the start */
    int (*open)(tide_rows *rows, tide_error *err);
    int (*next)(tide_rows *rows, tide_error *err); /* TIDE_ROW_... or a failure */
    void (*close)(tide_rows *rows);                /* NULL: nothing to release */
};

/* A format by its name or its place in the table; NULL when there is none. */
const tide_format *tide_format_find(const char *name, const tide_format_info **info);
const tide_format *tide_format_at(size_t index, const tide_format_info **info);

extern const tide_format tide_format_native, tide_format_safetensors, tide_format_npy,
    tide_format_word2vec_binary, tide_format_word2vec, tide_format_glove,
    tide_format_projector, tide_format_pgvector, tide_format_sqlite;

#endif
