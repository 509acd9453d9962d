/* tracker.c - counts the labels of a stream and shares fixed memory fairly among
 * samples of their posts.
 *
 * Space-Saving counts the labels and decides which are tracked. Every post with words
 * gets a random priority. Each of its labels adds it to its sample if it is among the
 * `limit` lowest of those that carried the label since it was admitted (sample.c). A
 * new label starts with the limit `max_posts`. If more cells are in use than allowed
 * after a post was added, the label with the largest sample drops its last post, and
 * its new size becomes its limit, until everything fits. So no label loses a post while
 * another has more than one post more: the shares are max-min fair. There is room for
 * one post beyond the limit, so a post is added first and the evictions follow.
 *
 * A limit never rises while its label is tracked, not even when memory becomes free: a
 * sample that was cut down and then grows again would over-represent later posts, and
 * only the dropped posts could prevent that (Gemulla, Lehner and Haas, "Maintaining
 * bounded-size sample synopses of evolving datasets", VLDB Journal 17(2), 2008). Free
 * memory goes to labels admitted later, whose limits are higher.
 *
 * Why samples are uniform: the sample of a label always consists of the `limit` posts
 * of lowest priority among all that it saw. So it is uniform if the limit does not
 * depend on the priorities of its posts. If all posts take the same number of cells and
 * have one label each, limits follow from the order of labels in the stream alone, and
 * samples are exactly uniform. Otherwise the cells in use depend on which posts are
 * kept. A post that needs d more cells than another is then slightly less likely to be
 * kept, by a factor of at least about 1 - d / cells, where `cells` is their total
 * number: with the default memory, a difference below 1 in 10,000 even for the longest
 * post.
 *
 * A post costs one step of the sketch per label, plus O(log) for each sample that
 * accepts it, which has probability kept / seen; the cost of dropping it is amortized.
 */
#include "label/tracker.h"

#include "file/file.h"
#include "label/label.h"
#include "vocab/vocab.h"

#include <stdlib.h>

/* -- constructor ------------------------------------------------------------------ */

/* The most cells that one post can take, including an entry per label. */
static uint32_t max_post_cells(const tide_tracker_options *options)
{
    return tide_post_cells(TIDE_RECORD_LABELS + options->post_bytes) + TIDE_POST_LABELS;
}

static uint64_t cell_count(const tide_tracker_options *options)
{
    return options->memory / sizeof(tide_cell);
}

/* A post takes at least three cells: head, text and entry. */
static uint64_t order_size(const tide_tracker_options *options)
{
    uint64_t posts = cell_count(options) / 3;
    if (posts > options->max_posts)
        posts = options->max_posts;
    return posts > options->labels ? posts : options->labels;
}

static tide_vocabulary_options sketch_options(const tide_tracker_options *options)
{
    return (tide_vocabulary_options){.kind = TIDE_VOCABULARY_SPACE_SAVING,
                                     .capacity = options->labels,
                                     .seed = options->seed,
                                     .name = "label"};
}

uint64_t tide_tracker_bytes(const tide_tracker_options *options)
{
    tide_vocabulary_options sketch = sketch_options(options);
    uint64_t per_label = sizeof(tide_sample) + sizeof(uint32_t);
    return sizeof(tide_tracker) + tide_vocabulary_bytes(&sketch) +
           per_label * options->labels + sizeof(uint32_t) * order_size(options) +
           sizeof(tide_cell) * cell_count(options);
}

int tide_tracker_check(const tide_tracker_options *options, tide_error *err)
{
    if (options->labels < 1 || options->labels > TIDE_CAPACITY_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "label-slots must be between 1 and %u, not %u",
                         TIDE_CAPACITY_MAX, options->labels);
    if (options->max_posts < 1)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "label-posts must be at least 1");
    if (options->post_bytes <= TIDE_WORD_MAX || options->post_bytes > TIDE_POST_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "label-bytes must be between %d and %d, not %u",
                         TIDE_WORD_MAX + 1, TIDE_POST_MAX, options->post_bytes);
    uint64_t least = sizeof(tide_cell) * (1 + 2 * (uint64_t)max_post_cells(options));
    uint64_t highest = sizeof(tide_cell) * (uint64_t)UINT32_MAX;
    if (options->memory < least || options->memory > highest)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "label-memory must be between %llu and %llu bytes, not %llu",
                         (unsigned long long)least, (unsigned long long)highest,
                         (unsigned long long)options->memory);
    return TIDE_OK;
}

