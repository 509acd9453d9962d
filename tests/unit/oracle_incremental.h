/* oracle_incremental.h - a second implementation of incremental SGNS (Kaji and
 * Kobayashi, EMNLP 2017), plain and slow.
 *
 * Misra-Gries as published, where all counts are decremented; a table of negatives in
 * which a word whose count becomes c gets c^a - (c-1)^a new entries, or overwrites as
 * large a share of a full one; AdaGrad for every coordinate of both matrices. It shares
 * only the random generator and the hash with the library, because both must draw the
 * same numbers. Counts are those of all words up to the end of the sentence; a word
 * that has left keeps its rows until its slot is reused.
 */
#ifndef ORACLE_INCREMENTAL_H
#define ORACLE_INCREMENTAL_H

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

enum { RIVAL_WORDS = 256, RIVAL_DIM = 16, RIVAL_SENTENCE = 64, RIVAL_TABLE = 100000 };

typedef struct rival {
    int K, D, C, S, table_size;
    double sample, eta, power;
    uint64_t seed;

    char word[RIVAL_WORDS][16]; /* "" for an empty slot */
    uint64_t c[RIVAL_WORDS], n;

    int table[RIVAL_TABLE], filled;
    double z; /* sum of c^a so far */
    tide_rng rounding, thinning;

    double v[RIVAL_WORDS][RIVAL_DIM], u[RIVAL_WORDS][RIVAL_DIM];
    double gv[RIVAL_WORDS][RIVAL_DIM],
        gu[RIVAL_WORDS][RIVAL_DIM]; /* squared gradients */
    uint64_t emitted;
} rival;

static int rival_find(const rival *o, const char *word)
{
    for (int k = 0; k < o->K; k++)
        if (!strcmp(o->word[k], word))
            return k;
    return -1;
}

static void rival_uniform(const rival *o, double *row, tide_rng *rng)
{
    for (int d = 0; d < o->D; d += 2) {
        uint64_t bits = tide_rng_next(rng);
        row[d] = ((double)(bits >> 40) / 0x1p24 - 0.5) / o->D;
        if (d + 1 < o->D)
            row[d + 1] = ((double)(bits >> 8 & 0xffffff) / 0x1p24 - 0.5) / o->D;
    }
}

static void rival_enter(rival *o, int k, const char *word)
{
    strcpy(o->word[k], word);
    tide_rng rng = tide_rng_seeded(tide_hash(word, strlen(word), o->seed));
    rival_uniform(o, o->v[k], &rng);
    rival_uniform(o, o->u[k], &rng);
    memset(o->gv[k], 0, sizeof o->gv[k]);
    memset(o->gu[k], 0, sizeof o->gu[k]);
}

/* The slot of the word, or -1 if its count canceled others. *fresh: it has just been
 * admitted. */
static int rival_count(rival *o, const char *word, bool *fresh)
{
    int k = rival_find(o, word);
    *fresh = false;
    o->n++;
    if (k < 0 && (k = rival_find(o, "")) >= 0) {
        rival_enter(o, k, word);
        *fresh = true;
    }
    if (k >= 0) {
        o->c[k]++;
        return k;
    }
    for (int i = 0; i < o->K; i++)
        if (!--o->c[i])
            strcpy(o->word[i], "");
    return -1;
}

static int rival_round(rival *o, double x)
{
    int whole = (int)x;
    return whole + (tide_rng_double(&o->rounding) < x - whole);
}

static void rival_earn(rival *o, int k)
{
    double c = (double)o->c[k], earned = pow(c, o->power) - pow(c - 1, o->power);
    o->z += earned;
    if (o->filled < o->table_size) {
        for (int i = rival_round(o, earned); i > 0 && o->filled < o->table_size; i--)
            o->table[o->filled++] = k;
        return;
    }
    for (int i = rival_round(o, earned / o->z * o->table_size); i > 0; i--)
        o->table[tide_rng_below(&o->rounding, (uint64_t)o->table_size)] = k;
}

static void rival_step(rival *o, double *row, double *squares, const double *gradient)
{
    for (int d = 0; d < o->D; d++) {
        squares[d] += gradient[d] * gradient[d];
        row[d] += o->eta * gradient[d] / sqrt(squares[d] + 1e-8);
    }
}

static void rival_pair(rival *o, int input, int context, tide_rng *rng)
{
    int target[1 + 16] = {context};
    double error[1 + 16], total[RIVAL_DIM] = {0}, x[RIVAL_DIM];
    for (int s = 1; s <= o->S; s++)
        target[s] = o->table[tide_rng_below(rng, (uint64_t)o->filled)];
    memcpy(x, o->v[input], sizeof x);
    for (int t = 0; t <= o->S; t++) {
        double dot = 0;
        for (int d = 0; d < o->D; d++)
            dot += x[d] * o->u[target[t]][d];
        error[t] = (t == 0) - 1 / (1 + exp(-dot));
    }
    for (int t = 0; t <= o->S; t++) {
        double gradient[RIVAL_DIM];
        for (int d = 0; d < o->D; d++) {
            total[d] += error[t] * o->u[target[t]][d];
            gradient[d] = error[t] * x[d];
        }
        rival_step(o, o->u[target[t]], o->gu[target[t]], gradient);
    }
    rival_step(o, o->v[input], o->gv[input], total);
}

static bool rival_stays(rival *o, int k)
{
    double toss = (double)tide_rng_float(&o->thinning);
    double f = (double)o->c[k] / (double)o->n;
    return !o->c[k] || toss < sqrt(o->sample / f);
}

static void rival_learn(rival *o, const int *k, int count)
{
    if (count < 2)
        return;
    tide_rng rng = tide_rng_seeded(o->seed + o->emitted++ * 0xc2b2ae3d27d4eb4fu);
    for (int at = 0; at < count; at++) {
        int width = 1 + (int)tide_rng_below(&rng, (uint64_t)o->C);
        for (int i = at - width; i <= at + width; i++)
            if (i >= 0 && i < count && i != at)
                rival_pair(o, k[at], k[i], &rng);
    }
}

/* The word at `at` has got slot k: removes the slot's previous word from the sentence,
 * and restores its own tokens that were canceled. */
static void rival_hand_over(int *slots, char (*words)[16], int at, int k)
{
    for (int i = 0; i < at; i++) {
        if (slots[i] == k)
            slots[i] = -1;
        if (slots[i] < 0 && !strcmp(words[i], words[at]))
            slots[i] = k;
    }
}

static void rival_sentence(rival *o, char (*words)[16], int count)
{
    int slots[RIVAL_SENTENCE], kept[RIVAL_SENTENCE], J = 0;
    for (int j = 0; j < count; j++) {
        bool fresh;
        slots[j] = rival_count(o, words[j], &fresh);
        if (slots[j] >= 0)
            rival_earn(o, slots[j]);
        if (fresh)
            rival_hand_over(slots, words, j, slots[j]);
    }
    for (int j = 0; j < count; j++)
        if (slots[j] >= 0 && rival_stays(o, slots[j]))
            kept[J++] = slots[j];
    rival_learn(o, kept, J);
}

#endif
