/* hot_rows.h - a thread's private cache of the output rows that every thread uses
 * (hot_rows.c). */
#ifndef TIDE_SGNS_HOT_ROWS_H
#define TIDE_SGNS_HOT_ROWS_H

#include "sgns/sgns.h"
#include "vocab/vocab.h"

#include <stdatomic.h>

enum { TIDE_HOT_ROWS = 1024 };

typedef struct tide_hot_rows {
    /* The slot cached at each index, or TIDE_NO_SLOT. The thread that counts
     * clears an entry when the slot is reused for another word. */
    _Atomic uint32_t slots[TIDE_HOT_ROWS];
    float *rows;  /* [TIDE_HOT_ROWS][stride] the private copies */
    float *bases; /* [TIDE_HOT_ROWS][stride] rows after the last merge */
    float *delta; /* [stride] scratch: what other threads have changed */
    uint32_t stride;
    const _Atomic uint32_t
        *selected;    /* [TIDE_HOT_ROWS] slots to cache from the next merge on */
    uint64_t trained; /* words since the last merge */
    bool stale;       /* flushed: the shared rows may have changed since */
} tide_hot_rows;

/* Selects the slots worth caching: for each index the most frequent word that maps to
 * it, or TIDE_NO_SLOT if none is frequent enough. */
void tide_hot_rows_select(const tide_vocabulary *vocabulary,
                          _Atomic uint32_t selected[TIDE_HOT_ROWS]);
void tide_hot_rows_select_none(_Atomic uint32_t selected[TIDE_HOT_ROWS]);

/* Borrows `selected`. */
tide_hot_rows *tide_hot_rows_new(uint32_t dim,
                                 const _Atomic uint32_t selected[TIDE_HOT_ROWS],
                                 tide_error *err);
void tide_hot_rows_free(tide_hot_rows *cache);
uint64_t tide_hot_rows_bytes(uint32_t dim);

/* To be called before a sentence is trained. Merges the copies with the shared rows and
 * refreshes the selection when a merge is due; reloads the copies after a flush. */
void tide_hot_rows_prepare(tide_hot_rows *cache, const tide_sgns *sgns,
                           const tide_sentence *sentence);

/* Returns this thread's copy of the slot's row, or the shared `row` if the slot is not
 * cached. The choice is a mask instead of a branch, because it is unpredictable. */
static inline float *tide_hot_rows_row(const tide_hot_rows *c, uint32_t slot,
                                       float *row)
{
    uint32_t index = slot % TIDE_HOT_ROWS;
    uint32_t cached = atomic_load_explicit(&c->slots[index], memory_order_relaxed);
    uintptr_t hit = -(uintptr_t)(cached == slot);
    uintptr_t copy = (uintptr_t)(c->rows + (size_t)index * c->stride);
    return (float *)((copy & hit) | ((uintptr_t)row & ~hit));
}

/* Merges all copies into the shared rows. The owning thread must be idle or be the
 * caller. */
void tide_hot_rows_flush(tide_hot_rows *cache, const tide_sgns *sgns);

/* Drops the copy of a slot without merging it. The caller has quarantined the slot
 * before, because it is being reused for another word. */
void tide_hot_rows_invalidate(tide_hot_rows *cache, uint32_t slot);

#endif
