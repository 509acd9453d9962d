/* test_tokens.c - words of the kinds words, social and log; labels; omitted words. */
#include "base/base.h"
#include "token/split.h"
#include "token/token.h"
#include "tokens_fixture.h"

/* -- words, compared with a simple oracle ------------------------------------------ */

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Whether the byte at i is part of a word; bytes outside the text are 0. */
static bool is_inside(const char *text, size_t size, size_t at)
{
    size_t left = at, right = at;
    int before = at > 0 ? text[at - 1] : 0, after = at + 1 < size ? text[at + 1] : 0;
    switch (text[at]) {
    case '\'':
        return is_letter(before) && is_letter(after);
    case '.':
    case ',':
        return is_digit(before) && is_digit(after);
    case '_':
        while (left > 0 && text[left] == '_')
            left--;
        while (right + 1 < size && text[right] == '_')
            right++;
        return (is_letter(text[left]) || is_digit(text[left])) &&
               (is_letter(text[right]) || is_digit(text[right]));
    default:
        return is_letter(text[at]) || is_digit(text[at]);
    }
}

static bool is_number(const char *word, size_t length)
{
    return strspn(word, "0123456789.,") >= length;
}

static void oracle_add_word(transcript *s, const char *word, size_t length,
                            tide_token_action numbers)
{
    char small[4096];
    for (size_t i = 0; i < length; i++)
        small[i] = (char)(is_letter(word[i]) ? word[i] | 32 : word[i]);
    if (numbers == TIDE_DROP && is_number(word, length)) {
        s->omitted++;
    } else if (numbers == TIDE_MASK && is_number(word, length)) {
        transcript_add(s, "<number>", 8, ' ');
    } else {
        size_t kept = length < TIDE_WORD_MAX ? length : TIDE_WORD_MAX;
        s->cut += kept < length;
        s->dropped += length - kept;
        transcript_add(s, small, kept, ' ');
    }
}

static transcript oracle_words(const char *text, size_t size, tide_token_action numbers)
{
    transcript s = {0};
    size_t start = 0;
    bool in_sentence = false;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && is_inside(text, size, i))
            continue;
        size_t had = s.size;
        if (i > start)
            oracle_add_word(&s, text + start, i - start, numbers);
        start = i + 1;
        in_sentence |= s.size > had;
        if (i < size && text[i] == 0x7f) {
            s.invalid += i == 0 || text[i - 1] != 0x7f;
            s.dropped++;
        }
        if ((i == size || text[i] == '\n') && in_sentence) {
            transcript_add(&s, NULL, 0, '\n');
            in_sentence = false;
        }
    }
    return s;
}

/* Runs stay far below the window of a splitter. */
static size_t random_ascii(tide_rng *rng, char *text, size_t capacity)
{
    static const char likely[] = "''..,,__--  \n\t\x7f\x7f"
                                 "0123456789ABCxyz#@:/!\"";
    size_t size = 1 + tide_rng_below(rng, capacity - 1), run = 0;
    for (size_t i = 0; i < size; i++, run++) {
        uint64_t kind = tide_rng_below(rng, 10);
        text[i] = kind < 4   ? (char)('a' + tide_rng_below(rng, 26))
                  : kind < 9 ? likely[tide_rng_below(rng, sizeof likely - 1)]
                             : (char)tide_rng_below(rng, 128);
        if (kind == 9 && tide_rng_below(rng, 20) == 0)
            for (size_t n = tide_rng_below(rng, 150); n > 0 && i + 1 < size; n--, i++)
                text[i + 1] = text[i];
        if (run > 500) {
            text[i] = ' ';
            run = 0;
        }
    }
    return size;
}

