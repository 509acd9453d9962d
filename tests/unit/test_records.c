/* test_records.c - extraction from records: paths, columns, times and labels, and
 * errors. */
#include "file/file.h"
#include "record/record.h"
#include "records_fixture.h"

#include <math.h>

#include "memory_fixture.h"

/* -- JSON -------------------------------------------------------------------------- */

static void path_yields_every_value_it_leads_to(void **state)
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

static void unpaired_surrogate_becomes_replacement_character(void **state)
{
    (void)state;
    const tide_record_kind json = TIDE_RECORDS_JSON;
    expect(json, "a", "{\"a\":\"\\uD83C\\udf0A\"}", "5:\xf0\x9f\x8c\x8a\n");
    expect(json, "a", "{\"a\":\"\\ud83cx\"}", "5:\xef\xbf\xbdx\n");
    expect(json, "a", "{\"a\":\"\\udf0a\\udf0a\"}", "7:\xef\xbf\xbd\xef\xbf\xbd\n");
    expect(json, "a", "{\"a\":\"\\ud83c\\ud83c\\udf0a\"}",
           "8:\xef\xbf\xbd\xf0\x9f\x8c\x8a\n");
}

static void last_duplicate_key_wins(void **state)
{
    (void)state;
    const tide_record_kind json = TIDE_RECORDS_JSON;
    expect(json, "a", "{\"a\":\"x\",\"a\":\"y\"}", "2:y\n");
    expect(json, "a", "{\"a\":\"x\",\"\\u0061\":null}", "");
    expect(json, "a.b", "{\"a\":{\"b\":1},\"a.b\":2,\"a\":{\"c\":3}}", "2:2\n");
    expect(json, "a.b,a.c", "{\"a\":[{\"b\":1,\"c\":2}],\"a\":{\"c\":3}}", "2:3\n");
    expect(json, "a.b", "{\"a\":[{\"b\":1},{\"b\":2,\"b\":3}]}", "4:1 3\n");
}

/* Input cannot make the parser use an unbounded amount of stack. */
static void nesting_is_limited(void **state)
{
    (void)state;
    static const char *const brackets[][2] = {{"[", "]"}, {"{\"b\":", "}"}};
    for (int kind = 0; kind < 2; kind++)
        for (int levels = 500; levels <= 600; levels += 100) {
            char line[8000] = "{\"a\":\"x\",\"n\":";
            for (int i = 0; i < levels; i++)
                strcat(line, brackets[kind][0]);
            strcat(line, "1");
            for (int i = 0; i < levels; i++)
                strcat(line, brackets[kind][1]);
            strcat(line, "}\n");
            expect(TIDE_RECORDS_JSON, "a", line, levels < 512 ? "2:x\n" : "");
        }
}

/* The worst case for the arena: the shortest values of two paths alternate. */
static void densest_record_fits_the_arena(void **state)
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

/* -- columns ----------------------------------------------------------------------- */

static void missing_column_is_reported(void **state)
{
    (void)state;
    static const char input[] = "id,\"te\nxt\",time\n1,2,3\n";
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_CSV, "body", "time", "");
    assert_null(tide_records_problem(r));
    feed(&t, r, input, strlen(input), 1);
    end(&t, r);
    assert_string_equal(
        tide_records_problem(r),
        "no column 'body' (give a name or a number); the header has: id, te?xt, time");
    assert_int_equal(t.counts.records, 1);
    assert_int_equal(t.counts.missing, 1);
    tide_error err = {0};
    save(r);
    tide_records *other = records(TIDE_RECORDS_CSV, "body", "time", "");
    assert_int_equal(load(other, &err), TIDE_OK);
    assert_string_equal(tide_records_problem(other), tide_records_problem(r));
    feed(&t, other, "time,body\n1,x\n", 14, 1);
    assert_null(tide_records_problem(other));
    assert_string_equal((const char *)t.texts.bytes, "2:x\n");
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
    /* A quote opens a quoted column only at the start of the column. */
    expect(csv, "1", "a \"b\n\"c\nd\"\n", "5:a \"b\n4:c\nd\n");
    expect(tsv, "1,2", "\"a\tb\r\nc", "5:\"a\nb\n2:c\n");
}

/* -- times and labels -------------------------------------------------------------- */

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

static void times_are_parsed_as_numbers_and_iso_8601(void **state)
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

