/* live.c - queries a model from one thread while another trains it, then stops the
 * training.
 *
 *     live SOURCE WORD [SECONDS]        for example: live demo: coffee 5
 */
#include <wordtide.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct query {
    tide_trainer *trainer;
    tide_live *live;
    const char *word;
    int seconds;
} query;

static void *ask(void *data)
{
    query *q = data;
    for (int i = 0; i < q->seconds; i++) {
        sleep(1);
        tide_stats stats;
        tide_live_stats(q->live, &stats, sizeof stats);
        const tide_view *view = tide_live_acquire(q->live);
        const tide_query asked = {.positive = &q->word, .positive_count = 1};
        tide_hit hits[5];
        int found = tide_view_nearest(view, &asked, hits, 5, NULL);
        printf("%llu words:", (unsigned long long)stats.tokens);
        for (int hit = 0; hit < found; hit++) /* words are valid until the release */
            printf(" %s", hits[hit].word);
        printf("\n");
        fflush(stdout);
        tide_live_release(q->live, view);
    }
    tide_trainer_stop(q->trainer);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: live SOURCE WORD [SECONDS]\n");
        return 2;
    }
    tide_error err;
    tide_params *params = tide_params_new(&err);
    tide_trainer *trainer = params ? tide_trainer_new(params, &err) : NULL;
    tide_live *live =
        trainer ? tide_live_new(trainer, TIDE_VECTORS_INPUT, true, &err) : NULL;
    tide_params_free(params);
    int status = -1;
    if (live) {
        query q = {trainer, live, argv[2], argc > 3 ? atoi(argv[3]) : 5};
        const char *source = argv[1];
        const tide_run run = {
            .size = sizeof(tide_run), .sources = &source, .source_count = 1};
        pthread_t thread;
        pthread_create(&thread, NULL, ask, &q);
        status = tide_trainer_run(trainer, &run, &err);
        pthread_join(thread, NULL);
    }
    if (status < 0)
        fprintf(stderr, "%s\n", err.text);
    tide_live_free(live);
    tide_trainer_free(trainer);
    return status < 0;
}
