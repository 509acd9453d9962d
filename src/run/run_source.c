/* run_source.c - the sources of a run: opening them and finding the position to resume
 * from.
 *
 * The state of the ingest may have been saved in the middle of a sentence or record,
 * and with the column names of a header. It belongs to one source, the one whose
 * position is `live`. A run that resumes that source continues in the middle; any other
 * source starts a new text, with a header of its own if it has one.
 */
#include "detect/detect.h"
#include "params/params.h"
#include "reader/reader.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <errno.h>
#include <stdlib.h>

static tide_expected expected(const tide_run *run, const tide_params *params)
{
    if (run->as_text)
        return TIDE_EXPECTED_ALL;
    tide_record_kind kind = tide_params_records(params).kind;
    return kind == TIDE_RECORDS_LINES ? TIDE_EXPECTED_LINES : TIDE_EXPECTED_RECORDS;
}

static tide_source *open_source(const tide_run_state *r, const char *spec,
                                tide_error *err)
{
    const tide_run *run = r->run;
    const tide_params *params = tide_trainer_params(r->trainer);
    const tide_source_options options = {.expected = expected(run, params),
                                         .follow = run->follow,
                                         .properties = run->properties,
                                         .property_count = run->property_count,
                                         .feed = run->feed,
                                         .spool = run->spool,
                                         .spool_limit = run->spool_limit,
                                         .spool_sync = run->spool_sync,
                                         .from_start = run->from_start,
                                         .one_message =
                                             params->records == TIDE_RECORDS_CSV};
    return tide_source_open_with(spec, &options, err);
}

tide_source *tide_run_open_stored(const tide_run *run, const tide_params *params,
                                  const char *spec, tide_error *err)
{
    const tide_source_options options = {.expected = expected(run, params),
                                         .properties = run->properties,
                                         .property_count = run->property_count};
    return tide_source_open_with(spec, &options, err);
}

/* -- opening ---------------------------------------------------------------------- */

/* Seeks to where an earlier run stopped reading this source, if it is still the
 * same. */
static int seek_position(tide_run_state *r, tide_run_input *s, tide_error *err)
{
    tide_position *position = tide_positions_claim(&r->previous, s->spec);
    if (!position || r->run->from_start)
        return TIDE_OK;
    if (!s->replayable)
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "%s cannot be resumed where the model stopped: set the spool that it was "
            "read through, or set from-start to skip what is there",
            s->spec);
    int status = tide_source_seek(s->source, position->text, err);
    /* The text is no longer there, because the file was replaced, for example. The
     * source is then read from its start, with a warning. */
    if (status == TIDE_ERROR_FORMAT) {
        tide_run_note(r, true, s->spec, err->text);
        return TIDE_OK;
    }
    /* An unclaimed position is carried over to the next save (run_positions.c), so a
     * source that could not be opened this time is not forgotten. */
    position->claimed = !status;
    if (status)
        return status;
    tide_run_note(r, false, s->spec, "resuming where the last run stopped");
    s->resumed = tide_source_offset(s->source) > 0;
    s->mid_text = position->live;
    return TIDE_OK;
}

static int prepare_input(tide_run_state *r, tide_run_input *s, tide_error *err)
{
    s->replayable = tide_source_can_resume(s->source);
    bool alone = tide_source_is_one_text(s->source) && !tide_run_interleaves(r);
    /* A header applies to the text that starts with it. Sources that are read in turns,
     * or that consist of several files, have no such start. */
    if (!alone && !tide_source_plain(s->source) &&
        tide_reader_has_header(tide_ingest_reader(r->ingest)))
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "%s has no header with column names here; use column numbers instead",
            s->spec);
    /* Only a source that can stop in the middle of a line needs a buffer for that line;
     * messages are complete. */
    if (tide_run_interleaves(r) && tide_source_divisible(s->source)) {
        s->partial = tide_alloc(PARTIAL_MAX, 1);
        if (!s->partial)
            return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", s->spec);
    }
    int status = TIDE_OK;
    if (s->replayable)
        status = tide_positions_add(tide_trainer_positions(r->trainer), s->spec,
                                    &s->position, err);
    return status ? status : seek_position(r, s, err);
}

int tide_run_open_input(tide_run_state *r, tide_run_input *s, tide_error *err)
{
    s->source = open_source(r, s->spec, err);
    /* Opening a named pipe blocks until it has a writer, and a signal that ends the
     * wait is a stop, not an error. */
    if (!s->source)
        return tide_run_stop_requested(r) ? 1 : (int)err->status;
    s->open = true;
    int status = prepare_input(r, s, err);
    if (status)
        tide_run_close_input(s);
    return status;
}

void tide_run_finish_input(const tide_run_state *r, const tide_run_input *s)
{
    tide_error err;
    if (s->open && tide_source_finish(s->source, &err))
        tide_run_note(r, true, s->spec, err.text);
}

void tide_run_close_input(tide_run_input *s)
{
    if (s->open)
        tide_source_close(s->source);
    free(s->partial);
    free(s->partial_position);
    s->partial = s->partial_position = NULL;
    s->open = false;
}

/* Reads the header with the column names at the start of a source that is resumed in
 * the middle. */
static int read_header(tide_run_state *r, const tide_run_input *s, tide_error *err)
{
    if (tide_source_discards(s->source))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s: the spool has already discarded the header with the "
                         "column names; use column numbers instead",
                         s->spec);
    tide_source *source = open_source(r, s->spec, err);
    if (!source)
        return (int)err->status;
    /* The header is read byte by byte through a second instance of the source, so that
     * it is clear where the header ends and the position of the first is untouched. */
    char byte;
    ptrdiff_t size = 1;
    while (tide_reader_expects_header(tide_ingest_reader(r->ingest)) && size > 0) {
        size = tide_source_read(source, &byte, 1, err);
        if (size > 0)
            tide_ingest_feed(r->ingest, &byte, 1);
        else if (size < 0 && errno == EINTR && !tide_run_stop_requested(r))
            size = 1;
    }
    tide_source_close(source);
    return size < 0 ? (int)size : TIDE_OK;
}

int tide_run_start_text(tide_run_state *r, tide_run_input *s, tide_error *err)
{
    s->started = true;
    r->reported_problem =
        *tide_trainer_passes(r->trainer) > 0; /* reported in the first epoch */
    /* The previous text ends here. In the middle of a resumed one its open sentence
     * continues instead. */
    if (!s->mid_text)
        tide_trainer_end(r->trainer, NULL);
    bool needs_header = s->resumed && !tide_source_plain(s->source) &&
                        tide_reader_expects_header(tide_ingest_reader(r->ingest));
    return needs_header ? read_header(r, s, err) : TIDE_OK;
}
