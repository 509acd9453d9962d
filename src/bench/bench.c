/* bench.c - measures the speed of kernels, ingest and record parsing on this
 * machine. */
#include "params/params.h"
#include "reader/reader.h"
#include "sgns/sgns.h"
#include "source/source.h"
#include "train/train.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>
#include <time.h>

/* -- kernels ---------------------------------------------------------------------- */

/* The workload of a block of center words in profile fast: 16 contexts each, 20 words
 * around each group of four, and 20 negatives shared by all, from rows that fit the L2
 * cache; and queries against as many rows as there are negatives. */
enum { ROWS = 1024, NEGATIVES = 20, NEAR = 20, CONTEXTS = 16, BEST_OF = 5 };

typedef struct bench {
    tide_query_batch batch;
    float scores[NEGATIVES][TIDE_QUERY_BATCH] __attribute__((aligned(64)));
    const tide_kernels *k;
    tide_matrix rows;
    float *x, *gradients;
    float errors[NEGATIVES][TIDE_BLOCK], weights[NEGATIVES][TIDE_BLOCK];
    float near_errors[NEAR][TIDE_QUAD], sums[32], added[32], squares[32], rates[32];
    float *outputs[NEGATIVES];
    bool near[NEGATIVES];
} bench;

static void run_block_dots(bench *b)
{
    b->k->block_dots(b->x, b->outputs, NEGATIVES, b->rows.stride, b->errors);
}

static void run_errors(bench *b)
{
    b->k->errors(b->errors[0], b->weights[0], 0, NEGATIVES * TIDE_BLOCK);
}

static void run_adagrad(bench *b)
{
    tide_adagrad how = {.eta = 0.1f, .base = 0.1f, .scale = 1};
    b->k->quad_squares((const float(*)[TIDE_QUAD])b->near_errors, b->weights[0], NEAR,
                       b->squares);
    b->k->adagrad_partial(&how, b->sums, b->added, b->squares, NEAR, b->rates);
}

static void run_block_spread(bench *b)
{
    b->k->block_spread(b->x, b->outputs, (const float(*)[TIDE_BLOCK])b->errors,
                       b->rates, NEGATIVES, b->rows.stride, b->gradients);
}

static void run_quad_dots(bench *b)
{
    b->k->quad_dots(b->x, b->outputs, NEAR, b->rows.stride, b->near_errors);
}

static void run_quad_spread(bench *b)
{
    b->k->quad_spread(b->x, b->outputs, (const float(*)[TIDE_QUAD])b->near_errors,
                      b->rates, NEAR, b->rows.stride, b->gradients);
}

static void run_dots(bench *b)
{
    b->k->dots(b->x, b->outputs, CONTEXTS, b->rows.stride, b->errors[0]);
}

static void run_spread(bench *b)
{
    b->k->spread(b->x, b->outputs, b->errors[0], b->rates, CONTEXTS, b->rows.stride,
                 b->gradients);
}

static void run_block(bench *b)
{
    run_block_dots(b);
    run_errors(b);
    run_block_spread(b);
    for (int quad = 0; quad < TIDE_BLOCK; quad += TIDE_QUAD) {
        run_quad_dots(b);
        b->k->errors(b->near_errors[0], b->weights[0], NEAR * TIDE_QUAD,
                     NEAR * TIDE_QUAD);
        run_adagrad(b);
        run_quad_spread(b);
        for (int i = 0; i < TIDE_QUAD; i++)
            b->k->add(b->x, 1e-4f, b->gradients, b->rows.stride);
    }
}

static void run_cosines(bench *b)
{
    b->k->cosines(&b->batch, b->outputs, NEGATIVES, b->rows.stride, b->scores, b->near);
}