static void every_input_begins_with_a_header(void **state)
{
    (void)state;
    transcript t = {0};
    tide_records *r = records(TIDE_RECORDS_CSV, "2,body", "", "");
    assert_true(tide_records_has_header(r));
    for (int input = 0; input < 3; input++) {
        assert_true(tide_records_expects_header(r));
        feed(&t, r, "\nid,bo", 6, SIZE_MAX);
        assert_true(tide_records_expects_header(r));
        feed(&t, r, "dy\n1,", 5, SIZE_MAX);
        assert_false(tide_records_expects_header(r));
        feed(&t, r, "x", 1, SIZE_MAX);
        tide_records_end(r);
        assert_false(tide_records_expects_header(r));
        transcript_take(&t, r);
    }
    feed(&t, r, "id,body\n", 8, SIZE_MAX);
    tide_records_end(r);
    assert_true(tide_records_expects_header(r));
    tide_records_free(r);
    static const tide_record_options without[] = {
        {TIDE_RECORDS_CSV, "2,1", "3", "", false, 0},
        {TIDE_RECORDS_TSV, "2", "", "", false, 0},
        {TIDE_RECORDS_JSON, "a", "b", "", false, 0}};
    for (size_t i = 0; i < 3; i++) {
        r = records(without[i].kind, without[i].text, without[i].time, "");
        assert_false(tide_records_has_header(r) || tide_records_expects_header(r));
        feed(&t, r, "1\n", 2, SIZE_MAX);
        end(&t, r);
        assert_false(tide_records_has_header(r) || tide_records_expects_header(r));
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
    assert_string_equal((const char *)t.texts.bytes, "16:__label__a_b_ x\n2:y\n");
    assert_true(tide_records_time(r) == 1700000001.5);
    free(t.texts.bytes);
    tide_records_free(r);
}

static void every_element_of_an_array_is_a_label(void **state)
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
        assert_string_equal((const char *)t.texts.bytes, wanted);
        free(t.texts.bytes);
        tide_records_free(r);
    }
}

/* The arena and the text buffer can hold them; labels beyond the limit are dropped. */
static void record_full_of_labels_is_read(void **state)
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
    const tide_record_options o = {TIDE_RECORDS_JSON, "t", "", "l", false, 0};
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
    assert_string_equal(text, (const char *)wanted.texts.bytes);
    free(found.texts.bytes);
    free(wanted.texts.bytes);
    tide_records_free(r);
    free(input);
}

/* -- errors ------------------------------------------------------------------------ */

