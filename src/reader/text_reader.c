/* text_reader.c - turns the bytes of a source into sentences of words.
 *
 *     bytes ──► records ──text──► tokenizer ──words──► labels ──► phrases ──► words
 *               JSON, CSV, TSV                         removed    joined
 *
 * Stages that the parameters do not enable are skipped: plain lines go directly to the
 * tokenizer. Labels are removed before words are counted, and are available when their
 * sentence ends. The stop word list is stored in the model file, so that training
 * resumes with the same list even if the original file is gone.
 */
#include "file/file.h"
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"
#include "record/record.h"
#include "token/token.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { STATE_NUMBERS = 2, LABELS_MAX = 256 };

/* The labels of the current sentence in order. */
typedef struct label_list {
    uint32_t count;
    bool ended; /* the sentence has ended; the next word begins another */
    tide_word words[LABELS_MAX];
    char texts[LABELS_MAX][TIDE_WORD_MAX + 17]; /* 16 bytes readable after each */
} label_list;

struct tide_reader {
    const tide_params *params;
    tide_records *records; /* NULL for plain lines */
    bool plain;            /* input is currently plain lines, not records */
    tide_tokenizer *tokenizer;
    tide_phrases *phrases; /* NULL without */
    label_list *labels;    /* NULL without */
    char *stop_words;      /* NULL without */
    uint64_t bytes;        /* fed */

    const char *text; /* of a record, not yet fed to the tokenizer */
    size_t text_left;
    bool ending; /* end the text after that */
};

/* -- construction ------------------------------------------------------------------ */

uint64_t tide_reader_bytes(const tide_params *params)
{
    tide_tokenizer_options options = tide_params_tokenizer(params, NULL);
    uint64_t records = params->records == TIDE_RECORDS_LINES ? 0 : tide_records_bytes();
    uint64_t labels = params->labels ? sizeof(label_list) : 0;
    return sizeof(tide_reader) + tide_tokenizer_bytes(&options) + records + labels;
}

static char *read_stop_words(const char *path, tide_error *err)
{
    FILE *file = fopen(path, "rb");
    struct stat status = {0};
    size_t capacity = file && !fstat(fileno(file), &status) && status.st_size > 0
                          ? (size_t)status.st_size
                          : 0;
    capacity = capacity < TIDE_STOP_WORDS_MAX ? capacity : TIDE_STOP_WORDS_MAX;
    char *list = file ? tide_alloc(capacity + 1, 1) : NULL;
    size_t size = list ? fread(list, 1, capacity + 1, file) : 0;
    int cause = !file || (list && ferror(file)) ? errno : 0;
    if (file)
        fclose(file);
    if (list && !cause && size <= capacity) {
        list[size] = 0;
        return list;
    }
    free(list);
    if (cause)
        tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path, strerror(cause));
    else if (size)
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "%s: stop words must be in a regular file of at most 16 MiB", path);
    else
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the stop words");
    return NULL;
}

static char *copy_stop_words(const char *list, tide_error *err)
{
    size_t size = strlen(list) + 1;
    char *copy = tide_alloc(size, 1);
    if (copy)
        memcpy(copy, list, size);
    else
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the stop words");
    return copy;
}

static char *load_stop_words(tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, "stop-words", err);
    if (size < 0)
        return NULL;
    if (size > TIDE_STOP_WORDS_MAX) {
        tide_fail(err, TIDE_ERROR_FORMAT,
                  "%s: section \"stop-words\" is larger than 16 MiB",
                  tide_store_path(store));
        return NULL;
    }
    char *list = tide_alloc((size_t)size + 1, 1);
    if (!list) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the stop words");
        return NULL;
    }
    if (!tide_store_read(store, "stop-words", list, (size_t)size, err))
        return list;
    free(list);
    return NULL;
}

tide_reader *tide_reader_new(const tide_params *params, tide_store *store,
                             tide_error *err)
{
    tide_reader *r = tide_alloc(1, sizeof *r);
    if (!r) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the text reader");
        return NULL;
    }
    r->params = params;
    if (*params->stop_words) {
        r->stop_words = store               ? load_stop_words(store, err)
                        : params->stop_list ? copy_stop_words(params->stop_list, err)
                                            : read_stop_words(params->stop_words, err);
        if (!r->stop_words)
            goto failed;
    }
    if (params->records != TIDE_RECORDS_LINES) {
        tide_record_options options = tide_params_records(params);
        r->records = tide_records_new(&options, err);
        if (!r->records)
            goto failed;
    }
    if (params->labels) {
        r->labels = tide_alloc(1, sizeof *r->labels);
        if (!r->labels) {
            tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the labels of a sentence");
            goto failed;
        }
    }
    if (params->phrases) {
        r->phrases = tide_phrases_new(params, store, err);
        if (!r->phrases)
            goto failed;
    }
    tide_tokenizer_options options = tide_params_tokenizer(params, r->stop_words);
    r->tokenizer = tide_tokenizer_new(&options, err);
    if (r->tokenizer)
        return r;

