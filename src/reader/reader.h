/* reader.h - text into words, as the parameters or a model ask for: records, tokenizer, phrases. */
#ifndef TIDE_READER_H
#define TIDE_READER_H

#include "file/file.h"
#include "model/model.h"
#include "params/params.h"

/* -- phrases (phrases.c) ----------------------------------------------------------- */

typedef struct tide_phrases tide_phrases;

/* The counts come out of the store, if there is one; the rest follows with tide_phrases_load. */
tide_phrases *tide_phrases_new(const tide_params *params, tide_store *store,
                               tide_error *err);
void tide_phrases_free(tide_phrases *phrases);
uint64_t tide_phrases_bytes(const tide_params *params);

/* Gives words as tide_tokenizer_take does. */
typedef size_t tide_take(void *from, tide_word *words, size_t room,
                         bool *sentence_ended);

/* The same, with words joined. */
size_t tide_phrases_take(tide_phrases *phrases, tide_take *take, void *from,
                         tide_word *words, size_t room, bool *sentence_ended);

/* Whether no word is held back. */
bool tide_phrases_at_boundary(const tide_phrases *phrases);

/* Sections phrase and phrase.*. */
void tide_phrases_save(const tide_phrases *phrases, tide_store_writer *writer);
int tide_phrases_load(tide_phrases *phrases, tide_store *store, tide_error *err);

/* -- reader (text_reader.c) -------------------------------------------------------- */

/* Records, tokenizer and phrases, as the parameters want them. Its functions are those of a
 * tide_tokenizer. */
typedef struct tide_reader tide_reader;

/* Counts of phrases and the stop words come out of the store, if there is one; the rest follows with
 * tide_reader_load. */
tide_reader *tide_reader_new(const tide_params *params, tide_store *store,
                             tide_error *err);
void tide_reader_free(tide_reader *reader);
uint64_t tide_reader_bytes(const tide_params *params); /* without phrases */

/* Whether what is fed from now on are lines of text rather than records. To be changed only between records. */
void tide_reader_set_plain(tide_reader *reader, bool plain);
size_t tide_reader_feed(tide_reader *reader, const void *bytes, size_t size);
void tide_reader_end(tide_reader *reader);
size_t tide_reader_take(tide_reader *reader, tide_word *words, size_t room,
                        bool *sentence_ended);

/* Once a sentence has ended: its labels as they came, at most 256, until the next take. */
const tide_word *tide_reader_labels(const tide_reader *reader, size_t *count);

bool tide_reader_at_boundary(const tide_reader *reader);

/* Whether what is fed now falls into records, and then as tide_records_unread. */
bool tide_reader_in_records(const tide_reader *reader);
size_t tide_reader_unread(tide_reader *reader, void *bytes, uint64_t *skipped);
void tide_reader_skip(tide_reader *reader, uint64_t skipped);

/* What it has to say about bytes, records and words left out. */
void tide_reader_stats(const tide_reader *reader, tide_stats *stats);

/* Why no record has any text, in a line; NULL if that is not so. */
const char *tide_reader_problem(const tide_reader *reader);

/* Whether texts begin with the names of columns, and whether these are still to come. */
bool tide_reader_has_header(const tide_reader *reader);
bool tide_reader_expects_header(const tide_reader *reader);

void tide_reader_save(const tide_reader *reader, tide_store_writer *writer);
int tide_reader_load(tide_reader *reader, tide_store *store, tide_error *err);

/* -- words of a finished model (model_words.c) ------------------------------------- */

/* The words of a text as a model that does not learn knows them. */
typedef struct tide_model_tokenizer tide_model_tokenizer;

tide_model_tokenizer *tide_model_tokenizer_new(const tide_model *model,
                                               tide_error *err);

/* The same for what people ask for: nothing is left out as a stop word or for its length, and a file of vectors
 * alone has the words of the default parameters. */
tide_model_tokenizer *tide_model_tokenizer_new_query(const tide_model *model,
                                                     tide_error *err);

/* Words are joined to phrases as this model holds them, from now on. */
void tide_model_tokenizer_use(tide_model_tokenizer *wording, const tide_model *model);
void tide_model_tokenizer_free(tide_model_tokenizer *wording);

/* Is given a word that is valid during the call. */
typedef void tide_word_callback(void *to, const tide_word *word);

/* More of the text, cut anywhere; and its end, after which the next begins. */
void tide_model_tokenizer_add(tide_model_tokenizer *wording, const char *text,
                              size_t size, tide_word_callback *take, void *to);
void tide_model_tokenizer_end(tide_model_tokenizer *wording, tide_word_callback *take,
                              void *to);

#endif
