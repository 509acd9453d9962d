/* tokenizer_words.c - what is given out of one word: all of it, a part, its class or nothing. */
#include "token/token.h"
#include "token/tokenizer.h"

/* As many bytes as must be readable of a word. */
static const char names[TIDE_NAMES][16] = {
    [TIDE_NAME_NUMBER] = "<number>", [TIDE_NAME_HASHTAG] = "<hashtag>",
    [TIDE_NAME_USER] = "<user>",     [TIDE_NAME_URL] = "<url>",
    [TIDE_NAME_HEX] = "<hex>",       [TIDE_NAME_UUID] = "<uuid>",
    [TIDE_NAME_IP] = "<ip>",         [TIDE_NAME_PATH] = "<path>",
    [TIDE_NAME_TIME] = "<time>",     [TIDE_NAME_EMAIL] = "<email>",
    [TIDE_NAME_HEART] = "<3",        [TIDE_NAME_BROKEN_HEART] = "</3",
};

size_t tide_text_cut(const unsigned char *text, size_t length)
{
    size_t least = length - 3;
    while (length > least && tide_utf8_inside(text[length]))
        length--;
    return length;
}

static bool valid(const unsigned char *word, size_t length)
{
    size_t step;
    for (size_t i = 0; i < length; i += step) {
        step = word[i] < 0x7f ? 1 : tide_code_point(word + i, length - i);
        if (step == 0)
            return false;
    }
    return true;
}

static bool left_out(const tide_tokenizer *t, const char *word, size_t length)
{
    const char *spared = t->options.spared;
    return t->selective &&
           !(spared && length > strlen(spared) &&
             !memcmp(word, spared, strlen(spared))) &&
           !tide_word_wanted(&t->options, t->stop_words, word, length);
}

size_t tide_tokenizer_check_word(tide_tokenizer *t, const unsigned char *word,
                                 size_t length)
{
    uint64_t whole = length;
    if (length > TIDE_WORD_MAX) {
        length = tide_text_cut(word, TIDE_WORD_MAX);
        whole += t->skipped;
        t->skipped = 0;
    }
    if (!valid(word, length)) {
        t->counts.invalid++;
        t->counts.dropped += whole;
        return 0;
    }
    t->counts.cut += whole > length;
    t->counts.dropped += whole - length;
    if (left_out(t, (const char *)word, length)) {
        t->counts.omitted++;
        return 0;
    }
    return length;
}

/* -- words of the other kinds ------------------------------------------------------ */

/* How much of a word is given out when it is not folded. */
static size_t kept(const unsigned char *word, size_t length)
{
    return length > TIDE_WORD_MAX ? tide_text_cut(word, TIDE_WORD_MAX) : length;
}

bool tide_tokenizer_is_label(const unsigned char *text, size_t size)
{
    static const char mark[] = "__label__";
    return size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0;
}

/* Of a label only what is kept of it has to be text, as in kind space. */
static bool intact(const unsigned char *text, const tide_token *token)
{
    const unsigned char *word = text + token->start;
    return valid(word, token->label ? kept(word, token->length) : token->length);
}

/* Folds a word where it is or, when it grows, to the side; a label is only cut. */
static tide_word folded(tide_tokenizer *t, unsigned char *word, const tide_token *token)
{
    size_t used, size;
    unsigned char bytes[TIDE_WORD_MAX];
    if (token->label) {
        used = size = kept(word, token->length);
    } else if (!token->emoji && tide_fold_ascii(word, token->length)) {
        used = size = token->length < TIDE_WORD_MAX ? token->length : TIDE_WORD_MAX;
    } else {
        size = tide_fold(word, token->length, token->emoji, !t->options.first_rules,
                         bytes, &used);
        if (size > token->length) {
            word = t->buffer + t->side;
            t->side += size;
        }
        memcpy(word, bytes, size);
    }
    t->counts.cut += used < token->length;
    t->counts.dropped += token->length - used;
    return (tide_word){(const char *)word, (uint32_t)size};
}

bool tide_tokenizer_make(tide_tokenizer *t, unsigned char *text,
                         const tide_token *token, tide_word *word)
{
    t->counts.invalid += token->invalid;
    t->counts.dropped += token->dropped;
    if (token->length == 0)
        return false;
    if (!intact(text, token)) {
        t->counts.invalid++;
        t->counts.dropped += token->length;
        return false;
    }
    if (token->omitted) {
        t->counts.omitted++;
        return false;
    }
    if (token->name)
        *word = (tide_word){names[token->name], (uint32_t)strlen(names[token->name])};
    else
        *word = folded(t, text + token->start, token);
    if (word->length == 0)
        return false;
    bool omitted = left_out(t, word->bytes, word->length);
    t->counts.omitted += omitted;
    return !omitted;
}
