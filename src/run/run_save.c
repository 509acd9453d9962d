/* run_save.c - when a run saves the model, and what happens once that is safe.
 *
 * The order of events is fixed: text is learned, the model is saved with the source
 * positions, and only then are the sources notified, which is when the offsets of a
 * topic are committed. After a crash in between, exactly the text that no saved model
 * has learned is read again.
 *
 * During training only copying the bytes pauses the trainer. Preallocating the file and
 * syncing it are done by the checkpoint writer (checkpoint_writer.c) in the background.
 * So a large save that is due waits for its preallocated file, while a small one, whose
 * pause is short in any case, starts at once. Sources are notified with the positions
 * in the checkpoint, not with how far training has come since.
 */
#include "file/file.h"
#include "run/run.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* After a failed save, for example on a full disk or with too many open files. */
#define RETRY_SECONDS 10

enum { WRITER_WAIT_MS = 100, LARGE = 64 << 20 };

static const char *checkpoint_path(const tide_run *run)
{
    return run->checkpoint_path ? run->checkpoint_path : run->save_path;
}

/* Whether the model has words or this run has read any. */
static bool has_words(const tide_run_state *r)
{
    tide_stats stats;
    tide_trainer_stats(r->trainer, &stats, sizeof stats);
    return stats.vocabulary > 0 || stats.tokens > r->tokens_before;
}

/* Whether the run resumed from the model in this file. */
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

/* The number of older files that this save keeps. A checkpoint starts a new generation
 * if words were read since the last one. Any other file starts one when this run first
 * writes it, so that what was there before the run survives however often the run
 * saves. */
static uint32_t kept_generations(const tide_run_state *r, const char *path)
{
    bool progress = tide_ingest_tokens(r->ingest) > r->safe_tokens;
    bool first = !r->output_written && (progress || !is_origin(r, path));
    return (is_checkpoint(r->run, path) ? progress : first) ? r->run->keep_checkpoints
                                                            : 0;
}

static void record_saved(tide_run_state *r, const char *path)
{
    r->has_saved = true;
    r->safe_tokens = r->pending_tokens;
    r->output_written = r->output_written || !is_checkpoint(r->run, path);
}

static bool save_requested(const tide_run *run)
{
    return run->save_now && *run->save_now;
}

static bool is_time_to_save(const tide_run_state *r)
{
    const tide_run *run = r->run;
    uint64_t fresh = tide_ingest_tokens(r->ingest) - r->last_save_tokens;
    /* A failed save is retried even if no words have come since. */
    if (r->retry_at > 0 && tide_now_seconds() >= r->retry_at)
        return true;
    return fresh && ((run->save_tokens && fresh >= run->save_tokens) ||
                     (run->save_seconds > 0 &&
                      tide_now_seconds() - r->last_save >= run->save_seconds));
}

/* A save that is requested while another is being written comes after it, and training
 * continues meanwhile. */
static bool is_save_wanted(const tide_run_state *r)
{
    bool requested = save_requested(r->run) &&
                     !(r->saving && tide_checkpoint_writer_busy(r->writer, 0));
    return checkpoint_path(r->run) && (requested || is_time_to_save(r));
}

/* An estimate of the size of the next save. */
static uint64_t save_bytes(const tide_run_state *r)
{
    uint64_t vectors = tide_trainer_write_bytes(r->trainer);
    return vectors > r->pending_bytes ? vectors : r->pending_bytes;
}

bool tide_run_save_due(const tide_run_state *r)
{
    /* Creating a large file from nothing would pause training for seconds, so such a
     * save is due only once its file has been preallocated. */
    return is_save_wanted(r) &&
           (save_bytes(r) < LARGE ||
            (r->preallocated && !tide_checkpoint_writer_busy(r->writer, 0)));
}

/* Reports the outcome of a checkpoint. One that failed before it was started counts as
 * started now. */
static void report_checkpoint(tide_run_state *r, double seconds, const char *error)
{
    const tide_checkpoint checkpoint = {.path = checkpoint_path(r->run),
                                        .begun = r->saving ? r->pending_start
                                                           : tide_now_seconds(),
                                        .bytes = r->pending_bytes,
                                        .pause_seconds = r->pending_pause,
                                        .seconds = seconds,
                                        .error = error};
    r->saving = false;
    /* Only periodic saves are retried after a time. A save that a user or a source
     * requested has to be requested again. */
    if (error) {
        tide_run_note(r, true, "not saved", error);
        bool periodic = r->run->save_tokens || r->run->save_seconds > 0;
        r->retry_at = periodic ? tide_now_seconds() + RETRY_SECONDS : 0;
    }
    if (r->run->checkpointed)
        r->run->checkpointed(r->run->checkpointed_data, &checkpoint);
}

