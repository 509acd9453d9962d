/* ingest_words.c - counts the words that are read and finds their slots.
 *
 * Slots are reused: a word that is admitted may get the slot of one that is evicted.
 * Three things must not happen then: training the new word with contexts of the old
 * one, showing a concurrent reader the old word's vector as the new one's, and a
 * sentence still in training that writes the old word's row over the new one's.
 *
 *  - In the sentence being read, tokens of the old word are removed.
 *  - In the replay ring, stamps tell which slots are outdated (replay.c).
 *  - Sentences emitted earlier may still be waiting to be trained. Until they are, the
 *    slot is quarantined: it is left out of sentences and of negative draws. At the end
 *    of the first sentence after they are all trained, it gets its initial vectors and
 *    is released. With one thread nothing is ever waiting, and slots are released at
 *    once.
 *
 * With a fixed vocabulary nothing is counted, and unknown words are dropped as if they
 * had never been in the text.
 */
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vocab/vocab.h"

/* -- reused slots ------------------------------------------------------------------ */

bool tide_ingest_words_return(const tide_ingest *in)
{
    return !in->model->shape.vocabulary.gate;
}

static void set_quarantined(tide_ingest *in, uint32_t slot, bool quarantined)
{
    uint64_t bit = UINT64_C(1) << (slot % 64), *word = &in->quarantined[slot / 64];
    __atomic_store_n(word, quarantined ? *word | bit : *word & ~bit, __ATOMIC_SEQ_CST);
}

void tide_ingest_init_slot(tide_ingest *in, uint32_t slot)
{
    tide_init_slot(in->sgns, slot);
    if (tide_ingest_is_quarantined(in, slot))
        set_quarantined(in, slot, false);
}

/* Releases the slot if everything emitted before it was reused has been trained; returns
 * whether. */
static bool release_slot(tide_ingest *in, uint32_t slot)
{
    if (in->executor.completed(in->executor.self) + 1 < in->admitted[slot])
        return false;
    tide_ingest_init_slot(in, slot);
    return true;
}

void tide_ingest_release_slots(tide_ingest *in)
{
    for (; in->waiting_count; in->waiting_count--) {
        waiting_slot w = in->waiting[in->first_waiting];
        /* If it was reused once more while it waited, a later entry is for that. */
        bool waits = tide_ingest_is_quarantined(in, w.slot) &&
                     (uint32_t)in->admitted[w.slot] == w.sentence;
        if (waits && !release_slot(in, w.slot))
            return;
        in->first_waiting = (in->first_waiting + 1) % WAITING_MAX;
    }
}

/* Appends a slot that has been reused in this sentence to those that wait to be
 * released. If there are too many, nothing is read until all are released. */
static void push_waiting(tide_ingest *in, uint32_t slot)
{
    if (in->waiting_count == WAITING_MAX) {
        in->executor.drain(in->executor.self);
        tide_ingest_release_slots(in);
    }
    in->waiting[(in->first_waiting + in->waiting_count++) % WAITING_MAX] =
        (waiting_slot){slot, (uint32_t)in->sentence_number};
}

/* Removes the tokens of the slot's previous word from the first `before` of the
 * sentence. */
static void remove_tokens(tide_ingest *in, uint32_t slot, uint32_t before)
{
    uint32_t *slots = in->slots;
    for (uint32_t i = 0; i < before; i++) /* without a branch, so it is vectorized */
        slots[i] = slots[i] == slot ? TIDE_NO_SLOT : slots[i];
    tide_replay_forget_slot(in->replay, slot);
}

/* The word of token `at` has got a slot: earlier tokens of the same word get it too. */
static void restore_tokens(tide_ingest *in, uint32_t slot, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (in->slots[i] == TIDE_NO_SLOT && in->hashes[i] == in->hashes[at])
            in->slots[i] = slot;
}

static void set_chance(tide_ingest *in, uint32_t slot)
{
    uint64_t weight = tide_vocabulary_weight(in->model->vocabulary, slot);
    float chance = tide_ingest_chance(in, weight, tide_ingest_threshold(in));
    atomic_store_explicit(&in->slot_chances[slot], chance, memory_order_relaxed);
}

/* A word has been admitted to a slot. If the slot had another word, the order is: count
 * the generation, so that readers of the old vector notice; quarantine it, so that no
 * thread caches its row any more; invalidate the copies that exist. Only then may its
 * row be initialized, at once if nothing is waiting to be trained, or else when it is
 * released. */
static void claim_slot(tide_ingest *in, const tide_admission *admission)
{
    uint32_t slot = admission->slot;
    __atomic_store_n(&in->admitted[slot], in->sentence_number, __ATOMIC_RELAXED);
    if (in->slot_chances)
        set_chance(in, slot);
    if (!admission->reused) {
        tide_ingest_init_slot(in, slot);
        return;
    }
    if (in->generations)
        atomic_fetch_add_explicit(&in->generations[slot], 1, memory_order_acq_rel);
    set_quarantined(in, slot, true);
    in->executor.invalidate(in->executor.self, slot);
    if (!release_slot(in, slot))
        push_waiting(in, slot);
}

