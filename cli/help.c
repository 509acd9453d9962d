/* help.c - the help of a command, made from its usage and the library's table. */
#include "help.h"

#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 26 };

void print_wrapped(const char *text, int column, int indent)
{
    bool fresh = true;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (!fresh && column + 1 + length >= WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        column += printf("%s%.*s", fresh ? "" : " ", length, text);
        fresh = false;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* The left column has been printed up to `column`; the text begins at HELP_COLUMN. */
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

static void print_parameter(const tide_param_info *parameter)
{
    char text[1024];
    bool words = !*parameter->initial;
    size_t at = (size_t)snprintf(text, sizeof text, "%s (%s%s%s)", parameter->help,
                                 parameter->values, words ? "" : "; default ",
                                 parameter->initial);
    const char *alias = parameter->aliases;
    const char *before = "; also ";
    while (*alias && at < sizeof text) {
        int length = (int)strcspn(alias, " ");
        at += (size_t)snprintf(text + at, sizeof text - at, "%s-%.*s", before, length,
                               alias);
        alias += length;
        alias += strspn(alias, " ");
        before = ", ";
    }
    bool choice = strchr(parameter->values, '|');
    const char *argument = choice ? "NAME" : words ? "TEXT" : "N";
    print_right(printf("      --%s %s", parameter->name, argument), text);
}

/* A group stands together, its heading before its first parameter. */
static void print_parameters(const command_usage *usage)
{
    size_t count;
    const tide_param_info *table = tide_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool seen = !takes_parameter(usage, &table[i]);
        for (size_t j = 0; j < i; j++)
            seen = seen || (takes_parameter(usage, &table[j]) &&
                            !strcmp(table[j].group, table[i].group));
        if (seen)
            continue;
        printf("\n%s:\n", table[i].group);
        for (size_t j = i; j < count; j++)
            if (!strcmp(table[j].group, table[i].group) &&
                takes_parameter(usage, &table[j]))
                print_parameter(&table[j]);
    }
}

static void print_lines(const char *lines)
{
    while (*lines) {
        int length = (int)strcspn(lines, "\n");
        printf("  %.*s\n", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

void print_help(const command_usage *usage)
{
    int column = printf("usage: wordtide ");
    print_wrapped(usage->synopsis, column, column);
    putchar('\n');
    print_wrapped(usage->about, 0, 0);
    printf("\nOptions:\n");
    for (const option *o = usage->options; o->name; o++)
        print_option(o);
    print_option(&(option){"help", 'h', OPTION_FLAG, NULL, NULL, "print this text"});
    if (usage->parameters)
        print_parameters(usage);
    printf("\nExamples:\n");
    print_lines(usage->examples);
}
