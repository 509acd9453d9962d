/* cmd_import.c - wordtide import: a model that begins with vectors learned elsewhere. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* A file that does not say how many rows it has is read to its end. */
static int count_rows(tide_rows *rows, uint64_t *count, tide_error *err)
{
    tide_row row;
    int status = 0;
    *count = tide_rows_count(rows);
    if (!*count)
        while ((status = tide_rows_next(rows, &row, err)) > 0)
            ++*count;
    return status;
}

/* The dimension is the file's; the vocabulary has room for all its words, and at least
 * as much as it would have without. */
static int fit_params(tide_params *params, const settings *typed, uint32_t dim,
                      uint64_t count, tide_error *err)
{
    char text[32];
    int status = TIDE_OK;
    if (!is_typed(typed, "dim")) {
        snprintf(text, sizeof text, "%" PRIu32, dim);
        status = tide_params_set(params, "dim", text, err);
    }
    tide_params_text(params, "vocab", text, sizeof text);
    if (!status && !is_typed(typed, "vocab") && !is_typed(typed, "memory") &&
        count > strtoull(text, NULL, 10)) {
        snprintf(text, sizeof text, "%" PRIu64, count);
        status = tide_params_set(params, "vocab", text, err);
    }
    return status;
}

static void tell(const job *j, const tide_imported *done)
{
    if (j->quiet)
        return;
    complain("%" PRIu64 " words in %s", done->words, j->output);
    if (done->no_room)
        complain("%" PRIu64 " more did not fit the vocabulary", done->no_room);
    if (done->left_out)
        complain("%" PRIu64 " rows left out: no words, or there twice", done->left_out);
}

static int import_rows(const job *j, tide_params *params, tide_rows *rows)
{
    tide_error err;
    tide_imported done;
    tide_trainer *trainer = tide_trainer_new(params, &err);
    if (!trainer)
        return report(&err);
    int code = EXIT_SUCCESS;
    if (tide_trainer_import(trainer, rows, j->counts, &done, &err) < 0 ||
        tide_trainer_save(trainer, j->output, &err) < 0)
        code = report_load(&err);
    else
        tell(j, &done);
    tide_trainer_free(trainer);
    return code;
}

static int run(const job *j, const char *path)
{
    tide_error err;
    if (tide_path_writable(j->output, &err) < 0)
        return report(&err);
    tide_params *params = settings_params(&j->typed, "import");
    if (!params)
        return EXIT_FAILURE;
    uint64_t count = 0;
    tide_rows *rows = tide_rows_open(path, j->format, &err);
    int code = EXIT_SUCCESS;
    if (!rows || count_rows(rows, &count, &err) < 0)
        code = report_load(&err);
    else if (fit_params(params, &j->typed, tide_rows_dim(rows), count, &err) < 0)
        code = report(&err);
    tide_rows_close(rows);
    if (code == EXIT_SUCCESS) {
        rows = tide_rows_open(path, j->format, &err);
        code = rows ? import_rows(j, params, rows) : report_load(&err);
        tide_rows_close(rows);
    }
    tide_params_free(params);
    return code;
}

int cmd_import(int argc, char **argv)
{
    job j = {0};
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &j.output, "MODEL", "the file to write"},
        {"format", 0, OPTION_TEXT, &j.format, "FORMAT",
         "of the vectors (default: told by their contents)"},
        {"counts", 0, OPTION_TEXT, &j.counts, "FILE",
         "'word count' lines, as gensim and word2vec write them (default: by rank)"},
        {"quiet", 'q', OPTION_FLAG, &j.quiet, NULL, "say only what went wrong"},
        {0},
    };
    const command_usage usage = {
        "import",
        "import [OPTION]... VECTORS -o MODEL",
        "Makes a model of vectors that were learned elsewhere: files of word2vec (text "
        "or binary), GloVe, fastText (.vec), .npy, safetensors or a model. Its words "
        "keep their vectors, and 'wordtide train --resume MODEL' goes on from them. It "
        "takes the parameters of train; the dimension is the file's.",
        options,
        "wordtide import GoogleNews-vectors-negative300.bin -o news.tide\n"
        "wordtide import wiki.vec -o wiki.tide --vocab 500000\n"
        "wordtide train --resume wiki.tide today.txt\n",
        .parameters = true,
        .least = 1,
        .most = 1,
    };
    parse_options(argc, argv, &usage, &j.typed);
    if (!j.output)
        usage_error("import", "no place for the model: -o MODEL is missing");
    int code = run(&j, argv[0]);
    settings_free(&j.typed);
    return code;
}
