/* bench_checkpoint.c - measures for how long a checkpoint pauses training on this
 * machine.
 *
 * A model with a word in every slot is saved repeatedly in each of the possible ways:
 * by one thread into a new file, by one thread into a preallocated file, and by the
 * checkpoint writer as in a run (checkpoint_writer.c), broken down into its phases. The
 * results are seconds per GiB of the file. On a busy machine the minimum, and the CPU
 * time of the training thread, are the most reliable.
 */
#include "file/file.h"
#include "params/params.h"
#include "run/run.h"
#include "train/train.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NAN_CHECK, PLAIN, PREALLOCATED, PREALLOCATE, PAUSE, SAFE };

static const char *const names[TIDE_CHECKPOINT_PARTS] = {
    "check", "write", "preallocated", "preallocate", "pause", "commit"};

typedef struct bench {
    tide_trainer *trainer;
    tide_checkpoint_writer *writer;
    const char *path;
    uint64_t bytes;
    double wall[TIDE_CHECKPOINT_PARTS][TIDE_CHECKPOINT_ROUNDS];
    double cpu[TIDE_CHECKPOINT_PARTS][TIDE_CHECKPOINT_ROUNDS];
} bench;

typedef struct timestamp {
    double wall, cpu;
} timestamp;

static timestamp now(void)
{
    return (timestamp){tide_now_seconds(), tide_cpu_seconds()};
}

static void record_time(bench *b, int part, uint32_t round, timestamp start)
{
    timestamp end = now();
    b->wall[part][round] = end.wall - start.wall;
    b->cpu[part][round] = end.cpu - start.cpu;
}

/* -- one round -------------------------------------------------------------------- */

static void wait_for_writer(bench *b)
{
    while (tide_checkpoint_writer_busy(b->writer, 1000))
        continue;
}

/* Saves with one thread, into a new or a preallocated file. */
static int save_with_one_thread(bench *b, int part, uint32_t round, tide_error *err)
{
    tide_store_writer *writer = tide_store_create(b->path, err);
    if (!writer)
        return (int)err->status;
    if (part == PREALLOCATED)
        tide_store_preallocate(writer, b->bytes);
    timestamp start = now();
    b->bytes = tide_trainer_write(b->trainer, writer);
    record_time(b, part, round, start);
    tide_store_discard(writer);
    return TIDE_OK;
}

static int save_like_a_run(bench *b, uint32_t round, tide_error *err)
{
    tide_checkpoint_result result = {0};
    timestamp start = now();
    tide_store_writer *writer = tide_store_create(b->path, err);
    if (!writer)
        return (int)err->status;
    tide_checkpoint_writer_preallocate(b->writer, writer, b->bytes);
    wait_for_writer(b);
    record_time(b, PREALLOCATE, round, start);

    start = now();
    int status = tide_checkpoint_writer_start(b->writer, writer, err);
    if (status)
        return status;
    tide_trainer_write(b->trainer, writer);
    tide_checkpoint_writer_finish(b->writer, 0);
    record_time(b, PAUSE, round, start);

    start = now();
    wait_for_writer(b);
    record_time(b, SAFE, round, start);
    tide_checkpoint_writer_result(b->writer, &result);
    return result.status ? tide_fail(err, result.error.status, "%s", result.error.text)
                         : TIDE_OK;
}

static int measure_round(bench *b, uint32_t round, tide_error *err)
{
    timestamp start = now();
    tide_trainer_repair(b->trainer);
    record_time(b, NAN_CHECK, round, start);
    int status = save_with_one_thread(b, PLAIN, round, err);
    if (!status)
        status = save_with_one_thread(b, PREALLOCATED, round, err);
    return status ? status : save_like_a_run(b, round, err);
}

/* -- all rounds ------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(bench *b, uint32_t rounds, tide_checkpoint_timing *parts)
{
    double gib = (double)b->bytes / 0x1p30;
    for (int i = 0; i < TIDE_CHECKPOINT_PARTS; i++) {
        qsort(b->wall[i], rounds, sizeof(double), compare);
        qsort(b->cpu[i], rounds, sizeof(double), compare);
        parts[i] = (tide_checkpoint_timing){.name = names[i],
                                            .paused = i != PREALLOCATE && i != SAFE,
                                            .min = b->wall[i][0] / gib,
                                            .median = b->wall[i][rounds / 2] / gib,
                                            .max = b->wall[i][rounds - 1] / gib,
                                            .cpu = b->cpu[i][rounds / 2] / gib};
    }
}

static void fill_vocabulary(tide_trainer *trainer, const tide_params *params)
{
    char text[32];
    for (uint64_t i = 0; i < params->vocab; i++) {
        int length = snprintf(text, sizeof text, "w%llu", (unsigned long long)i);
        const tide_word word = {text, (uint32_t)length};
        tide_ingest_insert(tide_trainer_ingest(trainer), &word, 1, 0);
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
        return tide_fail(err, TIDE_ERROR_PARAMETER, "rounds must be between 1 and %d",
                         TIDE_CHECKPOINT_ROUNDS);
    if (access(path, F_OK) == 0)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s exists; refusing to overwrite it", path);
    int status = TIDE_ERROR_MEMORY;
    bench *b = tide_alloc(1, sizeof *b);
    if (!b)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the benchmark");
    b->path = path;
    b->trainer = tide_trainer_new(params, err);
    b->writer = b->trainer ? tide_checkpoint_writer_new(err) : NULL;
    if (b->writer) {
        fill_vocabulary(b->trainer, tide_trainer_params(b->trainer));
        status = measure(b, rounds, err);
    } else {
        status = (int)err->status;
    }
    if (!status) {
        summarize(b, rounds, parts);
        *bytes = b->bytes;
    }
    tide_checkpoint_writer_free(b->writer);
    tide_trainer_free(b->trainer);
    free(b);
    return status;
}
