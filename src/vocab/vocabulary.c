/* vocabulary.c - the kinds of vocabulary behind one interface. */
#include "vocab/vocabulary.h"

#include "vocab/vocab.h"

#include <stdlib.h>

static const tide_vocabulary_methods *const kinds[] = {
    [TIDE_VOCABULARY_SPACE_SAVING] = &tide_space_saving,
    [TIDE_VOCABULARY_MISRA_GRIES] = &tide_misra_gries,
    [TIDE_VOCABULARY_EXACT] = &tide_exact,
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* -- create and free --------------------------------------------------------------- */

static bool evicts_words(const tide_vocabulary_options *options)
{
    return options->kind != TIDE_VOCABULARY_EXACT;
}

tide_vocabulary *tide_vocabulary_new_keyed(const tide_vocabulary_options *options,
                                           uint64_t secret, tide_error *err)
{
    if ((size_t)options->kind >= KINDS) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "unknown kind of vocabulary: %d",
                  (int)options->kind);
        return NULL;
    }
    if (options->capacity < 1 || options->capacity > TIDE_CAPACITY_MAX) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "vocabulary capacity must be 1 to %u words, not %u",
                  TIDE_CAPACITY_MAX, options->capacity);
        return NULL;
    }
    tide_vocabulary *v = tide_alloc(1, sizeof *v);
    if (!v) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a vocabulary");
        return NULL;
    }
    v->methods = kinds[options->kind];
    v->options = *options;
    v->lowest = UINT64_MAX;
    /* Space-Saving replaces a word only if some count equals the minimum, and the
     * smallest count of a full table is at least 1. The other kinds count from 0. */
    v->minimum = options->kind == TIDE_VOCABULARY_SPACE_SAVING;
    if (tide_word_table_init(&v->words, options->capacity, secret, err) < 0)
        goto failed;
    if (evicts_words(options)) {
        v->admitted_at = tide_alloc(options->capacity, sizeof *v->admitted_at);
        if (!v->admitted_at) {
            tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a vocabulary");
            goto failed;
        }
    }
    uint64_t lines = tide_gate_lines(options);
    if (lines > 0) {
        v->gate = tide_alloc(lines, sizeof *v->gate);
        v->gate_mask = lines - 1;
        if (!v->gate) {
            tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the vocabulary's gate");
            goto failed;
        }
    }
    return v;
failed:
    tide_vocabulary_free(v);
    return NULL;
}

tide_vocabulary *tide_vocabulary_new(const tide_vocabulary_options *options,
                                     tide_error *err)
{
    return tide_vocabulary_new_keyed(options, tide_secret(), err);
}

void tide_vocabulary_free(tide_vocabulary *v)
{
    if (!v)
        return;
    free(v->gate);
    free(v->admitted_at);
    tide_word_table_release(&v->words);
    free(v);
}

uint64_t tide_vocabulary_bytes(const tide_vocabulary_options *options)
{
    uint64_t arrivals = evicts_words(options) ? options->capacity : 0;
    return sizeof(tide_vocabulary) + tide_word_table_bytes(options->capacity) +
           arrivals * sizeof(uint64_t) +
           sizeof(tide_gate_line) * tide_gate_lines(options);
}

/* -- a copy ------------------------------------------------------------------------ */

tide_vocabulary *tide_vocabulary_new_copy(const tide_vocabulary *v, tide_error *err)
{
    tide_vocabulary *copy = tide_alloc(1, sizeof *copy);
    if (!copy) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a vocabulary");
        return NULL;
    }
    if (tide_word_table_init(&copy->words, v->words.capacity, 0, err) == TIDE_OK)
        return copy;
    free(copy);
    return NULL;
}

void tide_vocabulary_copy(tide_vocabulary *copy, const tide_vocabulary *v)
{
    /* The struct is copied as a whole, except for what it owns: the table's memory
     * stays that of the copy, and a copy never counts, so it needs neither a gate nor
     * admission times. */
    tide_word_table words = copy->words;
    *copy = *v;
    copy->words = words;
    copy->gate = NULL;
    copy->admitted_at = NULL;
    tide_word_table_copy(&copy->words, &v->words, v->used);
}

uint64_t tide_vocabulary_copy_bytes(const tide_vocabulary_options *options)
{
    return sizeof(tide_vocabulary) + tide_word_table_bytes(options->capacity);
}

/* -- counting ---------------------------------------------------------------------- */

static void halve_all(tide_vocabulary *v)
{
    tide_word_table_halve(&v->words, v->used);
    v->total /= 2;
    v->current_token = v->tokens;
    v->methods->halve(v);
    v->since_halving = 0;
}

size_t tide_vocabulary_add(tide_vocabulary *v, const tide_word *words, size_t count,
                           uint32_t *slots, tide_admission *admissions)
{
    tide_key keys[TIDE_VOCABULARY_LOOKAHEAD];
    size_t admitted = 0;
    for (size_t first = 0, size; first < count; first += size) {
        size = count - first;
        if (size > TIDE_VOCABULARY_LOOKAHEAD)
            size = TIDE_VOCABULARY_LOOKAHEAD;
        tide_vocabulary_keys(v, words + first, size, keys);
        size_t more = tide_vocabulary_add_keys(v, keys, size, slots + first,
                                               admissions + admitted);
        for (size_t i = 0; i < more; i++)
            admissions[admitted++].at += (uint32_t)first;
    }
    return admitted;
}

