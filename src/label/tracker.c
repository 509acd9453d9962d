/* tracker.c - the labels of a stream, and a fair share of memory for the posts of each.
 *
 * Space-Saving counts the labels and says which are held. Every post with words gets a random
 * priority, and each of its labels keeps it if it is among the lowest `limit` of those that carried
 * the label since it came (sample.c). A new label begins with the limit `most`. When a post has
 * been taken in and more cells are in use than there should be, the label with the largest sample
 * gives up its last post and has from then on the size that is left as its limit, and so on until
 * all fit. So nobody loses a post while another keeps more than one post more: the shares are
 * max-min fair. There is room for one post beyond the limit, so that a post is first taken in, and
 * whoever must give way is found then.
 *
 * A limit never rises again while its label is held, also when others have gone and left room: a
 * sample that has been cut down and grows again has more of what came later in it, and only the
 * posts that are gone could prevent that (Gemulla, Lehner and Haas, "Maintaining bounded-size sample
 * synopses of evolving datasets", VLDB Journal 17(2), 2008). What becomes free goes to those who
 * came later, whose limits are higher.
 *
 * Why samples are uniform: the sample of a label is always the posts of lowest priority, `limit` in
 * number, of all that it saw. So it is uniform if the limit does not depend on the priorities of
 * its posts. When all posts take up the same number of cells and bear one label each, limits follow
 * from the order of the labels in the stream alone, and samples are uniform exactly. Otherwise the
 * cells in use depend on which posts are kept. A post that costs d cells more than another is then a
 * little less likely to be kept, by a factor of at least about 1 - d / cells, where `cells` are all
 * there are: with the memory by default, a difference below 1 in 10,000 even for the longest post.
 *
 * A post costs one step of the sketch for each label, and O(log) for each label that wants it, which
 * one does with probability kept / seen; what is given up was paid for when it was taken in.
 */
#include "label/tracker.h"

#include "file/file.h"
#include "label/label.h"
#include "vocab/vocab.h"

#include <stdlib.h>

/* -- life --------------------------------------------------------------------------------------- */

/* Cells that one post can take up, with all who hold it. */
static uint32_t cells_of_one(const tide_tracker_options *options)
{
    return tide_post_cells(TIDE_RECORD_LABELS + options->post_bytes) + TIDE_POST_LABELS;
}

static uint64_t cells_of(const tide_tracker_options *options)
{
    return options->memory / sizeof(tide_cell);
}

/* A post in a sample has at least three cells. */
static uint64_t order_size(const tide_tracker_options *options)
{
    uint64_t posts = cells_of(options) / 3;
    if (posts > options->most)
        posts = options->most;
    return posts > options->labels ? posts : options->labels;
}

static tide_vocabulary_options sketch_of(const tide_tracker_options *options)
{
    return (tide_vocabulary_options){.kind = TIDE_VOCABULARY_SPACE_SAVING,
                                     .capacity = options->labels,
                                     .seed = options->seed,
                                     .name = "label"};
}

uint64_t tide_tracker_bytes(const tide_tracker_options *options)
{
    tide_vocabulary_options sketch = sketch_of(options);
    uint64_t of_label = sizeof(tide_sample) + sizeof(uint32_t);
    return sizeof(tide_tracker) + tide_vocabulary_bytes(&sketch) +
           of_label * options->labels + sizeof(uint32_t) * order_size(options) +
           sizeof(tide_cell) * cells_of(options);
}

int tide_tracker_check(const tide_tracker_options *options, tide_error *err)
{
    if (options->labels < 1 || options->labels > TIDE_CAPACITY_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "a tracker holds 1 to %u labels, not %u", TIDE_CAPACITY_MAX,
                         options->labels);
    if (options->most < 1)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "at least 1 post of a label must be kept");
    if (options->post_bytes <= TIDE_WORD_MAX || options->post_bytes > TIDE_POST_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "posts are cut at %d to %d bytes, not %u", TIDE_WORD_MAX + 1,
                         TIDE_POST_MAX, options->post_bytes);
    uint64_t least = sizeof(tide_cell) * (1 + 2 * (uint64_t)cells_of_one(options));
    uint64_t highest = sizeof(tide_cell) * (uint64_t)UINT32_MAX;
    if (options->memory < least || options->memory > highest)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the memory for posts is %llu to %llu bytes, not %llu",
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
    t->posts.cells = tide_alloc(cells_of(options), sizeof *t->posts.cells);
    return t->samples && t->heap && t->order && t->posts.cells;
}

