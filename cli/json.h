/* json.h - a JSON object on standard output, written from its beginning to its end. */
#ifndef JSON_H
#define JSON_H

#include <wordtide.h>

enum { JSON_DEPTH = 8 };

/* Starts as {0}; commas are its business. */
typedef struct json_writer {
    int depth;              /* brackets that are open */
    char close[JSON_DEPTH]; /* what closes them */
    bool begun[JSON_DEPTH]; /* there is something in them */
} json_writer;

/* `name` is NULL for the outermost and for what is in an array. Names and texts may be any. */
void json_object(json_writer *j, const char *name);
void json_array(json_writer *j, const char *name);

/* Closes the innermost bracket, and the line with the outermost. */
void json_end(json_writer *j);

void json_text(json_writer *j, const char *name, const char *text);
void json_count(json_writer *j, const char *name, uint64_t count);

/* `digits` after the point; null when it is not finite. */
void json_real(json_writer *j, const char *name, double value, int digits);

#endif
