/* test_scorer.c - scores of predictions, against a reference implementation that keeps
 * every post. */
#include "base/base.h"
#include "labels_fixture.h"

enum { UNIVERSE = 24, PREDICTED = 9, POSTS = 400 };

/* -- predicted posts -------------------------------------------------------------- */

/* Labels are integers. */
typedef struct scored_post {
    bool carried[UNIVERSE], prediction[UNIVERSE];
    float probabilities[UNIVERSE]; /* of the predicted ones */
    uint32_t words, unknown;
} scored_post;

static const char *name_of(int label)
{
    static char names[UNIVERSE][8];
    snprintf(names[label], sizeof names[label], "n%d", label);
    return names[label];
}

/* The labels of a classifier, in order. */
static void choose_names(tide_rng *rng, int names[UNIVERSE])
{
    for (int i = 0; i < UNIVERSE; i++) {
        int other = (int)tide_rng_below(rng, (uint64_t)i + 1);
        names[i] = names[other];
        names[other] = i;
    }
}

/* A random post, also added to the scorer. */
static scored_post add_post(tide_scorer *scorer, tide_rng *rng, const int *names,
                            uint32_t count, uint64_t fit)
{
    const char *labels[UNIVERSE], *predicted_names[UNIVERSE];
    float probabilities[UNIVERSE];
    scored_post p = {.words = (uint32_t)tide_rng_below(rng, 20)};
    p.unknown = (uint32_t)tide_rng_below(rng, p.words + 1);
    uint32_t label_count = 0;
    for (int i = 0; i < UNIVERSE; i++)
        if ((p.carried[i] = tide_rng_below(rng, 12) == 0))
            labels[label_count++] = name_of(i);
    for (uint32_t i = 0; i < count; i++) {
        predicted_names[i] = name_of(names[i]);
        probabilities[i] = tide_rng_float(rng);
        p.prediction[names[i]] = true;
        p.probabilities[names[i]] = probabilities[i];
    }
    const tide_predicted_post prediction = {.labels = labels,
                                            .label_count = label_count,
                                            .words = p.words,
                                            .unknown = p.unknown,
                                            .fit = fit,
                                            .names = predicted_names,
                                            .name_count = count,
                                            .probabilities = probabilities};
    assert_int_equal(tide_scorer_add(scorer, &prediction, NULL), TIDE_OK);
    return p;
}

/* -- reference implementation ----------------------------------------------------- */

static bool is_true(const scored_post *p, int label)
{
    return p->prediction[label] && p->carried[label];
}

static int truths_of(const scored_post *p)
{
    int count = 0;
    for (int i = 0; i < UNIVERSE; i++)
        count += is_true(p, i);
    return count;
}

/* How many predicted labels are more probable. */
static int place_of(const scored_post *p, int label)
{
    int place = 0;
    for (int i = 0; i < UNIVERSE; i++)
        place += p->prediction[i] && p->probabilities[i] > p->probabilities[label];
    return place;
}

/* How many of the most probable labels are correct. */
static int right_among(const scored_post *p, int most)
{
    int right = 0;
    for (int i = 0; i < UNIVERSE; i++)
        right += is_true(p, i) && place_of(p, i) < most;
    return right;
}

typedef struct tally {
    double had, predicted, both;
} tally;

/* For one label in the scored posts. */
static tally tally_of(const scored_post *posts, int count, int label, float threshold)
{
    tally t = {0};
    for (int i = 0; i < count; i++) {
        const scored_post *p = &posts[i];
        if (!truths_of(p) || !p->prediction[label])
            continue;
        bool predicted = p->probabilities[label] >= threshold;
        t.had += p->carried[label];
        t.predicted += predicted;
        t.both += predicted && p->carried[label];
    }
    return t;
}

static tide_score score_of(tally t)
{
    return (tide_score){
        .precision = t.predicted > 0 ? t.both / t.predicted : 0,
        .recall = t.had > 0 ? t.both / t.had : 0,
        .f1 = t.had + t.predicted > 0 ? 2 * t.both / (t.had + t.predicted) : 0};
}

static void add_score(tide_score *sum, tide_score score, double weight)
{
    sum->precision += weight * score.precision;
    sum->recall += weight * score.recall;
    sum->f1 += weight * score.f1;
}

