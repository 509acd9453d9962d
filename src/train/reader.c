/* reader.c - from the bytes of a source to words.
 *
 *     bytes ──► records ──text──► tokenizer ──words──► phrases ──► words
 *               JSON, CSV, TSV                         --phrases
 *
 * What is not asked for is not there: plain lines go straight into the tokenizer. The list of stop
 * words is kept in the model file, so that a model goes on with the words it began with, wherever
 * the list has gone.
 */
#include "train/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { STOP_WORDS_MAX = 16 << 20, STATE_NUMBERS = 2 };

struct tide_reader {
    const tide_params *params;
    tide_records *records; /* NULL for plain lines */
    tide_tokenizer *tokenizer;
    tide_phrases *phrases; /* NULL without */
    char *stop_words;      /* NULL without */
    uint64_t bytes;        /* fed */

    const char *text; /* of a record, on its way into the tokenizer */
    size_t text_left;
    bool ending; /* the text ends after what is left */
};

/* -- making ------------------------------------------------------------------------------------------ */

uint64_t tide_reader_bytes(const tide_params *params)
{
    tide_tokenizer_options options = tide_params_tokenizer(params, NULL);
    uint64_t records = params->records == TIDE_RECORDS_LINES ? 0 : tide_records_bytes();
    return sizeof(tide_reader) + tide_tokenizer_bytes(&options) + records;
}

static char *read_list(const char *path, tide_error *err)
{
    FILE *file = fopen(path, "rb");
    struct stat status = {0};
    size_t room = file && !fstat(fileno(file), &status) && status.st_size > 0
                      ? (size_t)status.st_size
                      : 0;
    room = room < STOP_WORDS_MAX ? room : STOP_WORDS_MAX;
    char *list = file ? tide_alloc(room + 1, 1) : NULL;
    size_t size = list ? fread(list, 1, room + 1, file) : 0;
    int cause = !file || (list && ferror(file)) ? errno : 0;
    if (file)
        fclose(file);
    if (list && !cause && size <= room) {
        list[size] = 0;
        return list;
    }
    free(list);
    if (cause)
        tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path, strerror(cause));
    else if (size)
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "%s: stop words must be a file of at most 16 MiB", path);
    else
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the stop words");
    return NULL;
}

static char *copy_list(const char *list, tide_error *err)
{
    size_t size = strlen(list) + 1;
    char *copy = tide_alloc(size, 1);
    if (copy)
        memcpy(copy, list, size);
    else
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the stop words");
    return copy;
}

static char *load_list(tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, "stop-words", err);
    if (size < 0)
        return NULL;
    char *list = size <= STOP_WORDS_MAX ? tide_alloc((size_t)size + 1, 1) : NULL;
    if (!list) {
        tide_fail(err, TIDE_ERROR_FORMAT, "%s: section stop-words is too large",
                  tide_store_path(store));
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
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a reader");
        return NULL;
    }
    r->params = params;
    if (*params->stop_words) {
        r->stop_words = store               ? load_list(store, err)
                        : params->stop_list ? copy_list(params->stop_list, err)
                                            : read_list(params->stop_words, err);
        if (!r->stop_words)
            goto failed;
    }
    if (params->records != TIDE_RECORDS_LINES) {
        tide_record_options options = tide_params_records(params);
        r->records = tide_records_new(&options, err);
        if (!r->records)
            goto failed;
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
    free(r->stop_words);
    free(r);
}

/* -- reading ------------------------------------------------------------------------------------------ */

size_t tide_reader_feed(tide_reader *r, const void *bytes, size_t size)
{
    size_t used = r->records ? tide_records_feed(r->records, bytes, size)
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

/* Gives the tokenizer more text, or the end of it. False when there is neither. */
static bool refill(tide_reader *r)
{
    if (!r->text_left && r->records)
        tide_records_take(r->records, &r->text, &r->text_left);
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

size_t tide_reader_take(tide_reader *r, tide_word *words, size_t room,
                        bool *sentence_ended)
{
    size_t count;
    do
        count = r->phrases
                    ? tide_phrases_take(r->phrases, r->tokenizer, words, room,
                                        sentence_ended)
                    : tide_tokenizer_take(r->tokenizer, words, room, sentence_ended);
    while (!count && !*sentence_ended && refill(r));
    return count;
}

bool tide_reader_between(const tide_reader *r)
{
    return !tide_tokenizer_pending(r->tokenizer) &&
           (!r->records || tide_records_between(r->records)) &&
           (!r->phrases || tide_phrases_between(r->phrases));
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

bool tide_reader_has_names(const tide_reader *r)
{
    return r->records && tide_records_named(r->records);
}

bool tide_reader_names_due(const tide_reader *r)
{
    return r->records && tide_records_names_due(r->records);
}

/* -- sections reader, stop-words, and those of the parts ----------------------------------------------- */

/* The state of records is good for the same fields only. */
static uint64_t fields_hash(const tide_params *params)
{
    uint64_t hash = tide_hash(params->text, strlen(params->text), params->records);
    hash = tide_hash(params->time, strlen(params->time), hash);
    return tide_hash(params->label, strlen(params->label), hash);
}

/* Bytes fed, and a hash of what records are. */
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
    if (!status && r->records && tide_get64(state + 8) == fields_hash(r->params))
        status = tide_records_load(r->records, store, err);
    if (!status)
        r->bytes = tide_get64(state);
    return status;
}
