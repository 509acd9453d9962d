/* sgns.h - skip-gram with negative sampling: one sentence into changed rows, on one thread or many. */
#ifndef TIDE_SGNS_H
#define TIDE_SGNS_H

#include "file/file.h"
#include "model/model.h"
#include "params/params.h"
#include "sampler/sampler.h"
#include "vector/vector.h"

/* -- sentences --------------------------------------------------------------------- */

typedef struct tide_sentence {
    const uint32_t *slots; /* TIDE_NO_SLOT for a hole; only with contexts full */
    uint32_t count;
    uint64_t number;         /* seeds all that is random about it */
    uint64_t sentence;       /* being read when it was given */
    bool fresh;              /* text not trained before: its loss is an honest one */
    const tide_draws *draws; /* where negatives come from */
    float scale;             /* of the rates */
} tide_sentence;

/* -- contexts (contexts.c) --------------------------------------------------------- */

typedef struct tide_contexts {
    uint64_t kind;
    uint32_t width;
    /* weights[CONTEXTS_MIDDLE + d] of the word d to the right, or to the left where d is negative; 0 of the word
     * itself, and of those that are out of its reach. */
    float weights[2 * CONTEXTS_MIDDLE + 1];
    float reach[WINDOW_MAX + 1]; /* weight of the nearest so many on one side */
} tide_contexts;

void tide_contexts_init(tide_contexts *contexts, const tide_params *params);

/* The contexts of word `at` of the lesson are [*first, *last] without itself. False when it has none. */
bool tide_contexts_around(const tide_contexts *contexts, const tide_sentence *lesson,
                          tide_rng *rng, uint32_t at, uint32_t *first, uint32_t *last);

/* -- training (sgns.c) ------------------------------------------------------------- */

typedef struct tide_optimizer tide_optimizer; /* rates.h */

/* What training adds up. Each thread has its own; in the total the loss is that of the last million or so pairs. */
typedef struct tide_sgns_progress {
    uint64_t centers;
    double loss;
    double pairs;
} tide_sgns_progress;

typedef struct tide_sgns {
    const tide_params *params;
    tide_model *model;
    tide_optimizer *rates;
    const tide_kernels *kernels;
    tide_contexts contexts;
    const uint64_t *closed; /* bit per slot: not to be drawn; NULL with one thread */
} tide_sgns;

/* The room one thread needs to learn. `chosen`, which may be NULL, are the slots that other threads want too
 * (hot_rows.c). */
typedef struct tide_scratch tide_scratch;

tide_scratch *tide_scratch_new(uint32_t dim, const _Atomic uint32_t *chosen,
                               tide_error *err);
void tide_scratch_free(tide_scratch *desk);
uint64_t tide_scratch_bytes(uint32_t dim, bool copies);

/* For the thread that gives lessons: all are learned, so that what the desk has copied is to be in the model;
 * a slot has been closed because it gets another word. */
void tide_scratch_flush(tide_scratch *desk, const tide_sgns *learner);
void tide_scratch_invalidate(tide_scratch *desk, uint32_t slot);

void tide_sgns_train(const tide_sgns *learner, tide_scratch *desk,
                     const tide_sentence *lesson, tide_sgns_progress *learned);

/* Initial vectors of the word in a slot, from hash(seed, word). (init.c) */
void tide_init_slot(const tide_sgns *learner, uint32_t slot);
void tide_init_subwords(const tide_sgns *learner);

/* -- step sizes (optimizer.c) ------------------------------------------------------ */

tide_optimizer *tide_optimizer_new(const tide_params *params, tide_error *err);
void tide_optimizer_free(tide_optimizer *rates);
uint64_t tide_optimizer_bytes(const tide_params *params);

/* The slot has a word that has been trained elsewhere, `count` times: it moves as little as if it
 * had been here. */
void tide_optimizer_credit(tide_optimizer *rates, uint32_t slot, uint64_t count);

/* The slot has a new word: it starts like any other. */
void tide_optimizer_reset(tide_optimizer *rates, uint32_t slot);

/* So many tokens will be learned in all; 0 when nobody knows. */
void tide_optimizer_plan(tide_optimizer *rates, double tokens);

/* How much less the present counts than the past: grows as gradients are to be forgotten. With rate
 * decay, the part of the plan that is still to be done. */
float tide_optimizer_scale(const tide_optimizer *rates, uint64_t tokens);

/* Whether the scale has grown so far that all sums must be divided by it, with nobody learning. */
bool tide_optimizer_needs_rescale(const tide_optimizer *rates, uint64_t tokens);
void tide_optimizer_rescale(tide_optimizer *rates, uint64_t tokens);

