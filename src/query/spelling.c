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

/* The distance, or DISTANCE_MAX + 1 if it is larger than DISTANCE_MAX. */
static int edit_distance(const char *a, int n, const char *b, int m)
{
    int rows[3][TIDE_WORD_MAX + 2];
    int *before_previous = rows[0], *previous = rows[1], *current = rows[2];
    for (int j = 0; j <= m; j++)
        previous[j] = j;
    for (int i = 1; i <= n; i++) {
        int first = i > DISTANCE_MAX ? i - DISTANCE_MAX : 1;
        int end = i + DISTANCE_MAX < m ? i + DISTANCE_MAX : m;
        int row_min = current[first - 1] = i;
        for (int j = first; j <= end; j++) {
            int best = previous[j - 1] + (a[i - 1] != b[j - 1]);
            best = previous[j] + 1 < best ? previous[j] + 1 : best;
            best = current[j - 1] + 1 < best ? current[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before_previous[j - 2] + 1 < best)
                best = before_previous[j - 2] + 1;
            current[j] = best;
            row_min = best < row_min ? best : row_min;
        }
        current[end + 1] = DISTANCE_MAX + 1;
        if (row_min > DISTANCE_MAX)
            return DISTANCE_MAX + 1;
        int *oldest = before_previous;
        before_previous = previous;
        previous = current;
        current = oldest;
    }
    return previous[m];
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
    return edit_distance(w->word, w->length, word, length);
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
                          tide_entry *entries, size_t room)
{
    enum { CANDIDATES_MAX = 16 };
    candidate best[CANDIDATES_MAX + 1];
    size_t count = 0, limit = room < CANDIDATES_MAX ? room : CANDIDATES_MAX;
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
