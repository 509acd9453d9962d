/* vocabulary_file.c - a vocabulary in a model file.
 *
 * Sections, all numbers little-endian, named after the vocabulary:
 *
 *     vocab.state    15 numbers of 64 bits, in the order of the enum below
 *     vocab.counts   count and error, 64 bits each, of every slot below `used`
 *     vocab.lengths  the length of its word in one byte; 0 for an empty slot
 *     vocab.text     the bytes of the words, one after the other
 *     vocab.gate     the cells of the gate, 32 bits each; only with a gate
 *     vocab.arrived  how many words left soon after they came, and the number of the token with
 *                    which the word of each slot came, 64 bits each; missing in older files, and
 *                    where nobody leaves
 *
 * The hash table is keyed with a secret of the process, so it is not saved but built
 * again.
 */
#include "file/file.h"
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"

enum {
    STATE_KIND,
    STATE_CAPACITY,
    STATE_SEED,
    STATE_TOKENS,
    STATE_TOTAL,
    STATE_SINCE_HALVING,
    STATE_ADMITTED,
    STATE_EVICTED,
    STATE_REJECTED,
    STATE_USED,
    STATE_SIZE,
    STATE_MINIMUM,
    STATE_HAND,
    STATE_LOWEST,
    STATE_GATE_LINES,
    STATE_NUMBERS,
};

/* Of the sections. */
typedef struct names {
    char state[16], counts[16], lengths[16], text[16], gate[16], arrived[16];
} names;

static names names_of(const tide_vocabulary_options *options)
{
    const char *name = options->name ? options->name : "vocab";
    names n;
    snprintf(n.state, sizeof n.state, "%s.state", name);
    snprintf(n.counts, sizeof n.counts, "%s.counts", name);
    snprintf(n.lengths, sizeof n.lengths, "%s.lengths", name);
    snprintf(n.text, sizeof n.text, "%s.text", name);
    snprintf(n.gate, sizeof n.gate, "%s.gate", name);
    snprintf(n.arrived, sizeof n.arrived, "%s.arrived", name);
    return n;
}

/* Slots are read and written so many at a time. */
#define PIECE 128

/* -- save -------------------------------------------------------------------------- */

static void save_state(const tide_vocabulary *v, const names *n,
                       tide_store_writer *writer)
{
    const uint64_t numbers[STATE_NUMBERS] = {
        [STATE_KIND] = v->options.kind,
        [STATE_CAPACITY] = v->options.capacity,
        [STATE_SEED] = v->options.seed,
        [STATE_TOKENS] = v->tokens,
        [STATE_TOTAL] = v->total,
        [STATE_SINCE_HALVING] = v->since_halving,
        [STATE_ADMITTED] = v->admitted,
        [STATE_EVICTED] = v->evicted,
        [STATE_REJECTED] = v->rejected,
        [STATE_USED] = v->used,
        [STATE_SIZE] = v->size,
        [STATE_MINIMUM] = v->minimum,
        [STATE_HAND] = v->hand,
        [STATE_LOWEST] = v->lowest,
        [STATE_GATE_LINES] = tide_gate_lines(&v->options),
    };
    unsigned char bytes[8 * STATE_NUMBERS];
    for (int i = 0; i < STATE_NUMBERS; i++)
        tide_put64(bytes + 8 * i, numbers[i]);
    tide_store_put(writer, n->state, bytes, sizeof bytes);
}

static void save_counts(const tide_vocabulary *v, const names *n,
                        tide_store_writer *writer)
{
    tide_store_begin(writer, n->counts);
    unsigned char bytes[16 * PIECE];
    for (uint32_t slot = 0; slot < v->used;) {
        size_t size = 0;
        for (; slot < v->used && size < sizeof bytes; slot++, size += 16) {
            tide_put64(bytes + size, v->words.records[slot].count);
            tide_put64(bytes + size + 8, v->words.records[slot].error);
        }
        tide_store_append(writer, bytes, size);
    }
}

static void save_words(const tide_vocabulary *v, const names *n,
                       tide_store_writer *writer)
{
    tide_store_begin(writer, n->lengths);
    unsigned char lengths[PIECE];
    for (uint32_t slot = 0; slot < v->used;) {
        size_t size = 0;
        for (; slot < v->used && size < sizeof lengths; slot++, size++) {
            uint32_t length;
            tide_word_table_text(&v->words, slot, &length);
            lengths[size] = (unsigned char)length;
        }
        tide_store_append(writer, lengths, size);
    }
    tide_store_begin(writer, n->text);
    char text[PIECE * TIDE_WORD_MAX];
    for (uint32_t slot = 0; slot < v->used;) {
        size_t size = 0;
        for (; slot < v->used && size <= sizeof text - TIDE_WORD_MAX; slot++) {
            uint32_t length;
            const char *bytes = tide_word_table_text(&v->words, slot, &length);
            if (length > 0)
                memcpy(text + size, bytes, length);
            size += length;
        }
        tide_store_append(writer, text, size);
    }
}

