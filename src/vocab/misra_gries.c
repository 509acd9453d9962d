/* misra_gries.c - frequent words by canceling different ones against each other.
 *
 * Misra and Gries, "Finding repeated elements", Science of Computer Programming 2,
 * 1982; the vocabulary of incremental SGNS (Kaji and Kobayashi, EMNLP 2017). A word
 * that is held is counted, and one that is not takes an empty slot. When there is
 * none, all counts go down by one, the newcomer's single token with them, and words
 * that reach zero leave.
 *
 * Instead of lowering K counts, a common offset, `minimum`, is raised. Counts are kept
 * absolute: a word enters with count = offset + 1 and error = offset, its weight is
 * count - offset, and it leaves when that is 0. Each step of the offset cancels K + 1
 * tokens, so the offset never exceeds N / (K + 1), and the weights add up to N - (K +
 * 1) * offset. A word misses at most one of its tokens in each step, so
 *
 *     count - error <= true count <= count,
 *
 * and the true count of a word that is not held is at most the offset.
 *
 * Nobody can leave before the offset reaches the lowest count, so the slots are swept
 * only then: at most once in K + 1 tokens. A sweep happens when all slots are taken,
 * and what it empties is given out again from the lowest slot upwards by a hand that
 * has nothing empty behind it. Many words leave together, unlike with space-saving,
 * and the tokens of a step are lost for the newcomer.
 *
 * Halving rounds counts and the offset down separately; a word whose count falls to
 * the offset leaves.
 */
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"

static void sweep(tide_vocabulary *v)
{
    v->hand = v->used;
    v->lowest = UINT64_MAX;
    for (uint32_t slot = v->used; slot-- > 0;) {
        uint64_t count = v->words.records[slot].count;
        bool empty = tide_words_empty(&v->words, slot);
        if (!empty && count > v->minimum) {
            if (count < v->lowest)
                v->lowest = count;
            continue;
        }
        if (!empty)
            tide_vocabulary_unseat(v, slot);
        v->hand = slot;
    }
}

static uint32_t miss(tide_vocabulary *v, const tide_key *key, bool *reused)
{
    if (v->size == v->words.capacity) {
        v->minimum++;
        if (v->minimum >= v->lowest)
            sweep(v);
        return TIDE_NO_SLOT;
    }
    while (!tide_words_empty(&v->words, v->hand))
        v->hand++;
    uint32_t slot = v->hand++;
    *reused = slot < v->used;
    if (!*reused)
        v->used = slot + 1;
    tide_vocabulary_seat(v, slot, key, v->minimum + 1, v->minimum);
    if (v->lowest > v->minimum + 1)
        v->lowest = v->minimum + 1;
    return slot;
}

static size_t add(tide_vocabulary *v, const tide_word *words, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions)
{
    return tide_vocabulary_batch(v, words, first, end, slots, admissions, miss, NULL);
}

static void halve(tide_vocabulary *v)
{
    v->minimum /= 2;
    sweep(v);
}

const tide_vocabulary_methods tide_misra_gries = {
    .name = "misra-gries",
    .add = add,
    .halve = halve,
    .counts_from_minimum = true,
};
