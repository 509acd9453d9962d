/* format_projector.c - files for TensorBoard's embedding projector.
 *
 *     OUT_vectors.tsv    N lines of D numbers
 *     OUT_metadata.tsv   "word TAB count", then N lines; TensorBoard requires a header
 *                        line if there are several columns
 *     OUT_config.json    refers to both, for projector.tensorflow.org and log folders
 *
 * If OUT is a folder or ends with a slash, the files are OUT/vectors.tsv and so on.
 */
#include "file/file.h"
#include "format/format.h"

#include <inttypes.h>
#include <sys/stat.h>

static bool holds(const char *word)
{
    return !strpbrk(word, "\t\n\r");
}

/* Derives the path of one file. In a folder the file name has no leading "_". */
static bool make_path(const char *path, const char *ending, char file[PATH_MAX])
{
    size_t length = strlen(path);
    struct stat status;
    char in_folder[32];
    bool slash = length > 0 && path[length - 1] == '/';
    bool folder = !slash && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    snprintf(in_folder, sizeof in_folder, "/%s", ending + 1);
    return tide_path_sibling(path, "", folder ? in_folder : ending + slash, file);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Writes a file name as a JSON string. */
static char *put_json_string(char *to, const char *name)
{
    *to++ = '"';
    while (*name)
        to += tide_json_escape(&name, to);
    *to++ = '"';
    return to;
}

static void put_config(tide_output *out, const tide_table *table, const char *vectors,
                       const char *metadata)
{
    char *text = tide_output_reserve(out, 16 * PATH_MAX), *to = text;
    to += sprintf(to,
                  "{\"embeddings\": [{\"tensorName\": \"wordtide\", \"tensorShape\": "
                  "[%u, %u], \"tensorPath\": ",
                  table->count, table->dim);
    to = put_json_string(to, base_name(vectors));
    to = stpcpy(to, ", \"metadataPath\": ");
    to = put_json_string(to, base_name(metadata));
    to = stpcpy(to, "}]}\n");
    tide_output_advance(out, (size_t)(to - text));
}

static int put_rows(tide_table *table, tide_output *vectors, tide_output *metadata,
                    tide_error *err)
{
    static const char names[] = "word\tcount\n";
    tide_output_put(metadata, names, sizeof names - 1);
    for (uint32_t i = 0; i < table->count && !tide_output_failed(vectors); i++) {
        int status = tide_table_row(table, i, err);
        if (status)
            return status;
        char *row = tide_output_reserve(vectors, tide_text_row_bytes(table));
        char *to = tide_put_numbers(row, table, '\t');
        *to++ = '\n';
        size_t bytes = (size_t)(to - row) - 1;
        memmove(row, row + 1, bytes); /* drops the tab before the first number */
        tide_output_advance(vectors, bytes);
        row = tide_output_reserve(metadata, tide_text_row_bytes(table));
        int length = sprintf(row, "%s\t%" PRIu64 "\n", table->words[i].word,
                             table->words[i].count);
        tide_output_advance(metadata, (size_t)length);
    }
    return TIDE_OK;
}

enum { VECTORS, METADATA, CONFIG, FILES };

static int write_projector(tide_table *table, const char *path, tide_error *err)
{
    static const char *const endings[FILES] = {"_vectors.tsv", "_metadata.tsv",
                                               "_config.json"};
    char paths[FILES][PATH_MAX];
    tide_output *out[FILES] = {NULL};
    int status = TIDE_OK;
    for (int i = 0; i < FILES && !status; i++) {
        if (!make_path(path, endings[i], paths[i]))
            status = tide_fail(err, TIDE_ERROR_PARAMETER, "%s: path is too long", path);
        else if (!(out[i] = tide_output_create(paths[i], err)))
            status = TIDE_ERROR_IO;
    }
    if (!status) {
        put_config(out[CONFIG], table, paths[VECTORS], paths[METADATA]);
        status = put_rows(table, out[VECTORS], out[METADATA], err);
    }
    for (int i = 0; i < FILES; i++) {
        if (status)
            tide_output_discard(out[i]);
        else
            status = tide_output_commit(out[i], err);
    }
    return status;
}

const tide_format tide_format_projector = {
    .holds = holds,
    .write = write_projector,
};
