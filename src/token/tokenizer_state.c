/* tokenizer_state.c - section tokenizer of a model file: counters and the incomplete
 * word. */
#include "file/file.h"
#include "token/token.h"
#include "token/tokenizer.h"

#include <assert.h>

/* Eight little-endian 64-bit numbers and the first bytes of the incomplete word, padded
 * with zeros. */
enum { BYTES, INVALID, CUT, DROPPED, OMITTED, IN_SENTENCE, SKIPPED, LENGTH, NUMBERS };
enum { WORD_AT = 8 * NUMBERS, SECTION_SIZE = WORD_AT + WINDOW };

/* The maximum number of pending bytes after all complete words have been taken. */
static size_t pending_max(const tide_tokenizer *t)
{
    return t->split ? WINDOW : PENDING_MAX;
}

void tide_tokenizer_save(const tide_tokenizer *t, tide_store_writer *writer)
{
    size_t pending = t->end - t->position;
    assert(pending <= pending_max(t) && !(t->closed && pending > 0));
    const tide_tokenizer_counts *c = &t->counts;
    const uint64_t numbers[NUMBERS] = {c->bytes,   c->invalid, c->cut,
                                       c->dropped, c->omitted, t->in_sentence,
                                       t->skipped, pending};
    unsigned char section[SECTION_SIZE] = {0};
    for (int i = 0; i < NUMBERS; i++)
        tide_put64(section + 8 * i, numbers[i]);
    memcpy(section + WORD_AT, t->buffer + t->position, pending);
    tide_store_put(writer, "tokenizer", section, sizeof section);
}

/* Whether a tokenizer can be in this state. */
static bool is_plausible(const tide_tokenizer *t, const uint64_t numbers[NUMBERS],
                         const unsigned char *word)
{
    uint64_t length = numbers[LENGTH], bytes = numbers[BYTES];
    if (numbers[IN_SENTENCE] > 1 || length > pending_max(t) || length > bytes)
        return false;
    if (numbers[SKIPPED] > (!t->split && length == PENDING_MAX ? bytes - length : 0))
        return false;
    if (numbers[DROPPED] > bytes || numbers[INVALID] > numbers[DROPPED] ||
        numbers[CUT] > numbers[DROPPED] || numbers[OMITTED] > bytes)
        return false;
    for (uint64_t i = 0; i < length; i++)
        if (word[i] <= 0x20)
            return false;
    return true;
}

int tide_tokenizer_load(tide_tokenizer *t, tide_store *store, tide_error *err)
{
    unsigned char section[SECTION_SIZE];
    int status = tide_store_read(store, "tokenizer", section, sizeof section, err);
    if (status < 0)
        return status;
    uint64_t numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = tide_get64(section + 8 * i);
    if (!is_plausible(t, numbers, section + WORD_AT))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"tokenizer\" is corrupt",
                         tide_store_path(store));

    t->counts = (tide_tokenizer_counts){numbers[BYTES], numbers[INVALID], numbers[CUT],
                                        numbers[DROPPED], numbers[OMITTED]};
    t->in_sentence = numbers[IN_SENTENCE];
    t->skipped = numbers[SKIPPED];
    t->closed = false;
    t->position = 0;
    t->overflow = OVERFLOW_START;
    t->end = numbers[LENGTH];
    memcpy(t->buffer, section + WORD_AT, t->end);
    return TIDE_OK;
}
