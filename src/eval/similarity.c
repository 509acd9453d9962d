/* similarity.c - cosines of word pairs compared with human similarity scores.
 *
 * A line contains two words and a number, separated by tabs if it has any, otherwise by
 * semicolons, commas or blanks. The score is the first number after the words, because
 * some sets have a part of speech before it, and most have more columns after it. The
 * first line may be a header. Cosines are computed in double precision, so that
 * rounding does not affect the ranks.
 */
#include "eval/eval.h"
#include "eval/sets.h"

#include <math.h>
#include <stdlib.h>

typedef struct scores {
    tide_list cosines, human; /* of double */
} scores;

typedef struct pair {
    const char *words[2];
    double score;
} pair;

static char separator_of(const char *line)
{
    static const char separators[] = "\t;,";
    for (const char *s = separators; *s; s++)
        if (strchr(line, *s))
            return *s;
    return ' ';
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* Splits the next field off *rest, without blanks at its ends; NULL at the end. */
static char *next_field(char **rest, char separator)
{
    if (!*rest)
        return NULL;
    char *field = *rest + strspn(*rest, " ");
    size_t length = strcspn(field, (char[]){separator, 0});
    *rest = field[length] ? field + length + 1 : NULL;
    while (length && field[length - 1] == ' ')
        length--;
    field[length] = 0;
    return field;
}

static bool read_number(const char *text, double *number)
{
    float value;
    const char *end = tide_decimal_read(text, &value);
    if (!end || *skip_blanks(end))
        return false;
    *number = (double)value;
    return true;
}

static bool read_pair(char *line, pair *p)
{
    char separator = separator_of(line), *rest = line;
    for (int i = 0; i < 2; i++) {
        p->words[i] = next_field(&rest, separator);
        if (!p->words[i] || !*p->words[i])
            return false;
    }
    for (const char *field; (field = next_field(&rest, separator));)
        if (read_number(field, &p->score))
            return true;
    return false;
}

static double cosine_of(const float *x, const float *y, uint32_t dim)
{
    double xx = 0, yy = 0, xy = 0;
    for (uint32_t d = 0; d < dim; d++) {
        double a = (double)x[d], b = (double)y[d];
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static bool add_score(scores *s, double cosine, double human)
{
    double *x = tide_list_add(&s->cosines, sizeof *x);
    double *y = tide_list_add(&s->human, sizeof *y);
    if (!x || !y)
        return false;
    *x = cosine;
    *y = human;
    return true;
}

/* `vectors` is scratch space for two vectors. */
static bool add_pair(const tide_lexicon *lexicon, const pair *p, float *vectors,
                     bool keep_unknown, scores *s, tide_similarity_result *result)
{
    uint32_t dim = tide_model_dim(lexicon->model);
    bool known = tide_lexicon_vector(lexicon, p->words[0], vectors) &&
                 tide_lexicon_vector(lexicon, p->words[1], vectors + dim);
    result->pairs++;
    result->known += known;
    if (!known && !keep_unknown)
        return true;
    return add_score(s, known ? cosine_of(vectors, vectors + dim, dim) : 0, p->score);
}

static int read_pairs(const tide_lexicon *lexicon, tide_lines *lines, float *vectors,
                      bool keep_unknown, scores *s, tide_similarity_result *result,
                      tide_error *err)
{
    char *line;
    int result_code;
    bool first = true;
    while ((result_code = tide_lines_next(lines, &line, err)) > 0) {
        pair p;
        if (!line || !read_pair(line, &p))
            result->bad_lines += !line || !first;
        else if (!add_pair(lexicon, &p, vectors, keep_unknown, s, result))
            return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the pairs of %s",
                             lines->path);
        first = false;
    }
    return result_code;
}

static int correlate_set(const tide_lexicon *lexicon, tide_lines *lines,
                         bool keep_unknown, tide_similarity_result *result,
                         tide_error *err)
{
    scores s = {0};
    float *vectors =
        tide_alloc(2 * (size_t)tide_model_dim(lexicon->model), sizeof *vectors);
    int status =
        vectors ? read_pairs(lexicon, lines, vectors, keep_unknown, &s, result, err)
                : tide_fail(err, TIDE_ERROR_MEMORY, "no memory for vectors");
    if (!status && !result->pairs)
        status = tide_fail(err, TIDE_ERROR_FORMAT,
                           "%s: no line of two words and a number", lines->path);
    if (!status)
        status = tide_spearman(s.cosines.items, s.human.items, s.cosines.count,
                               &result->spearman, err);
    if (!status)
        result->pearson = tide_pearson(s.cosines.items, s.human.items, s.cosines.count);
    free(vectors);
    free(s.cosines.items);
    free(s.human.items);
    return status;
}

int tide_eval_similarity(const tide_view *view, const char *path,
                         const tide_eval_options *options,
                         tide_similarity_result *result, tide_error *err)
{
    tide_lines lines;
    tide_lexicon lexicon;
    *result = (tide_similarity_result){.spearman = (double)NAN, .pearson = (double)NAN};
    int status = tide_lexicon_init(&lexicon, view, options->top, err);
    if (!status) {
        status = tide_lines_open(&lines, path, err);
        if (!status)
            status =
                correlate_set(&lexicon, &lines, options->keep_unknown, result, err);
        tide_lines_close(&lines);
    }
    tide_lexicon_release(&lexicon);
    return status;
}
