/* bag_file.c - a bag-of-words classifier in a model file.
 *
 * Sections, with little-endian numbers:
 *
 *     bag.state    10 numbers of 64 bits, in the order of the enum below
 *     bag.used     a bit for every row, set if it is in use; the first in the lowest bit
 *     bag.rows     for every row in use its sum of squares, then its values, as floats
 *     bag.labels   | slot 8 | since 8 | posts 8 | name 8 | bias 4 | sums 2 * 4 | 0 4 |
 *     bag.output   [labels][dim] floats
 *     bag.posts    | number 8 | words 4 | labels 4 | slots 4 each | hashes 4 each |
 *
 * Sizes are compared with those of the sections before anything is allocated. Values are
 * limited so that products of them cannot overflow.
 */
#include "label/bag.h"

#include "file/file.h"
#include "vector/vector.h"

#include <stdlib.h>

enum {
    AT_DIM,
    AT_ROWS,
    AT_LABELS, /* in use */
    AT_SLOTS,
    AT_POSTS, /* kept */
    AT_LEARNED,
    AT_MINIMUM,
    AT_RANDOM,
    AT_SEED,
    AT_NAMES,
    NUMBERS,
};

enum { LABEL_BYTES = 4 * 8 + 4 * 4, POST_BYTES = 8 + 2 * 4, LABELS_MAX = 1 << 18 };
enum { SLOTS_MAX = 1 << 24 }; /* the largest label-slots */

static const float LARGEST = 1e12f;
static const char state_section[] = "bag.state";

/* -- save -------------------------------------------------------------------------- */

static bool is_used(const tide_bag *b, uint64_t row)
{
    return row < b->options.rows && b->sums[row] > 0;
}

static void save_rows(const tide_bag *b, tide_store_writer *writer)
{
    tide_store_begin(writer, "bag.used");
    for (uint64_t row = 0; row < b->options.rows; row += 8) {
        unsigned char bits = 0;
        for (int i = 0; i < 8; i++)
            bits |= (unsigned char)(is_used(b, row + (uint64_t)i) << i);
        tide_store_append(writer, &bits, 1);
    }
    tide_store_begin(writer, "bag.rows");
    for (uint32_t row = 0; row < b->options.rows; row++) {
        if (!is_used(b, row))
            continue;
        tide_store_append(writer, &b->sums[row], sizeof(float));
        tide_store_append(writer, tide_matrix_row(&b->rows, row),
                          b->options.dim * sizeof(float));
    }
}

static void save_labels(const tide_bag *b, tide_store_writer *writer)
{
    tide_store_begin(writer, "bag.labels");
    for (uint32_t i = 0; i < b->label_count; i++) {
        const tide_bag_label *l = &b->labels[i];
        unsigned char bytes[LABEL_BYTES] = {0};
        const float values[] = {l->bias, l->bias_sum, l->sum};
        tide_put64(bytes, l->slot);
        tide_put64(bytes + 8, l->since);
        tide_put64(bytes + 16, l->posts);
        tide_put64(bytes + 24, l->name);
        memcpy(bytes + 32, values, sizeof values);
        tide_store_append(writer, bytes, sizeof bytes);
    }
    tide_matrix_save(&b->output, b->label_count, "bag.output", writer);
}

static void save_posts(const tide_bag *b, tide_store_writer *writer)
{
    tide_store_begin(writer, "bag.posts");
    for (uint32_t i = 0; i < b->post_count; i++) {
        const tide_bag_post *post = &b->posts[i];
        const uint32_t counts[] = {post->word_count, post->label_count};
        unsigned char number[8];
        tide_put64(number, post->number);
        tide_store_append(writer, number, sizeof number);
        tide_store_append(writer, counts, sizeof counts);
        tide_store_append(writer, post->slots, post->label_count * sizeof(uint32_t));
        tide_store_append(writer, b->post_words + (size_t)i * b->options.words,
                          post->word_count * sizeof(uint32_t));
    }
}

void tide_bag_save(const tide_bag *b, tide_store_writer *writer)
{
    const uint64_t numbers[NUMBERS] = {
        [AT_DIM] = b->options.dim,    [AT_ROWS] = b->options.rows,
        [AT_LABELS] = b->label_count, [AT_SLOTS] = b->options.slots,
        [AT_POSTS] = b->post_count,   [AT_LEARNED] = b->learned,
        [AT_MINIMUM] = b->minimum,    [AT_RANDOM] = b->rng.state,
        [AT_SEED] = b->options.seed,  [AT_NAMES] = b->name_count,
    };
    unsigned char bytes[8 * NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        tide_put64(bytes + 8 * i, numbers[i]);
    tide_store_put(writer, state_section, bytes, sizeof bytes);
    save_rows(b, writer);
    save_labels(b, writer);
    save_posts(b, writer);
}

/* -- load -------------------------------------------------------------------------- */

static int corrupt(const tide_store *store, const char *section, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                     tide_store_path(store), section);
}

