/* checkpoint_writer.c - writes checkpoints with as short a pause of training as
 * possible.
 *
 * A checkpoint has three phases, and the model must not change only during the second:
 *
 *     preallocate   this thread    reserves disk space and pages in the kernel's cache
 *     copy          both threads   the trainer copies and hashes the model; this thread
 *                                  writes the copies to those pages, at memory speed
 *     commit        this thread    syncs the file, reads it back, renames it into place
 *                                  and syncs the directory
 *
 * One thread serves one checkpoint at a time. Nothing counts as saved before all of it
 * is done, and the trainer polls for that result.
 *
 * All members of the struct are protected by `lock`. While a job runs, `job` is not
 * NULL and the other job members change only by tide_checkpoint_writer_finish; so the
 * thread may release the lock during slow operations without losing track of the job.
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
    pthread_cond_t changed; /* waited on with the monotonic clock */

    tide_store_writer *job;     /* NULL if idle */
    uint64_t preallocate_bytes; /* 0 for a file that is to be written */
    bool complete;              /* the caller has put everything into it */
    uint32_t keep;
    tide_checkpoint_result result;
    bool finished; /* `result` is new and was not collected */
    bool closing;
};

/* Runs jobs until the writer is closed. The lock is held except during slow calls. */
static void *thread_main(void *argument)
{
    tide_checkpoint_writer *w = argument;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->job && !w->closing)
            pthread_cond_wait(&w->changed, &w->lock);
        if (!w->job)
            break; /* closing, and the last job is done */

        if (w->preallocate_bytes) {
            pthread_mutex_unlock(&w->lock);
            tide_store_preallocate(w->job, w->preallocate_bytes);
            pthread_mutex_lock(&w->lock);
        } else {
            /* The trainer is filling the file meanwhile. The store writer has a queue
             * of its own, from which this thread writes buffers until the trainer has
             * finished the file. */
            pthread_mutex_unlock(&w->lock);
            tide_store_run_writer(w->job);
            pthread_mutex_lock(&w->lock);

            /* The queue is closed a moment before tide_checkpoint_writer_finish is
             * called. Only then is `keep` set and the file this thread's alone. */
            while (!w->complete)
                pthread_cond_wait(&w->changed, &w->lock);

            /* Syncing and reading back takes seconds, during which the trainer polls
             * for the result. The job stays set, so no other one can be submitted. */
            pthread_mutex_unlock(&w->lock);
            tide_checkpoint_result result = {.error = {.text = ""}};
            double start = tide_now_seconds();
            result.status = tide_store_commit_keeping(w->job, w->keep, &result.error);
            result.seconds = tide_now_seconds() - start;
            pthread_mutex_lock(&w->lock);
            w->result = result;
            w->finished = true;
        }
        w->job = NULL;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Blocks all signals in the new thread: they are meant to interrupt the reading
 * thread. */
static int start_thread(tide_checkpoint_writer *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, thread_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

tide_checkpoint_writer *tide_checkpoint_writer_new(tide_error *err)
{
    tide_checkpoint_writer *w = tide_alloc(1, sizeof *w);
    if (w) {
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->changed, NULL);
    }
    if (w && !start_thread(w))
        return w;
    tide_fail(err, TIDE_ERROR_MEMORY, "cannot start the checkpoint thread");
    free(w);
    return NULL;
}

void tide_checkpoint_writer_free(tide_checkpoint_writer *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    /* A job in progress is completed first; the thread looks at `closing` only when
     * idle. */
    w->closing = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void submit(tide_checkpoint_writer *w, tide_store_writer *writer,
                   uint64_t preallocate_bytes)
{
    pthread_mutex_lock(&w->lock);
    w->job = writer;
    w->preallocate_bytes = preallocate_bytes;
    w->complete = w->finished = false;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void tide_checkpoint_writer_preallocate(tide_checkpoint_writer *w,
                                        tide_store_writer *file, uint64_t bytes)
{
    submit(w, file, bytes);
}

int tide_checkpoint_writer_start(tide_checkpoint_writer *w, tide_store_writer *file,
                                 tide_error *err)
{
    /* The queue between the threads must exist before the thread is woken up. */
    int status = tide_store_start_writer(file, err);
    if (status)
        tide_store_discard(file);
    else
        submit(w, file, 0);
    return status;
}

void tide_checkpoint_writer_finish(tide_checkpoint_writer *w, uint32_t keep)
{
    pthread_mutex_lock(&w->lock);
    w->keep = keep;
    w->complete = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

bool tide_checkpoint_writer_busy(tide_checkpoint_writer *w, int wait_ms)
{
    struct timespec until = tide_deadline(wait_ms * TIDE_MS);
    pthread_mutex_lock(&w->lock);
    int timed_out = 0;
    /* The monotonic clock, because the wall clock may be set while this waits. */
    while (w->job && !timed_out)
        timed_out =
            pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until);
    bool busy = w->job != NULL;
    pthread_mutex_unlock(&w->lock);
    return busy;
}

bool tide_checkpoint_writer_result(tide_checkpoint_writer *w,
                                   tide_checkpoint_result *result)
{
    pthread_mutex_lock(&w->lock);
    bool finished = w->finished;
    if (finished)
        *result = w->result;
    /* A result is reported once, so the caller may poll without remembering what it
     * saw. */
    w->finished = false;
    pthread_mutex_unlock(&w->lock);
    return finished;
}
