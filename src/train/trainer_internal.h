/* trainer_internal.h - what the files of the trainer share. Private. */
#ifndef TIDE_TRAIN_TRAINER_INTERNAL_H
#define TIDE_TRAIN_TRAINER_INTERNAL_H

#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "sgns/sgns.h"
#include "train/train.h"

struct tide_trainer {
    tide_params params;
    tide_model *model;
    tide_optimizer *rates;
    tide_sgns learner;
    tide_ingest *intake;
    tide_labels *labels; /* NULL without */
    tide_workers *crew;
    tide_positions positions;
    uint64_t passes; /* batch: how often all text has been read */
    uint64_t healed; /* rows that could not be right and begin again */
    tide_live *live; /* NULL when nobody asks meanwhile */
    char *origin; /* the file that it was loaded from, as named; NULL for a new one */
};

/* One with nothing but its parameters, which fit together and into the machine. */
tide_trainer *tide_trainer_alloc(const tide_params *params, tide_error *err);

/* All that is about its model, which it has; out of the store, if there is one. */
int tide_trainer_build(tide_trainer *trainer, tide_store *store, tide_error *err);

/* The parameters as the model keeps them. */
int tide_trainer_print_params(tide_trainer *trainer, tide_error *err);

#endif
