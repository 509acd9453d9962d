/* test_replay.c - which sentences are emitted: those of a stream against a plain model
 * of the replay ring.
 *
 * The model stores every sentence as the slots of its words and the generations of
 * these slots at that time, and cuts the stream into chunks. A repeated sentence must
 * consist of those of its words whose slots have not been reused since, in their order.
 * Emitted sentences are recorded and not trained.
 */
#include "base/base.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vocab/vocab.h"
#include "train_fixture.h"

enum { SENTENCES = 4000, WORDS_MAX = 40, RECORDED = 1 << 18, TURNS_MAX = 8 };

typedef struct sentence {
    uint32_t slots[WORDS_MAX], generations[WORDS_MAX], count;
} sentence;

typedef struct oracle {
    uint32_t vocab, turns, chunk_count;
    _Atomic uint32_t *generations; /* [vocab] */
    sentence *sentences;           /* [SENTENCES] */
    uint32_t sentence_count;
    uint32_t chunks[SENTENCES], chunk; /* first sentence of each; the open one */
    uint32_t open_tokens;
    uint32_t *repeats; /* [SENTENCES][TURNS_MAX] distances in chunks */
    uint32_t *repeated;

    /* what was emitted since the last sentence began */
    uint32_t *tokens; /* [RECORDED] one after the other, each after its length */
    size_t size, at;
    uint64_t repeated_tokens;
} oracle;

static void record(void *self, const tide_sentence *emitted)
{
    oracle *o = self;
    assert_true(o->size + emitted->count < RECORDED);
    o->tokens[o->size++] = emitted->count;
    memcpy(o->tokens + o->size, emitted->slots,
           emitted->count * sizeof *emitted->slots);
    o->size += emitted->count;
}

static oracle *oracle_for(const tide_params *params)
{
    oracle *o = calloc(1, sizeof *o);
    assert_non_null(o);
    o->vocab = (uint32_t)params->vocab;
    o->turns = (uint32_t)params->replay - 1;
    o->chunk_count = (uint32_t)params->replay_ring / SENTENCE_MAX;
    o->generations = tide_alloc(o->vocab, sizeof *o->generations);
    o->sentences = calloc(SENTENCES, sizeof *o->sentences);
    o->tokens = calloc(RECORDED, sizeof *o->tokens);
    o->repeats = calloc(SENTENCES * TURNS_MAX, sizeof *o->repeats);
    o->repeated = calloc(SENTENCES, sizeof *o->repeated);
    assert_true(o->generations && o->sentences && o->tokens && o->repeats &&
                o->repeated);
    return o;
}

static void oracle_free(oracle *o)
{
    free((void *)o->generations);
    free(o->sentences);
    free(o->tokens);
    free(o->repeats);
    free(o->repeated);
    free(o);
}

static void observe(tide_trainer *trainer, oracle *o)
{
    tide_ingest *ingest = tide_trainer_ingest(trainer);
    tide_ingest_set_executor(ingest, tide_executor_inline(o, record));
    tide_ingest_count_generations(ingest, o->generations);
}

/* -- what must come ---------------------------------------------------------------- */

static uint32_t valid_words(const oracle *o, const sentence *s, uint32_t *slots)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->slots[i] != TIDE_NO_SLOT &&
            atomic_load(&o->generations[s->slots[i]]) == s->generations[i])
            slots[count++] = s->slots[i];
    return count;
}

/* The index after this sentence in the record if it comes next there; 0 if another one
 * does. */
static size_t after_sentence(const oracle *o, size_t at, const sentence *s)
{
    uint32_t slots[WORDS_MAX], count = valid_words(o, s, slots);
    if (count < 2)
        return at;
    if (at == o->size || o->tokens[at] != count ||
        memcmp(o->tokens + at + 1, slots, count * sizeof *slots))
        return 0;
    return at + 1 + count;
}

