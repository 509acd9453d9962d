/* progress.h - how training is going, on standard error and for systemd (notify.h).
 *
 * On a terminal one line that is written over and over; otherwise a logfmt line at the
 * first words and then every ten seconds. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <wordtide.h>

typedef struct progress {
    bool terminal, quiet;
    bool line_open; /* the terminal's cursor is behind an unfinished line */
    double started, shown;
    double sampled;     /* when `before` was taken */
    tide_stats before;  /* rates are measured from here */
    tide_stats initial; /* what a resumed model brought along */
    double words_rate, in_rate, out_rate;
    double done_first, done_since; /* the first fraction that was told, and when */
    double told;                   /* when systemd was, and how much there was then */
    uint64_t told_tokens;
} progress;

void progress_begin(progress *p, const tide_stats *initial, bool quiet);

/* For tide_run: `data` is the progress. */
void progress_watch(void *data, const tide_stats *stats);
void progress_note(void *data, bool warning, const char *text);

void progress_budget(const progress *p, const tide_part *parts, int count);

/* Ends the refreshing line, so that something else can be said. */
void progress_break(progress *p);

/* The last line, after the model was saved at `path`; NULL when it is not kept. `older` is where the file is now that
 * was there; NULL if there was none. */
void progress_end(progress *p, const tide_stats *stats, const char *path,
                  const char *older, bool stopped);

/* On a terminal: what could be asked of the model at `path`, with a word that it has, or NULL. */
void progress_suggest(const progress *p, const char *path, const char *word);

/* For tide_trainer_watch_labels: shows how the classifier gets on, and never asks it to stop; `data` is
 * the progress. */
bool progress_epoch(void *data, const tide_epoch *epoch);

/* What the classifier has become with its `last` epoch, after the model was saved at `path`; `older` as
 * before. */
void progress_fitted(progress *p, const tide_label_stats *stats, const tide_epoch *last,
                     const char *path, const char *older);

#endif
