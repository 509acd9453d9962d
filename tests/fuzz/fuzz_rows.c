/* fuzz_rows.c - arbitrary bytes as a file of vectors.
 *
 * The first byte is the format: 0 to detect it, or 1 plus the index in the table of
 * formats. The second byte times four is the size of the file of words that belongs to
 * an array; the rest is the file itself. A file that opens must yield rows of words and
 * finite numbers; any failure must have an error message.
 */
#include "format/format.h"
#include "vector/vector.h"
#include "fuzz_fixture.h"

static char folder[FOLDER_MAX], array_path[IN_FOLDER_MAX], words_path[IN_FOLDER_MAX];

static void remove_folder(void)
{
    unlink(array_path);
    unlink(words_path);
    rmdir(folder);
}

static void enter(void)
{
    make_folder(folder);
    snprintf(array_path, sizeof array_path, "%s/x.npy", folder);
    snprintf(words_path, sizeof words_path, "%s/x.words.tsv", folder);
    must(atexit(remove_folder) == 0);
}

static void read_all(tide_rows *rows, size_t size)
{
    tide_error err = {.text = ""};
    tide_row row;
    uint64_t count = 0;
    int got;
    uint32_t dim = tide_rows_dim(rows);
    must(dim >= 1 && dim <= TIDE_DIM_MAX && tide_rows_format(rows));
    while ((got = tide_rows_next(rows, &row, &err)) > 0) {
        must(row.length >= 1 && row.length <= TIDE_WORD_MAX);
        must(strlen(row.word) == row.length && tide_is_word(row.word, row.length));
        for (uint32_t d = 0; d < dim; d++)
            must(tide_finite(row.vector[d]));
        count++;
    }
    must(count + tide_rows_left_out(rows) <= size);
    if (got < 0)
        must_have_error_text(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0])
        enter();
    if (size < 2)
        return 0;
    size_t formats, words = 4 * (size_t)data[1];
    const tide_format_info *table = tide_formats(&formats);
    const char *format = data[0] ? table[data[0] % formats].name : NULL;
    data += 2;
    size -= 2;
    if (words > size)
        words = size;
    spit(words_path, data, words);
    spit(array_path, data + words, size - words);
    tide_error err = {.text = ""};
    tide_rows *rows = tide_rows_open(array_path, format, &err);
    if (rows)
        read_all(rows, size);
    else
        must_have_error_text(&err);
    tide_rows_close(rows);
    return 0;
}
