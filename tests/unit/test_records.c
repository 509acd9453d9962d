/* test_records.c - the text in records does not depend on how their bytes arrive. */
#include "records_oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "memory_fixture.h"
#include "text/json.h"

/* -- helpers ------------------------------------------------------------------------ */

static tide_records *records_with(const tide_record_options *options)
{
    tide_error err = {0};
    tide_records *r = tide_records_new(options, &err);
    if (!r)
        fail_msg("%s", err.text);
    return r;
}

static tide_records *records(tide_record_kind kind, const char *text, const char *time,
                             const char *label)
{
    return records_with(&(tide_record_options){kind, text, time, label, false});
}

/* Feeds in pieces of this size, and takes all there is after each. */
static void feed(transcript *t, tide_records *r, const void *bytes, size_t size,
                 size_t piece)
{
    for (size_t done = 0; done < size;) {
        size_t next = piece < size - done ? piece : size - done;
        size_t fed = tide_records_feed(r, (const char *)bytes + done, next);
        assert_in_range(fed, 1, next);
        done += fed;
        transcript_take(t, r);
    }
}

static void end(transcript *t, tide_records *r)
{
    tide_records_end(r);
    transcript_take(t, r);
    assert_true(tide_records_between(r));
}

static void free_both(transcript *a, transcript *b)
{
    free(a->texts.bytes);
    free(b->texts.bytes);
    a->texts = b->texts = (pile){0};
}

/* What one input of a fresh object gives must be these texts, each after its length. */
static void expect(tide_record_kind kind, const char *fields, const char *input,
                   const char *texts)
{
    transcript t = {0};
    tide_records *r = records(kind, fields, "", "");
    feed(&t, r, input, strlen(input), SIZE_MAX);
    end(&t, r);
    assert_string_equal(t.texts.bytes ? (char *)t.texts.bytes : "", texts);
    free(t.texts.bytes);
    tide_records_free(r);
}

static const char *store_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/tide-records-%d", P_tmpdir, (int)getpid());
    return path;
}

static void save(const tide_records *r)
{
    tide_error err = {0};
    tide_store_writer *writer = tide_store_create(store_path(), &err);
    assert_non_null(writer);
    tide_records_save(r, writer);
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
}

static int load(tide_records *r, tide_error *err)
{
    tide_store *store = tide_store_open(store_path(), err);
    assert_non_null(store);
    int status = tide_records_load(r, store, err);
    tide_store_close(store);
    unlink(store_path());
    return status;
}

/* -- random inputs -------------------------------------------------------------------- */

static const tide_record_options options[] = {
    {TIDE_RECORDS_JSON, "a", "", "", false},
    {TIDE_RECORDS_JSON, "a.b,a,b", "b", "c", false},
    {TIDE_RECORDS_JSON, "a,b", "b", "c", true},
    {TIDE_RECORDS_JSON, "a.b.c,.", "", "a", false},
    {TIDE_RECORDS_CSV, "2", "", "", false},
    {TIDE_RECORDS_CSV, "a,b", "b", "c", false},
    {TIDE_RECORDS_CSV, "a,b", "", "c", true},
    {TIDE_RECORDS_CSV, "b,2,1", "", "1", false},
    {TIDE_RECORDS_TSV, "2", "", "", false},
    {TIDE_RECORDS_TSV, "a,b", "b", "c", false},
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

/* Some records with line ends of all kinds, some of them damaged, maybe with a mark at
 * the beginning. */
static pile random_input(tide_rng *rng, tide_record_kind kind)
{
    static const char *const ends[] = {"\n", "\n", "\r\n", "\n\n", " \n"};
    pile p = {0};
    pile_add(&p, "\xef\xbb\xbf", tide_rng_below(rng, 4));
    if (kind != TIDE_RECORDS_JSON && tide_rng_below(rng, 2))
        pile_add(&p, kind == TIDE_RECORDS_CSV ? "a,b,c\n" : "a\tb\tc\n", 6);
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
        pile_add(&p, line, i > 1 || tide_rng_below(rng, 2) ? strlen(line) : 0);
    }
    return p;
}

