/* checkpoint_writer.c - checkpoints that cost training as little as possible.
 *
 * A checkpoint has three parts, of which one alone needs the model to stand still. First the disk is asked for
 * room, and the kernel for the pages that the file will be in. Then, training being at rest, the bytes are put
 * into the file, which means into those pages, at the speed of memory: who has the model copies and hashes, and
 * a thread here writes what is copied. At last the file is synced, read back, put in its place and the directory
 * synced. That thread does the first and the last part as well, one checkpoint at a time, while the model learns
 * on. Nothing counts as saved before all is done, and whoever gave the checkpoint asks for that.
 */
#include "file/file.h"
#include "run/run.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct tide_checkpoint_writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* its clock is one that nobody sets */

    tide_store_writer *given; /* NULL for none */
    uint64_t room;            /* what it is to be given; 0: it is to be filled */
    bool sealed;              /* nobody else uses it any more */
    uint32_t older;
    tide_checkpoint_result kept;
    bool finished; /* `kept` is of the last one filled, and nobody has asked yet */
    bool closing;
};

/* Returns with the lock held, and so is it called. */
static void wait_for_seal(tide_checkpoint_writer *k)
{
    pthread_mutex_unlock(&k->lock);
    tide_store_run_writer(k->given);
    pthread_mutex_lock(&k->lock);
    while (!k->sealed)
        pthread_cond_wait(&k->changed, &k->lock);
}

static void make_room(tide_checkpoint_writer *k)
{
    pthread_mutex_unlock(&k->lock);
    tide_store_preallocate(k->given, k->room);
    pthread_mutex_lock(&k->lock);
}

static void publish(tide_checkpoint_writer *k)
{
    pthread_mutex_unlock(&k->lock);
    tide_checkpoint_result kept = {.error = {.text = ""}};
    double start = tide_now_seconds();
    kept.status = tide_store_replace(k->given, k->older, &kept.error);
    kept.seconds = tide_now_seconds() - start;
    pthread_mutex_lock(&k->lock);
    k->kept = kept;
    k->finished = true;
}

static void *keep(void *keeper)
{
    tide_checkpoint_writer *k = keeper;
    pthread_mutex_lock(&k->lock);
    for (;;) {
        while (!k->given && !k->closing)
            pthread_cond_wait(&k->changed, &k->lock);
        if (!k->given)
            break;
        if (k->room) {
            make_room(k);
        } else {
            wait_for_seal(k);
            publish(k);
        }
        k->given = NULL;
        pthread_cond_broadcast(&k->changed);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

/* Signals are for the thread that reads. */
static int start(tide_checkpoint_writer *k)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&k->thread, NULL, keep, k);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

tide_checkpoint_writer *tide_checkpoint_writer_new(tide_error *err)
{
    tide_checkpoint_writer *k = tide_alloc(1, sizeof *k);
    if (k) {
        pthread_mutex_init(&k->lock, NULL);
        pthread_cond_init(&k->changed, NULL);
    }
    if (k && !start(k))
        return k;
    tide_fail(err, TIDE_ERROR_MEMORY, "no thread to keep checkpoints");
    free(k);
    return NULL;
}

void tide_checkpoint_writer_free(tide_checkpoint_writer *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    k->closing = true;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
    pthread_join(k->thread, NULL);
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

static void give(tide_checkpoint_writer *k, tide_store_writer *writer, uint64_t room)
{
    pthread_mutex_lock(&k->lock);
    k->given = writer;
    k->room = room;
    k->sealed = k->finished = false;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

void tide_checkpoint_writer_preallocate(tide_checkpoint_writer *k,
                                        tide_store_writer *writer, uint64_t bytes)
{
    give(k, writer, bytes);
}

int tide_checkpoint_writer_start(tide_checkpoint_writer *k, tide_store_writer *writer,
                                 tide_error *err)
{
    int status = tide_store_start_writer(writer, err);
    if (status)
        tide_store_discard(writer);
    else
        give(k, writer, 0);
    return status;
}

void tide_checkpoint_writer_finish(tide_checkpoint_writer *k, uint32_t older)
{
    pthread_mutex_lock(&k->lock);
    k->older = older;
    k->sealed = true;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

bool tide_checkpoint_writer_busy(tide_checkpoint_writer *k, int wait_ms)
{
    struct timespec until = tide_deadline(wait_ms);
    pthread_mutex_lock(&k->lock);
    int late = 0;
    while (k->given && !late)
        late = pthread_cond_clockwait(&k->changed, &k->lock, CLOCK_MONOTONIC, &until);
    bool busy = k->given != NULL;
    pthread_mutex_unlock(&k->lock);
    return busy;
}

bool tide_checkpoint_writer_result(tide_checkpoint_writer *k,
                                   tide_checkpoint_result *kept)
{
    pthread_mutex_lock(&k->lock);
    bool finished = k->finished;
    if (finished)
        *kept = k->kept;
    k->finished = false;
    pthread_mutex_unlock(&k->lock);
    return finished;
}
