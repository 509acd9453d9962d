/* params.c - THE table of parameters, and the profiles.
 *
 * Flags of the command, tide_params_set, the params section of a model file and the lists in the
 * documents all come from the one table below. A profile is a list of settings in the same words.
 */
#include "train/parts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

typedef enum kind { COUNT, SIZE, REAL, CHOICE } kind;

/* How the parameter with the same place in `infos` is read and kept. */
typedef struct row {
    size_t offset;
    double least, most;
    kind kind;
    bool local; /* about this run, not about the result: not kept in the file */
} row;

#define AT(FIELD) offsetof(tide_params, FIELD)
#define MOST_TOKENS 9e18

/* ROW(kind, field, least, most, local, name, aliases, values, initial, help, group, on_resume) */
#define PARAMETERS(ROW)                                                                \
    ROW(CHOICE, profile, 0, 0, false, "profile", "",                                   \
        "default|fast|paper|athena|incremental|word2vec", "default",                   \
        "the whole recipe; other options change parts of it", "Recipe", false)         \
    ROW(COUNT, vocab, 1, TIDE_CAPACITY_MAX, false, "vocab",                            \
        "vocab-size max-vocab-size", "1..1073741824", "70000",                         \
        "words to hold at any time", "Size", false)                                    \
    ROW(COUNT, dim, 1, TIDE_DIM_MAX, false, "dim", "size vector-size", "1..4096",      \
        "100", "numbers in a vector", "Size", false)                                   \
    ROW(SIZE, memory, 0, 1e15, true, "memory", "max-memory",                           \
        "bytes, as 512M or 2G; 0 for any", "0", "hold as many words as fit into this", \
        "Size", true)                                                                  \
    ROW(COUNT, threads, 1, 256, true, "threads", "thread workers", "1..256", "1",      \
        "threads; with 1 the result depends on text and seed alone", "Size", true)     \
    ROW(COUNT, seed, 0, MOST_TOKENS, false, "seed", "", "0..9e18", "1",                \
        "of everything random", "Size", false)                                         \
    ROW(COUNT, window, 1, WINDOW_MAX, false, "window", "ws", "1..64", "8",             \
        "how far a context may be from its word", "Contexts", false)                   \
    ROW(CHOICE, contexts, 0, 0, false, "contexts", "", "weighted|dynamic|full",        \
        "weighted",                                                                    \
        "all in the window weighted by 1/distance, a random width, or whole windows "  \
        "only",                                                                        \
        "Contexts", false)                                                             \
    ROW(REAL, sample, 0, 1, false, "sample", "t", "0..1, 0 for off", "0.0001",         \
        "words more frequent than this are thinned out", "Contexts", true)             \
    ROW(CHOICE, keep, 0, 0, false, "keep", "", "word2vec|root", "word2vec",            \
        "chance to stay: (sqrt(f)+1)/f or 1/sqrt(f), f = frequency/sample",            \
        "Contexts", false)                                                             \
    ROW(CHOICE, counting, 0, 0, false, "counting", "", "all|kept", "all",              \
        "count every token, or only those that stay", "Contexts", false)               \
    ROW(CHOICE, vocabulary, 0, 0, false, "vocabulary", "",                             \
        "space-saving|misra-gries|exact", "space-saving", "which words are held",      \
        "Vocabulary", false)                                                           \
    ROW(CHOICE, admission, 0, 0, false, "admission", "", "none|gate", "gate",          \
        "space-saving: a newcomer takes a slot at once, or once it beats the "         \
        "smallest count",                                                              \
        "Vocabulary", false)                                                           \
    ROW(COUNT, half_life, 0, MOST_TOKENS, false, "half-life", "",                      \
        "tokens, 0 for never", "0",                                                    \
        "halve all counts every so many tokens, to follow a drifting stream",          \
        "Vocabulary", false)                                                           \
    ROW(COUNT, negative, 0, NEGATIVE_MAX, false, "negative", "neg", "0..64", "5",      \
        "negatives for each pair", "Negatives", false)                                 \
    ROW(CHOICE, negatives, 0, 0, false, "negatives", "", "shared|pair", "shared",      \
        "shared by neighbouring words, or drawn for each pair", "Negatives", false)    \
    ROW(CHOICE, exclude, 0, 0, false, "exclude", "", "no|yes", "yes",                  \
        "do not use a context as its own negative", "Negatives", false)                \
    ROW(CHOICE, sampler, 0, 0, false, "sampler", "", "alias|reservoir|smoothed",       \
        "alias", "draw from counts^power, a sample of the stream, or a smoothed one",  \
        "Negatives", false)                                                            \
    ROW(REAL, power, 0, 1, false, "power", "ns-exponent", "0..1", "0.75",              \
        "smoothing of the negatives", "Negatives", false)                              \
    ROW(COUNT, reservoir, 1, 4294967296.0, false, "reservoir", "", "1..2^32",          \
        "10000000", "entries of the reservoirs", "Negatives", false)                   \
    ROW(CHOICE, rate, 0, 0, false, "rate", "",                                         \
        "adagrad|coordinate|linear|power|constant", "adagrad",                         \
        "how steps shrink: by a row's gradients, by a coordinate's, by a slot's age, " \
        "or not",                                                                      \
        "Learning", false)                                                             \
    ROW(REAL, alpha, 1e-9, 10, false, "alpha", "lr", "1e-9..10", "0.3",                \
        "learning rate", "Learning", true)                                             \
    ROW(REAL, alpha_output, 1e-6, 10, false, "alpha-output", "", "1e-6..10", "0.2",    \
        "the same for output vectors, as a part of alpha", "Learning", true)           \
    ROW(REAL, alpha_first, 1e-6, 10, false, "alpha-first", "", "1e-6..10", "0.3",      \
        "adagrad: the first step of a new word", "Learning", true)                     \
    ROW(REAL, min_alpha, 0, 1, false, "min-alpha", "", "0..1", "0",                    \
        "no step is smaller than this", "Learning", true)                              \
    ROW(COUNT, rate_half_life, 0, MOST_TOKENS, false, "rate-half-life", "",            \
        "tokens, 50 or more; 0 for never", "100000000",                                \
        "adagrad: forget half of the old gradients after so many tokens", "Learning",  \
        true)                                                                          \
    ROW(REAL, tau, 1, 1e18, false, "tau", "", "1..1e18", "100",                        \
        "linear, power: the age at which rates have fallen", "Learning", true)         \
    ROW(CHOICE, age, 0, 0, false, "age", "", "pair|centre", "pair",                    \
        "linear: a slot ages with every pair, or as a centre word only", "Learning",   \
        false)                                                                         \
    ROW(CHOICE, gradient, 0, 0, false, "gradient", "", "before|after", "before",       \
        "input vectors follow output vectors before or after these moved", "Learning", \
        false)                                                                         \
    ROW(CHOICE, init, 0, 0, false, "init", "", "small|uniform|normal|both", "small",   \
        "first vectors: +-0.5/dim and 0, +-0.5 and 0, N(0,1) twice, +-0.5/dim twice",  \
        "Learning", false)                                                             \
    ROW(COUNT, replay, 1, 100, false, "replay", "", "1..100", "3",                     \
        "how often a sentence is trained in all", "Replay", false)                     \
    ROW(COUNT, replay_ring, 2 * SENTENCE_MAX, 1e11, false, "replay-ring", "",          \
        "2000..1e11", "4000000", "tokens of the past kept for it", "Replay", false)    \
    ROW(COUNT, replay_fade, 0, MOST_TOKENS, false, "replay-fade", "",                  \
        "tokens, 0 for never", "50000000",                                             \
        "after so many tokens repeats become rarer", "Replay", true)                   \
    ROW(COUNT, subword, 0, TIDE_CAPACITY_MAX, false, "subword", "bucket",              \
        "0..1073741824", "0",                                                          \
        "rows for character n-grams: vectors for unseen words too", "Subwords", false) \
    ROW(COUNT, minn, 1, TIDE_SUBWORD_LENGTH_MAX, false, "minn", "min-n", "1..8", "3",  \
        "shortest n-gram", "Subwords", false)                                          \
    ROW(COUNT, maxn, 1, TIDE_SUBWORD_LENGTH_MAX, false, "maxn", "max-n", "1..8", "5",  \
        "longest n-gram", "Subwords", false)

