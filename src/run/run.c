/* run.c - reading sources to their ends, or until somebody says stop.
 *
 * Sources are read one after the other; when they are followed, which means that they have no end,
 * all at once, taking turns (run_turns.c).
 *
 * A stop or a save comes at the end of a sentence, if there is one within the block just read, and at the end of
 * the block otherwise: the half-read sentence or record is part of the model. What was read beyond it is left for the
 * next run. A source that cannot be divided is taken up to where it is settled. From a pipe, all that was read is
 * learned, since it cannot come again.
 */
#include "run/run.h"

#include "file/file.h"
#include "label/label.h"
#include "params/params.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <poll.h>
#include <stdlib.h>

enum { FAILED_SAVE_MS = 1000, SAVING_WAIT_MS = 10 };

/* -- a turn ------------------------------------------------------------------------------------------ */

static bool wants_pause(const tide_run_state *r)
{
    return tide_run_stop_asked(r) || tide_run_save_due(r);
}

bool tide_run_in_turns(const tide_run_state *r)
{
    return r->run->follow && r->run->source_count > 1;
}

int tide_run_pause_at(tide_run_state *r, const tide_reading *s, uint64_t offset,
                      tide_error *err)
{
    if (!wants_pause(r) && !tide_ingest_is_deferred(r->intake))
        return GOES_ON;
    if (!tide_run_stop_asked(r)) {
        tide_run_save(r, s, offset, false);
        return GOES_ON;
    }
    int status = tide_run_note_places(r, s, offset, err);
    return status ? status : STOPPED;
}

/* Feeds byte by byte to the end of the sentence; returns the bytes used. */
static size_t finish_sentence(tide_run_state *r, const char *bytes, size_t size)
{
    size_t used = 0;
    while (used < size && !tide_ingest_at_boundary(r->intake))
        tide_ingest_feed(r->intake, bytes + used++, 1);
    return used;
}

/* How much of so many bytes can be learned before so many words may be new that it is time to save: every
 * word has a byte at least. */
static size_t unsaved_piece(const tide_run_state *r, size_t size)
{
    uint64_t every = r->run->save_tokens,
             news = tide_ingest_tokens(r->intake) - r->saved_tokens;
    return news < every && every - news < size ? (size_t)(every - news) : size;
}

/* Learns a block of a source that can be left at any byte. */
static int feed_divisible(tide_run_state *r, tide_reading *s, const char *bytes,
                          size_t size, uint64_t start, tide_error *err)
{
    for (size_t at = 0; at < size;) {
        if (!wants_pause(r)) {
            size_t piece = unsaved_piece(r, size - at);
            tide_ingest_feed(r->intake, bytes + at, piece);
            at += piece;
            if (!tide_ingest_is_deferred(r->intake))
                continue;
            tide_ingest_feed(r->intake, bytes + at, size - at);
            return tide_run_pause_at(r, s, start + size, err);
        }
        at += finish_sentence(r, bytes + at, size - at);
        if (!tide_ingest_at_boundary(r->intake) && tide_run_in_turns(r))
            break; /* it is held, and then is time to pause */
        int status = tide_run_pause_at(r, s, start + at, err);
        if (status != GOES_ON)
            return status;
    }
    return GOES_ON;
}

/* One that can be left only between messages. A record ends with its message at the latest. */
static int feed_whole(tide_run_state *r, tide_reading *s, const char *bytes,
                      size_t size, tide_error *err)
{
    tide_ingest_feed(r->intake, bytes, size);
    if (!tide_source_at_boundary(s->source))
        return GOES_ON;
    if (!tide_ingest_at_boundary(r->intake))
        tide_trainer_end(r->trainer, NULL);
    return tide_run_pause_at(r, s, tide_source_offset(s->source), err);
}

/* One that is not left, since it cannot come again. */
static int feed_once(tide_run_state *r, tide_reading *s, const char *bytes, size_t size)
{
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = unsaved_piece(r, size - at);
        tide_ingest_feed(r->intake, bytes + at, piece);
        if (tide_run_save_due(r))
            tide_run_save(r, s, 0, false);
    }
    return GOES_ON;
}

int tide_run_feed(tide_run_state *r, tide_reading *s, const char *bytes, size_t size,
                  uint64_t offset, tide_error *err)
{
    if (!s->replayable)
        return feed_once(r, s, bytes, size);
    return tide_source_divisible(s->source)
               ? feed_divisible(r, s, bytes, size, offset, err)
               : feed_whole(r, s, bytes, size, err);
}

