/* run_save.c - what a run tells, and when it saves.
 *
 * The order in which things become true: the text is learned, the model is saved with the places,
 * and only then the sources are told, which is when a topic's offsets are committed. Whatever is
 * killed in between reads again what no saved model has learned, and nothing else.
 */
#include "train/run.h"

#include <stdlib.h>

#define WATCH_SECONDS 0.1

bool tide_run_stop_asked(const tide_running *r)
{
    return r->run->stop && *r->run->stop;
}

/* -- telling ---------------------------------------------------------------------------------------- */

void tide_run_note(const tide_running *r, bool warning, const char *what,
                   const char *text)
{
    char line[512];
    if (!r->run->note)
        return;
    snprintf(line, sizeof line, "%s: %s", what, text);
    r->run->note(r->run->note_data, warning, line);
}

void tide_run_tell_news(const tide_running *r, const tide_reading *s)
{
    const char *news;
    while ((news = tide_source_news(s->source)))
        tide_run_note(r, true, s->spec, news);
}

bool tide_run_watch_due(tide_running *r)
{
    double time = tide_now_seconds();
    if (!r->run->watch || time - r->watched < WATCH_SECONDS)
        return false;
    r->watched = time;
    return true;
}

void tide_run_watch(tide_running *r)
{
    tide_stats stats;
    if (!tide_run_watch_due(r))
        return;
    tide_trainer_stats(r->trainer, &stats);
    r->run->watch(r->run->watch_data, &stats);
}

void tide_run_pause(tide_running *r)
{
    tide_stats stats;
    tide_intake_settle(r->intake);
    tide_trainer_stats(r->trainer, &stats);
    r->paused = true;
    r->paused_tokens = stats.tokens;
    r->run->pause(r->run->pause_data, &stats);
}

/* -- saving ----------------------------------------------------------------------------------------- */

bool tide_run_save_due(const tide_running *r)
{
    const tide_run *run = r->run;
    uint64_t tokens = tide_intake_tokens(r->intake);
    return run->save_path && tokens > r->saved_tokens &&
           ((run->save_tokens && tokens - r->saved_tokens >= run->save_tokens) ||
            (run->save_seconds > 0 &&
             tide_now_seconds() - r->saved >= run->save_seconds));
}

static int note_place(tide_running *r, const tide_reading *s, uint64_t offset,
                      bool live, tide_error *err)
{
    tide_error ignored;
    char *place = tide_source_place(s->source, offset, err ? err : &ignored);
    if (!place)
        return err ? (int)err->status : TIDE_ERROR_IO;
    if (strlen(place) >= PLACE_MAX) {
        free(place);
        return tide_fail(err, TIDE_ERROR_IO, "%s has more places than can be kept",
                         s->spec);
    }
    tide_positions_note(tide_trainer_positions(r->trainer), s->position, place, live);
    return TIDE_OK;
}

int tide_run_note_places(tide_running *r, const tide_reading *s, uint64_t offset,
                         tide_error *err)
{
    int status = TIDE_OK;
    tide_positions *positions = tide_trainer_positions(r->trainer);
    for (size_t i = 0; i < positions->count; i++)
        positions->items[i].live = false;
    for (size_t i = 0; i < r->run->source_count && !status; i++) {
        const tide_reading *other = &r->readings[i];
        if (!other->open || !other->replayable)
            continue;
        bool present = other == s;
        status =
            note_place(r, other, present ? offset : tide_source_offset(other->source),
                       present && s->begun, err);
    }
    return status;
}

static void tell_sources(tide_running *r)
{
    const tide_positions *positions = tide_trainer_positions(r->trainer);
    for (size_t i = 0; i < r->run->source_count; i++) {
        const tide_reading *s = &r->readings[i];
        tide_error err;
        if (s->open && s->replayable && positions->items[s->position].place &&
            tide_source_saved(s->source, positions->items[s->position].place, &err))
            tide_run_note(r, true, s->spec, err.text);
    }
}

/* Sources are told even where there is no file to be saved: the model is the caller's. */
bool tide_run_save(tide_running *r, const tide_reading *s, uint64_t offset)
{
    tide_error err;
    int status = tide_run_note_places(r, s, offset, &err);
    if (!status && r->run->save_path)
        status = tide_trainer_save(r->trainer, r->run->save_path, &err);
    if (status)
        tide_run_note(r, true, "not saved", err.text);
    else
        tell_sources(r);
    r->saved = tide_now_seconds();
    r->saved_tokens = tide_intake_tokens(r->intake);
    return !status;
}

/* What was learned before a source failed is worth keeping too; but if that is nothing, a file that
 * may be there already is left alone. After a run to the end of all sources there are no places. */
int tide_run_save_at_end(tide_running *r, int status, uint64_t tokens_before,
                         tide_error *err)
{
    if (!r->run->save_path ||
        (status < 0 && tide_intake_tokens(r->intake) == tokens_before))
        return status;
    tide_error failed;
    if (!tide_trainer_save(r->trainer, r->run->save_path, &failed)) {
        if (r->run->saved)
            *r->run->saved = true;
        if (status)
            tell_sources(r);
        return status;
    }
    if (status < 0)
        tide_run_note(r, true, "not saved", failed.text);
    else
        *err = failed;
    return status < 0 ? status : (int)failed.status;
}