void tide_vocabulary_save(const tide_vocabulary *v, tide_store_writer *writer)
{
    names named = names_of(&v->options), *n = &named;
    save_state(v, n, writer);
    save_counts(v, n, writer);
    save_words(v, n, writer);
    if (v->gate)
        tide_store_put(writer, n->gate, v->gate, sizeof *v->gate * (v->gate_mask + 1));
    if (v->arrived) {
        tide_store_begin(writer, n->arrived);
        tide_store_append(writer, &v->evicted_young, sizeof v->evicted_young);
        tide_store_append(writer, v->arrived, sizeof *v->arrived * v->used);
    }
}

/* -- load -------------------------------------------------------------------------- */

static int damaged(tide_store *store, const char *section, const char *what,
                   tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section %s: %s",
                     tide_store_path(store), section, what);
}

static int check_size(tide_store *store, const char *section, uint64_t size,
                      tide_error *err)
{
    int64_t found = tide_store_size(store, section, err);
    if (found < 0)
        return (int)found;
    if ((uint64_t)found != size)
        return damaged(store, section, "its size does not fit the vocabulary", err);
    return TIDE_OK;
}

/* Before anything is allocated: the state, and whether it fits the options. */
static int check_state(const uint64_t state[STATE_NUMBERS],
                       const tide_vocabulary_options *options, const names *n,
                       tide_store *store, tide_error *err)
{
    if (state[STATE_KIND] != (uint64_t)options->kind ||
        state[STATE_CAPACITY] < options->capacity ||
        state[STATE_SEED] != options->seed ||
        state[STATE_GATE_LINES] != tide_gate_lines(options))
        return damaged(store, n->state, "another kind of vocabulary", err);
    bool sound = state[STATE_USED] <= options->capacity &&
                 state[STATE_SIZE] <= state[STATE_USED] &&
                 state[STATE_HAND] <= state[STATE_USED] &&
                 state[STATE_TOKENS] <= TIDE_COUNTED_MOST &&
                 state[STATE_TOTAL] <= state[STATE_TOKENS] &&
                 state[STATE_MINIMUM] <= state[STATE_TOTAL] + 1 &&
                 state[STATE_ADMITTED] <= state[STATE_TOKENS] &&
                 state[STATE_REJECTED] <= state[STATE_TOKENS] &&
                 state[STATE_EVICTED] <= state[STATE_ADMITTED] &&
                 state[STATE_ADMITTED] - state[STATE_EVICTED] == state[STATE_SIZE];
    if (!sound)
        return damaged(store, n->state, "numbers that contradict each other", err);
    int status = check_size(store, n->counts, 16 * state[STATE_USED], err);
    if (status == TIDE_OK)
        status = check_size(store, n->lengths, state[STATE_USED], err);
    if (status == TIDE_OK && state[STATE_GATE_LINES] > 0)
        status = check_size(store, n->gate,
                            sizeof(tide_gate_line) * state[STATE_GATE_LINES], err);
    return status;
}

static void take_state(tide_vocabulary *v, const uint64_t state[STATE_NUMBERS])
{
    v->tokens = state[STATE_TOKENS];
    v->total = state[STATE_TOTAL];
    v->since_halving = state[STATE_SINCE_HALVING];
    if (v->options.half_life > 0) /* it may be another one than before */
        v->since_halving %= v->options.half_life;
    v->admitted = state[STATE_ADMITTED];
    v->evicted = state[STATE_EVICTED];
    v->rejected = state[STATE_REJECTED];
    v->used = (uint32_t)state[STATE_USED];
    v->minimum = state[STATE_MINIMUM];
    v->hand = (uint32_t)state[STATE_HAND];
    v->lowest = state[STATE_LOWEST];
}

/* What the kinds rely on, slot by slot; NULL when all is well. */
static const char *complaint(const tide_vocabulary *v, uint32_t slot, uint32_t length)
{
    const tide_record *r = &v->words.records[slot];
    bool sweeping = v->options.kind == TIDE_VOCABULARY_MISRA_GRIES;
    if (length == 0) {
        if (!sweeping || slot < v->hand)
            return "an empty word";
        return r->count != 0 || r->error != 0 ? "a count without a word" : NULL;
    }
    if (r->error > r->count)
        return "an error above its count";
    if (r->count > v->total)
        return "a count above the number of tokens";
    if (sweeping && (r->count <= v->minimum || r->count < v->lowest))
        return "a count below the smallest";
    if (v->options.kind == TIDE_VOCABULARY_SPACE_SAVING &&
        (r->count < v->minimum || (slot < v->hand && r->count < v->lowest)))
        return "a count below the smallest";
    return NULL;
}

