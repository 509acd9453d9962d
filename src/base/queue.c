/* queue.c - a bounded first-in first-out queue of pointers between threads.
 *
 * A ring under one lock. What is handed over are whole batches, some thousand a second,
 * so the lock is not where the time goes.
 */
#include "base/base.h"

#include <pthread.h>
#include <stdlib.h>

struct tide_queue {
    pthread_mutex_t lock;
    pthread_cond_t arrived; /* an item came, or the queue was closed */
    size_t capacity;
    size_t first; /* place of the oldest item */
    size_t count;
    bool closed;
    void *items[];
};

tide_queue *tide_queue_new(size_t capacity, tide_error *err)
{
    tide_queue *queue = NULL;
    if (capacity == 0) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "a queue needs room for at least one item");
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
    if (pthread_cond_init(&queue->arrived, NULL) != 0) {
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
    pthread_cond_destroy(&queue->arrived);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

bool tide_queue_try_push(tide_queue *queue, void *item)
{
    pthread_mutex_lock(&queue->lock);
    bool room = queue->count < queue->capacity && !queue->closed;
    if (room) {
        size_t left = queue->capacity - queue->first; /* places up to the ring's end */
        size_t place =
            queue->count < left ? queue->first + queue->count : queue->count - left;
        queue->items[place] = item;
        queue->count++;
        pthread_cond_signal(&queue->arrived);
    }
    pthread_mutex_unlock(&queue->lock);
    return room;
}

/* The lock must be held. */
static void *take(tide_queue *queue)
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
    void *item = take(queue);
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void *tide_queue_pop(tide_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->arrived, &queue->lock);
    void *item = take(queue);
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void tide_queue_close(tide_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->arrived);
    pthread_mutex_unlock(&queue->lock);
}
