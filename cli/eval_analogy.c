/* eval_analogy.c - wordtide eval analogy: how many analogies are found, by section. */
#include "eval.h"
#include "json.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static const char *const policies[] = {"skip", "wrong"};

enum { SEMANTIC = 1, SYNTACTIC = 2, ALL = SEMANTIC | SYNTACTIC };

/* The sum of the sections of these kinds. */
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
        sum.asked += s->asked;
        sum.right += s->right;
    }
    return sum;
}

/* Not a number when there is nothing to share. */
static double share(uint64_t part, uint64_t whole)
{
    return (double)part / (double)whole;
}

static void json_result(json_writer *j, const tide_analogy_result *r)
{
    out_real(j, "accuracy", share(r->right, r->asked), MACHINE_DIGITS);
    out_count(j, "right", r->right);
    out_count(j, "asked", r->asked);
    out_count(j, "questions", r->questions);
    out_count(j, "known", r->known);
    out_real(j, "coverage", share(r->known, r->questions), MACHINE_DIGITS);
}

static void json_total(json_writer *j, const char *name, const analogies *r, int kinds)
{
    tide_analogy_result sum = total(r, kinds);
    out_object(j, name);
    json_result(j, &sum);
    out_end(j);
}

static void print_object(const analogies *r)
{
    json_writer j = {0};
    tide_analogy_result all = total(r, ALL);
    out_object(&j, NULL);
    out_text(&j, "file", r->path);
    json_result(&j, &all);
    out_count(&j, "among", r->how.among);
    out_text(&j, "oov", policies[r->how.keep_unknown]);
    out_count(&j, "bad_lines", r->bad_lines);
    json_total(&j, "semantic", r, SEMANTIC);
    json_total(&j, "syntactic", r, SYNTACTIC);
    out_array(&j, "sections");
    for (size_t i = 0; i < r->count; i++) {
        out_object(&j, NULL);
        out_text(&j, "name", r->sections[i].name);
        json_result(&j, &r->sections[i]);
        out_end(&j);
    }
    out_end(&j);
    out_end(&j);
}

static void print_row(table *t, const char *name, const tide_analogy_result *r)
{
    table_text(t, name);
    table_real(t, share(r->right, r->asked), 4);
    table_count(t, r->right);
    table_count(t, r->asked);
    table_count(t, r->questions);
    table_count(t, r->known);
    table_real(t, share(r->known, r->questions), 4);
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
        complain("%s: %llu lines are not four words", r->path,
                 (unsigned long long)r->bad_lines);
    return EXIT_SUCCESS;
}

/* Asks again when there are more sections than anybody would expect. */
int analogies_find(analogies *r, const tide_view *space, tide_error *err)
{
    enum { USUAL = 64 };
    for (size_t room = USUAL;; room = r->count) {
        free(r->sections);
        r->sections = calloc(room, sizeof *r->sections);
        if (!r->sections) {
            r->count = 0;
            *err = (tide_error){TIDE_ERROR_MEMORY, "out of memory"};
            return TIDE_ERROR_MEMORY;
        }
        int count = tide_eval_analogy(space, r->path, &r->how, r->sections, room,
                                      &r->bad_lines, err);
        if (count < 0)
            return count;
        r->count = (size_t)count;
        if (r->count <= room)
            return TIDE_OK;
    }
}

double analogies_accuracy(const analogies *r)
{
    tide_analogy_result all = total(r, ALL);
    return share(all.right, all.asked);
}

int eval_analogy(int argc, char **argv)
{
    asking ask = {0};
    uint64_t among = 30000;
    int vectors = TIDE_VECTORS_INPUT, oov = 0;
    bool centered = false, json = false, tsv = false;
    const option options[] = {
        {"top", 0, OPTION_NUMBER, &among, "N",
         "only the N most frequent words are known and can answer; 0 for all (default "
         "30000)"},
        {"oov", 0, OPTION_CHOICE, &oov, "skip|wrong",
         "a question with an unknown word is not asked, or counts as answered wrong "
         "(default skip)"},
        SPACE_OPTIONS(vectors, centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval analogy",
        "eval analogy [OPTION]... MODEL QUESTIONS",
        "A is to B as C is to which word? Counts the questions whose D is the word "
        "nearest to B - A + C, vectors of length 1, other than A, B and C (3CosAdd). "
        "QUESTIONS has lines of four words in sections, each begun by a line with a "
        "colon and its name; those called gram... are syntactic, the others semantic. "
        "Lines that begin with '#' are passed over. A word is looked for as it is "
        "spelled and then folded to lower case. MODEL is a model or any file of "
        "vectors.",
        options,
        "wordtide eval analogy news.tide questions-words.txt\n"
        "wordtide eval analogy vectors.bin questions-words.txt --top 0 --json\n",
        .least = 2,
        .most = 2,
    };
    parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, usage.command);
    tide_error err;
    analogies r = {.path = argv[1],
                   .how = {.among = among > UINT32_MAX ? 0 : (uint32_t)among,
                           .keep_unknown = oov}};
    int code = asking_open(&ask, argv[0], vectors, centered);
    if (code == EXIT_SUCCESS && analogies_find(&r, ask.space, &err) < 0)
        code = report(&err);
    if (code == EXIT_SUCCESS && style == TABLE_JSON)
        print_object(&r);
    else if (code == EXIT_SUCCESS)
        code = print_table(&r, style);
    free(r.sections);
    asking_close(&ask);
    return finish_output(code);
}
