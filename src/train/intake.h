/* intake.h - what the files of the intake share. */
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
    bool fixed; /* no word comes or goes, and nothing is counted */

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
    uint64_t left_out; /* of them, because nobody knows them and the words are fixed */
    uint64_t cut_sentences;

    void (*pause)(void *data);
    void *pause_data;
    uint64_t pause_every;
    uint64_t next_pause; /* in tokens; UINT64_MAX for none */
};

/* Whether tokens of a word that lost its slot are looked for again when it gets one within the same
 * sentence. With the gate that is rare enough to leave them out. */
bool tide_intake_words_return(const tide_intake *in);

/* What the keeping of frequent words is measured by: a count above this may be thinned out. */
double tide_intake_threshold(const tide_intake *in);

/* -- words (intake_words.c) ------------------------------------------------------------------------ */

/* Takes words of the sentence being read, of which there may be WORDS_AT_ONCE; returns how many are
 * in it. */
size_t tide_intake_take(tide_intake *in, tide_word *words, size_t count);

/* The sentence ends: takes the words that waited for that. */
void tide_intake_take_held(tide_intake *in);

/* Gives the slot's word its first vectors; the second only if no earlier lesson can get in the way
 * any more, and says whether. */
void tide_intake_start_slot(tide_intake *in, uint32_t slot);
bool tide_intake_open_slot(tide_intake *in, uint32_t slot);

static inline bool tide_intake_is_closed(const tide_intake *in, uint32_t slot)
{
    return in->closed[slot / 64] >> (slot % 64) & 1;
}

#endif
