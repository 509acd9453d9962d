/* records.h - private to the records: their state, and what a format has to offer. */
#ifndef TIDE_RECORD_RECORD_INTERNAL_H
#define TIDE_RECORD_RECORD_INTERNAL_H

#include "base/base.h"

enum {
    TIDE_TEXT_FIELDS_MAX = 16,
    TIDE_FIELDS_MAX = TIDE_TEXT_FIELDS_MAX + 2, /* and a time and a label */
    TIDE_FIELD_LENGTH_MAX = 255,
    TIDE_PATH_PARTS_MAX = 16,
    TIDE_RECORD_LABELS_MAX = 256, /* more of one record are left out */
    TIDE_LABEL_MARK = 9,          /* bytes of "__label__" */
    TIDE_RECORDS_PADDING = 64,    /* readable and writable behind every buffer */
    TIDE_RECORDS_INPUT =
        2 * TIDE_RECORD_MAX, /* a half-read record, and as much again */
    TIDE_RECORDS_TEXT =      /* the text, and the labels with their marks and blanks */
    2 * TIDE_RECORD_MAX + TIDE_RECORD_LABELS_MAX * (TIDE_LABEL_MARK + 1) + 64,
    TIDE_JSON_ARENA = TIDE_RECORD_MAX / 2 * 5, /* see record_json.c */
    TIDE_SEEN_FIELDS = 200,
};

typedef struct tide_field {
    char name[TIDE_FIELD_LENGTH_MAX + 1];
    uint32_t length;
    uint32_t number; /* CSV, TSV: of the column, from 1; 0 when it goes by its name */
    uint32_t column; /* CSV, TSV: where it is; 0 for nowhere, or not known yet */
    bool repeats;    /* CSV, TSV: an earlier one with text has the same column */
} tide_field;

/* An object on the way along a path; record_json.c. */
typedef struct tide_json_level {
    uint32_t start; /* where in the path its keys are looked for */
    uint32_t part;  /* how many dots are before that */
    uint32_t seen;  /* bit k: a key that ends with part k of the path has been there */
    int last;       /* the latest of them; -1 for none */
    uint32_t from[TIDE_PATH_PARTS_MAX], to[TIDE_PATH_PARTS_MAX]; /* what each found */
} tide_json_level;

typedef struct tide_json_path {
    int level; /* of the innermost object; -1 outside of all */
    tide_json_level levels[TIDE_PATH_PARTS_MAX];
} tide_json_path;

typedef struct tide_json {
    uint32_t used;   /* of the arena */
    uint32_t latest; /* the segment that may be added to; UINT32_MAX for none */
    tide_json_path paths[TIDE_FIELDS_MAX];
    unsigned char arena[TIDE_JSON_ARENA + TIDE_RECORDS_PADDING];
} tide_json;

/* A column of the present record, within its bytes. */
typedef struct tide_span {
    const unsigned char *bytes;
    size_t size;
    bool quoted; /* its quotes are doubled */
} tide_span;

typedef enum tide_reading {
    TIDE_READ,
    TIDE_READ_NOTHING, /* a blank line */
    TIDE_READ_MALFORMED,
} tide_reading;

/* Where a scan over a JSON value stands; record_document.c. */
typedef struct tide_document_scan {
    bool in_list, in_string, escaped;
    unsigned char last; /* byte that was no blank */
    uint32_t depth;     /* of open brackets */
} tide_document_scan;

