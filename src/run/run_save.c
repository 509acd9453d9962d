/* run_save.c - what a run tells, and when it saves.
 *
 * The order in which things become true: the text is learned, the model is saved with the places,
 * and only then the sources are told, which is when a topic's offsets are committed. Whatever is
 * killed in between reads again what no saved model has learned, and nothing else.
 *
 * On the way only the copying of the bytes keeps training from going on; that there is room for them, and that they
 * come to the disk, is the keeper's business (checkpoint_writer.c). So a save that is due comes when there is room for it, and
 * a model too small for anybody to notice has that at once. What is told to sources then is what was saved,
 * not how far training has come since.
 */
#include "file/file.h"
#include "run/run.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WATCH_SECONDS 0.1
#define SCRUB_SECONDS 60
#define RETRY_SECONDS                                                                  \
    10 /* after a save that failed: the disk was full, or too many files were open */
enum { KEEPER_WAIT_MS = 100, LARGE = 64 << 20 };

bool tide_run_stop_asked(const tide_run_state *r)
{
    return r->run->stop && *r->run->stop;
}

/* -- telling ---------------------------------------------------------------------------------------- */

void tide_run_note(const tide_run_state *r, bool warning, const char *what,
                   const char *text)
{
    char line[512];
    if (!r->run->note)
        return;
    snprintf(line, sizeof line, "%s: %s", what, text);
    r->run->note(r->run->note_data, warning, line);
}

void tide_run_report_news(const tide_run_state *r, const tide_reading *s)
{
    const char *news;
    while ((news = tide_source_news(s->source)))
        tide_run_note(r, true, s->spec, news);
}

bool tide_run_progress_due(tide_run_state *r)
{
    double time = tide_now_seconds();
    if (time - r->watched < WATCH_SECONDS)
        return false;
    r->watched = time;
    return true;
}

void tide_run_report_progress(tide_run_state *r)
{
    tide_stats stats;
    if (!tide_run_progress_due(r))
        return;
    tide_live *live = tide_trainer_live(r->trainer);
    if (live)
        tide_live_tick(live, r->watched);
    if (!r->run->watch)
        return;
    tide_trainer_stats(r->trainer, &stats);
    stats.ending = r->ending;
    stats.saving = r->saving;
    stats.done = tide_run_done(r);
    r->run->watch(r->run->watch_data, &stats);
}

void tide_run_pause(tide_run_state *r)
{
    tide_stats stats;
    tide_ingest_drain(r->intake);
    tide_trainer_stats(r->trainer, &stats);
    r->paused = true;
    r->paused_tokens = stats.tokens;
    r->run->pause(r->run->pause_data, &stats);
}

void tide_run_repair(tide_run_state *r)
{
    char count[32];
    double time = tide_now_seconds();
    if (time - r->scrubbed < SCRUB_SECONDS)
        return;
    r->scrubbed = time;
    uint64_t healed = tide_trainer_repair(r->trainer);
    snprintf(count, sizeof count, "%llu", (unsigned long long)(healed - r->healed));
    if (healed > r->healed)
        tide_run_note(r, true, "vectors that were not numbers and were begun again",
                      count);
    r->healed = healed;
}

/* -- saving ----------------------------------------------------------------------------------------- */

static const char *path_on_the_way(const tide_run *run)
{
    return run->checkpoint_path ? run->checkpoint_path : run->save_path;
}

/* Whether the model has words, or this run has read some. */
static bool has_words(const tide_run_state *r)
{
    tide_stats stats;
    tide_trainer_stats(r->trainer, &stats);
    return stats.vocabulary > 0 || stats.tokens > r->tokens_before;
}

/* Whether the run goes on from the model in this file. */
static bool is_origin(const tide_run_state *r, const char *path)
{
    struct stat a, b;
    const char *origin = tide_trainer_origin(r->trainer);
    return origin &&
           (!strcmp(origin, path) || (stat(origin, &a) == 0 && stat(path, &b) == 0 &&
                                      a.st_ino == b.st_ino && a.st_dev == b.st_dev));
}

