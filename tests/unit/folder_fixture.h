/* folder_fixture.h - an empty directory for each test, removed afterwards. */
#ifndef TIDE_FOLDER_FIXTURE_H
#define TIDE_FOLDER_FIXTURE_H

#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[PATH_MAX];
static char folder_before[PATH_MAX];

static inline int enter_folder(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.3000s/tide-test-XXXXXX",
             temporary ? temporary : P_tmpdir);
    return getcwd(folder_before, sizeof folder_before) && mkdtemp(folder)
               ? chdir(folder)
               : -1;
}

static inline int remove_one(const char *path, const struct stat *status, int kind,
                             struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

static inline int leave_folder(void **state)
{
    (void)state;
    return chdir(folder_before) ? -1
                                : nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A test that runs in a fresh folder. */
#define IN_FOLDER(test)                                                                \
    cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

#endif
