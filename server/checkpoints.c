/* checkpoints.c - requests for a checkpoint.
 *
 * A request waits until a checkpoint that began after it is on the disk: one that was
 * already in progress lacks what was learned since. How long that takes depends on the
 * text and the disk, so waiting has a time limit and the number of waiting requests a
 * bound, and requests whose clients have disconnected are dropped every second.
 */
#include "checkpoints.h"

#include "answer.h"
#include "handlers.h"
#include "server_internal.h"

#include "base/base.h"

enum { WAITERS_MAX = 64 };
#define TIMEOUT_SECONDS 60.0

static json_t *checkpoint_json(const tide_checkpoint *c)
{
    return json_pack("{s:o, s:I, s:f, s:f}", "path", json_word(c->path), "bytes",
                     (json_int_t)c->bytes, "pause_seconds", c->pause_seconds, "seconds",
                     c->seconds);
}

/* Removes the requests for which `matches` holds from the list and returns them, in any
 * order. *others says whether any are left. */
static request *remove_waiters(server *s,
                               bool (*matches)(const request *r, double time),
                               double time, bool *others)
{
    request *removed = NULL;
    pthread_mutex_lock(&s->lock);
    for (request **at = &s->checkpoint_waiters; *at;) {
        request *r = *at;
        if (!matches(r, time)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = removed;
        removed = r;
        s->checkpoint_waiter_count--;
    }
    *others = s->checkpoint_waiters;
    pthread_mutex_unlock(&s->lock);
    return removed;
}

static bool waits_since_before(const request *r, double begun)
{
    return r->wait_start < begun;
}

void server_checkpointed(server *s, const tide_checkpoint *checkpoint)
{
    status_record_checkpoint(s->status, checkpoint);
    /* The history is saved after each checkpoint, by its own thread. */
    if (!checkpoint->error)
        s->history_unsaved = true;
    bool others;
    request *waiters =
        remove_waiters(s, waits_since_before, checkpoint->begun, &others);
    /* Those who asked after this checkpoint began need another one: it may lack text
     * that was accepted before they asked. */
    if (others)
        s->checkpoint_wanted = true;
    for (request *r = waiters, *next; r; r = next) {
        next = r->next;
        if (checkpoint->error)
            answer_problem(r, 500, PROBLEM_PLAIN, NULL, "%s", checkpoint->error);
        else
            answer_json(r, 200, checkpoint_json(checkpoint));
        resume_request(r);
    }
}

bool server_wants_checkpoint(server *s)
{
    return atomic_exchange(&s->checkpoint_wanted, false);
}

static bool has_expired(const request *r, double now)
{
    return now - r->wait_start > TIMEOUT_SECONDS || client_disconnected(r);
}

void checkpoints_expire(server *s)
{
    bool others;
    request *waiters = remove_waiters(s, has_expired, tide_now_seconds(), &others);
    for (request *r = waiters, *next; r; r = next) {
        next = r->next;
        answer_problem(
            r, 504, PROBLEM_PLAIN, NULL,
            "no checkpoint was completed within %.0f seconds; see \"checkpoint\" "
            "in /v1/stats for the last one",
            TIMEOUT_SECONDS);
        resume_request(r);
    }
}

static bool matches_all(const request *r, double time)
{
    (void)r;
    (void)time;
    return true;
}

void checkpoints_close(server *s)
{
    bool others;
    for (request *r = remove_waiters(s, matches_all, 0, &others), *next; r; r = next) {
        next = r->next;
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server is shutting down");
        resume_request(r);
    }
}

void post_checkpoint(request *r)
{
    server *s = r->server;
    if (!s->options.checkpoint) {
        answer_problem(r, 409, PROBLEM_PLAIN, NULL,
                       "no checkpoint file is configured; use --checkpoint FILE");
        return;
    }
    pthread_mutex_lock(&s->lock);
    bool closing = s->closing, full = s->checkpoint_waiter_count >= WAITERS_MAX;
    if (!closing && !full) {
        suspend_request(r);
        r->wait_start = tide_now_seconds();
        r->next = s->checkpoint_waiters;
        s->checkpoint_waiters = r;
        s->checkpoint_waiter_count++;
        s->checkpoint_wanted = true;
    }
    pthread_mutex_unlock(&s->lock);
    if (closing)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server is shutting down");
    else if (full)
        answer_problem(r, 429, PROBLEM_BUSY, NULL,
                       "%d requests are waiting for a checkpoint already", WAITERS_MAX);
}
