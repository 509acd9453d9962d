/* batch.c - training on stored text: its words are counted first, then it is read several times.
 *
 * word2vec's way, from the parts of a stream. A first pass counts all words exactly (counts.c). The
 * vocabulary is filled with the most frequent, in their order, and with their true counts, and stays
 * as it is; words that are not in it are left out of their sentences (ingest_words.c). The table of
 * negatives is built once. Since it is known how many tokens there are to learn, the rate `decay` can
 * fall evenly until the last of them; a model that is given more epochs later goes on in the longer
 * schedule. Every pass after that is a run over the sources like any other, so it can be stopped, saved
 * and gone on with anywhere.
 *
 * Counting needs memory for every different word of the text; all else is bounded as ever.
 */
#include "params/params.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

/* -- making ----------------------------------------------------------------------------------------- */

static int check_source(const char *spec, const tide_params *params,
                        const tide_run *run, tide_error *err)
{
    tide_source *source = tide_run_open_stored(run, params, spec, err);
    if (!source)
        return (int)err->status;
    bool again = tide_source_can_resume(source) && tide_source_divisible(source);
    tide_source_close(source);
    if (again)
        return TIDE_OK;
    return tide_fail(
        err, TIDE_ERROR_PARAMETER,
        "batch training reads its text several times; '%s' cannot be read again", spec);
}

/* What cannot be read again is refused before anything is counted. */
static int check_sources(const tide_params *params, const tide_run *run,
                         tide_error *err)
{
    if (run->follow)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "batch training reads its text several times; what is "
                         "followed has no end");
    int status = TIDE_OK;
    for (size_t i = 0; i < run->source_count && !status; i++)
        status = check_source(run->sources[i], params, run, err);
    return status;
}

static int fill(tide_trainer *trainer, const tide_counts *counts, tide_error *err)
{
    const tide_params *params = tide_trainer_params(trainer);
    tide_ingest *intake = tide_trainer_intake(trainer);
    size_t size = tide_counts_size(counts), rank = 0;
    for (; rank < size && rank < params->vocab; rank++) {
        tide_entry entry = tide_counts_at(counts, rank);
        if (entry.count < params->min_count)
            break;
        tide_word word = {entry.word, (uint32_t)strlen(entry.word)};
        tide_ingest_insert(intake, &word, entry.count, 0);
    }
    if (!size)
        return tide_fail(err, TIDE_ERROR_INPUT, "there are no words in the text");
    if (!rank)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "no word of the text occurs %llu times (--min-count)",
                         (unsigned long long)params->min_count);
    return tide_trainer_plan(trainer, err);
}

tide_trainer *tide_trainer_new_batch(const tide_params *params, const tide_run *run,
                                     tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_params settled = *params;
    if (!tide_params_batch(params)) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  params->frozen ? "--frozen is for a model that is resumed"
                                 : "batch training needs --epochs of 1 or more");
        return NULL;
    }
    if (tide_params_complete(&settled, err) || check_sources(params, run, err))
        return NULL;
    tide_counts *counts = tide_counts_new(params, run, err);
    tide_trainer *trainer = counts ? tide_trainer_make(params, err) : NULL;
    if (trainer && fill(trainer, counts, err)) {
        tide_trainer_free(trainer);
        trainer = NULL;
    }
    tide_counts_free(counts);
    return trainer;
}

/* -- running ---------------------------------------------------------------------------------------- */

/* Where the pass that has ended had come to is of no use to the next, which meets the same bad records. */
static void begin_again(tide_run_state *r)
{
    tide_positions_clear(tide_trainer_positions(r->trainer));
    tide_positions_clear(&r->before);
    for (size_t i = 0; i < r->run->source_count; i++)
        r->readings[i] = (tide_reading){.spec = r->run->sources[i]};
    r->bad_before = tide_ingest_bad_records(r->intake);
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
                         "all %llu epochs are done; a larger --epochs or --frozen yes "
                         "goes on",
                         (unsigned long long)epochs);
    while (*passes < epochs && !status) {
        status = tide_run_sources(r, err);
        if (!status) {
            ++*passes;
            begin_again(r);
        }
    }
    return status;
}
