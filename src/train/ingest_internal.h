/* ingest_internal.h - what the files of the intake share. */
#ifndef TIDE_TRAIN_INGEST_INTERNAL_H
#define TIDE_TRAIN_INGEST_INTERNAL_H

#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "train/replay.h"
#include "train/train.h"

enum { WORDS_AT_ONCE = 64, BEHIND_MAX = 128 * 1024 };

typedef struct held_word {
    char bytes[TIDE_WORD_MAX];
    uint32_t length;
} held_word;

/* The words of a section, each as its length in one byte and its bytes. */
void tide_held_words_save(const held_word *words, uint32_t count, const char *section,
                          tide_store_writer *writer);
int tide_held_words_load(held_word *words, uint32_t count, const char *section,
                         tide_store *store, tide_error *err);

/* A post whose words wait until it is complete, or longer (ingest_posts.c). */
typedef struct tide_held_post {
    uint32_t count;
    held_word words[SENTENCE_MAX];
    tide_word views[SENTENCE_MAX]; /* of the same */
    size_t left;                   /* bytes of the present feed that follow it */

    bool unfitted; /* it waits for a classifier that a stop has kept from learning */
    bool ended;    /* and the text ends after what is behind it */
    size_t behind_size;
    char behind[BEHIND_MAX]; /* text that was fed after it */
} tide_held_post;

struct tide_ingest {
    const tide_params *params;
    tide_model *model;
    tide_optimizer *rates;
    const tide_sgns *learner;
    tide_executor school;
    bool fixed; /* no word comes or goes, and nothing is counted */

    tide_reader *reader;
    tide_sampler *sampler;
    tide_replay *replay;
    tide_rng rng; /* decides which frequent words stay */

    uint32_t *slots; /* [SENTENCE_MAX + WORDS_AT_ONCE] of the sentence being read */
    uint64_t *
        hashes; /* the same for word hashes, where a word may leave and come back in it */
    uint32_t count;
    uint32_t read; /* its tokens so far */
    held_word *
        held; /* [SENTENCE_MAX] the words themselves, where counting waits for its end */
    tide_held_post *waiting; /* NULL without labels */
    tide_labels *labels;     /* NULL without */
    const uint64_t *passes;  /* how often the text has been read */
    bool continued;          /* the line goes on after a sentence was cut off it */
    uint32_t *kept;          /* [SENTENCE_MAX] */
    float *chances;          /* [SENTENCE_MAX] of the same to stay */
    uint64_t *admitted;      /* [vocab] sentence in which the slot's word came */
    uint64_t *closed;        /* bit per slot */
    _Atomic uint32_t *hands; /* [vocab] how often a slot changed hands; NULL unless
                                   somebody asks meanwhile */
    uint64_t
        table_since; /* sentence from which on the sampler's present table is drawn from */

    uint64_t sentence; /* the one being read, from 1 */
    uint64_t lessons;
    uint64_t tokens;
    uint64_t left_out; /* of them, because nobody knows them and the words are fixed */
    uint64_t cut_sentences;

    void (*pause)(void *data);
    void *pause_data;
    uint64_t pause_every;
    uint64_t next_pause; /* in tokens; UINT64_MAX for none */
};

/* Whether tokens of a word that lost its slot are looked for again when it gets one within the same
 * sentence. With the gate that is rare enough to leave them out. */
bool tide_ingest_words_return(const tide_ingest *in);

/* The sentence is complete, or cut because it is too long. (ingest.c) */
void tide_ingest_end_sentence(tide_ingest *in, bool ended);

/* As tide_ingest_feed, when nothing waits. (ingest.c) */
void tide_ingest_feed_now(tide_ingest *in, const char *bytes, size_t size);

/* -- words (ingest_words.c) ------------------------------------------------------------------------ */

/* Takes words of the sentence being read, of which there may be WORDS_AT_ONCE; returns how many are
 * in it. */
size_t tide_ingest_take(tide_ingest *in, tide_word *words, size_t count);

/* -- lessons (ingest_sentence.c) -------------------------------------------------------------------- */

/* The sentence that was read becomes lessons, and the next begins. */
void tide_ingest_emit(tide_ingest *in);

/* What the keeping of frequent words is measured by: a count above this may be thinned out. */
double tide_ingest_threshold(const tide_ingest *in);

/* -- posts (ingest_posts.c) ------------------------------------------------------------------------ */

/* Lets words wait for the end of their post, or for SENTENCE_MAX of them. */
void tide_ingest_hold_words(tide_ingest *in, const tide_word *words, size_t count);

/* The post has come to its end (`ended`) or to SENTENCE_MAX words: shows it to the labels, then takes its words.
 * False when a stop has come between. */
bool tide_ingest_take_post(tide_ingest *in, bool ended);

/* How many of the bytes to feed at once: where a stop may come between two posts, up to the end of a line. */
size_t tide_ingest_piece(const tide_ingest *in, const char *bytes, size_t size);

/* Keeps text that follows a post which waits; false when it cannot. */
bool tide_ingest_defer_text(tide_ingest *in, const char *bytes, size_t size);

/* Makes up for what a stop has left undone, if that is anything. Where it is `stoppable`, another one may come. */
void tide_ingest_resume_deferred(tide_ingest *in, bool stoppable);

/* Sections intake.post, intake.waiting, intake.behind. */
void tide_ingest_save_deferred(const tide_ingest *in, tide_store_writer *writer);
int tide_ingest_load_deferred(tide_ingest *in, tide_store *store, tide_error *err);

/* -- words, where they wait for the end of their sentence ------------------------------------------ */

/* The sentence ends: takes the words that waited for that. */
void tide_ingest_take_held(tide_ingest *in);

/* Gives the slot's word its first vectors; the second only if no earlier lesson can get in the way
 * any more, and says whether. */
void tide_ingest_init_slot(tide_ingest *in, uint32_t slot);
bool tide_ingest_release_slot(tide_ingest *in, uint32_t slot);

static inline bool tide_ingest_is_quarantined(const tide_ingest *in, uint32_t slot)
{
    return in->closed[slot / 64] >> (slot % 64) & 1;
}

#endif
