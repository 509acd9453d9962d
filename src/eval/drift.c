/* drift.c - how fast vectors follow words that change their meaning.
 *
 * A text is used for training unchanged up to a given moment, and modified by a plan
 * from there on (drift_plan.c). At that moment a snapshot is taken, and the nearest
 * unchanged words of every word that is going to change are recorded. Then the model is
 * measured at regular intervals. All vectors may have rotated together in the meantime,
 * so vectors of different times are never compared. Instead, the bias of a word is
 * computed from the current vectors alone:
 *
 *     bias(w) = mean cosine with the recorded neighbors of the other word
 *             - mean cosine with its own recorded neighbors
 *
 * It is negative at the moment of change and positive once the word has followed. When
 * it reaches the negative of its initial value, the exchange is complete.
 */
#include "eval/eval.h"
#include "model/model.h"
#include "params/params.h"
#include "run/run.h"
#include "vector/vector.h"

#include <math.h>
#include <stdlib.h>

enum { WORDS_PER_READ = 64, STABILITY_WORDS = 1000, PROGRESS_TOKENS = 1 << 17 };

typedef struct neighbors {
    uint32_t rows[TIDE_NEAREST]; /* of unchanged words */
    uint32_t count;
} neighbors;

typedef struct experiment {
    const tide_drift_options *options;
    tide_drift_plan *plan;
    tide_word_trainer *trainer;
    uint64_t tokens;           /* read so far */
    uint64_t next_measurement; /* token number */
    tide_snapshot *then;       /* at the moment of change; NULL before */
    neighbors *neighbors_then; /* [changing] at the moment of change */
    double *bias;              /* [changing] at the moment of change */
    tide_drift_result *result;
} experiment;

const char *tide_drift_event_name(tide_drift_event event)
{
    static const char *const names[TIDE_DRIFT_EVENTS] = {"swap", "gradual", "born",
                                                         "dead"};
    return names[event];
}

/* -- one word ---------------------------------------------------------------------- */

static float cosine(const tide_snapshot *s, uint32_t a, uint32_t b)
{
    return tide_kernels_best()->dot(tide_matrix_row(&s->rows, a),
                                    tide_matrix_row(&s->rows, b), s->rows.stride);
}

static uint32_t row_of(const experiment *c, uint32_t number)
{
    return c->plan->unchanged + number;
}

/* Ignores neighbors that are not held any more. */
static double mean_cosine(const tide_snapshot *s, uint32_t row,
                          const neighbors *neighbors_then)
{
    double sum = 0;
    uint32_t held = 0;
    for (uint32_t i = 0; i < neighbors_then->count; i++)
        if (s->held[neighbors_then->rows[i]]) {
            sum += (double)cosine(s, row, neighbors_then->rows[i]);
            held++;
        }
    return held ? sum / held : 0;
}

static double bias(const experiment *c, const tide_snapshot *s, uint32_t number)
{
    uint32_t row = row_of(c, number), other = c->plan->changes[number].other;
    return mean_cosine(s, row, &c->neighbors_then[other]) -
           mean_cosine(s, row, &c->neighbors_then[number]);
}

/* Whether the word that a new word replaces is among its nearest words. */
static bool is_near_source(const experiment *c, const tide_snapshot *s, uint32_t number)
{
    uint32_t row = row_of(c, number), closer = 0;
    uint32_t source_row = row_of(c, c->plan->changes[number].other);
    float score = cosine(s, row, source_row);
    for (uint32_t other = 0; other < c->plan->unchanged; other++)
        closer += s->held[other] && cosine(s, row, other) > score;
    return closer < TIDE_NEAREST;
}

/* -- one measurement --------------------------------------------------------------- */

typedef struct tally {
    uint64_t words, followed;
    double sum, weight; /* the score is sum / weight */
} tally;

