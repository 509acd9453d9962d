/* sets.h - lines and words of evaluation sets, shared by analogies and similarities.
 * Private. */
#ifndef TIDE_EVAL_SETS_H
#define TIDE_EVAL_SETS_H

#include "model/model.h"

/* -- lines (sets.c) ---------------------------------------------------------------- */

enum { TIDE_SET_LINE_MAX = 4096, TIDE_SET_BYTES_MAX = 1 << 26 };

typedef struct tide_lines {
    const char *path; /* borrowed */
    tide_source *source;
    char *bytes;
    size_t at, size;
    uint64_t bytes_read; /* bytes read */
    bool at_end;
} tide_lines;

/* Opens a path, "-" or any other source, compressed or not. */
int tide_lines_open(tide_lines *lines, const char *path, tide_error *err);
void tide_lines_close(tide_lines *lines);

/* Reads the next line that is neither empty nor a comment, without blanks at its ends.
 * It may be modified and is valid until the next call. *line is NULL for a line that is
 * too long or has a 0 in it. Returns 1, or 0 at the end. A set of more than
 * TIDE_SET_BYTES_MAX is an error. */
int tide_lines_next(tide_lines *lines, char **line, tide_error *err);

/* -- lists (sets.c) ---------------------------------------------------------------- */

typedef struct tide_list {
    void *items; /* [count] of one type; to be freed */
    size_t count;
} tide_list;

/* Appends an item of `size` zero bytes. Returns NULL if out of memory. */
void *tide_list_add(tide_list *list, size_t size);

/* -- words (sets.c) ---------------------------------------------------------------- */

/* The words that count as known: all, or the most frequent ones. */
typedef struct tide_lexicon {
    const tide_view *view;
    const tide_model *model;
    const uint32_t *order; /* [words] slots by rank; borrowed */
    uint32_t *ranks;       /* [slots in use] */
    uint32_t words;        /* number of known words */
    bool limited;          /* to the most frequent; other words are not composed */
} tide_lexicon;

int tide_lexicon_init(tide_lexicon *lexicon, const tide_view *view, uint32_t top,
                      tide_error *err);
void tide_lexicon_release(tide_lexicon *lexicon);

/* The rank of a word as spelled, or else of its folded form; TIDE_NO_SLOT if neither is
 * known. */
uint32_t tide_lexicon_rank(const tide_lexicon *lexicon, const char *word);

/* The vector of a word. Unless the lexicon is limited, it may be composed from n-grams.
 * Returns false if there is none. */
bool tide_lexicon_vector(const tide_lexicon *lexicon, const char *word, float *vector);

#endif
