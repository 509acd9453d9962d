/* scorer.c - scores the predictions for the posts of a stream.
 *
 * The classifier may be retrained in between and then predict other labels. Only labels
 * that it can predict at the time are scored, so that the scores of a post do not
 * depend on earlier predictions. Every label has a fixed index here, and the
 * classifier's indexes are mapped to them.
 */
#include "label/label.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { LABELS_MAX = TIDE_SIZE(1 << 16, 64) };
#define NOT_PREDICTED (-1.0f)

struct tide_scorer {
    tide_metrics *metrics;
    tide_vocabulary *names; /* slots are the indexes of the labels */
    float *probabilities;   /* [size of names] or NOT_PREDICTED */
    uint64_t fit;           /* the training that the indexes below are for; 0 if none */
    uint32_t *index_of;     /* by the classifier's index */
    uint64_t posts, labeled, words, unknown;
};

/* -- constructor ------------------------------------------------------------------ */

tide_scorer *tide_scorer_new(float threshold, tide_error *err)
{
    const tide_vocabulary_options names = {.kind = TIDE_VOCABULARY_EXACT,
                                           .capacity = LABELS_MAX};
    tide_scorer *s = tide_alloc(1, sizeof *s);
    if (!s) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to score labels");
        return NULL;
    }
    s->names = tide_vocabulary_new(&names, err);
    s->metrics = s->names ? tide_metrics_new(0, threshold, err) : NULL;
    if (s->metrics)
        return s;
    tide_scorer_free(s);
    return NULL;
}

void tide_scorer_free(tide_scorer *s)
{
    if (!s)
        return;
    free(s->index_of);
    free(s->probabilities);
    tide_metrics_free(s->metrics);
    tide_vocabulary_free(s->names);
    free(s);
}

void tide_scorer_reset(tide_scorer *s)
{
    tide_metrics_reset(s->metrics);
    s->posts = s->labeled = s->words = s->unknown = 0;
}

/* -- indexes of labels ------------------------------------------------------------ */

/* A word with 16 readable bytes after it. */
typedef struct padded {
    char bytes[TIDE_WORD_MAX + 17];
    tide_word word;
} padded;

static void pad(padded *p, const char *name)
{
    size_t length = strnlen(name, TIDE_WORD_MAX);
    memset(p->bytes, 0, sizeof p->bytes);
    memcpy(p->bytes, name, length);
    p->word = (tide_word){p->bytes, (uint32_t)length};
}

/* The index of a label. A new label is assigned one. */
static uint32_t index_of(tide_scorer *s, const char *name)
{
    padded p;
    pad(&p, name);
    uint32_t index = tide_vocabulary_find(s->names, &p.word);
    return index == TIDE_NO_SLOT ? tide_vocabulary_insert(s->names, &p.word, 1, 0)
                                 : index;
}

/* Maps the labels of a retrained classifier to indexes. */
static int map_labels(tide_scorer *s, const tide_predicted_post *prediction,
                      tide_error *err)
{
    uint32_t *indexes = tide_alloc(prediction->name_count, sizeof *indexes);
    if (!indexes)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to score labels");
    free(s->index_of);
    s->index_of = indexes;
    s->fit = 0;
    for (uint32_t i = 0; i < prediction->name_count; i++) {
        indexes[i] = index_of(s, prediction->names[i]);
        if (indexes[i] == TIDE_NO_SLOT)
            return tide_fail(err, TIDE_ERROR_INPUT,
                             "more than %d different labels were predicted",
                             LABELS_MAX);
    }
    uint32_t size = tide_vocabulary_size(s->names);
    free(s->probabilities);
    s->probabilities = tide_alloc(size, sizeof *s->probabilities);
    if (!s->probabilities)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to score labels");
    for (uint32_t i = 0; i < size; i++)
        s->probabilities[i] = NOT_PREDICTED;
    for (uint32_t i = 0; i < prediction->name_count; i++)
        s->probabilities[indexes[i]] = 0;
    int status = tide_metrics_grow(s->metrics, size, err);
    s->fit = status ? 0 : prediction->fit;
    return status;
}

/* Lists the indexes of the post's labels that can be predicted, in ascending order, and
 * returns their number. */
static uint32_t find_truth(const tide_scorer *s, const tide_predicted_post *prediction,
                           uint32_t truth[TIDE_POST_LABELS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < prediction->label_count && i < TIDE_POST_LABELS; i++) {
        padded p;
        pad(&p, prediction->labels[i]);
        uint32_t index = tide_vocabulary_find(s->names, &p.word), at = count;
        if (index == TIDE_NO_SLOT || !prediction->name_count ||
            s->probabilities[index] == NOT_PREDICTED)
            continue;
        for (; at > 0 && truth[at - 1] > index; at--)
            truth[at] = truth[at - 1];
        truth[at] = index;
        count++;
    }
    return count;
}

/* -- scoring ---------------------------------------------------------------------- */

int tide_scorer_add(tide_scorer *s, const tide_predicted_post *prediction,
                    tide_error *err)
{
    uint32_t truth[TIDE_POST_LABELS];
    if (prediction->name_count && s->fit != prediction->fit) {
        int status = map_labels(s, prediction, err);
        if (status)
            return status;
    }
    uint32_t count = find_truth(s, prediction, truth);
    s->posts++;
    s->labeled += prediction->label_count > 0;
    if (!count)
        return TIDE_OK;
    for (uint32_t i = 0; i < prediction->name_count; i++)
        s->probabilities[s->index_of[i]] = prediction->probabilities[i];
    tide_metrics_add(s->metrics, s->probabilities, truth, count);
    s->words += prediction->words;
    s->unknown += prediction->unknown;
    return TIDE_OK;
}

tide_scores tide_scorer_scores(const tide_scorer *s)
{
    tide_scores scores = tide_metrics_total(s->metrics);
    scores.posts = s->posts;
    scores.labeled = s->labeled;
    scores.words = s->words;
    scores.unknown = s->unknown;
    return scores;
}

static int by_support(const void *a, const void *b)
{
    const tide_label_score *x = a, *y = b;
    if (x->support != y->support)
        return x->support > y->support ? -1 : 1;
    return strcmp(x->name, y->name);
}

size_t tide_scorer_labels(const tide_scorer *s, tide_label_score *scores, size_t max)
{
    uint32_t size = tide_vocabulary_size(s->names), length;
    tide_label_score *all = tide_alloc(size, sizeof *all);
    for (uint32_t i = 0; all && i < size; i++) {
        all[i].name = tide_vocabulary_word(s->names, i, &length);
        all[i].score = tide_metrics_label(s->metrics, i, &all[i].support);
    }
    size_t count = !all ? 0 : size < max ? size : max;
    if (count) {
        qsort(all, size, sizeof *all, by_support);
        memcpy(scores, all, count * sizeof *scores);
    }
    free(all);
    return count;
}
