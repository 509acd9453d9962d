/* budget.c - the memory that training needs, by part, and the vocabulary that fits a
 * given memory. */
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/replay.h"
#include "train/train.h"
#include "train/trainer_internal.h"
#include "vocab/vocab.h"

#include <stdio.h>

/* -- parts ------------------------------------------------------------------------- */

/* What a process needs besides the parts below: code, libraries and their heap,
 * decompression windows, and the 5 MiB buffer of a save; and for each thread its stack
 * and the C library's own data. Measured: 14 MiB and 33 KiB. */
enum { PROGRAM_BYTES = 20 << 20, THREAD_BYTES = 64 << 10 };

static uint64_t program_bytes(const tide_params *p)
{
    return PROGRAM_BYTES + p->threads * THREAD_BYTES;
}

static int list_parts(const tide_params *p, tide_part parts[TIDE_PARTS_MAX])
{
    tide_shape shape = tide_params_shape(p);
    tide_sampler_options sampler = tide_params_sampler(p);
    const tide_part all[] = {
        {"vectors", tide_shape_vector_bytes(&shape)},
        {"subwords", tide_shape_subword_bytes(&shape) + tide_ngrams_bytes(p)},
        {"vocabulary", tide_vocabulary_bytes(&shape.vocabulary)},
        {"rates", tide_optimizer_bytes(p)},
        {"negatives", tide_sampler_bytes(&sampler)},
        {"replay", tide_replay_bytes(p)},
        {"intake", tide_ingest_bytes(p)},
        {"phrases", tide_phrases_bytes(p)},
        {"labels", tide_labels_bytes(p)},
        {"classifier", tide_labels_fit_bytes(p)},
        {"threads", tide_workers_bytes(p)},
        {"program", program_bytes(p)},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].bytes)
            parts[count++] = all[i];
    return count;
}

uint64_t tide_budget_process(const tide_params *params)
{
    tide_part parts[TIDE_PARTS_MAX];
    uint64_t total = params->others ? params->others(params, params->others_data) : 0;
    for (int i = list_parts(params, parts); i-- > 0;)
        total += parts[i].bytes;
    return total;
}

uint64_t tide_budget_allocated(const tide_params *params)
{
    tide_params alone = *params;
    alone.others = NULL;
    return tide_budget_process(&alone) - program_bytes(params);
}

/* -- fitting a vocabulary ---------------------------------------------------------- */

static unsigned long long mebibytes(uint64_t bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

/* Not even one word fits. The smallest profile may fit, so the message mentions it. */
static int fail_too_little(const tide_params *params, tide_error *err)
{
    char fast[64] = "";
    tide_params fast_params = *params;
    uint64_t needed = tide_budget_process(params);
    if (!tide_params_set(&fast_params, "profile", "fast", NULL)) {
        fast_params.vocab = 1;
        uint64_t low = tide_budget_process(&fast_params);
        if (low < needed)
            snprintf(fast, sizeof fast, ", or %llu MiB with profile fast",
                     mebibytes(low));
    }
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "memory %.4g MiB is too little: without any words, training "
                     "needs %llu MiB%s",
                     (double)params->memory / 0x1p20, mebibytes(needed), fast);
}

/* A small vocabulary has fewer n-grams, so it gets fewer rows for them unless their
 * number was given. */
enum { SUBWORDS_PER_WORD = 3 };

static void limit_subwords(tide_params *params, uint64_t subword)
{
    bool fewer = !params->subword_given && params->vocab < subword / SUBWORDS_PER_WORD;
    params->subword = fewer ? params->vocab * SUBWORDS_PER_WORD : subword;
}

/* Finds the largest vocabulary that fits, by bisection: the budget grows with the
 * vocabulary. */
static int fit_memory(tide_params *params, tide_error *err)
{
    uint64_t low = 1, high = TIDE_CAPACITY_MAX, subword = params->subword;
    while (low < high) {
        params->vocab = (low + high + 1) / 2;
        limit_subwords(params, subword);
        if (tide_budget_process(params) <= params->memory)
            low = params->vocab;
        else
            high = params->vocab - 1;
    }
    params->vocab = low;
    limit_subwords(params, subword);
    return tide_budget_process(params) > params->memory ? fail_too_little(params, err)
                                                        : TIDE_OK;
}

/* The vocabulary size is given. For a loaded model, whose size cannot be changed, only
 * what it allocates is compared with the memory; for a new one the whole process is. */
static int check_memory(const tide_params *params, tide_error *err)
{
    uint64_t needed =
        params->loaded ? tide_budget_allocated(params) : tide_budget_process(params);
    if (!params->memory || needed <= params->memory)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "vocab %llu needs %llu MiB, more than memory allows",
                     (unsigned long long)params->vocab, mebibytes(needed));
}

int tide_params_complete(tide_params *params, tide_error *err)
{
    int status = tide_params_check(params, err);
    if (!status && params->memory && !params->vocab_given)
        status = fit_memory(params, err);
    else if (!status) {
        limit_subwords(params, params->subword);
        status = check_memory(params, err);
    }
    params->vocab_given = params->subword_given = true;
    return status;
}

int tide_params_budget(tide_params *params, tide_part parts[TIDE_PARTS_MAX],
                       tide_error *err)
{
    int status = tide_params_complete(params, err);
    return status ? status : list_parts(params, parts);
}

int tide_trainer_budget(const tide_trainer *trainer, tide_part parts[TIDE_PARTS_MAX])
{
    return list_parts(&trainer->params, parts);
}
