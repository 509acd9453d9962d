/* model.h - words and their vectors: what a trainer changes, a file holds and a query reads. */
#ifndef TIDE_MODEL_H
#define TIDE_MODEL_H

#include "file/file.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdatomic.h>

/* -- subwords (subword.c) ---------------------------------------------------------- */

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

/* -- model (model.c, model_plain.c) ------------------------------------------------ */

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
 * nothing else (model_plain.c). TIDE_NO_SLOT for a word that is held already, and when all slots are taken. */
tide_model *tide_model_new_plain(uint32_t capacity, uint32_t dim, tide_error *err);
uint32_t tide_model_insert(tide_model *model, const char *word, uint32_t length,
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

#endif
