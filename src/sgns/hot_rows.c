/* hot_rows.c - a thread's private cache of the output rows that every thread uses.
 *
 * Threads train without locks, and a cache line that one core has written must travel
 * to the next core that uses it. Most rows are rarely used by two threads at once. A
 * few hundred words, however, occur in every sentence and among all negatives, and
 * their rows would bounce between the cores all the time. So every thread trains
 * private copies of those rows and merges them into the shared rows after every
 * MERGE_INTERVAL words:
 *
 *     mine = copy - base,  theirs = row - base       changes since the last merge
 *     t = <mine, theirs> / <theirs, theirs>          clipped to [0, 1]
 *     row = base = copy = row + mine - t theirs
 *
 * Changes in different directions add up, as they would with one thread; a change that
 * the other threads have made too is applied once. Without t, rows that reach their
 * optimum between two merges would overshoot it once per thread; with the mean instead
 * of the sum, all other rows would move too slowly. (Maleki et al., "Adasum", MLSys
 * 2021, combine gradients this way.)
 *
 * The cache is direct mapped: a slot's copy can only be at index slot % TIDE_HOT_ROWS.
 * Of the slots that share an index, the most frequent word's is cached.
 *
 * When a slot is reused for another word, the thread that counts first quarantines it
 * and then invalidates its copies. A thread that caches a slot first publishes it in
 * slots[] and then checks the quarantine. Both use sequentially consistent operations,
 * so if the two race, at least one of them sees the other and the entry ends up empty.
 * The quarantine ends when every sentence emitted before it has been trained, and
 * sentences emitted later find the entry empty: a copy of the old word is never merged
 * into the row of the new one.
 */
#include "sgns/hot_rows.h"

#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum {
    MERGE_INTERVAL = 65536, /* words */
    RARITY_MAX = 4096, /* a hot word is more frequent than one token in RARITY_MAX */
};

tide_hot_rows *tide_hot_rows_new(uint32_t dim,
                                 const _Atomic uint32_t selected[TIDE_HOT_ROWS],
                                 tide_error *err)
{
    tide_hot_rows *c = tide_alloc(1, sizeof *c);
    if (c) {
        c->selected = selected;
        c->stride = tide_stride(dim);
        c->rows = tide_alloc(TIDE_HOT_ROWS, c->stride * sizeof(float));
        c->bases = tide_alloc(TIDE_HOT_ROWS, c->stride * sizeof(float));
        c->delta = tide_alloc(1, c->stride * sizeof(float));
    }
    if (!c || !c->rows || !c->bases || !c->delta) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a training thread");
        tide_hot_rows_free(c);
        return NULL;
    }
    tide_hot_rows_select_none(c->slots);
    return c;
}

void tide_hot_rows_free(tide_hot_rows *c)
{
    if (c) {
        free(c->delta);
        free(c->bases);
        free(c->rows);
    }
    free(c);
}

uint64_t tide_hot_rows_bytes(uint32_t dim)
{
    return sizeof(tide_hot_rows) +
           (2 * (uint64_t)TIDE_HOT_ROWS + 1) * tide_stride(dim) * sizeof(float);
}

static uint32_t cached_slot(const tide_hot_rows *c, uint32_t index)
{
    return atomic_load_explicit(&c->slots[index], memory_order_relaxed);
}

/* -- selection --------------------------------------------------------------------- */

void tide_hot_rows_select_none(_Atomic uint32_t selected[TIDE_HOT_ROWS])
{
    for (uint32_t index = 0; index < TIDE_HOT_ROWS; index++)
        atomic_init(&selected[index], TIDE_NO_SLOT);
}

void tide_hot_rows_select(const tide_vocabulary *v,
                          _Atomic uint32_t selected[TIDE_HOT_ROWS])
{
    uint64_t weights[TIDE_HOT_ROWS];
    uint32_t slots[TIDE_HOT_ROWS];
    for (uint32_t index = 0; index < TIDE_HOT_ROWS; index++) {
        weights[index] = tide_vocabulary_total(v) / RARITY_MAX;
        slots[index] = TIDE_NO_SLOT;
    }
    /* Two frequent words that share an index compete for it, and the loser stays
     * uncached: its row is shared and merely slower. That is rare, since words in the
     * first slots, usually the frequent ones, have different indexes. */
    for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++) {
        uint32_t index = slot % TIDE_HOT_ROWS;
        uint64_t weight = tide_vocabulary_weight(v, slot);
        if (weight > weights[index]) {
            weights[index] = weight;
            slots[index] = slot;
        }
    }
    /* Threads read this at their next merge. Which of them sees a change first does not
     * matter, since each entry is used by itself. */
    for (uint32_t index = 0; index < TIDE_HOT_ROWS; index++)
        atomic_store_explicit(&selected[index], slots[index], memory_order_relaxed);
}

/* -- merging ----------------------------------------------------------------------- */

