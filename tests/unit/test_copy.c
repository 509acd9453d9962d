/* test_copy.c - a copy of a view is an independent model that exports the same as the
 * saved model. test_live.c tests that no word of it has the vector of another. */
#include "train_fixture.h"

#include "memory_fixture.h"

#include <wordtide/formats.h>
#include <fcntl.h>
#include <unistd.h>

static const char settings[] = "vocab=1000 dim=24 replay-ring=10000";

typedef struct subject {
    tide_trainer *trainer;
    tide_live *live;
} subject;

static subject train(const char *with)
{
    corpus text = demo_text(4, 30000);
    tide_trainer *trainer = trainer_of(with);
    subject all = {trainer, tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL)};
    feed(trainer, text.bytes, text.size);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    assert_true(tide_live_update(all.live));
    free(text.bytes);
    return all;
}

static void subject_free(subject *all)
{
    tide_live_free(all->live);
    tide_trainer_free(all->trainer);
}

static tide_model *copy_of(const subject *all, uint32_t top, tide_error *err)
{
    const tide_view *view = tide_live_acquire(all->live);
    tide_model *copy = tide_view_copy(view, top, err);
    tide_live_release(all->live, view);
    return copy;
}

static void assert_same_file(const char *path, const char *other)
{
    FILE *a = fopen(path, "rb"), *b = fopen(other, "rb");
    assert_non_null(a);
    assert_non_null(b);
    for (int x = 0, y = 0; x != EOF;) {
        x = getc(a);
        y = getc(b);
        assert_int_equal(x, y);
    }
    fclose(a);
    fclose(b);
}

static int export_open(const tide_model *model, const tide_export *how,
                       tide_exported *done, tide_error *err)
{
    int file = open("open", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    int status = tide_model_export_open(model, how, file, done, err);
    assert_int_equal(close(file), 0);
    return status;
}

static void a_copy_exports_the_same_as_the_saved_model(void **state)
{
    (void)state;
    static const char *const ways[] = {"", " subword=500", " half-life=2000"};
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    for (size_t way = 0; way < COUNT(ways); way++) {
        char with[128];
        snprintf(with, sizeof with, "%s%s", settings, ways[way]);
        subject all = train(with);
        save_to(all.trainer, "model");
        tide_model *saved = tide_model_load("model", NULL);
        tide_model *copy = copy_of(&all, 0, NULL), *few = copy_of(&all, 50, NULL);
        subject_free(&all);
        for (size_t i = 0; i < count * 4; i++) {
            tide_exported done, same;
            const tide_export how = {.format = formats[i / 4].name,
                                     .centered = i % 2,
                                     .top = i % 4 < 2 ? 0 : 50};
            if (!formats[i / 4].ending)
                continue;
            assert_int_equal(tide_model_export(saved, &how, "closed", &done, NULL), 0);
            assert_int_equal(export_open(copy, &how, &same, NULL), 0);
            assert_int_equal(same.words, done.words);
            assert_int_equal(same.left_out, done.left_out);
            assert_same_file("closed", "open");
            assert_true(how.centered || !how.top ||
                        !export_open(few, &how, &same, NULL));
            assert_same_file("closed", "open");
        }
        tide_model_free(few);
        tide_model_free(copy);
        tide_model_free(saved);
    }
}

static void an_empty_view_has_an_empty_copy(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of(settings);
    subject all = {trainer, tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL)};
    tide_model *copy = copy_of(&all, 0, NULL);
    const tide_export how = {.format = "word2vec"};
    tide_exported done;
    assert_int_equal(tide_model_size(copy), 0);
    assert_int_equal(export_open(copy, &how, &done, NULL), 0);
    assert_int_equal(done.words, 0);
    tide_model_free(copy);
    subject_free(&all);
}

static void formats_of_several_files_need_a_path(void **state)
{
    (void)state;
    subject all = train(settings);
    tide_model *copy = copy_of(&all, 0, NULL);
    static const char *const names[] = {"npy", "projector", "tide", "nothing"};
    for (size_t i = 0; i < COUNT(names); i++) {
        tide_error err;
        const tide_export how = {.format = names[i]};
        assert_int_equal(export_open(copy, &how, NULL, &err), TIDE_ERROR_PARAMETER);
    }
    tide_model_free(copy);
    subject_free(&all);
}

static void an_export_ends_when_stopped_or_when_writing_fails(void **state)
{
    (void)state;
    subject all = train(settings);
    tide_model *copy = copy_of(&all, 0, NULL);
    volatile sig_atomic_t stop = 1;
    tide_error err;
    tide_export how = {.format = "word2vec", .stop = &stop};
    assert_int_equal(export_open(copy, &how, NULL, &err), TIDE_ERROR_IO);
    assert_non_null(strstr(err.text, "stopped"));
    stop = 0;
    assert_int_equal(export_open(copy, &how, NULL, &err), TIDE_OK);
    int full = open("/dev/full", O_WRONLY);
    assert_int_equal(tide_model_export_open(copy, &how, full, NULL, &err),
                     TIDE_ERROR_IO);
    assert_non_null(strstr(err.text, "No space left"));
    close(full);
    tide_model_free(copy);
    subject_free(&all);
}

/* Each allocation is rounded up by less than a cache line. */
static void a_copy_allocates_the_reported_bytes(void **state)
{
    (void)state;
    subject all = train(settings);
    for (uint32_t top = 0; top < 1000; top += 300) {
        const tide_view *view = tide_live_acquire(all.live);
        uint64_t said = tide_view_copy_bytes(view, top);
        tide_live_release(all.live, view);
        allocated_bytes = 0;
        tide_model *copy = copy_of(&all, top, NULL);
        assert_in_range(allocated_bytes, said - 8 * 64, said + 16 * 64);
        tide_model_free(copy);
    }
    int failed = 0;
    for (tide_model *copy = NULL; !copy; failed++) {
        tide_error err = {0};
        allocations_left = failed;
        copy = copy_of(&all, 0, &err);
        allocations_left = -1;
        assert_int_equal(err.status, copy ? TIDE_OK : TIDE_ERROR_MEMORY);
        tide_model_free(copy);
    }
    assert_true(failed > 2);
    subject_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_copy_exports_the_same_as_the_saved_model),
        IN_FOLDER(an_empty_view_has_an_empty_copy),
        IN_FOLDER(formats_of_several_files_need_a_path),
        IN_FOLDER(an_export_ends_when_stopped_or_when_writing_fails),
        cmocka_unit_test(a_copy_allocates_the_reported_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
