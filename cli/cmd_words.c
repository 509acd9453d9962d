/* cmd_words.c - wordtide words: the vocabulary with counts and error bounds. */
#include "asking.h"
#include "commands.h"
#include "output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_word(const void *a, const void *b)
{
    return strcmp(((const tide_entry *)a)->word, ((const tide_entry *)b)->word);
}

static void print_entry(const tide_entry *entry, bool json, bool counted)
{
    const char *none = json ? "null" : "-";
    char count[SHORT_TEXT], error[SHORT_TEXT];
    snprintf(count, sizeof count, "%" PRIu64, entry->count);
    snprintf(error, sizeof error, "%" PRIu64, entry->error);
    if (json) {
        printf("{\"word\":");
        print_json(entry->word);
    } else {
        print_word(entry->word);
    }
    printf(json ? ",\"count\":%s,\"error\":%s}\n" : "\t%s\t%s\n",
           counted ? count : none, counted ? error : none);
}

/* Keeps the entries with the prefix, in their order, and at most `most` of them. */
static size_t select_entries(tide_entry *entries, size_t count, const char *prefix,
                             uint64_t most)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < most; i++)
        if (!strncmp(entries[i].word, prefix, strlen(prefix)))
            entries[kept++] = entries[i];
    return kept;
}

int cmd_words(int argc, char **argv)
{
    enum { SORT_COUNT, SORT_WORD };
    uint64_t most = UINT64_MAX;
    const char *prefix = "";
    int sort = SORT_COUNT;
    bool json = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &most, "N", "at most so many (default: all)"},
        {"prefix", 0, OPTION_TEXT, &prefix, "TEXT", "only words that begin so"},
        {"sort", 0, OPTION_CHOICE, &sort, "count|word",
         "by falling count or by the bytes of the word (default count)"},
        {"json", 0, OPTION_FLAG, &json, NULL, "print a JSON object a word"},
        {0},
    };
    const command_usage usage = {
        "words",
        "words [OPTION]... MODEL",
        "Prints the words a model holds: word, count and error, separated by tabs. The "
        "word was seen at most count times and at least count - error times. A file of "
        "vectors mostly does not tell; then both are '-', null in JSON, and the words "
        "come in the order of the file.",
        options,
        "wordtide words news.tide -n 20\n"
        "wordtide words news.tide --prefix un --sort word\n",
        .least = 1,
        .most = 1,
    };
    parse_options(argc, argv, &usage, NULL);
    tide_error err;
    tide_model *model = tide_model_open(argv[0], &err);
    if (!model)
        return report_load(&err);
    size_t count;
    tide_entry *entries = asking_words(model, &count);
    if (!entries) {
        tide_model_free(model);
        return EXIT_FAILURE;
    }
    if (sort == SORT_WORD)
        qsort(entries, count, sizeof *entries, by_word);
    count = select_entries(entries, count, prefix, most);
    for (size_t i = 0; i < count && output_ok(); i++)
        print_entry(&entries[i], json, !tide_model_origin(model).uncounted);
    free(entries);
    tide_model_free(model);
    return finish_output(EXIT_SUCCESS);
}
