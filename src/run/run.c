/* run.c - reads sources to their ends, or until the run is stopped.
 *
 * Sources are read one after the other. Followed sources have no end, so several of
 * them are read in turns (run_turns.c).
 *
 * A run stops or saves at the end of a sentence if the current block has one, and
 * otherwise at the end of the block; the unfinished sentence or record is then part of
 * the model. Text after the stop is left for the next run. A source that is not
 * divisible can be left only between messages. Everything read from a pipe is learned,
 * because it cannot be read again.
 */
#include "run/run.h"

#include "file/file.h"
#include "label/label.h"
#include "params/params.h"
#include "reader/reader.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <poll.h>
#include <stdlib.h>

enum { FAILED_SAVE_MS = 1000, SAVING_WAIT_MS = 10 };

/* -- reading a block -------------------------------------------------------------- */

static bool should_stop_or_save(const tide_run_state *r)
{
    return tide_run_stop_requested(r) || tide_run_save_due(r);
}

bool tide_run_interleaves(const tide_run_state *r)
{
    return r->run->follow && r->run->source_count > 1;
}

int tide_run_pause_at(tide_run_state *r, const tide_run_input *s, uint64_t offset,
                      tide_error *err)
{
    if (!should_stop_or_save(r) && !tide_ingest_is_deferred(r->ingest))
        return CONTINUES;
    /* A save needs no decision of the caller: training continues right after it. */
    if (!tide_run_stop_requested(r)) {
        tide_run_save(r, s, offset, false);
        return CONTINUES;
    }
    int status = tide_run_note_positions(r, s, offset, err);
    return status ? status : STOPPED;
}

/* Feeds byte by byte to the end of the sentence. Returns the number of bytes used. */
static size_t finish_sentence(tide_run_state *r, const char *bytes, size_t size)
{
    size_t used = 0;
    while (used < size && !tide_ingest_at_boundary(r->ingest))
        tide_ingest_feed(r->ingest, bytes + used++, 1);
    return used;
}

/* Returns how many of the next `size` bytes can be fed before a save by token count
 * could be due. A token has at least one byte, so the remaining tokens are a lower
 * bound. */
static size_t bytes_until_save(const tide_run_state *r, size_t size)
{
    uint64_t every = r->run->save_tokens,
             fresh = tide_ingest_tokens(r->ingest) - r->last_save_tokens;
    return fresh < every && every - fresh < size ? (size_t)(every - fresh) : size;
}

/* Feeds a block of a source that can be left at any byte. */
static int feed_stream(tide_run_state *r, tide_run_input *s, const char *bytes,
                       size_t size, uint64_t start, tide_error *err)
{
    for (size_t at = 0; at < size;) {
        if (!should_stop_or_save(r)) {
            /* The usual case: nothing is due, so the piece is as long as the block
             * allows. It ends early only where a save by token count could become due
             * inside it. */
            size_t piece = bytes_until_save(r, size - at);
            tide_ingest_feed(r->ingest, bytes + at, piece);
            at += piece;
            if (!tide_ingest_is_deferred(r->ingest))
                continue;
            /* A refit was interrupted by a stop and defers everything from here on. The
             * rest of the block is handed over all the same, because the ingest must
             * hold whatever the saved position says was read. */
            tide_ingest_feed(r->ingest, bytes + at, size - at);
            return tide_run_pause_at(r, s, start + size, err);
        }
        /* A stop or save is due: continue to the end of the sentence, if this block has
         * it, so that the saved position is between two sentences. */
        at += finish_sentence(r, bytes + at, size - at);
        if (!tide_ingest_at_boundary(r->ingest) && tide_run_interleaves(r))
            break; /* tide_run_feed_complete buffers the rest and then pauses */
        int status = tide_run_pause_at(r, s, start + at, err);
        if (status != CONTINUES)
            return status;
    }
    return CONTINUES;
}

/* Feeds a block of a source that can be left only between messages. A record does not
 * extend beyond its message. */
