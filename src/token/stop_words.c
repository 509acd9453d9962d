/* stop_words.c - an immutable set of words to omit.
 *
 * A copy of the text that lists the words, and an open-addressing hash table of offsets
 * into it with linear probing, at most half full. Both are in one allocation:
 *
 *     | tide_stop_words | cells[capacity] | text |
 */
#include "token/split.h"
#include "token/token.h"

#include <stdlib.h>

typedef struct cell {
    uint32_t start, length; /* in the text; length 0: empty */
} cell;

struct tide_stop_words {
    size_t capacity; /* a power of two */
    const char *text;
    cell cells[];
};

/* Returns the next line without its line end and advances *rest past it; false at the
 * end of the text. */
static bool next_line(const char **rest, const char **line, size_t *length)
{
    if (!**rest)
        return false;
    *line = *rest;
    size_t line_size = strcspn(*rest, "\n");
    *rest += line_size + ((*rest)[line_size] != '\0');
    *length =
        line_size > 0 && (*line)[line_size - 1] == '\r' ? line_size - 1 : line_size;
    return true;
}

static size_t capacity_for(const char *text)
{
    size_t words = 0, capacity = 2, length;
    for (const char *line; next_line(&text, &line, &length);)
        words += length > 0;
    while (capacity < 2 * words + 1)
        capacity *= 2;
    return capacity;
}

static size_t allocation_size(size_t capacity, size_t text)
{
    return sizeof(tide_stop_words) + capacity * sizeof(cell) + text;
}

uint64_t tide_stop_words_bytes(const char *text)
{
    return allocation_size(capacity_for(text), strlen(text) + 1);
}

/* The index of the cell that has the word, or of the empty cell where to insert it. */
static size_t find_cell(const tide_stop_words *set, const char *word, size_t length)
{
    size_t at = tide_hash(word, length, 0) & (set->capacity - 1);
    for (;; at = (at + 1) & (set->capacity - 1)) {
        const cell *c = &set->cells[at];
        if (c->length == 0)
            return at;
        if (c->length == length && memcmp(set->text + c->start, word, length) == 0)
            return at;
    }
}

bool tide_stop_words_contain(const tide_stop_words *set, const char *word,
                             size_t length)
{
    return set->cells[find_cell(set, word, length)].length > 0;
}

tide_stop_words *tide_stop_words_new(const char *text, tide_error *err)
{
    size_t size = strlen(text) + 1, capacity = capacity_for(text), length;
    if (size > UINT32_MAX) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "stop words are larger than 4 GiB");
        return NULL;
    }
    tide_stop_words *set = tide_alloc(1, allocation_size(capacity, size));
    if (!set) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the stop words (%zu bytes)",
                  size);
        return NULL;
    }
    char *copy = (char *)(set->cells + capacity);
    memcpy(copy, text, size);
    set->capacity = capacity;
    set->text = copy;
    const char *rest = copy;
    for (const char *line; next_line(&rest, &line, &length);) {
        if (length == 0)
            continue;
        cell *c = &set->cells[find_cell(set, line, length)];
        *c = (cell){(uint32_t)(line - copy), (uint32_t)length};
    }
    return set;
}

void tide_stop_words_free(tide_stop_words *set)
{
    free(set);
}

bool tide_word_is_allowed(const tide_tokenizer_options *options,
                          const tide_stop_words *set, const char *word, size_t length)
{
    size_t characters = 0;
    for (size_t i = 0; i < length; i++)
        characters += !tide_utf8_inside((unsigned char)word[i]);
    if (characters < options->shortest)
        return false;
    if (options->longest > 0 && characters > options->longest)
        return false;
    return !set || !tide_stop_words_contain(set, word, length);
}
