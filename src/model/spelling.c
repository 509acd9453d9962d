/* spelling.c - words spelt nearly like a word that is not there.
 *
 * The distance of Damerau and Levenshtein (insert, drop, replace, swap neighbours), on bytes, at
 * most two; among equals the more frequent word is the likelier wish. Every word is compared, but
 * most are refused by their length alone.
 */
#include "model/model.h"

#include <stdlib.h>

enum { FARTHEST = 2 };

/* The distance, or FARTHEST + 1 when it is more than that. */
static int distance(const char *a, int n, const char *b, int m)
{
    if (abs(n - m) > FARTHEST)
        return FARTHEST + 1;
    int rows[3][TIDE_WORD_MAX + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= m; j++)
        last[j] = j;
    for (int i = 1; i <= n; i++) {
        now[0] = i;
        int least = now[0];
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
            least = best < least ? best : least;
        }
        if (least > FARTHEST)
            return FARTHEST + 1;
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
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
    for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++) {
        uint32_t other;
        const char *bytes = tide_vocabulary_word(v, slot, &other);
        int d = bytes ? distance(word, (int)length, bytes, (int)other) : FARTHEST + 1;
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