/* -- properties ------------------------------------------------------------------------- */

static void what_is_found_is_what_the_oracle_finds_however_it_is_cut(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(1);
    for (size_t o = 0; o < OPTIONS; o++) {
        tide_records *r = records_with(&options[o]);
        for (int run = 0; run < 1500; run++) {
            pile input = random_input(&rng, options[o].kind);
            transcript found = {0}, wanted = {.counts = tide_records_counted(r)};
            oracle_read(&wanted, &options[o], input.bytes, input.size);
            feed(&found, r, input.bytes, input.size, 1 + tide_rng_below(&rng, 30));
            end(&found, r);
            if (!transcript_equal(&found, &wanted))
                fail_msg("%s in\n%s\ngives\n%s\nnot\n%s", options[o].text, input.bytes,
                         found.texts.bytes, wanted.texts.bytes);
            free_both(&found, &wanted);
            free(input.bytes);
        }
        if (options[o].kind != TIDE_RECORDS_TSV)
            assert_in_range(tide_records_counted(r).malformed, 100, 9000);
        assert_in_range(tide_records_counted(r).missing, 100, 9000);
        tide_records_free(r);
    }
}

static void every_cut_and_every_truncation_agrees_with_the_oracle(void **state)
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
                transcript found = {0}, wanted = {.counts = tide_records_counted(r)};
                oracle_read(&wanted, &options[o], input.bytes, size);
                feed(&found, r, input.bytes, cut, SIZE_MAX);
                feed(&found, r, input.bytes + cut, size - cut, SIZE_MAX);
                end(&found, r);
                assert_true(transcript_equal(&found, &wanted));
                free_both(&found, &wanted);
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
        transcript wanted = {0};
        oracle_read(&wanted, &p, (const unsigned char *)input, size);
        for (size_t stop = 0; stop <= size; stop++) {
            tide_error err = {0};
            transcript found = {0};
            tide_records *before = records_with(&p);
            feed(&found, before, input, stop, SIZE_MAX);
            save(before);
            tide_records *after = records_with(&p);
            assert_int_equal(load(after, &err), TIDE_OK);
            assert_int_equal(tide_records_between(after), tide_records_between(before));
            feed(&found, after, input + stop, size - stop, SIZE_MAX);
            end(&found, after);
            assert_true(transcript_equal(&found, &wanted));
            free(found.texts.bytes);
            tide_records_free(before);
            tide_records_free(after);
        }
        free(wanted.texts.bytes);
    }
}

/* What is written as CSV is read again as it was. */
static void csv_of_random_fields_comes_back(void **state)
{
    (void)state;
    static const char *const parts[] = {"\"", ",", "\n", "\r\n", "x", "word ", "\t"};
    tide_rng rng = tide_rng_seeded(3);
    pile csv = {0};
    transcript wanted = {0}, found = {0};
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
        transcript_add(&wanted, field.bytes, field.size);
        free(field.bytes);
    }
    wanted.counts.records = 2000;
    tide_records *r = records(TIDE_RECORDS_CSV, "2", "", "");
    feed(&found, r, csv.bytes, csv.size, 1000);
    end(&found, r);
    assert_true(transcript_equal(&found, &wanted));
    free_both(&found, &wanted);
    free(csv.bytes);
    tide_records_free(r);
}

static void both_ways_to_find_the_end_of_a_run_agree(void **state)
{
    (void)state;
    unsigned char bytes[128];
    tide_rng rng = tide_rng_seeded(4);
    for (int run = 0; run < 20000; run++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(tide_rng_next(&rng) | (run & 1 ? 0x30 : 0));
        bytes[90] = '\n';
        assert_ptr_equal(tide_json_run(bytes), tide_json_run_portable(bytes));
        for (size_t i = 0; i < 50; i++)
            bytes[i] = (unsigned char)('0' + tide_rng_below(&rng, 10));
        bytes[tide_rng_below(&rng, 50)] = (unsigned char)"/:a\n\xb0"[run % 5];
        assert_ptr_equal(tide_json_digits(bytes), tide_json_digits_portable(bytes));
    }
}

