/* phrases.c - pairs of words that belong together become one: new york, new_york.
 *
 * Mikolov et al., "Distributed representations of words and phrases and their compositionality",
 * NIPS 2013, section 4, made streaming. Of n words so far, a and b are joined when
 *
 *     (count(a b) - least) * n  >  threshold * count(a) * count(b),
 *
 * that is, when the pair comes so many times as often as it would by chance. word2phrase counts in a
 * first pass over the text; here words and pairs share one Space-Saving sketch of fixed size, and a
 * pair is joined from the moment on at which its counts say so. The pair's count is taken at its
 * lower bound and those of its words at their upper ones, so what the sketch does not know for
 * certain never joins anything.
 *
 * Joining goes from left to right, and a word that has been joined is not joined again. A word is
 * held back until the next one of its sentence is known. Every decision depends on the words before
 * it alone, so how the text is cut does not matter. Where words are frozen nothing is counted: what
 * the model knows as a phrase stays one, and no other pair becomes one.
 */
#include "file/file.h"
#include "params/params.h"
#include "reader/reader.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum {
    WORDS = 64, /* taken at once */
    ROOM = 80,  /* of a word that is given out, 16 bytes behind it readable */
    STATE_NUMBERS = 4,
    STATE_SIZE = 8 * STATE_NUMBERS + TIDE_WORD_MAX + 1,
};

struct tide_phrases {
    tide_vocabulary *counts; /* of words, and of pairs "a b" */
    bool fixed;              /* nothing is counted any more */
    double threshold;
    uint64_t least;
    uint64_t words; /* counted */

    /* The last word of the sentence, for the pair with the next. */
    char last[ROOM];
    uint32_t last_length; /* 0 at the beginning of a sentence */
    uint64_t last_count;
    bool held; /* it has not been given out */

    tide_word given[WORDS + 1];
    char texts[WORDS + 1][ROOM];
    size_t given_count, given_at;
    bool ended; /* a sentence ends after them */
};

static tide_vocabulary_options sketch_of(const tide_params *params)
{
    return (tide_vocabulary_options){.kind = TIDE_VOCABULARY_SPACE_SAVING,
                                     .capacity = (uint32_t)params->phrases,
                                     .gate = true,
                                     .half_life = params->half_life,
                                     .seed = params->seed ^ 0x9a12,
                                     .name = "phrase"};
}

uint64_t tide_phrases_bytes(const tide_params *params)
{
    tide_vocabulary_options sketch = sketch_of(params);
    return params->phrases ? sizeof(tide_phrases) + tide_vocabulary_bytes(&sketch) : 0;
}

tide_phrases *tide_phrases_new(const tide_params *params, tide_store *store,
                               tide_error *err)
{
    tide_phrases *p = tide_alloc(1, sizeof *p);
    if (!p) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for phrases");
        return NULL;
    }
    tide_vocabulary_options sketch = sketch_of(params);
    p->fixed = tide_params_fixed_vocabulary(params);
    p->threshold = params->phrase_threshold;
    p->least = params->phrase_count;
    p->counts = store ? tide_vocabulary_load(&sketch, store, err)
                      : tide_vocabulary_new(&sketch, err);
    if (!p->counts) {
        free(p);
        return NULL;
    }
    return p;
}

void tide_phrases_free(tide_phrases *p)
{
    if (p)
        tide_vocabulary_free(p->counts);
    free(p);
}

/* -- joining ------------------------------------------------------------------------------------- */

/* Counts a word or a pair, unless all is fixed, and returns its slot. */
static uint32_t count(tide_phrases *p, const char *bytes, uint32_t length)
{
    const tide_word word = {bytes, length};
    uint32_t slot;
    tide_admission admission;
    if (p->fixed)
        return tide_vocabulary_find(p->counts, &word);
    tide_vocabulary_add(p->counts, &word, 1, &slot, &admission);
    return slot;
}

static void give(tide_phrases *p, const char *bytes, uint32_t length)
{
    size_t at = p->given_count++;
    memcpy(p->texts[at], bytes, length);
    p->given[at] = (tide_word){p->texts[at], length};
}

/* What the pair is known to have been seen, at least. */
static uint64_t certain(const tide_phrases *p, uint32_t slot)
{
    if (slot == TIDE_NO_SLOT)
        return 0;
    return tide_vocabulary_count(p->counts, slot) -
           tide_vocabulary_error(p->counts, slot);
}

