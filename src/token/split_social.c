/* split_social.c - words of social media posts, with hashtags, mentions, URLs and
 * emoji.
 *
 * Wherever a word may begin, these are tried in order:
 *
 *     URL        http:// https:// www. and host.tld/..., up to a quote, < > or a byte
 *                outside ASCII, without the punctuation at its end
 *     hashtag    # or U+FF03 and letters, marks, digits and _, not digits alone
 *     mention    @ or U+FF20 and a-z 0-9 _
 *     emoji      one grapheme cluster: families, flags, skin tones, keycaps
 *     emoticon   eyes : ; = with or without a nose - and a mouth ) ( ] [ d p o 3 * /
 *                \ |, repeated or not (":)))" is ":)"); <3 and </3
 *     word       as in split_words.c
 *
 * # and @ have no special meaning directly after a word ("a#b"), nor has a colon
 * after digits ("10:3"). &lt; &gt; &amp; are separators like the characters they stand
 * for, but &lt;3 is a heart. With the action BARE the # or @ is a separator, and the
 * rest is split into words.
 */
#include "token/split.h"
#include "token/token.h"

enum { HOST_MAX = 100 }; /* limits the lookahead for the end of a host name */

static bool is_alphanumeric(unsigned char c)
{
    return c < 0x80 && (tide_ascii_classes[c] == TIDE_LETTER ||
                        tide_ascii_classes[c] == TIDE_DIGIT);
}

