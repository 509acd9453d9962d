/* fuzz_tokenizer.c - any bytes in any pieces give the same words, and good ones.
 *
 * The first byte chooses one of the tokenizers below. The second says how many of the
 * next ones (at most 15) are the sizes of the feeds, used in turn, and how many words
 * are taken at a time. The rest is the text. Kind space must give what its oracle reads
 * in the whole text; the others what they themselves make of the text in one feed. The
 * same tokenizers serve all inputs, as one that reads text after text does: nothing of
 * an input may reach the next.
 */
#include "token/token.h"
#include "../unit/tokenizer_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const tide_tokenizer_options variants[] = {
    {.kind = TIDE_TOKENS_SPACE},
    {.kind = TIDE_TOKENS_WORDS},
    {.kind = TIDE_TOKENS_SOCIAL},
    {.kind = TIDE_TOKENS_LOG},
    {.kind = TIDE_TOKENS_WORDS, .numbers = TIDE_MASK, .shortest = 2},
    {.kind = TIDE_TOKENS_SOCIAL,
     .numbers = TIDE_DROP,
     .hashtags = TIDE_DROP,
     .mentions = TIDE_DROP,
     .urls = TIDE_DROP},
    {.kind = TIDE_TOKENS_SOCIAL,
     .numbers = TIDE_MASK,
     .hashtags = TIDE_MASK,
     .mentions = TIDE_MASK,
     .urls = TIDE_MASK,
     .stop_words = "a\n<url>"},
    {.kind = TIDE_TOKENS_LOG, .longest = 4},
    {.kind = TIDE_TOKENS_WORDS, .first_rules = true},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static transcript tokenize(tide_tokenizer *t, const uint8_t *text, size_t size,
                           const uint8_t *pieces, size_t piece_count, size_t room)
{
    transcript s = {0};
    tide_tokenizer_counts before = tide_tokenizer_counted(t);
    for (size_t done = 0, turn = 0; done < size; turn++) {
        size_t piece = piece_count ? pieces[turn % piece_count] + 1u : size;
        piece = piece < size - done ? piece : size - done;
        size_t taken = tide_tokenizer_feed(t, text + done, piece);
        demand(taken > 0);
        done += taken;
        transcript_take(&s, t, room);
        demand(tide_tokenizer_counted(t).bytes - before.bytes == done);
        demand(tide_tokenizer_pending(t) <= done);
    }
    tide_tokenizer_end(t);
    transcript_take(&s, t, room);
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
    size_t piece_count = data[1] % 16, room = 1 + data[1] / 16;
    const uint8_t *pieces = data + 2, *text = pieces + piece_count;
    size -= 2 + piece_count;
    transcript wanted = variant == 0 ? oracle_transcript(text, size, true)
                                     : tokenize(*t, text, size, NULL, 0, 64);
    transcript found = tokenize(*t, text, size, pieces, piece_count, room);
    demand(transcript_equal(&found, &wanted));
    check_words(&found);
    free(wanted.bytes);
    free(found.bytes);
    return 0;
}
