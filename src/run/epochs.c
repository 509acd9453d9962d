/* epochs.c - batch training: counts the words of stored text, then reads it once per
 * epoch.
 *
 * This is what word2vec does, built from the parts of stream training. A first pass
 * counts all words exactly (corpus_counts.c). The vocabulary is filled with the most
 * frequent words, in order of rank and with their true counts, and does not change
 * afterwards; other words are dropped from their sentences (ingest_words.c). The table
 * for negative sampling is built once. Because the total number of tokens is known, the
 * learning rate schedule `decay` falls linearly until the last of them; if a model is
 * given more epochs later, it continues in the longer schedule. Every epoch is a run
 * over the sources like any other, so it can be stopped, saved and resumed anywhere.
 *
 * Counting needs memory for every distinct word of the text. All other memory is
 * bounded as in stream training.
 */
#include "params/params.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <wordtide/eval.h>

/* -- constructor ------------------------------------------------------------------ */

static int check_source(const char *spec, const tide_params *params,
                        const tide_run *run, tide_error *err)
{
    tide_source *source = tide_run_open_stored(run, params, spec, err);
    if (!source)
        return (int)err->status;
    bool reusable = tide_source_can_resume(source) && tide_source_divisible(source);
    tide_source_close(source);
    if (reusable)
        return TIDE_OK;
    return tide_fail(
        err, TIDE_ERROR_PARAMETER,
        "batch training reads its text several times, but '%s' can be read only once",
        spec);
}

/* Rejects sources that cannot be read again before anything is counted. */
static int check_sources(const tide_params *params, const tide_run *run,
                         tide_error *err)
{
    if (run->follow)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "batch training reads its text several times, but a followed "
                         "source has no end");
    int status = TIDE_OK;
    for (size_t i = 0; i < run->source_count && !status; i++)
        status = check_source(run->sources[i], params, run, err);
    return status;
}

static int fill_vocabulary(tide_trainer *trainer, const tide_counts *counts,
                           tide_error *err)
{
    const tide_params *params = tide_trainer_params(trainer);
    tide_ingest *ingest = tide_trainer_ingest(trainer);
    size_t size = tide_counts_size(counts), rank = 0;
    for (; rank < size && rank < params->vocab; rank++) {
        tide_entry entry = tide_counts_at(counts, rank);
        if (entry.count < params->min_count)
            break;
        tide_word word = {entry.word, (uint32_t)strlen(entry.word)};
        tide_ingest_insert(ingest, &word, entry.count, 0);
    }
    if (!size)
        return tide_fail(err, TIDE_ERROR_INPUT, "the text contains no words");
    if (!rank)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "no word occurs at least %llu times (min-count)",
                         (unsigned long long)params->min_count);
    return tide_trainer_plan(trainer, err);
}

int tide_trainer_new_batch(const tide_params *params, const tide_run *given,
                           tide_trainer **trainer, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    *err = (tide_error){0};
    *trainer = NULL;
    tide_run run;
    tide_params completed = *params;
    if (!tide_params_batch(params))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         params->frozen ? "frozen needs a model to resume"
                                        : "batch training needs epochs of at least 1");
    tide_counts *counts = NULL;
    int status = tide_run_copy(&run, given, err);
    if (!status)
        status = tide_params_complete(&completed, err);
    if (!status)
        status = check_sources(params, &run, err);
    if (!status)
        status = tide_run_check_targets(&run, err);
    if (!status)
        status = tide_counts_new(params, &run, &counts, err);
    if (!status && !(*trainer = tide_trainer_make(params, err)))
        status = (int)err->status;
    if (!status && (status = fill_vocabulary(*trainer, counts, err)) < 0) {
        tide_trainer_free(*trainer);
        *trainer = NULL;
    }
    tide_counts_free(counts);
    return status;
}

/* -- running the epochs ----------------------------------------------------------- */

/* Positions of the finished epoch are useless for the next one. The limit on bad
 * records applies to each epoch, since every epoch sees the same ones. */
static void reset_for_next_epoch(tide_run_state *r)
{
    tide_positions_clear(tide_trainer_positions(r->trainer));
    tide_positions_clear(&r->previous);
    for (size_t i = 0; i < r->run->source_count; i++)
        r->inputs[i] = (tide_run_input){.spec = r->run->sources[i]};
    r->bad_before = tide_ingest_bad_records(r->ingest);
}

int tide_run_epochs(tide_run_state *r, tide_error *err)
{
    uint64_t *passes = tide_trainer_passes(r->trainer),
             epochs = tide_trainer_params(r->trainer)->epochs;
    int status = check_sources(tide_trainer_params(r->trainer), r->run, err);
    if (status)
        return status;
    if (*passes >= epochs)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "all %llu epochs are done; set a larger epochs, or frozen to "
                         "yes, to continue",
                         (unsigned long long)epochs);
    while (*passes < epochs && !status) {
        status = tide_run_sources(r, err);
        if (!status) {
            ++*passes;
            reset_for_next_epoch(r);
        }
    }
    return status;
}
