/* version.c - which wordtide this is. */
#include "base/base.h"

const char *tide_version(void)
{
    return TIDE_VERSION;
}
