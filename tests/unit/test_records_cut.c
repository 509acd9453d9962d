/* test_records_cut.c - however an input is divided into feeds, saved and loaded, the
 * result matches that of the oracle, up to the longest record. */
#include "base/base.h"
#include "record/json.h"
#include "record/record.h"
#include "records_fixture.h"

/* -- random inputs ----------------------------------------------------------------- */

static const tide_record_options options[] = {
    {TIDE_RECORDS_JSON, "a", "", "", false, 0},
    {TIDE_RECORDS_JSON, "a.b,a,b", "b", "c", false, 0},
    {TIDE_RECORDS_JSON, "a,b", "b", "c", true, 0},
    {TIDE_RECORDS_JSON, "a.b.c,.", "", "a", false, 0},
    {TIDE_RECORDS_CSV, "2", "", "", false, ','},
    {TIDE_RECORDS_CSV, "a,b", "b", "c", false, ','},
    {TIDE_RECORDS_CSV, "a,b", "", "c", true, ','},
    {TIDE_RECORDS_CSV, "b,2,1", "", "1", false, ','},
    {TIDE_RECORDS_TSV, "2", "", "", false, 0},
    {TIDE_RECORDS_TSV, "a,b", "b", "c", false, 0},
};
enum { OPTIONS = sizeof options / sizeof *options };

static const char *pick(tide_rng *rng, const char *const *choices, size_t count)
{
    return choices[tide_rng_below(rng, count)];
}

static void random_json(tide_rng *rng, pile *p, int depth)
{
    static const char *const keys[] = {
        "\"a\"", "\"b\"", "\"c\"",  "\"a.b\"",     "\"b.c\"",
        "\"\"",  "\".\"", "\"zz\"", "\"\\u0061\"", "\"a\\u002eb\""};
    static const char *const values[] = {"\"\"",
                                         "\"x y\"",
                                         "1",
                                         "-0.5e+9",
                                         "true",
                                         "false",
                                         "null",
                                         "\"\\ud83c\\udf0a\"",
                                         "\"\\ud800\\n\"",
                                         "\"0123456789abcdef0123\"",
                                         "\"\xc3\xa9\"",
                                         "\"\xff\"",
                                         "\"\\\"\\\\\\/\\b\\f\\r\\t\\u00e9\"",
                                         "[]",
                                         "{}",
                                         "01",
                                         "1."};
    uint64_t kind = tide_rng_below(rng, 3);
    if (depth == 0 || kind == 0) {
        const char *value = pick(rng, values, sizeof values / sizeof *values);
        pile_add(p, value, strlen(value));
        return;
    }
    pile_add(p, kind == 1 ? "{" : "[", 1);
    for (uint64_t i = tide_rng_below(rng, 5); i > 0; i--) {
        const char *key = pick(rng, keys, sizeof keys / sizeof *keys);
        if (kind == 1) {
            pile_add(p, key, strlen(key));
            pile_add(p, " ", tide_rng_below(rng, 2));
            pile_add(p, ": ", 1 + tide_rng_below(rng, 2));
        }
        random_json(rng, p, depth - 1);
        pile_add(p, ", ", i > 1 ? 1 + tide_rng_below(rng, 2) : 0);
    }
    pile_add(p, kind == 1 ? "}" : "]", 1);
}

static void random_columns(tide_rng *rng, pile *p, const char *separator)
{
    static const char *const parts[] = {
        "a", "b",   "\"", "\"\"",  ",",   "\t",  "\n",       "\r",
        " ", "xyz", "c",  "\"a\"", "\",", ",\"", "\xc3\xa9", "0123456789abcdef"};
    for (uint64_t i = tide_rng_below(rng, 5); i > 0; i--) {
        for (uint64_t k = tide_rng_below(rng, 4); k > 0; k--) {
            const char *part = pick(rng, parts, sizeof parts / sizeof *parts);
            pile_add(p, part, strlen(part));
        }
        pile_add(p, separator, i > 1);
    }
}

/* Some records with all kinds of line ends, some of them damaged, maybe with a BOM at
 * the start; JSON also as an array, or over several lines. */
