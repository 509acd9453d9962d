/* nearest.c - finds the words nearest to a query, or to several queries at once.
 *
 * The search is an exact scan over all rows. There is no index, which would always be
 * out of date: the vectors of a model being trained change all the time.
 *
 * Sixteen queries share one scan, in a special kernel (vector/cosines_tmpl.h) that
 * takes as long for one query as for sixteen. Its cosines are accurate to about four
 * digits, so they only select candidates. Candidates are rescored exactly, in the order
 * of the scan, and ranked by the exact cosine. There are few of them, because the bound
 * that a candidate must reach rises with the hits already found.
 *
 * While a model is trained, a word may be evicted after it was found. So a few
 * runners-up are collected and replace such hits; if they are used up, the scan is
 * repeated.
 */
#include "model/model.h"
#include "query/query.h"
#include "query/view.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum {
    INPUTS_MAX = 64,
    SCANS_MAX = 4,
    SPARE = 4,  /* runners-up */
    ROWS = 128, /* rows per call of the kernel */
};

#define APPROXIMATION_ERROR 1e-3f /* bound for the cosines of the kernel */

typedef struct active_query {
    float *vector;                               /* of length 1 */
    uint32_t inputs[INPUTS_MAX * TIDE_TERM_MAX]; /* slots of its words, never hits */
    size_t input_count;
    tide_search *search;
    size_t found;
    tide_hit spare[SPARE]; /* runners-up */
    size_t spare_count;
} active_query;

typedef struct scan {
    tide_query_batch batch;
    float scores[ROWS][TIDE_QUERY_BATCH];
    bool near[ROWS];
    const tide_view *view;
    uint32_t top;
    bool composes_rows; /* vectors are computed from several rows */
    active_query queries[TIDE_QUERY_BATCH];
    size_t count;
    float *vectors;     /* [TIDE_QUERY_BATCH][stride] */
    float *interleaved; /* [stride][TIDE_QUERY_BATCH] the same, transposed */
    float *row;         /* [stride] scratch space */
    float *composed;    /* [ROWS][stride] */
} scan;

static scan *scan_new(const tide_view *view, tide_error *err)
{
    size_t stride = view->model->input.stride, rows = 2 * TIDE_QUERY_BATCH + 1 + ROWS;
    scan *s = tide_alloc(1, sizeof *s + rows * stride * sizeof(float));
    if (!s) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to search");
        return NULL;
    }
    s->view = view;
    s->composes_rows =
        view->vectors == TIDE_VECTORS_SUM ||
        (view->vectors == TIDE_VECTORS_INPUT && view->model->ngrams != NULL);
    /* One allocation holds the struct and all rows behind it. The struct's size is a
     * multiple of the alignment that the kernels need. */
    s->vectors = (float *)(void *)(s + 1);
    s->interleaved = s->vectors + TIDE_QUERY_BATCH * stride;
    s->row = s->interleaved + TIDE_QUERY_BATCH * stride;
    s->composed = s->row + stride;
    s->batch.dim = view->model->shape.dim;
    s->batch.vectors = s->interleaved;
    s->batch.center = view->mean;
    /* The kernel reports a cosine as unknown if the row is so close to the center
     * that the difference of products would be inaccurate; see cosines_tmpl.h. */
    s->batch.center_square =
        view->kernels->dot(view->mean, view->mean, (uint32_t)stride);
    return s;
}

/* -- queries ----------------------------------------------------------------------- */

static int add_words(scan *s, active_query *q, const char *const *words, size_t count,
                     float sign, tide_error *err)
{
    const tide_view *view = s->view;
    for (size_t i = 0; i < count; i++) {
        int status =
            tide_view_term(view, words[i], s->row, q->inputs, &q->input_count, err);
        if (status)
            return status;
        /* Each word counts by its direction only, so a frequent word with a long vector
         * does not dominate the sum (3CosAdd). */
        tide_view_normalize(view, s->row);
        view->kernels->add(q->vector, sign, s->row, view->model->input.stride);
    }
    return TIDE_OK;
}

static int add_query(scan *s, tide_search *search)
{
    const tide_view *view = s->view;
    const tide_query *query = &search->query;
    uint32_t stride = view->model->input.stride;
    active_query *q = &s->queries[s->count];
    if (query->positive_count + query->negative_count > INPUTS_MAX)
        return tide_fail(&search->error, TIDE_ERROR_PARAMETER,
                         "a query has at most %d words", INPUTS_MAX);
    *q = (active_query){.search = search, .vector = s->vectors + s->count * stride};
    memset(q->vector, 0, stride * sizeof *q->vector);
    /* A vector given by the caller is added with the length it has, so it can be
     * weighed against the words. */
    if (query->vector)
        memcpy(q->vector, query->vector, view->model->shape.dim * sizeof *q->vector);
    int status =
        add_words(s, q, query->positive, query->positive_count, 1.0f, &search->error);
    if (!status)
        status = add_words(s, q, query->negative, query->negative_count, -1.0f,
                           &search->error);
    if (status)
        return status;
    tide_view_normalize(view, q->vector);
    s->count++;
    return TIDE_OK;
}

