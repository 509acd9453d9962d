/* json.h - writes a JSON object from its beginning to its end. */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>
#include <wordtide.h>

enum { JSON_DEPTH = 8 };

/* Initialize with {0}, or with a file. The writer inserts the commas. */
typedef struct json_writer {
    FILE *file;             /* NULL: standard output */
    int depth;              /* number of open brackets */
    char close[JSON_DEPTH]; /* their closing brackets */
    bool begun[JSON_DEPTH]; /* they have a value already */
} json_writer;

/* `name` is NULL for the outermost value and in arrays. Names and texts may hold any
 * bytes. */
void out_object(json_writer *j, const char *name);
void out_array(json_writer *j, const char *name);

/* Closes the innermost bracket. The outermost one also ends the line. */
void out_end(json_writer *j);

/* A text of NULL is written as null. */
void out_text(json_writer *j, const char *name, const char *text);
void out_count(json_writer *j, const char *name, uint64_t count);

/* Writes `digits` decimals; null if the value is not finite. */
void out_real(json_writer *j, const char *name, double value, int digits);

/* Writes the fewest digits that read back as the same value, which must be finite. */
void out_float(json_writer *j, const char *name, float value);

#endif
