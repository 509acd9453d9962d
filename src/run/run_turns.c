/* run_turns.c - reads followed sources in turns, one block each, since none of them
 * ends.
 *
 * Between turns no source has a partly fed line or record (run_partial.c). The
 * exception is a message that arrives in several blocks: its source has the rest at
 * hand and keeps its turn.
 *
 * However the run ends, even with an error, text that was read from a source without a
 * position is learned first, because it cannot be read again. For a feed this includes
 * all text that was accepted from its clients; the feed accepts no more from then on.
 */
#include "reader/reader.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

/* Reads one block, or a message to its end. Returns what the last block returned. */
static int read_turn(tide_run_state *r, tide_run_input *s, int wait_ms, tide_error *err)
{
    int turn = tide_run_read_block(r, s, wait_ms, err);
    while (turn == CONTINUES && !tide_source_at_boundary(s->source))
        turn = tide_run_read_block(r, s, 0, err);
    return turn;
}

static int open_all(tide_run_state *r, tide_error *err)
{
    int status = TIDE_OK;
    for (size_t i = 0; i < r->run->source_count && !status; i++)
        status = tide_run_open_input(r, &r->inputs[i], err);
    /* The sources opened so far have claimed their positions; recording them keeps them
     * in the model that is saved after the error. */
    if (status < 0)
        tide_run_note_positions(r, NULL, 0, NULL);
    /* The model may have been saved in the middle of a text by a run with a single
     * source. That text ends here, or it would be mixed with that of other sources. */
    if (tide_run_interleaves(r) && !tide_ingest_at_boundary(r->ingest))
        tide_trainer_end(r->trainer, NULL);
    return status;
}

/* Learns what a feed has accepted and not delivered yet. */
static void drain(tide_run_state *r, tide_run_input *s)
{
    char block[BLOCK];
    tide_error ignored;
    ptrdiff_t size;
    /* Closing comes first: after it the queue only shrinks, so this loop ends, and
     * no text is acknowledged that will never be read. */
    tide_feed_close(r->run->feed);
    tide_reader_set_plain(tide_ingest_reader(r->ingest), tide_source_plain(s->source));
    while ((size = tide_source_poll(s->source, block, BLOCK, 0, &ignored)) > 0)
        tide_ingest_feed(r->ingest, block, (size_t)size);
}

static bool is_unopened_feed(const tide_run_state *r, const tide_run_input *s)
{
    return !s->open && r->run->feed && strcmp(s->spec, "feed:") == 0;
}

/* After a stop or an error: learns all text that no later run could read again. That is
 * the incomplete line of a pipe, and whatever is queued in a feed, even one that the
 * run failed to reach before an error in another source. */
static void flush_unreplayable(tide_run_state *r)
{
    tide_error ignored;
    for (size_t i = 0; i < r->run->source_count; i++) {
        tide_run_input *s = &r->inputs[i];
        if (is_unopened_feed(r, s) && tide_run_open_input(r, s, &ignored))
            continue;
        if (!s->open || s->replayable)
            continue;
        tide_run_flush_partial(r, s);
        if (tide_source_drains(s->source))
            drain(r, s);
        if (!tide_ingest_at_boundary(r->ingest))
            tide_trainer_end(r->trainer, NULL);
    }
}

int tide_run_interleave(tide_run_state *r, tide_error *err)
{
    /* `waiting` counts turns in a row that found nothing. While it is below `open`, at
     * least one source may have text and none is waited for. From then on every turn
     * waits for its share of WAIT_MS, so an idle run wakes about ten times per second
     * in all. */
    size_t count = r->run->source_count, open = count, waiting = 0;
    int status = open_all(r, err);
    for (size_t i = 0; !status && open > 0; i = (i + 1) % count) {
        tide_run_input *s = &r->inputs[i];
        if (!s->open)
            continue;
        /* A turn that may find text elsewhere must not wait. */
        int turn = read_turn(r, s, waiting < open ? 0 : WAIT_MS / (int)open, err);
        waiting = turn == WAITING ? waiting + 1 : 0;
        waiting = waiting > 2 * open ? open : waiting; /* no overflow */
        if (turn == CONTINUES || turn == WAITING)
            continue;
        /* The source has ended, or the run is stopped or has failed. A source that
         * ended leaves the rotation; anything else ends the loop. */
        status = tide_run_end_text(r, s, turn, err);
        open -= status == ENDED;
        if (status == ENDED)
            tide_run_close_input(s);
    }
    if (status)
        flush_unreplayable(r);
    return status;
}