static pile random_input(tide_rng *rng, tide_record_kind kind)
{
    static const char *const ends[] = {"\n", "\n", "\r\n", "\n\n", " \n"};
    pile p = {0};
    pile_add(&p, "\xef\xbb\xbf", tide_rng_below(rng, 4));
    if (kind != TIDE_RECORDS_JSON && tide_rng_below(rng, 2))
        pile_add(&p, kind == TIDE_RECORDS_CSV ? "a,b,c\n" : "a\tb\tc\n", 6);
    bool document = kind == TIDE_RECORDS_JSON && tide_rng_below(rng, 2);
    size_t first = p.size;
    pile_add(&p, "[", document && tide_rng_below(rng, 2));
    for (uint64_t i = tide_rng_below(rng, 8); i > 0; i--) {
        size_t start = p.size;
        if (kind == TIDE_RECORDS_JSON)
            random_json(rng, &p, 4);
        else
            random_columns(rng, &p, kind == TIDE_RECORDS_CSV ? "," : "\t");
        if (p.size > start && tide_rng_below(rng, 4) == 0)
            p.bytes[start + tide_rng_below(rng, p.size - start)] =
                (unsigned char)"\"\\,:{}[]\n\x01 0"[tide_rng_below(rng, 12)];
        const char *line = pick(rng, ends, 5);
        pile_add(&p, ",", document && tide_rng_below(rng, 2));
        pile_add(&p, line, i > 1 || tide_rng_below(rng, 2) ? strlen(line) : 0);
    }
    for (size_t i = first; document && i < p.size; i++)
        if (p.bytes[i] == ' ' && tide_rng_below(rng, 2))
            p.bytes[i] = '\n';
    return p;
}

/* -- properties -------------------------------------------------------------------- */

static void result_matches_the_oracle_for_any_division_into_feeds(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(1);
    for (size_t o = 0; o < OPTIONS; o++) {
        tide_records *r = records_with(&options[o]);
        for (int run = 0; run < 1500; run++) {
            pile input = random_input(&rng, options[o].kind);
            transcript found = {0}, expected = {.counts = tide_records_counted(r)};
            oracle_read(&expected, &options[o], input.bytes, input.size);
            feed(&found, r, input.bytes, input.size, 1 + tide_rng_below(&rng, 30));
            end(&found, r);
            if (!transcript_equal(&found, &expected))
                fail_msg("%s in\n%s\ngives\n%s\nnot\n%s", options[o].text, input.bytes,
                         found.texts.bytes, expected.texts.bytes);
            free_both(&found, &expected);
            free(input.bytes);
        }
        if (options[o].kind != TIDE_RECORDS_TSV)
            assert_in_range(tide_records_counted(r).malformed, 100, 12000);
        assert_in_range(tide_records_counted(r).missing, 100, 12000);
        tide_records_free(r);
    }
}

static void every_split_and_truncation_matches_the_oracle(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(2);
    for (size_t o = 0; o < OPTIONS; o++) {
        tide_records *r = records_with(&options[o]);
        pile input = random_input(&rng, options[o].kind);
        while (input.size < 40) {
            free(input.bytes);
            input = random_input(&rng, options[o].kind);
        }
        for (size_t size = 0; size <= input.size; size++) {
            for (size_t cut = 0; cut <= size; cut++) {
                transcript found = {0}, expected = {.counts = tide_records_counted(r)};
                oracle_read(&expected, &options[o], input.bytes, size);
                feed(&found, r, input.bytes, cut, SIZE_MAX);
                feed(&found, r, input.bytes + cut, size - cut, SIZE_MAX);
                end(&found, r);
                assert_true(transcript_equal(&found, &expected));
                free_both(&found, &expected);
            }
        }
        free(input.bytes);
        tide_records_free(r);
    }
}

static void
saved_and_loaded_at_every_byte_it_goes_on_as_if_nothing_had_been(void **state)
{
    (void)state;
    static const char *const inputs[] = {
        "\xef\xbb\xbf{\"a\":\"x\",\"b\":\"1\"}\n{\"a\":{\"b\":2}}\n\n{\"a\":}\n{}\n",
        "\xef\xbb\xbf"
        "c,b,a\r\nl,\"x\n\"\"y\"\"\",z\n\n1,\"a\"b,3\n,,\n\"q",
        "\xef\xbb\xbf"
        "c\tb\ta\nl\tx\ty\n\t\t\nlast\tlast",
    };
    for (size_t o = 0; o < OPTIONS; o++) {
        const char *input = inputs[options[o].kind - TIDE_RECORDS_JSON];
        size_t size = strlen(input);
        tide_record_options p = options[o];
        transcript expected = {0};
        oracle_read(&expected, &p, (const unsigned char *)input, size);
        for (size_t stop = 0; stop <= size; stop++) {
            tide_error err = {0};
            transcript found = {0};
            tide_records *before = records_with(&p);
            feed(&found, before, input, stop, SIZE_MAX);
            save(before);
            tide_records *after = records_with(&p);
            assert_int_equal(load(after, &err), TIDE_OK);
            assert_int_equal(tide_records_at_boundary(after),
                             tide_records_at_boundary(before));
            feed(&found, after, input + stop, size - stop, SIZE_MAX);
            end(&found, after);
            assert_true(transcript_equal(&found, &expected));
            free(found.texts.bytes);
            tide_records_free(before);
            tide_records_free(after);
        }
        free(expected.texts.bytes);
    }
}

