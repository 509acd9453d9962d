/* test_counting.c - exact counts of all words of a text. */
#include "batch_fixture.h"

#include "memory_fixture.h"
#include "oracle_batch.h"

#include <wordtide/eval.h>

static tide_counts *count_all(const tide_run *run)
{
    tide_error err;
    tide_params *params = params_of("tokens=space");
    tide_counts *counts;
    tide_counts_new(params, run, &counts, &err);
    tide_params_free(params);
    if (!counts)
        fail_msg("%s", err.text);
    return counts;
}

static void words_are_counted_exactly_and_ordered_by_count_and_arrival(void **state)
{
    (void)state;
    corpus t = make_text(1, 600, 400);
    write_file("text", t.bytes, t.size / 2 + 1);
    write_file("more", t.bytes + t.size / 2 + 1, t.size - t.size / 2 - 1);
    char *cut = malloc(t.size + 2); /* the end of a file ends a word */
    memcpy(cut, t.bytes, t.size / 2 + 1);
    cut[t.size / 2 + 1] = '\n';
    memcpy(cut + t.size / 2 + 2, t.bytes + t.size / 2 + 1, t.size - t.size / 2);
    batch_oracle *o = calloc(1, sizeof *o);
    batch_words(o, cut, batch_count);
    batch_sort(o);

    tide_run run = run_over(2);
    tide_counts *counts = count_all(&run);
    assert_int_equal(tide_counts_size(counts), o->types);
    uint64_t tokens = 0;
    for (size_t rank = 0; rank < tide_counts_size(counts); rank++) {
        tide_entry entry = tide_counts_at(counts, rank);
        assert_string_equal(entry.word, o->word[rank]);
        assert_int_equal(entry.count, o->count[rank]);
        assert_int_equal(entry.slot, rank);
        assert_int_equal(entry.error, 0);
        tokens += entry.count;
    }
    assert_int_equal(tide_counts_tokens(counts), tokens);
    tide_counts_free(counts);
    free(o);
    free(cut);
    free(t.bytes);
}

/* More words than fit the first table, and more bytes than fit the first block. */
static void counting_grows_with_the_text(void **state)
{
    (void)state;
    enum { TYPES = 40000 };
    char *text = malloc((size_t)TYPES * 80);
    size_t size = 0;
    assert_non_null(text);
    for (int i = 0; i < TYPES; i++)
        size += (size_t)sprintf(text + size, "a-word-that-is-rather-long-%d%s ", i,
                                i % 3 ? "" : " b");
    write_file("text", text, size);
    tide_run run = run_over(1);
    tide_counts *counts = count_all(&run);
    assert_int_equal(tide_counts_size(counts), TYPES + 1);
    assert_string_equal(tide_counts_at(counts, 0).word, "b");
    assert_int_equal(tide_counts_at(counts, 0).count, (TYPES + 2) / 3);
    for (size_t rank = 1; rank <= TYPES; rank++) {
        char word[64];
        snprintf(word, sizeof word, "a-word-that-is-rather-long-%d", (int)rank - 1);
        assert_string_equal(tide_counts_at(counts, rank).word, word);
    }
    tide_counts_free(counts);
    free(text);
}

static void an_empty_text_has_no_words(void **state)
{
    (void)state;
    write_file("text", "\n \n", 3);
    tide_run run = run_over(1);
    tide_counts *counts = count_all(&run);
    assert_int_equal(tide_counts_size(counts), 0);
    assert_int_equal(tide_counts_tokens(counts), 0);
    tide_counts_free(counts);
}

static void stop_at_once(void *data, const tide_stats *stats)
{
    (void)stats;
    *(volatile sig_atomic_t *)data = 1;
}

static void counting_can_be_stopped_and_does_not_follow_files(void **state)
{
    (void)state;
    tide_error err = {.status = TIDE_ERROR_IO};
    volatile sig_atomic_t stop = 0;
    corpus t = make_text(2, 3000, 100);
    write_file("text", t.bytes, t.size);
    tide_params *params = params_of("epochs=1");
    tide_run run = run_over(1);
    run.stop = &stop;
    run.progress = stop_at_once;
    run.progress_data = (void *)&stop;
    tide_counts *counts;
    tide_trainer *trainer;
    assert_int_equal(tide_counts_new(params, &run, &counts, &err), 1);
    assert_null(counts);
    assert_int_equal(tide_trainer_new_batch(params, &run, &trainer, &err), 1);
    assert_null(trainer);
    run = run_over(1);
    run.follow = true;
    assert_int_equal(tide_counts_new(params, &run, &counts, &err),
                     TIDE_ERROR_PARAMETER);
    run = run_over(2);
    assert_int_equal(tide_counts_new(params, &run, &counts, &err),
                     TIDE_ERROR_IO); /* there is no file "more" */
    assert_null(counts);
    assert_int_equal(tide_counts_new(params, &run, &counts, NULL), TIDE_ERROR_IO);
    run.size = 0;
    assert_int_equal(tide_counts_new(params, &run, &counts, NULL),
                     TIDE_ERROR_PARAMETER);
    tide_params_free(params);
    free(t.bytes);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    corpus t = make_text(3, 400, 3000);
    write_file("text", t.bytes, t.size);
    tide_params *params = params_of("epochs=1 dim=4 vocab=100 profile=word2vec "
                                    "epochs=1 dim=4 vocab=100");
    tide_run run = run_over(1);
    int failures = 0;
    for (;; failures++) {
        tide_error err = {0};
        allocations_left = failures;
        tide_trainer *trainer;
        tide_trainer_new_batch(params, &run, &trainer, &err);
        allocations_left = -1;
        tide_trainer_free(trainer);
        if (trainer)
            break;
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    }
    assert_in_range(failures, 20, 200);
    tide_params_free(params);
    free(t.bytes);
}

/* The file of the list may have changed or been deleted. */
static void a_text_is_counted_with_the_stop_words_in_the_model(void **state)
{
    (void)state;
    write_file("stop", "the\nof\n", 7);
    write_file("text", "the king of the hill of kings\n", 30);
    tide_trainer *trainer = trainer_of("tokens=space stop-words=stop vocab=10 dim=4");
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    write_file("stop", "king\n", 5);
    tide_model *model = tide_model_load("model", NULL);
    tide_params *params = tide_params_of_model(model, NULL);
    tide_run run = run_over(1);
    tide_counts *counts;
    assert_int_equal(tide_counts_new(params, &run, &counts, NULL), TIDE_OK);
    assert_int_equal(tide_counts_tokens(counts), 3);
    assert_string_equal(tide_counts_at(counts, 0).word, "king");
    tide_counts_free(counts);
    assert_int_equal(tide_params_set(params, "stop-words", "stop", NULL), TIDE_OK);
    assert_int_equal(tide_counts_new(params, &run, &counts, NULL), TIDE_OK);
    assert_int_equal(tide_counts_tokens(counts), 6);
    tide_counts_free(counts);
    tide_params_free(params);
    tide_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(words_are_counted_exactly_and_ordered_by_count_and_arrival),
        IN_FOLDER(counting_grows_with_the_text),
        IN_FOLDER(an_empty_text_has_no_words),
        IN_FOLDER(counting_can_be_stopped_and_does_not_follow_files),
        IN_FOLDER(failed_allocations_are_reported),
        IN_FOLDER(a_text_is_counted_with_the_stop_words_in_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