static void ascii_words_match_the_oracle_for_any_feeds(void **state)
{
    (void)state;
    enum { TEXT = 5000 };
    static const size_t pieces[] = {1, 7, 64, TEXT, 0};
    char text[TEXT + 1];
    tide_rng rng = tide_rng_seeded(11);
    for (int run = 0; run < 150; run++) {
        tide_tokenizer_options options = words;
        options.numbers = (tide_token_action)(run % 3);
        size_t size = random_ascii(&rng, text, TEXT);
        text[size] = '\0';
        transcript expected = oracle_words(text, size, options.numbers);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            transcript s = transcript_make(&options, text, size, pieces[i],
                                           1 + tide_rng_below(&rng, BATCH), &rng);
            assert_true(transcript_equal(&s, &expected));
            free(s.bytes);
        }
        free(expected.bytes);
    }
}

/* Models that were trained with the first rules keep them. */
static void first_rules_are_unchanged(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"ΟΔΥΣΣΕΎΣ Σίσυφος σίσυφοσ", "οδυσσεύσ σίσυφοσ σίσυφοσ"},
        {"ไทยแลนด์ ภาษา", "ไทยแลนด์ ภาษา"},
        {"កម្ពុជា မြန်မာ ປະເທດ", "កម្ពុជា မြန်မာ ປະເທດ"},
        {"コーヒー", "コ ー ヒ ー"}};
    const tide_tokenizer_options first = {.kind = TIDE_TOKENIZER_WORDS,
                                          .first_rules = true};
    CHECK_TABLE(first, table);
}

static void words_follow_unicode(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"Don\xe2\x80\x99t 'quote' rock'n'roll o' 'tis",
         "don't quote rock'n'roll o tis"},
        {"3.14 1,000.5 1. .5 a.b 1.b 2,3", "3.14 1,000.5 1 5 a b 1 b 2,3"},
        {"snake_case __init__ a__b _ ___ x_", "snake_case init a__b x"},
        {"ΟΔΥΣΣΕΎΣ Σίσυφος σίσυφοσ", "οδυσσεύς σίσυφος σίσυφος"},
        {"Σ ς aΣ ΠΑΤΡῸΣ Σ'ΑΥΤΌΣ", "σ σ aσ πατρὸς σ'αυτός"},
        {"Straße STRASSE", "strasse strasse"},
        {"İstanbul ISPARTA", "i̇stanbul isparta"},
        {"ﬁne ﬃ ＡＢＣ　１２３ Ⅷ", "fine ffi abc 123 viii"},
        {"e\xcc\x81t\xc3\xa9 \xc3\x89T\xc3\x89", "\xc3\xa9t\xc3\xa9 \xc3\xa9t\xc3\xa9"},
        {"\xcc\x81 \xcc\x81"
         "a",
         "a"},
        {"العربية، لغة؟ ٣٫١٤", "العربية لغة ٣٫١٤"},
        {"हिन्दी में।", "हिन्दी में"},
        {"ไทยแลนด์ ภาษา", "ไทย แลนด์ ภา ษา"},
        {"กาแฟx2ไทย กา_แฟ กา\xe2\x80\x8bแฟ ๑๒กา", "กา แฟ x2 ไทย กา แฟ กา แฟ ๑๒ กา"},
        {"コーヒー ー ﾗｰ", "コー ヒー ー ラー"},
        {"中文、日本語のテキスト。", "中 文 日 本 語 の テ キ ス ト"},
        {"한국어는 abc中한글", "한국어는 abc 中 한글"},
        {"ｶﾞ か\xe3\x82\x99 人々", "ガ が 人 々"},
        {"soft\xc2\xadhyphen zero\xe2\x80\x8bwidth nb\xc2\xa0sp",
         "softhyphen zero width nb sp"},
        {"\xe2\x80\x8fשלום\xe2\x80\x8e \xef\xbb\xbf"
         "bom",
         "שלום bom"},
        {"می\xe2\x80\x8cخواهم", "میخواهم"},
        {"Brand™ m² ½ №5", "brand m2 1⁄2 5"},
        {"col·lecció об\xca\xbcєкт", "col·lecció об'єкт"},
        {"\xef\xb7\xba", "\xef\xb7\xba"},
        {"😀a👨‍👩‍👧b", "a b"},
        {"— – … ¡«»!?", ""},
        {"a\xe2\x80\xa8"
         "b\xe2\x80\xa9"
         "c",
         "a b c"},
    };
    CHECK_TABLE(words, table);
}

