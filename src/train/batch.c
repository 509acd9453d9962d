/* batch.c */
#include "train/parts.h"
