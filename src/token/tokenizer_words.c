/* tokenizer_words.c - turns a token into an emitted word: validates, truncates, folds,
 * masks or drops it, and counts what is lost. */
#include "token/token.h"
#include "token/tokenizer.h"

/* Sized so that 16 bytes are readable, as of every word. */
static const char class_names[TIDE_TOKEN_CLASSES][16] = {
    [TIDE_TOKEN_NUMBER] = "<number>", [TIDE_TOKEN_HASHTAG] = "<hashtag>",
    [TIDE_TOKEN_USER] = "<user>",     [TIDE_TOKEN_URL] = "<url>",
    [TIDE_TOKEN_HEX] = "<hex>",       [TIDE_TOKEN_UUID] = "<uuid>",
    [TIDE_TOKEN_IP] = "<ip>",         [TIDE_TOKEN_PATH] = "<path>",
    [TIDE_TOKEN_TIME] = "<time>",     [TIDE_TOKEN_EMAIL] = "<email>",
    [TIDE_TOKEN_HEART] = "<3",        [TIDE_TOKEN_BROKEN_HEART] = "</3",
};

size_t tide_text_truncate(const unsigned char *text, size_t length)
{
    size_t min_length = length - 3;
    /* A code point has at most three continuation bytes. In invalid text there may be
     * more, and the loop must not run away. */
    while (length > min_length && tide_utf8_inside(text[length]))
        length--;
    return length;
}

static bool is_valid(const unsigned char *word, size_t length)
{
    size_t step;
    for (size_t i = 0; i < length; i += step) {
        /* tide_code_point_length also rejects control characters, surrogates and
         * overlong forms, by returning 0. */
        step = word[i] < 0x7f ? 1 : tide_code_point_length(word + i, length - i);
        if (step == 0)
            return false;
    }
    return true;
}

static bool is_omitted(const tide_tokenizer *t, const char *word, size_t length)
{
    /* Labels are never filtered by length or stop words: whether a post has a label
     * must not depend on how the label is spelled. */
    const char *kept_prefix = t->options.kept_prefix;
    return t->selective &&
           !(kept_prefix && length > strlen(kept_prefix) &&
             !memcmp(word, kept_prefix, strlen(kept_prefix))) &&
           !tide_word_is_allowed(&t->options, t->stop_words, word, length);
}

size_t tide_tokenizer_check_word(tide_tokenizer *t, const unsigned char *word,
                                 size_t length)
{
    uint64_t original_length = length;
    if (length > TIDE_WORD_MAX) {
        length = tide_text_truncate(word, TIDE_WORD_MAX);
        /* The bytes that shorten_pending removed belong to this word, since it is the
         * only one that can have been pending. */
        original_length += t->skipped;
        t->skipped = 0;
    }
    if (!is_valid(word, length)) {
        t->counts.invalid++;
        t->counts.dropped += original_length;
        return 0;
    }
    t->counts.cut += original_length > length;
    t->counts.dropped += original_length - length;
    if (is_omitted(t, (const char *)word, length)) {
        t->counts.omitted++;
        return 0;
    }
    return length;
}

/* -- words of the other kinds ------------------------------------------------------ */

/* The length of a word that is emitted without folding. */
static size_t truncated_length(const unsigned char *word, size_t length)
{
    return length > TIDE_WORD_MAX ? tide_text_truncate(word, TIDE_WORD_MAX) : length;
}

bool tide_tokenizer_is_label(const unsigned char *text, size_t size)
{
    return size >= TIDE_LABEL_PREFIX_SIZE &&
           memcmp(text, TIDE_LABEL_PREFIX, TIDE_LABEL_PREFIX_SIZE) == 0;
}

/* Whether a word is valid UTF-8. Of a label, as of a word of kind space, only the part
 * that is kept is checked. */
static bool is_intact(const unsigned char *text, const tide_token *token)
{
    const unsigned char *word = text + token->start;
    return is_valid(word, token->label ? truncated_length(word, token->length)
                                       : token->length);
}

/* Folds a word in place, or into the overflow area if it grows. A label is only
 * truncated. */
static tide_word fold(tide_tokenizer *t, unsigned char *word, const tide_token *token)
{
    size_t used, size;
    unsigned char bytes[TIDE_WORD_MAX];
    if (token->label) {
        used = size = truncated_length(word, token->length);
    } else if (!token->emoji && tide_fold_ascii(word, token->length)) {
        used = size = token->length < TIDE_WORD_MAX ? token->length : TIDE_WORD_MAX;
    } else {
        /* Unicode normalization may make the word longer than its place in the
         * buffer. */
        size = tide_fold(word, token->length, token->emoji, !t->options.first_rules,
                         bytes, &used);
        if (size > token->length) {
            word = t->buffer + t->overflow;
            t->overflow += size;
        }
        memcpy(word, bytes, size);
    }
    t->counts.cut += used < token->length;
    t->counts.dropped += token->length - used;
    return (tide_word){(const char *)word, (uint32_t)size};
}

bool tide_tokenizer_emit(tide_tokenizer *t, unsigned char *text,
                         const tide_token *token, tide_word *word)
{
    t->counts.invalid += token->invalid;
    t->counts.dropped += token->dropped;
    if (token->length == 0)
        return false;
    /* Checked before anything else is done with the word: folding expects valid
     * UTF-8. */
    if (!is_intact(text, token)) {
        t->counts.invalid++;
        t->counts.dropped += token->length;
        return false;
    }
    if (token->omitted) {
        t->counts.omitted++;
        return false;
    }
    if (token->class)
        *word = (tide_word){class_names[token->class],
                            (uint32_t)strlen(class_names[token->class])};
    else
        *word = fold(t, text + token->start, token);
    if (word->length == 0)
        return false;
    bool omitted = is_omitted(t, word->bytes, word->length);
    t->counts.omitted += omitted;
    return !omitted;
}
