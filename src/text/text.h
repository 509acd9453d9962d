/* text.h - where text comes from and how it falls into words. */
#ifndef TIDE_TEXT_H
#define TIDE_TEXT_H

#include "base/base.h"

/* -- sources (source.c: the table; one file each) ------------------------------------------------------ */

/* The public part is in wordtide.h. */

/* What can be made use of besides text. Files, pipes and packed text of another kind are refused
 * (detect.h). */
typedef enum tide_expected {
    TIDE_EXPECTED_ANY,     /* vectors, models and JSON as well */
    TIDE_EXPECTED_RECORDS, /* JSON, but neither vectors nor models */
    TIDE_EXPECTED_LINES,   /* nothing */
    TIDE_EXPECTED_ALL,     /* everything: the user has said that it is text */
} tide_expected;

typedef struct tide_source_options {
    tide_expected expected;
    bool follow; /* a file is read on as it grows, and through rotation */
    const char *const *properties; /* "key=value" for the library behind a source */
    size_t property_count;
    tide_feed *feed;      /* what "feed:" reads; NULL for none */
    const char *spool;    /* a pipe goes through the spool in this folder; NULL */
    uint64_t spool_limit; /* bytes; 0 for 1 GiB */
    tide_spool_sync spool_sync;
    bool from_start;  /* it is all the same how much of a spool others have learned */
    bool one_message; /* no read goes beyond the end of a message */
} tide_source_options;

/* tide_source_open with options. */
tide_source *tide_source_begin(const char *spec, const tide_source_options *options,
                               tide_error *err);

enum {
    TIDE_SOURCE_LATER = -100, /* nothing has come while we waited */
    TIDE_SOURCE_SAVE = -101,  /* wants to be saved before it can go on */
};

/* Up to `room` bytes; 0 at the end; TIDE_SOURCE_LATER when none has come within `wait_ms` (a
 * signal may make it less) from a source that may still have some; TIDE_SOURCE_SAVE: see
 * tide_source_saved. */
ptrdiff_t tide_source_poll(tide_source *source, void *bytes, size_t room, int wait_ms,
                           tide_error *err);

/* Bytes read so far, counted from the beginning of the source. */
uint64_t tide_source_offset(const tide_source *source);

/* Whether reading can go on in a later run (a regular file, the demo, a topic, a spool). */
bool tide_source_replayable(const tide_source *source);

/* Whether it gives lines of text, also to a trainer whose other sources have records. */
bool tide_source_plain(const tide_source *source);

/* Whether what waits in it is to be read before a run stops, since nobody else has it. */
bool tide_source_drained(const tide_source *source);

/* Whether what was saved leaves it, so that its beginning cannot be read again. */
bool tide_source_forgets(const tide_source *source);

/* How many bytes of a stored file have been read, packed ones if it is packed, and how many there are. False where
 * that is not known. */
bool tide_source_progress(const tide_source *source, uint64_t *read, uint64_t *size);

/* Whether it can go on from any offset within what was read last, or only from where everything read so
 * far is taken, and that only when it is settled: at the end of a message. */
bool tide_source_divisible(const tide_source *source);
bool tide_source_settled(const tide_source *source);

/* Whether it is one text, with the names of its columns at most at its beginning, rather than a sequence of files or
 * messages. */
bool tide_source_is_one_text(const tide_source *source);

/* Where the byte at `offset` is found again, as a line of text; free() it. It is one of those that the latest
 * read gave out, or the next; for a source that is not divisible, the next. The place has a fingerprint of the text before it. */
char *tide_source_place(tide_source *source, uint64_t offset, tide_error *err);

/* Goes to a place. TIDE_ERROR_FORMAT when it is not there (any more): reading then begins where it
 * would have begun, and the text says so, or what else is known about that. The caller names the
 * source. After any other error it must not be read. */
int tide_source_go_to(tide_source *source, const char *place, tide_error *err);

/* Everything up to the place is safe on disk, so others may be told. Also the answer to
 * TIDE_SOURCE_SAVE, after which the source goes on. A failure is worth a warning and no more.
 *
 * Until this answer comes, every poll is TIDE_SOURCE_SAVE at once, without waiting: who could not
 * save has to wait for a while before polling again. */
int tide_source_saved(tide_source *source, const char *place, tide_error *err);

/* Waits a few seconds at most until others know what is saved: nothing more will be read. A failure is worth a
 * warning. */
int tide_source_finish(tide_source *source, tide_error *err);

/* Something about the source that a person should know and that is no failure (a file was rotated,
 * cut short, deleted; messages were gone before they were read), as one line, once; NULL when there
 * is nothing. The caller names the source. Valid until the next call with this source. */
const char *tide_source_news(tide_source *source);

/* -- records (records.c: the table; record_json.c, record_csv.c) --------------------------------------- */

/* The public part is in wordtide.h. */