/* Waits for the writer and reports progress meanwhile. */
static bool wait_for_result(tide_run_state *r, tide_checkpoint_result *result)
{
    while (tide_checkpoint_writer_busy(r->writer, WRITER_WAIT_MS))
        tide_run_report_progress(r);
    return tide_checkpoint_writer_result(r->writer, result);
}

bool tide_run_collect_checkpoint(tide_run_state *r, bool wait)
{
    tide_checkpoint_result result;
    char text[160];
    if (!r->writer || !(wait ? wait_for_result(r, &result)
                             : tide_checkpoint_writer_result(r->writer, &result)))
        return true;
    if (result.status) {
        report_checkpoint(r, result.seconds, result.error.text);
        return false;
    }
    /* The order matters: the file is durable now, so the sources may discard or commit
     * what it contains, and only that. */
    record_saved(r, checkpoint_path(r->run));
    tide_run_notify_sources(r, &r->pending_positions);
    snprintf(text, sizeof text, "%.1f MiB, training paused %.3f s, safe %.3f s later",
             (double)r->pending_bytes / 0x1p20, r->pending_pause, result.seconds);
    tide_run_note(r, false, "checkpoint", text);
    report_checkpoint(r, result.seconds, NULL);
    return true;
}

static void report_writing(void *running)
{
    tide_run_report_progress(running);
}

/* The next save is due one interval from now. */
static void reset_save_interval(tide_run_state *r)
{
    /* Cleared before the save begins: a request that arrives while the model is being
     * copied concerns later text and causes another save. */
    if (save_requested(r->run))
        *r->run->save_now = 0;
    r->retry_at = 0;
    r->last_save = tide_now_seconds();
    r->last_save_tokens = tide_ingest_tokens(r->ingest);
}

void tide_run_preallocate_checkpoint(tide_run_state *r)
{
    tide_error err;
    if (r->preallocated || !is_save_wanted(r) || save_bytes(r) < LARGE ||
        tide_checkpoint_writer_busy(r->writer, 0))
        return;
    /* The writer serves one job at a time, and its result must be collected before the
     * next. */
    tide_run_collect_checkpoint(r, false);
    r->preallocated = tide_store_create(checkpoint_path(r->run), &err);
    if (r->preallocated) {
        tide_checkpoint_writer_preallocate(r->writer, r->preallocated, save_bytes(r));
        return;
    }
    /* Without a file there is nothing to preallocate. The failure counts as a failed
     * save, and the next attempt comes an interval later, not with the next block. */
    reset_save_interval(r);
    report_checkpoint(r, 0, err.text);
}

/* Copies the model as it is now; the writer does the rest in the background. The time
 * until this returns is the pause of training. */
static int start_save(tide_run_state *r, const char *path, tide_error *err)
{
    double start = tide_now_seconds();
    tide_store_writer *writer = NULL;
    /* The preallocated file, if there is one, is for the checkpoint. It becomes part of
     * the job and must not be discarded with the run any more. */
    if (path == checkpoint_path(r->run)) {
        writer = r->preallocated;
        r->preallocated = NULL;
    }
    if (!writer)
        writer = tide_store_create(path, err);
    if (!writer)
        return (int)err->status;
    int status = tide_checkpoint_writer_start(r->writer, writer, err);
    if (status)
        return status;
    /* From here until tide_store_finish, at the end of tide_trainer_write, training
     * pauses. The generations are chosen last, when the tokens of this save are
     * known. */
    r->saving = true;
    r->pending_start = tide_now_seconds();
    tide_store_on_progress(writer, report_writing, r);
    r->pending_bytes = tide_trainer_write(r->trainer, writer);
    r->pending_tokens = tide_ingest_tokens(r->ingest);
    tide_checkpoint_writer_finish(r->writer, kept_generations(r, path));
    r->pending_pause = tide_now_seconds() - start;
    return TIDE_OK;
}

static int start_checkpoint(tide_run_state *r, tide_error *err)
{
    tide_positions_clear(&r->pending_positions);
    int status = tide_positions_copy(tide_trainer_positions(r->trainer),
                                     &r->pending_positions, err);
    return status ? status : start_save(r, checkpoint_path(r->run), err);
}

