/* vocabulary_file.c - saves and loads a vocabulary in a model file.
 *
 * Sections, with all numbers little-endian and "vocab" replaced by the vocabulary's
 * name:
 *
 *     vocab.state    15 numbers of 64 bits, in the order of the enum below
 *     vocab.counts   count and error, 64 bits each, of every slot below `used`
 *     vocab.lengths  length of the slot's word in one byte; 0 for an empty slot
 *     vocab.text     bytes of the words, concatenated
 *     vocab.gate     cells of the gate, 32 bits each; only with a gate
 *     vocab.arrived  number of words evicted early, and for each slot the number of the
 *                    token that admitted its word, 64 bits each; missing in older files
 *                    and for kinds that never evict
 *
 * The hash table is keyed with a secret of the process, so it is rebuilt on load.
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

/* Section names. */
typedef struct section_names {
    char state[16], counts[16], lengths[16], text[16], gate[16], admitted_at[16];
} section_names;

static section_names make_section_names(const tide_vocabulary_options *options)
{
    const char *name = options->name ? options->name : "vocab";
    section_names n;
    snprintf(n.state, sizeof n.state, "%s.state", name);
    snprintf(n.counts, sizeof n.counts, "%s.counts", name);
    snprintf(n.lengths, sizeof n.lengths, "%s.lengths", name);
    snprintf(n.text, sizeof n.text, "%s.text", name);
    snprintf(n.gate, sizeof n.gate, "%s.gate", name);
    snprintf(n.admitted_at, sizeof n.admitted_at, "%s.arrived", name);
    return n;
}

/* Slots read or written per call. */
#define CHUNK_SLOTS 128

/* -- save -------------------------------------------------------------------------- */

static void save_state(const tide_vocabulary *v, const section_names *n,
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

static void save_counts(const tide_vocabulary *v, const section_names *n,
                        tide_store_writer *writer)
{
    tide_store_begin(writer, n->counts);
    unsigned char bytes[16 * CHUNK_SLOTS];
    for (uint32_t slot = 0; slot < v->used;) {
        size_t size = 0;
        for (; slot < v->used && size < sizeof bytes; slot++, size += 16) {
            tide_put64(bytes + size, v->words.records[slot].count);
            tide_put64(bytes + size + 8, v->words.records[slot].error);
        }
        tide_store_append(writer, bytes, size);
    }
}

static void save_words(const tide_vocabulary *v, const section_names *n,
                       tide_store_writer *writer)
{
    tide_store_begin(writer, n->lengths);
    unsigned char lengths[CHUNK_SLOTS];
    for (uint32_t slot = 0; slot < v->used;) {
        size_t size = 0;
        for (; slot < v->used && size < sizeof lengths; slot++, size++) {
            uint32_t length;
            tide_word_table_text(&v->words, slot, &length);
            lengths[size] = (unsigned char)length;
        }
        tide_store_append(writer, lengths, size);
    }
    /* The texts follow each other without separators; the lengths tell them apart. A
     * chunk is flushed while it still has space for the longest word. */
    tide_store_begin(writer, n->text);
    char text[CHUNK_SLOTS * TIDE_WORD_MAX];
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
    section_names sections = make_section_names(&v->options), *n = &sections;
    save_state(v, n, writer);
    save_counts(v, n, writer);
    save_words(v, n, writer);
    if (v->gate)
        tide_store_put(writer, n->gate, v->gate, sizeof *v->gate * (v->gate_mask + 1));
    if (v->admitted_at) {
        tide_store_begin(writer, n->admitted_at);
        tide_store_append(writer, &v->evicted_early, sizeof v->evicted_early);
        tide_store_append(writer, v->admitted_at, sizeof *v->admitted_at * v->used);
    }
}

/* -- load -------------------------------------------------------------------------- */

static int corrupt(tide_store *store, const char *section, const char *what,
                   tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt (%s)",
                     tide_store_path(store), section, what);
}

static int check_size(tide_store *store, const char *section, uint64_t size,
                      tide_error *err)
{
    int64_t found = tide_store_size(store, section, err);
    if (found < 0)
        return (int)found;
    if ((uint64_t)found != size)
        return corrupt(store, section, "wrong size", err);
    return TIDE_OK;
}

