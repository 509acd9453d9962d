/* cmd_export.c - wordtide export: writes vectors in other formats. */
#include "commands.h"
#include "formats.h"
#include "output.h"
#include "query_common.h"

#include <wordtide/formats.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without --format, the suffix of the path selects it. */
static const char *const suffixes[][2] = {
    {".vec", "word2vec"},
    {".txt", "word2vec"},
    {".bin", "word2vec-binary"},
    {".npy", "npy"},
    {".safetensors", "safetensors"},
    {".sqlite", "sqlite"},
    {".db", "sqlite"},
};

enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

static const char *guess_format(const char *path)
{
    for (size_t i = 0; i < SUFFIXES; i++) {
        size_t length = strlen(path), suffix = strlen(suffixes[i][0]);
        if (length > suffix && !strcmp(path + length - suffix, suffixes[i][0]))
            return suffixes[i][1];
    }
    if (!strcmp(path, "-"))
        usage_error("export", "standard output needs --format");
    usage_error("export", "cannot tell the format from '%s'; add --format", path);
}

static void describe_formats(char *text, size_t size)
{
    size_t at =
        (size_t)snprintf(text, size, "the format (default: by the suffix of OUT):");
    for (size_t i = 0; i < SUFFIXES && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, " %s %s%s", suffixes[i][0],
                               suffixes[i][1], i + 1 < SUFFIXES ? "," : ". Formats:");
    list_formats(FORMAT_WRITE, text, size);
}

/* An open file, a pipe or a device cannot be replaced by a new file. */
static void check_path(const char *path)
{
    static const char *const open_files[] = {"/dev/std", "/dev/fd/", "/proc/"};
    struct stat status;
    /* A link such as /dev/stdout may lead to a regular file, which is open and would
     * not be replaced. So those are recognized by their names. */
    bool unusable = stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
                    !S_ISDIR(status.st_mode);
    for (size_t i = 0; i < sizeof open_files / sizeof *open_files; i++)
        unusable = unusable || !strncmp(path, open_files[i], strlen(open_files[i]));
    if (unusable && strcmp(path, "-") != 0)
        usage_error("export",
                    "%s is not a regular file; '-o -' writes to standard output", path);
}

/* It is no failure if the reader of a pipe has closed it. */
static int export_model(const tide_model *model, const tide_export *how,
                        const char *path)
{
    tide_error err;
    tide_exported done;
    if (tide_model_export(model, how, path, &done, &err)) {
        if (!strcmp(path, "-") && err.status == TIDE_ERROR_IO && errno == EPIPE)
            return EXIT_SUCCESS;
        return log_error(&err);
    }
    char left_out[80] = "";
    if (done.left_out)
        snprintf(left_out, sizeof left_out,
                 "; %" PRIu64 " left out that the format cannot represent",
                 done.left_out);
    log_message("%" PRIu64 " words written%s", done.words, left_out);
    return EXIT_SUCCESS;
}

int cmd_export(int argc, char **argv)
{
    char formats[2048];
    tide_export how = {0};
    const char *path = "-";
    int vectors = TIDE_VECTORS_INPUT;
    uint64_t top = 0;
    describe_formats(formats, sizeof formats);
    const option options[] = {
        {"format", 'f', OPTION_TEXT, &how.format, "NAME", formats},
        {"output", 'o', OPTION_TEXT, &path, "OUT",
         "write to this file (default '-', standard output, for formats of one file)"},
        {"top", 0, OPTION_COUNT, &top, "N", "write only the N most frequent words"},
        {"vectors", 0, OPTION_CHOICE, &vectors, VECTOR_CHOICES,
         "which vectors to write (default input)"},
        {"center", 0, OPTION_FLAG, &how.centered, NULL,
         "subtract the mean vector of the frequent words, as nearest does"},
        {"dtype", 0, OPTION_TEXT, &how.dtype, "NAME",
         "f32; for npy and safetensors also f16 or i8 (default f32)"},
        {0},
    };
    const command_usage usage = {
        "export",
        "export [OPTION]... MODEL [-o OUT]",
        "Writes the words and their vectors by descending count for other programs. A "
        "file is replaced completely or not at all. Words that a format cannot "
        "represent are left out and counted. MODEL may be any file of vectors.",
        options,
        "wordtide export news.tide -o news.vec\n"
        "wordtide export news.tide -o news.npy --dtype f16 --top 50000\n"
        "wordtide export news.tide --format pgvector | psql -c 'COPY words FROM "
        "STDIN'\n",
        .min_operands = 1,
        .max_operands = 1,
    };
    parse_options(argc, argv, &usage, NULL);
    if (!how.format)
        how.format = guess_format(path);
    check_format("export", FORMAT_WRITE, how.format);
    check_path(path);
    if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
        usage_error("export", "standard output is a terminal; write to a file with '-o "
                              "FILE', or show vectors with 'wordtide vector'");
    check_distinct("export", argv[0], path);
    how.vectors = (tide_vectors)vectors;
    how.top = top > UINT32_MAX ? 0 : (uint32_t)top;
    tide_error err;
    tide_model *model = tide_model_open(argv[0], &err);
    if (!model)
        return log_load_error(&err);
    int code = export_model(model, &how, path);
    tide_model_free(model);
    return code;
}