/* Halved with the counts: the sketch halves words and pairs together. */
static double words_so_far(const tide_phrases *p)
{
    double left = (double)tide_vocabulary_total(p->counts) /
                  (double)tide_vocabulary_tokens(p->counts);
    return (double)p->words * left;
}

/* Whether the last word, if it is still held, and this one are one. Leaves them in `pair`. */
static bool belong(tide_phrases *p, const tide_word *word, uint64_t word_count,
                   char pair[ROOM])
{
    uint32_t length = p->last_length + 1 + word->length;
    if (!p->last_length || length > TIDE_WORD_MAX)
        return false;
    memcpy(pair, p->last, p->last_length);
    pair[p->last_length] = ' ';
    memcpy(pair + p->last_length + 1, word->bytes, word->length);
    uint64_t seen = certain(p, count(p, pair, length));
    pair[p->last_length] = '_';
    return p->held && seen > p->least &&
           (double)(seen - p->least) * words_so_far(p) >
               p->threshold * (double)p->last_count * (double)word_count;
}

static void take_word(tide_phrases *p, const tide_word *word)
{
    char pair[ROOM];
    uint32_t slot = count(p, word->bytes, word->length);
    uint64_t word_count = slot == TIDE_NO_SLOT ? tide_vocabulary_minimum(p->counts)
                                               : tide_vocabulary_count(p->counts, slot);
    p->words += !p->fixed;
    bool joined = belong(p, word, word_count, pair);
    if (joined)
        give(p, pair, p->last_length + 1 + word->length);
    else if (p->held)
        give(p, p->last, p->last_length);
    memcpy(p->last, word->bytes, word->length);
    p->last_length = word->length;
    p->last_count = word_count;
    p->held = !joined;
}

static void end_sentence(tide_phrases *p)
{
    if (p->held)
        give(p, p->last, p->last_length);
    p->held = false;
    p->last_length = 0;
    p->ended = true;
}

size_t tide_phrases_take(tide_phrases *p, tide_take *take, void *from, tide_word *words,
                         size_t room, bool *sentence_ended)
{
    tide_word taken[WORDS];
    while (p->given_at == p->given_count && !p->ended) {
        bool ended;
        p->given_at = p->given_count = 0;
        size_t size = take(from, taken, WORDS, &ended);
        for (size_t i = 0; i < size; i++)
            take_word(p, &taken[i]);
        if (ended)
            end_sentence(p);
        if (!size && !ended)
            break;
    }
    size_t left = p->given_count - p->given_at, size = left < room ? left : room;
    if (size)
        memcpy(words, p->given + p->given_at, size * sizeof *words);
    p->given_at += size;
    *sentence_ended = p->ended && size == left;
    p->ended = p->ended && !*sentence_ended;
    return size;
}

bool tide_phrases_at_boundary(const tide_phrases *p)
{
    return !p->held && p->given_at == p->given_count;
}

/* -- section phrase --------------------------------------------------------------------------------- */

/* Words counted, count of the last word, whether it is held, its length; its bytes. */
void tide_phrases_save(const tide_phrases *p, tide_store_writer *writer)
{
    const uint64_t numbers[STATE_NUMBERS] = {p->words, p->last_count, p->held,
                                             p->last_length};
    unsigned char state[STATE_SIZE] = {0};
    for (int i = 0; i < STATE_NUMBERS; i++)
        tide_put64(state + 8 * i, numbers[i]);
    memcpy(state + 8 * STATE_NUMBERS, p->last, p->last_length);
    tide_store_put(writer, "phrase", state, sizeof state);
    tide_vocabulary_save(p->counts, writer);
}

int tide_phrases_load(tide_phrases *p, tide_store *store, tide_error *err)
{
    unsigned char state[STATE_SIZE];
    int status = tide_store_read(store, "phrase", state, sizeof state, err);
    if (status)
        return status;
    uint64_t held = tide_get64(state + 16), length = tide_get64(state + 24);
    if (held > 1 || length > TIDE_WORD_MAX || (held && !length) ||
        tide_get64(state) > tide_vocabulary_tokens(p->counts))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section phrase is impossible",
                         tide_store_path(store));
    p->words = tide_get64(state);
    p->last_count = tide_get64(state + 8);
    p->held = held;
    p->last_length = (uint32_t)length;
    memcpy(p->last, state + 8 * STATE_NUMBERS, length);
    return TIDE_OK;
}