#define INFO(KIND, FIELD, LEAST, MOST, LOCAL, ...) {__VA_ARGS__},
#define RULE(KIND, FIELD, LEAST, MOST, LOCAL, ...)                                     \
    {offsetof(tide_params, FIELD), LEAST, MOST, KIND, LOCAL},

static const tide_param_info infos[] = {PARAMETERS(INFO)};
static const row table[] = {PARAMETERS(RULE)};

enum { ROWS = sizeof table / sizeof table[0] };

/* What differs from profile default. */
static const char *const profiles[] = {
    [PROFILE_DEFAULT] = "",
    [PROFILE_FAST] = "alpha=0.35 alpha-output=0.5 replay=1",
    [PROFILE_PAPER] =
        ("window=5 contexts=full sample=0.001 keep=root counting=kept "
         "admission=none negatives=pair exclude=no sampler=reservoir rate=linear "
         "alpha=0.025 alpha-output=1 min-alpha=0.0000025 tau=17000000 "
         "gradient=after init=normal replay=1 reservoir=100000000"),
    [PROFILE_ATHENA] =
        ("window=5 contexts=dynamic sample=0.001 keep=root admission=none "
         "negatives=pair exclude=no sampler=reservoir rate=linear alpha=0.025 "
         "alpha-output=1 min-alpha=0.0000025 tau=17000000 age=centre "
         "init=uniform replay=1 reservoir=100000000"),
    [PROFILE_INCREMENTAL] =
        ("window=5 contexts=dynamic sample=0.001 vocabulary=misra-gries "
         "admission=none negatives=pair exclude=no sampler=smoothed "
         "rate=coordinate alpha=0.1 init=both replay=1"),
    [PROFILE_WORD2VEC] =
        ("window=5 contexts=dynamic sample=0.001 negatives=pair rate=constant "
         "alpha=0.025 alpha-output=1 replay=1"),
};

