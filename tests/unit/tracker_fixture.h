/* tracker_fixture.h - random posts and trackers for the tests of the label tracker. */
#ifndef TIDE_TRACKER_FIXTURE_H
#define TIDE_TRACKER_FIXTURE_H

#include "base/base.h"
#include "label/label.h"
#include "label/tracker.h"
#include "vocab/vocab.h"
#include "sketch_fixture.h"

enum { CELL = 32, CELL_TEXT = 28, PIECES = 64 };

/* -- posts ------------------------------------------------------------------------ */

typedef struct post {
    int tags[PIECES]; /* names of labels, by number, perhaps the same twice */
    size_t tag_count;
    char text[8192];
    size_t length;
} post;

/* Every seventh name is longer than the limit of a label. */
static inline uint32_t name_of(int tag, char name[PIECES + 16])
{
    int length = snprintf(name, PIECES + 16, "tag%d", tag);
    if (tag % 7 != 6)
        return (uint32_t)length;
    memset(name + length, 'x', (size_t)(70 - length));
    return 70;
}

static inline void add(tide_tracker *t, const post *p)
{
    static char names[PIECES][PIECES + 16];
    tide_word labels[PIECES];
    for (size_t i = 0; i < p->tag_count; i++)
        labels[i] = (tide_word){names[i], name_of(p->tags[i], names[i])};
    tide_tracker_add(t, labels, p->tag_count, p->text, p->length);
}

static inline void add_one(tide_tracker *t, int tag, const char *text)
{
    post p = {.tags = {tag}, .tag_count = 1, .length = strlen(text)};
    memcpy(p.text, text, p.length);
    add(t, &p);
}

/* None to four labels, low numbers more often; none to thirty words. */
static inline post random_post(tide_rng *rng, int tags, uint64_t number)
{
    post p = {.tag_count = tide_rng_below(rng, 5)};
    for (size_t i = 0; i < p.tag_count; i++)
        p.tags[i] = (int)tide_rng_below(rng, 1 + tide_rng_below(rng, (uint64_t)tags));
    uint64_t words = tide_rng_below(rng, 30);
    for (uint64_t i = 0; i < words; i++)
        p.length += (size_t)sprintf(p.text + p.length, "%s%llu", i ? " " : "",
                                    (unsigned long long)(number * 30 + i));
    return p;
}

static inline tide_tracker_options small(uint32_t labels, uint64_t cells, uint64_t seed)
{
    return (tide_tracker_options){.labels = labels,
                                  .max_posts = 1000,
                                  .post_bytes = 64,
                                  .memory = CELL * cells,
                                  .seed = seed};
}

static inline tide_tracker *made(const tide_tracker_options *options)
{
    tide_error err = {0};
    tide_tracker *t = tide_tracker_new(options, &err);
    if (!t)
        fail_msg("%s", err.text);
    return t;
}

/* The defaults of the parameters. */
static inline tide_tracker_options usual_options(void)
{
    return (tide_tracker_options){.labels = 10000,
                                  .max_posts = 100000,
                                  .post_bytes = 512,
                                  .memory = 64 << 20,
                                  .seed = 1};
}

/* TIDE_NO_SLOT if it is not tracked. */
static inline uint32_t slot_of(const tide_tracker *t, const char *name, size_t length)
{
    char padded[TIDE_WORD_MAX + 16] = {0};
    if (length == 0 || length > TIDE_WORD_MAX)
        return TIDE_NO_SLOT;
    memcpy(padded, name, length);
    const tide_word word = {padded, (uint32_t)length};
    return tide_vocabulary_find(t->labels, &word);
}

static inline tide_tracked_label label_of(const tide_tracker *t, int tag)
{
    char name[PIECES + 16];
    tide_tracked_label label = {.slot = TIDE_NO_SLOT};
    uint32_t length = name_of(tag, name);
    uint32_t slot = slot_of(t, name, length < TIDE_WORD_MAX ? length : TIDE_WORD_MAX);
    if (slot != TIDE_NO_SLOT)
        assert_true(tide_tracker_label(t, slot, &label));
    return label;
}

#endif
