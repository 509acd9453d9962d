/* exact.c - every word is counted exactly until the slots are used up.
 *
 * From then on words that are not held stay outside. All that is known about them is
 * that none has occurred more often than such words have been turned away together.
 */
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"

static uint32_t miss(tide_vocabulary *v, const tide_key *key, bool *reused)
{
    (void)reused;
    if (v->used == v->words.capacity) {
        v->minimum++;
        return TIDE_NO_SLOT;
    }
    tide_vocabulary_seat(v, v->used, key, 1, 0);
    return v->used++;
}

static size_t add(tide_vocabulary *v, const tide_word *words, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions)
{
    return tide_vocabulary_batch(v, words, first, end, slots, admissions, miss, NULL);
}

static void halve(tide_vocabulary *v)
{
    v->minimum /= 2;
}

const tide_vocabulary_methods tide_exact = {
    .name = "exact",
    .add = add,
    .halve = halve,
};
