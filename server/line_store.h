/* line_store.h - lines of a request, collected before they enter the feed. Private. */
#ifndef SERVER_LINE_STORE_H
#define SERVER_LINE_STORE_H

#include "request.h"

#include <wordtide/tools.h>
#include <pthread.h>

enum {
    BATCH_BYTES_MAX = 24 << 20,  /* lines of one request */
    BATCH_INPUTS_MAX = 24 << 20, /* input lines or records of one request */
    BULK_ITEMS_MAX = 3 << 20,
};

/* Buffers that requests use one after another. */
typedef struct line_store {
    pthread_mutex_t lock;
    char *bytes;             /* [BATCH_BYTES_MAX] */
    unsigned char *has_line; /* [BATCH_INPUTS_MAX / 8] bitmap: the input gave a line */
    unsigned char *bulk_items; /* [BULK_ITEMS_MAX] */
    char *chunk;               /* [CHUNK_BYTES] */
} line_store;

line_store *line_store_open(void);
void line_store_close(line_store *s);

/* The lines of one request. It has the store to itself until line_batch_close. An input
 * is a line of the body or a record in it; it gives one line or none. */
typedef struct line_batch {
    line_store *store;
    tide_records *records; /* NULL for plain text */
    size_t size, count;    /* bytes and number of complete lines */
    size_t partial;        /* bytes after them, of a line without its end yet */
    size_t line_max;       /* bytes of the longest line that the feed could ever hold */
    bool too_long;         /* the partial line exceeds it */
    bool full;             /* a line did not fit; everything after it is ignored */
    bool large;            /* used enough memory to return it to the system */
    uint64_t inputs;       /* seen; if full, those before the first that did not fit */
    uint64_t marked_inputs; /* up to the last that gave a line */
    uint64_t skipped;       /* lines that were too long */
} line_batch;

/* Locks the store. `kind` is TIDE_RECORDS_LINES for plain text; `fields` names the
 * fields of a record that have the text, NULL for the usual ones. Returns false after
 * answering with a problem. */
bool line_batch_open(line_batch *l, request *r, tide_record_kind kind,
                     const char *fields);
void line_batch_close(line_batch *l);

/* Add the next bytes, and finish the last line, of plain text or of records. */
void line_batch_add_text(line_batch *l, const char *text, size_t size);
void line_batch_finish_text(line_batch *l);
void line_batch_add_records(line_batch *l, const char *bytes, size_t size);
void line_batch_finish_records(line_batch *l);

/* Returns how many inputs gave no line: malformed, too long or without text. */
uint64_t line_batch_skipped(const line_batch *l);

/* Appends the lines to the feed: all or none if `atomic`, otherwise as many as fit.
 * Sets *accepted to their number. Returns false after answering with a problem. */
bool line_batch_submit(line_batch *l, request *r, bool atomic, size_t *accepted);

/* Returns how many inputs precede the one that gave the line with this index. */
uint64_t line_batch_inputs_before(const line_batch *l, size_t line);

#endif
