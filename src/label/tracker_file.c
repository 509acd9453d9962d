/* tracker_file.c - a label tracker in a model file.
 *
 * Sections, with little-endian numbers of 64 bits unless noted otherwise:
 *
 *     label.state ... the counted labels, as described in vocabulary_file.c
 *     label.tracker   options, generator and counters, in the order of the enum below
 *     label.samples   per slot: posts seen, number of the post that admitted the label,
 *                     limit
 *     label.posts     every post once: priority, number; 16 bits each for the bytes of
 *                     its record that are labels, and for all of them; 32 bits that say
 *                     which labels of the record have it in their samples, the first in
 *                     the lowest bit; the record
 *
 * Posts are stored at the first slot whose sample contains them, lowest priority first.
 * So the bytes depend neither on memory addresses nor on the shape of any heap.
 */
#include "file/file.h"
#include "label/label.h"
#include "label/tracker.h"
#include "vocab/vocab.h"

enum {
    STATE_LABELS,
    STATE_MAX_POSTS,
    STATE_POST_BYTES,
    STATE_MEMORY,
    STATE_SEED,
    STATE_RNG,
    STATE_POSTS,
    STATE_UNLABELED,
    STATE_EMPTY,
    STATE_CUT,
    STATE_EXTRA_LABELS,
    STATE_EVICTED,
    STATE_KEPT,
    STATE_NUMBERS,
};

enum {
    ROW_SEEN,
    ROW_SINCE,
    ROW_LIMIT,
    ROW_NUMBERS,
};

enum { HEAD = 24 }; /* bytes of a post before its record */

_Static_assert(TIDE_POST_RECORD_MAX <= UINT16_MAX && TIDE_POST_LABELS <= 32,
               "sizes and keepers of a post fit their bits");

#define STATE "label.tracker"
#define SAMPLES "label.samples"
#define POSTS "label.posts"

static void put_numbers(unsigned char *bytes, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tide_put64(bytes + 8 * i, numbers[i]);
}

static void get_numbers(const unsigned char *bytes, uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = tide_get64(bytes + 8 * i);
}

/* -- save ------------------------------------------------------------------------- */

static void save_state(const tide_tracker *t, tide_store_writer *writer)
{
    const uint64_t numbers[STATE_NUMBERS] = {
        [STATE_LABELS] = t->options.labels,
        [STATE_MAX_POSTS] = t->options.max_posts,
        [STATE_POST_BYTES] = t->options.post_bytes,
        [STATE_MEMORY] = t->options.memory,
        [STATE_SEED] = t->options.seed,
        [STATE_RNG] = t->rng.state,
        [STATE_POSTS] = t->counters.posts,
        [STATE_UNLABELED] = t->counters.unlabeled,
        [STATE_EMPTY] = t->counters.empty,
        [STATE_CUT] = t->counters.cut,
        [STATE_EXTRA_LABELS] = t->counters.extra_labels,
        [STATE_EVICTED] = t->counters.evicted,
        [STATE_KEPT] = t->posts.kept,
    };
    unsigned char bytes[8 * STATE_NUMBERS];
    put_numbers(bytes, numbers, STATE_NUMBERS);
    tide_store_put(writer, STATE, bytes, sizeof bytes);
}

