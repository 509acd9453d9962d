/* replay.h - a ring of recent sentences, to be trained again. Private. */
#ifndef TIDE_TRAIN_REPLAY_H
#define TIDE_TRAIN_REPLAY_H

#include "file/file.h"
#include "params/params.h"
#include "sgns/sgns.h"

typedef struct tide_replay tide_replay;

tide_replay *tide_replay_new(const tide_params *params, tide_error *err);
void tide_replay_free(tide_replay *replay);
uint64_t tide_replay_bytes(const tide_params *params);

/* Appends a sentence with number `now`. Returns true if that has completed a chunk, so
 * that repeats are due. */
bool tide_replay_add(tide_replay *replay, const uint32_t *slots, uint32_t count,
                     uint64_t now);

/* The slot is reused for another word: removes it from the open chunk, whose stamp
 * cannot tell. */
void tide_replay_forget_slot(tide_replay *replay, uint32_t slot);

typedef struct tide_replay_chunk {
    const uint32_t *tokens; /* TIDE_FIRST marks the first of a sentence */
    uint32_t count;
    uint64_t stamp; /* slots whose words were admitted later are outdated */
} tide_replay_chunk;

/* Sets *chunk to the one to train again in turn 0..replay - 2; false if this turn is
 * skipped. Borrowed until the next add. */
bool tide_replay_due(tide_replay *replay, uint32_t turn, uint64_t tokens,
                     tide_replay_chunk *chunk);

void tide_replay_save(const tide_replay *replay, tide_store_writer *writer);
int tide_replay_load(tide_replay *replay, uint32_t vocab, tide_store *store,
                     tide_error *err);

/* The size of the smallest ring that holds what was saved. */
uint64_t tide_replay_saved_size(const tide_store *store);

#endif
