/* options.h - one option parser and one help printer for all commands.
 *
 * A command describes itself in a `command_usage`. The parser and the help follow from
 * that and, for training parameters, from the library's own table. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <wordtide.h>

typedef enum option_kind {
    OPTION_FLAG,   /* bool *value becomes true */
    OPTION_NUMBER, /* uint64_t *value: 0, 250, 1e6, 20k, 3M */
    OPTION_COUNT,  /* the same, but at least 1 */
    OPTION_SIZE,   /* uint64_t *value, bytes in powers of 1024: 64M, 1G */
    OPTION_TEXT,   /* const char **value */
    OPTION_LIST,   /* text_list *value gets one more item */
    OPTION_CHOICE, /* int *value: the index in `argument`, "a|b|c" */
} option_kind;

typedef struct option {
    const char *name; /* as in --name; NULL ends the list of options */
    char letter;      /* as in -n; 0 if none */
    option_kind kind;
    void *value;
    const char *argument; /* placeholder of the value in the help; NULL for a flag */
    const char *help;
} option;

typedef struct text_list {
    const char **items;
    size_t count;
} text_list;

/* Training parameters as typed: (name, value) pairs under the names of the library's
 * table, profile first. */
typedef struct settings {
    const char *(*pairs)[2];
    size_t count;
} settings;

/* Training parameters under one heading of --help. */
typedef struct parameter_group {
    const char *heading; /* NULL ends the list of groups */
    const char *names;   /* separated by spaces */
} parameter_group;

typedef struct command_usage {
    const char *command;
    const char *synopsis; /* what follows "usage: wordtide " */
    const char *about;
    const option *options;
    const char *examples; /* one per line */
    bool parameters;      /* the command takes training parameters */
    int min_operands;     /* file names and the like */
    int max_operands;     /* negative: any number */
    const char *advanced; /* options that only --help-all shows; NULL if none */
    const parameter_group *common; /* parameters that --help shows too; NULL if none */
    bool (*accepts)(const tide_param_info *parameter); /* NULL: all of the table */
    const char *other_command; /* the command that takes the others */
} command_usage;

/* Parses argv, whose first item is the command's name. Moves the operands to its front
 * and returns their number. Options are stored through `usage`; training parameters are
 * collected in `typed`, which is NULL for a command without any. Prints the help, or an
 * error message, and exits where that is called for. */
int parse_options(int argc, char **argv, const command_usage *usage, settings *typed);

bool accepts_parameter(const command_usage *usage, const tide_param_info *parameter);

/* Whether `names`, separated by spaces, contain the name; '_' and '-' are the same. */
bool list_contains(const char *names, const char *name, size_t length);

/* Prints an error message that points to the help, and exits with EXIT_USAGE. */
void usage_error(const char *command, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

void text_list_free(text_list *list);
void settings_free(settings *typed);

/* Adds a parameter that the command derives itself; there is space for SETTINGS_SPARE
 * of them. */
enum { SETTINGS_SPARE = 5 };
void settings_add(settings *typed, const char *name, const char *value);

/* The last value typed for a parameter; NULL if none was. */
const char *settings_value(const settings *typed, const char *name);

/* Creates parameters with the values typed; an invalid one is a usage error of
 * `command`. NULL only if out of memory, which has been reported. */
tide_params *settings_params(const settings *typed, const char *command);

/* A number of tokens, such as 1e6 or 20k. */
bool parse_number(const char *text, uint64_t *number);

/* A duration such as "90s", "5m" or "1h" in seconds; 0 if it is not one. */
double parse_seconds(const char *text);

#endif