static void expect_score(tide_score found, tide_score expected)
{
    assert_true(fabs(found.precision - expected.precision) < 1e-12);
    assert_true(fabs(found.recall - expected.recall) < 1e-12);
    assert_true(fabs(found.f1 - expected.f1) < 1e-12);
}

static bool is_ever_predicted(const scored_post *posts, int count, int label,
                              bool scored)
{
    for (int i = 0; i < count; i++)
        if (posts[i].prediction[label] && (!scored || truths_of(&posts[i])))
            return true;
    return false;
}

static int predicted_at_5(const scored_post *p)
{
    int prediction = 0;
    for (int label = 0; label < UNIVERSE; label++)
        prediction += p->prediction[label];
    return prediction < 5 ? prediction : 5;
}

static void expect_counts(const tide_scores *v, const scored_post *posts, int count)
{
    uint64_t labeled = 0, scored = 0, truths = 0, words = 0, unknown = 0;
    double at_1 = 0, at_5 = 0, recall_at_5 = 0;
    for (int i = 0; i < count; i++) {
        const scored_post *p = &posts[i];
        int true_ones = truths_of(p);
        bool any = false;
        for (int label = 0; label < UNIVERSE; label++)
            any = any || p->carried[label];
        labeled += any;
        if (!true_ones)
            continue;
        scored++;
        truths += (uint64_t)true_ones;
        words += p->words;
        unknown += p->unknown;
        at_1 += right_among(p, 1);
        at_5 += right_among(p, 5) / (double)predicted_at_5(p);
        recall_at_5 += (double)right_among(p, 5) / true_ones;
    }
    assert_int_equal(v->posts, count);
    assert_int_equal(v->labeled, labeled);
    assert_int_equal(v->scored, scored);
    assert_int_equal(v->truths, truths);
    assert_int_equal(v->words, words);
    assert_int_equal(v->unknown, unknown);
    double share = scored ? 1.0 / (double)scored : 0;
    assert_true(fabs(v->precision_at_1 - at_1 * share) < 1e-12);
    assert_true(fabs(v->precision_at_5 - at_5 * share) < 1e-12);
    assert_true(fabs(v->recall_at_5 - recall_at_5 * share) < 1e-12);
}

static void expect_scores(const tide_scorer *scorer, const scored_post *posts,
                          int count, float threshold)
{
    tide_scores v = tide_scorer_scores(scorer);
    tally all = {0};
    tide_score weighted = {0}, macro = {0};
    int labels = 0;
    expect_counts(&v, posts, count);
    for (int i = 0; i < UNIVERSE; i++) {
        tally t = tally_of(posts, count, i, threshold);
        all = (tally){all.had + t.had, all.predicted + t.predicted, all.both + t.both};
        labels += is_ever_predicted(posts, count, i, true);
    }
    for (int i = 0; i < UNIVERSE; i++) {
        tally t = tally_of(posts, count, i, threshold);
        add_score(&weighted, score_of(t), all.had > 0 ? t.had / all.had : 0);
        add_score(&macro, score_of(t), labels ? 1.0 / labels : 0);
    }
    expect_score(v.weighted, weighted);
    expect_score(v.micro, score_of(all));
    expect_score(v.macro, macro);
}

/* -- scores ----------------------------------------------------------------------- */

static void expect_list(const tide_scorer *scorer, const scored_post *posts, int count,
                        float threshold)
{
    tide_label_score scores[UNIVERSE + 1];
    size_t size = tide_scorer_labels(scorer, scores, COUNT(scores)), prediction = 0;
    for (int i = 0; i < UNIVERSE; i++)
        prediction += is_ever_predicted(posts, count, i, false);
    assert_int_equal(size, prediction);
    for (size_t i = 0; i < size; i++) {
        tally t = tally_of(posts, count, atoi(scores[i].name + 1), threshold);
        assert_int_equal(scores[i].support, (uint64_t)t.had);
        expect_score(scores[i].score, score_of(t));
        assert_true(!i || scores[i - 1].support > scores[i].support ||
                    (scores[i - 1].support == scores[i].support &&
                     strcmp(scores[i - 1].name, scores[i].name) < 0));
    }
    tide_label_score few[2];
    assert_int_equal(tide_scorer_labels(scorer, few, 2), size < 2 ? size : 2);
    for (size_t i = 0; i < 2 && i < size; i++)
        assert_string_equal(few[i].name, scores[i].name);
}

