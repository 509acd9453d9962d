/* split_log.c - words of log lines; variable parts are replaced by class names.
 *
 * Wherever a word may begin, these are tried in order. Each must end before a character
 * that is not a letter, a digit or _:
 *
 *     <url>      scheme://...                    https://example.org/a?b=c
 *     <uuid>     8-4-4-4-12 hexadecimal digits   123e4567-e89b-12d3-a456-426614174000
 *     <time>     date, time or both              2024-01-31T12:34:56.789Z  12:34:56,7
 *                                                2024/01/31  31/Jan/2024:12:34:56
 *     <ip>       v4 or v6; port and prefix too   10.0.0.1:80  /10.0.0.1  fe80::1%eth0
 *     <email>    name@host.tld                   root@example.org
 *     <path>     absolute, or from . .. ~        /var/log/a.log  ../b  ~/c  C:\d
 *     <hex>      0x..., or 8 or more digits,     0x7ffe  a1b2c3d4 (but deadbeef and
 *                of which some are a-f and           12345678 are not)
 *                some are 0-9
 *     <number>   sign, digits with . , inside,   -12  4.5GB  1h30m  99%  1e-9
 *                exponent, unit
 *     word       letters, digits; . - _ inside   node-a  com.example.main  max_size
 *                and ' between letters               can't
 *
 * A word ends before a part that is a number or hexadecimal: "worker-12" is worker
 * and <number>, "blk_-1608" is blk and <number>. Everything else is a separator:
 * key=value, [pid], quotes. A / \ : @ directly after a token has no special meaning
 * ("src/main.c:12" is src, main.c, <number>). Words with letters outside ASCII are
 * found as in split_words.c.
 *
 * Scanners never look at text before their start. At the end of the text peek returns
 * 0, which no scanner accepts, so they need no bounds checks. The tokenizer passes at
 * most WINDOW bytes, which bounds the cost of the lookahead.
 */
#include "token/split.h"
#include "token/token.h"

/* The text to scan. peek returns a byte in lower case, or 0 after the end. */
typedef struct scan {
    const unsigned char *text;
    size_t size;
} scan;

static int peek(scan v, size_t at)
{
    int c = at < v.size ? v.text[at] : 0;
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_alphanumeric(int c)
{
    return is_digit(c) || is_letter(c);
}

/* Whether a token may end at `at`: no letter, digit or _ follows. */
static bool is_boundary(scan v, size_t at)
{
    int c = peek(v, at);
    return !is_alphanumeric(c) && c != '_' && c < 0x80;
}

/* The number of consecutive bytes from `at` that satisfy the predicate. */
static size_t count_while(scan v, size_t at, bool (*is)(int))
{
    size_t start = at;
    while (is(peek(v, at)))
        at++;
    return at - start;
}

/* -- scanners: return the end of the token at `at`, or `at` if there is none ------- */

static bool is_url_char(int c)
{
    return c > 0x20 && c < 0x7f && !strchr("\"'`<>|", c);
}

static size_t url_end(scan v, size_t at)
{
    size_t scheme = count_while(v, at, is_alphanumeric);
    if (scheme < 2 || !is_letter(peek(v, at)) || peek(v, at + scheme) != ':' ||
        peek(v, at + scheme + 1) != '/' || peek(v, at + scheme + 2) != '/')
        return at;
    size_t body = at + scheme + 3, end = body;
    while (is_url_char(peek(v, end)) || tide_char_is_invalid(v.text, v.size, end))
        end++;
    /* Punctuation at the end belongs to the sentence around the URL. */
    while (end > body && strchr(".,;:!?)]}", v.text[end - 1]))
        end--;
    return end > body ? end : at;
}

static size_t uuid_end(scan v, size_t at)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    size_t end = at;
    for (int i = 0; i < 5; i++) {
        if (i > 0 && peek(v, end++) != '-')
            return at;
        if (count_while(v, end, is_hex) != groups[i])
            return at;
        end += groups[i];
    }
    return is_boundary(v, end) ? end : at;
}

/* Matches a pattern in which 0 stands for a digit, a for a letter, and any other
 * character for itself. */
static size_t pattern_end(scan v, size_t at, const char *pattern)
{
    size_t end = at;
    /* The conditional below reads: digit for 0, letter for a, otherwise the character
     * itself. */
    for (; *pattern; pattern++, end++) {
        int c = peek(v, end);
        if (*pattern == '0'   ? !is_digit(c)
            : *pattern == 'a' ? !is_letter(c)
                              : c != *pattern)
            return at;
    }
    return end;
}