/* Corrects the tokens of the sentence before the one that was admitted. */
static void correct_tokens(tide_ingest *in, const tide_admission *admission)
{
    uint32_t slot = admission->slot, at = in->slot_count + admission->at;
    if (admission->reused)
        remove_tokens(in, slot, at);
    if (tide_ingest_words_return(in))
        restore_tokens(in, slot, at);
}

/* -- counting ---------------------------------------------------------------------- */

static void set_hashes(tide_ingest *in, const tide_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        in->hashes[in->slot_count + i] = tide_hash(keys[i].bytes, keys[i].length, 0);
}

/* Counts a batch of words and appends their slots to the sentence. The vocabulary
 * reports all admissions of the batch at once. All of them are claimed before the
 * sampler sees the words, because it may draw them from then on. Only then are tokens
 * corrected: a slot can be reused twice in a batch, and the corrections are applied in
 * the order of the tokens. */
static void count_words(tide_ingest *in, const tide_key *keys, size_t count)
{
    tide_vocabulary *v = in->model->vocabulary;
    tide_admission admissions[READ_AHEAD_WORDS];
    if (tide_ingest_words_return(in))
        set_hashes(in, keys, count);
    uint32_t *slots = in->slots + in->slot_count;
    size_t admitted = tide_vocabulary_add_keys(v, keys, count, slots, admissions);
    for (size_t i = 0; i < admitted; i++)
        claim_slot(in, &admissions[i]);
    tide_sampler_add(in->sampler, v, slots, count);
    for (size_t i = 0; i < admitted; i++)
        correct_tokens(in, &admissions[i]);
    in->slot_count += (uint32_t)count;
}

/* The smoothed sampler looks at the count of a word at each of its occurrences. So it
 * needs words one by one, before the next one is counted; for the others a batch gives
 * the same result. */
static void count_in_order(tide_ingest *in, const tide_key *keys, size_t count)
{
    if (in->params->sampler != TIDE_SAMPLER_SMOOTHED) {
        count_words(in, keys, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        count_words(in, &keys[i], 1);
}

static bool is_kept(tide_ingest *in, uint64_t count, double threshold)
{
    float chance = tide_ingest_chance(in, count, threshold);
    return chance >= 1.0f || tide_rng_float(&in->rng) < chance;
}

/* With counting kept, the paper's method, a sentence is first subsampled by the counts
 * before it, and only words that are kept are counted. So the words are held until the
 * sentence ends. */
static void hold_words(tide_ingest *in, const tide_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        held_word *held = &in->held[in->token_count + i];
        memcpy(held->bytes, words[i].bytes, words[i].length);
        held->length = words[i].length;
    }
}

void tide_ingest_count_held(tide_ingest *in)
{
    const tide_vocabulary *v = in->model->vocabulary;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < in->token_count; i++) {
        tide_word word = {in->held[i].bytes, in->held[i].length};
        uint32_t slot = tide_vocabulary_find(v, &word);
        if (slot == TIDE_NO_SLOT || in->params->sample == 0 ||
            is_kept(in, tide_vocabulary_weight(v, slot), tide_ingest_threshold(in)))
            in->held[kept++] = in->held[i];
    }
    for (uint32_t i = 0; i < kept; i++) {
        tide_word word = {in->held[i].bytes, in->held[i].length};
        tide_key key;
        tide_vocabulary_keys(v, &word, 1, &key);
        if (in->fixed_vocabulary)
            in->slots[in->slot_count++] = tide_vocabulary_find(v, &word);
        else
            count_words(in, &key, 1);
    }
}

/* -- words ------------------------------------------------------------------------- */

/* With a fixed vocabulary: moves the known words to the front and sets their slots
 * after those of the sentence. Returns how many they are. */
static size_t find_words(tide_ingest *in, tide_word *words, size_t count)
{
    const tide_vocabulary *v = in->model->vocabulary;
    uint32_t *slots = in->slots + in->slot_count;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        words[known] = words[i];
        slots[known] = tide_vocabulary_find(v, &words[i]);
        known += slots[known] != TIDE_NO_SLOT;
    }
    in->unknown_tokens += count - known;
    return known;
}

void tide_ingest_add_words(tide_ingest *in, tide_word *words, size_t count)
{
    tide_key keys[WORDS_AT_ONCE];
    if (!in->held && !in->fixed_vocabulary) {
        tide_vocabulary_keys(in->model->vocabulary, words, count, keys);
        tide_ingest_add_keys(in, keys, count);
        return;
    }
    if (in->fixed_vocabulary)
        count = find_words(in, words, count);
    if (in->held)
        hold_words(in, words, count);
    else
        in->slot_count += (uint32_t)count;
    in->token_count += (uint32_t)count;
}

void tide_ingest_add_keys(tide_ingest *in, const tide_key *keys, size_t count)
{
    count_in_order(in, keys, count);
    in->token_count += (uint32_t)count;
}
