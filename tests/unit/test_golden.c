/* test_golden.c - files of old versions: the smallest with every single-bit error and
 * cut at every length, and one that was saved in the middle of a record. */
#include "train_fixture.h"

enum { STEP = SANITIZED ? 7 : 1 }; /* coprime to 8, so that all bits are covered */

static corpus golden(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", TIDE_GOLDEN, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    corpus whole = {malloc(1 << 16), 0};
    assert_non_null(whole.bytes);
    whole.size = fread(whole.bytes, 1, 1 << 16, file);
    assert_in_range(whole.size, 1, (1 << 16) - 1);
    fclose(file);
    return whole;
}

/* A copy of the smallest file in the current directory, to be damaged in place. */
static int copy_smallest(corpus *whole)
{
    *whole = golden("smallest.tide");
    write_file("m.tide", whole->bytes, whole->size);
    tide_trainer_free(load_from("m.tide"));
    int file = open("m.tide", O_RDWR);
    assert_true(file >= 0);
    return file;
}

static bool is_refused(void)
{
    tide_error err = {0};
    tide_trainer *trainer = tide_trainer_load("m.tide", NULL, 0, &err);
    tide_trainer_free(trainer);
    return !trainer && err.status == TIDE_ERROR_FORMAT && strstr(err.text, "m.tide");
}

static void no_file_with_one_wrong_bit_is_accepted(void **state)
{
    (void)state;
    corpus whole;
    int file = copy_smallest(&whole);
    size_t accepted = 0;
    for (size_t bit = 0; bit < 8 * whole.size; bit += STEP) {
        off_t at = (off_t)(bit / 8);
        char wrong = (char)(whole.bytes[at] ^ (1 << bit % 8));
        assert_int_equal(pwrite(file, &wrong, 1, at), 1);
        accepted += !is_refused();
        assert_int_equal(pwrite(file, &whole.bytes[at], 1, at), 1);
    }
    assert_int_equal(accepted, 0);
    tide_trainer_free(load_from("m.tide"));
    close(file);
    free(whole.bytes);
}

static void no_truncated_or_extended_file_is_accepted(void **state)
{
    (void)state;
    corpus whole;
    int file = copy_smallest(&whole);
    size_t accepted = 0;
    for (size_t length = whole.size; length-- > 0;) {
        assert_int_equal(ftruncate(file, (off_t)length), 0);
        accepted += !is_refused();
    }
    assert_int_equal(pwrite(file, whole.bytes, whole.size, 0), whole.size);
    for (size_t more = 1; more <= 128; more++) { /* zeros, more than any padding */
        assert_int_equal(ftruncate(file, (off_t)(whole.size + more)), 0);
        accepted += !is_refused();
    }
    assert_int_equal(accepted, 0);
    close(file);
    free(whole.bytes);
}

static void a_half_read_record_is_resumed(void **state)
{
    (void)state;
    static const char rest[] = " the hills of veldora\",\"at\":1600000000}\n";
    tide_trainer *trainer = load_from(TIDE_GOLDEN "/records.tide");
    tide_stats before = stats_of(trainer);
    feed_text(trainer, rest);
    tide_stats after = stats_of(trainer);
    assert_int_equal(after.bytes, before.bytes + strlen(rest));
    assert_int_equal(after.records, before.records + 1);
    assert_int_equal(after.malformed_records, 0);
    assert_int_equal(after.tokens, before.tokens + 13);
    assert_true(after.time == 1600000000);
    tide_trainer_free(trainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(no_file_with_one_wrong_bit_is_accepted),
        IN_FOLDER(no_truncated_or_extended_file_is_accepted),
        cmocka_unit_test(a_half_read_record_is_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
