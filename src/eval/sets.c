/* sets.c - lines and words of evaluation sets.
 *
 * Published sets contain capital letters, while most models are trained on folded text.
 * So a word is first looked up as it is spelled and then in its folded form, without
 * canonical, compatibility and case differences, as the tokenizer folds it.
 */
#include "eval/sets.h"

#include "model/model.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <stdlib.h>

/* -- lines ------------------------------------------------------------------------- */

/* Reads until the buffer is full or the source ends. */
static int fill_buffer(tide_lines *lines, tide_error *err)
{
    memmove(lines->bytes, lines->bytes + lines->at, lines->size - lines->at);
    lines->size -= lines->at;
    lines->at = 0;
    while (!lines->at_end && lines->size < TIDE_SET_LINE_MAX) {
        ptrdiff_t status = tide_source_read(lines->source, lines->bytes + lines->size,
                                            TIDE_SET_LINE_MAX - lines->size, err);
        if (status < 0)
            return (int)status;
        lines->at_end = status == 0;
        lines->size += (size_t)status;
        lines->bytes_read += (uint64_t)status;
    }
    if (lines->bytes_read > TIDE_SET_BYTES_MAX)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: more than %d MiB", lines->path,
                         TIDE_SET_BYTES_MAX >> 20);
    return TIDE_OK;
}

int tide_lines_open(tide_lines *lines, const char *path, tide_error *err)
{
    *lines = (tide_lines){.path = path};
    lines->bytes = tide_alloc(TIDE_SET_LINE_MAX + 1, 1);
    if (!lines->bytes)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", path);
    tide_error open_error;
    lines->source = tide_source_open(path, &open_error);
    if (!lines->source)
        return tide_fail(err, open_error.status, "%s", open_error.text);
    int status = fill_buffer(lines, err);
    if (!status && lines->size >= 3 && !memcmp(lines->bytes, "\xef\xbb\xbf", 3))
        lines->at = 3; /* skip a byte order mark */
    return status;
}

void tide_lines_close(tide_lines *lines)
{
    tide_source_close(lines->source);
    free(lines->bytes);
}

static char *find_newline(const tide_lines *lines)
{
    return memchr(lines->bytes + lines->at, '\n', lines->size - lines->at);
}

/* Returns the next line of any kind: 1, or 0 at the end. *line is NULL for a line that
 * is too long, which is skipped buffer by buffer, or has a 0 in it. */
static int next_raw_line(tide_lines *lines, char **line, tide_error *err)
{
    for (bool is_whole = true;; is_whole = false) {
        if (!find_newline(lines) && !lines->at_end) {
            int status = fill_buffer(lines, err);
            if (status)
                return status;
        }
        char *newline = find_newline(lines),
             *end = newline ? newline : lines->bytes + lines->size;
        char *start = lines->bytes + lines->at;
        lines->at = (size_t)(end - lines->bytes) + (newline != NULL);
        if (!newline && !lines->at_end)
            continue;
        *end = 0;
        *line = is_whole && strlen(start) == (size_t)(end - start) ? start : NULL;
        return newline || end > start || !is_whole;
    }
}

static char *trim(char *line)
{
    static const char blanks[] = " \t\r\v\f";
    line += strspn(line, blanks);
    size_t length = strlen(line);
    while (length && strchr(blanks, line[length - 1]))
        line[--length] = 0;
    return line;
}

int tide_lines_next(tide_lines *lines, char **line, tide_error *err)
{
    int status;
    while ((status = next_raw_line(lines, line, err)) > 0) {
        if (!*line)
            break;
        bool comment = **line == '#';
        *line = trim(*line);
        if (**line && !comment)
            break;
    }
    return status;
}

/* -- lists ------------------------------------------------------------------------- */

/* The capacity is the next power of two: grows when the count is one. */
void *tide_list_add(tide_list *list, size_t size)
{
    if (!(list->count & (list->count - 1))) {
        void *larger = tide_alloc(list->count ? 2 * list->count : 1, size);
        if (!larger)
            return NULL;
        if (list->count)
            memcpy(larger, list->items, list->count * size);
        free(list->items);
        list->items = larger;
    }
    return (char *)list->items + list->count++ * size;
}

/* -- words ------------------------------------------------------------------------- */

int tide_lexicon_init(tide_lexicon *lexicon, const tide_view *view, uint32_t top,
                      tide_error *err)
{
    const tide_model *model = tide_view_model(view);
    uint32_t words, slots = tide_vocabulary_used(model->vocabulary);
    const uint32_t *order = tide_view_order(view, &words);
    *lexicon = (tide_lexicon){.view = view,
                              .model = model,
                              .order = order,
                              .words = top && top < words ? top : words,
                              .limited = top > 0};
    lexicon->ranks = tide_alloc((size_t)slots + 1, sizeof *lexicon->ranks);
    if (!lexicon->ranks)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the ranks of %u words",
                         words);
    for (uint32_t slot = 0; slot < slots; slot++)
        lexicon->ranks[slot] = TIDE_NO_SLOT;
    for (uint32_t rank = 0; rank < lexicon->words; rank++)
        lexicon->ranks[order[rank]] = rank;
    return TIDE_OK;
}

void tide_lexicon_release(tide_lexicon *lexicon)
{
    free(lexicon->ranks);
}

static uint32_t exact_rank(const tide_lexicon *lexicon, const char *word)
{
    tide_entry entry;
    if (tide_model_find(lexicon->model, word, &entry, NULL))
        return TIDE_NO_SLOT;
    return lexicon->ranks[entry.slot];
}

/* Folds a word. Models differ in the form of a final sigma, so the other form is used
 * if only that is held. */
static bool fold_word(const tide_lexicon *lexicon, const char *word,
                      char folded[TIDE_WORD_MAX + 1])
{
    static const char sigma[] = "\xcf\x83", final_sigma[] = "\xcf\x82";
    if (!tide_utf8_fold(word, folded))
        return false;
    size_t length = strlen(folded);
    if (length < 3 || strcmp(folded + length - 2, sigma) != 0 ||
        exact_rank(lexicon, folded) != TIDE_NO_SLOT)
        return true;
    memcpy(folded + length - 2, final_sigma, 2);
    if (exact_rank(lexicon, folded) == TIDE_NO_SLOT)
        memcpy(folded + length - 2, sigma, 2);
    return true;
}

uint32_t tide_lexicon_rank(const tide_lexicon *lexicon, const char *word)
{
    char folded[TIDE_WORD_MAX + 1];
    uint32_t rank = exact_rank(lexicon, word);
    if (rank == TIDE_NO_SLOT && fold_word(lexicon, word, folded))
        rank = exact_rank(lexicon, folded);
    return rank;
}

bool tide_lexicon_vector(const tide_lexicon *lexicon, const char *word, float *vector)
{
    char folded[TIDE_WORD_MAX + 1];
    if (exact_rank(lexicon, word) != TIDE_NO_SLOT)
        return tide_view_vector(lexicon->view, word, vector, NULL) == TIDE_OK;
    return fold_word(lexicon, word, folded) &&
           (!lexicon->limited || exact_rank(lexicon, folded) != TIDE_NO_SLOT) &&
           tide_view_vector(lexicon->view, folded, vector, NULL) == TIDE_OK;
}
