/* run_progress.c - the fraction of its stored text that a run has read.
 *
 * It is measured in bytes as stored, compressed or not. Sources are read one after the
 * other, so those before the open one have been read. A pipe, a topic and a followed
 * file have no end; with one of them the fraction is unknown.
 */
#include "params/params.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <sys/stat.h>
#include <unistd.h>

/* The size of a source that is not open. Returns false if it is not a regular file. */
static bool stored_size(const char *spec, uint64_t *size)
{
    struct stat status;
    int failed = strcmp(spec, "-") ? stat(spec, &status) : fstat(STDIN_FILENO, &status);
    if (failed || !S_ISREG(status.st_mode))
        return false;
    *size = (uint64_t)status.st_size;
    return true;
}

static bool sum_sizes(const tide_run *run, size_t count, uint64_t *total)
{
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t size;
        if (!stored_size(run->sources[i], &size))
            return false;
        *total += size;
    }
    return true;
}

double tide_run_pass_fraction(tide_run_state *r, size_t open, const tide_source *source)
{
    uint64_t read, size;
    if (open != r->counted_source || !r->stored_bytes) {
        r->counted_source = open;
        if (!sum_sizes(r->run, open, &r->bytes_before) ||
            !sum_sizes(r->run, r->run->source_count, &r->stored_bytes))
            r->stored_bytes = 0;
    }
    if (!r->stored_bytes || !tide_source_progress(source, &read, &size))
        return 0;
    double done = (double)(r->bytes_before + read) / (double)r->stored_bytes;
    return done < 1 ? done : 1;
}

/* While no source is open, the last fraction stands. */
double tide_run_fraction_done(tide_run_state *r)
{
    const tide_params *params = tide_trainer_params(r->trainer);
    size_t open = 0;
    if (r->run->follow)
        return 0;
    while (open < r->run->source_count && !r->inputs[open].open)
        open++;
    if (open < r->run->source_count)
        r->pass_fraction = tide_run_pass_fraction(r, open, r->inputs[open].source);
    if (!tide_params_batch(params) || r->pass_fraction <= 0)
        return r->pass_fraction;
    double passes = (double)*tide_trainer_passes(r->trainer);
    return (passes + r->pass_fraction) / (double)params->epochs;
}
