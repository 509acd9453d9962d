/* run.h - runs over sources, and the parts of a run that others use. The public part is
 * in wordtide.h. */
#ifndef TIDE_RUN_H
#define TIDE_RUN_H

#include "file/file.h"
#include "params/params.h"

/* -- checkpoint writer (checkpoint_writer.c) -------------------------------------- */

/* Writes checkpoints to the disk in a thread of its own while training continues. It
 * handles one job at a time: before the next one is passed, the last must be done
 * (tide_checkpoint_writer_busy) and the result of a finished file collected. */
typedef struct tide_checkpoint_writer tide_checkpoint_writer;

tide_checkpoint_writer *tide_checkpoint_writer_new(tide_error *err);

/* Waits for the current job. */
void tide_checkpoint_writer_free(tide_checkpoint_writer *writer);

/* Preallocates the file in the background, as tide_store_preallocate. The caller keeps
 * owning `file` but must not touch it before this is done. */
void tide_checkpoint_writer_preallocate(tide_checkpoint_writer *writer,
                                        tide_store_writer *file, uint64_t bytes);

/* From here on the thread writes what the caller puts into the file. Takes over `file`,
 * also on failure. */
int tide_checkpoint_writer_start(tide_checkpoint_writer *writer,
                                 tide_store_writer *file, tide_error *err);

/* The caller has finished the file: it is synced and moved into place. `keep` as in
 * tide_store_commit_keeping. */
void tide_checkpoint_writer_finish(tide_checkpoint_writer *writer, uint32_t keep);

/* Whether a job is still running after waiting up to `wait_ms` for it. */
bool tide_checkpoint_writer_busy(tide_checkpoint_writer *writer, int wait_ms);

typedef struct tide_checkpoint_result {
    int status; /* TIDE_OK if the file is safe and in place */
    tide_error error;
    double seconds; /* from finish until then */
} tide_checkpoint_result;

/* Reports the result of the last finished file, once. Returns false if there is none,
 * or none yet. */
bool tide_checkpoint_writer_result(tide_checkpoint_writer *writer,
                                   tide_checkpoint_result *result);

/* -- sentences of sources (sentences.c) ------------------------------------------- */

/* The words of sources, sentence by sentence, as a trainer with these parameters reads
 * them. */
typedef struct tide_sentence_reader tide_sentence_reader;

/* The strings must outlive the reader. Each source is opened when it is reached. */
tide_sentence_reader *tide_sentence_reader_open(const tide_params *params,
                                                const char *const *sources,
                                                size_t count, tide_error *err);
void tide_sentence_reader_close(tide_sentence_reader *sentences);

/* Reads up to `max` words of the current sentence, valid until the next call, and
 * returns their number. *sentence_ended says that the sentence ends after them. 0 words
 * of a sentence that has not ended mean the end of all sources. */
int tide_sentence_reader_next(tide_sentence_reader *sentences, tide_word *words,
                              size_t max, bool *sentence_ended, tide_error *err);

/* Unix time of the record that the words are from, or of the latest one before it that
 * had a time; NAN if there is none. */
double tide_sentence_reader_time(const tide_sentence_reader *sentences);

/* A trainer with these parameters for words that were read already. The caller feeds a
 * blank after each word and a line feed after each sentence. */
tide_trainer *tide_sentence_reader_trainer(const tide_params *params, tide_error *err);

#endif
