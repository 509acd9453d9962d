/* train_options.c - the command line of `train` and of the commands like it. */
#include "train_options.h"
#include "content.h"
#include "formats.h"
#include "output.h"

#include <wordtide/tools.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHECKPOINT_SECONDS = 60 };

const parameter_group common_parameters[] = {
    {"Model", "profile vocab dim memory subword"},
    {"Text", "tokenizer text"},
    {"Training", "alpha epochs half-life negative sample window seed threads"},
    {0},
};

const parameter_group common_label_parameters[] = {
    {"Model", "profile vocab dim"},
    {"Text", "tokenizer text time label-field"},
    {"Labels", "labels label-slots label-memory label-top label-refit classifier"},
    {"Training", "window threads"},
    {0},
};

/* -- input ------------------------------------------------------------------------- */

static bool ends_with(const char *name, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);
    return length > size && !strncmp(name + length - size, suffix, size);
}

/* The record format that the suffix of a file name implies, before any suffix of a
 * compressed file; NULL if none. */
static const char *record_format_of(const char *name)
{
    static const char *const compressed[] = {".gz", ".zst", ".xz"};
    static const char *const formats[][2] = {
        {".jsonl", "json"}, {".ndjson", "json"}, {".csv", "csv"}, {".tsv", "tsv"}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof compressed / sizeof *compressed; i++)
        if (ends_with(name, length, compressed[i]))
            length -= strlen(compressed[i]);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (ends_with(name, length, formats[i][0]))
            return formats[i][1];
    return NULL;
}

/* Unless --records was typed, the name of the first source implies the format. If it
 * implies none but fields were typed, they are JSON fields. */
static void guess_records(train_input *input)
{
    bool has_fields = false;
    for (size_t i = 0; i < input->typed.count; i++) {
        const char *name = input->typed.pairs[i][0];
        if (!strcmp(name, "records"))
            return;
        has_fields = has_fields || !strcmp(name, "text") || !strcmp(name, "time") ||
                     !strcmp(name, "label-field");
    }
    bool is_new = !input->resume; /* a resumed model has its format in the file */
    const char *format =
        input->source_count && is_new ? record_format_of(input->sources[0]) : NULL;
    if (!format && has_fields && is_new)
        format = "json";
    if (format)
        settings_add(&input->typed, "records", format);
}

void train_input_complete(train_input *input)
{
    static char standard_input[] = "-";
    static char *only_input[] = {standard_input, NULL};
    guess_records(input);
    if (input->source_count == 0 && isatty(STDIN_FILENO))
        usage_error(input->command,
                    "no input; name a file or pipe text into the command");
    if (input->source_count == 0) {
        input->sources = only_input;
        input->source_count = 1;
    }
}

/* Puts the profile first, since it must not overwrite what was typed. */
static void prepend_profile(settings *typed, const char *profile)
{
    settings_add(typed, "profile", profile);
    memmove(typed->pairs + 1, typed->pairs, (typed->count - 1) * sizeof *typed->pairs);
    typed->pairs[0][0] = "profile";
    typed->pairs[0][1] = profile;
}

void train_input_set_batch(train_input *input, bool requested)
{
    const char *epochs = settings_value(&input->typed, "epochs");
    input->batch = requested || (epochs && strcmp(epochs, "0") != 0);
    if (input->resume)
        return;
    if (!input->batch && settings_value(&input->typed, "min-count"))
        usage_error(input->command, "--min-count needs --batch: in a stream, a word "
                                    "that is rare now may become frequent");
    if (input->batch && !epochs)
        settings_add(&input->typed, "epochs", "5");
    if (input->batch && !settings_value(&input->typed, "profile"))
        prepend_profile(&input->typed, "word2vec");
}

void train_input_check_output(const train_input *input, const char *output)
{
    for (int i = 0; i < input->source_count && output; i++)
        check_distinct(input->command, input->sources[i], output);
}

/* -- saving ------------------------------------------------------------------------ */

double train_options_seconds(const train_options *options, const char *name,
                             const char *text)
{
    double seconds = parse_seconds(text);
    if (seconds <= 0)
        usage_error(options->input.command,
                    "--%s '%s' is not a duration such as 10s, 1m or 1h", name, text);
    return seconds;
}

