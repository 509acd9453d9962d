/* replay.c - the recent past, to be learned from again.
 *
 * One pass sees most words too seldom for gradient steps alone to place them. Training a sentence
 * `replay` times helps a great deal, but only if the times lie far apart: an immediate repetition
 * teaches nothing. So the last replay-ring tokens are kept as slots, four bytes each, in a ring of
 * chunks, and whenever a chunk is full, older chunks are trained again: of replay - 1 turns, turn i
 * takes the one i / (replay - 1) of a ring ago, so that every sentence is repeated exactly as often
 * as it should, at even distances, and is then overwritten. While the ring is still filling, a turn
 * takes a random chunk.
 *
 * What the past can teach, the stream itself will in time: repeats fade. Once replay-fade tokens
 * have passed, a turn is taken with probability replay-fade / tokens.
 *
 * Slots change hands. A chunk bears the number of the last sentence in it, and the reader leaves
 * out every slot whose word was admitted later; in the chunk still open, slots that change hands are
 * struck out at once.
 */
#include "train/replay.h"

#include "file/file.h"
#include "params/params.h"
#include "vocab/vocab.h"

#include <stdlib.h>

#define STRUCK (TIDE_FIRST - 1)

typedef struct chunk {
    uint64_t stamp;
    uint32_t count;
} chunk;

struct tide_replay {
    uint32_t *tokens; /* [chunk_count][SENTENCE_MAX] */
    chunk *chunks;    /* [chunk_count] */
    uint64_t chunk_count;
    uint64_t closed; /* chunks completed so far; the next is open */
    uint32_t turns;
    uint64_t fade;
    tide_rng rng;
};

static uint64_t chunks_wanted(const tide_params *params)
{
    if (params->replay < 2)
        return 0;
    uint64_t count = params->replay_ring / SENTENCE_MAX;
    return count < 2 ? 2 : count;
}

uint64_t tide_replay_bytes(const tide_params *params)
{
    return chunks_wanted(params) * (SENTENCE_MAX * sizeof(uint32_t) + sizeof(chunk));
}

tide_replay *tide_replay_new(const tide_params *params, tide_error *err)
{
    tide_replay *r = tide_alloc(1, sizeof *r);
    if (!r)
        goto failed;
    r->chunk_count = chunks_wanted(params);
    r->turns = (uint32_t)params->replay - 1;
    r->fade = params->replay_fade;
    r->rng = tide_rng_seeded(params->seed ^ 0x4e91a7);
    r->tokens = tide_alloc(r->chunk_count, SENTENCE_MAX * sizeof *r->tokens);
    r->chunks = tide_alloc(r->chunk_count, sizeof *r->chunks);
    if (r->tokens && r->chunks)
        return r;
failed:
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to remember %llu tokens",
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

static chunk *open_chunk(const tide_replay *r, uint32_t **tokens)
{
    uint64_t at = r->closed % r->chunk_count;
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
    if (completed) {
        r->closed++;
        c = open_chunk(r, &tokens);
        c->count = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        tokens[c->count + i] =
            (slots[i] == TIDE_NO_SLOT ? STRUCK : slots[i]) | (i == 0 ? TIDE_FIRST : 0);
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
        if ((tokens[i] & ~TIDE_FIRST) == slot)
            tokens[i] |= STRUCK;
}

bool tide_replay_due(tide_replay *r, uint32_t turn, uint64_t tokens,
                     tide_replay_chunk *memory)
{
    if (r->fade && tokens > r->fade &&
        tide_rng_double(&r->rng) * (double)tokens >= (double)r->fade)
        return false;
    uint64_t newest = r->closed - 1, back;
    if (r->closed < r->chunk_count)
        back = tide_rng_below(&r->rng, r->closed);
    else
        back = (turn + 1) * (r->chunk_count - 2) / r->turns;
    uint64_t at = (newest - back) % r->chunk_count;
    *memory = (tide_replay_chunk){r->tokens + at * SENTENCE_MAX, r->chunks[at].count,
                                  r->chunks[at].stamp};
    return true;
}

/* -- the file ----------------------------------------------------------------------------------------- */

void tide_replay_save(const tide_replay *r, tide_store_writer *writer)
{
    if (!r->chunk_count)
        return;
    uint64_t used = r->closed < r->chunk_count ? r->closed + 1 : r->chunk_count;
    uint64_t head[2] = {r->closed, r->rng.state};
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

static int impossible(tide_store *store, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT,
                     "%s: the replay sections do not fit together",
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
        for (uint32_t k = 0; k < r->chunks[i].count; k++) {
            uint32_t slot = tokens[k] & ~TIDE_FIRST;
            if (slot != STRUCK && slot >= vocab)
                return impossible(store, err);
        }
    }
    int64_t size = tide_store_size(store, "replay.tokens", err);
    return size < 0                   ? (int)size
           : (uint64_t)size == offset ? TIDE_OK
                                      : impossible(store, err);
}

int tide_replay_load(tide_replay *r, uint32_t vocab, tide_store *store, tide_error *err)
{
    if (!r->chunk_count)
        return TIDE_OK;
    uint64_t head[2];
    int status = tide_store_read_at(store, "replay.chunks", 0, head, sizeof head, err);
    if (status)
        return status;
    r->closed = head[0];
    r->rng.state = head[1];
    uint64_t used = r->closed < r->chunk_count ? r->closed + 1 : r->chunk_count;
    int64_t size = tide_store_size(store, "replay.chunks", err);
    if (size < 0 || (uint64_t)size != (used + 1) * 16 || head[0] > TIDE_COUNTED_MOST)
        return impossible(store, err);
    for (uint64_t i = 0; i < used; i++) {
        uint64_t pair[2];
        status = tide_store_read_at(store, "replay.chunks", (i + 1) * 16, pair,
                                    sizeof pair, err);
        if (status)
            return status;
        if (pair[1] > SENTENCE_MAX)
            return impossible(store, err);
        r->chunks[i] = (chunk){pair[0], (uint32_t)pair[1]};
    }
    return load_tokens(r, used, vocab, store, err);
}
