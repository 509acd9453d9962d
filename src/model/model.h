/* model.h - words and their vectors: updated by a trainer, stored in a file, read by
 * queries. */
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
    uint32_t rows; /* of the table; 0 without subwords */
    /* Length of an n-gram in characters, including the < and > that mark the ends of
     * the word. */
    uint32_t shortest;
    uint32_t longest;
} tide_subwords;

/* The table rows of the n-grams of a word. Returns their number. */
uint32_t tide_subwords_of(const tide_subwords *subwords, const char *word,
                          uint32_t length, uint32_t ids[TIDE_SUBWORDS_MAX]);

/* -- model (model.c, model_plain.c) ------------------------------------------------ */

typedef struct tide_shape {
    tide_vocabulary_options vocabulary;
    uint32_t dim;
    tide_subwords subwords;
} tide_shape;

/* Maximum bytes of the parameters as text, including the 0 at the end. */
#define TIDE_PARAMS_MAX (64 * 1024)

/* Maximum bytes of the list of stop words. */
#define TIDE_STOP_WORDS_MAX (16 << 20)

struct tide_model {
    tide_shape shape;
    tide_vocabulary *vocabulary;
    tide_matrix input;    /* [capacity] the word vectors, n-grams included */
    tide_matrix output;   /* [capacity] the words as contexts; empty in a plain model */
    tide_bfloats subword; /* [subwords.rows]; empty without subwords */
    char *path;           /* of the file it was loaded from, or NULL; owned */
    char *params;         /* as text; owned */
    char *stop_words;     /* of a loaded model, one per line, or NULL; owned */
    tide_origin origin; /* of an imported file; the format is NULL for a native model */
};

tide_model *tide_model_new(const tide_shape *shape, tide_error *err);

/* A model as read from a file of vectors: words are inserted and never evicted, and it
 * has only input vectors (model_plain.c). tide_model_insert returns TIDE_NO_SLOT if the
 * word is already held or all slots are taken. */
tide_model *tide_model_new_plain(uint32_t capacity, uint32_t dim, tide_error *err);
uint32_t tide_model_insert(tide_model *model, const char *word, uint32_t length,
                           uint64_t count, uint64_t error);
uint64_t tide_model_plain_bytes(uint32_t capacity, uint32_t dim);

/* Bytes that tide_model_new allocates for word vectors and for rows of n-grams. */
uint64_t tide_shape_vector_bytes(const tide_shape *shape);
uint64_t tide_shape_subword_bytes(const tide_shape *shape);

/* The vector of a word that is not held: the mean of the rows of its n-grams. Returns
 * false if it has none. */
bool tide_model_compose(const tide_model *model, const tide_kernels *kernels,
                        const tide_word *word, float *out);

/* Sections model, params, vocab.*, input or composed, output, subword. Reading also loads the
 * section stop-words of the text reader if present, so that texts are split into words
 * as they were in training. Unless `for_training`, the model is allocated for just the
 * words it holds. */
void tide_model_save(const tide_model *model, tide_store_writer *writer);
int tide_model_read_shape(tide_store *store, tide_shape *shape, tide_error *err);
tide_model *tide_model_read(tide_store *store, bool for_training, tide_error *err);

#endif
