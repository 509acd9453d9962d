/* sgns.h - skip-gram with negative sampling: trains sentences, on one thread or
 * several. */
#ifndef TIDE_SGNS_H
#define TIDE_SGNS_H

#include "file/file.h"
#include "model/model.h"
#include "params/params.h"
#include "sampler/sampler.h"
#include "vector/vector.h"

/* -- sentences --------------------------------------------------------------------- */

/* What is left of a sentence after subsampling, as slots. For an executor that selects:
 * one or several sentences before that, as they were stored; see `stamp`. */
typedef struct tide_sentence {
    const uint32_t *slots; /* TIDE_NO_SLOT is a hole; only with contexts full */
    uint32_t count;
    uint64_t sequence;   /* number of this sentence; seeds its randomness */
    uint64_t emitted_at; /* number of the sentence that was being read at that time */
    bool fresh;          /* not a replay: its loss is measured on unseen text */
    const tide_draws *negatives; /* the distribution to draw negatives from */
    float scale;                 /* see tide_optimizer_scale */

    /* For an executor that selects. TIDE_CURRENT: one sentence, whose slots mean what
     * they meant when it was emitted. Otherwise TIDE_FIRST marks the first token of
     * each sentence, and slots whose words were admitted after sentence number `stamp`
     * are outdated. Each sentence has the sequence number of its first token. */
    uint64_t stamp;
} tide_sentence;

#define TIDE_CURRENT UINT64_MAX
#define TIDE_FIRST (UINT32_C(1) << 31)

/* -- selection (select.c) ---------------------------------------------------------- */

/* What decides which tokens are trained. Written by the thread that emits sentences,
 * while others read it. */
typedef struct tide_selection {
    const uint64_t *admitted;     /* [vocab] sentence in which the slot's word came */
    const uint64_t *quarantined;  /* bit per slot */
    const _Atomic float *chances; /* [vocab] of a token to be kept; NULL: all are */
    uint32_t vocab;
    bool holes; /* what is not usable becomes a hole */
} tide_selection;

/* Copies the usable ones of stored tokens to slots[]. Returns the number of slots and
 * holes. */
uint32_t tide_select_usable(const tide_selection *selection, const uint32_t *tokens,
                            uint32_t count, uint64_t stamp, uint32_t *slots);

/* Keeps each slot with its chance and returns how many are left. A drop cannot be
 * predicted by the processor, so it advances an index by 0 or 1 instead of
 * branching. */
uint32_t tide_select_random(uint32_t *slots, const float *chances, uint32_t count,
                            tide_rng *rng);

/* -- contexts (contexts.c) --------------------------------------------------------- */

typedef struct tide_contexts {
    uint64_t kind;
    uint32_t width;
    /* weights[CONTEXTS_MIDDLE + d] is the weight of the word d positions to the right
     * (to the left if d is negative). 0 for the center itself and beyond the window. */
    float weights[2 * CONTEXTS_MIDDLE + 1];
    float cumulative[WINDOW_MAX + 1]; /* weight of the nearest n words */
} tide_contexts;

void tide_contexts_init(tide_contexts *contexts, const tide_params *params);

/* Finds the contexts of word `at` of the sentence: [*first, *last] without `at` itself.
 * Returns false if it has none. */
bool tide_contexts_around(const tide_contexts *contexts, const tide_sentence *sentence,
                          tide_rng *rng, uint32_t at, uint32_t *first, uint32_t *last);

/* -- training (sgns.c) ------------------------------------------------------------- */

typedef struct tide_optimizer tide_optimizer; /* optimizer_internal.h */
typedef struct tide_ngrams tide_ngrams;       /* ngrams.c */

/* Progress of training. Each thread counts its own; in the total, `loss` and `pairs`
 * are moving sums over about a million pairs. */
typedef struct tide_sgns_progress {
    uint64_t centers;
    double loss;
    double pairs;
} tide_sgns_progress;

typedef struct tide_sgns {
    const tide_params *params;
    tide_model *model;
    tide_optimizer *optimizer;
    tide_ngrams *ngrams; /* NULL without subwords */
    const tide_kernels *kernels;
    tide_contexts contexts;
    const uint64_t *quarantined;     /* bit per slot; NULL with one thread */
    const tide_selection *selection; /* NULL with one thread */
} tide_sgns;

