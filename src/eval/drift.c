/* drift.c - how soon vectors follow words that change their meaning.
 *
 * A text is trained on as it is up to a moment, and from there on as the plan says (drift_plan.c). At
 * the moment a snapshot is taken, and the nearest unchanged words of every word that is going to change
 * are noted. From time to time the model is looked at again. Words may have turned together since
 * then, so nothing is compared across time: how a word leans is asked of the vectors of now alone,
 *
 *     lean(w) = mean cosine with the neighbors that the other had - the same with its own,
 *
 * where only who the neighbors are is remembered. It is negative at the moment, and positive when
 * the word has followed. If it ends where it began, with the sign changed, the exchange is complete.
 */
#include "eval/eval.h"
#include "model/model.h"
#include "params/params.h"
#include "run/run.h"
#include "vector/vector.h"

#include <math.h>
#include <stdlib.h>

enum { WORDS_AT_ONCE = 64, FREQUENT = 1000, WATCH_TOKENS = 1 << 17 };

typedef struct neighbors {
    uint32_t places[TIDE_NEAREST]; /* of unchanged words */
    uint32_t count;
} neighbors;

typedef struct course {
    const tide_drift_options *options;
    tide_drift_plan *plan;
    tide_word_trainer *pupil;
    uint64_t tokens;     /* of the text, so far */
    uint64_t next_look;  /* at so many tokens */
    tide_snapshot *then; /* at the moment; NULL before */
    neighbors *near;     /* [changing] at the moment */
    double *lean;        /* [changing] at the moment */
    tide_drift_result *result;
} course;

const char *tide_drift_event_name(tide_drift_event event)
{
    static const char *const names[TIDE_DRIFT_EVENTS] = {"swap", "gradual", "born",
                                                         "dead"};
    return names[event];
}

/* -- one word -------------------------------------------------------------------------------------- */

static float cosine(const tide_snapshot *s, uint32_t a, uint32_t b)
{
    return tide_kernels_best()->dot(tide_matrix_row(&s->rows, a),
                                    tide_matrix_row(&s->rows, b), s->rows.stride);
}

static uint32_t place_of(const course *c, uint32_t number)
{
    return c->plan->unchanged + number;
}

/* Neighbors that have left the vocabulary are passed over. */
static double mean_cosine(const tide_snapshot *s, uint32_t place, const neighbors *near)
{
    double sum = 0;
    uint32_t held = 0;
    for (uint32_t i = 0; i < near->count; i++)
        if (s->held[near->places[i]]) {
            sum += (double)cosine(s, place, near->places[i]);
            held++;
        }
    return held ? sum / held : 0;
}

static double lean(const course *c, const tide_snapshot *s, uint32_t number)
{
    uint32_t place = place_of(c, number), other = c->plan->changes[number].other;
    return mean_cosine(s, place, &c->near[other]) -
           mean_cosine(s, place, &c->near[number]);
}

/* Whether the source is among the nearest of a new word. */
static bool found_its_source(const course *c, const tide_snapshot *s, uint32_t number)
{
    uint32_t place = place_of(c, number), nearer = 0;
    uint32_t source = place_of(c, c->plan->changes[number].other);
    float score = cosine(s, place, source);
    for (uint32_t other = 0; other < c->plan->unchanged; other++)
        nearer += s->held[other] && cosine(s, place, other) > score;
    return nearer < TIDE_NEAREST;
}

/* -- one look -------------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t words, followed;
    double sum, weight; /* the score is their quotient */
} tally;

static void judge_exchanged(const course *c, const tide_snapshot *s, uint32_t number,
                            tally *t)
{
    if (!s->held[place_of(c, number)])
        return;
    double leans = lean(c, s, number);
    t->followed += leans > 0;
    t->sum += leans - c->lean[number];
    t->weight -= 2 * c->lean[number];
}

static void judge_born(const course *c, const tide_snapshot *s, uint32_t number,
                       tally *t)
{
    uint32_t place = place_of(c, number);
    uint32_t source = place_of(c, c->plan->changes[number].other);
    if (!s->held[place] || !s->held[source])
        return;
    t->followed += found_its_source(c, s, number);
    t->sum += (double)cosine(s, place, source);
    t->weight += 1;
}

/* Words that the model did not hold when it happened cannot be judged. */
static bool can_be_judged(const course *c, uint32_t number)
{
    const tide_change *change = &c->plan->changes[number];
    bool *held = c->then->held + c->plan->unchanged;
    bool newcomer = change->event == TIDE_DRIFT_BORN;
    return change->judged && held[change->other] && (newcomer || held[number]);
}

static void judge_word(const course *c, const tide_snapshot *s, uint32_t number,
                       tally *t)
{
    tide_drift_event event = c->plan->changes[number].event;
    t->words++;
    if (event == TIDE_DRIFT_BORN)
        judge_born(c, s, number, t);
    else if (event == TIDE_DRIFT_DEAD)
        t->followed += !s->held[place_of(c, number)];
    else
        judge_exchanged(c, s, number, t);
}

static tide_drift_look judge(const course *c, const tide_snapshot *s)
{
    tally tallies[TIDE_DRIFT_EVENTS] = {0};
    for (uint32_t number = 0; number < c->plan->changing; number++)
        if (can_be_judged(c, number))
            judge_word(c, s, number, &tallies[c->plan->changes[number].event]);
    tide_drift_look look = {.tokens = c->tokens - c->plan->at};
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++) {
        const tally *t = &tallies[event];
        look.words[event] = t->words;
        look.followed[event] =
            t->words ? (double)t->followed / (double)t->words : (double)NAN;
        look.score[event] = fabs(t->weight) > 0 ? t->sum / t->weight : (double)NAN;
    }
    return look;
}

