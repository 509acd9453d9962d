/* tokenizer.c - text into words and sentences, in fixed memory.
 *
 * The text is copied into one buffer, and words are given out as spans of it:
 *
 *     buffer   |  given out  |  to be looked at, beginning outside a word  |  free  |
 *                            ^position                                     ^end
 *
 * Sixty-four bytes at a time become bit masks (block.h). Where the mask of white space
 * has an edge, a run of text starts or ends; walking over the edges costs the same for
 * short and for long runs and never looks at a letter. A run that needs no closer look
 * is a word: for kind space when its block has no byte of 0x7f or more in it, for the
 * others when all of it is a to z.
 *
 * Kind space. A run is a word or, when it is not UTF-8, nothing. A word of more than
 * TIDE_WORD_MAX bytes is cut before byte TIDE_WORD_MAX, or before the code point that
 * this byte continues (at most three bytes back). Whether a word is valid is judged on
 * what is kept of it alone. A word is counted once: as invalid when it is dropped,
 * otherwise as cut when it was cut.
 *
 * The other kinds. The splitter of the kind (split.h) finds the words of a run one by
 * one, each in at most WINDOW bytes from where the one before ended: what is longer is
 * read as if it ended there. Words are folded where they stand. Those that become
 * longer go to the side, a part of the buffer that no text is read into:
 *
 *     buffer   |  text, TEXT_MAX bytes  |  side: 3 * TEXT_MAX bytes  |
 *
 * That is enough, for no word grows to more than three times its bytes (tide_fold).
 *
 * Labels. A run that begins with "__label__" is the name of a class, not language. It is
 * one word and stays as it is, as kind space gives it, and no splitter sees it: every
 * kind must give the name that the labels of others have. The same holds for the rest of
 * a run behind a word: like a splitter, the test knows nothing of what came before.
 *
 * Invariant: `position` is never inside a word. Whatever is left there when text runs
 * out is looked at again from its beginning after the next feed, which is why the cuts
 * between feeds cannot change the result. A word that is too long would fill the buffer
 * that way. So once all complete words are out, an incomplete one of kind space is
 * shortened to its first KEEP bytes, one more than a word may have: what was removed
 * from its middle is only counted (`skipped`), and a word of 10 GB needs no more memory
 * than one of KEEP bytes. The other kinds never wait for more than WINDOW bytes.
 *
 * The end of the text is a line feed that nobody fed (`closed`); it is not counted in
 * bytes.
 */
#include "token/tokenizer.h"

#include "token/block.h"
#include "token/token.h"

#include <assert.h>
#include <stdlib.h>

/* What a kind takes a run of text apart with; kind space does not. */
static tide_splitter *const splitters[] = {
    [TIDE_TOKENS_SPACE] = NULL,
    [TIDE_TOKENS_WORDS] = tide_split_words,
    [TIDE_TOKENS_SOCIAL] = tide_split_social,
    [TIDE_TOKENS_LOG] = tide_split_log,
};

static bool has_stop_words(const tide_tokenizer_options *options)
{
    return options->stop_words && *options->stop_words;
}

tide_tokenizer *tide_tokenizer_new(const tide_tokenizer_options *options,
                                   tide_error *err)
{
    assert((size_t)options->kind < sizeof splitters / sizeof *splitters);
    tide_tokenizer *t = tide_alloc(1, sizeof *t);
    if (!t) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the tokenizer (%zu bytes)",
                  sizeof *t);
        return NULL;
    }
    t->options = *options;
    t->options.stop_words = NULL;
    t->split = splitters[options->kind];
    t->side = SIDE;
    t->text_max = t->split ? TEXT_MAX : CAPACITY;
    t->selective =
        options->shortest > 1 || options->longest > 0 || has_stop_words(options);
    if (has_stop_words(options)) {
        t->stop_words = tide_stop_words_new(options->stop_words, err);
        if (!t->stop_words) {
            tide_tokenizer_free(t);
            return NULL;
        }
    }
    return t;
}

void tide_tokenizer_free(tide_tokenizer *t)
{
    if (t)
        tide_stop_words_free(t->stop_words);
    free(t);
}

uint64_t tide_tokenizer_bytes(const tide_tokenizer_options *options)
{
    uint64_t words =
        has_stop_words(options) ? tide_stop_words_bytes(options->stop_words) : 0;
    return sizeof(tide_tokenizer) + words;
}