/* The memory that one thread needs for training. `selected` lists the slots whose
 * output rows the thread caches (hot_rows.h); NULL for no cache. */
typedef struct tide_scratch tide_scratch;

tide_scratch *tide_scratch_new(uint32_t dim, const _Atomic uint32_t *selected,
                               tide_error *err);
void tide_scratch_free(tide_scratch *scratch);
uint64_t tide_scratch_bytes(uint32_t dim, bool with_hot_rows);

/* For the thread that emits sentences: merges the cached rows into the model, with no
 * training in progress; drops the cached row of a slot that has been quarantined. */
void tide_scratch_flush(tide_scratch *scratch, const tide_sgns *sgns);
void tide_scratch_invalidate(tide_scratch *scratch, uint32_t slot);

void tide_sgns_train(const tide_sgns *sgns, tide_scratch *scratch,
                     const tide_sentence *sentence, tide_sgns_progress *progress);

/* Sets the initial vectors of the word in a slot, derived from hash(seed, word).
 * (init.c) */
void tide_init_slot(const tide_sgns *sgns, uint32_t slot);
void tide_init_subwords(const tide_sgns *sgns);

/* -- learning rates (optimizer.c) -------------------------------------------------- */

tide_optimizer *tide_optimizer_new(const tide_params *params, tide_error *err);
void tide_optimizer_free(tide_optimizer *optimizer);
uint64_t tide_optimizer_bytes(const tide_params *params);

/* The slot's word was trained elsewhere on `count` occurrences: sets its accumulators
 * (or its age) as if it had been trained here. */
void tide_optimizer_credit(tide_optimizer *optimizer, uint32_t slot, uint64_t count);

/* Clears the state of a slot for a new word. */
void tide_optimizer_reset(tide_optimizer *optimizer, uint32_t slot);

/* Sets the number of tokens that will be trained in all; 0 if it is unknown. */
void tide_optimizer_set_total(tide_optimizer *optimizer, double tokens);

/* The scale of a sentence read after `tokens` tokens. With rate adagrad, the factor by
 * which new squared gradients outweigh the first ones, so that old ones decay. With
 * rate decay, the share of all tokens that is still to be trained. */
float tide_optimizer_scale(const tide_optimizer *optimizer, uint64_t tokens);

/* Whether the scale has grown so large that the accumulators must be divided by it. The
 * rescale must not run while anything is trained. */
bool tide_optimizer_needs_rescale(const tide_optimizer *optimizer, uint64_t tokens);
void tide_optimizer_rescale(tide_optimizer *optimizer, uint64_t tokens);

/* Computes the learning rates of output rows from squares[], |gradient|^2 / dim of
 * each, and updates their accumulators. All arrays have a capacity rounded up to 16. */
void tide_optimizer_output_rates(tide_optimizer *optimizer, const tide_kernels *k,
                                 float scale, const uint32_t *slots,
                                 const float *squares, size_t count, float *rates);

/* The output accumulators of the words of a sentence while centers near them are
 * trained. A word's accumulator is read when the word comes into reach of the centers,
 * and what was added to it is written back when the word leaves. So threads share an
 * accumulator twice per word instead of once per center, and the accumulators that a
 * center needs are adjacent in memory. */
typedef struct tide_accumulator_cache {
    uint32_t begin, end; /* positions in the sentence */
    float values[SENTENCE_MAX + 16], added[SENTENCE_MAX + 16];
} tide_accumulator_cache;

/* Moves the cache to positions [begin, end). Neither bound may move back. */
void tide_optimizer_move_cache(tide_optimizer *optimizer, tide_accumulator_cache *cache,
                               const uint32_t *slots, uint32_t begin, uint32_t end);

/* Like tide_optimizer_output_rates, for the `count` words of a sentence from position
 * `first`, all of which must be in the cache. The rate of a hole is undefined. */
void tide_optimizer_cached_rates(tide_optimizer *optimizer, const tide_kernels *k,
                                 float scale, tide_accumulator_cache *cache,
                                 const uint32_t *slots, uint32_t first, uint32_t count,
                                 const float *squares, float *rates);

/* The learning rate of an input row whose |gradient|^2 / dim is `square`, and those of
 * the rows of n-grams of a word. `rates` has `count` elements, rounded up to 16. */
float tide_optimizer_input_rate(tide_optimizer *optimizer, const tide_kernels *k,
                                float scale, uint32_t slot, float square);
