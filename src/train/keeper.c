/* keeper.c - checkpoints that become safe while training goes on.
 *
 * A checkpoint has two halves. The first needs the model to stand still: all its bytes are written into
 * a new file, which means into the page cache of the kernel, at the speed of memory. The second needs
 * the disk and nothing else: the file is synced, read back, put in its place and the directory synced. A
 * thread does that here, one checkpoint at a time, while the model learns on. Nothing counts as saved
 * before both are done, and whoever gave the checkpoint asks for that.
 */
#include "train/parts.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct tide_keeper {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* its clock is one that nobody sets */

    tide_store_writer *given; /* NULL for none */
    uint32_t older;
    tide_kept kept;
    bool finished; /* `kept` is of the last one given, and nobody has asked yet */
    bool closing;
};

static void *keep(void *keeper)
{
    tide_keeper *k = keeper;
    pthread_mutex_lock(&k->lock);
    for (;;) {
        while (!k->given && !k->closing)
            pthread_cond_wait(&k->changed, &k->lock);
        if (!k->given)
            break;
        pthread_mutex_unlock(&k->lock);
        tide_kept kept = {.error = {.text = ""}};
        double start = tide_now_seconds();
        kept.status = tide_store_publish(k->given, k->older, &kept.error);
        kept.seconds = tide_now_seconds() - start;
        pthread_mutex_lock(&k->lock);
        k->given = NULL;
        k->kept = kept;
        k->finished = true;
        pthread_cond_broadcast(&k->changed);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

/* Signals are for the thread that reads. */
static int start(tide_keeper *k)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&k->thread, NULL, keep, k);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

tide_keeper *tide_keeper_new(tide_error *err)
{
    tide_keeper *k = tide_alloc(1, sizeof *k);
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

void tide_keeper_free(tide_keeper *k)
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

void tide_keeper_give(tide_keeper *k, tide_store_writer *writer, uint32_t older)
{
    pthread_mutex_lock(&k->lock);
    k->given = writer;
    k->older = older;
    k->finished = false;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

bool tide_keeper_busy(tide_keeper *k, int wait_ms)
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

bool tide_keeper_ask(tide_keeper *k, tide_kept *kept)
{
    pthread_mutex_lock(&k->lock);
    bool finished = k->finished;
    if (finished)
        *kept = k->kept;
    k->finished = false;
    pthread_mutex_unlock(&k->lock);
    return finished;
}
