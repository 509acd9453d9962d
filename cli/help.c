/* help.c - the help of a command, made from its usage and the library's table. */
#include "help.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 26 };

void print_wrapped(const char *text, int column, int indent)
{
    bool line_start = true;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (!line_start && column + 1 + length >= WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            line_start = true;
        }
        column += printf("%s%.*s", line_start ? "" : " ", length, text);
        line_start = false;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Prints the text at HELP_COLUMN, on a new line if the left column, which is printed up
 * to `column`, is too wide. */
static void print_right(int column, const char *text)
{
    if (column >= HELP_COLUMN - 1) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    print_wrapped(text, HELP_COLUMN, HELP_COLUMN);
}

static void print_option(const option *o)
{
    int column = o->letter ? printf("  -%c, ", o->letter) : printf("      ");
    column += printf("--%s%s%s", o->name, o->argument ? " " : "",
                     o->argument ? o->argument : "");
    print_right(column, o->help);
}

static void print_options(const command_usage *usage, bool all)
{
    printf("\nOptions:\n");
    for (const option *o = usage->options; o->name; o++)
        if (all || !usage->advanced ||
            !list_contains(usage->advanced, o->name, strlen(o->name)))
            print_option(o);
    print_option(&(option){"help", 'h', OPTION_FLAG, NULL, NULL, "print this text"});
    if (usage->parameters)
        print_option(&(option){"help-all", 0, OPTION_FLAG, NULL, NULL,
                               "print all options and all training parameters"});
}

/* -- training parameters ----------------------------------------------------------- */

/* The short form leaves out ranges and aliases, which would take most of the lines. */
static void print_parameter(const tide_param_info *parameter, bool all)
{
    char text[1024];
    bool is_text = !*parameter->initial, is_choice = strchr(parameter->values, '|');
    const char *values = all || is_choice ? parameter->values : "";
    const char *initial_label = is_text ? "" : *values ? "; default " : "default ";
    size_t length = (size_t)snprintf(text, sizeof text, "%s", parameter->help);
    if (*values || !is_text)
        length += (size_t)snprintf(text + length, sizeof text - length, " (%s%s%s)",
                                   values, initial_label, parameter->initial);
    const char *alias = all ? parameter->aliases : "", *separator = "; also ";
    while (*alias && length < sizeof text) {
        int size = (int)strcspn(alias, " ");
        length += (size_t)snprintf(text + length, sizeof text - length, "%s-%.*s",
                                   separator, size, alias);
        alias += size;
        alias += strspn(alias, " ");
        separator = ", ";
    }
    const char *argument = is_choice ? "NAME" : is_text ? "TEXT" : "N";
    print_right(printf("      --%s %s", parameter->name, argument), text);
}

static bool is_in_group(const command_usage *usage, const tide_param_info *parameter,
                        const char *group)
{
    return accepts_parameter(usage, parameter) && !strcmp(parameter->group, group);
}

/* Groups come in the order of their first parameters in the table. */
static void print_all_parameters(const command_usage *usage)
{
    size_t count;
    const tide_param_info *table = tide_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        /* Its group was printed with the first parameter of the group. */
        bool printed = !accepts_parameter(usage, &table[i]);
        for (size_t j = 0; j < i && !printed; j++)
            printed = is_in_group(usage, &table[j], table[i].group);
        if (printed)
            continue;
        printf("\n%s:\n", table[i].group);
        for (size_t j = i; j < count; j++)
            if (is_in_group(usage, &table[j], table[i].group))
                print_parameter(&table[j], true);
    }
}

/* The accepted parameter with this name; NULL if there is none. */
static const tide_param_info *find_parameter(const command_usage *usage,
                                             const char *name, size_t length)
{
    size_t count;
    const tide_param_info *table = tide_params_table(&count);
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length))
            return accepts_parameter(usage, &table[i]) ? &table[i] : NULL;
    return NULL;
}

static void print_group(const command_usage *usage, const parameter_group *group)
{
    bool has_heading = false;
    const char *name = group->names;
    while (*name) {
        size_t length = strcspn(name, " ");
        const tide_param_info *parameter = find_parameter(usage, name, length);
        if (parameter && !has_heading)
            printf("\n%s:\n", group->heading);
        if (parameter)
            print_parameter(parameter, false);
        has_heading = has_heading || parameter;
        name += length;
        name += strspn(name, " ");
    }
}

static void print_common_parameters(const command_usage *usage)
{
    for (const parameter_group *group = usage->common; group && group->heading; group++)
        print_group(usage, group);
}

static size_t count_parameters(const command_usage *usage)
{
    size_t count, accepted = 0;
    const tide_param_info *table = tide_params_table(&count);
    for (size_t i = 0; i < count; i++)
        accepted += accepts_parameter(usage, &table[i]);
    return accepted;
}

/* -- the whole --------------------------------------------------------------------- */

/* Indents every line. */
static void print_lines(const char *lines)
{
    while (*lines) {
        int length = (int)strcspn(lines, "\n");
        printf("  %.*s\n", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

void print_help(const command_usage *usage, bool all)
{
    int column = printf("usage: wordtide ");
    print_wrapped(usage->synopsis, column, column);
    putchar('\n');
    print_wrapped(usage->about, 0, 0);
    print_options(usage, all);
    if (usage->parameters && all)
        print_all_parameters(usage);
    else if (usage->parameters)
        print_common_parameters(usage);
    printf("\nExamples:\n");
    print_lines(usage->examples);
    if (usage->parameters && !all)
        printf("\n'wordtide %s --help-all' shows all %zu training parameters.\n",
               usage->command, count_parameters(usage));
}
