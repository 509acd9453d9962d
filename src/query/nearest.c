/* nearest.c - the words nearest to a question, or to several at once.
 *
 * The answer is an exact scan over the rows as they are, with the training kernels. There is no index that could
 * be out of date: the vectors of a model that learns move all the time.
 *
 * Sixteen questions go through the rows together, in a kernel of their own (vector/cosines_tmpl.h), which takes as
 * long for one as for all of them. Its cosines are good to some four digits; so they only tell which words are worth
 * a second look. These are looked at the long way, in the order of the scan, and kept by the exact cosine. They are few,
 * because the bound above which a word is of interest rises with those that are kept.
 *
 * In a model that learns, a word may leave after it was found. So the next best few are kept as well and take such places;
 * where even these are used up, the scan is done again.
 */
#include "model/model.h"
#include "query/query.h"
#include "query/view.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum {
    QUERY_WORDS_MAX = 64,
    SCANS_MOST = 4,
    SPARE = 4,  /* of the next best */
    ROWS = 128, /* looked at together */
};

#define DOUBT 1e-3f /* of a cosine, the short way */

typedef struct question {
    float *vector;                                   /* of length 1 */
    uint32_t asked[QUERY_WORDS_MAX * TIDE_TERM_MAX]; /* slots of its words */
    size_t asked_count;
    tide_search *search;
    size_t found;
    tide_hit spare[SPARE]; /* the best that found no room */
    size_t spare_count;
} question;

typedef struct scan {
    tide_questions asked;
    float scores[ROWS][TIDE_QUESTIONS];
    bool near[ROWS];
    const tide_view *space;
    uint32_t among;
    bool makes_rows; /* they are sums of others */
    question questions[TIDE_QUESTIONS];
    size_t count;
    float *vectors;      /* [TIDE_QUESTIONS][stride] */
    float *side_by_side; /* [stride][TIDE_QUESTIONS] the same */
    float *row;          /* [stride] for a second look */
    float *made;         /* [ROWS][stride] */
} scan;

static scan *scan_new(const tide_view *space, tide_error *err)
{
    size_t stride = space->model->input.stride, rows = 2 * TIDE_QUESTIONS + 1 + ROWS;
    scan *s = tide_alloc(1, sizeof *s + rows * stride * sizeof(float));
    if (!s) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to search");
        return NULL;
    }
    s->space = space;
    s->makes_rows =
        space->vectors == TIDE_VECTORS_SUM ||
        (space->vectors == TIDE_VECTORS_INPUT && space->model->ngrams != NULL);
    s->vectors = (float *)(void *)(s + 1);
    s->side_by_side = s->vectors + TIDE_QUESTIONS * stride;
    s->row = s->side_by_side + TIDE_QUESTIONS * stride;
    s->made = s->row + stride;
    s->asked.dim = space->model->shape.dim;
    s->asked.vectors = s->side_by_side;
    s->asked.center = space->mean;
    s->asked.center_square =
        space->kernels->dot(space->mean, space->mean, (uint32_t)stride);
    return s;
}

/* -- the questions --------------------------------------------------------------------------------- */

static int add_words(scan *s, question *q, const char *const *words, size_t count,
                     float sign, tide_error *err)
{
    const tide_view *space = s->space;
    for (size_t i = 0; i < count; i++) {
        int status =
            tide_view_term(space, words[i], s->row, q->asked, &q->asked_count, err);
        if (status)
            return status;
        tide_view_normalize(space, s->row);
        space->kernels->add(q->vector, sign, s->row, space->model->input.stride);
    }
    return TIDE_OK;
}

