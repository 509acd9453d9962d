/* source_feed_spool.c - a feed over a spool, and the source "feed:" over it.
 *
 * A push appends its lines to the spool atomically, and the reader reads them from
 * there. So lines that were acknowledged survive a kill, and the position of the
 * source, which is in the saved model, says which of them are learned. A push that was
 * interrupted leaves no mark at its end and is cut off when the spool is opened.
 *
 * Nothing is accepted before the first read, since only then it is known where the
 * source continues, and whether this is the right spool.
 *
 * Syncing is done outside the lock, by one thread at a time. Others append meanwhile,
 * and the next sync covers all of them. It needs no new file descriptor, so it cannot
 * fail for lack of one. Text may be learned before it is synced: a power failure may
 * then leave a model that is ahead of its spool, which continues from the position of
 * the model.
 *
 * After lines were rejected for lack of space, the source asks for a save as soon as
 * half of the stored text has been learned.
 */
#include "feed/feed.h"
#include "file/file.h"
#include "source/source.h"
#include "spool/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Pushing threads sync earlier than the reading one, so that the reader rarely waits
 * for the disk. */
enum { SYNC_MS = 1000, SYNC_EARLY_MS = 700 };

typedef struct spool_feed {
    tide_feed feed;
    tide_spool_reader text;
    tide_spool_sync sync;
    bool from_start, started;
    bool full; /* lines were rejected since the last save */
    pthread_cond_t synced;
    bool syncing;
    uint64_t synced_end; /* text up to this offset is on disk */
    int64_t unsynced_ms; /* when the text behind it arrived, at the earliest */
    tide_error failure;  /* of the disk; permanent. Status 0 before */
} spool_feed;

/* -- syncing ----------------------------------------------------------------------- */

static uint64_t end_of(const spool_feed *f)
{
    return tide_spool_extent_of(f->text.spool).end;
}

/* Returns the stored failure, if any: after a failed sync everything fails. */
static int check_failure(const spool_feed *f, tide_error *err)
{
    return f->failure.status ? tide_fail(err, f->failure.status, "%s", f->failure.text)
                             : TIDE_OK;
}

/* Syncs all text so far. Releases the lock meanwhile. */
static void sync_all(spool_feed *f)
{
    /* Both are determined before the lock is released: other threads may append
     * meanwhile, even start a new segment, and this sync must not claim to cover
     * that. */
    uint64_t end = end_of(f);
    int file = tide_spool_pin_file(f->text.spool);
    f->syncing = true;
    f->unsynced_ms = tide_now_ms();
    pthread_mutex_unlock(&f->feed.lock);
    int reason = tide_file_sync(file);
    pthread_mutex_lock(&f->feed.lock);
    tide_spool_unpin_file(f->text.spool);
    f->syncing = false;
    if (reason)
        tide_fail(&f->failure, TIDE_ERROR_IO, "spool %s: cannot sync: %s", f->text.path,
                  strerror(reason));
    else
        f->synced_end = end;
    pthread_cond_broadcast(&f->synced);
}

/* Syncs, or waits for another thread to sync, up to `end`. The lock must be held. */
static void sync_until(spool_feed *f, uint64_t end)
{
    while (f->synced_end < end && !f->failure.status)
        /* The sync in progress may have begun before the text in question, so the
         * condition is checked again after it. */
        if (f->syncing)
            pthread_cond_wait(&f->synced, &f->feed.lock);
        else
            sync_all(f);
}

/* Syncs text that is older than `age_ms`, unless another thread is syncing. */
static void sync_due(spool_feed *f, int age_ms)
{
    if (f->sync == TIDE_SPOOL_SYNC_SECOND && !f->syncing && f->synced_end < end_of(f) &&
        tide_now_ms() - f->unsynced_ms >= age_ms)
        sync_all(f);
}

static int spool_sync(tide_feed *feed, tide_error *err)
{
    spool_feed *f = (spool_feed *)feed;
    if (f->started && f->sync == TIDE_SPOOL_SYNC_ALWAYS)
        sync_until(f, end_of(f));
    else if (f->started)
        sync_due(f, SYNC_EARLY_MS);
    return check_failure(f, err);
}

/* -- pushing ----------------------------------------------------------------------- */

/* How many bytes of lines still fit, with the headers of their pieces, if `used` bytes
 * are on disk. */
static size_t capacity_for_lines(const spool_feed *f, uint64_t used)
{
    uint64_t left = used < f->text.limit ? f->text.limit - used : 0;
    uint64_t overhead = tide_spool_size_of_lines(left) - left;
    return left > overhead ? (size_t)(left - overhead) : 0;
}

static void update_waiting(spool_feed *f)
{
    uint64_t end = end_of(f), returned = f->text.returned;
    f->feed.waiting = end > returned ? (size_t)(end - returned) : 0;
}

