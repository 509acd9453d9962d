/* cmd_words.c - wordtide words: the vocabulary with counts and error bounds. */
#include "commands.h"
#include "output.h"
#include "query_common.h"

#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_word(const void *a, const void *b)
{
    return strcmp(((const tide_entry *)a)->word, ((const tide_entry *)b)->word);
}

static void print_entry(const tide_entry *entry, bool json, bool counted)
{
    if (json) {
        tide_json_writer w = {0};
        tide_json_object(&w, NULL);
        tide_json_text(&w, "word", entry->word);
        if (counted) {
            tide_json_count(&w, "count", entry->count);
            tide_json_count(&w, "error", entry->error);
        } else {
            tide_json_text(&w, "count", NULL);
            tide_json_text(&w, "error", NULL);
        }
        tide_json_end(&w);
        return;
    }
    print_word(entry->word);
    if (counted)
        printf("\t%" PRIu64 "\t%" PRIu64 "\n", entry->count, entry->error);
    else
        puts("\t-\t-");
}

/* Keeps the first max_count entries with the prefix. Returns how many those are. */
static size_t select_entries(tide_entry *entries, size_t count, const char *prefix,
                             uint64_t max_count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < max_count; i++)
        if (!strncmp(entries[i].word, prefix, strlen(prefix)))
            entries[kept++] = entries[i];
    return kept;
}

int cmd_words(int argc, char **argv)
{
    enum { SORT_COUNT, SORT_WORD };
    uint64_t max_count = UINT64_MAX;
    const char *prefix = "";
    int sort = SORT_COUNT;
    bool json = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &max_count, "N",
         "print at most N words (default: all)"},
        {"prefix", 0, OPTION_TEXT, &prefix, "TEXT",
         "print only words with this prefix"},
        {"sort", 0, OPTION_CHOICE, &sort, "count|word",
         "sort by descending count, or by the bytes of the word (default count)"},
        {"json", 0, OPTION_FLAG, &json, NULL, "print a JSON object per word"},
        {0},
    };
    const command_usage usage = {
        "words",
        "words [OPTION]... MODEL",
        "Prints the words of a model with count and error, separated by tabs. A word "
        "was seen at most count and at least count - error times. Most files of "
        "vectors have no counts; then both are '-', or null in JSON, and the words are "
        "in the order of the file.",
        options,
        "wordtide words news.tide -n 20\n"
        "wordtide words news.tide --prefix un --sort word\n",
        .min_operands = 1,
        .max_operands = 1,
    };
    parse_options(argc, argv, &usage, NULL);
    tide_error err;
    tide_model *model = tide_model_open(argv[0], &err);
    if (!model)
        return log_load_error(&err);
    size_t count;
    tide_entry *entries = list_words(model, &count);
    if (!entries) {
        tide_model_free(model);
        return EXIT_FAILURE;
    }
    if (sort == SORT_WORD)
        qsort(entries, count, sizeof *entries, by_word);
    count = select_entries(entries, count, prefix, max_count);
    for (size_t i = 0; i < count && output_ok(); i++)
        print_entry(&entries[i], json, !tide_model_origin(model)->uncounted);
    free(entries);
    tide_model_free(model);
    return finish_output(EXIT_SUCCESS);
}
