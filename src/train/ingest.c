/* ingest.c - from bytes to sentences: the single writer of the vocabulary.
 *
 * Words are counted as they come (ingest_words.c). A sentence is a line, or SENTENCE_MAX tokens if that is
 * longer; at its end it becomes lessons (ingest_sentence.c). How the text was cut into reads does not matter.
 */
#include "file/file.h"
#include "label/label.h"
#include "params/params.h"
#include "reader/reader.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vocab/vocab.h"

#include <stdlib.h>

/* -- making ------------------------------------------------------------------------------------------ */

static uint64_t bitmap_words(const tide_params *params)
{
    return (params->vocab + 63) / 64;
}

uint64_t tide_ingest_bytes(const tide_params *params)
{
    uint64_t sentence =
        (SENTENCE_MAX + WORDS_AT_ONCE) * (sizeof(uint32_t) + sizeof(uint64_t)) +
        SENTENCE_MAX * (sizeof(uint32_t) + sizeof(float));
    if (params->counting == COUNT_KEPT)
        sentence += SENTENCE_MAX * sizeof(held_word);
    if (params->labels)
        sentence += sizeof(tide_held_post);
    return tide_reader_bytes(params) + sentence + params->vocab * sizeof(uint64_t) +
           bitmap_words(params) * sizeof(uint64_t);
}

tide_ingest *tide_ingest_new(const tide_params *params, const tide_sgns *learner,
                             tide_store *store, tide_error *err)
{
    tide_ingest *in = tide_alloc(1, sizeof *in);
    if (!in) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
        return NULL;
    }
    in->params = params;
    in->fixed = tide_params_fixed_vocabulary(params);
    in->learner = learner;
    in->model = learner->model;
    in->rates = learner->rates;
    in->rng = tide_rng_seeded(params->seed ^ 0x1e7a4e);
    in->sentence = 1;
    in->next_pause = UINT64_MAX;
    in->slots = tide_alloc(SENTENCE_MAX + WORDS_AT_ONCE, sizeof *in->slots);
    in->hashes = tide_alloc(SENTENCE_MAX + WORDS_AT_ONCE, sizeof *in->hashes);
    in->kept = tide_alloc(SENTENCE_MAX + 1,
                          sizeof *in->kept); /* one is written past the end */
    in->chances = tide_alloc(SENTENCE_MAX + 1, sizeof *in->chances);
    in->admitted = tide_alloc(params->vocab, sizeof *in->admitted);
    in->closed = tide_alloc(bitmap_words(params), sizeof *in->closed);
    if (params->counting == COUNT_KEPT)
        in->held = tide_alloc(SENTENCE_MAX, sizeof *in->held);
    if (params->labels)
        in->waiting = tide_alloc(1, sizeof *in->waiting);
    tide_sampler_options sampler = tide_params_sampler(params);
    in->reader = tide_reader_new(params, store, err);
    if (in->reader)
        in->sampler = store ? tide_sampler_load(&sampler, store, err)
                            : tide_sampler_new(&sampler, err);
    in->replay = in->sampler ? tide_replay_new(params, err) : NULL;
    if (in->replay && in->slots && in->hashes && in->kept && in->chances &&
        in->admitted && in->closed && (in->held || params->counting != COUNT_KEPT) &&
        (in->waiting || !params->labels))
        return in;
    if (in->replay)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
    tide_ingest_free(in);
    return NULL;
}

void tide_ingest_free(tide_ingest *in)
{
    if (!in)
        return;
    tide_replay_free(in->replay);
    tide_sampler_free(in->sampler);
    tide_reader_free(in->reader);
    free(in->waiting);
    free(in->held);
    free(in->closed);
    free(in->admitted);
    free(in->chances);
    free(in->kept);
    free(in->hashes);
    free(in->slots);
    free(in);
}

void tide_ingest_set_executor(tide_ingest *in, tide_executor school)
{
    in->school = school;
}

void tide_ingest_set_labels(tide_ingest *in, tide_labels *labels,
                            const uint64_t *passes)
{
    in->labels = labels;
    in->passes = passes;
}

void tide_ingest_count_generations(tide_ingest *in, _Atomic uint32_t *hands)
{
    in->hands = hands;
}

tide_reader *tide_ingest_reader(tide_ingest *in)
{
    return in->reader;
}

const uint64_t *tide_ingest_quarantine(const tide_ingest *in)
{
    return in->closed;
}

/* -- sentences ----------------------------------------------------------------------------------- */

static void plan_pause(tide_ingest *in)
{
    in->next_pause =
        in->pause ? (in->tokens / in->pause_every + 1) * in->pause_every : UINT64_MAX;
}

void tide_ingest_set_pause(tide_ingest *in, uint64_t every, void (*pause)(void *data),
                           void *data)
{
    in->pause = pause;
    in->pause_data = data;
    in->pause_every = every;
    plan_pause(in);
}

/* Between two sentences. */
static void rest(tide_ingest *in)
{
    if (in->tokens < in->next_pause)
        return;
    plan_pause(in);
    in->pause(in->pause_data);
}