static float *copy_at(const tide_hot_rows *c, uint32_t index)
{
    return c->rows + (size_t)index * c->stride;
}

static float *base_at(const tide_hot_rows *c, uint32_t index)
{
    return c->bases + (size_t)index * c->stride;
}

/* Copies the shared row of the slot at `index`. */
static void load_row(tide_hot_rows *c, const tide_sgns *sgns, uint32_t index)
{
    uint32_t slot = cached_slot(c, index);
    if (slot == TIDE_NO_SLOT)
        return;
    float *base = base_at(c, index);
    sgns->kernels->copy(base, tide_matrix_row(&sgns->model->output, slot), c->stride);
    sgns->kernels->copy(copy_at(c, index), base, c->stride);
}

/* Returns t: the share of the other threads' change that is already in this
 * thread's. */
static float overlap(const tide_sgns *sgns, const float *own, const float *others,
                     uint32_t stride)
{
    float both = sgns->kernels->dot(own, others, stride);
    float square = sgns->kernels->dot(others, others, stride);
    /* A negative product means that the changes oppose each other: then both are kept
     * in full. Above 1 this thread has gone further than the others in their direction,
     * and subtracting more than their whole change would reverse it. */
    return both <= 0 ? 0 : both < square ? both / square : 1;
}

/* Merges the copy at `index` into the shared row, then copies the result back.
 *
 * Other threads train the same row meanwhile, without locks: `add` changes the row in
 * place, so that their steps since the copy of it was taken are added to and not
 * overwritten. A change with a NaN or an infinity is dropped; the copy then restarts
 * from the shared row. */
static void merge_row(tide_hot_rows *c, const tide_sgns *sgns, uint32_t index)
{
    uint32_t slot = cached_slot(c, index);
    if (slot == TIDE_NO_SLOT)
        return;
    const tide_kernels *k = sgns->kernels;
    float *own = copy_at(c, index), *base = base_at(c, index),
          *row = tide_matrix_row(&sgns->model->output, slot), *others = c->delta;
    /* `others` becomes row - base, and the copy itself is turned into the change,
     * copy - base. Both have served their purpose when load_row overwrites them at
     * the end. */
    k->copy(others, row, c->stride);
    k->add(others, -1, base, c->stride);
    k->add(own, -1, base, c->stride);
    if (tide_finite(k->dot(own, own, c->stride))) {
        k->add(own, -overlap(sgns, own, others, c->stride), others, c->stride);
        k->add(row, 1, own, c->stride);
    }
    load_row(c, sgns, index);
}

void tide_hot_rows_flush(tide_hot_rows *c, const tide_sgns *sgns)
{
    for (uint32_t index = 0; index < TIDE_HOT_ROWS && !c->stale; index++)
        merge_row(c, sgns, index);
    /* Until the next sentence the shared rows are the only valid ones: a save or a
     * query reads those, and the copies are reloaded when they are needed again. */
    c->stale = true;
}

/* -- cached slots ------------------------------------------------------------------ */

/* Caches the slots that are selected now. An entry is set before the quarantine is
 * read, as the comment at the top explains; new entries are loaded by the caller. */
static void refresh(tide_hot_rows *c, const tide_sgns *sgns)
{
    for (uint32_t index = 0; index < TIDE_HOT_ROWS; index++) {
        uint32_t selected =
            atomic_load_explicit(&c->selected[index], memory_order_relaxed);
        if (cached_slot(c, index) == selected)
            continue;
        /* Publish, then check. The thread that reuses the slot does the reverse,
         * quarantine and then invalidate, so at least one of the two clears this
         * entry. */
        atomic_store(&c->slots[index], selected);
        if (selected != TIDE_NO_SLOT && tide_sgns_is_quarantined(sgns, selected))
            atomic_store(&c->slots[index], TIDE_NO_SLOT);
    }
}

void tide_hot_rows_prepare(tide_hot_rows *c, const tide_sgns *sgns,
                           const tide_sentence *sentence)
{
    /* Merging more often would cost bandwidth, merging rarely would let the threads
     * drift apart. The entries change only here, where no copy has unmerged changes. */
    if (c->trained >= MERGE_INTERVAL) {
        tide_hot_rows_flush(c, sgns);
        refresh(c, sgns);
        c->trained = 0;
    }
    for (uint32_t index = 0; index < TIDE_HOT_ROWS && c->stale; index++)
        load_row(c, sgns, index);
    c->stale = false;
    c->trained += sentence->count;
}

void tide_hot_rows_invalidate(tide_hot_rows *c, uint32_t slot)
{
    /* The exchange clears the entry only if it still belongs to this slot; another slot
     * with the same index keeps its copy. */
    uint32_t owner = slot;
    atomic_compare_exchange_strong(&c->slots[slot % TIDE_HOT_ROWS], &owner,
                                   TIDE_NO_SLOT);
}
