/* train.h - learning: parameters and the trainer. The public part is in wordtide.h. */
#ifndef TIDE_TRAIN_H
#define TIDE_TRAIN_H

#include "base/base.h"
#include "model/model.h"
#include "sketch/sketch.h"
#include "text/text.h"
#include "vector/vector.h"

#endif