/* Validates the state, also against the options, before anything is allocated. */
static int check_state(const uint64_t state[STATE_NUMBERS],
                       const tide_vocabulary_options *options, const section_names *n,
                       tide_store *store, tide_error *err)
{
    if (state[STATE_KIND] != (uint64_t)options->kind ||
        state[STATE_CAPACITY] < options->capacity ||
        state[STATE_SEED] != options->seed ||
        state[STATE_GATE_LINES] != tide_gate_lines(options))
        return corrupt(store, n->state, "not the kind of vocabulary expected", err);
    /* Each of these holds for any state that a vocabulary can reach. Checked together,
     * they keep every later index and subtraction in range, so the rest of the loader
     * need not defend itself. */
    bool sound = state[STATE_USED] <= options->capacity &&
                 state[STATE_SIZE] <= state[STATE_USED] &&
                 state[STATE_HAND] <= state[STATE_USED] &&
                 state[STATE_TOKENS] <= TIDE_COUNTED_MAX &&
                 state[STATE_TOTAL] <= state[STATE_TOKENS] &&
                 state[STATE_MINIMUM] <= state[STATE_TOTAL] + 1 &&
                 state[STATE_ADMITTED] <= state[STATE_TOKENS] &&
                 state[STATE_REJECTED] <= state[STATE_TOKENS] &&
                 state[STATE_EVICTED] <= state[STATE_ADMITTED] &&
                 state[STATE_ADMITTED] - state[STATE_EVICTED] == state[STATE_SIZE];
    if (!sound)
        return corrupt(store, n->state, "inconsistent numbers", err);
    int status = check_size(store, n->counts, 16 * state[STATE_USED], err);
    if (status == TIDE_OK)
        status = check_size(store, n->lengths, state[STATE_USED], err);
    if (status == TIDE_OK && state[STATE_GATE_LINES] > 0)
        status = check_size(store, n->gate,
                            sizeof(tide_gate_line) * state[STATE_GATE_LINES], err);
    return status;
}

static void restore_state(tide_vocabulary *v, const uint64_t state[STATE_NUMBERS])
{
    v->tokens = state[STATE_TOKENS];
    v->total = state[STATE_TOTAL];
    v->since_halving = state[STATE_SINCE_HALVING];
    if (v->options.half_life > 0) /* it may differ from the one at saving */
        v->since_halving %= v->options.half_life;
    v->admitted = state[STATE_ADMITTED];
    v->evicted = state[STATE_EVICTED];
    v->rejected = state[STATE_REJECTED];
    v->used = (uint32_t)state[STATE_USED];
    v->minimum = state[STATE_MINIMUM];
    v->hand = (uint32_t)state[STATE_HAND];
    v->lowest = state[STATE_LOWEST];
}

/* Checks the invariants of the kind for one slot. Returns what is wrong, or NULL. */
static const char *find_slot_problem(const tide_vocabulary *v, uint32_t slot,
                                     uint32_t length)
{
    const tide_record *r = &v->words.records[slot];
    bool sweeping = v->options.kind == TIDE_VOCABULARY_MISRA_GRIES;
    if (length == 0) {
        if (!sweeping || slot < v->hand)
            return "empty word";
        return r->count != 0 || r->error != 0 ? "count without a word" : NULL;
    }
    if (r->error > r->count)
        return "error above count";
    if (r->count > v->total)
        return "count above the number of tokens";
    /* The search for a victim relies on these bounds; see the invariants in
     * misra_gries.c and space_saving.c. */
    if (sweeping && (r->count <= v->minimum || r->count < v->lowest))
        return "count below the minimum";
    if (v->options.kind == TIDE_VOCABULARY_SPACE_SAVING &&
        (r->count < v->minimum || (slot < v->hand && r->count < v->lowest)))
        return "count below the minimum";
    return NULL;
}

/* Adjacent slots as stored in the file. */
typedef struct chunk {
    uint32_t first;
    uint32_t count;
    unsigned char counts[16 * CHUNK_SLOTS];
    unsigned char lengths[CHUNK_SLOTS];
    /* every word may be read as 16 bytes */
    char text[CHUNK_SLOTS * TIDE_WORD_MAX + 16];
} chunk;

/* The words of the chunk start at *offset of the text section; advances it past
 * them. */
