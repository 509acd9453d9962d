/* cmd_info.c - wordtide info: describes a model, and the memory that training needs. */
#include "commands.h"
#include "output.h"
#include "query_common.h"
#include "train_options.h"

#include "base/base.h"

#include <wordtide/labels.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct info {
    bool json;
    tide_json_writer writer;
} info;

static void begin(info *i)
{
    if (i->json)
        tide_json_object(&i->writer, NULL);
}

static void end(info *i)
{
    if (i->json)
        tide_json_end(&i->writer);
}

enum { NAME_SIZE = 32 };

/* The JSON name of a line: its name with underscores for spaces, or the former name
 * that programs know. */
static const char *member_name(const char *name, char member[NAME_SIZE])
{
    static const char *const former[][2] = {{"rows skipped", "left_out"},
                                            {"duplicate rows", "twice"},
                                            {"predicted", "labels_told"}};
    for (size_t n = 0; n < sizeof former / sizeof *former; n++)
        if (!strcmp(name, former[n][0]))
            return former[n][1];
    snprintf(member, NAME_SIZE, "%s", name);
    for (char *c = member; *c; c++)
        if (*c == ' ')
            *c = '_';
    return member;
}

static void print_number(info *i, const char *name, uint64_t value)
{
    char member[NAME_SIZE];
    if (i->json)
        tide_json_count(&i->writer, member_name(name, member), value);
    else
        printf("%-16s%" PRIu64 "\n", name, value);
}

static void print_text(info *i, const char *name, const char *text)
{
    char member[NAME_SIZE];
    if (i->json) {
        tide_json_text(&i->writer, member_name(name, member), text);
        return;
    }
    printf("%-16s", name);
    print_word(text);
    putchar('\n');
}

static void print_parts(info *i, const tide_part *parts, int count)
{
    if (!i->json) {
        putchar('\n');
        print_budget(printf, parts, count);
        return;
    }
    print_number(i, "memory", budget_total(parts, count));
    tide_json_object(&i->writer, "memory_by_part");
    for (int part = 0; part < count; part++)
        tide_json_count(&i->writer, parts[part].name, parts[part].bytes);
    tide_json_end(&i->writer);
}

/* JSON has the parameters under their former names, which programs know. */
static void print_params(info *i, const tide_params *params)
{
    size_t count;
    const tide_param_info *table = tide_params_table(&count);
    if (i->json)
        tide_json_object(&i->writer, "parameters");
    else
        puts("\nparameters");
    for (size_t p = 0; p < count; p++) {
        char value[256] = "";
        tide_params_text(params, table[p].name, value, sizeof value);
        if (i->json) {
            const char *former = table[p].former;
            tide_json_text(&i->writer, *former ? former : table[p].name, value);
        } else {
            printf("  %-20s", table[p].name);
            write_clean(stdout, value); /* it may come from an untrusted file */
            putchar('\n');
        }
    }
    if (i->json)
        tide_json_end(&i->writer);
}

static int print_requirements(info *i, tide_params *params)
{
    tide_error err;
    tide_part parts[TIDE_PARTS_MAX];
    int count = tide_params_budget(params, parts, &err);
    print_params(i, params);
    if (count >= 0)
        print_parts(i, parts, count);
    if (!i->json)
        putchar('\n');
    return count < 0 ? log_error(&err) : EXIT_SUCCESS;
}

/* The smallest count in the vocabulary if it is full, otherwise 0. False after an error
 * message. */
static bool minimum_count(const tide_model *model, uint64_t *minimum)
{
    size_t count;
    *minimum = 0;
    if (tide_model_size(model) < tide_model_capacity(model))
        return true;
    tide_entry *entries = list_words(model, &count);
    if (entries && count)
        *minimum = entries[count - 1].count;
    free(entries);
    return entries != NULL;
}

static void print_file(info *i, const tide_model *model, const char *path)
{
    struct stat status;
    print_text(i, "model", path);
    print_text(i, "format", tide_model_origin(model)->format);
    print_number(i, "words", tide_model_size(model));
    print_number(i, "dim", tide_model_dim(model));
    if (stat(path, &status) == 0)
        print_number(i, "file bytes", (uint64_t)status.st_size);
}

/* A file of vectors has words and vectors, but no parameters. */
static int describe_vectors(info *i, const tide_model *model)
{
    tide_origin origin = *tide_model_origin(model);
    print_number(i, "rows skipped", origin.left_out);
    print_number(i, "duplicate rows", origin.duplicates);
    print_text(i, "counts", origin.uncounted ? "no" : "yes");
    return EXIT_SUCCESS;
}

/* Prints nothing for a model without labels. */
static int print_labels(info *i, const char *path)
{
    tide_error err;
    tide_label_stats stats;
    if (tide_label_stats_read(path, &stats, &err) < 0)
        return log_load_error(&err);
    if (!stats.capacity)
        return EXIT_SUCCESS;
    print_number(i, "labels", stats.labels);
    print_number(i, "posts", stats.posts);
    print_number(i, "posts kept", stats.kept);
    print_text(i, "classifier", stats.predicted ? "yes" : "no");
    print_number(i, "predicted", stats.predicted);
    return EXIT_SUCCESS;
}

static int describe_training(info *i, const tide_model *model, const char *path)
{
    tide_error err;
    uint64_t minimum;
    if (!minimum_count(model, &minimum))
        return EXIT_FAILURE;
    print_number(i, "capacity", tide_model_capacity(model));
    print_number(i, "subwords", tide_model_subwords(model));
    print_number(i, "tokens", tide_model_tokens(model));
    print_number(i, "minimum count", minimum);
    int code = print_labels(i, path);
    if (code != EXIT_SUCCESS)
        return code;
    tide_params *params = tide_params_of_model(model, &err);
    code = params ? print_requirements(i, params) : log_load_error(&err);
    tide_params_free(params);
    return code;
}

static int describe_model(info *i, const char *path)
{
    tide_error err;
    tide_model *model = tide_model_open(path, &err);
    if (!model)
        return log_load_error(&err);
    begin(i);
    print_file(i, model, path);
    int code = *tide_model_params(model) ? describe_training(i, model, path)
                                         : describe_vectors(i, model);
    end(i);
    tide_model_free(model);
    return code;
}

static int describe_plan(info *i, const settings *typed)
{
    tide_params *params = settings_params(typed, "info");
    if (!params)
        return EXIT_FAILURE;
    begin(i);
    int code = print_requirements(i, params);
    end(i);
    tide_params_free(params);
    return code;
}

int cmd_info(int argc, char **argv)
{
    info i = {0};
    settings typed;
    const option options[] = {
        {"json", 0, OPTION_FLAG, &i.json, NULL, "print a JSON object"},
        {0},
    };
    const command_usage usage = {
        "info",
        "info [OPTION]... [MODEL]",
        "Describes a model, its labels if it has any, and the memory needed to "
        "continue training it; or a file of vectors: its format, invalid and duplicate "
        "rows, and whether it has counts. Without a model it takes the parameters of "
        "train and prints what such training would need.",
        options,
        "wordtide info news.tide\n"
        "wordtide info --vocab 100000 --dim 200\n",
        .parameters = true,
        .common = common_parameters,
        .min_operands = 0,
        .max_operands = 1,
    };
    int count = parse_options(argc, argv, &usage, &typed);
    if (count == 1 && typed.count > 0)
        usage_error("info",
                    "--%s cannot be given with a model, which has its own parameters",
                    typed.pairs[0][0]);
    int code = count == 1 ? describe_model(&i, argv[0]) : describe_plan(&i, &typed);
    settings_free(&typed);
    return finish_output(code);
}
