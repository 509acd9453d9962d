/* cmd_import.c - wordtide import: a model that begins with vectors learned elsewhere. */
#include "claim.h"
#include "commands.h"
#include "formats.h"
#include "options.h"
#include "output.h"
#include "training.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct job {
    const char *output, *format, *counts;
    bool quiet;
    settings typed;
} job;

static bool is_typed(const settings *typed, const char *name)
{
    for (size_t i = 0; i < typed->count; i++)
        if (!strcmp(typed->pairs[i][0], name))
            return true;
    return false;
}

/* -- parameters -------------------------------------------------------------------- */

/* The value in the text of a model's parameters, "name value" lines; false without. */
static bool find_value(const char *text, const char *name, char *value, size_t room)
{
    size_t length = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (!strncmp(at, name, length) && at[length] == ' ') {
            at += length + 1;
            snprintf(value, room, "%.*s", (int)strcspn(at, "\n"), at);
            return true;
        }
    return false;
}

/* What model files call a parameter. */
static const char *filed_name(const char *name)
{
    size_t count;
    const tide_param_info *table = tide_params_table(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(table[i].name, name) && *table[i].former)
            return table[i].former;
    return name;
}

/* The words of a model go on meeting the same words only if text falls into words as it
 * did. */
static int inherit(tide_params *params, const settings *typed, const char *text,
                   tide_error *err)
{
    static const char *const names[] = {"tokenizer", "numbers", "hashtags",
                                        "mentions",  "urls",    "min-length",
                                        "max-length"};
    char value[256];
    int status = TIDE_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++)
        if (!is_typed(typed, names[i]) &&
            find_value(text, filed_name(names[i]), value, sizeof value))
            status = tide_params_set(params, names[i], value, err);
    return status;
}

static int fit_dim(tide_params *params, const settings *typed, uint32_t dim,
                   tide_error *err)
{
    char text[32];
    if (is_typed(typed, "dim"))
        return TIDE_OK;
    snprintf(text, sizeof text, "%" PRIu32, dim);
    return tide_params_set(params, "dim", text, err);
}

/* The vocabulary has room for all words, and at least as much as it would have
 * without. */
static int fit_vocab(tide_params *params, uint64_t count, tide_error *err)
{
    char text[32];
    tide_params_text(params, "vocab", text, sizeof text);
    if (count <= strtoull(text, NULL, 10))
        return TIDE_OK;
    snprintf(text, sizeof text, "%" PRIu64, count);
    return tide_params_set(params, "vocab", text, err);
}

/* -- rows -------------------------------------------------------------------------- */

/* How many rows there are: a file that does not say is read to its end, and opened
 * again. What can be read only once stays at 0. */
static int count_rows(const job *j, const char *path, tide_rows **rows, uint64_t *count,
                      tide_error *err)
{
    struct stat status;
    *count = tide_rows_count(*rows);
    if (*count || !strcmp(path, "-") || stat(path, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return TIDE_OK;
    tide_row row;
    int got;
    while ((got = tide_rows_next(*rows, &row, err)) > 0)
        ++*count;
    tide_rows_close(*rows);
    *rows = got < 0 ? NULL : tide_rows_open(path, j->format, err);
    return *rows ? TIDE_OK : TIDE_ERROR_FORMAT;
}

static void tell(const job *j, const tide_imported *done)
{
    if (j->quiet)
        return;
    const char *older = claim_kept(j->output);
    complain("%" PRIu64 " words in %s", done->words, j->output);
    if (older)
        complain("what was there is now %s", older);
    if (done->uncounted)
        complain("%" PRIu64 " of them are not in %s, and count as seen once",
                 done->uncounted, j->counts);
    if (done->no_room)
        complain("%" PRIu64 " more did not fit the vocabulary", done->no_room);
    if (done->left_out)
        complain("%" PRIu64 " rows left out: no word, or no number, that can be used",
                 done->left_out);
    if (done->twice)
        complain("%" PRIu64 " rows left out: the word was there before", done->twice);
}

static int import_rows(const job *j, tide_params *params, tide_rows *rows)
{
    tide_error err;
    tide_imported done;
    tide_trainer *trainer = tide_trainer_new(params, &err);
    if (!trainer)
        return report(&err);
    int code = EXIT_SUCCESS;
    if (tide_trainer_import(trainer, rows, j->counts, &done, &err) < 0)
        code = err.status == TIDE_ERROR_PARAMETER ? report(&err) : report_load(&err);
    else if (tide_trainer_save_keeping(trainer, j->output, OLDER, &err) < 0)
        code = report(&err);
    else
        tell(j, &done);
    tide_trainer_free(trainer);
    return code;
}

static int run(const job *j, const char *path)
{
    tide_error err;
    if (!claim(j->output))
        return EXIT_FAILURE;
    tide_params *params = settings_params(&j->typed, "import");
    if (!params)
        return EXIT_FAILURE;
    uint64_t count = 0;
    bool sized = is_typed(&j->typed, "vocab") || is_typed(&j->typed, "memory");
    tide_rows *rows = tide_rows_open(path, j->format, &err);
    int code = EXIT_SUCCESS;
    if (!rows || inherit(params, &j->typed, tide_rows_params(rows), &err) < 0 ||
        (!sized && count_rows(j, path, &rows, &count, &err) < 0))
        code = report_load(&err);
    else if (fit_dim(params, &j->typed, tide_rows_dim(rows), &err) < 0 ||
             (!sized && fit_vocab(params, count, &err) < 0))
        code = report(&err);
    else
        code = import_rows(j, params, rows);
    tide_rows_close(rows);
    tide_params_free(params);
    return code;
}

static void check_usage(const job *j, const char *path)
{
    if (!j->output)
        usage_error("import", "no place for the model: -o MODEL is missing");
    if (j->format)
        check_format("import", FORMAT_READ, j->format);
    check_distinct("import", path, j->output);
    if (j->counts)
        check_distinct("import", j->counts, j->output);
}

int cmd_import(int argc, char **argv)
{
    job j = {0};
    char formats[1024] = "of the vectors (default: told by their contents):";
    list_formats(FORMAT_READ, formats, sizeof formats);
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &j.output, "MODEL", "the file to write"},
        {"format", 0, OPTION_TEXT, &j.format, "NAME", formats},
        {"counts", 0, OPTION_TEXT, &j.counts, "FILE",
         "'word count' lines, as gensim and word2vec write them (default: by rank)"},
        {"quiet", 'q', OPTION_FLAG, &j.quiet, NULL, "say only what went wrong"},
        {0},
    };
    const command_usage usage = {
        "import",
        "import [OPTION]... VECTORS -o MODEL",
        "Makes a model of vectors that were learned elsewhere: files of word2vec (text "
        "or binary), GloVe, fastText (.vec), .npy, safetensors or a model. Text may be "
        "compressed, or come from standard input, '-'. Its words keep their vectors, "
        "and 'wordtide train --resume MODEL' goes on from them. It takes the "
        "parameters "
        "of train; the dimension is the file's, and a model's text falls into words as "
        "it did.",
        options,
        "wordtide import GoogleNews-vectors-negative300.bin -o news.tide\n"
        "wordtide import wiki.vec -o wiki.tide --vocab 500000\n"
        "wordtide train --resume wiki.tide today.txt\n",
        .parameters = true,
        .least = 1,
        .most = 1,
    };
    parse_options(argc, argv, &usage, &j.typed);
    check_usage(&j, argv[0]);
    int code = run(&j, argv[0]);
    settings_free(&j.typed);
    return code;
}
