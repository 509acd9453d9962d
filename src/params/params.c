/* params.c - reading, printing and keeping the values of parameters.
 *
 * Numbers look the same whatever the locale of the program says.
 */
#include "params/params.h"

#include "model/model.h"
#include "params/params_internal.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* -- one value ------------------------------------------------------------------------------------- */

static bool named(const tide_param_info *info, const char *name)
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

/* Model files keep the names that version 0.1 gave the parameters. */
static const char *filed_name(const tide_param_info *info)
{
    return *info->former ? info->former : info->name;
}

static const tide_param_rule *find_row(const char *name)
{
    for (int i = 0; i < tide_param_count; i++)
        if (named(&tide_param_infos[i], name))
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

static int set_choice(tide_params *params, const tide_param_rule *r, const char *value)
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

static int set_text(tide_params *params, const tide_param_rule *r, const char *value)
{
    size_t length = strlen(value);
    if (length >= (size_t)r->most || strpbrk(value, "\n\r"))
        return -1;
    memcpy(text_at(params, r), value, length + 1);
    return 0;
}

/* The C locale, for this thread, until it is left with the value returned. */
static locale_t enter_plain_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void leave_plain_locale(locale_t before)
{
    freelocale(uselocale(before));
}

/* A number, with k, M or G behind it: powers of 1024 for sizes, of 1000 for the rest. */
static int read_number(const tide_param_rule *r, const char *value, double *number)
{
    if (!isdigit((unsigned char)*value) && *value != '.')
        return -1;
    char *end;
    locale_t before = enter_plain_locale();
    errno = 0;
    *number = strtod(value, &end);
    bool out_of_range = errno != 0;
    leave_plain_locale(before);
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

/* Whole numbers that a double cannot hold exactly are read digit by digit. */
static int set_number(tide_params *params, const tide_param_rule *r, const char *value)
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

static bool is_random(const tide_param_rule *r, const char *value)
{
    return r->kind == SEED && !strcmp(value, "random");
}

/* A drawn seed is a number from then on, and kept as one. */
static int set_seed(tide_params *params, const tide_param_rule *r, const char *value)
{
    if (!is_random(r, value))
        return set_number(params, r, value);
    *number_at(params, r) = tide_secret() % ((uint64_t)r->most + 1);
    return 0;
}

static int apply_profile(tide_params *params, uint64_t profile, tide_error *err);

static int set_row(tide_params *params, const tide_param_rule *r, const char *value,
                   tide_error *err)
{
    int bad = r->kind == CHOICE ? set_choice(params, r, value)
              : r->kind == TEXT ? set_text(params, r, value)
              : r->kind == SEED ? set_seed(params, r, value)
                                : set_number(params, r, value);
    if (bad)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "--%s '%s': must be %s",
                         info_of(r)->name, value, info_of(r)->values);
    if (r->offset == offsetof(tide_params, vocab))
        params->vocab_given = true;
    if (r->offset == offsetof(tide_params, stop_words))
        params->stop_list = NULL;
    if (r->offset == offsetof(tide_params, profile))
        return apply_profile(params, params->profile, err);
    return TIDE_OK;
}

/* Terminals obey them, and a model goes to others. */
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
    const tide_param_rule *r = find_row(name);
    if (!r)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "there is no parameter '%s'", name);
    if (r->kind == TEXT && has_control(value))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "--%s '%s': has a control character", name, value);
    return set_row(params, r, value, err);
}