static size_t after_chunk(const oracle *o, uint32_t chunk)
{
    size_t at = o->at;
    for (uint32_t i = o->chunks[chunk]; i < o->chunks[chunk + 1]; i++)
        if (!(at = after_sentence(o, at, &o->sentences[i])))
            return 0;
    return at;
}

/* Finds the chunk that is repeated next, completely and in order. */
static void take_repeat(oracle *o)
{
    size_t best = 0;
    uint32_t found = 0;
    for (uint32_t chunk = 0; chunk < o->chunk; chunk++) {
        size_t end = after_chunk(o, chunk);
        if (end > best) {
            best = end;
            found = chunk;
        }
    }
    if (!best)
        fail_msg("after sentence %u comes what is no chunk", o->sentence_count);
    if (o->chunk >= o->chunk_count && o->repeated[found] < TURNS_MAX)
        o->repeats[found * TURNS_MAX + o->repeated[found]++] = o->chunk - 1 - found;
    o->repeated_tokens += best - o->at;
    o->at = best;
}

/* Feeds a sentence and checks what it emits. Returns whether a chunk was completed. */
static bool feed_sentence(tide_trainer *trainer, oracle *o, const char *text,
                          uint32_t words)
{
    sentence *s = &o->sentences[o->sentence_count];
    o->size = o->at = 1; /* 0 says no */
    feed_text(trainer, text);
    s->count = words;
    memcpy(s->slots, tide_trainer_ingest(trainer)->slots, words * sizeof *s->slots);
    for (uint32_t i = 0; i < words; i++)
        if (s->slots[i] != TIDE_NO_SLOT)
            s->generations[i] = atomic_load(&o->generations[s->slots[i]]);
    if (tide_sampler_draws(tide_trainer_ingest(trainer)->sampler))
        o->at = after_sentence(o, o->at, s);
    assert_true(o->at);
    bool complete = o->open_tokens + words > SENTENCE_MAX;
    if (complete) {
        o->chunks[++o->chunk] = o->sentence_count;
        o->open_tokens = 0;
    }
    o->open_tokens += words;
    o->sentence_count++;
    return complete;
}

/* -- streams ----------------------------------------------------------------------- */

/* Words that change along the stream, the faster the smaller `turnover` is. */
static uint32_t make_line(tide_rng *rng, uint32_t number, uint32_t turnover, char *line)
{
    uint32_t words = 1 + (uint32_t)tide_rng_below(rng, WORDS_MAX);
    int at = 0;
    for (uint32_t i = 0; i < words; i++)
        at += sprintf(line + at, "w%u ",
                      (uint32_t)tide_rng_below(rng, 60) + 17 * (number / turnover));
    sprintf(line + at, "\n");
    return words;
}

static tide_trainer *saved_and_loaded(tide_trainer *trainer, oracle *o)
{
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    trainer = load_from("m");
    observe(trainer, o);
    return trainer;
}

/* Every chunk that was completed after the ring was full and has been overwritten since
 * was repeated `turns` times at even distances. */
static void check_distances(const oracle *o)
{
    uint32_t checked = 0;
    for (uint32_t chunk = o->chunk_count; chunk + o->chunk_count < o->chunk; chunk++) {
        assert_int_equal(o->repeated[chunk], o->turns);
        for (uint32_t turn = 0; turn < o->turns; turn++)
            assert_int_equal(o->repeats[chunk * TURNS_MAX + turn],
                             (turn + 1) * (o->chunk_count - 2) / o->turns);
        checked++;
    }
    assert_true(checked > 10);
}