static void measure_exchanged(const experiment *c, const tide_snapshot *s,
                              uint32_t number, tally *t)
{
    if (!s->held[row_of(c, number)])
        return;
    double current_bias = bias(c, s, number);
    t->followed += current_bias > 0;
    t->sum += current_bias - c->bias[number];
    t->weight -= 2 * c->bias[number];
}

static void measure_born(const experiment *c, const tide_snapshot *s, uint32_t number,
                         tally *t)
{
    uint32_t row = row_of(c, number);
    uint32_t source_row = row_of(c, c->plan->changes[number].other);
    if (!s->held[row] || !s->held[source_row])
        return;
    t->followed += is_near_source(c, s, number);
    t->sum += (double)cosine(s, row, source_row);
    t->weight += 1;
}

/* Words that the model did not hold at the moment of change are not measured. */
static bool is_measurable(const experiment *c, uint32_t number)
{
    const tide_word_change *change = &c->plan->changes[number];
    bool *held = c->then->held + c->plan->unchanged;
    bool is_new = change->event == TIDE_DRIFT_BORN;
    return change->measured && held[change->other] && (is_new || held[number]);
}

static void measure_word(const experiment *c, const tide_snapshot *s, uint32_t number,
                         tally *t)
{
    tide_drift_event event = c->plan->changes[number].event;
    t->words++;
    if (event == TIDE_DRIFT_BORN)
        measure_born(c, s, number, t);
    else if (event == TIDE_DRIFT_DEAD)
        t->followed += !s->held[row_of(c, number)];
    else
        measure_exchanged(c, s, number, t);
}

static tide_drift_evaluation measure(const experiment *c, const tide_snapshot *s)
{
    tally tallies[TIDE_DRIFT_EVENTS] = {0};
    for (uint32_t number = 0; number < c->plan->changing; number++)
        if (is_measurable(c, number))
            measure_word(c, s, number, &tallies[c->plan->changes[number].event]);
    tide_drift_evaluation evaluation = {.tokens = c->tokens - c->plan->at};
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++) {
        const tally *t = &tallies[event];
        evaluation.words[event] = t->words;
        evaluation.followed[event] =
            t->words ? (double)t->followed / (double)t->words : (double)NAN;
        evaluation.score[event] =
            fabs(t->weight) > 0 ? t->sum / t->weight : (double)NAN;
    }
    return evaluation;
}

/* -- along the text ---------------------------------------------------------------- */

static tide_snapshot *take_snapshot(experiment *c, tide_error *err)
{
    const tide_model *model = tide_word_trainer_drain(c->trainer);
    tide_view *view =
        tide_view_new(model, c->options->vectors, c->options->centered, err);
    tide_snapshot *s = view ? tide_snapshot_new(view, c->plan->words,
                                                row_of(c, c->plan->changing), err)
                            : NULL;
    tide_view_free(view);
    return s;
}

static void record_moment(experiment *c)
{
    const tide_drift_plan *plan = c->plan;
    for (uint32_t number = 0; number < plan->changing; number++)
        c->neighbors_then[number].count =
            tide_nearest_rows(&c->then->rows, row_of(c, number), plan->unchanged,
                              c->then->held, c->neighbors_then[number].rows);
    for (uint32_t number = 0; number < plan->changing; number++)
        c->bias[number] = bias(c, c->then, number);
}

static void record_first(uint64_t *first, bool reached, uint64_t tokens)
{
    if (reached && *first == TIDE_DRIFT_NEVER)
        *first = tokens;
}

static void record_evaluation(experiment *c, const tide_drift_evaluation *evaluation)
{
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++) {
        double followed = evaluation->followed[event];
        record_first(&c->result->half[event], followed >= 0.5, evaluation->tokens);
        record_first(&c->result->nine_tenths[event], followed >= 0.9,
                     evaluation->tokens);
    }
    c->result->last = *evaluation;
    if (c->options->evaluation)
        c->options->evaluation(c->options->evaluation_data, evaluation);
}

