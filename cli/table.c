/* table.c */
#include "table.h"
