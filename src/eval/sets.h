/* sets.h - what the sets that people judge vectors by share: their lines and their words. Private to
 * the module. */
#ifndef TIDE_EVAL_SETS_H
#define TIDE_EVAL_SETS_H

#include "model/model.h"

/* -- lines (sets.c) ------------------------------------------------------------------------------- */

enum { TIDE_SET_LINE_MAX = 4096, TIDE_SET_BYTES_MAX = 1 << 26 };

typedef struct tide_lines {
    const char *path; /* borrowed */
    tide_source *source;
    char *bytes;
    size_t at, size;
    uint64_t taken; /* bytes read */
    bool ended;
} tide_lines;

/* A path, "-" or any other source, packed or not. */
int tide_lines_open(tide_lines *lines, const char *path, tide_error *err);
void tide_lines_close(tide_lines *lines);

/* The next line that is neither empty nor a comment, without blanks at its ends; it may be changed
 * and is valid until the next call. NULL for one that is too long or has a zero in it. Returns 1, and
 * 0 at the end. A set of more than TIDE_SET_BYTES_MAX is an error. */
int tide_lines_next(tide_lines *lines, char **line, tide_error *err);

/* -- lists (sets.c) ------------------------------------------------------------------------------- */

typedef struct tide_list {
    void *items; /* [count], of one type; released with free */
    size_t count;
} tide_list;

/* One more item of `size` bytes, all zero; NULL without memory. */
void *tide_list_add(tide_list *list, size_t size);

/* -- words (sets.c) ------------------------------------------------------------------------------- */

/* The words that count as known: all, or the most frequent ones. */
typedef struct tide_lexicon {
    const tide_view *space;
    const tide_model *model;
    const uint32_t *order; /* [words] slots by rank; borrowed */
    uint32_t *ranks;       /* [slots in use] */
    uint32_t words;        /* that are known */
    bool limited;          /* to the most frequent: n-grams make no vectors of others */
} tide_lexicon;

int tide_lexicon_init(tide_lexicon *lexicon, const tide_view *space, uint32_t among,
                      tide_error *err);
void tide_lexicon_release(tide_lexicon *lexicon);

/* The rank of a word as it is spelled, or else of its folded form; TIDE_NO_SLOT when neither is known. */
uint32_t tide_lexicon_rank(const tide_lexicon *lexicon, const char *word);

/* The vector, which n-grams may make where the lexicon is not limited. False when there is none. */
bool tide_lexicon_vector(const tide_lexicon *lexicon, const char *word, float *vector);

#endif