static int feed_messages(tide_run_state *r, tide_run_input *s, const char *bytes,
                         size_t size, tide_error *err)
{
    tide_ingest_feed(r->ingest, bytes, size);
    if (!tide_source_at_boundary(s->source))
        return CONTINUES;
    /* The last line of a message may lack its line feed. It is complete nevertheless,
     * since the next message is another text. */
    if (!tide_ingest_at_boundary(r->ingest))
        tide_trainer_end(r->trainer, NULL);
    return tide_run_pause_at(r, s, tide_source_offset(s->source), err);
}

/* Feeds a block of a source that cannot be read again. It is saved in between, but
 * never left in the middle. */
static int feed_unreplayable(tide_run_state *r, tide_run_input *s, const char *bytes,
                             size_t size)
{
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = bytes_until_save(r, size - at);
        tide_ingest_feed(r->ingest, bytes + at, piece);
        if (tide_run_save_due(r))
            tide_run_save(r, s, 0, false);
    }
    return CONTINUES;
}

int tide_run_feed(tide_run_state *r, tide_run_input *s, const char *bytes, size_t size,
                  uint64_t offset, tide_error *err)
{
    if (!s->replayable)
        return feed_unreplayable(r, s, bytes, size);
    return tide_source_divisible(s->source)
               ? feed_stream(r, s, bytes, size, offset, err)
               : feed_messages(r, s, bytes, size, err);
}

static int check_problems(tide_run_state *r, const tide_run_input *s, tide_error *err)
{
    const char *problem =
        r->reported_problem ? NULL : tide_reader_problem(tide_ingest_reader(r->ingest));
    /* Each problem is reported once per text, however many records have it. */
    if (problem) {
        tide_run_note(r, true, s->spec, problem);
        r->reported_problem = true;
    }
    tide_labels *labels = tide_trainer_labels_part(r->trainer);
    const char *label_problem = labels ? tide_labels_problem(labels) : NULL;
    if (label_problem)
        tide_run_note(r, true, "labels were not retrained", label_problem);
    uint64_t bad = tide_ingest_bad_records(r->ingest) - r->bad_before;
    if (!r->run->errors_limited || bad <= r->run->max_errors)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_INPUT, "%llu bad records exceed the limit of %llu",
                     (unsigned long long)bad, (unsigned long long)r->run->max_errors);
}

/* The source has nothing to read at the moment. */
static int idle(tide_run_state *r, tide_run_input *s, tide_error *err)
{
    tide_run_report_progress(r);
    int status = tide_run_pause_at(r, s, tide_source_offset(s->source), err);
    return status == CONTINUES ? WAITING : status;
}

/* The source cannot continue before a save succeeds. A failed save, on a full disk for
 * example, is retried. */
static int save_for_source(tide_run_state *r, tide_run_input *s, tide_error *err)
{
    uint64_t offset = tide_source_offset(s->source);
    if (tide_run_save(r, s, offset, true))
        return CONTINUES;
    if (tide_run_stop_requested(r))
        return tide_run_pause_at(r, s, offset, err);
    tide_run_report_progress(r);
    poll(NULL, 0, FAILED_SAVE_MS);
    return WAITING;
}

/* An earlier stop interrupted a label refit. It is finished before the next block. */
static int finish_deferred(tide_run_state *r, const tide_run_input *s, tide_error *err)
{
    /* Feeding nothing makes the ingest try again: it completes the refit and then
     * trains on the text that it has held back. */
    tide_ingest_feed(r->ingest, "", 0);
    tide_run_report_progress(r);
    return tide_ingest_is_deferred(r->ingest)
               ? tide_run_pause_at(r, s, tide_source_offset(s->source), err)
               : CONTINUES;
}

