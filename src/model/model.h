/* model.h - words and their vectors: what a trainer changes, a file holds and a question reads. */
#ifndef TIDE_MODEL_H
#define TIDE_MODEL_H

#include "base/base.h"
#include "sketch/sketch.h"
#include "vector/vector.h"

#include <stdatomic.h>

/* -- subwords (subword.c) -------------------------------------------------------------------- */

#define TIDE_SUBWORDS_MAX 63
#define TIDE_SUBWORD_LENGTH_MAX 8

typedef struct tide_subwords {
    uint32_t rows; /* of the table; 0 for none */
    uint32_t
        shortest; /* characters of an n-gram, the marks < and > of a word's ends included */
    uint32_t longest;
} tide_subwords;

/* The table rows of the n-grams of a word, at most TIDE_SUBWORDS_MAX; returns how many. */
uint32_t tide_subwords_of(const tide_subwords *how, const char *word, uint32_t length,
                          uint32_t ids[TIDE_SUBWORDS_MAX]);

/* -- model (model.c) --------------------------------------------------------------------------- */

typedef struct tide_shape {
    tide_vocabulary_options vocabulary;
    uint32_t dim;
    tide_subwords subwords;
} tide_shape;

/* The n-grams of the word in one slot. Who asks while the slot changes hands may see those of two words mixed:
 * every single number is one of a row. */
typedef struct tide_ngrams {
    uint32_t count;
    uint32_t ids[TIDE_SUBWORDS_MAX];
} tide_ngrams;

/* Bytes of the text of the parameters, the 0 at its end included. */
#define TIDE_PARAMS_MAX (64 * 1024)

/* Bytes of the list of stop words. */
#define TIDE_STOP_WORDS_MAX (16 << 20)

struct tide_model {
    tide_shape shape;
    tide_vocabulary *vocabulary;
    tide_matrix input;   /* [capacity]: the vectors people ask for */
    tide_matrix output;  /* [capacity]: the same words as contexts; no rows without */
    tide_matrix subword; /* [subwords.rows], or none */
    tide_ngrams *ngrams; /* [capacity], or NULL without subwords */
    char *path;          /* that it was read from; owned; NULL for one made here */
    char *params;        /* text; owned */
    char *stop_words;    /* of a model that was read, one a line; owned; NULL without */
    tide_origin origin; /* of a model that was opened; its format is NULL for our own */
};

tide_model *tide_model_new(const tide_shape *shape, tide_error *err);

/* A model as a file of vectors makes one: any word may be granted a slot, and none leaves; it has input vectors and
 * nothing else (open.c). TIDE_NO_SLOT for a word that is held already, and when all slots are taken. */
tide_model *tide_model_new_plain(uint32_t capacity, uint32_t dim, tide_error *err);
uint32_t tide_model_grant(tide_model *model, const char *word, uint32_t length,
                          uint64_t count, uint64_t error);
uint64_t tide_model_plain_bytes(uint32_t capacity, uint32_t dim);

/* What _new allocates: the vectors of words, and everything about subwords. */
uint64_t tide_shape_vector_bytes(const tide_shape *shape);
uint64_t tide_shape_subword_bytes(const tide_shape *shape);

/* Looks up the n-grams of the word that has just entered the slot. */
void tide_model_note_ngrams(tide_model *model, uint32_t slot);

/* The input vector of a slot: its own row, or the mean of it and its n-grams' rows. `out` has the
 * matrix's stride. */
void tide_model_input(const tide_model *model, const tide_kernels *kernels,
                      uint32_t slot, float *out);

/* That of a word which is not held: the mean of its n-grams' rows. False when there are none. */
bool tide_model_compose(const tide_model *model, const tide_kernels *kernels,
                        const tide_word *word, float *out);

/* Sections model, params, vocab.*, input, output, subword; also read, where it is there, is the
 * reader's section stop-words, by which texts fall into words as they did in training. A model that is not going to be trained
 * is given room for the words it holds and no more. */
void tide_model_save(const tide_model *model, tide_store_writer *writer);
int tide_model_read_shape(tide_store *store, tide_shape *shape, tide_error *err);
tide_model *tide_model_read(tide_store *store, bool to_train, tide_error *err);

/* -- align (align.c) --------------------------------------------------------------------------- */

/* Finds the rotation that brings vectors nearest to others. All memory is taken when it is made. */
typedef struct tide_aligner tide_aligner;

/* For up to `rows` vectors of _fit_most, and any number of _fit. */
tide_aligner *tide_aligner_new(uint32_t dim, uint32_t rows, tide_error *err);
void tide_aligner_free(tide_aligner *aligner);
uint64_t tide_aligner_bytes(uint32_t dim, uint32_t rows);

/* Fits fail soon after *stop has become true. It must live as long as the aligner. */
void tide_aligner_heed(tide_aligner *aligner, const _Atomic bool *stop);

/* The orthogonal matrix R that brings the rows of `from` nearest to those of `to`, which has the same
 * shape: the sum of |from[i] R - to[i]|^2 is the least. Takes time as dim^3. */
int tide_aligner_fit(tide_aligner *aligner, const tide_matrix *from,
                     const tide_matrix *to, tide_error *err);

/* The same for most of them: the quarter that fits worst is left out. */
int tide_aligner_fit_most(tide_aligner *aligner, const tide_matrix *from,
                          const tide_matrix *to, tide_error *err);

/* R, [dim][dim] row by row. */
const double *tide_aligner_rotation(const tide_aligner *aligner);

/* Cosine, or degrees, between from R and `to`; both of length 1. */
double tide_aligner_cosine(const tide_aligner *aligner, const float *from,
                           const float *to);
double tide_aligner_angle(const tide_aligner *aligner, const float *from,
                          const float *to);

/* The word of a slot; NULL when it is empty (query.c). */
tide_entry tide_model_entry(const tide_model *model, uint32_t slot);

/* -- spaces (space.c, query.c) --------------------------------------------------------------------------- */

/* One for a model whose slots change hands while it is asked: hands[slot] is how often that has happened, counted
 * before the newcomer's vector is written. Room for all words is made once; nothing can be asked before it is
 * filled by _make, which looks at the model as it is then, with nobody learning and nobody asking. The
 * vocabulary must not change until it is made again, so it is a copy. */
tide_space *tide_space_new_live(const tide_model *model, tide_vectors vectors,
                                bool centred, _Atomic uint32_t *hands, tide_error *err);
void tide_space_make(tide_space *space);
uint64_t tide_space_live_bytes(const tide_shape *shape);

/* Slots by falling count; *words is their number. */
const uint32_t *tide_space_order(const tide_space *space, uint32_t *words);

/* The vector of a slot in use, of length 1; zero when it has no length. `out` has the matrix's
 * stride. */
void tide_space_unit(const tide_space *space, uint32_t slot, float *out);

/* The same of a model that learns. False when the slot has another word by now, or its vector is not made of
 * numbers. */
bool tide_space_unit_held(const tide_space *space, uint32_t slot, float *out);

/* How often the slot had changed hands when the space was made. */
uint32_t tide_space_hands(const tide_space *space, uint32_t slot);

/* One more for a list of the best, by falling score; of equals the first to come stays first. Returns
 * how many there are now. */
size_t tide_hits_keep(tide_hit *hits, size_t count, size_t room, tide_hit hit);

#endif