static void invalid_options_are_rejected(void **state)
{
    (void)state;
    static char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    const tide_record_options wrong[] = {
        {TIDE_RECORDS_LINES, "a", "", "", false, 0},
        {(tide_record_kind)9, "a", "", "", false, 0},
        {TIDE_RECORDS_JSON, "", "", "", false, 0},
        {TIDE_RECORDS_JSON, "a,,b", "", "", false, 0},
        {TIDE_RECORDS_JSON, "a,", "", "", false, 0},
        {TIDE_RECORDS_CSV, longest, "", "", false, 0},
        {TIDE_RECORDS_CSV, "a", longest, "", false, 0},
        {TIDE_RECORDS_CSV, "a", "", " ", false, 0},
        {TIDE_RECORDS_JSON, "a................", "", "", false, 0},
        {TIDE_RECORDS_JSON, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "", "", false, 0},
        {TIDE_RECORDS_JSON, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s", "", "", false, 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tide_error err = {0};
        assert_null(tide_records_new(&wrong[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
        assert_true(err.text[0] != '\0');
    }
}

/* Changes one number of a saved section and expects loading to fail. */
static void expect_rejected(size_t at, uint64_t value)
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
    assert_true(tide_records_at_boundary(other));
    free(t.texts.bytes);
    tide_records_free(r);
    tide_records_free(other);
}

static void corrupt_section_is_rejected(void **state)
{
    (void)state;
    expect_rejected(0, 1);                            /* other fields */
    expect_rejected(2, 9);                            /* more malformed than records */
    expect_rejected(6, UINT64_C(0x7ff0000000000000)); /* an infinite time */
    expect_rejected(7, 16);                           /* unknown flags */
    expect_rejected(8, 5);                            /* skipped is too small */
    expect_rejected(9, 5);                            /* not the actual size */
    expect_rejected(9, UINT64_MAX);
    expect_rejected(10, TIDE_RECORD_MAX + 2); /* no such column */
    expect_rejected(11, 3);                   /* not the column of the field */
    expect_rejected(20, 1);                   /* a field that does not exist */
}

/* -- JSON documents ---------------------------------------------------------------- */

static void json_may_be_lines_an_array_or_a_document(void **state)
{
    (void)state;
    static const char *const inputs[] = {
        "{\"t\":\"a\"}\n{\"t\":\"b\"}\n{\"t\":\"c\"}",
        "[{\"t\":\"a\"},{\"t\":\"b\"},{\"t\":\"c\"}]",
        " \n [ {\"t\":\"a\"} ,\n{\"t\":\"b\"}\n\n,{\"t\":\"c\"}]\n",
        "[\n  {\n    \"t\": \"a\"\n  },\n  {\n    \"t\": \"b\"\n  },\n  {\n    \"t\": "
        "\"c\"\n  }\n]\n",
        "[\n{\n\"t\": \"a\",\n\"l\": [\n{\n\"t\": \"x\"\n},\n{}\n]\n},\n{\"t\": "
        "\"b\"},\n"
        "{\"t\":\n\"c\"}\n]",
        "{\n \"t\": \"a\"\n}\n{\n \"t\": \"b\"\n}{\"t\":\"c\"}",
        "\xef\xbb\xbf[{\"t\":\"a\"}]\n[{\"t\":\"b\"},\n{\"t\":\"c\"}]\n",
    };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t piece = 1; piece < 100; piece += 1 + piece / 4) {
            transcript t = {0};
            tide_records *r = records(TIDE_RECORDS_JSON, "t", "", "");
            feed(&t, r, inputs[i], strlen(inputs[i]), piece);
            end(&t, r);
            if (strcmp((char *)t.texts.bytes, "2:a\n2:b\n2:c\n"))
                fail_msg("%s gives %s", inputs[i], (char *)t.texts.bytes);
            assert_int_equal(t.counts.records, 3);
            free(t.texts.bytes);
            tide_records_free(r);
        }
}

static void malformed_value_does_not_affect_the_next(void **state)
{
    (void)state;
    expect(TIDE_RECORDS_JSON, "t", "{\"t\": \"a\",\n{\"t\":\"b\"}\n{\"t\":\"c\"}\n",
           "2:c\n");
    expect(TIDE_RECORDS_JSON, "t", "{\"t\": 1\n{\"t\":\"b\"}\n{\"t\":\"c\"}\n",
           "2:b\n2:c\n");
    expect(TIDE_RECORDS_JSON, "t", "[{\"t\": \"a\n\"},\n{\"t\":\"b\"}]", "2:b\n");
    expect(TIDE_RECORDS_JSON, "t", "[1, \"x\", nul, {\"t\":\"b\"}, [{\"t\":\"c\"}], }]",
           "2:b\n");
    expect(TIDE_RECORDS_JSON, "t", "[{\"t\":\"a\"}, {\"t\":\"b\"", "2:a\n");
}

static void wrong_field_is_reported_with_the_fields_found(void **state)
{
    (void)state;
    tide_records *r = records(TIDE_RECORDS_JSON, "txet", "", "");
    transcript t = {0};
    static const char record[] =
        "{\"id\":1, \"user\":{\"name\":\"x\"}, \"text\":\"a\"}\n";
    for (int i = 0; i < 9; i++)
        feed(&t, r, record, sizeof record - 1, SIZE_MAX);
    assert_null(tide_records_problem(r));
    feed(&t, r, record, sizeof record - 1, SIZE_MAX);
    assert_string_equal(
        tide_records_problem(r),
        "field 'txet' has no text in the first 10 records; fields found: id, "
        "user.name, text");
    tide_records_free(r);
    r = records(TIDE_RECORDS_JSON, "txet", "", "");
    feed(&t, r, "[{\"a\":1},\n{\"b\":2}]", 18, SIZE_MAX);
    end(&t, r);
    assert_string_equal(
        tide_records_problem(r),
        "field 'txet' has no text in the first 2 records; fields found: a");
    tide_records_free(r);
    r = records(TIDE_RECORDS_JSON, "text", "", "");
    feed(&t, r, record, sizeof record - 1, SIZE_MAX);
    for (int i = 0; i < 20; i++)
        feed(&t, r, "{\"a\":1}\n", 8, SIZE_MAX);
    end(&t, r);
    assert_null(tide_records_problem(r));
    tide_records_free(r);
    free(t.texts.bytes);
}

/* -- column separators ------------------------------------------------------------- */

static void separator_is_detected_from_the_header(void **state)
{
    (void)state;
    expect(TIDE_RECORDS_CSV, "text", "id;text;label\n1;a, b;x\n", "5:a, b\n");
    expect(TIDE_RECORDS_CSV, "text", "id|text\n1|a\n", "2:a\n");
    expect(TIDE_RECORDS_CSV, "text", "id\ttext\n1\ta;b\n", "4:a;b\n");
    expect(TIDE_RECORDS_CSV, "text", "\"id\";\"text\"\n1;\"a;\n\"\"b\"\"\"\n",
           "7:a;\n\"b\"\n");
    expect(TIDE_RECORDS_CSV, "text", "id,text;x,text\n1,2,a\n", "2:a\n");
    expect(TIDE_RECORDS_CSV, "\"text, long\",b", "id,\"text, long\",b\n1,a,c\n",
           "4:a\nc\n");
    expect(TIDE_RECORDS_CSV, " \"te\"\"xt\" , b ", "id,\"te\"\"xt\",b\n1,a,c\n",
           "4:a\nc\n");
    expect(TIDE_RECORDS_CSV, "2", "1;2\n1,a\n", "2:a\n");

    tide_records *r = records(TIDE_RECORDS_CSV, "body", "", "");
    transcript t = {0};
    feed(&t, r, "id;text;\"a,b\"\n", 14, SIZE_MAX);
    assert_string_equal(
        tide_records_problem(r),
        "no column 'body' (give a name or a number); the header has: id, text, "
        "\"a,b\"");
    tide_records_free(r);

    const tide_record_options options = {TIDE_RECORDS_CSV, "2", "", "", false, ';'};
    r = records_with(&options);
    feed(&t, r, "1;\"a;b\",\n2;c,d\n", 15, 1);
    end(&t, r);
    assert_string_equal((char *)t.texts.bytes, "4:c,d\n");
    tide_records_free(r);
    free(t.texts.bytes);
}

/* An incomplete document, and a file with a detected separator, continue after a
 * save. */
static void detected_layout_is_saved(void **state)
{
    (void)state;
    static const struct {
        tide_record_kind kind;
        const char *input, *texts;
    } table[] = {
        {TIDE_RECORDS_CSV, "id;t\n1;a,b\n2;c\n", "4:a,b\n2:c\n"},
        {TIDE_RECORDS_JSON, "[{\"t\":\n\"a\"},\n{\"i\":\"]\", \"t\":\"b\"}]",
         "2:a\n2:b\n"},
        {TIDE_RECORDS_JSON, "{\n\"t\":\"a\\\"\"}\n{\"t\":\n\"b\"}", "3:a\"\n2:b\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t size = strlen(table[i].input), cut = 0; cut <= size; cut++) {
            transcript t = {0};
            tide_records *r = records(table[i].kind, "t", "", "");
            feed(&t, r, table[i].input, cut, SIZE_MAX);
            save(r);
            tide_records_free(r);
            r = records(table[i].kind, "t", "", "");
            tide_error err;
            assert_int_equal(load(r, &err), TIDE_OK);
            feed(&t, r, table[i].input + cut, size - cut, SIZE_MAX);
            end(&t, r);
            assert_string_equal((char *)t.texts.bytes, table[i].texts);
            free(t.texts.bytes);
            tide_records_free(r);
        }
}

static void allocation_failure_is_reported(void **state)
{
    (void)state;
    tide_error err = {0};
    allocations_left = 0;
    assert_null(tide_records_new(
        &(tide_record_options){TIDE_RECORDS_CSV, "a", "", "", false, 0}, &err));
    allocations_left = -1;
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    tide_records_free(NULL);
    assert_in_range(tide_records_bytes(), 4 * TIDE_RECORD_MAX, 8 * TIDE_RECORD_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_yields_every_value_it_leads_to),
        cmocka_unit_test(unpaired_surrogate_becomes_replacement_character),
        cmocka_unit_test(last_duplicate_key_wins),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(densest_record_fits_the_arena),
        cmocka_unit_test(missing_column_is_reported),
        cmocka_unit_test(columns_are_found_by_name_and_by_number),
        cmocka_unit_test(times_are_parsed_as_numbers_and_iso_8601),
        cmocka_unit_test(every_input_begins_with_a_header),
        cmocka_unit_test(label_is_the_first_word),
        cmocka_unit_test(every_element_of_an_array_is_a_label),
        cmocka_unit_test(record_full_of_labels_is_read),
        cmocka_unit_test(invalid_options_are_rejected),
        cmocka_unit_test(corrupt_section_is_rejected),
        cmocka_unit_test(json_may_be_lines_an_array_or_a_document),
        cmocka_unit_test(malformed_value_does_not_affect_the_next),
        cmocka_unit_test(wrong_field_is_reported_with_the_fields_found),
        cmocka_unit_test(separator_is_detected_from_the_header),
        cmocka_unit_test(detected_layout_is_saved),
        cmocka_unit_test(allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
