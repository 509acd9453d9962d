/* hot_rows.c - a thread's own copies of the output rows that all threads want.
 *
 * Threads learn without locks, and a row that one of them has written is in no other's cache. Most rows
 * are seldom wanted by two at a time. A few hundred words are in every sentence and among all negatives,
 * and their rows would travel between the processors all the time. So every thread has copies of
 * those, and after every WAIT words it meets the others:
 *
 *     mine = copy - base,  theirs = row - base       what each has moved since the last meeting
 *     row = base = copy = row + mine - t theirs,     t = <mine, theirs> / <theirs, theirs> within [0, 1]
 *
 * Moves in different directions add up, as they would with one thread; a move that the others have made
 * too is made once. Without t, rows that get to where they want to be between two meetings would be carried
 * past it once for every thread; with the mean, those that do not would move half as far. (Maleki et al.,
 * "Adasum", MLSys 2021, weigh gradients so.)
 *
 * A slot's copy can only be at one place, slot % TIDE_HOT_ROWS, so one look tells whether there is one. The
 * most frequent word of a place has it.
 *
 * When a slot changes hands, the thread that reads closes it and then recalls its copies. No copy is made
 * of a closed slot; who makes one says so first and looks afterwards, so that of two who do both at the
 * same time at least one notices. The slot opens when all lessons given before it was closed are learned,
 * and those given later find the place empty: so nobody ever brings a word's copy to its successor.
 */
#include "sgns/hot_rows.h"

#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum {
    WAIT = 65536,  /* between two meetings, in words */
    RAREST = 4096, /* a word that is copied is more than one in so many */
};

tide_hot_rows *tide_hot_rows_new(uint32_t dim,
                                 const _Atomic uint32_t chosen[TIDE_HOT_ROWS],
                                 tide_error *err)
{
    tide_hot_rows *c = tide_alloc(1, sizeof *c);
    if (c) {
        c->chosen = chosen;
        c->stride = tide_stride(dim);
        c->rows = tide_alloc(TIDE_HOT_ROWS, c->stride * sizeof(float));
        c->bases = tide_alloc(TIDE_HOT_ROWS, c->stride * sizeof(float));
        c->theirs = tide_alloc(1, c->stride * sizeof(float));
    }
    if (!c || !c->rows || !c->bases || !c->theirs) {
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
        free(c->theirs);
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

static uint32_t owner_of(const tide_hot_rows *c, uint32_t place)
{
    return atomic_load_explicit(&c->slots[place], memory_order_relaxed);
}

/* -- choosing -------------------------------------------------------------------------------------- */

void tide_hot_rows_select_none(_Atomic uint32_t chosen[TIDE_HOT_ROWS])
{
    for (uint32_t place = 0; place < TIDE_HOT_ROWS; place++)
        atomic_init(&chosen[place], TIDE_NO_SLOT);
}

void tide_hot_rows_select(const tide_vocabulary *v,
                          _Atomic uint32_t chosen[TIDE_HOT_ROWS])
{
    uint64_t most[TIDE_HOT_ROWS];
    uint32_t best[TIDE_HOT_ROWS];
    for (uint32_t place = 0; place < TIDE_HOT_ROWS; place++) {
        most[place] = tide_vocabulary_total(v) / RAREST;
        best[place] = TIDE_NO_SLOT;
    }
    for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++) {
        uint32_t place = slot % TIDE_HOT_ROWS;
        uint64_t weight = tide_vocabulary_weight(v, slot);
        if (weight > most[place]) {
            most[place] = weight;
            best[place] = slot;
        }
    }
    for (uint32_t place = 0; place < TIDE_HOT_ROWS; place++)
        atomic_store_explicit(&chosen[place], best[place], memory_order_relaxed);
}

/* -- meeting --------------------------------------------------------------------------------------- */

static float *copy_at(const tide_hot_rows *c, uint32_t place)
{
    return c->rows + (size_t)place * c->stride;
}

static float *base_at(const tide_hot_rows *c, uint32_t place)
{
    return c->bases + (size_t)place * c->stride;
}

/* The copy begins as the slot's row is. */
static void take(tide_hot_rows *c, const tide_sgns *l, uint32_t place)
{
    uint32_t slot = owner_of(c, place);
    if (slot == TIDE_NO_SLOT)
        return;
    float *base = base_at(c, place);
    l->kernels->copy(base, tide_matrix_row(&l->model->output, slot), c->stride);
    l->kernels->copy(copy_at(c, place), base, c->stride);
}

/* Which part of the others' move is in mine already. */
static float overlap(const tide_sgns *l, const float *mine, const float *theirs,
                     uint32_t stride)
{
    float both = l->kernels->dot(mine, theirs, stride);
    float square = l->kernels->dot(theirs, theirs, stride);
    return both <= 0 ? 0 : both < square ? both / square : 1;
}

static void meet(tide_hot_rows *c, const tide_sgns *l, uint32_t place)
{
    uint32_t slot = owner_of(c, place);
    if (slot == TIDE_NO_SLOT)
        return;
    const tide_kernels *k = l->kernels;
    float *mine = copy_at(c, place), *base = base_at(c, place),
          *row = tide_matrix_row(&l->model->output, slot), *theirs = c->theirs;
    k->copy(theirs, row, c->stride);
    k->add(theirs, -1, base, c->stride);
    k->add(mine, -1, base, c->stride);
    if (tide_finite(k->dot(mine, mine, c->stride))) {
        k->add(mine, -overlap(l, mine, theirs, c->stride), theirs, c->stride);
        k->add(row, 1, mine, c->stride);
    }
    take(c, l, place);
}

void tide_hot_rows_flush(tide_hot_rows *c, const tide_sgns *l)
{
    for (uint32_t place = 0; place < TIDE_HOT_ROWS && !c->stale; place++)
        meet(c, l, place);
    c->stale = true;
}

/* -- places ---------------------------------------------------------------------------------------- */

/* Gives every place to the slot that was chosen for it. */
static void elect(tide_hot_rows *c, const tide_sgns *l)
{
    for (uint32_t place = 0; place < TIDE_HOT_ROWS; place++) {
        uint32_t chosen = atomic_load_explicit(&c->chosen[place], memory_order_relaxed);
        if (owner_of(c, place) == chosen)
            continue;
        atomic_store(&c->slots[place], chosen);
        if (chosen != TIDE_NO_SLOT && tide_sgns_is_quarantined(l, chosen))
            atomic_store(&c->slots[place], TIDE_NO_SLOT);
    }
}

void tide_hot_rows_begin(tide_hot_rows *c, const tide_sgns *l,
                         const tide_sentence *lesson)
{
    if (c->learned >= WAIT) {
        tide_hot_rows_flush(c, l);
        elect(c, l);
        c->learned = 0;
    }
    for (uint32_t place = 0; place < TIDE_HOT_ROWS && c->stale; place++)
        take(c, l, place);
    c->stale = false;
    c->learned += lesson->count;
}

void tide_hot_rows_invalidate(tide_hot_rows *c, uint32_t slot)
{
    uint32_t owner = slot;
    atomic_compare_exchange_strong(&c->slots[slot % TIDE_HOT_ROWS], &owner,
                                   TIDE_NO_SLOT);
}
