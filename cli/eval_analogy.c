/* eval_analogy.c - wordtide eval analogy: accuracy on analogy questions, by section. */
#include "eval.h"
#include "output.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static const char *const policies[] = {"skip", "wrong"};

enum { SEMANTIC = 1, SYNTACTIC = 2, ALL = SEMANTIC | SYNTACTIC };

/* The sum of all sections of these kinds. word2vec's convention: the names of syntactic
 * sections start with "gram". */
static tide_analogy_result total(const analogies *r, int kinds)
{
    tide_analogy_result sum = {0};
    for (size_t i = 0; i < r->count; i++) {
        const tide_analogy_result *s = &r->sections[i];
        int kind = strncmp(s->name, "gram", 4) ? SEMANTIC : SYNTACTIC;
        if (!(kind & kinds))
            continue;
        sum.questions += s->questions;
        sum.known += s->known;
        sum.scored += s->scored;
        sum.correct += s->correct;
    }
    return sum;
}

/* NaN if `whole` is 0. */
static double ratio(uint64_t part, uint64_t whole)
{
    return (double)part / (double)whole;
}

static void json_result(tide_json_writer *j, const tide_analogy_result *r)
{
    tide_json_real(j, "accuracy", ratio(r->correct, r->scored), MACHINE_DIGITS);
    tide_json_count(j, "right", r->correct);
    tide_json_count(j, "asked", r->scored);
    tide_json_count(j, "questions", r->questions);
    tide_json_count(j, "known", r->known);
    tide_json_real(j, "coverage", ratio(r->known, r->questions), MACHINE_DIGITS);
}

static void json_total(tide_json_writer *j, const char *name, const analogies *r,
                       int kinds)
{
    tide_analogy_result sum = total(r, kinds);
    tide_json_object(j, name);
    json_result(j, &sum);
    tide_json_end(j);
}

static void print_object(const analogies *r)
{
    tide_json_writer j = {0};
    tide_analogy_result all = total(r, ALL);
    tide_json_object(&j, NULL);
    tide_json_text(&j, "file", r->path);
    json_result(&j, &all);
    tide_json_count(&j, "among", r->options.top);
    tide_json_text(&j, "oov", policies[r->options.keep_unknown]);
    tide_json_count(&j, "bad_lines", r->bad_lines);
    json_total(&j, "semantic", r, SEMANTIC);
    json_total(&j, "syntactic", r, SYNTACTIC);
    tide_json_array(&j, "sections");
    for (size_t i = 0; i < r->count; i++) {
        tide_json_object(&j, NULL);
        tide_json_text(&j, "name", r->sections[i].name);
        json_result(&j, &r->sections[i]);
        tide_json_end(&j);
    }
    tide_json_end(&j);
    tide_json_end(&j);
}

static void print_row(table *t, const char *name, const tide_analogy_result *r)
{
    table_text(t, name);
    table_real(t, ratio(r->correct, r->scored), 4);
    table_count(t, r->correct);
    table_count(t, r->scored);
    table_count(t, r->questions);
    table_count(t, r->known);
    table_real(t, ratio(r->known, r->questions), 4);
    table_end_row(t);
}

static int print_table(const analogies *r, table_style style)
{
    static const char *const columns[] = {"section",   "accuracy", "right",    "asked",
                                          "questions", "known",    "coverage", NULL};
    static const char *const names[] = {"(semantic)", "(syntactic)", "(all)"};
    table *t = table_new(style, columns);
    if (!t)
        return EXIT_FAILURE;
    for (size_t i = 0; i < r->count; i++)
        print_row(t, r->sections[i].name, &r->sections[i]);
    tide_analogy_result all = total(r, ALL);
    for (int kinds = SEMANTIC; kinds <= ALL; kinds++) {
        tide_analogy_result sum = total(r, kinds);
        bool one_kind = !sum.questions || sum.questions == all.questions;
        if (!one_kind || kinds == ALL)
            print_row(t, names[kinds - 1], &sum);
    }
    table_end(t);
    if (r->bad_lines)
        log_message("%s: %llu lines do not have four words", r->path,
                    (unsigned long long)r->bad_lines);
    return EXIT_SUCCESS;
}

/* Repeats the evaluation with a larger array if there are more sections than usual. */
int analogies_evaluate(analogies *r, const tide_view *view, tide_error *err)
{
    enum { USUAL = 64 };
    for (size_t capacity = USUAL;; capacity = r->count) {
        free(r->sections);
        r->sections = calloc(capacity, sizeof *r->sections);
        if (!r->sections) {
            r->count = 0;
            *err = (tide_error){TIDE_ERROR_MEMORY, "out of memory"};
            return TIDE_ERROR_MEMORY;
        }
        int count = tide_eval_analogy(view, r->path, &r->options, r->sections, capacity,
                                      &r->bad_lines, err);
        if (count < 0)
            return count;
        r->count = (size_t)count;
        if (r->count <= capacity)
            return TIDE_OK;
    }
}

double analogies_accuracy(const analogies *r)
{
    tide_analogy_result all = total(r, ALL);
    return ratio(all.correct, all.scored);
}

int eval_analogy(int argc, char **argv)
{
    query_context query = {0};
    uint64_t top = 30000;
    int vectors = TIDE_VECTORS_INPUT, oov = 0;
    bool centered = false, json = false, tsv = false;
    const option options[] = {
        {"top", 0, OPTION_NUMBER, &top, "N",
         "use only the N most frequent words, in questions and answers; 0 for all "
         "(default 30000)"},
        {"oov", 0, OPTION_CHOICE, &oov, "skip|wrong",
         "skip questions with unknown words, or count them as wrong (default skip)"},
        VIEW_OPTIONS(vectors, centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval analogy",
        "eval analogy [OPTION]... MODEL QUESTIONS",
        "A is to B as C is to which word? Counts the questions whose D is the word "
        "nearest to B - A + C, with vectors of length 1 and excluding A, B and C "
        "(3CosAdd). QUESTIONS has lines of four words in sections, each headed by a "
        "line with a colon and a name; names starting with 'gram' mark syntactic "
        "sections, others semantic ones. Lines starting with '#' are ignored. A word "
        "is looked up as spelled, then in lower case. MODEL is a model or a file of "
        "vectors.",
        options,
        "wordtide eval analogy news.tide questions-words.txt\n"
        "wordtide eval analogy vectors.bin questions-words.txt --top 0 --json\n",
        .min_operands = 2,
        .max_operands = 2,
    };
    parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, usage.command);
    tide_error err;
    analogies r = {
        .path = argv[1],
        .options = {.top = top > UINT32_MAX ? 0 : (uint32_t)top, .keep_unknown = oov}};
    int code = query_open(&query, argv[0], vectors, centered);
    if (code == EXIT_SUCCESS && analogies_evaluate(&r, query.view, &err) < 0)
        code = log_error(&err);
    if (code == EXIT_SUCCESS && style == TABLE_JSON)
        print_object(&r);
    else if (code == EXIT_SUCCESS)
        code = print_table(&r, style);
    free(r.sections);
    query_close(&query);
    return finish_output(code);
}
