/* print_rows.c - prints the rows of a file of vectors, for tests that compare them.
 *
 *     print_rows PATH [FORMAT]
 *
 * Prints "FORMAT DIM COUNT", then one line per row with the word, its count and the
 * bits of its numbers in hexadecimal, separated by tabs, and finally "left out N". On
 * failure prints one line to standard error and exits with status 1.
 */
#include <wordtide.h>
#include <wordtide/formats.h>

#include <stdio.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_row(const tide_row *row, uint32_t dim)
{
    printf("%s\t%" PRIu64 "\t", row->word, row->count);
    for (uint32_t d = 0; d < dim; d++) {
        uint32_t bits;
        memcpy(&bits, &row->vector[d], sizeof bits);
        printf("%08" PRIx32, bits);
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    tide_error err;
    if (argc < 2)
        return EXIT_FAILURE;
    tide_rows *rows = tide_rows_open(argv[1], argc > 2 ? argv[2] : NULL, &err);
    tide_row row;
    int got = -1;
    if (rows) {
        printf("%s %" PRIu32 " %" PRIu64 "\n", tide_rows_format(rows),
               tide_rows_dim(rows), tide_rows_count(rows));
        while ((got = tide_rows_next(rows, &row, &err)) > 0)
            print_row(&row, tide_rows_dim(rows));
        printf("left out %" PRIu64 "\n", tide_rows_left_out(rows));
    }
    if (got < 0)
        fprintf(stderr, "%s\n", err.text);
    tide_rows_close(rows);
    return got < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
