/* syllables.c - syllables of Thai, Lao, Khmer and Burmese, which are written without spaces.
 *
 * Where words end there takes a dictionary of each language. Where a syllable may end is spelled out, nearly, and
 * syllables are as useful as words (doc/DECISIONS.md), so they are what is learned, as ideographs are.
 *
 * A cluster is a consonant with all that is written around it:
 *
 *     Thai, Lao   vowel sign before it, consonant, marks, vowel signs after it         เมื  ก่  จำ
 *     Khmer       consonant, subscripts (coeng and a consonant), marks                 ស្ត្រី
 *     Burmese     consonant, stacked consonants, marks                                 မြို့
 *
 * What is left is to find the consonants that have no vowel of their own because they end the syllable before
 * them, or begin the one after. In Burmese they bear a sign, asat or virama. In the others they are bare, and
 * their neighbors tell. Thai, and Lao likewise, where o is the letter U+0E2D and w is U+0E27, which are
 * vowels as well:
 *
 *     a bare consonant before a liquid with a vowel begins its syllable          ก|ลา -> กลา
 *     so does a cluster with e, before a liquid with a mark above                เ|ปลี่
 *     bare, bare, and then neither o nor w: the vowel between is not written     ค|น -> คน
 *     bare and o or w: this is the vowel                                         ก|อ|ง -> กอง
 *     a bare consonant behind a vowel that may be closed ends the syllable,
 *     unless o or w behind it makes it the beginning of the next                 กา|ร -> การ
 *
 *     silenced consonants, and a bare one before them, end it                    จัน|ทร์
 *
 * Khmer: a bare consonant ends the syllable before it, unless that is closed by a sign.
 */
#include "token/split.h"

typedef struct script {
    uint32_t first, last;
    size_t (*end)(const unsigned char *text, size_t size, size_t at, uint32_t shift);
    uint32_t shift; /* Lao has the order of Thai, so far behind it */
} script;

/* -- Thai and Lao -------------------------------------------------------------------------------- */

enum {
    HO = 0x0e2b,
    O = 0x0e2d,
    WO = 0x0e27,
    YO = 0x0e22,
    RO = 0x0e23,
    LO = 0x0e25,
    SARA_A = 0x0e30,
    MAI_HAN_AKAT = 0x0e31,
    SARA_AA = 0x0e32,
    SARA_AM = 0x0e33,
    SARA_I = 0x0e34,
    SARA_II = 0x0e35,
    SARA_UEE = 0x0e37,
    SARA_UU = 0x0e39,
    MAIMUAN = 0x0e43,
    MAIMALAI = 0x0e44,
    LAKKHANGYAO = 0x0e45,
    MAITAIKHU = 0x0e47,
    SILENCED = 0x0e4c,
    NIKHAHIT = 0x0e4d,
    LAO_MAI_KON = 0x0ebb,
    LAO_NYO = 0x0ebd, /* a vowel behind its consonant */
    LAO_LIGATURES = 0x0edc,
};

/* As Thai has them; 0 for what is not there. */
typedef struct cluster {
    size_t end; /* where it begins when there is none */
    uint32_t before, letter, after, vowel;
    bool tone, silent;
} cluster;

/* The Thai letter or sign of a place in either script; 0 elsewhere. */
static uint32_t thai_at(const unsigned char *text, size_t size, size_t at,
                        uint32_t shift, size_t *length)
{
    tide_char c = tide_char_at(text, size, at);
    *length = c.length;
    uint32_t code = c.code - shift;
    bool inside = c.length && code >= 0x0e00 && code < 0x0e80;
    return inside && (c.class == TIDE_LETTER || c.class == TIDE_MARK) ? code : 0;
}

static bool is_consonant(uint32_t c)
{
    return (c >= 0x0e01 && c <= 0x0e2e) ||
           (c >= LAO_LIGATURES - 0x80 && c <= LAO_LIGATURES - 0x80 + 3);
}

static bool is_mark(uint32_t c)
{
    return c == MAI_HAN_AKAT || (c >= SARA_I && c <= 0x0e3c) ||
           (c >= MAITAIKHU && c <= 0x0e4e);
}

