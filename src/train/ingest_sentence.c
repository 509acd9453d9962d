/* ingest_sentence.c - from sentences to lessons.
 *
 * The slots of a sentence become a lesson, frequent words thinned out; then, when a chunk of the past is
 * complete, so do the repeats. All that is random here comes from one generator, and what is random in
 * a lesson from the lesson's number, so the result depends on the sentences alone.
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

/* Whether a token stored at `stamp` still means the word that the slot has, and may be trained. */
static inline bool usable(tide_ingest *in, uint32_t slot, uint64_t stamp)
{
    return slot < in->params->vocab &&
           (stamp == in->sentence || in->admitted[slot] <= stamp) &&
           (!tide_ingest_is_quarantined(in, slot) ||
            tide_ingest_release_slot(in, slot));
}

/* Copies what is still valid of a sentence, of now or of the past; where only whole windows count,
 * what is not leaves a hole. Returns how many. */
static uint32_t sift(tide_ingest *in, const uint32_t *tokens, uint32_t count,
                     uint64_t stamp)
{
    bool holes = in->params->contexts == CONTEXTS_FULL;
    uint32_t *kept = in->kept;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = tokens[i] & ~TIDE_FIRST;
        bool valid = usable(in, slot, stamp);
        *kept = valid ? slot : TIDE_NO_SLOT;
        kept += valid || holes;
    }
    return (uint32_t)(kept - in->kept);
}

/* Thins out the frequent ones among the first `count` of in->kept. Whether one stays is a toss that
 * no processor can predict, so it moves an index and not a branch. */
static uint32_t thin_out(tide_ingest *in, uint32_t count)
{
    double threshold = in->held ? 0 : tide_ingest_threshold(in);
    if (threshold <= 0)
        return count;
    float inverse = (float)(1 / threshold), *chances = in->chances;
    tide_vocabulary_weights(in->model->vocabulary, in->kept, count, chances);
    for (uint32_t i = 0; i < count; i++)
        chances[i] = 1.0f / sqrtf(chances[i] * inverse);
    if (in->params->keep == KEEP_WORD2VEC)
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

static void give(tide_ingest *in, const uint32_t *tokens, uint32_t count,
                 uint64_t stamp)
{
    uint32_t kept = thin_out(in, sift(in, tokens, count, stamp));
    const tide_draws *draws = tide_sampler_draws(in->sampler);
    if (kept < 2 || !draws)
        return;
    tide_sentence lesson = {
        .slots = in->kept,
        .count = kept,
        .number = in->lessons++,
        .sentence = in->sentence,
        .fresh = stamp == in->sentence,
        .draws = draws,
        .scale = tide_optimizer_scale(in->rates, tide_ingest_clock(in)),
    };
    in->school.teach(in->school.self, &lesson);
}

static void give_memory(tide_ingest *in, const tide_replay_chunk *memory)
{
    for (uint32_t from = 0; from < memory->count;) {
        uint32_t to = from + 1;
        while (to < memory->count && !(memory->tokens[to] & TIDE_FIRST))
            to++;
        give(in, memory->tokens + from, to - from, memory->stamp);
        from = to;
    }
}

static void refresh_sampler(tide_ingest *in)
{
    bool spare_is_free = in->school.finished(in->school.self) + 1 >= in->table_since;
    if (tide_sampler_refresh(in->sampler, in->model->vocabulary, spare_is_free))
        in->table_since = in->sentence;
}

void tide_ingest_emit(tide_ingest *in)
{
    if (in->held)
        tide_ingest_take_held(in);
    in->read = 0;
    if (in->params->frozen == FROZEN_ALL)
        in->count = 0;
    if (!in->count)
        return;
    uint64_t clock = tide_ingest_clock(in);
    if (tide_optimizer_needs_rescale(in->rates, clock)) {
        in->school.wait(in->school.self);
        tide_optimizer_rescale(in->rates, clock);
    }
    refresh_sampler(in);
    give(in, in->slots, in->count, in->sentence);
    if (tide_replay_add(in->replay, in->slots, in->count, in->sentence))
        for (uint32_t turn = 0; turn + 1 < in->params->replay; turn++) {
            tide_replay_chunk memory;
            if (tide_replay_due(in->replay, turn, clock, &memory))
                give_memory(in, &memory);
        }
    in->count = 0;
    in->sentence++;
}
