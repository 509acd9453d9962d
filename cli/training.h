/* training.h - what the commands that train share: which text it is, a trainer, and a way to be
 * stopped.
 *
 * The first SIGINT or SIGTERM asks the run to stop after its sentence, the second ends the process. SIGHUP is
 * like the first if it can come from the terminal that is written to, and is ignored otherwise. SIGUSR1 saves
 * after the sentence and goes on. */
#ifndef TRAINING_H
#define TRAINING_H

#include "options.h"
#include "progress.h"

/* How many files that are replaced stay beside a new model, unless --keep-checkpoints says otherwise. */
enum { OLDER = 2 };

typedef struct training {
    const char *command; /* for complaints */
    const char *resume;  /* the model to go on from; NULL for a new one */
    bool batch;          /* stored text, read several times */
    settings typed;
    char **sources;
    int source_count;
    uint64_t (*others)(const tide_params *params,
                       const void *data); /* tide_params_reserve */
    const void *others_data;
} training;

/* Reads standard input when there are no sources, unless that is a terminal, which is a usage error.
 * Adds what the names of the sources tell about their records. */
void training_settle(training *t);

/* Batch training, if it was asked for or epochs were typed: 5 of them unless typed, as profile
 * word2vec unless another was typed. A model that is resumed must be one of that kind. */
void training_batch(training *t, bool asked);

/* What a run must know about the sources and about stopping; the rest is the caller's. */
tide_run training_run(const training *t);

/* Makes the trainer, and from now on catches signals. NULL with *code EXIT_SUCCESS when it was stopped
 * while it counted, otherwise after a complaint with the exit code. */
tide_trainer *training_begin(const training *t, const tide_run *run, int *code);

/* Ends the run as a signal does. */
void training_stop(void);

/* For tide_trainer_fit: shows the epoch, `data` being the progress, and stops after a signal. */
bool training_goes_on(void *data, const tide_epoch *epoch);

/* Runs to the end. Returns 0, 1 when stopped, or a negative status. */
int training_learn(tide_trainer *trainer, const tide_run *run, tide_error *err);

/* Notes what was not taken as it came, by reason. */
void training_note_skipped(progress *p, const tide_stats *now,
                           const tide_stats *before);

/* Complains, and returns the exit code of a run that failed so. */
int training_failure(const tide_error *err);

#endif
