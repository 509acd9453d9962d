/* test_params.c - the table of parameters, the profiles and the memory budget. */
#include "base/base.h"
#include "model/model.h"
#include "params/params.h"
#include "train/train.h"
#include "train_fixture.h"

#include <errno.h>

/* Counts what the library allocates. Replaces the C library's function. */
static uint64_t allocated;

int posix_memalign(void **block, size_t alignment, size_t size)
{
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    allocated += size;
    *block = aligned_alloc(alignment, rounded);
    return *block ? 0 : ENOMEM;
}

static const tide_param_info *table(size_t *count)
{
    const tide_param_info *infos = tide_params_table(count);
    assert_in_range(*count, 20, 100);
    return infos;
}

static const char *text_of(const tide_params *params, const char *name)
{
    static char text[64];
    assert_in_range(tide_params_text(params, name, text, sizeof text), 0, 63);
    return text;
}

static void assert_value(const char *settings, const char *name, const char *value)
{
    tide_params *params = params_of(settings);
    assert_string_equal(text_of(params, name), value);
    tide_params_free(params);
}

/* -- the table --------------------------------------------------------------------- */

static void every_default_is_the_one_in_the_table(void **state)
{
    (void)state;
    size_t count;
    const tide_param_info *infos = table(&count);
    tide_params *params = tide_params_new(NULL), *set = tide_params_new(NULL);
    for (size_t i = 0; i < count; i++) {
        char value[256];
        assert_int_equal(tide_params_set(set, infos[i].name, infos[i].initial, NULL),
                         TIDE_OK);
        snprintf(value, sizeof value, "%s", text_of(set, infos[i].name));
        assert_string_equal(text_of(params, infos[i].name), value);
        assert_true(infos[i].help[0] && infos[i].group[0] && infos[i].values[0]);
        assert_non_null(infos[i].aliases);
    }
    tide_params_free(set);
    tide_params_free(params);
}

static void every_value_goes_from_text_to_text_unchanged(void **state)
{
    (void)state;
    size_t count;
    const tide_param_info *infos = table(&count);
    tide_params *params = tide_params_new(NULL), *again = tide_params_new(NULL);
    for (size_t i = 1; i < count; i++) {
        char values[256];
        snprintf(values, sizeof values, "%s", infos[i].values);
        bool choice = strchr(values, '|');
        char *rest = values, *value = choice ? strtok_r(rest, "|", &rest) : NULL;
        for (int turn = 0; choice ? value != NULL : turn < 3; turn++) {
            static const char *const numbers[] = {"1", "3", "2000"};
            const char *given = choice ? value : numbers[turn];
            if (!tide_params_set(params, infos[i].name, given, NULL)) {
                assert_string_equal(text_of(params, infos[i].name), given);
                tide_params_set(again, infos[i].name, text_of(params, infos[i].name),
                                NULL);
                assert_string_equal(text_of(again, infos[i].name), given);
            } else {
                assert_false(choice);
            }
            value = choice ? strtok_r(rest, "|", &rest) : NULL;
        }
    }
    tide_params_free(params);
    tide_params_free(again);
}

static void real_numbers_keep_every_bit_in_text(void **state)
{
    (void)state;
    tide_params *params = tide_params_new(NULL);
    tide_rng rng = tide_rng_seeded(1);
    for (int i = 0; i < 2000; i++) {
        char given[64];
        double value = tide_rng_double(&rng) * pow(10, -(double)(i % 12));
        snprintf(given, sizeof given, "%.17g", value);
        assert_int_equal(tide_params_set(params, "sample", given, NULL), TIDE_OK);
        assert_true(params->sample == value);
        assert_true(strtod(text_of(params, "sample"), NULL) == value);
    }
    tide_params_free(params);
}

