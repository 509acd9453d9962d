/* tokenizer.c - text into words and sentences, in fixed memory.
 *
 * The text is copied into one buffer, and words are given out as spans of it:
 *
 *     buffer   |  given out  |  to be looked at, beginning outside a word  |  free  |
 *                            ^position                                     ^end
 *
 * Sixty-four bytes at a time become bit masks (block.h). Where the mask of white space
 * has an edge, a word starts or ends; walking over the edges costs the same for short
 * and for long words and never looks at a letter. Only the words of a block that has a
 * byte of 0x7f or more in it are checked for being UTF-8, so plain ASCII never pays for
 * it.
 *
 * Invariant: `position` is never inside a word. Whatever is left there when text runs
 * out is looked at again from its beginning after the next feed, which is why the cuts
 * between feeds cannot change the result. A word that is too long would fill the buffer
 * that way. So once all complete words are out, an incomplete one is shortened to its
 * first KEEP bytes, one more than a word may have: what was removed from its middle is
 * only counted (`skipped`), and a word of 10 GB needs no more memory than one of KEEP
 * bytes.
 *
 * A word of more than TIDE_WORD_MAX bytes is cut before byte TIDE_WORD_MAX, or before
 * the code point that this byte continues (at most three bytes back). Whether a word is
 * valid is judged on what is kept of it alone. A word is counted once: as invalid when
 * it is dropped, otherwise as cut when it was cut.
 *
 * The end of the text is a line feed that nobody fed (`closed`); it is not counted in
 * bytes.
 */
#include "text/text.h"

#include <assert.h>
#include <stdlib.h>

#include "block.h"

enum {
    CAPACITY = 256 * 1024,
    KEEP = TIDE_WORD_MAX + 1,
    PADDING = 64, /* for the closing line feed, whole blocks, and 16 bytes a word */
};

struct tide_tokenizer {
    size_t position, end;
    uint64_t skipped; /* bytes removed from the middle of the incomplete word */
    bool in_sentence; /* the present sentence has a word */
    bool closed;      /* the byte before `end` is the closing line feed */
    tide_tokenizer_counts counts;
    unsigned char buffer[CAPACITY + PADDING];
};

tide_tokenizer *tide_tokenizer_new(tide_error *err)
{
    tide_tokenizer *t = tide_alloc(1, sizeof *t);
    if (!t)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the tokenizer (%zu bytes)",
                  sizeof *t);
    return t;
}

void tide_tokenizer_free(tide_tokenizer *t)
{
    free(t);
}

uint64_t tide_tokenizer_bytes(void)
{
    return sizeof(tide_tokenizer);
}

size_t tide_tokenizer_feed(tide_tokenizer *t, const void *bytes, size_t size)
{
    if (t->closed && t->position < t->end)
        return 0;
    t->closed = false;
    t->end -= t->position;
    memmove(t->buffer, t->buffer + t->position, t->end);
    t->position = 0;

    if (size > CAPACITY - t->end)
        size = CAPACITY - t->end;
    if (size > 0)
        memcpy(t->buffer + t->end, bytes, size);
    t->end += size;
    t->counts.bytes += size;
    return size;
}

void tide_tokenizer_end(tide_tokenizer *t)
{
    if (t->closed)
        return;
    t->buffer[t->end++] = '\n';
    t->closed = true;
}

/* -- what a word may be ------------------------------------------------------------ */

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the code point at `bytes`, of which `left` can be read; 0 when it is
 * not one or a control character. The second byte's range is what rules out overlong
 * forms, surrogates, U+0080 to U+009F and all above U+10FFFF. */
static size_t code_point(const unsigned char *bytes, size_t left)
{
    unsigned lead = bytes[0];
    if (lead < 0x80)
        return lead != 0x7f;
    size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead < 0xc2 || lead > 0xf4 || length > left)
        return 0;
    unsigned least = lead == 0xc2 || lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < least || bytes[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (!continues(bytes[i]))
            return 0;
    return length;
}

static bool valid(const unsigned char *word, size_t length)
{
    size_t step;
    for (size_t i = 0; i < length; i += step) {
        step = code_point(word + i, length - i);
        if (step == 0)
            return false;
    }
    return true;
}

