/* run_positions.c - the positions of a run's sources, which are saved with the
 * model. */
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <stdlib.h>

static int note_position(tide_run_state *r, const tide_run_input *s, uint64_t offset,
                         bool live, tide_error *err)
{
    tide_error ignored;
    char *text = tide_run_position(s, offset, err ? err : &ignored);
    r->position_lost = r->position_lost || !text;
    if (!text)
        return err ? (int)err->status : TIDE_ERROR_IO;
    if (strlen(text) >= POSITION_MAX) {
        free(text);
        return tide_fail(err, TIDE_ERROR_IO, "%s has too many positions to save",
                         s->spec);
    }
    tide_positions_set(tide_trainer_positions(r->trainer), s->position, text, live);
    return TIDE_OK;
}

int tide_run_note_positions(tide_run_state *r, const tide_run_input *s, uint64_t offset,
                            tide_error *err)
{
    int status = TIDE_OK;
    tide_positions *positions = tide_trainer_positions(r->trainer);
    r->position_lost = false;
    for (size_t i = 0; i < positions->count; i++)
        positions->items[i].live = false;
    for (size_t i = 0; i < r->run->source_count && !status; i++) {
        const tide_run_input *other = &r->inputs[i];
        if (!other->open || !other->replayable)
            continue;
        bool current = other == s;
        status = note_position(r, other,
                               current ? offset : tide_source_offset(other->source),
                               current && (s->started || s->mid_text), err);
    }
    return status;
}

void tide_run_notify_sources(tide_run_state *r, const tide_positions *saved)
{
    for (size_t i = 0; i < r->run->source_count; i++) {
        const tide_run_input *s = &r->inputs[i];
        tide_error err;
        if (s->open && s->replayable && s->position < saved->count &&
            saved->items[s->position].text &&
            tide_source_saved(s->source, saved->items[s->position].text, &err))
            tide_run_note(r, true, s->spec, err.text);
    }
}

void tide_run_carry_over_positions(tide_run_state *r)
{
    tide_positions *positions = tide_trainer_positions(r->trainer);
    for (size_t i = 0; i < r->previous.count; i++) {
        tide_position *item = &r->previous.items[i];
        size_t number;
        if (item->claimed || tide_positions_add(positions, item->spec, &number, NULL))
            continue;
        tide_positions_set(positions, number, item->text, false);
        item->text = NULL;
    }
}
