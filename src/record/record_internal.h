/* record_internal.h - private to src/record: the reader's state and the format
 * table. */
#ifndef TIDE_RECORD_RECORD_INTERNAL_H
#define TIDE_RECORD_RECORD_INTERNAL_H

#include "base/base.h"

#include <wordtide/tools.h>

enum {
    TIDE_TEXT_FIELDS_MAX = 16,
    TIDE_FIELDS_MAX = TIDE_TEXT_FIELDS_MAX + 2, /* plus a time and a label */
    TIDE_FIELD_LENGTH_MAX = 255,
    TIDE_PATH_PARTS_MAX = 16,
    TIDE_RECORD_LABELS_MAX = 256, /* further labels of a record are dropped */
    TIDE_RECORDS_PADDING = 64,    /* readable and writable after every buffer */
    TIDE_RECORDS_INPUT_SIZE = 2 * TIDE_RECORD_MAX,
    /* The text, and the labels with their prefixes and separators. */
    TIDE_RECORDS_TEXT_SIZE = 2 * TIDE_RECORD_MAX +
                             TIDE_RECORD_LABELS_MAX * (TIDE_LABEL_PREFIX_SIZE + 1) + 64,
    TIDE_JSON_ARENA = TIDE_RECORD_MAX / 2 * 5, /* see record_json.c */
    TIDE_FOUND_FIELDS_SIZE = 200,
};

typedef struct tide_field {
    char name[TIDE_FIELD_LENGTH_MAX + 1];
    uint32_t length;
    uint32_t column_number; /* CSV, TSV: if selected by number, from 1; else 0 */
    uint32_t column;        /* CSV, TSV: from 1; 0 if absent or not yet known */
    bool duplicate;         /* CSV, TSV: an earlier text field has the same column */
} tide_field;

/* An object that is reached by following a path; see record_json.c. */
typedef struct tide_json_level {
    uint32_t start; /* offset in the path at which its keys are matched */
    uint32_t part;  /* number of dots before that */
    uint32_t seen;  /* bit k: a key that ends with part k of the path has occurred */
    int last;       /* the latest such k; -1 for none */
    /* Per k, the range of the arena that was filled below the key. */
    uint32_t from[TIDE_PATH_PARTS_MAX], to[TIDE_PATH_PARTS_MAX];
} tide_json_level;

typedef struct tide_json_path {
    int level; /* of the innermost object; -1 outside all objects */
    tide_json_level levels[TIDE_PATH_PARTS_MAX];
} tide_json_path;

typedef struct tide_json {
    uint32_t used;   /* bytes of the arena */
    uint32_t latest; /* the segment that may be appended to; UINT32_MAX for none */
    tide_json_path paths[TIDE_FIELDS_MAX];
    unsigned char arena[TIDE_JSON_ARENA + TIDE_RECORDS_PADDING];
} tide_json;

/* A column of the current record, pointing into its bytes. */
typedef struct tide_span {
    const unsigned char *bytes;
    size_t size;
    bool quoted; /* quotes inside are doubled */
} tide_span;

typedef enum tide_parse_result {
    TIDE_PARSE_OK,
    TIDE_PARSE_BLANK, /* a blank line is not a record */
    TIDE_PARSE_MALFORMED,
} tide_parse_result;

/* The state of a scan for the end of a JSON value; see record_document.c. */
typedef struct tide_document_scan {
    bool in_list, in_string, escaped;
    unsigned char last; /* the last byte that was not blank; 0 for none */
    uint32_t depth;     /* number of open brackets */
} tide_document_scan;

