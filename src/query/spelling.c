/* spelling.c - suggestions for a misspelled word.
 *
 * Words within a Damerau-Levenshtein distance of two (insertions, deletions,
 * substitutions and swaps of adjacent bytes); at equal distance the more frequent word
 * comes first. All words are compared, but most are rejected by their length or their
 * set of letters: two edits add at most two new letters and remove at most two. For the
 * others a band of the table suffices, since cells farther than two from the diagonal
 * exceed the distance.
 */
#include "model/model.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { DISTANCE_MAX = 2 };

/* The set of letters of a word, as a bitmap: each byte modulo 64. */
static uint64_t letters_of(const char *word, int length)
{
    uint64_t letters = 0;
    for (int i = 0; i < length; i++)
        letters |= UINT64_C(1) << (word[i] & 63);
    return letters;
}

static bool has_more_than_two(uint64_t set)
{
    set &= set - 1;
    return (set & (set - 1)) != 0;
}

typedef struct target {
    const char *word;
    int length;
    uint64_t letters;
} target;

static int bounded_distance(const target *w, const char *word, int length)
{
    if (!word || abs(w->length - length) > DISTANCE_MAX)
        return DISTANCE_MAX + 1;
    uint64_t letters = letters_of(word, length);
    if (has_more_than_two(w->letters & ~letters) ||
        has_more_than_two(letters & ~w->letters))
        return DISTANCE_MAX + 1;
    return tide_edit_distance(w->word, (size_t)w->length, word, (size_t)length,
                              DISTANCE_MAX);
}

typedef struct candidate {
    int edit_distance;
    tide_entry entry;
} candidate;

static bool better(const candidate *a, const candidate *b)
{
    if (a->edit_distance != b->edit_distance)
        return a->edit_distance < b->edit_distance;
    return a->entry.count > b->entry.count;
}

size_t tide_model_suggest(const tide_model *model, const char *word,
                          tide_entry *entries, size_t capacity)
{
    enum { CANDIDATES_MAX = 16 };
    candidate best[CANDIDATES_MAX + 1];
    size_t count = 0, limit = capacity < CANDIDATES_MAX ? capacity : CANDIDATES_MAX;
    const tide_vocabulary *v = model->vocabulary;
    size_t length = strlen(word);
    if (length > TIDE_WORD_MAX)
        return 0;
    int distance_limit = length < 4 ? 1 : DISTANCE_MAX;
    target wanted_word = {word, (int)length, letters_of(word, (int)length)};
    for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++) {
        uint32_t other;
        const char *bytes = tide_vocabulary_word(v, slot, &other);
        int d = bounded_distance(&wanted_word, bytes, (int)other);
        if (d > distance_limit)
            continue;
        candidate found = {d, tide_model_entry(model, slot)};
        size_t at = count;
        for (; at > 0 && better(&found, &best[at - 1]); at--)
            best[at] = best[at - 1];
        best[at] = found;
        count = count < limit ? count + 1 : count;
    }
    for (size_t i = 0; i < count; i++)
        entries[i] = best[i].entry;
    return count;
}