/* -- one value ------------------------------------------------------------------------------------- */

static bool named(const tide_param_info *info, const char *name)
{
    if (!strcmp(info->name, name))
        return true;
    size_t length = strlen(name);
    for (const char *alias = info->aliases; *alias;) {
        size_t size = strcspn(alias, " ");
        if (size == length && !strncmp(alias, name, size))
            return true;
        alias += size + strspn(alias + size, " ");
    }
    return false;
}

static const row *find_row(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (named(&infos[i], name))
            return &table[i];
    return NULL;
}

static const tide_param_info *info_of(const row *r)
{
    return &infos[r - table];
}

static uint64_t *number_at(const tide_params *params, const row *r)
{
    return (uint64_t *)(void *)((char *)params + r->offset);
}

static double *real_at(const tide_params *params, const row *r)
{
    return (double *)(void *)((char *)params + r->offset);
}

/* The choice number `index` of "a|b|c"; returns its length, 0 past the last. */
static int choice(const char *values, uint64_t index, const char **start)
{
    for (; index; index--) {
        values += strcspn(values, "|");
        if (!*values++)
            return 0;
    }
    *start = values;
    return (int)strcspn(values, "|");
}

static int set_choice(tide_params *params, const row *r, const char *value)
{
    const char *start;
    for (uint64_t i = 0;; i++) {
        int length = choice(info_of(r)->values, i, &start);
        if (!length)
            return -1;
        if ((size_t)length == strlen(value) && !strncmp(start, value, (size_t)length)) {
            *number_at(params, r) = i;
            return 0;
        }
    }
}

/* A number, with k, M or G behind it: powers of 1024 for sizes, of 1000 for the rest. */
static int read_number(const row *r, const char *value, double *number)
{
    if (!isdigit((unsigned char)*value) && *value != '.')
        return -1;
    char *end;
    errno = 0;
    *number = strtod(value, &end);
    static const char units[] = "kMGT";
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    if (unit && r->kind != REAL) {
        *number *= pow(r->kind == SIZE ? 1024 : 1000, (double)(unit - units + 1));
        end++;
        if (r->kind == SIZE && !strcmp(end, "iB"))
            end += 2;
        else if (r->kind == SIZE && !strcmp(end, "B"))
            end++;
    }
    return *end || errno ? -1 : 0;
}