tide_tracker *tide_tracker_make(const tide_tracker_options *options, tide_store *store,
                                tide_error *err)
{
    if (tide_tracker_check(options, err) < 0)
        return NULL;
    tide_vocabulary_options sketch = sketch_of(options);
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
        t->heap[slot] = t->samples[slot].place = slot;
    t->posts.count = (uint32_t)cells_of(options);
    t->posts.fresh = TIDE_NO_CELL + 1;
    t->limit = t->posts.count - 1 - cells_of_one(options);
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
    return tide_tracker_make(options, NULL, err);
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

/* -- the heap: whose sample is the largest -------------------------------------------------------- */

static bool larger(const tide_tracker *t, uint32_t a, uint32_t b)
{
    uint32_t kept_a = t->samples[a].kept, kept_b = t->samples[b].kept;
    return kept_a != kept_b ? kept_a > kept_b : a < b;
}

static void seat(tide_tracker *t, uint32_t slot, uint32_t place)
{
    t->heap[place] = slot;
    t->samples[slot].place = place;
}

void tide_tracker_rebalance(tide_tracker *t, uint32_t slot)
{
    uint32_t at = t->samples[slot].place, count = t->options.labels;
    for (; at > 0 && larger(t, slot, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        seat(t, t->heap[(at - 1) / 2], at);
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && larger(t, t->heap[child + 1], t->heap[child]))
            child++;
        if (!larger(t, t->heap[child], slot))
            break;
        seat(t, t->heap[child], at);
    }
    seat(t, slot, at);
}

/* -- a post --------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Bytes of a label that count: a long one ends before the character that does not fit. */
static uint32_t label_length(const tide_word *label)
{
    size_t length = tide_utf8_cut(label->bytes, label->length, TIDE_WORD_MAX);
    bool is_text = length > 0 || label->length == 0;
    return is_text ? (uint32_t)length : TIDE_WORD_MAX;
}

bool tide_word_among(const tide_word *words, size_t count, const tide_word *word)
{
    for (size_t i = 0; i < count; i++)
        if (words[i].length == word->length &&
            memcmp(words[i].bytes, word->bytes, word->length) == 0)
            return true;
    return false;
}

/* Begins the record with the labels, each of them once. Returns how many there are. */
static size_t take_labels(tide_tracker *t, const tide_word *given, size_t given_count,
                          tide_word labels[TIDE_POST_LABELS])
{
    tide_record_text *record = &t->record;
    size_t count = 0;
    record->size = 0;
    for (size_t i = 0; i < given_count; i++) {
        tide_word label = {given[i].bytes, label_length(&given[i])};
        if (label.length == 0 || tide_word_among(labels, count, &label))
            continue;
        if (count == TIDE_POST_LABELS) {
            t->facts.extra_labels++;
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

/* Ends the record with the words, as many whole ones as fit. False when there are none. */
static bool take_text(tide_tracker *t, const char *text, size_t length)
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
        t->facts.cut++;
    }
    if (length == 0)
        return false;
    memcpy(t->record.bytes + t->record.size, text, length);
    t->record.size += (uint32_t)length;
    return true;
}

/* Counts the labels. Who had a slot that is needed goes, and its sample with it. slots[i] is where
 * label i is held when all have been counted, or TIDE_NO_SLOT. */
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
        sample->since = t->facts.posts;
        sample->limit = t->options.most;
        tide_tracker_rebalance(t, a->slot);
        for (uint32_t earlier = 0; earlier < a->at; earlier++)
            if (slots[earlier] == a->slot)
                slots[earlier] = TIDE_NO_SLOT;
    }
}

static void offer(tide_tracker *t, const uint32_t *slots, size_t count)
{
    uint64_t priority = tide_rng_next(&t->rng);
    uint32_t post = TIDE_NO_CELL;
    for (size_t i = 0; i < count; i++) {
        if (slots[i] == TIDE_NO_SLOT)
            continue;
        tide_sample *sample = &t->samples[slots[i]];
        sample->seen++;
        if (!tide_sample_wants(&t->posts, sample, priority))
            continue;
        if (post == TIDE_NO_CELL)
            post = tide_post_put(&t->posts, priority, t->facts.posts, &t->record);
        tide_sample_add(&t->posts, sample, post);
        if (sample->kept > sample->limit)
            tide_sample_drop_last(&t->posts, sample);
        tide_tracker_rebalance(t, slots[i]);
    }
}

static void make_all_fit(tide_tracker *t)
{
    while (t->posts.used > t->limit) {
        tide_sample *largest = &t->samples[t->heap[0]];
        tide_sample_drop_last(&t->posts, largest);
        largest->limit = largest->kept;
        tide_tracker_rebalance(t, t->heap[0]);
        t->facts.given_up++;
    }
}

void tide_tracker_add(tide_tracker *t, const tide_word *labels, size_t count,
                      const char *text, size_t length)
{
    tide_word own[TIDE_POST_LABELS];
    uint32_t slots[TIDE_POST_LABELS];
    size_t own_count = take_labels(t, labels, count, own);
    if (own_count == 0) {
        t->facts.unlabeled++;
    } else {
        count_labels(t, own, own_count, slots);
        if (take_text(t, text, length)) {
            offer(t, slots, own_count);
            make_all_fit(t);
        } else {
            t->facts.empty++;
        }
    }
    t->facts.posts++;
}
