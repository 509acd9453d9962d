/* bag_learn.c - which labels a bag-of-words classifier learns, and which posts it
 * repeats.
 *
 * The tracker holds far more labels than are predicted. The classifier learns the most
 * frequent ones, more than it will predict, so that a label has been learned for a while
 * when it becomes one that is predicted. A label that is not learned takes the place of
 * the least frequent one when its count is larger by an eighth. `minimum` is a lower
 * bound of the smallest count: counts do not fall, so most posts need no search.
 *
 * A label is the occupant of a slot of the tracker since a certain post. If the tracker
 * gives the slot to another label, the old one counts as 0, and its place is the first
 * to be taken.
 *
 * After each post an earlier one is repeated. Without that the last posts of a stream
 * that drifts would count too much. The posts are kept in a fixed number of places, and
 * each new one takes a random place. So their ages are distributed exponentially, and
 * the mean age is the number of places.
 */
#include "label/bag.h"

#include "label/label.h"

/* -- labels ------------------------------------------------------------------------ */

uint32_t tide_bag_find(const tide_bag *b, const tide_tracked_label *label)
{
    uint32_t found = b->label_by_slot[label->slot];
    return found != TIDE_NO_LABEL && b->labels[found].since == label->since
               ? found
               : TIDE_NO_LABEL;
}

void tide_bag_name(tide_bag *b, uint32_t label, const char *name)
{
    b->labels[label].name = 0;
    for (uint32_t i = 0; i < b->name_count && !b->labels[label].name; i++)
        if (!strcmp(b->names[i], name))
            b->labels[label].name = i + 1;
    if (!b->labels[label].name)
        return;
    /* The label may have been learned before, in another slot of the tracker. */
    for (uint32_t i = 0; i < b->label_count; i++)
        if (i != label && b->labels[i].name == b->labels[label].name)
            b->labels[i].name = 0;
}

void tide_bag_set_names(tide_bag *b, const char *const *names, uint32_t count)
{
    b->names = names;
    b->name_count = count;
    for (uint32_t i = 0; i < b->label_count; i++)
        b->labels[i].name = 0;
}

/* 0 if the slot of the tracker has another label now. */
static uint64_t count_of(const tide_bag *b, const tide_tracker *tracker, uint32_t label)
{
    tide_tracked_label tracked;
    const tide_bag_label *l = &b->labels[label];
    return tide_tracker_label(tracker, l->slot, &tracked) && tracked.since == l->since
               ? tracked.count
               : 0;
}

/* A place for a label with this count: a free one, or that of the least frequent label;
 * or TIDE_NO_LABEL. */
static uint32_t take_place(tide_bag *b, const tide_tracker *tracker, uint64_t count)
{
    if (b->label_count < b->options.labels)
        return b->label_count++;
    if (count <= b->minimum + b->minimum / 8)
        return TIDE_NO_LABEL;
    uint32_t least = 0;
    uint64_t minimum = UINT64_MAX;
    for (uint32_t i = 0; i < b->label_count; i++) {
        uint64_t other = count_of(b, tracker, i);
        if (other < minimum) {
            minimum = other;
            least = i;
        }
    }
    b->minimum = minimum;
    return count > minimum + minimum / 8 ? least : TIDE_NO_LABEL;
}

/* The label in a slot, which is learned from now on if it is frequent enough. */
static uint32_t find_or_learn(tide_bag *b, const tide_tracker *tracker, uint32_t slot)
{
    tide_tracked_label tracked;
    if (!tide_tracker_label(tracker, slot, &tracked))
        return TIDE_NO_LABEL;
    uint32_t label = tide_bag_find(b, &tracked);
    if (label != TIDE_NO_LABEL)
        return label;
    if (b->label_by_slot[slot] != TIDE_NO_LABEL)
        b->minimum = 0; /* the slot had another label, whose place is to be taken */
    label = take_place(b, tracker, tracked.count);
    if (label == TIDE_NO_LABEL)
        return label;
    uint32_t slot_before = b->labels[label].slot;
    if (b->label_by_slot[slot_before] == label)
        b->label_by_slot[slot_before] = TIDE_NO_LABEL;
    tide_bag_reset_label(b, label);
    b->labels[label].slot = slot;
    b->labels[label].since = tracked.since;
    b->label_by_slot[slot] = label;
    tide_bag_name(b, label, tracked.name);
    return label;
}

/* -- posts ------------------------------------------------------------------------- */

static void keep_post(tide_bag *b, const uint32_t *slots, uint32_t count,
                      uint64_t number)
{
    if (!b->options.posts)
        return;
    uint32_t at = b->post_count < b->options.posts
                      ? b->post_count++
                      : (uint32_t)tide_rng_below(&b->rng, b->options.posts);
    tide_bag_post *post = &b->posts[at];
    *post = (tide_bag_post){.number = number, .word_count = b->word_count};
    for (uint32_t i = 0; i < count && post->label_count < TIDE_BAG_LABELS; i++)
        if (slots[i] != TIDE_NO_LABEL)
            post->slots[post->label_count++] = slots[i];
    memcpy(b->post_words + (size_t)at * b->options.words, b->words,
           b->word_count * sizeof *b->words);
}

/* Repeats a post with those of its labels that are still learned. */
static void repeat_post(tide_bag *b, const tide_tracker *tracker)
{
    if (!b->post_count)
        return;
    uint32_t labels[TIDE_BAG_LABELS], count = 0;
    uint32_t at = (uint32_t)tide_rng_below(&b->rng, b->post_count);
    const tide_bag_post *post = &b->posts[at];
    for (uint32_t i = 0; i < post->label_count; i++) {
        tide_tracked_label tracked;
        if (!tide_tracker_label(tracker, post->slots[i], &tracked) ||
            tracked.since > post->number)
            continue;
        uint32_t label = tide_bag_find(b, &tracked);
        if (label != TIDE_NO_LABEL)
            labels[count++] = label;
    }
    if (!count)
        return;
    b->word_count = post->word_count;
    memcpy(b->words, b->post_words + (size_t)at * b->options.words,
           post->word_count * sizeof *b->words);
    memset(b->has_vector, 0, post->word_count * sizeof *b->has_vector);
    tide_bag_step(b, labels, count);
}

void tide_bag_learn(tide_bag *b, const tide_tracker *tracker, const uint32_t *slots,
                    uint32_t count, uint64_t number)
{
    uint32_t labels[TIDE_POST_LABELS], found = 0;
    for (uint32_t i = 0; i < count && b->word_count; i++) {
        uint32_t label = slots[i] == TIDE_NO_LABEL
                             ? TIDE_NO_LABEL
                             : find_or_learn(b, tracker, slots[i]);
        /* A label may have lost its place to a later one of the same post. */
        for (uint32_t j = 0; j < found && label != TIDE_NO_LABEL; j++)
            if (labels[j] == label)
                labels[j] = labels[--found];
        if (label != TIDE_NO_LABEL)
            labels[found++] = label;
    }
    if (!found)
        return;
    for (uint32_t i = 0; i < found; i++)
        b->labels[labels[i]].posts++;
    b->learned++;
    tide_bag_step(b, labels, found);
    keep_post(b, slots, count, number);
    repeat_post(b, tracker);
}
