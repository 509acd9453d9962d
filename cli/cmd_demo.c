/* cmd_demo.c - wordtide demo: the invented news stream on standard output. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int write_truth(const char *path)
{
    bool standard = !strcmp(path, "-");
    FILE *out = standard ? stdout : fopen(path, "w");
    if (!out) {
        complain("cannot write %s: %s", path, strerror(errno));
        return EXIT_FAILURE;
    }
    tide_error err;
    int code = EXIT_SUCCESS;
    bool written = tide_demo_truth(out, &err) == TIDE_OK;
    if (!written && !(standard && !output_ok())) /* else finish_output knows better */
        code = report(&err);
    if (!standard && fclose(out) != 0 && code == EXIT_SUCCESS) {
        complain("cannot write %s: %s", path, strerror(errno));
        code = EXIT_FAILURE;
    }
    return code;
}

/* The same source that `wordtide train demo:` reads, so both are the same stream. */
static int write_stream(uint64_t seed, uint64_t tokens)
{
    char spec[96], bytes[16384];
    int length = snprintf(spec, sizeof spec, "demo:seed=%" PRIu64, seed);
    if (tokens)
        snprintf(spec + length, sizeof spec - (size_t)length, ",tokens=%" PRIu64,
                 tokens);
    tide_error err;
    tide_source *source = tide_source_open(spec, &err);
    if (!source)
        return report(&err);
    ptrdiff_t got = 0;
    while (output_ok() &&
           (got = tide_source_read(source, bytes, sizeof bytes, &err)) > 0)
        fwrite(bytes, 1, (size_t)got, stdout);
    tide_source_close(source);
    return got < 0 ? report(&err) : EXIT_SUCCESS;
}

int cmd_demo(int argc, char **argv)
{
    uint64_t seed = 1, tokens = 0;
    const char *truth = NULL;
    const option options[] = {
        {"seed", 0, OPTION_NUMBER, &seed, "N", "another stream (default 1)"},
        {"tokens", 0, OPTION_COUNT, &tokens, "N",
         "end after so many words, with the line (default: never)"},
        {"truth", 0, OPTION_TEXT, &truth, "FILE",
         "write what the stream's words mean to this file first; '-' prints that "
         "instead "
         "of the stream"},
        {0},
    };
    const command_usage usage = {
        "demo",
        "demo [OPTION]...",
        "Prints an endless invented news stream, a sentence a line, whose words have "
        "known "
        "groups and analogies. The same seed gives the same stream.",
        options,
        "wordtide demo | head\n"
        "wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
        "wordtide demo --truth -\n",
        .least = 0,
        .most = 0,
    };
    parse_options(argc, argv, &usage, NULL);
    int code = truth ? write_truth(truth) : EXIT_SUCCESS;
    if (code == EXIT_SUCCESS && !(truth && !strcmp(truth, "-")))
        code = write_stream(seed, tokens);
    return finish_output(code);
}
