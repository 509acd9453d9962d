/* cmd_export.c - wordtide export: a model's vectors in the formats of others. */
#include "asking.h"
#include "commands.h"
#include "formats.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a path ends with tells the format, when nobody says it. */
static const char *const endings[][2] = {
    {".vec", "word2vec"},
    {".txt", "word2vec"},
    {".bin", "word2vec-binary"},
    {".npy", "npy"},
    {".safetensors", "safetensors"},
    {".sqlite", "sqlite"},
    {".db", "sqlite"},
};

enum { ENDINGS = sizeof endings / sizeof *endings };

static const char *guess_format(const char *path)
{
    for (size_t i = 0; i < ENDINGS; i++) {
        size_t length = strlen(path), ending = strlen(endings[i][0]);
        if (length > ending && !strcmp(path + length - ending, endings[i][0]))
            return endings[i][1];
    }
    if (!strcmp(path, "-"))
        usage_error("export", "no format for standard output: --format is missing");
    usage_error("export", "'%s' does not tell the format: --format is missing", path);
}

static void describe_formats(char *text, size_t room)
{
    size_t at =
        (size_t)snprintf(text, room, "the format; otherwise OUT's ending tells:");
    for (size_t i = 0; i < ENDINGS && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, " %s %s%s", endings[i][0],
                               endings[i][1], i + 1 < ENDINGS ? "," : ". There are:");
    list_formats(FORMAT_WRITE, text, room);
}

/* An open file, a pipe and a device cannot be replaced by a file that is complete. */
static void check_path(const char *path)
{
    static const char *const open_files[] = {"/dev/std", "/dev/fd/", "/proc/"};
    struct stat status;
    bool taken = stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
                 !S_ISDIR(status.st_mode);
    for (size_t i = 0; i < sizeof open_files / sizeof *open_files; i++)
        taken = taken || !strncmp(path, open_files[i], strlen(open_files[i]));
    if (taken && strcmp(path, "-") != 0)
        usage_error("export",
                    "%s is not a file to be written; '-o -' writes to "
                    "standard output",
                    path);
}

/* A reader that went away has seen enough. */
static int export_model(const tide_model *model, const tide_export *how,
                        const char *path)
{
    tide_error err;
    tide_exported done;
    if (tide_model_export(model, how, path, &done, &err)) {
        if (!strcmp(path, "-") && err.status == TIDE_ERROR_IO && errno == EPIPE)
            return EXIT_SUCCESS;
        return report(&err);
    }
    char left_out[64] = "";
    if (done.left_out)
        snprintf(left_out, sizeof left_out,
                 "; %" PRIu64 " left out that the format cannot hold", done.left_out);
    complain("%" PRIu64 " words written%s", done.words, left_out);
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
         "where to write; '-', and the default, is standard output, for formats of one "
         "file"},
        {"top", 0, OPTION_COUNT, &top, "N", "only the N most frequent words"},
        {"vectors", 0, OPTION_CHOICE, &vectors, VECTOR_CHOICES,
         "which vectors to write (default input)"},
        {"center", 0, OPTION_FLAG, &how.centered, NULL,
         "subtract the mean vector of the frequent words, as nearest does"},
        {"dtype", 0, OPTION_TEXT, &how.dtype, "NAME",
         "f32, or for npy and safetensors also f16 or i8 (default f32)"},
        {0},
    };
    const command_usage usage = {
        "export",
        "export [OPTION]... MODEL [-o OUT]",
        "Writes the words by falling count and their vectors for other programs. A "
        "file is complete or as it was before. Words that a format cannot hold are "
        "left out and counted. MODEL may be any file of vectors.",
        options,
        "wordtide export news.tide -o news.vec\n"
        "wordtide export news.tide -o news.npy --dtype f16 --top 50000\n"
        "wordtide export news.tide --format pgvector | psql -c 'COPY words FROM "
        "STDIN'\n",
        .least = 1,
        .most = 1,
    };
    parse_options(argc, argv, &usage, NULL);
    if (!how.format)
        how.format = guess_format(path);
    check_format("export", FORMAT_WRITE, how.format);
    check_path(path);
    if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
        usage_error("export", "standard output is a terminal: '-o FILE' writes a file, "
                              "and 'wordtide vector' shows vectors");
    check_distinct("export", argv[0], path);
    how.vectors = (tide_vectors)vectors;
    how.top = top > UINT32_MAX ? 0 : (uint32_t)top;
    tide_error err;
    tide_model *model = tide_model_open(argv[0], &err);
    if (!model)
        return report_load(&err);
    int code = export_model(model, &how, path);
    tide_model_free(model);
    return code;
}