static size_t cut(const unsigned char *word)
{
    size_t length = TIDE_WORD_MAX;
    while (length > TIDE_WORD_MAX - 3 && continues(word[length]))
        length--;
    return length;
}

/* How much is given out of a word that has to be judged; 0 when it is dropped. */
static size_t judge(tide_tokenizer *t, const unsigned char *word, size_t length)
{
    bool is_long = length > TIDE_WORD_MAX;
    if (is_long) {
        length = cut(word);
        t->skipped = 0;
    }
    if (!valid(word, length)) {
        t->counts.invalid++;
        return 0;
    }
    t->counts.cut += is_long;
    return length;
}

/* -- taking ------------------------------------------------------------------------ */

static size_t lowest_bit(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits);
}

static size_t highest_bit(uint64_t bits)
{
    return 63 - (size_t)__builtin_clzll(bits);
}

/* Removes the lowest bit and says where it was. */
static inline size_t pop_bit(uint64_t *bits)
{
    size_t place = lowest_bit(*bits);
    *bits &= *bits - 1;
    return place;
}

/* The block at `base`, as if there were white space before `position` and a word from
 * `end`. */
static tide_block read_block(const tide_tokenizer *t, size_t base)
{
    tide_block block = tide_block_read(t->buffer + base);
    if (base < t->position) {
        uint64_t before = (UINT64_C(1) << (t->position - base)) - 1;
        block.space |= before;
        block.newline &= ~before;
        block.special &= ~before;
    }
    if (t->end - base < TIDE_BLOCK_SIZE) {
        uint64_t inside = (UINT64_C(1) << (t->end - base)) - 1;
        block.space &= inside;
        block.newline &= inside;
    }
    return block;
}

/* All complete words are out: only an incomplete one may remain, from `position`. */
static void shorten_rest(tide_tokenizer *t)
{
    size_t rest = t->end - t->position;
    if (rest > KEEP) {
        t->skipped += rest - KEEP;
        t->end = t->position + KEEP;
    }
}

/* Where a take stands: the words it has given, and the starts of those still to
 * come. `word` is the start of the word that ends next; without such a word it means
 * nothing. */
typedef struct taking {
    tide_word *next, *full;
    size_t base, word; /* of this block; of this block or an earlier one */
    uint64_t starts;
} taking;

static inline void next_start(taking *k)
{
    if (k->starts)
        k->word = k->base + pop_bit(&k->starts);
}

/* Gives the words that end at these bits, until no more fit; returns the ends that
 * are left. */
static inline uint64_t give(taking *k, const tide_tokenizer *t, uint64_t ends)
{
    while (ends && k->next < k->full) {
        size_t place = k->base + pop_bit(&ends);
        k->next->bytes = (const char *)t->buffer + k->word;
        k->next->length = (uint32_t)(place - k->word);
        k->next++;
        next_start(k);
    }
    return ends;
}

/* The same for words that have to be judged, as far as they are not dropped. */
static uint64_t give_judged(taking *k, tide_tokenizer *t, uint64_t ends)
{
    while (ends && k->next < k->full) {
        size_t place = k->base + pop_bit(&ends);
        size_t length = judge(t, t->buffer + k->word, place - k->word);
        k->next->bytes = (const char *)t->buffer + k->word;
        k->next->length = (uint32_t)length;
        k->next += length > 0;
        next_start(k);
    }
    return ends;
}

