/* import.h - imports vectors into a new trainer. Private. */
#ifndef TIDE_TRAIN_IMPORT_H
#define TIDE_TRAIN_IMPORT_H

#include "format/format.h"
#include "sgns/sgns.h"
#include "train/train.h"

/* See tide_trainer_import. */
int tide_import(tide_ingest *ingest, const tide_sgns *sgns, tide_rows *rows,
                const char *counts_path, tide_imported *done, tide_error *err);

#endif
