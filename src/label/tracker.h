/* tracker.h - what the files of the label tracker share: cells, posts, samples, the
 * tracker. Private. */
#ifndef TIDE_LABEL_TRACKER_H
#define TIDE_LABEL_TRACKER_H

#include "file/file.h"
#include "label/label.h"
#include "vocab/vocab.h"

/* -- posts (posts.c) -------------------------------------------------------------- */

enum { TIDE_CELL_TEXT = 28, TIDE_NO_CELL = 0 };

/* The unit of memory for posts and samples; see posts.c. */
typedef union tide_cell {
    struct {
        uint64_t priority;
        uint64_t number;
        uint32_t text;        /* first text cell of its record */
        uint32_t refs;        /* samples that contain it */
        uint32_t labels_size; /* bytes of its record that are labels */
        uint32_t size;        /* bytes of its record */
    } post;
    struct {
        uint64_t priority; /* of the post */
        uint32_t post;
        uint32_t left, right;
    } entry;
    struct {
        uint32_t next;
        char bytes[TIDE_CELL_TEXT];
    } text; /* also the link of a free cell */
} tide_cell;

_Static_assert(sizeof(tide_cell) == 32, "all kinds of cells have the same size");

/* The record of a post: its labels, each as a length byte and its name, then its
 * words. */
#define TIDE_RECORD_LABELS (TIDE_POST_LABELS * (1 + TIDE_WORD_MAX))
#define TIDE_POST_RECORD_MAX (TIDE_RECORD_LABELS + TIDE_POST_MAX)

typedef struct tide_record_text {
    uint32_t labels_size;
    uint32_t size;
    char bytes[TIDE_POST_RECORD_MAX + 16]; /* 16 readable bytes per label */
} tide_record_text;

typedef struct tide_posts {
    tide_cell *cells; /* [count]; cell 0 is not used */
    uint32_t count;
    uint32_t fresh; /* cells from here on were never used */
    uint32_t free;  /* list of free cells */
    uint32_t used;
    uint32_t kept; /* posts */
} tide_posts;

/* Allocates a cell. The caller must know that one is free. */
uint32_t tide_cell_alloc(tide_posts *p);
void tide_cell_free(tide_posts *p, uint32_t cell);

/* The number of cells of a post whose record has `size` bytes. */
uint32_t tide_post_cells(uint32_t size);

/* Stores a post, in no sample yet. The caller must know that enough cells are free. */
uint32_t tide_post_put(tide_posts *p, uint64_t priority, uint64_t number,
                       const tide_record_text *record);
void tide_post_record(const tide_posts *p, uint32_t post, tide_record_text *record);

/* Drops a reference and frees the post with the last one. */
void tide_post_release(tide_posts *p, uint32_t post);

/* Iterates over the labels of a record; *at starts at 0. */
bool tide_record_label(const tide_record_text *record, uint32_t *at, tide_word *label);

/* -- samples (sample.c) ----------------------------------------------------------- */

typedef struct tide_sample {
    uint64_t seen;
    uint64_t since; /* number of the post that admitted the label */
    uint32_t root;  /* the entry with the highest priority */
    uint32_t kept;
    uint32_t limit;      /* of `kept`; kept == min(seen, limit) */
    uint32_t heap_index; /* its index in the tracker's heap */
} tide_sample;

/* Whether a post with this priority would enter the sample. */
bool tide_sample_accepts(const tide_posts *p, const tide_sample *s, uint64_t priority);

/* Whether a post that carries the label is in its sample. */
bool tide_sample_contains(const tide_posts *p, const tide_sample *s, uint32_t post);

void tide_sample_add(tide_posts *p, tide_sample *s, uint32_t post);
void tide_sample_remove_last(tide_posts *p, tide_sample *s);
void tide_sample_clear(tide_posts *p, tide_sample *s);

/* Lists its posts by ascending priority. */
void tide_sample_list(const tide_posts *p, const tide_sample *s, uint32_t *posts);

/* Heapsort: sorts in place and without recursion. */
typedef bool tide_before(const void *context, uint32_t a, uint32_t b);
void tide_sort_indexes(uint32_t *items, uint32_t count, tide_before *before,
                       const void *context);

/* -- the tracker (tracker.c) ------------------------------------------------------ */

struct tide_tracker {
    tide_tracker_options options;
    tide_vocabulary *labels;
    tide_sample *samples; /* [labels] by slot */
    uint32_t *heap;       /* [labels] slots, a heap with the largest sample first */
    uint32_t *order;      /* scratch for lists of posts and labels */
    tide_posts posts;
    uint32_t limit; /* of cells in use between two posts */
    tide_rng rng;
    tide_tracker_stats counters; /* the statistics that only grow */
    tide_record_text record;     /* of the post being added */
};

/* A tracker with the labels from the store, unless it is NULL, and empty samples. */
tide_tracker *tide_tracker_allocate(const tide_tracker_options *options,
                                    tide_store *store, tide_error *err);
int tide_tracker_check(const tide_tracker_options *options, tide_error *err);

/* Whether `word` is one of the words. */
bool tide_words_contain(const tide_word *words, size_t count, const tide_word *word);

/* Restores the heap order after the size of a sample has changed. */
void tide_tracker_rebalance(tide_tracker *t, uint32_t slot);

#endif