static int check_errors(tide_run_state *r, const tide_reading *s, tide_error *err)
{
    const char *problem = r->told_problem ? NULL : tide_ingest_problem(r->intake);
    if (problem) {
        tide_run_note(r, true, s->spec, problem);
        r->told_problem = true;
    }
    tide_labels *labels = tide_trainer_labels_part(r->trainer);
    const char *trouble = labels ? tide_labels_problem(labels) : NULL;
    if (trouble)
        tide_run_note(r, true, "labels not learned anew", trouble);
    uint64_t bad = tide_ingest_bad_records(r->intake) - r->bad_before;
    if (!r->run->errors_limited || bad <= r->run->max_errors)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_INPUT,
                     "%llu bad records are more than the %llu allowed",
                     (unsigned long long)bad, (unsigned long long)r->run->max_errors);
}

/* There is nothing to read now. */
static int idle(tide_run_state *r, tide_reading *s, tide_error *err)
{
    tide_run_report_progress(r);
    int status = tide_run_pause_at(r, s, tide_source_offset(s->source), err);
    return status == GOES_ON ? WAITING : status;
}

/* The source cannot go on before it is saved. A disk may be full for a while. */
static int save_first(tide_run_state *r, tide_reading *s, tide_error *err)
{
    uint64_t offset = tide_source_offset(s->source);
    if (tide_run_save(r, s, offset, true))
        return GOES_ON;
    if (tide_run_stop_asked(r))
        return tide_run_pause_at(r, s, offset, err);
    tide_run_report_progress(r);
    poll(NULL, 0, FAILED_SAVE_MS);
    return WAITING;
}

/* What an earlier stop has left undone goes before the next block. */
static int make_up(tide_run_state *r, const tide_reading *s, tide_error *err)
{
    tide_ingest_feed(r->intake, "", 0);
    tide_run_report_progress(r);
    return tide_ingest_is_deferred(r->intake)
               ? tide_run_pause_at(r, s, tide_source_offset(s->source), err)
               : GOES_ON;
}

int tide_run_take_block(tide_run_state *r, tide_reading *s, int wait_ms,
                        tide_error *err)
{
    char block[BLOCK];
    tide_ingest_set_plain(r->intake, tide_source_plain(s->source));
    if (tide_run_stop_asked(r) && !s->replayable) {
        int status = tide_run_note_places(r, s, 0, err);
        return status ? status : STOPPED;
    }
    if (tide_ingest_is_deferred(r->intake))
        return make_up(r, s, err);
    tide_run_collect(r, false);
    tide_run_preallocate(r);
    tide_run_repair(r);
    /* A kill between a save and what sources do about it makes members of a group learn twice. */
    if (r->saving && wait_ms > SAVING_WAIT_MS)
        wait_ms = SAVING_WAIT_MS;
    ptrdiff_t size = tide_source_poll(s->source, block, BLOCK, wait_ms, err);
    tide_run_report_news(r, s);
    if (size == TIDE_SOURCE_SAVE)
        return save_first(r, s, err);
    if (size == TIDE_SOURCE_LATER)
        return idle(r, s, err);
    if (size <= 0)
        return (int)size;
    int status = s->begun ? TIDE_OK : tide_run_begin_text(r, s, err);
    if (status)
        return status;
    uint64_t start = tide_source_offset(s->source) - (uint64_t)size;
    status = s->held ? tide_run_feed_whole(r, s, block, (size_t)size, err)
                     : tide_run_feed(r, s, block, (size_t)size, start, err);
    tide_run_report_progress(r);
    int bad = status == GOES_ON ? check_errors(r, s, err) : TIDE_OK;
    return bad ? bad : status;
}

/* After the last: a text that ends has its last word and sentence complete. One that is broken off
 * may be read on later, or is about to be drained. */
int tide_run_end_text(tide_run_state *r, tide_reading *s, int status, tide_error *err)
{
    tide_error ignored;
    bool inside = s->begun || s->live;
    bool goes_on = s->replayable || tide_source_drains(s->source);
    if (inside && (status == ENDED || !goes_on)) {
        tide_run_flush_partial(r, s);
        tide_trainer_end(r->trainer, NULL);
        s->begun = s->live = false;
    }
    if (status == ENDED && tide_ingest_is_deferred(r->intake)) /* a stop has come */
        status = tide_run_pause_at(r, s, tide_source_offset(s->source), err);
    if (status != STOPPED) {
        int noted = tide_run_note_places(r, s, tide_source_offset(s->source),
                                         status ? &ignored : err);
        status = status ? status : noted;
    }
    return status == ENDED ? check_errors(r, s, err) : status;
}

