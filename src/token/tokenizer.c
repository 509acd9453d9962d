/* tokenizer.c - splits text into sentences of words, in fixed memory.
 *
 * The text is copied into one buffer, and words are returned as spans of it:
 *
 *     buffer   |  returned  |  not yet scanned, starts outside a word  |  free  |
 *                           ^position                                  ^end
 *
 * Blocks of 64 bytes are converted to bit masks (block.h). An edge in the whitespace
 * mask is the start or end of a run of text. Iterating over edges costs the same for
 * short and long runs, and does not touch individual letters. Most runs need no further
 * checks and are words: for kind space if their block has no byte of 0x7f or above, for
 * the other kinds if they consist of a to z only.
 *
 * Kind space. A run is a word, or is dropped if it is not UTF-8. A word of more than
 * TIDE_WORD_MAX bytes is truncated at a code point boundary, at most three bytes below
 * the limit. Only the part that is kept is validated. A word is counted once: as
 * invalid if it is dropped, otherwise as cut if it is truncated.
 *
 * The other kinds. The splitter of the kind (split.h) finds the words of a run one by
 * one. It sees at most WINDOW bytes from the end of the previous word, as if the run
 * ended there. Words are folded in place. Words that become longer are written to an
 * overflow area, a part of the buffer that is not used for text:
 *
 *     buffer   |  text, TEXT_MAX bytes  |  overflow: 3 * TEXT_MAX bytes  |
 *
 * That suffices, because no word grows to more than three times its bytes (tide_fold).
 *
 * Labels. A run that begins with "__label__" is the name of a class. Every kind returns
 * it unchanged as one word, without calling the splitter, so that labels are the same
 * in all kinds. This also applies to the rest of a run after a word, because the test,
 * like a splitter, does not depend on the text before.
 *
 * Invariant: `position` is never inside a word. When the text runs out, the incomplete
 * word from `position` on is scanned again from its start after the next feed, so the
 * result does not depend on how the text is divided into feeds. To keep an over-long
 * word from filling the buffer, an incomplete word of kind space is shortened to its
 * first PENDING_MAX bytes, one more than a word may have, once all complete words have
 * been returned. The bytes removed from its middle are only counted (`skipped`), so a
 * word of 10 GB needs no more memory than one of PENDING_MAX bytes. In the other kinds
 * at most WINDOW bytes are ever pending.
 *
 * The text is ended by a line feed that is appended by tide_tokenizer_end (`closed`)
 * and not counted as input.
 */
#include "token/tokenizer.h"

#include "token/block.h"
#include "token/token.h"

#include <assert.h>
#include <stdlib.h>

/* The splitter of each kind; kind space has none. */
static tide_splitter *const splitters[] = {
    [TIDE_TOKENIZER_SPACE] = NULL,
    [TIDE_TOKENIZER_WORDS] = tide_split_words,
    [TIDE_TOKENIZER_SOCIAL] = tide_split_social,
    [TIDE_TOKENIZER_LOG] = tide_split_log,
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
    t->overflow = OVERFLOW_START;
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
    /* The last line of the text has not been returned completely; more text now would
     * continue it. */
    if (t->closed && t->position < t->end)
        return 0;
    t->closed = false;
    /* What has been returned is discarded, and the pending rest moves to the front. */
    t->end -= t->position;
    memmove(t->buffer, t->buffer + t->position, t->end);
    t->position = 0;
    t->overflow = OVERFLOW_START;

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

/* -- finding words ----------------------------------------------------------------- */

static size_t lowest_bit(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits);
}

static size_t highest_bit(uint64_t bits)
{
    return 63 - (size_t)__builtin_clzll(bits);
}

/* Clears the lowest bit and returns its index. */
static inline size_t pop_bit(uint64_t *bits)
{
    size_t index = lowest_bit(*bits);
    *bits &= *bits - 1;
    return index;
}

/* The masks of the block at `base`, as if there were whitespace before `position` and a
 * word from `end` on, so that an incomplete run has no end. `special` marks bytes that
 * need further checks: for kinds with a splitter all but a to z. */