static void numbers_are_kept_masked_or_dropped(void **state)
{
    (void)state;
    static const char text[] = "1 2.5 x1 1x ٣ 1_2 1,000";
    tide_tokenizer_options options = words;
    check(&options, text, "1 2.5 x1 1x ٣ 1_2 1,000");
    options.numbers = TIDE_MASK;
    check(&options, text, "<number> <number> x1 1x <number> 1_2 <number>");
    options.numbers = TIDE_DROP;
    check(&options, text, "x1 1x 1_2");
    transcript s = tokenize(&options, text);
    assert_int_equal(s.omitted, 4);
    free(s.bytes);
}

static void invalid_word_is_dropped_whole_and_counted_once(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
        unsigned invalid, dropped;
    } table[] = {
        {"one tw\xffo three", "one three", 1, 4},
        {"a\x80\xbf\xfe\xff"
         "b",
         "", 1, 6},
        {"\xc0\xaf \xe0\x80\xaf", "", 2, 5},
        {"\xed\xa0\x80x\xed\xb0\x80", "", 1, 7},
        {"\xf4\x90\x80\x80"
         "é\xf8\x88\x80\x80\x80",
         "", 1, 11},
        {"é\xc3", "", 1, 3},
        {"\xe2\x82z\xf0\x9f\x8c", "", 1, 6},
        {"\xc3\xc3\xa9", "", 1, 3},
        {"caf\xe9,th\xe9\xe2tre;(Z\xfcrich) rich", "rich", 3, 17},
        {"J\x92"
         "aime arriv\xe9"
         "e\x85 two",
         "two", 2, 14},
        {"中\xe4\xb8 文", "中 文", 1, 2},
        {"a\xff\x7f"
         "b",
         "b", 2, 3},
        {"a\x7f"
         "b\xc2\x85"
         "c",
         "a b c", 2, 3},
        {"\x8a\x7f\x7f\x96\xdf b", "b", 3, 5},
        {"\x7f\xc2\x9f\xc2 b", "b", 2, 4},
    };
    static const tide_tokenizer_kind kinds[] = {
        TIDE_TOKENIZER_WORDS, TIDE_TOKENIZER_SOCIAL, TIDE_TOKENIZER_LOG};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            tide_tokenizer_options options = {.kind = kinds[k]};
            check(&options, table[i].text, table[i].expected);
            transcript s = tokenize(&options, table[i].text);
            assert_int_equal(s.invalid, table[i].invalid);
            assert_int_equal(s.dropped, table[i].dropped);
            assert_int_equal(s.cut, 0);
            free(s.bytes);
        }
}

/* -- social and log ---------------------------------------------------------------- */

