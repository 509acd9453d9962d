/* cmd_bench.c - wordtide bench: times kernels, text processing and checkpoints on this
 * machine. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include "base/base.h"

#include <wordtide/tools.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_timing(const tide_timing *timing, bool json)
{
    const char *state = timing->chosen   ? "chosen"
                        : timing->usable ? "usable"
                                         : "unsupported";
    if (!json) {
        printf("%-10s %-18s", timing->set, timing->name);
        if (timing->usable)
            printf("%10.2f ns  %s\n", timing->nanoseconds, state);
        else
            printf("%10s     %s\n", "-", state);
        return;
    }
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_text(&w, "set", timing->set);
    tide_json_text(&w, "name", timing->name);
    if (timing->usable)
        tide_json_real(&w, "nanoseconds", timing->nanoseconds, 3);
    tide_json_bool(&w, "usable", timing->usable);
    tide_json_bool(&w, "chosen", timing->chosen);
    tide_json_end(&w);
}

static int bench_kernels(const tide_params *params, bool json)
{
    enum { TIMINGS_MAX = 128 };
    char dim[32] = "";
    tide_timing timings[TIMINGS_MAX];
    tide_error err;
    tide_params_text(params, "dim", dim, sizeof dim);
    int count = tide_bench_kernels((uint32_t)strtoul(dim, NULL, 10), timings,
                                   TIMINGS_MAX, &err);
    for (int i = 0; i < count; i++)
        print_timing(&timings[i], json);
    return count < 0 ? log_error(&err) : EXIT_SUCCESS;
}

static int bench_ingest(const tide_params *params, const char *source, bool json)
{
    tide_error err;
    double nanoseconds[TIDE_INGEST_STAGES];
    uint64_t tokens;
    if (tide_bench_ingest(params, source, nanoseconds, &tokens, &err) < 0)
        return log_error(&err);
    if (!json) {
        printf("%.2f ns/token, %" PRIu64 " tokens\n", nanoseconds[TIDE_INGEST_ALL],
               tokens);
        if (nanoseconds[TIDE_INGEST_READING] > 0)
            printf("with several threads: %.2f reading, %.2f counting\n",
                   nanoseconds[TIDE_INGEST_READING], nanoseconds[TIDE_INGEST_COUNTING]);
        return EXIT_SUCCESS;
    }
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_count(&w, "tokens", tokens);
    tide_json_real(&w, "nanoseconds", nanoseconds[TIDE_INGEST_ALL], 3);
    if (nanoseconds[TIDE_INGEST_READING] > 0) {
        tide_json_real(&w, "reading", nanoseconds[TIDE_INGEST_READING], 3);
        tide_json_real(&w, "counting", nanoseconds[TIDE_INGEST_COUNTING], 3);
    }
    tide_json_end(&w);
    return EXIT_SUCCESS;
}

static int bench_records(const tide_params *params, const char *source, bool json)
{
    tide_error err;
    double rate;
    uint64_t records;
    if (tide_bench_records(params, source, &rate, &records, &err) < 0)
        return log_error(&err);
    if (!json) {
        printf("%.0f MB/s, %" PRIu64 " records\n", rate / 1e6, records);
        return EXIT_SUCCESS;
    }
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_count(&w, "records", records);
    tide_json_real(&w, "bytes_per_second", rate, 0);
    tide_json_end(&w);
    return EXIT_SUCCESS;
}

static void print_checkpoint_part(const tide_checkpoint_timing *part, bool json)
{
    if (!json) {
        printf("%-12s %-10s %7.3f %7.3f %7.3f %9.3f\n", part->name,
               part->paused ? "paused" : "background", part->min, part->median,
               part->max, part->cpu);
        return;
    }
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_text(&w, "part", part->name);
    tide_json_bool(&w, "paused", part->paused);
    tide_json_real(&w, "least", part->min, 4);
    tide_json_real(&w, "median", part->median, 4);
    tide_json_real(&w, "most", part->max, 4);
    tide_json_real(&w, "processor", part->cpu, 4);
    tide_json_end(&w);
}

static int bench_checkpoint(const tide_params *params, const char *path,
                            uint64_t rounds, bool json)
{
    tide_error err;
    tide_checkpoint_timing parts[TIDE_CHECKPOINT_PARTS];
    uint64_t bytes;
    rounds = rounds < UINT32_MAX ? rounds : UINT32_MAX;
    if (tide_bench_checkpoint(params, path, (uint32_t)rounds, parts, &bytes, &err) < 0)
        return log_error(&err);
    if (!json)
        printf("%.1f MiB, seconds per GiB:\n%23s %7s %7s %7s %9s\n",
               (double)bytes / 0x1p20, "", "min", "median", "max", "processor");
    for (int i = 0; i < TIDE_CHECKPOINT_PARTS; i++)
        print_checkpoint_part(&parts[i], json);
    return EXIT_SUCCESS;
}

int cmd_bench(int argc, char **argv)
{
    bool json = false;
    uint64_t rounds = 11;
    settings typed;
    const option options[] = {
        {"rounds", 0, OPTION_COUNT, &rounds, "N", "write N checkpoints (default 11)"},
        {"json", 0, OPTION_FLAG, &json, NULL, "print JSON, one object per line"},
        {0},
    };
    const command_usage usage = {
        "bench",
        "bench [OPTION]... kernels|ingest|records|checkpoint [SOURCE|FILE]",
        "Times one of: the vector kernels of every instruction set; ingest, the time "
        "from a source through tokenizer, vocabulary and subsampling per word, on one "
        "thread, and with several the parts of the thread that reads and of the one "
        "that counts (default source: a million words of the demo); records, the "
        "extraction of texts from "
        "the records of a file; checkpoint, how long checkpoints written to a new FILE "
        "pause training. The command takes the parameters of train, such as --dim and "
        "--vocab.",
        options,
        "wordtide bench kernels --dim 100\n"
        "wordtide bench ingest --vocab 70000 news.txt\n"
        "wordtide bench records --records json --text body posts.jsonl\n"
        "wordtide bench checkpoint --vocab 1e6 --dim 100 /var/lib/wordtide/new.tide\n",
        .parameters = true,
        .min_operands = 1,
        .max_operands = 2,
    };
    int count = parse_options(argc, argv, &usage, &typed);
    bool kernels = !strcmp(argv[0], "kernels"), records = !strcmp(argv[0], "records"),
         checkpoint = !strcmp(argv[0], "checkpoint");
    if (!kernels && !records && !checkpoint && strcmp(argv[0], "ingest") != 0)
        usage_error(
            "bench",
            "unknown benchmark '%s'; use kernels, ingest, records or checkpoint",
            argv[0]);
    if ((records || checkpoint) && count < 2)
        usage_error("bench", "%s needs a file", argv[0]);
    if (kernels && count == 2)
        usage_error("bench", "kernels takes no source: '%s'", argv[1]);
    tide_params *params = settings_params(&typed, "bench");
    int code = EXIT_FAILURE;
    if (params)
        code =
            kernels   ? bench_kernels(params, json)
            : records ? bench_records(params, argv[1], json)
            : checkpoint
                ? bench_checkpoint(params, argv[1], rounds, json)
                : bench_ingest(params, count == 2 ? argv[1] : "demo:tokens=1e6", json);
    tide_params_free(params);
    settings_free(&typed);
    return finish_output(code);
}
