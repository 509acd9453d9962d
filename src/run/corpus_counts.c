/* counts.c - all words of a text, counted exactly.
 *
 * The truth that a bounded vocabulary is judged by, and the first pass of batch training. Words stand
 * in an array in the order in which they came first, and are found through an open hash table of
 * their numbers, at most half full, with linear probing; both double when they are full. The bytes of
 * the words go into blocks that never move. At the end the words are sorted by falling count.
 *
 * The hash is keyed with a secret of the process, so that no text can be made to fall into one place;
 * nothing that can be seen depends on it.
 */
#include "params/params.h"
#include "reader/reader.h"
#include "run/run_internal.h"

#include <stdlib.h>

enum {
    FIRST_ROOM = 1 << 12, /* words */
    TEXT_ROOM = 1 << 18,  /* bytes of a block of texts */
    READ_SIZE = 1 << 16,
    TAKEN_AT_ONCE = 64,
};

typedef struct counted {
    const char *word; /* with a 0 after it */
    uint64_t count;
    uint32_t hash;
    uint32_t number; /* of those that came before it */
} counted;

typedef struct texts {
    struct texts *before;
    size_t used;
    char bytes[TEXT_ROOM + 16]; /* 16 bytes of every word can be read */
} texts;

struct tide_counts {
    counted *words; /* [room] */
    size_t size, room;
    uint32_t *cells; /* [2 * room] number of the word + 1; 0 for a free one */
    texts *texts;
    uint64_t tokens;
    uint64_t secret;
};

/* -- the table -------------------------------------------------------------------------------------- */

static int no_memory(const tide_counts *c, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to count more than %zu words",
                     c->size);
}

static uint32_t *free_cell(const tide_counts *c, uint32_t hash)
{
    size_t mask = 2 * c->room - 1, at = hash & mask;
    while (c->cells[at])
        at = (at + 1) & mask;
    return &c->cells[at];
}

/* Makes room for at least one word more. */
static int grow(tide_counts *c, tide_error *err)
{
    size_t room = c->room ? 2 * c->room : FIRST_ROOM;
    counted *words = room < UINT32_MAX ? tide_alloc(room, sizeof *words) : NULL;
    uint32_t *cells = words ? tide_alloc(2 * room, sizeof *cells) : NULL;
    if (!cells) {
        free(words);
        return no_memory(c, err);
    }
    if (c->size)
        memcpy(words, c->words, c->size * sizeof *words);
    free(c->words);
    free(c->cells);
    c->words = words;
    c->cells = cells;
    c->room = room;
    for (size_t i = 0; i < c->size; i++)
        *free_cell(c, words[i].hash) = (uint32_t)i + 1;
    return TIDE_OK;
}

static const char *keep_text(tide_counts *c, const tide_word *word)
{
    if (!c->texts || TEXT_ROOM - c->texts->used <= word->length) {
        texts *more = tide_alloc(1, sizeof *more);
        if (!more)
            return NULL;
        more->before = c->texts;
        c->texts = more;
    }
    char *text = c->texts->bytes + c->texts->used;
    memcpy(text, word->bytes, word->length);
    c->texts->used += word->length + 1u;
    return text;
}

static int add_new(tide_counts *c, const tide_word *word, uint32_t hash,
                   tide_error *err)
{
    int status = c->size == c->room ? grow(c, err) : TIDE_OK;
    if (status)
        return status;
    const char *text = keep_text(c, word);
    if (!text)
        return no_memory(c, err);
    uint32_t number = (uint32_t)c->size++;
    c->words[number] = (counted){text, 1, hash, number};
    *free_cell(c, hash) = number + 1;
    return TIDE_OK;
}

static bool is_word(const counted *known, const tide_word *word, uint32_t hash)
{
    return known->hash == hash && !strncmp(known->word, word->bytes, word->length) &&
           !known->word[word->length];
}

static int count_word(tide_counts *c, const tide_word *word, tide_error *err)
{
    uint32_t hash = (uint32_t)tide_hash(word->bytes, word->length, c->secret);
    size_t mask = 2 * c->room - 1;
    c->tokens++;
    for (size_t at = hash & mask; c->cells[at]; at = (at + 1) & mask) {
        counted *known = &c->words[c->cells[at] - 1];
        if (is_word(known, word, hash)) {
            known->count++;
            return TIDE_OK;
        }
    }
    return add_new(c, word, hash, err);
}

/* -- reading ---------------------------------------------------------------------------------------- */

typedef struct counting {
    tide_counts *counts;
    tide_reader *reader;
    const tide_params *params;
    tide_run_state running;
    uint64_t epochs; /* to come */
    size_t source;   /* the present one */
} counting;

