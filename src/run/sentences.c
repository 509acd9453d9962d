/* sentences.c - the words of sources, for callers that process them before training.
 *
 *     sources ──bytes──► reader ──words──► caller ──words, separated by blanks──► trainer
 *
 * The words are the ones that training on the same sources would see. The trainer made
 * for them takes anything between two blanks as one word.
 */
#include "params/params.h"
#include "reader/reader.h"
#include "run/run.h"
#include "train/train.h"

#include <stdlib.h>

enum { BLOCK = 64 * 1024 };

struct tide_sentence_reader {
    tide_params params;
    const char *const *sources;
    size_t source_count;
    size_t next_source;
    tide_source *source; /* NULL if none is open */
    tide_reader *reader;
    size_t size, used; /* of the block */
    char block[BLOCK];
};

tide_sentence_reader *tide_sentence_reader_open(const tide_params *params,
                                                const char *const *sources,
                                                size_t count, tide_error *err)
{
    tide_sentence_reader *s = tide_alloc(1, sizeof *s);
    if (!s) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read sentences");
        return NULL;
    }
    s->params = *params;
    s->sources = sources;
    s->source_count = count;
    if (!tide_params_complete(&s->params, err))
        s->reader = tide_reader_new(&s->params, NULL, err);
    if (s->reader)
        return s;
    tide_sentence_reader_close(s);
    return NULL;
}

void tide_sentence_reader_close(tide_sentence_reader *s)
{
    if (!s)
        return;
    tide_source_close(s->source);
    tide_reader_free(s->reader);
    free(s);
}

/* The end of a source ends its last sentence. A problem with its columns is an error,
 * since the source has yielded no words. */
static int end_source(tide_sentence_reader *s, tide_error *err)
{
    const char *problem = tide_reader_problem(s->reader);
    if (problem)
        return tide_fail(err, TIDE_ERROR_INPUT, "%s: %s",
                         s->sources[s->next_source - 1], problem);
    tide_source_close(s->source);
    s->source = NULL;
    tide_reader_end(s->reader);
    return 1;
}

/* Feeds the reader. Returns 1 if there may be more words, 0 at the end of the last
 * source. */
static int refill(tide_sentence_reader *s, tide_error *err)
{
    if (s->used < s->size) {
        s->used += tide_reader_feed(s->reader, s->block + s->used, s->size - s->used);
        return 1;
    }
    if (!s->source && s->next_source == s->source_count)
        return 0;
    if (!s->source)
        s->source = tide_source_open(s->sources[s->next_source++], err);
    if (!s->source)
        return (int)err->status;
    ptrdiff_t size = tide_source_read(s->source, s->block, sizeof s->block, err);
    s->used = 0;
    s->size = size > 0 ? (size_t)size : 0;
    return size < 0 ? (int)size : size ? 1 : end_source(s, err);
}

int tide_sentence_reader_next(tide_sentence_reader *s, tide_word *words, size_t max,
                              bool *sentence_ended, tide_error *err)
{
    tide_error ignored = {0};
    int status = 1;
    while (status > 0) {
        size_t count = tide_reader_next(s->reader, words, max, sentence_ended);
        if (count || *sentence_ended)
            return (int)count;
        status = refill(s, err ? err : &ignored);
    }
    return status;
}

double tide_sentence_reader_time(const tide_sentence_reader *s)
{
    tide_stats stats = {0};
    tide_reader_stats(s->reader, &stats);
    return stats.time;
}

tide_trainer *tide_sentence_reader_trainer(const tide_params *params, tide_error *err)
{
    static const char *const plain[][2] = {
        {"records", "lines"}, {"text", ""},           {"time", ""},
        {"label-field", ""},  {"tokenizer", "space"}, {"stop-words", ""},
        {"min-length", "1"},  {"max-length", "63"},   {"phrases", "0"},
    };
    tide_params words = *params;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (tide_params_set(&words, plain[i][0], plain[i][1], err) < 0)
            return NULL;
    return tide_trainer_new(&words, err);
}
