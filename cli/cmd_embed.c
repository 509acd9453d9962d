/* cmd_embed.c - wordtide embed: one vector for each line of text. */
#include "asking.h"
#include "commands.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TSV, JSON, NPY };

typedef struct job {
    asking ask;
    tide_embedder *embedder;
    float *vector; /* [dim] */
    int format;
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

/* A line of which no word is known has no vector: an empty line, null, or a row of
 * NaN. */
static int embed_line(job *j, const char *line, size_t size)
{
    tide_error err;
    int known = tide_embedder_text(j->embedder, line, size, j->vector, &err);
    if (known < 0)
        return report(&err);
    if (!known)
        for (uint32_t i = 0; i < tide_model_dim(j->ask.model); i++)
            j->vector[i] = NAN;
    print_vector(j, known > 0);
    j->lines++;
    j->unknown += !known;
    return EXIT_SUCCESS;
}

static int embed_file(job *j, FILE *file, const char *name)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    int code = EXIT_SUCCESS;
    while (code == EXIT_SUCCESS && output_ok() &&
           (size = getline(&line, &room, file)) >= 0)
        code = embed_line(j, line, (size_t)size);
    if (ferror(file)) {
        complain("cannot read %s", name);
        code = EXIT_FAILURE;
    }
    free(line);
    return code;
}

static int embed_files(job *j, char **names, int count)
{
    int code = count ? EXIT_SUCCESS : embed_file(j, stdin, "standard input");
    for (int i = 0; i < count && code == EXIT_SUCCESS; i++) {
        FILE *file = strcmp(names[i], "-") ? fopen(names[i], "r") : stdin;
        if (!file) {
            complain("cannot read %s", names[i]);
            return EXIT_FAILURE;
        }
        code = embed_file(j, file, names[i]);
        if (file != stdin)
            fclose(file);
    }
    return code;
}

static int run(job *j, double a, const char *output, char **names, int count)
{
    tide_error err;
    j->embedder = tide_embedder_new(j->ask.model, j->ask.space, a, &err);
    j->vector = calloc(tide_model_dim(j->ask.model), sizeof *j->vector);
    if (!j->embedder || !j->vector)
        return j->embedder ? (complain("out of memory"), EXIT_FAILURE) : report(&err);
    if (output && !freopen(output, "w", stdout)) {
        complain("cannot write %s", output);
        return EXIT_FAILURE;
    }
    bool counted = j->format == NPY;
    if (counted && fseek(stdout, 0, SEEK_CUR) != 0)
        usage_error("embed", "npy needs a file: give it with -o");
    if (counted)
        print_npy_header(j);
    int code = embed_files(j, names, count);
    if (counted) {
        fseek(stdout, 0, SEEK_SET);
        print_npy_header(j);
    }
    if (j->unknown)
        complain("%" PRIu64 " of %" PRIu64 " lines have no word that is known",
                 j->unknown, j->lines);
    return code;
}

int cmd_embed(int argc, char **argv)
{
    job j = {0};
    int which = TIDE_VECTORS_INPUT;
    bool raw = false;
    const char *output = NULL, *weight = "0.001";
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "FILE",
         "where to write (default: standard output)"},
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
        "training. A line without any known word gets an empty line, null or NaN.",
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
    int code = asking_open(&j.ask, argv[0], which, !raw);
    if (code == EXIT_SUCCESS)
        code = run(&j, a, output, argv + 1, count - 1);
    tide_embedder_free(j.embedder);
    free(j.vector);
    asking_close(&j.ask);
    return finish_output(code);
}