/* Nothing is predicted before the first training; then the labels and their order
 * change every fifty posts. */
static void scores_equal_the_reference(void **state)
{
    (void)state;
    for (int run = 0; run < 4; run++) {
        float threshold = run % 2 ? 0.5f : 0.2f;
        int prediction = run < 2 ? PREDICTED : 3;
        tide_scorer *scorer = tide_scorer_new(threshold, NULL);
        tide_rng rng = tide_rng_seeded((uint64_t)run);
        static scored_post posts[POSTS];
        int names[UNIVERSE] = {0};
        assert_non_null(scorer);
        for (int i = 0; i < POSTS; i++) {
            if (i % 50 == 0)
                choose_names(&rng, names);
            posts[i] = add_post(scorer, &rng, names, i < 20 ? 0 : prediction,
                                1 + (uint64_t)i / 50);
            if (i % 23 == 0 || i + 1 == POSTS) {
                expect_scores(scorer, posts, i + 1, threshold);
                expect_list(scorer, posts, i + 1, threshold);
            }
        }
        tide_scorer_free(scorer);
    }
}

static void a_reset_clears_all_scores(void **state)
{
    (void)state;
    tide_scorer *scorer = tide_scorer_new(0.5f, NULL);
    tide_rng rng = tide_rng_seeded(7);
    static scored_post posts[POSTS];
    int names[UNIVERSE] = {0};
    assert_non_null(scorer);
    for (int account = 0; account < 4; account++) {
        for (int i = 0; i < 100; i++) {
            if (i % 40 == 0)
                choose_names(&rng, names);
            posts[i] = add_post(scorer, &rng, names, PREDICTED,
                                1 + (uint64_t)(account * 3 + i / 40));
        }
        expect_scores(scorer, posts, 100, 0.5f);
        tide_scorer_reset(scorer);
        expect_scores(scorer, posts, 0, 0.5f);
    }
    tide_scorer_free(scorer);
    tide_scorer_free(NULL);
}

/* -- bounds ----------------------------------------------------------------------- */

enum { MOST = 1 << 16 };

static void too_many_labels_are_an_error(void **state)
{
    (void)state;
    char(*texts)[8] = malloc((MOST + 1) * sizeof *texts);
    const char **names = malloc((MOST + 1) * sizeof *names);
    float *probabilities = calloc(MOST + 1, sizeof *probabilities);
    tide_scorer *scorer = tide_scorer_new(0.5f, NULL);
    assert_true(texts && names && probabilities && scorer);
    for (int i = 0; i <= MOST; i++) {
        snprintf(texts[i], sizeof texts[i], "%d", i);
        names[i] = texts[i];
    }
    probabilities[0] = 1;
    tide_predicted_post all = {.labels = names,
                               .label_count = 1,
                               .fit = 1,
                               .names = names,
                               .name_count = MOST,
                               .probabilities = probabilities};
    assert_int_equal(tide_scorer_add(scorer, &all, NULL), TIDE_OK);
    tide_predicted_post more = all;
    more.fit = 2;
    more.names = names + MOST;
    more.name_count = 1;
    for (int turn = 0; turn < 2; turn++) {
        tide_error err = {.text = ""};
        assert_int_equal(tide_scorer_add(scorer, &more, &err), TIDE_ERROR_INPUT);
        assert_string_equal(err.text,
                            "more than 65536 different labels were predicted");
        assert_int_equal(tide_scorer_add(scorer, &more, NULL), TIDE_ERROR_INPUT);
        assert_int_equal(tide_scorer_add(scorer, &all, NULL), TIDE_OK);
    }
    assert_int_equal(tide_scorer_scores(scorer).scored, 3);
    assert_true(tide_scorer_scores(scorer).micro.f1 == 1);
    tide_scorer_free(scorer);
    free(probabilities);
    free(names);
    free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_equal_the_reference),
        cmocka_unit_test(a_reset_clears_all_scores),
        cmocka_unit_test(too_many_labels_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