size_t tide_tokenizer_feed(tide_tokenizer *t, const void *bytes, size_t size)
{
    if (t->closed && t->position < t->end)
        return 0;
    t->closed = false;
    t->end -= t->position;
    memmove(t->buffer, t->buffer + t->position, t->end);
    t->position = 0;
    t->side = SIDE;

    if (size > t->text_max - t->end)
        size = t->text_max - t->end;
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
 * `end`. What is special is what the kind wants to see. */
static inline tide_block read_block(const tide_tokenizer *t, size_t base, bool split)
{
    tide_block block = tide_block_read(t->buffer + base);
    if (split)
        block.special = ~(block.space | block.letter);
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
        size_t length =
            tide_tokenizer_check_word(t, t->buffer + k->word, place - k->word);
        k->next->bytes = (const char *)t->buffer + k->word;
        k->next->length = (uint32_t)length;
        k->next += length > 0;
        next_start(k);
    }
    return ends;
}

/* Gives words of the run from k->word to `place`, until it is used up, no more fit or,
 * when the run goes on behind `place`, too little of it is there. k->word moves on. */
static void give_run(taking *k, tide_tokenizer *t, size_t place, bool goes_on)
{
    while (k->word < place && k->next < k->full) {
        unsigned char *text = t->buffer + k->word;
        size_t size = place - k->word;
        bool longer = size > WINDOW;
        if (longer)
            size = tide_text_cut(text, WINDOW);
        else if (goes_on)
            return;
        tide_token token = {.used = size, .length = size, .label = true};
        if (!tide_tokenizer_is_label(text, size))
            token = t->split(&t->options, text, size);
        if (longer && token.used == size && token.start > 0) {
            token.used = token.start; /* all of the window for the word */
            token.length = 0;
        }
        k->next += tide_tokenizer_make(t, text, &token, k->next);
        k->word += token.used;
    }
}

/* Gives the words of the runs that end at these bits; returns the ends that are left. A
 * run that begins in this block and has nothing special in it is a word. */
static uint64_t give_split(taking *k, tide_tokenizer *t, uint64_t ends,
                           uint64_t special)
{
    while (ends && k->next < k->full) {
        uint64_t before = (ends & -ends) - 1;
        size_t place = k->base + lowest_bit(ends);
        if ((special & before) || t->selective || k->word < k->base) {
            give_run(k, t, place, false);
            if (k->word < place)
                break;
        } else {
            k->next->bytes = (const char *)t->buffer + k->word;
            k->next->length = (uint32_t)(place - k->word);
            k->next++;
        }
        special &= ~before;
        ends &= ends - 1;
        next_start(k);
    }
    return ends;
}

/* `split` is a constant wherever this is called. */
static inline __attribute__((always_inline)) size_t
take(tide_tokenizer *t, tide_word *words, size_t room, bool *sentence_ended, bool split)
{
    size_t first = t->position - t->position % TIDE_BLOCK_SIZE;
    taking k = {words, words + room, first, t->end, 0};
    bool after_space = true, careful = false, selective = t->selective;
    *sentence_ended = false;
    for (; k.base < t->end; k.base += TIDE_BLOCK_SIZE) {
        tide_block block = read_block(t, k.base, split);
        uint64_t spaces_before = block.space << 1 | after_space;
        uint64_t ends = block.space & ~spaces_before;
        k.starts = ~block.space & spaces_before;
        if (after_space)
            next_start(&k);
        careful |= selective || block.special != 0;
        careful |= ends && k.base + lowest_bit(ends) - k.word > TIDE_WORD_MAX;
        for (;;) { /* to the next line feed, or to the end of the block */
            uint64_t line = block.newline ^ (block.newline - 1), here = ends & line;
            uint64_t left = !careful ? give(&k, t, here)
                            : split  ? give_split(&k, t, here, block.special)
                                     : give_judged(&k, t, here);
            if (k.next == k.full && (left || !block.newline)) {
                t->position =
                    split && left ? k.word : k.base + highest_bit(here & ~left);
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
            block.special &= ~line;
            block.newline &= block.newline - 1;
        }
        after_space = block.space >> 63;
        careful &= !after_space && (block.special || !ends);
    }
    if (split && !after_space)
        give_run(&k, t, t->end, true);
    t->position = after_space ? t->end : k.word;
    t->in_sentence |= k.next > words;
    if (!split)
        shorten_rest(t);
    return (size_t)(k.next - words);
}

size_t tide_tokenizer_take(tide_tokenizer *t, tide_word *words, size_t room,
                           bool *sentence_ended)
{
    assert(room > 0);
    return t->split ? take(t, words, room, sentence_ended, true)
                    : take(t, words, room, sentence_ended, false);
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
