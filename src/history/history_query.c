/* ask.c - what any thread may ask of a history: lists of words, one word's past, neighbors then, the map.
 *
 * All answers are of the last look, and copied out under the lock. A list takes one pass over the words held, some 20
 * ns each.
 */
#include "history/history_internal.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

/* -- words --------------------------------------------------------------------------------------------- */

static double drift_of(const tide_history *h, const tide_word_stats *t, uint32_t rung)
{
    return rung != TIDE_NO_SNAPSHOT && t->place != TIDE_NOT_TRACKED &&
                   tide_tracked_word_has_snapshot(h, t->place, rung)
               ? (double)*tide_snapshots_angle(&h->ladder, rung, t->place)
               : (double)NAN;
}

static tide_history_word describe(const tide_history *h, uint32_t slot)
{
    const tide_word_stats *t = &h->tenants[slot];
    tide_entry entry = tide_model_entry(&h->model, slot);
    uint32_t rung = tide_history_drift_snapshot(h);
    tide_history_word w = {.count = entry.count,
                           .error = entry.error,
                           .seen = (uint64_t)t->seen,
                           .rank = t->rank + 1,
                           .rate = tide_word_stats_rate(h, t),
                           .baseline = tide_word_stats_baseline(h, t),
                           .ratio = tide_word_stats_ratio(h, t),
                           .trend = tide_word_stats_trend(h, t),
                           .drift = drift_of(h, t, rung),
                           .first_seen = tide_history_time(h, t->since),
                           .followed = t->place != TIDE_NOT_TRACKED,
                           .watched = t->place != TIDE_NOT_TRACKED &&
                                      h->places[t->place].watched};
    w.since =
        isnan(w.drift) ? (double)NAN : tide_history_time(h, h->ladder.times[rung]);
    memcpy(w.word, entry.word, strnlen(entry.word, TIDE_WORD_MAX));
    return w;
}

int tide_history_word_of(tide_history *h, const char *word, tide_history_word *found,
                         tide_error *err)
{
    tide_entry entry;
    pthread_mutex_lock(&h->lock);
    int status = tide_model_find(&h->model, word, &entry, err);
    if (!status)
        *found = describe(h, entry.slot);
    pthread_mutex_unlock(&h->lock);
    return status;
}

/* -- lists --------------------------------------------------------------------------------------------- */

/* To the millisecond: a time that was told comes back rounded. No time, which is 0, is before all. */
static bool is_after(double time, double after)
{
    return fabs(after) <= 0 || time > after + 1e-3;
}

/* What the list is sorted by; NAN for a word that is not on it. */
static double score_of(const tide_history *h, const tide_history_list *list,
                       uint32_t rung, uint32_t slot)
{
    const tide_word_stats *t = &h->tenants[slot];
    const tide_vocabulary *v = h->model.vocabulary;
    switch (list->sort) {
    case TIDE_HISTORY_NEW:
        if (!is_after(tide_history_time(h, t->since), list->after))
            return (double)NAN;
        return tide_word_stats_rank_score(
            h,
            (double)(tide_vocabulary_count(v, slot) - tide_vocabulary_error(v, slot)),
            t->since);
    case TIDE_HISTORY_TREND:
        return tide_word_stats_trend(h, t);
    case TIDE_HISTORY_DRIFT:
        return tide_drift_worth(drift_of(h, t, rung), t->count);
    default:
        return -(double)t->rank;
    }
}

static bool begins_with(const tide_history *h, uint32_t slot, const char *prefix)
{
    return !prefix || !*prefix ||
           !strncmp(tide_model_entry(&h->model, slot).word, prefix, strlen(prefix));
}

/* By count, words come in their order and need not be kept. */
static int list_in_order(const tide_history *h, const tide_history_list *list,
                         tide_history_word *words, size_t room, uint64_t *total)
{
    size_t count = 0;
    for (uint32_t rank = 0; rank < h->words; rank++) {
        if (!begins_with(h, h->order[rank], list->prefix))
            continue;
        if (++*total > list->offset && count < room)
            words[count++] = describe(h, h->order[rank]);
    }
    return (int)count;
}