/* -- JSON ------------------------------------------------------------------------------- */

static void path_takes_all_that_it_leads_to(void **state)
{
    (void)state;
    const tide_record_kind json = TIDE_RECORDS_JSON;
    expect(json, "a", "{\"a\":\"x\"}", "2:x\n");
    expect(json, "user.name", "{\"name\":1,\"user\":{\"name\":\"x\"}}", "2:x\n");
    expect(json, "a", "{\"a\":[\"x\",\"\",[\"y\"],{\"a\":1},2,null,true]}",
           "11:x y 2 true\n");
    expect(json, "e.t", "{\"e\":[{\"t\":\"x\"},{\"u\":0},{\"t\":\"y\"}]}", "4:x y\n");
    expect(json, "a.b", "{\"a.b\":\"x\",\"a\":{\"b\":\"y\"}}", "4:x y\n");
    expect(json, "b,a", "{\"a\":\"x\",\"b\":\"y\"}", "4:y\nx\n");
    expect(json, "a,b,a", "{\"a\":\"x\"}", "2:x\n");
    expect(json, "a", "{\"a\":null}\n{\"a\":{}}\n{\"a\":\"\"}\n{}\n[\"a\"]\n\"a\"", "");
}

static void surrogates_make_a_pair_or_stand_for_nothing(void **state)
{
    (void)state;
    const tide_record_kind json = TIDE_RECORDS_JSON;
    expect(json, "a", "{\"a\":\"\\uD83C\\udf0A\"}", "5:\xf0\x9f\x8c\x8a\n");
    expect(json, "a", "{\"a\":\"\\ud83cx\"}", "5:\xef\xbf\xbdx\n");
    expect(json, "a", "{\"a\":\"\\udf0a\\udf0a\"}", "7:\xef\xbf\xbd\xef\xbf\xbd\n");
    expect(json, "a", "{\"a\":\"\\ud83c\\ud83c\\udf0a\"}",
           "8:\xef\xbf\xbd\xf0\x9f\x8c\x8a\n");
}

static void later_key_overrules_all_under_the_earlier(void **state)
{
    (void)state;
    const tide_record_kind json = TIDE_RECORDS_JSON;
    expect(json, "a", "{\"a\":\"x\",\"a\":\"y\"}", "2:y\n");
    expect(json, "a", "{\"a\":\"x\",\"\\u0061\":null}", "");
    expect(json, "a.b", "{\"a\":{\"b\":1},\"a.b\":2,\"a\":{\"c\":3}}", "2:2\n");
    expect(json, "a.b,a.c", "{\"a\":[{\"b\":1,\"c\":2}],\"a\":{\"c\":3}}", "2:3\n");
    expect(json, "a.b", "{\"a\":[{\"b\":1},{\"b\":2,\"b\":3}]}", "4:1 3\n");
}

/* The arena is filled as fast as it can be: by the shortest values of two paths in turn. */
static void densest_record_has_room(void **state)
{
    (void)state;
    static unsigned char line[TIDE_RECORD_MAX];
    size_t size = 0;
    size += (size_t)sprintf((char *)line, "{\"a\":[");
    while (size + 16 < sizeof line)
        size += (size_t)sprintf((char *)line + size, "0,{\"\":1},");
    size += (size_t)sprintf((char *)line + size, "0]}\n");
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_JSON, "a,a.", "", "a");
    feed(&t, r, line, size, SIZE_MAX);
    assert_int_equal(t.counts.missing + t.counts.malformed, 0);
    assert_in_range(t.texts.size, size / 9 * 4, size);
    free(t.texts.bytes);
    tide_records_free(r);
}

/* -- columns ---------------------------------------------------------------------------- */

