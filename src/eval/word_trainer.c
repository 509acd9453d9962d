/* word_trainer.c - a trainer that is fed word by word. */
#include "eval/eval.h"
#include "model/model.h"
#include "params/params.h"
#include "run/run.h"

#include <stdlib.h>

enum { BUFFER_BYTES = 64 * 1024 };

struct tide_word_trainer {
    tide_trainer *trainer;
    size_t used;
    char pending[BUFFER_BYTES]; /* [used] text not yet fed to the trainer */
};

tide_word_trainer *tide_word_trainer_new(const tide_params *params, tide_error *err)
{
    tide_word_trainer *t = tide_alloc(1, sizeof *t);
    if (!t) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to train");
        return NULL;
    }
    t->trainer = tide_sentence_reader_trainer(params, err);
    if (t->trainer)
        return t;
    free(t);
    return NULL;
}

void tide_word_trainer_free(tide_word_trainer *t)
{
    if (!t)
        return;
    tide_trainer_free(t->trainer);
    free(t);
}

static void train_pending(tide_word_trainer *t)
{
    tide_trainer_feed(t->trainer, t->pending, t->used, NULL);
    t->used = 0;
}

void tide_word_trainer_add(tide_word_trainer *t, const tide_word *word)
{
    if (BUFFER_BYTES - t->used <= word->length)
        train_pending(t);
    memcpy(t->pending + t->used, word->bytes, word->length);
    t->used += word->length;
    t->pending[t->used++] = ' ';
}

void tide_word_trainer_end_sentence(tide_word_trainer *t)
{
    if (t->used == BUFFER_BYTES)
        train_pending(t);
    t->pending[t->used++] = '\n';
}

void tide_word_trainer_stats(const tide_word_trainer *t, tide_stats *stats)
{
    tide_trainer_stats(t->trainer, stats, sizeof *stats);
}

const tide_model *tide_word_trainer_drain(tide_word_trainer *t)
{
    train_pending(t);
    tide_trainer_end(t->trainer, NULL);
    return tide_trainer_model(t->trainer);
}
