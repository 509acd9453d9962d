/* output.h - what the command says: exit codes, complaints, words, numbers, JSON.
 *
 * Data goes to standard output and everything meant for a person to standard error. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "saying.h"

#include <wordtide.h>

enum {
    EXIT_USAGE = 2, /* wrong usage */
    EXIT_INPUT = 3, /* too much bad input */
    EXIT_MODEL = 4, /* a model file that cannot be used */
    EXIT_KILLED = 130,
};

/* One line "wordtide: ..." on standard error; control characters are shown as '?'. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains and returns the exit code that belongs to the failure. A damaged file or
 * parameters it should not have make it EXIT_MODEL in the second, which is for
 * loading. */
int report(const tide_error *err);
int report_load(const tide_error *err);

/* A word on standard output: as it is in a pipe, without control characters on a
 * terminal. */
void print_word(const char *word);

/* A number on standard output, in the fewest digits that give it back exactly. */
void print_float(float value);

/* A JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void write_json(FILE *out, const char *text);
void print_json(const char *text);

/* Whether standard output still takes what is written; a loop asks after every
 * record. */
bool output_ok(void);

/* Flushes standard output. Returns `code`, or EXIT_FAILURE with a complaint if
 * something could not be written; a reader that went away has seen enough and is no
 * failure. */
int finish_output(int code);

/* Standard output lacks something that could not even be written; finish_output tells. */
void output_fails(int error);

/* Replaces control characters, C1 controls in UTF-8 included, by '?'. */
void clean_text(char *text);

/* Writes what clean_text would make of it. */
void write_clean(FILE *out, const char *text);

enum { SHORT_TEXT = 24 };

/* "48.1M", "812k", "7": three digits at most. Both return their first argument. */
const char *short_count(char text[SHORT_TEXT], double value);

/* "204 MiB". */
const char *short_bytes(char text[SHORT_TEXT], uint64_t bytes);

/* The parts and their sum, one aligned line each, by printf or say. */
void print_budget(print_function *print, const tide_part *parts, int count);
uint64_t budget_total(const tide_part *parts, int count);

enum { TIME_TEXT = 24 };

/* Seconds since 1970 as "2020-03-01T12:00:00Z". NULL for what is no time, or has no year of four digits. */
const char *time_text(char text[TIME_TEXT], double seconds);

#endif
