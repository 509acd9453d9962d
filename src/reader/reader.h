/* reader.h - reads sentences of words from bytes: records, tokenizer, labels,
 * phrases. */
#ifndef TIDE_READER_H
#define TIDE_READER_H

#include "file/file.h"
#include "model/model.h"
#include "params/params.h"

/* -- phrases (phrases.c) ----------------------------------------------------------- */

typedef struct tide_phrases tide_phrases;

/* Loads the counts from the store unless it is NULL; tide_phrases_load loads the
 * rest. */
tide_phrases *tide_phrases_new(const tide_params *params, tide_store *store,
                               tide_error *err);
void tide_phrases_free(tide_phrases *phrases);
uint64_t tide_phrases_bytes(const tide_params *params);

/* A source of words with the contract of tide_tokenizer_next. */
typedef size_t tide_word_source(void *data, tide_word *words, size_t capacity,
                                bool *sentence_ended);

/* Takes words from the source and returns them with phrases joined. */
size_t tide_phrases_next(tide_phrases *phrases, tide_word_source *source, void *data,
                         tide_word *words, size_t capacity, bool *sentence_ended);

/* Whether no word is held back. */
bool tide_phrases_at_boundary(const tide_phrases *phrases);

/* Sections phrase and phrase.* of a model file. */
void tide_phrases_save(const tide_phrases *phrases, tide_store_writer *writer);
int tide_phrases_load(tide_phrases *phrases, tide_store *store, tide_error *err);

/* -- reader (text_reader.c) -------------------------------------------------------- */

/* Records, tokenizer, labels and phrases, configured by the parameters. Functions have
 * the contract of those of tide_tokenizer with the same name. */
typedef struct tide_reader tide_reader;

/* Loads the counts of phrases and the stop words from the store unless it is NULL;
 * tide_reader_load loads the rest. */
tide_reader *tide_reader_new(const tide_params *params, tide_store *store,
                             tide_error *err);
void tide_reader_free(tide_reader *reader);
uint64_t tide_reader_bytes(const tide_params *params); /* without phrases */

/* Treats input from now on as plain lines rather than records. Call only between
 * records. */
void tide_reader_set_plain(tide_reader *reader, bool plain);
size_t tide_reader_feed(tide_reader *reader, const void *bytes, size_t size);
void tide_reader_end(tide_reader *reader);
size_t tide_reader_next(tide_reader *reader, tide_word *words, size_t capacity,
                        bool *sentence_ended);

/* After the end of a sentence: its labels in order, at most 256, valid until the next
 * take. */
const tide_word *tide_reader_labels(const tide_reader *reader, size_t *count);

bool tide_reader_at_boundary(const tide_reader *reader);

/* Whether input is now parsed as records; if so, the contract of
 * tide_records_unread. */
bool tide_reader_in_records(const tide_reader *reader);
size_t tide_reader_unread(tide_reader *reader, void *bytes, uint64_t *skipped);
void tide_reader_skip(tide_reader *reader, uint64_t skipped);

/* Sets the statistics about bytes, records and skipped words. */
void tide_reader_stats(const tide_reader *reader, tide_stats *stats);

/* The problem reported by tide_records_problem; NULL if there is none. */
const char *tide_reader_problem(const tide_reader *reader);

/* Whether inputs begin with a header, and whether the next record is one. */
bool tide_reader_has_header(const tide_reader *reader);
bool tide_reader_expects_header(const tide_reader *reader);

void tide_reader_save(const tide_reader *reader, tide_store_writer *writer);
int tide_reader_load(tide_reader *reader, tide_store *store, tide_error *err);

/* -- words of a finished model (model_words.c) ------------------------------------- */

/* Tokenizes text the way a finished model was trained. */
typedef struct tide_model_tokenizer tide_model_tokenizer;

tide_model_tokenizer *tide_model_tokenizer_new(const tide_model *model,
                                               tide_error *err);

/* Likewise for queries: does not omit stop words or words by length. A model without
 * parameters, such as a plain vector file, uses the default parameters. */
tide_model_tokenizer *tide_model_tokenizer_new_query(const tide_model *model,
                                                     tide_error *err);

/* Joins words to the phrases of this model from now on. */
void tide_model_tokenizer_set_model(tide_model_tokenizer *tokenizer,
                                    const tide_model *model);
void tide_model_tokenizer_free(tide_model_tokenizer *tokenizer);

/* Receives a word, which is valid during the call. */
typedef void tide_word_callback(void *data, const tide_word *word);

/* Adds part of a text, divided anywhere; and ends the text, after which the next
 * begins. */
void tide_model_tokenizer_add(tide_model_tokenizer *tokenizer, const char *text,
                              size_t size, tide_word_callback *callback, void *data);
void tide_model_tokenizer_end(tide_model_tokenizer *tokenizer,
                              tide_word_callback *callback, void *data);

#endif