static void social_recognizes_tags_urls_and_emoticons(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"Hi @User_1, #Tag! ＃東京2020", "hi @user_1 #tag #東京2020"},
        {"#1 # @ a#b a@b #a#b @a@b #don't", "1 a b a b #a #b @a @b #don t"},
        {"See HTTPS://T.co/AbC. (http://x.org/a_(b))",
         "see https://t.co/abc http://x.org/a_(b"},
        {"www.Example.com t.co/x, pic.twitter.com/Y1",
         "www.example.com t.co/x pic.twitter.com/y1"},
        {"and/or e.g./i.e. 1.5/2.0 http:// www.", "and or e g i e 1.5 2.0 http www"},
        {"https://t.co/xを見て", "https://t.co/x を 見 て"},
        {"\"http://a.b/c\"", "http://a.b/c"},
        {"😀😀x👍🏽", "😀 😀 x 👍🏽"},
        {"👨‍👩‍👧‍👦👩🏽‍🚀",
         "👨‍👩‍👧‍👦 👩🏽‍🚀"},
        {"🇩🇪🇫🇷🇪", "🇩🇪 🇫🇷 🇪"},
        {"🏴\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xa5\xf3\xa0\x81\xae\xf3\xa0"
         "\x81\xa7\xf3\xa0\x81\xbf",
         "🏴\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xa5\xf3\xa0\x81\xae\xf3\xa0"
         "\x81\xa7\xf3\xa0\x81\xbf"},
        {"1️⃣2⃣ #️⃣ *️⃣", "1⃣ 2⃣ #⃣ *⃣"},
        {"❤️ ❤ ☀ © ©️ ™", "❤ ❤ ☀ ©"},
        {":) :-) ;) :D =P :'( :)))) great:)", ":) :-) ;) :d =p :) great :)"},
        {"<3 </3 &lt;3 &lt;/3 <30", "<3 </3 <3 </3 30"},
        {"10:30 5:3 note:see :/path ://", "10 30 5 3 note see path"},
        {"AT&amp;T a&lt;b&gt;c &ampx", "at t a b c ampx"},
        {"Don't 3.14 中文", "don't 3.14 中 文"},
    };
    CHECK_TABLE(social, table);
}

static void social_applies_the_action_of_each_class(void **state)
{
    (void)state;
    static const char text[] = "Go #Big_1 @Me http://a.b/c 42 #東京";
    tide_tokenizer_options options = social;
    check(&options, text, "go #big_1 @me http://a.b/c 42 #東京");
    options.hashtags = TIDE_MASK;
    check(&options, text, "go <hashtag> @me http://a.b/c 42 <hashtag>");
    options.mentions = TIDE_MASK;
    options.urls = TIDE_MASK;
    options.numbers = TIDE_MASK;
    check(&options, text, "go <hashtag> <user> <url> <number> <hashtag>");
    options.hashtags = TIDE_DROP;
    options.mentions = TIDE_DROP;
    options.urls = TIDE_DROP;
    check(&options, text, "go <number>");
    options.hashtags = TIDE_BARE;
    options.mentions = TIDE_BARE;
    check(&options, text, "go big_1 me <number> 東 京");
}

static void long_url_is_truncated_if_kept_and_complete_if_masked(void **state)
{
    (void)state;
    static const char text[] =
        "https://example.org/"
        "0123456789012345678901234567890123456789012345678901234567890123456789 end";
    tide_tokenizer_options options = social;
    transcript s = tokenize(&options, text);
    assert_int_equal(s.size, TIDE_WORD_MAX + 1 + 4 + 1);
    assert_int_equal(s.cut, 1);
    assert_int_equal(s.dropped, 90 - TIDE_WORD_MAX);
    free(s.bytes);
    options.urls = TIDE_MASK;
    s = tokenize(&options, text);
    assert_int_equal(s.cut + s.dropped, 0);
    free(s.bytes);
}