static bool allocate(tide_tracker *t)
{
    const tide_tracker_options *options = &t->options;
    t->samples = tide_alloc(options->labels, sizeof *t->samples);
    t->heap = tide_alloc(options->labels, sizeof *t->heap);
    t->order = tide_alloc(order_size(options), sizeof *t->order);
    t->posts.cells = tide_alloc(cell_count(options), sizeof *t->posts.cells);
    return t->samples && t->heap && t->order && t->posts.cells;
}

tide_tracker *tide_tracker_allocate(const tide_tracker_options *options,
                                    tide_store *store, tide_error *err)
{
    if (tide_tracker_check(options, err) < 0)
        return NULL;
    tide_vocabulary_options sketch = sketch_options(options);
    tide_tracker *t = tide_alloc(1, sizeof *t);
    if (!t)
        goto no_memory;
    t->options = *options;
    t->rng = tide_rng_seeded(options->seed ^ 0x1abe15);
    t->labels = store ? tide_vocabulary_load(&sketch, store, err)
                      : tide_vocabulary_new(&sketch, err);
    if (!t->labels)
        goto failed;
    if (!allocate(t))
        goto no_memory;
    for (uint32_t slot = 0; slot < options->labels; slot++)
        t->heap[slot] = t->samples[slot].heap_index = slot;
    t->posts.count = (uint32_t)cell_count(options);
    t->posts.fresh = TIDE_NO_CELL + 1;
    t->limit = t->posts.count - 1 - max_post_cells(options);
    return t;
no_memory:
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to track %u labels (%llu bytes)",
              options->labels, (unsigned long long)tide_tracker_bytes(options));
failed:
    tide_tracker_free(t);
    return NULL;
}

tide_tracker *tide_tracker_new(const tide_tracker_options *options, tide_error *err)
{
    return tide_tracker_allocate(options, NULL, err);
}

void tide_tracker_free(tide_tracker *t)
{
    if (!t)
        return;
    free(t->posts.cells);
    free(t->order);
    free(t->heap);
    free(t->samples);
    tide_vocabulary_free(t->labels);
    free(t);
}

/* -- heap of labels by size of sample --------------------------------------------- */

static bool is_larger(const tide_tracker *t, uint32_t a, uint32_t b)
{
    uint32_t kept_a = t->samples[a].kept, kept_b = t->samples[b].kept;
    return kept_a != kept_b ? kept_a > kept_b : a < b;
}

static void set_heap_slot(tide_tracker *t, uint32_t slot, uint32_t index)
{
    t->heap[index] = slot;
    t->samples[slot].heap_index = index;
}

void tide_tracker_rebalance(tide_tracker *t, uint32_t slot)
{
    uint32_t at = t->samples[slot].heap_index, count = t->options.labels;
    for (; at > 0 && is_larger(t, slot, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        set_heap_slot(t, t->heap[(at - 1) / 2], at);
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_larger(t, t->heap[child + 1], t->heap[child]))
            child++;
        if (!is_larger(t, t->heap[child], slot))
            break;
        set_heap_slot(t, t->heap[child], at);
    }
    set_heap_slot(t, slot, at);
}

/* -- adding a post ---------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The length of a label, cut to TIDE_WORD_MAX bytes before the first UTF-8 character
 * that does not fit. */
static uint32_t label_length(const tide_word *label)
{
    size_t length = tide_utf8_cut(label->bytes, label->length, TIDE_WORD_MAX);
    bool is_text = length > 0 || label->length == 0;
    return is_text ? (uint32_t)length : TIDE_WORD_MAX;
}

bool tide_words_contain(const tide_word *words, size_t count, const tide_word *word)
{
    for (size_t i = 0; i < count; i++)
        if (words[i].length == word->length &&
            memcmp(words[i].bytes, word->bytes, word->length) == 0)
            return true;
    return false;
}

