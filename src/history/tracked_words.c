/* tracked_words.c - which words have their vectors tracked: the most frequent ones and
 * those watched by the user.
 *
 * A word that becomes one of the `follow` most frequent gets a row, and keeps it until
 * its rank is more than a tenth beyond that limit, so that words at the border do not
 * come and go with every update. There are as many rows as words up to that second
 * border, plus one per watched word, so a free row is always available.
 *
 * When a row passes to another word its old snapshots belong to the previous one. They
 * are not erased: snapshots taken before the row was assigned (`since`) do not count.
 */
#include "history/tracked_words.h"

#include "history/history_internal.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <math.h>

static uint32_t max_rank(const tide_history *h)
{
    return h->options.tracked + h->options.tracked / 10;
}

uint32_t tide_tracked_word_add(tide_history *h, const char *word, bool watched)
{
    if (!h->free_row_count)
        return TIDE_NOT_TRACKED;
    uint32_t row = h->free_rows[--h->free_row_count];
    tide_tracked_word *tracked = &h->tracked[row];
    *tracked = (tide_tracked_word){
        .watched = watched, .slot = TIDE_NO_SLOT, .since = (double)INFINITY};
    memcpy(tracked->word, word, strnlen(word, TIDE_WORD_MAX));
    return row;
}

static void release_row(tide_history *h, uint32_t row)
{
    tide_tracked_word *tracked = &h->tracked[row];
    if (tracked->slot != TIDE_NO_SLOT)
        h->stats[tracked->slot].row = TIDE_NOT_TRACKED;
    *tracked = (tide_tracked_word){.slot = TIDE_NO_SLOT};
    h->free_rows[h->free_row_count++] = row;
}

void tide_tracked_word_set_slot(tide_history *h, uint32_t row, uint32_t slot)
{
    h->tracked[row].slot = slot;
    h->tracked[row].since = h->clock;
    h->tracked[row].drift_alarmed = false;
    h->projection.has_point[row] = false;
    h->map[row][0] = h->map[row][1] = NAN;
    h->stats[slot].row = row;
}

void tide_tracked_word_evicted(tide_history *h, uint32_t row)
{
    tide_tracked_word *tracked = &h->tracked[row];
    h->stats[tracked->slot].row = TIDE_NOT_TRACKED;
    tracked->slot = TIDE_NO_SLOT;
    tracked->since = (double)INFINITY;
    if (!tracked->watched)
        release_row(h, row);
}

static void release_rare_words(tide_history *h)
{
    for (uint32_t row = 0; row < h->snapshots.rows; row++) {
        const tide_tracked_word *tracked = &h->tracked[row];
        if (*tracked->word && !tracked->watched &&
            (tracked->slot == TIDE_NO_SLOT ||
             h->stats[tracked->slot].rank >= max_rank(h)))
            release_row(h, row);
    }
}

static void assign_watched_words(tide_history *h)
{
    for (uint32_t row = 0; row < h->snapshots.rows; row++) {
        const tide_tracked_word *tracked = &h->tracked[row];
        tide_entry entry;
        if (tracked->watched && tracked->slot == TIDE_NO_SLOT &&
            !tide_model_find(&h->model, tracked->word, &entry, NULL))
            tide_tracked_word_set_slot(h, row, entry.slot);
    }
}

void tide_tracked_words_update(tide_history *h)
{
    release_rare_words(h);
    assign_watched_words(h);
    for (uint32_t rank = 0; rank < h->word_count && rank < h->options.tracked; rank++) {
        uint32_t slot = h->order[rank];
        if (h->stats[slot].row != TIDE_NOT_TRACKED)
            continue;
        uint32_t row =
            tide_tracked_word_add(h, tide_model_entry(&h->model, slot).word, false);
        if (row != TIDE_NOT_TRACKED)
            tide_tracked_word_set_slot(h, row, slot);
    }
}

uint32_t tide_tracked_word_find(const tide_history *h, const char *word)
{
    tide_entry entry;
    if (!tide_model_find(&h->model, word, &entry, NULL) &&
        h->stats[entry.slot].row != TIDE_NOT_TRACKED)
        return h->stats[entry.slot].row;
    for (uint32_t row = 0; row < h->snapshots.rows; row++)
        if (h->tracked[row].watched && !strcmp(h->tracked[row].word, word))
            return row;
    return TIDE_NOT_TRACKED;
}

bool tide_tracked_word_has_snapshot(const tide_history *h, uint32_t row,
                                    uint32_t snapshot)
{
    const int16_t *vector = tide_snapshots_vector(&h->snapshots, snapshot, row);
    if (!*h->tracked[row].word ||
        !(h->snapshots.times[snapshot] >= h->tracked[row].since))
        return false;
    for (uint32_t d = 0; d < h->snapshots.dim; d++)
        if (vector[d])
            return true;
    return false;
}

/* -- watched words ---------------------------------------------------------------- */

static int watch_word(tide_history *h, const char *word, tide_error *err)
{
    uint32_t row = tide_tracked_word_find(h, word);
    if (row != TIDE_NOT_TRACKED && h->tracked[row].watched)
        return TIDE_OK;
    if (h->watched_count == h->options.watched)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "cannot watch more than %u words",
                         h->watched_count);
    if (row == TIDE_NOT_TRACKED)
        row = tide_tracked_word_add(h, word, true);
    if (row == TIDE_NOT_TRACKED)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "no free row to watch '%s'", word);
    h->tracked[row].watched = true;
    h->watched_count++;
    return TIDE_OK;
}

int tide_history_watch(tide_history *h, const char *word, tide_error *err)
{
    if (!*word || strlen(word) > TIDE_WORD_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "'%.80s' is not a word", word);
    pthread_mutex_lock(&h->lock);
    int status = watch_word(h, word, err);
    pthread_mutex_unlock(&h->lock);
    return status;
}

int tide_history_unwatch(tide_history *h, const char *word, tide_error *err)
{
    pthread_mutex_lock(&h->lock);
    uint32_t row = tide_tracked_word_find(h, word);
    bool watched = row != TIDE_NOT_TRACKED && h->tracked[row].watched;
    if (watched) {
        h->tracked[row].watched = false;
        h->watched_count--;
        if (h->tracked[row].slot ==
            TIDE_NO_SLOT) /* otherwise watching it again would take another row */
            release_row(h, row);
    }
    pthread_mutex_unlock(&h->lock);
    return watched ? TIDE_OK
                   : tide_fail(err, TIDE_ERROR_NOT_FOUND, "'%s' is not watched", word);
}

uint32_t tide_history_tracked(tide_history *h)
{
    pthread_mutex_lock(&h->lock);
    uint32_t count = h->snapshots.rows - h->free_row_count;
    pthread_mutex_unlock(&h->lock);
    return count;
}
