/* oracle_paper.h - a second implementation of the paper's Algorithm 2, plain and slow.
 *
 * Linear searches, double precision, arrays of strings. It shares only the random
 * generator and the hash with the library, because both must draw the same numbers. The
 * order of the draws is that of the algorithm: one for a word that may be subsampled, D
 * normal ones for each initial vector, S for the negatives of a pair.
 */
#ifndef ORACLE_PAPER_H
#define ORACLE_PAPER_H

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

enum {
    ORACLE_WORDS = 256,
    ORACLE_DIM = 16,
    ORACLE_SENTENCE = 64,
    ORACLE_STREAM = 100000
};

typedef struct oracle {
    int K, D, C, S;
    double delta, kappa, floor, tau;
    uint64_t seed;

    /* Space-Saving: z_k, c_k, and the hand that breaks ties among the smallest counts.
     * The paper does not say which of them is replaced. */
    char word[ORACLE_WORDS][16];
    uint64_t c[ORACLE_WORDS];
    int size, hand;
    uint64_t least, n;

    int reservoir[ORACLE_STREAM], filled; /* the stream is shorter than the reservoir */
    double v[ORACLE_WORDS][ORACLE_DIM], u[ORACLE_WORDS][ORACLE_DIM]; /* v and v' */
    double t[ORACLE_WORDS];
    tide_rng thinning;
    uint64_t emitted;
} oracle;

static int oracle_find(const oracle *o, const char *word)
{
    for (int k = 0; k < o->size; k++)
        if (!strcmp(o->word[k], word))
            return k;
    return -1;
}

/* v_k, v'_k ~ N(0,1)^D; t_k <- 1. */
static void oracle_reset(oracle *o, int k)
{
    tide_rng rng = tide_rng_seeded(tide_hash(o->word[k], strlen(o->word[k]), o->seed));
    for (int d = 0; d < o->D; d++)
        o->v[k][d] = (double)(float)tide_rng_normal(&rng);
    for (int d = 0; d < o->D; d++)
        o->u[k][d] = (double)(float)tide_rng_normal(&rng);
    o->t[k] = 1;
}

/* The slot to be replaced among those with the smallest count c: a hand passes over
 * them in slot order, and restarts from the first slot when none is left at that
 * count. */
static int oracle_victim(oracle *o)
{
    while (o->hand < o->K && o->c[o->hand] != o->least)
        o->hand++;
    if (o->hand == o->K) {
        o->hand = 0;
        o->least = o->c[0];
        for (int k = 1; k < o->K; k++)
            o->least = o->c[k] < o->least ? o->c[k] : o->least;
        return oracle_victim(o);
    }
    return o->hand++;
}

static void oracle_insert(oracle *o, const char *word)
{
    int k = oracle_find(o, word);
    o->n++;
    if (k < 0) {
        k = o->size < o->K ? o->size++ : oracle_victim(o);
        strcpy(o->word[k], word);
        oracle_reset(o, k);
    }
    o->c[k]++;
    o->reservoir[o->filled++] = k;
}

static bool oracle_keeps(oracle *o, const char *word)
{
    int k = oracle_find(o, word);
    if (k < 0)
        return true;
    double f = (double)o->c[k] / (double)o->n;
    double chance = sqrt(o->delta / f);
    return chance >= 1 || (double)tide_rng_float(&o->thinning) < chance;
}

/* "Thresholded, linearly decaying": kappa at the first step, t_k = 1. */
static double oracle_rho(const oracle *o, int k)
{
    double rho = o->kappa * (1 - (o->t[k] - 1) / o->tau);
    return rho > o->floor ? rho : o->floor;
}

static double oracle_sigma(const oracle *o, int input, int output)
{
    double dot = 0;
    for (int d = 0; d < o->D; d++)
        dot += o->v[input][d] * o->u[output][d];
    return 1 / (1 + exp(-dot));
}

static void oracle_output(oracle *o, int input, int output, double label,
                          double *gradient)
{
    double alpha = label - oracle_sigma(o, input, output);
    for (int d = 0; d < o->D; d++) {
        o->u[output][d] += oracle_rho(o, output) * alpha * o->v[input][d];
        gradient[d] += oracle_rho(o, input) * alpha * o->u[output][d];
    }
}

static void oracle_pair(oracle *o, int input, int output, tide_rng *rng)
{
    double gradient[ORACLE_DIM] = {0};
    int seen[ORACLE_WORDS] = {0}, negative[8];
    for (int s = 0; s < o->S; s++)
        negative[s] = o->reservoir[tide_rng_below(rng, (uint64_t)o->filled)];
    oracle_output(o, input, output, 1, gradient);
    for (int s = 0; s < o->S; s++)
        oracle_output(o, input, negative[s], 0, gradient);
    for (int d = 0; d < o->D; d++)
        o->v[input][d] += gradient[d];
    seen[input] = seen[output] = 1;
    for (int s = 0; s < o->S; s++)
        seen[negative[s]] = 1;
    for (int k = 0; k < o->K; k++)
        o->t[k] += seen[k];
}

/* One sentence of `count` words: Algorithm 2 from "read sentence" on. */
static void oracle_sentence(oracle *o, char (*words)[16], int count)
{
    char kept[ORACLE_SENTENCE][16];
    int J = 0;
    for (int j = 0; j < count; j++)
        if (oracle_keeps(o, words[j]))
            strcpy(kept[J++], words[j]);
    for (int j = 0; j < J; j++)
        oracle_insert(o, kept[j]);
    int k[ORACLE_SENTENCE];
    for (int j = 0; j < J; j++)
        k[j] = oracle_find(o, kept[j]);
    if (J < 2)
        return;
    tide_rng rng = tide_rng_seeded(o->seed + o->emitted++ * 0xc2b2ae3d27d4eb4fu);
    for (int j = 0; j + 2 * o->C < J; j++) {
        bool whole = true;
        for (int m = j; m <= j + 2 * o->C; m++)
            whole &= k[m] >= 0;
        for (int l = j; whole && l <= j + 2 * o->C; l++)
            if (l != j + o->C)
                oracle_pair(o, k[j + o->C], k[l], &rng);
    }
}

#endif
