/* eval_agreement.c - wordtide eval agreement: compares the cosines and the neighbors of
 * two models. */
#include "eval.h"
#include "formats.h"
#include "output.h"
#include "plot_data.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 2000, SEED = 1, BAND_TEXT = 32 };

typedef struct job {
    const char *paths[2];
    query_context models[2]; /* A and the reference */
    tide_band bands[TIDE_AGREEMENT_BANDS_MAX];
    size_t band_count;
    plot_data out;
    tide_agreement_result result;
} job;

/* -- bands ------------------------------------------------------------------------- */

/* Parses a band like "1-100". Returns the rest of the text; NULL if it is invalid. */
static const char *parse_band(const char *text, tide_band *band)
{
    unsigned long long limits[2];
    for (int i = 0; i < 2; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return NULL;
        limits[i] = strtoull(text, &end, 10);
        if (limits[i] < 1 || limits[i] > UINT32_MAX || (i == 0 && *end != '-'))
            return NULL;
        text = end + (i == 0);
    }
    *band = (tide_band){(uint32_t)limits[0], (uint32_t)limits[1]};
    return limits[0] <= limits[1] ? text : NULL;
}

static void parse_bands(job *j, const char *text, const char *command)
{
    for (const char *at = text;; at++) {
        if (j->band_count == TIDE_AGREEMENT_BANDS_MAX)
            usage_error(command, "--bands takes at most %d bands",
                        TIDE_AGREEMENT_BANDS_MAX);
        at = parse_band(at, &j->bands[j->band_count++]);
        if (!at || (*at && *at != ','))
            usage_error(command, "--bands '%s' is not a list such as 1-100,801-900",
                        text);
        if (!*at)
            return;
    }
}

static const char *band_text(tide_band band, char text[BAND_TEXT])
{
    if (band.first)
        snprintf(text, BAND_TEXT, "%u-%u", band.first, band.last);
    else
        snprintf(text, BAND_TEXT, "all");
    return text;
}

static void log_cut_bands(const job *j)
{
    char asked[BAND_TEXT], used[BAND_TEXT];
    for (size_t i = 0; i < j->band_count; i++)
        if (j->result.near[i].band.last != j->bands[i].last)
            log_message("band %s is cut to %s: %s has no more words",
                        band_text(j->bands[i], asked),
                        band_text(j->result.near[i].band, used), j->paths[1]);
}

/* -- output ------------------------------------------------------------------------ */

static double undefined_share(const tide_agreement_cell *c)
{
    return c->pairs ? (double)(c->pairs - c->defined) / (double)c->pairs : (double)NAN;
}

static void json_cell(tide_json_writer *j, const char *name,
                      const tide_agreement_cell *c)
{
    char text[BAND_TEXT];
    tide_json_object(j, name);
    if (!name) {
        tide_json_text(j, "first", band_text(c->first, text));
        tide_json_text(j, "second", band_text(c->second, text));
    }
    tide_json_count(j, "pairs", c->pairs);
    tide_json_count(j, "defined", c->defined);
    tide_json_real(j, "undefined", undefined_share(c), MACHINE_DIGITS);
    tide_json_real(j, "pearson", c->pearson, MACHINE_DIGITS);
    tide_json_real(j, "bias", c->bias, MACHINE_DIGITS);
    tide_json_real(j, "mean_a", c->mean_a, MACHINE_DIGITS);
    tide_json_real(j, "mean_b", c->mean_b, MACHINE_DIGITS);
    tide_json_end(j);
}

static void print_object(const job *which)
{
    const tide_agreement_result *r = &which->result;
    tide_json_writer j = {0};
    char text[BAND_TEXT];
    tide_json_object(&j, NULL);
    tide_json_text(&j, "a", which->paths[0]);
    tide_json_text(&j, "b", which->paths[1]);
    tide_json_count(&j, "common", r->common);
    tide_json_array(&j, "cells");
    for (size_t i = 0; i < r->cell_count; i++)
        json_cell(&j, NULL, &r->cells[i]);
    tide_json_end(&j);
    json_cell(&j, "all", &r->all);
    tide_json_array(&j, "neighbours");
    for (size_t i = 0; i < r->band_count; i++) {
        tide_json_object(&j, NULL);
        tide_json_text(&j, "band", band_text(r->near[i].band, text));
        tide_json_count(&j, "words", r->near[i].words);
        tide_json_count(&j, "missing", r->near[i].missing);
        tide_json_real(&j, "overlap", r->near[i].overlap, MACHINE_DIGITS);
        tide_json_end(&j);
    }
    tide_json_end(&j);
    tide_json_end(&j);
}

static void cell_row(table *t, const tide_agreement_cell *c)
{
    char text[BAND_TEXT];
    table_text(t, band_text(c->first, text));
    table_text(t, band_text(c->second, text));
    table_count(t, c->pairs);
    table_count(t, c->defined);
    table_real(t, undefined_share(c), 4);
    table_real(t, c->pearson, 4);
    table_real(t, c->bias, 4);
    table_real(t, c->mean_a, 4);
    table_real(t, c->mean_b, 4);
    table_end_row(t);
}

