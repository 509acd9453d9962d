/* fuzz_bag.c - changes to a valid file of a bag-of-words classifier.
 *
 * The first byte decides whether it is loaded for training. Then come changes, each a
 * u16 offset behind the header and four bytes to store there. Checksums are recomputed,
 * so the checks behind them have to hold. A bag that loads must give probabilities,
 * before and after it has learned; one that does not must give a reason.
 */
#include "base/base.h"
#include "file/file.h"
#include "file/store_internal.h"
#include "label/bag.h"
#include "label/label.h"
#include "fuzz_fixture.h"

enum { FILE_MAX = 1 << 14, POSTS = 8 };

static const tide_bag_options options = {
    .dim = 3, .rows = 20, .labels = 3, .slots = 4, .words = 4, .posts = 5, .seed = 1};

static unsigned char valid[FILE_MAX];
static size_t valid_size;
static tide_tracker *tracker;
static const char *const names[] = {"a", "b"};

/* -- a valid file ------------------------------------------------------------------ */

/* A post with two words and one label. */
static void learn(tide_bag *bag, uint32_t post)
{
    static const float vector[16] __attribute__((aligned(64))) = {0.5f, -0.5f};
    char first[32] = {(char)('k' + post % 5)}, second[32] = {(char)('p' + post % 3)},
         label[32] = {(char)('a' + post % 3)};
    const tide_word words[] = {{first, 1}, {second, 1}}, carried = {label, 1};
    tide_tracker_add(tracker, &carried, 1, "word", 4);
    uint32_t slot = tide_tracker_find(tracker, &carried);
    tide_bag_clear(bag);
    tide_bag_add(bag, &words[0], vector);
    tide_bag_add(bag, &words[1], vector);
    tide_bag_learn(bag, tracker, &slot, 1, tide_tracker_state(tracker).posts - 1);
}

static void make_valid(void)
{
    const tide_tracker_options tracked = {.labels = options.slots,
                                          .max_posts = 4,
                                          .post_bytes = 64,
                                          .memory = 1 << 16,
                                          .seed = 1};
    char folder[FOLDER_MAX], path[IN_FOLDER_MAX];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/b", folder);
    tide_bag *bag = tide_bag_new(&options, NULL);
    tracker = tide_tracker_new(&tracked, NULL);
    must(bag && tracker);
    for (uint32_t post = 0; post < POSTS; post++)
        learn(bag, post);
    tide_bag_set_names(bag, names, 2);
    tide_bag_name(bag, 0, "a");
    tide_bag_name(bag, 1, "b");
    tide_store_writer *writer = tide_store_create(path, NULL);
    must(writer != NULL);
    tide_bag_save(bag, writer);
    must(tide_store_commit(writer, NULL) == TIDE_OK);
    tide_bag_free(bag);
    valid_size = slurp(path, valid, FILE_MAX);
    must(unlink(path) == 0 && rmdir(folder) == 0);
}

/* -- inputs ------------------------------------------------------------------------ */

static void change(unsigned char *bytes, size_t size, const uint8_t *data, size_t left)
{
    for (; left >= 6; data += 6, left -= 6) {
        size_t capacity = size - TIDE_STORE_HEADER - 4;
        size_t place = TIDE_STORE_HEADER + (data[0] | (size_t)data[1] << 8) % capacity;
        memcpy(bytes + place, data + 2, 4);
    }
}

static void ask(tide_bag *bag)
{
    const float *probabilities = tide_bag_predict(bag);
    for (uint32_t label = 0; label < bag->label_count; label++)
        must(probabilities[label] >= 0 && probabilities[label] <= 1);
}

static void try_file(const unsigned char *bytes, size_t size, bool learns)
{
    static const char *many[65536];
    tide_error err = {.text = ""};
    tide_store *store = tide_store_open(memory_file(bytes, size), &err);
    tide_bag *bag = store ? tide_bag_load(learns ? &options : NULL, store, &err) : NULL;
    must(bag || err.text[0] != '\0');
    if (bag) {
        for (uint32_t i = 0; i < bag->name_count; i++)
            many[i] = names[i % 2];
        bag->names = many;
        ask(bag);
        for (uint32_t post = 0; learns && post < POSTS; post++) {
            learn(bag, post);
            ask(bag);
        }
    }
    tide_bag_free(bag);
    tide_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[FILE_MAX];
    if (!tracker)
        make_valid();
    if (size == 0)
        return 0;
    memcpy(bytes, valid, valid_size);
    change(bytes, valid_size, data + 1, size - 1);
    tide_store_rechecksum(bytes, valid_size);
    try_file(bytes, valid_size, data[0] % 2);
    return 0;
}
