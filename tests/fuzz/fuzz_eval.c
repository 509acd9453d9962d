/* fuzz_eval.c - arbitrary bytes as a set of word pairs and as a set of analogy
 * questions.
 *
 * Both are evaluated with a model of a few words. Numbers must be consistent with each
 * other and with the size of the input, scores must be in their ranges, and an invalid
 * set must give an error message.
 */
#include "eval/eval.h"
#include "fuzz_fixture.h"

#include <math.h>

static const char *set_path;
static tide_view *view;

static void make_view(void)
{
    static const char vectors[] = "a 1 0\nb 1 1\nc 0 1\nd -1 0.5\n"
                                  "z\xc3\xbcrich 0.25 -1\nnil 0 0\n";
    tide_model *model = tide_model_open(memory_file(vectors, sizeof vectors - 1), NULL);
    must(model != NULL);
    view = tide_view_new(model, TIDE_VECTORS_INPUT, false, NULL);
    must(view != NULL);
}

static void check_correlation(double r)
{
    must(isnan(r) || (r >= -1 && r <= 1));
}

static void check_pairs(const tide_eval_options *options, size_t size)
{
    tide_error err = {.text = ""};
    tide_similarity_result r;
    if (tide_eval_similarity(view, set_path, options, &r, &err) < 0) {
        must_have_error_text(&err);
        return;
    }
    must(r.pairs > 0 && r.known <= r.pairs && r.pairs + r.bad_lines <= size);
    check_correlation(r.spearman);
    check_correlation(r.pearson);
}

static void check_questions(const tide_eval_options *options, size_t size)
{
    enum { ROOM = 4 };
    tide_error err = {.text = ""};
    tide_analogy_result r[ROOM];
    uint64_t bad_lines, questions = 0;
    int count = tide_eval_analogy(view, set_path, options, r, ROOM, &bad_lines, &err);
    if (count < 0)
        must_have_error_text(&err);
    for (int i = 0; i < count && i < ROOM; i++) {
        questions += r[i].questions;
        must(r[i].known <= r[i].questions && r[i].correct <= r[i].known);
        must(r[i].scored == (options->keep_unknown ? r[i].questions : r[i].known));
        must(strlen(r[i].name) <= TIDE_WORD_MAX);
    }
    must(questions + bad_lines <= size && (count > 0 || count < 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!view)
        make_view();
    if (size == 0)
        return 0;
    tide_eval_options options = {.top = data[0] >> 1 & 3, .keep_unknown = data[0] & 1};
    set_path = memory_file(data + 1, size - 1);
    check_pairs(&options, size);
    check_questions(&options, size);
    return 0;
}
