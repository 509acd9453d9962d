/* phrases.c - joins pairs of words that form a phrase: new york becomes new_york.
 *
 * Mikolov et al., "Distributed representations of words and phrases and their
 * compositionality", NIPS 2013, section 4, adapted to streams. After n words, a and b
 * are joined if
 *
 *     (count(a b) - min_count) * n  >  threshold * count(a) * count(b),
 *
 * that is, if the pair is `threshold` times as frequent as it would be by chance.
 * word2phrase counts in a first pass over the text. Here words and pairs share one
 * Space-Saving sketch of fixed size, and a pair is joined from the moment its counts
 * justify it. The lower bound is used for the count of the pair and the upper bounds
 * for those of its words, so the error of the sketch never causes a pair to be joined.
 *
 * Words are joined from left to right, and a joined word is not joined again. A word is
 * held back until the next word of its sentence is known. Each decision depends only on
 * the words before it, so the result does not depend on how the text is divided. With a
 * fixed vocabulary nothing is counted, and the set of phrases does not change.
 */
#include "file/file.h"
#include "params/params.h"
#include "reader/reader.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum {
    BATCH = 64,     /* words processed at a time */
    WORD_SIZE = 80, /* bytes for a word, including 16 readable bytes after it */
    STATE_NUMBERS = 4,
    STATE_SIZE = 8 * STATE_NUMBERS + TIDE_WORD_MAX + 1,
};

struct tide_phrases {
    tide_vocabulary *counts; /* of words, and of pairs "a b" */
    bool fixed;              /* the vocabulary is fixed: do not count */
    double threshold;
    uint64_t min_count;
    uint64_t words; /* number of words counted */

    /* The previous word of the sentence, which may form a pair with the next. */
    char last[WORD_SIZE];
    uint32_t last_length; /* 0 at the start of a sentence */
    uint64_t last_count;
    bool held; /* it has not been emitted yet */

    /* Words ready to be returned, from ready_next on. */
    tide_word ready[BATCH + 1];
    char texts[BATCH + 1][WORD_SIZE];
    size_t ready_count, ready_next;
    bool ended; /* a sentence ends after them */
};

static tide_vocabulary_options sketch_options(const tide_params *params)
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
    tide_vocabulary_options sketch = sketch_options(params);
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
    tide_vocabulary_options sketch = sketch_options(params);
    p->fixed = tide_params_fixed_vocabulary(params);
    p->threshold = params->phrase_threshold;
    p->min_count = params->phrase_count;
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

/* -- joining ----------------------------------------------------------------------- */

/* Counts a word or a pair, unless the vocabulary is fixed, and returns its slot. */
static uint32_t count_word(tide_phrases *p, const char *bytes, uint32_t length)
{
    const tide_word word = {bytes, length};
    uint32_t slot;
    tide_admission admission;
    if (p->fixed)
        return tide_vocabulary_find(p->counts, &word);
    tide_vocabulary_add(p->counts, &word, 1, &slot, &admission);
    return slot;
}

static void emit(tide_phrases *p, const char *bytes, uint32_t length)
{
    size_t at = p->ready_count++;
    memcpy(p->texts[at], bytes, length);
    p->ready[at] = (tide_word){p->texts[at], length};
}

/* A lower bound of the count of a pair. */
static uint64_t min_pair_count(const tide_phrases *p, uint32_t slot)
{
    if (slot == TIDE_NO_SLOT)
        return 0;
    return tide_vocabulary_count(p->counts, slot) -
           tide_vocabulary_error(p->counts, slot);
}

/* The number of words, decayed like the counts of the sketch. */
static double decayed_words(const tide_phrases *p)
{
    double left = (double)tide_vocabulary_total(p->counts) /
                  (double)tide_vocabulary_tokens(p->counts);
    return (double)p->words * left;
}

/* Counts the pair of the last word and this one, and writes it joined to `pair`.
 * Returns whether the two form a phrase; if the last word is no longer held, they do
 * not. */
static bool count_pair(tide_phrases *p, const tide_word *word, uint64_t word_count,
                       char pair[WORD_SIZE])
{
    uint32_t length = p->last_length + 1 + word->length;
    if (!p->last_length || length > TIDE_WORD_MAX)
        return false;
    memcpy(pair, p->last, p->last_length);
    pair[p->last_length] = ' ';
    memcpy(pair + p->last_length + 1, word->bytes, word->length);
    uint64_t seen = min_pair_count(p, count_word(p, pair, length));
    pair[p->last_length] = '_';
    return p->held && seen > p->min_count &&
           (double)(seen - p->min_count) * decayed_words(p) >
               p->threshold * (double)p->last_count * (double)word_count;
}

/* Processes the next word: emits a phrase, or the last word, which then is not part of
 * one. */
static void process_word(tide_phrases *p, const tide_word *word)
{
    char pair[WORD_SIZE];
    uint32_t slot = count_word(p, word->bytes, word->length);
    uint64_t word_count = slot == TIDE_NO_SLOT ? tide_vocabulary_minimum(p->counts)
                                               : tide_vocabulary_count(p->counts, slot);
    p->words += !p->fixed;
    bool joined = count_pair(p, word, word_count, pair);
    if (joined)
        emit(p, pair, p->last_length + 1 + word->length);
    else if (p->held)
        emit(p, p->last, p->last_length);
    memcpy(p->last, word->bytes, word->length);
    p->last_length = word->length;
    p->last_count = word_count;
    p->held = !joined;
}

static void end_sentence(tide_phrases *p)
{
    if (p->held)
        emit(p, p->last, p->last_length);
    p->held = false;
    p->last_length = 0;
    p->ended = true;
}

size_t tide_phrases_next(tide_phrases *p, tide_word_source *source, void *data,
                         tide_word *words, size_t capacity, bool *sentence_ended)
{
    tide_word batch[BATCH];
    while (p->ready_next == p->ready_count && !p->ended) {
        bool ended;
        p->ready_next = p->ready_count = 0;
        size_t size = source(data, batch, BATCH, &ended);
        for (size_t i = 0; i < size; i++)
            process_word(p, &batch[i]);
        if (ended)
            end_sentence(p);
        if (!size && !ended)
            break;
    }
    size_t left = p->ready_count - p->ready_next,
           size = left < capacity ? left : capacity;
    if (size)
        memcpy(words, p->ready + p->ready_next, size * sizeof *words);
    p->ready_next += size;
    *sentence_ended = p->ended && size == left;
    p->ended = p->ended && !*sentence_ended;
    return size;
}

bool tide_phrases_at_boundary(const tide_phrases *p)
{
    return !p->held && p->ready_next == p->ready_count;
}

/* -- section phrase ---------------------------------------------------------------- */

/* Little-endian 64-bit numbers: words counted, count of the last word, whether it is
 * held, its length; then its bytes. */
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
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"phrase\" is corrupt",
                         tide_store_path(store));
    p->words = tide_get64(state);
    p->last_count = tide_get64(state + 8);
    p->held = held;
    p->last_length = (uint32_t)length;
    memcpy(p->last, state + 8 * STATE_NUMBERS, length);
    return TIDE_OK;
}