/* Some neighboring slots, as they are in the file. */
typedef struct piece {
    uint32_t first;
    uint32_t count;
    unsigned char counts[16 * PIECE];
    unsigned char lengths[PIECE];
    char text[PIECE * TIDE_WORD_MAX + 16]; /* 16 bytes of every word can be read */
} piece;

/* The words of the piece begin at *offset of the text, which moves behind them. */
static int read_piece(piece *p, const names *n, tide_store *store, uint64_t *offset,
                      tide_error *err)
{
    int status = tide_store_read_at(store, n->counts, 16 * (uint64_t)p->first,
                                    p->counts, 16 * (size_t)p->count, err);
    if (status == TIDE_OK)
        status =
            tide_store_read_at(store, n->lengths, p->first, p->lengths, p->count, err);
    if (status < 0)
        return status;
    size_t size = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->lengths[i] > TIDE_WORD_MAX)
            return damaged(store, n->lengths, "a word that is too long", err);
        size += p->lengths[i];
    }
    int64_t end = tide_store_size(store, n->text, err);
    if (end < 0)
        return (int)end;
    if (size > (uint64_t)end - *offset)
        return damaged(store, n->text, "it is too short", err);
    if (size > 0)
        status = tide_store_read_at(store, n->text, *offset, p->text, size, err);
    *offset += size;
    return status;
}

static int take_piece(tide_vocabulary *v, const piece *p, const names *n,
                      tide_store *store, tide_error *err)
{
    tide_word word = {.bytes = p->text};
    for (uint32_t i = 0; i < p->count; i++, word.bytes += word.length) {
        uint32_t slot = p->first + i;
        word.length = p->lengths[i];
        v->words.records[slot].count = tide_get64(p->counts + 16 * i);
        v->words.records[slot].error = tide_get64(p->counts + 16 * i + 8);
        const char *what = complaint(v, slot, word.length);
        if (what)
            return damaged(store, n->counts, what, err);
        if (word.length == 0)
            continue;
        tide_key key = tide_word_table_key(&v->words, &word);
        if (tide_word_table_find(&v->words, &key) != TIDE_NO_SLOT)
            return damaged(store, n->text, "a word that is there twice", err);
        tide_word_table_put(&v->words, slot, &key);
        v->size++;
    }
    return TIDE_OK;
}

static int load_slots(tide_vocabulary *v, const names *n, tide_store *store,
                      uint64_t size, tide_error *err)
{
    uint64_t offset = 0;
    piece p = {0};
    for (; p.first < v->used; p.first += PIECE) {
        p.count = v->used - p.first < PIECE ? v->used - p.first : PIECE;
        int status = read_piece(&p, n, store, &offset, err);
        if (status == TIDE_OK)
            status = take_piece(v, &p, n, store, err);
        if (status < 0)
            return status;
    }
    if (v->size != size)
        return damaged(store, n->state, "not the number of words there are", err);
    return check_size(store, n->text, offset, err);
}

static int load_arrivals(tide_vocabulary *v, const names *n, tide_store *store,
                         tide_error *err)
{
    if (!v->arrived || !tide_store_has(store, n->arrived))
        return TIDE_OK;
    size_t size = sizeof *v->arrived * v->used;
    int status = check_size(store, n->arrived, sizeof v->evicted_young + size, err);
    if (status == TIDE_OK)
        status = tide_store_read_at(store, n->arrived, 0, &v->evicted_young,
                                    sizeof v->evicted_young, err);
    if (status == TIDE_OK && size > 0)
        status = tide_store_read_at(store, n->arrived, sizeof v->evicted_young,
                                    v->arrived, size, err);
    if (status == TIDE_OK && v->evicted_young > v->evicted)
        status = damaged(store, n->arrived, "more words than have left", err);
    return status;
}

tide_vocabulary *tide_vocabulary_load(const tide_vocabulary_options *options,
                                      tide_store *store, tide_error *err)
{
    names named = names_of(options), *n = &named;
    unsigned char bytes[8 * STATE_NUMBERS];
    uint64_t state[STATE_NUMBERS];
    if (tide_store_read(store, n->state, bytes, sizeof bytes, err) < 0)
        return NULL;
    for (int i = 0; i < STATE_NUMBERS; i++)
        state[i] = tide_get64(bytes + 8 * i);
    if (check_state(state, options, n, store, err) < 0)
        return NULL;
    tide_vocabulary *v = tide_vocabulary_new(options, err);
    if (!v)
        return NULL;
    take_state(v, state);
    int status = load_slots(v, n, store, state[STATE_SIZE], err);
    if (status == TIDE_OK && v->gate)
        status = tide_store_read(store, n->gate, v->gate,
                                 sizeof *v->gate * (v->gate_mask + 1), err);
    if (status == TIDE_OK)
        status = load_arrivals(v, n, store, err);
    if (status == TIDE_OK)
        return v;
    tide_vocabulary_free(v);
    return NULL;
}
