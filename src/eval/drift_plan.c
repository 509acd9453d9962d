/* drift_plan.c - which words of a text change, and how.
 *
 * Words of medium frequency, from the 100th on, are paired with the next word by count:
 * the words of a pair are about equally frequent, so that only their contexts
 * distinguish them. The pairs are shuffled. The first ones are swapped, the next ones
 * swapped gradually; in others, one word is replaced by a new word in half of its
 * occurrences, or disappears, and the second stays unchanged. At least half of the
 * words stay unchanged, as a reference for the measurements.
 *
 * The choice depends on the text and the seed parameter only, so that every profile
 * gets the same task.
 */
#include "eval/eval.h"
#include "params/params.h"
#include "source/source.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum {
    FIRST_RANK = 100,
    COUNT_MIN = 100, /* occurrences of an eligible word */
    WORDS_DEFAULT = 200,
    WORDS_MAX = 1 << 16,
    UNCHANGED_MAX = 10000,
    NAME_DIGITS = 10,
};

typedef struct pool {
    uint32_t first; /* rank of the first word of the first pair */
    /* [count] shuffled; pair i has the ranks first + 2i and the next */
    uint32_t *pairs;
    uint32_t count;
    uint32_t words_per_event; /* even, since swaps take two */
} pool;

/* -- choosing ---------------------------------------------------------------------- */

static uint64_t number_param(const tide_params *params, const char *name)
{
    char text[32];
    tide_params_text(params, name, text, sizeof text);
    return strtoull(text, NULL, 10);
}

/* Whether a word is frequent enough to be learned, and certainly held by a vocabulary
 * of this size. */
static bool is_eligible(const tide_drift_plan *plan, size_t rank, uint64_t vocab)
{
    return rank < tide_counts_size(plan->counts) && rank < vocab / 2 &&
           rank < UINT32_MAX / 2 &&
           tide_counts_at(plan->counts, rank).count >= COUNT_MIN;
}

static void shuffle(uint32_t *items, uint32_t count, tide_rng *rng)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = i + (uint32_t)tide_rng_below(rng, count - i), item = items[i];
        items[i] = items[other];
        items[other] = item;
    }
}

static int pool_init(pool *p, tide_drift_plan *plan, const tide_params *params,
                     uint32_t words, tide_error *err)
{
    size_t types = tide_counts_size(plan->counts);
    uint64_t vocab = number_param(params, "vocab");
    p->first = (uint32_t)(types / 10 < FIRST_RANK ? types / 10 : FIRST_RANK);
    while (is_eligible(plan, p->first + 2 * (size_t)p->count + 1, vocab))
        p->count++;
    words = words ? words : WORDS_DEFAULT;
    words = words < WORDS_MAX ? words + words % 2 : WORDS_MAX;
    p->words_per_event = words < p->count / 4 ? words : (p->count / 4) & ~1u;
    if (!p->words_per_event)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "the text has too few words of medium frequency: %u that "
                         "occur at least %d times, after the %u most frequent",
                         2 * p->count, COUNT_MIN, p->first);
    p->pairs = tide_alloc(p->count, sizeof *p->pairs);
    if (!p->pairs)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the drift experiment");
    for (uint32_t i = 0; i < p->count; i++)
        p->pairs[i] = i;
    shuffle(p->pairs, p->count, &plan->rng);
    return TIDE_OK;
}

/* -- names of new words ------------------------------------------------------------ */

/* Finds a prefix that no word of the text has. One pass over the words is enough, since
 * the prefix only gets longer. */
static int find_name_prefix(const tide_drift_plan *plan, char name[TIDE_WORD_MAX + 1],
                            tide_error *err)
{
    size_t length = (size_t)snprintf(name, TIDE_WORD_MAX + 1, "newcomer");
    for (size_t rank = 0; rank < tide_counts_size(plan->counts); rank++)
        while (!strncmp(tide_counts_at(plan->counts, rank).word, name, length)) {
            if (length + 1 + NAME_DIGITS > TIDE_WORD_MAX)
                return tide_fail(err, TIDE_ERROR_INPUT,
                                 "the words of the text leave no name for new words");
            name[length++] = '_';
            name[length] = 0;
        }
    return TIDE_OK;
}

