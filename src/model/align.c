/* align.c - the rotation that brings one set of vectors nearest to another. */
#include "model/model.h"
