/* test_syllables.c - syllables of Thai, Lao, Khmer and Burmese: known words, and a
 * second implementation of the rules over arrays of code points. */
#include "base/base.h"
#include "token/split.h"
#include "tokens_fixture.h"

static void words_are_split_into_syllables(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"คนไทยชอบกาแฟ", "คน ไทย ชอบ กา แฟ"},
        {"เมื่อก่อนการเรียนหนังสือ", "เมื่อ ก่อน การ เรียน หนัง สือ"},
        {"เปลี่ยนใหม่กลางกองพระ", "เปลี่ยน ใหม่ กลาง กอง พระ"},
        {"วันจันทร์รถยนต์", "วัน จันทร์ รถ ยนต์"},
        {"ປະຊາຊົນລາວໄດ້ຮັບ", "ປະ ຊາ ຊົນ ລາວ ໄດ້ ຮັບ"},
        {"ໂຮງຮຽນສະຖານສຶກສາ", "ໂຮງ ຮຽນ ສະ ຖານ ສຶກ ສາ"},
        {"កម្ពុជាស្ត្រី", "ក ម្ពុ ជា ស្ត្រី"},
        {"ភាសាខ្មែរការងារ", "ភា សា ខ្មែរ ការ ងារ"},
        {"မြန်မာနိုင်ငံ", "မြန် မာ နိုင် ငံ"},
        {"သတ္တမတက္ကသိုလ်", "သတ္တ မ တက္က သိုလ်"},
        {"၁၂ခု abcကခ", "၁၂ ခု abc က ခ"},
    };
    CHECK_TABLE(words, table);
    CHECK_TABLE(social, table);
}

/* -- oracle ------------------------------------------------------------------------ */

enum { LONGEST = 60 };

static bool in(uint32_t c, uint32_t first, uint32_t last)
{
    return c >= first && c <= last;
}

static bool letter(uint32_t c)
{
    int category = utf8proc_category((utf8proc_int32_t)c);
    return category == UTF8PROC_CATEGORY_LO || category == UTF8PROC_CATEGORY_LM;
}

/* starts[i]: a syllable begins at code point i. */
static void burmese(const uint32_t *c, size_t n, bool *starts)
{
    for (size_t i = 1; i < n; i++) {
        size_t sign = i + 1 < n && c[i + 1] == 0x1037 ? i + 2 : i + 1;
        bool ends = sign < n && (c[sign] == 0x1039 || c[sign] == 0x103a);
        starts[i] = letter(c[i]) && c[i - 1] != 0x1039 && !ends;
    }
}

static void khmer(const uint32_t *c, size_t n, bool *starts)
{
    for (size_t i = 1; i < n; i++)
        starts[i] = letter(c[i]) && c[i - 1] != 0x17d2;
    for (size_t i = 1; i < n; i++) {
        bool bare = in(c[i], 0x1780, 0x17a2) && (i + 1 == n || starts[i + 1]);
        if (!starts[i] || !bare || in(c[i - 1], 0x17c6, 0x17c8))
            continue;
        starts[i] = false;
        while (i + 1 < n && !starts[i + 1])
            i++;
        i++; /* what comes next has a syllable of its own */
    }
}

/* A cluster of Thai, or of Lao converted to Thai code points. */
typedef struct piece {
    size_t at;
    uint32_t before, letter, after, vowel;
    bool tone, silent;
} piece;

static size_t cut_pieces(const uint32_t *c, size_t n, bool lao, piece *pieces)
{
    size_t count = 0;
    for (size_t i = 0; i < n;) {
        piece p = {.at = i};
        if (in(c[i], 0xe40, 0xe44))
            p.before = c[i++];
        bool consonant = i < n && (in(c[i], 0xe01, 0xe2e) || in(c[i], 0xe5c, 0xe5f));
        if (consonant)
            p.letter = c[i];
        if (consonant || (!p.before && i < n))
            i++;
        for (; i < n; i++) {
            bool mark =
                c[i] == 0xe31 || in(c[i], 0xe34, 0xe3c) || in(c[i], 0xe47, 0xe4e);
            bool after = c[i] == 0xe30 || c[i] == 0xe32 || c[i] == 0xe33 ||
                         c[i] == 0xe45 || (lao && c[i] == 0xe3d);
            if (!mark && !after)
                break;
            if (after)
                p.after = c[i] == 0xe32 && c[i - 1] == 0xe4d ? 0xe33 : c[i];
            bool vowel = c[i] == 0xe31 || in(c[i], 0xe34, 0xe39) || c[i] == 0xe47 ||
                         (lao && (c[i] == 0xe3b || c[i] == 0xe4d));
            if (mark && vowel && !p.vowel)
                p.vowel = c[i];
            p.tone |= in(c[i], 0xe48, 0xe4b);
            p.silent |= c[i] == 0xe4c;
        }
        pieces[count++] = p;
    }
    return count;
}

static bool bare(const piece *p)
{
    return p->letter && !p->before && !p->after && !p->vowel && !p->tone && !p->silent;
}

static bool either(const piece *p, uint32_t a, uint32_t b)
{
    return bare(p) && (p->letter == a || p->letter == b);
}