static void missing_column_is_told(void **state)
{
    (void)state;
    static const char input[] = "id,\"te\nxt\",time\n1,2,3\n";
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_CSV, "body", "time", "");
    assert_null(tide_records_problem(r));
    feed(&t, r, input, strlen(input), 1);
    end(&t, r);
    assert_string_equal(tide_records_problem(r),
                        "no column 'body'; there are: id, te?xt, time");
    assert_int_equal(t.counts.records, 1);
    assert_int_equal(t.counts.missing, 1);
    tide_error err = {0};
    save(r);
    tide_records *other = records(TIDE_RECORDS_CSV, "body", "time", "");
    assert_int_equal(load(other, &err), TIDE_OK);
    assert_string_equal(tide_records_problem(other), tide_records_problem(r));
    feed(&t, other, "time,body\n1,x\n", 14, 1);
    assert_null(tide_records_problem(other));
    assert_string_equal(t.texts.bytes, "2:x\n");
    free(t.texts.bytes);
    tide_records_free(r);
    tide_records_free(other);
}

static void columns_are_found_by_name_and_by_number(void **state)
{
    (void)state;
    const tide_record_kind csv = TIDE_RECORDS_CSV, tsv = TIDE_RECORDS_TSV;
    expect(csv, "2", "a,b\nc,d\n", "2:b\n2:d\n");
    expect(csv, "b", "a,b\nc,d\n", "2:d\n");
    expect(csv, "b,1,2", "a,b\nc,d\n", "4:d\nc\n");
    expect(csv, "1", "a\"b\"\n\"x\"\"y\"\n\"z\"z\n\"w\"", "5:a\"b\"\n4:x\"y\n2:w\n");
    expect(tsv, "1,2", "\"a\tb\r\nc", "5:\"a\nb\n2:c\n");
}

/* -- limits ------------------------------------------------------------------------------ */

/* A record of `length` bytes that opens quotes where there are some, then good ones. */
static void try_length(const tide_record_options *o, size_t length)
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
        transcript found = {0}, wanted = {0};
        tide_records *r = records(o->kind, o->text, "", "");
        oracle_read(&wanted, o, input, size);
        assert_int_equal(wanted.counts.too_long, !closed);
        feed(&found, r, input, size, piece);
        end(&found, r);
        assert_true(transcript_equal(&found, &wanted));
        assert_int_equal(found.counts.records, 2);
        free_both(&found, &wanted);
        tide_records_free(r);
    }
}

static void record_beyond_the_limit_is_counted_and_the_next_is_read(void **state)
{
    (void)state;
    static const tide_record_options some[] = {{TIDE_RECORDS_JSON, "a", "", "", false},
                                               {TIDE_RECORDS_CSV, "1", "", "", false},
                                               {TIDE_RECORDS_TSV, "1", "", "", false}};
    for (size_t i = 0; i < 3; i++) {
        try_length(&some[i], TIDE_RECORD_MAX - 1);
        try_length(&some[i], TIDE_RECORD_MAX);
        try_length(&some[i], TIDE_RECORD_MAX + 1);
        try_length(&some[i], TIDE_RECORD_MAX + 2);
        try_length(&some[i], 5 * TIDE_RECORD_MAX / 2);
    }
}

static void half_skipped_record_is_saved(void **state)
{
    (void)state;
    static char input[2 * TIDE_RECORD_MAX];
    memset(input, 'x', sizeof input);
    memcpy(input + sizeof input - 5, "\nok\t\n", 5);
    tide_error err = {0};
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_TSV, "1", "", "");
    feed(&t, r, input, sizeof input - 100, SIZE_MAX);
    assert_false(tide_records_between(r));
    assert_int_equal(t.counts.records, 0);
    save(r);
    tide_records *other = records(TIDE_RECORDS_TSV, "1", "", "");
    assert_int_equal(load(other, &err), TIDE_OK);
    feed(&t, other, input + sizeof input - 100, 100, SIZE_MAX);
    assert_int_equal(t.counts.too_long, 1);
    assert_int_equal(t.counts.bytes, sizeof input - 4);
    assert_string_equal(t.texts.bytes, "3:ok\n");
    free(t.texts.bytes);
    tide_records_free(r);
    tide_records_free(other);
}

