/* text.h - where text comes from and how it falls into words. */
#ifndef TIDE_TEXT_H
#define TIDE_TEXT_H

#include "base/base.h"

/* -- sources (source.c: the table; source_file.c, source_demo.c) -------------------------------------- */

/* The public part is in wordtide.h. */

/* Whether reading can start again at an offset (a regular file, the demo), and do so. */
bool tide_source_replayable(const tide_source *source);
int tide_source_seek(tide_source *source, uint64_t offset, tide_error *err);

/* Bytes read so far, counted from the beginning of the source. */
uint64_t tide_source_offset(const tide_source *source);

/* A hash of up to 4 KiB of the source before `offset`, to recognise it by; TIDE_ERROR_FORMAT when
 * the source is shorter than that. Only for replayable sources. */
int tide_source_fingerprint(tide_source *source, uint64_t offset, uint64_t *fingerprint,
                            tide_error *err);

/* -- tokenizer (tokenizer.c) ---------------------------------------------------------------------------- */

/* A word is a run of bytes above 0x20; a line feed ends a sentence. Words that are not UTF-8 or have
 * control characters in them (U+007F to U+009F) are dropped and counted; words of more than
 * TIDE_WORD_MAX bytes are cut before the code point that does not fit, and counted. The result does
 * not depend on how the text is cut into feeds. Memory is fixed. */
typedef struct tide_tokenizer tide_tokenizer;

tide_tokenizer *tide_tokenizer_new(tide_error *err);
void tide_tokenizer_free(tide_tokenizer *t);
uint64_t tide_tokenizer_bytes(void);

/* Takes up to `size` bytes and returns how many. Take words until there are none, then feed again. */
size_t tide_tokenizer_feed(tide_tokenizer *t, const void *bytes, size_t size);

/* The text ends: its last word is complete, and so is its last sentence if it has begun. */
void tide_tokenizer_end(tide_tokenizer *t);

/* The next words of the present sentence, at most `room`, valid until the next feed. *sentence_ended
 * says that the sentence ends after them. Returns 0 with *sentence_ended false when more text is
 * needed. Empty lines yield no sentence. */
size_t tide_tokenizer_take(tide_tokenizer *t, tide_word *words, size_t room,
                           bool *sentence_ended);

typedef struct tide_tokenizer_counts {
    uint64_t bytes, invalid, cut;
} tide_tokenizer_counts;

tide_tokenizer_counts tide_tokenizer_counted(const tide_tokenizer *t);

/* Bytes taken by feed but not yet given out in a complete word or line end: what a reader that wants
 * to stop at the last sentence taken has to read again. */
uint64_t tide_tokenizer_pending(const tide_tokenizer *t);

/* Forgets text that was fed but not taken, as if it had never been read. */
void tide_tokenizer_discard(tide_tokenizer *t);

/* Section tokenizer: the counters and the half-read word, so that the rest can come later. All
 * complete words must have been taken. */
void tide_tokenizer_save(const tide_tokenizer *t, tide_store_writer *writer);
int tide_tokenizer_load(tide_tokenizer *t, tide_store *store, tide_error *err);

#endif
