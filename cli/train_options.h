/* train_options.h - the command line of `train` and of the commands like it. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include "options.h"

#include <limits.h>

/* Replaced files to keep beside a new model, unless --keep-checkpoints says
 * otherwise. */
enum { BACKUPS_DEFAULT = 2 };

/* The training parameters that --help shows, for training words, and with labels. */
extern const parameter_group common_parameters[];
extern const parameter_group common_label_parameters[];

/* What every command that trains reads: parameters and sources. */
typedef struct train_input {
    const char *command; /* for error messages */
    const char *resume;  /* the model to continue; NULL for a new one */
    bool batch;          /* stored text, read several times */
    settings typed;
    char **sources;
    int source_count;
    uint64_t (*reserve)(const tide_params *params,
                        const void *data); /* for tide_params_reserve */
    const void *reserve_data;
} train_input;

/* Reads standard input if there are no sources; a terminal there is a usage error. Adds
 * the record format that the name of the first source implies. */
void train_input_complete(train_input *input);

/* Selects batch training if it is requested or epochs were typed: 5 epochs and profile
 * word2vec unless others were typed. */
void train_input_set_batch(train_input *input, bool requested);

/* An output that is also a source is a usage error; there may be no output (NULL). */
void train_input_check_output(const train_input *input, const char *output);

/* The options of `train`, and of the commands that keep a model up to date like it. */
typedef struct train_options {
    train_input input;
    const char *output;             /* the model file; NULL if there is to be none */
    const char *checkpoint;         /* as typed; NULL without checkpoints */
    char checkpoint_path[PATH_MAX]; /* its file; "" without checkpoints */
    uint64_t backups;               /* earlier checkpoints to keep */
    bool continue_checkpoint;       /* resume from the checkpoint if it exists */
    text_list every, properties;
    const char *max_errors_text; /* as typed; NULL for no limit */
    uint64_t max_errors;
    const char *spool; /* a directory; NULL without */
    uint64_t spool_limit;
    int spool_sync; /* a tide_spool_sync */
    bool from_start, follow, batch, quiet;
    uint64_t save_tokens;
    double save_seconds;

    bool serve, demo;         /* also read text sent by HTTP, and the demo stream */
    char **served_sources;    /* all sources then; owned */
    const char *served_model; /* a model given as a source; it is not written to */
} train_options;

/* How many options a command may have besides those of `train`. */
enum { EXTRA_OPTIONS_MAX = 10 };

/* Parses the options of `train` and those of the usage, and derives what was not typed.
 * Contradictions are usage errors. */
void train_options_parse(train_options *options, int argc, char **argv,
                         command_usage usage);
void train_options_release(train_options *options);

/* Parses a duration such as 10s or 1m; anything else is a usage error of option
 * `name`. */
double train_options_seconds(const train_options *options, const char *name,
                             const char *text);

/* The file that holds the model after training; NULL if it is not saved. */
const char *train_options_model_path(const train_options *options);

/* The checkpoint's file; NULL without checkpoints. */
const char *train_options_checkpoint(const train_options *options);

#endif