static void aliases_mean_the_same_parameter(void **state)
{
    (void)state;
    static const char *const known[][2] = {
        {"vocab-size", "vocab"},  {"max-vocab-size", "vocab"},
        {"size", "dim"},          {"vector-size", "dim"},
        {"thread", "threads"},    {"workers", "threads"},
        {"ws", "window"},         {"t", "sample"},
        {"neg", "negative"},      {"ns-exponent", "power"},
        {"lr", "alpha"},          {"bucket", "subword"},
        {"max-memory", "memory"},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "%s=1", known[i][0]);
        assert_value(settings, known[i][1], "1");
        assert_value(settings, known[i][0], "1");
    }
    size_t count;
    const tide_param_info *infos = table(&count);
    for (size_t i = 0; i < count; i++) { /* no name means two parameters */
        char aliases[128];
        snprintf(aliases, sizeof aliases, "%s %s", infos[i].name, infos[i].aliases);
        for (char *rest = aliases, *name; (name = strtok_r(rest, " ", &rest));)
            for (size_t other = 0; other < count; other++) {
                char all[130], wanted[66];
                snprintf(all, sizeof all, " %s %s ", infos[other].name,
                         infos[other].aliases);
                snprintf(wanted, sizeof wanted, " %s ", name);
                assert_int_equal(strstr(all, wanted) != NULL, other == i);
            }
    }
}

/* Version 0.1 spelled one choice otherwise, and model files keep that spelling. */
static void a_former_spelling_of_a_value_is_accepted_and_stored(void **state)
{
    (void)state;
    const char *const spellings[] = {"center", "centre"};
    for (int i = 0; i < 2; i++) {
        tide_params *params = tide_params_new(NULL);
        assert_int_equal(tide_params_set(params, "age", spellings[i], NULL), TIDE_OK);
        assert_string_equal(text_of(params, "age"), "center");
        char *stored = tide_params_print(params);
        assert_non_null(strstr(stored, "\nage centre\n"));
        tide_params_free(params);
        params = tide_params_new(NULL);
        assert_int_equal(tide_params_scan(params, stored, "m", NULL), TIDE_OK);
        assert_string_equal(text_of(params, "age"), "center");
        tide_params_free(params);
        free(stored);
    }
    assert_value("age=pair", "age", "pair");
}

static void assert_refused(const char *name, const char *value, const char *message)
{
    tide_error err = {.text = ""};
    tide_params *params = tide_params_new(NULL), *same = tide_params_new(NULL);
    if (tide_params_set(params, name, value, &err) != TIDE_ERROR_PARAMETER)
        fail_msg("%s %s was taken", name, value);
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    assert_string_equal(err.text, message);
    assert_memory_equal(params, same, sizeof *params);
    assert_int_equal(tide_params_set(params, name, value, NULL), TIDE_ERROR_PARAMETER);
    tide_params_free(params);
    tide_params_free(same);
}

static void values_out_of_range_are_refused_by_name_and_range(void **state)
{
    (void)state;
    assert_refused("vocab", "0", "vocab '0': must be 1..1073741824");
    assert_refused("vocab", "1073741825", "vocab '1073741825': must be 1..1073741824");
    assert_refused("dim", "4097", "dim '4097': must be 1..4096");
    assert_refused("size", "0", "dim '0': must be 1..4096");
    assert_refused("dim", "", "dim '': must be 1..4096");
    assert_refused("dim", "-1", "dim '-1': must be 1..4096");
    assert_refused("dim", "10x", "dim '10x': must be 1..4096");
    assert_refused("dim", "1.5", "dim '1.5': must be 1..4096");
    assert_refused("dim", " 5", "dim ' 5': must be 1..4096");
    assert_refused("dim", "nan", "dim 'nan': must be 1..4096");
    assert_refused("window", "65", "window '65': must be 1..64");
    assert_refused("negative", "65", "negative '65': must be 0..64");
    assert_refused("threads", "257", "threads '257': must be 1..256");
    assert_refused("sample", "1.0001", "sample '1.0001': must be 0..1, 0 for off");
    assert_refused("sample", "1k", "sample '1k': must be 0..1, 0 for off");
    assert_refused("sample", "1e999", "sample '1e999': must be 0..1, 0 for off");
    assert_refused("sampler", "Alias",
                   "sampler 'Alias': must be alias|reservoir|smoothed");
    assert_refused("sampler", "", "sampler '': must be alias|reservoir|smoothed");
    assert_refused("sampler", "alias|reservoir",
                   "sampler 'alias|reservoir': must be alias|reservoir|smoothed");
    assert_refused("replay-ring", "1999", "replay-ring '1999': must be 2000..1e11");
    assert_refused("profile", "best",
                   "profile 'best': must be "
                   "default|fast|paper|athena|incremental|word2vec");
    assert_refused("dimension", "10", "unknown parameter 'dimension'");
    assert_refused("", "10", "unknown parameter ''");
    assert_refused("dim\n", "10", "unknown parameter 'dim?'");
    char text[8];
    tide_params *params = tide_params_new(NULL);
    assert_int_equal(tide_params_text(params, "dimension", text, sizeof text),
                     TIDE_ERROR_PARAMETER);
    tide_params_free(params);
}