static size_t timezone_end(scan v, size_t at)
{
    if (peek(v, at) == 'z')
        return at + 1;
    static const char *const zones[] = {"+00:00", "-00:00", "+0000", "-0000"};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
        /* The zeros of these patterns stand for any digits, so four patterns cover all
         * offsets. */
        if (pattern_end(v, at, zones[i]) > at)
            return pattern_end(v, at, zones[i]);
    return at;
}

/* A time of day with fraction and zone. The seconds are optional after a date. */
static size_t clock_end(scan v, size_t at, bool after_date)
{
    size_t end = pattern_end(v, at, "00:00:00");
    if (end == at && after_date)
        end = pattern_end(v, at, "00:00");
    if (end == at)
        return at;
    int point = peek(v, end);
    if ((point == '.' || point == ',') && is_digit(peek(v, end + 1)))
        end += 1 + count_while(v, end + 1, is_digit);
    return timezone_end(v, end);
}

static size_t time_end(scan v, size_t at)
{
    static const char *const dates[] = {"0000-00-00", "0000/00/00", "00/aaa/0000"};
    size_t end = at;
    for (size_t i = 0; i < sizeof dates / sizeof *dates && end == at; i++)
        end = pattern_end(v, at, dates[i]);
    if (end == at) {
        end = clock_end(v, at, false);
    } else if (peek(v, end) == 't' || peek(v, end) == ':') {
        /* 2024-05-01T12:00:00, or 01/May/2024:12:00:00 as in the logs of web servers.
         * With a space between them, date and time are two tokens. */
        size_t clock = clock_end(v, end + 1, true);
        end = clock > end + 1 ? clock : end;
    }
    return end > at && is_boundary(v, end) ? end : at;
}

static size_t ipv4_end(scan v, size_t at)
{
    size_t end = at;
    for (int part = 0; part < 4; part++) {
        if (part > 0 && peek(v, end++) != '.')
            return at;
        int value = 0;
        size_t digits = count_while(v, end, is_digit);
        if (digits < 1 || digits > 3)
            return at;
        for (; digits > 0; digits--)
            value = 10 * value + peek(v, end++) - '0';
        if (value > 255)
            return at;
    }
    /* A fifth number makes it a version or an object identifier instead. */
    return peek(v, end) == '.' && is_digit(peek(v, end + 1)) ? at : end;
}

/* Groups of hexadecimal digits separated by colons: eight, or fewer and one ::. At
 * least one digit must be 0-9, so that a::b in source code is not an address. */
static size_t ipv6_end(scan v, size_t at)
{
    size_t end = at, groups = 0, gaps = 0;
    bool has_digit = false;
    for (;;) {
        size_t digits = count_while(v, end, is_hex);
        if (digits > 4)
            return at;
        for (size_t i = 0; i < digits; i++)
            has_digit |= is_digit(peek(v, end + i));
        end += digits;
        groups += digits > 0;
        if (peek(v, end) != ':')
            break;
        bool gap = peek(v, end + 1) == ':';
        if (!gap && (digits == 0 || !is_hex(peek(v, end + 1))))
            break; /* the colon is punctuation after the address */
        gaps += gap;
        end += 1 + gap;
        if (gaps > 1)
            return at;
    }
    if (!has_digit || groups > 8 || (groups == 8) == (gaps == 1))
        return at;
    if (peek(v, end) == '%') /* a zone: fe80::1%eth0 */
        end += 1 + count_while(v, end + 1, is_alphanumeric);
    return end;
}

/* An address with an optional port (v4) and prefix length. */
static size_t ip_end(scan v, size_t at)
{
    size_t end = ipv4_end(v, at);
    /* Only after IPv4: behind an IPv6 address a colon and digits are part of the
     * address. */
    if (end > at && peek(v, end) == ':' && is_digit(peek(v, end + 1)))
        end += 1 + count_while(v, end + 1, is_digit);
    if (end == at)
        end = ipv6_end(v, at);
    if (end > at && peek(v, end) == '/' && is_digit(peek(v, end + 1)))
        end += 1 + count_while(v, end + 1, is_digit);
    return is_boundary(v, end) ? end : at;
}

static bool is_email_char(int c)
{
    return is_alphanumeric(c) || (c && strchr("._%+-", c));
}