static int measure_stability(experiment *c, const tide_snapshot *now, tide_error *err)
{
    uint32_t unchanged = c->plan->unchanged;
    const tide_comparison comparison = {c->then, now, unchanged,
                                        unchanged < STABILITY_WORDS ? unchanged
                                                                    : STABILITY_WORDS};
    return tide_snapshot_compare(&comparison, &c->result->unchanged, NULL, err);
}

static int take_measurement(experiment *c, bool last, tide_error *err)
{
    tide_snapshot *now = take_snapshot(c, err);
    if (!now)
        return (int)err->status;
    bool is_first = !c->then;
    if (is_first) {
        c->then = now;
        record_moment(c);
    }
    c->next_measurement = c->tokens + c->plan->every;
    tide_drift_evaluation evaluation = measure(c, now);
    record_evaluation(c, &evaluation);
    int status = last ? measure_stability(c, now, err) : TIDE_OK;
    if (!is_first)
        tide_snapshot_free(now);
    return status;
}

static void report_progress(const experiment *c)
{
    if (!c->options->progress || c->tokens % PROGRESS_TOKENS)
        return;
    tide_stats stats;
    tide_word_trainer_stats(c->trainer, &stats);
    c->options->progress(c->options->progress_data, &stats);
}

static int process_word(experiment *c, const tide_word *word, tide_error *err)
{
    int status =
        c->tokens == c->next_measurement ? take_measurement(c, false, err) : TIDE_OK;
    tide_word output = *word;
    if (!c->options->control)
        output = tide_drift_plan_apply(c->plan, word, c->tokens);
    if (output.length)
        tide_word_trainer_add(c->trainer, &output);
    c->tokens++;
    report_progress(c);
    return status;
}

static int read_text(experiment *c, tide_sentence_reader *sentences, tide_error *err)
{
    tide_word words[WORDS_PER_READ];
    bool ended = false;
    int count, status = TIDE_OK;
    while ((count = tide_sentence_reader_next(sentences, words, WORDS_PER_READ, &ended,
                                              err)) > 0 ||
           ended) {
        for (int i = 0; i < count && !status; i++)
            status = process_word(c, &words[i], err);
        if (status)
            return status;
        if (ended)
            tide_word_trainer_end_sentence(c->trainer);
    }
    return count;
}

static int run(experiment *c, const tide_params *params, tide_error *err)
{
    c->neighbors_then = tide_alloc(c->plan->changing, sizeof *c->neighbors_then);
    c->bias = tide_alloc(c->plan->changing, sizeof *c->bias);
    if (!c->neighbors_then || !c->bias)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the drift experiment");
    c->trainer = tide_word_trainer_new(params, err);
    tide_sentence_reader *sentences =
        c->trainer ? tide_sentence_reader_open(params, c->options->sources,
                                               c->options->source_count, err)
                   : NULL;
    int status = sentences ? read_text(c, sentences, err) : (int)err->status;
    tide_sentence_reader_close(sentences);
    if (!status && !c->then)
        status = tide_fail(err, TIDE_ERROR_INPUT,
                           "the text has become shorter since its words were counted");
    return status ? status : take_measurement(c, true, err);
}

int tide_eval_drift(const tide_params *params, const tide_drift_options *options,
                    tide_drift_result *result, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    experiment c = {.options = options, .result = result};
    c.plan = tide_drift_plan_new(params, options, err);
    if (!c.plan)
        return (int)err->status;
    c.next_measurement = c.plan->at;
    *result = (tide_drift_result){.tokens = c.plan->tokens,
                                  .at = c.plan->at,
                                  .over = c.plan->over,
                                  .every = c.plan->every};
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++)
        result->half[event] = result->nine_tenths[event] = TIDE_DRIFT_NEVER;
    int status = run(&c, params, err);
    tide_snapshot_free(c.then);
    free(c.bias);
    free(c.neighbors_then);
    tide_word_trainer_free(c.trainer);
    tide_drift_plan_free(c.plan);
    return status;
}
