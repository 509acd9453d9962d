/* tokens_fixture.h - shared by the tests of kinds words, social and log: options,
 * tables of texts and their words, and random text of everything that has a special
 * meaning. */
#ifndef TIDE_TOKENS_FIXTURE_H
#define TIDE_TOKENS_FIXTURE_H

#include "base/base.h"
#include "token/split.h"
#include "token/token.h"
#include "tokenizer_fixture.h"

#include <utf8proc.h>

static const tide_tokenizer_options words = {.kind = TIDE_TOKENIZER_WORDS};
static const tide_tokenizer_options social = {.kind = TIDE_TOKENIZER_SOCIAL};
static const tide_tokenizer_options logs = {.kind = TIDE_TOKENIZER_LOG};

/* All kinds and all actions. */
static const tide_tokenizer_options variants[] = {
    {.kind = TIDE_TOKENIZER_SPACE,
     .shortest = 2,
     .longest = 9,
     .stop_words = "the\nxx"},
    {.kind = TIDE_TOKENIZER_WORDS},
    {.kind = TIDE_TOKENIZER_WORDS, .numbers = TIDE_MASK, .shortest = 2},
    {.kind = TIDE_TOKENIZER_SOCIAL},
    {.kind = TIDE_TOKENIZER_SOCIAL,
     .numbers = TIDE_DROP,
     .hashtags = TIDE_DROP,
     .mentions = TIDE_DROP,
     .urls = TIDE_DROP},
    {.kind = TIDE_TOKENIZER_SOCIAL,
     .numbers = TIDE_MASK,
     .hashtags = TIDE_MASK,
     .mentions = TIDE_MASK,
     .urls = TIDE_MASK,
     .stop_words = "<url>\nthe\n"},
    {.kind = TIDE_TOKENIZER_SOCIAL, .hashtags = TIDE_BARE, .mentions = TIDE_BARE},
    {.kind = TIDE_TOKENIZER_LOG},
    {.kind = TIDE_TOKENIZER_WORDS, .first_rules = true},
    {.kind = TIDE_TOKENIZER_LOG, .longest = 8, .stop_words = "<number>\r\nxx"},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

static inline transcript tokenize(const tide_tokenizer_options *options,
                                  const char *text)
{
    return transcript_make(options, text, strlen(text), strlen(text) + 1, BATCH, NULL);
}

/* Checks the words of one line, fed at once and byte by byte. */
static inline void check(const tide_tokenizer_options *options, const char *text,
                         const char *expected)
{
    char line[4096];
    snprintf(line, sizeof line, *expected ? "%s \n" : "%s", expected);
    for (size_t piece = 1; piece < 100; piece += 98) {
        transcript s = transcript_make(options, text, strlen(text), piece, BATCH, NULL);
        if (s.size != strlen(line) || (s.size && memcmp(s.bytes, line, s.size) != 0))
            fail_msg("\"%s\" gives \"%.*s\", not \"%s\"", text, (int)s.size,
                     s.bytes ? s.bytes : "", line);
        free(s.bytes);
    }
}

static inline void check_table(const tide_tokenizer_options *options,
                               const char *const (*table)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(options, table[i][0], table[i][1]);
}

#define CHECK_TABLE(options, table)                                                    \
    check_table(&(options), table, sizeof(table) / sizeof *(table))

/* Checks each word of a transcript. A word that contains whitespace would appear as
 * two. */
static inline void check_words(const transcript *s)
{
    size_t start = 0;
    for (size_t i = 0; i < s->size; i++) {
        unsigned char byte = (unsigned char)s->bytes[i];
        if (byte > 0x20)
            continue;
        assert_true(byte == ' ' || byte == '\n');
        assert_true(byte == '\n' || (i > start && i - start <= TIDE_WORD_MAX));
        assert_true(oracle_valid((const unsigned char *)s->bytes + start, i - start));
        start = i + 1;
    }
}

/* Random text of everything that has a meaning in one of the kinds, complete or
 * partial. */
static inline size_t random_text(tide_rng *rng, unsigned char *text, size_t capacity)
{
    static const char *const parts[] = {
        " ",
        " ",
        " ",
        "\n",
        "the",
        "word",
        "X",
        "aB",
        "'",
        "\xe2\x80\x99",
        ".",
        ",",
        "_",
        "1",
        "42",
        "3.14",
        ":",
        "/",
        "//",
        "-",
        "#",
        "@",
        "&",
        "&lt;",
        "&amp;",
        "<3",
        ":)",
        ";-D",
        "http://",
        "https://t.co/x",
        "www.",
        ".com/",
        "10.0.0.1",
        "::",
        "fe80",
        "0x1f",
        "deadbeef1",
        "2024-01-31",
        "T12:34:56",
        "Z",
        "%",
        "ms",
        "=",
        "[",
        "]",
        "\"",
        "~/",
        "C:\\",
        "123e4567-e89b-12d3-a456-426614174000",
        "a@b.org",
        "__label__",
        " __label__Sci-Fi",
        "\xc3\x9f",
        "\xc4\xb0",
        "\xef\xac\x81",
        "\xcc\x81",
        "\xce\xa3",
        "\xe4\xb8\xad",
        "\xe3\x82\xab",
        "\xef\xbe\x9e",
        "\xed\x95\x9c",
        "ไท",
        "เมื่อง",
        "ำ",
        "์",
        "ກາ",
        "ຽ",
        "ស្ត្រី",
        "ក",
        "មြန်",
        "င်္",
        "ー",
        "\xef\xb7\xba",
        "\xc2\xbd",
        "\xc2\xad",
        "\xe2\x80\x8b",
        "\xe2\x80\x8d",
        "\xef\xb8\x8f",
        "\xe2\x83\xa3",
        "\xf0\x9f\x98\x80",
        "\xf0\x9f\x87\xa9",
        "\xf0\x9f\x8f\xbd",
        "\xc2\xa0",
        "\xe3\x80\x80",
        "\xff",
        "\x80",
        "\xc3",
        "\xf0\x9f",
        "\x7f",
        "\xc2\x85",
        "\xed\xa0\x80",
        "\r",
        "\t",
    };
    size_t size = 0, expected = tide_rng_below(rng, capacity);
    while (size < expected) {
        const char *part = parts[tide_rng_below(rng, sizeof parts / sizeof *parts)];
        size_t repeats = 1, length = strlen(part);
        if (tide_rng_below(rng, 60) == 0)
            repeats = tide_rng_below(rng, 700);
        for (; repeats > 0 && size + length <= expected; repeats--, size += length)
            memcpy(text + size, part, length);
        if (size + length > expected)
            break;
    }
    return size;
}

#endif
