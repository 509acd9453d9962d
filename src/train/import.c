/* import.c - a stream that begins with vectors learned elsewhere.
 *
 * Files of vectors mostly have no counts, and the vocabulary cannot do without: they decide which
 * words stay, how often a word is drawn as a negative and how much it still moves. gensim and
 * word2vec.c write counts beside the vectors; where there are none, the order of the words is taken
 * for their rank and Zipf's law for their counts.
 */
#include "train/parts.h"

#include <errno.h>
#include <stdlib.h>

enum { RAREST = 10, LINE_MAX_BYTES = 4096 };

/* -- counts ------------------------------------------------------------------------------------------ */

/* "word count" in a line. */
static bool scan_line(char *line, tide_word *word, uint64_t *count)
{
    size_t length = strcspn(line, " \t\r\n");
    char *end, *number = line + length + strspn(line + length, " \t");
    errno = 0;
    *count = strtoull(number, &end, 10);
    *word = (tide_word){line, (uint32_t)length};
    return length && length <= TIDE_WORD_MAX && end > number && !errno && *count &&
           *number != '-' && !end[strspn(end, " \t\r\n")];
}

static uint64_t count_lines(FILE *file)
{
    uint64_t lines = 1;
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    rewind(file);
    return lines;
}

/* A vocabulary that is used as a table from words to counts. */
static tide_vocabulary *read_counts(const char *path, tide_error *err)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    uint64_t lines = count_lines(file), number = 0, count;
    tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT};
    options.capacity = lines < TIDE_CAPACITY_MAX ? (uint32_t)lines : TIDE_CAPACITY_MAX;
    tide_vocabulary *counts = tide_vocabulary_new(&options, err);
    char line[LINE_MAX_BYTES];
    while (counts && fgets(line, sizeof line, file)) {
        tide_word word;
        number++;
        if (!scan_line(line, &word, &count)) {
            tide_fail(err, TIDE_ERROR_FORMAT, "%s:%llu: not a word and its count", path,
                      (unsigned long long)number);
            tide_vocabulary_free(counts);
            counts = NULL;
        } else {
            tide_vocabulary_grant(counts, &word, count);
        }
    }
    fclose(file);
    return counts;
}

/* -- rows --------------------------------------------------------------------------------------------- */

static uint64_t count_of(const tide_row *row, const tide_word *word,
                         const tide_vocabulary *counts, uint64_t rank, uint64_t words)
{
    if (row->count)
        return row->count;
    if (!counts)
        return RAREST * words / rank + (rank > words);
    uint32_t slot = tide_vocabulary_find(counts, word);
    return slot == TIDE_NO_SLOT ? 1 : tide_vocabulary_count(counts, slot);
}

/* With subwords a vector is the mean of the word's own row and those of its n-grams, so its own is
 * what is missing to that. */
static void put_vector(tide_model *model, uint32_t slot, const float *vector)
{
    float *row = tide_matrix_row(&model->input, slot);
    uint32_t dim = model->shape.dim,
             parts = model->ngrams ? model->ngrams[slot].count : 0;
    for (uint32_t d = 0; d < dim; d++)
        row[d] = vector[d] * (float)(parts + 1);
    for (uint32_t i = 0; i < parts; i++) {
        const float *other =
            tide_matrix_row(&model->subword, model->ngrams[slot].ids[i]);
        for (uint32_t d = 0; d < dim; d++)
            row[d] -= other[d];
    }
}

static int take_rows(tide_intake *intake, const tide_learner *learner, tide_rows *rows,
                     const tide_vocabulary *counts, tide_imported *done,
                     tide_error *err)
{
    uint64_t capacity = learner->params->vocab, rank = 0, words = tide_rows_count(rows);
    words = words && words < capacity ? words : capacity;
    tide_row row;
    int status;
    while ((status = tide_rows_next(rows, &row, err)) > 0) {
        char padded[TIDE_WORD_MAX + 16] = {0};
        memcpy(padded, row.word, row.length);
        tide_word word = {padded, row.length};
        uint64_t count = count_of(&row, &word, counts, ++rank, words);
        uint32_t slot = tide_intake_grant(intake, &word, count);
        if (slot == TIDE_NO_SLOT) {
            bool held =
                tide_vocabulary_find(learner->model->vocabulary, &word) != TIDE_NO_SLOT;
            *(held ? &done->left_out : &done->no_room) += 1;
            continue;
        }
        put_vector(learner->model, slot, row.vector);
        tide_rates_credit(learner->rates, slot, count);
        done->words++;
    }
    done->left_out += tide_rows_left_out(rows);
    return status;
}

int tide_import(tide_intake *intake, const tide_learner *learner, tide_rows *rows,
                const char *counts_path, tide_imported *done, tide_error *err)
{
    *done = (tide_imported){0};
    if (tide_vocabulary_tokens(learner->model->vocabulary))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "vectors can be imported only before anything is learned");
    if (tide_rows_dim(rows) != learner->model->shape.dim)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the vectors have %u numbers, and --dim says %u",
                         tide_rows_dim(rows), learner->model->shape.dim);
    tide_vocabulary *counts = NULL;
    if (counts_path && !(counts = read_counts(counts_path, err)))
        return err ? (int)err->status : TIDE_ERROR_IO;
    int status = take_rows(intake, learner, rows, counts, done, err);
    tide_vocabulary_free(counts);
    return status;
}