int tide_run_read_block(tide_run_state *r, tide_run_input *s, int wait_ms,
                        tide_error *err)
{
    char block[BLOCK];
    tide_reader_set_plain(tide_ingest_reader(r->ingest), tide_source_plain(s->source));
    /* A replayable source stops inside tide_run_feed, at a sentence boundary, where its
     * position is exact. Any other source has no position and stops between blocks:
     * what was read is already learned, and nothing more is consumed. */
    if (tide_run_stop_requested(r) && !s->replayable) {
        int status = tide_run_note_positions(r, s, 0, err);
        return status ? status : STOPPED;
    }
    /* Text that is waiting for a refit comes before new text, or the order would
     * change. */
    if (tide_ingest_is_deferred(r->ingest))
        return finish_deferred(r, s, err);

    /* Housekeeping between blocks: report a checkpoint that has become safe,
     * preallocate the next one, and check the vectors for NaN. */
    tide_run_collect_checkpoint(r, false);
    tide_run_preallocate_checkpoint(r);
    tide_run_check_nan(r);
    /* While a checkpoint is being written, wait only briefly: the sooner the source is
     * notified that it is safe, the less a killed member of a consumer group reads
     * twice. */
    if (r->saving && wait_ms > SAVING_WAIT_MS)
        wait_ms = SAVING_WAIT_MS;
    ptrdiff_t size = tide_source_poll(s->source, block, BLOCK, wait_ms, err);
    tide_run_report_source(r, s);
    if (size == TIDE_SOURCE_SAVE)
        return save_for_source(r, s, err);
    if (size == TIDE_SOURCE_LATER)
        return idle(r, s, err);
    if (size <= 0)
        return (int)size; /* ENDED, or an error */

    /* The offset is now behind the block. Positions are recorded relative to
     * `start`. */
    int status = s->started ? TIDE_OK : tide_run_start_text(r, s, err);
    if (status)
        return status;
    uint64_t start = tide_source_offset(s->source) - (uint64_t)size;
    status = s->partial ? tide_run_feed_complete(r, s, block, (size_t)size, err)
                        : tide_run_feed(r, s, block, (size_t)size, start, err);
    tide_run_report_progress(r);
    int bad = status == CONTINUES ? check_problems(r, s, err) : TIDE_OK;
    return bad ? bad : status;
}

/* At the end of a text its last word and sentence are complete. If reading was
 * interrupted instead, a replayable source may continue later, and a draining one is
 * about to be drained (run_turns.c), so their text stays open. */
int tide_run_end_text(tide_run_state *r, tide_run_input *s, int status, tide_error *err)
{
    tide_error ignored;
    /* `started`: this run has fed text of the source. `mid_text`: the resumed model was
     * saved in the middle of it, and nothing has been fed since. */
    bool mid_text = s->started || s->mid_text;
    bool continues = s->replayable || tide_source_drains(s->source);
    if (mid_text && (status == ENDED || !continues)) {
        tide_run_flush_partial(r, s);
        tide_trainer_end(r->trainer, NULL);
        s->started = s->mid_text = false;
    }
    if (status == ENDED && tide_ingest_is_deferred(r->ingest)) /* stopped */
        status = tide_run_pause_at(r, s, tide_source_offset(s->source), err);
    if (status != STOPPED) {
        /* The position is recorded after an error too, so that the model saved with it
         * continues after what was learned. Then the error of the source is the one to
         * report. */
        int noted = tide_run_note_positions(r, s, tide_source_offset(s->source),
                                            status ? &ignored : err);
        status = status ? status : noted;
    }
    return status == ENDED ? check_problems(r, s, err) : status;
}

/* -- reading all sources ---------------------------------------------------------- */

static int read_to_end(tide_run_state *r, tide_run_input *s, tide_error *err)
{
    int status = tide_run_open_input(r, s, err);
    if (status)
        return status;
    do
        status = tide_run_read_block(r, s, WAIT_MS, err);
    while (status == CONTINUES || status == WAITING);
    status = tide_run_end_text(r, s, status, err);
    if (status == ENDED)
        tide_run_close_input(s);
    return status;
}

int tide_run_sources(tide_run_state *r, tide_error *err)
{
    if (r->run->follow)
        return tide_run_interleave(r, err);
    int status = TIDE_OK;
    for (size_t i = 0; i < r->run->source_count && !status; i++)
        status = read_to_end(r, &r->inputs[i], err);
    return status;
}

static void pause_callback(void *running)
{
    tide_run_pause(running);
}