static int take_question(scan *s, tide_search *search)
{
    const tide_view *space = s->space;
    const tide_query *query = &search->query;
    uint32_t stride = space->model->input.stride;
    question *q = &s->questions[s->count];
    if (query->positive_count + query->negative_count > QUERY_WORDS_MAX)
        return tide_fail(&search->error, TIDE_ERROR_PARAMETER,
                         "at most %d words can be asked at once", QUERY_WORDS_MAX);
    *q = (question){.search = search, .vector = s->vectors + s->count * stride};
    memset(q->vector, 0, stride * sizeof *q->vector);
    if (query->vector)
        memcpy(q->vector, query->vector, space->model->shape.dim * sizeof *q->vector);
    int status =
        add_words(s, q, query->positive, query->positive_count, 1.0f, &search->error);
    if (!status)
        status = add_words(s, q, query->negative, query->negative_count, -1.0f,
                           &search->error);
    if (status)
        return status;
    tide_view_normalize(space, q->vector);
    s->count++;
    return TIDE_OK;
}

/* Lays the questions out for the kernel; nothing has been found yet. */
static void set_out(scan *s)
{
    const tide_view *space = s->space;
    uint32_t stride = space->model->input.stride;
    for (size_t i = 0; i < TIDE_QUESTIONS; i++) {
        bool asked = i < s->count;
        const float *vector = s->vectors + i * stride;
        for (uint32_t d = 0; d < stride; d++)
            s->side_by_side[d * TIDE_QUESTIONS + i] = asked ? vector[d] : 0;
        s->asked.offsets[i] =
            asked ? space->kernels->dot(vector, space->mean, stride) : 0;
        s->asked.bounds[i] = asked ? -INFINITY : INFINITY;
        s->questions[i].found = s->questions[i].spare_count = 0;
    }
}

static bool was_asked(const question *q, uint32_t slot)
{
    for (size_t i = 0; i < q->asked_count; i++)
        if (q->asked[i] == slot)
            return true;
    return false;
}

/* -- the rows --------------------------------------------------------------------------------------- */

size_t tide_hits_insert(tide_hit *hits, size_t count, size_t room, tide_hit hit)
{
    if (count == room && hit.score <= hits[room - 1].score)
        return count;
    size_t at = count < room ? count : room - 1;
    for (; at > 0 && hits[at - 1].score < hit.score; at--)
        hits[at] = hits[at - 1];
    hits[at] = hit;
    return count < room ? count + 1 : count;
}

static float exact_cosine(const scan *s, const question *q, uint32_t slot)
{
    const tide_view *space = s->space;
    tide_view_centered(space, slot, s->row);
    float square = tide_view_square(space, s->row);
    if (!(square > 0))
        return 0;
    return space->kernels->dot(q->vector, s->row, space->model->input.stride) /
           sqrtf(square);
}

static void keep(question *q, tide_hit hit)
{
    tide_search *search = q->search;
    if (q->found < search->room) {
        q->found = tide_hits_insert(search->hits, q->found, search->room, hit);
        return;
    }
    tide_hit last = search->hits[q->found - 1];
    bool better = hit.score > last.score;
    if (better)
        tide_hits_insert(search->hits, q->found, search->room, hit);
    q->spare_count =
        tide_hits_insert(q->spare, q->spare_count, SPARE, better ? last : hit);
}

static void look_again(scan *s, size_t number, uint32_t slot)
{
    question *q = &s->questions[number];
    uint32_t length;
    const char *word = tide_vocabulary_word(s->space->model->vocabulary, slot, &length);
    if (!word || was_asked(q, slot))
        return;
    float score = exact_cosine(s, q, slot);
    if (!tide_finite(score) || !tide_view_is_current(s->space, slot))
        return;
    keep(q, (tide_hit){word, score, slot});
    if (q->spare_count == SPARE)
        s->asked.bounds[number] = q->spare[SPARE - 1].score - DOUBT;
}

static void look_at(scan *s, const uint32_t *slots, float *const *rows, size_t count)
{
    s->space->kernels->cosines(&s->asked, rows, count, s->space->model->input.stride,
                               s->scores, s->near);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; s->near[j] && i < s->count; i++)
            if (!(s->scores[j][i] < s->asked.bounds[i]))
                look_again(s, i, slots[j]);
}

/* Where the vector of a slot is found as it is, or put together. */
static float *row_of(const scan *s, uint32_t slot, size_t place)
{
    const tide_model *model = s->space->model;
    if (!s->makes_rows)
        return tide_matrix_row(s->space->vectors == TIDE_VECTORS_OUTPUT ? &model->output
                                                                        : &model->input,
                               slot);
    float *made = s->made + place * model->input.stride;
    tide_view_raw(s->space, slot, made);
    return made;
}

