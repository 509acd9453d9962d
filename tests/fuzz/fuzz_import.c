/* fuzz_import.c - arbitrary bytes as vectors to start training from, and as the counts
 * of their words.
 *
 * The first byte times four is the size of the file of counts that follows; 0 means
 * that there is none. The rest is the file of vectors. An import must be consistent and
 * usable for queries and further training, or fail with an error message.
 */
#include "fuzz_fixture.h"

#include <wordtide/formats.h>

enum { VOCABULARY = 6 };

static char folder[FOLDER_MAX], counts_path[IN_FOLDER_MAX];

static void remove_folder(void)
{
    unlink(counts_path);
    rmdir(folder);
}

static void enter(void)
{
    make_folder(folder);
    snprintf(counts_path, sizeof counts_path, "%s/counts", folder);
    must(atexit(remove_folder) == 0);
}

static tide_trainer *make_trainer(void)
{
    static const char *const settings[][2] = {
        {"vocab", "6"}, {"dim", "2"}, {"replay", "1"}, {"replay-ring", "2000"}};
    static tide_params *params;
    if (!params) {
        params = tide_params_new(NULL);
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
            must(!tide_params_set(params, settings[i][0], settings[i][1], NULL));
    }
    tide_trainer *trainer = tide_trainer_new(params, NULL);
    must(trainer != NULL);
    return trainer;
}

static void continue_training(tide_trainer *trainer, const tide_imported *done)
{
    static const char text[] = "one two three four one\nfive one six seven\n";
    tide_entry words[VOCABULARY];
    tide_stats stats;
    size_t count = tide_model_words(tide_trainer_model(trainer), words, VOCABULARY);
    must(done->words <= VOCABULARY && count == done->words);
    must(done->uncounted <= done->words);
    for (size_t i = 0; i < count; i++)
        must(words[i].count > 0 && words[i].error <= words[i].count);
    must(!tide_trainer_feed(trainer, text, sizeof text - 1, NULL));
    must(!tide_trainer_end(trainer, NULL));
    tide_trainer_stats(trainer, &stats, sizeof stats);
    must(stats.vocabulary <= stats.capacity);
}

static void import(tide_rows *rows, const char *counts)
{
    tide_error err = {.text = ""};
    tide_imported done;
    tide_trainer *trainer = make_trainer();
    if (tide_trainer_import(trainer, rows, counts, &done, &err))
        must_have_error_text(&err);
    else
        continue_training(trainer, &done);
    tide_trainer_free(trainer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0])
        enter();
    if (size == 0)
        return 0;
    size_t counts = 4 * (size_t)*data++;
    size--;
    counts = counts < size ? counts : size;
    if (counts)
        spit(counts_path, data, counts);
    tide_error err = {.text = ""};
    tide_rows *rows =
        tide_rows_open(memory_file(data + counts, size - counts), NULL, &err);
    if (rows)
        import(rows, counts ? counts_path : NULL);
    else
        must_have_error_text(&err);
    tide_rows_close(rows);
    return 0;
}
