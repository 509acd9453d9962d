/* sets.c - lines and words of the sets that vectors are judged by.
 *
 * People publish these with capitals, and most models are of folded text. So a word is first looked
 * for as it is spelled and then folded: canonical, compatible and case differences gone, as the
 * tokenizer does it.
 */
#include "eval/sets.h"

#include "model/model.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <stdlib.h>

/* -- lines ---------------------------------------------------------------------------------------- */

/* Reads until the buffer is full or the source ends. */
static int fill(tide_lines *lines, tide_error *err)
{
    memmove(lines->bytes, lines->bytes + lines->at, lines->size - lines->at);
    lines->size -= lines->at;
    lines->at = 0;
    while (!lines->ended && lines->size < TIDE_SET_LINE_MAX) {
        ptrdiff_t got = tide_source_read(lines->source, lines->bytes + lines->size,
                                         TIDE_SET_LINE_MAX - lines->size, err);
        if (got < 0)
            return (int)got;
        lines->ended = got == 0;
        lines->size += (size_t)got;
        lines->taken += (uint64_t)got;
    }
    if (lines->taken > TIDE_SET_BYTES_MAX)
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
    tide_error why;
    lines->source = tide_source_open(path, &why);
    if (!lines->source)
        return tide_fail(err, why.status, "%s", why.text);
    int status = fill(lines, err);
    if (!status && lines->size >= 3 && !memcmp(lines->bytes, "\xef\xbb\xbf", 3))
        lines->at =
            3; /* Windows marks text as UTF-8 with a character that is none of it */
    return status;
}

void tide_lines_close(tide_lines *lines)
{
    tide_source_close(lines->source);
    free(lines->bytes);
}

static char *find_feed(const tide_lines *lines)
{
    return memchr(lines->bytes + lines->at, '\n', lines->size - lines->at);
}

/* Any line; NULL for what cannot be one, passed over piece by piece. */
static int take_line(tide_lines *lines, char **line, tide_error *err)
{
    for (bool whole = true;; whole = false) {
        if (!find_feed(lines) && !lines->ended) {
            int status = fill(lines, err);
            if (status)
                return status;
        }
        char *feed = find_feed(lines), *end = feed ? feed : lines->bytes + lines->size;
        char *start = lines->bytes + lines->at;
        lines->at = (size_t)(end - lines->bytes) + (feed != NULL);
        if (!feed && !lines->ended)
            continue;
        *end = 0;
        *line = whole && strlen(start) == (size_t)(end - start) ? start : NULL;
        return feed || end > start || !whole;
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
    int got;
    while ((got = take_line(lines, line, err)) > 0) {
        if (!*line)
            break;
        bool comment = **line == '#';
        *line = trim(*line);
        if (**line && !comment)
            break;
    }
    return got;
}

/* -- lists ---------------------------------------------------------------------------------------- */

/* There is room up to the next power of two. */
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

/* -- words ---------------------------------------------------------------------------------------- */

int tide_lexicon_init(tide_lexicon *lexicon, const tide_view *space, uint32_t among,
                      tide_error *err)
{
    const tide_model *model = tide_view_model(space);
    uint32_t words, slots = tide_vocabulary_used(model->vocabulary);
    const uint32_t *order = tide_view_order(space, &words);
    *lexicon = (tide_lexicon){.space = space,
                              .model = model,
                              .order = order,
                              .words = among && among < words ? among : words,
                              .limited = among > 0};
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

/* The folded form; with the final sigma where that is held and the other is not, since models differ in that. */
static bool fold(const tide_lexicon *lexicon, const char *word,
                 char folded[TIDE_WORD_MAX + 1])
{
    static const char sigma[] = "\xcf\x83", last[] = "\xcf\x82";
    if (!tide_utf8_fold(word, folded))
        return false;
    size_t length = strlen(folded);
    if (length < 3 || strcmp(folded + length - 2, sigma) != 0 ||
        exact_rank(lexicon, folded) != TIDE_NO_SLOT)
        return true;
    memcpy(folded + length - 2, last, 2);
    if (exact_rank(lexicon, folded) == TIDE_NO_SLOT)
        memcpy(folded + length - 2, sigma, 2);
    return true;
}

uint32_t tide_lexicon_rank(const tide_lexicon *lexicon, const char *word)
{
    char folded[TIDE_WORD_MAX + 1];
    uint32_t rank = exact_rank(lexicon, word);
    if (rank == TIDE_NO_SLOT && fold(lexicon, word, folded))
        rank = exact_rank(lexicon, folded);
    return rank;
}

bool tide_lexicon_vector(const tide_lexicon *lexicon, const char *word, float *vector)
{
    char folded[TIDE_WORD_MAX + 1];
    if (exact_rank(lexicon, word) != TIDE_NO_SLOT)
        return tide_view_vector(lexicon->space, word, vector, NULL) == TIDE_OK;
    return fold(lexicon, word, folded) &&
           (!lexicon->limited || exact_rank(lexicon, folded) != TIDE_NO_SLOT) &&
           tide_view_vector(lexicon->space, folded, vector, NULL) == TIDE_OK;
}
