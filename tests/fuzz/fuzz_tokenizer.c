/* fuzz_tokenizer.c - any text yields the same valid words for any division into feeds.
 *
 * The first byte selects one of the tokenizers below. The second gives the number of
 * following bytes (at most 15) that are feed sizes, used in turn, and the number of
 * words taken at a time. The rest is the text. Kind space must match its oracle; the
 * others must match their own result for the text in a single feed. The tokenizers are
 * reused for all inputs, because no text may affect the next.
 */
#include "token/token.h"
#include "../unit/tokenizer_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const tide_tokenizer_options variants[] = {
    {.kind = TIDE_TOKENIZER_SPACE},
    {.kind = TIDE_TOKENIZER_WORDS},
    {.kind = TIDE_TOKENIZER_SOCIAL},
    {.kind = TIDE_TOKENIZER_LOG},
    {.kind = TIDE_TOKENIZER_WORDS, .numbers = TIDE_MASK, .shortest = 2},
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
     .stop_words = "a\n<url>"},
    {.kind = TIDE_TOKENIZER_LOG, .longest = 4},
    {.kind = TIDE_TOKENIZER_WORDS, .first_rules = true},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static transcript tokenize(tide_tokenizer *t, const uint8_t *text, size_t size,
                           const uint8_t *pieces, size_t piece_count, size_t batch)
{
    transcript s = {0};
    tide_tokenizer_counts before = tide_tokenizer_counted(t);
    for (size_t done = 0, turn = 0; done < size; turn++) {
        size_t piece = piece_count ? pieces[turn % piece_count] + 1u : size;
        piece = piece < size - done ? piece : size - done;
        size_t taken = tide_tokenizer_feed(t, text + done, piece);
        demand(taken > 0);
        done += taken;
        transcript_take(&s, t, batch);
        demand(tide_tokenizer_counted(t).bytes - before.bytes == done);
        demand(tide_tokenizer_pending(t) <= done);
    }
    tide_tokenizer_end(t);
    transcript_take(&s, t, batch);
    demand(tide_tokenizer_pending(t) == 0);
    s.invalid -= before.invalid;
    s.cut -= before.cut;
    s.dropped -= before.dropped;
    s.omitted -= before.omitted;
    demand(s.dropped <= size && s.invalid + s.cut <= s.dropped);
    return s;
}

static void check_words(const transcript *s)
{
    for (size_t i = 0, start = 0; i < s->size; i++) {
        unsigned char byte = (unsigned char)s->bytes[i];
        if (byte > 0x20)
            continue;
        demand(byte == ' ' || byte == '\n');
        demand(byte == '\n' || (i > start && i - start <= TIDE_WORD_MAX));
        demand(oracle_valid((const unsigned char *)s->bytes + start, i - start));
        start = i + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tide_tokenizer *tokenizers[VARIANTS];
    if (size < 2 || size < 2 + data[1] % 16u)
        return 0;
    size_t variant = data[0] % VARIANTS;
    tide_tokenizer **t = &tokenizers[variant];
    if (!*t)
        *t = tide_tokenizer_new(&variants[variant], NULL);
    demand(*t != NULL);
    size_t piece_count = data[1] % 16, batch = 1 + data[1] / 16;
    const uint8_t *pieces = data + 2, *text = pieces + piece_count;
    size -= 2 + piece_count;
    transcript expected = variant == 0 ? oracle_transcript(text, size, true)
                                       : tokenize(*t, text, size, NULL, 0, 64);
    transcript found = tokenize(*t, text, size, pieces, piece_count, batch);
    demand(transcript_equal(&found, &expected));
    check_words(&found);
    free(expected.bytes);
    free(found.bytes);
    return 0;
}
