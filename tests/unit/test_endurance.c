/* test_endurance.c - a long run with checkpoints and queries: memory, open files and
 * threads do not grow.
 *
 * WORDTIDE_TOKENS is the length; 1e9 with its 100 checkpoints and 100,000 queries takes
 * a quarter of an hour. The first quarter is the warm-up. The minimum resident size of
 * the second quarter is compared with that of the last: minima, because the buffer of a
 * checkpoint comes and goes. */
#include "train_fixture.h"

#include <dirent.h>
#include <pthread.h>

enum {
    CHECKPOINTS = 100,
    MEANWHILE = 6 << 20, /* bytes of a pending checkpoint and of a query */
};

typedef struct endurance {
    tide_live *live;
    uint64_t tokens, questions; /* in all */
    uint64_t asked, checkpoints;
    uint64_t least[4], most; /* minimum resident bytes in each quarter */
    size_t files, threads;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    uint64_t due; /* questions */
    bool ended;
} endurance;

static uint64_t tokens_wanted(void)
{
    const char *wanted = getenv("WORDTIDE_TOKENS");
    return wanted ? (uint64_t)strtod(wanted, NULL) : SANITIZED ? 100000 : 2000000;
}

static size_t entries_of(const char *path)
{
    DIR *entries = opendir(path);
    size_t count = 0;
    assert_non_null(entries);
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

static uint64_t resident(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void *ask(void *argument)
{
    endurance *e = argument;
    static const char *const words[] = {"the", "rain", "bread", "nobody-says-this"};
    pthread_mutex_lock(&e->lock);
    while (!e->ended || e->asked < e->due) {
        if (e->asked >= e->due) {
            pthread_cond_wait(&e->changed, &e->lock);
            continue;
        }
        pthread_mutex_unlock(&e->lock);
        tide_hit hits[10];
        tide_query query = {.positive = &words[e->asked++ % COUNT(words)],
                            .positive_count = 1};
        const tide_view *space = tide_live_acquire(e->live);
        tide_view_nearest(space, &query, hits, COUNT(hits), NULL);
        tide_live_release(e->live, space);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void ask_due_questions(endurance *e, uint64_t due, bool ended)
{
    pthread_mutex_lock(&e->lock);
    e->due = due;
    e->ended = ended;
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void on_progress(void *data, const tide_stats *stats)
{
    endurance *e = data;
    double share = (double)stats->tokens / (double)e->tokens;
    ask_due_questions(e, (uint64_t)(share * (double)e->questions), false);
    if (share < 0.25)
        return;
    uint64_t now = resident();
    uint64_t *least = &e->least[share < 1 ? (int)(4 * share) : 3];
    if (!e->most) {
        e->files = entries_of("/proc/self/fd");
        e->threads = entries_of("/proc/self/task");
    }
    *least = *least && *least < now ? *least : now;
    e->most = e->most > now ? e->most : now;
    assert_true(entries_of("/proc/self/fd") <= e->files + 3); /* one being saved */
    assert_int_equal(entries_of("/proc/self/task"), e->threads);
}

static void note(void *data, bool warning, const char *text)
{
    endurance *e = data;
    assert_false(warning);
    e->checkpoints += strncmp(text, "checkpoint", 10) == 0;
}

static void a_long_run_takes_no_more_memory_than_a_short_one(void **state)
{
    (void)state;
    endurance e = {.tokens = tokens_wanted(),
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .changed = PTHREAD_COND_INITIALIZER};
    e.questions = e.tokens / 10000;
    tide_trainer *trainer =
        trainer_of("profile=fast vocab=2000 dim=100 half-life=1000000");
    e.live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL);
    assert_non_null(e.live);
    pthread_t asker;
    assert_int_equal(pthread_create(&asker, NULL, ask, &e), 0);
    char source[64];
    snprintf(source, sizeof source, "demo:seed=9,tokens=%llu",
             (unsigned long long)e.tokens);
    const char *sources[] = {source};
    const tide_run run = {.size = sizeof(tide_run),
                          .sources = sources,
                          .source_count = 1,
                          .progress = on_progress,
                          .progress_data = &e,
                          .note = note,
                          .note_data = &e,
                          .checkpoint_path = "c.tide",
                          .save_tokens = e.tokens / CHECKPOINTS,
                          .keep_checkpoints = 2};
    assert_int_equal(tide_trainer_run(trainer, &run, NULL), TIDE_OK);
    ask_due_questions(&e, e.questions, true);
    pthread_join(asker, NULL);
    double grown = (double)e.least[3] / (double)e.least[1] - 1;
    print_message("%llu tokens, %llu checkpoints, %llu questions: %.1f MiB resident, "
                  "%.2f %% more at the end\n",
                  (unsigned long long)e.tokens, (unsigned long long)e.checkpoints,
                  (unsigned long long)e.asked, (double)e.most / 0x1p20, 100 * grown);
    assert_true(e.checkpoints >= (SANITIZED ? 1 : CHECKPOINTS * 9 / 10));
    assert_int_equal(e.asked, e.questions);
    bool is_long = e.tokens >= 100000000; /* a short run is nearly always saving */
    assert_true(!is_long || grown <= 0.01);
    assert_true(SANITIZED || e.most <= e.least[1] + MEANWHILE);
    tide_live_free(e.live);
    tide_trainer_free(trainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_long_run_takes_no_more_memory_than_a_short_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
