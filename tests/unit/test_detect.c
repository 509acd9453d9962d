/* test_detect.c - what an input is, by its first bytes. */

#include "base/base.h"
#include "detect/detect.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const tide_kind *kind_of(const void *bytes, size_t size, bool whole)
{
    return tide_detect((tide_head){bytes, size, whole}, TIDE_EXPECTED_LINES).kind;
}

#define LITERAL(text) text, sizeof(text) - 1

typedef struct sample {
    const char *bytes;
    size_t size;
    const char *what; /* a part of what it is; NULL: text */
} sample;

#define MODEL_HEADER "\x89TID\r\n\x1a\n\1\0\0\0\2\0\0\0"
#define ROW10 " 0.1 0.2 -0.3 4e-1 5 6 7 8 9 10\n"
#define VECTOR_HEAD "2 4\n"
#define FLOATS "\0\0\x80\x3e\0\0\0\xbf\xcd\xcc\xcc\x3d\0\0\0\x3f"

static const sample samples[] = {
    {LITERAL("BZh91AY&SY\xff\xff"), "bzip2"},
    {LITERAL("BZh1\x17\x72\x45\x38\x50\x90\0\0\0\0"), "bzip2"},
    {LITERAL("PK\3\4\24\0"), "zip"},
    {LITERAL("7z\xbc\xaf\x27\x1c\0\4"), "7-Zip"},
    {LITERAL("\x04\x22\x4d\x18\x64\x40"), "lz4"},
    {LITERAL("PAR1\x15\x04\x15\x10"), "Parquet"},
    {LITERAL("ARROW1\0\0\xff\xff"), "Arrow"},
    {LITERAL("SQLite format 3\0\x10\0"), "SQLite"},
    {LITERAL("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), "PDF"},
    {LITERAL(MODEL_HEADER), "a wordtide model"},
    {LITERAL(MODEL_HEADER "history\0"), "belongs to a model"},
    {LITERAL("\x93NUMPY\1\0"), "NumPy"},
    {LITERAL("\x40\0\0\0\0\0\0\0{\"words\":"), "safetensors"},
    {LITERAL("\xba\x16\x4f\x2f\x0c\0\0\0\x64\0\0\0"), "fastText"},
    {LITERAL("\x80\4\x95\xa1\0\0\0\0\0\0\0\x8c\x1cgensim.models.keyedvectors"),
     "gensim"},
    {LITERAL("\x80\3}q\0."), "Python"},
    {LITERAL(VECTOR_HEAD "tea " FLOATS "\nrain " FLOATS "\n"), "word2vec's binary"},
    {LITERAL(VECTOR_HEAD "tea " FLOATS "rain " FLOATS), "word2vec's binary"},
    {LITERAL("2 3\ntea 1 2 3\nrain 4 -5e-1 .6\n"), "word2vec's text"},
    {LITERAL("20 2 \r\ntea 1 2 \r\nrain 4 5 \r\n"), "word2vec's text"},
    {LITERAL("tea" ROW10 "rain" ROW10 "snow" ROW10), "GloVe"},
    {LITERAL("\xff\xfeh\0i\0\n\0"), "UTF-16"},
    {LITERAL("\xfe\xff\0h\0i\0\n"), "UTF-16"},
    {LITERAL("\xff\xfe\x2d\x4e\x87\x65\xe5\x67\x2c\x67\x9e\x8a"), "UTF-16"},
    {LITERAL("t\0e\0a\0 \0a\0n\0d\0 \0m\0i\0l\0k\0\n\0"), "UTF-16"},
    {LITERAL("\0t\0e\0a\0 \0a\0n\0d\0 \0m\0i\0l\0k\0\n"), "UTF-16"},
    {LITERAL("\x47\4\x30\4\x39\4 \0\x38\4 \0\x41\4\x3d\4\x35\4\x33\4\n\0"), "UTF-16"},
    {LITERAL("\xff\xfe\0\0h\0\0\0"), "UTF-32"},
    {LITERAL("t\0\0\0e\0\0\0a\0\0\0s\0\0\0"), "UTF-32"},
    {LITERAL("\0\0\0t\0\0\0e\0\0\0a\0\0\0s"), "UTF-32"},
    {LITERAL("caf\xe9 th\xe9\nZ\xfcrich \xfc"
             "ber\n"),
     "Latin-1"},
    {LITERAL("caf\xe9 th\xe9 Z\xfcrich \xfc"
             "ber"),
     "Latin-1"},
    {LITERAL("{\"a\": 1, \"text\": \"tea\"}\n"), "JSON"},
    {LITERAL("{\n  \"a\": 1,\n  \"text\": \"tea\"\n}\n"), "JSON"},
    {LITERAL("[{\"a\": 1}, {\"a\": [1, 2, {\"b\": null}]}]"), "JSON"},
    {LITERAL("\xef\xbb\xbf[\n{\"a\": true}\n]\n"), "JSON"},
    {LITERAL("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\nand {broken\n"), "JSON"},

    {LITERAL("PAR1S is where I live\nand other posts\n"), NULL},
    {LITERAL("PAR1"), NULL},
    {LITERAL("BZh91AY&S is my nick"), NULL},
    {LITERAL("BZh0"), NULL},
    {LITERAL("BZh91AY&SY is my nick"), NULL},
    {LITERAL("\xff\xfe hi\nand more text follows here\n"), NULL},
    {LITERAL("%PDF-1.4 is a version\n"), NULL},
    {LITERAL("7z is a program\n"), NULL},
    {LITERAL("12 5\napples and pears\n"), NULL},
    {LITERAL("2 3\n1 2 3\n4 5\n"), NULL},
    {LITERAL("3 1\na 1\nb 2\n"), NULL},
    {LITERAL("2 3\ntea 1 2 3\nrain in the night\n"), NULL},
    {LITERAL("2 3\ntea 1 2 3 4\nrain 1 2 3 4\n"), NULL},
    {LITERAL("tea" ROW10 "rain" ROW10 "and text\n"), NULL},
    {LITERAL("{\"a\":1} is JSON\n"), NULL},
    {LITERAL("{\"a\":1}\nis JSON\n{\"a\":2}\n{\"a\":3}\n"), NULL},
    {LITERAL("[info] started\n"), NULL},
    {LITERAL("[1, 2, 3]\n"), NULL},
    {LITERAL("[\"tea\", \"rain\"]"), NULL},
    {LITERAL("{}\n{}\n{}\n{}\n"), NULL},
    {LITERAL("{ print $1 }\n"), NULL},
    {LITERAL("one\0two one\0two one\0two one\0two one\0two "), NULL},
    {LITERAL("caf\xe9 th\xe9 Z\xfcrich \xfc"
             "ber\nnext\nline\n"),
     NULL},
    {LITERAL("caf\xe9 th\xe9 Z\xfcrich\ncaf\xc3\xa9 \xe9\n"), NULL},
    {LITERAL("a\xe9 b\nc d\ne f\n"), NULL},
    {LITERAL(""), NULL},
    {LITERAL("\n"), NULL},
};

enum { SAMPLES = sizeof samples / sizeof *samples };

static void inputs_are_recognized(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const sample *s = &samples[i];
        const tide_kind *kind = kind_of(s->bytes, s->size, true);
        if (s->what ? !kind || !strstr(kind->what, s->what) : kind != NULL)
            fail_msg("%.30s: %s, not %s", s->bytes, kind ? kind->what : "text",
                     s->what ? s->what : "text");
    }
}

/* Reading more while the result is undecided leads to the same result as reading
 * everything, and text is at no point before detected as something else. */
static void more_bytes_confirm_what_fewer_showed(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const sample *s = &samples[i];
        for (size_t size = 1; size < s->size; size++) {
            tide_detected found = tide_detect(
                (tide_head){(const void *)s->bytes, size, false}, TIDE_EXPECTED_LINES);
            if (!s->what)
                assert_true(!found.kind);
            else if (found.kind && !strstr(found.kind->what, s->what))
                fail_msg("%.30s: %s after %zu bytes", s->bytes, found.kind->what, size);
        }
    }
}