static void save_samples(const tide_tracker *t, tide_store_writer *writer)
{
    tide_store_begin(writer, SAMPLES);
    for (uint32_t slot = 0; slot < tide_vocabulary_used(t->labels); slot++) {
        const tide_sample *s = &t->samples[slot];
        const uint64_t row[ROW_NUMBERS] = {s->seen, s->since, s->limit};
        unsigned char bytes[8 * ROW_NUMBERS];
        put_numbers(bytes, row, ROW_NUMBERS);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

/* Which labels of its record keep a post, as bits, and the first slot among theirs. */
static uint32_t sample_bits(const tide_tracker *t, uint32_t post,
                            const tide_record_text *record, uint32_t *first)
{
    uint32_t bits = 0, bit = 1;
    tide_word label;
    *first = TIDE_NO_SLOT;
    for (uint32_t at = 0; tide_record_label(record, &at, &label); bit <<= 1) {
        uint32_t slot = tide_vocabulary_find(t->labels, &label);
        if (slot == TIDE_NO_SLOT ||
            !tide_sample_contains(&t->posts, &t->samples[slot], post))
            continue;
        bits |= bit;
        if (slot < *first)
            *first = slot;
    }
    return bits;
}

static void save_post(const tide_cell *post, const tide_record_text *record,
                      uint32_t bits, tide_store_writer *writer)
{
    uint64_t sizes = record->labels_size | record->size << 16;
    const uint64_t numbers[3] = {post->post.priority, post->post.number,
                                 sizes | (uint64_t)bits << 32};
    unsigned char bytes[HEAD];
    put_numbers(bytes, numbers, 3);
    tide_store_append(writer, bytes, sizeof bytes);
    tide_store_append(writer, record->bytes, record->size);
}

static void save_posts(const tide_tracker *t, tide_store_writer *writer)
{
    tide_record_text record;
    tide_store_begin(writer, POSTS);
    for (uint32_t slot = 0; slot < tide_vocabulary_used(t->labels); slot++) {
        tide_sample_list(&t->posts, &t->samples[slot], t->order);
        for (uint32_t i = 0; i < t->samples[slot].kept; i++) {
            uint32_t post = t->order[i], first;
            tide_post_record(&t->posts, post, &record);
            uint32_t bits = sample_bits(t, post, &record, &first);
            if (first == slot)
                save_post(&t->posts.cells[post], &record, bits, writer);
        }
    }
}

void tide_tracker_save(const tide_tracker *t, tide_store_writer *writer)
{
    tide_vocabulary_save(t->labels, writer);
    save_state(t, writer);
    save_samples(t, writer);
    save_posts(t, writer);
}

/* -- load ------------------------------------------------------------------------- */

static int corrupt(tide_store *store, const char *section, const char *problem,
                   tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt: %s",
                     tide_store_path(store), section, problem);
}

static int read_state(tide_store *store, uint64_t state[STATE_NUMBERS], tide_error *err)
{
    unsigned char bytes[8 * STATE_NUMBERS];
    int status = tide_store_read(store, STATE, bytes, sizeof bytes, err);
    if (status < 0)
        return status;
    get_numbers(bytes, state, STATE_NUMBERS);
    uint64_t posts = state[STATE_POSTS];
    bool valid =
        state[STATE_LABELS] <= UINT32_MAX && state[STATE_MAX_POSTS] <= UINT32_MAX &&
        state[STATE_POST_BYTES] <= UINT32_MAX && posts <= TIDE_COUNTED_MAX &&
        state[STATE_UNLABELED] <= posts &&
        state[STATE_EMPTY] <= posts - state[STATE_UNLABELED] &&
        state[STATE_CUT] <= posts - state[STATE_UNLABELED] &&
        state[STATE_KEPT] <= posts - state[STATE_UNLABELED] - state[STATE_EMPTY];
    return valid ? TIDE_OK : corrupt(store, STATE, "inconsistent numbers", err);
}

static tide_tracker_options options_of(const uint64_t state[STATE_NUMBERS])
{
    return (tide_tracker_options){.labels = (uint32_t)state[STATE_LABELS],
                                  .max_posts = (uint32_t)state[STATE_MAX_POSTS],
                                  .post_bytes = (uint32_t)state[STATE_POST_BYTES],
                                  .memory = state[STATE_MEMORY],
                                  .seed = state[STATE_SEED]};
}

static bool same_options(const tide_tracker_options *a, const tide_tracker_options *b)
{
    return a->labels == b->labels && a->max_posts == b->max_posts &&
           a->post_bytes == b->post_bytes && a->memory == b->memory &&
           a->seed == b->seed;
}

static tide_tracker_stats counters_from(const uint64_t state[STATE_NUMBERS])
{
    return (tide_tracker_stats){.posts = state[STATE_POSTS],
                                .unlabeled = state[STATE_UNLABELED],
                                .empty = state[STATE_EMPTY],
                                .cut = state[STATE_CUT],
                                .extra_labels = state[STATE_EXTRA_LABELS],
                                .evicted = state[STATE_EVICTED]};
}

int tide_tracker_peek(tide_store *store, tide_tracker_stats *stats, tide_error *err)
{
    uint64_t state[STATE_NUMBERS];
    int status = read_state(store, state, err);
    int64_t size = status ? status : tide_store_size(store, SAMPLES, err);
    if (size < 0)
        return (int)size;
    *stats = counters_from(state);
    stats->kept = state[STATE_KEPT];
    stats->labels = (uint32_t)((uint64_t)size / (8 * ROW_NUMBERS));
    stats->capacity = (uint32_t)state[STATE_LABELS];
    return TIDE_OK;
}

static int load_samples(tide_tracker *t, tide_store *store, tide_error *err)
{
    uint32_t used = tide_vocabulary_used(t->labels);
    int64_t size = tide_store_size(store, SAMPLES, err);
    if (size < 0)
        return (int)size;
    if ((uint64_t)size != (uint64_t)used * 8 * ROW_NUMBERS)
        return corrupt(store, SAMPLES, "its size does not match the labels", err);
    for (uint32_t slot = 0; slot < used; slot++) {
        unsigned char bytes[8 * ROW_NUMBERS];
        uint64_t row[ROW_NUMBERS];
        int status = tide_store_read_at(store, SAMPLES, sizeof bytes * (uint64_t)slot,
                                        bytes, sizeof bytes, err);
        if (status < 0)
            return status;
        get_numbers(bytes, row, ROW_NUMBERS);
        if (row[ROW_LIMIT] > t->options.max_posts ||
            row[ROW_SINCE] > t->counters.posts ||
            row[ROW_SEEN] > t->counters.posts - row[ROW_SINCE])
            return corrupt(store, SAMPLES, "inconsistent numbers", err);
        tide_sample *s = &t->samples[slot];
        s->seen = row[ROW_SEEN];
        s->since = row[ROW_SINCE];
        s->limit = (uint32_t)row[ROW_LIMIT];
    }
    return TIDE_OK;
}

/* A post as read from the file. Its record goes to the tracker's buffer. */
typedef struct saved_post {
    uint64_t priority, number;
    uint32_t sample_bits;
} saved_post;

static bool sizes_are_valid(const tide_tracker *t, uint64_t left)
{
    const tide_record_text *record = &t->record;
    return record->labels_size > 0 && record->labels_size <= TIDE_RECORD_LABELS &&
           record->size > record->labels_size && record->size <= left &&
           record->size - record->labels_size <= t->options.post_bytes;
}

static bool labels_are_valid(const tide_record_text *record)
{
    tide_word labels[TIDE_POST_LABELS], *label = labels;
    for (uint32_t at = 0; at < record->labels_size; label++) {
        if (label == labels + TIDE_POST_LABELS)
            return false;
        tide_record_label(record, &at, label);
        if (label->length == 0 || label->length > TIDE_WORD_MAX ||
            at > record->labels_size ||
            tide_words_contain(labels, (size_t)(label - labels), label))
            return false;
    }
    return true;
}

/* Reads the post at *offset of a section of `size` bytes and advances *offset. */
static int read_post(tide_tracker *t, tide_store *store, uint64_t size,
                     uint64_t *offset, saved_post *post, tide_error *err)
{
    unsigned char head[HEAD];
    int status = tide_store_read_at(store, POSTS, *offset, head, HEAD, err);
    if (status < 0)
        return status;
    uint64_t packed = tide_get64(head + 16);
    *post =
        (saved_post){tide_get64(head), tide_get64(head + 8), (uint32_t)(packed >> 32)};
    t->record.labels_size = packed & UINT16_MAX;
    t->record.size = packed >> 16 & UINT16_MAX;
    *offset += HEAD;
    if (!sizes_are_valid(t, size - *offset))
        return corrupt(store, POSTS, "invalid post size", err);
    status =
        tide_store_read_at(store, POSTS, *offset, t->record.bytes, t->record.size, err);
    if (status < 0)
        return status;
    *offset += t->record.size;
    return labels_are_valid(&t->record)
               ? TIDE_OK
               : corrupt(store, POSTS, "invalid post labels", err);
}

static uint32_t expected_size(const tide_sample *s)
{
    return s->seen < s->limit ? (uint32_t)s->seen : s->limit;
}

/* Adds a post to the samples of its labels. Returns NULL, or what is wrong with it.
 * There is always room for one post of any size beyond the limit. */
static const char *insert_post(tide_tracker *t, const saved_post *saved)
{
    if (saved->sample_bits == 0)
        return "a post that is in no sample";
    uint32_t post =
        tide_post_put(&t->posts, saved->priority, saved->number, &t->record);
    uint32_t bits = saved->sample_bits;
    tide_word label;
    for (uint32_t at = 0; tide_record_label(&t->record, &at, &label); bits >>= 1) {
        if (!(bits & 1))
            continue;
        uint32_t slot = tide_vocabulary_find(t->labels, &label);
        if (slot == TIDE_NO_SLOT)
            return "a post of an unknown label";
        tide_sample *sample = &t->samples[slot];
        if (saved->number < sample->since || saved->number >= t->counters.posts)
            return "a post number out of range";
        if (sample->kept == expected_size(sample))
            return "a sample has too many posts";
        tide_sample_add(&t->posts, sample, post);
        tide_tracker_rebalance(t, slot);
    }
    if (bits != 0)
        return "a post in the sample of a label that it does not have";
    return t->posts.used > t->limit ? "the posts exceed the memory" : NULL;
}

/* Whether every sample has its full size and contains every post that belongs to it. */
static bool samples_are_complete(const tide_tracker *t)
{
    tide_record_text record;
    for (uint32_t slot = 0; slot < tide_vocabulary_used(t->labels); slot++) {
        if (t->samples[slot].kept != expected_size(&t->samples[slot]))
            return false;
        tide_sample_list(&t->posts, &t->samples[slot], t->order);
        for (uint32_t i = 0; i < t->samples[slot].kept; i++) {
            uint32_t post = t->order[i], first;
            tide_post_record(&t->posts, post, &record);
            uint32_t bits = sample_bits(t, post, &record, &first);
            if ((uint32_t)__builtin_popcount(bits) != t->posts.cells[post].post.refs)
                return false;
        }
    }
    return true;
}

static int load_posts(tide_tracker *t, uint64_t kept, tide_store *store,
                      tide_error *err)
{
    int64_t size = tide_store_size(store, POSTS, err);
    if (size < 0)
        return (int)size;
    for (uint64_t offset = 0; offset < (uint64_t)size;) {
        saved_post post;
        int status = read_post(t, store, (uint64_t)size, &offset, &post, err);
        if (status < 0)
            return status;
        const char *problem = insert_post(t, &post);
        if (problem)
            return corrupt(store, POSTS, problem, err);
    }
    if (!samples_are_complete(t))
        return corrupt(store, POSTS, "a sample lacks posts", err);
    if (t->posts.kept != kept)
        return corrupt(store, POSTS, "wrong number of posts", err);
    return TIDE_OK;
}

tide_tracker *tide_tracker_load(const tide_tracker_options *options, tide_store *store,
                                tide_error *err)
{
    uint64_t state[STATE_NUMBERS];
    if (read_state(store, state, err) < 0)
        return NULL;
    tide_tracker_options saved = options_of(state);
    if (!same_options(options, &saved)) {
        corrupt(store, STATE, "it was saved with other options", err);
        return NULL;
    }
    tide_tracker *t = tide_tracker_allocate(options, store, err);
    if (!t)
        return NULL;
    t->rng.state = state[STATE_RNG];
    t->counters = counters_from(state);
    if (load_samples(t, store, err) == TIDE_OK &&
        load_posts(t, state[STATE_KEPT], store, err) == TIDE_OK)
        return t;
    tide_tracker_free(t);
    return NULL;
}
