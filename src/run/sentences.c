/* sentences.c - the words of sources, for those who want to do something to them before they are
 * learned.
 *
 *     sources ──bytes──► reader ──words──► the caller ──words, blanks between──► trainer
 *
 * Words come out as they would go into training. A trainer for such words takes whatever is between
 * two blanks as one.
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
    size_t next;         /* of the sources */
    tide_source *source; /* NULL between two */
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

/* The source has ended: so has its last sentence. What is wrong with its columns is a failure, since
 * it gave no word. */
static int end_source(tide_sentence_reader *s, tide_error *err)
{
    const char *problem = tide_reader_problem(s->reader);
    if (problem)
        return tide_fail(err, TIDE_ERROR_INPUT, "%s: %s", s->sources[s->next - 1],
                         problem);
    tide_source_close(s->source);
    s->source = NULL;
    tide_reader_end(s->reader);
    return 1;
}

/* Returns 1 when the reader has been given something, 0 when there is nothing more. */
static int refill(tide_sentence_reader *s, tide_error *err)
{
    if (s->used < s->size) {
        s->used += tide_reader_feed(s->reader, s->block + s->used, s->size - s->used);
        return 1;
    }
    if (!s->source && s->next == s->source_count)
        return 0;
    if (!s->source)
        s->source = tide_source_open(s->sources[s->next++], err);
    if (!s->source)
        return (int)err->status;
    ptrdiff_t size = tide_source_read(s->source, s->block, sizeof s->block, err);
    s->used = 0;
    s->size = size > 0 ? (size_t)size : 0;
    return size < 0 ? (int)size : size ? 1 : end_source(s, err);
}

int tide_sentence_reader_take(tide_sentence_reader *s, tide_word *words, size_t room,
                              bool *sentence_ended, tide_error *err)
{
    tide_error ignored = {0};
    int status = 1;
    while (status > 0) {
        size_t count = tide_reader_take(s->reader, words, room, sentence_ended);
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
