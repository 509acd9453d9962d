/* source_feed_spool.c - a feed over a spool, and the source "feed:" over it.
 *
 * Lines that are pushed are appended to the spool, all of them or none, and read back from there. So what somebody
 * was told is taken is still there after a kill, and the place of the source, which a saved model has, says what of
 * it is learned. A push that was not finished leaves no mark at its end and is cut off when the spool is opened.
 *
 * Nothing is taken before the source is read: where it goes on, or whether this is the right spool at all, is
 * known then.
 *
 * Syncing goes on outside the lock, one thread at a time. Others append meanwhile, and the next sync is for all of
 * them. It needs no new file descriptor, so that it cannot fail for the lack of one. Text may be learned before it
 * is synced: a power failure may then leave a model that has come further than its spool, which goes on from there.
 *
 * When there was no room for something, the source asks to be saved once half of what is kept has been learned.
 */
#include "feed/feed.h"
#include "file/file.h"
#include "source/source.h"
#include "spool/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The thread that reads is the last to sync, so that it seldom waits for the disk where others tend the feed. */
enum { SYNC_MS = 1000, SYNC_EARLY_MS = 700 };

typedef struct spool_feed {
    tide_feed feed;
    tide_spooled text;
    tide_spool_sync sync;
    bool from_start, begun;
    bool full; /* lines were refused since the last save */
    pthread_cond_t synced;
    bool syncing;
    uint64_t safe;      /* text up to this offset is on the disk */
    int64_t since_ms;   /* and the text behind it came then, or later */
    tide_error failure; /* of the disk, after which nothing works; status 0 before */
} spool_feed;

/* -- syncing -------------------------------------------------------------------------------------------- */

static uint64_t end_of(const spool_feed *f)
{
    return tide_spool_extent_of(f->text.spool).end;
}

/* What has failed for one fails for all. */
static int tell_failure(const spool_feed *f, tide_error *err)
{
    return f->failure.status ? tide_fail(err, f->failure.status, "%s", f->failure.text)
                             : TIDE_OK;
}

static void sync_all(spool_feed *f)
{
    uint64_t end = end_of(f);
    int file = tide_spool_hold(f->text.spool);
    f->syncing = true;
    f->since_ms = tide_now_ms();
    pthread_mutex_unlock(&f->feed.lock);
    int reason = tide_file_sync(file);
    pthread_mutex_lock(&f->feed.lock);
    tide_spool_release(f->text.spool);
    f->syncing = false;
    if (reason)
        tide_fail(&f->failure, TIDE_ERROR_IO, "spool %s: cannot sync: %s", f->text.path,
                  strerror(reason));
    else
        f->safe = end;
    pthread_cond_broadcast(&f->synced);
}

static void make_safe(spool_feed *f, uint64_t end)
{
    while (f->safe < end && !f->failure.status)
        if (f->syncing)
            pthread_cond_wait(&f->synced, &f->feed.lock);
        else
            sync_all(f);
}

/* What waits for a second, if nobody is at it. */
static void sync_due(spool_feed *f, int patience_ms)
{
    if (f->sync == TIDE_SPOOL_SYNC_SECOND && !f->syncing && f->safe < end_of(f) &&
        tide_now_ms() - f->since_ms >= patience_ms)
        sync_all(f);
}

static int spool_tend(tide_feed *feed, tide_error *err)
{
    spool_feed *f = (spool_feed *)feed;
    if (f->begun && f->sync == TIDE_SPOOL_SYNC_ALWAYS)
        make_safe(f, end_of(f));
    else if (f->begun)
        sync_due(f, SYNC_EARLY_MS);
    return tell_failure(f, err);
}

/* -- handing over ---------------------------------------------------------------------------------------- */

/* How many bytes of lines still fit: what they cost grows with them. */
static size_t room_for_lines(const spool_feed *f, uint64_t held)
{
    uint64_t left = held < f->text.limit ? f->text.limit - held : 0;
    uint64_t cost = tide_spool_cost(left) - left;
    return left > cost ? (size_t)(left - cost) : 0;
}

static void count_waiting(spool_feed *f)
{
    uint64_t end = end_of(f), given = f->text.given;
    f->feed.waiting = end > given ? (size_t)(end - given) : 0;
}

static ptrdiff_t spool_append(tide_feed *feed, const char *lines, size_t size,
                              tide_error *err)
{
    spool_feed *f = (spool_feed *)feed;
    if (f->failure.status || !f->begun)
        return tell_failure(f, err);
    size_t room = room_for_lines(f, tide_spool_extent_of(f->text.spool).bytes);
    size_t taken = tide_feed_fits(feed, lines, size, room);
    uint64_t before = end_of(f);
    int status = taken
                     ? tide_spool_append_lines(f->text.spool, lines, taken, &f->failure)
                     : TIDE_SPOOL_FULL;
    f->full = f->full || status == TIDE_SPOOL_FULL || taken < size;
    if (status)
        return status == TIDE_SPOOL_FULL ? 0 : tell_failure(f, err);
    if (f->safe == before)
        f->since_ms = tide_now_ms();
    count_waiting(f);
    pthread_cond_signal(&feed->arrived);
    return (ptrdiff_t)taken;
}

