/* history_query.c - queries from any thread: lists of words, one word's past, its
 * neighbors at a past time, and the map.
 *
 * Results are those of the last update, copied out under the lock. A list takes one
 * pass over the vocabulary, about 20 ns per word.
 */
#include "history/history_internal.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

/* -- words ------------------------------------------------------------------------ */

static double drift_of(const tide_history *h, const tide_word_stats *t,
                       uint32_t snapshot)
{
    return snapshot != TIDE_NO_SNAPSHOT && t->row != TIDE_NOT_TRACKED &&
                   tide_tracked_word_has_snapshot(h, t->row, snapshot)
               ? (double)*tide_snapshots_angle(&h->snapshots, snapshot, t->row)
               : (double)NAN;
}

static tide_history_word describe(const tide_history *h, uint32_t slot)
{
    const tide_word_stats *t = &h->stats[slot];
    tide_entry entry = tide_model_entry(&h->model, slot);
    uint32_t snapshot = tide_history_drift_snapshot(h);
    tide_history_word w = {.count = entry.count,
                           .error = entry.error,
                           .seen = (uint64_t)t->seen,
                           .rank = t->rank + 1,
                           .rate = tide_word_stats_rate(h, t),
                           .baseline = tide_word_stats_baseline(h, t),
                           .ratio = tide_word_stats_ratio(h, t),
                           .trend = tide_word_stats_trend(h, t),
                           .drift = drift_of(h, t, snapshot),
                           .first_seen = tide_history_time(h, t->since),
                           .tracked = t->row != TIDE_NOT_TRACKED,
                           .watched = t->row != TIDE_NOT_TRACKED &&
                                      h->tracked[t->row].watched};
    w.since = isnan(w.drift) ? (double)NAN
                             : tide_history_time(h, h->snapshots.times[snapshot]);
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

/* -- lists ------------------------------------------------------------------------ */

/* Compares to the millisecond, since times in answers are rounded. 0 stands for no
 * limit. */
static bool is_after(double time, double after)
{
    return fabs(after) <= 0 || time > after + 1e-3;
}

/* The sort key of a word; NAN if the word is not in the list. */
static double score_of(const tide_history *h, const tide_history_list *list,
                       uint32_t snapshot, uint32_t slot)
{
    const tide_word_stats *t = &h->stats[slot];
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
        return tide_drift_score(drift_of(h, t, snapshot), t->count);
    default:
        return -(double)t->rank;
    }
}

static bool has_prefix(const tide_history *h, uint32_t slot, const char *prefix)
{
    return !prefix || !*prefix ||
           !strncmp(tide_model_entry(&h->model, slot).word, prefix, strlen(prefix));
}

/* By count: the words are already in order. */
static int list_by_count(const tide_history *h, const tide_history_list *list,
                         tide_history_word *words, size_t max, uint64_t *total)
{
    size_t count = 0;
    for (uint32_t rank = 0; rank < h->word_count; rank++) {
        if (!has_prefix(h, h->order[rank], list->prefix))
            continue;
        if (++*total > list->offset && count < max)
            words[count++] = describe(h, h->order[rank]);
    }
    return (int)count;
}

static int list_by_score(const tide_history *h, const tide_history_list *list,
                         tide_hit *hits, size_t needed, tide_history_word *words,
                         size_t max, uint64_t *total)
{
    uint32_t snapshot = tide_history_drift_snapshot(h);
    size_t kept = 0, count = 0;
    for (uint32_t rank = 0; rank < h->word_count; rank++) {
        uint32_t slot = h->order[rank];
        double score = score_of(h, list, snapshot, slot);
        if (isnan(score) || !has_prefix(h, slot, list->prefix))
            continue;
        ++*total;
        kept =
            tide_hits_insert(hits, kept, needed, (tide_hit){NULL, (float)score, slot});
    }
    for (size_t i = list->offset; i < kept && count < max; i++)
        words[count++] = describe(h, hits[i].slot);
    return (int)count;
}

int tide_history_words(tide_history *h, const tide_history_list *list,
                       tide_history_word *words, size_t max, uint64_t *total,
                       tide_error *err)
{
    uint64_t ignored = 0, *found = total ? total : &ignored;
    uint64_t needed = (uint64_t)list->offset + max;
    if (needed > TIDE_HISTORY_LIST_MAX)
        needed = TIDE_HISTORY_LIST_MAX;
    bool by_count = list->sort == TIDE_HISTORY_COUNT;
    tide_hit *hits = by_count ? NULL : tide_alloc((size_t)needed + 1, sizeof *hits);
    if (!by_count && !hits)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to list words");
    *found = 0;
    pthread_mutex_lock(&h->lock);
    int count = by_count ? list_by_count(h, list, words, max, found)
                         : list_by_score(h, list, hits, needed ? (size_t)needed : 1,
                                         words, max, found);
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
                            size_t max)
{
    tide_evicted all[TIDE_EVICTED_WORDS_MAX] = {0};
    size_t count = 0;
    pthread_mutex_lock(&h->lock);
    for (uint32_t i = 0; i < h->evicted_count; i++) {
        const tide_evicted_word *d = &h->evicted[i];
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
    if (count > max)
        count = max;
    memcpy(gone, all, count * sizeof *gone);
    return count;
}

/* -- one word's past -------------------------------------------------------------- */

static int not_tracked(const char *word, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_NOT_FOUND, "'%s' is not tracked", word);
}