/* What a format does for the records. */
typedef struct tide_record_format {
    bool columns; /* fields are columns, not paths */
    unsigned char separator;

    /* Looks at the beginning of an input, which decides how its records are divided. False when it
     * takes more bytes to know. NULL: always by find_end. */
    bool (*begin)(tide_records *r);

    /* Where the line feed is that ends the record at `position`; `limit` when it is not
     * before that. What is before `scanned` has been looked at. */
    size_t (*find_end)(tide_records *r, size_t limit);

    /* Reads a record, behind which is a line feed. */
    tide_reading (*read)(tide_records *r, const unsigned char *record, size_t size);

    /* Likewise the one that has the names of the columns. NULL without columns. */
    tide_reading (*read_names)(tide_records *r, const unsigned char *record,
                               size_t size);

    /* Writes what the record just read has in a field, and returns how many bytes that
     * is; 0 when it has none. May write up to 16 bytes more. */
    size_t (*value)(const tide_records *r, size_t field, unsigned char *to);

    /* Likewise the next label; *at is 0 for the first. Only where one is asked for. */
    size_t (*label)(const tide_records *r, uint32_t *at, unsigned char *to);
} tide_record_format;

extern const tide_record_format tide_record_json, tide_record_csv, tide_record_tsv;

struct tide_records {
    const tide_record_format *format;
    uint64_t fingerprint; /* of the options */
    tide_field fields[TIDE_FIELDS_MAX];
    size_t field_count, text_fields; /* in all; the first of them have text */
    int time_field, label_field;     /* -1 without */
    bool has_names;                  /* an input begins with the names of its columns */
    bool one_line; /* a text has no line feed but the one at its end */

    bool at_start;  /* of an input: a byte order mark may come */
    bool undecided; /* the format has not seen enough to begin */
    bool document;  /* JSON values over lines, see record_document.c */
    tide_document_scan scan;
    bool names_next;  /* the next record has the names */
    bool ended;       /* so has the input, behind `end` */
    uint64_t skipped; /* bytes of a record that is too long, as far as it was read */
    double time;
    tide_record_counts counts;
    tide_error problem; /* with the columns or fields; TIDE_OK for none */

    unsigned char separator; /* of columns, in this input */
    unsigned char delimiter; /* the same, as asked for; 0 when it is to be found */

    uint32_t
        textless; /* JSON: records without text since the input began, as long as none had any */
    bool has_text;               /* one had */
    char seen[TIDE_SEEN_FIELDS]; /* the fields of the first of them */

    size_t position, end,
        scanned;                /* in `input`; the half-read record is from position */
    bool in_quotes, has_quotes; /* CSV: at `scanned`; in the record */
    tide_span spans[TIDE_FIELDS_MAX]; /* CSV, TSV: what the record has in each field */

    /* From json.arena on there is much room, which is not touched before it is used: whoever sends a line to a server
     * has a reader of its own. */
    tide_json json;
    unsigned char input[TIDE_RECORDS_INPUT + TIDE_RECORDS_PADDING];
    unsigned char text[TIDE_RECORDS_TEXT + TIDE_RECORDS_PADDING];
};

/* Sets what the options ask for. */
int tide_records_set_fields(tide_records *r, const tide_record_options *options,
                            tide_error *err);

/* Decides whether an input of JSON is a document. False when it takes more bytes to know. */
bool tide_document_begin(tide_records *r);

/* Moves over what is between values. */
void tide_document_skip(tide_records *r);

/* Where the value at `position` ends; false when that is not before `limit`. Everything before
 * `scanned` has been looked at. */
bool tide_document_end(tide_records *r, size_t limit, size_t *end);

/* A record ends at the next line feed: for formats without quotes. */
size_t tide_records_find_line(tide_records *r, size_t limit);

/* Forgets the columns that have names: others will come. */
void tide_records_clear_header(tide_records *r);

/* The columns have been set: finds those that are in the text more than once. */
void tide_records_find_duplicates(tide_records *r);

/* Reads a time (record_time.c):
 *
 *     1700000000   1700000000.25   1.7e9    seconds
 *     1700000000123                         milliseconds, since it is above 10^11
 *     2023-11-14                            midnight
 *     2023-11-14T22:13                      T may be a blank, seconds may be missing,
 *     2023-11-14 22:13:20.5+01:00           and have a fraction; UTC without an offset
 *
 * Blanks around it do not matter. NAN when it cannot be read. */
double tide_records_parse_time(const unsigned char *text, size_t size);

#endif
