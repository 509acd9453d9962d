/* ingest.h - text that is sent to us: what the files about it share. Private. */
#ifndef SERVER_INGEST_H
#define SERVER_INGEST_H

#include "http.h"

/* The whole of a gzip file; NULL when it is none, or is far larger than it came. free() it. */
char *inflate_body(const char *bytes, size_t size, size_t *inflated);

/* Lines on their way to the feed, each in the form that the trainer reads. */
typedef struct lines {
    const char *
        field; /* the trainer reads JSON: texts become objects with this field; NULL: plain lines */
    tide_records *records; /* finds the texts in JSON */
    char *bytes;
    size_t size, room;
    size_t longest;    /* line that there could ever be room for */
    uint32_t *numbers; /* of each, among what was sent, from 0 on */
    size_t count, number_room;
    uint64_t seen;    /* lines or records of what was sent */
    uint64_t skipped; /* of them: without text, malformed or too long */
    bool whole;       /* all are taken or none */
    bool failed;      /* no memory */
} lines;

/* `fields` has the text, in records; NULL for the usual names. False after a problem was answered. */
bool lines_begin(lines *l, request *r, const char *fields);
void lines_end(lines *l);

void lines_add_text(lines *l, const char *text, size_t size); /* many lines */
void lines_add_records(lines *l, const char *json,
                       size_t size); /* many lines of JSON */

/* Hands them over and says how many lines were taken. False after a problem was answered. */
bool lines_push(lines *l, request *r, size_t *count);

/* Where the first text begins that is no blank; `end` without. */
const char *skip_blanks(const char *at, const char *end, const char *blanks);

/* The body, inflated if it has to be: lies in r->body, or is to be freed. NULL after a problem was answered. */
const char *plain_body(request *r, size_t *size, char **to_free);

#endif
