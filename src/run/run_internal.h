/* run.h - what the files about a run over sources share. */
#ifndef TIDE_RUN_RUN_INTERNAL_H
#define TIDE_RUN_RUN_INTERNAL_H

#include "file/file.h"
#include "params/params.h"
#include "run/run.h"
#include "train/train.h"

typedef struct tide_reading {
    const char *spec;
    tide_source *source;
    bool open;
    bool replayable;
    size_t position; /* number of its place, if replayable */
    bool inside;     /* reading goes on behind the beginning */
    bool live;       /* and with the state that the intake was saved with */
    bool begun;      /* some text has come */

    /* Of sources that take turns: the line or record that is not complete (run_partial.c). */
    char *held; /* what was read of it, if it is not too long */
    size_t held_size;
    uint64_t skipped;    /* bytes of a record that is too long */
    uint64_t held_start; /* offset at which it begins */
    char *held_place;    /* the same as a place, if there is one */
    bool told_divided;   /* that a line was too long */
} tide_reading;

/* What became of a turn; errors are negative. */
enum { ENDED = 0, STOPPED = 1, GOES_ON, WAITING };

enum { BLOCK = 64 * 1024, WAIT_MS = 100 };

typedef struct tide_run_state {
    tide_trainer *trainer;
    tide_ingest *intake;
    const tide_run *run;
    tide_positions before;  /* where the run that this one goes on with had come */
    tide_reading *readings; /* [source_count] */
    double watched;         /* when watch was last called */
    bool ending;            /* nothing is learned any more */
    bool saving; /* a save has begun, and nobody was told what became of it */
    tide_checkpoint_writer *keeper; /* NULL: everything is saved at once */
    tide_store_writer *next; /* a large checkpoint that has its room, or soon; NULL */
    tide_positions pending;  /* the places that are in the checkpoint on its way */
    uint64_t pending_bytes;  /* how large it is, and how long training stood still */
    double pending_pause;
    double pending_begun;    /* monotonic: when it began, the model standing still */
    uint64_t pending_tokens; /* how much it has read */
    uint64_t kept_tokens;    /* the same of the last one that is safe */
    uint64_t tokens_before;  /* that were read before this run */
    bool output_written;     /* to save_path, by this run */
    size_t counted_source;   /* the source before which there are `bytes_before` */
    uint64_t bytes_before, stored_bytes; /* the latter of all; 0 when not counted */
    double pass_done;                    /* what was last told of this pass */
    double scrubbed;  /* when all vectors were last looked at on the way */
    uint64_t healed;  /* vectors that had been begun again then */
    bool has_saved;   /* in this run, or the one that it goes on with */
    bool places_lost; /* the model has learned beyond the last place that is known */
    double saved;     /* when the last save began */
    double retry_at;  /* when one that failed is tried again; 0: none failed */
    uint64_t saved_tokens;
    uint64_t bad_before; /* records left out before this run */
    bool paused;
    uint64_t paused_tokens; /* at the last pause, if there was one */
    bool told_problem;      /* of the present source */
} tide_run_state;

bool tide_run_stop_asked(const tide_run_state *r);

/* Whether several sources are read at once. */
bool tide_run_in_turns(const tide_run_state *r);

/* Reads all sources to their ends: 0 there, 1 when stopped. (run.c) */
int tide_run_sources(tide_run_state *r, tide_error *err);

/* The same for sources that are followed. (run_turns.c) */
int tide_run_turns(tide_run_state *r, tide_error *err);

/* -- a turn (run.c) ---------------------------------------------------------------------------------- */

/* Reads and learns one block. */
int tide_run_take_block(tide_run_state *r, tide_reading *s, int wait_ms,
                        tide_error *err);

/* Learns text of a source that begins at this offset in it. Stops and saves in between, if it is time to. */
int tide_run_feed(tide_run_state *r, tide_reading *s, const char *bytes, size_t size,
                  uint64_t offset, tide_error *err);