/* The operations of a format. */
typedef struct tide_record_format {
    bool columns; /* fields are columns, not paths */
    unsigned char separator;

    /* Examines the start of an input to decide how it is divided into records. Returns
     * false if more bytes are needed. NULL if records are always delimited by
     * find_end. */
    bool (*detect)(tide_records *r);

    /* Returns the offset of the line feed that ends the record at `position`, or
     * `limit` if there is none before that. Bytes before `scanned` have already been
     * scanned. */
    size_t (*find_end)(tide_records *r, size_t limit);

    /* Parses a record, which is followed by a line feed. */
    tide_parse_result (*parse)(tide_records *r, const unsigned char *record,
                               size_t size);

    /* Parses the header record. NULL for formats without columns. */
    tide_parse_result (*parse_header)(tide_records *r, const unsigned char *record,
                                      size_t size);

    /* Copies the text of a field of the last parsed record to `to` and returns its
     * size; 0 if the record does not have the field. May write up to 16 bytes past the
     * text. */
    size_t (*copy_field)(const tide_records *r, size_t field, unsigned char *to);

    /* Copies the next label likewise; *at is 0 for the first. Requires a label
     * field. */
    size_t (*copy_label)(const tide_records *r, uint32_t *at, unsigned char *to);
} tide_record_format;

extern const tide_record_format tide_record_json, tide_record_csv, tide_record_tsv;

struct tide_records {
    const tide_record_format *format;
    uint64_t fingerprint; /* of the options */
    tide_field fields[TIDE_FIELDS_MAX];
    size_t field_count, text_fields; /* the first `text_fields` of them have text */
    int time_field, label_field;     /* -1 if not wanted */
    bool has_header;                 /* every input begins with a header record */
    bool one_line;                   /* replace line feeds within a text */

    bool at_start;  /* of an input: a byte order mark may follow */
    bool undecided; /* `detect` needs more bytes */
    bool document;  /* JSON values may span lines; see record_document.c */
    tide_document_scan scan;
    bool header_next; /* the next record is the header */
    bool ended;       /* the input ends at `end` */
    uint64_t skipped; /* bytes seen so far of an over-long record; 0 outside one */
    double time;
    tide_record_counts counts;
    tide_error problem; /* with the header or the fields; TIDE_OK for none */

    unsigned char separator; /* of columns, in this input */
    unsigned char delimiter; /* the requested separator; 0 to detect it */

    /* JSON: diagnoses a wrong field name. Counts the records of this input until one
     * has text; found_fields lists the fields of the first. */
    uint32_t without_text;
    bool has_text;
    char found_fields[TIDE_FOUND_FIELDS_SIZE];

    /* Offsets in `input`; an incomplete record begins at position. */
    size_t position, end, scanned;
    bool in_quotes, has_quotes;       /* CSV: at `scanned`; anywhere in the record */
    tide_span spans[TIDE_FIELDS_MAX]; /* CSV, TSV: the fields of the last record */

    /* The buffers from json.arena on are large and are not cleared, so their pages stay
     * untouched until needed: the server creates a reader for every request. */
    tide_json json;
    unsigned char input[TIDE_RECORDS_INPUT_SIZE + TIDE_RECORDS_PADDING];
    unsigned char text[TIDE_RECORDS_TEXT_SIZE + TIDE_RECORDS_PADDING];
};

/* Sets up the fields that the options name. */
int tide_records_set_fields(tide_records *r, const tide_record_options *options,
                            tide_error *err);

/* Decides whether a JSON input is a document. Returns false if more bytes are
 * needed. */
bool tide_document_detect(tide_records *r);

/* Skips what may stand between values. */
void tide_document_skip_separators(tide_records *r);

/* Sets *end to the end of the value at `position`; returns false if it is not before
 * `limit`. Bytes before `scanned` have already been scanned. */
bool tide_document_find_end(tide_records *r, size_t limit, size_t *end);

/* A find_end for formats in which a record ends at the next line feed. */
size_t tide_records_find_line(tide_records *r, size_t limit);

/* Resets the columns of fields selected by name, which depend on the header. */
void tide_records_clear_header(tide_records *r);

/* Marks text fields that have the same column as an earlier one. */
void tide_records_find_duplicates(tide_records *r);

/* Parses a time (record_time.c):
 *
 *     1700000000   1700000000.25   1.7e9    seconds
 *     1700000000123                         milliseconds, since it is above 10^11
 *     2023-11-14                            midnight
 *     2023-11-14T22:13                      T may be a space; seconds are optional and
 *     2023-11-14 22:13:20.5+01:00           may have a fraction; UTC without an offset
 *
 * Ignores surrounding whitespace. Returns NaN if the text is not a time. */
double tide_records_parse_time(const unsigned char *text, size_t size);

#endif