static bool is_checkpoint(const tide_run *run, const char *path)
{
    return run->checkpoint_path && !strcmp(path, run->checkpoint_path);
}

/* How many older files this save keeps. A checkpoint is a new generation if words were read since the last one; any
 * other file is one when this run first writes it, so that what was there before stays however often the run saves. */
static uint32_t generations(const tide_run_state *r, const char *path)
{
    bool news = tide_ingest_tokens(r->intake) > r->kept_tokens;
    bool first = !r->output_written && (news || !is_origin(r, path));
    return (is_checkpoint(r->run, path) ? news : first) ? r->run->older : 0;
}

static void note_written(tide_run_state *r, const char *path)
{
    r->has_saved = true;
    r->kept_tokens = r->pending_tokens;
    r->output_written = r->output_written || !is_checkpoint(r->run, path);
}

static bool save_asked(const tide_run *run)
{
    return run->save_now && *run->save_now;
}

static bool is_time_to_save(const tide_run_state *r)
{
    const tide_run *run = r->run;
    uint64_t news = tide_ingest_tokens(r->intake) - r->saved_tokens;
    if (r->retry_at > 0 && tide_now_seconds() >= r->retry_at)
        return true;
    return news && ((run->save_tokens && news >= run->save_tokens) ||
                    (run->save_seconds > 0 &&
                     tide_now_seconds() - r->saved >= run->save_seconds));
}

/* One that is asked for while another is on its way comes after that, and learning goes on meanwhile. */
static bool save_wanted(const tide_run_state *r)
{
    bool asked =
        save_asked(r->run) && !(r->saving && tide_checkpoint_writer_busy(r->keeper, 0));
    return path_on_the_way(r->run) && (asked || is_time_to_save(r));
}

/* What the next save will come to, as far as can be told. */
static uint64_t save_bytes(const tide_run_state *r)
{
    uint64_t vectors = tide_trainer_write_bytes(r->trainer);
    return vectors > r->pending_bytes ? vectors : r->pending_bytes;
}

bool tide_run_save_due(const tide_run_state *r)
{
    return save_wanted(r) && (save_bytes(r) < LARGE ||
                              (r->next && !tide_checkpoint_writer_busy(r->keeper, 0)));
}

