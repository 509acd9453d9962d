/* ingest.h - text that is sent to us: what the files about it share. Private. */
#ifndef SERVER_INGEST_H
#define SERVER_INGEST_H

#include "http.h"

/* -- bodies, a piece at a time (inflate.c) --------------------------------------------------------------- */

enum { PIECE_BYTES = 64 << 10 };

/* Takes the next bytes of a body, which it may change. False when it wants no more of them. */
typedef bool take_piece(void *state, char *bytes, size_t size);

typedef enum unpacked {
    UNPACKED, /* all, or what was wanted */
    UNPACKED_DAMAGED,
    UNPACKED_TOO_LARGE,
    UNPACKED_NO_MEMORY,
} unpacked;

/* `room` is of PIECE_BYTES. */
unpacked unpack_gzip(const char *bytes, size_t size, char *room, take_piece *take,
                     void *state);

/* The body of a request as its Content-Encoding says. False after a problem was answered. */
bool read_body(request *r, char *room, take_piece *take, void *state);

/* -- lines on their way to the feed (lines.c) ------------------------------------------------------------ */

enum {
    LINES_BYTES = 24 << 20,  /* of all lines that are handed over at once */
    RECORDS_MOST = 24 << 20, /* lines or records of which they are made */
    ITEMS_MOST = 3 << 20,    /* of a bulk */
};

struct line_store {
    pthread_mutex_t lock;
    char *bytes;          /* [LINES_BYTES] */
    unsigned char *marks; /* [RECORDS_MOST / 8] a bit for each that gave a line */
    unsigned char *items; /* [ITEMS_MOST] */
    char *piece;          /* [PIECE_BYTES] */
};

/* What one request brings. It has the store to itself from lines_begin to lines_end. */
typedef struct lines {
    line_store *store;
    tide_records *records; /* NULL: text as it is */
    size_t size, count;    /* of the lines that are complete */
    size_t begun;          /* bytes behind them, of a line that is not */
    size_t longest;        /* line that there could ever be room for */
    bool too_long;         /* the line that has begun is longer */
    bool full;  /* there was no room for another line, and nothing more is added */
    bool large; /* enough memory was used to give it back */
    uint64_t
        seen; /* lines or records of what was sent; when full, those before the first left out */
    uint64_t marked;  /* of them, up to the last that gave a line */
    uint64_t skipped; /* lines that were too long */
} lines;

/* `kind` TIDE_RECORDS_LINES for text. `fields` has the text, in records; NULL for the usual names. False after a problem
 * was answered. */
bool lines_begin(lines *l, request *r, tide_record_kind kind, const char *fields);
void lines_end(lines *l);

/* The next bytes, and the end, of text or of records. What comes after the lines are full is left out. */
void lines_add_text(lines *l, const char *text, size_t size);
void lines_end_text(lines *l);
void lines_add_records(lines *l, const char *bytes, size_t size);
void lines_end_records(lines *l);

/* Lines and records that gave no line because they are malformed, too long or without text. */
uint64_t lines_skipped(const lines *l);

/* Hands them over, in a whole or as many as there is room for; *count is how many were taken. False after a problem was
 * answered. */
bool lines_push(lines *l, request *r, bool whole, size_t *count);

/* How many lines or records of what was sent came before the line with this number, from 0 on. */
uint64_t lines_before(const lines *l, size_t number);

#endif
