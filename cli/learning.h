/* learning.h - the job of `train` and of the commands that are like it: read sources, learn, and keep
 * the model.
 *
 * After a signal the model is saved as at the end of the text. */
#ifndef LEARNING_H
#define LEARNING_H

#include "training.h"

#include <limits.h>

typedef struct learning {
    training training;
    const char *output;     /* where the model goes; NULL for one that is not kept */
    const char *checkpoint; /* where it goes on the way, as typed; NULL: there too */
    char checkpoint_path[PATH_MAX]; /* the file; "" without */
    uint64_t older;                 /* earlier checkpoints to keep */
    bool go_on;                     /* from the checkpoint, if there is one */
    text_list every, properties;
    const char *max_errors; /* as typed; NULL for any number */
    uint64_t most_errors;
    const char *spool; /* NULL without */
    uint64_t spool_limit;
    int spool_sync; /* a tide_spool_sync */
    bool from_start, follow, batch, quiet;
    uint64_t save_tokens;
    double save_seconds;
    progress progress;
    tide_run run;
    tide_part parts[TIDE_PARTS_MAX]; /* of the memory; the trainer's unless set */
    int part_count;
    bool saved;   /* the model is in its place */
    bool stopped; /* before the end of the sources */

    bool serves, demo;        /* what is sent is a source too, and so is the demo */
    char **served;            /* all sources then */
    const char *served_model; /* that was among the sources */
} learning;

/* Options of its own that a command may have. */
enum { OPTIONS_MORE = 10 };

/* Takes the options of `train` out of argv, and those of the usage, and settles what they leave open. */
void learning_take(learning *job, int argc, char **argv, command_usage usage);

/* A time like 10s or 1m; anything else is a usage error of option `name`. */
double learning_seconds(const learning *job, const char *name, const char *text);

/* Makes the trainer; from now on `run` is what learning_run will do, and signals are caught. NULL with
 * the exit code when it cannot, or when it was stopped before there was anything to keep. */
tide_trainer *learning_begin(learning *job, int *code);

/* Learns to the end of the sources or until a signal, and tells how that went. Returns the exit code. */
int learning_run(learning *job, tide_trainer *trainer);

/* Where the model is after that; NULL when it is not kept. */
const char *learning_path(const learning *job);

void learning_release(learning *job);

#endif
