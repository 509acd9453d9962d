/* word_table.c - the hash table of every vocabulary; word_table.h shows its layout. */
#include "vocab/word_table.h"

#include <stdlib.h>

const unsigned char tide_word_table_masks[32] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

/* The table has at least two cells per slot, and 2^4 to 2^31 cells in all. */
static uint32_t cell_count_log2(uint32_t capacity)
{
    uint32_t log2 = 4;
    while ((UINT64_C(1) << log2) < 2 * (uint64_t)capacity)
        log2++;
    return log2;
}

uint64_t tide_word_table_bytes(uint32_t capacity)
{
    return (sizeof(tide_record) + TIDE_WORD_MAX + 1) * (uint64_t)capacity +
           (sizeof(uint64_t) << cell_count_log2(capacity));
}

int tide_word_table_init(tide_word_table *t, uint32_t capacity, uint64_t secret,
                         tide_error *err)
{
    uint32_t log2 = cell_count_log2(capacity);
    tide_rng rng = {secret};
    *t = (tide_word_table){
        .records = tide_alloc(capacity, sizeof *t->records),
        .texts = tide_alloc(capacity, sizeof *t->texts),
        .cells = tide_alloc((size_t)1 << log2, sizeof *t->cells),
        .secret = {tide_rng_next(&rng), tide_rng_next(&rng)},
        .capacity = capacity,
        .mask = (uint32_t)((UINT64_C(1) << log2) - 1),
        .shift = 32 - log2,
    };
    if (t->records && t->texts && t->cells)
        return TIDE_OK;
    tide_word_table_release(t);
    return tide_fail(err, TIDE_ERROR_MEMORY,
                     "no memory for a vocabulary of %u words (%llu bytes)", capacity,
                     (unsigned long long)tide_word_table_bytes(capacity));
}

void tide_word_table_release(tide_word_table *t)
{
    free(t->cells);
    free(t->texts);
    free(t->records);
    *t = (tide_word_table){0};
}

void tide_word_table_copy(tide_word_table *to, const tide_word_table *from,
                          uint32_t used)
{
    memcpy(to->secret, from->secret, sizeof to->secret);
    memcpy(to->records, from->records, used * sizeof *to->records);
    memcpy(to->cells, from->cells, ((size_t)from->mask + 1) * sizeof *to->cells);
    /* Short words are stored inside their record. Only the few long ones have a text of
     * their own, so copying the texts as a block would mostly copy unused memory. */
    for (uint32_t slot = 0; slot < used; slot++)
        if (from->records[slot].key[1] >> 56 == TIDE_KEY_LONG)
            memcpy(to->texts[slot], from->texts[slot], sizeof *to->texts);
}

void tide_word_table_put(tide_word_table *t, uint32_t slot, const tide_key *key)
{
    memcpy(t->records[slot].key, key->part, sizeof key->part);
    if (key->length > TIDE_KEY_INLINE) {
        memcpy(t->texts[slot], key->bytes, key->length);
        t->texts[slot][key->length] = 0;
    }
    /* Linear probing from the home cell, the top bits of the tag. There is always a
     * free cell, because there are two cells per slot. */
    uint32_t i = key->tag >> t->shift;
    while (t->cells[i] != 0)
        i = (i + 1) & t->mask;
    t->cells[i] = (uint64_t)key->tag << 32 | (slot + 1);
}

/* Frees cell `gap` by backward shifting: a later cell of the same run moves into the
 * gap unless its probe sequence starts after the gap; the cell it leaves is the new
 * gap. */
static void close_cell_gap(tide_word_table *t, uint32_t gap)
{
    for (uint32_t i = (gap + 1) & t->mask; t->cells[i] != 0; i = (i + 1) & t->mask) {
        uint32_t home = (uint32_t)(t->cells[i] >> 32) >> t->shift;
        /* Distances are modulo the size of the table. The cell may move only if its
         * home is at the gap or before it; otherwise a lookup would start behind the
         * gap and miss it. */
        if (((i - home) & t->mask) < ((i - gap) & t->mask))
            continue;
        t->cells[gap] = t->cells[i];
        gap = i;
    }
    t->cells[gap] = 0;
}

void tide_word_table_remove(tide_word_table *t, uint32_t slot)
{
    uint32_t tag = tide_word_table_tag(t, t->records[slot].key);
    uint64_t cell = (uint64_t)tag << 32 | (slot + 1);
    uint32_t i = tag >> t->shift;
    /* The cell is found by its whole content, tag and slot, without comparing words. */
    while (t->cells[i] != cell)
        i = (i + 1) & t->mask;
    close_cell_gap(t, i);
    t->records[slot] = (tide_record){0};
}

const char *tide_word_table_text(const tide_word_table *t, uint32_t slot,
                                 uint32_t *length)
{
    const uint64_t *key = t->records[slot].key;
    /* The last byte of a key is the length of an inline word, or TIDE_KEY_LONG; then
     * its first byte after the hash has the length. An all-zero key is an empty
     * slot. */
    uint32_t last = (uint32_t)(key[1] >> 56);
    *length = last == TIDE_KEY_LONG ? (uint32_t)(key[1] & 0xff) : last;
    if (last == TIDE_KEY_LONG)
        return t->texts[slot];
    return last == 0 ? NULL : (const char *)key;
}

void tide_word_table_halve(tide_word_table *t, uint32_t used)
{
    for (tide_record *r = t->records; r < t->records + used; r++) {
        /* Halve the guaranteed part and the count separately, rounding both down, and
         * derive the error, so that count - error stays a lower bound. */
        uint64_t certain = r->count - r->error;
        r->count /= 2;
        r->error = r->count - certain / 2;
    }
}