static int note_place(tide_run_state *r, const tide_reading *s, uint64_t offset,
                      bool live, tide_error *err)
{
    tide_error ignored;
    char *place = tide_run_place(s, offset, err ? err : &ignored);
    r->places_lost = r->places_lost || !place;
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

int tide_run_note_places(tide_run_state *r, const tide_reading *s, uint64_t offset,
                         tide_error *err)
{
    int status = TIDE_OK;
    tide_positions *positions = tide_trainer_positions(r->trainer);
    r->places_lost = false;
    for (size_t i = 0; i < positions->count; i++)
        positions->items[i].live = false;
    for (size_t i = 0; i < r->run->source_count && !status; i++) {
        const tide_reading *other = &r->readings[i];
        if (!other->open || !other->replayable)
            continue;
        bool present = other == s;
        status =
            note_place(r, other, present ? offset : tide_source_offset(other->source),
                       present && (s->begun || s->live), err);
    }
    return status;
}

static void tell_sources(tide_run_state *r, const tide_positions *saved)
{
    for (size_t i = 0; i < r->run->source_count; i++) {
        const tide_reading *s = &r->readings[i];
        tide_error err;
        if (s->open && s->replayable && s->position < saved->count &&
            saved->items[s->position].place &&
            tide_source_saved(s->source, saved->items[s->position].place, &err))
            tide_run_note(r, true, s->spec, err.text);
    }
}

/* One that has not come to be begun counts as begun now. */
static void tell_checkpoint(tide_run_state *r, double seconds, const char *error)
{
    const tide_checkpoint checkpoint = {.path = path_on_the_way(r->run),
                                        .begun = r->saving ? r->pending_begun
                                                           : tide_now_seconds(),
                                        .bytes = r->pending_bytes,
                                        .pause_seconds = r->pending_pause,
                                        .seconds = seconds,
                                        .error = error};
    r->saving = false;
    if (error) {
        tide_run_note(r, true, "not saved", error);
        bool often = r->run->save_tokens || r->run->save_seconds > 0;
        r->retry_at = often ? tide_now_seconds() + RETRY_SECONDS : 0;
    }
    if (r->run->checkpointed)
        r->run->checkpointed(r->run->checkpointed_data, &checkpoint);
}

/* Waits for the keeper. */
static bool ask_keeper(tide_run_state *r, tide_checkpoint_result *kept)
{
    while (tide_checkpoint_writer_busy(r->keeper, KEEPER_WAIT_MS))
        tide_run_report_progress(r);
    return tide_checkpoint_writer_result(r->keeper, kept);
}

bool tide_run_collect(tide_run_state *r, bool wait)
{
    tide_checkpoint_result kept;
    char text[160];
    if (!r->keeper || !(wait ? ask_keeper(r, &kept)
                             : tide_checkpoint_writer_result(r->keeper, &kept)))
        return true;
    if (kept.status) {
        tell_checkpoint(r, kept.seconds, kept.error.text);
        return false;
    }
    note_written(r, path_on_the_way(r->run));
    tell_sources(r, &r->pending);
    snprintf(text, sizeof text, "%.1f MiB, training paused %.3f s, safe %.3f s later",
             (double)r->pending_bytes / 0x1p20, r->pending_pause, kept.seconds);
    tide_run_note(r, false, "checkpoint", text);
    tell_checkpoint(r, kept.seconds, NULL);
    return true;
}

static void watch_writing(void *running)
{
    tide_run_report_progress(running);
}

/* The next time comes an interval from now. */
static void begin_interval(tide_run_state *r)
{
    if (save_asked(r->run))
        *r->run->save_now = 0;
    r->retry_at = 0;
    r->saved = tide_now_seconds();
    r->saved_tokens = tide_ingest_tokens(r->intake);
}

void tide_run_preallocate(tide_run_state *r)
{
    tide_error err;
    if (r->next || !save_wanted(r) || save_bytes(r) < LARGE ||
        tide_checkpoint_writer_busy(r->keeper, 0))
        return;
    tide_run_collect(r, false);
    r->next = tide_store_create(path_on_the_way(r->run), &err);
    if (r->next) {
        tide_checkpoint_writer_preallocate(r->keeper, r->next, save_bytes(r));
        return;
    }
    begin_interval(r);
    tell_checkpoint(r, 0, err.text);
}

static tide_store_writer *take_next(tide_run_state *r)
{
    tide_store_writer *next = r->next;
    r->next = NULL;
    return next;
}

/* Copies the model as it is and lets the keeper do the rest. */
static int begin_save(tide_run_state *r, const char *path, tide_error *err)
{
    double start = tide_now_seconds();
    tide_store_writer *writer = path == path_on_the_way(r->run) ? take_next(r) : NULL;
    if (!writer)
        writer = tide_store_create(path, err);
    if (!writer)
        return (int)err->status;
    int status = tide_checkpoint_writer_start(r->keeper, writer, err);
    if (status)
        return status;
    r->saving = true;
    r->pending_begun = tide_now_seconds();
    tide_store_on_progress(writer, watch_writing, r);
    r->pending_bytes = tide_trainer_write(r->trainer, writer);
    r->pending_tokens = tide_ingest_tokens(r->intake);
    tide_checkpoint_writer_finish(r->keeper, generations(r, path));
    r->pending_pause = tide_now_seconds() - start;
    return TIDE_OK;
}

static int begin_checkpoint(tide_run_state *r, tide_error *err)
{
    tide_positions_clear(&r->pending);
    int status =
        tide_positions_copy(tide_trainer_positions(r->trainer), &r->pending, err);
    return status ? status : begin_save(r, path_on_the_way(r->run), err);
}

static int save_and_wait(tide_run_state *r, const char *path, tide_error *err)
{
    tide_checkpoint_result kept;
    int status = begin_save(r, path, err);
    if (status)
        return status;
    if (ask_keeper(r, &kept) && kept.status)
        return tide_fail(err, kept.error.status, "%s", kept.error.text);
    note_written(r, path);
    return TIDE_OK;
}

/* Fails where a model without words would replace a file. A source that cannot go on before it is saved gets its
 * way: the file that was there is kept as an older one. */
static int check_words(const tide_run_state *r, bool required, tide_error *err)
{
    const char *path = path_on_the_way(r->run);
    if (required || r->has_saved || has_words(r) || access(path, F_OK) != 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_INPUT, "no words were read: %s is unchanged",
                     path);
}

/* Sources are told even where there is no file to be saved: the model is the caller's. */
bool tide_run_save(tide_run_state *r, const tide_reading *s, uint64_t offset, bool wait)
{
    tide_error err;
    /* Who saves faster than the disk can has to wait for it. */
    tide_run_collect(r, true);
    begin_interval(r);
    int status = tide_run_note_places(r, s, offset, &err);
    if (!status && path_on_the_way(r->run))
        status = check_words(r, wait, &err);
    if (!status && path_on_the_way(r->run))
        status = begin_checkpoint(r, &err);
    else if (!status)
        tell_sources(r, tide_trainer_positions(r->trainer));
    if (status)
        tell_checkpoint(r, 0, err.text);
    return !status && (!wait || tide_run_collect(r, true));
}

/* To where checkpoints go, if the run did not come to its end or there is no other place: what was saved there
 * last still has the places of a run that did, and going on from it comes to the same end again. */
static int save_all(tide_run_state *r, bool ended, tide_error *err)
{
    const char *checkpoint = r->run->checkpoint_path, *path = r->run->save_path;
    int status = TIDE_OK;
    if (checkpoint && (!ended || !path))
        status = save_and_wait(r, checkpoint, err);
    if (!status && path)
        status = save_and_wait(r, path, err);
    return status;
}

/* A run that has read no words makes no empty model, and replaces no file but those that it goes on from. */
static bool leaves_files(const tide_run_state *r)
{
    const char *path = r->run->save_path, *checkpoint = r->run->checkpoint_path;
    if (tide_ingest_tokens(r->intake) > r->tokens_before)
        return false;
    bool goes_on =
        (path && is_origin(r, path)) || (checkpoint && is_origin(r, checkpoint));
    return !has_words(r) || (!goes_on && access(path ? path : checkpoint, F_OK) == 0);
}

/* Nobody knows how far the model has come in a source that cannot be read any more. With the places of
 * before, going on would learn text twice. So what was saved with them stands, if there is anything;
 * otherwise the model is kept without places. Whether the former. */
static bool give_up_places(tide_run_state *r)
{
    if (r->has_saved) {
        tide_run_note(r, true, "not saved",
                      "the place in a source is not known; what was saved before it "
                      "stands");
        return true;
    }
    tide_run_note(r, true, "saved without places", "going on would begin sources anew");
    tide_positions_clear(tide_trainer_positions(r->trainer));
    return false;
}

/* What was learned before a source failed is worth keeping too. After a run to the end of all sources there are no places. */
int tide_run_save_at_end(tide_run_state *r, int status, tide_error *err)
{
    r->ending = true;
    r->watched = 0;
    tide_run_report_progress(r);
    tide_run_collect(r, true);
    bool nothing = status < 0 && tide_ingest_tokens(r->intake) == r->tokens_before;
    if (!path_on_the_way(r->run) || nothing || leaves_files(r))
        return status;
    if (status && r->places_lost && give_up_places(r))
        return status;
    tide_error failed;
    if (!save_all(r, status == 0, &failed)) {
        if (r->run->saved)
            *r->run->saved = true;
        if (status && !r->places_lost)
            tell_sources(r, tide_trainer_positions(r->trainer));
        return status;
    }
    if (status < 0)
        tide_run_note(r, true, "not saved", failed.text);
    else
        *err = failed;
    return status < 0 ? status : (int)failed.status;
}