static inline tide_block read_block(const tide_tokenizer *t, size_t base, bool split)
{
    tide_block block = tide_block_read(t->buffer + base);
    if (split)
        block.special = ~(block.space | block.letter);
    /* Clearing bits by masks instead of branching keeps the loop over blocks free of
     * special cases at both ends. */
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

/* Shortens an over-long incomplete word. All complete words must have been returned. */
static void shorten_pending(tide_tokenizer *t)
{
    size_t pending = t->end - t->position;
    if (pending > PENDING_MAX) {
        t->skipped += pending - PENDING_MAX;
        t->end = t->position + PENDING_MAX;
    }
}

/* The state of one call of take: where to write words, and the runs found so far.
 * `word` is the start of the run that ends next, in this block or an earlier one. If
 * all runs that have started have ended, it is meaningless. */
typedef struct word_scan {
    tide_word *next, *full; /* the next word to write, and the end of the array */
    size_t base, word;      /* offset of this block; offset of the current run */
    uint64_t starts;        /* further runs that start in this block */
} word_scan;

static inline void start_next_run(word_scan *k)
{
    if (k->starts)
        k->word = k->base + pop_bit(&k->starts);
}

/* Fast path: emits the runs that end at these bits unchanged, until the array is full.
 * Returns the ends that are left. */
static inline uint64_t emit_plain(word_scan *k, const tide_tokenizer *t, uint64_t ends)
{
    while (ends && k->next < k->full) {
        size_t run_end = k->base + pop_bit(&ends);
        k->next->bytes = (const char *)t->buffer + k->word;
        k->next->length = (uint32_t)(run_end - k->word);
        k->next++;
        start_next_run(k);
    }
    return ends;
}

/* Kind space, for blocks with special bytes or long words: emits the runs that end at
 * these bits, unless they are dropped. Returns the ends that are left. */
static uint64_t emit_checked(word_scan *k, tide_tokenizer *t, uint64_t ends)
{
    while (ends && k->next < k->full) {
        size_t run_end = k->base + pop_bit(&ends);
        size_t length =
            tide_tokenizer_check_word(t, t->buffer + k->word, run_end - k->word);
        k->next->bytes = (const char *)t->buffer + k->word;
        k->next->length = (uint32_t)length;
        k->next += length > 0;
        start_next_run(k);
    }
    return ends;
}

/* Splits the run from k->word to `run_end` and emits its words, until the run is used
 * up or the array is full. If the run may continue after `run_end` (`continues`), stops
 * when at most WINDOW bytes are left, because the next word could depend on what
 * follows. Advances k->word past what was split, which is always a point from where
 * splitting can resume. */
static void split_run(word_scan *k, tide_tokenizer *t, size_t run_end, bool continues)
{
    while (k->word < run_end && k->next < k->full) {
        unsigned char *text = t->buffer + k->word;
        size_t size = run_end - k->word;
        /* The splitter sees exactly the same bytes however the text is divided into
         * feeds: either a full window, or the rest of a run whose end is known. */
        bool exceeds_window = size > WINDOW;
        /* Never in the middle of a character, or the splitter would see an invalid byte
         * that is not there. */
        if (exceeds_window)
            size = tide_text_truncate(text, WINDOW);
        else if (continues)
            return;
        tide_token token = {.used = size, .length = size, .label = true};
        if (!tide_tokenizer_is_label(text, size))
            token = t->split(&t->options, text, size);
        /* The word touches the end of the window and may be longer. Consume only the
         * separators before it, so that the next window begins with the word. If the
         * word already begins the window, it is longer than any word may be, and is
         * emitted. */
        if (exceeds_window && token.used == size && token.start > 0) {
            token.used = token.start;
            token.length = 0;
        }
        k->next += tide_tokenizer_emit(t, text, &token, k->next);
        k->word += token.used;
    }
}

/* The other kinds: emits the words of the runs that end at these bits. Returns the ends
 * that are left; the first of them may be that of a partly split run. A run that starts
 * in this block and has no special bytes is a word as it stands. */
static uint64_t emit_split(word_scan *k, tide_tokenizer *t, uint64_t ends,
                           uint64_t special)
{
    while (ends && k->next < k->full) {
        /* Bits before the first end. Those of earlier runs have been cleared in
         * `special`, so only bytes of this run are tested. */
        uint64_t before = (ends & -ends) - 1;
        size_t run_end = k->base + lowest_bit(ends);
        if ((special & before) || t->selective || k->word < k->base) {
            split_run(k, t, run_end, false);
            if (k->word < run_end) /* the array is full */
                break;
        } else {
            /* The run has only letters from a to z: it is one word and needs neither
             * splitting nor folding. In English text that is most of them. */
            k->next->bytes = (const char *)t->buffer + k->word;
            k->next->length = (uint32_t)(run_end - k->word);
            k->next++;
        }
        special &= ~before;
        ends &= ends - 1;
        start_next_run(k);
    }
    return ends;
}

/* Finds words block by block, until the array is full, a sentence ends or the text runs
 * out. In each case `position` is set to a point outside any word from which the next
 * call continues. `split` is a constant in both calls, so each gets its own copy of the
 * code.
 *
 * A run is emitted when its end is found; until then its start is carried in k.word
 * across blocks. `needs_check` says that the current run or block needs the slow path.
 * It persists while a run with a special byte is open, because the byte may be in an
 * earlier block. */
static inline __attribute__((always_inline)) size_t
next_words(tide_tokenizer *t, tide_word *words, size_t capacity, bool *sentence_ended,
           bool split)
{
    size_t first_block = t->position - t->position % TIDE_BLOCK_SIZE;
    word_scan k = {words, words + capacity, first_block, t->end, 0};
    bool after_space = true, needs_check = false, selective = t->selective;
    *sentence_ended = false;
    for (; k.base < t->end; k.base += TIDE_BLOCK_SIZE) {
        tide_block block = read_block(t, k.base, split);
        /* Edges of the mask: bit i of spaces_before says that byte i - 1 is
         * whitespace. */
        uint64_t spaces_before = block.space << 1 | after_space;
        uint64_t ends = block.space & ~spaces_before;
        k.starts = ~block.space & spaces_before;
        if (after_space) /* else the run in k.word continues from an earlier block */
            start_next_run(&k);
        needs_check |= selective || block.special != 0;
        needs_check |= ends && k.base + lowest_bit(ends) - k.word > TIDE_WORD_MAX;
        for (;;) { /* for each line in this block: the ends up to its line feed */
            uint64_t line = block.newline ^ (block.newline - 1), here = ends & line;
            uint64_t left = !needs_check ? emit_plain(&k, t, here)
                            : split      ? emit_split(&k, t, here, block.special)
                                         : emit_checked(&k, t, here);
            /* The array is full and the line continues: resume at the partly split run,
             * or after the last run that was emitted. */
            if (k.next == k.full && (left || !block.newline)) {
                t->position =
                    split && left ? k.word : k.base + highest_bit(here & ~left);
                t->in_sentence = true;
                return capacity;
            }
            if (!block.newline)
                break;
            /* A line feed ends the sentence, unless it has no words. */
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
        after_space = block.space >> 63; /* the last byte of the block is whitespace */
        needs_check &= !after_space && (block.special || !ends);
    }
    /* The text has run out, and the run from k.word, if any, is incomplete. A long run
     * without whitespace, such as a line of Chinese, is split as far as possible now;
     * otherwise it would have to fit the buffer. */
    if (split && !after_space)
        split_run(&k, t, t->end, true);
    t->position = after_space ? t->end : k.word;
    t->in_sentence |= k.next > words;
    if (!split)
        shorten_pending(t);
    return (size_t)(k.next - words);
}

size_t tide_tokenizer_next(tide_tokenizer *t, tide_word *words, size_t capacity,
                           bool *sentence_ended)
{
    assert(capacity > 0);
    return t->split ? next_words(t, words, capacity, sentence_ended, true)
                    : next_words(t, words, capacity, sentence_ended, false);
}

tide_tokenizer_counts tide_tokenizer_counted(const tide_tokenizer *t)
{
    return t->counts;
}

uint64_t tide_tokenizer_pending(const tide_tokenizer *t)
{
    /* The line feed appended by tide_tokenizer_end is not part of the input. */
    size_t closing = t->closed && t->position < t->end;
    return t->skipped + (t->end - t->position - closing);
}
