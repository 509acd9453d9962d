/* train.h - the trainer and what it is made of. The public part is in wordtide.h. */
#ifndef TIDE_TRAIN_H
#define TIDE_TRAIN_H

#include "file/file.h"
#include "label/label.h"
#include "params/params.h"
#include "reader/reader.h"
#include "sgns/sgns.h"

/* -- budget (budget.c) ---------------------------------------------------------------- */

/* What a trainer allocates, and what a process with it comes to. */
uint64_t tide_budget_allocated(const tide_params *params);
uint64_t tide_budget_process(const tide_params *params);

/* Sees that the parameters fit together and chooses the vocabulary's size if only the memory was
 * given. */
int tide_params_complete(tide_params *params, tide_error *err);

/* -- positions (positions.c) ------------------------------------------------------- */

/* How far an unfinished run has come in its sources, so that the next one can go on. */
enum { SPEC_MAX = 4096, PLACE_MAX = 1 << 20 };

typedef struct tide_position {
    char *spec;
    char *place; /* as the source wrote it; NULL while there is none */
    bool live;   /* the state of the intake belongs to this source */
    bool taken;  /* by a source of the run that goes on */
} tide_position;

typedef struct tide_positions {
    tide_position *items;
    size_t count;
} tide_positions;

/* Another source is begun: its number. Then, how far it has come: `place` is taken over. */
int tide_positions_begin(tide_positions *positions, const char *spec, size_t *number,
                         tide_error *err);
void tide_positions_note(tide_positions *positions, size_t number, char *place,
                         bool live);

/* The first place noted for a source of this name that was not taken yet; NULL without. */
tide_position *tide_positions_take(tide_positions *positions, const char *spec);

void tide_positions_clear(tide_positions *positions);

/* Makes `copy` the same. */
int tide_positions_copy(const tide_positions *positions, tide_positions *copy,
                        tide_error *err);
void tide_positions_save(const tide_positions *positions, tide_store_writer *writer);
int tide_positions_load(tide_positions *positions, tide_store *store, tide_error *err);

/* -- ingest (ingest.c) ------------------------------------------------------------- */

typedef struct tide_ingest tide_ingest;

/* The sampler comes out of the store, if there is one; the rest follows with tide_ingest_load. */
tide_ingest *tide_ingest_new(const tide_params *params, const tide_sgns *learner,
                             tide_store *store, tide_error *err);
void tide_ingest_free(tide_ingest *intake);
uint64_t tide_ingest_bytes(const tide_params *params);

/* To be set before the first feed. */
void tide_ingest_set_executor(tide_ingest *intake, tide_executor school);

/* Posts go to the labels before they are learned. To be set before the first feed. */
void tide_ingest_set_labels(tide_ingest *intake, tide_labels *labels,
                            const uint64_t *passes);

/* hands[slot] counts from now on how often the slot changes hands; NULL for no more. Others may read it. */
void tide_ingest_count_generations(tide_ingest *intake, _Atomic uint32_t *hands);

/* Bit per slot: its old vectors may still be in use, so it is not to be drawn. */
const uint64_t *tide_ingest_quarantine(const tide_ingest *intake);

/* The reader that cuts the bytes into words. Borrowed. */
tide_reader *tide_ingest_reader(tide_ingest *ingest);

void tide_ingest_feed(tide_ingest *intake, const void *bytes, size_t size);
void tide_ingest_end(tide_ingest *intake);

/* Whether the last sentence is complete and the next has not begun. */
bool tide_ingest_at_boundary(const tide_ingest *intake);

/* Whether a stop has left a post, and all that was fed after it, for later: until then nothing is learned. The next
 * feed or end sees to that first. */
bool tide_ingest_is_deferred(const tide_ingest *intake);

/* Gives a word a slot before the first sentence, with its first vectors. TIDE_NO_SLOT when it has
 * one or none is left. */
uint32_t tide_ingest_insert(tide_ingest *intake, const tide_word *word, uint64_t count,
                            uint64_t error);

/* No word comes any more: makes the table of negatives if there is none yet. False when there is nothing to
 * draw, and so nothing can be learned. */
bool tide_ingest_prepare_negatives(tide_ingest *intake);

uint64_t tide_ingest_tokens(const tide_ingest *intake);

/* The same without those that were left out because nobody knows them and the words are fixed: what
 * time is for the rates. */
uint64_t tide_ingest_clock(const tide_ingest *intake);

/* Records left out, whatever the reason. */
uint64_t tide_ingest_bad_records(const tide_ingest *intake);
void tide_ingest_stats(const tide_ingest *intake, tide_stats *stats);

/* Calls `pause` between two sentences, the first time that the number of tokens has reached or passed
 * another multiple of `every`. The intake must not be fed meanwhile. NULL for no more. */
void tide_ingest_set_pause(tide_ingest *intake, uint64_t every,
                           void (*pause)(void *data), void *data);

/* Waits until all lessons are learned and opens all slots: the state that can be saved. */
void tide_ingest_drain(tide_ingest *intake);

/* Sections intake.*, tokenizer, sampler.*, replay.*. */
void tide_ingest_save(const tide_ingest *intake, tide_store_writer *writer);
int tide_ingest_load(tide_ingest *intake, tide_store *store, tide_error *err);

/* -- trainer (trainer.c) ----------------------------------------------------------- */

tide_positions *tide_trainer_positions(tide_trainer *trainer);

/* The file that it was loaded from, also if that was an older one beside it; NULL for a new one. */
const char *tide_trainer_origin(const tide_trainer *trainer);

/* How often a batch run has read all its text. */
uint64_t *tide_trainer_passes(tide_trainer *trainer);

/* Sees that all vectors are numbers, all lessons learned; returns how many were begun again since the trainer
 * was made, because they were not. Called before anything is saved, too. */
uint64_t tide_trainer_repair(tide_trainer *trainer);

/* The first half of saving: fills the file and seals it; returns how large it is. */
uint64_t tide_trainer_write(tide_trainer *trainer, tide_store_writer *writer);

/* How large it would be, less what is small beside the vectors. */
uint64_t tide_trainer_write_bytes(const tide_trainer *trainer);

/* An empty one for these parameters, whoever fills its vocabulary. */
tide_trainer *tide_trainer_make(const tide_params *params, tide_error *err);

/* The vocabulary is filled or loaded: lets the rates know how much there is to learn and, where words are
 * fixed, sees that there are negatives. */
int tide_trainer_plan(tide_trainer *trainer, tide_error *err);
tide_ingest *tide_trainer_intake(tide_trainer *trainer);
tide_labels *tide_trainer_labels_part(tide_trainer *trainer); /* NULL without */

/* -- live models (live.c) ---------------------------------------------------------- */

/* Who asks while the trainer learns; NULL for nobody. */
void tide_trainer_set_live(tide_trainer *trainer, tide_live *live);
tide_live *tide_trainer_live(const tide_trainer *trainer);

/* Some ten times a second, by the thread that learns: the figures, and now and then the words. */
void tide_live_tick(tide_live *live, double now);

#endif
