/* options.c - one option parser for all commands.
 *
 * Accepts --name value, --name=value, -n value and -n5; "--" ends the options.
 * word2vec.c and fastText spell long options with one dash (-size 100), so an argument
 * with a single dash is tried as a long name before its letters are. gensim spells
 * names with underscores, so '_' and '-' are equal in names. Options and operands may
 * come in any order.
 */
#include "options.h"
#include "help.h"
#include "output.h"

#include "base/base.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const command_usage *usage;
    settings *typed;
    char **argv;
    int argc, next; /* argv[next] is parsed next */
    int operands;
} parser;

/* What an argument names: an option of the command, or a training parameter. */
typedef struct target {
    const option *option;
    const tide_param_info *parameter;
} target;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        log_message("out of memory");
        exit(EXIT_FAILURE);
    }
    return memory;
}

void usage_error(const char *command, const char *format, ...)
{
    char text[900]; /* leaves space for the hint in a line of 1024 bytes */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_message("%s (see 'wordtide %s%s--help')", text, command, *command ? " " : "");
    exit(EXIT_USAGE);
}

static char fold_underscore(char letter)
{
    return letter == '_' ? '-' : letter;
}

static bool names_match(const char *a, size_t a_length, const char *b, size_t b_length)
{
    if (a_length != b_length)
        return false;
    for (size_t i = 0; i < a_length; i++)
        if (fold_underscore(a[i]) != fold_underscore(b[i]))
            return false;
    return true;
}

bool list_contains(const char *names, const char *name, size_t length)
{
    while (*names) {
        size_t item = strcspn(names, " ");
        if (names_match(names, item, name, length))
            return true;
        names += item + (names[item] == ' ');
    }
    return false;
}

bool accepts_parameter(const command_usage *usage, const tide_param_info *parameter)
{
    return !usage->accepts || usage->accepts(parameter);
}

/* Names that options had in version 0.1, which still work. */
static const char *const renamed[][2] = {
    {"among", "top"},         {"centre", "center"},       {"neighbours", "neighbors"},
    {"negative", "subtract"}, {"no-centre", "no-center"}, {"older", "keep-checkpoints"},
};

static const char *current_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (names_match(renamed[i][0], strlen(renamed[i][0]), name, length))
            return renamed[i][1];
    return NULL;
}

static bool find_long(const parser *p, const char *name, size_t length, target *found)
{
    *found = (target){0};
    /* An option of the command hides a parameter of the same name, and current names
     * hide former ones. */
    for (const option *o = p->usage->options; o->name; o++)
        if (names_match(o->name, strlen(o->name), name, length))
            found->option = o;
    size_t count = 0;
    const tide_param_info *table = p->typed ? tide_params_table(&count) : NULL;
    for (size_t i = 0; i < count && !found->option; i++)
        if (list_contains(table[i].name, name, length) ||
            list_contains(table[i].aliases, name, length) ||
            list_contains(table[i].former, name, length))
            found->parameter = &table[i];
    if (found->option || found->parameter)
        return true;
    const char *present = current_name(name, length);
    return present && find_long(p, present, strlen(present), found);
}

