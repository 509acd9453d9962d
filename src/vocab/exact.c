/* exact.c - exact counts of the first `capacity` distinct words.
 *
 * Once all slots are taken, further words are rejected. `minimum` counts the rejected
 * tokens, so it is an upper bound on the count of any single rejected word.
 */
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"

static uint32_t admit(tide_vocabulary *v, const tide_key *key, bool *reused)
{
    (void)reused;
    if (v->used == v->words.capacity) {
        v->minimum++;
        return TIDE_NO_SLOT;
    }
    tide_vocabulary_fill_slot(v, v->used, key, 1, 0);
    return v->used++;
}

static size_t add(tide_vocabulary *v, const tide_key *keys, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions)
{
    return tide_vocabulary_batch(v, keys, first, end, slots, admissions, admit, NULL);
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