void tide_optimizer_subword_rates(tide_optimizer *optimizer, const tide_kernels *k,
                                  float scale, const uint32_t *rows, uint32_t count,
                                  float square, float *rates);

/* Prefetches the accumulator of a slot. */
void tide_optimizer_prefetch_output(const tide_optimizer *optimizer, uint32_t slot);
void tide_optimizer_prefetch_input(const tide_optimizer *optimizer, uint32_t slot);

/* Increments the age of a slot, where learning rates fall with age. */
void tide_optimizer_age(tide_optimizer *optimizer, uint32_t slot);
bool tide_optimizer_ages_by(const tide_optimizer *optimizer, uint64_t what);

/* The accumulators of a slot by coordinate; NULL unless the rate is coordinate. */
float *tide_optimizer_input_coordinates(tide_optimizer *optimizer, uint32_t slot);
float *tide_optimizer_output_coordinates(tide_optimizer *optimizer, uint32_t slot);

void tide_optimizer_save(const tide_optimizer *optimizer, uint32_t used,
                         tide_store_writer *writer);
/* `tokens` is the number of tokens read at the time of the save. */
int tide_optimizer_load(tide_optimizer *optimizer, uint32_t used, uint64_t tokens,
                        tide_store *store, tide_error *err);

/* -- n-grams (ngrams.c) ------------------------------------------------------------ */

tide_ngrams *tide_ngrams_new(const tide_params *params, tide_error *err);
void tide_ngrams_free(tide_ngrams *ngrams);
uint64_t tide_ngrams_bytes(const tide_params *params);

/* For the word that has just been admitted to the slot, and whose input row holds its
 * own initial vector: makes that the mean with the rows of its n-grams. */
void tide_ngrams_admit(const tide_sgns *sgns, uint32_t slot);

void tide_ngrams_save(const tide_ngrams *ngrams, uint32_t used,
                      tide_store_writer *writer);
int tide_ngrams_load(const tide_sgns *sgns, uint32_t used, tide_store *store,
                     tide_error *err);

/* -- workers (workers.c) ----------------------------------------------------------- */

#define TIDE_ALL_SENTENCES (UINT64_MAX - 1) /* can be incremented */

/* Where emitted sentences go. All functions are called by the thread that emits. */
typedef struct tide_executor {
    void *self;
    /* Trains a sentence, now or later. Copies the slots if it needs them after the
     * call. */
    void (*train)(void *self, const tide_sentence *sentence);
    /* Returns the largest number such that everything emitted up to it has been
     * trained, by `emitted_at`; TIDE_ALL_SENTENCES if nothing is pending. */
    uint64_t (*completed)(void *self);
    /* Returns when everything emitted has been trained and merged into the model. */
    void (*drain)(void *self);
    /* Drops cached rows of a slot that has been quarantined for reuse. */
    void (*invalidate)(void *self, uint32_t slot);
    /* Calls job(data) on any thread, before or after `run` returns; `drain` waits for
     * it. One job at a time. NULL if the executor has only the caller's thread; then it
     * is given selected sentences. If not NULL, it selects what to train itself. */
    void (*run)(void *self, void (*job)(void *data), void *data);
} tide_executor;

/* An executor whose `train` returns when the sentence has been trained. */
tide_executor tide_executor_inline(void *self,
                                   void (*train)(void *, const tide_sentence *));

typedef struct tide_workers tide_workers;

tide_workers *tide_workers_new(const tide_sgns *sgns, tide_error *err);
void tide_workers_free(tide_workers *workers);
uint64_t tide_workers_bytes(const tide_params *params);

tide_executor tide_workers_executor(tide_workers *workers);
tide_sgns_progress tide_workers_progress(tide_workers *workers);
void tide_workers_restore(tide_workers *workers, tide_sgns_progress progress);

/* -- NaN repair (nan_check.c) ------------------------------------------------------ */

typedef struct tide_repaired {
    uint64_t words;    /* slots that were reset */
    uint64_t subwords; /* n-gram rows that were reset */
} tide_repaired;

/* Checks all vectors and accumulators and resets those with impossible values. Nothing
 * may be in training and no slot quarantined. Costs one pass over the memory. */
void tide_repair_nans(const tide_sgns *sgns, tide_repaired *repaired);

#endif