bool tide_bag_saved(const tide_store *store)
{
    return tide_store_has(store, state_section);
}

static int read_numbers(tide_store *store, uint64_t numbers[NUMBERS], tide_error *err)
{
    unsigned char bytes[8 * NUMBERS];
    int status = tide_store_read(store, state_section, bytes, sizeof bytes, err);
    if (status)
        return status;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = tide_get64(bytes + 8 * i);
    return numbers[AT_NAMES] > 65536 ? corrupt(store, state_section, err) : TIDE_OK;
}

int64_t tide_bag_saved_names(tide_store *store, tide_error *err)
{
    uint64_t numbers[NUMBERS];
    int status = read_numbers(store, numbers, err);
    return status ? status : (int64_t)numbers[AT_NAMES];
}

/* The sizes of sections bound what the numbers may be. */
static int check_numbers(const uint64_t n[NUMBERS], tide_store *store, tide_error *err)
{
    int64_t used = tide_store_size(store, "bag.used", err),
            labels = used < 0 ? used : tide_store_size(store, "bag.labels", err),
            posts = labels < 0 ? labels : tide_store_size(store, "bag.posts", err);
    if (posts < 0)
        return (int)posts;
    bool right =
        n[AT_DIM] >= 1 && n[AT_DIM] <= TIDE_DIM_MAX && n[AT_ROWS] >= 2 &&
        n[AT_ROWS] < UINT32_MAX && (n[AT_ROWS] + 7) / 8 == (uint64_t)used &&
        n[AT_LABELS] <= LABELS_MAX && n[AT_LABELS] * LABEL_BYTES == (uint64_t)labels &&
        n[AT_SLOTS] <= SLOTS_MAX && n[AT_POSTS] <= (uint64_t)posts / POST_BYTES &&
        n[AT_LABELS] <= n[AT_SLOTS] && n[AT_LEARNED] <= TIDE_COUNTED_MAX;
    return right ? TIDE_OK : corrupt(store, state_section, err);
}

static bool is_valid(float value)
{
    return value >= -LARGEST && value <= LARGEST;
}

static bool all_valid(const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_valid(values[i]))
            return false;
    return true;
}

static int load_rows(tide_bag *b, tide_store *store, tide_error *err)
{
    size_t size = sizeof(float) * (1 + (size_t)b->options.dim);
    float values[1 + TIDE_DIM_MAX];
    size_t used_size = ((size_t)b->options.rows + 7) / 8;
    unsigned char *used = tide_alloc(used_size, 1);
    if (!used)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read bag.used");
    uint64_t at = 0;
    int status = tide_store_read(store, "bag.used", used, used_size, err);
    for (uint32_t row = 0; row < b->options.rows && !status; row++) {
        if (!(used[row / 8] >> row % 8 & 1))
            continue;
        status = tide_store_read_at(store, "bag.rows", at, values, size, err);
        at += size;
        if (!status && !(values[0] > 0 && all_valid(values, 1 + b->options.dim)))
            status = corrupt(store, "bag.rows", err);
        b->sums[row] = values[0];
        memcpy(tide_matrix_row(&b->rows, row), values + 1,
               b->options.dim * sizeof(float));
    }
    free(used);
    if (!status && tide_store_size(store, "bag.rows", err) != (int64_t)at)
        status = corrupt(store, "bag.rows", err);
    return status;
}

/* Every name belongs to one label at most. */
static int load_label(tide_bag *b, uint32_t label, bool *named, tide_store *store,
                      tide_error *err)
{
    unsigned char bytes[LABEL_BYTES];
    float values[3];
    int status = tide_store_read_at(store, "bag.labels", (uint64_t)label * LABEL_BYTES,
                                    bytes, sizeof bytes, err);
    if (status)
        return status;
    memcpy(values, bytes + 32, sizeof values);
    uint64_t slot = tide_get64(bytes), name = tide_get64(bytes + 24);
    if (slot >= b->options.slots || name > b->name_count || (name && named[name - 1]) ||
        tide_get64(bytes + 16) > b->learned || !all_valid(values, 3) || values[1] < 0 ||
        values[2] < 0)
        return corrupt(store, "bag.labels", err);
    if (name)
        named[name - 1] = true;
    b->labels[label] = (tide_bag_label){.slot = (uint32_t)slot,
                                        .since = tide_get64(bytes + 8),
                                        .posts = tide_get64(bytes + 16),
                                        .name = (uint32_t)name,
                                        .bias = values[0],
                                        .bias_sum = values[1],
                                        .sum = values[2]};
    return TIDE_OK;
}

/* Of two labels in the same slot the one that was admitted later is still there. */
static void fill_label_by_slot(tide_bag *b)
{
    for (uint32_t i = 0; i < b->label_count; i++) {
        uint32_t *found = &b->label_by_slot[b->labels[i].slot];
        if (*found == TIDE_NO_LABEL || b->labels[i].since > b->labels[*found].since)
            *found = i;
    }
}

