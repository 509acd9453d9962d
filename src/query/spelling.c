/* spelling.c - words spelled nearly like a word that is not there.
 *
 * The distance of Damerau and Levenshtein (insert, drop, replace, swap neighbors), on bytes, at
 * most two; among equals the more frequent word is the likelier wish. Every word is compared, but most are refused by
 * their length, or by their letters: two edits bring at most two new ones and take at most two away. The others need
 * but a band of the table, since a cell that is farther than two from the diagonal costs more than that.
 */
#include "model/model.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { FARTHEST = 2 };

/* Which letters a word has, as a set of 64. */
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

/* The distance, or FARTHEST + 1 when it is more than that. */
static int distance(const char *a, int n, const char *b, int m)
{
    int rows[3][TIDE_WORD_MAX + 2];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= m; j++)
        last[j] = j;
    for (int i = 1; i <= n; i++) {
        int first = i > FARTHEST ? i - FARTHEST : 1;
        int end = i + FARTHEST < m ? i + FARTHEST : m;
        int least = now[first - 1] = i;
        for (int j = first; j <= end; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
            least = best < least ? best : least;
        }
        now[end + 1] = FARTHEST + 1;
        if (least > FARTHEST)
            return FARTHEST + 1;
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
}

typedef struct wish {
    const char *word;
    int length;
    uint64_t letters;
} wish;

static int distance_to(const wish *w, const char *word, int length)
{
    if (!word || abs(w->length - length) > FARTHEST)
        return FARTHEST + 1;
    uint64_t letters = letters_of(word, length);
    if (has_more_than_two(w->letters & ~letters) ||
        has_more_than_two(letters & ~w->letters))
        return FARTHEST + 1;
    return distance(w->word, w->length, word, length);
}

typedef struct candidate {
    int distance;
    tide_entry entry;
} candidate;

static bool better(const candidate *a, const candidate *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    return a->entry.count > b->entry.count;
}

size_t tide_model_suggest(const tide_model *model, const char *word,
                          tide_entry *entries, size_t room)
{
    enum { MOST = 16 };
    candidate best[MOST + 1];
    size_t count = 0, wanted = room < MOST ? room : MOST;
    const tide_vocabulary *v = model->vocabulary;
    size_t length = strlen(word);
    if (length > TIDE_WORD_MAX)
        return 0;
    int farthest = length < 4 ? 1 : FARTHEST;
    wish wished = {word, (int)length, letters_of(word, (int)length)};
    for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++) {
        uint32_t other;
        const char *bytes = tide_vocabulary_word(v, slot, &other);
        int d = distance_to(&wished, bytes, (int)other);
        if (d > farthest)
            continue;
        candidate found = {d, tide_model_entry(model, slot)};
        size_t at = count;
        for (; at > 0 && better(&found, &best[at - 1]); at--)
            best[at] = best[at - 1];
        best[at] = found;
        count = count < wanted ? count + 1 : count;
    }
    for (size_t i = 0; i < count; i++)
        entries[i] = best[i].entry;
    return count;
}