static int print_cells(const tide_agreement_result *r, table_style style)
{
    static const char *const columns[] = {"first",     "second",  "pairs", "defined",
                                          "undefined", "pearson", "bias",  "mean_a",
                                          "mean_b",    NULL};
    table *t = table_new(style, columns);
    if (!t)
        return EXIT_FAILURE;
    for (size_t i = 0; i < r->cell_count; i++)
        cell_row(t, &r->cells[i]);
    cell_row(t, &r->all);
    table_end(t);
    return EXIT_SUCCESS;
}

static int print_neighbors(const tide_agreement_result *r, table_style style)
{
    static const char *const columns[] = {"band", "words", "missing", "overlap", NULL};
    char text[BAND_TEXT];
    table *t = table_new(style, columns);
    if (!t)
        return EXIT_FAILURE;
    for (size_t i = 0; i < r->band_count; i++) {
        table_text(t, band_text(r->near[i].band, text));
        table_count(t, r->near[i].words);
        table_count(t, r->near[i].missing);
        table_real(t, r->near[i].overlap, 4);
        table_end_row(t);
    }
    table_end(t);
    return EXIT_SUCCESS;
}

static int print_result(const job *j, table_style style)
{
    log_cut_bands(j);
    if (style == TABLE_JSON) {
        print_object(j);
        return EXIT_SUCCESS;
    }
    int code = print_cells(&j->result, style);
    putchar('\n');
    return code == EXIT_SUCCESS ? print_neighbors(&j->result, style) : code;
}

static void write_pair(void *data, const tide_agreement_pair *pair)
{
    plot_data *out = data;
    char first[BAND_TEXT], second[BAND_TEXT];
    fprintf(out->file, "%s\t%s\t", band_text(pair->first, first),
            band_text(pair->second, second));
    plot_data_word(out, pair->words[0]);
    plot_data_word(out, pair->words[1]);
    fprintf(out->file, "%.6f\t%.6f\n", (double)pair->cosine_a, (double)pair->cosine_b);
}

/* -- the command ------------------------------------------------------------------- */

static int evaluate(job *j, uint64_t neighbors, const char *path)
{
    tide_error err;
    int code = plot_data_open(&j->out, path,
                              "first\tsecond\tword_a\tword_b\tcosine_a\tcosine_b");
    const tide_agreement_options how = {
        .bands = j->bands,
        .band_count = j->band_count,
        .neighbors = neighbors < UINT32_MAX ? (uint32_t)neighbors : UINT32_MAX,
        .sample = SAMPLE,
        .seed = SEED,
        .pair = j->out.file ? write_pair : NULL,
        .data = &j->out};
    if (code == EXIT_SUCCESS &&
        tide_eval_agreement(j->models[0].view, j->models[1].view, &how, &j->result,
                            &err) < 0)
        code = log_error(&err);
    return plot_data_close(&j->out, code);
}

int eval_agreement(int argc, char **argv)
{
    job j = {0};
    const char *bands = "1-100,801-900,1601-1700,6401-6500", *path = NULL;
    uint64_t neighbors = 10;
    int vectors = TIDE_VECTORS_INPUT;
    bool centered = false, json = false, tsv = false;
    const option options[] = {
        {"bands", 0, OPTION_TEXT, &bands, "LIST",
         "ranks of words in B (default 1-100,801-900,1601-1700,6401-6500)"},
        {"neighbors", 0, OPTION_COUNT, &neighbors, "N",
         "compare this many nearest neighbors (default 10)"},
        {"points", 0, OPTION_TEXT, &path, "FILE",
         "write up to 2000 random pairs of each cell to a TSV file: bands, words and "
         "cosines"},
        VIEW_OPTIONS(vectors, centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval agreement",
        "eval agreement [OPTION]... A B",
        "Compares model A with model B, the reference. Words are taken from bands of "
        "ranks by B's counts. For the pairs of words from two bands it prints: the "
        "share of pairs that are undefined because A lacks a word; Pearson's "
        "correlation of the cosines in A and in B; the means of both; and the bias, "
        "the mean difference A - B. For each band it prints how many of a word's "
        "nearest neighbors are the same in A and B, searching only words that both "
        "models hold; words missing in A are left out and counted. A and B are models "
        "or files of vectors; words without counts are ranked in the order of the "
        "file.",
        options,
        "wordtide eval agreement stream.tide word2vec.bin\n"
        "wordtide eval agreement a.tide b.tide --bands 1-1000 --json\n"
        "wordtide eval agreement a.tide b.tide --points cosines.tsv\n",
        .min_operands = 2,
        .max_operands = 2,
    };
    parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, usage.command);
    parse_bands(&j, bands, usage.command);
    int code = EXIT_SUCCESS;
    for (int i = 0; i < 2 && code == EXIT_SUCCESS; i++) {
        if (path)
            check_distinct(usage.command, argv[i], path);
        j.paths[i] = argv[i];
        code = query_open(&j.models[i], argv[i], vectors, centered);
    }
    if (code == EXIT_SUCCESS)
        code = evaluate(&j, neighbors, path);
    if (code == EXIT_SUCCESS)
        code = print_result(&j, style);
    for (int i = 0; i < 2; i++)
        query_close(&j.models[i]);
    return finish_output(code);
}
