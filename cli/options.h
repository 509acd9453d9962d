/* options.h - one option parser and one help printer for all commands.
 *
 * A command describes itself in a `command_usage`; the parser and its help are made
 * from that, and the parameters of training from the library's own table. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <wordtide.h>

typedef enum option_kind {
    OPTION_FLAG,   /* bool *value becomes true */
    OPTION_NUMBER, /* uint64_t *value: 0, 250, 1e6, 20k, 3M */
    OPTION_COUNT,  /* the same, but at least 1 */
    OPTION_SIZE,   /* the same in bytes: 64M, 1G, by 1024 */
    OPTION_TEXT,   /* const char **value */
    OPTION_LIST,   /* text_list *value takes one more item */
    OPTION_CHOICE, /* int *value: which of `argument`, "a|b|c" */
} option_kind;

typedef struct option {
    const char *name; /* as in --name; the list of options ends with NULL here */
    char letter;      /* as in -n; 0 if none */
    option_kind kind;
    void *value;
    const char *argument; /* what the help calls the value; NULL for a flag */
    const char *help;
} option;

typedef struct text_list {
    const char **items;
    size_t count;
} text_list;

/* Parameters of training as they were typed: (name, value) pairs under the names of the
 * library's table, profile first. */
typedef struct settings {
    const char *(*pairs)[2];
    size_t count;
} settings;

typedef struct command_usage {
    const char *command;
    const char *synopsis; /* what follows "usage: wordtide " */
    const char *about;
    const option *options;
    const char *examples; /* one a line */
    bool parameters;      /* the help lists the parameters of training too */
    int least, most;      /* number of operands */
    bool (*takes)(const tide_param_info *parameter); /* NULL: every one of training */
    const char *instead; /* the command that takes the others */
} command_usage;

/* Takes the options out of argv, whose first item is the command's name, and leaves
 * the operands at its front; returns how many. `typed` collects parameters of
 * training and is NULL for a command that has none. Prints the help or a complaint
 * and exits where that is called for. */
int parse_options(int argc, char **argv, const command_usage *usage, settings *typed);

bool takes_parameter(const command_usage *usage, const tide_param_info *parameter);

/* Complains in a line that points to the help, and exits with EXIT_USAGE. */
void usage_error(const char *command, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

void text_list_free(text_list *list);
void settings_free(settings *typed);

/* One more, which the command itself has found out. There is room for so many. */
enum { SETTINGS_MORE = 5 };
void settings_add(settings *typed, const char *name, const char *value);

/* NULL when it was not typed. */
const char *settings_value(const settings *typed, const char *name);

/* Parameters at the values typed; a wrong one is a usage error of `command`. NULL
 * only for lack of memory, which is complained about. */
tide_params *settings_params(const settings *typed, const char *command);

/* A number of tokens, like 1e6 or 20k. */
bool parse_number(const char *text, uint64_t *number);

/* A time: "90s", "5m", "1h"; 0 for anything else. */
double parse_seconds(const char *text);

/* How many letters must be changed, inserted, dropped or swapped to turn a into b;
 * at most SPELLING_FAR. */
enum { SPELLING_FAR = 99 };
int spelling_distance(const char *a, const char *b);

#endif
