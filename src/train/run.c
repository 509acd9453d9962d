/* run.c - reading sources to their ends, or until somebody says stop.
 *
 * A stop comes at the end of a sentence. In a source that can be read again, what was read beyond
 * that point is left for the next run, and the place is noted (positions.c); from a pipe, all that
 * was read is learned, since it cannot come again.
 */
#include "train/parts.h"

#include <errno.h>
#include <time.h>

enum { BLOCK = 64 * 1024 };

#define WATCH_SECONDS 0.1

typedef struct running {
    tide_trainer *trainer;
    const tide_run *run;
    tide_positions before; /* where the run that this one goes on with had come */
    double watched;        /* when watch was last called */
    double saved;
    uint64_t saved_tokens;
} running;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool stop_asked(const running *r)
{
    return r->run->stop && *r->run->stop;
}

static void note(const running *r, bool warning, const char *what, const char *text)
{
    char line[512];
    if (!r->run->note)
        return;
    snprintf(line, sizeof line, "%s: %s", what, text);
    r->run->note(r->run->note_data, warning, line);
}

static void watch(running *r)
{
    double time = now();
    if (!r->run->watch || time - r->watched < WATCH_SECONDS)
        return;
    r->watched = time;
    tide_stats stats;
    tide_trainer_stats(r->trainer, &stats);
    r->run->watch(r->run->watch_data, &stats);
}

static bool save_is_due(const running *r)
{
    const tide_run *run = r->run;
    uint64_t tokens = tide_intake_tokens(tide_trainer_intake(r->trainer));
    return run->save_path && tokens > r->saved_tokens &&
           ((run->save_tokens && tokens - r->saved_tokens >= run->save_tokens) ||
            (run->save_seconds > 0 && now() - r->saved >= run->save_seconds));
}

static int note_position(running *r, tide_source *source, uint64_t offset,
                         tide_error *err)
{
    uint64_t fingerprint;
    if (!tide_source_replayable(source))
        return TIDE_OK;
    int status = tide_source_fingerprint(source, offset, &fingerprint, err);
    if (!status)
        tide_positions_note(tide_trainer_positions(r->trainer), offset, fingerprint);
    return status;
}

/* A save that fails is told, and tried again at the next turn: learning goes on. */
static void save(running *r, tide_source *source, uint64_t offset)
{
    tide_error err;
    if (note_position(r, source, offset, &err) ||
        tide_trainer_save(r->trainer, r->run->save_path, &err))
        note(r, true, "not saved", err.text);
    r->saved = now();
    r->saved_tokens = tide_intake_tokens(tide_trainer_intake(r->trainer));
}

/* Feeds byte by byte to the end of the sentence; returns the bytes used. */
static size_t finish_sentence(running *r, const char *bytes, size_t size)
{
    tide_intake *intake = tide_trainer_intake(r->trainer);
    size_t used = 0;
    while (used < size && !tide_intake_between(intake))
        tide_intake_feed(intake, bytes + used++, 1);
    return used;
}

/* Whether a stop or a save is wanted. */
static bool wants_pause(const running *r)
{
    return stop_asked(r) || save_is_due(r);
}

/* Goes on in a source that an earlier run had begun, if it is still the same. */
static int find_place(running *r, const char *spec, tide_source *source,
                      tide_error *err)
{
    const tide_position *place = tide_positions_take(&r->before, spec);
    uint64_t fingerprint;
    if (!place || r->run->from_start || !tide_source_replayable(source))
        return TIDE_OK;
    if (tide_source_fingerprint(source, place->offset, &fingerprint, NULL) ||
        fingerprint != place->fingerprint) {
        note(r, true, spec,
             "not the text that was read before, so it is read from its start");
        return TIDE_OK;
    }
    note(r, false, spec, "going on where the last run stopped");
    return tide_source_seek(source, place->offset, err);
}

/* Learns one block. When a pause is wanted it leaves the trainer between sentences if the block
 * reaches that far, which *paused tells, and *used says how much of the block was taken. */
static void feed_block(running *r, const char *bytes, size_t size, bool replayable,
                       size_t *used, bool *paused)
{
    tide_intake *intake = tide_trainer_intake(r->trainer);
    *used = size;
    *paused = false;
    if (!wants_pause(r) || (stop_asked(r) && !replayable)) {
        tide_intake_feed(intake, bytes, size);
        return;
    }
    *used = finish_sentence(r, bytes, size);
    *paused = tide_intake_between(intake);
}

/* Returns 1 when stopped. */
static int read_source(running *r, tide_source *source, tide_error *err)
{
    char block[BLOCK];
    bool replayable = tide_source_replayable(source), paused;
    size_t used;
    for (;;) {
        if (stop_asked(r) && !replayable)
            return 1;
        ptrdiff_t size = tide_source_read(source, block, sizeof block, err);
        if (size < 0 && errno == EINTR && err->status == TIDE_ERROR_IO)
            continue;
        if (size <= 0)
            return (int)size;
        for (size_t at = 0; at < (size_t)size; at += used) {
            feed_block(r, block + at, (size_t)size - at, replayable, &used, &paused);
            if (!paused)
                continue;
            uint64_t offset = tide_source_offset(source) - (size_t)size + at + used;
            if (stop_asked(r)) {
                int status = note_position(r, source, offset, err);
                return status ? status : 1;
            }
            save(r, source, offset);
        }
        watch(r);
    }
}

static int run_source(running *r, const char *spec, tide_error *err)
{
    tide_source *source = tide_source_open(spec, err);
    if (!source)
        return stop_asked(r) ? 1 : (int)err->status;
    int status = TIDE_OK;
    if (tide_source_replayable(source))
        status = tide_positions_begin(tide_trainer_positions(r->trainer), spec, err);
    if (!status)
        status = find_place(r, spec, source, err);
    if (!status)
        status = read_source(r, source, err);
    if (status <= 0 || !tide_source_replayable(source))
        tide_trainer_end(r->trainer, NULL);
    if (status == 0)
        status = note_position(r, source, tide_source_offset(source), err);
    tide_source_close(source);
    return status;
}

/* Places of sources that this run has not come to are still good for the next. */
static void keep_untaken(tide_positions *positions, const tide_positions *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const tide_position *item = &before->items[i];
        if (!item->taken && !tide_positions_begin(positions, item->spec, NULL))
            tide_positions_note(positions, item->offset, item->fingerprint);
    }
}

int tide_trainer_run(tide_trainer *trainer, const tide_run *run, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_positions *positions = tide_trainer_positions(trainer);
    running r = {.trainer = trainer, .run = run, .before = *positions, .saved = now()};
    *positions = (tide_positions){0};
    r.saved_tokens = tide_intake_tokens(tide_trainer_intake(trainer));
    if (!tide_intake_between(tide_trainer_intake(trainer)))
        tide_trainer_end(trainer, NULL);
    int status = TIDE_OK;
    for (size_t i = 0; i < run->source_count && !status; i++)
        status = run_source(&r, run->sources[i], err);
    if (!status)
        tide_positions_clear(positions);
    else
        keep_untaken(positions, &r.before);
    tide_positions_clear(&r.before);
    return status;
}