/* Prepares the queries for the kernel and clears their results. */
static void load_queries(scan *s)
{
    const tide_view *view = s->view;
    uint32_t stride = view->model->input.stride;
    for (size_t i = 0; i < TIDE_QUERY_BATCH; i++) {
        bool used = i < s->count;
        const float *vector = s->vectors + i * stride;
        /* The kernel multiplies one element of a row with the same element of all
         * queries at once, so the queries are stored element by element. Unused ones
         * are zero, with a bound that no cosine reaches. */
        for (uint32_t d = 0; d < stride; d++)
            s->interleaved[d * TIDE_QUERY_BATCH + i] = used ? vector[d] : 0;
        s->batch.offsets[i] = used ? view->kernels->dot(vector, view->mean, stride) : 0;
        s->batch.bounds[i] = used ? -INFINITY : INFINITY;
        s->queries[i].found = s->queries[i].spare_count = 0;
    }
}

static bool is_input(const active_query *q, uint32_t slot)
{
    for (size_t i = 0; i < q->input_count; i++)
        if (q->inputs[i] == slot)
            return true;
    return false;
}

/* -- scanning ---------------------------------------------------------------------- */

size_t tide_hits_insert(tide_hit *hits, size_t count, size_t capacity, tide_hit hit)
{
    if (count == capacity && hit.score <= hits[capacity - 1].score)
        return count;
    /* Insertion sort from the end: a hit is moved ahead of those with strictly smaller
     * scores only, so equal scores keep the order of the scan. */
    size_t at = count < capacity ? count : capacity - 1;
    for (; at > 0 && hits[at - 1].score < hit.score; at--)
        hits[at] = hits[at - 1];
    hits[at] = hit;
    return count < capacity ? count + 1 : count;
}

static float exact_cosine(const scan *s, const active_query *q, uint32_t slot)
{
    const tide_view *view = s->view;
    tide_view_centered(view, slot, s->row);
    float square = tide_view_square(view, s->row);
    /* Also true for NaN, which a row being repaired may have. */
    if (!(square > 0))
        return 0;
    return view->kernels->dot(q->vector, s->row, view->model->input.stride) /
           sqrtf(square);
}

/* Inserts a hit into the results, or into the runners-up if the results are full. A hit
 * pushed out of the results becomes a runner-up. */
static void insert_hit(active_query *q, tide_hit hit)
{
    tide_search *search = q->search;
    if (q->found < search->capacity) {
        q->found = tide_hits_insert(search->hits, q->found, search->capacity, hit);
        return;
    }
    tide_hit last = search->hits[q->found - 1];
    bool better = hit.score > last.score;
    if (better)
        tide_hits_insert(search->hits, q->found, search->capacity, hit);
    q->spare_count =
        tide_hits_insert(q->spare, q->spare_count, SPARE, better ? last : hit);
}

/* Computes the exact cosine of a candidate and inserts it if it is good enough.
 *
 * The order of steps matters while the model is trained: the row is read first, and
 * only then is_current confirms that all of it belonged to the word (view.c). A vector
 * may also be half written or about to be repaired, hence the check for NaN.
 *
 * Once the runners-up are full, a word whose exact cosine is below the last of them can
 * never become a hit. The kernel's cosine may be too low by APPROXIMATION_ERROR, so the
 * bound for further candidates is that much lower: it never hides a word that belongs
 * in the results, and a word that it lets through in vain costs one call of this. */
static void rescore(scan *s, size_t number, uint32_t slot)
{
    active_query *q = &s->queries[number];
    uint32_t length;
    const char *word = tide_vocabulary_word(s->view->model->vocabulary, slot, &length);
    if (!word || is_input(q, slot))
        return;
    float score = exact_cosine(s, q, slot);
    if (!tide_finite(score) || !tide_view_is_current(s->view, slot))
        return;
    insert_hit(q, (tide_hit){word, score, slot});
    if (q->spare_count == SPARE)
        s->batch.bounds[number] = q->spare[SPARE - 1].score - APPROXIMATION_ERROR;
}

/* Compares a group of rows with all queries and rescores the candidates. The comparison
 * is negated so that an unknown cosine, NAN, counts as a candidate. The bounds rise
 * during the loop, so they are compared again here. */
static void scan_rows(scan *s, const uint32_t *slots, float *const *rows, size_t count)
{
    s->view->kernels->cosines(&s->batch, rows, count, s->view->model->input.stride,
                              s->scores, s->near);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; s->near[j] && i < s->count; i++)
            if (!(s->scores[j][i] < s->batch.bounds[i]))
                rescore(s, i, slots[j]);
}