/* The range that the help prints is the range that is accepted. */
static void ends_of_every_range_are_accepted_and_values_beyond_are_refused(void **state)
{
    (void)state;
    size_t count;
    const tide_param_info *infos = table(&count);
    tide_params *params = tide_params_new(NULL);
    for (size_t i = 0; i < count; i++) {
        char value[64];
        const char *dots = strstr(infos[i].values, "..");
        if (!dots)
            continue;
        snprintf(value, sizeof value, "%.*s", (int)(dots - infos[i].values),
                 infos[i].values);
        double least = strtod(value, NULL);
        double most =
            dots[3] == '^' ? exp2(strtod(dots + 4, NULL)) : strtod(dots + 2, NULL);
        snprintf(value, sizeof value, most < 1 ? "%.17g" : "%.0f", most);
        if (tide_params_set(params, infos[i].name, value, NULL))
            fail_msg("%s %s is refused, but it says %s", infos[i].name, value,
                     infos[i].values);
        snprintf(value, sizeof value, "%.17g", least);
        if (tide_params_set(params, infos[i].name, value, NULL))
            fail_msg("%s %s is refused, but it says %s", infos[i].name, value,
                     infos[i].values);
        snprintf(value, sizeof value, "%.17g", most * 1.001 + 1);
        assert_int_equal(tide_params_set(params, infos[i].name, value, NULL),
                         TIDE_ERROR_PARAMETER);
    }
    tide_params_free(params);
}

static void numbers_may_have_units_and_exponents(void **state)
{
    (void)state;
    assert_value("vocab=1e6", "vocab", "1000000");
    assert_value("vocab=70k", "vocab", "70000");
    assert_value("vocab=1.5M", "vocab", "1500000");
    assert_value("half-life=2G", "half-life", "2000000000");
    assert_value("memory=512M", "memory", "536870912");
    assert_value("memory=2G", "memory", "2147483648");
    assert_value("memory=1.5GiB", "memory", "1610612736");
    assert_value("memory=64KB", "memory", "65536");
    assert_value("memory=1000", "memory", "1000");
    assert_value("sample=1e-5", "sample", "1e-05");
    assert_value("sample=.001", "sample", "0.001");
}

static void whole_numbers_are_exact_up_to_the_largest(void **state)
{
    (void)state;
    static const char *const numbers[] = {"9007199254740993", "1152921504606846977",
                                          "8999999999999999999", "123456789012345678"};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "seed=%s", numbers[i]);
        assert_value(settings, "seed", numbers[i]);
    }
}

/* A drawn seed is a plain number, which can be set again. */
static void a_random_seed_is_drawn_each_time_and_stored_as_a_number(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (int i = 0; i < 100; i++) {
        tide_params *params = params_of("seed=random");
        assert_true(params->seed != before);
        before = params->seed;
        char settings[64];
        snprintf(settings, sizeof settings, "seed=%llu", (unsigned long long)before);
        assert_value(settings, "seed", text_of(params, "seed"));
        tide_params_free(params);
    }
    tide_params *params = params_of("");
    assert_int_equal(params->seed, 1);
    assert_int_equal(tide_params_set(params, "vocab", "random", NULL),
                     TIDE_ERROR_PARAMETER);
    tide_params_free(params);
}

static void a_file_with_seed_random_is_refused(void **state)
{
    (void)state;
    tide_params *params = params_of("");
    char *text = tide_params_print(params), changed[TIDE_PARAMS_MAX];
    char *line = strstr(text, "seed 1\n");
    assert_non_null(line);
    snprintf(changed, sizeof changed, "%.*sseed random%s", (int)(line - text), text,
             line + strlen("seed 1"));
    assert_int_equal(tide_params_scan(params, text, "m.tide", NULL), TIDE_OK);
    assert_int_equal(tide_params_scan(params, changed, "m.tide", NULL),
                     TIDE_ERROR_FORMAT);
    free(text);
    tide_params_free(params);
}

/* -- profiles ---------------------------------------------------------------------- */

