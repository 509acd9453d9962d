/* stop_words.c - which words are not wanted: a set, made once and asked for every word.
 *
 * A copy of the text the words came in, and a hash table of places in it with linear
 * probing, at most half full. All of it is one allocation:
 *
 *     | tide_stop_words | cells[capacity] | text |
 */
#include "token/split.h"
#include "token/token.h"

#include <stdlib.h>

typedef struct cell {
    uint32_t start, length; /* in the text; no length: free */
} cell;

struct tide_stop_words {
    size_t capacity; /* a power of two */
    const char *text;
    cell cells[];
};

/* The next line from *rest on, without its end; false after the last. */
static bool next_line(const char **rest, const char **line, size_t *length)
{
    if (!**rest)
        return false;
    *line = *rest;
    size_t whole = strcspn(*rest, "\n");
    *rest += whole + ((*rest)[whole] != '\0');
    *length = whole > 0 && (*line)[whole - 1] == '\r' ? whole - 1 : whole;
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

static size_t bytes_for(size_t capacity, size_t text)
{
    return sizeof(tide_stop_words) + capacity * sizeof(cell) + text;
}

uint64_t tide_stop_words_bytes(const char *text)
{
    return bytes_for(capacity_for(text), strlen(text) + 1);
}

/* The cell that has the word, or the free one where it belongs. */
static size_t find(const tide_stop_words *set, const char *word, size_t length)
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

bool tide_stop_words_have(const tide_stop_words *set, const char *word, size_t length)
{
    return set->cells[find(set, word, length)].length > 0;
}

tide_stop_words *tide_stop_words_new(const char *text, tide_error *err)
{
    size_t size = strlen(text) + 1, capacity = capacity_for(text), length;
    if (size > UINT32_MAX) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "more than 4 GB of stop words");
        return NULL;
    }
    tide_stop_words *set = tide_alloc(1, bytes_for(capacity, size));
    if (!set) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %zu bytes of stop words",
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
        cell *c = &set->cells[find(set, line, length)];
        *c = (cell){(uint32_t)(line - copy), (uint32_t)length};
    }
    return set;
}

void tide_stop_words_free(tide_stop_words *set)
{
    free(set);
}

bool tide_word_wanted(const tide_tokenizer_options *options, const tide_stop_words *set,
                      const char *word, size_t length)
{
    size_t characters = 0;
    for (size_t i = 0; i < length; i++)
        characters += ((unsigned char)word[i] & 0xc0) != 0x80;
    if (characters < options->shortest)
        return false;
    if (options->longest > 0 && characters > options->longest)
        return false;
    return !set || !tide_stop_words_have(set, word, length);
}
