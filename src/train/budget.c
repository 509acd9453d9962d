/* budget.c - the memory that training takes, by part, and the vocabulary that a given memory has room for. */
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

/* -- what there is to pay for ------------------------------------------------------ */

/* What a process has besides what it allocates here: the code that it runs, its own and that of libraries, their
 * heap, the windows of packed text, and the 5 MiB through which a save goes; and the stack of a thread, with what the
 * C library keeps for it. Measured: 14 MiB and 33 KiB. */
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
        {"subwords", tide_shape_subword_bytes(&shape)},
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

/* -- what fits ---------------------------------------------------------------------- */

static unsigned long long mebibytes(uint64_t bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

/* With one word it does not fit. It may as the profile that takes the least. */
static int too_little(const tide_params *params, tide_error *err)
{
    char fast[64] = "";
    tide_params other = *params;
    uint64_t needed = tide_budget_process(params);
    if (!tide_params_set(&other, "profile", "fast", NULL)) {
        other.vocab = 1;
        uint64_t least = tide_budget_process(&other);
        if (least < needed)
            snprintf(fast, sizeof fast, ", or %llu MiB with --profile fast",
                     mebibytes(least));
    }
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "--memory %.4g MiB is too little: the program, and all but the "
                     "words, needs %llu MiB%s",
                     (double)params->memory / 0x1p20, mebibytes(needed), fast);
}

/* The largest vocabulary that the memory holds, by bisection of a budget that only grows. */
static int fit_memory(tide_params *params, tide_error *err)
{
    uint64_t least = 1, most = TIDE_CAPACITY_MAX;
    while (least < most) {
        params->vocab = (least + most + 1) / 2;
        if (tide_budget_process(params) <= params->memory)
            least = params->vocab;
        else
            most = params->vocab - 1;
    }
    params->vocab = least;
    return tide_budget_process(params) > params->memory ? too_little(params, err)
                                                        : TIDE_OK;
}

/* A model that is loaded has the size that it has, and what it allocates is held against the memory; for a new one
 * it is the whole process. */
static int check_memory(const tide_params *params, tide_error *err)
{
    uint64_t needed =
        params->loaded ? tide_budget_allocated(params) : tide_budget_process(params);
    if (!params->memory || needed <= params->memory)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_PARAMETER,
                     "--vocab %llu needs %llu MiB, more than --memory allows",
                     (unsigned long long)params->vocab, mebibytes(needed));
}

int tide_params_complete(tide_params *params, tide_error *err)
{
    int status = tide_params_check(params, err);
    if (!status && params->memory && !params->vocab_given)
        status = fit_memory(params, err);
    else if (!status)
        status = check_memory(params, err);
    params->vocab_given = true;
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
