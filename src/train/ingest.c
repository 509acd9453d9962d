/* ingest.c - turns text into sentences of slots; the only writer of the vocabulary.
 *
 * The reader cuts bytes into words. Words are counted as they are read
 * (ingest_words.c). A sentence is a line, or SENTENCE_MAX tokens of a longer one; at
 * its end it is subsampled and emitted (ingest_sentence.c). The result does not depend
 * on how the text was cut into reads. With many threads another one reads the words
 * (read_ahead.c). Text with labels is read by ingest_posts.c instead.
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

/* -- construction ------------------------------------------------------------------ */

static uint64_t bitmap_words(const tide_params *params)
{
    return (params->vocab + 63) / 64;
}

enum {
    /* With fewer threads, the one that counts trains as well and limits nothing. */
    READ_AHEAD_THREADS = 4,
    READ_AHEAD_MIN = 4096, /* bytes worth waking a thread for */
};

static bool reads_ahead(const tide_params *params)
{
    return params->threads >= READ_AHEAD_THREADS && !params->labels &&
           params->counting != TIDE_COUNTING_KEPT &&
           !tide_params_fixed_vocabulary(params);
}

static bool has_slot_chances(const tide_params *params)
{
    return params->threads > 1 && params->sample > 0 &&
           params->counting != TIDE_COUNTING_KEPT;
}

uint64_t tide_ingest_bytes(const tide_params *params)
{
    uint64_t sentence =
        (SENTENCE_MAX + WORDS_AT_ONCE) * (sizeof(uint32_t) + sizeof(uint64_t)) +
        SENTENCE_MAX * (sizeof(uint32_t) + sizeof(float));
    if (params->counting == TIDE_COUNTING_KEPT)
        sentence += SENTENCE_MAX * sizeof(held_word);
    if (params->labels)
        sentence += sizeof(tide_pending_post);
    uint64_t shared = params->threads > 1 ? WAITING_MAX * sizeof(waiting_slot) : 0;
    if (has_slot_chances(params))
        shared += params->vocab * sizeof(float);
    if (reads_ahead(params))
        shared += tide_read_ahead_bytes();
    return tide_reader_bytes(params) + sentence + shared +
           params->vocab * sizeof(uint64_t) + bitmap_words(params) * sizeof(uint64_t);
}

static bool allocate(tide_ingest *in, const tide_params *params)
{
    in->slots = tide_alloc(SENTENCE_MAX + WORDS_AT_ONCE, sizeof *in->slots);
    in->hashes = tide_alloc(SENTENCE_MAX + WORDS_AT_ONCE, sizeof *in->hashes);
    in->kept = tide_alloc(SENTENCE_MAX + 1, sizeof *in->kept); /* see subsample */
    in->chances = tide_alloc(SENTENCE_MAX + 1, sizeof *in->chances);
    in->admitted = tide_alloc(params->vocab, sizeof *in->admitted);
    in->quarantined = tide_alloc(bitmap_words(params), sizeof *in->quarantined);
    if (params->counting == TIDE_COUNTING_KEPT)
        in->held = tide_alloc(SENTENCE_MAX, sizeof *in->held);
    if (params->labels)
        in->post = tide_alloc(1, sizeof *in->post);
    if (params->threads > 1)
        in->waiting = tide_alloc(WAITING_MAX, sizeof *in->waiting);
    if (has_slot_chances(params))
        in->slot_chances = tide_alloc(params->vocab, sizeof *in->slot_chances);
    in->selection = (tide_selection){
        .admitted = in->admitted,
        .quarantined = in->quarantined,
        .chances = in->slot_chances,
        .vocab = (uint32_t)params->vocab,
        .holes = params->contexts == TIDE_CONTEXTS_FULL,
    };
    return in->slots && in->hashes && in->kept && in->chances && in->admitted &&
           in->quarantined && (in->held || params->counting != TIDE_COUNTING_KEPT) &&
           (in->post || !params->labels) && (in->waiting || params->threads < 2) &&
           (in->slot_chances || !has_slot_chances(params));
}

tide_ingest *tide_ingest_new(const tide_params *params, const tide_sgns *sgns,
                             tide_store *store, tide_error *err)
{
    tide_ingest *in = tide_alloc(1, sizeof *in);
    if (!in) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
        return NULL;
    }
    in->params = params;
    in->fixed_vocabulary = tide_params_fixed_vocabulary(params);
    in->sgns = sgns;
    in->model = sgns->model;
    in->optimizer = sgns->optimizer;
    in->rng = tide_rng_seeded(params->seed ^ 0x1e7a4e);
    in->sentence_number = 1;
    in->next_pause = UINT64_MAX;
    bool allocated = allocate(in, params);
    tide_sampler_options sampler = tide_params_sampler(params);
    in->reader = tide_reader_new(params, store, err);
    if (in->reader)
        in->sampler = store ? tide_sampler_load(&sampler, store, err)
                            : tide_sampler_new(&sampler, err);
    in->replay = in->sampler ? tide_replay_new(params, err) : NULL;
    if (in->replay && !allocated)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
    else if (in->replay && reads_ahead(params))
        in->ahead = tide_read_ahead_new(in->reader, err);
    if (in->replay && allocated && (in->ahead || !reads_ahead(params)))
        return in;
    tide_ingest_free(in);
    return NULL;
}