static const option *find_letter(const parser *p, char letter)
{
    for (const option *o = p->usage->options; o->name; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

static void update_nearest(const char *name, const char *candidate,
                           const char **nearest, int *distance)
{
    int d = tide_edit_distance(name, strlen(name), candidate, strlen(candidate),
                               *distance - 1);
    if (d < *distance) {
        *distance = d;
        *nearest = candidate;
    }
}

/* Translates gensim's and fastText's names of options. Their names of training
 * parameters are aliases in the library's table. */
static const char *own_name(const char *name)
{
    return !strcmp(name, "topn") || !strcmp(name, "k") ? "count" : name;
}

static bool is_input_name(const char *name)
{
    return !strcmp(name, "input") || !strcmp(name, "train");
}

__attribute__((noreturn)) static void unknown_option(const parser *p,
                                                     const char *argument)
{
    char name[64];
    const char *bare = argument + strspn(argument, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    const char *nearest = NULL, *known = own_name(name);
    int distance = 3; /* suggests names that are at most two edits away */
    if (is_input_name(name) && p->usage->max_operands < 0)
        usage_error(p->usage->command,
                    "unknown option '%s'; give the files as arguments", argument);
    for (const option *o = p->usage->options; o->name; o++)
        update_nearest(known, o->name, &nearest, &distance);
    size_t count = 0;
    const tide_param_info *table = p->typed ? tide_params_table(&count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (accepts_parameter(p->usage, &table[i]))
            update_nearest(known, table[i].name, &nearest, &distance);
    if (nearest && strlen(known) > 2)
        usage_error(p->usage->command, "unknown option '%s'; did you mean --%s?",
                    argument, nearest);
    usage_error(p->usage->command, "unknown option '%s'", argument);
}

/* `kilo` is the factor of "k": 1000, or 1024 for bytes. */
static bool parse_scaled(const char *text, double kilo, uint64_t *number)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (!*end)
        return errno == 0;
    /* 2e6, 1.5k and 512M go through a double, which is exact below 2^53. */
    double value = strtod(text, &end);
    static const char units[] = "kMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        value *= pow(kilo, (double)(unit - units + 1));
        end++;
    }
    if (*end || !isfinite(value) || value >= 0x1p63 || value != floor(value))
        return false;
    *number = (uint64_t)value;
    return true;
}

bool parse_number(const char *text, uint64_t *number)
{
    return parse_scaled(text, 1000, number);
}

double parse_seconds(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    double unit = !strcmp(end, "s")   ? 1
                  : !strcmp(end, "m") ? 60
                  : !strcmp(end, "h") ? 3600
                                      : 0;
    double seconds = end > text ? value * unit : 0;
    return isfinite(seconds) && seconds > 0 ? seconds : 0;
}

static void set_choice(const parser *p, const option *o, const char *value)
{
    const char *names = o->argument;
    for (int i = 0; *names; i++) {
        size_t length = strcspn(names, "|");
        if (strlen(value) == length && !memcmp(names, value, length)) {
            *(int *)o->value = i;
            return;
        }
        names += length + (names[length] == '|');
    }
    usage_error(p->usage->command, "--%s must be one of %s, not '%s'", o->name,
                o->argument, value);
}

static void set_number(const parser *p, const option *o, const char *value)
{
    if (!parse_scaled(value, o->kind == OPTION_SIZE ? 1024 : 1000, o->value))
        usage_error(p->usage->command, "--%s '%s' is not a whole number", o->name,
                    value);
    if (o->kind == OPTION_COUNT && *(uint64_t *)o->value == 0)
        usage_error(p->usage->command, "--%s must be at least 1", o->name);
}

static void append_item(const parser *p, text_list *list, const char *value)
{
    /* No option can occur more often than there are arguments. */
    if (!list->items)
        list->items = allocate((size_t)p->argc, sizeof *list->items);
    list->items[list->count++] = value;
}

static void set_option(const parser *p, const option *o, const char *value)
{
    if (o->kind == OPTION_FLAG)
        *(bool *)o->value = true;
    else if (o->kind == OPTION_TEXT)
        *(const char **)o->value = value;
    else if (o->kind == OPTION_LIST)
        append_item(p, o->value, value);
    else if (o->kind == OPTION_CHOICE)
        set_choice(p, o, value);
    else
        set_number(p, o, value);
}

void settings_add(settings *typed, const char *name, const char *value)
{
    typed->pairs[typed->count][0] = name;
    typed->pairs[typed->count++][1] = value;
}

const char *settings_value(const settings *typed, const char *name)
{
    /* The last one typed wins, as in tide_params_set. */
    for (size_t i = typed->count; i-- > 0;)
        if (!strcmp(typed->pairs[i][0], name))
            return typed->pairs[i][1];
    return NULL;
}

/* A profile sets many parameters at once, so it is applied before the others, wherever
 * it was typed. Of several profiles the last one wins. */
static void move_profile_first(settings *typed)
{
    size_t front = 0;
    for (size_t i = 0; i < typed->count; i++) {
        const char *value = typed->pairs[i][1];
        if (strcmp(typed->pairs[i][0], "profile") != 0)
            continue;
        memmove(typed->pairs + front + 1, typed->pairs + front,
                (i - front) * sizeof *typed->pairs);
        typed->pairs[front][0] = "profile";
        typed->pairs[front++][1] = value;
    }
}

/* `given` is the value in the same argument, as in --name=value; NULL without one. */
static void apply_target(parser *p, target t, const char *given)
{
    const char *name = t.option ? t.option->name : t.parameter->name;
    bool flag = t.option && t.option->kind == OPTION_FLAG;
    if (!t.option && !accepts_parameter(p->usage, t.parameter))
        usage_error(p->usage->command, "--%s is a parameter of 'wordtide %s'", name,
                    p->usage->other_command);
    if (flag && given)
        usage_error(p->usage->command, "--%s takes no value", name);
    if (!flag && !given) {
        if (p->next >= p->argc)
            usage_error(p->usage->command, "--%s needs a value", name);
        given = p->argv[p->next++];
    }
    if (t.option) {
        set_option(p, t.option, given);
    } else {
        assert(p->typed); /* parameters are looked up only where they are collected */
        settings_add(p->typed, name, given);
    }
}

/* "-qn5" is -q -n 5: flags may be combined, and the first option with a value takes the
 * rest of the argument, or else the next argument. */
static void parse_letters(parser *p, const char *argument)
{
    for (const char *letter = argument + 1; *letter; letter++) {
        target t = {.option = find_letter(p, *letter)};
        if (!t.option)
            unknown_option(p, argument);
        bool flag = t.option->kind == OPTION_FLAG;
        apply_target(p, t, !flag && letter[1] ? letter + 1 : NULL);
        if (!flag)
            return;
    }
}

static void parse_argument(parser *p, char *argument)
{
    if (argument[0] != '-' || !argument[1]) {
        /* Operands move to the front of argv, over arguments that are parsed already:
         * operands <= next holds throughout. */
        p->argv[p->operands++] = argument;
        return;
    }
    if (!strcmp(argument, "--help") || !strcmp(argument, "-h") ||
        !strcmp(argument, "-help")) {
        print_help(p->usage, false);
        exit(finish_output(EXIT_SUCCESS));
    }
    if (!strcmp(argument, "--help-all")) {
        print_help(p->usage, true);
        exit(finish_output(EXIT_SUCCESS));
    }
    const char *name = argument + 1 + (argument[1] == '-');
    size_t length = strcspn(name, "=");
    target t;
    /* "-n" alone is the letter even if a long name "n" exists; longer arguments with
     * one dash are long names first. */
    bool letter = argument[1] != '-' && !argument[2] && find_letter(p, argument[1]);
    if (!letter && find_long(p, name, length, &t))
        apply_target(p, t, name[length] ? name + length + 1 : NULL);
    else if (argument[1] == '-')
        unknown_option(p, argument);
    else
        parse_letters(p, argument);
}

int parse_options(int argc, char **argv, const command_usage *usage, settings *typed)
{
    parser p = {usage, typed, argv, argc, 1, 0};
    if (typed) {
        typed->pairs = allocate((size_t)argc + SETTINGS_SPARE, sizeof *typed->pairs);
        typed->count = 0;
    }
    while (p.next < argc) {
        char *argument = argv[p.next++];
        if (!strcmp(argument, "--"))
            break;
        parse_argument(&p, argument);
    }
    while (p.next < argc)
        argv[p.operands++] = argv[p.next++];
    if (typed)
        move_profile_first(typed);
    if (p.operands < usage->min_operands)
        usage_error(usage->command, "missing argument; usage: wordtide %s",
                    usage->synopsis);
    if (usage->max_operands >= 0 && p.operands > usage->max_operands)
        usage_error(usage->command, "unexpected argument '%s'",
                    argv[usage->max_operands]);
    return p.operands;
}

void text_list_free(text_list *list)
{
    free(list->items);
    *list = (text_list){0};
}

void settings_free(settings *typed)
{
    free(typed->pairs);
    *typed = (settings){0};
}

tide_params *settings_params(const settings *typed, const char *command)
{
    tide_error err;
    tide_params *params = tide_params_new(&err);
    if (!params) {
        log_error(&err);
        return NULL;
    }
    for (size_t i = 0; i < typed->count; i++)
        if (tide_params_set(params, typed->pairs[i][0], typed->pairs[i][1], &err) < 0)
            usage_error(command, "%s", err.text);
    return params;
}
