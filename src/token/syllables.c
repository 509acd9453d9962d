/* syllables.c - splits Thai, Lao, Khmer and Burmese, which are written without spaces,
 * into syllables.
 *
 * Finding words would take a dictionary for each language. Syllables can be found
 * almost always from the spelling alone, and their vectors are as useful as those of
 * words (doc/DECISIONS.md). So a syllable counts as a word here, as an ideograph does.
 *
 * A cluster is a consonant with everything that is written around it:
 *
 *     Thai, Lao   vowel sign before it, consonant, marks, vowel signs after it         เมื  ก่  จำ
 *     Khmer       consonant, subscripts (coeng and a consonant), marks                 ស្ត្រី
 *     Burmese     consonant, stacked consonants, marks                                 မြို့
 *
 * It remains to decide about consonants without a vowel of their own, which either end
 * the previous syllable or begin the next. In Burmese they carry a sign, asat or
 * virama. In the other scripts they are bare, and their neighbors decide. Rules for
 * Thai, and likewise Lao, where o is the letter U+0E2D and w is U+0E27, which may also
 * be vowels:
 *
 *     a bare consonant before a liquid with a vowel begins its syllable     ก|ลา -> กลา
 *     so does a cluster with e, before a liquid with a mark above           เ|ปลี่
 *     two bare consonants, not before o or w: the vowel is not written      ค|น -> คน
 *     a bare consonant before o or w: that is its vowel                     ก|อ|ง -> กอง
 *     a bare consonant after a vowel that may be closed ends the syllable,
 *     unless o or w follows, so that it begins the next one                 กา|ร -> การ
 *     silenced consonants, and a bare one before them, end the syllable     จัน|ทร์
 *
 * Khmer: a bare consonant ends the previous syllable, unless a sign has closed that.
 */
#include "token/split.h"

typedef struct script {
    uint32_t first, last;
    size_t (*end)(const unsigned char *text, size_t size, size_t at, uint32_t shift);
    uint32_t shift; /* Lao: distance of its code points from the Thai ones */
} script;

/* -- Thai and Lao ------------------------------------------------------------------ */

enum {
    HO_HIP = 0x0e2b,
    O_ANG = 0x0e2d,
    WO_WAEN = 0x0e27,
    YO_YAK = 0x0e22,
    RO_RUA = 0x0e23,
    LO_LING = 0x0e25,
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
    THANTHAKHAT = 0x0e4c,
    NIKHAHIT = 0x0e4d,
    LAO_MAI_KON = 0x0ebb,
    LAO_NYO = 0x0ebd, /* a vowel after its consonant */
    LAO_LIGATURES = 0x0edc,
};

/* The parts of a cluster as Thai code points; 0 if absent. A cluster of no characters
 * ends where it begins. */
typedef struct cluster {
    size_t end;
    uint32_t lead_vowel;  /* vowel sign before the consonant */
    uint32_t consonant;   /* the consonant */
    uint32_t trail_vowel; /* vowel sign after it */
    uint32_t mark_vowel;  /* vowel mark above or below it */
    bool tone, silent;
} cluster;

/* The Thai letter or mark that corresponds to the character at `at`; 0 if it is of
 * another script. */
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

/* Adds a mark above or below the consonant to the cluster. */
static void add_mark(cluster *k, uint32_t c, uint32_t shift)
{
    k->silent |= c == THANTHAKHAT;
    k->tone |= c >= 0x0e48 && c <= 0x0e4b;
    bool lao = shift && (c + shift == LAO_MAI_KON || c == NIKHAHIT);
    if (!k->mark_vowel && (c <= SARA_UU || c == MAITAIKHU || lao))
        k->mark_vowel = c;
}

/* Parses a cluster: an optional leading vowel, a letter, then marks and trailing vowels
 * in any order. k.end is always past the last character accepted so far. */