size_t tide_tokenizer_take(tide_tokenizer *t, tide_word *words, size_t room,
                           bool *sentence_ended)
{
    assert(room > 0);
    size_t first = t->position - t->position % TIDE_BLOCK_SIZE;
    taking k = {words, words + room, first, t->end, 0};
    bool after_space = true, careful = false;
    *sentence_ended = false;
    for (; k.base < t->end; k.base += TIDE_BLOCK_SIZE) {
        tide_block block = read_block(t, k.base);
        uint64_t spaces_before = block.space << 1 | after_space;
        uint64_t ends = block.space & ~spaces_before;
        k.starts = ~block.space & spaces_before;
        if (after_space)
            next_start(&k);
        careful |= block.special != 0;
        careful |= ends && k.base + lowest_bit(ends) - k.word > TIDE_WORD_MAX;
        for (;;) { /* to the next line feed, or to the end of the block */
            uint64_t line = block.newline ^ (block.newline - 1), here = ends & line;
            uint64_t left = careful ? give_judged(&k, t, here) : give(&k, t, here);
            if (k.next == k.full && (left || !block.newline)) {
                t->position = k.base + highest_bit(here & ~left);
                t->in_sentence = true;
                return room;
            }
            if (!block.newline)
                break;
            if (t->in_sentence || k.next > words) {
                *sentence_ended = true;
                t->in_sentence = false;
                t->position = k.base + lowest_bit(block.newline) + 1;
                return (size_t)(k.next - words);
            }
            ends &= ~line;
            block.newline &= block.newline - 1;
        }
        after_space = block.space >> 63;
        careful &= !after_space && (block.special || !ends);
    }
    t->position = after_space ? t->end : k.word;
    t->in_sentence |= k.next > words;
    shorten_rest(t);
    return (size_t)(k.next - words);
}

tide_tokenizer_counts tide_tokenizer_counted(const tide_tokenizer *t)
{
    return t->counts;
}

uint64_t tide_tokenizer_pending(const tide_tokenizer *t)
{
    size_t closing = t->closed && t->position < t->end;
    return t->skipped + (t->end - t->position - closing);
}

void tide_tokenizer_discard(tide_tokenizer *t)
{
    t->counts.bytes -= tide_tokenizer_pending(t);
    t->position = t->end = 0;
    t->skipped = 0;
    t->closed = false;
}

/* -- section tokenizer ------------------------------------------------------------- */

/* Six little-endian numbers and the first bytes of the incomplete word, filled up
 * with zeros. */
enum { BYTES, INVALID, CUT, IN_SENTENCE, SKIPPED, LENGTH, NUMBERS };
enum { WORD_AT = 8 * NUMBERS, SECTION_SIZE = WORD_AT + 72 };

void tide_tokenizer_save(const tide_tokenizer *t, tide_store_writer *writer)
{
    size_t rest = t->end - t->position;
    assert(rest <= KEEP && !(t->closed && rest > 0));
    const uint64_t numbers[NUMBERS] = {t->counts.bytes, t->counts.invalid,
                                       t->counts.cut,   t->in_sentence,
                                       t->skipped,      rest};
    unsigned char section[SECTION_SIZE] = {0};
    for (int i = 0; i < NUMBERS; i++)
        tide_put64(section + 8 * i, numbers[i]);
    memcpy(section + WORD_AT, t->buffer + t->position, rest);
    tide_store_put(writer, "tokenizer", section, sizeof section);
}

/* Whether these numbers and this word can be those of a tokenizer. */
static bool plausible(const uint64_t numbers[NUMBERS], const unsigned char *word)
{
    uint64_t length = numbers[LENGTH], bytes = numbers[BYTES];
    if (numbers[IN_SENTENCE] > 1 || length > KEEP || length > bytes)
        return false;
    if (numbers[SKIPPED] > (length == KEEP ? bytes - length : 0))
        return false;
    for (uint64_t i = 0; i < length; i++)
        if (word[i] <= 0x20)
            return false;
    return true;
}

int tide_tokenizer_load(tide_tokenizer *t, tide_store *store, tide_error *err)
{
    unsigned char section[SECTION_SIZE];
    int status = tide_store_read(store, "tokenizer", section, sizeof section, err);
    if (status < 0)
        return status;
    uint64_t numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = tide_get64(section + 8 * i);
    if (!plausible(numbers, section + WORD_AT))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section tokenizer makes no sense",
                         tide_store_path(store));

    t->counts = (tide_tokenizer_counts){numbers[BYTES], numbers[INVALID], numbers[CUT]};
    t->in_sentence = numbers[IN_SENTENCE];
    t->skipped = numbers[SKIPPED];
    t->closed = false;
    t->position = 0;
    t->end = numbers[LENGTH];
    memcpy(t->buffer, section + WORD_AT, t->end);
    return TIDE_OK;
}
