/* tracker_query.c - queries of a tracker. */
#include "label/label.h"
#include "label/tracker.h"
#include "vocab/vocab.h"

tide_tracker_stats tide_tracker_state(const tide_tracker *t)
{
    tide_tracker_stats stats = t->counters;
    stats.kept = t->posts.kept;
    stats.used = sizeof(tide_cell) * (uint64_t)t->posts.used;
    stats.limit = sizeof(tide_cell) * (uint64_t)t->limit;
    stats.labels = tide_vocabulary_size(t->labels);
    stats.capacity = t->options.labels;
    stats.ids = t->posts.count;
    return stats;
}

bool tide_tracker_label(const tide_tracker *t, uint32_t slot, tide_tracked_label *label)
{
    if (slot >= tide_vocabulary_used(t->labels))
        return false;
    *label = (tide_tracked_label){.slot = slot,
                                  .count = tide_vocabulary_count(t->labels, slot),
                                  .error = tide_vocabulary_error(t->labels, slot),
                                  .seen = t->samples[slot].seen,
                                  .since = t->samples[slot].since,
                                  .kept = t->samples[slot].kept};
    label->name = tide_vocabulary_word(t->labels, slot, &label->length);
    return true;
}

uint32_t tide_tracker_find(const tide_tracker *t, const tide_word *label)
{
    return tide_vocabulary_find(t->labels, label);
}

static bool more_frequent(const void *labels, uint32_t a, uint32_t b)
{
    const tide_vocabulary *v = labels;
    uint64_t count_a = tide_vocabulary_count(v, a),
             count_b = tide_vocabulary_count(v, b);
    if (count_a != count_b)
        return count_a > count_b;
    uint32_t length_a, length_b;
    const char *name_a = tide_vocabulary_word(v, a, &length_a);
    const char *name_b = tide_vocabulary_word(v, b, &length_b);
    int order = memcmp(name_a, name_b, length_a < length_b ? length_a : length_b);
    return order != 0 ? order < 0 : length_a < length_b;
}

size_t tide_tracker_top(const tide_tracker *t, tide_tracked_label *labels, size_t max)
{
    uint32_t used = tide_vocabulary_used(t->labels);
    for (uint32_t slot = 0; slot < used; slot++)
        t->order[slot] = slot;
    tide_sort_indexes(t->order, used, more_frequent, t->labels);
    size_t count = max < used ? max : used;
    for (size_t i = 0; i < count; i++)
        tide_tracker_label(t, t->order[i], &labels[i]);
    return count;
}

size_t tide_tracker_sample(const tide_tracker *t, uint32_t slot, uint32_t *posts,
                           size_t max)
{
    if (slot >= t->options.labels)
        return 0;
    const tide_sample *sample = &t->samples[slot];
    tide_sample_list(&t->posts, sample, t->order);
    size_t count = max < sample->kept ? max : sample->kept;
    if (count > 0)
        memcpy(posts, t->order, count * sizeof *posts);
    return count;
}

void tide_tracker_post(const tide_tracker *t, uint32_t id, tide_post *post)
{
    tide_record_text record;
    tide_post_record(&t->posts, id, &record);
    post->number = t->posts.cells[id].post.number;
    post->length = record.size - record.labels_size;
    memcpy(post->text, record.bytes + record.labels_size, post->length);
    post->text[post->length] = 0;
    post->label_count = 0;
    tide_word label;
    for (uint32_t at = 0; tide_record_label(&record, &at, &label);) {
        uint32_t slot = tide_vocabulary_find(t->labels, &label);
        if (slot != TIDE_NO_SLOT)
            post->labels[post->label_count++] = slot;
    }
}
