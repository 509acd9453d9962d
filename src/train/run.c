/* run.c - reading sources to their ends, or until somebody says stop.
 *
 * Sources are read one after the other; when they are followed, which means that they have no end,
 * all at once, taking turns. A turn lasts until the source can rest: nothing of it is half read, so
 * another can go on and the model can be saved together with the place in every source.
 *
 * A stop or a save comes at the end of a sentence. In a source that is one run of bytes, that is
 * found within the block just read; what was read beyond it is left for the next run. A source that
 * cannot be divided is taken up to where it is settled. From a pipe, all that was read is learned,
 * since it cannot come again.
 *
 * The order in which things become true: the text is learned, the model is saved with the places,
 * and only then the sources are told, which is when a topic's offsets are committed. Whatever is
 * killed in between reads again what no saved model has learned, and nothing else.
 */
#include "train/parts.h"

#include <stdlib.h>
#include <time.h>

enum { BLOCK = 64 * 1024, WAIT_MS = 100 };

#define WATCH_SECONDS 0.1

/* What became of a turn; errors are negative. */
enum { ENDED = 0, STOPPED = 1, GOES_ON, WAITING };

typedef struct reading {
    const char *spec;
    tide_source *source;
    bool replayable;
    bool open;
    size_t position; /* number of its place, if replayable */
} reading;