static cluster thai_cluster(const unsigned char *text, size_t size, size_t at,
                            uint32_t shift)
{
    cluster k = {.end = at};
    size_t length;
    uint32_t c = thai_at(text, size, at, shift, &length), last = 0;
    if (c >= 0x0e40 && c <= MAIMALAI) {
        k.lead_vowel = c;
        k.end += length;
        c = thai_at(text, size, k.end, shift, &length);
    }
    /* Any other character also begins a cluster, but not after a leading vowel, which
     * needs a consonant. */
    if (c && (is_consonant(c) || !k.lead_vowel)) {
        k.consonant = is_consonant(c) ? c : 0;
        k.end += length;
        last = c;
    }
    for (;; k.end += length, last = c) {
        c = thai_at(text, size, k.end, shift, &length);
        if (is_mark(c))
            add_mark(&k, c, shift);
        else if (c == SARA_A || c == SARA_AA || c == SARA_AM || c == LAKKHANGYAO ||
                 (shift && c == LAO_NYO - 0x80))
            k.trail_vowel =
                last == NIKHAHIT && c == SARA_AA ? SARA_AM : c; /* decomposed am */
        else
            return k;
    }
}

/* A consonant without any vowel or mark. */
static bool is_bare(const cluster *k)
{
    return k->consonant && !k->lead_vowel && !k->trail_vowel && !k->mark_vowel &&
           !k->silent && !k->tone;
}

static bool is_vowel_letter(const cluster *k)
{
    return is_bare(k) && (k->consonant == O_ANG || k->consonant == WO_WAEN);
}

static bool has_vowel(const cluster *k)
{
    return k->lead_vowel || k->trail_vowel || k->mark_vowel;
}

/* Whether the consonants of `k` and `next` together begin one syllable, as kl does: the
 * second is r, l or w, or a sonorant after the letter ho, and the vowel belongs to
 * both. */
static bool begins_syllable_with(const cluster *k, const cluster *next)
{
    static const uint32_t sonorants[] = {0x0e07, 0x0e0d, 0x0e19, 0x0e21, YO_YAK};
    if (next->lead_vowel || !next->consonant)
        return false;
    bool second = next->consonant == RO_RUA || next->consonant == LO_LING ||
                  next->consonant == WO_WAEN;
    for (size_t i = 0; i < sizeof sonorants / sizeof *sonorants; i++)
        second |= k->consonant == HO_HIP && next->consonant == sonorants[i];
    if (is_bare(k))
        return second && (next->mark_vowel || next->trail_vowel);
    uint32_t v = next->mark_vowel;
    return second && k->lead_vowel && !k->mark_vowel && !k->trail_vowel &&
           !next->trail_vowel &&
           (v == SARA_I || v == SARA_II || v == SARA_UEE || v == MAITAIKHU ||
            (!v && next->tone));
}

/* A syllable being parsed. Invariant: it extends to `end`, `k` is its cluster with the
 * vowel, and `next` and `third` are the two clusters from `end` on. */
typedef struct syllable {
    const unsigned char *text;
    size_t size, end;
    uint32_t shift;
    cluster k, next, third;
} syllable;

/* Appends the next cluster to the syllable. */
static void append_cluster(syllable *r)
{
    r->end = r->next.end;
    r->next = r->third;
    r->third = thai_cluster(r->text, r->size, r->next.end, r->shift);
}

/* Appends the letters that belong to the vowel. Returns whether a final consonant may
 * follow. */
static bool append_vowel(syllable *r)
{
    const cluster *k = &r->k, *next = &r->next;
    /* The vowel is the letter o or w; or it is not written and a final consonant
     * follows. */
    if (!has_vowel(k)) {
        bool vowel_letter = is_vowel_letter(next);
        if (vowel_letter || (!k->tone && is_bare(next) && !is_vowel_letter(&r->third)))
            append_cluster(r);
        return vowel_letter;
    }
    bool diphthong = k->lead_vowel == MAIMUAN || k->lead_vowel == MAIMALAI;
    /* These vowels are always open. */
    if (k->trail_vowel == SARA_A || k->trail_vowel == SARA_AM ||
        k->trail_vowel == LAKKHANGYAO)
        return false;
    /* Vowels whose last part is a letter: ia (เ-ีย), uea (เ-ือ), ai (ไ-ย). */
    bool glide =
        is_bare(next) &&
        ((k->mark_vowel == SARA_II && k->lead_vowel && next->consonant == YO_YAK) ||
         (k->mark_vowel == SARA_UEE && next->consonant == O_ANG) ||
         (diphthong && next->consonant == YO_YAK && !is_vowel_letter(&r->third)));
    bool closed = k->mark_vowel == MAI_HAN_AKAT && is_bare(next);
    if (glide || closed)
        append_cluster(r);
    return !closed && !diphthong;
}