failed:
    tide_reader_free(r);
    return NULL;
}

void tide_reader_free(tide_reader *r)
{
    if (!r)
        return;
    tide_tokenizer_free(r->tokenizer);
    tide_phrases_free(r->phrases);
    tide_records_free(r->records);
    free(r->labels);
    free(r->stop_words);
    free(r);
}

/* -- reading ----------------------------------------------------------------------- */

void tide_reader_set_plain(tide_reader *r, bool plain)
{
    r->plain = plain;
}

bool tide_reader_in_records(const tide_reader *r)
{
    return r->records && !r->plain;
}

size_t tide_reader_feed(tide_reader *r, const void *bytes, size_t size)
{
    size_t used = tide_reader_in_records(r)
                      ? tide_records_feed(r->records, bytes, size)
                      : tide_tokenizer_feed(r->tokenizer, bytes, size);
    r->bytes += used;
    return used;
}

void tide_reader_end(tide_reader *r)
{
    if (r->records)
        tide_records_end(r->records);
    r->ending = true;
}

/* Feeds more text, or the end of the text, to the tokenizer. Returns false if there is
 * neither. */
static bool feed_tokenizer(tide_reader *r)
{
    if (!r->text_left && r->records)
        tide_records_next(r->records, &r->text, &r->text_left);
    if (r->text_left) {
        size_t used = tide_tokenizer_feed(r->tokenizer, r->text, r->text_left);
        r->text += used;
        r->text_left -= used;
        return true;
    }
    bool ending = r->ending;
    if (ending)
        tide_tokenizer_end(r->tokenizer);
    r->ending = false;
    return ending;
}

static void add_label(label_list *l, const tide_word *label)
{
    if (l->count == LABELS_MAX || !label->length)
        return;
    char *text = l->texts[l->count];
    memcpy(text, label->bytes, label->length);
    text[label->length] = 0;
    l->words[l->count++] = (tide_word){text, label->length};
}

/* Removes labels from the words and adds them to the list. Returns the number of words
 * left. `ended` says that the sentence ends after these words. */
static size_t extract_labels(tide_reader *r, tide_word *words, size_t count, bool ended)
{
    label_list *l = r->labels;
    size_t kept = 0;
    if (l->ended)
        l->count = 0;
    for (size_t i = 0; i < count; i++) {
        tide_word label;
        if (tide_params_label(r->params, &words[i], &label))
            add_label(l, &label);
        else
            words[kept++] = words[i];
    }
    l->ended = ended;
    return kept;
}

/* A tide_word_source without labels. Phrases take words ahead of what they return, as
 * many as are available. That depends on how the text is fed, and the labels of a
 * sentence must not. So with phrases and labels, words are taken one at a time. */
static size_t take_unlabeled(void *reader, tide_word *words, size_t capacity,
                             bool *sentence_ended)
{
    tide_reader *r = reader;
    if (r->labels && r->phrases)
        capacity = 1;
    for (;;) {
        size_t count =
            tide_tokenizer_next(r->tokenizer, words, capacity, sentence_ended);
        if (!r->labels || (!count && !*sentence_ended))
            return count;
        count = extract_labels(r, words, count, *sentence_ended);
        if (count || *sentence_ended)
            return count;
    }
}

size_t tide_reader_next(tide_reader *r, tide_word *words, size_t capacity,
                        bool *sentence_ended)
{
    size_t count;
    do
        count = r->phrases ? tide_phrases_next(r->phrases, take_unlabeled, r, words,
                                               capacity, sentence_ended)
                           : take_unlabeled(r, words, capacity, sentence_ended);
    while (!count && !*sentence_ended && feed_tokenizer(r));
    return count;
}

const tide_word *tide_reader_labels(const tide_reader *r, size_t *count)
{
    *count = r->labels ? r->labels->count : 0;
    return r->labels ? r->labels->words : NULL;
}

bool tide_reader_at_boundary(const tide_reader *r)
{
    return !tide_tokenizer_pending(r->tokenizer) &&
           (!r->records || tide_records_at_boundary(r->records)) &&
           (!r->phrases || tide_phrases_at_boundary(r->phrases)) &&
           (!r->labels || r->labels->ended || !r->labels->count);
}