/* Checks values of a profile. */
static void assert_profile(const char *profile, const char *settings)
{
    char first[64], name[64], wanted[64];
    snprintf(first, sizeof first, "profile=%s", profile);
    tide_params *set = params_of(first);
    assert_string_equal(text_of(set, "profile"), profile);
    for (int used = 0; *settings; settings += used) {
        assert_int_equal(sscanf(settings, "%63[^=]=%63s %n", name, wanted, &used), 2);
        if (strcmp(text_of(set, name), wanted))
            fail_msg("profile %s has %s %s instead of %s", profile, name,
                     text_of(set, name), wanted);
    }
    tide_params_free(set);
}

static void profiles_have_the_values_of_what_they_are_named_after(void **state)
{
    (void)state;
    assert_profile("default", "vocabulary=space-saving admission=gate sampler=alias");
    assert_profile("fast", "admission=gate sampler=alias replay=1");
    assert_profile(
        "paper",
        "window=5 contexts=full sample=0.001 keep=root counting=kept "
        "vocabulary=space-saving admission=none negative=5 negatives=pair "
        "exclude=no sampler=reservoir reservoir=100000000 rate=linear age=pair "
        "alpha=0.025 alpha-output=1 min-alpha=2.5e-06 tau=17000000 "
        "gradient=after init=normal replay=1 subword=0 half-life=0");
    assert_profile(
        "athena", "window=5 contexts=dynamic sample=0.001 keep=root counting=all "
                  "admission=none negatives=pair exclude=no sampler=reservoir "
                  "rate=linear age=center alpha=0.025 alpha-output=1 min-alpha=2.5e-06 "
                  "tau=17000000 gradient=before init=uniform replay=1");
    assert_profile(
        "incremental",
        "window=5 contexts=dynamic sample=0.001 keep=root vocabulary=misra-gries "
        "admission=none negatives=pair exclude=no sampler=smoothed power=0.75 "
        "rate=coordinate alpha=0.1 init=both replay=1");
    assert_profile(
        "word2vec",
        "window=5 contexts=dynamic sample=0.001 keep=word2vec negatives=pair "
        "exclude=yes sampler=alias rate=decay alpha=0.025 alpha-output=1 "
        "init=small replay=1");
}

static void a_profile_sets_everything_and_later_settings_change_it(void **state)
{
    (void)state;
    assert_value("window=9 dim=7 profile=fast", "window", "8");
    assert_value("window=9 dim=7 profile=fast", "dim", "100");
    assert_value("profile=paper replay=2", "replay", "2");
    assert_value("profile=paper profile=default", "init", "small");
    assert_value("threads=3 memory=1G profile=paper", "threads", "3");
    assert_value("threads=3 memory=1G profile=paper", "memory", "1073741824");
}

/* -- print and scan ---------------------------------------------------------------- */

static void printed_parameters_are_read_back_the_same(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "", "profile=paper", "profile=incremental dim=3 alpha=0.1234567890123",
        "seed=8999999999999999999 half-life=123456789012345678 subword=77",
        "threads=5 memory=1G vocab=99"};
    for (size_t i = 0; i < COUNT(settings); i++) {
        tide_params *params = params_of(settings[i]), *read = tide_params_new(NULL);
        char *text = tide_params_print(params);
        assert_int_equal(tide_params_scan(read, text, "m", NULL), TIDE_OK);
        assert_null(strstr(text, "threads "));
        assert_null(strstr(text, "memory "));
        read->threads = params->threads;
        read->memory = params->memory;
        params->vocab_given = true;
        assert_memory_equal(params, read, sizeof *params);
        free(text);
        tide_params_free(params);
        tide_params_free(read);
    }
}

static void assert_not_scanned(const char *text)
{
    tide_error err = {.status = TIDE_OK};
    tide_params *params = tide_params_new(NULL);
    if (tide_params_scan(params, text, "m.tide", &err) != TIDE_ERROR_FORMAT)
        fail_msg("these parameters were taken: %.60s...", text);
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    assert_true(!strncmp(err.text, "m.tide: ", 8) && !strchr(err.text, '\n'));
    tide_params_free(params);
}

/* The text without line `number`, or with another line in its place. */
static void assert_line_matters(const char *text, int number, const char *other)
{
    char changed[8192] = "";
    for (int line = 0; *text; line++) {
        int length = (int)strcspn(text, "\n") + 1;
        if (line != number)
            strncat(changed, text, (size_t)length);
        else if (other)
            strcat(changed, other);
        text += length;
    }
    assert_not_scanned(changed);
}

