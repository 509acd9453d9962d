/* fuzz_model.c - arbitrary bytes as a model file, to be asked, to tell labels and to be trained further.
 *
 * The first byte says what the rest is:
 *
 *     bit 0   put right checksums in, so that the checks behind them have to hold
 *     bit 1   the rest is not a file but changes to a good one, each of them
 *             u16 place, u8 count, `count` (at most 8) bytes to be put there
 *     bits 2+ which good one
 *
 * Whatever loads must answer and, in one case of TRAINED (it takes long), go on learning; whatever
 * does not must say why. A file may
 * rightly ask for more memory than it has bytes, since a trainer is as large as its parameters;
 * trainers beyond a bound are left alone here.
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

/* -- good files ------------------------------------------------------------------------ */

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
     {"label-refit", "7"}, /* soon, and cheap */
     {"classifier-epochs", "2"},
     {"classifier-maps", "1"}},
};

enum { GOOD = sizeof recipes / sizeof *recipes };

static unsigned char good[GOOD][SIZE_MAX_TRIED];
static size_t good_sizes[GOOD];

static void teach(tide_trainer *trainer, int turns)
{
    static const char text[] = "one two three four two one\nfive six seven #one one "
                               "two\n\neight nine one one\n"
                               "#two #one one three\n#three\n";
    for (int i = 0; i < turns; i++)
        must(tide_trainer_feed(trainer, text, sizeof text - 1, NULL) == TIDE_OK);
    must(tide_trainer_feed(trainer, "half #four a sent", 17, NULL) == TIDE_OK);
}

/* Trains, saves to a folder of its own and reads the file back. */
static void make_good(size_t number)
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
    teach(trainer, 70); /* until there are negatives to draw */
    char folder[FOLDER_MAX], path[IN_FOLDER_MAX];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/m", folder);
    must(tide_trainer_save(trainer, path, NULL) == TIDE_OK);
    good_sizes[number] = slurp(path, good[number], SIZE_MAX_TRIED);
    must(unlink(path) == 0 && rmdir(folder) == 0);
    tide_trainer_free(trainer);
    tide_params_free(params);
}

/* -- inputs ------------------------------------------------------------------------------ */

/* Changes lie behind the header: what is in it, fuzz_store tries. */
static void change(unsigned char *bytes, size_t size, const uint8_t *data, size_t left)
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

/* The file that the input stands for; returns its size, 0 for none. */
static size_t file_of(const uint8_t *data, size_t size, unsigned char *bytes)
{
    size_t file_size = size - 1;
    if (data[0] & 2) {
        size_t number = data[0] / 4 % GOOD;
        file_size = good_sizes[number];
        memcpy(bytes, good[number], file_size);
        change(bytes, file_size, data + 1, size - 1);
    } else if (file_size <= SIZE_MAX_TRIED) {
        memcpy(bytes, data + 1, file_size);
    } else {
        return 0;
    }
    if (data[0] & 1)
        tide_store_rechecksum(bytes, file_size);
    return file_size;
}

/* -- what must hold ---------------------------------------------------------------------- */

static void ask(const tide_model *model)
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

static void must_be_probabilities(const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        must(values[i] >= 0 && values[i] <= 1);
}

static void hear(void *judge, const tide_predicted_post *told)
{
    must(told->unknown <= told->words);
    must_be_probabilities(told->probabilities, told->name_count);
    must(tide_scorer_add(judge, told, NULL) == TIDE_OK);
}

/* Goes on learning, and tells the labels of all that comes. */
static void go_on(tide_trainer *trainer)
{
    tide_stats stats;
    tide_label label;
    tide_scorer *judge = tide_scorer_new(0.5f, NULL);
    must(judge != NULL);
    tide_trainer_watch_labels(trainer, hear, NULL, judge);
    teach(trainer, 3);
    must(tide_trainer_end(trainer, NULL) == TIDE_OK);
    tide_trainer_stats(trainer, &stats);
    must(stats.vocabulary <= stats.capacity);
    tide_trainer_labels(trainer, &label, 1);
    ask(tide_trainer_model(trainer));
    tide_scorer_free(judge);
}

static void tell(tide_labeler *labeler)
{
    tide_prediction guess;
    uint64_t known;
    tide_labeler_add(labeler, "one #two three\nunseen", 21);
    size_t count = tide_labeler_end(labeler, &guess, 1, &known);
    must(count == 1 && known <= 3 && strlen(guess.label) <= TIDE_WORD_MAX);
    must_be_probabilities(&guess.probability, 1);
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

static void must_blame_the_file(const tide_error *err)
{
    must_have_said_why(err);
    must(err->status == TIDE_ERROR_FORMAT || err->status == TIDE_ERROR_MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[SIZE_MAX_TRIED];
    for (size_t i = 0; i < GOOD && !good_sizes[GOOD - 1]; i++)
        make_good(i);
    size_t file_size = size ? file_of(data, size, bytes) : 0;
    if (!file_size)
        return 0;
    const char *path = memory_file(bytes, file_size);
    tide_error err = {.status = TIDE_OK, .text = ""};
    tide_model *model = tide_model_load(path, &err);
    if (model)
        ask(model);
    else
        must_blame_the_file(&err);
    tide_model_free(model);
    if (tide_hash(data, size, 0) % TRAINED || !is_small(path))
        return 0;
    tide_labeler *labeler = tide_labeler_load(path, &err);
    if (labeler)
        tell(labeler);
    else
        must_have_said_why(&err);
    tide_labeler_free(labeler);
    tide_trainer *trainer = tide_trainer_load(path, NULL, 0, &err);
    if (trainer)
        go_on(trainer);
    else
        must_blame_the_file(&err);
    tide_trainer_free(trainer);
    return 0;
}
