/* cmd_export.c - wordtide export: a model's vectors in the formats of others. */
#include "asking.h"
#include "commands.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a path ends with tells the format, when nobody says it. */
static const char *guess_format(const char *path)
{
    static const char *const endings[][2] = {
        {".vec", "word2vec"},
        {".txt", "word2vec"},
        {".bin", "word2vec-binary"},
        {".npy", "npy"},
        {".safetensors", "safetensors"},
        {".sqlite", "sqlite"},
        {".db", "sqlite"},
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(path), ending = strlen(endings[i][0]);
        if (length > ending && !strcmp(path + length - ending, endings[i][0]))
            return endings[i][1];
    }
    if (!strcmp(path, "-"))
        usage_error("export", "no format for standard output: --format is missing");
    usage_error("export", "'%s' does not tell the format: --format is missing", path);
}

/* The formats that can be written, as "name: help; name: help". */
static void list_formats(char *text, size_t room)
{
    size_t count, at = 0;
    const tide_format_info *formats = tide_formats(&count);
    at += (size_t)snprintf(text, room, "the format; otherwise told by OUT's ending:");
    for (size_t i = 0; i < count && at < room; i++)
        if (formats[i].writes)
            at += (size_t)snprintf(text + at, room - at, " %s (%s)%s", formats[i].name,
                                   formats[i].help, i + 1 < count ? "," : "");
}

static void check_format(const char *name)
{
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    const char *nearest = NULL;
    int distance = 4;
    for (size_t i = 0; i < count; i++) {
        if (!formats[i].writes)
            continue;
        int d = spelling_distance(name, formats[i].name);
        if (d == 0)
            return;
        if (d < distance) {
            distance = d;
            nearest = formats[i].name;
        }
    }
    if (nearest)
        usage_error("export", "unknown format '%s'; did you mean %s?", name, nearest);
    usage_error("export", "unknown format '%s'", name);
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
    char formats[1024];
    tide_export how = {0};
    const char *path = "-";
    int vectors = TIDE_VECTORS_INPUT;
    uint64_t top = 0;
    list_formats(formats, sizeof formats);
    const option options[] = {
        {"format", 'f', OPTION_TEXT, &how.format, "NAME", formats},
        {"output", 'o', OPTION_TEXT, &path, "OUT",
         "where to write; '-', and the default, is standard output, for formats of one "
         "file"},
        {"top", 0, OPTION_COUNT, &top, "N", "only the N most frequent words"},
        {"vectors", 0, OPTION_CHOICE, &vectors, VECTOR_CHOICES,
         "which vectors to write (default input)"},
        {"centre", 0, OPTION_FLAG, &how.centred, NULL,
         "subtract the mean vector of the frequent words, as nearest does"},
        {"dtype", 0, OPTION_TEXT, &how.dtype, "NAME",
         "f32, f16 or i8, for npy and safetensors (default f32)"},
        {0},
    };
    const command_usage usage = {
        "export",
        "export [OPTION]... MODEL [-o OUT]",
        "Writes the words by falling count and their vectors for other programs. A "
        "file is complete or as it was before. Words that a format cannot hold are "
        "left out and counted.",
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
    check_format(how.format);
    how.vectors = (tide_vectors)vectors;
    how.top = top > UINT32_MAX ? 0 : (uint32_t)top;
    tide_error err;
    tide_model *model = tide_model_load(argv[0], &err);
    if (!model)
        return report_load(&err);
    int code = export_model(model, &how, path);
    tide_model_free(model);
    return code;
}
