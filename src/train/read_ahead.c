/* read_ahead.c - reads and hashes words on another thread than the one that counts
 * them.
 *
 * With many threads, the one that counts words limits the speed of all. Tokenizing and
 * hashing need nothing of the vocabulary, so a reading thread does them for the text
 * being fed, ahead of the counting thread, and passes the words in blocks through a
 * ring:
 *
 *     text > [reading thread: tokenize, hash] > ring of blocks > [counting thread]
 *
 * The tokenizer goes through the text in order, so only one thread at a time can use
 * it: the one that has the lock, for one block. That is usually the reading thread. If
 * the ring is empty and the lock free, the counting thread reads a block itself. So it
 * does not have to wait while the reading thread wakes up, or while that has no
 * processor; and when the ring is full the reading thread simply stops until the next
 * text.
 *
 * All of a text has been read and counted before feeding it returns: nothing is ever
 * ahead of a position, and a save finds the reader in the same state as with one
 * thread.
 */
#include "train/read_ahead.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BLOCKS = 64, SPINS = 1000 };

struct tide_read_ahead {
    tide_reader *reader;
    tide_word_block *blocks; /* [BLOCKS] */

    pthread_mutex_t lock;
    pthread_cond_t begun; /* there is a text, or the thread is to end */
    pthread_t thread;
    bool started;

    /* Under the lock. */
    const tide_vocabulary *vocabulary;
    const char *bytes;
    size_t size;  /* not yet fed to the reader */
    bool reading; /* the text may have more words */
    bool closing;

    _Alignas(64) _Atomic uint64_t produced; /* blocks so far; written under the lock */
    _Alignas(64) _Atomic uint64_t consumed; /* written by the counting thread */
    bool lent; /* the last block is in use; of the counting thread only */
};

/* Prepares the words, whose bytes may not outlive the next call of the reader. */
static void fill_block(const tide_read_ahead *r, tide_word_block *b,
                       const tide_word *words, size_t count)
{
    tide_vocabulary_keys(r->vocabulary, words, count, b->keys);
    for (size_t i = 0; i < count; i++) {
        tide_key *key = &b->keys[i];
        if (key->length > TIDE_KEY_INLINE) {
            memcpy(b->texts[i], key->bytes, key->length);
            key->bytes = b->texts[i];
        } else {
            key->bytes = (const char *)key->part;
        }
    }
    b->count = (uint32_t)count;
}

static bool has_room(const tide_read_ahead *r)
{
    uint64_t produced = atomic_load_explicit(&r->produced, memory_order_relaxed);
    return produced - atomic_load_explicit(&r->consumed, memory_order_acquire) < BLOCKS;
}

/* Reads a block. The lock must be held, and the ring have room. */
static void read_block(tide_read_ahead *r)
{
    uint64_t produced = atomic_load_explicit(&r->produced, memory_order_relaxed);
    tide_word_block *b = &r->blocks[produced % BLOCKS];
    tide_word words[READ_AHEAD_WORDS];
    while (r->reading) {
        size_t count = tide_reader_next(r->reader, words, READ_AHEAD_WORDS, &b->ended);
        if (count || b->ended) {
            fill_block(r, b, words, count);
            atomic_store_explicit(&r->produced, produced + 1, memory_order_release);
            return;
        }
        r->reading = r->size > 0;
        if (r->reading) {
            size_t used = tide_reader_feed(r->reader, r->bytes, r->size);
            r->bytes += used;
            r->size -= used;
        }
    }
}

static void *run(void *ahead)
{
    tide_read_ahead *r = ahead;
    pthread_mutex_lock(&r->lock);
    while (!r->closing) {
        if (!r->reading || !has_room(r)) {
            pthread_cond_wait(&r->begun, &r->lock);
            continue;
        }
        read_block(r);
        /* The counting thread may be waiting for the lock to pause. */
        pthread_mutex_unlock(&r->lock);
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

tide_read_ahead *tide_read_ahead_new(tide_reader *reader, tide_error *err)
{
    tide_read_ahead *r = tide_alloc(1, sizeof *r);
    if (!r) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read ahead");
        return NULL;
    }
    r->reader = reader;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->begun, NULL);
    r->blocks = tide_alloc(BLOCKS, sizeof *r->blocks);
    if (!r->blocks) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read ahead");
        tide_read_ahead_free(r);
        return NULL;
    }
    sigset_t all, before;
    sigfillset(&all); /* signals are handled by the calling thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->started = !pthread_create(&r->thread, NULL, run, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r->started)
        return r;
    tide_fail(err, TIDE_ERROR_MEMORY, "cannot start the thread that reads ahead");
    tide_read_ahead_free(r);
    return NULL;
}

void tide_read_ahead_free(tide_read_ahead *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_signal(&r->begun);
    pthread_mutex_unlock(&r->lock);
    if (r->started)
        pthread_join(r->thread, NULL);
    pthread_cond_destroy(&r->begun);
    pthread_mutex_destroy(&r->lock);
    free(r->blocks);
    free(r);
}

uint64_t tide_read_ahead_bytes(void)
{
    return sizeof(tide_read_ahead) + BLOCKS * sizeof(tide_word_block);
}

void tide_read_ahead_begin(tide_read_ahead *r, const tide_vocabulary *vocabulary,
                           const char *bytes, size_t size)
{
    pthread_mutex_lock(&r->lock);
    r->vocabulary = vocabulary;
    r->bytes = bytes;
    r->size = size;
    r->reading = true;
    pthread_cond_signal(&r->begun);
    pthread_mutex_unlock(&r->lock);
}

/* Whether there is a block to take. If not, reads one, or waits for the one that the
 * other thread is reading: that takes a few microseconds, too short to sleep. */
static bool await_block(tide_read_ahead *r, uint64_t consumed)
{
    for (uint32_t spins = 1;; spins++) {
        if (atomic_load_explicit(&r->produced, memory_order_acquire) > consumed)
            return true;
        if (pthread_mutex_trylock(&r->lock) == 0) {
            if (atomic_load_explicit(&r->produced, memory_order_relaxed) == consumed)
                read_block(r);
            pthread_mutex_unlock(&r->lock);
            return atomic_load_explicit(&r->produced, memory_order_acquire) > consumed;
        }
        if (spins % SPINS == 0)
            sched_yield();
    }
}

const tide_word_block *tide_read_ahead_next(tide_read_ahead *r)
{
    uint64_t consumed = atomic_load_explicit(&r->consumed, memory_order_relaxed);
    if (r->lent)
        atomic_store_explicit(&r->consumed, ++consumed, memory_order_release);
    r->lent = await_block(r, consumed);
    return r->lent ? &r->blocks[consumed % BLOCKS] : NULL;
}

void tide_read_ahead_pause(tide_read_ahead *r)
{
    pthread_mutex_lock(&r->lock);
}

void tide_read_ahead_continue(tide_read_ahead *r)
{
    pthread_mutex_unlock(&r->lock);
}