static void scan_refuses_missing_unknown_duplicate_and_damaged_lines(void **state)
{
    (void)state;
    tide_params *params = params_of("");
    char *text = tide_params_print(params);
    int lines = 0, version = -1, classifier = -1;
    for (const char *at = text; *at; at++) {
        if (!strncmp(at, "\ntokens-version", 15))
            version = lines + 1;
        if (!strncmp(at, "\nclassifier ", 12))
            classifier = lines + 1;
        lines += *at == '\n';
    }
    assert_true(version > 0 && classifier > 0);
    assert_line_matters(text, version, "tokens-version 1\n"); /* not a line */
    assert_line_matters(text, classifier, "classifier cnn\n");
    for (int line = 0; line < lines; line++) {
        if (line != version && line != classifier) /* older files do not have them */
            assert_line_matters(text, line, NULL);
        assert_line_matters(text, line, "colour blue\n");
        assert_line_matters(text, line, "threads 1\n");
        assert_line_matters(text, line, "dim\n");
        assert_line_matters(text, line, "dim x\n");
        if (strncmp(text, "dim", 3)) /* a duplicate in the place of another */
            assert_line_matters(text, line, line == 2 ? "vocab 5\n" : "dim 100\n");
    }
    char cut[8192];
    snprintf(cut, sizeof cut, "%.*s", (int)strlen(text) - 1, text);
    assert_not_scanned(cut);
    assert_not_scanned("");
    assert_not_scanned("dim 100");
    memset(cut, 'x', sizeof cut - 1);
    cut[sizeof cut - 1] = 0;
    assert_not_scanned(cut);
    free(text);
    tide_params_free(params);
}

static void older_files_imply_the_network(void **state)
{
    (void)state;
    tide_params *params = params_of("classifier=cnn"), *read = tide_params_new(NULL);
    char *text = tide_params_print(params), value[8];
    assert_null(strstr(text, "classifier"));
    assert_int_equal(tide_params_text(read, "classifier", value, 8), 3);
    assert_string_equal(value, "bag");
    assert_int_equal(tide_params_scan(read, text, "m", NULL), TIDE_OK);
    assert_int_equal(tide_params_text(read, "classifier", value, 8), 3);
    assert_string_equal(value, "cnn");
    free(text);
    tide_params_free(params);
    tide_params_free(read);
}

static void older_files_imply_the_first_tokenizer_version(void **state)
{
    (void)state;
    for (int version = 1; version <= 2; version++) {
        char settings[32], line[32];
        snprintf(settings, sizeof settings, "tokens-version=%d", version);
        tide_params *params = params_of(settings), *read = tide_params_new(NULL);
        char *text = tide_params_print(params);
        snprintf(line, sizeof line, "\ntokens-version %d\n", version);
        assert_int_equal(strstr(text, line) != NULL, version == 2);
        assert_int_equal(tide_params_scan(read, text, "m", NULL), TIDE_OK);
        char value[8];
        assert_int_equal(tide_params_text(read, "tokens-version", value, 8), 1);
        assert_int_equal(value[0], '0' + version);
        free(text);
        tide_params_free(params);
        tide_params_free(read);
    }
}

/* -- what follows from them -------------------------------------------------------- */

static void contradictory_combinations_are_refused(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "minn=5 maxn=4",
        "rate=coordinate subword=10",
        "gradient=after",
        "gradient=after negatives=pair rate=adagrad",
        "gradient=after negatives=pair rate=linear subword=10",
        "gradient=after negatives=pair rate=coordinate",
        "half-life=1000 vocabulary=misra-gries",
        "half-life=1000 vocabulary=exact",
        "vocab=70000 dim=100 memory=1M",
        "memory=1k",
    };
    for (size_t i = 0; i < COUNT(refused); i++) {
        tide_error err = {.status = TIDE_OK};
        tide_part parts[TIDE_PARTS_MAX];
        tide_params *params = params_of(refused[i]);
        assert_int_equal(tide_params_budget(params, parts, &err), TIDE_ERROR_PARAMETER);
        assert_true(*err.text && !strstr(err.text, "--")); /* names no options */
        if (tide_trainer_new(params, &err))
            fail_msg("%s was taken", refused[i]);
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
        tide_params_free(params);
    }
}

