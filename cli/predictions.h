/* predictions.h - a file of predicted labels: JSON, one object per line, in the order
 * of the posts.
 *
 *     {"post":6,"names":["a","b","c"]}
 *     {"post":7,"time":"2020-03-01T12:00:00Z","labels":["a","x"],
 *      "told":[{"label":"a","probability":0.83},...]}
 *
 * "names" lists the labels that the classifier predicts from this post on: once at the
 * beginning, and after every fit. "labels" are all labels of the post. "told" are the
 * predicted labels at or above a threshold, and always the five most probable, by
 * descending probability. "time" is null for a post without one.
 */
#ifndef PREDICTIONS_H
#define PREDICTIONS_H

#include <wordtide.h>
#include <wordtide/labels.h>

typedef struct predictions predictions;

/* Opens the file. With `append` an existing file is extended; `fit` is the number of
 * the fit whose names were written last, 0 if they must be written again. `path` must
 * live as long as the result. NULL after an error message. */
predictions *predictions_open(const char *path, float threshold, bool append,
                              uint64_t fit);

/* Adds a post, which gets a line if it is scored. Returns false after an error message
 * if something could not be written. */
bool predictions_add(predictions *p, const tide_predicted_post *post, bool scored);

/* Returns the exit code, after an error message if something could not be written. NULL
 * is fine. */
int predictions_close(predictions *p);

#endif
