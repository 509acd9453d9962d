/* open.c - any file of vectors as a model. */
#include "model/model.h"
