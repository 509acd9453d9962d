/* cmd_demo.c - wordtide demo: prints a synthetic news stream. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include <wordtide/tools.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct demo_options {
    uint64_t seed, tokens, until, rate;
    const char *truth, *pace;
    bool hashtags, events;
} demo_options;

enum { UNTIL_DEFAULT = 10000000, SPEC_SIZE = 256 };

/* Formats the name of a source, as in `wordtide train demo:`, so that both are the same
 * stream. */
static void format_spec(const demo_options *demo, char spec[SPEC_SIZE])
{
    int length =
        snprintf(spec, SPEC_SIZE,
                 "demo:seed=%" PRIu64 ",tokens=%" PRIu64 ",rate=%" PRIu64
                 ",hashtags=%d,events=%d",
                 demo->seed, demo->tokens, demo->rate, demo->hashtags, demo->events);
    if (demo->pace)
        snprintf(spec + length, SPEC_SIZE - (size_t)length, ",pace=%s", demo->pace);
}

static void write_event(void *data, const tide_demo_event *e)
{
    fprintf(data, "event\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%.4f\t%.4f\t%.4f\n",
            e->kind, e->word, e->from, e->to, e->before ? e->before : "-",
            e->after ? e->after : "-", e->share_before, e->share_during,
            e->share_after);
}

static int write_facts(const demo_options *demo, const char *spec, FILE *out)
{
    tide_error err;
    uint64_t until = demo->until    ? demo->until
                     : demo->tokens ? demo->tokens
                                    : UNTIL_DEFAULT;
    if (tide_demo_truth(out, &err) == TIDE_OK &&
        tide_demo_events(spec, 0, until, write_event, out, &err) == TIDE_OK)
        return EXIT_SUCCESS;
    return out == stdout && !output_ok() ? EXIT_SUCCESS /* finish_output reports it */
                                         : log_error(&err);
}

static int write_truth(const demo_options *demo, const char *spec)
{
    if (!strcmp(demo->truth, "-"))
        return write_facts(demo, spec, stdout);
    tide_error err;
    if (tide_path_not_model(demo->truth, &err))
        return log_error(&err);
    FILE *out = fopen(demo->truth, "w");
    if (!out) {
        log_message("cannot write %s: %s", demo->truth, strerror(errno));
        return EXIT_FAILURE;
    }
    int code = write_facts(demo, spec, out);
    bool failed = ferror(out) != 0;
    if ((fclose(out) != 0 || failed) && code == EXIT_SUCCESS) {
        log_message("cannot write %s: %s", demo->truth, strerror(errno));
        code = EXIT_FAILURE;
    }
    return code;
}

static int write_stream(const char *spec)
{
    char bytes[16384];
    tide_error err;
    tide_source *source = tide_source_open(spec, &err);
    if (!source)
        return log_error(&err);
    ptrdiff_t got = 0;
    while (output_ok() &&
           (got = tide_source_read(source, bytes, sizeof bytes, &err)) > 0) {
        fwrite(bytes, 1, (size_t)got, stdout);
        fflush(stdout); /* with --rate, lines must arrive when they are due */
    }
    tide_source_close(source);
    return got < 0 ? log_error(&err) : EXIT_SUCCESS;
}

int cmd_demo(int argc, char **argv)
{
    demo_options demo = {.seed = 1};
    const option options[] = {
        {"seed", 0, OPTION_NUMBER, &demo.seed, "N", "seed of the stream (default 1)"},
        {"tokens", 0, OPTION_COUNT, &demo.tokens, "N",
         "stop after N words, at the end of the line (default: never)"},
        {"rate", 0, OPTION_COUNT, &demo.rate, "N",
         "print N words/s (default: as fast as they are read)"},
        {"hashtags", 0, OPTION_FLAG, &demo.hashtags, NULL,
         "end every line with a hashtag that names its topic"},
        {"events", 0, OPTION_FLAG, &demo.events, NULL,
         "let words appear, fade, change their meaning and burst, and topics have "
         "seasons"},
        {"pace", 0, OPTION_TEXT, &demo.pace, "X",
         "pace of the events, 0.01 to 100 (default 1: about one per minute at 2,000 "
         "words/s)"},
        {"truth", 0, OPTION_TEXT, &demo.truth, "FILE",
         "first write the ground truth to this file: what the words mean, and all "
         "events; '-' prints it instead of the stream"},
        {"until", 0, OPTION_COUNT, &demo.until, "N",
         "with --truth: events in the first N words (default: --tokens, or 1e7)"},
        {0},
    };
    const command_usage usage = {
        "demo",
        "demo [OPTION]...",
        "Prints an endless synthetic news stream, one sentence per line. Its words "
        "have known groups and analogies, and change at known times. The same seed "
        "gives the same stream.",
        options,
        "wordtide demo | head\n"
        "wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
        "wordtide demo --hashtags --tokens 1e6 | wordtide labels train -o posts.tide\n"
        "wordtide demo --truth -\n"
        "wordtide demo --events --rate 2000\n"
        "wordtide demo --events --tokens 5e6 --truth - | grep ^event\n",
        .min_operands = 0,
        .max_operands = 0,
    };
    parse_options(argc, argv, &usage, NULL);
    char spec[SPEC_SIZE];
    format_spec(&demo, spec);
    int code = demo.truth ? write_truth(&demo, spec) : EXIT_SUCCESS;
    if (code == EXIT_SUCCESS && !(demo.truth && !strcmp(demo.truth, "-")))
        code = write_stream(spec);
    return finish_output(code);
}
