/* version.c - the version of the library. */
#include "base/base.h"

#define TEXT(number) #number
#define JOINED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *tide_version(void)
{
    return JOINED(TIDE_VERSION_MAJOR, TIDE_VERSION_MINOR, TIDE_VERSION_PATCH);
}

int tide_version_number(void)
{
    return TIDE_VERSION_NUMBER;
}
