/* train.h - learning: parameters and the trainer. The public part is in wordtide.h. */
#ifndef TIDE_TRAIN_H
#define TIDE_TRAIN_H

#include "base/base.h"
#include "model/model.h"
#include "sketch/sketch.h"
#include "text/text.h"
#include "vector/vector.h"

/* -- sentences (sentences.c) -------------------------------------------------------------------- */

/* The words of sources, one sentence after the other, as a trainer with these parameters finds them. */
typedef struct tide_sentences tide_sentences;

/* The sources must live as long; they are opened when their turn has come. */
tide_sentences *tide_sentences_open(const tide_params *params,
                                    const char *const *sources, size_t count,
                                    tide_error *err);
void tide_sentences_close(tide_sentences *sentences);

/* The next words of the present sentence, at most `room`, valid until the next call; returns how many.
 * *sentence_ended says that the sentence ends after them. 0 words of a sentence that has not ended
 * are the end of all. */
int tide_sentences_take(tide_sentences *sentences, tide_word *words, size_t room,
                        bool *sentence_ended, tide_error *err);

/* Seconds since 1970 of the record that the words are from, or the latest before it that had a time;
 * NAN without. */
double tide_sentences_time(const tide_sentences *sentences);

/* A trainer with these parameters to which words are fed that have been found already: a blank after
 * each, and a line feed after a sentence. */
tide_trainer *tide_sentences_trainer(const tide_params *params, tide_error *err);

/* -- parameters (params_settle.c) ----------------------------------------------------------------- */

/* The model that a trainer with these parameters makes. */
tide_shape tide_params_shape(const tide_params *params);

#endif
