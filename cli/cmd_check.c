/* cmd_check.c - wordtide check: verifies files before they are needed.
 *
 * A model is loaded first for queries, then for training, which verifies the checksum
 * of every section and that the contents of the sections are valid and consistent. A
 * history is loaded too. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include "base/base.h"

#include <wordtide/history.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct check {
    bool json, quiet;
} check;

typedef struct facts {
    tide_origin origin;
    uint64_t bytes; /* 0 if it is not a regular file */
    uint64_t words, tokens;
    tide_history_facts history; /* if it is one */
} facts;

static bool is_model(const facts *found)
{
    return !strcmp(found->origin.format, "tide");
}

static void read_size(const char *path, facts *found)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        found->bytes = (uint64_t)status.st_size;
}

/* A file that is not a model, as `err` says, may be a history. If it is one and cannot
 * be read, `err` becomes the problem of the history. */
static bool read_history(const char *path, facts *found, tide_error *err)
{
    tide_error problem;
    if (err->status != TIDE_ERROR_FORMAT)
        return false;
    int status = tide_history_check(path, &found->history, &problem);
    if (found->history.is_history && status)
        *err = problem;
    found->origin.format = "history";
    found->words = found->history.words;
    read_size(path, found);
    return !status;
}

/* The model is freed before the trainer is loaded, so that memory holds one copy. */
static bool read_file(const char *path, facts *found, tide_error *err)
{
    tide_model *model = tide_model_open(path, err);
    if (!model)
        return read_history(path, found, err);
    found->origin = *tide_model_origin(model);
    found->words = tide_model_size(model);
    found->tokens = tide_model_tokens(model);
    tide_model_free(model);
    read_size(path, found);
    if (!is_model(found))
        return true;
    tide_trainer *trainer = tide_trainer_load(path, NULL, 0, err);
    bool good = trainer != NULL;
    tide_trainer_free(trainer);
    return good;
}

static void write_facts(const char *path, const facts *found)
{
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_text(&w, "file", path);
    tide_json_bool(&w, "good", true);
    tide_json_text(&w, "format", found->origin.format);
    tide_json_count(&w, "file_bytes", found->bytes);
    tide_json_count(&w, "words", found->words);
    if (found->history.is_history) {
        tide_json_count(&w, "followed", found->history.tracked);
        tide_json_count(&w, "alarms", found->history.alarms);
    } else if (is_model(found)) {
        tide_json_count(&w, "tokens", found->tokens);
    } else {
        tide_json_count(&w, "left_out", found->origin.left_out);
        tide_json_count(&w, "twice", found->origin.duplicates);
    }
    tide_json_end(&w);
}

static void print_facts(const facts *found)
{
    char text[SHORT_TEXT];
    fputs(": good, ", stdout);
    if (found->bytes)
        printf("%s, ", short_bytes(text, found->bytes));
    if (is_model(found)) {
        printf("%" PRIu64 " words, %s tokens\n", found->words,
               short_count(text, (double)found->tokens));
        return;
    }
    printf("%s, %" PRIu64 " words", found->origin.format, found->words);
    if (found->history.is_history)
        printf(", %" PRIu64 " followed, %" PRIu64 " alarms", found->history.tracked,
               found->history.alarms);
    if (found->origin.left_out)
        printf(", %" PRIu64 " rows skipped", found->origin.left_out);
    if (found->origin.duplicates)
        printf(", %" PRIu64 " duplicate rows", found->origin.duplicates);
    putchar('\n');
}

static void print_good(const check *c, const char *path, const facts *found)
{
    if (c->quiet)
        return;
    if (c->json) {
        write_facts(path, found);
        return;
    }
    print_word(path);
    print_facts(found);
}

/* Some error messages do not name the file. */
static int print_bad(const check *c, const char *path, const tide_error *err)
{
    tide_error named = *err;
    char name[128];
    /* Error texts are clean, so the path has to be too, to be found in one. */
    snprintf(name, sizeof name, "%s", path);
    tide_utf8_clean(name);
    if (!strstr(err->text, name))
        snprintf(named.text, sizeof named.text, "%s: %.120s", name, err->text);
    if (c->json) {
        tide_json_writer w = {0};
        tide_json_object(&w, NULL);
        tide_json_text(&w, "file", path);
        tide_json_bool(&w, "good", false);
        tide_json_text(&w, "problem", named.text);
        tide_json_end(&w);
    }
    return log_load_error(&named);
}

static int check_file(const check *c, const char *path)
{
    tide_error err;
    facts found = {0};
    if (!read_file(path, &found, &err))
        return print_bad(c, path, &err);
    print_good(c, path, &found);
    return EXIT_SUCCESS;
}

int cmd_check(int argc, char **argv)
{
    check c = {0};
    const option options[] = {
        {"json", 0, OPTION_FLAG, &c.json, NULL, "print a JSON object per file"},
        {"quiet", 'q', OPTION_FLAG, &c.quiet, NULL,
         "print only the files with problems"},
        {0},
    };
    const command_usage usage = {
        "check",
        "check [OPTION]... FILE...",
        "Reads files completely and prints whether they can be used, one line per "
        "file. For a model every checksum is verified, and then it is loaded as if to "
        "continue its training. That takes as much memory as training, which depends "
        "on the parameters in the file ('wordtide info' shows it). The history of a "
        "server is checked in the same way; for a file of vectors the format is "
        "printed. All files are checked. The exit code is 4 if one of them cannot be "
        "used, and 1 if one could not be read at all.",
        options,
        "wordtide check news.tide\n"
        "wordtide check --quiet backup/*.tide && echo all good\n",
        .min_operands = 1,
        .max_operands = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    int worst = EXIT_SUCCESS;
    for (int i = 0; i < count && output_ok(); i++) {
        int code = check_file(&c, argv[i]);
        worst = code > worst ? code : worst;
    }
    return finish_output(worst);
}