void tide_ingest_free(tide_ingest *in)
{
    if (!in)
        return;
    tide_read_ahead_free(in->ahead);
    tide_replay_free(in->replay);
    tide_sampler_free(in->sampler);
    tide_reader_free(in->reader);
    free(in->post);
    free(in->held);
    free((void *)in->slot_chances);
    free(in->waiting);
    free(in->quarantined);
    free(in->admitted);
    free(in->chances);
    free(in->kept);
    free(in->hashes);
    free(in->slots);
    free(in);
}

void tide_ingest_set_executor(tide_ingest *in, tide_executor executor)
{
    in->executor = executor;
}

void tide_ingest_set_labels(tide_ingest *in, tide_labels *labels,
                            const uint64_t *passes)
{
    in->labels = labels;
    in->passes = passes;
}

void tide_ingest_count_generations(tide_ingest *in, _Atomic uint32_t *generations)
{
    in->generations = generations;
}

/* -- text -------------------------------------------------------------------------- */

/* Counts tokens of the text, which are then added to the sentence. */
static void count_tokens(tide_ingest *in, size_t count)
{
    if (count && in->continued) {
        in->cut_sentences++;
        in->continued = false;
    }
    in->tokens += count;
}

/* Reads all words that the reader has. */
static void read_words(tide_ingest *in)
{
    tide_word words[WORDS_AT_ONCE];
    for (;;) {
        uint32_t left = SENTENCE_MAX - in->token_count;
        bool ended;
        size_t count = tide_reader_next(
            in->reader, words, left < WORDS_AT_ONCE ? left : WORDS_AT_ONCE, &ended);
        if (!count && !ended)
            return;
        count_tokens(in, count);
        tide_ingest_add_words(in, words, count);
        if (ended || in->token_count >= SENTENCE_MAX)
            tide_ingest_end_sentence(in, ended);
    }
}

static void add_block(tide_ingest *in, const tide_word_block *block)
{
    uint32_t at = 0;
    do {
        uint32_t left = SENTENCE_MAX - in->token_count;
        uint32_t count = block->count - at < left ? block->count - at : left;
        count_tokens(in, count);
        tide_ingest_add_keys(in, block->keys + at, count);
        at += count;
        bool ended = block->ended && at == block->count;
        if (ended || in->token_count >= SENTENCE_MAX)
            tide_ingest_end_sentence(in, ended);
    } while (at < block->count);
}

static void feed_ahead(tide_ingest *in, const char *bytes, size_t size)
{
    const tide_word_block *block;
    tide_read_ahead_begin(in->ahead, in->model->vocabulary, bytes, size);
    while ((block = tide_read_ahead_next(in->ahead)))
        add_block(in, block);
}

void tide_ingest_feed(tide_ingest *in, const void *bytes, size_t size)
{
    if (in->post) {
        tide_ingest_feed_posts(in, bytes, size);
        return;
    }
    if (in->ahead && size >= READ_AHEAD_MIN) {
        feed_ahead(in, bytes, size);
        return;
    }
    for (const char *at = bytes; size;) {
        size_t used = tide_reader_feed(in->reader, at, size);
        at += used;
        size -= used;
        read_words(in);
    }
}

void tide_ingest_end(tide_ingest *in)
{
    if (in->post) {
        tide_ingest_end_posts(in);
        return;
    }
    tide_reader_end(in->reader);
    read_words(in);
    tide_ingest_end_sentence(in, true);
}

bool tide_ingest_is_deferred(const tide_ingest *in)
{
    return in->post && in->post->deferred;
}

bool tide_ingest_at_boundary(const tide_ingest *in)
{
    if (tide_ingest_is_deferred(in))
        return true;
    uint32_t unfinished = in->post ? in->post->count : in->token_count;
    return !unfinished && tide_reader_at_boundary(in->reader);
}

/* -- for others -------------------------------------------------------------------- */

uint32_t tide_ingest_insert(tide_ingest *in, const tide_word *word, uint64_t count,
                            uint64_t error)
{
    uint32_t slot = tide_vocabulary_insert(in->model->vocabulary, word, count, error);
    if (slot != TIDE_NO_SLOT) {
        in->admitted[slot] = in->sentence_number;
        tide_ingest_init_slot(in, slot);
    }
    return slot;
}

bool tide_ingest_prepare_negatives(tide_ingest *in)
{
    if (!tide_sampler_draws(in->sampler))
        tide_sampler_build(in->sampler, in->model->vocabulary);
    return tide_sampler_draws(in->sampler) != NULL;
}

void tide_ingest_drain(tide_ingest *in)
{
    in->executor.drain(in->executor.self);
    tide_ingest_release_slots(in);
    tide_ingest_switch_sampler(in);
}

tide_reader *tide_ingest_reader(tide_ingest *in)
{
    return in->reader;
}

const tide_selection *tide_ingest_selection(const tide_ingest *in)
{
    return &in->selection;
}

uint64_t tide_ingest_tokens(const tide_ingest *in)
{
    return in->tokens;
}

uint64_t tide_ingest_clock(const tide_ingest *in)
{
    return in->tokens - in->unknown_tokens;
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
    stats->sentences = in->sentence_number - 1;
    stats->vocabulary = tide_vocabulary_size(v);
    stats->capacity = in->params->vocab;
    stats->admitted = tide_vocabulary_admitted(v);
    stats->evicted = tide_vocabulary_evicted(v);
    stats->evicted_young = tide_vocabulary_evicted_early(v);
    stats->rejected = tide_vocabulary_rejected(v) + in->unknown_tokens;
    stats->minimum_count = tide_vocabulary_minimum(v);
    stats->cut_sentences = in->cut_sentences;
}