/* -- along the text -------------------------------------------------------------------------------- */

static tide_snapshot *take_snapshot(course *c, tide_error *err)
{
    const tide_model *model = tide_word_trainer_drain(c->pupil);
    tide_view *space =
        tide_view_new(model, c->options->vectors, c->options->centered, err);
    tide_snapshot *s = space ? tide_snapshot_new(space, c->plan->words,
                                                 place_of(c, c->plan->changing), err)
                             : NULL;
    tide_view_free(space);
    return s;
}

static void remember_moment(course *c)
{
    const tide_drift_plan *plan = c->plan;
    for (uint32_t number = 0; number < plan->changing; number++)
        c->near[number].count =
            tide_nearest_rows(&c->then->rows, place_of(c, number), plan->unchanged,
                              c->then->held, c->near[number].places);
    for (uint32_t number = 0; number < plan->changing; number++)
        c->lean[number] = lean(c, c->then, number);
}

static void note_first(uint64_t *first, bool reached, uint64_t tokens)
{
    if (reached && *first == TIDE_DRIFT_NEVER)
        *first = tokens;
}

static void note_look(course *c, const tide_drift_look *look)
{
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++) {
        double followed = look->followed[event];
        note_first(&c->result->half[event], followed >= 0.5, look->tokens);
        note_first(&c->result->nine_tenths[event], followed >= 0.9, look->tokens);
    }
    c->result->last = *look;
    if (c->options->look)
        c->options->look(c->options->look_data, look);
}

static int compare_with_then(course *c, const tide_snapshot *now, tide_error *err)
{
    uint32_t unchanged = c->plan->unchanged;
    const tide_comparison comparison = {c->then, now, unchanged,
                                        unchanged < FREQUENT ? unchanged : FREQUENT};
    return tide_snapshot_compare(&comparison, &c->result->unchanged, NULL, err);
}

static int look_at(course *c, bool last, tide_error *err)
{
    tide_snapshot *now = take_snapshot(c, err);
    if (!now)
        return (int)err->status;
    bool moment = !c->then;
    if (moment) {
        c->then = now;
        remember_moment(c);
    }
    c->next_look = c->tokens + c->plan->every;
    tide_drift_look look = judge(c, now);
    note_look(c, &look);
    int status = last ? compare_with_then(c, now, err) : TIDE_OK;
    if (!moment)
        tide_snapshot_free(now);
    return status;
}

static void watch(const course *c)
{
    if (!c->options->watch || c->tokens % WATCH_TOKENS)
        return;
    tide_stats stats;
    tide_word_trainer_stats(c->pupil, &stats);
    c->options->watch(c->options->watch_data, &stats);
}

static int hear(course *c, const tide_word *word, tide_error *err)
{
    int status = c->tokens == c->next_look ? look_at(c, false, err) : TIDE_OK;
    tide_word heard = *word;
    if (!c->options->control)
        heard = tide_drift_plan_apply(c->plan, word, c->tokens);
    if (heard.length)
        tide_word_trainer_add(c->pupil, &heard);
    c->tokens++;
    watch(c);
    return status;
}

static int read_text(course *c, tide_sentence_reader *sentences, tide_error *err)
{
    tide_word words[WORDS_AT_ONCE];
    bool ended = false;
    int count, status = TIDE_OK;
    while ((count = tide_sentence_reader_take(sentences, words, WORDS_AT_ONCE, &ended,
                                              err)) > 0 ||
           ended) {
        for (int i = 0; i < count && !status; i++)
            status = hear(c, &words[i], err);
        if (status)
            return status;
        if (ended)
            tide_word_trainer_end_sentence(c->pupil);
    }
    return count;
}

static int run(course *c, const tide_params *params, tide_error *err)
{
    c->near = tide_alloc(c->plan->changing, sizeof *c->near);
    c->lean = tide_alloc(c->plan->changing, sizeof *c->lean);
    if (!c->near || !c->lean)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to watch words change");
    c->pupil = tide_word_trainer_new(params, err);
    tide_sentence_reader *sentences =
        c->pupil ? tide_sentence_reader_open(params, c->options->sources,
                                             c->options->source_count, err)
                 : NULL;
    int status = sentences ? read_text(c, sentences, err) : (int)err->status;
    tide_sentence_reader_close(sentences);
    if (!status && !c->then)
        status = tide_fail(err, TIDE_ERROR_INPUT,
                           "the text has become shorter since it was counted");
    return status ? status : look_at(c, true, err);
}

int tide_eval_drift(const tide_params *params, const tide_drift_options *options,
                    tide_drift_result *result, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    course c = {.options = options, .result = result};
    c.plan = tide_drift_plan_new(params, options, err);
    if (!c.plan)
        return (int)err->status;
    c.next_look = c.plan->at;
    *result = (tide_drift_result){.tokens = c.plan->tokens,
                                  .at = c.plan->at,
                                  .over = c.plan->over,
                                  .every = c.plan->every};
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++)
        result->half[event] = result->nine_tenths[event] = TIDE_DRIFT_NEVER;
    int status = run(&c, params, err);
    tide_snapshot_free(c.then);
    free(c.lean);
    free(c.near);
    tide_word_trainer_free(c.pupil);
    tide_drift_plan_free(c.plan);
    return status;
}