static void check(const char *settings, uint32_t turnover, bool interrupted)
{
    tide_trainer *trainer = trainer_of(settings);
    oracle *o = oracle_for(tide_trainer_params(trainer));
    tide_rng rng = tide_rng_seeded(3);
    observe(trainer, o);
    for (uint32_t n = 0; n < SENTENCES; n++) {
        char line[WORDS_MAX * 12];
        uint32_t words = make_line(&rng, n, turnover, line);
        if (feed_sentence(trainer, o, line, words))
            for (uint32_t turn = 0; turn < o->turns; turn++)
                take_repeat(o);
        assert_int_equal(o->at, o->size);
        if (interrupted && tide_rng_below(&rng, 100) == 0)
            trainer = saved_and_loaded(trainer, o);
    }
    if (turnover >= SENTENCES) {
        assert_int_equal(stats_of(trainer).evicted, 0);
        check_distances(o);
    } else {
        assert_true(stats_of(trainer).evicted > 100);
    }
    assert_true(o->repeated_tokens > 1000);
    oracle_free(o);
    tide_trainer_free(trainer);
}

#define RECORDING "vocab=100 dim=4 sample=0 replay-fade=0 window=1 negative=1 "

static void every_sentence_is_repeated_as_often_as_it_should(void **state)
{
    (void)state;
    check(RECORDING "replay=2 replay-ring=8000", SENTENCES, false);
    check(RECORDING "replay=5 replay-ring=8000", SENTENCES, false);
    check(RECORDING "replay=4 replay-ring=20000", SENTENCES, false);
}

static void words_whose_slots_were_reused_are_not_repeated(void **state)
{
    (void)state;
    check(RECORDING "admission=none replay=2 replay-ring=8000", 100, false);
    check(RECORDING "admission=none replay=5 replay-ring=8000", 30, false);
    check(RECORDING "replay=4 replay-ring=20000", 100, false);
}

static void a_loaded_ring_continues_as_if_not_saved(void **state)
{
    (void)state;
    check(RECORDING "replay=4 replay-ring=8000", SENTENCES, true);
    check(RECORDING "admission=none replay=3 replay-ring=8000", 60, true);
}

/* After `fade` tokens a turn happens with probability fade / tokens. */
static void repeats_fade(void **state)
{
    (void)state;
    tide_trainer *trainer =
        trainer_of("vocab=100 dim=4 sample=0 window=1 negative=1 replay=8 "
                   "replay-ring=8000 replay-fade=10000");
    oracle *o = oracle_for(tide_trainer_params(trainer));
    tide_rng rng = tide_rng_seeded(4);
    observe(trainer, o);
    double expected = 0, variance = 0, taken = 0;
    for (uint32_t n = 0; n < SENTENCES; n++) {
        char line[WORDS_MAX * 12];
        uint32_t words = make_line(&rng, n, SENTENCES, line);
        bool complete = feed_sentence(trainer, o, line, words);
        double share = 10000.0 / (double)stats_of(trainer).tokens;
        share = share < 1 ? share : 1;
        for (uint32_t turn = 0; complete && turn < o->turns; turn++) {
            expected += share;
            variance += share * (1 - share);
        }
        for (; o->at < o->size; taken++)
            take_repeat(o);
    }
    assert_true(variance > 20);
    assert_true(fabs(taken - expected) < 5 * sqrt(variance));
    oracle_free(o);
    tide_trainer_free(trainer);
}

/* -- slots that wait --------------------------------------------------------------- */

/* An executor that completes a sentence only this many sentences later. */
typedef struct slow_executor {
    const tide_ingest *ingest;
    uint64_t changed[100]; /* the sentence in which the slot was reused, or 0 */
    uint64_t behind, finished;
    uint64_t emitted, changes;
} slow_executor;

static void train_slowly(void *self, const tide_sentence *emitted)
{
    slow_executor *s = self;
    for (uint32_t i = 0; i < emitted->count; i++) {
        uint32_t slot = emitted->slots[i];
        if (slot == TIDE_NO_SLOT) /* a hole */
            continue;
        assert_true(s->changed[slot] <= s->finished + 1);
        assert_false(tide_ingest_is_quarantined(s->ingest, slot));
    }
    s->emitted++;
}

