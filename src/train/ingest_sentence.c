/* ingest_sentence.c - emits sentences to be trained.
 *
 * At the end of a sentence its slots are subsampled and emitted. When that completes a
 * chunk of the replay ring, sentences of older chunks are emitted again. All randomness
 * here comes from one generator, and that of training from the sequence number of the
 * emitted sentence: so the result depends on the text alone, not on timing.
 */
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vocab/vocab.h"

#include <math.h>

double tide_ingest_threshold(const tide_ingest *in)
{
    return in->params->sample * (double)tide_vocabulary_total(in->model->vocabulary);
}

/* Whether a slot stored during sentence `stamp` still means the same word and may be
 * trained. */
static inline bool usable(tide_ingest *in, uint32_t slot, uint64_t stamp)
{
    return slot < in->params->vocab &&
           (stamp == in->sentence_number || in->admitted[slot] <= stamp) &&
           (!tide_ingest_is_quarantined(in, slot) ||
            tide_ingest_release_slot(in, slot));
}

/* Copies the usable slots of a sentence to in->kept. With contexts full, unusable ones
 * become holes. Returns the number of slots and holes. */
static uint32_t copy_usable(tide_ingest *in, const uint32_t *tokens, uint32_t count,
                            uint64_t stamp)
{
    bool holes = in->params->contexts == TIDE_CONTEXTS_FULL;
    uint32_t *kept = in->kept;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = tokens[i] & ~TIDE_FIRST;
        bool valid = usable(in, slot, stamp);
        *kept = valid ? slot : TIDE_NO_SLOT;
        kept += valid || holes;
    }
    return (uint32_t)(kept - in->kept);
}

/* Subsamples the first `count` slots of in->kept: drops frequent words at random.
 * Returns how many are left. A drop cannot be predicted by the processor, so it
 * advances an index by 0 or 1 instead of branching. For that, in->kept has one element
 * more than a sentence. */
static uint32_t subsample(tide_ingest *in, uint32_t count)
{
    double threshold = in->held ? 0 : tide_ingest_threshold(in);
    if (threshold <= 0)
        return count;
    float inverse = (float)(1 / threshold), *chances = in->chances;
    tide_vocabulary_weights(in->model->vocabulary, in->kept, count, chances);
    for (uint32_t i = 0; i < count; i++)
        chances[i] = 1.0f / sqrtf(chances[i] * inverse);
    if (in->params->subsample == TIDE_SUBSAMPLE_WORD2VEC)
        for (uint32_t i = 0; i < count; i++)
            chances[i] += chances[i] * chances[i];
    const uint32_t *slots = in->kept;
    uint32_t *kept = in->kept;
    tide_rng rng = in->rng;
    for (uint32_t i = 0; i < count; i++) {
        *kept = slots[i];
        kept += tide_rng_float(&rng) < chances[i];
    }
    in->rng = rng;
    return (uint32_t)(kept - slots);
}

/* Emits a sentence that was read as sentence number `stamp`. */
static void emit(tide_ingest *in, const uint32_t *tokens, uint32_t count,
                 uint64_t stamp)
{
    uint32_t kept = subsample(in, copy_usable(in, tokens, count, stamp));
    const tide_draws *negatives = tide_sampler_draws(in->sampler);
    if (kept < 2 || !negatives)
        return;
    tide_sentence sentence = {
        .slots = in->kept,
        .count = kept,
        .sequence = in->emitted++,
        .emitted_at = in->sentence_number,
        .fresh = stamp == in->sentence_number,
        .negatives = negatives,
        .scale = tide_optimizer_scale(in->optimizer, tide_ingest_clock(in)),
    };
    in->executor.train(in->executor.self, &sentence);
}

static void emit_chunk(tide_ingest *in, const tide_replay_chunk *chunk)
{
    for (uint32_t from = 0; from < chunk->count;) {
        uint32_t to = from + 1;
        while (to < chunk->count && !(chunk->tokens[to] & TIDE_FIRST))
            to++;
        emit(in, chunk->tokens + from, to - from, chunk->stamp);
        from = to;
    }
}

/* The sampler has two negative tables. The spare one may be rebuilt when every sentence
 * that draws from it has been trained, which are those emitted before table_since. */
static void refresh_sampler(tide_ingest *in)
{
    bool spare_is_free =
        in->executor.completed(in->executor.self) + 1 >= in->table_since;
    if (tide_sampler_refresh(in->sampler, in->model->vocabulary, spare_is_free))
        in->table_since = in->sentence_number;
}

static void emit_sentence(tide_ingest *in)
{
    if (in->held)
        tide_ingest_count_held(in);
    in->token_count = 0;
    if (in->params->frozen == TIDE_FROZEN_ALL)
        in->slot_count = 0;
    if (!in->slot_count)
        return;
    uint64_t clock = tide_ingest_clock(in);
    if (tide_optimizer_needs_rescale(in->optimizer, clock)) {
        in->executor.drain(in->executor.self);
        tide_optimizer_rescale(in->optimizer, clock);
    }
    refresh_sampler(in);
    emit(in, in->slots, in->slot_count, in->sentence_number);
    if (tide_replay_add(in->replay, in->slots, in->slot_count, in->sentence_number))
        for (uint32_t turn = 0; turn + 1 < in->params->replay; turn++) {
            tide_replay_chunk chunk;
            if (tide_replay_due(in->replay, turn, clock, &chunk))
                emit_chunk(in, &chunk);
        }
    in->slot_count = 0;
    in->sentence_number++;
}

/* -- pauses ------------------------------------------------------------------------ */

static void schedule_pause(tide_ingest *in)
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
    schedule_pause(in);
}

void tide_ingest_end_sentence(tide_ingest *in, bool complete)
{
    emit_sentence(in);
    in->continued = !complete;
    if (in->tokens >= in->next_pause) {
        schedule_pause(in);
        in->pause(in->pause_data);
    }
}
