/* checkpoints.c - requests for a checkpoint, which wait until one that began after they came is safe.
 *
 * A checkpoint that was on its way when the request came lacks what was learned since, and does not answer it. How long
 * a checkpoint takes is up to the text and the disk, so waiting has a time limit, the number of those who wait has
 * one, and clients that have gone are looked for once a second.
 */
#include "http.h"

enum { WAITERS_MAX = 64 };
#define PATIENCE_SECONDS 60.0

static json_t *checkpoint_json(const tide_checkpoint *c)
{
    return json_pack("{s:o, s:I, s:f, s:f}", "path", json_word(c->path), "bytes",
                     (json_int_t)c->bytes, "pause_seconds", c->pause_seconds, "seconds",
                     c->seconds);
}

/* Takes those out of the list for which `done` is true, in any order, and says whether there are others. */
static request *take_waiters(server *s, bool (*done)(const request *r, double time),
                             double time, bool *others)
{
    request *taken = NULL;
    pthread_mutex_lock(&s->lock);
    for (request **at = &s->checkpoint_waiters; *at;) {
        request *r = *at;
        if (!done(r, time)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = taken;
        taken = r;
        s->checkpoint_waiter_count--;
    }
    *others = s->checkpoint_waiters;
    pthread_mutex_unlock(&s->lock);
    return taken;
}

static bool came_before(const request *r, double begun)
{
    return r->waiting_since < begun;
}

void server_checkpointed(server *s, const tide_checkpoint *checkpoint)
{
    figures_checkpointed(s->figures, checkpoint);
    if (!checkpoint->error)
        s->history_due = true;
    bool others;
    request *waiters = take_waiters(s, came_before, checkpoint->begun, &others);
    if (others)
        s->wants_checkpoint = true;
    for (request *r = waiters, *next; r; r = next) {
        next = r->next;
        if (checkpoint->error)
            answer_problem(r, 500, PROBLEM_PLAIN, NULL, "%s", checkpoint->error);
        else
            answer_json(r, 200, checkpoint_json(checkpoint));
        go_on(r);
    }
}

bool server_wants_checkpoint(server *s)
{
    return atomic_exchange(&s->wants_checkpoint, false);
}

static bool has_waited(const request *r, double now)
{
    return now - r->waiting_since > PATIENCE_SECONDS || has_gone(r);
}

void checkpoints_end_late(server *s)
{
    bool others;
    request *waiters = take_waiters(s, has_waited, now_seconds(), &others);
    for (request *r = waiters, *next; r; r = next) {
        next = r->next;
        answer_problem(r, 504, PROBLEM_PLAIN, NULL,
                       "no checkpoint was finished within %.0f seconds; \"checkpoint\" "
                       "in /v1/stats says when the last one was",
                       PATIENCE_SECONDS);
        go_on(r);
    }
}

static bool is_any(const request *r, double time)
{
    (void)r;
    (void)time;
    return true;
}

void checkpoints_close(server *s)
{
    bool others;
    for (request *r = take_waiters(s, is_any, 0, &others), *next; r; r = next) {
        next = r->next;
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server stops");
        go_on(r);
    }
}

void post_checkpoint(request *r)
{
    server *s = r->server;
    if (!s->options.checkpoint) {
        answer_problem(r, 409, PROBLEM_PLAIN, NULL,
                       "there is no place for checkpoints: --checkpoint FILE");
        return;
    }
    pthread_mutex_lock(&s->lock);
    bool closing = s->closing, full = s->checkpoint_waiter_count >= WAITERS_MAX;
    if (!closing && !full) {
        wait_for_answer(r);
        r->waiting_since = now_seconds();
        r->next = s->checkpoint_waiters;
        s->checkpoint_waiters = r;
        s->checkpoint_waiter_count++;
        s->wants_checkpoint = true;
    }
    pthread_mutex_unlock(&s->lock);
    if (closing)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server stops");
    else if (full)
        answer_problem(r, 429, PROBLEM_BUSY, NULL,
                       "%d requests wait for a checkpoint already", WAITERS_MAX);
}
