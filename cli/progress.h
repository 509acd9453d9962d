/* progress.h - the progress of training, on standard error and for systemd.
 *
 * On a terminal it is one line that is overwritten; otherwise a logfmt line at the
 * first words, and then every ten seconds. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <wordtide.h>
#include <wordtide/labels.h>

typedef struct progress {
    bool terminal, quiet;
    bool line_open; /* the progress line is on the terminal, without a newline */
    double started, last_shown;
    double before_time; /* the time of `before` */
    tide_stats before;  /* rates are measured since these */
    tide_stats initial; /* those of the resumed model */
    double word_rate, in_rate, out_rate;
    double done_first, done_since; /* the first fraction done, and its time */
    double systemd_time;           /* of the last notification, with its tokens */
    uint64_t systemd_tokens;
} progress;

void progress_begin(progress *p, const tide_stats *initial, bool quiet);

/* Callbacks of a tide_run whose `data` is the progress. */
void progress_update(void *data, const tide_stats *stats);
void progress_note(void *data, bool warning, const char *text);

void progress_budget(const progress *p, const tide_part *parts, int count);

/* Ends the progress line on a terminal, before something else is printed. */
void progress_break(progress *p);

/* Logs the result. The model was saved at `path`, NULL if it was not. The file that was
 * there before is now `backup`; NULL if there was none. */
void progress_end(progress *p, const tide_stats *stats, const char *path,
                  const char *backup, bool stopped);

/* On a terminal, suggests a command to query the model at `path`. `word` is a word of
 * it, or NULL. */
void progress_suggest(const progress *p, const char *path, const char *word);

/* A callback for tide_trainer_watch_labels whose `data` is the progress. Shows the
 * epoch of the classifier and returns true. */
bool progress_epoch(void *data, const tide_epoch *epoch);

/* Logs the fitted classifier after the model was saved at `path`; `backup` as above. */
void progress_fitted(progress *p, const tide_label_stats *stats, const tide_epoch *last,
                     const char *path, const char *backup);

#endif
