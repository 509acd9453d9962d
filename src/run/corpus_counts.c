/* corpus_counts.c - exact counts of all words of a text.
 *
 * This is the ground truth for a bounded vocabulary, and the first pass of batch
 * training. Words are stored in an array in order of first occurrence and found through
 * an open-addressing hash table of indexes with linear probing, at most half full; both
 * double when full. The bytes of the words go into blocks that never move. At the end
 * the words are sorted by descending count.
 *
 * The hash is keyed with a secret of the process, so that no crafted text can cause
 * long probe sequences. No visible result depends on it.
 */
#include "params/params.h"
#include "reader/reader.h"
#include "run/run_internal.h"

#include <wordtide/eval.h>
#include <stdlib.h>

enum {
    FIRST_CAPACITY = 1 << 12, /* words */
    BLOCK_SIZE = 1 << 18,     /* bytes per block of word texts */
    READ_SIZE = 1 << 16,
    WORDS_PER_READ = 64,
};

typedef struct counted {
    const char *word; /* NUL-terminated */
    uint64_t count;
    uint32_t hash;
    uint32_t index; /* in order of first occurrence */
} counted;

typedef struct text_block {
    struct text_block *previous;
    size_t used;
    char bytes[BLOCK_SIZE + 16]; /* comparison may read 16 bytes past a word */
} text_block;

struct tide_counts {
    counted *words; /* [capacity] */
    size_t size, capacity;
    uint32_t *table; /* [2 * capacity] index of the word + 1; 0 if free */
    text_block *blocks;
    uint64_t tokens;
    uint64_t secret;
};

/* -- hash table ------------------------------------------------------------------- */

static int no_memory(const tide_counts *c, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to count more than %zu words",
                     c->size);
}

static uint32_t *find_free_entry(const tide_counts *c, uint32_t hash)
{
    size_t mask = 2 * c->capacity - 1, at = hash & mask;
    while (c->table[at])
        at = (at + 1) & mask;
    return &c->table[at];
}

/* Doubles the capacity. */
static int grow(tide_counts *c, tide_error *err)
{
    size_t capacity = c->capacity ? 2 * c->capacity : FIRST_CAPACITY;
    counted *words = capacity < UINT32_MAX ? tide_alloc(capacity, sizeof *words) : NULL;
    uint32_t *table = words ? tide_alloc(2 * capacity, sizeof *table) : NULL;
    if (!table) {
        free(words);
        return no_memory(c, err);
    }
    if (c->size)
        memcpy(words, c->words, c->size * sizeof *words);
    free(c->words);
    free(c->table);
    c->words = words;
    c->table = table;
    c->capacity = capacity;
    for (size_t i = 0; i < c->size; i++)
        *find_free_entry(c, words[i].hash) = (uint32_t)i + 1;
    return TIDE_OK;
}

static const char *store_text(tide_counts *c, const tide_word *word)
{
    if (!c->blocks || BLOCK_SIZE - c->blocks->used <= word->length) {
        text_block *block = tide_alloc(1, sizeof *block);
        if (!block)
            return NULL;
        block->previous = c->blocks;
        c->blocks = block;
    }
    char *text = c->blocks->bytes + c->blocks->used;
    memcpy(text, word->bytes, word->length);
    c->blocks->used += word->length + 1u;
    return text;
}

static int add_word(tide_counts *c, const tide_word *word, uint32_t hash,
                    tide_error *err)
{
    int status = c->size == c->capacity ? grow(c, err) : TIDE_OK;
    if (status)
        return status;
    const char *text = store_text(c, word);
    if (!text)
        return no_memory(c, err);
    uint32_t index = (uint32_t)c->size++;
    c->words[index] = (counted){text, 1, hash, index};
    *find_free_entry(c, hash) = index + 1;
    return TIDE_OK;
}

static bool matches(const counted *entry, const tide_word *word, uint32_t hash)
{
    return entry->hash == hash && !strncmp(entry->word, word->bytes, word->length) &&
           !entry->word[word->length];
}

static int count_word(tide_counts *c, const tide_word *word, tide_error *err)
{
    uint32_t hash = (uint32_t)tide_hash(word->bytes, word->length, c->secret);
    size_t mask = 2 * c->capacity - 1;
    c->tokens++;
    for (size_t at = hash & mask; c->table[at]; at = (at + 1) & mask) {
        counted *entry = &c->words[c->table[at] - 1];
        if (matches(entry, word, hash)) {
            entry->count++;
            return TIDE_OK;
        }
    }
    return add_word(c, word, hash, err);
}