static void note_mark(cluster *k, uint32_t c, uint32_t shift)
{
    k->silent |= c == SILENCED;
    k->tone |= c >= 0x0e48 && c <= 0x0e4b;
    bool lao = shift && (c + shift == LAO_MAI_KON || c == NIKHAHIT);
    if (!k->vowel && (c <= SARA_UU || c == MAITAIKHU || lao))
        k->vowel = c;
}

static cluster thai_cluster(const unsigned char *text, size_t size, size_t at,
                            uint32_t shift)
{
    cluster k = {.end = at};
    size_t length;
    uint32_t c = thai_at(text, size, at, shift, &length), last = 0;
    if (c >= 0x0e40 && c <= MAIMALAI) {
        k.before = c;
        k.end += length;
        c = thai_at(text, size, k.end, shift, &length);
    }
    if (c && (is_consonant(c) || !k.before)) {
        k.letter = is_consonant(c) ? c : 0;
        k.end += length;
        last = c;
    }
    for (;; k.end += length, last = c) {
        c = thai_at(text, size, k.end, shift, &length);
        if (is_mark(c))
            note_mark(&k, c, shift);
        else if (c == SARA_A || c == SARA_AA || c == SARA_AM || c == LAKKHANGYAO ||
                 (shift && c == LAO_NYO - 0x80))
            k.after = last == NIKHAHIT && c == SARA_AA ? SARA_AM : c;
        else
            return k;
    }
}

static bool is_bare(const cluster *k)
{
    return k->letter && !k->before && !k->after && !k->vowel && !k->silent && !k->tone;
}

static bool is_vowel_letter(const cluster *k)
{
    return is_bare(k) && (k->letter == O || k->letter == WO);
}

static bool has_vowel(const cluster *k)
{
    return k->before || k->after || k->vowel;
}

/* Whether the second of two consonants that begin a syllable is in `next`. */
static bool goes_with(const cluster *k, const cluster *next)
{
    static const uint32_t sonorants[] = {0x0e07, 0x0e0d, 0x0e19, 0x0e21, YO};
    if (next->before || !next->letter)
        return false;
    bool second = next->letter == RO || next->letter == LO || next->letter == WO;
    for (size_t i = 0; i < sizeof sonorants / sizeof *sonorants; i++)
        second |= k->letter == HO && next->letter == sonorants[i];
    if (is_bare(k))
        return second && (next->vowel || next->after);
    uint32_t v = next->vowel;
    return second && k->before && !k->vowel && !k->after && !next->after &&
           (v == SARA_I || v == SARA_II || v == SARA_UEE || v == MAITAIKHU ||
            (!v && next->tone));
}

/* A syllable so far: the cluster with its vowel, and the two behind what is taken. */
typedef struct reading {
    const unsigned char *text;
    size_t size, end;
    uint32_t shift;
    cluster k, next, third;
} reading;

static void take_next(reading *r)
{
    r->end = r->next.end;
    r->next = r->third;
    r->third = thai_cluster(r->text, r->size, r->next.end, r->shift);
}

/* Takes the letters that belong to the vowel. Whether a consonant may end the syllable then. */
static bool take_vowel(reading *r)
{
    const cluster *k = &r->k, *next = &r->next;
    if (!has_vowel(k)) {
        bool letter = is_vowel_letter(next);
        if (letter || (!k->tone && is_bare(next) && !is_vowel_letter(&r->third)))
            take_next(r);
        return letter;
    }
    bool diphthong = k->before == MAIMUAN || k->before == MAIMALAI;
    if (k->after == SARA_A || k->after == SARA_AM || k->after == LAKKHANGYAO)
        return false;
    bool glide = is_bare(next) &&
                 ((k->vowel == SARA_II && k->before && next->letter == YO) ||
                  (k->vowel == SARA_UEE && next->letter == O) ||
                  (diphthong && next->letter == YO && !is_vowel_letter(&r->third)));
    bool closed = k->vowel == MAI_HAN_AKAT && is_bare(next);
    if (glide || closed)
        take_next(r);
    return !closed && !diphthong;
}

