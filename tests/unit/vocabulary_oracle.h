/* vocabulary_oracle.h - exact counts of a stream, and the expected word of every
 * slot. */
#ifndef TIDE_VOCABULARY_ORACLE_H
#define TIDE_VOCABULARY_ORACLE_H

#include "vocab/vocab.h"
#include "sketch_fixture.h"

/* Exact counts, and the word of every slot according to the admissions. */
typedef struct truth {
    const stream *s;
    uint64_t *counts; /* [types] */
    uint32_t *slots;  /* [types], slot of a type or TIDE_NO_SLOT */
    uint32_t *owners; /* [capacity], the type in a slot */
    bool *was_used;   /* [capacity], whether the slot has been used */
    uint32_t capacity;
    uint64_t total;
    uint64_t since_halving;
} truth;

static inline truth truth_new(const stream *s, uint32_t capacity)
{
    truth t = {.s = s, .capacity = capacity};
    t.counts = calloc(s->type_count, sizeof *t.counts);
    t.slots = malloc(s->type_count * sizeof *t.slots);
    t.owners = malloc(capacity * sizeof *t.owners);
    t.was_used = calloc(capacity, sizeof *t.was_used);
    assert_true(t.counts && t.slots && t.owners && t.was_used);
    memset(t.slots, 0xff, s->type_count * sizeof *t.slots);
    memset(t.owners, 0xff, capacity * sizeof *t.owners);
    return t;
}

static inline void truth_free(truth *t)
{
    free(t->was_used);
    free(t->owners);
    free(t->slots);
    free(t->counts);
}

static inline void truth_count(truth *t, uint32_t type, uint64_t half_life)
{
    t->counts[type]++;
    t->total++;
    if (++t->since_halving != half_life)
        return;
    for (uint32_t i = 0; i < t->s->type_count; i++)
        t->counts[i] /= 2;
    t->total /= 2;
    t->since_halving = 0;
}

static inline void truth_admit(truth *t, uint32_t type, const tide_admission *a)
{
    assert_true(a->slot < t->capacity);
    assert_int_equal(a->reused, t->was_used[a->slot]);
    t->was_used[a->slot] = true;
    if (t->owners[a->slot] != TIDE_NO_SLOT)
        t->slots[t->owners[a->slot]] = TIDE_NO_SLOT;
    t->owners[a->slot] = type;
    t->slots[type] = a->slot;
}

/* Misra-Gries drops words without reporting it: the slot is empty or reused. */
static inline void truth_drop(truth *t, uint32_t type)
{
    if (t->slots[type] != TIDE_NO_SLOT)
        t->owners[t->slots[type]] = TIDE_NO_SLOT;
    t->slots[type] = TIDE_NO_SLOT;
}

/* -- all kinds --------------------------------------------------------------------- */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const tide_vocabulary_options setups[] = {
    {.kind = TIDE_VOCABULARY_SPACE_SAVING, .seed = 1},
    {.kind = TIDE_VOCABULARY_SPACE_SAVING, .gate = true, .seed = 2},
    {.kind = TIDE_VOCABULARY_MISRA_GRIES, .seed = 3},
    {.kind = TIDE_VOCABULARY_EXACT, .seed = 4},
};

static inline tide_vocabulary_options setup(size_t i, uint32_t capacity,
                                            uint64_t half_life)
{
    tide_vocabulary_options options = setups[i];
    options.capacity = capacity;
    options.half_life = half_life;
    return options;
}

static inline tide_vocabulary *new_vocabulary(const tide_vocabulary_options *options)
{
    tide_vocabulary *v = tide_vocabulary_new(options, NULL);
    assert_non_null(v);
    return v;
}

#endif