static uint64_t finished_slowly(void *self)
{
    slow_executor *s = self;
    uint64_t number = s->ingest->sentence_number;
    s->finished = number > s->behind + 1 ? number - 1 - s->behind : 0;
    return s->finished;
}

static void wait_slowly(void *self)
{
    (void)self;
}

static void recall_slowly(void *self, uint32_t slot)
{
    slow_executor *s = self;
    assert_true(tide_ingest_is_quarantined(s->ingest, slot));
    s->changed[slot] = s->ingest->sentence_number;
    s->changes++;
}

/* A word in a reused slot is not emitted until everything emitted with the previous
 * word has been trained. */
static void a_slot_stays_quarantined_while_sentences_are_pending(void **state)
{
    (void)state;
    static const char *const settings[] = {
        RECORDING "admission=none replay=3 replay-ring=8000 threads=2",
        RECORDING "replay=3 replay-ring=8000 threads=2",
        "profile=paper vocab=100 dim=4 reservoir=5000 window=2 threads=2"};
    for (size_t k = 0; k < COUNT(settings); k++)
        for (uint64_t behind = 0; behind <= 5; behind++) {
            tide_trainer *trainer = trainer_of(settings[k]);
            tide_ingest *ingest = tide_trainer_ingest(trainer);
            slow_executor s = {.ingest = ingest, .behind = behind};
            tide_ingest_set_executor(ingest,
                                     (tide_executor){&s, train_slowly, finished_slowly,
                                                     wait_slowly, recall_slowly, NULL});
            tide_rng rng = tide_rng_seeded(behind);
            for (uint32_t n = 0; n < 1000; n++) {
                char line[WORDS_MAX * 12];
                make_line(&rng, n, 20, line);
                feed_text(trainer, line);
            }
            assert_true(s.emitted > 500 && s.changes > 100);
            tide_trainer_free(trainer);
        }
}

/* -- late selection ---------------------------------------------------------------- */

enum { PENDING_MAX = 61, REUSES_MAX = 20000 };

/* An executor that selects, as that of several threads: it stores what it is given, and
 * selects and completes it up to `behind` emissions later. */
typedef struct late_executor {
    tide_ingest *ingest;
    struct {
        tide_sentence stored;
        uint32_t tokens[SENTENCE_MAX];
        uint32_t words[SENTENCE_MAX]; /* generations of the slots meant by the tokens */
    } pending[PENDING_MAX];
    uint64_t emitted, done, behind;

    struct {
        uint32_t slot;
        uint64_t sentence;
    } reuses[REUSES_MAX];
    uint32_t reuse_count, generations[100];
    uint64_t selected, outdated, unavailable;
} late_executor;

/* How often the slot had been reused at the end of sentence `number`. */
static uint32_t generation_at(const late_executor *l, uint32_t slot, uint64_t number)
{
    uint32_t later = 0;
    for (uint32_t i = l->reuse_count; i && l->reuses[i - 1].sentence > number; i--)
        later += l->reuses[i - 1].slot == slot;
    return l->generations[slot] - later;
}

/* A token is selected exactly if its slot still means its word and has the word's
 * vector. A quarantined slot does not. */
static void select_oldest(late_executor *l)
{
    uint32_t at = (uint32_t)(l->done++ % PENDING_MAX), slots[SENTENCE_MAX],
             expected = 0;
    const tide_sentence *stored = &l->pending[at].stored;
    uint32_t count =
        tide_select_usable(tide_ingest_selection(l->ingest), l->pending[at].tokens,
                           stored->count, stored->stamp, slots);
    for (uint32_t i = 0; i < stored->count; i++) {
        uint32_t slot = l->pending[at].tokens[i] & ~TIDE_FIRST;
        if (slot >= 100)
            continue;
        if (tide_ingest_is_quarantined(l->ingest, slot)) {
            l->unavailable++;
        } else if (l->generations[slot] != l->pending[at].words[i]) {
            l->outdated++;
        } else {
            assert_true(expected < count);
            assert_int_equal(slots[expected], slot);
            expected++;
        }
    }
    assert_int_equal(expected, count);
    l->selected += count;
}

