/* import.c - starts a stream from vectors trained elsewhere.
 *
 * Files of vectors mostly have no counts, but the vocabulary needs them: counts decide
 * which words stay, how often a word is drawn as a negative and how much it still
 * moves. gensim and word2vec.c write counts beside the vectors. Without them, the order
 * of the words is taken as their rank and the counts follow Zipf's law; their whole
 * value is then recorded as possible error.
 */
#include "train/import.h"

#include "format/format.h"
#include "model/model.h"
#include "sgns/sgns.h"
#include "train/train.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <errno.h>
#include <stdlib.h>

enum { ZIPF_MIN = 10, FIRST_CAPACITY = 1 << 16, PADDING = 16 };

/* -- counts ------------------------------------------------------------------------ */

/* Reads a whole file, which may be a pipe, and appends PADDING zeros. */
static char *read_file(FILE *file, const char *path, size_t *size, tide_error *err)
{
    char *bytes = NULL;
    for (size_t capacity = FIRST_CAPACITY; capacity < SIZE_MAX / 2; capacity *= 2) {
        char *larger = tide_alloc(capacity + PADDING, 1);
        if (!larger)
            break;
        if (bytes)
            memcpy(larger, bytes, *size);
        free(bytes);
        bytes = larger;
        *size += fread(bytes + *size, 1, capacity - *size, file);
        if (ferror(file)) {
            tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
            free(bytes);
            return NULL;
        }
        if (*size < capacity)
            return bytes;
    }
    free(bytes);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", path);
    return NULL;
}

/* Parses a line "word count". */
static bool scan_line(char *line, tide_word *word, uint64_t *count)
{
    size_t length = strcspn(line, " \t\r");
    char *end, *number = line + length + strspn(line + length, " \t");
    errno = 0;
    *count = strtoull(number, &end, 10);
    *word = (tide_word){line, length <= TIDE_WORD_MAX ? (uint32_t)length : 0};
    return length && *number >= '0' && *number <= '9' && !errno &&
           !end[strspn(end, " \t\r")];
}

/* Lines with a count of 0, which word2vec.c writes, and with words that are too long
 * for the vocabulary are ignored. */
static bool parse_counts(tide_vocabulary *counts, char *bytes, size_t size,
                         const char *path, tide_error *err)
{
    unsigned long long number = 0;
    for (char *at = bytes, *end = bytes + size; at < end;) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        char *next = newline ? newline + 1 : end;
        if (newline)
            *newline = 0;
        tide_word word;
        uint64_t count;
        number++;
        if (!scan_line(at, &word, &count)) {
            tide_fail(err, TIDE_ERROR_FORMAT, "%s:%llu: not a word and its count", path,
                      number);
            return false;
        }
        if (count && word.length)
            tide_vocabulary_insert(counts, &word, count, 0);
        at = next;
    }
    return true;
}

/* Returns a vocabulary that serves as a table from words to counts. */
static tide_vocabulary *new_counts(char *bytes, size_t size, const char *path,
                                   tide_error *err)
{
    uint64_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT};
    options.capacity = lines < TIDE_CAPACITY_MAX ? (uint32_t)lines : TIDE_CAPACITY_MAX;
    tide_vocabulary *counts = tide_vocabulary_new(&options, err);
    if (counts && parse_counts(counts, bytes, size, path, err))
        return counts;
    tide_vocabulary_free(counts);
    return NULL;
}

static tide_vocabulary *read_counts(const char *path, tide_error *err)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    size_t size = 0;
    char *bytes = read_file(file, path, &size, err);
    fclose(file);
    tide_vocabulary *counts = bytes ? new_counts(bytes, size, path, err) : NULL;
    free(bytes);
    return counts;
}

/* -- rows -------------------------------------------------------------------------- */

/* How often a word was seen, and how much too high that may be. */
typedef struct estimate {
    uint64_t count, error;
} estimate;

static estimate estimate_count(const tide_row *row, const tide_word *word,
                               const tide_vocabulary *counts, uint64_t rank,
                               uint64_t words)
{
    if (row->count)
        return (estimate){row->count, row->error};
    if (counts) {
        uint32_t slot = tide_vocabulary_find(counts, word);
        return slot == TIDE_NO_SLOT
                   ? (estimate){1, 1}
                   : (estimate){tide_vocabulary_count(counts, slot), 0};
    }
    uint64_t zipf = ZIPF_MIN * words / rank + (rank > words);
    return (estimate){zipf, zipf};
}

static int import_rows(tide_ingest *ingest, const tide_sgns *sgns, tide_rows *rows,
                       const tide_vocabulary *counts, tide_imported *done,
                       tide_error *err)
{
    uint64_t capacity = sgns->params->vocab, rank = 0, words = tide_rows_count(rows);
    words = words && words < capacity ? words : capacity;
    tide_row row;
    int status;
    while ((status = tide_rows_next(rows, &row, err)) > 0) {
        char padded[TIDE_WORD_MAX + 16] = {0};
        memcpy(padded, row.word, row.length);
        tide_word word = {padded, row.length};
        estimate w = estimate_count(&row, &word, counts, ++rank, words);
        uint32_t slot = tide_ingest_insert(ingest, &word, w.count, w.error);
        if (slot == TIDE_NO_SLOT) {
            bool held =
                tide_vocabulary_find(sgns->model->vocabulary, &word) != TIDE_NO_SLOT;
            *(held ? &done->duplicates : &done->beyond_capacity) += 1;
            continue;
        }
        memcpy(tide_matrix_row(&sgns->model->input, slot), row.vector,
               sgns->model->shape.dim * sizeof *row.vector);
        tide_optimizer_credit(sgns->optimizer, slot, w.count);
        done->words++;
        done->uncounted += counts && !row.count && w.error;
    }
    done->left_out = tide_rows_left_out(rows);
    return status;
}

int tide_import(tide_ingest *ingest, const tide_sgns *sgns, tide_rows *rows,
                const char *counts_path, tide_imported *done, tide_error *err)
{
    *done = (tide_imported){0};
    if (tide_vocabulary_tokens(sgns->model->vocabulary))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "vectors can be imported only before anything is trained");
    if (tide_rows_dim(rows) != sgns->model->shape.dim)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the vectors have %u dimensions, but dim is %u",
                         tide_rows_dim(rows), sgns->model->shape.dim);
    tide_vocabulary *counts = NULL;
    if (counts_path && !(counts = read_counts(counts_path, err)))
        return err ? (int)err->status : TIDE_ERROR_IO;
    int status = import_rows(ingest, sgns, rows, counts, done, err);
    tide_vocabulary_free(counts);
    return status;
}
