/* space_saving.c - the most frequent words of a stream, in K slots.
 *
 * Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k
 * elements in data streams", ICDT 2005. A token of a held word increments its count.
 * Any other word replaces one with the smallest count, inherits that count as its
 * error, and continues counting from there. Hence, after N tokens,
 *
 *     count - error <= true count <= count,   error <= minimum <= N / K,
 *
 * the counts add up to N, and every word with a true count above N / K is held.
 *
 * The victim is found by a clock hand that cycles through the slots and stops at the
 * first whose count is `minimum`. Counts only grow, so every slot behind the hand is
 * above the minimum. When the hand reaches the end, no slot is left at the minimum, and
 * the smallest count behind the hand, `lowest`, becomes the new minimum. A hit is a
 * plain increment. A full cycle reads K slots and raises a minimum that never exceeds
 * N / K, so the amortized cost is at most one slot read per token, for any stream.
 * Among words with equal counts the one admitted first is evicted first, so a new word
 * has a full cycle to collect tokens.
 *
 * The gate (Homem and Carvalho, "Finding top-k elements in data streams", Information
 * Sciences 180, 2010) filters out rare words. Words that are not held are counted in a
 * small count-min sketch, and a word is admitted only when its estimate there exceeds
 * the minimum. Each word has two 32-bit cells in one cache line, and an increment
 * raises only the smaller (conservative update). When a word is evicted, its cells are
 * raised to its count. So the estimate of a word that is not held is never below its
 * true count, a rejected word has a true count of at most the minimum, and an admitted
 * word again starts with count = minimum + 1 and error = minimum. All bounds above
 * remain valid, except that the counts add up to at most N. A saturated cell counts as
 * infinite: its words are always admitted.
 *
 * After every halving the hand restarts at the first slot, because rounding makes
 * different counts equal. The minimum may then be 0.
 */
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"

#define GATE_CELLS_PER_SLOT 8

uint64_t tide_gate_lines(const tide_vocabulary_options *options)
{
    if (options->kind != TIDE_VOCABULARY_SPACE_SAVING || !options->gate)
        return 0;
    uint64_t lines = 1;
    while (lines * TIDE_GATE_CELLS < GATE_CELLS_PER_SLOT * (uint64_t)options->capacity)
        lines *= 2;
    return lines;
}

/* The two cells of a word: different cells of one line. */
typedef struct gate_pair {
    uint32_t *a;
    uint32_t *b;
} gate_pair;

static uint64_t gate_hash(const tide_vocabulary *v, const char *bytes, uint32_t length)
{
    return tide_hash(bytes, length, v->options.seed);
}

static gate_pair gate_cells(tide_vocabulary *v, const char *bytes, uint32_t length)
{
    uint64_t hash = gate_hash(v, bytes, length);
    uint32_t *cells = v->gate[hash & v->gate_mask].cells;
    /* Disjoint bits of one hash: the low ones choose the line, the top four the first
     * cell, and the 24 in between a nonzero offset, so that the cells differ. */
    uint32_t a = (uint32_t)(hash >> 60);
    uint32_t apart = 1 + (uint32_t)((hash >> 32 & 0xffffff) * 15 >> 24); /* 1 to 15 */
    return (gate_pair){&cells[a], &cells[a ^ apart]};
}

/* Counts a word that is not held and returns an upper bound on its true count. */
static uint64_t gate_count(tide_vocabulary *v, const tide_key *key)
{
    gate_pair pair = gate_cells(v, key->bytes, key->length);
    /* Every token of the word raised at least the smaller of its two cells, and other
     * words can only have raised them further. So the smaller one is an upper bound. */
    uint32_t estimate = *pair.a < *pair.b ? *pair.a : *pair.b;
    /* Saturated cells stay saturated: gate_halve skips them. */
    if (estimate >= UINT32_MAX - 1) {
        *pair.a = *pair.b = UINT32_MAX;
        return UINT64_MAX;
    }
    estimate++;
    /* Conservative update: a cell that is larger already counts some other word as
     * well, and raising it would only widen its error. */
    if (*pair.a < estimate)
        *pair.a = estimate;
    if (*pair.b < estimate)
        *pair.b = estimate;
    return estimate;
}