static void log_masks_variable_parts(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"[1234] pid=99, (-5) +3 1,000 3.14",
         "<number> pid <number> <number> <number> <number> <number>"},
        {"12ms 4.5GB 1h30m 99% 1e-9 2.5E+3s 10x",
         "<number> <number> <number> <number> <number> <number> <number>"},
        {"3rd 2fast x86 sha256 4ever", "3rd 2fast x86 sha256 4ever"},
        {"0x7FFE 0xg a1b2c3d4 deadbeef 12345678 a1b2c3d deadbeef1z",
         "<hex> 0xg <hex> deadbeef <number> a1b2c3d deadbeef1z"},
        {"123E4567-e89b-12d3-a456-426614174000,", "<uuid>"},
        {"10.0.0.1 10.0.0.1:80 /10.0.0.1:50010 10.0.0.0/8 256.1.1.1 1.2.3.4.5",
         "<ip> <ip> <ip> <ip> <number> <number>"},
        {"::1 fe80::1%eth0 2001:db8:0:0:0:0:0:1 [::1]:80 a::b",
         "<ip> <ip> <ip> <ip> <number> a b"},
        {"2024-01-31 2024-01-31T12:34:56.789Z 2024-01-31T12:34+01:00",
         "<time> <time> <time>"},
        {"12:34:56 12:34:56,789 31/Jan/2024:12:34:56 2024/01/31",
         "<time> <time> <time> <time>"},
        {"https://a.b/c?d=e, (s3://bucket/key)", "<url> <url>"},
        {"root@example.org <a.b+c@x.co> root@localhost",
         "<email> <email> root localhost"},
        {"/var/log/a.log:12 ~/x ../y ./z C:\\Win\\x. / //",
         "<path> <number> <path> <path> <path> <path>"},
        {"GET /index.html?x=1 HTTP/1.1\"", "get <path> x <number> http <number>"},
        {"src/main.c:42 and/or a\\b", "src main.c <number> and or a b"},
        {"worker-12 blk_-1608 node-a1b2c3d4 pool-1-thread-2",
         "worker <number> blk <number> node <hex> pool <number> thread <number>"},
        {"com.example.Foo$Bar key=value foo_bar.baz-qux a__b can't",
         "com.example.foo bar key value foo_bar.baz-qux a__b can't"},
        {"Foo::bar() -> \"Quoted\" 'x' {a:b} end.", "foo bar quoted x a b end"},
        {"/home/jürgen/文 /a\xff/b /c http://a.b/\xff?c 5\xff", "<path> <path>"},
        {"Größe=5 中文 ٣", "grösse <number> 中 文 <number>"},
    };
    CHECK_TABLE(logs, table);
}

/* -- labels ------------------------------------------------------------------------ */

static void only_a_label_is_one_word_in_every_kind(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"good __label__News", "good __label__News"},
        {"__label__Sci-Fi\t__label__#Tag", "__label__Sci-Fi __label__#Tag"},
        {"__label__12 __label__0x1f __label__", "__label__12 __label__0x1f __label__"},
        {"__label__http://A.org/?b=1,2!", "__label__http://A.org/?b=1,2!"},
        {"__label__ÉTÉ中😀 __label____label__b", "__label__ÉTÉ中😀 __label____label__b"},
        {"__label_a _label__a __labe", "label_a label__a labe"},
        {"(__label__A) x__label__A __LABEL__A", "label__a x__label__a label__a"},
        {"__label__A,\xff"
         "B __label__b",
         "__label__b"},
    };
    enum { KINDS = TIDE_TOKENIZER_LOG + 1, EVERYWHERE = 5 };
    for (size_t kind = 0; kind < KINDS; kind++)
        check_table(&(tide_tokenizer_options){.kind = (tide_tokenizer_kind)kind}, table,
                    kind == TIDE_TOKENIZER_SPACE ? EVERYWHERE
                                                 : sizeof table / sizeof *table);
    for (size_t kind = 0; kind < KINDS; kind++)
        check(&(tide_tokenizer_options){.kind = (tide_tokenizer_kind)kind,
                                        .shortest = 2,
                                        .longest = 12,
                                        .stop_words = "__label__no"},
              "ab __label__no __label__No __label__long", "ab __label__No");
}

