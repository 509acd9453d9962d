/* subcommands.h - commands of two words, such as "eval analogy". */
#ifndef SUBCOMMANDS_H
#define SUBCOMMANDS_H

typedef struct subcommand {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} subcommand;

/* Runs the subcommand named by argv[1], or prints an overview of them, headed by
 * `purpose`. argv[0] is the command's name; {0} ends the subcommands. Returns the exit
 * code. */
int run_subcommand(const char *purpose, const subcommand *subcommands, int argc,
                   char **argv);

#endif
