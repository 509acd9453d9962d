/* tracked_words.c - which words are followed: the most frequent ones, and those that somebody watches.
 *
 * A word that becomes one of the `follow` most frequent is given a place, and keeps it until it has a tenth of that many
 * more before it; so words at the border do not come and go with every look. At most as many places are
 * taken as there are words up to that second border, and one for each watched word, so there is always one free.
 *
 * A place is another word's past once it is given away. Nothing need be wiped out: what was taken down before the
 * place was taken (`since`) does not count.
 */
#include "history/tracked_words.h"

#include "history/history_internal.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <math.h>

static uint32_t last_rank(const tide_history *h)
{
    return h->options.follow + h->options.follow / 10;
}

uint32_t tide_tracked_word_add(tide_history *h, const char *word, bool watched)
{
    if (!h->free_count)
        return TIDE_NOT_TRACKED;
    uint32_t at = h->free[--h->free_count];
    tide_tracked_word *place = &h->places[at];
    *place = (tide_tracked_word){
        .watched = watched, .slot = TIDE_NO_SLOT, .since = (double)INFINITY};
    memcpy(place->word, word, strnlen(word, TIDE_WORD_MAX));
    return at;
}

static void give_up(tide_history *h, uint32_t at)
{
    tide_tracked_word *place = &h->places[at];
    if (place->slot != TIDE_NO_SLOT)
        h->tenants[place->slot].place = TIDE_NOT_TRACKED;
    *place = (tide_tracked_word){.slot = TIDE_NO_SLOT};
    h->free[h->free_count++] = at;
}

void tide_tracked_word_set_slot(tide_history *h, uint32_t at, uint32_t slot)
{
    h->places[at].slot = slot;
    h->places[at].since = h->clock;
    h->places[at].drift_told = false;
    h->plane.placed[at] = false;
    h->spots[at][0] = h->spots[at][1] = NAN;
    h->tenants[slot].place = at;
}

void tide_tracked_word_evicted(tide_history *h, uint32_t at)
{
    tide_tracked_word *place = &h->places[at];
    h->tenants[place->slot].place = TIDE_NOT_TRACKED;
    place->slot = TIDE_NO_SLOT;
    place->since = (double)INFINITY;
    if (!place->watched)
        give_up(h, at);
}

static void give_up_rare(tide_history *h)
{
    for (uint32_t at = 0; at < h->ladder.places; at++) {
        const tide_tracked_word *place = &h->places[at];
        if (*place->word && !place->watched &&
            (place->slot == TIDE_NO_SLOT ||
             h->tenants[place->slot].rank >= last_rank(h)))
            give_up(h, at);
    }
}

static void seat_watched(tide_history *h)
{
    for (uint32_t at = 0; at < h->ladder.places; at++) {
        const tide_tracked_word *place = &h->places[at];
        tide_entry entry;
        if (place->watched && place->slot == TIDE_NO_SLOT &&
            !tide_model_find(&h->model, place->word, &entry, NULL))
            tide_tracked_word_set_slot(h, at, entry.slot);
    }
}

void tide_tracked_words_update(tide_history *h)
{
    give_up_rare(h);
    seat_watched(h);
    for (uint32_t rank = 0; rank < h->words && rank < h->options.follow; rank++) {
        uint32_t slot = h->order[rank];
        if (h->tenants[slot].place != TIDE_NOT_TRACKED)
            continue;
        uint32_t at =
            tide_tracked_word_add(h, tide_model_entry(&h->model, slot).word, false);
        if (at != TIDE_NOT_TRACKED)
            tide_tracked_word_set_slot(h, at, slot);
    }
}

uint32_t tide_tracked_word_find(const tide_history *h, const char *word)
{
    tide_entry entry;
    if (!tide_model_find(&h->model, word, &entry, NULL) &&
        h->tenants[entry.slot].place != TIDE_NOT_TRACKED)
        return h->tenants[entry.slot].place;
    for (uint32_t at = 0; at < h->ladder.places; at++)
        if (h->places[at].watched && !strcmp(h->places[at].word, word))
            return at;
    return TIDE_NOT_TRACKED;
}

bool tide_tracked_word_has_snapshot(const tide_history *h, uint32_t place,
                                    uint32_t rung)
{
    const int16_t *vector = tide_snapshots_vector(&h->ladder, rung, place);
    if (!*h->places[place].word || !(h->ladder.times[rung] >= h->places[place].since))
        return false;
    for (uint32_t d = 0; d < h->ladder.dim; d++)
        if (vector[d])
            return true;
    return false;
}

/* -- watching ------------------------------------------------------------------------------------------ */

static int watch(tide_history *h, const char *word, tide_error *err)
{
    uint32_t at = tide_tracked_word_find(h, word);
    if (at != TIDE_NOT_TRACKED && h->places[at].watched)
        return TIDE_OK;
    if (h->watched == h->options.watch)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "%u words are watched already",
                         h->watched);
    if (at == TIDE_NOT_TRACKED)
        at = tide_tracked_word_add(h, word, true);
    if (at == TIDE_NOT_TRACKED)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "there is no place for '%s'", word);
    h->places[at].watched = true;
    h->watched++;
    return TIDE_OK;
}

int tide_history_watch(tide_history *h, const char *word, tide_error *err)
{
    if (!*word || strlen(word) > TIDE_WORD_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "'%.80s' is no word", word);
    pthread_mutex_lock(&h->lock);
    int status = watch(h, word, err);
    pthread_mutex_unlock(&h->lock);
    return status;
}

int tide_history_unwatch(tide_history *h, const char *word, tide_error *err)
{
    pthread_mutex_lock(&h->lock);
    uint32_t at = tide_tracked_word_find(h, word);
    bool watched = at != TIDE_NOT_TRACKED && h->places[at].watched;
    if (watched) {
        h->places[at].watched = false;
        h->watched--;
        if (h->places[at].slot ==
            TIDE_NO_SLOT) /* or to watch it again would take another */
            give_up(h, at);
    }
    pthread_mutex_unlock(&h->lock);
    return watched ? TIDE_OK
                   : tide_fail(err, TIDE_ERROR_NOT_FOUND, "'%s' is not watched", word);
}

uint32_t tide_history_followed(tide_history *h)
{
    pthread_mutex_lock(&h->lock);
    uint32_t count = h->ladder.places - h->free_count;
    pthread_mutex_unlock(&h->lock);
    return count;
}