/* Whole numbers that a double cannot hold exactly are read digit by digit. */
static int set_number(tide_params *params, const row *r, const char *value)
{
    double number;
    if (read_number(r, value, &number) || !(number >= r->least && number <= r->most))
        return -1;
    if (r->kind == REAL) {
        *real_at(params, r) = number;
        return 0;
    }
    if (number != floor(number) && r->kind != SIZE)
        return -1;
    bool digits = value[strspn(value, "0123456789")] == 0;
    *number_at(params, r) = digits ? strtoull(value, NULL, 10) : (uint64_t)number;
    return 0;
}

static int apply_profile(tide_params *params, uint64_t profile, tide_error *err);

int tide_params_set(tide_params *params, const char *name, const char *value,
                    tide_error *err)
{
    const row *r = find_row(name);
    if (!r)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "there is no parameter '%s'", name);
    int bad =
        r->kind == CHOICE ? set_choice(params, r, value) : set_number(params, r, value);
    if (bad)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "--%s '%s': must be %s",
                         info_of(r)->name, value, info_of(r)->values);
    if (r->offset == AT(vocab))
        params->vocab_given = true;
    if (r->offset == AT(profile))
        return apply_profile(params, params->profile, err);
    return TIDE_OK;
}

/* With as few digits as tell it from every other number. */
static int print_real(char *text, size_t room, double value)
{
    if (value == floor(value) && value < 1e15)
        return snprintf(text, room, "%.0f", value);
    int length = 0;
    for (int digits = 6; digits <= 17; digits++) {
        length = snprintf(text, room, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return length;
}

int tide_params_text(const tide_params *params, const char *name, char *text,
                     size_t room)
{
    const row *r = find_row(name);
    if (!r)
        return TIDE_ERROR_PARAMETER;
    const char *start = "";
    switch (r->kind) {
    case CHOICE: {
        int length = choice(info_of(r)->values, *number_at(params, r), &start);
        return snprintf(text, room, "%.*s", length, start);
    }
    case REAL:
        return print_real(text, room, *real_at(params, r));
    default:
        return snprintf(text, room, "%llu", (unsigned long long)*number_at(params, r));
    }
}

bool tide_params_on_resume(const char *name)
{
    const row *r = find_row(name);
    return r && info_of(r)->on_resume;
}

/* -- all of them -------------------------------------------------------------------------------------- */

const tide_param_info *tide_params_table(size_t *count)
{
    *count = ROWS;
    return infos;
}

static int set_defaults(tide_params *params, tide_error *err)
{
    for (int i = 1; i < ROWS; i++) {
        if (table[i].local)
            continue;
        int status = tide_params_set(params, infos[i].name, infos[i].initial, err);
        if (status)
            return status;
    }
    params->vocab_given = false;
    return TIDE_OK;
}

static int apply_profile(tide_params *params, uint64_t profile, tide_error *err)
{
    int status = set_defaults(params, err);
    for (const char *p = profiles[profile]; *p && !status;) {
        char name[32], value[32];
        int used = 0;
        sscanf(p, "%31[^=]=%31s %n", name, value, &used);
        status = tide_params_set(params, name, value, err);
        p += used;
    }
    return status;
}

tide_params *tide_params_new(tide_error *err)
{
    tide_params *params = tide_alloc(1, sizeof *params);
    if (!params) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for parameters");
        return NULL;
    }
    params->threads = 1;
    if (apply_profile(params, PROFILE_DEFAULT, err)) {
        tide_params_free(params);
        return NULL;
    }
    return params;
}

void tide_params_free(tide_params *params)
{
    free(params);
}

char *tide_params_print(const tide_params *params)
{
    enum { LINE = 96 };
    char *text = tide_alloc(ROWS, LINE);
    if (!text)
        return NULL;
    size_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        char value[64];
        if (table[i].local)
            continue;
        tide_params_text(params, infos[i].name, value, sizeof value);
        at += (size_t)sprintf(text + at, "%s %s\n", infos[i].name, value);
    }
    return text;
}