static const struct {
    const char *name;
    void (*run)(bench *b);
} operations[] = {
    {"block-dots", run_block_dots},
    {"block-spread", run_block_spread},
    {"errors", run_errors},
    {"adagrad", run_adagrad},
    {"quad-dots", run_quad_dots},
    {"quad-spread", run_quad_spread},
    {"dots", run_dots},
    {"spread", run_spread},
    {"block", run_block},
    {"cosines", run_cosines},
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void choose_rows(bench *b, tide_rng *rng)
{
    for (int j = 0; j < NEGATIVES; j++) {
        uint32_t row = (uint32_t)tide_rng_below(rng, ROWS);
        b->outputs[j] = tide_matrix_row(&b->rows, row);
    }
}

static double time_operation(bench *b, void (*run)(bench *b))
{
    enum { REPEATS = 2000 };
    double best = 1e9;
    for (int round = 0; round < BEST_OF; round++) {
        tide_rng rng = tide_rng_seeded(1);
        double start = tide_cpu_seconds();
        for (int i = 0; i < REPEATS; i++) {
            choose_rows(b, &rng);
            run(b);
        }
        double each = (tide_cpu_seconds() - start) / REPEATS;
        best = each < best ? each : best;
    }
    return best * 1e9;
}

static int prepare_bench(bench *b, uint32_t dim, tide_error *err)
{
    if (!dim || dim > TIDE_DIM_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "dim must be between 1 and %d",
                         TIDE_DIM_MAX);
    int status = tide_matrix_init(&b->rows, ROWS, dim, err);
    if (status)
        return status;
    b->x = tide_alloc(TIDE_QUERY_BATCH, b->rows.stride * sizeof(float));
    b->gradients = tide_alloc(TIDE_BLOCK, b->rows.stride * sizeof(float));
    if (!b->x || !b->gradients)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the benchmark");
    tide_rng rng = tide_rng_seeded(2);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t d = 0; d < dim; d++)
            tide_matrix_row(&b->rows, i)[d] = tide_rng_float(&rng) - 0.5f;
    for (uint32_t i = 0; i < TIDE_BLOCK; i++)
        for (uint32_t d = 0; d < dim; d++)
            b->x[i * b->rows.stride + d] = tide_rng_float(&rng) - 0.5f;
    b->batch = (tide_query_batch){.dim = dim, .vectors = b->x, .center = b->gradients};
    for (int j = 0; j < NEGATIVES; j++)
        for (int i = 0; i < TIDE_BLOCK; i++)
            b->weights[j][i] = 0.01f;
    return TIDE_OK;
}

int tide_bench_kernels(uint32_t dim, tide_timing *timings, size_t max, tide_error *err)
{
    bench *b = tide_alloc(1, sizeof *b);
    if (!b)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the benchmark");
    int count = prepare_bench(b, dim, err);
    bool supported;
    const tide_kernels *k;
    for (size_t set = 0; count >= 0 && (k = tide_kernels_at(set, &supported)); set++)
        for (int i = 0; i < OPERATIONS && (size_t)count < max; i++) {
            b->k = k;
            timings[count++] = (tide_timing){
                .set = k->name,
                .name = operations[i].name,
                .nanoseconds = supported ? time_operation(b, operations[i].run) : 0,
                .usable = supported,
                .chosen = k == tide_kernels_best(),
            };
        }
    free(b->gradients);
    free(b->x);
    tide_matrix_release(&b->rows);
    free(b);
    return count;
}

/* -- ingest ----------------------------------------------------------------------- */

/* An executor that trains nothing. */
typedef struct sink {
    tide_executor executor;
    double job_seconds; /* of jobs, which other threads would do */
    uint32_t slots[SENTENCE_MAX];
} sink;

static void drop_sentence(void *self, const tide_sentence *sentence)
{
    sink *k = self;
    memcpy(k->slots, sentence->slots, sentence->count * sizeof *k->slots);
}

static void run_job(void *self, void (*job)(void *data), void *data)
{
    double start = tide_cpu_seconds();
    job(data);
    ((sink *)self)->job_seconds += tide_cpu_seconds() - start;
}

/* What a stage consists of: a reader, or an ingest and where its sentences go. */
typedef struct stage {
    tide_reader *reader;
    const tide_vocabulary *vocabulary;
    tide_ingest *ingest;
    sink sink;
    double seconds;
} stage;

static void read_text(stage *s, const char *bytes, size_t size)
{
    enum { WORDS = 128 };
    tide_word words[WORDS];
    tide_key keys[WORDS];
    while (size) {
        size_t used = tide_reader_feed(s->reader, bytes, size), count;
        bool ended;
        bytes += used;
        size -= used;
        while ((count = tide_reader_next(s->reader, words, WORDS, &ended)) || ended)
            tide_vocabulary_keys(s->vocabulary, words, count, keys);
    }
}

static int run_stage(stage *s, const char *spec, bool *repeatable, tide_error *err)
{
    static const size_t block = 64 * 1024; /* as in a run */
    tide_source *source = tide_source_open(spec, err);
    char *bytes = source ? tide_alloc(block, 1) : NULL;
    ptrdiff_t size = TIDE_ERROR_IO;
    if (source && !bytes)
        size = tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read");
    if (bytes)
        *repeatable = tide_source_can_resume(source);
    while (bytes && (size = tide_source_read(source, bytes, block, err)) > 0) {
        double start = tide_cpu_seconds();
        if (s->reader)
            read_text(s, bytes, (size_t)size);
        else
            tide_ingest_feed(s->ingest, bytes, (size_t)size);
        s->seconds += tide_cpu_seconds() - start;
    }
    free(bytes);
    tide_source_close(source);
    return source || !err ? (int)size : (int)err->status;
}

