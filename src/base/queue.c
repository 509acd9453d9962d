/* queue.c - a bounded first-in first-out queue of pointers between threads.
 *
 * A ring buffer under one lock. The items are whole batches, a few thousand per second,
 * so the lock is not a bottleneck.
 */
#include "base/base.h"

#include <pthread.h>
#include <stdlib.h>

struct tide_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an item was pushed, or the queue was closed */
    size_t capacity;
    size_t first; /* index of the oldest item */
    size_t count;
    bool closed;
    void *items[];
};

tide_queue *tide_queue_new(size_t capacity, tide_error *err)
{
    tide_queue *queue = NULL;
    if (capacity == 0) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "a queue needs a capacity of at least 1");
        return NULL;
    }
    size_t bytes;
    if (!__builtin_mul_overflow(capacity, sizeof(void *), &bytes) &&
        !__builtin_add_overflow(bytes, sizeof *queue, &bytes))
        queue = tide_alloc(1, bytes);
    if (!queue)
        goto failed;
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        goto failed;
    if (pthread_cond_init(&queue->changed, NULL) != 0) {
        pthread_mutex_destroy(&queue->lock);
        goto failed;
    }
    queue->capacity = capacity;
    return queue;

failed:
    free(queue);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a queue of %zu items", capacity);
    return NULL;
}

void tide_queue_free(tide_queue *queue)
{
    if (!queue)
        return;
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

bool tide_queue_try_push(tide_queue *queue, void *item)
{
    pthread_mutex_lock(&queue->lock);
    bool accepted = queue->count < queue->capacity && !queue->closed;
    if (accepted) {
        /* (first + count) % capacity, without overflow for any capacity */
        size_t left = queue->capacity - queue->first;
        size_t at =
            queue->count < left ? queue->first + queue->count : queue->count - left;
        queue->items[at] = item;
        queue->count++;
        /* One item wakes one thread; any of those waiting can take it. */
        pthread_cond_signal(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    return accepted;
}

/* The lock must be held. */
static void *pop_first(tide_queue *queue)
{
    if (queue->count == 0)
        return NULL;
    void *item = queue->items[queue->first];
    queue->count--;
    if (++queue->first == queue->capacity)
        queue->first = 0;
    return item;
}

void *tide_queue_try_pop(tide_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    void *item = pop_first(queue);
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void *tide_queue_pop(tide_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    /* A closed queue still returns what is in it; NULL means that it is closed and
     * empty. */
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->lock);
    void *item = pop_first(queue);
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void tide_queue_close(tide_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}
