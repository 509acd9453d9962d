/* scrub.h - finding and healing vectors that cannot be right. */
#ifndef TIDE_TRAIN_SCRUB_H
#define TIDE_TRAIN_SCRUB_H

#include "train/parts.h"

typedef struct tide_healed {
    uint64_t words;    /* slots that begin again */
    uint64_t subwords; /* rows of n-grams that do */
} tide_healed;

/* Looks at all vectors and rates, with nobody learning and all slots open; what cannot be right begins
 * again. *healed says how much that was, all 0 when all was well. Costs a pass over the memory. */
void tide_scrub(const tide_learner *learner, tide_healed *healed);

#endif
