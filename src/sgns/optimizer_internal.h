/* rate.h - what optimizer.c and optimizer_file.c share. */
#ifndef TIDE_SGNS_OPTIMIZER_INTERNAL_H
#define TIDE_SGNS_OPTIMIZER_INTERNAL_H

#include "params/params.h"
#include "sgns/sgns.h"
#include "vector/vector.h"

/* One sum a slot, laid out by tide_sum_at. */
typedef struct tide_sums {
    float *values; /* [16 << shift] */
    uint32_t shift;
} tide_sums;

struct tide_optimizer {
    const tide_params *params;
    tide_adagrad input, output; /* scale and shift not filled in */
    tide_sums sum_input;        /* adagrad: vocab */
    tide_sums sum_output;       /* adagrad: vocab */
    tide_sums sum_subword;      /* adagrad: subword */
    uint32_t *age_input;        /* linear, power: [vocab] */
    uint32_t *age_output;       /* the same array for linear */
    tide_matrix each_input;     /* coordinate: [vocab] */
    tide_matrix each_output;
    uint64_t origin; /* tokens: where the scale is 1 */
    double plan;     /* decay: tokens in all; 0 when nobody knows */
};

/* What sums are multiplied by after so many tokens. */
float tide_optimizer_scale_at(uint64_t age, uint64_t half_life);

/* Divides all sums by a scale, which is 1 from here on. */
void tide_optimizer_divide(tide_optimizer *rates, uint64_t tokens, float scale);

#endif
