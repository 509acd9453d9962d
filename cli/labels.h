/* labels.h - the subcommands of `wordtide labels`, one file each, and what they share.
 * argv[0] is the full name, as in "labels train"; the result is the exit code. */
#ifndef LABELS_H
#define LABELS_H

#include "options.h"
#include "progress.h"

int labels_train(int argc, char **argv);
int labels_fit(int argc, char **argv);
int labels_list(int argc, char **argv);
int labels_predict(int argc, char **argv);
int labels_eval(int argc, char **argv);

/* Whether a parameter matters for training words without labels. */
bool is_word_parameter(const tide_param_info *parameter);

/* Whether the trainer tracks labels; if not, prints an error message about the
 * model. */
bool tracks_labels(const tide_trainer *trainer, const char *path);

/* Fits the classifier, to the end or until a signal, and saves the model with `backups`
 * earlier files. Returns the exit code. */
int fit_and_save(tide_trainer *trainer, progress *p, const char *path,
                 uint32_t backups);

/* Parses a probability; anything else is a usage error of `command`. */
float parse_threshold(const char *text, const char *command);

#endif
