/* cmd_demo.c - wordtide demo: the invented news stream on standard output. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct wishes {
    uint64_t seed, tokens, until, rate;
    const char *truth, *pace;
    bool hashtags, events;
} wishes;

enum { UNTIL = 10000000, SPEC_ROOM = 256 };

/* The same source that `wordtide train demo:` reads, so both are the same stream. */
static void name_source(const wishes *w, char spec[SPEC_ROOM])
{
    int length = snprintf(spec, SPEC_ROOM,
                          "demo:seed=%" PRIu64 ",tokens=%" PRIu64 ",rate=%" PRIu64
                          ",hashtags=%d,events=%d",
                          w->seed, w->tokens, w->rate, w->hashtags, w->events);
    if (w->pace)
        snprintf(spec + length, SPEC_ROOM - (size_t)length, ",pace=%s", w->pace);
}

static void write_event(void *data, const tide_demo_event *e)
{
    fprintf(data, "event\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%.4f\t%.4f\t%.4f\n",
            e->kind, e->word, e->from, e->to, e->before ? e->before : "-",
            e->after ? e->after : "-", e->share_before, e->share_during,
            e->share_after);
}

static int write_facts(const wishes *w, const char *spec, FILE *out)
{
    tide_error err;
    uint64_t until = w->until ? w->until : w->tokens ? w->tokens : UNTIL;
    if (tide_demo_truth(out, &err) == TIDE_OK &&
        tide_demo_events(spec, 0, until, write_event, out, &err) == TIDE_OK)
        return EXIT_SUCCESS;
    return out == stdout && !output_ok() ? EXIT_SUCCESS /* finish_output knows better */
                                         : report(&err);
}

static int write_truth(const wishes *w, const char *spec)
{
    if (!strcmp(w->truth, "-"))
        return write_facts(w, spec, stdout);
    tide_error err;
    if (tide_path_not_model(w->truth, &err))
        return report(&err);
    FILE *out = fopen(w->truth, "w");
    if (!out) {
        complain("cannot write %s: %s", w->truth, strerror(errno));
        return EXIT_FAILURE;
    }
    int code = write_facts(w, spec, out);
    bool failed = ferror(out) != 0;
    if ((fclose(out) != 0 || failed) && code == EXIT_SUCCESS) {
        complain("cannot write %s: %s", w->truth, strerror(errno));
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
        return report(&err);
    ptrdiff_t got = 0;
    while (output_ok() &&
           (got = tide_source_read(source, bytes, sizeof bytes, &err)) > 0) {
        fwrite(bytes, 1, (size_t)got, stdout);
        fflush(stdout);
    }
    tide_source_close(source);
    return got < 0 ? report(&err) : EXIT_SUCCESS;
}

int cmd_demo(int argc, char **argv)
{
    wishes w = {.seed = 1};
    const option options[] = {
        {"seed", 0, OPTION_NUMBER, &w.seed, "N", "another stream (default 1)"},
        {"tokens", 0, OPTION_COUNT, &w.tokens, "N",
         "end after so many words, with the line (default: never)"},
        {"rate", 0, OPTION_COUNT, &w.rate, "N",
         "so many words a second (default: as fast as they are read)"},
        {"hashtags", 0, OPTION_FLAG, &w.hashtags, NULL,
         "end every line with a hashtag that says what it is about"},
        {"events", 0, OPTION_FLAG, &w.events, NULL,
         "words are born, fade, change their meaning and burst, topics have seasons"},
        {"pace", 0, OPTION_TEXT, &w.pace, "X",
         "of the events, 0.01 to 100 (default 1: at 2,000 words a second something "
         "happens every minute)"},
        {"truth", 0, OPTION_TEXT, &w.truth, "FILE",
         "write what the stream's words mean and what happens to this file first; '-' "
         "prints that instead of the stream"},
        {"until", 0, OPTION_COUNT, &w.until, "N",
         "what happens in the first N words (default: those of --tokens, or 1e7)"},
        {0},
    };
    const command_usage usage = {
        "demo",
        "demo [OPTION]...",
        "Prints an endless invented news stream, a sentence a line, whose words have "
        "known groups and analogies, and to whose words things happen at known times. "
        "The same seed gives the same stream.",
        options,
        "wordtide demo | head\n"
        "wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
        "wordtide demo --hashtags --tokens 1e6 | wordtide labels train -o posts.tide\n"
        "wordtide demo --truth -\n"
        "wordtide demo --events --rate 2000\n"
        "wordtide demo --events --tokens 5e6 --truth - | grep ^event\n",
        .least = 0,
        .most = 0,
    };
    parse_options(argc, argv, &usage, NULL);
    char spec[SPEC_ROOM];
    name_source(&w, spec);
    int code = w.truth ? write_truth(&w, spec) : EXIT_SUCCESS;
    if (code == EXIT_SUCCESS && !(w.truth && !strcmp(w.truth, "-")))
        code = write_stream(spec);
    return finish_output(code);
}