/* -- times and labels --------------------------------------------------------------------- */

static void expect_time(const char *text, double seconds)
{
    char line[200];
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_TSV, "1", "2", "");
    int size = snprintf(line, sizeof line, "x\t%s\n\t1\ny\tno\n", text);
    feed(&t, r, line, (size_t)size, SIZE_MAX);
    assert_int_equal(t.counts.missing, 1);
    double found = tide_records_time(r);
    if (isnan(seconds) ? !isnan(found) : !(fabs(found - seconds) < 1e-6))
        fail_msg("'%s' is %f and not %f", text, found, seconds);
    free(t.texts.bytes);
    tide_records_free(r);
}

static void times_are_read_as_numbers_and_by_the_calendar(void **state)
{
    (void)state;
    const double none = (double)NAN;
    expect_time("1700000000", 1700000000);
    expect_time(" 1700000000.25 ", 1700000000.25);
    expect_time("1700000000250", 1700000000.25);
    expect_time("100000000000", 1e11);
    expect_time("1.7e9", 1700000000);
    expect_time("-86400", -86400);
    expect_time("1970-01-01", 0);
    expect_time("2023-11-14T22:13:20Z", 1700000000);
    expect_time("2023-11-14 22:13:20", 1700000000);
    expect_time("2023-11-14T23:13:20.5+01:00", 1700000000.5);
    expect_time("2023-11-14T16:43:20-0530", 1700000000);
    expect_time("2023-11-14T22:13z", 1699999980);
    expect_time("2000-02-29", 951782400);
    expect_time("1969-12-31T23:59:59Z", -1);
    static const char *const bad[] = {"",
                                      "x",
                                      "1.",
                                      "1e",
                                      "1e999",
                                      "2023-02-29",
                                      "2023-13-01",
                                      "2023-1-1",
                                      "2023-01-01T",
                                      "2023-01-01T24:00",
                                      "1 2",
                                      "-",
                                      "2023-01-01T00:00:00.",
                                      "2023-01-01T00:00+1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_time(bad[i], none);
}

static void names_are_due_at_the_beginning_of_every_input(void **state)
{
    (void)state;
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_CSV, "2,body", "", "");
    assert_true(tide_records_named(r));
    for (int input = 0; input < 3; input++) {
        assert_true(tide_records_names_due(r));
        feed(&t, r, "\nid,bo", 6, SIZE_MAX);
        assert_true(tide_records_names_due(r));
        feed(&t, r, "dy\n1,", 5, SIZE_MAX);
        assert_false(tide_records_names_due(r));
        feed(&t, r, "x", 1, SIZE_MAX);
        tide_records_end(r);
        assert_false(tide_records_names_due(r));
        transcript_take(&t, r);
    }
    feed(&t, r, "id,body\n", 8, SIZE_MAX);
    tide_records_end(r);
    assert_true(tide_records_names_due(r));
    tide_records_free(r);
    static const tide_record_options without[] = {
        {TIDE_RECORDS_CSV, "2,1", "3", "", false},
        {TIDE_RECORDS_TSV, "2", "", "", false},
        {TIDE_RECORDS_JSON, "a", "b", "", false}};
    for (size_t i = 0; i < 3; i++) {
        r = records(without[i].kind, without[i].text, without[i].time, "");
        assert_false(tide_records_named(r) || tide_records_names_due(r));
        feed(&t, r, "1\n", 2, SIZE_MAX);
        end(&t, r);
        assert_false(tide_records_named(r) || tide_records_names_due(r));
        tide_records_free(r);
    }
    free(t.texts.bytes);
}

