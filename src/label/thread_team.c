/* thread_team.c - threads that repeatedly execute one function together.
 *
 * The threads wait for the round number to increase, call the function, and report. The
 * caller takes part as member 0 and then waits for the others. One lock protects the
 * few numbers. The work itself needs none: each thread acquires the lock before and
 * after it, which orders all memory accesses of two rounds.
 */
#include "label/network.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef struct member {
    tide_thread_team *team;
    pthread_t thread;
    uint32_t index;
} member;

struct tide_thread_team {
    pthread_mutex_t lock;
    pthread_cond_t started, finished;
    uint64_t round;
    uint32_t busy; /* workers that have not reported yet */
    bool closing;
    tide_team_function *work;
    void *task;
    uint32_t worker_count; /* started threads, without the caller */
    member members[];
};

static void *worker_main(void *argument)
{
    member *m = argument;
    tide_thread_team *team = m->team;
    pthread_mutex_lock(&team->lock);
    for (uint64_t round = 1;; round++) {
        while (team->round < round && !team->closing)
            pthread_cond_wait(&team->started, &team->lock);
        if (team->closing)
            break;
        pthread_mutex_unlock(&team->lock);
        team->work(team->task, m->index);
        pthread_mutex_lock(&team->lock);
        if (--team->busy == 0)
            pthread_cond_signal(&team->finished);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

static int start_member(tide_thread_team *team, tide_error *err)
{
    member *m = &team->members[team->worker_count];
    *m = (member){.team = team, .index = team->worker_count + 1};
    sigset_t all, before;
    sigfillset(&all); /* signals are meant for the calling thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&m->thread, NULL, worker_main, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return tide_fail(err, TIDE_ERROR_MEMORY, "cannot start thread %u",
                         team->worker_count + 2);
    team->worker_count++;
    return TIDE_OK;
}

uint64_t tide_thread_team_bytes(uint32_t members)
{
    return sizeof(tide_thread_team) + (members - 1) * sizeof(member);
}

tide_thread_team *tide_thread_team_new(uint32_t members, tide_error *err)
{
    tide_thread_team *team = tide_alloc(1, tide_thread_team_bytes(members));
    if (!team) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %u threads", members);
        return NULL;
    }
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->started, NULL);
    pthread_cond_init(&team->finished, NULL);
    while (team->worker_count + 1 < members)
        if (start_member(team, err)) {
            tide_thread_team_free(team);
            return NULL;
        }
    return team;
}

void tide_thread_team_free(tide_thread_team *team)
{
    if (!team)
        return;
    pthread_mutex_lock(&team->lock);
    team->closing = true;
    pthread_cond_broadcast(&team->started);
    pthread_mutex_unlock(&team->lock);
    for (uint32_t i = 0; i < team->worker_count; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->finished);
    pthread_cond_destroy(&team->started);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

void tide_thread_team_run(tide_thread_team *team, tide_team_function *work, void *task)
{
    pthread_mutex_lock(&team->lock);
    team->work = work;
    team->task = task;
    team->busy = team->worker_count;
    team->round++;
    pthread_cond_broadcast(&team->started);
    pthread_mutex_unlock(&team->lock);
    work(task, 0);
    pthread_mutex_lock(&team->lock);
    while (team->busy > 0)
        pthread_cond_wait(&team->finished, &team->lock);
    pthread_mutex_unlock(&team->lock);
}