static bool is_host_char(int c)
{
    return is_alphanumeric(c) || c == '-' || c == '.';
}

static size_t email_end(scan v, size_t at)
{
    enum { NAME_MAX_BYTES = 64 };
    /* The limit keeps a long run of such characters from being scanned once for each of
     * its positions. */
    size_t name = 0;
    while (name <= NAME_MAX_BYTES && is_email_char(peek(v, at + name)))
        name++;
    size_t host = at + name + 1;
    if (name == 0 || peek(v, host - 1) != '@' || !is_alphanumeric(peek(v, host)))
        return at;
    size_t end = host + count_while(v, host, is_host_char);
    /* The punctuation of the sentence after the address; the loop stops at the first
     * character of the host at the latest. */
    while (!is_alphanumeric(peek(v, end - 1)))
        end--;
    return memchr(v.text + host, '.', end - host) && is_boundary(v, end) ? end : at;
}

static bool is_path_char(int c)
{
    return is_alphanumeric(c) || (c && strchr("._-~/\\%+@#$*", c));
}

static size_t path_end(scan v, size_t at)
{
    size_t root = at;
    if (is_letter(peek(v, at)) && peek(v, at + 1) == ':' && peek(v, at + 2) == '\\') {
        root = at + 2;
    } else {
        if (peek(v, at) == '~')
            root++;
        else
            for (int dots = 0; dots < 2 && peek(v, root) == '.'; dots++)
                root++;
        if (peek(v, root) != '/')
            return at;
    }
    /* A lone slash or an operator is not a path: the first name must begin with a
     * letter or a digit, after at most one . or _ as in /.config. */
    size_t name = root + 1 + (peek(v, root + 1) == '.' || peek(v, root + 1) == '_');
    tide_char c = tide_char_at(v.text, v.size, name);
    if (c.class != TIDE_LETTER && c.class != TIDE_DIGIT && c.class != TIDE_IDEOGRAPH)
        return at;
    size_t end = name;
    for (; c.length > 0; c = tide_char_at(v.text, v.size, end)) {
        if (c.code < 0x80 ? !is_path_char(peek(v, end)) : c.class == TIDE_SEPARATOR)
            break;
        end += c.length;
    }
    /* A period at the end belongs to the sentence. */
    while (v.text[end - 1] == '.')
        end--;
    return end;
}

static size_t hex_end(scan v, size_t at)
{
    enum { DIGITS_MIN = 8 };
    if (peek(v, at) == '0' && peek(v, at + 1) == 'x') {
        size_t end = at + 2 + count_while(v, at + 2, is_hex);
        return end > at + 2 && is_boundary(v, end) ? end : at;
    }
    /* Without 0x a word is hexadecimal only if it is long and has both letters and
     * digits: "deadbeef" may be a word, "12345678" is a number. */
    size_t length = count_while(v, at, is_hex), digits = 0;
    for (size_t i = 0; i < length; i++)
        digits += is_digit(peek(v, at + i));
    return length >= DIGITS_MIN && digits > 0 && digits < length &&
                   is_boundary(v, at + length)
               ? at + length
               : at;
}

/* Whether these bytes are the word, ignoring case. */
static bool equals_word(scan v, size_t at, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++)
        if (peek(v, at + i) != word[i])
            return false;
    return word[length] == '\0';
}

/* The end of the unit after a number. */
static size_t unit_end(scan v, size_t at)
{
    static const char *const units[] = {
        "b",   "bps",  "bytes", "d",   "days", "g",    "gb",   "gbps", "ghz", "gib",
        "h",   "hr",   "hrs",   "hz",  "k",    "kb",   "kbps", "khz",  "kib", "m",
        "mb",  "mbps", "mhz",   "mib", "min",  "mins", "ms",   "ns",   "p",   "pb",
        "pct", "px",   "s",     "sec", "secs", "t",    "tb",   "tib",  "us",  "x",
    };
    if (peek(v, at) == '%')
        return at + 1;
    size_t length = count_while(v, at, is_letter);
    for (size_t i = 0; i < sizeof units / sizeof *units && length > 0; i++)
        if (equals_word(v, at, length, units[i]))
            return at + length;
    return at;
}

