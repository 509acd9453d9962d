/* ingest_words.c - what becomes of a word that is read: it is counted, and has a slot or none.
 *
 * Slots change hands. Three things must not happen: a lesson that trains the newcomer with the
 * contexts of its predecessor, a reader who is given the predecessor's vector, and a lesson still
 * being learned elsewhere that writes the predecessor's row back over the newcomer's.
 *
 *  - Within the sentence being read, the predecessor's tokens are struck out.
 *  - In the remembered past, stamps tell (replay.c).
 *  - Lessons given earlier may still be on their way. While they are, the slot is closed: it is
 *    left out of lessons and of negative draws. The first time it is wanted after they are all
 *    learned it is given its initial vectors and opened. With one thread nothing is ever on its
 *    way, and slots open at once.
 *
 * Where the words are fixed nothing is counted, and words that are not held are as if they had never
 * been in the text.
 */
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vocab/vocab.h"

#include <math.h>

/* -- slots that change hands ---------------------------------------------------------------------------- */

bool tide_ingest_words_return(const tide_ingest *in)
{
    return !in->model->shape.vocabulary.gate;
}

static void set_closed(tide_ingest *in, uint32_t slot, bool closed)
{
    uint64_t bit = UINT64_C(1) << (slot % 64), *word = &in->closed[slot / 64];
    __atomic_store_n(word, closed ? *word | bit : *word & ~bit, __ATOMIC_SEQ_CST);
}

void tide_ingest_init_slot(tide_ingest *in, uint32_t slot)
{
    tide_init_slot(in->learner, slot);
    set_closed(in, slot, false);
}

bool tide_ingest_release_slot(tide_ingest *in, uint32_t slot)
{
    if (in->school.finished(in->school.self) + 1 < in->admitted[slot])
        return false;
    tide_ingest_init_slot(in, slot);
    return true;
}

static void strike_out(tide_ingest *in, uint32_t slot, uint32_t before)
{
    uint32_t *slots = in->slots;
    for (uint32_t i = 0; i < before; i++) /* without a branch, so many at a time */
        slots[i] = slots[i] == slot ? TIDE_NO_SLOT : slots[i];
    tide_replay_forget_slot(in->replay, slot);
}

/* The word at `at` has been given a slot: so have those before it in the sentence. */
static void take_back(tide_ingest *in, uint32_t slot, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (in->slots[i] == TIDE_NO_SLOT && in->hashes[i] == in->hashes[at])
            in->slots[i] = slot;
}

/* From now on the slot has another word: it opens when nobody can have the old one any more. */
static void claim(tide_ingest *in, const tide_admission *admission)
{
    uint32_t slot = admission->slot;
    in->admitted[slot] = in->sentence;
    if (admission->reused) {
        if (in->hands) /* before anything of the newcomer is written */
            atomic_fetch_add_explicit(&in->hands[slot], 1, memory_order_acq_rel);
        set_closed(in, slot, true);
        in->school.recall(in->school.self, slot);
        tide_ingest_release_slot(in, slot);
    } else {
        tide_ingest_init_slot(in, slot); /* nobody has had it before */
    }
}

/* What that means for the tokens of the sentence before it. */
static void admit(tide_ingest *in, const tide_admission *admission)
{
    uint32_t slot = admission->slot, at = in->count + admission->at;
    if (admission->reused)
        strike_out(in, slot, at);
    if (tide_ingest_words_return(in))
        take_back(in, slot, at);
}

/* -- words ----------------------------------------------------------------------------------------------- */

static void note_hashes(tide_ingest *in, const tide_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        in->hashes[in->count + i] = tide_hash(words[i].bytes, words[i].length, 0);
}

static void count_words(tide_ingest *in, const tide_word *words, size_t count)
{
    tide_vocabulary *v = in->model->vocabulary;
    tide_admission admissions[WORDS_AT_ONCE];
    if (tide_ingest_words_return(in))
        note_hashes(in, words, count);
    size_t admitted =
        tide_vocabulary_add(v, words, count, in->slots + in->count, admissions);
    for (size_t i = 0; i < admitted; i++)
        claim(in, &admissions[i]);
    tide_sampler_add(in->sampler, v, in->slots + in->count,
                     count); /* can be drawn from now on */
    for (size_t i = 0; i < admitted; i++)
        admit(in, &admissions[i]);
    in->count += (uint32_t)count;
}

static void count_in_order(tide_ingest *in, const tide_word *words, size_t count)
{
    if (in->params->sampler != TIDE_SAMPLER_SMOOTHED) {
        count_words(in, words, count);
        return;
    }
    for (size_t i = 0; i < count; i++) /* it looks at every count as it is reached */
        count_words(in, &words[i], 1);
}

/* Whether a token stays, for f = count / (sample * total): with chance 1/sqrt(f) + 1/f, which is
 * word2vec's rule, or the plain root 1/sqrt(f). */
static bool stays(tide_ingest *in, uint64_t count, double threshold)
{
    float chance = 1.0f / sqrtf((float)((double)count / threshold));
    if (in->params->keep == KEEP_WORD2VEC)
        chance += chance * chance;
    return chance >= 1.0f || tide_rng_float(&in->rng) < chance;
}

/* The paper's way: a sentence is first thinned out, by the counts before it, and only what stays is
 * counted at all. So its words wait for its end. */
static void hold_words(tide_ingest *in, const tide_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        held_word *held = &in->held[in->read + i];
        memcpy(held->bytes, words[i].bytes, words[i].length);
        held->length = words[i].length;
    }
}

void tide_ingest_take_held(tide_ingest *in)
{
    const tide_vocabulary *v = in->model->vocabulary;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < in->read; i++) {
        tide_word word = {in->held[i].bytes, in->held[i].length};
        uint32_t slot = tide_vocabulary_find(v, &word);
        if (slot == TIDE_NO_SLOT || in->params->sample == 0 ||
            stays(in, tide_vocabulary_weight(v, slot), tide_ingest_threshold(in)))
            in->held[kept++] = in->held[i];
    }
    for (uint32_t i = 0; i < kept; i++) {
        tide_word word = {in->held[i].bytes, in->held[i].length};
        if (in->fixed)
            in->slots[in->count++] = tide_vocabulary_find(v, &word);
        else
            count_words(in, &word, 1);
    }
}

/* Where the words are fixed, the others are as if they had never been there. Leaves those that are
 * held at the front, and their slots behind those of the sentence; returns how many. */
static size_t find_words(tide_ingest *in, tide_word *words, size_t count)
{
    const tide_vocabulary *v = in->model->vocabulary;
    uint32_t *slots = in->slots + in->count;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        words[known] = words[i];
        slots[known] = tide_vocabulary_find(v, &words[i]);
        known += slots[known] != TIDE_NO_SLOT;
    }
    in->left_out += count - known;
    return known;
}

size_t tide_ingest_take(tide_ingest *in, tide_word *words, size_t count)
{
    if (in->fixed)
        count = find_words(in, words, count);
    if (in->held)
        hold_words(in, words, count);
    else if (in->fixed)
        in->count += (uint32_t)count;
    else
        count_in_order(in, words, count);
    return count;
}