static int list_best(const tide_history *h, const tide_history_list *list,
                     tide_hit *hits, size_t wanted, tide_history_word *words,
                     size_t room, uint64_t *total)
{
    uint32_t rung = tide_history_drift_snapshot(h);
    size_t kept = 0, count = 0;
    for (uint32_t rank = 0; rank < h->words; rank++) {
        uint32_t slot = h->order[rank];
        double score = score_of(h, list, rung, slot);
        if (isnan(score) || !begins_with(h, slot, list->prefix))
            continue;
        ++*total;
        kept =
            tide_hits_insert(hits, kept, wanted, (tide_hit){NULL, (float)score, slot});
    }
    for (size_t i = list->offset; i < kept && count < room; i++)
        words[count++] = describe(h, hits[i].slot);
    return (int)count;
}

int tide_history_words(tide_history *h, const tide_history_list *list,
                       tide_history_word *words, size_t room, uint64_t *total,
                       tide_error *err)
{
    uint64_t ignored = 0, *found = total ? total : &ignored;
    uint64_t wanted = (uint64_t)list->offset + room;
    if (wanted > TIDE_HISTORY_LIST_MAX)
        wanted = TIDE_HISTORY_LIST_MAX;
    bool ordered = list->sort == TIDE_HISTORY_COUNT;
    tide_hit *hits = ordered ? NULL : tide_alloc((size_t)wanted + 1, sizeof *hits);
    if (!ordered && !hits)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to list words");
    *found = 0;
    pthread_mutex_lock(&h->lock);
    int count = ordered ? list_in_order(h, list, words, room, found)
                        : list_best(h, list, hits, wanted ? (size_t)wanted : 1, words,
                                    room, found);
    pthread_mutex_unlock(&h->lock);
    free(hits);
    return count;
}

static int latest_first(const void *x, const void *y)
{
    const tide_evicted *a = x, *b = y;
    if (a->left < b->left || a->left > b->left)
        return a->left < b->left ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->word, b->word);
}

size_t tide_history_evicted(tide_history *h, double after, tide_evicted *gone,
                            size_t room)
{
    tide_evicted all[TIDE_EVICTED_WORDS_MAX] = {0};
    size_t count = 0;
    pthread_mutex_lock(&h->lock);
    for (uint32_t i = 0; i < h->departed_count; i++) {
        const tide_evicted_word *d = &h->departed[i];
        double left = tide_history_time(h, d->left);
        tide_entry entry;
        if (!is_after(left, after) ||
            !tide_model_find(&h->model, d->word, &entry, NULL))
            continue;
        all[count] = (tide_evicted){.count = d->count, .left = left};
        memcpy(all[count++].word, d->word, sizeof d->word);
    }
    pthread_mutex_unlock(&h->lock);
    qsort(all, count, sizeof *all, latest_first);
    if (count > room)
        count = room;
    memcpy(gone, all, count * sizeof *gone);
    return count;
}

/* -- one word's past ------------------------------------------------------------------------------------ */

static int not_followed(const char *word, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_NOT_FOUND, "'%s' is not followed", word);
}

static int oldest_first(const void *x, const void *y)
{
    const tide_history_point *a = x, *b = y;
    return a->age > b->age ? -1 : a->age < b->age;
}

static int points_of(const tide_history *h, uint32_t place,
                     tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX])
{
    const tide_snapshots *l = &h->ladder;
    int count = 0;
    for (uint32_t rung = 0; rung < l->rungs; rung++)
        if (tide_tracked_word_has_snapshot(h, place, rung)) {
            points[count] = (tide_history_point){
                .age = h->clock - l->times[rung],
                .time = tide_history_time(h, l->times[rung]),
                .count = tide_snapshots_count(l, rung, place),
                .rate = (double)tide_snapshots_rate(l, rung, place),
                .turned = (double)*tide_snapshots_angle(l, rung, place)};
            count++;
        }
    qsort(points, (size_t)count, sizeof *points, oldest_first);
    return count;
}

int tide_history_points(tide_history *h, const char *word,
                        tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX],
                        tide_error *err)
{
    pthread_mutex_lock(&h->lock);
    uint32_t place = tide_tracked_word_find(h, word);
    int count = place == TIDE_NOT_TRACKED ? not_followed(word, err)
                                          : points_of(h, place, points);
    pthread_mutex_unlock(&h->lock);
    return count;
}