void tide_ingest_end_sentence(tide_ingest *in, bool ended)
{
    tide_ingest_emit(in);
    in->continued = !ended;
    rest(in);
}

/* Tokens of the sentence, read or still waiting. */
static uint32_t sentence_size(const tide_ingest *in)
{
    return in->waiting ? in->waiting->count : in->read;
}

static void take_some(tide_ingest *in, tide_word *words, size_t count)
{
    if (in->waiting) {
        tide_ingest_hold_words(in, words, count);
        return;
    }
    if (count && in->continued) {
        in->cut_sentences++;
        in->continued = false;
    }
    in->tokens += count;
    in->read += (uint32_t)tide_ingest_take(in, words, count);
}

static void take_words(tide_ingest *in)
{
    tide_word words[WORDS_AT_ONCE];
    for (;;) {
        uint32_t room = SENTENCE_MAX - sentence_size(in);
        bool ended;
        size_t count = tide_reader_take(
            in->reader, words, room < WORDS_AT_ONCE ? room : WORDS_AT_ONCE, &ended);
        if (!count && !ended)
            return;
        take_some(in, words, count);
        if (!ended && sentence_size(in) < SENTENCE_MAX)
            continue;
        if (in->waiting && !tide_ingest_take_post(in, ended))
            return;
        tide_ingest_end_sentence(in, ended);
    }
}

void tide_ingest_feed_now(tide_ingest *in, const char *bytes, size_t size)
{
    while (size && !tide_ingest_is_deferred(in)) {
        size_t piece = tide_ingest_piece(in, bytes, size);
        size_t used = tide_reader_feed(in->reader, bytes, piece);
        bytes += used;
        size -= used;
        if (in->waiting)
            in->waiting->left = size;
        take_words(in);
    }
    if (size)
        tide_ingest_defer_text(in, bytes, size);
}

void tide_ingest_feed(tide_ingest *in, const void *bytes, size_t size)
{
    bool kept = tide_ingest_is_deferred(in) && tide_ingest_defer_text(in, bytes, size);
    tide_ingest_resume_deferred(in, kept);
    if (!kept)
        tide_ingest_feed_now(in, bytes, size);
}

void tide_ingest_end(tide_ingest *in)
{
    tide_ingest_resume_deferred(in, true);
    if (tide_ingest_is_deferred(in)) {
        in->waiting->ended = true;
        return;
    }
    tide_reader_end(in->reader);
    take_words(in);
    bool waits = tide_ingest_is_deferred(in) || (in->waiting && in->waiting->count &&
                                                 !tide_ingest_take_post(in, true));
    if (!waits)
        tide_ingest_end_sentence(in, true);
}

uint32_t tide_ingest_insert(tide_ingest *in, const tide_word *word, uint64_t count,
                            uint64_t error)
{
    uint32_t slot = tide_vocabulary_insert(in->model->vocabulary, word, count, error);
    if (slot != TIDE_NO_SLOT) {
        in->admitted[slot] = in->sentence;
        tide_ingest_init_slot(in, slot);
    }
    return slot;
}

bool tide_ingest_is_deferred(const tide_ingest *in)
{
    return in->waiting && in->waiting->unfitted;
}

bool tide_ingest_at_boundary(const tide_ingest *in)
{
    if (tide_ingest_is_deferred(in))
        return true;
    return !sentence_size(in) && tide_reader_at_boundary(in->reader);
}

bool tide_ingest_prepare_negatives(tide_ingest *in)
{
    if (!tide_sampler_draws(in->sampler))
        tide_sampler_build(in->sampler, in->model->vocabulary);
    return tide_sampler_draws(in->sampler) != NULL;
}

uint64_t tide_ingest_tokens(const tide_ingest *in)
{
    return in->tokens;
}

uint64_t tide_ingest_clock(const tide_ingest *in)
{
    return in->tokens - in->left_out;
}

uint64_t tide_ingest_bad_records(const tide_ingest *in)
{
    tide_stats stats = {0};
    tide_reader_stats(in->reader, &stats);
    return stats.malformed_records + stats.missing_records + stats.long_records;
}

void tide_ingest_stats(const tide_ingest *in, tide_stats *stats)
{
    const tide_vocabulary *v = in->model->vocabulary;
    tide_reader_stats(in->reader, stats);
    stats->tokens = in->tokens;
    stats->sentences = in->sentence - 1;
    stats->vocabulary = tide_vocabulary_size(v);
    stats->capacity = in->params->vocab;
    stats->admitted = tide_vocabulary_admitted(v);
    stats->evicted = tide_vocabulary_evicted(v);
    stats->evicted_young = tide_vocabulary_evicted_early(v);
    stats->rejected = tide_vocabulary_rejected(v) + in->left_out;
    stats->minimum_count = tide_vocabulary_minimum(v);
    stats->cut_sentences = in->cut_sentences;
}

void tide_ingest_drain(tide_ingest *in)
{
    in->school.wait(in->school.self);
    for (uint32_t slot = 0; slot < tide_vocabulary_used(in->model->vocabulary); slot++)
        if (tide_ingest_is_quarantined(in, slot))
            tide_ingest_release_slot(in, slot);
}
