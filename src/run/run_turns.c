/* run_turns.c - sources that are followed have no end, so they are read all at once, a block each in turn.
 *
 * After its turn nothing of a source is half read (run_partial.c), except for a message that comes in parts: its source
 * has the rest of it at hand, and keeps its turn.
 *
 * However the run ends, also with an error, text that has no place in the model is learned first: nobody could read
 * it again. Those who have handed it over to a feed were told that it was taken, and the feed takes no more.
 */
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

static int take_turn(tide_run_state *r, tide_reading *s, int wait_ms, tide_error *err)
{
    int turn = tide_run_take_block(r, s, wait_ms, err);
    while (turn == GOES_ON && !tide_source_at_boundary(s->source))
        turn = tide_run_take_block(r, s, 0, err);
    return turn;
}

static int open_all(tide_run_state *r, tide_error *err)
{
    int status = TIDE_OK;
    for (size_t i = 0; i < r->run->source_count && !status; i++)
        status = tide_run_open(r, &r->readings[i], err);
    if (status < 0)
        tide_run_note_places(r, NULL, 0, NULL);
    /* The model may have been saved in the middle of a text that was read alone. */
    if (tide_run_in_turns(r) && !tide_ingest_at_boundary(r->intake))
        tide_trainer_end(r->trainer, NULL);
    return status;
}

static void drain(tide_run_state *r, tide_reading *s)
{
    char block[BLOCK];
    tide_error ignored;
    ptrdiff_t size;
    tide_feed_close(r->run->feed);
    tide_ingest_set_plain(r->intake, tide_source_plain(s->source));
    while ((size = tide_source_poll(s->source, block, BLOCK, 0, &ignored)) > 0)
        tide_ingest_feed(r->intake, block, (size_t)size);
}

static bool is_unopened_feed(const tide_run_state *r, const tide_reading *s)
{
    return !s->open && r->run->feed && strcmp(s->spec, "feed:") == 0;
}

static void learn_rest(tide_run_state *r)
{
    tide_error ignored;
    for (size_t i = 0; i < r->run->source_count; i++) {
        tide_reading *s = &r->readings[i];
        if (is_unopened_feed(r, s) && tide_run_open(r, s, &ignored))
            continue;
        if (!s->open || s->replayable)
            continue;
        tide_run_flush_partial(r, s);
        if (tide_source_drains(s->source))
            drain(r, s);
        if (!tide_ingest_at_boundary(r->intake))
            tide_trainer_end(r->trainer, NULL);
    }
}

int tide_run_turns(tide_run_state *r, tide_error *err)
{
    size_t count = r->run->source_count, open = count, waiting = 0;
    int status = open_all(r, err);
    for (size_t i = 0; !status && open > 0; i = (i + 1) % count) {
        tide_reading *s = &r->readings[i];
        if (!s->open)
            continue;
        int turn = take_turn(r, s, waiting < open ? 0 : WAIT_MS / (int)open, err);
        waiting = turn == WAITING ? waiting + 1 : 0;
        waiting = waiting > 2 * open ? open : waiting;
        if (turn == GOES_ON || turn == WAITING)
            continue;
        status = tide_run_end_text(r, s, turn, err);
        open -= status == ENDED;
        if (status == ENDED)
            tide_run_close(s);
    }
    if (status)
        learn_rest(r);
    return status;
}
