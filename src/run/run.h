/* run.h - runs over sources, and what they offer to others. The public part is in wordtide.h. */
#ifndef TIDE_RUN_H
#define TIDE_RUN_H

#include "file/file.h"
#include "params/params.h"

/* -- checkpoint writer (checkpoint_writer.c) --------------------------------------- */

/* Makes checkpoints safe while training goes on. */
typedef struct tide_checkpoint_writer tide_checkpoint_writer;

tide_checkpoint_writer *tide_checkpoint_writer_new(tide_error *err);
void tide_checkpoint_writer_free(
    tide_checkpoint_writer *keeper); /* once the last is in its place */

/* Of all that is given to it, the one before must be done, and have been asked for if it was to be finished. */

/* As tide_store_preallocate: the caller keeps the file, and does not touch it before that is done. */
void tide_checkpoint_writer_preallocate(tide_checkpoint_writer *keeper,
                                        tide_store_writer *writer, uint64_t bytes);

/* From here on the keeper writes what is put into the file, and owns it, also after a failure. */
int tide_checkpoint_writer_start(tide_checkpoint_writer *keeper,
                                 tide_store_writer *writer, tide_error *err);

/* That file has been sealed. `older` as in tide_store_replace. */
void tide_checkpoint_writer_finish(tide_checkpoint_writer *keeper, uint32_t older);

/* Whether one is still on its way, after waiting for it for so long. */
bool tide_checkpoint_writer_busy(tide_checkpoint_writer *keeper, int wait_ms);

typedef struct tide_checkpoint_result {
    int status; /* TIDE_OK when the file is safe and in its place */
    tide_error error;
    double seconds; /* that it took */
} tide_checkpoint_result;

/* What became of the last one finished, once. False when nothing has, or not yet. */
bool tide_checkpoint_writer_result(tide_checkpoint_writer *keeper,
                                   tide_checkpoint_result *kept);

/* -- sentences of sources (sentences.c) -------------------------------------------- */

/* The words of sources, one sentence after the other, as a trainer with these parameters finds them. */
typedef struct tide_sentence_reader tide_sentence_reader;

/* The sources must live as long; they are opened when their turn has come. */
tide_sentence_reader *tide_sentence_reader_open(const tide_params *params,
                                                const char *const *sources,
                                                size_t count, tide_error *err);
void tide_sentence_reader_close(tide_sentence_reader *sentences);

/* The next words of the present sentence, at most `room`, valid until the next call; returns how many.
 * *sentence_ended says that the sentence ends after them. 0 words of a sentence that has not ended
 * are the end of all. */
int tide_sentence_reader_take(tide_sentence_reader *sentences, tide_word *words,
                              size_t room, bool *sentence_ended, tide_error *err);

/* Seconds since 1970 of the record that the words are from, or the latest before it that had a time;
 * NAN without. */
double tide_sentence_reader_time(const tide_sentence_reader *sentences);

/* A trainer with these parameters to which words are fed that have been found already: a blank after
 * each, and a line feed after a sentence. */
tide_trainer *tide_sentence_reader_trainer(const tide_params *params, tide_error *err);

#endif