static int read_chunk(chunk *p, const section_names *n, tide_store *store,
                      uint64_t *offset, tide_error *err)
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
            return corrupt(store, n->lengths, "word too long", err);
        size += p->lengths[i];
    }
    /* The lengths come from the file, so their sum is compared with what the text
     * section still has before anything is read by it. */
    int64_t end = tide_store_size(store, n->text, err);
    if (end < 0)
        return (int)end;
    if (size > (uint64_t)end - *offset)
        return corrupt(store, n->text, "too short", err);
    if (size > 0)
        status = tide_store_read_at(store, n->text, *offset, p->text, size, err);
    *offset += size;
    return status;
}

static int restore_chunk(tide_vocabulary *v, const chunk *p, const section_names *n,
                         tide_store *store, tide_error *err)
{
    tide_word word = {.bytes = p->text};
    for (uint32_t i = 0; i < p->count; i++, word.bytes += word.length) {
        uint32_t slot = p->first + i;
        word.length = p->lengths[i];
        v->words.records[slot].count = tide_get64(p->counts + 16 * i);
        v->words.records[slot].error = tide_get64(p->counts + 16 * i + 8);
        const char *what = find_slot_problem(v, slot, word.length);
        if (what)
            return corrupt(store, n->counts, what, err);
        if (word.length == 0)
            continue;
        tide_key key = tide_word_table_key(&v->words, &word);
        /* Of two slots with the same word only one could ever be found; the other would
         * be counted, drawn and saved without being trained. */
        if (tide_word_table_find(&v->words, &key) != TIDE_NO_SLOT)
            return corrupt(store, n->text, "duplicate word", err);
        tide_word_table_put(&v->words, slot, &key);
        v->size++;
    }
    return TIDE_OK;
}

static int load_slots(tide_vocabulary *v, const section_names *n, tide_store *store,
                      uint64_t size, tide_error *err)
{
    uint64_t offset = 0;
    chunk p = {0};
    for (; p.first < v->used; p.first += CHUNK_SLOTS) {
        p.count = v->used - p.first < CHUNK_SLOTS ? v->used - p.first : CHUNK_SLOTS;
        int status = read_chunk(&p, n, store, &offset, err);
        if (status == TIDE_OK)
            status = restore_chunk(v, &p, n, store, err);
        if (status < 0)
            return status;
    }
    if (v->size != size)
        return corrupt(store, n->state, "wrong number of words", err);
    return check_size(store, n->text, offset, err);
}

static int load_admission_times(tide_vocabulary *v, const section_names *n,
                                tide_store *store, tide_error *err)
{
    if (!v->admitted_at || !tide_store_has(store, n->admitted_at))
        return TIDE_OK;
    size_t size = sizeof *v->admitted_at * v->used;
    int status = check_size(store, n->admitted_at, sizeof v->evicted_early + size, err);
    if (status == TIDE_OK)
        status = tide_store_read_at(store, n->admitted_at, 0, &v->evicted_early,
                                    sizeof v->evicted_early, err);
    if (status == TIDE_OK && size > 0)
        status = tide_store_read_at(store, n->admitted_at, sizeof v->evicted_early,
                                    v->admitted_at, size, err);
    if (status == TIDE_OK && v->evicted_early > v->evicted)
        status =
            corrupt(store, n->admitted_at, "more early evictions than evictions", err);
    return status;
}

tide_vocabulary *tide_vocabulary_load(const tide_vocabulary_options *options,
                                      tide_store *store, tide_error *err)
{
    section_names sections = make_section_names(options), *n = &sections;
    unsigned char bytes[8 * STATE_NUMBERS];
    uint64_t state[STATE_NUMBERS];
    if (tide_store_read(store, n->state, bytes, sizeof bytes, err) < 0)
        return NULL;
    for (int i = 0; i < STATE_NUMBERS; i++)
        state[i] = tide_get64(bytes + 8 * i);
    /* The state is checked before the allocation, so a damaged file cannot ask for
     * memory. */
    if (check_state(state, options, n, store, err) < 0)
        return NULL;
    tide_vocabulary *v = tide_vocabulary_new(options, err);
    if (!v)
        return NULL;
    restore_state(v, state);
    int status = load_slots(v, n, store, state[STATE_SIZE], err);
    if (status == TIDE_OK && v->gate)
        status = tide_store_read(store, n->gate, v->gate,
                                 sizeof *v->gate * (v->gate_mask + 1), err);
    if (status == TIDE_OK)
        status = load_admission_times(v, n, store, err);
    if (status == TIDE_OK)
        return v;
    tide_vocabulary_free(v);
    return NULL;
}
