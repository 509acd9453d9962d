/* misra_gries.c - frequent words by canceling tokens of different words.
 *
 * Misra and Gries, "Finding repeated elements", Science of Computer Programming 2,
 * 1982; the vocabulary of incremental SGNS (Kaji and Kobayashi, EMNLP 2017). A token of
 * a held word increments its count. A token of any other word takes an empty slot. If
 * there is none, all counts are decremented, the token itself is discarded, and words
 * whose count reaches zero are evicted.
 *
 * Instead of decrementing K counts, the code raises a common offset, `minimum`. Counts
 * are stored absolute: a word enters with count = offset + 1 and error = offset, its
 * weight is count - offset, and it is evicted when its weight is 0. Each increment of
 * the offset cancels K + 1 tokens, so the offset never exceeds N / (K + 1), and the
 * weights add up to N - (K + 1) * offset. A word loses at most one token per increment,
 * so
 *
 *     count - error <= true count <= count,
 *
 * and the true count of a word that is not held is at most the offset.
 *
 * No weight can be zero before the offset reaches the lowest count, so the slots are
 * swept only then, at most once per K + 1 tokens. A sweep happens when all slots are
 * taken. Emptied slots are reused from the lowest upwards: `hand` moves up through
 * them, and no slot below it is empty. In contrast to Space-Saving, many words are
 * evicted at once, and the token that triggers a sweep does not enter its word.
 *
 * Halving rounds the counts and the offset down independently; a word whose count drops
 * to the offset is evicted.
 */
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"

/* Evicts all words whose count does not exceed the offset. Going from the top down
 * leaves the hand at the lowest empty slot. */
static void evict_zero_weights(tide_vocabulary *v)
{
    v->hand = v->used;
    v->lowest = UINT64_MAX;
    /* `lowest` becomes the smallest count of the words that stay, that is, the offset
     * at which the next sweep can find something to evict. */
    for (uint32_t slot = v->used; slot-- > 0;) {
        uint64_t count = v->words.records[slot].count;
        bool empty = tide_word_table_is_empty(&v->words, slot);
        if (!empty && count > v->minimum) {
            if (count < v->lowest)
                v->lowest = count;
            continue;
        }
        if (!empty)
            tide_vocabulary_evict(v, slot);
        v->hand = slot;
    }
}

static uint32_t admit(tide_vocabulary *v, const tide_key *key, bool *reused)
{
    if (v->size == v->words.capacity) {
        /* Raising the offset takes one token from every held word, and the new token
         * cancels with them: it is never counted, not even if the sweep frees a
         * slot. */
        v->minimum++;
        if (v->minimum >= v->lowest)
            evict_zero_weights(v);
        return TIDE_NO_SLOT;
    }
    while (!tide_word_table_is_empty(&v->words, v->hand))
        v->hand++;
    uint32_t slot = v->hand++;
    /* Slots from `used` on have never held a word. One below it has rows that were
     * trained for another word, which the caller has to reset. */
    *reused = slot < v->used;
    if (!*reused)
        v->used = slot + 1;
    tide_vocabulary_fill_slot(v, slot, key, v->minimum + 1, v->minimum);
    /* The new word has weight 1, the smallest there is, so the next increment of the
     * offset must sweep. */
    if (v->lowest > v->minimum + 1)
        v->lowest = v->minimum + 1;
    return slot;
}

static size_t add(tide_vocabulary *v, const tide_key *keys, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions)
{
    return tide_vocabulary_batch(v, keys, first, end, slots, admissions, admit, NULL);
}

static void halve(tide_vocabulary *v)
{
    v->minimum /= 2;
    evict_zero_weights(v);
}

const tide_vocabulary_methods tide_misra_gries = {
    .name = "misra-gries",
    .add = add,
    .halve = halve,
    .counts_from_minimum = true,
};
