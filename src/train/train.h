/* train.h - the trainer and its parts. The public functions are in wordtide.h
 * and wordtide/labels.h. */
#ifndef TIDE_TRAIN_H
#define TIDE_TRAIN_H

#include "file/file.h"
#include "label/label.h"
#include "params/params.h"
#include "reader/reader.h"
#include "sgns/sgns.h"

#include <stdatomic.h>

/* -- memory budget (budget.c) ------------------------------------------------------ */

/* The bytes that a trainer allocates, and those of a process with it. */
uint64_t tide_budget_allocated(const tide_params *params);
uint64_t tide_budget_process(const tide_params *params);

/* Checks that the parameters fit together, and sets the vocabulary size if only the
 * memory was given. */
int tide_params_complete(tide_params *params, tide_error *err);

/* -- positions (positions.c) ------------------------------------------------------- */

/* How far an unfinished run has read its sources, so that the next run can resume
 * there. */
enum { SPEC_MAX = 4096, POSITION_MAX = 1 << 20 };

typedef struct tide_position {
    char *spec;   /* the source, as the user named it */
    char *text;   /* in the source's own format; NULL if none is known yet */
    bool live;    /* the saved state of the ingest continues this source's text */
    bool claimed; /* by a source of the resumed run */
} tide_position;

typedef struct tide_positions {
    tide_position *items;
    size_t count;
} tide_positions;

/* Adds a source; *number identifies it. Then sets how far it has been read; owns
 * `text`. */
int tide_positions_add(tide_positions *positions, const char *spec, size_t *number,
                       tide_error *err);
void tide_positions_set(tide_positions *positions, size_t number, char *text,
                        bool live);

/* Returns the first position with this spec that has a text and was not claimed
 * before, and marks it as claimed. NULL if there is none. */
tide_position *tide_positions_claim(tide_positions *positions, const char *spec);

void tide_positions_clear(tide_positions *positions);

int tide_positions_copy(const tide_positions *positions, tide_positions *copy,
                        tide_error *err);
void tide_positions_save(const tide_positions *positions, tide_store_writer *writer);
int tide_positions_load(tide_positions *positions, tide_store *store, tide_error *err);

/* -- ingest (ingest.c) ------------------------------------------------------------- */

typedef struct tide_ingest tide_ingest;

/* Loads the sampler from the store if there is one; tide_ingest_load loads the rest. */
tide_ingest *tide_ingest_new(const tide_params *params, const tide_sgns *sgns,
                             tide_store *store, tide_error *err);
void tide_ingest_free(tide_ingest *ingest);
uint64_t tide_ingest_bytes(const tide_params *params);

/* Must be set before the first feed. */
void tide_ingest_set_executor(tide_ingest *ingest, tide_executor executor);

/* Must be set before the first feed if the parameters have labels. */
void tide_ingest_set_labels(tide_ingest *ingest, tide_labels *labels,
                            const uint64_t *passes);

/* From now on, generations[slot] counts how often the slot is reused for another word.
 * Other threads may read it. NULL ends the counting. */
void tide_ingest_count_generations(tide_ingest *ingest, _Atomic uint32_t *generations);

/* What other threads must know to select what to train. A slot is quarantined while
 * sentences that mean its previous word may still be in training, so that it must not
 * be drawn either. */
const tide_selection *tide_ingest_selection(const tide_ingest *ingest);

/* The reader that cuts the bytes into words. Borrowed. */
tide_reader *tide_ingest_reader(tide_ingest *ingest);

void tide_ingest_feed(tide_ingest *ingest, const void *bytes, size_t size);
void tide_ingest_end(tide_ingest *ingest);

/* Whether the last sentence is complete and the next one has not begun. */
bool tide_ingest_at_boundary(const tide_ingest *ingest);

/* Whether a stop has deferred a post and the text fed after it: until the next feed or
 * end, which processes them first, nothing is trained. */
bool tide_ingest_is_deferred(const tide_ingest *ingest);

/* Inserts a word with its initial vectors before the first sentence. Returns
 * TIDE_NO_SLOT if it has a slot already or none is left. */
uint32_t tide_ingest_insert(tide_ingest *ingest, const tide_word *word, uint64_t count,
                            uint64_t error);

/* The vocabulary is complete: builds the negative table if there is none yet. Returns
 * false if there is nothing to draw, so that nothing can be trained. */
bool tide_ingest_prepare_negatives(tide_ingest *ingest);

uint64_t tide_ingest_tokens(const tide_ingest *ingest);

/* The same without tokens dropped because the vocabulary is fixed: the clock of
 * learning rates and replay. */
uint64_t tide_ingest_clock(const tide_ingest *ingest);

/* The number of records skipped for any reason. */
uint64_t tide_ingest_bad_records(const tide_ingest *ingest);
void tide_ingest_stats(const tide_ingest *ingest, tide_stats *stats);

/* Calls `pause` between two sentences whenever the number of tokens reaches or passes a
 * multiple of `every`. It must not feed the ingest. NULL ends that. */
void tide_ingest_set_pause(tide_ingest *ingest, uint64_t every,
                           void (*pause)(void *data), void *data);

/* Returns when everything emitted is trained and no slot is quarantined: the state that
 * can be saved. */
void tide_ingest_drain(tide_ingest *ingest);

/* Sections intake.*, tokenizer, sampler.*, replay.*. */
void tide_ingest_save(const tide_ingest *ingest, tide_store_writer *writer);
int tide_ingest_load(tide_ingest *ingest, tide_store *store, tide_error *err);

/* -- trainer (trainer.c) ----------------------------------------------------------- */

/* Returns a trainer with an empty vocabulary, also if that is meant to be fixed: the
 * caller fills it and then calls tide_trainer_plan. */
tide_trainer *tide_trainer_make(const tide_params *params, tide_error *err);

/* The vocabulary is filled or loaded: sets the total number of tokens for the
 * optimizer. Fails if the vocabulary is fixed and there is nothing to draw negatives
 * from. */
int tide_trainer_plan(tide_trainer *trainer, tide_error *err);

tide_positions *tide_trainer_positions(tide_trainer *trainer);
tide_ingest *tide_trainer_ingest(tide_trainer *trainer);
tide_labels *tide_trainer_labels_part(tide_trainer *trainer); /* NULL without labels */
tide_live *tide_trainer_live(const tide_trainer *trainer);    /* NULL without */

/* The file that the trainer was loaded from, as the user named it, even if an older
 * checkpoint of it was used; NULL for a new one. */
const char *tide_trainer_origin(const tide_trainer *trainer);

/* How often a batch run has read all its text. */
uint64_t *tide_trainer_passes(tide_trainer *trainer);

/* Checks all vectors for NaNs, after training everything pending, and resets the bad
 * ones. Returns how many have been reset since the trainer was made. Part of every
 * save. */
uint64_t tide_trainer_repair(tide_trainer *trainer);

/* The first half of a save: writes all sections and finishes the file; returns its
 * size. */
uint64_t tide_trainer_write(tide_trainer *trainer, tide_store_writer *writer);

/* About how large that file will be: its vectors. */
uint64_t tide_trainer_write_bytes(const tide_trainer *trainer);

/* -- live models (live.c) ---------------------------------------------------------- */

/* To be called about ten times per second by the training thread: updates the
 * statistics, and from time to time the view. */
void tide_live_tick(tide_live *live, double now);

/* What tide_trainer_stop sets. */
atomic_int *tide_trainer_stop_flag(tide_trainer *trainer);

#endif
