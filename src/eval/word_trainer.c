/* word_trainer.c - a trainer that is told one word after the other. */
#include "eval/eval.h"
#include "model/model.h"
#include "params/params.h"
#include "run/run.h"

#include <stdlib.h>

enum { ROOM = 64 * 1024 };

struct tide_word_trainer {
    tide_trainer *trainer;
    size_t used;
    char heard[ROOM]; /* and not yet learned */
};

tide_word_trainer *tide_word_trainer_new(const tide_params *params, tide_error *err)
{
    tide_word_trainer *p = tide_alloc(1, sizeof *p);
    if (!p) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to train");
        return NULL;
    }
    p->trainer = tide_sentence_reader_trainer(params, err);
    if (p->trainer)
        return p;
    free(p);
    return NULL;
}

void tide_word_trainer_free(tide_word_trainer *p)
{
    if (!p)
        return;
    tide_trainer_free(p->trainer);
    free(p);
}

static void learn(tide_word_trainer *p)
{
    tide_trainer_feed(p->trainer, p->heard, p->used, NULL);
    p->used = 0;
}

void tide_word_trainer_add(tide_word_trainer *p, const tide_word *word)
{
    if (ROOM - p->used <= word->length)
        learn(p);
    memcpy(p->heard + p->used, word->bytes, word->length);
    p->used += word->length;
    p->heard[p->used++] = ' ';
}

void tide_word_trainer_end_sentence(tide_word_trainer *p)
{
    if (p->used == ROOM)
        learn(p);
    p->heard[p->used++] = '\n';
}

void tide_word_trainer_stats(const tide_word_trainer *p, tide_stats *stats)
{
    tide_trainer_stats(p->trainer, stats);
}

const tide_model *tide_word_trainer_drain(tide_word_trainer *p)
{
    learn(p);
    tide_trainer_end(p->trainer, NULL);
    return tide_trainer_model(p->trainer);
}
