/* select.c - chooses what to train of tokens that have been read or are replayed: those
 * whose slots still mean the same words, less frequent words dropped at random.
 *
 * With one thread the ingest does this when it emits a sentence, with the counts of
 * that moment. With more, sentences are emitted as they were stored, and the thread that
 * trains them selects, so that the thread that counts only copies them. The chances to
 * be kept are in a table that is updated from time to time: reading the counts
 * themselves would take their cache lines from the thread that counts.
 *
 * A slot may be reused for another word between the emission of a sentence and its
 * selection. What happened before the emission is visible, since the queue orders it:
 * a slot reused after the token was stored has a later `admitted` and is skipped. What
 * happens after it may be visible or not, and either is right: the slot is quarantined,
 * and keeps its previous word's row until this sentence has been trained.
 */
#include "params/params.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vocab/vocab.h"

static inline bool is_usable(const tide_selection *s, uint32_t slot, uint64_t stamp)
{
    return slot < s->vocab &&
           (stamp == TIDE_CURRENT ||
            __atomic_load_n(&s->admitted[slot], __ATOMIC_RELAXED) <= stamp) &&
           !(__atomic_load_n(&s->quarantined[slot / 64], __ATOMIC_SEQ_CST) >>
                 (slot % 64) &
             1);
}

uint32_t tide_select_usable(const tide_selection *s, const uint32_t *tokens,
                            uint32_t count, uint64_t stamp, uint32_t *slots)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = tokens[i] & ~TIDE_FIRST;
        if (is_usable(s, slot, stamp))
            slots[kept++] = slot;
        else if (s->holes)
            slots[kept++] = TIDE_NO_SLOT;
    }
    return kept;
}

uint32_t tide_select_random(uint32_t *slots, const float *chances, uint32_t count,
                            tide_rng *rng)
{
    uint32_t kept = 0;
    tide_rng local = *rng; /* in registers: stores to slots[] cannot change it */
    for (uint32_t i = 0; i < count; i++) {
        slots[kept] = slots[i];
        kept += tide_rng_float(&local) < chances[i];
    }
    *rng = local;
    return kept;
}

static uint32_t subsample(const tide_selection *s, uint32_t *slots, uint32_t count,
                          tide_rng *rng)
{
    float chances[SENTENCE_MAX];
    if (!s->chances)
        return count;
    for (uint32_t i = 0; i < count; i++)
        chances[i] =
            slots[i] == TIDE_NO_SLOT
                ? 1
                : atomic_load_explicit(&s->chances[slots[i]], memory_order_relaxed);
    return tide_select_random(slots, chances, count, rng);
}

/* The end of the sentence that begins at `from`. */
static uint32_t sentence_end(const tide_sentence *stored, uint32_t from)
{
    uint32_t to = from + 1;
    if (stored->stamp == TIDE_CURRENT)
        return stored->count;
    while (to < stored->count && !(stored->slots[to] & TIDE_FIRST))
        to++;
    return to;
}

void tide_sgns_select_and_train(const tide_sgns *sgns, tide_scratch *scratch,
                                const tide_sentence *stored,
                                tide_sgns_progress *progress)
{
    const tide_selection *s = sgns->selection;
    uint32_t slots[SENTENCE_MAX];
    tide_rng rng = tide_rng_seeded((sgns->params->seed ^ 0x1e7a4e) +
                                   stored->sequence * 0x9e3779b97f4a7c15u);
    for (uint32_t from = 0, to; from < stored->count; from = to) {
        to = sentence_end(stored, from);
        uint32_t count = tide_select_usable(s, stored->slots + from, to - from,
                                            stored->stamp, slots);
        tide_sentence sentence = *stored;
        sentence.slots = slots;
        sentence.count = subsample(s, slots, count, &rng);
        sentence.sequence += from;
        if (sentence.count > 1)
            tide_sgns_train(sgns, scratch, &sentence, progress);
    }
}