static int take_words(counting *c, tide_error *err)
{
    tide_word words[TAKEN_AT_ONCE];
    bool ended;
    size_t count;
    while ((count = tide_reader_take(c->reader, words, TAKEN_AT_ONCE, &ended)) || ended)
        for (size_t i = 0; i < count; i++) {
            int status = count_word(c->counts, &words[i], err);
            if (status)
                return status;
        }
    return TIDE_OK;
}

static int feed(counting *c, const char *bytes, size_t size, tide_error *err)
{
    int status = TIDE_OK;
    while (size && !status) {
        size_t used = tide_reader_feed(c->reader, bytes, size);
        bytes += used;
        size -= used;
        status = take_words(c, err);
    }
    return status;
}

static void watch(counting *c, const tide_source *source)
{
    const tide_run *run = c->running.run;
    if (!run->watch || !tide_run_progress_due(&c->running))
        return;
    tide_stats stats = {.tokens = c->counts->tokens,
                        .vocabulary = c->counts->size,
                        .epochs = c->epochs,
                        .done = tide_run_pass_done(&c->running, c->source, source)};
    tide_reader_stats(c->reader, &stats);
    run->watch(run->watch_data, &stats);
}

/* Returns 1 when stopped. */
static int read_open(counting *c, const tide_reading *s, tide_error *err)
{
    char bytes[READ_SIZE];
    ptrdiff_t size = 0;
    int status = TIDE_OK;
    while (!status && (size = tide_source_read(s->source, bytes, READ_SIZE, err)) > 0) {
        status = feed(c, bytes, (size_t)size, err);
        tide_run_report_news(&c->running, s);
        watch(c, s->source);
        if (tide_run_stop_asked(&c->running))
            return 1;
    }
    if (size < 0)
        return tide_run_stop_asked(&c->running) ? 1 : (int)size;
    tide_reader_end(c->reader);
    return status ? status : take_words(c, err);
}

static int read_source(counting *c, const char *spec, tide_error *err)
{
    tide_reading reading = {
        .spec = spec,
        .source = tide_run_open_stored(c->running.run, c->params, spec, err)};
    if (!reading.source)
        return tide_run_stop_asked(&c->running) ? 1 : (int)err->status;
    int status = read_open(c, &reading, err);
    const char *problem = tide_reader_problem(c->reader);
    if (problem)
        tide_run_note(&c->running, true, spec, problem);
    tide_source_close(reading.source);
    return status;
}

static int read_all(tide_counts *counts, const tide_params *params, const tide_run *run,
                    tide_error *err)
{
    if (run->follow)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "words are counted to the end of the text, which a source "
                         "that is followed does not have");
    counting c = {counts,         tide_reader_new(params, NULL, err),
                  params,         {.run = run},
                  params->epochs, 0};
    if (!c.reader)
        return (int)err->status;
    int status = TIDE_OK;
    for (; c.source < run->source_count && !status; c.source++)
        status = read_source(&c, run->sources[c.source], err);
    tide_reader_free(c.reader);
    return status;
}

/* -- the result ------------------------------------------------------------------------------------- */

static int by_rank(const void *left, const void *right)
{
    const counted *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->number < b->number ? -1 : a->number > b->number;
}

tide_counts *tide_counts_new(const tide_params *params, const tide_run *run,
                             tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    *err = (tide_error){0};
    tide_counts *c = tide_alloc(1, sizeof *c);
    if (!c) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to count words");
        return NULL;
    }
    c->secret = tide_secret();
    int status = grow(c, err);
    if (!status)
        status = read_all(c, params, run, err);
    if (status > 0)
        *err = (tide_error){0}; /* stopped, be it by a read that a signal broke off */
    if (status) {
        tide_counts_free(c);
        return NULL;
    }
    qsort(c->words, c->size, sizeof *c->words, by_rank);
    free(c->cells);
    c->cells = NULL;
    return c;
}

void tide_counts_free(tide_counts *c)
{
    if (!c)
        return;
    for (texts *t = c->texts, *before; t; t = before) {
        before = t->before;
        free(t);
    }
    free(c->cells);
    free(c->words);
    free(c);
}

uint64_t tide_counts_tokens(const tide_counts *c)
{
    return c->tokens;
}

size_t tide_counts_size(const tide_counts *c)
{
    return c->size;
}

tide_entry tide_counts_at(const tide_counts *c, size_t rank)
{
    return (tide_entry){c->words[rank].word, c->words[rank].count, 0, (uint32_t)rank};
}
