/* counts.c */
#include "train/parts.h"