/* For any text after the prefix and any length up to the window of a splitter. */
static void label_matches_kind_space(void **state)
{
    (void)state;
    enum { LONGEST = 900 };
    static const char mark[] = "a __label__", rest[] = " b\n";
    unsigned char text[LONGEST + 32];
    tide_rng rng = tide_rng_seeded(21);
    for (int run = 0; run < 3000; run++) {
        size_t start = sizeof mark - 1;
        memcpy(text, mark, start);
        size_t end = start + random_text(&rng, text + start, run % 2 ? LONGEST : 40);
        for (size_t i = start; i < end; i++)
            if (text[i] <= 0x20)
                text[i] = '_';
        memcpy(text + end, rest, sizeof rest - 1);
        transcript expected = oracle_transcript(text, end + sizeof rest - 1, true);
        for (size_t kind = TIDE_TOKENIZER_WORDS; kind <= TIDE_TOKENIZER_LOG; kind++) {
            tide_tokenizer_options options = {.kind = (tide_tokenizer_kind)kind};
            transcript s = transcript_make(&options, text, end + sizeof rest - 1, 0,
                                           1 + tide_rng_below(&rng, 4), &rng);
            assert_true(transcript_equal(&s, &expected));
            free(s.bytes);
        }
        free(expected.bytes);
    }
}

/* -- omitted words ----------------------------------------------------------------- */

static void stop_words_are_omitted_in_every_kind(void **state)
{
    (void)state;
    static const char stops[] = "the\r\n\n#tag\nétait\n<number>\nlast";
    static const char text[] = "the cat était #tag 12 last";
    static const char *const expected[] = {"cat tag 12", "cat 12", "cat 12", "cat tag"};
    for (size_t kind = TIDE_TOKENIZER_WORDS; kind <= TIDE_TOKENIZER_LOG; kind++) {
        tide_tokenizer_options options = {.kind = (tide_tokenizer_kind)kind,
                                          .stop_words = stops};
        check(&options, text, expected[kind]);
        transcript s = tokenize(&options, text);
        assert_true(s.omitted >= 3);
        free(s.bytes);
        assert_true(tide_tokenizer_bytes(&options) >
                    tide_tokenizer_bytes(&variants[1]) + sizeof stops);
    }
}

static void all_stop_words_are_found_and_no_others(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    char *text = calloc(COUNT, 16), *end = text;
    for (int i = 0; i < COUNT; i++)
        end += sprintf(end, "w%d\n", 2 * i);
    tide_stop_words *set = tide_stop_words_new(text, NULL);
    assert_non_null(set);
    for (int i = 0; i < 2 * COUNT; i++) {
        char word[16];
        int length = sprintf(word, "w%d", i);
        assert_int_equal(tide_stop_words_contain(set, word, (size_t)length),
                         i % 2 == 0);
    }
    assert_false(tide_stop_words_contain(set, "w", 1));
    tide_stop_words_free(set);
    free(text);
}

static void lengths_are_in_characters(void **state)
{
    (void)state;
    for (size_t kind = TIDE_TOKENIZER_WORDS; kind <= TIDE_TOKENIZER_LOG; kind++) {
        tide_tokenizer_options options = {
            .kind = (tide_tokenizer_kind)kind, .shortest = 2, .longest = 3};
        check(&options, "a ab abc abcd é éé ééé éééé", "ab abc éé ééé");
        transcript s = tokenize(&options, "a ab abc abcd é éé ééé éééé");
        assert_int_equal(s.omitted, 4);
        free(s.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_words_match_the_oracle_for_any_feeds),
        cmocka_unit_test(words_follow_unicode),
        cmocka_unit_test(first_rules_are_unchanged),
        cmocka_unit_test(numbers_are_kept_masked_or_dropped),
        cmocka_unit_test(invalid_word_is_dropped_whole_and_counted_once),
        cmocka_unit_test(social_recognizes_tags_urls_and_emoticons),
        cmocka_unit_test(social_applies_the_action_of_each_class),
        cmocka_unit_test(long_url_is_truncated_if_kept_and_complete_if_masked),
        cmocka_unit_test(log_masks_variable_parts),
        cmocka_unit_test(only_a_label_is_one_word_in_every_kind),
        cmocka_unit_test(label_matches_kind_space),
        cmocka_unit_test(stop_words_are_omitted_in_every_kind),
        cmocka_unit_test(all_stop_words_are_found_and_no_others),
        cmocka_unit_test(lengths_are_in_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
