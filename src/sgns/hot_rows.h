/* copies.h - a thread's own copies of the output rows that all threads want (hot_rows.c). */
#ifndef TIDE_SGNS_HOT_ROWS_H
#define TIDE_SGNS_HOT_ROWS_H

#include "sgns/sgns.h"
#include "vocab/vocab.h"

#include <stdatomic.h>

enum { TIDE_HOT_ROWS = 1024 };

typedef struct tide_hot_rows {
    /* Whose row is at a place, a slot or TIDE_NO_SLOT. The thread that reads clears it when the slot
     * gets another word. */
    _Atomic uint32_t slots[TIDE_HOT_ROWS];
    float *rows;   /* [TIDE_HOT_ROWS][stride] */
    float *bases;  /* [TIDE_HOT_ROWS][stride] what they were at the last meeting */
    float *theirs; /* [stride] scratch */
    uint32_t stride;
    const _Atomic uint32_t *chosen; /* [TIDE_HOT_ROWS] for whom a place is next */
    uint64_t learned;               /* words since the last meeting */
    bool stale; /* all was given: somebody may have written the rows of all since */
} tide_hot_rows;

/* Finds the words of which it is worth to have copies, one for each place or TIDE_NO_SLOT. */
void tide_hot_rows_select(const tide_vocabulary *vocabulary,
                          _Atomic uint32_t chosen[TIDE_HOT_ROWS]);
void tide_hot_rows_select_none(_Atomic uint32_t chosen[TIDE_HOT_ROWS]);

/* `chosen` must live longer. */
tide_hot_rows *tide_hot_rows_new(uint32_t dim,
                                 const _Atomic uint32_t chosen[TIDE_HOT_ROWS],
                                 tide_error *err);
void tide_hot_rows_free(tide_hot_rows *copies);
uint64_t tide_hot_rows_bytes(uint32_t dim);

/* Before a lesson is learned: may bring copies and rows together, and change what is copied. */
void tide_hot_rows_begin(tide_hot_rows *copies, const tide_sgns *learner,
                         const tide_sentence *lesson);

/* The slot's row here, where all others have `row`. Chosen with a mask: which words are copied is
 * nothing that a processor could predict. */
static inline float *tide_hot_rows_row(const tide_hot_rows *c, uint32_t slot,
                                       float *row)
{
    uint32_t place = slot % TIDE_HOT_ROWS;
    uint32_t owner = atomic_load_explicit(&c->slots[place], memory_order_relaxed);
    uintptr_t own = -(uintptr_t)(owner == slot);
    uintptr_t copy = (uintptr_t)(c->rows + (size_t)place * c->stride);
    return (float *)((copy & own) | ((uintptr_t)row & ~own));
}

/* Lets the rows of all have what was learned. The copies' thread must be idle, or be the caller's. */
void tide_hot_rows_flush(tide_hot_rows *copies, const tide_sgns *learner);

/* The slot has been closed, by the caller, because it gets another word. */
void tide_hot_rows_invalidate(tide_hot_rows *copies, uint32_t slot);

#endif