static int save_and_wait(tide_run_state *r, const char *path, tide_error *err)
{
    tide_checkpoint_result result;
    int status = start_save(r, path, err);
    if (status)
        return status;
    if (wait_for_result(r, &result) && result.status)
        return tide_fail(err, result.error.status, "%s", result.error.text);
    record_saved(r, path);
    return TIDE_OK;
}

/* Fails if a model without words would replace a file. A source that requires a save to
 * continue gets one anyway; the previous file is kept as an older generation. */
static int check_words(const tide_run_state *r, bool required, tide_error *err)
{
    const char *path = checkpoint_path(r->run);
    /* Guards against a typical accident: an empty input that would replace a good model
     * with an empty one. */
    if (required || r->has_saved || has_words(r) || access(path, F_OK) != 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_INPUT, "no words were read: %s is unchanged",
                     path);
}

/* Sources are notified even without a file to save to: then the caller holds the
 * model. */
bool tide_run_save(tide_run_state *r, const tide_run_input *s, uint64_t offset,
                   bool wait)
{
    tide_error err;
    /* If saves come faster than the disk can write, training waits for the disk
     * here. */
    tide_run_collect_checkpoint(r, true);
    reset_save_interval(r);
    int status = tide_run_note_positions(r, s, offset, &err);
    if (!status && checkpoint_path(r->run))
        status = check_words(r, wait, &err);
    if (!status && checkpoint_path(r->run))
        status = start_checkpoint(r, &err);
    else if (!status)
        tide_run_notify_sources(r, tide_trainer_positions(r->trainer));
    if (status)
        report_checkpoint(r, 0, err.text);
    return !status && (!wait || tide_run_collect_checkpoint(r, true));
}

/* Saves to the output path, and to the checkpoint path if the run was stopped or has no
 * output path. After a complete run the last checkpoint, with its positions, is left as
 * it is: resuming from it leads to the same end. */
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

/* A run that has read no words saves no empty model, and replaces no files except those
 * that it resumed from. */
static bool has_nothing_to_save(const tide_run_state *r)
{
    const char *path = r->run->save_path, *checkpoint = r->run->checkpoint_path;
    if (tide_ingest_tokens(r->ingest) > r->tokens_before)
        return false;
    bool is_resumed =
        (path && is_origin(r, path)) || (checkpoint && is_origin(r, checkpoint));
    return !has_words(r) ||
           (!is_resumed && access(path ? path : checkpoint, F_OK) == 0);
}

/* The position in a source is unknown, for instance because it can no longer be read.
 * Saving the old positions with the new model would make the next run learn text twice.
 * So if an earlier save of this run exists, it stays and nothing is saved (returns
 * true). Otherwise the model is saved without positions (returns false). */
static bool discard_positions(tide_run_state *r)
{
    if (r->has_saved) {
        tide_run_note(
            r, true, "not saved",
            "the position in a source is unknown; the previous save is unchanged");
        return true;
    }
    tide_run_note(r, true, "saved without positions",
                  "a resumed run would start its sources from the beginning");
    tide_positions_clear(tide_trainer_positions(r->trainer));
    return false;
}

/* After an error in a source the model is saved too, with what was learned before it.
 * After a run to the end of all sources there are no positions to save. */
int tide_run_save_at_end(tide_run_state *r, int status, tide_error *err)
{
    r->ending = true;
    r->progress_time = 0;
    tide_run_report_progress(r);
    tide_run_collect_checkpoint(r, true);
    /* A source that fails before its first word leaves the existing files as they
     * are. */
    bool no_progress = status < 0 && tide_ingest_tokens(r->ingest) == r->tokens_before;
    if (!checkpoint_path(r->run) || no_progress || has_nothing_to_save(r))
        return status;
    if (status && r->position_lost && discard_positions(r))
        return status;
    tide_error failed;
    if (!save_all(r, status == 0, &failed)) {
        if (r->run->saved)
            *r->run->saved = true;
        /* After a complete run there is nothing to notify: the sources were read to
         * their ends. */
        if (status && !r->position_lost)
            tide_run_notify_sources(r, tide_trainer_positions(r->trainer));
        return status;
    }
    /* Two failures, one result: the caller gets the error that ended the run, and the
     * failed save is reported as a warning. */
    if (status < 0)
        tide_run_note(r, true, "not saved", failed.text);
    else
        *err = failed;
    return status < 0 ? status : (int)failed.status;
}
