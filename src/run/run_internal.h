/* run_internal.h - what the files of a run share. Private. */
#ifndef TIDE_RUN_RUN_INTERNAL_H
#define TIDE_RUN_RUN_INTERNAL_H

#include "file/file.h"
#include "params/params.h"
#include "run/run.h"
#include "train/train.h"

/* A source of the run. */
typedef struct tide_run_input {
    const char *spec;
    tide_source *source;
    bool open;
    bool replayable;
    size_t position; /* index in the positions of the trainer, if replayable */
    bool resumed;    /* reading started behind the beginning */
    bool mid_text;   /* the saved state of the ingest belongs to this source */
    bool started;    /* some text has been read */

    /* The incomplete line or record of a source that is read in turns
     * (run_partial.c). */
    char *partial; /* [PARTIAL_MAX] */
    size_t partial_size;
    uint64_t skipped;       /* bytes of a record that is too long to buffer */
    uint64_t partial_start; /* offset of its first byte in the source */
    char *partial_position; /* the same as a position; NULL if there is none */
    bool reported_split;    /* that a line was too long */
} tide_run_input;

/* Result of reading a block; errors are negative. */
enum { ENDED = 0, STOPPED = 1, CONTINUES, WAITING };

enum { BLOCK = 64 * 1024, WAIT_MS = 100 };

typedef struct tide_run_state {
    tide_trainer *trainer;
    atomic_int *trainer_stop; /* set by tide_trainer_stop; NULL without a trainer */
    tide_ingest *ingest;
    const tide_run *run;
    tide_positions previous; /* where the resumed run stopped */
    tide_run_input *inputs;  /* [source_count] */
    double progress_time;    /* when progress was last called */
    bool ending;             /* training is over */

    /* The checkpoint that is being written. */
    bool saving; /* it has started, and its result was not reported */
    tide_checkpoint_writer *writer; /* NULL if the run has no path to save to */
    /* the file of the next large checkpoint, or NULL */
    tide_store_writer *preallocated;
    tide_positions pending_positions; /* the positions in it */
    uint64_t pending_bytes;           /* its size */
    double pending_pause;             /* seconds that training was paused */
    double pending_start;             /* monotonic time when it started */
    uint64_t pending_tokens;          /* tokens read by then */

    /* Earlier saves. */
    uint64_t safe_tokens;   /* tokens in the last checkpoint that is safe */
    uint64_t tokens_before; /* tokens read before this run */
    bool output_written;    /* to save_path, by this run */
    bool has_saved;         /* by this run or the one that it resumes */
    bool position_lost;     /* the model is beyond the last known position */
    double last_save;       /* when the last save started */
    uint64_t last_save_tokens;
    double retry_at; /* when a failed save is retried; 0 if none failed */

    /* Progress. */
    size_t counted_source;               /* the source that `bytes_before` precede */
    uint64_t bytes_before, stored_bytes; /* the latter of all sources; 0 if unknown */
    double pass_fraction;                /* last reported fraction of this epoch */

    double nan_checked;  /* when all vectors were last checked */
    uint64_t repaired;   /* vectors repaired by then */
    uint64_t bad_before; /* bad records before this run */
    bool paused;
    uint64_t paused_tokens; /* at the last pause, if there was one */
    bool reported_problem;  /* of the current source */
} tide_run_state;

bool tide_run_stop_requested(const tide_run_state *r);

/* Whether several sources are read in turns. */
bool tide_run_interleaves(const tide_run_state *r);

/* -- reading all sources ---------------------------------------------------------- */

/* Each of these returns 0 when all is read, 1 if stopped. */

/* Reads all sources to their ends. (run.c) */
int tide_run_sources(tide_run_state *r, tide_error *err);

/* Reads followed sources in turns. (run_turns.c) */
int tide_run_interleave(tide_run_state *r, tide_error *err);

/* Reads all sources once per epoch. (epochs.c) */
int tide_run_epochs(tide_run_state *r, tide_error *err);

/* -- reading a block (run.c) ------------------------------------------------------ */

/* Reads and learns one block, waiting for it up to `wait_ms`. */
int tide_run_read_block(tide_run_state *r, tide_run_input *s, int wait_ms,
                        tide_error *err);

/* Learns text that starts at this offset of the source. Stops or saves in between if
 * that is due. */
int tide_run_feed(tide_run_state *r, tide_run_input *s, const char *bytes, size_t size,
                  uint64_t offset, tide_error *err);

/* Stops or saves if that is due: `offset` bytes of the source have been learned. */
int tide_run_pause_at(tide_run_state *r, const tide_run_input *s, uint64_t offset,
                      tide_error *err);

/* Finishes the text of a source after tide_run_read_block returned ENDED, STOPPED or an
 * error as `status`. Returns the resulting status. */