/* The byte at `at`, in lower case; 0 after the end. */
static unsigned char lower_at(const unsigned char *text, size_t size, size_t at)
{
    unsigned char c = at < size ? text[at] : 0;
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

/* Whether the text at `at` begins with `prefix`, ignoring case. */
static bool starts_with(const unsigned char *text, size_t size, size_t at,
                        const char *prefix)
{
    for (; *prefix; prefix++, at++)
        if (lower_at(text, size, at) != (unsigned char)*prefix)
            return false;
    return true;
}

/* -- URLs -------------------------------------------------------------------------- */

/* The end of a host name that has a top-level domain of letters and is followed by a
 * slash; `at` if there is none. */
static size_t host_end(const unsigned char *text, size_t size, size_t at)
{
    size_t start = at, letters = 0, labels = 1;
    unsigned char before = '.';
    for (; at < size && at - start < HOST_MAX; at++) {
        unsigned char c = lower_at(text, size, at);
        /* Empty labels do not occur in host names; the first one would be before the
         * text. */
        if (c == '.' && before == '.')
            return start;
        if (c != '.' && c != '-' && !is_alphanumeric(c))
            return c == '/' && labels > 1 && letters > 1 ? at : start;
        /* Counts the letters at the end of the name: the top-level domain must have at
         * least two, and nothing else. */
        letters = c >= 'a' ? letters + 1 : 0;
        labels += c == '.';
        before = c;
    }
    return start;
}

/* The end of the part that identifies a URL, its scheme, "www." or host name; `at` if
 * there is none. A letter or digit must follow. */
static size_t url_prefix_end(const unsigned char *text, size_t size, size_t at)
{
    static const char *const prefixes[] = {"http://", "https://", "www."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (starts_with(text, size, at, prefixes[i]))
            return at + strlen(prefixes[i]);
    size_t slash = host_end(text, size, at);
    return slash > at ? slash + 1 : at;
}

static size_t url_end(const unsigned char *text, size_t size, size_t at)
{
    size_t body = url_prefix_end(text, size, at), end = body;
    if (body == at || !is_alphanumeric(lower_at(text, size, body)))
        return at;
    /* Invalid bytes are included, so that a damaged URL is one token, which is then
     * dropped as a whole, and not several words. */
    while (end < size && ((text[end] < 0x7f && !strchr("\"<>", text[end])) ||
                          tide_char_is_invalid(text, size, end)))
        end++;
    /* Punctuation at the end belongs to the sentence. One character of the body always
     * stays. */
    while (end > body + 1 && strchr(".,;:!?'*)]}", text[end - 1]))
        end--;
    return end;
}

/* -- hashtags and mentions --------------------------------------------------------- */

static bool is_char(tide_char c, uint32_t sign)
{
    return c.code == sign || c.code == sign + 0xfee0; /* the full-width form */
}

static size_t hashtag_end(const unsigned char *text, size_t size, size_t at)
{
    tide_char c = tide_char_at(text, size, at);
    if (!is_char(c, '#'))
        return at;
    bool digits_only = true;
    size_t end = at + c.length;
    for (;; end += c.length) {
        c = tide_char_at(text, size, end);
        if (c.class == TIDE_SEPARATOR || c.class == TIDE_APOSTROPHE ||
            c.class == TIDE_POINT)
            break;
        digits_only &= c.class != TIDE_LETTER && c.class != TIDE_IDEOGRAPH;
    }
    return digits_only ? at : end;
}

static size_t mention_end(const unsigned char *text, size_t size, size_t at)
{
    tide_char c = tide_char_at(text, size, at);
    if (!is_char(c, '@'))
        return at;
    size_t body = at + c.length, end = body;
    while (end < size && (is_alphanumeric(text[end]) || text[end] == '_' ||
                          tide_char_is_invalid(text, size, end)))
        end++;
    return end > body ? end : at;
}

/* Finds a hashtag or a mention, unless its action is BARE. */
static bool find_tag(const tide_tokenizer_options *options, const unsigned char *text,
                     size_t size, size_t at, tide_token *token)
{
    size_t end = hashtag_end(text, size, at);
    tide_token_action action = options->hashtags;
    tide_token_class class = TIDE_TOKEN_HASHTAG;
    if (end == at) {
        end = mention_end(text, size, at);
        action = options->mentions;
        class = TIDE_TOKEN_USER;
    }
    if (end == at || action == TIDE_BARE)
        return false;
    tide_token_word(token, at, end);
    tide_token_apply(token, action, class);
    return true;
}

/* -- emoticons --------------------------------------------------------------------- */

static bool find_heart(const unsigned char *text, size_t size, size_t at,
                       tide_token *token)
{
    size_t sign = starts_with(text, size, at, "&lt;") ? 4 : 1;
    if (sign == 1 && text[at] != '<')
        return false;
    bool broken = starts_with(text, size, at + sign, "/3");
    /* "<3" followed by a letter or digit is a comparison, as in "x <30". */
    size_t end = at + sign + broken + 1;
    if (lower_at(text, size, end - 1) != '3' ||
        is_alphanumeric(lower_at(text, size, end)))
        return false;
    tide_token_word(token, at, end);
    token->class = broken ? TIDE_TOKEN_BROKEN_HEART : TIDE_TOKEN_HEART;
    return true;
}

/* Finds an emoticon. A repeated mouth is consumed but not part of the word. */
static bool find_face(const unsigned char *text, size_t size, size_t at,
                      tide_token *token)
{
    if (!strchr(":;=", text[at]))
        return false;
    size_t mouth = at + 1 + (lower_at(text, size, at + 1) == '-');
    unsigned char sign = lower_at(text, size, mouth);
    if (sign == 0 || !strchr(")(][dpo*/\\|3", sign))
        return false;
    size_t end = mouth + 1;
    while (lower_at(text, size, end) == sign && sign != '/')
        end++;
    unsigned char after = lower_at(text, size, end);
    /* A colon and a letter in front of more text are no smiley: "c:dos", "http://". */
    if (is_alphanumeric(after) || after == '/' || after == '_')
        return false;
    tide_token_word(token, at, mouth + 1);
    token->used = end;
    return true;
}

/* -- the splitter ------------------------------------------------------------------ */

static bool find_word(const tide_tokenizer_options *options, const unsigned char *text,
                      size_t size, size_t at, tide_token *token)
{
    bool number;
    size_t end = tide_scan_word(options, text, size, at, &number);
    if (end == at)
        return false;
    tide_token_word(token, at, end);
    if (number)
        tide_token_apply(token, options->numbers, TIDE_TOKEN_NUMBER);
    unsigned char after = lower_at(text, size, end);
    /* Consume a # @ or : that must not begin a token here; but not a keycap emoji. */
    bool after_digit = tide_char_at(text, size, end - 1).class == TIDE_DIGIT;
    token->used += (after == '#' || after == '@' || (after == ':' && after_digit)) &&
                   tide_emoji_end(text, size, end) == end;
    return true;
}

static bool find_url(const tide_tokenizer_options *options, const unsigned char *text,
                     size_t size, size_t at, tide_token *token)
{
    size_t end = url_end(text, size, at);
    if (end == at)
        return false;
    tide_token_word(token, at, end);
    tide_token_apply(token, options->urls, TIDE_TOKEN_URL);
    return true;
}

static bool find_emoji(const unsigned char *text, size_t size, size_t at,
                       tide_token *token)
{
    size_t end = tide_emoji_end(text, size, at);
    if (end == at)
        return false;
    tide_token_word(token, at, end);
    token->emoji = true;
    return true;
}

static size_t skip_separator(const unsigned char *text, size_t size, size_t at,
                             tide_token *token)
{
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;"};
    if (text[at] == '&')
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (starts_with(text, size, at, entities[i]))
                return strlen(entities[i]);
    return tide_skip_separator(text, size, at, token);
}

static bool find_token(const tide_tokenizer_options *options, const unsigned char *text,
                       size_t size, size_t at, tide_token *token)
{
    if (is_alphanumeric(text[at]))
        return find_url(options, text, size, at, token) ||
               find_emoji(text, size, at, token) ||
               find_word(options, text, size, at, token);
    if (find_tag(options, text, size, at, token) || find_emoji(text, size, at, token))
        return true;
    if (text[at] < 0x80)
        return find_heart(text, size, at, token) || find_face(text, size, at, token);
    return find_word(options, text, size, at, token);
}

tide_token tide_split_social(const tide_tokenizer_options *options,
                             const unsigned char *text, size_t size)
{
    tide_token token = {.used = size};
    for (size_t at = 0; at < size; at += skip_separator(text, size, at, &token))
        if (find_token(options, text, size, at, &token))
            break;
    return token;
}