/* The vector of a slot: its row in the model, or composed in scratch space. */
static float *row_of(const scan *s, uint32_t slot, size_t index)
{
    const tide_model *model = s->view->model;
    if (!s->composes_rows)
        return tide_matrix_row(s->view->vectors == TIDE_VECTORS_OUTPUT ? &model->output
                                                                       : &model->input,
                               slot);
    float *composed = s->composed + index * model->input.stride;
    tide_view_raw(s->view, slot, composed);
    return composed;
}

static void scan_all(scan *s)
{
    uint32_t slots[ROWS];
    float *rows[ROWS];
    size_t count = 0;
    const tide_vocabulary *v = s->view->model->vocabulary;
    uint32_t all = s->top ? s->top : tide_vocabulary_used(v), length;
    for (uint32_t i = 0; i < all; i++) {
        /* A search of the most frequent words goes by rank. A full scan goes in memory
         * order and includes empty slots, since scanning them costs less than finding
         * out, unless their rows had to be composed first. */
        uint32_t slot = s->top ? s->view->order[i] : i;
        if (!s->top && s->composes_rows && !tide_vocabulary_word(v, i, &length))
            continue;
        /* The kernel works on several rows at a time, so slots are collected until a
         * group is full, and skipped ones leave no gaps in it. */
        slots[count] = slot;
        rows[count] = row_of(s, slot, count);
        if (++count == ROWS) {
            scan_rows(s, slots, rows, count);
            count = 0;
        }
    }
    scan_rows(s, slots, rows, count);
}

/* -- results ----------------------------------------------------------------------- */

static size_t remove_evicted(const scan *s, tide_hit *hits, size_t found)
{
    size_t valid = 0;
    for (size_t i = 0; i < found; i++)
        if (tide_view_is_current(s->view, hits[i].slot))
            hits[valid++] = hits[i];
    return valid;
}

/* Replaces hits that have been evicted since they were found by runners-up. Returns
 * false if there are too few, and words that were dropped during the scan would come
 * next. */
static bool refill_hits(const scan *s, active_query *q)
{
    tide_search *search = q->search;
    /* Fewer runners-up than there is space for means that no word was ever dropped from
     * the list: there are no others, and a repeated scan could not find more. */
    bool complete = q->spare_count < SPARE;
    q->found = remove_evicted(s, search->hits, q->found);
    size_t spare = remove_evicted(s, q->spare, q->spare_count);
    for (size_t i = 0; i < spare && q->found < search->capacity; i++)
        search->hits[q->found++] = q->spare[i];
    return complete || q->found == search->capacity;
}

static void run_scans(scan *s)
{
    bool incomplete = s->count > 0;
    /* One scan is enough unless many of the nearest words were evicted during it. The
     * number of scans is bounded, because under a flood of evictions fewer hits are
     * better than no answer. */
    for (int scans = 0; incomplete && scans < SCANS_MAX; scans++) {
        incomplete = false;
        load_queries(s);
        scan_all(s);
        for (size_t i = 0; i < s->count; i++)
            incomplete = !refill_hits(s, &s->queries[i]) || incomplete;
    }
    for (size_t i = 0; i < s->count; i++)
        s->queries[i].search->found = (int)s->queries[i].found;
    s->count = 0;
}

void tide_view_search(const tide_view *view, tide_search *searches, size_t count)
{
    tide_error err;
    scan *s = scan_new(view, &err);
    for (size_t i = 0; i < count; i++) {
        tide_search *search = &searches[i];
        if (!s) {
            search->error = err;
            search->found = TIDE_ERROR_MEMORY;
            continue;
        }
        /* Queries share a scan if they search the same rows. Others, and those beyond
         * the sixteen that the kernel takes, start a new one. */
        uint32_t top = search->query.top < view->words ? search->query.top : 0;
        if (s->count == TIDE_QUERY_BATCH || top != s->top)
            run_scans(s);
        s->top = top;
        search->found = add_query(s, search);
        if (!search->found && !search->capacity)
            s->count--; /* no results wanted: only checks that the words exist */
    }
    if (s)
        run_scans(s);
    free(s);
}

int tide_view_nearest(const tide_view *view, const tide_query *query, tide_hit *hits,
                      size_t capacity, tide_error *err)
{
    tide_search search = {.query = *query, .hits = hits, .capacity = capacity};
    tide_view_search(view, &search, 1);
    if (search.found < 0)
        tide_fail(err, search.error.status, "%s", search.error.text);
    return search.found;
}

int tide_view_analogy(const tide_view *view, const char *a, const char *b,
                      const char *c, tide_hit *hits, size_t capacity, tide_error *err)
{
    const char *positive[] = {b, c}, *negative[] = {a};
    tide_query query = {.positive = positive,
                        .positive_count = 2,
                        .negative = negative,
                        .negative_count = 1};
    return tide_view_nearest(view, &query, hits, capacity, err);
}
