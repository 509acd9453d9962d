/* family.h - commands of two words: finds the one asked for by the second and hands over. */
#ifndef FAMILY_H
#define FAMILY_H

typedef struct family_member {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} family_member;

/* `purpose` is a sentence about all of them, which end with {0}. argv[0] is the name of the family; returns the
 * exit code. */
int family_run(const char *purpose, const family_member *members, int argc,
               char **argv);

#endif