static void label_is_the_first_word(void **state)
{
    (void)state;
    static const char input[] = "{\"t\":\"x\",\"l\":\"a b\\n\",\"s\":\"1700000000\"}\n"
                                "{\"t\":\"y\",\"l\":\"\",\"s\":1700000001500}\n";
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_JSON, "t", "s", "l");
    assert_true(isnan(tide_records_time(r)));
    feed(&t, r, input, strlen(input), SIZE_MAX);
    assert_string_equal(t.texts.bytes, "16:__label__a_b_ x\n2:y\n");
    assert_true(tide_records_time(r) == 1700000001.5);
    free(t.texts.bytes);
    tide_records_free(r);
}

static void every_item_of_an_array_is_a_label(void **state)
{
    (void)state;
    static const struct {
        const char *value, *labels;
    } cases[] = {
        {"[\"a\",\"b c\",7,-1.5,true]",
         "__label__a __label__b_c __label__7 __label__-1.5 __label__true "},
        {"[]", ""},
        {"[null,\"\",{},[],{\"l\":1}]", ""},
        {"[\"a\",[\"b\",[\"c\"]],{\"d\":\"e\"},\"f\"]", "__label__a __label__f "},
        {"[[\"a\"]]", ""},
        {"[1],\"l\":[2,3]", "__label__2 __label__3 "},
        {"[1,2],\"l\":4", "__label__4 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char input[128], wanted[128];
        transcript t = {0};
        tide_records *r = records(TIDE_RECORDS_JSON, "t", "", "l");
        int size =
            snprintf(input, sizeof input, "{\"l\":%s,\"t\":\"x\"}\n", cases[i].value);
        feed(&t, r, input, (size_t)size, SIZE_MAX);
        snprintf(wanted, sizeof wanted, "%zu:%sx\n", strlen(cases[i].labels) + 2,
                 cases[i].labels);
        assert_string_equal(t.texts.bytes, wanted);
        free(t.texts.bytes);
        tide_records_free(r);
    }
}

/* The arena and the text have room for them, and the first count. */
static void a_record_full_of_labels_is_read(void **state)
{
    (void)state;
    char *input = malloc(TIDE_RECORD_MAX + 1);
    assert_non_null(input);
    size_t size = (size_t)sprintf(input, "{\"l\":[0");
    while (size + 11 < TIDE_RECORD_MAX)
        size += (size_t)sprintf(input + size, ",%d", (int)(size % 10));
    size += (size_t)sprintf(input + size, "],\"t\":1}\n");
    assert_in_range(size, TIDE_RECORD_MAX - 3, TIDE_RECORD_MAX);
    transcript found = {0}, wanted = {0};
    const tide_record_options o = {TIDE_RECORDS_JSON, "t", "", "l", false};
    tide_records *r = records_with(&o);
    feed(&found, r, input, size, SIZE_MAX);
    assert_int_equal(found.counts.records, 1);
    for (int i = 0; i < 256; i++) {
        char label[16];
        int length =
            sprintf(label, "__label__%d ", i ? (int)((7 + 2 * i - 2) % 10) : 0);
        pile_add(&wanted.texts, label, (size_t)length);
    }
    pile_add(&wanted.texts, "1\n", 2);
    const char *text = strchr((const char *)found.texts.bytes, ':') + 1;
    assert_string_equal(text, wanted.texts.bytes);
    free(found.texts.bytes);
    free(wanted.texts.bytes);
    tide_records_free(r);
    free(input);
}

/* -- refusals ------------------------------------------------------------------------------ */

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    const tide_record_options wrong[] = {
        {TIDE_RECORDS_LINES, "a", "", "", false},
        {(tide_record_kind)9, "a", "", "", false},
        {TIDE_RECORDS_JSON, "", "", "", false},
        {TIDE_RECORDS_JSON, "a,,b", "", "", false},
        {TIDE_RECORDS_JSON, "a,", "", "", false},
        {TIDE_RECORDS_CSV, longest, "", "", false},
        {TIDE_RECORDS_CSV, "a", longest, "", false},
        {TIDE_RECORDS_CSV, "a", "", " ", false},
        {TIDE_RECORDS_JSON, "a................", "", "", false},
        {TIDE_RECORDS_JSON, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "", "", false},
        {TIDE_RECORDS_JSON, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s", "", "", false},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tide_error err = {0};
        assert_null(tide_records_new(&wrong[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
        assert_true(err.text[0] != '\0');
    }
}

/* Changes one of the numbers of a saved section; expects it to be refused. */
static void refuse_number(size_t at, uint64_t value)
{
    unsigned char section[600];
    tide_error err = {0};
    tide_records *r = records(TIDE_RECORDS_CSV, "a,2", "t", "");
    transcript t = {0};
    feed(&t, r, "a,b\nhalf", 8, SIZE_MAX);
    save(r);
    tide_store *store = tide_store_open(store_path(), &err);
    assert_non_null(store);
    size_t size = (size_t)tide_store_size(store, "records", &err);
    assert_int_equal(tide_store_read(store, "records", section, size, &err), TIDE_OK);
    tide_store_close(store);
    tide_put64(section + 8 * at, value);
    tide_store_writer *writer = tide_store_create(store_path(), &err);
    tide_store_put(writer, "records", section, size);
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
    tide_records *other = records(TIDE_RECORDS_CSV, "a,2", "t", "");
    assert_int_equal(load(other, &err), TIDE_ERROR_FORMAT);
    assert_true(tide_records_between(other));
    free(t.texts.bytes);
    tide_records_free(r);
    tide_records_free(other);
}

static void section_that_no_records_wrote_is_refused(void **state)
{
    (void)state;
    refuse_number(0, 1);                            /* other fields */
    refuse_number(2, 9);                            /* more malformed than records */
    refuse_number(6, UINT64_C(0x7ff0000000000000)); /* an endless time */
    refuse_number(7, 16);                           /* unknown flags */
    refuse_number(8, 5);                            /* too little skipped */
    refuse_number(9, 5);                            /* another size than it has */
    refuse_number(9, UINT64_MAX);
    refuse_number(10, TIDE_RECORD_MAX + 2); /* no such column */
    refuse_number(11, 3);                   /* a number that is not its own */
    refuse_number(20, 1);                   /* a field that does not exist */
}

static void loss_of_memory_is_reported(void **state)
{
    (void)state;
    tide_error err = {0};
    allocations_left = 0;
    assert_null(tide_records_new(
        &(tide_record_options){TIDE_RECORDS_CSV, "a", "", "", false}, &err));
    allocations_left = -1;
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    tide_records_free(NULL);
    assert_in_range(tide_records_bytes(), 4 * TIDE_RECORD_MAX, 8 * TIDE_RECORD_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_what_the_oracle_finds_however_it_is_cut),
        cmocka_unit_test(every_cut_and_every_truncation_agrees_with_the_oracle),
        cmocka_unit_test(
            saved_and_loaded_at_every_byte_it_goes_on_as_if_nothing_had_been),
        cmocka_unit_test(csv_of_random_fields_comes_back),
        cmocka_unit_test(both_ways_to_find_the_end_of_a_run_agree),
        cmocka_unit_test(path_takes_all_that_it_leads_to),
        cmocka_unit_test(surrogates_make_a_pair_or_stand_for_nothing),
        cmocka_unit_test(later_key_overrules_all_under_the_earlier),
        cmocka_unit_test(densest_record_has_room),
        cmocka_unit_test(missing_column_is_told),
        cmocka_unit_test(columns_are_found_by_name_and_by_number),
        cmocka_unit_test(record_beyond_the_limit_is_counted_and_the_next_is_read),
        cmocka_unit_test(half_skipped_record_is_saved),
        cmocka_unit_test(times_are_read_as_numbers_and_by_the_calendar),
        cmocka_unit_test(names_are_due_at_the_beginning_of_every_input),
        cmocka_unit_test(label_is_the_first_word),
        cmocka_unit_test(every_item_of_an_array_is_a_label),
        cmocka_unit_test(a_record_full_of_labels_is_read),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(section_that_no_records_wrote_is_refused),
        cmocka_unit_test(loss_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
