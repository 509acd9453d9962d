/* trainer_internal.h - what trainer.c, trainer_file.c, budget.c and live.c share.
 * Private. */
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
    tide_optimizer *optimizer;
    tide_sgns sgns;
    tide_ingest *ingest;
    tide_labels *labels; /* NULL without labels */
    tide_workers *workers;
    tide_positions positions;
    uint64_t passes;   /* batch: how often all text has been read */
    uint64_t repaired; /* rows reset because of NaNs */
    tide_live *live;   /* NULL without */
    atomic_int stop;   /* set by tide_trainer_stop */
    char *origin;      /* see tide_trainer_origin */
};

/* Allocates a trainer that has only its parameters. Fails if they contradict each other,
 * or the machine has too little memory for them. */
tide_trainer *tide_trainer_alloc(const tide_params *params, tide_error *err);

/* Builds all parts around trainer->model; loads what the store has, if there is one. */
int tide_trainer_build(tide_trainer *trainer, tide_store *store, tide_error *err);

/* Prints the parameters into the model. */
int tide_trainer_print_params(tide_trainer *trainer, tide_error *err);

#endif
