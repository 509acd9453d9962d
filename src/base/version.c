/* version.c - the version of the library. */
#include "base/base.h"

const char *tide_version(void)
{
    return TIDE_VERSION;
}