/* Every combination that the table and the checks allow can be trained with. */
static void what_the_table_allows_makes_a_trainer(void **state)
{
    (void)state;
    static const char *const allowed[] = {"power=0",
                                          "power=1",
                                          "power=2",
                                          "sampler=smoothed power=2 reservoir=10",
                                          "reservoir=1 sampler=reservoir",
                                          "negative=0",
                                          "alpha=1e-9",
                                          "min-alpha=1",
                                          "tau=1 rate=linear",
                                          "replay=100 replay-ring=2000",
                                          "minn=8 maxn=8 subword=1",
                                          "sample=0",
                                          "window=64 negative=64"};
    for (size_t i = 0; i < COUNT(allowed); i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "vocab=10 dim=4 %s", allowed[i]);
        if (strstr(allowed[i], "power=2")) { /* is in the table, or makes a trainer */
            tide_params *params = tide_params_new(NULL);
            int status = try_settings(params, settings, NULL);
            tide_params_free(params);
            if (status)
                continue;
        }
        tide_trainer_free(trainer_of(settings));
    }
}

static uint64_t total(const tide_part *parts, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += parts[i].bytes;
    return sum;
}

/* All optional parts, at sizes where a large part does not hide a small one. */
static void the_budget_equals_what_is_allocated(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "vocab=20000 dim=100 replay-ring=1M",
        "vocab=3000 dim=17 replay-ring=100k subword=5000",
        "vocab=5000 dim=20 profile=paper reservoir=100k",
        "vocab=5000 dim=20 profile=athena reservoir=100k",
        "vocab=5000 dim=20 profile=incremental reservoir=100k",
        "vocab=5000 dim=20 profile=word2vec",
        "vocab=5000 dim=20 vocabulary=exact rate=power replay=1",
        "vocab=5000 dim=20 admission=none threads=3 replay=1",
        "vocab=100 dim=8 replay=1",
        "vocab=100 dim=8 profile=paper reservoir=1000",
    };
    for (size_t i = 0; i < COUNT(settings); i++) {
        const char *profile = strstr(settings[i], "profile");
        char ordered[128]; /* the profile comes first */
        snprintf(ordered, sizeof ordered, "%s%s%s", profile ? profile : "",
                 profile ? " " : "", settings[i]);
        if (profile)
            ordered[strlen(profile) + 1 + (size_t)(profile - settings[i])] = 0;
        tide_params *params = params_of(ordered);
        tide_part parts[TIDE_PARTS_MAX], same[TIDE_PARTS_MAX];
        int count = tide_params_budget(params, parts, NULL);
        assert_in_range(count, 3, TIDE_PARTS_MAX);
        allocated = 0;
        tide_trainer *trainer = tide_trainer_new(params, NULL);
        assert_non_null(trainer);
        assert_string_equal(parts[count - 1].name, "program");
        double promised = (double)total(parts, count - 1), real = (double)allocated;
        if (fabs(real / promised - 1) > 0.02)
            fail_msg("%s: %.0f bytes were promised and %.0f allocated", ordered,
                     promised, real);
        assert_int_equal(tide_trainer_budget(trainer, same), count);
        assert_memory_equal(parts, same, (size_t)count * sizeof *parts);
        tide_trainer_free(trainer);
        tide_params_free(params);
    }
}

static uint64_t total_of(const char *settings)
{
    tide_params *params = params_of(settings);
    tide_part parts[TIDE_PARTS_MAX];
    int count = tide_params_budget(params, parts, NULL);
    assert_true(count > 0);
    tide_params_free(params);
    return total(parts, count);
}

static void memory_selects_the_largest_vocabulary_that_fits(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint64_t memory;
    } cases[] = {{"dim=100", 64 << 20},
                 {"dim=100", UINT64_C(512) << 20},
                 {"dim=300 replay=1", 55555555},
                 {"dim=50 subword=1000 replay-ring=2000", 25000000},
                 {"profile=paper reservoir=1000", 22 << 20}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char settings[160];
        snprintf(settings, sizeof settings, "%s memory=%llu", cases[i].settings,
                 (unsigned long long)cases[i].memory);
        tide_params *params = params_of(settings);
        assert_int_equal(tide_params_complete(params, NULL), TIDE_OK);
        uint64_t vocab = params->vocab;
        assert_true(vocab > 100);
        snprintf(settings, sizeof settings, "%s vocab=%llu", cases[i].settings,
                 (unsigned long long)vocab);
        assert_true(total_of(settings) <= cases[i].memory);
        snprintf(settings, sizeof settings, "%s vocab=%llu", cases[i].settings,
                 (unsigned long long)vocab + 1);
        assert_true(total_of(settings) > cases[i].memory);
        tide_params_free(params);
    }
    assert_value("memory=1G vocab=5", "vocab", "5");
}