/* Digits with single points and commas between them, and an exponent. */
static size_t decimal_end(scan v, size_t at)
{
    enum { NUMBER_MAX = 64 }; /* a longer run of digits is not a sensible number */
    size_t end = at + count_while(v, at, is_digit);
    if (end == at)
        return at;
    while ((peek(v, end) == '.' || peek(v, end) == ',') && is_digit(peek(v, end + 1)) &&
           end - at < NUMBER_MAX)
        end += 1 + count_while(v, end + 1, is_digit);
    if (peek(v, end) == 'e') {
        size_t sign = peek(v, end + 1) == '-' || peek(v, end + 1) == '+';
        size_t digits = count_while(v, end + 1 + sign, is_digit);
        if (digits > 0)
            end += 1 + sign + digits;
    }
    return end;
}

static size_t number_end(scan v, size_t at)
{
    size_t end = at + (peek(v, at) == '-' || peek(v, at) == '+');
    for (;;) { /* several parts in 1h30m */
        size_t digits = decimal_end(v, end);
        if (digits == end)
            return at;
        end = unit_end(v, digits);
        if (is_boundary(v, end))
            return end;
        if (end == digits)
            return at;
    }
}

/* -- words ------------------------------------------------------------------------- */

/* Whether the word continues after the punctuation at `at`. It does not if the next
 * part is a number or hexadecimal, so that only the constant part of "worker-12" is a
 * word. */
static bool continues_after(scan v, size_t at)
{
    int sign = peek(v, at);
    if (sign == '\'')
        return is_letter(peek(v, at - 1)) && is_letter(peek(v, at + 1));
    if (sign != '.' && sign != '-' && sign != '_')
        return false;
    size_t part = at + 1;
    while (peek(v, part) == '_')
        part++;
    return is_alphanumeric(peek(v, part)) && number_end(v, part) == part &&
           hex_end(v, part) == part;
}

/* Letters and digits, and punctuation between them. Also returns `at` if the word
 * continues with a byte outside ASCII: such words are left to tide_scan_word. */
static size_t word_end(scan v, size_t at)
{
    size_t end = at;
    /* Each round takes one character and the punctuation after it, as long as that
     * continues the word. */
    while (is_alphanumeric(peek(v, end)))
        for (end++; !is_alphanumeric(peek(v, end)) && continues_after(v, end);)
            for (end++; peek(v, end) == '_';)
                end++;
    return peek(v, end) >= 0x80 ? at : end;
}

/* -- the splitter ------------------------------------------------------------------ */

static const struct {
    size_t (*end)(scan v, size_t at);
    tide_token_class class;
} scanners[] = {
    {url_end, TIDE_TOKEN_URL},     {uuid_end, TIDE_TOKEN_UUID},
    {time_end, TIDE_TOKEN_TIME},   {ip_end, TIDE_TOKEN_IP},
    {email_end, TIDE_TOKEN_EMAIL}, {path_end, TIDE_TOKEN_PATH},
    {hex_end, TIDE_TOKEN_HEX},     {number_end, TIDE_TOKEN_NUMBER},
    {word_end, TIDE_TOKEN_PLAIN},
};

static bool find_token(const tide_tokenizer_options *options, scan v, size_t at,
                       tide_token *token)
{
    int c = peek(v, at);
    if (c == '/' && ip_end(v, at + 1) > at + 1)
        return false; /* Java writes addresses as /10.0.0.1: skip the slash */
    if (c < 0x80 && !is_alphanumeric(c) && !strchr("/.~-+:", c))
        return false;
    size_t end = at;
    if (c < 0x80)
        for (size_t i = 0; i < sizeof scanners / sizeof *scanners && end == at; i++) {
            end = scanners[i].end(v, at);
            token->class = scanners[i].class;
        }
    if (end == at) {
        bool number;
        end = tide_scan_word(options, v.text, v.size, at, &number);
        token->class = number ? TIDE_TOKEN_NUMBER : TIDE_TOKEN_PLAIN;
    }
    if (end == at)
        return false;
    tide_token_word(token, at, end);
    /* Consume a character that would begin a path, address or time at the next call. */
    int after = peek(v, end);
    token->used += after && strchr("/\\:@", after);
    return true;
}

tide_token tide_split_log(const tide_tokenizer_options *options,
                          const unsigned char *text, size_t size)
{
    scan v = {text, size};
    tide_token token = {.used = size};
    for (size_t at = 0; at < size; at += tide_skip_separator(text, size, at, &token))
        if (find_token(options, v, at, &token))
            break;
    return token;
}
