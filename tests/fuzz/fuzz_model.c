/* fuzz_model.c - arbitrary bytes as a model file, used for queries, predictions and
 * further training.
 *
 * The first byte says what the rest is:
 *
 *     bit 0   write valid checksums, so that the checks after them are reached
 *     bit 1   the rest is not a file but changes to a valid one, each of them
 *             u16 offset, u8 count, `count` (at most 8) bytes to be written there
 *     bits 2+ number of the valid file
 *
 * A file that loads must answer queries and, in one case of TRAINED (it is slow),
 * continue training; otherwise there must be an error message. A file may legitimately
 * need more memory than its size, since a trainer is as large as its parameters say;
 * trainers beyond a limit are skipped.
 */
#include "base/base.h"
#include "file/file.h"
#include "file/store_internal.h"
#include "params/params.h"
#include "train/train.h"
#include "vocab/vocab.h"
#include "fuzz_fixture.h"

enum {
    SIZE_MAX_TRIED = 1 << 16,
    TRAINER_MAX = 16 << 20,
    TRAINED = 32,
    SETTINGS_MAX = 10
};

/* -- valid files ------------------------------------------------------------------- */

static const char *const recipes[][SETTINGS_MAX][2] = {
    {{"replay", "2"}, {"replay-ring", "2000"}},
    {{"admission", "none"}, {"replay", "1"}, {"subword", "7"}, {"rate", "power"}},
    {{"profile", "paper"}, {"vocab", "6"}, {"dim", "3"}, {"reservoir", "20"}},
    {{"profile", "incremental"}, {"vocab", "6"}, {"dim", "3"}, {"reservoir", "20"}},
    {{"vocabulary", "exact"}, {"replay", "1"}, {"half-life", "0"}, {"rate", "linear"}},
    {{"half-life", "9"}, {"replay", "1"}, {"rate-half-life", "50"}},
    {{"tokens", "space"},
     {"labels", "hashtags"},
     {"label-slots", "4"},
     {"label-memory", "65536"},
     {"replay", "1"},
     {"label-refit", "50"},
     {"label-anchors", "3"},
     {"classifier-maps", "2"}},
    {{"tokens", "space"},
     {"labels", "hashtags"},
     {"label-slots", "4"},
     {"label-posts", "8"},
     {"label-each", "4"},
     {"label-memory", "65536"},
     {"replay", "1"},
     {"label-refit", "7"}, /* early, and cheap */
     {"classifier-epochs", "2"},
     {"classifier-maps", "1"}},
};

enum { GOOD = sizeof recipes / sizeof *recipes };

static unsigned char valid[GOOD][SIZE_MAX_TRIED];
static size_t valid_sizes[GOOD];

static void train(tide_trainer *trainer, int turns)
{
    static const char text[] = "one two three four two one\nfive six seven #one one "
                               "two\n\neight nine one one\n"
                               "#two #one one three\n#three\n";
    for (int i = 0; i < turns; i++)
        must(tide_trainer_feed(trainer, text, sizeof text - 1, NULL) == TIDE_OK);
    must(tide_trainer_feed(trainer, "half #four a sent", 17, NULL) == TIDE_OK);
}

/* Trains, saves to a temporary folder and reads the file back. */
static void make_valid_file(size_t number)
{
    tide_params *params = tide_params_new(NULL);
    must(params != NULL);
    must(tide_params_set(params, "vocab", "6", NULL) == TIDE_OK);
    must(tide_params_set(params, "dim", "3", NULL) == TIDE_OK);
    for (int i = 0; i < SETTINGS_MAX && recipes[number][i][0]; i++)
        must(tide_params_set(params, recipes[number][i][0], recipes[number][i][1],
                             NULL) == TIDE_OK);
    tide_trainer *trainer = tide_trainer_new(params, NULL);
    must(trainer != NULL);
    train(trainer, 70); /* until negatives can be drawn */
    char folder[FOLDER_MAX], path[IN_FOLDER_MAX];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/m", folder);
    must(tide_trainer_save(trainer, path, NULL) == TIDE_OK);
    valid_sizes[number] = slurp(path, valid[number], SIZE_MAX_TRIED);
    must(unlink(path) == 0 && rmdir(folder) == 0);
    tide_trainer_free(trainer);
    tide_params_free(params);
}

/* -- inputs ------------------------------------------------------------------------ */

/* Applies changes after the header; fuzz_store covers the header itself. */
static void apply_changes(unsigned char *bytes, size_t size, const uint8_t *data,
                          size_t left)
{
    while (left > 3) {
        size_t place = TIDE_STORE_HEADER +
                       (data[0] | (size_t)data[1] << 8) % (size - TIDE_STORE_HEADER);
        size_t count = data[2] % 9;
        data += 3;
        left -= 3;
        for (size_t i = 0; i < count && left && place + i < size; i++, data++, left--)
            bytes[place + i] = *data;
    }
}