static void too_little_memory_is_refused_with_the_amount_needed(void **state)
{
    (void)state;
    tide_error err;
    unsigned needed, fast;
    tide_part parts[TIDE_PARTS_MAX];
    tide_params *params = params_of("memory=10M");
    assert_int_equal(tide_params_complete(params, &err), TIDE_ERROR_PARAMETER);
    assert_int_equal(sscanf(err.text,
                            "memory 10 MiB is too little: without any words, training "
                            "needs %u MiB, or %u MiB with profile fast",
                            &needed, &fast),
                     2);
    tide_params_free(params);
    const unsigned sizes[] = {needed, fast};
    for (int i = 0; i < 2; i++) {
        char text[64];
        for (unsigned less = 0; less < 2; less++) {
            snprintf(text, sizeof text, "%smemory=%uM", i ? "profile=fast " : "",
                     sizes[i] - less);
            params = params_of(text);
            assert_int_equal(tide_params_budget(params, parts, NULL) < 0, less);
            tide_params_free(params);
        }
    }
}

static uint64_t as_much_again(const tide_params *params, const void *data)
{
    return tide_budget_allocated(params) + *(const uint64_t *)data;
}

static void memory_includes_what_the_process_reserves_for_others(void **state)
{
    (void)state;
    static const uint64_t fixed = 5 << 20;
    tide_part parts[TIDE_PARTS_MAX];
    tide_params *params = params_of("memory=200M");
    tide_params_reserve(params, as_much_again, &fixed);
    int count = tide_params_budget(params, parts, NULL);
    uint64_t all = total(parts, count) + as_much_again(params, &fixed);
    assert_in_range(all, 195 << 20, 200 << 20);
    tide_params_free(params);
}

static void more_memory_than_the_machine_has_is_refused_at_once(void **state)
{
    (void)state;
    tide_error err = {.status = TIDE_OK};
    tide_params *params = params_of("vocab=1073741824 dim=4096");
    assert_null(tide_trainer_new(params, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    assert_non_null(strstr(err.text, "GiB"));
    tide_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_the_one_in_the_table),
        cmocka_unit_test(every_value_goes_from_text_to_text_unchanged),
        cmocka_unit_test(real_numbers_keep_every_bit_in_text),
        cmocka_unit_test(aliases_mean_the_same_parameter),
        cmocka_unit_test(a_former_spelling_of_a_value_is_accepted_and_stored),
        cmocka_unit_test(values_out_of_range_are_refused_by_name_and_range),
        cmocka_unit_test(
            ends_of_every_range_are_accepted_and_values_beyond_are_refused),
        cmocka_unit_test(numbers_may_have_units_and_exponents),
        cmocka_unit_test(whole_numbers_are_exact_up_to_the_largest),
        cmocka_unit_test(a_random_seed_is_drawn_each_time_and_stored_as_a_number),
        cmocka_unit_test(a_file_with_seed_random_is_refused),
        cmocka_unit_test(profiles_have_the_values_of_what_they_are_named_after),
        cmocka_unit_test(a_profile_sets_everything_and_later_settings_change_it),
        cmocka_unit_test(printed_parameters_are_read_back_the_same),
        cmocka_unit_test(scan_refuses_missing_unknown_duplicate_and_damaged_lines),
        cmocka_unit_test(older_files_imply_the_first_tokenizer_version),
        cmocka_unit_test(older_files_imply_the_network),
        cmocka_unit_test(contradictory_combinations_are_refused),
        cmocka_unit_test(what_the_table_allows_makes_a_trainer),
        cmocka_unit_test(the_budget_equals_what_is_allocated),
        cmocka_unit_test(memory_selects_the_largest_vocabulary_that_fits),
        cmocka_unit_test(too_little_memory_is_refused_with_the_amount_needed),
        cmocka_unit_test(memory_includes_what_the_process_reserves_for_others),
        cmocka_unit_test(more_memory_than_the_machine_has_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