/* Raises the cells of a word about to be evicted to its count, so that the estimate
 * remains an upper bound while the word is not held. */
static void gate_raise(tide_vocabulary *v, uint32_t slot)
{
    uint32_t length;
    const char *bytes = tide_word_table_text(&v->words, slot, &length);
    gate_pair pair = gate_cells(v, bytes, length);
    uint64_t count = v->words.records[slot].count;
    uint32_t floor = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    if (*pair.a < floor)
        *pair.a = floor;
    if (*pair.b < floor)
        *pair.b = floor;
}

static void gate_halve(tide_vocabulary *v)
{
    for (uint64_t line = 0; line <= v->gate_mask; line++)
        for (int i = 0; i < TIDE_GATE_CELLS; i++)
            if (v->gate[line].cells[i] != UINT32_MAX)
                v->gate[line].cells[i] /= 2;
}

/* Advances the hand to a slot whose count is the minimum: the word to evict. Returns
 * false, with no victim, once the minimum has risen to `estimate`: the new word is then
 * no more frequent than any held word.
 *
 * Invariant: every slot below the hand has a count of at least `lowest`, and `lowest`
 * is above the minimum. Hits may raise counts behind the hand after it passed, so
 * `lowest` can be too small. Then the next cycle finds no slot at the minimum and
 * raises it again, which costs time but never a wrong victim. */
static bool advance_to_victim(tide_vocabulary *v, uint64_t estimate)
{
    const tide_record *records = v->words.records;
    uint32_t capacity = v->words.capacity;
    while (estimate > v->minimum) {
        uint32_t hand = v->hand;
        uint64_t lowest = v->lowest;
        uint64_t minimum = v->minimum;
        /* The inner loop runs once per slot and cycle. It works on locals, because the
         * compiler cannot know that storing through `v` leaves the records alone. */
        while (hand < capacity && records[hand].count != minimum) {
            if (records[hand].count < lowest)
                lowest = records[hand].count;
            hand++;
        }
        v->hand = hand;
        v->lowest = lowest;
        if (hand < capacity)
            return true;
        /* End of a cycle: no count is below `lowest`. The next cycle starts over. */
        v->minimum = lowest;
        v->lowest = UINT64_MAX;
        v->hand = 0;
    }
    return false;
}

static uint32_t admit(tide_vocabulary *v, const tide_key *key, bool *reused)
{
    /* While there are free slots, every word is admitted with an exact count. */
    if (v->used < v->words.capacity) {
        tide_vocabulary_fill_slot(v, v->used, key, 1, 0);
        return v->used++;
    }
    /* Without a gate, any new word replaces the least frequent one. */
    if (!advance_to_victim(v, v->gate ? gate_count(v, key) : UINT64_MAX))
        return TIDE_NO_SLOT;
    /* The hand moves past the slot, so the new count is now behind it and must be
     * included in `lowest`, below. */
    uint32_t slot = v->hand++;
    /* From now on the gate must answer for the evicted word too, or it could return
     * with an estimate below the count that it had. */
    if (v->gate)
        gate_raise(v, slot);
    tide_vocabulary_evict(v, slot);
    tide_vocabulary_fill_slot(v, slot, key, v->minimum + 1, v->minimum);
    if (v->lowest > v->minimum + 1)
        v->lowest = v->minimum + 1;
    *reused = true;
    return slot;
}

static void prefetch(const tide_vocabulary *v, const tide_key *key)
{
    if (v->gate && v->used == v->words.capacity)
        __builtin_prefetch(
            &v->gate[gate_hash(v, key->bytes, key->length) & v->gate_mask], 1);
}

static size_t add(tide_vocabulary *v, const tide_key *keys, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions)
{
    return tide_vocabulary_batch(v, keys, first, end, slots, admissions, admit,
                                 prefetch);
}

static void halve(tide_vocabulary *v)
{
    v->minimum /= 2;
    /* Rounding can make counts on both sides of the hand equal to the new minimum, so
     * nothing is known about the slots behind it any more. */
    v->hand = 0;
    v->lowest = UINT64_MAX;
    if (v->gate)
        gate_halve(v);
}

const tide_vocabulary_methods tide_space_saving = {
    .name = "space-saving",
    .add = add,
    .halve = halve,
};
