/* run_report.c - what a run reports while it is reading: notes, progress and pauses,
 * and the regular NaN check.
 */
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#define PROGRESS_SECONDS 0.1
#define NAN_CHECK_SECONDS 60

bool tide_run_stop_requested(const tide_run_state *r)
{
    return (r->run->stop && *r->run->stop) || (r->trainer_stop && *r->trainer_stop);
}

void tide_run_note(const tide_run_state *r, bool warning, const char *what,
                   const char *text)
{
    char line[512];
    if (!r->run->note)
        return;
    snprintf(line, sizeof line, "%s: %s", what, text);
    r->run->note(r->run->note_data, warning, line);
}

void tide_run_report_source(const tide_run_state *r, const tide_run_input *s)
{
    const char *notice;
    while ((notice = tide_source_notice(s->source)))
        tide_run_note(r, true, s->spec, notice);
}

bool tide_run_progress_due(tide_run_state *r)
{
    double time = tide_now_seconds();
    if (time - r->progress_time < PROGRESS_SECONDS)
        return false;
    r->progress_time = time;
    return true;
}

void tide_run_report_progress(tide_run_state *r)
{
    tide_stats stats;
    if (!tide_run_progress_due(r))
        return;
    tide_live *live = tide_trainer_live(r->trainer);
    if (live)
        tide_live_tick(live, r->progress_time);
    if (!r->run->progress)
        return;
    tide_trainer_stats(r->trainer, &stats, sizeof stats);
    stats.ending = r->ending;
    stats.saving = r->saving;
    stats.done = tide_run_fraction_done(r);
    r->run->progress(r->run->progress_data, &stats);
}

void tide_run_pause(tide_run_state *r)
{
    tide_stats stats;
    tide_ingest_drain(r->ingest);
    tide_trainer_stats(r->trainer, &stats, sizeof stats);
    r->paused = true;
    r->paused_tokens = stats.tokens;
    r->run->pause(r->run->pause_data, &stats);
}

/* Notes that vectors were repaired since the last check, though not which. */
void tide_run_check_nan(tide_run_state *r)
{
    char text[32];
    double time = tide_now_seconds();
    if (time - r->nan_checked < NAN_CHECK_SECONDS)
        return;
    r->nan_checked = time;
    uint64_t repaired = tide_trainer_repair(r->trainer);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(repaired - r->repaired));
    if (repaired > r->repaired)
        tide_run_note(r, true, "vectors with NaN or infinite values were reinitialized",
                      text);
    r->repaired = repaired;
}