static int unreadable(tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "the parameters are not readable");
}

/* The text must be what printing the result gives, so that no parameter silently takes a default. */
int tide_params_scan(tide_params *params, const char *text, tide_error *err)
{
    for (const char *at = text; *at;) {
        char name[32], value[64];
        int used = 0;
        if (sscanf(at, "%31s %63s%n", name, value, &used) != 2 || at[used] != '\n')
            return unreadable(err);
        const row *r = find_row(name);
        if (!r || r->local || tide_params_set(params, name, value, err))
            return tide_fail(err, TIDE_ERROR_FORMAT, "parameter '%s %s' is unknown",
                             name, value);
        at += used + 1;
    }
    char *again = tide_params_print(params);
    if (!again)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for parameters");
    bool same = !strcmp(text, again);
    free(again);
    return same ? TIDE_OK : unreadable(err);
}

/* -- what follows from them ------------------------------------------------------------------------- */

tide_shape tide_params_shape(const tide_params *params)
{
    return (tide_shape){
        .vocabulary = {.kind = (tide_vocabulary_kind)params->vocabulary,
                       .capacity = (uint32_t)params->vocab,
                       .gate = params->vocabulary == TIDE_VOCABULARY_SPACE_SAVING &&
                               params->admission,
                       .half_life = params->half_life,
                       .seed = params->seed},
        .dim = (uint32_t)params->dim,
        .subwords = {(uint32_t)params->subword, (uint32_t)params->minn,
                     (uint32_t)params->maxn},
    };
}

tide_sampler_options tide_params_sampler(const tide_params *params)
{
    return (tide_sampler_options){.kind = (tide_sampler_kind)params->sampler,
                                  .capacity = (uint32_t)params->vocab,
                                  .power = (float)params->power,
                                  .reservoir_size = params->reservoir,
                                  .seed = params->seed};
}

static int check_together(const tide_params *p, tide_error *err)
{
    if (p->rate_half_life && p->rate_half_life < RATE_HALF_LIFE_LEAST)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "--rate-half-life must be 0 or at least %d",
                         RATE_HALF_LIFE_LEAST);
    if (p->minn > p->maxn)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "--minn must not be above --maxn");
    if (p->rate == RATE_COORDINATE && (p->subword || p->negatives != NEGATIVES_PAIR))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "--rate coordinate needs --negatives pair and no --subword");
    if (p->gradient == GRADIENT_AFTER &&
        (p->negatives != NEGATIVES_PAIR || p->subword || p->rate == RATE_COORDINATE ||
         p->rate == RATE_ADAGRAD))
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "--gradient after needs --negatives pair, no --subword, and --rate "
            "linear, power or constant");
    if (p->half_life && p->vocabulary != TIDE_VOCABULARY_SPACE_SAVING)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "--half-life needs --vocabulary space-saving");
    return TIDE_OK;
}

/* The largest vocabulary that the memory holds, by bisection of a budget that only grows. */
static int fit_memory(tide_params *params, tide_error *err)
{
    uint64_t least = 1, most = TIDE_CAPACITY_MAX;
    while (least < most) {
        params->vocab = (least + most + 1) / 2;
        if (tide_params_total(params) <= params->memory)
            least = params->vocab;
        else
            most = params->vocab - 1;
    }
    params->vocab = least;
    if (tide_params_total(params) > params->memory)
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "--memory %llu is too little: all but the words needs %llu bytes",
            (unsigned long long)params->memory,
            (unsigned long long)tide_params_total(params));
    return TIDE_OK;
}

int tide_params_settle(tide_params *params, tide_error *err)
{
    int status = check_together(params, err);
    if (!status && params->memory && !params->vocab_given)
        status = fit_memory(params, err);
    else if (!status && params->memory && tide_params_total(params) > params->memory)
        status = tide_fail(err, TIDE_ERROR_PARAMETER,
                           "--vocab %llu needs %llu bytes, more than --memory allows",
                           (unsigned long long)params->vocab,
                           (unsigned long long)tide_params_total(params));
    params->vocab_given = true;
    return status;
}