static size_t thai_end(const unsigned char *text, size_t size, size_t at,
                       uint32_t shift)
{
    reading r = {text, size, at, shift, .next = thai_cluster(text, size, at, shift)};
    r.third = thai_cluster(text, size, r.next.end, shift);
    r.k = r.next;
    take_next(&r);
    if (goes_with(&r.k, &r.next)) {
        uint32_t before = r.k.before;
        r.k = r.next;
        r.k.before = before;
        take_next(&r);
    }
    if (take_vowel(&r) && is_bare(&r.next) && !is_vowel_letter(&r.third))
        take_next(&r);
    for (;;) {
        bool last_but_one = is_bare(&r.next) && r.third.silent;
        if (!r.next.silent && !last_but_one)
            return r.end;
        take_next(&r);
    }
}

/* -- Khmer and Burmese ----------------------------------------------------------------------------- */

static bool attaches(tide_char c)
{
    return c.length && (c.class == TIDE_MARK || c.class == TIDE_IGNORED);
}

/* Where the marks at `at` end, and the letters below; *last is the last sign. */
static size_t past_signs(const unsigned char *text, size_t size, size_t at,
                         uint32_t stacker, uint32_t *last)
{
    for (;;) {
        tide_char c = tide_char_at(text, size, at);
        bool stacked = *last == stacker && c.class == TIDE_LETTER;
        if (!attaches(c) && !stacked)
            return at;
        *last = c.code;
        at += c.length;
    }
}

static size_t khmer_end(const unsigned char *text, size_t size, size_t at,
                        uint32_t shift)
{
    enum { COENG = 0x17d2, NIKAHIT = 0x17c6, YUUKALEAPINTU = 0x17c8 };
    (void)shift;
    tide_char c = tide_char_at(text, size, at);
    uint32_t last = c.code;
    at = past_signs(text, size, at + c.length, COENG, &last);
    if (last >= NIKAHIT && last <= YUUKALEAPINTU)
        return at;
    c = tide_char_at(text, size, at);
    bool consonant = c.code >= 0x1780 && c.code <= 0x17a2;
    return consonant && !attaches(tide_char_at(text, size, at + c.length))
               ? at + c.length
               : at;
}

static size_t burmese_end(const unsigned char *text, size_t size, size_t at,
                          uint32_t shift)
{
    enum { DOT_BELOW = 0x1037, VIRAMA = 0x1039, ASAT = 0x103a };
    (void)shift;
    tide_char c = tide_char_at(text, size, at);
    for (;;) {
        uint32_t last = c.code;
        at = past_signs(text, size, at + c.length, VIRAMA, &last);
        c = tide_char_at(text, size, at);
        if (c.class != TIDE_LETTER)
            return at;
        tide_char sign = tide_char_at(text, size, at + c.length);
        if (sign.code == DOT_BELOW)
            sign = tide_char_at(text, size, at + c.length + sign.length);
        if (sign.code != VIRAMA && sign.code != ASAT)
            return at;
    }
}

/* -- all of them --------------------------------------------------------------------------------------- */

static const script scripts[] = {
    {0x0e00, 0x0e7f, thai_end, 0},    {0x0e80, 0x0eff, thai_end, 0x80},
    {0x1000, 0x109f, burmese_end, 0}, {0x1780, 0x17ff, khmer_end, 0},
    {0xa9e0, 0xa9ff, burmese_end, 0}, {0xaa60, 0xaa7f, burmese_end, 0},
};

static const script *script_of(tide_char c)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (c.class == TIDE_LETTER && c.code >= scripts[i].first &&
            c.code <= scripts[i].last)
            return &scripts[i];
    return NULL;
}

bool tide_syllabic(tide_char c)
{
    return c.code >= scripts[0].first && script_of(c);
}

size_t tide_syllable_end(const unsigned char *text, size_t size, size_t at)
{
    const script *s = script_of(tide_char_at(text, size, at));
    return s ? s->end(text, size, at, s->shift) : at;
}
