/* rates.h - how large a step a row takes: what rate.c offers to those who learn, make and save. */
#ifndef TIDE_TRAIN_RATES_H
#define TIDE_TRAIN_RATES_H

#include "train/parts.h"

tide_rates *tide_rates_new(const tide_params *params, tide_error *err);
void tide_rates_free(tide_rates *rates);
uint64_t tide_rates_bytes(const tide_params *params);

/* The slot has a word that has been trained elsewhere, `count` times: it moves as little as if it
 * had been here. */
void tide_rates_credit(tide_rates *rates, uint32_t slot, uint64_t count);

/* The slot has a new word: it starts like any other. */
void tide_rates_reset(tide_rates *rates, uint32_t slot);

/* So many tokens will be learned in all; 0 when nobody knows. */
void tide_rates_plan(tide_rates *rates, double tokens);

/* How much less the present counts than the past: grows as gradients are to be forgotten. With rate
 * decay, the part of the plan that is still to be done. */
float tide_rates_scale(const tide_rates *rates, uint64_t tokens);

/* Whether the scale has grown so far that all sums must be divided by it, with nobody learning. */
bool tide_rates_overgrown(const tide_rates *rates, uint64_t tokens);
void tide_rates_rescale(tide_rates *rates, uint64_t tokens);

/* The rates of output rows whose gradients have these squares / dim. Room rounded up to 16. */
void tide_rates_output(tide_rates *rates, const tide_kernels *k, float scale,
                       const uint32_t *slots, const float *squares, size_t count,
                       float *out);

/* The sums of a lesson's words while centres near them are learned. Each is read when its word comes into reach, and what
 * was added meanwhile is given back when it leaves: so other threads are met twice a word, not once for every centre that
 * it is near to, and what the centres need lies side by side. */
typedef struct tide_reach {
    uint32_t begin, end; /* places in the lesson */
    float sums[SENTENCE_MAX + 16], added[SENTENCE_MAX + 16];
} tide_reach;

/* Moves on to [begin, end), neither of which is before where it was. */
void tide_rates_reach(tide_rates *rates, tide_reach *reach, const uint32_t *slots,
                      uint32_t begin, uint32_t end);

/* As tide_rates_output, for `count` words of a lesson from `first` on, all within reach. A hole has no rate. */
void tide_rates_within(tide_rates *rates, const tide_kernels *k, float scale,
                       tide_reach *reach, const uint32_t *slots, uint32_t first,
                       uint32_t count, const float *squares, float *out);

/* The rate of an input row, or of an n-gram row, whose gradient has this square / dim. */
float tide_rates_input(tide_rates *rates, const tide_kernels *k, float scale,
                       uint32_t slot, float square);
float tide_rates_subword(tide_rates *rates, const tide_kernels *k, float scale,
                         uint32_t row, float square);

/* Asks the memory for the sum of a slot. */
void tide_rates_prefetch_output(const tide_rates *rates, uint32_t slot);
void tide_rates_prefetch_input(const tide_rates *rates, uint32_t slot);

/* One more step for rates that fall with a slot's age. */
void tide_rates_age(tide_rates *rates, uint32_t slot);
bool tide_rates_age_by(const tide_rates *rates, uint64_t what);

/* Sums for every coordinate; NULL unless the rate is coordinate. */
float *tide_rates_input_sums(tide_rates *rates, uint32_t slot);
float *tide_rates_output_sums(tide_rates *rates, uint32_t slot);

void tide_rates_save(const tide_rates *rates, uint32_t used, tide_store_writer *writer);
/* `tokens` have been read when it goes on. */
int tide_rates_load(tide_rates *rates, uint32_t used, uint64_t tokens,
                    tide_store *store, tide_error *err);

#endif
