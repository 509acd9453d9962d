/* tracker.h - what the files of the label tracker share: cells, posts, samples, the tracker itself. */
#ifndef TIDE_LABEL_TRACKER_H
#define TIDE_LABEL_TRACKER_H

#include "file/file.h"
#include "label/label.h"
#include "vocab/vocab.h"

/* -- posts (posts.c) -------------------------------------------------------------------------- */

enum { TIDE_CELL_TEXT = 28, TIDE_NO_CELL = 0 };

/* Everything that grows and shrinks is made of cells of one size; see posts.c. */
typedef union tide_cell {
    struct {
        uint64_t priority;
        uint64_t number;
        uint32_t text;        /* first cell of its record */
        uint32_t holds;       /* samples that keep it */
        uint32_t labels_size; /* of its record, bytes that are labels */
        uint32_t size;        /* of its record */
    } post;
    struct {
        uint64_t priority; /* of the post */
        uint32_t post;
        uint32_t left, right;
    } hold;
    struct {
        uint32_t next;
        char bytes[TIDE_CELL_TEXT];
    } text; /* also a free cell */
} tide_cell;

_Static_assert(sizeof(tide_cell) == 32, "a cell has no padding to speak of");

/* A record: its labels, each a byte that says how long it is and then its name, and its words. */
#define TIDE_RECORD_LABELS (TIDE_POST_LABELS * (1 + TIDE_WORD_MAX))
#define TIDE_POST_RECORD_MAX (TIDE_RECORD_LABELS + TIDE_POST_MAX)

typedef struct tide_record_text {
    uint32_t labels_size;
    uint32_t size;
    char bytes[TIDE_POST_RECORD_MAX + 16]; /* 16 bytes of every label can be read */
} tide_record_text;

typedef struct tide_posts {
    tide_cell *cells; /* [count]; cell 0 is nobody's */
    uint32_t count;
    uint32_t fresh; /* no cell from here on was ever used */
    uint32_t free;  /* a chain */
    uint32_t used;
    uint32_t kept; /* posts */
} tide_posts;

/* There must be a free cell. */
uint32_t tide_cell_take(tide_posts *p);
void tide_cell_drop(tide_posts *p, uint32_t cell);

/* Cells of a post whose record has `size` bytes. */
uint32_t tide_post_cells(uint32_t size);

/* A post that nobody holds yet. There must be cells. */
uint32_t tide_post_put(tide_posts *p, uint64_t priority, uint64_t number,
                       const tide_record_text *record);
void tide_post_record(const tide_posts *p, uint32_t post, tide_record_text *record);

/* One sample fewer holds it; with the last it goes. */
void tide_post_release(tide_posts *p, uint32_t post);

/* Walks through the labels of a record: *at is 0 at the beginning. */
bool tide_record_label(const tide_record_text *record, uint32_t *at, tide_word *label);

/* -- samples (sample.c) ------------------------------------------------------------------------ */

typedef struct tide_sample {
    uint64_t seen;
    uint64_t since; /* number of the post with which the label came */
    uint32_t last;  /* hold of the post with the highest priority: the root of a heap */
    uint32_t kept;
    uint32_t limit; /* of `kept`; kept == min(seen, limit) */
    uint32_t place; /* in the tracker's heap */
} tide_sample;

bool tide_sample_wants(const tide_posts *p, const tide_sample *s, uint64_t priority);

/* Whether a post that carried the label is in its sample. */
bool tide_sample_holds(const tide_posts *p, const tide_sample *s, uint32_t post);

void tide_sample_add(tide_posts *p, tide_sample *s, uint32_t post);
void tide_sample_drop_last(tide_posts *p, tide_sample *s);
void tide_sample_clear(tide_posts *p, tide_sample *s);

/* All its posts, from the lowest priority to the highest. */
void tide_sample_list(const tide_posts *p, const tide_sample *s, uint32_t *posts);

/* Sorts numbers, in place and without memory. */
typedef bool tide_before(const void *context, uint32_t a, uint32_t b);
void tide_order(uint32_t *items, uint32_t count, tide_before *before,
                const void *context);

/* -- the tracker (tracker.c) ---------------------------------------------------------------------- */

struct tide_tracker {
    tide_tracker_options options;
    tide_vocabulary *labels;
    tide_sample *samples; /* [labels] by slot */
    uint32_t *heap;       /* [labels] slots, the one with the largest sample first */
    uint32_t *order;      /* for lists of samples, and of labels */
    tide_posts posts;
    uint32_t limit; /* of used cells, between posts */
    tide_rng rng;
    tide_tracker_stats facts; /* those that only ever grow */
    tide_record_text record;  /* of the post being added */
};

/* With the labels that are in the store, if there is one, and no samples yet. */
tide_tracker *tide_tracker_make(const tide_tracker_options *options, tide_store *store,
                                tide_error *err);
int tide_tracker_check(const tide_tracker_options *options, tide_error *err);

bool tide_word_among(const tide_word *words, size_t count, const tide_word *word);

/* The heap is put right after a sample has become larger or smaller. */
void tide_tracker_rebalance(tide_tracker *t, uint32_t slot);

#endif
