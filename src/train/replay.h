/* replay.h - sentences that are trained again. Private. */
#ifndef TIDE_TRAIN_REPLAY_H
#define TIDE_TRAIN_REPLAY_H

#include "file/file.h"
#include "params/params.h"

typedef struct tide_replay tide_replay;

tide_replay *tide_replay_new(const tide_params *params, tide_error *err);
void tide_replay_free(tide_replay *replay);
uint64_t tide_replay_bytes(const tide_params *params);

/* Remembers a sentence, number `now`. Returns true when that completed a chunk, and repeats are due. */
bool tide_replay_add(tide_replay *replay, const uint32_t *slots, uint32_t count,
                     uint64_t now);

/* The slot has another word from now on: forget it where the stamps cannot tell. */
void tide_replay_forget_slot(tide_replay *replay, uint32_t slot);

typedef struct tide_replay_chunk {
    const uint32_t *tokens; /* TIDE_FIRST marks the first of a sentence */
    uint32_t count;
    uint64_t stamp; /* words admitted after this sentence are others */
} tide_replay_chunk;

#define TIDE_FIRST (UINT32_C(1) << 31)

/* The chunk to repeat as number `turn` of replay - 1; false when none is due. */
bool tide_replay_due(tide_replay *replay, uint32_t turn, uint64_t tokens,
                     tide_replay_chunk *memory);

void tide_replay_save(const tide_replay *replay, tide_store_writer *writer);
int tide_replay_load(tide_replay *replay, uint32_t vocab, tide_store *store,
                     tide_error *err);

/* The smallest ring that what was saved fits. */
uint64_t tide_replay_saved_size(const tide_store *store);

#endif