static void only_unexpected_kinds_are_refused(void **state)
{
    (void)state;
    static const struct {
        tide_expected expected;
        bool json, vectors, zip;
    } table[] = {
        {TIDE_EXPECTED_LINES, true, true, true},
        {TIDE_EXPECTED_RECORDS, false, true, true},
        {TIDE_EXPECTED_ANY, false, false, true},
        {TIDE_EXPECTED_ALL, false, false, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const tide_head json = {(const void *)LITERAL("{\"a\":1}\n"), true};
        const tide_head vectors = {(const void *)LITERAL("1 3\na 1 2 3\n"), true};
        const tide_head zip = {(const void *)LITERAL("PK\3\4"), true};
        assert_int_equal(tide_detect(json, table[i].expected).kind != NULL,
                         table[i].json);
        assert_int_equal(tide_detect(vectors, table[i].expected).kind != NULL,
                         table[i].vectors);
        assert_int_equal(tide_detect(zip, table[i].expected).kind != NULL,
                         table[i].zip);
    }
}

/* Text of many lines, the first of which starts with any printable prefix of a magic
 * number. */
static void text_is_text_whatever_its_first_line_says(void **state)
{
    (void)state;
    static const char *const beginnings[] = {
        "PAR1",     "BZh91AY&SY",  "PK",        "7z",      "ARROW1", "SQLite format 3",
        "%PDF-1.7", "2 3\n",       "{\"a\":1}", "[{",      "ustar",  "TID",
        "NUMPY",    "gensim",      "ORC",       "{\"a\":", "1 1\n",  "[{\"a\"",
        "MZ",       "{\"a\":1}\n",
    };
    tide_rng rng = tide_rng_seeded(3);
    char text[4096];
    for (int run = 0; run < 20000; run++) {
        size_t size = (size_t)snprintf(
            text, sizeof text, "%s",
            beginnings[tide_rng_below(&rng, sizeof beginnings / sizeof *beginnings)]);
        size_t length = size + 2 + tide_rng_below(&rng, run % 10 ? 100 : 3000);
        text[size++] = (char)('a' + tide_rng_below(&rng, 26));
        for (; size < length; size++) {
            uint64_t chance = tide_rng_below(&rng, 40);
            text[size] = chance == 0  ? '\n'
                         : chance < 6 ? ' '
                                      : (char)(0x21 + tide_rng_below(&rng, 0x5e));
        }
        const tide_kind *kind = kind_of(text, size, run % 2);
        if (kind)
            fail_msg("%s: %.*s", kind->what, (int)size, text);
    }
}

static void refusals_say_what_to_do(void **state)
{
    (void)state;
    static const struct {
        sample sample;
        const char *name, *wanted;
    } table[] = {
        {{LITERAL("PK\3\4\24"), NULL},
         "a.zip",
         "a.zip is a zip archive, which cannot be read: unzip -p a.zip | wordtide "
         "train -"},
        {{LITERAL("PK\3\4\24"), NULL}, "-", "standard input is a zip archive, which"},
        {{LITERAL(MODEL_HEADER), NULL}, "m.tide", "train --resume m.tide"},
        {{LITERAL("1 3\na 1 2 3\n"), NULL},
         "v.vec",
         "v.vec is a file of vectors in word2vec's text format, not text: convert it "
         "to "
         "a model first: wordtide import v.vec -o NEW.tide"},
        {{LITERAL(
              "[{\"id\":1, \"user\": {\"name\": \"x\", \"a\": []}, \"text\": \"t\"}]"),
          NULL},
         "posts.json",
         "posts.json is JSON: name the field with the text in parameter \"text\" "
         "(fields: id, user.name, user.a, text), or set parameter \"records\" to "
         "\"lines\" to read it as plain text"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const sample *s = &table[i].sample;
        tide_head head = {(const unsigned char *)s->bytes, s->size, true};
        tide_error err;
        const tide_kind *kind = kind_of(s->bytes, s->size, true);
        assert_non_null(kind);
        assert_int_equal(tide_detect_refuse(kind, head, table[i].name, &err),
                         TIDE_ERROR_FORMAT);
        if (!strstr(err.text, table[i].wanted))
            fail_msg("%s", err.text);
    }
}

static void the_public_function_agrees(void **state)
{
    (void)state;
    tide_error err;
    assert_int_equal(tide_content_of(LITERAL("tea\n"), true, &err), TIDE_CONTENT_TEXT);
    assert_int_equal(tide_content_of(LITERAL("\x1f\x8b\x08\0"), true, &err),
                     TIDE_CONTENT_PACKED);
    assert_string_equal(err.text, "gzip data");
    assert_int_equal(tide_content_of(LITERAL(MODEL_HEADER), true, NULL),
                     TIDE_CONTENT_MODEL);
    assert_int_equal(tide_content_of("", 0, true, &err), TIDE_CONTENT_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_recognized),
        cmocka_unit_test(more_bytes_confirm_what_fewer_showed),
        cmocka_unit_test(only_unexpected_kinds_are_refused),
        cmocka_unit_test(text_is_text_whatever_its_first_line_says),
        cmocka_unit_test(refusals_say_what_to_do),
        cmocka_unit_test(the_public_function_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
