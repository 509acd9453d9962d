/* fuzz_tracker.c - changes to the file of a label tracker, with recomputed checksums.
 *
 * The input is a list of changes to a valid file, each of them
 *
 *     u16 offset behind the header, u8 count, `count` (at most 8) bytes to store there
 *
 * A file that loads must answer queries, load again after it is saved, and stay within
 * its memory when it continues; one that does not must give a reason.
 */
#include "base/base.h"
#include "file/file.h"
#include "file/store_internal.h"
#include "label/label.h"
#include "fuzz_fixture.h"

enum { FILE_MAX = 1 << 16 };

static const tide_tracker_options options = {
    .labels = 4, .max_posts = 5, .post_bytes = 64, .memory = 32 * 300, .seed = 1};

static unsigned char good[FILE_MAX];
static size_t good_size;

static void add_posts(tide_tracker *t, int posts)
{
    static const char names[][20] = {"one", "two", "three", "four", "five", "six"};
    for (int i = 0; i < posts; i++) {
        const tide_word labels[3] = {
            {names[i % 2], 3}, {names[2], 5}, {names[i % 6], 3}};
        tide_tracker_add(t, labels, 1 + (size_t)i % 3, "some words of a post",
                         3 + (size_t)i % 18);
        tide_tracker_stats facts = tide_tracker_state(t);
        must(facts.used <= facts.limit);
    }
}

/* -- the file, in a folder of this process ---------------------------------------- */

static char folder[FOLDER_MAX], path[IN_FOLDER_MAX];

static void clean_up(void)
{
    unlink(path);
    rmdir(folder);
}

static void enter(void)
{
    make_folder(folder);
    snprintf(path, sizeof path, "%s/m", folder);
    must(atexit(clean_up) == 0);
}

static void save(const tide_tracker *t)
{
    tide_store_writer *writer = tide_store_create(path, NULL);
    must(writer != NULL);
    tide_tracker_save(t, writer);
    must(tide_store_commit(writer, NULL) == TIDE_OK);
}

static tide_tracker *load(tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    if (!store)
        return NULL;
    tide_tracker *t = tide_tracker_load(&options, store, err);
    tide_store_close(store);
    return t;
}

static void make_good(void)
{
    enter();
    tide_tracker *t = tide_tracker_new(&options, NULL);
    must(t != NULL);
    add_posts(t, 60);
    save(t);
    tide_tracker_free(t);
    good_size = slurp(path, good, FILE_MAX);
}

static void change(unsigned char *bytes, const uint8_t *data, size_t left)
{
    while (left > 3) {
        size_t at = TIDE_STORE_HEADER +
                    (data[0] | (size_t)data[1] << 8) % (good_size - TIDE_STORE_HEADER);
        size_t count = data[2] % 9;
        data += 3;
        left -= 3;
        for (size_t i = 0; i < count && left && at + i < good_size; i++, data++, left--)
            bytes[at + i] = *data;
    }
}

static void ask(const tide_tracker *t)
{
    tide_tracked_label labels[8];
    size_t count = tide_tracker_top(t, labels, 8);
    for (size_t i = 0; i < count; i++) {
        uint32_t posts[8];
        tide_post post;
        must(labels[i].kept <= options.max_posts && labels[i].kept <= labels[i].seen);
        must(tide_tracker_sample(t, labels[i].slot, posts, 8) == labels[i].kept);
        for (uint32_t k = 0; k < labels[i].kept; k++) {
            tide_tracker_post(t, posts[k], &post);
            must(post.length > 0 && post.length <= options.post_bytes);
            must(post.label_count >= 1 && post.label_count <= TIDE_POST_LABELS);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[FILE_MAX];
    if (good_size == 0)
        make_good();
    memcpy(bytes, good, good_size);
    change(bytes, data, size);
    tide_store_rechecksum(bytes, good_size);
    spit(path, bytes, good_size);
    tide_error err = {0};
    tide_tracker *t = load(&err);
    if (!t)
        must_have_error_text(&err);
    else {
        save(t);
        tide_tracker_free(t);
        t = load(&err);
        must(t != NULL);
        ask(t);
        add_posts(t, 40);
        ask(t);
    }
    tide_tracker_free(t);
    return 0;
}
