/* copies.h - a thread's own copies of the output rows that all threads want (hot_rows.c). */
#ifndef TIDE_SGNS_HOT_ROWS_H
#define TIDE_SGNS_HOT_ROWS_H

#include "sgns/sgns.h"
#include "vocab/vocab.h"

#include <stdatomic.h>

enum { TIDE_COPIES = 1024 };

typedef struct tide_copies {
    /* Whose row is at a place, a slot or TIDE_NO_SLOT. The thread that reads clears it when the slot
     * gets another word. */
    _Atomic uint32_t slots[TIDE_COPIES];
    float *rows;   /* [TIDE_COPIES][stride] */
    float *bases;  /* [TIDE_COPIES][stride] what they were at the last meeting */
    float *theirs; /* [stride] scratch */
    uint32_t stride;
    const _Atomic uint32_t *chosen; /* [TIDE_COPIES] for whom a place is next */
    uint64_t learned;               /* words since the last meeting */
    bool stale; /* all was given: somebody may have written the rows of all since */
} tide_copies;

/* Finds the words of which it is worth to have copies, one for each place or TIDE_NO_SLOT. */
void tide_copies_choose(const tide_vocabulary *vocabulary,
                        _Atomic uint32_t chosen[TIDE_COPIES]);
void tide_copies_choose_none(_Atomic uint32_t chosen[TIDE_COPIES]);

/* `chosen` must live longer. */
tide_copies *tide_copies_new(uint32_t dim, const _Atomic uint32_t chosen[TIDE_COPIES],
                             tide_error *err);
void tide_copies_free(tide_copies *copies);
uint64_t tide_copies_bytes(uint32_t dim);

/* Before a lesson is learned: may bring copies and rows together, and change what is copied. */
void tide_copies_begin(tide_copies *copies, const tide_learner *learner,
                       const tide_lesson *lesson);

/* The slot's row here, where all others have `row`. Chosen with a mask: which words are copied is
 * nothing that a processor could predict. */
static inline float *tide_copies_row(const tide_copies *c, uint32_t slot, float *row)
{
    uint32_t place = slot % TIDE_COPIES;
    uint32_t owner = atomic_load_explicit(&c->slots[place], memory_order_relaxed);
    uintptr_t own = -(uintptr_t)(owner == slot);
    uintptr_t copy = (uintptr_t)(c->rows + (size_t)place * c->stride);
    return (float *)((copy & own) | ((uintptr_t)row & ~own));
}

/* Lets the rows of all have what was learned. The copies' thread must be idle, or be the caller's. */
void tide_copies_give(tide_copies *copies, const tide_learner *learner);

/* The slot has been closed, by the caller, because it gets another word. */
void tide_copies_recall(tide_copies *copies, uint32_t slot);

#endif
