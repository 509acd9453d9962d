/* tokenizer_oracle.h - a simple reference implementation of kind space.
 *
 * A transcript is the output of a tokenizer: each word followed by a space, each end of
 * a sentence as a line feed. The oracle builds it from the whole text, byte by byte.
 */
#ifndef TOKENIZER_ORACLE_H
#define TOKENIZER_ORACLE_H

#include "base/base.h"
#include "token/token.h"

#include <stdlib.h>

typedef struct transcript {
    char *bytes;
    size_t size, capacity;
    uint64_t invalid, cut, dropped, omitted;
} transcript;

static inline void transcript_add(transcript *s, const void *bytes, size_t size,
                                  char end)
{
    if (s->size + size + 1 > s->capacity) {
        s->capacity = 2 * (s->capacity + size + 1);
        s->bytes = realloc(s->bytes, s->capacity);
        if (!s->bytes)
            abort();
    }
    if (size > 0)
        memcpy(s->bytes + s->size, bytes, size);
    s->bytes[s->size + size] = end;
    s->size += size + 1;
}

static inline bool transcript_equal(const transcript *a, const transcript *b)
{
    return a->size == b->size && a->invalid == b->invalid && a->cut == b->cut &&
           a->dropped == b->dropped && a->omitted == b->omitted &&
           (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* Decodes each code point and checks that it is allowed, and in its shortest
 * encoding. */
static inline bool oracle_valid(const unsigned char *word, size_t length)
{
    static const uint32_t min_code[] = {0, 0, 0x80, 0x800, 0x10000};
    for (size_t i = 0; i < length;) {
        unsigned lead = word[i++];
        uint32_t value = lead;
        size_t size = 1;
        if (lead >= 0x80) {
            while (size < 4 && (lead << size & 0x80))
                size++;
            value = size == 1 ? 0 : lead & (0x7fu >> size);
            if (size == 1 || (size == 4 && lead >= 0xf8))
                return false;
        }
        for (size_t k = 1; k < size; k++, i++) {
            if (i == length || word[i] < 0x80 || word[i] > 0xbf)
                return false;
            value = value << 6 | (word[i] & 0x3f);
        }
        if (value < min_code[size] || value > 0x10ffff)
            return false;
        if ((value >= 0xd800 && value <= 0xdfff) || (value >= 0x7f && value <= 0x9f))
            return false;
    }
    return true;
}

static inline bool oracle_word(transcript *s, const unsigned char *word, size_t length)
{
    size_t whole = length;
    if (length > TIDE_WORD_MAX) {
        length = TIDE_WORD_MAX;
        for (int back = 0; back < 3 && (word[length] & 0xc0) == 0x80; back++)
            length--;
    }
    if (!oracle_valid(word, length)) {
        s->invalid++;
        s->dropped += whole;
        return false;
    }
    s->cut += length < whole;
    s->dropped += whole - length;
    transcript_add(s, word, length, ' ');
    return true;
}

/* The transcript of a text that is complete (`ended`) or to be continued. */
static inline transcript oracle_transcript(const unsigned char *text, size_t size,
                                           bool ended)
{
    transcript s = {0};
    bool in_sentence = false;
    size_t start = 0;
    for (size_t i = 0; i < size + ended; i++) {
        int byte = i < size ? text[i] : '\n';
        if (byte > 0x20)
            continue;
        if (i > start && oracle_word(&s, text + start, i - start))
            in_sentence = true;
        if (byte == '\n' && in_sentence) {
            transcript_add(&s, NULL, 0, '\n');
            in_sentence = false;
        }
        start = i + 1;
    }
    return s;
}

/* Takes all available words, at most `batch` at a time. */
static inline void transcript_take(transcript *s, tide_tokenizer *t, size_t batch)
{
    tide_word words[64];
    for (;;) {
        bool ended;
        size_t count = tide_tokenizer_next(t, words, batch, &ended);
        for (size_t i = 0; i < count; i++)
            transcript_add(s, words[i].bytes, words[i].length, ' ');
        if (ended)
            transcript_add(s, NULL, 0, '\n');
        if (count == 0 && !ended)
            break;
    }
    tide_tokenizer_counts counts = tide_tokenizer_counted(t);
    s->invalid = counts.invalid;
    s->cut = counts.cut;
    s->dropped = counts.dropped;
    s->omitted = counts.omitted;
}

/* The transcript of a new tokenizer for a text in feeds of `piece` bytes, or of random
 * sizes if `piece` is 0. */
static inline transcript transcript_make(const tide_tokenizer_options *options,
                                         const void *text, size_t size, size_t piece,
                                         size_t batch, tide_rng *rng)
{
    transcript s = {0};
    tide_tokenizer *t = tide_tokenizer_new(options, NULL);
    if (!t)
        abort();
    for (size_t done = 0; done < size;) {
        size_t step = piece ? piece : 1 + tide_rng_below(rng, 300);
        step = step < size - done ? step : size - done;
        done += tide_tokenizer_feed(t, (const char *)text + done, step);
        transcript_take(&s, t, batch);
    }
    tide_tokenizer_end(t);
    transcript_take(&s, t, batch);
    if (tide_tokenizer_counted(t).bytes != size || tide_tokenizer_pending(t) > 0)
        abort();
    tide_tokenizer_free(t);
    return s;
}

#endif