static int name_new_words(tide_drift_plan *plan, uint32_t count, tide_error *err)
{
    char name[TIDE_WORD_MAX + 1];
    int status = find_name_prefix(plan, name, err);
    plan->names = status ? NULL : tide_alloc(count, sizeof *plan->names);
    if (!status && !plan->names)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for new words");
    for (uint32_t i = 0; i < count && !status; i++)
        snprintf(plan->names[i], sizeof plan->names[i], "%.*s%u",
                 TIDE_WORD_MAX - NAME_DIGITS, name, i);
    return status;
}

/* -- the plan ---------------------------------------------------------------------- */

static void add_change(tide_drift_plan *plan, const char *text, tide_drift_event event,
                       uint32_t other, bool measured)
{
    tide_index_add(plan->index, text);
    plan->words[plan->unchanged + plan->changing] = text;
    plan->changes[plan->changing++] = (tide_word_change){event, other, measured};
}

/* Two words that turn into each other. */
static void add_exchange(tide_drift_plan *plan, const char *one, const char *other,
                         tide_drift_event event)
{
    uint32_t number = plan->changing;
    add_change(plan, one, event, number + 1, true);
    add_change(plan, other, event, number, true);
}

/* A word that is partly replaced, and the new word that replaces it. */
static void add_birth(tide_drift_plan *plan, const char *source, const char *new_word)
{
    uint32_t number = plan->changing;
    add_change(plan, source, TIDE_DRIFT_BORN, number + 1, false);
    add_change(plan, new_word, TIDE_DRIFT_BORN, number, true);
}

static void choose_changes(tide_drift_plan *plan, const pool *p)
{
    const uint32_t *pair = p->pairs;
    for (uint32_t i = 0; i < 3 * p->words_per_event; i++, pair++) {
        size_t rank = p->first + 2 * (size_t)*pair;
        const char *one = tide_counts_at(plan->counts, rank).word;
        const char *other = tide_counts_at(plan->counts, rank + 1).word;
        if (i < p->words_per_event / 2)
            add_exchange(plan, one, other, TIDE_DRIFT_SWAP);
        else if (i < p->words_per_event)
            add_exchange(plan, one, other, TIDE_DRIFT_GRADUAL);
        else if (i < 2 * p->words_per_event)
            add_birth(plan, one, plan->names[i - p->words_per_event]);
        else
            add_change(plan, one, TIDE_DRIFT_DEAD, plan->changing, true);
    }
}

/* Lists the unchanged words. The changing ones are already in the array, after space
 * for UNCHANGED_MAX words, and are moved up to follow the unchanged. */
static void list_unchanged(tide_drift_plan *plan)
{
    uint32_t capacity = plan->unchanged, count = 0;
    for (size_t rank = 0; rank < tide_counts_size(plan->counts) && count < capacity;
         rank++) {
        const char *text = tide_counts_at(plan->counts, rank).word;
        if (tide_index_find(plan->index, text) == TIDE_NO_SLOT)
            plan->words[count++] = text;
    }
    memmove(plan->words + count, plan->words + capacity,
            plan->changing * sizeof *plan->words);
    plan->unchanged = count;
}

static int choose_words(tide_drift_plan *plan, const pool *p, tide_error *err)
{
    uint32_t changing_max = 5 * p->words_per_event;
    size_t types = tide_counts_size(plan->counts);
    plan->unchanged = (uint32_t)(types < UNCHANGED_MAX ? types : UNCHANGED_MAX);
    plan->words = tide_alloc(plan->unchanged + changing_max, sizeof *plan->words);
    plan->changes = tide_alloc(changing_max, sizeof *plan->changes);
    plan->index = tide_index_new(changing_max, err);
    if (!plan->words || !plan->changes || !plan->index)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the drift experiment");
    int status = name_new_words(plan, p->words_per_event, err);
    if (!status) {
        choose_changes(plan, p);
        list_unchanged(plan);
    }
    return status;
}

