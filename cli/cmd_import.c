/* cmd_import.c - wordtide import: creates a model from vectors trained elsewhere. */
#include "commands.h"
#include "formats.h"
#include "lockfile.h"
#include "options.h"
#include "output.h"
#include "train_options.h"

#include <wordtide/formats.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct job {
    const char *output, *format, *counts;
    bool quiet;
    settings typed;
} job;

/* -- parameters -------------------------------------------------------------------- */

/* Finds a value in the parameters of a model file, which are "name value" lines. */
static bool find_value(const char *text, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (!strncmp(at, name, length) && at[length] == ' ') {
            at += length + 1;
            snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
            return true;
        }
    return false;
}

/* The name of a parameter in model files. */
static const char *name_in_file(const char *name)
{
    size_t count;
    const tide_param_info *table = tide_params_table(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(table[i].name, name) && *table[i].former)
            return table[i].former;
    return name;
}

/* A model's words match new text only if it is tokenized in the same way. */
static int inherit_tokenizer(tide_params *params, const settings *typed,
                             const char *text, tide_error *err)
{
    static const char *const names[] = {"tokenizer", "numbers", "hashtags",
                                        "mentions",  "urls",    "min-length",
                                        "max-length"};
    char value[256];
    int status = TIDE_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++)
        if (!settings_value(typed, names[i]) &&
            find_value(text, name_in_file(names[i]), value, sizeof value))
            status = tide_params_set(params, names[i], value, err);
    return status;
}

static int set_dim(tide_params *params, const settings *typed, uint32_t dim,
                   tide_error *err)
{
    char text[32];
    if (settings_value(typed, "dim"))
        return TIDE_OK;
    snprintf(text, sizeof text, "%" PRIu32, dim);
    return tide_params_set(params, "dim", text, err);
}

/* Enlarges the vocabulary if the file has more words than the default capacity. */
static int enlarge_vocab(tide_params *params, uint64_t count, tide_error *err)
{
    char text[32];
    tide_params_text(params, "vocab", text, sizeof text);
    if (count <= strtoull(text, NULL, 10))
        return TIDE_OK;
    snprintf(text, sizeof text, "%" PRIu64, count);
    return tide_params_set(params, "vocab", text, err);
}

/* -- rows -------------------------------------------------------------------------- */

/* Counts the rows. A file whose header does not say is read to its end and opened
 * again; for a pipe, which can be read only once, the count is 0. */
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

static void log_result(const job *j, const tide_imported *done)
{
    if (j->quiet)
        return;
    /* Only now, when the file has been replaced, is there a backup to name. */
    const char *backup = lockfile_backup(j->output);
    log_message("%" PRIu64 " words in %s", done->words, j->output);
    if (backup)
        log_message("the previous file is now %s", backup);
    if (done->uncounted)
        log_message("%" PRIu64 " of them are not in %s; their count is 1",
                    done->uncounted, j->counts);
    if (done->beyond_capacity)
        log_message("%" PRIu64 " more words did not fit into the vocabulary",
                    done->beyond_capacity);
    if (done->left_out)
        log_message("%" PRIu64 " rows skipped: the word or a number is invalid",
                    done->left_out);
    if (done->duplicates)
        log_message("%" PRIu64 " rows skipped: duplicate word", done->duplicates);
}

static int import_rows(const job *j, tide_params *params, tide_rows *rows)
{
    tide_error err;
    tide_imported done;
    tide_trainer *trainer = tide_trainer_new(params, &err);
    if (!trainer)
        return log_error(&err);
    int code = EXIT_SUCCESS;
    if (tide_trainer_import(trainer, rows, j->counts, &done, &err) < 0)
        code =
            err.status == TIDE_ERROR_PARAMETER ? log_error(&err) : log_load_error(&err);
    else if (tide_trainer_save_keeping(trainer, j->output, BACKUPS_DEFAULT, &err) < 0)
        code = log_error(&err);
    else
        log_result(j, &done);
    tide_trainer_free(trainer);
    return code;
}

static int run(const job *j, const char *path)
{
    tide_error err;
    int code = lockfile_acquire(j->output, BACKUPS_DEFAULT, NULL);
    if (code != EXIT_SUCCESS)
        return code;
    tide_params *params = settings_params(&j->typed, "import");
    if (!params)
        return EXIT_FAILURE;
    uint64_t count = 0;
    bool sized =
        settings_value(&j->typed, "vocab") || settings_value(&j->typed, "memory");
    tide_rows *rows = tide_rows_open(path, j->format, &err);
    if (!rows ||
        inherit_tokenizer(params, &j->typed, tide_rows_params(rows), &err) < 0 ||
        (!sized && count_rows(j, path, &rows, &count, &err) < 0))
        code = log_load_error(&err);
    else if (set_dim(params, &j->typed, tide_rows_dim(rows), &err) < 0 ||
             (!sized && enlarge_vocab(params, count, &err) < 0))
        code = log_error(&err);
    else
        code = import_rows(j, params, rows);
    tide_rows_close(rows);
    tide_params_free(params);
    return code;
}

static void check_usage(const job *j, const char *path)
{
    if (!j->output)
        usage_error("import", "no output file; give one with -o MODEL");
    if (j->format)
        check_format("import", FORMAT_READ, j->format);
    check_distinct("import", path, j->output);
    if (j->counts)
        check_distinct("import", j->counts, j->output);
}

int cmd_import(int argc, char **argv)
{
    job j = {0};
    char formats[1024] = "the format of VECTORS (default: detected):";
    list_formats(FORMAT_READ, formats, sizeof formats);
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &j.output, "MODEL", "the model file to write"},
        {"format", 0, OPTION_TEXT, &j.format, "NAME", formats},
        {"counts", 0, OPTION_TEXT, &j.counts, "FILE",
         "lines of word and count, as gensim and word2vec write them (default: counts "
         "estimated by rank)"},
        {"quiet", 'q', OPTION_FLAG, &j.quiet, NULL, "print only warnings and errors"},
        {0},
    };
    const command_usage usage = {
        "import",
        "import [OPTION]... VECTORS -o MODEL",
        "Creates a model from vectors trained elsewhere: files of word2vec (text or "
        "binary), GloVe, fastText (.vec), .npy, safetensors, or a model. Text may be "
        "compressed, or come from standard input, '-'. The words keep their vectors, "
        "and 'wordtide train --resume MODEL' continues from them. The command takes "
        "the parameters of train; the dimension is that of the file, and a model keeps "
        "its tokenizer.",
        options,
        "wordtide import GoogleNews-vectors-negative300.bin -o news.tide\n"
        "wordtide import wiki.vec -o wiki.tide --vocab 500000\n"
        "wordtide train --resume wiki.tide today.txt\n",
        .parameters = true,
        .min_operands = 1,
        .max_operands = 1,
        .common = common_parameters,
    };
    parse_options(argc, argv, &usage, &j.typed);
    check_usage(&j, argv[0]);
    int code = run(&j, argv[0]);
    settings_free(&j.typed);
    return code;
}