/* Fields written as CSV are parsed back unchanged. */
static void csv_round_trips_random_fields(void **state)
{
    (void)state;
    static const char *const parts[] = {"\"", ",", "\n", "\r\n", "x", "word ", "\t"};
    tide_rng rng = tide_rng_seeded(3);
    pile csv = {0};
    transcript expected = {0}, found = {0};
    for (int record = 0; record < 2000; record++) {
        pile field = {0};
        pile_add(&field, "x", 1);
        for (uint64_t i = tide_rng_below(&rng, 9); i > 0; i--) {
            const char *part = pick(&rng, parts, sizeof parts / sizeof *parts);
            pile_add(&field, part, strlen(part));
        }
        pile_add(&csv, "\"a,\n\",\"", 7);
        for (size_t i = 0; i < field.size; i++) {
            pile_add(&csv, &field.bytes[i], 1);
            pile_add(&csv, "\"", field.bytes[i] == '"');
        }
        pile_add(&csv, "\",b\r\n", 5);
        pile_add(&field, "\n", 1);
        transcript_add(&expected, field.bytes, field.size);
        free(field.bytes);
    }
    expected.counts.records = 2000;
    tide_records *r = records(TIDE_RECORDS_CSV, "2", "", "");
    feed(&found, r, csv.bytes, csv.size, 1000);
    end(&found, r);
    assert_true(transcript_equal(&found, &expected));
    free_both(&found, &expected);
    free(csv.bytes);
    tide_records_free(r);
}

static void vector_and_portable_scanners_agree(void **state)
{
    (void)state;
    unsigned char bytes[128];
    tide_rng rng = tide_rng_seeded(4);
    for (int run = 0; run < 20000; run++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(tide_rng_next(&rng) | (run & 1 ? 0x30 : 0));
        bytes[90] = '\n';
        assert_ptr_equal(tide_json_skip_run(bytes), tide_json_skip_run_portable(bytes));
        for (size_t i = 0; i < 50; i++)
            bytes[i] = (unsigned char)('0' + tide_rng_below(&rng, 10));
        bytes[tide_rng_below(&rng, 50)] = (unsigned char)"/:a\n\xb0"[run % 5];
        assert_ptr_equal(tide_json_skip_digits(bytes),
                         tide_json_skip_digits_portable(bytes));
    }
}

/* -- limits ------------------------------------------------------------------------ */

/* A record of `length` bytes, with an open quote if the format has quotes, then good
 * records. */
static void check_length(const tide_record_options *o, size_t length)
{
    static unsigned char input[3 * TIDE_RECORD_MAX];
    bool json = o->kind == TIDE_RECORDS_JSON, closed = length <= TIDE_RECORD_MAX;
    size_t size = 0;
    memset(input, 'x', length);
    if (json) {
        memcpy(input, "{\"a\":\"", 6);
        memcpy(input + length - 2, "\"}", 2);
    } else if (o->kind == TIDE_RECORDS_CSV) {
        input[0] = '"';
        input[length - 1] = closed ? '"' : 'x';
    }
    size = length;
    const char *rest = json ? "\n{\"a\":\"y\"}\n" : "\ny,y\n";
    memcpy(input + size, rest, strlen(rest));
    size += strlen(rest);
    for (size_t piece = 1000; piece < 4 * size; piece *= 37) {
        transcript found = {0}, expected = {0};
        tide_records *r = records(o->kind, o->text, "", "");
        oracle_read(&expected, o, input, size);
        assert_int_equal(expected.counts.too_long, !closed);
        feed(&found, r, input, size, piece);
        end(&found, r);
        assert_true(transcript_equal(&found, &expected));
        assert_int_equal(found.counts.records, 2);
        free_both(&found, &expected);
        tide_records_free(r);
    }
}

