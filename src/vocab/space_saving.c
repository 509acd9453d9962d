/* space_saving.c - the most frequent words of a stream, in K slots.
 *
 * Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k
 * elements in data streams", ICDT 2005. A word that is held is counted. A word that is
 * not takes the slot of one with the smallest count, inherits that count as its error,
 * and goes on from there. Hence, after N tokens,
 *
 *     count - error <= true count <= count,   error <= minimum <= N / K,
 *
 * the counts add up to N, and every word with a true count above N / K is held.
 *
 * The smallest count is found by a hand that goes round the slots and stops at the
 * first whose count is `minimum`. Counts only grow, so a slot that was passed stays
 * above the minimum: when the hand comes round without having stopped, or for the last
 * time, no slot is left at the minimum, and the smallest count that the hand has seen
 * on its way becomes the new one. A hit costs one increment and nothing else. A turn
 * looks at K slots and raises a minimum that never exceeds N / K, so at most one slot
 * is looked at for each token of the stream, whatever the stream. Among equals the one
 * that waited longest goes first, so a newcomer has a whole turn to prove itself.
 *
 * The gate (Homem and Carvalho, "Finding top-k elements in data streams", Information
 * Sciences 180, 2010) keeps the rabble out: words that are not held are counted in a
 * small count-min sketch, and one is admitted only when its estimate there exceeds the
 * minimum. A word has two cells of 32 bits in one cache line, and only the smaller is
 * raised (conservative update). A word that leaves has its cells raised to its count.
 * So the estimate of a word that is not held is never below its true count, a word
 * that is rejected has a true count of at most the minimum, and a newcomer again
 * begins with count = minimum + 1 and error = minimum. All the bounds above remain,
 * except that the counts add up to at most N. A cell that is full says "any number"
 * from then on, and lets its words in.
 *
 * With a half-life the hand begins again at the first slot after every halving, since
 * rounding makes counts equal that were not. The minimum may then be 0.
 */
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"

#define GATE_CELLS_A_SLOT 8

uint64_t tide_gate_lines(const tide_vocabulary_options *options)
{
    if (options->kind != TIDE_VOCABULARY_SPACE_SAVING || !options->gate)
        return 0;
    uint64_t lines = 1;
    while (lines * TIDE_GATE_CELLS < GATE_CELLS_A_SLOT * (uint64_t)options->capacity)
        lines *= 2;
    return lines;
}

/* The two cells of a word. */
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
    uint32_t a = (uint32_t)(hash >> 60);
    uint32_t apart = 1 + (uint32_t)((hash >> 32 & 0xffffff) * 15 >> 24); /* 1 to 15 */
    return (gate_pair){&cells[a], &cells[a ^ apart]};
}

/* Counts a word that is not held, and returns what its true count is at most. */
static uint64_t gate_count(tide_vocabulary *v, const tide_key *key)
{
    gate_pair pair = gate_cells(v, key->bytes, key->length);
    uint32_t estimate = *pair.a < *pair.b ? *pair.a : *pair.b;
    if (estimate >= UINT32_MAX - 1) {
        *pair.a = *pair.b = UINT32_MAX;
        return UINT64_MAX;
    }
    estimate++;
    if (*pair.a < estimate)
        *pair.a = estimate;
    if (*pair.b < estimate)
        *pair.b = estimate;
    return estimate;
}

/* The word in this slot is about to leave. */
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

/* Moves the hand to a slot at the minimum, unless the minimum rises to `estimate` on
 * the way: then nobody has to go. */
static bool hand_stops(tide_vocabulary *v, uint64_t estimate)
{
    const tide_record *records = v->words.records;
    uint32_t capacity = v->words.capacity;
    while (estimate > v->minimum) {
        uint32_t hand = v->hand;
        uint64_t lowest = v->lowest;
        uint64_t minimum = v->minimum;
        while (hand < capacity && records[hand].count != minimum) {
            if (records[hand].count < lowest)
                lowest = records[hand].count;
            hand++;
        }
        v->hand = hand;
        v->lowest = lowest;
        if (hand < capacity)
            return true;
        v->minimum = lowest;
        v->lowest = UINT64_MAX;
        v->hand = 0;
    }
    return false;
}

static uint32_t miss(tide_vocabulary *v, const tide_key *key, bool *reused)
{
    if (v->used < v->words.capacity) {
        tide_vocabulary_seat(v, v->used, key, 1, 0);
        return v->used++;
    }
    if (!hand_stops(v, v->gate ? gate_count(v, key) : UINT64_MAX))
        return TIDE_NO_SLOT;
    uint32_t slot = v->hand++;
    if (v->gate)
        gate_raise(v, slot);
    tide_vocabulary_unseat(v, slot);
    tide_vocabulary_seat(v, slot, key, v->minimum + 1, v->minimum);
    if (v->lowest > v->minimum + 1)
        v->lowest = v->minimum + 1;
    *reused = true;
    return slot;
}

static void ask(const tide_vocabulary *v, const tide_key *key)
{
    if (v->gate && v->used == v->words.capacity)
        __builtin_prefetch(
            &v->gate[gate_hash(v, key->bytes, key->length) & v->gate_mask], 1);
}

static size_t add(tide_vocabulary *v, const tide_word *words, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions)
{
    return tide_vocabulary_batch(v, words, first, end, slots, admissions, miss, ask);
}

static void halve(tide_vocabulary *v)
{
    v->minimum /= 2;
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
