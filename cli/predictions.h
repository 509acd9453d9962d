/* predictions.h - a file of what was told of posts: a JSON object a line, in the order of the posts.
 *
 *     {"post":6,"names":["a","b","c"]}
 *     {"post":7,"time":"2020-03-01T12:00:00Z","labels":["a","x"],
 *      "told":[{"label":"a","probability":0.83},...]}
 *
 * `names` are the labels that the classifier tells from this post on: once at the beginning, and
 * whenever it has learned anew. `labels` are all that the post carries; `told` are those at least as
 * probable as a threshold, and in any case the five most probable, by falling probability. A post without
 * a time has null. */
#ifndef PREDICTIONS_H
#define PREDICTIONS_H

#include <wordtide.h>

typedef struct predictions predictions;

/* `path` must live as long. With `go_on` a file that is there is gone on with: the names in it are those of
 * this `fit`, or 0 if of another. NULL after a complaint. */
predictions *predictions_open(const char *path, float threshold, bool go_on,
                              uint64_t fit);

/* One more post, which has a line if it is scored. False after a complaint, when something could not be
 * written. */
bool predictions_add(predictions *p, const tide_predicted_post *told, bool scored);

/* Returns the exit code, after a complaint if something could not be written. NULL is fine. */
int predictions_close(predictions *p);

#endif
