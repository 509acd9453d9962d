/* replay.c - the recent past, to be trained again.
 *
 * In one pass most words occur too rarely for gradient steps alone to place them.
 * Training each sentence `replay` times helps a great deal, but only if the repeats are
 * far apart: an immediate repeat teaches nothing. So the last replay-ring tokens are
 * kept as slots, four bytes each, in a ring of chunks. Whenever a chunk is complete,
 * older chunks are trained again. Of the replay - 1 turns, turn i takes the chunk from
 * i / (replay - 1) of a ring ago. So every sentence is repeated exactly as often as it
 * should be, at even distances, and is then overwritten. While the ring is filling, a
 * turn takes a random chunk instead.
 *
 *     oldest                            newest  open
 *     [turn 1] ... [turn 0] ... [chunk] [chunk] [chun     with replay 3
 *
 * What a repeat can teach, the stream itself will teach in time: once replay-fade
 * tokens have passed, a turn happens with probability replay-fade / tokens.
 *
 * Slots are reused for other words. A chunk is stamped with the number of the last
 * sentence in it, and every slot whose word was admitted later is skipped when the
 * chunk is trained (ingest_sentence.c). The open chunk still gets sentences with later
 * numbers, so there a reused slot is removed at once.
 */
#include "train/replay.h"

#include "file/file.h"
#include "params/params.h"
#include "vocab/vocab.h"

#include <stdlib.h>

#define REMOVED (TIDE_FIRST - 1)

typedef struct chunk {
    uint64_t stamp;
    uint32_t count;
} chunk;

struct tide_replay {
    uint32_t *tokens; /* [chunk_count][SENTENCE_MAX] */
    chunk *chunks;    /* [chunk_count] */
    uint64_t chunk_count;
    uint64_t completed; /* chunks so far; the next one is open */
    uint32_t turns;
    uint64_t fade;
    tide_rng rng;
};

static uint64_t chunks_for(const tide_params *params)
{
    if (params->replay < 2)
        return 0;
    uint64_t count = params->replay_ring / SENTENCE_MAX;
    return count < 2 ? 2 : count;
}

uint64_t tide_replay_bytes(const tide_params *params)
{
    return chunks_for(params) * (SENTENCE_MAX * sizeof(uint32_t) + sizeof(chunk));
}

tide_replay *tide_replay_new(const tide_params *params, tide_error *err)
{
    tide_replay *r = tide_alloc(1, sizeof *r);
    if (!r)
        goto failed;
    r->chunk_count = chunks_for(params);
    r->turns = (uint32_t)params->replay - 1;
    r->fade = params->replay_fade;
    r->rng = tide_rng_seeded(params->seed ^ 0x4e91a7);
    r->tokens = tide_alloc(r->chunk_count, SENTENCE_MAX * sizeof *r->tokens);
    r->chunks = tide_alloc(r->chunk_count, sizeof *r->chunks);
    if (r->tokens && r->chunks)
        return r;
failed:
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a replay ring of %llu tokens",
              (unsigned long long)params->replay_ring);
    tide_replay_free(r);
    return NULL;
}

void tide_replay_free(tide_replay *r)
{
    if (!r)
        return;
    free(r->tokens);
    free(r->chunks);
    free(r);
}

/* The chunk that sentences are appended to, and its tokens. */
static chunk *open_chunk(const tide_replay *r, uint32_t **tokens)
{
    uint64_t at = r->completed % r->chunk_count;
    *tokens = r->tokens + at * SENTENCE_MAX;
    return &r->chunks[at];
}

