/* labels.h - the things that `wordtide labels` does, one file each, and what they share. argv[0] is
 * what is asked for, as in "labels train"; the result is the exit code. */
#ifndef LABELS_H
#define LABELS_H

#include "options.h"
#include "progress.h"

int labels_train(int argc, char **argv);
int labels_fit(int argc, char **argv);
int labels_list(int argc, char **argv);
int labels_predict(int argc, char **argv);
int labels_eval(int argc, char **argv);

/* Whether a parameter is of use to those who learn words and no labels. */
bool is_about_words(const tide_param_info *parameter);

/* Whether the trainer has labels; complains about the model if it has none. */
bool tracks_labels(const tide_trainer *trainer, const char *path);

/* The classifier learns anew, to its end or until a signal, and the model is saved, `older` earlier files being
 * kept. Returns the exit code. */
int fit_and_save(tide_trainer *trainer, progress *p, const char *path, uint32_t older);

/* A probability, as typed; another number is a usage error of `command`. */
float take_threshold(const char *text, const char *command);

#endif
