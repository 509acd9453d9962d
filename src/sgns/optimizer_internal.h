/* optimizer_internal.h - what optimizer.c and optimizer_file.c share. Private. */
#ifndef TIDE_SGNS_OPTIMIZER_INTERNAL_H
#define TIDE_SGNS_OPTIMIZER_INTERNAL_H

#include "params/params.h"
#include "sgns/sgns.h"
#include "vector/vector.h"

/* One accumulated square per row, laid out by tide_sum_at. */
typedef struct tide_accumulators {
    float *values; /* [16 << shift] */
    uint32_t shift;
} tide_accumulators;

struct tide_optimizer {
    const tide_params *params;
    tide_adagrad input, output;             /* without scale and shift */
    tide_accumulators input_accumulators;   /* adagrad: vocab */
    tide_accumulators output_accumulators;  /* adagrad: vocab */
    tide_accumulators subword_accumulators; /* adagrad: subword */
    uint32_t *age_input;                    /* linear, power: [vocab] */
    uint32_t *age_output;                   /* the same array for linear */
    tide_matrix input_coordinates;          /* coordinate: [vocab] */
    tide_matrix output_coordinates;
    uint64_t origin;     /* in tokens: where the scale was 1 */
    double total_tokens; /* decay: 0 if unknown */
};

/* What accumulators are multiplied by `age` tokens after the origin. */
float tide_optimizer_scale_at(uint64_t age, uint64_t half_life);

/* Divides all accumulators by the present scale, and moves the origin to `tokens`. */
void tide_optimizer_divide_by(tide_optimizer *optimizer, uint64_t tokens, float scale);

#endif
