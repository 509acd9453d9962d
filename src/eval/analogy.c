/* analogy.c - analogy questions: A is to B as C is to which word?
 *
 * 3CosAdd (Mikolov, Yih and Zweig, NAACL 2013; named by Levy and Goldberg, CoNLL 2014):
 * the answer is the known word other than A, B and C whose unit vector has the largest
 * dot product with b - a + c, where a, b and c are unit vectors too. Of equal ones the
 * most frequent word wins.
 *
 * The products of all questions with all words are computed by the kernel that takes
 * TIDE_BLOCK vectors at once. A batch of questions and a tile of words stay in the
 * cache together, so that the model is read once per batch and never copied. Few
 * products beat the best so far, so a block of products is only examined if any of them
 * does.
 */
#include "eval/sets.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <wordtide/eval.h>
#include <math.h>
#include <stdlib.h>

enum { BATCH = 64 * TIDE_BLOCK, TILE = 128, SECTIONS_MAX = 1 << 16 };

typedef struct question {
    uint32_t ranks[4]; /* of A, B, C and D */
    size_t section;
} question;

typedef struct question_set {
    tide_lexicon lexicon;
    tide_list sections;  /* of tide_analogy_result */
    tide_list questions; /* those whose words are all known */
    uint64_t bad_lines;
} question_set;

/* -- reading ----------------------------------------------------------------------- */

/* Copies as much of the name as fits, cut between characters. */
static void copy_name(char name[TIDE_WORD_MAX + 1], const char *text)
{
    size_t length = tide_utf8_cut(text, strlen(text), TIDE_WORD_MAX);
    memcpy(name, text, length);
    name[length] = 0;
}

static bool add_section(question_set *q, const char *name)
{
    tide_analogy_result *section = tide_list_add(&q->sections, sizeof *section);
    if (section)
        copy_name(section->name, name);
    return section;
}

/* Splits a line into four words. Returns false if there are more or fewer. */
static bool read_words(char *line, const char *words[4])
{
    char *rest;
    int count = 0;
    for (char *word = strtok_r(line, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest)) {
        if (count == 4)
            return false;
        words[count++] = word;
    }
    return count == 4;
}

static bool add_question(question_set *q, const char *const words[4])
{
    if (!q->sections.count && !add_section(q, ""))
        return false;
    question parsed = {.section = q->sections.count - 1};
    tide_analogy_result *sections = q->sections.items;
    sections[parsed.section].questions++;
    for (int i = 0; i < 4; i++) {
        parsed.ranks[i] = tide_lexicon_rank(&q->lexicon, words[i]);
        if (parsed.ranks[i] == TIDE_NO_SLOT)
            return true;
    }
    sections[parsed.section].known++;
    question *slot = tide_list_add(&q->questions, sizeof *slot);
    if (slot)
        *slot = parsed;
    return slot;
}

static int parse_line(question_set *q, char *line, const char *path, tide_error *err)
{
    const char *words[4];
    bool is_heading = line && *line == ':', added = true;
    if (is_heading && q->sections.count == SECTIONS_MAX)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: more than %d sections", path,
                         SECTIONS_MAX);
    if (is_heading)
        added = add_section(q, line + 1 + strspn(line + 1, " \t"));
    else if (line && read_words(line, words))
        added = add_question(q, words);
    else
        q->bad_lines++;
    return added ? TIDE_OK
                 : tide_fail(err, TIDE_ERROR_MEMORY,
                             "no memory for the questions of %s", path);
}

static int read_questions(question_set *q, const char *path, tide_error *err)
{
    tide_lines lines;
    char *line;
    int status = tide_lines_open(&lines, path, err);
    while (!status && (status = tide_lines_next(&lines, &line, err)) > 0)
        status = parse_line(q, line, path, err);
    tide_lines_close(&lines);
    uint64_t questions = 0;
    const tide_analogy_result *sections = q->sections.items;
    for (size_t i = 0; i < q->sections.count; i++)
        questions += sections[i].questions;
    if (!status && !questions)
        status = tide_fail(err, TIDE_ERROR_FORMAT, "%s: no line of four words", path);
    return status;
}

/* -- answering --------------------------------------------------------------------- */

typedef struct answers {
    const tide_lexicon *lexicon;
    const tide_kernels *kernels;
    tide_matrix tile;    /* [TILE] unit vectors of consecutive ranks */
    tide_matrix queries; /* [BATCH] */
    const question *questions;
    float scores[BATCH];   /* best so far */
    uint32_t ranks[BATCH]; /* of the words with these scores */
} answers;

