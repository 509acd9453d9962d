/* intake.h - what intake.c and intake_file.c share. */
#ifndef TIDE_TRAIN_INTAKE_H
#define TIDE_TRAIN_INTAKE_H

#include "train/parts.h"

enum { WORDS_AT_ONCE = 64 };

typedef struct held_word {
    char bytes[TIDE_WORD_MAX];
    uint32_t length;
} held_word;

struct tide_intake {
    const tide_params *params;
    tide_model *model;
    tide_rates *rates;
    const tide_learner *learner;
    tide_school school;

    tide_reader *reader;
    tide_sampler *sampler;
    tide_replay *replay;
    tide_rng rng; /* decides which frequent words stay */

    uint32_t *slots; /* [SENTENCE_MAX + WORDS_AT_ONCE] of the sentence being read */
    uint64_t *
        hashes; /* the same for word hashes, where a word may leave and come back in it */
    uint32_t count;
    uint32_t read; /* its tokens so far */
    held_word *
        held; /* [SENTENCE_MAX] the words themselves, where counting waits for its end */
    bool continued;     /* the line goes on after a sentence was cut off it */
    uint32_t *kept;     /* [SENTENCE_MAX] */
    float *chances;     /* [SENTENCE_MAX] of the same to stay */
    uint64_t *admitted; /* [vocab] sentence in which the slot's word came */
    uint64_t *closed;   /* bit per slot */
    uint64_t
        table_since; /* sentence from which on the sampler's present table is drawn from */

    uint64_t sentence; /* the one being read, from 1 */
    uint64_t lessons;
    uint64_t tokens;
    uint64_t cut_sentences;
};

/* Whether tokens of a word that lost its slot are looked for again when it gets one within the same
 * sentence. With the gate that is rare enough to leave them out. */
bool tide_intake_words_return(const tide_intake *in);

#endif