static ptrdiff_t spool_append(tide_feed *feed, const char *lines, size_t size,
                              tide_error *err)
{
    spool_feed *f = (spool_feed *)feed;
    /* Before the first read 0 bytes are accepted, without an error: the client tries
     * again. */
    if (f->failure.status || !f->started)
        return check_failure(f, err);
    size_t capacity = capacity_for_lines(f, tide_spool_extent_of(f->text.spool).bytes);
    size_t accepted = tide_feed_fitting_size(feed, lines, size, capacity);
    uint64_t before = end_of(f);
    int status =
        accepted ? tide_spool_append_lines(f->text.spool, lines, accepted, &f->failure)
                 : TIDE_SPOOL_FULL;
    /* Remembered until the next save, which is what makes space. */
    f->full = f->full || status == TIDE_SPOOL_FULL || accepted < size;
    if (status)
        return status == TIDE_SPOOL_FULL ? 0 : check_failure(f, err);
    /* Everything older is on disk, so the age of unsynced text starts now. */
    if (f->synced_end == before)
        f->unsynced_ms = tide_now_ms();
    update_waiting(f);
    pthread_cond_signal(&feed->arrived);
    return (ptrdiff_t)accepted;
}

static void spool_free(tide_feed *feed)
{
    spool_feed *f = (spool_feed *)feed;
    pthread_mutex_lock(&feed->lock);
    if (f->started && f->sync != TIDE_SPOOL_SYNC_NONE)
        sync_until(f, end_of(f));
    pthread_mutex_unlock(&feed->lock);
    tide_spool_reader_close(&f->text);
    pthread_cond_destroy(&f->synced);
    tide_feed_destroy(feed);
    free(f);
}

static const tide_feed_kind over_spool = {spool_append, spool_sync, spool_free};

tide_feed *tide_feed_new_spooled(const char *folder, uint64_t limit,
                                 tide_spool_sync sync, tide_error *err)
{
    const tide_spool_reader_options options = {.path = folder,
                                               .limit = limit,
                                               .sync = TIDE_SPOOL_SYNC_NONE,
                                               .discard_unmarked = true};
    spool_feed *f = tide_alloc(1, sizeof *f);
    if (!f) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for spool %s", folder);
        return NULL;
    }
    if (tide_spool_reader_open(&f->text, &options, err)) {
        tide_spool_reader_close(&f->text);
        free(f);
        return NULL;
    }
    tide_feed_init(&f->feed, &over_spool, capacity_for_lines(f, TIDE_SEGMENT_HEADER));
    pthread_cond_init(&f->synced, NULL);
    f->sync = sync;
    return &f->feed;
}

/* -- reading ----------------------------------------------------------------------- */

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
    (void)state; /* owned by the caller of tide_feed_new_spooled */
}

/* Text already in the spool counts as unsynced: the process that wrote it may have been
 * killed before it was synced. */
static int start(spool_feed *f, tide_error *err)
{
    int status = tide_spool_reader_start(&f->text, f->from_start, err);
    f->started = !status;
    f->synced_end = tide_spool_extent_of(f->text.spool).start;
    f->unsynced_ms = tide_now_ms();
    update_waiting(f);
    return status;
}

static bool needs_save(const spool_feed *f)
{
    uint64_t learned = f->text.returned - f->text.saved;
    return f->full && learned && learned >= f->feed.waiting;
}

static ptrdiff_t read_locked(spool_feed *f, void *bytes, size_t capacity, int wait_ms,
                             tide_error *err)
{
    int status = f->started ? TIDE_OK : start(f, err);
    if (status)
        return status;
    /* Without further pushes no other thread would sync what came last. */
    sync_due(f, SYNC_MS);
    if (f->failure.status)
        return check_failure(f, err);
    if (needs_save(f))
        return TIDE_SOURCE_SAVE;
    if (wait_ms > 0)
        tide_feed_wait(&f->feed, wait_ms);
    ptrdiff_t count = tide_spool_reader_read(&f->text, bytes, capacity, err);
    update_waiting(f);
    if (count)
        return count;
    return f->feed.closed ? tide_spool_reader_finish(&f->text, err) : TIDE_SOURCE_LATER;
}

static ptrdiff_t feed_read(void *state, void *bytes, size_t capacity, int wait_ms,
                           tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    ptrdiff_t count = read_locked(f, bytes, capacity, wait_ms, err);
    pthread_mutex_unlock(&f->feed.lock);
    return count;
}

/* -- positions --------------------------------------------------------------------- */

static bool feed_can_resume(const void *state)
{
    (void)state;
    return true;
}

static uint64_t feed_offset(const void *state)
{
    return ((const spool_feed *)state)->text.returned;
}

static char *feed_position(void *state, uint64_t offset, tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    char *position = tide_spool_reader_position(&f->text, offset, err);
    pthread_mutex_unlock(&f->feed.lock);
    return position;
}

static int feed_seek_position(void *state, const char *position, tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    int status = tide_spool_reader_seek(&f->text, position, err);
    update_waiting(f);
    pthread_mutex_unlock(&f->feed.lock);
    return status;
}

static int feed_saved(void *state, const char *position, tide_error *err)
{
    spool_feed *f = state;
    pthread_mutex_lock(&f->feed.lock);
    int status = tide_spool_reader_saved(&f->text, position, err);
    f->full = false;
    pthread_mutex_unlock(&f->feed.lock);
    return status;
}

static const char *feed_notice(void *state)
{
    return tide_spool_reader_notice(&((spool_feed *)state)->text);
}

const tide_source_kind tide_source_feed_spool = {
    .matches = is_over_spool,
    .open = feed_open,
    .close = feed_close,
    .read = feed_read,
    .discards = true,
    .plain = true,
    .can_resume = feed_can_resume,
    .offset = feed_offset,
    .position = feed_position,
    .seek_position = feed_seek_position,
    .saved = feed_saved,
    .notice = feed_notice,
};
