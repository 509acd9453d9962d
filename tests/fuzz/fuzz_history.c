/* fuzz_history.c - changes to a good file of a history.
 *
 * The input is a list of changes, each of them u16 place behind the header and eight bytes to be put there. Checksums are
 * put right, so that the checks behind them have to hold. Whatever loads must bear being looked with and
 * asked; whatever does not must say why, and leave a history that bears the same: a look, and in one case of
 * SELDOM as many as the file has, which takes long.
 */
#include "base/base.h"
#include "file/store_internal.h"
#include "fuzz_fixture.h"

#include <math.h>

enum { FILE_MOST = 1 << 16, CHANGE = 10, LOOKS = 6, SELDOM = 8 };

static unsigned char good[FILE_MOST];
static size_t good_size;
static tide_trainer *trainer;
static tide_live *live;

static const tide_history_options options = {
    .step = 1, .follow = 4, .watch = 2, .rungs = 3, .warm_up = 1, .count_alarm = 2};

/* -- a good file -------------------------------------------------------------------------------------- */

static void say(const char *text)
{
    must(tide_trainer_feed(trainer, text, strlen(text), NULL) == TIDE_OK);
    must(tide_live_update(live));
}

static void make_trainer(void)
{
    static const char *const settings[][2] = {{"vocab", "6"},
                                              {"dim", "2"},
                                              {"replay", "1"},
                                              {"sample", "0"},
                                              {"admission", "none"}};
    tide_params *params = tide_params_new(NULL);
    must(params != NULL);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        must(tide_params_set(params, settings[i][0], settings[i][1], NULL) == TIDE_OK);
    trainer = tide_trainer_new(params, NULL);
    tide_params_free(params);
    must(trainer != NULL);
    live = tide_live_new(trainer, TIDE_VECTORS_INPUT, false, NULL);
    must(live != NULL);
}

static void make_good(void)
{
    static const char *const texts[LOOKS] = {"a a a b b c\n", "d d d e e\n", "a f g\n",
                                             "h h h h a\n",   "b b i i i\n", "j a b\n"};
    char folder[FOLDER_MAX], path[IN_FOLDER_MAX];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/h", folder);
    make_trainer();
    tide_history *h = tide_history_new(live, &options, NULL);
    must(h && tide_history_watch(h, "z", NULL) == TIDE_OK);
    for (int i = 0; i < LOOKS; i++) {
        say(texts[i]);
        must(tide_history_update(h, i, NULL) == TIDE_OK);
    }
    must(tide_history_save(h, path, NULL) == TIDE_OK);
    tide_history_free(h);
    good_size = slurp(path, good, FILE_MOST);
    must(unlink(path) == 0 && rmdir(folder) == 0);
}

/* -- inputs ------------------------------------------------------------------------------------------- */

static void ask(tide_history *h)
{
    tide_history_word words[8];
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    tide_history_hit hits[4];
    tide_evicted gone[4];
    tide_alarm alarms[4];
    tide_map_point map[8];
    double taken;
    uint64_t frame;
    for (int sort = TIDE_HISTORY_COUNT; sort <= TIDE_HISTORY_DRIFT; sort++) {
        const tide_history_list list = {.sort = (tide_history_sort)sort};
        int count = tide_history_words(h, &list, words, 8, NULL, NULL);
        for (int i = 0; i < count; i++)
            must(words[i].word[0] && words[i].rate >= 0 && isfinite(words[i].trend));
    }
    tide_history_points(h, "a", points, NULL);
    tide_history_nearest(h, "a", 2, hits, 4, &taken, NULL);
    tide_history_evicted(h, 0, gone, 4);
    for (size_t i = tide_history_alarms(h, 0, alarms, 4); i-- > 0;)
        must(alarms[i].kind < TIDE_ALARM_KINDS && alarms[i].number > 0);
    tide_history_map(h, map, 8, &frame);
}

static void try_file(const unsigned char *bytes, size_t size, int looks)
{
    tide_error err = {.text = ""};
    tide_history *h = tide_history_new(live, &options, NULL);
    must(h != NULL);
    if (tide_history_load(h, memory_file(bytes, size), &err))
        must_have_said_why(&err);
    for (int i = 0; i < looks; i++) {
        ask(h);
        must(tide_history_update(h, LOOKS + i, NULL) == TIDE_OK);
    }
    ask(h);
    tide_history_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[FILE_MOST];
    if (!good_size)
        make_good();
    memcpy(bytes, good, good_size);
    int looks = tide_hash(data, size, 0) % SELDOM ? 1 : LOOKS;
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        size_t room = good_size - TIDE_STORE_HEADER - 8;
        size_t place = TIDE_STORE_HEADER + (data[0] | (size_t)data[1] << 8) % room;
        memcpy(bytes + place, data + 2, 8);
    }
    tide_store_rechecksum(bytes, good_size);
    try_file(bytes, good_size, looks);
    return 0;
}