static void store_sentence(void *self, const tide_sentence *emitted)
{
    late_executor *l = self;
    uint32_t at = (uint32_t)(l->emitted++ % PENDING_MAX);
    uint64_t number =
        emitted->stamp < emitted->emitted_at ? emitted->stamp : emitted->emitted_at;
    l->pending[at].stored = *emitted;
    for (uint32_t i = 0; i < emitted->count; i++) {
        uint32_t slot = emitted->slots[i] & ~TIDE_FIRST;
        l->pending[at].tokens[i] = emitted->slots[i];
        l->pending[at].words[i] = slot < 100 ? generation_at(l, slot, number) : 0;
    }
    while (l->emitted - l->done > l->behind)
        select_oldest(l);
}

static uint64_t completed_late(void *self)
{
    const late_executor *l = self;
    return l->done == l->emitted
               ? TIDE_ALL_SENTENCES
               : l->pending[l->done % PENDING_MAX].stored.emitted_at - 1;
}

static void select_all(void *self)
{
    late_executor *l = self;
    while (l->done < l->emitted)
        select_oldest(l);
}

static void note_reuse(void *self, uint32_t slot)
{
    late_executor *l = self;
    assert_true(tide_ingest_is_quarantined(l->ingest, slot));
    assert_true(l->reuse_count < REUSES_MAX);
    l->reuses[l->reuse_count].slot = slot;
    l->reuses[l->reuse_count++].sentence = l->ingest->sentence_number;
    l->generations[slot]++;
}

static void run_at_once(void *self, void (*job)(void *data), void *data)
{
    (void)self;
    job(data);
}

static void what_is_selected_late_means_the_same_words(void **state)
{
    (void)state;
    static const char *const settings[] = {
        RECORDING "admission=none replay=3 replay-ring=8000 threads=2",
        RECORDING "admission=none replay=9 replay-ring=5000 threads=2",
        RECORDING "replay=5 replay-ring=4000 threads=2"};
    static const uint64_t behind[] = {0, 1, 7, PENDING_MAX - 1};
    late_executor *l = calloc(1, sizeof *l);
    assert_non_null(l);
    for (size_t k = 0; k < COUNT(settings) * COUNT(behind); k++) {
        tide_trainer *trainer = trainer_of(settings[k / COUNT(behind)]);
        memset(l, 0, sizeof *l);
        l->ingest = tide_trainer_ingest(trainer);
        l->behind = behind[k % COUNT(behind)];
        tide_ingest_set_executor(l->ingest,
                                 (tide_executor){l, store_sentence, completed_late,
                                                 select_all, note_reuse, run_at_once});
        tide_rng rng = tide_rng_seeded(k);
        for (uint32_t n = 0; n < 2000; n++) {
            char line[WORDS_MAX * 12];
            make_line(&rng, n, 20, line);
            feed_text(trainer, line);
        }
        select_all(l);
        tide_ingest_drain(l->ingest);
        for (uint32_t slot = 0; slot < 100; slot++)
            assert_false(tide_ingest_is_quarantined(l->ingest, slot));
        assert_true(l->selected > 1000 && l->outdated > 100 && l->reuse_count > 100);
        assert_true(!l->behind || l->unavailable > 0);
        tide_trainer_free(trainer);
    }
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sentence_is_repeated_as_often_as_it_should),
        cmocka_unit_test(words_whose_slots_were_reused_are_not_repeated),
        IN_FOLDER(a_loaded_ring_continues_as_if_not_saved),
        cmocka_unit_test(repeats_fade),
        cmocka_unit_test(a_slot_stays_quarantined_while_sentences_are_pending),
        cmocka_unit_test(what_is_selected_late_means_the_same_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
