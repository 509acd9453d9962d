/* ingest_internal.h - what the files ingest*.c share. Private.
 *
 *     bytes > reader > ingest_words.c > ingest_sentence.c > executor
 *                  \ read_ahead.c   /                          with several threads
 *                  \ ingest_posts.c /                          with labels only
 */
#ifndef TIDE_TRAIN_INGEST_INTERNAL_H
#define TIDE_TRAIN_INGEST_INTERNAL_H

#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/read_ahead.h"
#include "train/replay.h"
#include "train/train.h"

enum { WORDS_AT_ONCE = 64, DEFERRED_MAX = 128 * 1024, WAITING_MAX = 1 << 16 };

typedef struct held_word {
    char bytes[TIDE_WORD_MAX];
    uint32_t length;
} held_word;

/* Sections of words, each stored as its length in one byte and its bytes. */
void tide_held_words_save(const held_word *words, uint32_t count, const char *section,
                          tide_store_writer *writer);
int tide_held_words_load(held_word *words, uint32_t count, const char *section,
                         tide_store *store, tide_error *err);

/* A slot that was quarantined in a sentence, of which the lower bits are enough. */
typedef struct waiting_slot {
    uint32_t slot, sentence;
} waiting_slot;

/* The post being read, whose words are not counted before it is complete, and what has
 * been deferred because a stop interrupted a refit (ingest_posts.c). */
typedef struct tide_pending_post {
    uint32_t count;
    held_word words[SENTENCE_MAX];
    tide_word views[SENTENCE_MAX]; /* of `words` */
    size_t bytes_after; /* how much of the text being fed comes after the post */

    bool deferred;   /* it is complete and waits for a refit that was interrupted */
    bool text_ended; /* the text ends after deferred_text */
    size_t deferred_size;
    char deferred_text[DEFERRED_MAX]; /* what was fed after the post */
} tide_pending_post;

struct tide_ingest {
    const tide_params *params;
    tide_model *model;
    tide_optimizer *optimizer;
    const tide_sgns *sgns;
    tide_executor executor;
    bool fixed_vocabulary; /* nothing is counted and no word is admitted or evicted */

    tide_reader *reader;
    tide_read_ahead *ahead; /* NULL without */
    tide_sampler *sampler;
    tide_replay *replay;
    tide_rng rng; /* for subsampling */

    /* The sentence being read. */
    uint64_t sentence_number; /* from 1 */
    uint32_t token_count;     /* of the text */
    uint32_t slot_count;      /* of slots[]; lower where words are held or unknown */
    uint32_t *slots;          /* [SENTENCE_MAX + WORDS_AT_ONCE] */
    uint64_t *hashes;         /* of the words; only if tide_ingest_words_return */
    held_word *held; /* [SENTENCE_MAX] with counting kept: words wait for its end */
    bool continued;  /* the line goes on: its beginning was cut off as a sentence */

    /* Selection (ingest_sentence.c). */
    uint32_t *kept;              /* [SENTENCE_MAX] */
    float *chances;              /* [SENTENCE_MAX] of the same slots to be kept */
    _Atomic float *slot_chances; /* [vocab] for executors that select; or NULL */
    uint64_t chances_due;        /* the token before which they are updated */
    tide_selection selection;

    /* Slots that are reused (ingest_words.c). */
    uint64_t *admitted;    /* [vocab] sentence in which the word came */
    uint64_t *quarantined; /* bit per slot */
    waiting_slot *waiting; /* [WAITING_MAX] in the order of their sentences */
    uint32_t first_waiting, waiting_count;
    _Atomic uint32_t *generations; /* [vocab] how often a slot was reused; or NULL */
    uint64_t table_since; /* first sentence to use the present negative table */

    /* Posts with labels: all NULL without. */
    tide_pending_post *post;
    tide_labels *labels;
    const uint64_t *passes; /* how often the text has been read */

    uint64_t emitted; /* sentences so far, replays included */
    uint64_t tokens;
    uint64_t unknown_tokens; /* tokens dropped because the vocabulary is fixed */
    uint64_t cut_sentences;

    void (*pause)(void *data);
    void *pause_data;
    uint64_t pause_every;
    uint64_t next_pause; /* in tokens; UINT64_MAX for none */
};

/* -- words (ingest_words.c) -------------------------------------------------------- */

/* Adds up to WORDS_AT_ONCE words to the sentence being read: counts them and looks up
 * their slots. With a fixed vocabulary it moves the known words to the front of
 * words[]. */
void tide_ingest_add_words(tide_ingest *in, tide_word *words, size_t count);

/* The same for up to READ_AHEAD_WORDS prepared words, if the vocabulary is not fixed and
 * counting not kept. */
void tide_ingest_add_keys(tide_ingest *in, const tide_key *keys, size_t count);

/* With counting kept: subsamples and counts the held words at the end of their
 * sentence. */
void tide_ingest_count_held(tide_ingest *in);

/* Whether a word that loses its slot may get one again within the same sentence, so
 * that its tokens must be found again. With the admission gate this is so rare that
 * they are dropped. */
bool tide_ingest_words_return(const tide_ingest *in);

/* Sets the initial vectors of the slot's word and ends its quarantine. */
void tide_ingest_init_slot(tide_ingest *in, uint32_t slot);

/* The same for all quarantined slots for which everything emitted before the quarantine
 * has been trained. */
void tide_ingest_release_slots(tide_ingest *in);

static inline bool tide_ingest_is_quarantined(const tide_ingest *in, uint32_t slot)
{
    return in->quarantined[slot / 64] >> (slot % 64) & 1;
}

/* -- sentences (ingest_sentence.c) ------------------------------------------------- */

/* The sentence has been read to its end, or (`complete` is false) is cut because it is
 * too long: emits it and starts the next one. */
void tide_ingest_end_sentence(tide_ingest *in, bool complete);

/* Words with counts above this threshold are subsampled. */
double tide_ingest_threshold(const tide_ingest *in);

/* The chance that a token of a word with this weight is kept. */
float tide_ingest_chance(const tide_ingest *in, uint64_t weight, double threshold);

/* Makes a negative table current that another thread has built. */
void tide_ingest_switch_sampler(tide_ingest *in);

/* -- posts (ingest_posts.c) -------------------------------------------------------- */

/* tide_ingest_feed and tide_ingest_end for trainers with labels. */
void tide_ingest_feed_posts(tide_ingest *in, const char *bytes, size_t size);
void tide_ingest_end_posts(tide_ingest *in);

/* Sections intake.post, intake.waiting and intake.behind. */
void tide_ingest_save_post(const tide_ingest *in, tide_store_writer *writer);
int tide_ingest_load_post(tide_ingest *in, tide_store *store, tide_error *err);

#endif
