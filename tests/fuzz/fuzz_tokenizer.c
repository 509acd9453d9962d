/* fuzz_tokenizer.c - any bytes in any pieces give what the oracle reads in the whole
 * text.
 *
 * The first byte says how many of the next ones (at most 15) are the sizes of the
 * feeds, used in turn, and how many words are taken at a time. The rest is the text.
 * One tokenizer serves all inputs, as one that reads text after text does: nothing of
 * an input may reach the next.
 */
#include "../unit/tokenizer_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tide_tokenizer *t;
    if (!t)
        t = tide_tokenizer_new(NULL);
    demand(t != NULL);
    if (size == 0 || size < 1 + data[0] % 16u)
        return 0;
    size_t piece_count = data[0] % 16, room = 1 + data[0] / 16;
    const uint8_t *pieces = data + 1, *text = pieces + piece_count;
    size -= 1 + piece_count;
    transcript wanted = oracle_transcript(text, size, true);
    transcript found = tokenize(t, text, size, pieces, piece_count, room);
    demand(transcript_equal(&found, &wanted));
    free(wanted.bytes);
    free(found.bytes);
    return 0;
}
