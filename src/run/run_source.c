/* run_source.c - the sources of a run: opening them, and finding the place to go on from.
 *
 * The intake may have been saved with half a sentence or half a record, and with the names of
 * columns. They belong to one source, the live one. A run that goes on with that source goes on in
 * the middle; for any other source a new text begins, with names of its own if it has any.
 */
#include "detect/detect.h"
#include "params/params.h"
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

static tide_source *begin(const tide_run_state *r, const char *spec, tide_error *err)
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

/* -- opening ------------------------------------------------------------------------------------------ */

/* Goes on in a source that an earlier run had begun, if it is still the same. */
static int find_place(tide_run_state *r, tide_reading *s, tide_error *err)
{
    tide_position *position = tide_positions_take(&r->before, s->spec);
    if (!position || r->run->from_start)
        return TIDE_OK;
    if (!s->replayable)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s cannot be read on where the model stopped; name the "
                         "spool that it was read through with --spool, or leave what "
                         "is there with --from-start",
                         s->spec);
    int status = tide_source_seek(s->source, position->place, err);
    if (status == TIDE_ERROR_FORMAT) {
        tide_run_note(r, true, s->spec, err->text);
        return TIDE_OK;
    }
    position->taken = !status;
    if (status)
        return status;
    tide_run_note(r, false, s->spec, "going on where the last run stopped");
    s->inside = tide_source_offset(s->source) > 0;
    s->live = position->live;
    return TIDE_OK;
}

static int prepare(tide_run_state *r, tide_reading *s, tide_error *err)
{
    s->replayable = tide_source_can_resume(s->source);
    bool alone = tide_source_is_one_text(s->source) && !tide_run_in_turns(r);
    if (!alone && !tide_source_plain(s->source) && tide_ingest_has_header(r->intake))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s: its columns have no names here, so give their numbers",
                         s->spec);
    if (tide_run_in_turns(r) && tide_source_divisible(s->source)) {
        s->held = tide_alloc(HELD_MAX, 1);
        if (!s->held)
            return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", s->spec);
    }
    int status = TIDE_OK;
    if (s->replayable)
        status = tide_positions_begin(tide_trainer_positions(r->trainer), s->spec,
                                      &s->position, err);
    return status ? status : find_place(r, s, err);
}

int tide_run_open(tide_run_state *r, tide_reading *s, tide_error *err)
{
    s->source = begin(r, s->spec, err);
    if (!s->source)
        return tide_run_stop_asked(r) ? 1 : (int)err->status;
    s->open = true;
    int status = prepare(r, s, err);
    if (status)
        tide_run_close(s);
    return status;
}

void tide_run_finish(const tide_run_state *r, const tide_reading *s)
{
    tide_error err;
    if (s->open && tide_source_finish(s->source, &err))
        tide_run_note(r, true, s->spec, err.text);
}

void tide_run_close(tide_reading *s)
{
    if (s->open)
        tide_source_close(s->source);
    free(s->held);
    free(s->held_place);
    s->held = s->held_place = NULL;
    s->open = false;
}

/* Reads the names of the columns, which are at the beginning of a source that is read on in the
 * middle. */
static int read_names(tide_run_state *r, const tide_reading *s, tide_error *err)
{
    if (tide_source_discards(s->source))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s: the names of its columns have left the spool, so give "
                         "their numbers",
                         s->spec);
    tide_source *source = begin(r, s->spec, err);
    if (!source)
        return (int)err->status;
    char byte;
    ptrdiff_t size = 1;
    while (tide_ingest_expects_header(r->intake) && size > 0) {
        size = tide_source_read(source, &byte, 1, err);
        if (size > 0)
            tide_ingest_feed(r->intake, &byte, 1);
        else if (size < 0 && errno == EINTR && !tide_run_stop_asked(r))
            size = 1;
    }
    tide_source_close(source);
    return size < 0 ? (int)size : TIDE_OK;
}

int tide_run_begin_text(tide_run_state *r, tide_reading *s, tide_error *err)
{
    s->begun = true;
    r->told_problem = *tide_trainer_passes(r->trainer) > 0; /* in the first of them */
    if (!s->live)
        tide_trainer_end(r->trainer, NULL);
    bool lacks_names = s->inside && !tide_source_plain(s->source) &&
                       tide_ingest_expects_header(r->intake);
    return lacks_names ? read_names(r, s, err) : TIDE_OK;
}
