/* output.h - exit codes, messages, words and numbers.
 *
 * Data go to standard output, messages for people to standard error. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "log.h"

#include <wordtide.h>

#include <stdio.h>

enum {
    EXIT_USAGE = 2,    /* invalid command line */
    EXIT_INPUT = 3,    /* too much invalid input */
    EXIT_MODEL = 4,    /* unusable model file */
    EXIT_KILLED = 130, /* stopped by a signal without a result */
};

/* Prints a line "wordtide: ..." on standard error, with control characters as '?'. */
void log_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print the error message and return the exit code for it. log_load_error is for errors
 * of loading a file, where corrupt contents and invalid parameters are EXIT_MODEL. */
int log_error(const tide_error *err);
int log_load_error(const tide_error *err);

/* Prints a word to standard output, with control characters as '?' if that is a
 * terminal. */
void print_word(const char *word);

/* Prints the fewest digits that read back as the same value. */
void print_float(float value);

/* Whether no write to standard output has failed. Loops check it after every record. */
bool output_ok(void);

/* Flushes standard output. Returns `code`, or EXIT_FAILURE after an error message if
 * something could not be written. A pipe that its reader has closed is no failure. */
int finish_output(int code);

/* Records that output is missing for another reason than a failed write; finish_output
 * reports it. */
void output_set_error(int error);

/* Writes the text as tide_utf8_clean would change it. */
void write_clean(FILE *out, const char *text);

enum { SHORT_TEXT = 24 };

/* Format "48.1M", "812k", "7" with at most three digits. Both return their first
 * argument. */
const char *short_count(char text[SHORT_TEXT], double value);

/* "204 MiB". */
const char *short_bytes(char text[SHORT_TEXT], uint64_t bytes);

/* Prints the sum and the parts, one aligned line each, with printf or log_printf. */
void print_budget(printf_function *print, const tide_part *parts, int count);
uint64_t budget_total(const tide_part *parts, int count);

enum { TIME_TEXT = 24 };

/* Formats seconds since 1970 as "2020-03-01T12:00:00Z". NULL for NaN and for years that
 * do not have four digits. */
const char *time_text(char text[TIME_TEXT], double seconds);

#endif