/* Starts the record with the distinct labels. Returns their number. */
static size_t record_labels(tide_tracker *t, const tide_word *labels_in,
                            size_t count_in, tide_word labels[TIDE_POST_LABELS])
{
    tide_record_text *record = &t->record;
    size_t count = 0;
    record->size = 0;
    for (size_t i = 0; i < count_in; i++) {
        tide_word label = {labels_in[i].bytes, label_length(&labels_in[i])};
        if (label.length == 0 || tide_words_contain(labels, count, &label))
            continue;
        if (count == TIDE_POST_LABELS) {
            t->counters.extra_labels++;
            continue;
        }
        char *to = record->bytes + record->size;
        *to++ = (char)label.length;
        labels[count++] =
            (tide_word){memcpy(to, label.bytes, label.length), label.length};
        record->size += 1 + label.length;
    }
    record->labels_size = record->size;
    return count;
}

/* Completes the record with the words, as many whole ones as fit. Returns false if
 * there are none. */
static bool record_text(tide_tracker *t, const char *text, size_t length)
{
    while (length > 0 && is_blank(*text)) {
        text++;
        length--;
    }
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    if (length > t->options.post_bytes) {
        length = t->options.post_bytes;
        while (length > 0 && !is_blank(text[length]))
            length--;
        while (length > 0 && is_blank(text[length - 1]))
            length--;
        t->counters.cut++;
    }
    if (length == 0)
        return false;
    memcpy(t->record.bytes + t->record.size, text, length);
    t->record.size += (uint32_t)length;
    return true;
}

/* Counts the labels. A label that is evicted for another loses its sample. On return
 * slots[i] is the slot of label i, or TIDE_NO_SLOT if it was not admitted or was
 * evicted by a later label of the same post. */
static void count_labels(tide_tracker *t, const tide_word *labels, size_t count,
                         uint32_t slots[TIDE_POST_LABELS])
{
    tide_admission admissions[TIDE_POST_LABELS];
    size_t admitted = tide_vocabulary_add(t->labels, labels, count, slots, admissions);
    for (size_t i = 0; i < admitted; i++) {
        const tide_admission *a = &admissions[i];
        tide_sample *sample = &t->samples[a->slot];
        tide_sample_clear(&t->posts, sample);
        sample->seen = 0;
        sample->since = t->counters.posts;
        sample->limit = t->options.max_posts;
        tide_tracker_rebalance(t, a->slot);
        for (uint32_t earlier = 0; earlier < a->at; earlier++)
            if (slots[earlier] == a->slot)
                slots[earlier] = TIDE_NO_SLOT;
    }
}

/* Draws the priority of the post and adds it to every sample that accepts it. It is
 * stored with the first of them. */
static void add_to_samples(tide_tracker *t, const uint32_t *slots, size_t count)
{
    uint64_t priority = tide_rng_next(&t->rng);
    uint32_t post = TIDE_NO_CELL;
    for (size_t i = 0; i < count; i++) {
        if (slots[i] == TIDE_NO_SLOT)
            continue;
        tide_sample *sample = &t->samples[slots[i]];
        sample->seen++;
        if (!tide_sample_accepts(&t->posts, sample, priority))
            continue;
        if (post == TIDE_NO_CELL)
            post = tide_post_put(&t->posts, priority, t->counters.posts, &t->record);
        tide_sample_add(&t->posts, sample, post);
        if (sample->kept > sample->limit)
            tide_sample_remove_last(&t->posts, sample);
        tide_tracker_rebalance(t, slots[i]);
    }
}

/* Drops posts of the largest sample until the cells in use are within the limit. The
 * lowered limit keeps a sample from growing again, see the head of this file. */
static void evict_until_fit(tide_tracker *t)
{
    while (t->posts.used > t->limit) {
        tide_sample *sample = &t->samples[t->heap[0]];
        tide_sample_remove_last(&t->posts, sample);
        sample->limit = sample->kept;
        tide_tracker_rebalance(t, t->heap[0]);
        t->counters.evicted++;
    }
}

void tide_tracker_add(tide_tracker *t, const tide_word *labels, size_t count,
                      const char *text, size_t length)
{
    tide_word labels_of_post[TIDE_POST_LABELS];
    uint32_t slots[TIDE_POST_LABELS];
    size_t label_count = record_labels(t, labels, count, labels_of_post);
    if (label_count == 0) {
        t->counters.unlabeled++;
    } else {
        count_labels(t, labels_of_post, label_count, slots);
        if (record_text(t, text, length)) {
            add_to_samples(t, slots, label_count);
            evict_until_fit(t);
        } else {
            t->counters.empty++;
        }
    }
    t->counters.posts++;
}
