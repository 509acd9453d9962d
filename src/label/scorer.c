/* judge.c - scores of what was told of the posts of a stream.
 *
 * The classifier may learn anew on the way and tell other labels afterwards. Only labels that it tells at
 * the time are judged, so that a post is judged alike whatever was told before it; but every label has a
 * number here that it keeps, and the classifier's numbers are translated.
 */
#include "label/label.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { LABELS_MAX = TIDE_ROOM(1 << 16, 64) };
#define NOT_TOLD (-1.0f)

struct tide_scorer {
    tide_metrics *metrics;
    tide_vocabulary *names; /* slots are the numbers of the labels */
    float *probabilities;   /* [size of names]; NOT_TOLD for those not told now */
    uint64_t fit;           /* of which the numbers below are; 0 for none */
    uint32_t *number_of;    /* by the classifier's label */
    uint64_t posts, labeled, words, unknown;
};

/* -- making ---------------------------------------------------------------------------------------------- */

tide_scorer *tide_scorer_new(float threshold, tide_error *err)
{
    const tide_vocabulary_options names = {.kind = TIDE_VOCABULARY_EXACT,
                                           .capacity = LABELS_MAX};
    tide_scorer *j = tide_alloc(1, sizeof *j);
    if (!j) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to judge labels");
        return NULL;
    }
    j->names = tide_vocabulary_new(&names, err);
    j->metrics = j->names ? tide_metrics_new(0, threshold, err) : NULL;
    if (j->metrics)
        return j;
    tide_scorer_free(j);
    return NULL;
}

void tide_scorer_free(tide_scorer *j)
{
    if (!j)
        return;
    free(j->number_of);
    free(j->probabilities);
    tide_metrics_free(j->metrics);
    tide_vocabulary_free(j->names);
    free(j);
}

void tide_scorer_reset(tide_scorer *j)
{
    tide_metrics_reset(j->metrics);
    j->posts = j->labeled = j->words = j->unknown = 0;
}

/* -- numbers of labels ------------------------------------------------------------------------------------ */

/* A word of which 16 bytes can be read. */
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

/* The number of a label; it gets one if it has none. */
static uint32_t number_of(tide_scorer *j, const char *name)
{
    padded p;
    pad(&p, name);
    uint32_t number = tide_vocabulary_find(j->names, &p.word);
    return number == TIDE_NO_SLOT ? tide_vocabulary_insert(j->names, &p.word, 1, 0)
                                  : number;
}

/* The classifier has learned anew: which numbers its labels have. */
static int translate(tide_scorer *j, const tide_predicted_post *told, tide_error *err)
{
    uint32_t *numbers = tide_alloc(told->name_count, sizeof *numbers);
    if (!numbers)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to judge labels");
    free(j->number_of);
    j->number_of = numbers;
    j->fit = 0;
    for (uint32_t i = 0; i < told->name_count; i++) {
        numbers[i] = number_of(j, told->names[i]);
        if (numbers[i] == TIDE_NO_SLOT)
            return tide_fail(err, TIDE_ERROR_INPUT,
                             "more than %d different labels have been told",
                             LABELS_MAX);
    }
    uint32_t size = tide_vocabulary_size(j->names);
    free(j->probabilities);
    j->probabilities = tide_alloc(size, sizeof *j->probabilities);
    if (!j->probabilities)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to judge labels");
    for (uint32_t i = 0; i < size; i++)
        j->probabilities[i] = NOT_TOLD;
    for (uint32_t i = 0; i < told->name_count; i++)
        j->probabilities[numbers[i]] = 0;
    int status = tide_metrics_grow(j->metrics, size, err);
    j->fit = status ? 0 : told->fit;
    return status;
}

/* The rising numbers of the labels of a post that are judged; returns how many. */
static uint32_t find_truth(const tide_scorer *j, const tide_predicted_post *told,
                           uint32_t truth[TIDE_POST_LABELS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < told->label_count && i < TIDE_POST_LABELS; i++) {
        padded p;
        pad(&p, told->labels[i]);
        uint32_t number = tide_vocabulary_find(j->names, &p.word), at = count;
        if (number == TIDE_NO_SLOT || !told->name_count ||
            j->probabilities[number] == NOT_TOLD)
            continue;
        for (; at > 0 && truth[at - 1] > number; at--)
            truth[at] = truth[at - 1];
        truth[at] = number;
        count++;
    }
    return count;
}

/* -- judging ---------------------------------------------------------------------------------------------- */

int tide_scorer_add(tide_scorer *j, const tide_predicted_post *told, tide_error *err)
{
    uint32_t truth[TIDE_POST_LABELS];
    if (told->name_count && j->fit != told->fit) {
        int status = translate(j, told, err);
        if (status)
            return status;
    }
    uint32_t count = find_truth(j, told, truth);
    j->posts++;
    j->labeled += told->label_count > 0;
    if (!count)
        return TIDE_OK;
    for (uint32_t i = 0; i < told->name_count; i++)
        j->probabilities[j->number_of[i]] = told->probabilities[i];
    tide_metrics_add(j->metrics, j->probabilities, truth, count);
    j->words += told->words;
    j->unknown += told->unknown;
    return TIDE_OK;
}

tide_scores tide_scorer_scores(const tide_scorer *j)
{
    tide_scores verdict = tide_metrics_total(j->metrics);
    verdict.posts = j->posts;
    verdict.labeled = j->labeled;
    verdict.words = j->words;
    verdict.unknown = j->unknown;
    return verdict;
}

static int by_support(const void *a, const void *b)
{
    const tide_label_score *x = a, *y = b;
    if (x->support != y->support)
        return x->support > y->support ? -1 : 1;
    return strcmp(x->name, y->name);
}

size_t tide_scorer_labels(const tide_scorer *j, tide_label_score *scores, size_t room)
{
    uint32_t size = tide_vocabulary_size(j->names), length;
    tide_label_score *all = tide_alloc(size, sizeof *all);
    for (uint32_t i = 0; all && i < size; i++) {
        all[i].name = tide_vocabulary_word(j->names, i, &length);
        all[i].score = tide_metrics_label(j->metrics, i, &all[i].support);
    }
    size_t count = !all ? 0 : size < room ? size : room;
    if (count) {
        qsort(all, size, sizeof *all, by_support);
        memcpy(scores, all, count * sizeof *scores);
    }
    free(all);
    return count;
}
