/* bench_checkpoint.c - for how long a checkpoint makes training stand still on this machine.
 *
 * A model with a word in every slot is saved again and again, in the ways that there are: by one thread into a new
 * file, or into one that has room, and as a run does it (checkpoint_writer.c), which is taken apart. Figures are seconds for a GiB of the file. On a busy
 * machine the least of them, and the processor time of the thread that has the model, tell more than the rest.
 */
#include "file/file.h"
#include "params/params.h"
#include "run/run.h"
#include "train/train.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOOK, PLAIN, ROOMY, ROOM, PAUSE, SAFE };

static const char *const names[TIDE_CHECKPOINT_PARTS] = {"look", "plain", "roomy",
                                                         "room", "pause", "safe"};

typedef struct bench {
    tide_trainer *trainer;
    tide_checkpoint_writer *keeper;
    const char *path;
    uint64_t bytes;
    double wall[TIDE_CHECKPOINT_PARTS][TIDE_CHECKPOINT_ROUNDS];
    double processor[TIDE_CHECKPOINT_PARTS][TIDE_CHECKPOINT_ROUNDS];
} bench;

typedef struct moment {
    double wall, processor;
} moment;

static moment now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (moment){tide_now_seconds(), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec};
}

static void note_since(bench *b, int part, uint32_t round, moment start)
{
    moment end = now();
    b->wall[part][round] = end.wall - start.wall;
    b->processor[part][round] = end.processor - start.processor;
}

/* -- a round ------------------------------------------------------------------------------------- */

static void wait_for_keeper(bench *b)
{
    while (tide_checkpoint_writer_busy(b->keeper, 1000))
        continue;
}

/* By one thread, into a new file or into one that has room. */
static int save_alone(bench *b, int part, uint32_t round, tide_error *err)
{
    tide_store_writer *writer = tide_store_create(b->path, err);
    if (!writer)
        return (int)err->status;
    if (part == ROOMY)
        tide_store_preallocate(writer, b->bytes);
    moment start = now();
    b->bytes = tide_trainer_write(b->trainer, writer);
    note_since(b, part, round, start);
    tide_store_discard(writer);
    return TIDE_OK;
}

static int save_as_a_run(bench *b, uint32_t round, tide_error *err)
{
    tide_checkpoint_result kept = {0};
    moment start = now();
    tide_store_writer *writer = tide_store_create(b->path, err);
    if (!writer)
        return (int)err->status;
    tide_checkpoint_writer_preallocate(b->keeper, writer, b->bytes);
    wait_for_keeper(b);
    note_since(b, ROOM, round, start);

    start = now();
    int status = tide_checkpoint_writer_start(b->keeper, writer, err);
    if (status)
        return status;
    tide_trainer_write(b->trainer, writer);
    tide_checkpoint_writer_finish(b->keeper, 0);
    note_since(b, PAUSE, round, start);

    start = now();
    wait_for_keeper(b);
    note_since(b, SAFE, round, start);
    tide_checkpoint_writer_result(b->keeper, &kept);
    return kept.status ? tide_fail(err, kept.error.status, "%s", kept.error.text)
                       : TIDE_OK;
}

static int measure_round(bench *b, uint32_t round, tide_error *err)
{
    moment start = now();
    tide_trainer_repair(b->trainer);
    note_since(b, LOOK, round, start);
    int status = save_alone(b, PLAIN, round, err);
    if (!status)
        status = save_alone(b, ROOMY, round, err);
    return status ? status : save_as_a_run(b, round, err);
}

/* -- all of them --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sum_up(bench *b, uint32_t rounds, tide_checkpoint_timing *parts)
{
    double gib = (double)b->bytes / 0x1p30;
    for (int i = 0; i < TIDE_CHECKPOINT_PARTS; i++) {
        qsort(b->wall[i], rounds, sizeof(double), compare);
        qsort(b->processor[i], rounds, sizeof(double), compare);
        parts[i] =
            (tide_checkpoint_timing){.name = names[i],
                                     .paused = i != ROOM && i != SAFE,
                                     .least = b->wall[i][0] / gib,
                                     .median = b->wall[i][rounds / 2] / gib,
                                     .most = b->wall[i][rounds - 1] / gib,
                                     .processor = b->processor[i][rounds / 2] / gib};
    }
}

static void fill(tide_trainer *trainer, const tide_params *params)
{
    char text[32];
    for (uint64_t i = 0; i < params->vocab; i++) {
        int length = snprintf(text, sizeof text, "w%llu", (unsigned long long)i);
        const tide_word word = {text, (uint32_t)length};
        tide_ingest_insert(tide_trainer_intake(trainer), &word, 1, 0);
    }
}

static int measure(bench *b, uint32_t rounds, tide_error *err)
{
    int status = TIDE_OK;
    for (uint32_t round = 0; round < rounds && !status; round++)
        status = measure_round(b, round, err);
    (void)unlink(b->path);
    return status;
}

int tide_bench_checkpoint(const tide_params *params, const char *path, uint32_t rounds,
                          tide_checkpoint_timing parts[TIDE_CHECKPOINT_PARTS],
                          uint64_t *bytes, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    if (!rounds || rounds > TIDE_CHECKPOINT_ROUNDS)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "there can be 1 to %d rounds",
                         TIDE_CHECKPOINT_ROUNDS);
    if (access(path, F_OK) == 0)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s is there already, and would not be afterwards", path);
    int status = TIDE_ERROR_MEMORY;
    bench *b = tide_alloc(1, sizeof *b);
    if (!b)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to measure");
    b->path = path;
    b->trainer = tide_trainer_new(params, err);
    b->keeper = b->trainer ? tide_checkpoint_writer_new(err) : NULL;
    if (b->keeper) {
        fill(b->trainer, tide_trainer_params(b->trainer));
        status = measure(b, rounds, err);
    } else {
        status = (int)err->status;
    }
    if (!status) {
        sum_up(b, rounds, parts);
        *bytes = b->bytes;
    }
    tide_checkpoint_writer_free(b->keeper);
    tide_trainer_free(b->trainer);
    free(b);
    return status;
}