static int read_all(tide_run_state *r, tide_error *err)
{
    bool pauses = r->run->pause && r->run->pause_tokens;
    if (pauses)
        tide_ingest_set_pause(r->ingest, r->run->pause_tokens, pause_callback, r);
    int status = tide_params_batch(tide_trainer_params(r->trainer))
                     ? tide_run_epochs(r, err)
                     : tide_run_sources(r, err);
    if (!pauses)
        return status;
    tide_ingest_set_pause(r->ingest, 0, NULL, NULL);
    /* The caller is promised a pause at the end, unless the last one was there
     * already. */
    if (status >= 0 &&
        !(r->paused && r->paused_tokens == tide_ingest_tokens(r->ingest)))
        tide_run_pause(r);
    return status;
}

/* Initializes the state. On failure nothing stays allocated, and the trainer is
 * unchanged. */
static int start_run(tide_run_state *r, tide_trainer *trainer, const tide_run *run,
                     tide_error *err)
{
    tide_stats before;
    tide_trainer_stats(trainer, &before, sizeof before);
    double now = tide_now_seconds();
    tide_positions *positions = tide_trainer_positions(trainer);
    *r = (tide_run_state){.trainer = trainer,
                          .trainer_stop = tide_trainer_stop_flag(trainer),
                          .ingest = tide_trainer_ingest(trainer),
                          .run = run,
                          .previous = *positions,
                          .last_save = now,
                          .last_save_tokens = before.tokens,
                          .safe_tokens = before.tokens,
                          .tokens_before = before.tokens,
                          .nan_checked = now,
                          .repaired = before.repaired};
    if (run->spool && run->source_count != 1)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "a spool is for exactly one source");
    r->inputs = tide_alloc(run->source_count, sizeof *r->inputs);
    if (!r->inputs)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %zu sources",
                         run->source_count);
    /* With a path, a save may be due at any time, since a source may request one. */
    if (run->save_path || run->checkpoint_path) {
        r->writer = tide_checkpoint_writer_new(err);
        if (!r->writer) {
            free(r->inputs);
            return (int)err->status;
        }
    }
    for (size_t i = 0; i < run->source_count; i++)
        r->inputs[i].spec = run->sources[i];
    r->has_saved = r->previous.count > 0;
    r->bad_before = tide_ingest_bad_records(r->ingest);
    /* From here on the trainer's positions are those of this run. The old ones have
     * become `previous`, from which sources claim theirs when they are opened. What is
     * left there at the end belongs to sources that this run never got to. */
    *positions = (tide_positions){0};
    return TIDE_OK;
}

int tide_trainer_run(tide_trainer *trainer, const tide_run *given, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_run run;
    tide_run_state r;
    /* The caller's struct may be shorter than ours: from here on only the copy is
     * used. */
    if (tide_run_copy(&run, given, err))
        return TIDE_ERROR_PARAMETER;
    int status = tide_run_check_targets(&run, err);
    if (!status)
        status = start_run(&r, trainer, &run, err);
    if (status)
        return status;

    /* A refit of the classifier can take minutes, so it watches the stop flags by
     * itself. */
    tide_labels *labels = tide_trainer_labels_part(trainer);
    if (labels)
        tide_labels_stop(labels, run.stop, r.trainer_stop);
    status = read_all(&r, err);
    if (labels)
        tide_labels_stop(labels, NULL, NULL);

    /* A run to the end of all sources leaves no positions: the model is then the same
     * as if the text had come in other pieces. An interrupted one keeps those of the
     * sources that it did not reach, too. */
    if (!status)
        tide_positions_clear(tide_trainer_positions(trainer));
    else
        tide_run_carry_over_positions(&r);

    /* Saving comes before the sources are closed, because they are notified of the
     * save, and before the thread of the writer ends. */
    status = tide_run_save_at_end(&r, status, err);
    tide_checkpoint_writer_free(r.writer);
    tide_store_discard(r.preallocated);
    for (size_t i = 0; i < run.source_count; i++) {
        tide_run_finish_input(&r, &r.inputs[i]);
        tide_run_close_input(&r.inputs[i]);
    }
    tide_positions_clear(&r.pending_positions);
    tide_positions_clear(&r.previous);
    free(r.inputs);
    /* A tide_trainer_stop that came while this run was ending must not stop the next
     * one. */
    *r.trainer_stop = 0;
    return status;
}