void tide_vocabulary_keys(const tide_vocabulary *v, const tide_word *words,
                          size_t count, tide_key *keys)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = tide_word_table_key(&v->words, &words[i]);
}

size_t tide_vocabulary_add_keys(tide_vocabulary *v, const tide_key *keys, size_t count,
                                uint32_t *slots, tide_admission *admissions)
{
    size_t admitted = 0;
    for (size_t first = 0, end; first < count; first = end) {
        /* Counting stops exactly at the token that completes a half-life, whatever the
         * size of the batch, so the result does not depend on how the text was cut into
         * batches. */
        uint64_t left = UINT64_MAX;
        if (v->options.half_life > 0)
            left = v->options.half_life - v->since_halving;
        end = count - first < left ? count : first + (size_t)left;
        admitted += v->methods->add(v, keys, first, end, slots, admissions + admitted);
        v->tokens += end - first;
        v->total += end - first;
        v->since_halving += end - first;
        if (v->since_halving == v->options.half_life)
            halve_all(v);
    }
    return admitted;
}

uint32_t tide_vocabulary_insert(tide_vocabulary *v, const tide_word *word,
                                uint64_t count, uint64_t error)
{
    tide_key key = tide_word_table_key(&v->words, word);
    if (v->used == v->words.capacity || count > TIDE_COUNTED_MAX - v->tokens ||
        tide_word_table_find(&v->words, &key) != TIDE_NO_SLOT)
        return TIDE_NO_SLOT;
    /* The count is that of a text read elsewhere. Those tokens are added to the totals,
     * so that shares of all tokens and the bounds on counts stay meaningful. */
    v->current_token = v->tokens;
    tide_vocabulary_fill_slot(v, v->used, &key, count, error);
    if (v->methods->counts_from_minimum && v->lowest > count)
        v->lowest =
            count; /* space-saving: `lowest` covers slots behind the hand only */
    v->admitted++;
    v->tokens += count;
    v->total += count;
    return v->used++;
}

/* -- lookup ----------------------------------------------------------------------- */

uint32_t tide_vocabulary_find(const tide_vocabulary *v, const tide_word *word)
{
    tide_key key = tide_word_table_key(&v->words, word);
    return tide_word_table_find(&v->words, &key);
}

const char *tide_vocabulary_word(const tide_vocabulary *v, uint32_t slot,
                                 uint32_t *length)
{
    return tide_word_table_text(&v->words, slot, length);
}

uint64_t tide_vocabulary_count(const tide_vocabulary *v, uint32_t slot)
{
    return v->words.records[slot].count;
}

uint64_t tide_vocabulary_error(const tide_vocabulary *v, uint32_t slot)
{
    return v->words.records[slot].error;
}

/* Tokens since the last halving count 1, those of the half-life before it 1/2, of the
 * one before that 1/4, and so on. */
void tide_vocabulary_decay(const tide_vocabulary *v, uint64_t tokens, double *older,
                           double *recent)
{
    enum { HALVINGS_MAX = 64 }; /* a 64-bit count is 0 after these */
    uint64_t part = v->since_halving, left = tokens;
    double weight = 1, sum = 0;
    /* `part` is how many of the tokens fall between two halvings, `weight` what one of
     * them still counts after the halvings since. What is left after the loop is older
     * than all of them. */
    for (int i = 0; v->options.half_life && left > part && i < HALVINGS_MAX; i++) {
        sum += weight * (double)part;
        left -= part;
        part = v->options.half_life;
        weight /= 2;
    }
    *older = weight;
    *recent = tokens ? (sum + weight * (double)left) / (double)tokens : 1;
}

uint64_t tide_vocabulary_weight(const tide_vocabulary *v, uint32_t slot)
{
    uint64_t count = v->words.records[slot].count;
    if (!v->methods->counts_from_minimum)
        return count;
    return count > v->minimum ? count - v->minimum : 0;
}

void tide_vocabulary_weights(const tide_vocabulary *v, const uint32_t *slots,
                             size_t count, float *weights)
{
    const tide_record *records = v->words.records;
    uint64_t offset = v->methods->counts_from_minimum ? v->minimum : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t weight = slots[i] == TIDE_NO_SLOT ? offset : records[slots[i]].count;
        weights[i] = weight > offset ? (float)(weight - offset) : 0;
    }
}

uint32_t tide_vocabulary_used(const tide_vocabulary *v)
{
    return v->used;
}

uint32_t tide_vocabulary_size(const tide_vocabulary *v)
{
    return v->size;
}

uint64_t tide_vocabulary_tokens(const tide_vocabulary *v)
{
    return v->tokens;
}

uint64_t tide_vocabulary_total(const tide_vocabulary *v)
{
    return v->total;
}

uint64_t tide_vocabulary_minimum(const tide_vocabulary *v)
{
    bool every_word_is_held = v->rejected == 0 && v->evicted == 0;
    return every_word_is_held ? 0 : v->minimum;
}

uint64_t tide_vocabulary_admitted(const tide_vocabulary *v)
{
    return v->admitted;
}

uint64_t tide_vocabulary_evicted(const tide_vocabulary *v)
{
    return v->evicted;
}

uint64_t tide_vocabulary_evicted_early(const tide_vocabulary *v)
{
    return v->evicted_early;
}

uint64_t tide_vocabulary_rejected(const tide_vocabulary *v)
{
    return v->rejected;
}