static int load_labels(tide_bag *b, tide_store *store, tide_error *err)
{
    bool *named = tide_alloc(b->name_count + 1, sizeof *named);
    if (!named)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read bag.labels");
    int status = TIDE_OK;
    for (uint32_t i = 0; i < b->label_count && !status; i++)
        status = load_label(b, i, named, store, err);
    free(named);
    if (!status)
        status = tide_matrix_load(&b->output, b->label_count, "bag.output", store, err);
    for (uint32_t i = 0; i < b->label_count && !status; i++)
        if (!all_valid(b->output_rows[i], b->options.dim))
            status = corrupt(store, "bag.output", err);
    if (!status)
        fill_label_by_slot(b);
    return status;
}

/* Reads a post into place `at`, whose words may have become fewer. */
static int load_post(tide_bag *b, uint32_t at, uint64_t *offset, tide_store *store,
                     tide_error *err)
{
    static const char section[] = "bag.posts";
    tide_bag_post *post = &b->posts[at];
    unsigned char number[8] = {0};
    uint32_t counts[2] = {0};
    int status = tide_store_read_at(store, section, *offset, number, 8, err);
    if (!status)
        status = tide_store_read_at(store, section, *offset + 8, counts, 8, err);
    if (!status && (!counts[0] || counts[0] > TIDE_POST_MAX || !counts[1] ||
                    counts[1] > TIDE_BAG_LABELS))
        status = corrupt(store, section, err);
    if (status)
        return status;
    post->number = tide_get64(number);
    post->label_count = counts[1];
    post->word_count = counts[0] < b->options.words ? counts[0] : b->options.words;
    *offset += POST_BYTES;
    status = tide_store_read_at(store, section, *offset, post->slots,
                                counts[1] * sizeof(uint32_t), err);
    *offset += counts[1] * sizeof(uint32_t);
    if (!status)
        status = tide_store_read_at(store, section, *offset,
                                    b->post_words + (size_t)at * b->options.words,
                                    post->word_count * sizeof(uint32_t), err);
    *offset += counts[0] * sizeof(uint32_t);
    for (uint32_t i = 0; i < counts[1] && !status; i++)
        if (post->slots[i] >= b->options.slots)
            status = corrupt(store, section, err);
    return status;
}

static int load_posts(tide_bag *b, uint32_t count, tide_store *store, tide_error *err)
{
    uint64_t offset = 0;
    int status = TIDE_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = load_post(b, i, &offset, store, err);
    if (!status && tide_store_size(store, "bag.posts", err) != (int64_t)offset)
        status = corrupt(store, "bag.posts", err);
    b->post_count = count;
    return status;
}

/* What the file has, with room for what the options ask. The vocabulary, and with it the
 * options, may be smaller than before if it is frozen. */
static tide_bag_options sizes_of(const uint64_t n[NUMBERS],
                                 const tide_bag_options *options)
{
    uint32_t labels = n[AT_LABELS] ? (uint32_t)n[AT_LABELS] : 1;
    tide_bag_options sizes = {.dim = (uint32_t)n[AT_DIM],
                              .rows = (uint32_t)n[AT_ROWS],
                              .labels = labels,
                              .slots = (uint32_t)n[AT_SLOTS],
                              .words = SENTENCE_MAX,
                              .seed = n[AT_SEED]};
    if (options) {
        sizes.labels = options->labels > labels ? options->labels : labels;
        sizes.words = options->words;
        sizes.posts =
            options->posts > n[AT_POSTS] ? options->posts : (uint32_t)n[AT_POSTS];
    }
    return sizes;
}

tide_bag *tide_bag_load(const tide_bag_options *options, tide_store *store,
                        tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    uint64_t n[NUMBERS];
    if (read_numbers(store, n, err) || check_numbers(n, store, err))
        return NULL;
    if (options && (options->dim != n[AT_DIM] || options->slots != n[AT_SLOTS] ||
                    options->seed != n[AT_SEED])) {
        corrupt(store, state_section, err);
        return NULL;
    }
    const tide_bag_options sizes = sizes_of(n, options);
    tide_bag *b = tide_bag_new(&sizes, err);
    if (!b)
        return NULL;
    b->label_count = (uint32_t)n[AT_LABELS];
    b->name_count = (uint32_t)n[AT_NAMES];
    b->learned = n[AT_LEARNED];
    b->minimum = n[AT_MINIMUM];
    b->rng.state = n[AT_RANDOM];
    int status = load_rows(b, store, err);
    if (!status)
        status = load_labels(b, store, err);
    if (!status && options)
        status = load_posts(b, (uint32_t)n[AT_POSTS], store, err);
    if (!status)
        return b;
    tide_bag_free(b);
    return NULL;
}
