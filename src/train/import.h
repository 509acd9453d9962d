/* import.h - vectors from elsewhere into a new trainer. Private. */
#ifndef TIDE_TRAIN_IMPORT_H
#define TIDE_TRAIN_IMPORT_H

#include "format/format.h"
#include "sgns/sgns.h"
#include "train/train.h"

/* As tide_trainer_import. */
int tide_import(tide_ingest *intake, const tide_sgns *learner, tide_rows *rows,
                const char *counts_path, tide_imported *done, tide_error *err);

#endif