/* With as few digits as tell it from every other number. */
static int print_real(char *text, size_t room, double value)
{
    if (value == floor(value) && value < 1e15)
        return snprintf(text, room, "%.0f", value);
    locale_t before = enter_plain_locale();
    int length = 0;
    for (int digits = 6; digits <= 17; digits++) {
        length = snprintf(text, room, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    leave_plain_locale(before);
    return length;
}

static int print_row(const tide_params *params, const tide_param_rule *r, char *text,
                     size_t room)
{
    const char *start = "";
    switch (r->kind) {
    case CHOICE: {
        int length = choice(info_of(r)->values, *number_at(params, r), &start);
        return snprintf(text, room, "%.*s", length, start);
    }
    case TEXT:
        return snprintf(text, room, "%s", text_at(params, r));
    case REAL:
        return print_real(text, room, *real_at(params, r));
    default:
        return snprintf(text, room, "%llu", (unsigned long long)*number_at(params, r));
    }
}

int tide_params_text(const tide_params *params, const char *name, char *text,
                     size_t room)
{
    const tide_param_rule *r = find_row(name);
    return r ? print_row(params, r, text, room) : TIDE_ERROR_PARAMETER;
}

bool tide_params_on_resume(const char *name)
{
    const tide_param_rule *r = find_row(name);
    return r && info_of(r)->on_resume;
}

bool tide_params_is_default_request(const char *name, const char *value)
{
    const tide_param_rule *r = find_row(name);
    return r && is_random(r, value);
}

/* -- all of them -------------------------------------------------------------------------------------- */

const tide_param_info *tide_params_table(size_t *count)
{
    *count = tide_param_count;
    return tide_param_infos;
}

static int set_defaults(tide_params *params, tide_error *err)
{
    for (int i = 1; i < tide_param_count; i++) {
        if (tide_param_rules[i].keeping == LOCAL)
            continue;
        int status =
            set_row(params, &tide_param_rules[i], tide_param_infos[i].initial, err);
        if (status)
            return status;
    }
    params->vocab_given = false;
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
    if (apply_profile(params, PROFILE_DEFAULT, err)) {
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

/* Whether a value, as it is printed, is the one that the parameter has before it is set. */
static bool is_initial(const tide_params *params, const tide_param_rule *r,
                       const char *value)
{
    char initial[TEXT_MAX];
    tide_params probe = *params;
    set_row(&probe, r, info_of(r)->initial, NULL);
    print_row(&probe, r, initial, sizeof initial);
    return !strcmp(value, initial);
}

/* Returns the length of all lines, of which it writes as many as there is room for. */
static size_t print_lines(const tide_params *params, char *text, size_t room)
{
    size_t at = 0;
    for (int i = 0; i < tide_param_count; i++) {
        const tide_param_rule *r = &tide_param_rules[i];
        char value[TEXT_MAX];
        if (r->keeping == LOCAL)
            continue;
        print_row(params, r, value, sizeof value);
        if (r->keeping == OPTIONAL && is_initial(params, r, value))
            continue;
        if (r->keeping == LATER && !*number_at(params, r))
            continue;
        at += (size_t)snprintf(text ? text + at : NULL, text ? room - at : 0, "%s %s\n",
                               filed_name(info_of(r)), value);
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

static int unreadable(const char *path, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the parameters are not readable",
                     path);
}

/* Files from before a parameter do not have it, and mean its first choice. */
static void set_first_choices(tide_params *params)
{
    for (int i = 0; i < tide_param_count; i++)
        if (tide_param_rules[i].keeping == LATER)
            *number_at(params, &tide_param_rules[i]) = 0;
}

/* The text must be what printing the result gives, so that no parameter silently takes a default. Texts of old
 * models may have control characters. */
int tide_params_scan(tide_params *params, const char *text, const char *path,
                     tide_error *err)
{
    for (const char *at = text; *at;) {
        char name[32], value[TEXT_MAX];
        size_t name_length = strcspn(at, " \n"), length = strcspn(at, "\n");
        if (name_length >= sizeof name || at[name_length] != ' ' || !at[length] ||
            length - name_length > sizeof value)
            return unreadable(path, err);
        snprintf(name, sizeof name, "%.*s", (int)name_length, at);
        snprintf(value, sizeof value, "%.*s", (int)(length - name_length - 1),
                 at + name_length + 1);
        const tide_param_rule *r = find_row(name);
        if (!r || r->keeping == LOCAL || set_row(params, r, value, err))
            return tide_fail(err, TIDE_ERROR_FORMAT, "%s: parameter '%s %s' is unknown",
                             path, name, value);
        if (r->offset == offsetof(tide_params, profile))
            set_first_choices(params);
        at += length + 1;
    }
    char *again = tide_params_print(params);
    if (!again)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for parameters");
    bool same = !strcmp(text, again);
    free(again);
    return same ? TIDE_OK : unreadable(path, err);
}

tide_params *tide_params_of_model(const tide_model *model, tide_error *err)
{
    const char *text = tide_model_params(model);
    if (!*text) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "a file of vectors alone does not tell how they were trained");
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