/* -- reading ---------------------------------------------------------------------- */

typedef struct count_pass {
    tide_counts *counts;
    tide_reader *reader;
    const tide_params *params;
    tide_run_state run;
    uint64_t epochs; /* still to be trained */
    size_t source;   /* index of the open one */
} count_pass;

static int count_words(count_pass *c, tide_error *err)
{
    tide_word words[WORDS_PER_READ];
    bool ended;
    size_t count;
    while ((count = tide_reader_next(c->reader, words, WORDS_PER_READ, &ended)) ||
           ended)
        for (size_t i = 0; i < count; i++) {
            int status = count_word(c->counts, &words[i], err);
            if (status)
                return status;
        }
    return TIDE_OK;
}

static int count_bytes(count_pass *c, const char *bytes, size_t size, tide_error *err)
{
    int status = TIDE_OK;
    while (size && !status) {
        size_t used = tide_reader_feed(c->reader, bytes, size);
        bytes += used;
        size -= used;
        status = count_words(c, err);
    }
    return status;
}

static void report_progress(count_pass *c, const tide_source *source)
{
    const tide_run *run = c->run.run;
    if (!run->progress || !tide_run_progress_due(&c->run))
        return;
    tide_stats stats = {.tokens = c->counts->tokens,
                        .vocabulary = c->counts->size,
                        .epochs = c->epochs,
                        .done = tide_run_pass_fraction(&c->run, c->source, source)};
    tide_reader_stats(c->reader, &stats);
    run->progress(run->progress_data, &stats);
}

/* Returns 1 if stopped. */
static int read_open(count_pass *c, const tide_run_input *s, tide_error *err)
{
    char bytes[READ_SIZE];
    ptrdiff_t size = 0;
    int status = TIDE_OK;
    while (!status && (size = tide_source_read(s->source, bytes, READ_SIZE, err)) > 0) {
        status = count_bytes(c, bytes, (size_t)size, err);
        tide_run_report_source(&c->run, s);
        report_progress(c, s->source);
        if (tide_run_stop_requested(&c->run))
            return 1;
    }
    if (size < 0)
        return tide_run_stop_requested(&c->run) ? 1 : (int)size;
    tide_reader_end(c->reader);
    return status ? status : count_words(c, err);
}

static int read_source(count_pass *c, const char *spec, tide_error *err)
{
    tide_run_input input = {
        .spec = spec, .source = tide_run_open_stored(c->run.run, c->params, spec, err)};
    if (!input.source)
        return tide_run_stop_requested(&c->run) ? 1 : (int)err->status;
    int status = read_open(c, &input, err);
    const char *problem = tide_reader_problem(c->reader);
    if (problem)
        tide_run_note(&c->run, true, spec, problem);
    tide_source_close(input.source);
    return status;
}

static int read_all(tide_counts *counts, const tide_params *params, const tide_run *run,
                    tide_error *err)
{
    if (run->follow)
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "counting needs text with an end, which a followed source does not have");
    count_pass c = {counts,         tide_reader_new(params, NULL, err),
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

/* -- result ----------------------------------------------------------------------- */

static int by_rank(const void *left, const void *right)
{
    const counted *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

int tide_counts_new(const tide_params *params, const tide_run *given,
                    tide_counts **counts, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    *err = (tide_error){0};
    *counts = NULL;
    tide_run run;
    if (tide_run_copy(&run, given, err))
        return TIDE_ERROR_PARAMETER;
    tide_counts *c = tide_alloc(1, sizeof *c);
    if (!c)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to count words");
    c->secret = tide_secret();
    int status = grow(c, err);
    if (!status)
        status = read_all(c, params, &run, err);
    if (status > 0) /* stopped, possibly by a read that a signal interrupted */
        *err = (tide_error){0};
    if (status) {
        tide_counts_free(c);
        return status;
    }
    qsort(c->words, c->size, sizeof *c->words, by_rank);
    free(c->table);
    c->table = NULL;
    *counts = c;
    return TIDE_OK;
}

void tide_counts_free(tide_counts *c)
{
    if (!c)
        return;
    for (text_block *t = c->blocks, *previous; t; t = previous) {
        previous = t->previous;
        free(t);
    }
    free(c->table);
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
