/* cmd_embed.c - wordtide embed: one vector for each line of text. */
#include "commands.h"
#include "formats.h"
#include "lines.h"
#include "output.h"
#include "query_common.h"

#include "base/base.h"

#include <wordtide/tools.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT_TSV, FORMAT_JSON, FORMAT_NPY };

typedef struct job {
    query_context query;
    tide_embedder *embedder;
    float *vector; /* [dim] */
    int format;
    const char *output; /* NULL: standard output */
    tide_output *file;  /* becomes `output` when it is committed */
    int failed;         /* errno of the first write that failed; 0 */
    uint64_t lines, unknown;
} job;

/* -- output ------------------------------------------------------------------------ */

/* The header holds the number of rows, which is known only at the end. It has a fixed
 * size, so it is written at the start and overwritten at the end. */
static void print_npy_header(const job *j)
{
    char header[128];
    int used = snprintf(header, sizeof header,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64
                        ", %" PRIu32 "), }",
                        j->lines, tide_model_dim(j->query.model));
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, stdout);
    printf("%s%*s\n", header, 117 - used, "");
}

static void print_vector(const job *j, bool known)
{
    uint32_t dim = tide_model_dim(j->query.model);
    if (j->format == FORMAT_NPY) {
        fwrite(j->vector, sizeof *j->vector, dim, stdout);
    } else if (j->format == FORMAT_TSV) {
        for (uint32_t i = 0; i < dim && known; i++) {
            if (i)
                putchar('\t');
            print_float(j->vector[i]);
        }
        putchar('\n');
    } else {
        tide_json_writer w = {0};
        tide_json_object(&w, NULL);
        if (known)
            write_vector(&w, "vector", j->vector, dim);
        else
            tide_json_text(&w, "vector", NULL);
        tide_json_end(&w);
    }
}

/* Whether everything could be written so far; remembers the first error. */
static bool check_output(job *j)
{
    if (!j->failed && ferror(stdout))
        j->failed = errno ? errno : EIO;
    return output_ok();
}

/* The header of an npy file is overwritten at the end. */
static bool can_seek(void)
{
    struct stat status;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
           flags >= 0 && !(flags & O_APPEND);
}

/* Redirects standard output to a temporary file, which replaces the output when it is
 * complete. */
static int open_output(job *j)
{
    tide_error err;
    if (!j->output) {
        if (j->format == FORMAT_NPY && !can_seek())
            usage_error("embed", "npy needs a file; give one with -o");
        return EXIT_SUCCESS;
    }
    j->file = tide_output_create(j->output, &err);
    if (!j->file)
        return log_error(&err);
    if (freopen(tide_output_temporary(j->file), "w", stdout))
        return EXIT_SUCCESS;
    log_message("cannot write %s: %s", j->output, strerror(errno));
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
        log_message("cannot write %s: %s", j->output, strerror(j->failed));
        code = EXIT_FAILURE;
    }
    tide_error err;
    if (code != EXIT_SUCCESS)
        tide_output_discard(j->file);
    else if (tide_output_commit(j->file, &err) < 0)
        code = log_error(&err);
    return code;
}

/* -- input ------------------------------------------------------------------------- */

static void add_text(void *data, const char *text, size_t size)
{
    job *j = data;
    tide_embedder_add(j->embedder, text, size);
}

/* A line without known words has no vector: an empty line, null, or a row of NaN. */
static bool end_line(void *data)
{
    job *j = data;
    bool known = tide_embedder_end(j->embedder, j->vector) > 0;
    if (!known)
        for (uint32_t i = 0; i < tide_model_dim(j->query.model); i++)
            j->vector[i] = NAN;
    print_vector(j, known);
    j->lines++;
    j->unknown += !known;
    return check_output(j);
}

static int run(job *j, double a, char **names, int count)
{
    tide_error err;
    j->embedder = tide_embedder_new(j->query.view, a, &err);
    j->vector = calloc(tide_model_dim(j->query.model), sizeof *j->vector);
    if (!j->embedder || !j->vector)
        return j->embedder ? (log_message("out of memory"), EXIT_FAILURE)
                           : log_error(&err);
    int code = open_output(j);
    if (code != EXIT_SUCCESS)
        return code;
    /* Standard output may be a file that already has something in it. */
    off_t start = ftello(stdout);
    if (j->format == FORMAT_NPY)
        print_npy_header(j);
    line_reader reader = {add_text, end_line, j};
    code = read_lines(names, count, &reader);
    if (j->format == FORMAT_NPY && check_output(j)) {
        fseeko(stdout, start, SEEK_SET);
        print_npy_header(j);
        fseeko(stdout, 0, SEEK_END);
    }
    log_unknown_lines(j->unknown, j->lines);
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
         "write to this file, completely or not at all (default '-', standard output)"},
        {"format", 0, OPTION_CHOICE, &j.format, "tsv|json|npy",
         "tab-separated numbers, one object per line, or NumPy's format (default tsv)"},
        {"a", 0, OPTION_TEXT, &weight, "A",
         "weight words of frequency p by A/(A+p) (default 0.001); the larger, the more "
         "like a plain mean"},
        {"vectors", 0, OPTION_CHOICE, &which, VECTOR_CHOICES,
         "which vectors to use (default input)"},
        {"raw", 0, OPTION_FLAG, &raw, NULL,
         "do not subtract the mean vector of the frequent words"},
        {0},
    };
    const command_usage usage = {
        "embed",
        "embed [OPTION]... MODEL [FILE]...",
        "Prints one vector for each line of text: the mean of the vectors of its "
        "words, with lower weights for frequent words (SIF). Text is tokenized as in "
        "training; files may be compressed. A line without any known word gets an "
        "empty line, null or NaN.",
        options,
        "wordtide embed news.tide titles.txt > titles.tsv\n"
        "wordtide embed news.tide titles.txt --format npy -o titles.npy\n"
        "echo 'coffee and tea' | wordtide embed news.tide --format json\n",
        .min_operands = 1,
        .max_operands = -1,
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
    int code = query_open(&j.query, argv[0], which, !raw);
    if (code == EXIT_SUCCESS)
        code = run(&j, a, argv + 1, count - 1);
    code = close_output(&j, code);
    tide_embedder_free(j.embedder);
    free(j.vector);
    query_close(&j.query);
    return code;
}
