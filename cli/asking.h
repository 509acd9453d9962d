/* asking.h - what the commands that ask a model share: opening it, looking words up, answers,
 * questions from standard input. */
#ifndef ASKING_H
#define ASKING_H

#include "options.h"

typedef struct asking {
    tide_model *model;
    tide_view *space;
    tide_resolver *resolver;
    bool json;
} asking;

/* Loads the model and makes the space. Returns EXIT_SUCCESS, or the exit code after a
 * complaint; close in either case. */
int asking_open(asking *ask, const char *path, int vectors, bool centered);
void asking_close(asking *ask);

/* The names of tide_vectors in their order, for OPTION_CHOICE. */
#define VECTOR_CHOICES "input|output|sum"

/* Two lines of options for commands that ask a model, which look at centered vectors unless told otherwise. */
#define ASKING_OPTIONS(vectors, raw)                                                   \
    {"vectors",      0,                                                                \
     OPTION_CHOICE,  &(vectors),                                                       \
     VECTOR_CHOICES, "which vectors to compare (default input)"},                      \
    {                                                                                  \
        "no-center", 0, OPTION_FLAG, &(raw), NULL, "do not subtract the mean vector"   \
    }

/* Room for `count` answers, but never more than the model has words. NULL after a
 * complaint. */
tide_hit *asking_hits(const asking *ask, uint64_t *count);

/* All words of a model by falling count, to be freed. NULL after a complaint. */
tide_entry *asking_words(const tide_model *model, size_t *count);

void print_hits(const asking *ask, const tide_hit *hits, int count);

/* What was asked for, in the words of the model. */
typedef struct asked_terms {
    const char *const *texts; /* [count] as they were given; borrowed */
    size_t count;
    tide_term *terms; /* [count] */
    const char *
        *words; /* [count] of the terms, as the functions of a space take them */
} asked_terms;

/* Looks all texts up; free the result in either case. Returns false with one line that says why when there is a
 * text without any known word, with what it may have been meant to be. */
enum { FAILURE_TEXT = 512 };
bool asked_find(asked_terms *a, const asking *ask, const char *const *texts,
                size_t count, char why[FAILURE_TEXT]);
void asked_free(asked_terms *a);

/* Says on standard error which words were used for the texts that are not words themselves. */
void asked_note(const asked_terms *a);

/* The same as a member "terms" of the JSON object that is being printed, if there is any such text. */
void asked_print(const asked_terms *a);

/* Calls `answer` for every line of standard input, cut into words, until it ends or
 * nobody reads the answers; empty lines are skipped. On a terminal it prompts.
 * Returns EXIT_FAILURE if any answer did. */
typedef int answer_line(void *data, const char *line, const char *const *words,
                        size_t count);
int answer_input(const char *prompt, answer_line *answer, void *data);

#endif