static void spool_free(tide_feed *feed)
{
    spool_feed *f = (spool_feed *)feed;
    pthread_mutex_lock(&feed->lock);
    if (f->begun && f->sync != TIDE_SPOOL_SYNC_NONE)
        make_safe(f, end_of(f));
    pthread_mutex_unlock(&feed->lock);
    tide_spooled_close(&f->text);
    pthread_cond_destroy(&f->synced);
    tide_feed_end(feed);
    free(f);
}

static const tide_feed_kind over_spool = {spool_append, spool_tend, spool_free};

tide_feed *tide_feed_new_spooled(const char *folder, uint64_t limit,
                                 tide_spool_sync sync, tide_error *err)
{
    const tide_spooled_options options = {.path = folder,
                                          .limit = limit,
                                          .sync = TIDE_SPOOL_SYNC_NONE,
                                          .untaken_is_void = true};
    spool_feed *f = tide_alloc(1, sizeof *f);
    if (!f) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for spool %s", folder);
        return NULL;
    }
    if (tide_spooled_open(&f->text, &options, err)) {
        tide_spooled_close(&f->text);
        free(f);
        return NULL;
    }
    tide_feed_begin(&f->feed, &over_spool, room_for_lines(f, TIDE_SEGMENT_HEADER));
    pthread_cond_init(&f->synced, NULL);
    f->sync = sync;
    return &f->feed;
}

/* -- reading --------------------------------------------------------------------------------------------- */

static bool is_over_spool(const char *spec, const tide_source_options *options)
{
    return options->feed && options->feed->kind == &over_spool &&
           strcmp(spec, "feed:") == 0;
}

static void *feed_open(const char *spec, const tide_source_options *options,
                       tide_error *err)
{
    (void)spec;
    (void)err;
    spool_feed *f = (spool_feed *)options->feed;
    f->from_start = options->from_start;
    return f;
}

static void feed_close(void *state)
{
    (void)state; /* its maker's */
}

/* What is there may be from somebody who was killed before it was synced. */
static int begin(spool_feed *f, tide_error *err)
{
    int status = tide_spooled_begin(&f->text, f->from_start, err);
    f->begun = !status;
    f->safe = tide_spool_extent_of(f->text.spool).start;
    f->since_ms = tide_now_ms();
    count_waiting(f);
    return status;
}

static bool wants_save(const spool_feed *f)
{
    uint64_t learned = f->text.given - f->text.saved;
    return f->full && learned && learned >= f->feed.waiting;
}

static ptrdiff_t read_locked(spool_feed *f, void *bytes, size_t room, int wait_ms,
                             tide_error *err)
{
    int status = f->begun ? TIDE_OK : begin(f, err);
    if (status)
        return status;
    sync_due(f, SYNC_MS);
    if (f->failure.status)
        return tell_failure(f, err);
    if (wants_save(f))
        return TIDE_SOURCE_SAVE;
    if (wait_ms > 0)
        tide_feed_wait(&f->feed, wait_ms);
    ptrdiff_t count = tide_spooled_read(&f->text, bytes, room, err);
    count_waiting(f);
    if (count)
        return count;
    return f->feed.closed ? tide_spooled_end(&f->text, err) : TIDE_SOURCE_LATER;
}

static ptrdiff_t feed_read(void *state, void *bytes, size_t room, int wait_ms,
                           tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    ptrdiff_t count = read_locked(f, bytes, room, wait_ms, err);
    pthread_mutex_unlock(&f->feed.lock);
    return count;
}

/* -- places ---------------------------------------------------------------------------------------------- */

static bool feed_replayable(const void *state)
{
    (void)state;
    return true;
}

static uint64_t feed_offset(const void *state)
{
    return ((const spool_feed *)state)->text.given;
}

static char *feed_place(void *state, uint64_t offset, tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    char *place = tide_spooled_place(&f->text, offset, err);
    pthread_mutex_unlock(&f->feed.lock);
    return place;
}

static int feed_go_to(void *state, const char *place, tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    int status = tide_spooled_go_to(&f->text, place, err);
    count_waiting(f);
    pthread_mutex_unlock(&f->feed.lock);
    return status;
}

static int feed_saved(void *state, const char *place, tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    int status = tide_spooled_saved(&f->text, place, err);
    f->full = false;
    pthread_mutex_unlock(&f->feed.lock);
    return status;
}

static const char *feed_news(void *state)
{
    return tide_spooled_news(&((spool_feed *)state)->text);
}

const tide_source_kind tide_source_feed_spool = {
    .matches = is_over_spool,
    .open = feed_open,
    .close = feed_close,
    .read = feed_read,
    .discards = true,
    .plain = true,
    .can_resume = feed_replayable,
    .offset = feed_offset,
    .place = feed_place,
    .seek_place = feed_go_to,
    .saved = feed_saved,
    .news = feed_news,
};