/* Seconds since 1970 of the latest good record with a time (a number: seconds, or milliseconds when
 * above 10^11; or ISO 8601); NAN before. A time that cannot be read leaves the record good. */
double tide_records_time(const tide_records *r);

/* What is wrong with the names of the columns, such as "no column 'body'; there are: id, time"; NULL
 * when nothing is. Stays until other names have come. */
const char *tide_records_problem(const tide_records *r);

/* Whether fields go by the names of columns, so that every input has to begin with these. */
bool tide_records_named(const tide_records *r);

/* Whether the next record of this input is the one with the names. */
bool tide_records_names_due(const tide_records *r);

uint64_t tide_records_bytes(void);

/* Whether all that was fed is taken and no record has begun. */
bool tide_records_between(const tide_records *r);

/* Takes back the half-read record, up to TIDE_RECORD_MAX bytes, so that text of another input can come; returns how
 * many. Of a record that is too long none are kept, and *skipped says how many have gone by. To go on with
 * it, skip so many and feed the bytes again. */
size_t tide_records_take_back(tide_records *r, void *bytes, uint64_t *skipped);
void tide_records_skip(tide_records *r, uint64_t skipped);

/* Section records: counters, names of columns, the half-read record. */
void tide_records_save(const tide_records *r, tide_store_writer *writer);
int tide_records_load(tide_records *r, tide_store *store, tide_error *err);

/* -- tokenizer (tokenizer.c) ---------------------------------------------------------------------------- */

/* space   a word is a run of bytes above 0x20, as it is
 * words   Unicode words, case folded, NFKC; ideographs and kana one by one; Thai, Lao,
 *         Khmer and Burmese by syllables
 * social  the same, but knows hashtags, mentions, URLs and emoji
 * log     numbers, hex, UUIDs, addresses and paths become the names of their classes
 *
 * A run of bytes above 0x20 that begins with "__label__" is one word in every kind, as it is: a label,
 * as fastText marks them and tide_records_take adds them.
 *
 * A line feed ends a sentence. A word with bytes that are not UTF-8 is dropped as a whole and counted
 * once. Control characters (U+007F to U+009F) are dropped and counted: in kind space and in labels
 * with the word they are in, in the other kinds as separators between words. Words of more than TIDE_WORD_MAX bytes are cut before the code point that
 * does not fit, and counted. The result does not depend on how the text is cut into feeds. Memory is
 * fixed. */
typedef struct tide_tokenizer tide_tokenizer;

typedef enum tide_token_kind {
    TIDE_TOKENS_SPACE,
    TIDE_TOKENS_WORDS,
    TIDE_TOKENS_SOCIAL,
    TIDE_TOKENS_LOG,
} tide_token_kind;

/* As it is, the name of its class instead, nothing, or without its sign. */
typedef enum tide_treatment {
    TIDE_KEEP,
    TIDE_MASK,
    TIDE_DROP,
    TIDE_BARE
} tide_treatment;

typedef struct tide_tokenizer_options {
    tide_token_kind kind;
    tide_treatment numbers;  /* words, social: a word of digits alone */
    tide_treatment hashtags; /* social */
    tide_treatment mentions; /* social */
    tide_treatment urls;     /* social; not BARE, nor are numbers */
    bool first_rules;  /* those of models from before 2: Thai, Lao, Khmer and Burmese
                         come as they are written between separators, a final sigma as
                         any other, the prolonged sound mark of kana by itself */
    uint32_t shortest; /* words of fewer characters are left out; 0 or 1 for none */
    uint32_t longest;  /* likewise of more; 0 for no limit */
    const char *stop_words; /* one a line, as the tokenizer would give them; NULL */
    const char *spared; /* words that begin so are left out for none of these reasons;
                           NULL for none; must live as long */
} tide_tokenizer_options;

tide_tokenizer *tide_tokenizer_new(const tide_tokenizer_options *options,
                                   tide_error *err);
void tide_tokenizer_free(tide_tokenizer *t);
uint64_t tide_tokenizer_bytes(const tide_tokenizer_options *options);

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
    uint64_t bytes;
    uint64_t invalid; /* words that are not UTF-8, and runs of control characters */
    uint64_t cut;     /* longer than TIDE_WORD_MAX */
    uint64_t dropped; /* bytes, of both */
    uint64_t omitted; /* stop words, too short or too long ones, treated with DROP */
} tide_tokenizer_counts;

tide_tokenizer_counts tide_tokenizer_counted(const tide_tokenizer *t);

/* Bytes taken by feed but not yet given out in a complete word or line end: what a reader that wants
 * to stop at the last sentence taken has to read again. */
uint64_t tide_tokenizer_pending(const tide_tokenizer *t);

/* Section tokenizer: the counters and the half-read word, so that the rest can come later. All
 * complete words must have been taken. */
void tide_tokenizer_save(const tide_tokenizer *t, tide_store_writer *writer);
int tide_tokenizer_load(tide_tokenizer *t, tide_store *store, tide_error *err);

#endif