static int set_times(tide_drift_plan *plan, const tide_drift_options *options,
                     tide_error *err)
{
    plan->tokens = tide_counts_tokens(plan->counts);
    plan->at = options->at ? options->at : plan->tokens / 2;
    if (plan->at >= plan->tokens)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the moment of change (token %llu) is not within the text of "
                         "%llu tokens",
                         (unsigned long long)plan->at,
                         (unsigned long long)plan->tokens);
    uint64_t left = plan->tokens - plan->at;
    plan->over = options->over ? options->over : left / 2 + 1;
    plan->every = options->every ? options->every : left / 40 + 1;
    return TIDE_OK;
}

/* Rejects sources that cannot be read twice before reading any of them. */
static int check_sources(const tide_drift_options *options, tide_error *err)
{
    for (size_t i = 0; i < options->source_count; i++) {
        tide_source *source = tide_source_open(options->sources[i], err);
        if (!source)
            return (int)err->status;
        bool readable_twice = tide_source_can_resume(source);
        tide_source_close(source);
        if (!readable_twice)
            return tide_fail(err, TIDE_ERROR_PARAMETER,
                             "%s: cannot be read twice; a regular file is needed",
                             options->sources[i]);
    }
    return TIDE_OK;
}

static int plan_init(tide_drift_plan *plan, const tide_params *params,
                     const tide_drift_options *options, tide_error *err)
{
    const tide_run run = {.size = sizeof(tide_run),
                          .sources = options->sources,
                          .source_count = options->source_count};
    pool p = {0};
    int status = check_sources(options, err);
    if (status)
        return status;
    status = tide_counts_new(params, &run, &plan->counts, err);
    if (status)
        return status;
    plan->rng = tide_rng_seeded(tide_mix(number_param(params, "seed"), UINT64_MAX / 3));
    status = set_times(plan, options, err);
    if (!status)
        status = pool_init(&p, plan, params, options->words, err);
    if (!status)
        status = choose_words(plan, &p, err);
    free(p.pairs);
    return status;
}

tide_drift_plan *tide_drift_plan_new(const tide_params *params,
                                     const tide_drift_options *options, tide_error *err)
{
    tide_drift_plan *plan = tide_alloc(1, sizeof *plan);
    if (!plan) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the drift experiment");
        return NULL;
    }
    if (!plan_init(plan, params, options, err))
        return plan;
    tide_drift_plan_free(plan);
    return NULL;
}

void tide_drift_plan_free(tide_drift_plan *plan)
{
    if (!plan)
        return;
    tide_vocabulary_free(plan->index);
    free(plan->changes);
    free(plan->words);
    free(plan->names);
    tide_counts_free(plan->counts);
    free(plan);
}

/* -- applying the changes ---------------------------------------------------------- */

static double change_probability(const tide_drift_plan *plan, tide_drift_event event,
                                 uint64_t since)
{
    double progress = (double)since / (double)plan->over;
    if (event == TIDE_DRIFT_GRADUAL)
        return progress < 1 ? progress : 1;
    return event == TIDE_DRIFT_BORN ? 0.5 : 1;
}

tide_word tide_drift_plan_apply(tide_drift_plan *plan, const tide_word *word,
                                uint64_t token)
{
    uint32_t number =
        token < plan->at ? TIDE_NO_SLOT : tide_vocabulary_find(plan->index, word);
    if (number == TIDE_NO_SLOT)
        return *word;
    const tide_word_change *change = &plan->changes[number];
    if (tide_rng_double(&plan->rng) >=
        change_probability(plan, change->event, token - plan->at))
        return *word;
    if (change->event == TIDE_DRIFT_DEAD)
        return (tide_word){word->bytes, 0};
    const char *other = plan->words[plan->unchanged + change->other];
    return (tide_word){other, (uint32_t)strlen(other)};
}