static void parse_interval(train_options *options, const char *text)
{
    double seconds = parse_seconds(text);
    if (seconds > 0)
        options->save_seconds = seconds;
    else if (!parse_number(text, &options->save_tokens) || !options->save_tokens)
        usage_error(options->input.command,
                    "--every '%s' is neither a number of words (1e6) nor a duration "
                    "(60s)",
                    text);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Without --continue an existing checkpoint is an error: repeating a command must not
 * overwrite weeks of training. The previous checkpoint counts too, since a crash may
 * leave only that. */
static void complete_checkpoint(train_options *options)
{
    const char *command = options->input.command, *path = options->checkpoint_path;
    struct stat status;
    size_t length = strlen(options->checkpoint);
    bool is_directory =
        (stat(options->checkpoint, &status) == 0 && S_ISDIR(status.st_mode)) ||
        (length && options->checkpoint[length - 1] == '/');
    int size = snprintf(options->checkpoint_path, sizeof options->checkpoint_path,
                        "%s%s", options->checkpoint, is_directory ? "/model.tide" : "");
    char previous[sizeof options->checkpoint_path + 2];
    snprintf(previous, sizeof previous, "%s.1", path);
    if (!length)
        usage_error(command, "--checkpoint needs a file name");
    if (size >= (int)sizeof options->checkpoint_path)
        usage_error(command, "the path of --checkpoint is too long");
    train_input_check_output(&options->input, path);
    if (options->continue_checkpoint && options->input.resume)
        usage_error(command, "--continue and --resume cannot be combined");
    /* --resume of the checkpoint itself is a way to continue without --continue. */
    bool found = exists(path) || exists(previous);
    if (options->continue_checkpoint && found)
        options->input.resume = path;
    bool is_resumed = options->input.resume && !strcmp(options->input.resume, path);
    tide_error err;
    if (!is_resumed && tide_path_replaceable(path, 0, &err) == TIDE_ERROR_PARAMETER)
        usage_error(command, "%s", err.text);
    if (found && !is_resumed)
        usage_error(command,
                    "%s already exists; use --continue to resume from it, or remove it",
                    path);
    if (!options->every.count)
        options->save_seconds = CHECKPOINT_SECONDS;
}

const char *train_options_checkpoint(const train_options *options)
{
    return options->checkpoint ? options->checkpoint_path : NULL;
}

const char *train_options_model_path(const train_options *options)
{
    return options->output ? options->output : train_options_checkpoint(options);
}

static void check_output(const train_options *options)
{
    const char *command = options->input.command, *output = options->output;
    if (!output && !options->checkpoint && !options->serve)
        usage_error(command, "no output file; give one with -o MODEL");
    if (output && !*output)
        usage_error(command, "-o needs a file name");
    if (output && !strcmp(output, "-"))
        usage_error(command, "a model cannot be written to standard output; give -o a "
                             "file name");
    train_input_check_output(&options->input, output);
}

/* -- serve ------------------------------------------------------------------------- */

/* In the demo words change within minutes, so that old counts must fade as fast. */
static void set_demo_half_life(train_input *input)
{
    static const char *const names[] = {"half-life", "rate-half-life"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!input->resume && !settings_value(&input->typed, names[i]))
            settings_add(&input->typed, names[i], "300000");
}

/* A model among the sources of a server is the model to serve. Its file is not written
 * to, because neither -o nor --checkpoint names it. */
static void extract_model(train_options *options)
{
    tide_error content;
    train_input *input = &options->input;
    for (int i = 0; i < input->source_count; i++) {
        char *name = input->sources[i];
        if (content_of(name, &content) != TIDE_CONTENT_MODEL)
            continue;
        if (input->resume || options->continue_checkpoint)
            usage_error(input->command,
                        "%s is a model, but %s names another; give only one", name,
                        options->continue_checkpoint ? "--continue" : input->resume);
        input->resume = options->served_model = name;
        input->source_count--;
        memmove(input->sources + i, input->sources + i + 1,
                (size_t)(input->source_count - i) * sizeof *input->sources);
        i--;
    }
}

/* Adds the feed, which delivers the text sent by HTTP, and the demo if requested. */
static void add_server_sources(train_options *options)
{
    train_input *input = &options->input;
    static char feed[] = "feed:", demo[] = "demo:events=on,rate=2000";
    size_t count = (size_t)input->source_count;
    char **sources = calloc(count + 3, sizeof *sources);
    if (!sources)
        usage_error(input->command, "out of memory for %zu sources", count);
    memcpy(sources, input->sources, count * sizeof *sources);
    if (options->demo) {
        sources[count++] = demo;
        set_demo_half_life(input);
    }
    sources[count++] = feed;
    input->sources = options->served_sources = sources;
    input->source_count = (int)count;
    options->follow = true;
}

/* -- all options ------------------------------------------------------------------- */

/* Checks what was typed and derives the rest. The order matters: a model among the
 * sources or a checkpoint decides what is resumed, and that decides the output. */
static void complete(train_options *options)
{
    const char *command = options->input.command;
    if (options->serve) {
        extract_model(options);
        add_server_sources(options);
    }
    if (options->max_errors_text &&
        !parse_number(options->max_errors_text, &options->max_errors))
        usage_error(command, "--max-errors '%s' is not a number",
                    options->max_errors_text);
    for (size_t i = 0; i < options->every.count; i++)
        parse_interval(options, options->every.items[i]);
    if (options->checkpoint)
        complete_checkpoint(options);
    else if (options->continue_checkpoint)
        usage_error(command, "--continue needs --checkpoint");
    if (options->serve && options->spool && !options->checkpoint)
        usage_error(command, "--spool needs --checkpoint, which records how much of "
                             "the spool has been learned");
    if (!options->output && !options->checkpoint && !options->served_model)
        options->output = options->input.resume;
    check_output(options);
    train_input_set_batch(&options->input, options->batch);
    train_input_complete(&options->input);
}

void train_options_parse(train_options *options, int argc, char **argv,
                         command_usage usage)
{
    const option shared[] = {
        {"output", 'o', OPTION_TEXT, &options->output, "MODEL",
         "the model file to write (default with --resume: the same file)"},
        {"resume", 0, OPTION_TEXT, &options->input.resume, "MODEL",
         "continue training this model exactly where it stopped"},
        {"batch", 0, OPTION_FLAG, &options->batch, NULL,
         "count the words of stored text, then read it --epochs times (default 5), "
         "with profile word2vec unless another is given"},
        {"follow", 'f', OPTION_FLAG, &options->follow, NULL,
         "keep reading files as they grow and are rotated, until SIGTERM"},
        {"checkpoint", 0, OPTION_TEXT, &options->checkpoint, "FILE|DIR",
         "save to this file during training, every minute unless --every says "
         "otherwise; makes -o optional"},
        {"continue", 0, OPTION_FLAG, &options->continue_checkpoint, NULL,
         "resume from the checkpoint if it exists, otherwise start a new model"},
        {"every", 0, OPTION_LIST, &options->every, "N",
         "save every N words (1e6) or after a time (60s, 5m, 1h); may be given twice, "
         "once for each"},
        {"keep-checkpoints", 0, OPTION_NUMBER, &options->backups, "N",
         "how many earlier files to keep beside a new one, as FILE.1, FILE.2: previous "
         "checkpoints, and what was in the -o file (default 2)"},
        {"spool", 0, OPTION_TEXT, &options->spool, "DIR",
         "first write text from a pipe or from HTTP to this directory, so that a "
         "killed process neither loses it nor learns it twice"},
        {"spool-limit", 0, OPTION_SIZE, &options->spool_limit, "SIZE",
         "save when the spool reaches this size (default 1G)"},
        {"spool-sync", 0, OPTION_CHOICE, &options->spool_sync, "1s|always|none",
         "how often the spool is flushed to disk: a power failure loses up to one "
         "second of text, nothing, or what the system had not written yet (default "
         "1s)"},
        {"from-start", 0, OPTION_FLAG, &options->from_start, NULL,
         "with --resume: read sources again that have been read before"},
        {"max-errors", 0, OPTION_TEXT, &options->max_errors_text, "N",
         "stop with exit code 3 after more than N malformed records (default: no "
         "limit)"},
        {"property", 'X', OPTION_LIST, &options->properties, "KEY=VALUE",
         "set a property of librdkafka; may be repeated"},
        {"quiet", 'q', OPTION_FLAG, &options->quiet, NULL,
         "print only warnings and errors"},
    };
    enum { SHARED = sizeof shared / sizeof *shared };
    option all[SHARED + EXTRA_OPTIONS_MAX + 1] = {0};
    size_t extra = 0;
    for (; usage.options && usage.options[extra].name; extra++) {
        assert(extra < EXTRA_OPTIONS_MAX);
        all[extra] = usage.options[extra];
    }
    memcpy(all + extra, shared, sizeof shared);
    usage.options = all;
    usage.advanced = "spool-limit spool-sync from-start max-errors property";
    options->backups = BACKUPS_DEFAULT;
    options->input.command = usage.command;
    options->input.source_count =
        parse_options(argc, argv, &usage, &options->input.typed);
    options->input.sources = argv;
    complete(options);
}

void train_options_release(train_options *options)
{
    free(options->served_sources);
    text_list_free(&options->properties);
    text_list_free(&options->every);
    settings_free(&options->input.typed);
}