static float *load_unit(answers *a, uint32_t at, uint32_t rank)
{
    float *row = tide_matrix_row(&a->tile, at);
    tide_view_unit(a->lexicon->view, a->lexicon->order[rank], row);
    return row;
}

static void make_query(answers *a, uint32_t at)
{
    static const float signs[] = {-1, 1, 1};
    float *query = tide_matrix_row(&a->queries, at);
    uint32_t stride = a->queries.stride;
    memset(query, 0, stride * sizeof *query);
    for (int i = 0; i < 3; i++)
        a->kernels->add(query, signs[i], load_unit(a, 0, a->questions[at].ranks[i]),
                        stride);
    a->scores[at] = -INFINITY;
    a->ranks[at] = TIDE_NO_SLOT;
}

static bool is_input(const question *q, uint32_t rank)
{
    return q->ranks[0] == rank || q->ranks[1] == rank || q->ranks[2] == rank;
}

/* Updates the best answers with the products of one word and TIDE_BLOCK questions from
 * `first` on. Only `count` of these exist: the last block of a batch may be partial. */
static void update_best(answers *a, uint32_t first, uint32_t count, uint32_t rank,
                        const float products[TIDE_BLOCK])
{
    float *best = a->scores + first;
    int any_better = 0;
    for (int i = 0; i < TIDE_BLOCK; i++)
        any_better |= products[i] > best[i];
    for (uint32_t i = 0; any_better && i < count; i++)
        if (products[i] > best[i] && !is_input(&a->questions[first + i], rank)) {
            best[i] = products[i];
            a->ranks[first + i] = rank;
        }
}

static void answer_batch(answers *a, uint32_t count)
{
    float products[TILE][TIDE_BLOCK] __attribute__((aligned(64)));
    float *rows[TILE];
    for (uint32_t remaining = a->lexicon->words, height; remaining;
         remaining -= height) {
        uint32_t rank = a->lexicon->words - remaining;
        height = remaining < TILE ? remaining : TILE;
        for (uint32_t i = 0; i < height; i++)
            rows[i] = load_unit(a, i, rank + i);
        for (uint32_t first = 0; first < count; first += TIDE_BLOCK) {
            uint32_t width = count - first < TIDE_BLOCK ? count - first : TIDE_BLOCK;
            a->kernels->block_dots(tide_matrix_row(&a->queries, first), rows, height,
                                   a->queries.stride, products);
            for (uint32_t i = 0; i < height; i++)
                update_best(a, first, width, rank + i, products[i]);
        }
    }
}

static int answers_init(answers *a, const tide_lexicon *lexicon, tide_error *err)
{
    uint32_t dim = tide_model_dim(lexicon->model);
    a->lexicon = lexicon;
    a->kernels = tide_kernels_best();
    int status = tide_matrix_init(&a->tile, TILE, dim, err);
    return status ? status : tide_matrix_init(&a->queries, BATCH, dim, err);
}

static int answer_questions(question_set *q, tide_error *err)
{
    answers *a = tide_alloc(1, sizeof *a);
    if (!a)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to answer questions");
    int status = answers_init(a, &q->lexicon, err);
    tide_analogy_result *sections = q->sections.items;
    for (size_t start = 0; !status && start < q->questions.count; start += BATCH) {
        size_t remaining = q->questions.count - start;
        uint32_t count = remaining < BATCH ? (uint32_t)remaining : BATCH;
        a->questions = (const question *)q->questions.items + start;
        for (uint32_t i = 0; i < count; i++)
            make_query(a, i);
        answer_batch(a, count);
        for (uint32_t i = 0; i < count; i++)
            sections[a->questions[i].section].correct +=
                a->ranks[i] == a->questions[i].ranks[3];
    }
    tide_matrix_release(&a->tile);
    tide_matrix_release(&a->queries);
    free(a);
    return status;
}

int tide_eval_analogy(const tide_view *view, const char *path,
                      const tide_eval_options *options, tide_analogy_result *sections,
                      size_t slot, uint64_t *bad_lines, tide_error *err)
{
    question_set q = {0};
    int status = tide_lexicon_init(&q.lexicon, view, options->top, err);
    if (!status)
        status = read_questions(&q, path, err);
    if (!status && q.questions.count)
        status = answer_questions(&q, err);
    tide_analogy_result *results = q.sections.items;
    for (size_t i = 0; !status && i < q.sections.count && i < slot; i++) {
        sections[i] = results[i];
        sections[i].scored =
            options->keep_unknown ? results[i].questions : results[i].known;
    }
    if (bad_lines)
        *bad_lines = q.bad_lines;
    if (!status)
        status = (int)q.sections.count;
    free(q.sections.items);
    free(q.questions.items);
    tide_lexicon_release(&q.lexicon);
    return status;
}
