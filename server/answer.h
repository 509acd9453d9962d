/* answer.h - responses: JSON, text, streams and problem details. Private. */
#ifndef SERVER_ANSWER_H
#define SERVER_ANSWER_H

#include "request.h"

#include <jansson.h>

/* Sets the response, replacing any earlier one. Takes ownership of it. */
void answer_with(request *r, int status, struct MHD_Response *response);

/* Takes ownership of the object. */
void answer_json(request *r, int status, json_t *object);

/* Takes ownership of the text; NULL answers 503. */
void answer_text(request *r, int status, const char *type, char *text, size_t size);

void answer_no_content(request *r); /* 204 */

/* A response that is generated while it is sent. `next` writes the next chunk and
 * returns its size, 0 at the end. The stream is the first member of a larger struct,
 * which both functions receive. */
typedef struct stream {
    size_t (*next)(void *stream, char *out, size_t capacity);
    void (*free)(void *stream);
    size_t offset, size; /* how much of the chunk has been sent; its size */
    char chunk[256];
} stream;

/* Takes ownership of the stream. */
void answer_stream(request *r, int status, const char *type, stream *s);

/* The "type" member of a problem. */
typedef enum problem_type {
    PROBLEM_PLAIN,
    PROBLEM_UNKNOWN_WORD,
    PROBLEM_BUSY,
    PROBLEM_NO_HISTORY,
} problem_type;

/* Answers with problem details (RFC 9457). `members` has additional members, and is
 * owned by the call; NULL for none. */
void answer_problem(request *r, int status, problem_type type, json_t *members,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

void set_header(request *r, const char *name, const char *value);

/* JSON values. A word may be any bytes of the input; json_word never returns NULL. */
json_t *json_word(const char *word);
json_t *json_number(double value); /* null if it is not finite */
json_t *json_count(uint64_t value);
json_t *json_vector(const float *vector, uint32_t dim);

#endif