int tide_run_end_text(tide_run_state *r, tide_run_input *s, int status,
                      tide_error *err);

/* -- incomplete lines and records (run_partial.c) --------------------------------- */

enum { PARTIAL_MAX = TIDE_RECORD_MAX + 1 }; /* a record of this size is too long */

/* Learns the buffered text and the complete lines and records of a block, and buffers
 * the rest. */
int tide_run_feed_complete(tide_run_state *r, tide_run_input *s, const char *bytes,
                           size_t size, tide_error *err);

/* Learns the buffered text although it has no end. */
void tide_run_flush_partial(tide_run_state *r, tide_run_input *s);

/* The position of the byte at `offset`, or of the buffered text if everything before
 * `offset` was read. The caller frees it. */
char *tide_run_position(const tide_run_input *s, uint64_t offset, tide_error *err);

/* -- sources (run_source.c) ------------------------------------------------------- */

/* Opens a stored source outside of the run, neither followed nor spooled. */
tide_source *tide_run_open_stored(const tide_run *run, const tide_params *params,
                                  const char *spec, tide_error *err);

/* Opens the source and seeks to where the previous run stopped. Returns 1 if stopped.
 * Closing an input that is not open does nothing. */
int tide_run_open_input(tide_run_state *r, tide_run_input *s, tide_error *err);
void tide_run_close_input(tide_run_input *s);

/* After the last save: waits until the source has acknowledged it, and notes a
 * failure. */
void tide_run_finish_input(const tide_run_state *r, const tide_run_input *s);

/* Before the first block: continues the text that the ingest was in the middle of, or
 * ends it. */
int tide_run_start_text(tide_run_state *r, tide_run_input *s, tide_error *err);

/* -- reports (run_report.c) ------------------------------------------------------- */

/* Calls note with a line for the user: the subject and the message. */
void tide_run_note(const tide_run_state *r, bool warning, const char *what,
                   const char *text);

/* Notes the messages of a source. */
void tide_run_report_source(const tide_run_state *r, const tide_run_input *s);

/* Calls run->progress about ten times per second. tide_run_progress_due returns true,
 * once, when the next call is due. */
void tide_run_report_progress(tide_run_state *r);
bool tide_run_progress_due(tide_run_state *r);

/* Trains all queued sentences and calls pause. */
void tide_run_pause(tide_run_state *r);

/* Checks all vectors for NaN once per minute, and notes how many were repaired. */
void tide_run_check_nan(tide_run_state *r);

/* -- progress (run_progress.c) ---------------------------------------------------- */

/* The fraction of all stored text that was read, over all epochs; 0 if unknown. */
double tide_run_fraction_done(tide_run_state *r);

/* The same for the current epoch, with `open` as the index of the open source. */
double tide_run_pass_fraction(tide_run_state *r, size_t open,
                              const tide_source *source);

/* -- positions of sources (run_positions.c) --------------------------------------- */

/* Records the positions of all open sources: `s` is at `offset`, and the state of the
 * ingest belongs to it unless it has ended; the others are between two texts. */
int tide_run_note_positions(tide_run_state *r, const tide_run_input *s, uint64_t offset,
                            tide_error *err);

/* Notifies every source of its position in the saved model. */
void tide_run_notify_sources(tide_run_state *r, const tide_positions *saved);

/* Positions of sources that this run has not reached stay valid for the next run. */
void tide_run_carry_over_positions(tide_run_state *r);

/* -- saving (run_save.c) ---------------------------------------------------------- */

/* Whether a save is due. A large one is not due before its file is preallocated. */
bool tide_run_save_due(const tide_run_state *r);

/* Preallocates the file of a large save that would be due otherwise. */
void tide_run_preallocate_checkpoint(tide_run_state *r);

/* Saves with these positions and notifies the sources once that is safe. With `wait` it
 * is safe, or has failed, on return. Returns false on failure, which is noted; training
 * continues. */
bool tide_run_save(tide_run_state *r, const tide_run_input *s, uint64_t offset,
                   bool wait);

/* Handles the result of the checkpoint that was being written, with `wait` after
 * waiting for it. Returns false if it failed. */
bool tide_run_collect_checkpoint(tide_run_state *r, bool wait);

/* The last save of a run that ended with `status`. Returns the status of the run. */
int tide_run_save_at_end(tide_run_state *r, int status, tide_error *err);

/* -- options (run_options.c) ------------------------------------------------------- */

/* Copies a caller's tide_run, which may be of an older or newer version. */
int tide_run_copy(tide_run *run, const tide_run *given, tide_error *err);

/* Fails if the run would have to replace files that are not models. */
int tide_run_check_targets(const tide_run *run, tide_error *err);

#endif