static int nearest_then(const tide_history *h, uint32_t place, uint32_t rung,
                        tide_hit *best, size_t room)
{
    const tide_kernels *k = tide_kernels_best();
    float x[TIDE_DIM_MAX] __attribute__((aligned(64))) = {0};
    float y[TIDE_DIM_MAX] __attribute__((aligned(64))) = {0};
    size_t count = 0;
    tide_snapshots_row(&h->ladder, rung, place, x);
    for (uint32_t other = 0; other < h->ladder.places; other++) {
        if (other == place || !tide_tracked_word_has_snapshot(h, other, rung))
            continue;
        tide_snapshots_row(&h->ladder, rung, other, y);
        float score = k->dot(x, y, h->latest.stride);
        count = tide_hits_insert(best, count, room, (tide_hit){NULL, score, other});
    }
    return (int)count;
}

/* The rung of an age, where the word was followed. */
static uint32_t rung_then(const tide_history *h, uint32_t place, double age)
{
    uint32_t rung = tide_snapshots_nearest(&h->ladder, h->clock, age, 0);
    bool old = rung != TIDE_NO_SNAPSHOT && h->clock - h->ladder.times[rung] >= age / 2;
    return old && tide_tracked_word_has_snapshot(h, place, rung) ? rung
                                                                 : TIDE_NO_SNAPSHOT;
}

int tide_history_nearest(tide_history *h, const char *word, double age,
                         tide_history_hit *hits, size_t room, double *taken,
                         tide_error *err)
{
    tide_hit *best = tide_alloc(room + 1, sizeof *best);
    if (!best)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to search");
    pthread_mutex_lock(&h->lock);
    uint32_t place = tide_tracked_word_find(h, word);
    uint32_t rung =
        place == TIDE_NOT_TRACKED ? TIDE_NO_SNAPSHOT : rung_then(h, place, age);
    int count = TIDE_ERROR_NOT_FOUND;
    if (rung != TIDE_NO_SNAPSHOT) {
        count = room ? nearest_then(h, place, rung, best, room) : 0;
        *taken = h->clock - h->ladder.times[rung];
    }
    for (int i = 0; i < count; i++) {
        memcpy(hits[i].word, h->places[best[i].slot].word, sizeof hits[i].word);
        hits[i].score = best[i].score;
    }
    pthread_mutex_unlock(&h->lock);
    free(best);
    if (place == TIDE_NOT_TRACKED)
        return not_followed(word, err);
    return count >= 0 ? count
                      : tide_fail(err, TIDE_ERROR_NOT_FOUND,
                                  "'%s' was not followed %.0f seconds ago", word, age);
}

/* -- the map -------------------------------------------------------------------------------------------- */

static tide_map_point point_of(const tide_history *h, uint32_t slot)
{
    const tide_word_stats *t = &h->tenants[slot];
    tide_entry entry = tide_model_entry(&h->model, slot);
    tide_map_point point = {.x = h->spots[t->place][0],
                            .y = h->spots[t->place][1],
                            .count = entry.count,
                            .seen = (uint64_t)t->seen,
                            .age = h->clock - t->since,
                            .drift = drift_of(h, t, tide_history_drift_snapshot(h)),
                            .trend = tide_word_stats_trend(h, t),
                            .ratio = tide_word_stats_ratio(h, t)};
    memcpy(point.word, entry.word, strnlen(entry.word, TIDE_WORD_MAX));
    return point;
}

size_t tide_history_map(tide_history *h, tide_map_point *points, size_t room,
                        uint64_t *frame)
{
    size_t count = 0;
    pthread_mutex_lock(&h->lock);
    for (uint32_t rank = 0; rank < h->words && count < room; rank++) {
        uint32_t place = h->tenants[h->order[rank]].place;
        if (place != TIDE_NOT_TRACKED && !isnan(h->spots[place][0]))
            points[count++] = point_of(h, h->order[rank]);
    }
    *frame = h->frame;
    pthread_mutex_unlock(&h->lock);
    return count;
}