static void over_long_record_is_counted_and_the_next_is_read(void **state)
{
    (void)state;
    static const tide_record_options some[] = {
        {TIDE_RECORDS_JSON, "a", "", "", false, 0},
        {TIDE_RECORDS_CSV, "1", "", "", false, ','},
        {TIDE_RECORDS_TSV, "1", "", "", false, 0}};
    for (size_t i = 0; i < 3; i++) {
        check_length(&some[i], TIDE_RECORD_MAX - 1);
        check_length(&some[i], TIDE_RECORD_MAX);
        check_length(&some[i], TIDE_RECORD_MAX + 1);
        check_length(&some[i], TIDE_RECORD_MAX + 2);
        check_length(&some[i], 5 * TIDE_RECORD_MAX / 2);
    }
}

/* A value of that length in an array, which ends with a bracket or, if malformed, with
 * its line, and another value after it. Also saves and loads in the middle. */
static void over_long_value_is_counted_and_the_next_is_read(void **state)
{
    (void)state;
    enum { CAPACITY = 3 * TIDE_RECORD_MAX };
    static char input[CAPACITY + 64];
    const tide_record_options o = {TIDE_RECORDS_JSON, "a", "", "", false, 0};
    static const char *const ends[] = {"\"}", "", "\"\n, \"b\": [\"}\"]}"};
    for (int run = 0; run < 36; run++) {
        size_t length = (size_t)(run % 6 < 5 ? TIDE_RECORD_MAX - 2 + run % 6
                                             : 5 * TIDE_RECORD_MAX / 2);
        const char *close = ends[run / 6 % 3];
        size_t size = (size_t)sprintf(input, "[{\"a\": %s", *close ? "\"" : "");
        memset(input + size, '1', CAPACITY);
        size = length + 1 - strlen(close);
        size += (size_t)sprintf(input + size, "%s\n{\"a\":\"ok\"}]\n", close);
        size_t piece = run < 18 ? 65536 : (size_t)TIDE_RECORD_MAX + 1;
        transcript found = {0}, expected = {0};
        oracle_read(&expected, &o, (unsigned char *)input, size);
        tide_records *r = records_with(&o);
        for (size_t done = 0; done < size; done += piece) {
            size_t part = piece < size - done ? piece : size - done;
            feed(&found, r, input + done, part, SIZE_MAX);
            if (done / piece % 8 == 7) {
                save(r);
                tide_records_free(r);
                r = records_with(&o);
                tide_error err;
                assert_int_equal(load(r, &err), TIDE_OK);
            }
        }
        end(&found, r);
        assert_true(transcript_equal(&found, &expected));
        assert_true(expected.counts.records == 2);
        assert_string_equal((const char *)found.texts.bytes + found.texts.size - 5,
                            "3:ok\n");
        free_both(&found, &expected);
        tide_records_free(r);
    }
}

static void partly_skipped_record_is_saved(void **state)
{
    (void)state;
    static char input[2 * TIDE_RECORD_MAX];
    memset(input, 'x', sizeof input);
    memcpy(input + sizeof input - 5, "\nok\t\n", 5);
    tide_error err = {0};
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_TSV, "1", "", "");
    feed(&t, r, input, sizeof input - 100, SIZE_MAX);
    assert_false(tide_records_at_boundary(r));
    assert_int_equal(t.counts.records, 0);
    save(r);
    tide_records *other = records(TIDE_RECORDS_TSV, "1", "", "");
    assert_int_equal(load(other, &err), TIDE_OK);
    feed(&t, other, input + sizeof input - 100, 100, SIZE_MAX);
    assert_int_equal(t.counts.too_long, 1);
    assert_int_equal(t.counts.bytes, sizeof input - 4);
    assert_string_equal((const char *)t.texts.bytes, "3:ok\n");
    free(t.texts.bytes);
    tide_records_free(r);
    tide_records_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_matches_the_oracle_for_any_division_into_feeds),
        cmocka_unit_test(every_split_and_truncation_matches_the_oracle),
        cmocka_unit_test(
            saved_and_loaded_at_every_byte_it_goes_on_as_if_nothing_had_been),
        cmocka_unit_test(csv_round_trips_random_fields),
        cmocka_unit_test(vector_and_portable_scanners_agree),
        cmocka_unit_test(over_long_record_is_counted_and_the_next_is_read),
        cmocka_unit_test(over_long_value_is_counted_and_the_next_is_read),
        cmocka_unit_test(partly_skipped_record_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