size_t tide_reader_unread(tide_reader *r, void *bytes, uint64_t *skipped)
{
    size_t size = tide_records_unread(r->records, bytes, skipped);
    r->bytes -= size;
    return size;
}

void tide_reader_skip(tide_reader *r, uint64_t skipped)
{
    tide_records_skip(r->records, skipped);
}

void tide_reader_stats(const tide_reader *r, tide_stats *stats)
{
    tide_tokenizer_counts counts = tide_tokenizer_counted(r->tokenizer);
    stats->bytes = r->bytes;
    stats->skipped_invalid = counts.invalid;
    stats->cut_words = counts.cut;
    stats->dropped_bytes = counts.dropped;
    stats->omitted_words = counts.omitted;
    stats->time = (double)NAN;
    if (!r->records)
        return;
    tide_record_counts records = tide_records_counted(r->records);
    stats->records = records.records;
    stats->malformed_records = records.malformed;
    stats->missing_records = records.missing;
    stats->long_records = records.too_long;
    stats->dropped_bytes += records.bytes;
    stats->time = tide_records_time(r->records);
}

const char *tide_reader_problem(const tide_reader *r)
{
    return r->records ? tide_records_problem(r->records) : NULL;
}

bool tide_reader_has_header(const tide_reader *r)
{
    return r->records && tide_records_has_header(r->records);
}

bool tide_reader_expects_header(const tide_reader *r)
{
    return r->records && tide_records_expects_header(r->records);
}

/* -- sections reader, stop-words and reader.labels --------------------------------- */

/* A fingerprint of the record fields: the state of records is valid for the same fields
 * only. */
static uint64_t fields_hash(const tide_params *params)
{
    uint64_t hash = tide_hash(params->text, strlen(params->text), params->records);
    hash = tide_hash(params->time, strlen(params->time), hash);
    hash = tide_hash(params->label_field, strlen(params->label_field), hash);
    return *params->delimiter ? tide_hash(params->delimiter, 1, hash) : hash;
}

/* Saves the labels of an incomplete sentence, each followed by a 0 byte. */
static void save_labels(const label_list *l, tide_store_writer *writer)
{
    tide_store_begin(writer, "reader.labels");
    for (uint32_t i = 0; i < l->count && !l->ended; i++)
        tide_store_append(writer, l->texts[i], l->words[i].length + 1);
}

static int load_labels(label_list *l, tide_store *store, tide_error *err)
{
    static const char section[] = "reader.labels";
    char bytes[LABELS_MAX * (TIDE_WORD_MAX + 1)];
    int64_t size = tide_store_size(store, section, err);
    if (size < 0)
        return (int)size;
    int status = (uint64_t)size <= sizeof bytes
                     ? tide_store_read(store, section, bytes, (size_t)size, err)
                     : TIDE_ERROR_FORMAT;
    for (size_t at = 0; at < (size_t)size && !status;) {
        size_t length = strnlen(bytes + at, (size_t)size - at);
        if (!length || length > TIDE_WORD_MAX || at + length == (size_t)size ||
            l->count == LABELS_MAX)
            status = TIDE_ERROR_FORMAT;
        else
            add_label(l, &(tide_word){bytes + at, (uint32_t)length});
        at += length + 1;
    }
    if (status == TIDE_ERROR_FORMAT)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                         tide_store_path(store), section);
    return status;
}

/* Section reader: the number of bytes fed and a hash of the record fields. */
void tide_reader_save(const tide_reader *r, tide_store_writer *writer)
{
    unsigned char state[8 * STATE_NUMBERS];
    tide_put64(state, r->bytes);
    tide_put64(state + 8, fields_hash(r->params));
    tide_store_put(writer, "reader", state, sizeof state);
    if (r->stop_words)
        tide_store_put(writer, "stop-words", r->stop_words, strlen(r->stop_words));
    if (r->records)
        tide_records_save(r->records, writer);
    if (r->phrases)
        tide_phrases_save(r->phrases, writer);
    if (r->labels)
        save_labels(r->labels, writer);
    tide_tokenizer_save(r->tokenizer, writer);
}

int tide_reader_load(tide_reader *r, tide_store *store, tide_error *err)
{
    unsigned char state[8 * STATE_NUMBERS];
    int status = tide_store_read(store, "reader", state, sizeof state, err);
    if (!status)
        status = tide_tokenizer_load(r->tokenizer, store, err);
    if (!status && r->phrases)
        status = tide_phrases_load(r->phrases, store, err);
    if (!status && r->labels)
        status = load_labels(r->labels, store, err);
    if (!status && r->records && tide_get64(state + 8) == fields_hash(r->params))
        status = tide_records_load(r->records, store, err);
    if (!status)
        r->bytes = tide_get64(state);
    return status;
}
