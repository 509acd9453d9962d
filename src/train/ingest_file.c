/* ingest_file.c - the ingest's part of a model file: all that a resumed run needs to
 * give the same result as an uninterrupted one, down to the half-read sentence and the
 * half-read word.
 */
#include "file/file.h"
#include "params/params.h"
#include "reader/reader.h"
#include "sampler/sampler.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vocab/vocab.h"

enum { STATE_WORDS = 8 };

void tide_held_words_save(const held_word *words, uint32_t count, const char *section,
                          tide_store_writer *writer)
{
    tide_store_begin(writer, section);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char length = (unsigned char)words[i].length;
        tide_store_append(writer, &length, 1);
        tide_store_append(writer, words[i].bytes, length);
    }
}

int tide_held_words_load(held_word *words, uint32_t count, const char *section,
                         tide_store *store, tide_error *err)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        unsigned char length;
        int status = tide_store_read_at(store, section, at, &length, 1, err);
        if (!status && (!length || length > TIDE_WORD_MAX))
            status = tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                               tide_store_path(store), section);
        if (!status)
            status =
                tide_store_read_at(store, section, at + 1, words[i].bytes, length, err);
        if (status)
            return status;
        words[i].length = length;
        at += 1u + length;
    }
    if (tide_store_size(store, section, err) != (int64_t)at)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section \"%s\" has the wrong size",
                         tide_store_path(store), section);
    return TIDE_OK;
}

void tide_ingest_save(const tide_ingest *in, tide_store_writer *writer)
{
    uint64_t state[STATE_WORDS] = {
        in->sentence_number, in->emitted,     in->tokens,    in->cut_sentences,
        in->slot_count,      in->token_count, in->continued, in->rng.state,
    };
    uint32_t used = tide_vocabulary_used(in->model->vocabulary);
    tide_store_put(writer, "intake", state, sizeof state);
    tide_store_put(writer, "intake.admitted", in->admitted,
                   used * sizeof *in->admitted);
    tide_store_put(writer, "intake.slots", in->slots,
                   in->slot_count * sizeof *in->slots);
    if (tide_ingest_words_return(in))
        tide_store_put(writer, "intake.hashes", in->hashes,
                       in->slot_count * sizeof *in->hashes);
    if (in->held)
        tide_held_words_save(in->held, in->token_count, "intake.held", writer);
    if (in->post)
        tide_ingest_save_post(in, writer);
    if (in->fixed_vocabulary || in->unknown_tokens)
        tide_store_put(writer, "intake.left-out", &in->unknown_tokens,
                       sizeof in->unknown_tokens);
    tide_reader_save(in->reader, writer);
    tide_sampler_save(in->sampler, writer);
    tide_replay_save(in->replay, writer);
}

static int load_state(tide_ingest *in, tide_store *store, tide_error *err)
{
    uint64_t state[STATE_WORDS];
    int status = tide_store_read(store, "intake", state, sizeof state, err);
    if (status)
        return status;
    bool plausible = true;
    for (int i = 0; i < 4; i++)
        plausible = plausible && state[i] <= TIDE_COUNTED_MAX;
    if (!plausible || !state[0] || state[4] > state[5] || state[5] >= SENTENCE_MAX ||
        state[6] > 1)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"intake\" is corrupt",
                         tide_store_path(store));
    in->sentence_number = state[0];
    in->emitted = state[1];
    in->tokens = state[2];
    in->cut_sentences = state[3];
    in->slot_count = (uint32_t)state[4];
    in->token_count = (uint32_t)state[5];
    in->continued = state[6];
    in->rng.state = state[7];
    return TIDE_OK;
}

/* The section exists only if the vocabulary is fixed, or was for a time. */
static int load_unknown_tokens(tide_ingest *in, tide_store *store, tide_error *err)
{
    static const char section[] = "intake.left-out";
    if (!tide_store_has(store, section))
        return TIDE_OK;
    int status = tide_store_read(store, section, &in->unknown_tokens,
                                 sizeof in->unknown_tokens, err);
    if (!status && in->unknown_tokens > in->tokens)
        status = tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                           tide_store_path(store), section);
    return status;
}

static int load_slots(tide_ingest *in, tide_store *store, tide_error *err)
{
    uint32_t used = tide_vocabulary_used(in->model->vocabulary);
    int status = tide_store_read(store, "intake.admitted", in->admitted,
                                 used * sizeof *in->admitted, err);
    if (!status)
        status = tide_store_read(store, "intake.slots", in->slots,
                                 in->slot_count * sizeof *in->slots, err);
    if (!status && tide_ingest_words_return(in))
        status = tide_store_read(store, "intake.hashes", in->hashes,
                                 in->slot_count * sizeof *in->hashes, err);
    for (uint32_t i = 0; i < in->slot_count && !status; i++)
        if (in->slots[i] != TIDE_NO_SLOT && in->slots[i] >= used)
            status = tide_fail(err, TIDE_ERROR_FORMAT,
                               "%s: section \"intake.slots\" is corrupt",
                               tide_store_path(store));
    return status;
}

int tide_ingest_load(tide_ingest *in, tide_store *store, tide_error *err)
{
    int status = load_state(in, store, err);
    if (!status)
        status = load_unknown_tokens(in, store, err);
    if (!status)
        status = load_slots(in, store, err);
    if (!status && in->held)
        status =
            tide_held_words_load(in->held, in->token_count, "intake.held", store, err);
    if (!status && in->post)
        status = tide_ingest_load_post(in, store, err);
    if (!status)
        status = tide_reader_load(in->reader, store, err);
    if (status)
        return status;
    return tide_replay_load(in->replay, (uint32_t)in->params->vocab, store, err);
}
