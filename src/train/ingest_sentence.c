/* ingest_sentence.c - emits sentences to be trained.
 *
 * At the end of a sentence its slots are subsampled and emitted. When that completes a
 * chunk of the replay ring, sentences of older chunks are emitted again. All randomness
 * here comes from one generator, and that of training from the sequence number of the
 * emitted sentence: so the result depends on the text alone, not on timing.
 *
 * An executor with several threads selects the slots itself (select.c). It is given
 * sentences and whole chunks as they are stored, and a table of the chances of slots to
 * be kept. Then this thread does nothing for a token of a sentence but copy it.
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

/* For f = weight / (sample * total): 1/sqrt(f) + 1/f, which is word2vec's rule, or
 * 1/sqrt(f). Values above 1 mean that all tokens are kept. */
float tide_ingest_chance(const tide_ingest *in, uint64_t weight, double threshold)
{
    float chance = 1.0f / sqrtf((float)((double)weight / threshold));
    if (in->params->subsample == TIDE_SUBSAMPLE_WORD2VEC)
        chance += chance * chance;
    return chance;
}

/* Sets in->chances[] of the first `count` slots of in->kept. */
static void set_chances(tide_ingest *in, uint32_t count, double threshold)
{
    float inverse = (float)(1 / threshold), *chances = in->chances;
    tide_vocabulary_weights(in->model->vocabulary, in->kept, count, chances);
    for (uint32_t i = 0; i < count; i++)
        chances[i] = 1.0f / sqrtf(chances[i] * inverse);
    if (in->params->subsample == TIDE_SUBSAMPLE_WORD2VEC)
        for (uint32_t i = 0; i < count; i++)
            chances[i] += chances[i] * chances[i];
}

/* Updates the chances of all slots if that is due: when the stream has grown by an
 * eighth, and by a token for every eight slots, so that it costs little at any time. */
static void refresh_slot_chances(tide_ingest *in)
{
    const tide_vocabulary *v = in->model->vocabulary;
    uint64_t tokens = tide_vocabulary_tokens(v), growth = tide_vocabulary_total(v) / 8;
    uint32_t used = tide_vocabulary_used(v);
    if (!in->slot_chances || tokens < in->chances_due)
        return;
    for (uint32_t first = 0; first < used; first += SENTENCE_MAX) {
        uint32_t count = used - first < SENTENCE_MAX ? used - first : SENTENCE_MAX;
        for (uint32_t i = 0; i < count; i++)
            in->kept[i] = first + i;
        set_chances(in, count, tide_ingest_threshold(in));
        for (uint32_t i = 0; i < count; i++)
            atomic_store_explicit(&in->slot_chances[first + i], in->chances[i],
                                  memory_order_relaxed);
    }
    in->chances_due = tokens + (growth > used / 8 ? growth : used / 8);
}

/* Chooses what to train of a sentence, as select.c does, but with the present counts.
 * Returns how many slots of in->kept are left. */
static uint32_t select_slots(tide_ingest *in, const tide_sentence *stored)
{
    double threshold = in->held ? 0 : tide_ingest_threshold(in);
    uint32_t count = tide_select_usable(&in->selection, stored->slots, stored->count,
                                        stored->stamp, in->kept);
    if (threshold <= 0)
        return count;
    set_chances(in, count, threshold);
    return tide_select_random(in->kept, in->chances, count, &in->rng);
}

/* Emits stored tokens: see tide_sentence. */
static void emit(tide_ingest *in, const uint32_t *tokens, uint32_t count,
                 uint64_t stamp)
{
    tide_sentence sentence = {
        .slots = tokens,
        .count = count,
        .sequence = in->emitted,
        .emitted_at = in->sentence_number,
        .fresh = stamp == TIDE_CURRENT,
        .negatives = tide_sampler_draws(in->sampler),
        .scale = tide_optimizer_scale(in->optimizer, tide_ingest_clock(in)),
        .stamp = stamp,
    };
    if (!in->executor.run) {
        sentence.count = select_slots(in, &sentence);
        sentence.slots = in->kept;
    }
    if (sentence.count < 2 || !sentence.negatives)
        return;
    /* A chunk takes a number for each of its tokens, and so for each sentence in it. */
    in->emitted += in->executor.run && !sentence.fresh ? count : 1;
    in->executor.train(in->executor.self, &sentence);
}

static void emit_chunk(tide_ingest *in, const tide_replay_chunk *chunk)
{
    if (in->executor.run) {
        emit(in, chunk->tokens, chunk->count, chunk->stamp);
        return;
    }
    for (uint32_t from = 0; from < chunk->count;) {
        uint32_t to = from + 1;
        while (to < chunk->count && !(chunk->tokens[to] & TIDE_FIRST))
            to++;
        emit(in, chunk->tokens + from, to - from, chunk->stamp);
        from = to;
    }
}

static void build_sampler(void *sampler)
{
    tide_sampler_build_spare(sampler);
}

void tide_ingest_switch_sampler(tide_ingest *in)
{
    if (tide_sampler_switch(in->sampler))
        in->table_since = in->sentence_number;
}

/* The sampler has two negative tables. The spare one may be rebuilt when every sentence
 * that draws from it has been trained, which are those emitted before table_since.
 * Another thread builds it if there is one; not the first table, without which nothing
 * can be trained. */
static void refresh_sampler(tide_ingest *in)
{
    tide_ingest_switch_sampler(in);
    if (!tide_sampler_is_due(in->sampler, in->model->vocabulary) ||
        in->executor.completed(in->executor.self) + 1 < in->table_since ||
        !tide_sampler_start(in->sampler, in->model->vocabulary))
        return;
    if (in->executor.run && tide_sampler_draws(in->sampler)) {
        in->executor.run(in->executor.self, build_sampler, in->sampler);
        return;
    }
    build_sampler(in->sampler);
    tide_ingest_switch_sampler(in);
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
    tide_ingest_release_slots(in);
    refresh_sampler(in);
    refresh_slot_chances(in);
    emit(in, in->slots, in->slot_count, TIDE_CURRENT);
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
        if (in->ahead)
            tide_read_ahead_pause(in->ahead);
        in->pause(in->pause_data);
        if (in->ahead)
            tide_read_ahead_continue(in->ahead);
    }
}
