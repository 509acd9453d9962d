/* classifier_oracle.h - a reference implementation of the paper's classifier in double
 * precision. */
#ifndef CLASSIFIER_ORACLE_H
#define CLASSIFIER_ORACLE_H

#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

#include <math.h>

/* The weights of a classifier; missing parts are empty. */
typedef struct plain_weights {
    uint32_t dim, maps, labels, features;
    bool windows;
    double scale;
    double filters[3][16][3][16]; /* width - 1, map, word of the window, dimension */
    double bias[3][16];
    double dense[16][64];
} plain_weights;

/* The position of a filter in memory, as laid out in cnn.c. */
static inline float *filter_of(const tide_classifier *c, uint32_t w, uint32_t map,
                               uint32_t k)
{
    uint32_t padded = (c->options.maps + 7) / 8 * 8;
    return tide_matrix_row(&c->filters, (w * (w + 1) / 2 + k) * padded + map);
}

static inline plain_weights plain_weights_of(const tide_classifier *c)
{
    plain_weights p = {.dim = c->options.dim,
                       .maps = c->options.maps,
                       .labels = c->options.labels,
                       .features = c->features,
                       .windows = c->filters.rows != NULL,
                       .scale = (double)c->scale};
    for (uint32_t w = 0; w < 3 && p.windows; w++)
        for (uint32_t m = 0; m < p.maps; m++) {
            p.bias[w][m] = (double)c->bias.rows[w * p.maps + m];
            for (uint32_t k = 0; k <= w; k++)
                for (uint32_t d = 0; d < p.dim; d++)
                    p.filters[w][m][k][d] = (double)filter_of(c, w, m, k)[d];
        }
    for (uint32_t l = 0; l < p.labels; l++)
        for (uint32_t f = 0; f <= p.features; f++)
            p.dense[l][f] = (double)tide_matrix_row(&c->dense, l)[f];
    return p;
}

static inline double plain_feature(const plain_weights *p, uint32_t w, uint32_t map,
                                   const float *const *rows, uint32_t count)
{
    double best = (double)-INFINITY;
    for (uint32_t t = 0; t == 0 || t + w < count; t++) {
        double sum = p->bias[w][map];
        for (uint32_t k = 0; k <= w && t + k < count; k++)
            for (uint32_t d = 0; d < p->dim; d++)
                sum += p->scale * p->filters[w][map][k][d] * (double)rows[t + k][d];
        best = fmax(best, sum);
    }
    return fmax(best, 0);
}

static inline void plain_features(const plain_weights *p, const float *const *rows,
                                  uint32_t count, double *features)
{
    for (uint32_t f = 0; f < p->features; f++) {
        features[f] = 0;
        if (p->windows)
            features[f] = plain_feature(p, f / p->maps, f % p->maps, rows, count);
        for (uint32_t i = 0; i < count && !p->windows; i++)
            features[f] += p->scale * (double)rows[i][f] / count;
    }
}

/* `mask` [features] is what dropout multiplies by; NULL for 1. */
static inline void plain_probabilities(const plain_weights *p, const float *const *rows,
                                       uint32_t count, const float *mask,
                                       double *probabilities)
{
    double features[64];
    plain_features(p, rows, count, features);
    for (uint32_t l = 0; l < p->labels; l++) {
        double z = p->dense[l][p->features];
        for (uint32_t f = 0; f < p->features; f++)
            z += p->dense[l][f] * features[f] * (mask ? (double)mask[f] : 1);
        probabilities[l] = 1 / (1 + exp(-z));
    }
}

#endif
