/* params.c - parses, prints and stores parameter values.
 *
 * Numbers do not depend on the locale of the program.
 */
#include "params/params.h"

#include "model/model.h"
#include "params/params_internal.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* -- one value --------------------------------------------------------------------- */

static bool has_name(const tide_param_info *info, const char *name)
{
    if (!strcmp(info->name, name) || (*info->former && !strcmp(info->former, name)))
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

/* Model files use the names of version 0.1. */
static const char *stored_name(const tide_param_info *info)
{
    return *info->former ? info->former : info->name;
}

/* A choice that was spelled otherwise in version 0.1. Both spellings are accepted, and
 * model files use the former one. */
static const struct {
    const char *name, *value, *former;
} former_values[] = {{"age", "center", "centre"}};

enum { FORMER_VALUES = sizeof former_values / sizeof former_values[0] };

static const char *present_value(const tide_param_info *info, const char *value)
{
    for (int i = 0; i < FORMER_VALUES; i++)
        if (!strcmp(former_values[i].name, info->name) &&
            !strcmp(former_values[i].former, value))
            return former_values[i].value;
    return value;
}

static const char *stored_value(const tide_param_info *info, const char *value)
{
    for (int i = 0; i < FORMER_VALUES; i++)
        if (!strcmp(former_values[i].name, info->name) &&
            !strcmp(former_values[i].value, value))
            return former_values[i].former;
    return value;
}

static const tide_param_rule *find_rule(const char *name)
{
    for (int i = 0; i < tide_param_count; i++)
        if (has_name(&tide_param_infos[i], name))
            return &tide_param_rules[i];
    return NULL;
}

static const tide_param_info *info_of(const tide_param_rule *r)
{
    return &tide_param_infos[r - tide_param_rules];
}

static uint64_t *number_at(const tide_params *params, const tide_param_rule *r)
{
    return (uint64_t *)(void *)((char *)params + r->offset);
}

static double *real_at(const tide_params *params, const tide_param_rule *r)
{
    return (double *)(void *)((char *)params + r->offset);
}

static char *text_at(const tide_params *params, const tide_param_rule *r)
{
    return (char *)params + r->offset;
}

/* Finds choice number `index` of "a|b|c". Returns its length, or 0 past the last
 * one. */
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

static int set_choice(tide_params *params, const tide_param_rule *r, const char *value)
{
    const char *start;
    value = present_value(info_of(r), value);
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

static int set_text(tide_params *params, const tide_param_rule *r, const char *value)
{
    size_t length = strlen(value);
    if (length >= (size_t)r->max || strpbrk(value, "\n\r"))
        return -1;
    memcpy(text_at(params, r), value, length + 1);
    return 0;
}

/* Switches this thread to the C locale; leave_c_locale needs the value returned. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void leave_c_locale(locale_t before)
{
    freelocale(uselocale(before));
}

/* Parses a number with an optional suffix k, M, G or T: powers of 1024 for sizes, of
 * 1000 otherwise. */
static int parse_number(const tide_param_rule *r, const char *value, double *number)
{
    if (!isdigit((unsigned char)*value) && *value != '.')
        return -1;
    char *end;
    locale_t before = enter_c_locale();
    errno = 0;
    *number = strtod(value, &end);
    bool out_of_range = errno != 0;
    leave_c_locale(before);
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
    return *end || out_of_range ? -1 : 0;
}

/* Plain digits are parsed as an integer, since a double may not hold them exactly. */
static int set_number(tide_params *params, const tide_param_rule *r, const char *value)
{
    double number;
    if (parse_number(r, value, &number) || !(number >= r->min && number <= r->max))
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

static bool is_random(const tide_param_rule *r, const char *value)
{
    return r->kind == SEED && !strcmp(value, "random");
}

/* 'random' draws a seed, which is stored as a number. */
static int set_seed(tide_params *params, const tide_param_rule *r, const char *value)
{
    if (!is_random(r, value))
        return set_number(params, r, value);
    *number_at(params, r) = tide_secret() % ((uint64_t)r->max + 1);
    return 0;
}

static int apply_profile(tide_params *params, uint64_t profile, tide_error *err);

static int set_value(tide_params *params, const tide_param_rule *r, const char *value,
                     tide_error *err)
{
    int bad = r->kind == CHOICE ? set_choice(params, r, value)
              : r->kind == TEXT ? set_text(params, r, value)
              : r->kind == SEED ? set_seed(params, r, value)
                                : set_number(params, r, value);
    if (bad)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "%s '%s': must be %s",
                         info_of(r)->name, value, info_of(r)->values);
    if (r->offset == offsetof(tide_params, vocab))
        params->vocab_given = true;
    if (r->offset == offsetof(tide_params, subword))
        params->subword_given = true;
    if (r->offset == offsetof(tide_params, stop_words))
        params->stop_list = NULL;
    if (r->offset == offsetof(tide_params, profile))
        return apply_profile(params, params->profile, err);
    return TIDE_OK;
}

/* Control characters are rejected because a model may be printed on other people's
 * terminals. */
static bool has_control(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0))
            return true;
    return false;
}

