/* print_records.c - prints the result of each record, for tests in other languages.
 *
 *     print_records json|csv|tsv TEXT TIME LABEL < INPUT
 *
 * Feeds one line at a time and prints its result: "good" and the text in hexadecimal,
 * "malformed", "missing", "too_long", or "none" if no record has ended.
 */
#include "record/record.h"

#include <stdlib.h>

static tide_record_kind parse_kind(const char *name)
{
    return strcmp(name, "csv") == 0   ? TIDE_RECORDS_CSV
           : strcmp(name, "tsv") == 0 ? TIDE_RECORDS_TSV
                                      : TIDE_RECORDS_JSON;
}

/* Prints what has been found since the counts `before`. */
static void print_found(tide_records *r, const tide_record_counts *before)
{
    const char *text;
    size_t size;
    bool found = false;
    while (tide_records_next(r, &text, &size)) {
        found = true;
        printf("good ");
        for (size_t i = 0; i < size; i++)
            printf("%02x", (unsigned char)text[i]);
        printf("\n");
    }
    tide_record_counts now = tide_records_counted(r);
    if (now.malformed > before->malformed)
        printf("malformed\n");
    else if (now.missing > before->missing)
        printf("missing\n");
    else if (now.too_long > before->too_long)
        printf("too_long\n");
    else if (!found)
        printf("none\n");
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return EXIT_FAILURE;
    tide_error err;
    tide_record_options options = {
        parse_kind(argv[1]), argv[2], argv[3], argv[4], false, 0};
    tide_records *r = tide_records_new(&options, &err);
    if (!r) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    if (options.kind ==
        TIDE_RECORDS_JSON) { /* an object in one line: the input is not a document */
        const char *text;
        size_t size;
        tide_records_feed(r, "{}\n", 3);
        tide_records_next(r, &text, &size);
    }
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
        tide_record_counts before = tide_records_counted(r);
        for (size_t fed = 0; fed < (size_t)size;)
            fed += tide_records_feed(r, line + fed, (size_t)size - fed);
        if (feof(stdin))
            tide_records_end(r);
        print_found(r, &before);
    }
    free(line);
    tide_records_free(r);
    return EXIT_SUCCESS;
}