/* The rates of output rows whose gradients have these squares / dim. Room rounded up to 16. */
void tide_optimizer_output(tide_optimizer *rates, const tide_kernels *k, float scale,
                           const uint32_t *slots, const float *squares, size_t count,
                           float *out);

/* The sums of a lesson's words while centers near them are learned. Each is read when its word comes into reach, and what
 * was added meanwhile is given back when it leaves: so other threads are met twice a word, not once for every center that
 * it is near to, and what the centers need lies side by side. */
typedef struct tide_sum_cache {
    uint32_t begin, end; /* places in the lesson */
    float sums[SENTENCE_MAX + 16], added[SENTENCE_MAX + 16];
} tide_sum_cache;

/* Moves on to [begin, end), neither of which is before where it was. */
void tide_optimizer_move_cache(tide_optimizer *rates, tide_sum_cache *reach,
                               const uint32_t *slots, uint32_t begin, uint32_t end);

/* As tide_optimizer_output, for `count` words of a lesson from `first` on, all within reach. A hole has no rate. */
void tide_optimizer_cached(tide_optimizer *rates, const tide_kernels *k, float scale,
                           tide_sum_cache *reach, const uint32_t *slots, uint32_t first,
                           uint32_t count, const float *squares, float *out);

/* The rate of an input row, or of an n-gram row, whose gradient has this square / dim. */
float tide_optimizer_input(tide_optimizer *rates, const tide_kernels *k, float scale,
                           uint32_t slot, float square);
float tide_optimizer_subword(tide_optimizer *rates, const tide_kernels *k, float scale,
                             uint32_t row, float square);

/* Asks the memory for the sum of a slot. */
void tide_optimizer_prefetch_output(const tide_optimizer *rates, uint32_t slot);
void tide_optimizer_prefetch_input(const tide_optimizer *rates, uint32_t slot);

/* One more step for rates that fall with a slot's age. */
void tide_optimizer_age(tide_optimizer *rates, uint32_t slot);
bool tide_optimizer_ages_by(const tide_optimizer *rates, uint64_t what);

/* Sums for every coordinate; NULL unless the rate is coordinate. */
float *tide_optimizer_input_sums(tide_optimizer *rates, uint32_t slot);
float *tide_optimizer_output_sums(tide_optimizer *rates, uint32_t slot);

void tide_optimizer_save(const tide_optimizer *rates, uint32_t used,
                         tide_store_writer *writer);
/* `tokens` have been read when it goes on. */
int tide_optimizer_load(tide_optimizer *rates, uint32_t used, uint64_t tokens,
                        tide_store *store, tide_error *err);

/* -- workers (workers.c) ----------------------------------------------------------- */

#define TIDE_ALL_SENTENCES (UINT64_MAX - 1) /* even then there is a next */

/* Who takes the lessons. */
typedef struct tide_executor {
    void *self;
    /* The slots are copied if they are needed beyond the call. */
    void (*teach)(void *self, const tide_sentence *lesson);
    /* The last sentence of which all lessons have been learned; TIDE_ALL_SENTENCES when all have. */
    uint64_t (*finished)(void *self);
    /* Returns when every lesson so far has been learned. */
    void (*wait)(void *self);
    /* The slot has been closed: it gets another word. */
    void (*recall)(void *self, uint32_t slot);
} tide_executor;

/* One that has learned a lesson when `teach` returns (workers.c). */
tide_executor tide_executor_inline(void *self,
                                   void (*teach)(void *, const tide_sentence *));

typedef struct tide_workers tide_workers;

tide_workers *tide_workers_new(const tide_sgns *learner, tide_error *err);
void tide_workers_free(tide_workers *crew);
uint64_t tide_workers_bytes(const tide_params *params);

tide_executor tide_workers_executor(tide_workers *crew);
tide_sgns_progress tide_workers_progress(tide_workers *crew);
void tide_workers_restore(tide_workers *crew, tide_sgns_progress progress);

/* -- vectors that cannot be right (nan_check.c) --------------------------------------- */

typedef struct tide_repaired {
    uint64_t words;    /* slots that begin again */
    uint64_t subwords; /* rows of n-grams that do */
} tide_repaired;

/* Looks at all vectors and rates, with nobody learning and all slots open; what cannot be right begins
 * again. *healed says how much that was, all 0 when all was well. Costs a pass over the memory. */
void tide_repair_nans(const tide_sgns *learner, tide_repaired *healed);

#endif