/* Stops or saves, if it is time to: `offset` bytes of the source are learned. */
int tide_run_pause_at(tide_run_state *r, const tide_reading *s, uint64_t offset,
                      tide_error *err);

/* Ends what take_block said is over: `status` is ENDED, STOPPED or an error. Returns what it comes to. */
int tide_run_end_text(tide_run_state *r, tide_reading *s, int status, tide_error *err);

/* -- text that waits for the end of its line or record (run_partial.c) ---------------------------------- */

enum { HELD_MAX = TIDE_RECORD_MAX + 1 }; /* with so many bytes a record is too long */

/* Learns of a block what is complete, together with what was held before, and holds the rest. */
int tide_run_feed_whole(tide_run_state *r, tide_reading *s, const char *bytes,
                        size_t size, tide_error *err);

/* Learns what is held, though it has no end. */
void tide_run_flush_partial(tide_run_state *r, tide_reading *s);

/* The place of the byte at `offset`, or of what is held if all before `offset` was read; free() it. */
char *tide_run_place(const tide_reading *s, uint64_t offset, tide_error *err);

/* The same until all epochs are done. (batch.c) */
int tide_run_epochs(tide_run_state *r, tide_error *err);

/* -- sources (run_source.c) -------------------------------------------------------------------------- */

/* Opens a source that is stored, to be read apart from the run: neither followed nor spooled. */
tide_source *tide_run_open_stored(const tide_run *run, const tide_params *params,
                                  const char *spec, tide_error *err);

/* Opens the source and goes to where the run before had come; 1 when stopped. Closing what is not open is fine. */
int tide_run_open(tide_run_state *r, tide_reading *s, tide_error *err);
void tide_run_close(tide_reading *s);

/* After the last save: waits until others know of it, and tells if they do not. */
void tide_run_finish(const tide_run_state *r, const tide_reading *s);

/* Before the first block: the text that the intake was in the middle of goes on, or has ended. */
int tide_run_begin_text(tide_run_state *r, tide_reading *s, tide_error *err);

/* -- telling and saving (run_save.c) ---------------------------------------------------------------- */

/* A line for a person: what it is about, and what there is to say. */
void tide_run_note(const tide_run_state *r, bool warning, const char *what,
                   const char *text);

/* What the source has to tell. */
void tide_run_report_news(const tide_run_state *r, const tide_reading *s);

/* Calls watch some ten times a second; whether it is time to do so, which is then said once. */
void tide_run_report_progress(tide_run_state *r);
bool tide_run_progress_due(tide_run_state *r);

/* The fraction of all stored text that it has read, in all epochs; 0 where that is not known. (run_progress.c) */
double tide_run_done(tide_run_state *r);

/* The same of one pass over the sources, of which this one is open and those before it have been read. */
double tide_run_pass_done(tide_run_state *r, size_t open, const tide_source *source);

/* Looks once a minute whether all vectors are numbers, and tells what was healed since. */
void tide_run_repair(tide_run_state *r);

/* Calls pause, all lessons learned. */
void tide_run_pause(tide_run_state *r);

bool tide_run_save_due(const tide_run_state *r);

/* A save that is due is put off until there is room for it, if it is large. */
void tide_run_preallocate(tide_run_state *r);

/* Notes the places of all open sources: that of `s` at `offset`, and that the state of the intake
 * belongs to it, unless it has ended; the others rest. */
int tide_run_note_places(tide_run_state *r, const tide_reading *s, uint64_t offset,
                         tide_error *err);

/* Saves with these places; once that is safe the sources are told. With `wait` it is safe, or has failed, on
 * return; false when it failed. A save that fails is noted, and learning goes on. */
bool tide_run_save(tide_run_state *r, const tide_reading *s, uint64_t offset,
                   bool wait);

/* Looks after a checkpoint that is on its way, and waits for it if asked to. False when it failed. */
bool tide_run_collect(tide_run_state *r, bool wait);

/* The last save of a run that came to `status`; returns what the run comes to. */
int tide_run_save_at_end(tide_run_state *r, int status, tide_error *err);

#endif
