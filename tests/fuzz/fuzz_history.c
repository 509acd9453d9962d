/* fuzz_history.c - changes to a valid history file.
 *
 * The input is a list of changes: a u16 offset behind the header and eight bytes to
 * store there. Checksums are recomputed, so the checks behind them have to hold. A file
 * that loads must survive updates and queries; one that does not must give a reason and
 * leave a history that survives the same. Usually that is one update, and for one in
 * LONG_RUN inputs as many as the file has, which takes long.
 */
#include "base/base.h"
#include "file/store_internal.h"
#include "fuzz_fixture.h"

#include <wordtide/history.h>
#include <math.h>

enum { FILE_MAX = 1 << 16, CHANGE = 10, UPDATES = 6, LONG_RUN = 8 };

static unsigned char valid[FILE_MAX];
static size_t valid_size;
static tide_trainer *trainer;
static tide_live *live;

static const tide_history_options options = {.step = 1,
                                             .tracked = 4,
                                             .watched = 2,
                                             .snapshots = 3,
                                             .warm_up = 1,
                                             .count_alarm = 2};

/* -- a valid file ----------------------------------------------------------------- */

static void feed_text(const char *text)
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

static void make_valid(void)
{
    static const char *const texts[UPDATES] = {"a a a b b c\n", "d d d e e\n",
                                               "a f g\n",       "h h h h a\n",
                                               "b b i i i\n",   "j a b\n"};
    char folder[FOLDER_MAX], path[IN_FOLDER_MAX];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/h", folder);
    make_trainer();
    tide_history *h = tide_history_new(live, &options, NULL);
    must(h && tide_history_watch(h, "z", NULL) == TIDE_OK);
    for (int i = 0; i < UPDATES; i++) {
        feed_text(texts[i]);
        must(tide_history_update(h, i, NULL) == TIDE_OK);
    }
    must(tide_history_save(h, path, NULL) == TIDE_OK);
    tide_history_free(h);
    valid_size = slurp(path, valid, FILE_MAX);
    must(unlink(path) == 0 && rmdir(folder) == 0);
}

/* -- inputs ----------------------------------------------------------------------- */

static void query(tide_history *h)
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

static void try_file(const unsigned char *bytes, size_t size, int updates)
{
    tide_error err = {.text = ""};
    tide_history *h = tide_history_new(live, &options, NULL);
    must(h != NULL);
    if (tide_history_load(h, memory_file(bytes, size), &err))
        must_have_error_text(&err);
    for (int i = 0; i < updates; i++) {
        query(h);
        must(tide_history_update(h, UPDATES + i, NULL) == TIDE_OK);
    }
    query(h);
    tide_history_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[FILE_MAX];
    if (!valid_size)
        make_valid();
    memcpy(bytes, valid, valid_size);
    int updates = tide_hash(data, size, 0) % LONG_RUN ? 1 : UPDATES;
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        size_t range = valid_size - TIDE_STORE_HEADER - 8;
        size_t offset = TIDE_STORE_HEADER + (data[0] | (size_t)data[1] << 8) % range;
        memcpy(bytes + offset, data + 2, 8);
    }
    tide_store_rechecksum(bytes, valid_size);
    try_file(bytes, valid_size, updates);
    return 0;
}
