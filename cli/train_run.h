/* train_run.h - runs training: signals, the trainer, and the result.
 *
 * The first SIGINT or SIGTERM stops the run after the current sentence; the model is
 * then saved as at the end of the text. The second ends the process. SIGHUP acts like
 * the first if it may come from the terminal on standard error, and is ignored
 * otherwise. SIGUSR1 saves after the current sentence and continues. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "progress.h"
#include "train_options.h"

/* -- for all commands that train --------------------------------------------------- */

/* A run over the sources that signals can stop; the caller sets the rest. */
tide_run new_run(const train_input *input);

/* Creates or loads the trainer, and catches signals from now on. Returns NULL with
 * *code EXIT_SUCCESS if counting the words was stopped, and otherwise with an exit code
 * after an error message. */
tide_trainer *open_trainer(const train_input *input, const tide_run *run, int *code);

/* Runs to the end. Returns 0, 1 if stopped, or a negative status. */
int run_trainer(tide_trainer *trainer, const tide_run *run, tide_error *err);

/* Stops the run as a signal does. */
void request_stop(void);

/* A callback for tide_trainer_fit whose `data` is the progress: shows the epoch and
 * returns false after a signal. */
bool show_epoch_until_stopped(void *data, const tide_epoch *epoch);

/* Logs how much input was skipped or changed since `before`, by reason. */
void log_skipped_input(progress *p, const tide_stats *now, const tide_stats *before);

/* Logs the error and returns the exit code of a run that failed with it. */
int log_training_error(const tide_error *err);

/* -- train, serve and labels train ------------------------------------------------- */

typedef struct train_job {
    train_options options;
    progress progress;
    tide_run run;
    /* memory to show; the trainer's if part_count is 0 */
    tide_part parts[TIDE_PARTS_MAX];
    int part_count;
    bool saved;   /* the model file is in place */
    bool stopped; /* before the end of the sources */
} train_job;

/* Locks the model files, fills `run` and opens the trainer. Returns NULL with an exit
 * code if that fails, or if it was stopped before there was a model. */
tide_trainer *train_job_open(train_job *job, int *code);

/* Trains to the end of the sources or until a signal, and logs the result. Returns the
 * exit code. */
int train_job_run(train_job *job, tide_trainer *trainer);

#endif