typedef struct running {
    tide_trainer *trainer;
    const tide_run *run;
    tide_positions before; /* where the run that this one goes on with had come */
    reading *readings;     /* [source_count] */
    double watched;        /* when watch was last called */
    double saved;
    uint64_t saved_tokens;
    uint64_t bad_before; /* records left out before this run */
    bool told_problem;
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

static tide_intake *intake_of(const running *r)
{
    return tide_trainer_intake(r->trainer);
}

/* -- telling ---------------------------------------------------------------------------------------- */

static void note(const running *r, bool warning, const char *what, const char *text)
{
    char line[512];
    if (!r->run->note)
        return;
    snprintf(line, sizeof line, "%s: %s", what, text);
    r->run->note(r->run->note_data, warning, line);
}

static void tell_news(const running *r, const reading *s)
{
    const char *news;
    while ((news = tide_source_news(s->source)))
        note(r, true, s->spec, news);
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

/* -- saving ----------------------------------------------------------------------------------------- */

static bool save_is_due(const running *r)
{
    const tide_run *run = r->run;
    uint64_t tokens = tide_intake_tokens(intake_of(r));
    return run->save_path && tokens > r->saved_tokens &&
           ((run->save_tokens && tokens - r->saved_tokens >= run->save_tokens) ||
            (run->save_seconds > 0 && now() - r->saved >= run->save_seconds));
}

static int note_place(running *r, reading *s, uint64_t offset, tide_error *err)
{
    if (!s->replayable)
        return TIDE_OK;
    char *place = tide_source_place(s->source, offset, err);
    if (!place)
        return err ? (int)err->status : TIDE_ERROR_IO;
    tide_positions_note(tide_trainer_positions(r->trainer), s->position, place);
    return TIDE_OK;
}

static void tell_sources(running *r)
{
    const tide_positions *positions = tide_trainer_positions(r->trainer);
    for (size_t i = 0; i < r->run->source_count; i++) {
        const reading *s = &r->readings[i];
        tide_error err;
        if (s->open && s->replayable && positions->items[s->position].place &&
            tide_source_saved(s->source, positions->items[s->position].place, &err))
            note(r, true, s->spec, err.text);
    }
}

/* The place of every open source; that of `s` is at `offset`, the others rest. */
static int note_places(running *r, const reading *s, uint64_t offset, tide_error *err)
{
    int status = TIDE_OK;
    for (size_t i = 0; i < r->run->source_count && !status; i++) {
        reading *other = &r->readings[i];
        if (other->open)
            status = note_place(
                r, other, other == s ? offset : tide_source_offset(other->source), err);
    }
    return status;
}

/* Sources are told even where there is no file to be saved: the model is the caller's. */
static int save(running *r, const reading *s, uint64_t offset, tide_error *err)
{
    int status = note_places(r, s, offset, err);
    if (!status && r->run->save_path)
        status = tide_trainer_save(r->trainer, r->run->save_path, err);
    if (!status)
        tell_sources(r);
    r->saved = now();
    r->saved_tokens = tide_intake_tokens(intake_of(r));
    return status;
}

/* A save that fails is told, and tried again at the next turn: learning goes on. */
static void save_now(running *r, const reading *s, uint64_t offset)
{
    tide_error err;
    if (save(r, s, offset, &err))
        note(r, true, "not saved", err.text);
}

/* -- a turn ------------------------------------------------------------------------------------------ */

static bool wants_pause(const running *r)
{
    return stop_asked(r) || save_is_due(r);
}

/* Nothing of the source is half read. */
static bool rests(const running *r, const reading *s)
{
    return tide_source_settled(s->source) && tide_intake_between(intake_of(r));
}

static int pause_at(running *r, reading *s, uint64_t offset, tide_error *err)
{
    if (!stop_asked(r)) {
        save_now(r, s, offset);
        return GOES_ON;
    }
    int status = note_places(r, s, offset, err);
    return status ? status : STOPPED;
}

/* Feeds byte by byte to the end of the sentence; returns the bytes used. */
static size_t finish_sentence(running *r, const char *bytes, size_t size)
{
    tide_intake *intake = intake_of(r);
    size_t used = 0;
    while (used < size && !tide_intake_between(intake))
        tide_intake_feed(intake, bytes + used++, 1);
    return used;
}

/* Learns a block of a source that can be left at any byte. */
static int feed_divisible(running *r, reading *s, const char *bytes, size_t size,
                          tide_error *err)
{
    uint64_t start = tide_source_offset(s->source) - size;
    for (size_t at = 0; at < size;) {
        if (!wants_pause(r)) {
            tide_intake_feed(intake_of(r), bytes + at, size - at);
            break;
        }
        at += finish_sentence(r, bytes + at, size - at);
        if (!tide_intake_between(intake_of(r)))
            break;
        int status = pause_at(r, s, start + at, err);
        if (status != GOES_ON)
            return status;
    }
    return GOES_ON;
}

static int feed_whole(running *r, reading *s, const char *bytes, size_t size,
                      tide_error *err)
{
    tide_intake_feed(intake_of(r), bytes, size);
    if (s->replayable && wants_pause(r) && rests(r, s))
        return pause_at(r, s, tide_source_offset(s->source), err);
    if (!s->replayable && save_is_due(r))
        save_now(r, s, 0);
    return GOES_ON;
}

static int check_errors(running *r, tide_error *err)
{
    const char *problem = r->told_problem ? NULL : tide_intake_problem(intake_of(r));
    if (problem) {
        note(r, true, "records", problem);
        r->told_problem = true;
    }
    uint64_t bad = tide_intake_bad_records(intake_of(r)) - r->bad_before;
    if (!r->run->errors_limited || bad <= r->run->max_errors)
        return GOES_ON;
    return tide_fail(err, TIDE_ERROR_INPUT,
                     "%llu bad records are more than the %llu allowed",
                     (unsigned long long)bad, (unsigned long long)r->run->max_errors);
}

/* There is nothing to read now: time for what had to wait for a rest. */
static int idle(running *r, reading *s, tide_error *err)
{
    watch(r);
    if (!s->replayable && stop_asked(r))
        return STOPPED;
    if (wants_pause(r) && (!s->replayable || rests(r, s) || stop_asked(r))) {
        int status = pause_at(r, s, tide_source_offset(s->source), err);
        if (status != GOES_ON)
            return status;
    }
    return WAITING;
}

/* Reads one block, and more if the source cannot rest after it. */
static int take_turn(running *r, reading *s, int wait_ms, tide_error *err)
{
    char block[BLOCK];
    for (;;) {
        if (stop_asked(r) && !s->replayable)
            return STOPPED;
        ptrdiff_t size = tide_source_poll(s->source, block, sizeof block, wait_ms, err);
        tell_news(r, s);
        if (size == TIDE_SOURCE_SAVE) {
            save_now(r, s, tide_source_offset(s->source));
            continue;
        }
        if (size == TIDE_SOURCE_LATER)
            return idle(r, s, err);
        if (size <= 0)
            return (int)size;
        int status = tide_source_divisible(s->source)
                         ? feed_divisible(r, s, block, (size_t)size, err)
                         : feed_whole(r, s, block, (size_t)size, err);
        if (status == GOES_ON)
            status = check_errors(r, err);
        watch(r);
        if (status != GOES_ON || tide_source_divisible(s->source) || rests(r, s))
            return status;
    }
}

/* -- sources ----------------------------------------------------------------------------------------- */

/* Goes on in a source that an earlier run had begun, if it is still the same. */
static void find_place(running *r, reading *s)
{
    const tide_position *position = tide_positions_take(&r->before, s->spec);
    tide_error err;
    if (!position || r->run->from_start || !s->replayable)
        return;
    if (tide_source_go_to(s->source, position->place, &err))
        note(r, true, s->spec, err.text);
    else
        note(r, false, s->spec, "going on where the last run stopped");
}

static int open_source(running *r, reading *s, tide_error *err)
{
    const tide_source_options options = {r->run->follow, r->run->properties,
                                         r->run->property_count};
    s->source = tide_source_begin(s->spec, &options, err);
    if (!s->source)
        return stop_asked(r) ? STOPPED : (int)err->status;
    s->replayable = tide_source_replayable(s->source);
    s->open = true;
    int status = TIDE_OK;
    if (s->replayable)
        status = tide_positions_begin(tide_trainer_positions(r->trainer), s->spec,
                                      &s->position, err);
    if (!status)
        find_place(r, s);
    return status;
}

/* A text that ends has its last word and sentence complete; so has one that is broken off. */
static void end_text(running *r, reading *s, int status, tide_error *err)
{
    if (status == STOPPED && s->replayable)
        return;
    tide_trainer_end(r->trainer, NULL);
    if (status != STOPPED)
        note_place(r, s, tide_source_offset(s->source),
                   status == ENDED ? err : &(tide_error){0});
}

static void close_source(reading *s)
{
    if (s->open)
        tide_source_close(s->source);
    s->open = false;
}

static int read_to_end(running *r, reading *s, tide_error *err)
{
    int status = open_source(r, s, err);
    if (!s->open || status)
        return status;
    do
        status = take_turn(r, s, WAIT_MS, err);
    while (status == GOES_ON || status == WAITING);
    end_text(r, s, status, err);
    if (status == ENDED)
        close_source(s);
    return status;
}

static int read_in_turns(running *r, tide_error *err)
{
    size_t count = r->run->source_count, open = 0;
    int status = TIDE_OK;
    for (size_t i = 0; i < count && !status; i++, open++)
        status = open_source(r, &r->readings[i], err);
    int wait_ms = 0;
    while (!status && open > 0) {
        bool waiting = true;
        for (size_t i = 0; i < count && !status; i++) {
            reading *s = &r->readings[i];
            if (!s->open)
                continue;
            int turn = take_turn(r, s, wait_ms / (int)open, err);
            waiting = waiting && turn == WAITING;
            if (turn == GOES_ON || turn == WAITING)
                continue;
            end_text(r, s, turn, err);
            status = turn;
            open -= turn == ENDED;
            if (turn == ENDED)
                close_source(s);
        }
        wait_ms = waiting ? WAIT_MS : 0;
    }
    return status;
}

static int read_all(running *r, tide_error *err)
{
    if (r->run->follow)
        return read_in_turns(r, err);
    int status = TIDE_OK;
    for (size_t i = 0; i < r->run->source_count && !status; i++)
        status = read_to_end(r, &r->readings[i], err);
    return status;
}

/* -- a run ------------------------------------------------------------------------------------------- */

/* Places of sources that this run has not come to are still good for the next. */
static void keep_untaken(tide_positions *positions, tide_positions *before)
{
    for (size_t i = 0; i < before->count; i++) {
        tide_position *item = &before->items[i];
        size_t number;
        if (item->taken || tide_positions_begin(positions, item->spec, &number, NULL))
            continue;
        tide_positions_note(positions, number, item->place);
        item->place = NULL;
    }
}

/* The last save of a run: what was learned before a source failed is worth keeping too; but if that
 * is nothing, a file that may be there already is left alone. */
static int save_at_end(running *r, int status, uint64_t tokens_before, tide_error *err)
{
    if (!r->run->save_path ||
        (status < 0 && tide_intake_tokens(intake_of(r)) == tokens_before))
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
        note(r, true, "not saved", failed.text);
    else
        *err = failed;
    return status < 0 ? status : (int)failed.status;
}

int tide_trainer_run(tide_trainer *trainer, const tide_run *run, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_positions *positions = tide_trainer_positions(trainer);
    running r = {.trainer = trainer, .run = run, .before = *positions, .saved = now()};
    r.readings = tide_alloc(run->source_count, sizeof *r.readings);
    if (!r.readings)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %zu sources",
                         run->source_count);
    for (size_t i = 0; i < run->source_count; i++)
        r.readings[i].spec = run->sources[i];
    *positions = (tide_positions){0};
    if (!tide_intake_between(tide_trainer_intake(trainer)))
        tide_trainer_end(trainer, NULL);
    uint64_t tokens_before = tide_intake_tokens(tide_trainer_intake(trainer));
    r.saved_tokens = tokens_before;
    r.bad_before = tide_intake_bad_records(tide_trainer_intake(trainer));

    int status = read_all(&r, err);
    if (!status)
        tide_positions_clear(positions);
    else
        keep_untaken(positions, &r.before);
    status = save_at_end(&r, status, tokens_before, err);
    for (size_t i = 0; i < run->source_count; i++)
        close_source(&r.readings[i]);
    tide_positions_clear(&r.before);
    free(r.readings);
    return status;
}