bool tide_replay_add(tide_replay *r, const uint32_t *slots, uint32_t count,
                     uint64_t now)
{
    if (!r->chunk_count || !count)
        return false;
    uint32_t *tokens;
    chunk *c = open_chunk(r, &tokens);
    bool completed = c->count + count > SENTENCE_MAX;
    if (completed) { /* the next chunk of the ring is the oldest: overwrite it */
        r->completed++;
        c = open_chunk(r, &tokens);
        c->count = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        /* A position without a word keeps its place in the sentence, since distances
         * between the other words depend on it. */
        tokens[c->count + i] =
            (slots[i] == TIDE_NO_SLOT ? REMOVED : slots[i]) | (i == 0 ? TIDE_FIRST : 0);
    c->count += count;
    c->stamp = now;
    return completed;
}

void tide_replay_forget_slot(tide_replay *r, uint32_t slot)
{
    if (!r->chunk_count)
        return;
    uint32_t *tokens;
    const chunk *c = open_chunk(r, &tokens);
    for (uint32_t i = 0; i < c->count; i++)
        /* Only the open chunk is searched. Completed ones have a stamp that is older
         * than the slot's new word, which excludes it without a search. */
        if ((tokens[i] & ~TIDE_FIRST) == slot)
            tokens[i] |= REMOVED; /* keeps TIDE_FIRST */
}

bool tide_replay_due(tide_replay *r, uint32_t turn, uint64_t tokens,
                     tide_replay_chunk *chunk_due)
{
    /* The expected number of repeats falls as fade / tokens. */
    if (r->fade && tokens > r->fade &&
        tide_rng_double(&r->rng) * (double)tokens >= (double)r->fade)
        return false;
    /* A full ring has chunk_count - 1 completed chunks beside the open one, so the
     * oldest is chunk_count - 2 back from the newest. That is where the last turn goes.
     * Each turn goes back a fixed distance, so a chunk meets each turn exactly once
     * before it is overwritten. */
    uint64_t newest = r->completed - 1, back;
    /* While the ring is filling there may be nothing at the distance of the turn. */
    if (r->completed < r->chunk_count)
        back = tide_rng_below(&r->rng, r->completed);
    else
        back = (turn + 1) * (r->chunk_count - 2) / r->turns;
    uint64_t at = (newest - back) % r->chunk_count;
    *chunk_due = (tide_replay_chunk){r->tokens + at * SENTENCE_MAX, r->chunks[at].count,
                                     r->chunks[at].stamp};
    return true;
}

/* -- sections replay.chunks and replay.tokens -------------------------------------- */

void tide_replay_save(const tide_replay *r, tide_store_writer *writer)
{
    if (!r->chunk_count)
        return;
    uint64_t used = r->completed < r->chunk_count ? r->completed + 1 : r->chunk_count;
    uint64_t head[2] = {r->completed, r->rng.state};
    tide_store_begin(writer, "replay.chunks");
    tide_store_append(writer, head, sizeof head);
    for (uint64_t i = 0; i < used; i++) {
        uint64_t pair[2] = {r->chunks[i].stamp, r->chunks[i].count};
        tide_store_append(writer, pair, sizeof pair);
    }
    tide_store_begin(writer, "replay.tokens");
    for (uint64_t i = 0; i < used; i++)
        tide_store_append(writer, r->tokens + i * SENTENCE_MAX,
                          r->chunks[i].count * sizeof *r->tokens);
}

uint64_t tide_replay_saved_size(const tide_store *store)
{
    int64_t size = tide_store_size(store, "replay.chunks", NULL);
    return size < 32 ? 0 : ((uint64_t)size / 16 - 1) * SENTENCE_MAX;
}

static int corrupt(tide_store *store, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the replay sections are corrupt",
                     tide_store_path(store));
}

static int load_tokens(tide_replay *r, uint64_t used, uint32_t vocab, tide_store *store,
                       tide_error *err)
{
    uint64_t offset = 0;
    for (uint64_t i = 0; i < used; i++) {
        uint32_t *tokens = r->tokens + i * SENTENCE_MAX;
        uint64_t size = r->chunks[i].count * sizeof *tokens;
        int status = size ? tide_store_read_at(store, "replay.tokens", offset, tokens,
                                               (size_t)size, err)
                          : TIDE_OK;
        if (status)
            return status;
        offset += size;
        /* Slots index matrices during training, where nothing checks them any more. */
        for (uint32_t k = 0; k < r->chunks[i].count; k++) {
            uint32_t slot = tokens[k] & ~TIDE_FIRST;
            if (slot != REMOVED && slot >= vocab)
                return corrupt(store, err);
        }
    }
    int64_t size = tide_store_size(store, "replay.tokens", err);
    return size < 0                   ? (int)size
           : (uint64_t)size == offset ? TIDE_OK
                                      : corrupt(store, err);
}

int tide_replay_load(tide_replay *r, uint32_t vocab, tide_store *store, tide_error *err)
{
    if (!r->chunk_count)
        return TIDE_OK;
    uint64_t head[2];
    int status = tide_store_read_at(store, "replay.chunks", 0, head, sizeof head, err);
    if (status)
        return status;
    r->completed = head[0];
    r->rng.state = head[1];
    uint64_t used = r->completed < r->chunk_count ? r->completed + 1 : r->chunk_count;
    int64_t size = tide_store_size(store, "replay.chunks", err);
    /* The number of chunks follows from `completed`; the section must have exactly that
     * many, which also bounds `used` by what the file really contains. */
    if (size < 0 || (uint64_t)size != (used + 1) * 16 || head[0] > TIDE_COUNTED_MAX)
        return corrupt(store, err);
    for (uint64_t i = 0; i < used; i++) {
        uint64_t pair[2];
        status = tide_store_read_at(store, "replay.chunks", (i + 1) * 16, pair,
                                    sizeof pair, err);
        if (status)
            return status;
        if (pair[1] > SENTENCE_MAX)
            return corrupt(store, err);
        r->chunks[i] = (chunk){pair[0], (uint32_t)pair[1]};
    }
    return load_tokens(r, used, vocab, store, err);
}