static void thai(const uint32_t *c, size_t n, bool lao, bool *starts)
{
    piece p[LONGEST + 4] = {{0}};
    size_t count = cut_pieces(c, n, lao, p);
    memset(&p[count], 0, 4 * sizeof *p);
    for (size_t i = 1; i < n; i++)
        starts[i] = false;
    for (size_t i = 0; i < count;) {
        starts[p[i].at] = true;
        piece k = p[i], *s = &p[i + 1];
        bool liquid = s->letter == 0xe23 || s->letter == 0xe25 || s->letter == 0xe27;
        bool nasal = s->letter == 0xe07 || s->letter == 0xe0d || s->letter == 0xe19 ||
                     s->letter == 0xe21 || s->letter == 0xe22;
        bool pair = !s->before && (liquid || (k.letter == 0xe2b && nasal));
        bool above = s->vowel == 0xe34 || s->vowel == 0xe35 || s->vowel == 0xe37 ||
                     s->vowel == 0xe47 || (!s->vowel && s->tone);
        if (pair && ((bare(&k) && (s->vowel || s->after)) ||
                     (k.before && !k.vowel && !k.after && !s->after && above))) {
            s->before = k.before;
            k = *s;
            i++;
        }
        i++;
        bool open;
        if (!k.before && !k.after && !k.vowel) {
            open = either(&p[i], 0xe2d, 0xe27);
            i += open || (!k.tone && bare(&p[i]) && !either(&p[i + 1], 0xe2d, 0xe27));
        } else if (k.after == 0xe30 || k.after == 0xe33 || k.after == 0xe45) {
            open = false;
        } else {
            bool ai = in(k.before, 0xe43, 0xe44), an = k.vowel == 0xe31 && bare(&p[i]);
            i +=
                an || (k.vowel == 0xe35 && k.before && either(&p[i], 0xe22, 0xe22)) ||
                (k.vowel == 0xe37 && either(&p[i], 0xe2d, 0xe2d)) ||
                (ai && either(&p[i], 0xe22, 0xe22) && !either(&p[i + 1], 0xe2d, 0xe27));
            open = !ai && !an;
        }
        i += open && bare(&p[i]) && !either(&p[i + 1], 0xe2d, 0xe27);
        while (i < count && (p[i].silent || (bare(&p[i]) && p[i + 1].silent)))
            i++;
    }
}

typedef struct alphabet {
    uint32_t first, last;
    uint32_t often[6]; /* code points with special rules, drawn more often */
} alphabet;

static const alphabet alphabets[] = {
    {0xe01, 0xe4e, {0xe2d, 0xe27, 0xe22, 0xe40, 0xe4c, 0xe35}},
    {0xe81, 0xecd, {0xead, 0xea7, 0xea2, 0xec0, 0xecc, 0xeb5}},
    {0x1000, 0x103f, {0x1039, 0x103a, 0x1037, 0x1000, 0x1001, 0x103a}},
    {0x1780, 0x17d2, {0x17d2, 0x17c6, 0x17b6, 0x1780, 0x1781, 0x17d2}},
};

static uint32_t random_code(tide_rng *rng, const alphabet *a)
{
    return tide_rng_below(rng, 2)
               ? a->often[tide_rng_below(rng, 6)]
               : a->first + (uint32_t)tide_rng_below(rng, a->last - a->first + 1);
}

/* Random letters and marks, the first a letter; at[i] is the offset of the i-th.
 * Returns their number. */
static size_t random_run(tide_rng *rng, const alphabet *a, uint32_t codes[LONGEST],
                         unsigned char text[4 * LONGEST], size_t at[LONGEST + 1])
{
    size_t wanted = 1 + tide_rng_below(rng, LONGEST), n = 0;
    at[0] = 0;
    while (n < wanted) {
        codes[n] = random_code(rng, a);
        unsigned char *bytes = text + at[n];
        size_t length = (size_t)utf8proc_encode_char((utf8proc_int32_t)codes[n], bytes);
        tide_char_class class = tide_char_decode(bytes, length).class;
        if (class != TIDE_LETTER && (class != TIDE_MARK || !n))
            continue;
        at[n + 1] = at[n] + length;
        n++;
    }
    return n;
}

static void syllables_follow_the_rules(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(3);
    for (int run = 0; run < 200000; run++) {
        const alphabet *a = &alphabets[run % 4];
        uint32_t codes[LONGEST];
        unsigned char text[4 * LONGEST];
        size_t at[LONGEST + 1], n = random_run(&rng, a, codes, text, at), end = 0;
        bool starts[LONGEST] = {true}, lao = a->first == 0xe81;
        for (size_t i = 0; lao && i < n; i++)
            codes[i] -= 0x80;
        if (a->first == 0x1000)
            burmese(codes, n, starts);
        else if (a->first == 0x1780)
            khmer(codes, n, starts);
        else
            thai(codes, n, lao, starts);
        for (size_t i = 0; i < n; i++) {
            if (starts[i] != (at[i] == end))
                fail_msg("%.*s: code point %zu", (int)at[n], text, i);
            if (starts[i])
                end = tide_syllable_end(text, at[n], at[i]);
        }
        assert_int_equal(end, at[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_split_into_syllables),
        cmocka_unit_test(syllables_follow_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