/* -- all of them --------------------------------------------------------------------------------------- */

static int read_to_end(tide_run_state *r, tide_reading *s, tide_error *err)
{
    int status = tide_run_open(r, s, err);
    if (status)
        return status;
    do
        status = tide_run_take_block(r, s, WAIT_MS, err);
    while (status == GOES_ON || status == WAITING);
    status = tide_run_end_text(r, s, status, err);
    if (status == ENDED)
        tide_run_close(s);
    return status;
}

int tide_run_sources(tide_run_state *r, tide_error *err)
{
    if (r->run->follow)
        return tide_run_turns(r, err);
    int status = TIDE_OK;
    for (size_t i = 0; i < r->run->source_count && !status; i++)
        status = read_to_end(r, &r->readings[i], err);
    return status;
}

/* Places of sources that this run has not come to are still good for the next. */
static void keep_untaken(tide_positions *positions, tide_positions *before)
{
    for (size_t i = 0; i < before->count; i++) {
        tide_position *item = &before->items[i];
        size_t number;
        if (item->taken || tide_positions_begin(positions, item->spec, &number, NULL))
            continue;
        tide_positions_note(positions, number, item->place, false);
        item->place = NULL;
    }
}

static bool pauses(const tide_run *run)
{
    return run->pause && run->pause_tokens;
}

static void pause_on_the_way(void *running)
{
    tide_run_pause(running);
}

static int read_all(tide_run_state *r, tide_error *err)
{
    return tide_params_batch(tide_trainer_params(r->trainer))
               ? tide_run_epochs(r, err)
               : tide_run_sources(r, err);
}

static int read_with_pauses(tide_run_state *r, tide_error *err)
{
    if (!pauses(r->run))
        return read_all(r, err);
    tide_ingest_set_pause(r->intake, r->run->pause_tokens, pause_on_the_way, r);
    int status = read_all(r, err);
    tide_ingest_set_pause(r->intake, 0, NULL, NULL);
    if (status >= 0 &&
        !(r->paused && r->paused_tokens == tide_ingest_tokens(r->intake)))
        tide_run_pause(r);
    return status;
}

/* A source may ask for it at any time. */
static bool saves_on_the_way(const tide_run *run)
{
    return run->save_path || run->checkpoint_path;
}

int tide_trainer_run(tide_trainer *trainer, const tide_run *run, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_positions *positions = tide_trainer_positions(trainer);
    double now = tide_now_seconds();
    tide_stats before;
    tide_trainer_stats(trainer, &before);
    tide_run_state r = {.trainer = trainer,
                        .intake = tide_trainer_intake(trainer),
                        .run = run,
                        .before = *positions,
                        .saved = now,
                        .saved_tokens = before.tokens,
                        .kept_tokens = before.tokens,
                        .tokens_before = before.tokens,
                        .scrubbed = now,
                        .healed = before.healed};
    if (run->spool && run->source_count != 1)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "a spool is for one source");
    r.readings = tide_alloc(run->source_count, sizeof *r.readings);
    if (!r.readings)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %zu sources",
                         run->source_count);
    if (saves_on_the_way(run)) {
        r.keeper = tide_checkpoint_writer_new(err);
        if (!r.keeper) {
            free(r.readings);
            return (int)err->status;
        }
    }
    for (size_t i = 0; i < run->source_count; i++)
        r.readings[i].spec = run->sources[i];
    *positions = (tide_positions){0};
    r.has_saved = r.before.count > 0;
    r.bad_before = tide_ingest_bad_records(r.intake);

    tide_labels *labels = tide_trainer_labels_part(trainer);
    if (labels)
        tide_labels_stop(labels, run->stop);
    int status = read_with_pauses(&r, err);
    if (labels)
        tide_labels_stop(labels, NULL);
    if (!status)
        tide_positions_clear(positions);
    else
        keep_untaken(positions, &r.before);
    status = tide_run_save_at_end(&r, status, err);
    tide_checkpoint_writer_free(r.keeper);
    tide_store_discard(r.next);
    for (size_t i = 0; i < run->source_count; i++) {
        tide_run_finish(&r, &r.readings[i]);
        tide_run_close(&r.readings[i]);
    }
    tide_positions_clear(&r.pending);
    tide_positions_clear(&r.before);
    free(r.readings);
    return status;
}
