/* family.c - commands of two words. */
#include "family.h"
#include "options.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static int print_overview(const char *name, const char *purpose,
                          const family_member *members)
{
    printf("usage: wordtide %s WHAT [OPTION]... [ARGUMENT]...\n\n%s\n\n", name,
           purpose);
    for (; members->name; members++)
        printf("  %-14s%s\n", members->name, members->summary);
    printf("\n'wordtide %s WHAT --help' tells all about one of them.\n", name);
    return finish_output(EXIT_SUCCESS);
}

int family_run(const char *purpose, const family_member *members, int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        int code = print_overview(argv[0], purpose, members);
        return argc < 2 ? EXIT_USAGE : code;
    }
    for (; members->name; members++)
        if (!strcmp(argv[1], members->name))
            return members->run(argc - 1, argv + 1);
    usage_error(argv[0], "nothing is called '%s' here", argv[1]);
}
