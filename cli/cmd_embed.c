/* cmd_embed.c - wordtide embed: one vector for each line of text. */
#include "asking.h"
#include "commands.h"
#include "formats.h"
#include "lines.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TSV, JSON, NPY };

typedef struct job {
    asking ask;
    tide_embedder *embedder;
    float *vector; /* [dim] */
    int format;
    const char *output; /* NULL: standard output */
    tide_output *file;  /* of the output, in the making */
    int failed;         /* errno of the first write that failed; 0 */
    uint64_t lines, unknown;
} job;

/* -- output ------------------------------------------------------------------------ */

static void print_numbers(const job *j, char separator)
{
    for (uint32_t i = 0; i < tide_model_dim(j->ask.model); i++) {
        if (i)
            putchar(separator);
        print_float(j->vector[i]);
    }
}

/* The header says how many rows follow, which is known at the end. So it is written
 * first with the room that any number needs, and once more then. */
static void print_npy_header(const job *j)
{
    char header[128];
    int used = snprintf(header, sizeof header,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64
                        ", %" PRIu32 "), }",
                        j->lines, tide_model_dim(j->ask.model));
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, stdout);
    printf("%s%*s\n", header, 117 - used, "");
}

static void print_vector(const job *j, bool known)
{
    if (j->format == NPY) {
        fwrite(j->vector, sizeof *j->vector, tide_model_dim(j->ask.model), stdout);
    } else if (j->format == TSV) {
        if (known)
            print_numbers(j, '\t');
        putchar('\n');
    } else {
        fputs("{\"vector\":", stdout);
        putchar(known ? '[' : 'n');
        if (known)
            print_numbers(j, ',');
        puts(known ? "]}" : "ull}");
    }
}

/* Whether all could be written so far. */
static bool writes(job *j)
{
    if (!j->failed && ferror(stdout))
        j->failed = errno ? errno : EIO;
    return output_ok();
}

/* The header of npy is written again at the end, so it must be possible to go back. */
static bool can_go_back(void)
{
    struct stat status;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
           flags >= 0 && !(flags & O_APPEND);
}

/* A file is written under another name until it is complete; everything is printed to
 * standard output, which then leads there. */
static int open_output(job *j)
{
    tide_error err;
    if (!j->output) {
        if (j->format == NPY && !can_go_back())
            usage_error("embed", "npy needs a file: give it with -o");
        return EXIT_SUCCESS;
    }
    j->file = tide_output_create(j->output, &err);
    if (!j->file)
        return report(&err);
    if (freopen(tide_output_temporary(j->file), "w", stdout))
        return EXIT_SUCCESS;
    complain("cannot write %s: %s", j->output, strerror(errno));
    return EXIT_FAILURE;
}

static int close_output(job *j, int code)
{
    if (!j->file)
        return finish_output(code);
    errno = 0;
    bool flushed = fflush(stdout) == 0;
    if (!flushed && !j->failed)
        j->failed = errno;
    if (j->failed) {
        complain("cannot write %s: %s", j->output, strerror(j->failed));
        code = EXIT_FAILURE;
    }
    tide_error err;
    if (code != EXIT_SUCCESS)
        tide_output_discard(j->file);
    else if (tide_output_commit(j->file, &err) < 0)
        code = report(&err);
    return code;
}

/* -- input ------------------------------------------------------------------------- */

static void add_text(void *data, const char *text, size_t size)
{
    job *j = data;
    tide_embedder_add(j->embedder, text, size);
}

/* A line of which no word is known has no vector: an empty line, null, or a row of
 * NaN. */
static bool end_line(void *data)
{
    job *j = data;
    bool known = tide_embedder_end(j->embedder, j->vector) > 0;
    if (!known)
        for (uint32_t i = 0; i < tide_model_dim(j->ask.model); i++)
            j->vector[i] = NAN;
    print_vector(j, known);
    j->lines++;
    j->unknown += !known;
    return writes(j);
}

static int run(job *j, double a, char **names, int count)
{
    tide_error err;
    j->embedder = tide_embedder_new(j->ask.space, a, &err);
    j->vector = calloc(tide_model_dim(j->ask.model), sizeof *j->vector);
    if (!j->embedder || !j->vector)
        return j->embedder ? (complain("out of memory"), EXIT_FAILURE) : report(&err);
    int code = open_output(j);
    if (code != EXIT_SUCCESS)
        return code;
    off_t start = ftello(stdout);
    if (j->format == NPY)
        print_npy_header(j);
    line_taker taker = {add_text, end_line, j};
    code = read_lines(names, count, &taker);
    if (j->format == NPY && writes(j)) {
        fseeko(stdout, start, SEEK_SET);
        print_npy_header(j);
        fseeko(stdout, 0, SEEK_END);
    }
    note_unknown_lines(j->unknown, j->lines);
    return code;
}

int cmd_embed(int argc, char **argv)
{
    job j = {0};
    int which = TIDE_VECTORS_INPUT;
    bool raw = false;
    const char *weight = "0.001";
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &j.output, "FILE",
         "where to write, complete or not at all; '-', and the default, is standard "
         "output"},
        {"format", 0, OPTION_CHOICE, &j.format, "tsv|json|npy",
         "numbers between tabs, an object a line, or numpy's (default tsv)"},
        {"a", 0, OPTION_TEXT, &weight, "A",
         "a word of frequency p weighs A/(A+p) (default 0.001); larger: more like a "
         "plain mean"},
        {"vectors", 0, OPTION_CHOICE, &which, VECTOR_CHOICES,
         "which vectors to use (default input)"},
        {"raw", 0, OPTION_FLAG, &raw, NULL,
         "do not subtract the mean vector of the frequent words"},
        {0},
    };
    const command_usage usage = {
        "embed",
        "embed [OPTION]... MODEL [FILE]...",
        "Prints one vector for each line of text: the mean of its words' vectors, "
        "frequent words weighing less (SIF). Text falls into words as it did in "
        "training; files may be compressed. A line without any known word gets an "
        "empty line, null or NaN.",
        options,
        "wordtide embed news.tide titles.txt > titles.tsv\n"
        "wordtide embed news.tide titles.txt --format npy -o titles.npy\n"
        "echo 'coffee and tea' | wordtide embed news.tide --format json\n",
        .least = 1,
        .most = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    char *end;
    double a = strtod(weight, &end);
    if (*end || end == weight || !(a > 0))
        usage_error("embed", "--a '%s' is not a number above 0", weight);
    if (j.output && !strcmp(j.output, "-"))
        j.output = NULL;
    for (int i = 0; i < count && j.output; i++)
        check_distinct("embed", argv[i], j.output);
    int code = asking_open(&j.ask, argv[0], which, !raw);
    if (code == EXIT_SUCCESS)
        code = run(&j, a, argv + 1, count - 1);
    code = close_output(&j, code);
    tide_embedder_free(j.embedder);
    free(j.vector);
    asking_close(&j.ask);
    return code;
}
