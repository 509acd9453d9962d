/* json.h - a JSON object, written from its beginning to its end. */
#ifndef JSON_H
#define JSON_H

#include <wordtide.h>

enum { JSON_DEPTH = 8 };

/* Starts as {0}, or with a file; commas are its business. */
typedef struct json_writer {
    FILE *file;             /* NULL: standard output */
    int depth;              /* brackets that are open */
    char close[JSON_DEPTH]; /* what closes them */
    bool begun[JSON_DEPTH]; /* there is something in them */
} json_writer;

/* `name` is NULL for the outermost and for what is in an array. Names and texts may be any. */
void out_object(json_writer *j, const char *name);
void out_array(json_writer *j, const char *name);

/* Closes the innermost bracket, and the line with the outermost. */
void out_end(json_writer *j);

/* `text` may be NULL, which is null. */
void out_text(json_writer *j, const char *name, const char *text);
void out_count(json_writer *j, const char *name, uint64_t count);

/* `digits` after the point; null when it is not finite. */
void out_real(json_writer *j, const char *name, double value, int digits);

/* In the fewest digits that give it back exactly; it is finite. */
void out_float(json_writer *j, const char *name, float value);

#endif
