/* analogy.c - A is to B as C is to which word?
 *
 * 3CosAdd (Mikolov, Yih and Zweig, NAACL 2013; Levy and Goldberg, CoNLL 2014, call it so): of the
 * known words other than A, B and C the one whose unit vector has the largest dot product with
 * b - a + c, where a, b and c have length 1 too. Of equal ones the most frequent answers.
 *
 * All products of questions and words are computed, by the kernel that takes TIDE_BLOCK vectors at
 * once. A batch of questions and a tile of words stay in the cache together, so that the model is read
 * once a batch and no copy of it is made. Few products beat the best so far, and a row of a block is
 * looked at closely only if one does.
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

typedef struct quiz {
    tide_lexicon lexicon;
    tide_list sections;  /* of tide_analogy_result */
    tide_list questions; /* whose words are all known */
    uint64_t bad_lines;
} quiz;

/* -- reading ---------------------------------------------------------------------------------------- */

/* As much of the name as fits, cut between two characters. */
static void copy_name(char name[TIDE_WORD_MAX + 1], const char *text)
{
    size_t length = tide_utf8_cut(text, strlen(text), TIDE_WORD_MAX);
    memcpy(name, text, length);
    name[length] = 0;
}

static bool add_section(quiz *q, const char *name)
{
    tide_analogy_result *section = tide_list_add(&q->sections, sizeof *section);
    if (section)
        copy_name(section->name, name);
    return section;
}

/* Cuts a line into four words. */
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

static bool add_question(quiz *q, const char *const words[4])
{
    if (!q->sections.count && !add_section(q, ""))
        return false;
    question asked = {.section = q->sections.count - 1};
    tide_analogy_result *sections = q->sections.items;
    sections[asked.section].questions++;
    for (int i = 0; i < 4; i++) {
        asked.ranks[i] = tide_lexicon_rank(&q->lexicon, words[i]);
        if (asked.ranks[i] == TIDE_NO_SLOT)
            return true;
    }
    sections[asked.section].known++;
    question *room = tide_list_add(&q->questions, sizeof *room);
    if (room)
        *room = asked;
    return room;
}

static int take_line(quiz *q, char *line, const char *path, tide_error *err)
{
    const char *words[4];
    bool heading = line && *line == ':', done = true;
    if (heading && q->sections.count == SECTIONS_MAX)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: more than %d sections", path,
                         SECTIONS_MAX);
    if (heading)
        done = add_section(q, line + 1 + strspn(line + 1, " \t"));
    else if (line && read_words(line, words))
        done = add_question(q, words);
    else
        q->bad_lines++;
    return done ? TIDE_OK
                : tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the questions of %s",
                            path);
}

static int read_quiz(quiz *q, const char *path, tide_error *err)
{
    tide_lines lines;
    char *line;
    int status = tide_lines_open(&lines, path, err);
    while (!status && (status = tide_lines_next(&lines, &line, err)) > 0)
        status = take_line(q, line, path, err);
    tide_lines_close(&lines);
    uint64_t questions = 0;
    const tide_analogy_result *sections = q->sections.items;
    for (size_t i = 0; i < q->sections.count; i++)
        questions += sections[i].questions;
    if (!status && !questions)
        status =
            tide_fail(err, TIDE_ERROR_FORMAT, "%s: not a line of four words", path);
    return status;
}

/* -- answering -------------------------------------------------------------------------------------- */

typedef struct answers {
    const tide_lexicon *lexicon;
    const tide_kernels *kernels;
    tide_matrix tile;    /* [TILE] unit vectors of words by rank */
    tide_matrix queries; /* [BATCH] */
    const question *questions;
    float scores[BATCH]; /* the best so far, and whose they are */
    uint32_t ranks[BATCH];
} answers;

static float *load_unit(answers *a, uint32_t at, uint32_t rank)
{
    float *row = tide_matrix_row(&a->tile, at);
    tide_view_unit(a->lexicon->space, a->lexicon->order[rank], row);
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

static bool is_given(const question *q, uint32_t rank)
{
    return q->ranks[0] == rank || q->ranks[1] == rank || q->ranks[2] == rank;
}

/* The products of one word and the TIDE_BLOCK questions from `first` on; the last block of a batch
 * has fewer than that many, and `count` says how many. */
static void keep_best(answers *a, uint32_t first, uint32_t count, uint32_t rank,
                      const float products[TIDE_BLOCK])
{
    float *best = a->scores + first;
    int better = 0;
    for (int i = 0; i < TIDE_BLOCK; i++)
        better |= products[i] > best[i];
    for (uint32_t i = 0; better && i < count; i++)
        if (products[i] > best[i] && !is_given(&a->questions[first + i], rank)) {
            best[i] = products[i];
            a->ranks[first + i] = rank;
        }
}

static void answer_batch(answers *a, uint32_t count)
{
    float products[TILE][TIDE_BLOCK] __attribute__((aligned(64)));
    float *rows[TILE];
    for (uint32_t left = a->lexicon->words, height; left; left -= height) {
        uint32_t rank = a->lexicon->words - left;
        height = left < TILE ? left : TILE;
        for (uint32_t i = 0; i < height; i++)
            rows[i] = load_unit(a, i, rank + i);
        for (uint32_t first = 0; first < count; first += TIDE_BLOCK) {
            uint32_t width = count - first < TIDE_BLOCK ? count - first : TIDE_BLOCK;
            a->kernels->block_dots(tide_matrix_row(&a->queries, first), rows, height,
                                   a->queries.stride, products);
            for (uint32_t i = 0; i < height; i++)
                keep_best(a, first, width, rank + i, products[i]);
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

static int answer_quiz(quiz *q, tide_error *err)
{
    answers *a = tide_alloc(1, sizeof *a);
    if (!a)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to answer questions");
    int status = answers_init(a, &q->lexicon, err);
    tide_analogy_result *sections = q->sections.items;
    for (size_t start = 0; !status && start < q->questions.count; start += BATCH) {
        size_t left = q->questions.count - start;
        uint32_t count = left < BATCH ? (uint32_t)left : BATCH;
        a->questions = (const question *)q->questions.items + start;
        for (uint32_t i = 0; i < count; i++)
            make_query(a, i);
        answer_batch(a, count);
        for (uint32_t i = 0; i < count; i++)
            sections[a->questions[i].section].right +=
                a->ranks[i] == a->questions[i].ranks[3];
    }
    tide_matrix_release(&a->tile);
    tide_matrix_release(&a->queries);
    free(a);
    return status;
}

int tide_eval_analogy(const tide_view *space, const char *path,
                      const tide_eval_options *options, tide_analogy_result *sections,
                      size_t room, uint64_t *bad_lines, tide_error *err)
{
    quiz q = {0};
    int status = tide_lexicon_init(&q.lexicon, space, options->among, err);
    if (!status)
        status = read_quiz(&q, path, err);
    if (!status && q.questions.count)
        status = answer_quiz(&q, err);
    tide_analogy_result *found = q.sections.items;
    for (size_t i = 0; !status && i < q.sections.count && i < room; i++) {
        sections[i] = found[i];
        sections[i].asked = options->keep_unknown ? found[i].questions : found[i].known;
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