static int oldest_first(const void *x, const void *y)
{
    const tide_history_point *a = x, *b = y;
    return a->age > b->age ? -1 : a->age < b->age;
}

static int points_of(const tide_history *h, uint32_t row,
                     tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX])
{
    const tide_snapshots *s = &h->snapshots;
    int count = 0;
    for (uint32_t snapshot = 0; snapshot < s->count; snapshot++)
        if (tide_tracked_word_has_snapshot(h, row, snapshot)) {
            points[count] = (tide_history_point){
                .age = h->clock - s->times[snapshot],
                .time = tide_history_time(h, s->times[snapshot]),
                .count = tide_snapshots_count(s, snapshot, row),
                .rate = (double)tide_snapshots_rate(s, snapshot, row),
                .drift = (double)*tide_snapshots_angle(s, snapshot, row)};
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
    uint32_t row = tide_tracked_word_find(h, word);
    int count =
        row == TIDE_NOT_TRACKED ? not_tracked(word, err) : points_of(h, row, points);
    pthread_mutex_unlock(&h->lock);
    return count;
}

static int find_nearest(const tide_history *h, uint32_t row, uint32_t snapshot,
                        tide_hit *best, size_t max)
{
    const tide_kernels *k = tide_kernels_best();
    float x[TIDE_DIM_MAX] __attribute__((aligned(64))) = {0};
    float y[TIDE_DIM_MAX] __attribute__((aligned(64))) = {0};
    size_t count = 0;
    tide_snapshots_row(&h->snapshots, snapshot, row, x);
    for (uint32_t other = 0; other < h->snapshots.rows; other++) {
        if (other == row || !tide_tracked_word_has_snapshot(h, other, snapshot))
            continue;
        tide_snapshots_row(&h->snapshots, snapshot, other, y);
        float score = k->dot(x, y, h->latest.stride);
        count = tide_hits_insert(best, count, max, (tide_hit){NULL, score, other});
    }
    return (int)count;
}

/* The snapshot closest to an age, if the word was tracked then. */
static uint32_t snapshot_of_age(const tide_history *h, uint32_t row, double age)
{
    uint32_t snapshot = tide_snapshots_nearest(&h->snapshots, h->clock, age, 0);
    bool old = snapshot != TIDE_NO_SNAPSHOT &&
               h->clock - h->snapshots.times[snapshot] >= age / 2;
    return old && tide_tracked_word_has_snapshot(h, row, snapshot) ? snapshot
                                                                   : TIDE_NO_SNAPSHOT;
}

int tide_history_nearest(tide_history *h, const char *word, double age,
                         tide_history_hit *hits, size_t max, double *taken,
                         tide_error *err)
{
    tide_hit *best = tide_alloc(max + 1, sizeof *best);
    if (!best)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to search");
    pthread_mutex_lock(&h->lock);
    uint32_t row = tide_tracked_word_find(h, word);
    uint32_t snapshot =
        row == TIDE_NOT_TRACKED ? TIDE_NO_SNAPSHOT : snapshot_of_age(h, row, age);
    int count = TIDE_ERROR_NOT_FOUND;
    if (snapshot != TIDE_NO_SNAPSHOT) {
        count = max ? find_nearest(h, row, snapshot, best, max) : 0;
        *taken = h->clock - h->snapshots.times[snapshot];
    }
    for (int i = 0; i < count; i++) {
        memcpy(hits[i].word, h->tracked[best[i].slot].word, sizeof hits[i].word);
        hits[i].score = best[i].score;
    }
    pthread_mutex_unlock(&h->lock);
    free(best);
    if (row == TIDE_NOT_TRACKED)
        return not_tracked(word, err);
    return count >= 0 ? count
                      : tide_fail(err, TIDE_ERROR_NOT_FOUND,
                                  "'%s' was not tracked %.0f seconds ago", word, age);
}

/* -- the map ---------------------------------------------------------------------- */

static tide_map_point point_of(const tide_history *h, uint32_t slot)
{
    const tide_word_stats *t = &h->stats[slot];
    tide_entry entry = tide_model_entry(&h->model, slot);
    tide_map_point point = {.x = h->map[t->row][0],
                            .y = h->map[t->row][1],
                            .count = entry.count,
                            .seen = (uint64_t)t->seen,
                            .age = h->clock - t->since,
                            .drift = drift_of(h, t, tide_history_drift_snapshot(h)),
                            .trend = tide_word_stats_trend(h, t),
                            .ratio = tide_word_stats_ratio(h, t)};
    memcpy(point.word, entry.word, strnlen(entry.word, TIDE_WORD_MAX));
    return point;
}

size_t tide_history_map(tide_history *h, tide_map_point *points, size_t max,
                        uint64_t *frame)
{
    size_t count = 0;
    pthread_mutex_lock(&h->lock);
    for (uint32_t rank = 0; rank < h->word_count && count < max; rank++) {
        uint32_t row = h->stats[h->order[rank]].row;
        if (row != TIDE_NOT_TRACKED && !isnan(h->map[row][0]))
            points[count++] = point_of(h, h->order[rank]);
    }
    *frame = h->frame;
    pthread_mutex_unlock(&h->lock);
    return count;
}