static size_t thai_syllable_end(const unsigned char *text, size_t size, size_t at,
                                uint32_t shift)
{
    syllable r = {text, size, at, shift, .next = thai_cluster(text, size, at, shift)};
    r.third = thai_cluster(text, size, r.next.end, shift);
    r.k = r.next;
    append_cluster(&r);
    if (begins_syllable_with(&r.k, &r.next)) {
        /* The vowel consists of the signs of both clusters. */
        uint32_t lead_vowel = r.k.lead_vowel;
        r.k = r.next;
        r.k.lead_vowel = lead_vowel;
        append_cluster(&r);
    }
    if (append_vowel(&r) && is_bare(&r.next) && !is_vowel_letter(&r.third))
        append_cluster(&r);
    for (;;) { /* silenced consonants, and a bare one before them */
        bool last_but_one = is_bare(&r.next) && r.third.silent;
        if (!r.next.silent && !last_but_one)
            return r.end;
        append_cluster(&r);
    }
}

/* -- Khmer and Burmese ------------------------------------------------------------- */

static bool is_combining(tide_char c)
{
    return c.length && (c.class == TIDE_MARK || c.class == TIDE_IGNORED);
}

/* The end of the marks at `at` and of letters stacked below by `stacker`. *last is the
 * last character before `at` and is updated. */
static size_t skip_signs(const unsigned char *text, size_t size, size_t at,
                         uint32_t stacker, uint32_t *last)
{
    for (;;) {
        tide_char c = tide_char_at(text, size, at);
        bool stacked = *last == stacker && c.class == TIDE_LETTER;
        if (!is_combining(c) && !stacked)
            return at;
        *last = c.code;
        at += c.length;
    }
}

static size_t khmer_syllable_end(const unsigned char *text, size_t size, size_t at,
                                 uint32_t shift)
{
    enum { COENG = 0x17d2, NIKAHIT = 0x17c6, YUUKALEAPINTU = 0x17c8 };
    (void)shift;
    tide_char c = tide_char_at(text, size, at);
    uint32_t last = c.code;
    at = skip_signs(text, size, at + c.length, COENG, &last);
    if (last >= NIKAHIT && last <= YUUKALEAPINTU)
        return at;
    c = tide_char_at(text, size, at);
    bool consonant = c.code >= 0x1780 && c.code <= 0x17a2;
    return consonant && !is_combining(tide_char_at(text, size, at + c.length))
               ? at + c.length
               : at;
}

static size_t burmese_syllable_end(const unsigned char *text, size_t size, size_t at,
                                   uint32_t shift)
{
    enum { DOT_BELOW = 0x1037, VIRAMA = 0x1039, ASAT = 0x103a };
    (void)shift;
    tide_char c = tide_char_at(text, size, at);
    for (;;) {
        uint32_t last = c.code;
        at = skip_signs(text, size, at + c.length, VIRAMA, &last);
        c = tide_char_at(text, size, at);
        if (c.class != TIDE_LETTER)
            return at;
        tide_char sign = tide_char_at(text, size, at + c.length);
        /* A consonant with asat or virama ends this syllable; a dot may come
         * between. */
        if (sign.code == DOT_BELOW)
            sign = tide_char_at(text, size, at + c.length + sign.length);
        if (sign.code != VIRAMA && sign.code != ASAT)
            return at;
    }
}

/* -- scripts ----------------------------------------------------------------------- */

static const script scripts[] = {
    {0x0e00, 0x0e7f, thai_syllable_end, 0},
    {0x0e80, 0x0eff, thai_syllable_end, 0x80},
    {0x1000, 0x109f, burmese_syllable_end, 0},
    {0x1780, 0x17ff, khmer_syllable_end, 0},
    {0xa9e0, 0xa9ff, burmese_syllable_end, 0},
    {0xaa60, 0xaa7f, burmese_syllable_end, 0},
};

static const script *find_script(tide_char c)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (c.class == TIDE_LETTER && c.code >= scripts[i].first &&
            c.code <= scripts[i].last)
            return &scripts[i];
    return NULL;
}

bool tide_char_is_syllabic(tide_char c)
{
    return c.code >= scripts[0].first && find_script(c);
}

size_t tide_syllable_end(const unsigned char *text, size_t size, size_t at)
{
    const script *s = find_script(tide_char_at(text, size, at));
    return s ? s->end(text, size, at, s->shift) : at;
}