/* One pass of the text through a stage; adds its nanoseconds per token. */
static int time_stage(const tide_params *params, int which, const char *spec,
                      double *nanoseconds, uint64_t *tokens, bool *repeatable,
                      tide_error *err)
{
    tide_params adjusted = *params;
    adjusted.replay = 1;
    adjusted.threads = which == TIDE_INGEST_COUNTING ? 2 : 1;
    stage *s = tide_alloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the benchmark");
    tide_trainer *trainer = tide_trainer_new(&adjusted, err);
    int status = err ? (int)err->status : TIDE_ERROR_IO;
    if (trainer && which == TIDE_INGEST_READING)
        s->reader = tide_reader_new(tide_trainer_params(trainer), NULL, err);
    if (trainer && (s->reader || which != TIDE_INGEST_READING)) {
        s->ingest = tide_trainer_ingest(trainer);
        s->vocabulary = tide_trainer_model(trainer)->vocabulary;
        s->sink.executor = tide_executor_inline(&s->sink, drop_sentence);
        if (which == TIDE_INGEST_COUNTING)
            s->sink.executor.run = run_job;
        tide_ingest_set_executor(s->ingest, s->sink.executor);
        status = run_stage(s, spec, repeatable, err);
        tide_ingest_end(s->ingest);
        if (which != TIDE_INGEST_READING)
            *tokens = tide_ingest_tokens(s->ingest);
        double seconds = s->seconds - s->sink.job_seconds;
        *nanoseconds = *tokens ? seconds * 1e9 / (double)*tokens : 0;
    }
    tide_reader_free(s->reader);
    tide_trainer_free(trainer);
    free(s);
    return status;
}

/* Takes the minimum of a few passes, since other load on the machine can only add to
 * it. A source that can be read only once is not divided into stages. */
int tide_bench_ingest(const tide_params *params, const char *spec,
                      double nanoseconds[TIDE_INGEST_STAGES], uint64_t *tokens,
                      tide_error *err)
{
    bool repeatable = false;
    int status = TIDE_OK;
    for (int which = 0; which < TIDE_INGEST_STAGES; which++)
        nanoseconds[which] = 0;
    for (int round = 0; (!round || repeatable) && round < BEST_OF && !status; round++)
        for (int which = 0; which < TIDE_INGEST_STAGES && !status; which++) {
            double each = 0;
            if (which && !repeatable)
                break;
            status = time_stage(params, which, spec, &each, tokens, &repeatable, err);
            if (!status && (!round || each < nanoseconds[which]))
                nanoseconds[which] = each;
        }
    nanoseconds[TIDE_INGEST_COUNTING] -= nanoseconds[TIDE_INGEST_READING];
    return status;
}

/* -- records ---------------------------------------------------------------------- */

/* Feeds a block and reads all texts. Returns CPU seconds. */
static double read_texts(tide_records *records, const char *bytes, size_t size)
{
    double start = tide_cpu_seconds();
    const char *text;
    size_t length;
    while (size) {
        size_t used = tide_records_feed(records, bytes, size);
        bytes += used;
        size -= used;
        while (tide_records_next(records, &text, &length))
            continue;
    }
    return tide_cpu_seconds() - start;
}

static int records_once(const tide_record_options *options, const char *spec,
                        double *seconds, uint64_t *bytes, uint64_t *count,
                        tide_error *err)
{
    static const size_t block = 256 * 1024;
    char *buffer = tide_alloc(block, 1);
    tide_records *records = buffer ? tide_records_new(options, err) : NULL;
    tide_source *source = records ? tide_source_open(spec, err) : NULL;
    int status = err ? (int)err->status : TIDE_ERROR_IO;
    if (source) {
        ptrdiff_t size;
        *seconds = 0;
        *bytes = 0;
        while ((size = tide_source_read(source, buffer, block, err)) > 0) {
            *seconds += read_texts(records, buffer, (size_t)size);
            *bytes += (uint64_t)size;
        }
        *count = tide_records_counted(records).records;
        status = (int)size;
    }
    tide_source_close(source);
    tide_records_free(records);
    free(buffer);
    return status;
}

int tide_bench_records(const tide_params *params, const char *spec,
                       double *bytes_per_second, uint64_t *records, tide_error *err)
{
    tide_record_options options = tide_params_records(params);
    if (options.kind == TIDE_RECORDS_LINES)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "records must be json, csv or tsv");
    *bytes_per_second = 0;
    int status = TIDE_OK;
    for (int round = 0; round < BEST_OF && !status; round++) {
        double seconds = 0;
        uint64_t bytes = 0;
        status = records_once(&options, spec, &seconds, &bytes, records, err);
        double rate = !status && seconds > 0 ? (double)bytes / seconds : 0;
        *bytes_per_second = rate > *bytes_per_second ? rate : *bytes_per_second;
    }
    return status;
}