/* The i-th slot to be looked at. All of them are taken as they lie in memory, also those without a word, which
 * cost less than to ask. */
static uint32_t slot_at(const scan *s, uint32_t i)
{
    uint32_t length;
    if (s->among)
        return s->space->order[i];
    return !s->makes_rows ||
                   tide_vocabulary_word(s->space->model->vocabulary, i, &length)
               ? i
               : TIDE_NO_SLOT;
}

static void look_at_all(scan *s)
{
    uint32_t slots[ROWS];
    float *rows[ROWS];
    size_t count = 0;
    uint32_t all =
        s->among ? s->among : tide_vocabulary_used(s->space->model->vocabulary);
    for (uint32_t i = 0; i < all; i++) {
        uint32_t slot = slot_at(s, i);
        if (slot == TIDE_NO_SLOT)
            continue;
        slots[count] = slot;
        rows[count] = row_of(s, slot, count);
        if (++count == ROWS) {
            look_at(s, slots, rows, count);
            count = 0;
        }
    }
    look_at(s, slots, rows, count);
}

/* -- together ----------------------------------------------------------------------------------------- */

static size_t take_out_gone(const scan *s, tide_hit *hits, size_t found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found; i++)
        if (tide_view_is_current(s->space, hits[i].slot))
            hits[kept++] = hits[i];
    return kept;
}

/* Fills the places of words that have left since they were found. False where a word that was not kept would be next. */
static bool settle(const scan *s, question *q)
{
    tide_search *search = q->search;
    bool all_kept = q->spare_count < SPARE;
    q->found = take_out_gone(s, search->hits, q->found);
    size_t spare = take_out_gone(s, q->spare, q->spare_count);
    for (size_t i = 0; i < spare && q->found < search->room; i++)
        search->hits[q->found++] = q->spare[i];
    return all_kept || q->found == search->room;
}

static void answer(scan *s)
{
    bool spoilt = s->count > 0;
    for (int scans = 0; spoilt && scans < SCANS_MOST; scans++) {
        spoilt = false;
        set_out(s);
        look_at_all(s);
        for (size_t i = 0; i < s->count; i++)
            spoilt = !settle(s, &s->questions[i]) || spoilt;
    }
    for (size_t i = 0; i < s->count; i++)
        s->questions[i].search->found = (int)s->questions[i].found;
    s->count = 0;
}

static uint32_t among_of(const tide_view *space, const tide_query *query)
{
    return query->among < space->words ? query->among : 0;
}

void tide_view_search(const tide_view *space, tide_search *searches, size_t count)
{
    tide_error err;
    scan *s = scan_new(space, &err);
    for (size_t i = 0; i < count; i++) {
        tide_search *search = &searches[i];
        if (!s) {
            search->error = err;
            search->found = TIDE_ERROR_MEMORY;
            continue;
        }
        uint32_t among = among_of(space, &search->query);
        if (s->count == TIDE_QUESTIONS || among != s->among)
            answer(s);
        s->among = among;
        search->found = take_question(s, search);
        if (!search->found && !search->room)
            s->count--; /* its words are held, and that is all that was asked */
    }
    if (s)
        answer(s);
    free(s);
}

int tide_view_nearest(const tide_view *space, const tide_query *query, tide_hit *hits,
                      size_t room, tide_error *err)
{
    tide_search search = {.query = *query, .hits = hits, .room = room};
    tide_view_search(space, &search, 1);
    if (search.found < 0)
        tide_fail(err, search.error.status, "%s", search.error.text);
    return search.found;
}

int tide_view_analogy(const tide_view *space, const char *a, const char *b,
                      const char *c, tide_hit *hits, size_t room, tide_error *err)
{
    const char *positive[] = {b, c}, *negative[] = {a};
    tide_query query = {.positive = positive,
                        .positive_count = 2,
                        .negative = negative,
                        .negative_count = 1};
    return tide_view_nearest(space, &query, hits, room, err);
}
