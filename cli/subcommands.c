/* subcommands.c - commands of two words, such as "eval analogy". */
#include "subcommands.h"
#include "options.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static int print_overview(const char *name, const char *purpose,
                          const subcommand *subcommands)
{
    printf("usage: wordtide %s SUBCOMMAND [OPTION]... [ARGUMENT]...\n\n%s\n\n", name,
           purpose);
    for (; subcommands->name; subcommands++)
        printf("  %-14s%s\n", subcommands->name, subcommands->summary);
    printf("\n'wordtide %s SUBCOMMAND --help' describes a subcommand.\n", name);
    return finish_output(EXIT_SUCCESS);
}

int run_subcommand(const char *purpose, const subcommand *subcommands, int argc,
                   char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "--help-all")) {
        int code = print_overview(argv[0], purpose, subcommands);
        return argc < 2 ? EXIT_USAGE : code;
    }
    for (; subcommands->name; subcommands++)
        if (!strcmp(argv[1], subcommands->name))
            return subcommands->run(argc - 1, argv + 1);
    usage_error(argv[0], "unknown subcommand '%s'", argv[1]);
}