int tide_params_set(tide_params *params, const char *name, const char *value,
                    tide_error *err)
{
    const tide_param_rule *r = find_rule(name);
    if (!r)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "unknown parameter '%s'", name);
    if (r->kind == TEXT && has_control(value))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s '%s': contains a control character", name, value);
    return set_value(params, r, value, err);
}

/* Prints the shortest text that parses to the same value. */
static int print_real(char *text, size_t capacity, double value)
{
    if (value == floor(value) && value < 1e15)
        return snprintf(text, capacity, "%.0f", value);
    locale_t before = enter_c_locale();
    int length = 0;
    for (int digits = 6; digits <= 17; digits++) {
        length = snprintf(text, capacity, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    leave_c_locale(before);
    return length;
}

static int print_value(const tide_params *params, const tide_param_rule *r, char *text,
                       size_t capacity)
{
    const char *start = "";
    switch (r->kind) {
    case CHOICE: {
        int length = choice(info_of(r)->values, *number_at(params, r), &start);
        return snprintf(text, capacity, "%.*s", length, start);
    }
    case TEXT:
        return snprintf(text, capacity, "%s", text_at(params, r));
    case REAL:
        return print_real(text, capacity, *real_at(params, r));
    default:
        return snprintf(text, capacity, "%llu",
                        (unsigned long long)*number_at(params, r));
    }
}

int tide_params_text(const tide_params *params, const char *name, char *text,
                     size_t capacity)
{
    const tide_param_rule *r = find_rule(name);
    return r ? print_value(params, r, text, capacity) : TIDE_ERROR_PARAMETER;
}

bool tide_params_on_resume(const char *name)
{
    const tide_param_rule *r = find_rule(name);
    return r && info_of(r)->on_resume;
}

bool tide_params_is_default_request(const char *name, const char *value)
{
    const tide_param_rule *r = find_rule(name);
    return r && is_random(r, value);
}

/* -- all parameters ---------------------------------------------------------------- */

const tide_param_info *tide_params_table(size_t *count)
{
    *count = tide_param_count;
    return tide_param_infos;
}

static int set_defaults(tide_params *params, tide_error *err)
{
    for (int i = 1; i < tide_param_count; i++) {
        if (tide_param_rules[i].storage == NOT_STORED)
            continue;
        int status =
            set_value(params, &tide_param_rules[i], tide_param_infos[i].initial, err);
        if (status)
            return status;
    }
    params->vocab_given = params->subword_given = false;
    return TIDE_OK;
}

static int apply_profile(tide_params *params, uint64_t profile, tide_error *err)
{
    int status = set_defaults(params, err);
    for (const char *p = tide_param_profiles[profile]; *p && !status;) {
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
    if (apply_profile(params, TIDE_PROFILE_DEFAULT, err)) {
        tide_params_free(params);
        return NULL;
    }
    return params;
}

void tide_params_reserve(tide_params *params,
                         uint64_t (*others)(const tide_params *params,
                                            const void *data),
                         const void *data)
{
    params->others = others;
    params->others_data = data;
}

void tide_params_free(tide_params *params)
{
    free(params);
}

/* Whether a printed value is the default. */
static bool is_initial(const tide_params *params, const tide_param_rule *r,
                       const char *value)
{
    char initial[TEXT_MAX];
    tide_params probe = *params;
    set_value(&probe, r, info_of(r)->initial, NULL);
    print_value(&probe, r, initial, sizeof initial);
    return !strcmp(value, initial);
}

/* Returns the length of all lines; writes those that fit into `text`, which may be
 * NULL. */
static size_t print_lines(const tide_params *params, char *text, size_t capacity)
{
    size_t at = 0;
    for (int i = 0; i < tide_param_count; i++) {
        const tide_param_rule *r = &tide_param_rules[i];
        char value[TEXT_MAX];
        if (r->storage == NOT_STORED)
            continue;
        print_value(params, r, value, sizeof value);
        if (r->storage == STORED_IF_CHANGED && is_initial(params, r, value))
            continue;
        if (r->storage == STORED_IF_SET && !*number_at(params, r))
            continue;
        at += (size_t)snprintf(text ? text + at : NULL, text ? capacity - at : 0,
                               "%s %s\n", stored_name(info_of(r)),
                               stored_value(info_of(r), value));
    }
    return at;
}

char *tide_params_print(const tide_params *params)
{
    size_t size = print_lines(params, NULL, 0) + 1;
    char *text = tide_alloc(size, 1);
    if (text)
        print_lines(params, text, size);
    return text;
}

static int corrupt(const char *path, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"params\" is corrupt", path);
}

/* Files older than a parameter do not contain it and imply its first choice. */
static void set_first_choices(tide_params *params)
{
    for (int i = 0; i < tide_param_count; i++)
        if (tide_param_rules[i].storage == STORED_IF_SET)
            *number_at(params, &tide_param_rules[i]) = 0;
}

/* Printing the result must give the same text, so that no missing parameter silently
 * gets a default. Unlike tide_params_set it accepts control characters, which old
 * models may contain. */
int tide_params_scan(tide_params *params, const char *text, const char *path,
                     tide_error *err)
{
    for (const char *at = text; *at;) {
        char name[32], value[TEXT_MAX];
        size_t name_length = strcspn(at, " \n"), length = strcspn(at, "\n");
        if (name_length >= sizeof name || at[name_length] != ' ' || !at[length] ||
            length - name_length > sizeof value)
            return corrupt(path, err);
        snprintf(name, sizeof name, "%.*s", (int)name_length, at);
        snprintf(value, sizeof value, "%.*s", (int)(length - name_length - 1),
                 at + name_length + 1);
        const tide_param_rule *r = find_rule(name);
        if (!r || r->storage == NOT_STORED || set_value(params, r, value, err))
            return tide_fail(err, TIDE_ERROR_FORMAT, "%s: unknown parameter '%s %s'",
                             path, name, value);
        if (r->offset == offsetof(tide_params, profile))
            set_first_choices(params);
        at += length + 1;
    }
    char *printed = tide_params_print(params);
    if (!printed)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for parameters");
    bool same = !strcmp(text, printed);
    free(printed);
    return same ? TIDE_OK : corrupt(path, err);
}

tide_params *tide_params_of_model(const tide_model *model, tide_error *err)
{
    const char *text = tide_model_params(model);
    if (!*text) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "the file has vectors only and no training parameters");
        return NULL;
    }
    tide_params *params = tide_params_new(err);
    const char *path = model->path ? model->path : "the model";
    if (params && tide_params_scan(params, text, path, err)) {
        tide_params_free(params);
        return NULL;
    }
    if (params)
        params->stop_list = model->stop_words;
    return params;
}