/* Makes the file that the input describes. Returns its size, or 0 if there is none. */
static size_t file_of(const uint8_t *data, size_t size, unsigned char *bytes)
{
    size_t file_size = size - 1;
    if (data[0] & 2) {
        size_t number = data[0] / 4 % GOOD;
        file_size = valid_sizes[number];
        memcpy(bytes, valid[number], file_size);
        apply_changes(bytes, file_size, data + 1, size - 1);
    } else if (file_size <= SIZE_MAX_TRIED) {
        memcpy(bytes, data + 1, file_size);
    } else {
        return 0;
    }
    if (data[0] & 1)
        tide_store_rechecksum(bytes, file_size);
    return file_size;
}

/* -- checks ---------------------------------------------------------------------- */

static void check_queries(const tide_model *model)
{
    tide_entry words[2], entry;
    size_t count = tide_model_words(model, words, 2);
    must(count <= tide_model_size(model));
    tide_view *space = tide_view_new(model, TIDE_VECTORS_SUM, true, NULL);
    must(space != NULL);
    for (size_t i = 0; i < count; i++) {
        tide_hit hits[4];
        float vector[TIDE_DIM_MAX];
        size_t length = strlen(words[i].word);
        tide_query query = {.positive = &words[i].word, .positive_count = 1};
        must(words[i].error <= words[i].count && length <= TIDE_WORD_MAX);
        tide_model_suggest(model, words[i].word, &entry, 1);
        if (tide_model_find(model, words[i].word, &entry, NULL))
            continue; /* a word with a zero byte in it */
        must(tide_view_vector(space, words[i].word, vector, NULL) == TIDE_OK);
        int found = tide_view_nearest(space, &query, hits, 4, NULL);
        must(found >= 0 && (uint32_t)found <= tide_model_size(model));
    }
    tide_view_vector(space, "unseen", (float[TIDE_DIM_MAX]){0}, NULL);
    tide_view_free(space);
}

static void check_probabilities(const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        must(values[i] >= 0 && values[i] <= 1);
}

static void check_post(void *scorer, const tide_predicted_post *post)
{
    must(post->unknown <= post->words);
    check_probabilities(post->probabilities, post->name_count);
    must(tide_scorer_add(scorer, post, NULL) == TIDE_OK);
}

/* Continues training, and checks the predictions for all posts. */
static void continue_training(tide_trainer *trainer)
{
    tide_stats stats;
    tide_label label;
    tide_scorer *scorer = tide_scorer_new(0.5f, NULL);
    must(scorer != NULL);
    tide_trainer_watch_labels(trainer, check_post, NULL, scorer);
    train(trainer, 3);
    must(tide_trainer_end(trainer, NULL) == TIDE_OK);
    tide_trainer_stats(trainer, &stats, sizeof stats);
    must(stats.vocabulary <= stats.capacity);
    tide_trainer_labels(trainer, &label, 1);
    check_queries(tide_trainer_model(trainer));
    tide_scorer_free(scorer);
}

static void predict(tide_labeler *labeler)
{
    tide_prediction guess;
    uint64_t known;
    tide_labeler_add(labeler, "one #two three\nunseen", 21);
    size_t count = tide_labeler_end(labeler, &guess, 1, &known);
    must(count == 1 && known <= 3 && strlen(guess.label) <= TIDE_WORD_MAX);
    check_probabilities(&guess.probability, 1);
}

static bool is_small(const char *path)
{
    char text[SIZE_MAX_TRIED + 1] = "";
    unsigned char shape[80];
    bool small = true;
    tide_params *params = tide_params_new(NULL);
    tide_store *store = tide_store_open(path, NULL);
    must(params != NULL);
    int64_t size = store ? tide_store_size(store, "params", NULL) : -1;
    if (size >= 0) {
        must(tide_store_read(store, "params", text, (size_t)size, NULL) == TIDE_OK);
        if (tide_params_scan(params, text, "model", NULL) == TIDE_OK)
            small = tide_budget_allocated(params) < TRAINER_MAX;
    }
    if (size >= 0 && tide_store_read(store, "model", shape, sizeof shape, NULL) == 0)
        small &= tide_get64(shape) < 4096 || tide_get64(shape) > TIDE_CAPACITY_MAX;
    tide_store_close(store);
    tide_params_free(params);
    return small;
}

static void check_error(const tide_error *err)
{
    must_have_error_text(err);
    must(err->status == TIDE_ERROR_FORMAT || err->status == TIDE_ERROR_MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[SIZE_MAX_TRIED];
    for (size_t i = 0; i < GOOD && !valid_sizes[GOOD - 1]; i++)
        make_valid_file(i);
    size_t file_size = size ? file_of(data, size, bytes) : 0;
    if (!file_size)
        return 0;
    const char *path = memory_file(bytes, file_size);
    tide_error err = {.status = TIDE_OK, .text = ""};
    tide_model *model = tide_model_load(path, &err);
    if (model)
        check_queries(model);
    else
        check_error(&err);
    tide_model_free(model);
    if (tide_hash(data, size, 0) % TRAINED || !is_small(path))
        return 0;
    tide_labeler *labeler = tide_labeler_load(path, &err);
    if (labeler)
        predict(labeler);
    else
        must_have_error_text(&err);
    tide_labeler_free(labeler);
    tide_trainer *trainer = tide_trainer_load(path, NULL, 0, &err);
    if (trainer)
        continue_training(trainer);
    else
        check_error(&err);
    tide_trainer_free(trainer);
    return 0;
}
