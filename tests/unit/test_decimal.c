/* test_decimal.c - floats as text and back: the shortest digits, the same bits, any
 * locale. */

#include "base/base.h"

#include <wordtide/tools.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The text of the fewest digits for which the nearest decimal number reads back. */
static void naive_text(float value, char text[40])
{
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, 40, "%.*e", digits - 1, (double)value);
        if (bits_of(strtof(text, NULL)) == bits_of(value))
            return;
    }
    fail_msg("nine digits do not give %a back", (double)value);
}

/* Digits without sign, point, exponent and the zeros around them. */
static void bare_digits(const char *text, char digits[40])
{
    size_t count = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count || *text != '0'))
            digits[count++] = *text;
    while (count && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
}

static void check(float value)
{
    char text[TIDE_DECIMAL_MAX + 1], naive[40], ours[40], others[40];
    size_t length = tide_decimal_write(value, text);
    assert_in_range(length, 1, TIDE_DECIMAL_MAX);
    text[length] = '\0';
    naive_text(value, naive);
    bare_digits(text, ours);
    bare_digits(naive, others);
    float back = 0;
    const char *end = tide_decimal_read(text, &back);
    if (strcmp(ours, others) || bits_of(strtof(text, NULL)) != bits_of(value) || !end ||
        *end || bits_of(back) != bits_of(value))
        fail_msg("%a is %s, and %s was written and read as %a", (double)value, naive,
                 text, (double)back);
}

static void random_floats_have_the_shortest_digits(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(3);
    for (int i = 0; i < 150000; i++) {
        uint32_t bits = (uint32_t)tide_rng_next(&rng);
        if ((bits & 0x7f800000) != 0x7f800000)
            check(float_of(bits));
        check((float)tide_rng_normal(&rng) * 0.2f);
    }
}

static void subnormal_floats_have_the_shortest_digits(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(4);
    for (uint32_t bits = 0; bits < 20000; bits++)
        check(float_of(bits));
    for (int i = 0; i < 100000; i++)
        check(float_of((uint32_t)tide_rng_next(&rng) & 0x807fffff));
}

static void powers_of_two_and_ten_and_their_neighbors_do(void **state)
{
    (void)state;
    for (uint32_t exponent = 0; exponent < 255; exponent++)
        for (uint32_t near = 0; near < 5; near++) {
            check(float_of((exponent << 23) + near));
            check(float_of(((exponent + 1) << 23) - near - 1));
        }
    for (int power = -45; power <= 38; power++)
        for (int near = -3; near <= 3; near++) {
            uint32_t bits = bits_of((float)pow(10, power)) + (uint32_t)near;
            if ((bits & 0x7f800000) != 0x7f800000)
                check(float_of(bits));
        }
}

static void whole_numbers_and_short_fractions_do(void **state)
{
    (void)state;
    for (int i = -70000; i < 70000; i++) {
        check((float)i);
        check((float)i * 257);
        check((float)i / 1000);
        check((float)i / 1024);
    }
}

static void expect_text(float value, const char *wanted)
{
    char text[TIDE_DECIMAL_MAX + 1];
    text[tide_decimal_write(value, text)] = '\0';
    assert_string_equal(text, wanted);
}

static void texts_have_the_documented_form(void **state)
{
    (void)state;
    expect_text(0.0f, "0");
    expect_text(-0.0f, "-0");
    expect_text(1.0f, "1");
    expect_text(-0.5f, "-0.5");
    expect_text(0.1f, "0.1");
    expect_text(120.0f, "120");
    expect_text(-123.456f, "-123.456");
    expect_text(1e8f, "100000000");
    expect_text(1e9f, "1e9");
    expect_text(0.00001f, "0.00001");
    expect_text(-0.0000123456f, "-0.0000123456");
    expect_text(1.5e-6f, "1.5e-6");
    expect_text(1e-45f, "1e-45");
    expect_text(3.4028235e38f, "3.4028235e38");
    expect_text(INFINITY, "inf");
    expect_text(-INFINITY, "-inf");
    expect_text(NAN, "nan");
}

/* -- reading ----------------------------------------------------------------------- */

static void texts_of_any_length_are_read_as_the_library_does(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(5);
    char text[400];
    for (int i = 0; i < 150000; i++) {
        double value =
            tide_rng_normal(&rng) * pow(10, (int)tide_rng_below(&rng, 90) - 50);
        int digits = (int)tide_rng_below(&rng, 24);
        if (i % 3 == 0)
            snprintf(text, sizeof text, "%.*f", digits, value);
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "%.*e", digits, value);
        else
            snprintf(text, sizeof text, "%+.*g", digits, value);
        float wanted = strtof(text, NULL), got = 0;
        const char *end = tide_decimal_read(text, &got);
        if (isinf(wanted))
            assert_null(end);
        else if (!end || *end || bits_of(got) != bits_of(wanted))
            fail_msg("%s is %a, not %a", text, (double)wanted, (double)got);
    }
}

/* Exactly between two floats, and a little beside: where a double in between goes
 * wrong. */
static void midpoints_between_floats_are_rounded_correctly(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(6);
    char text[400];
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)tide_rng_below(&rng, 0x7f000000);
        double border = ((double)float_of(bits) + (double)float_of(bits + 1)) / 2;
        int digits = 12 + (int)tide_rng_below(&rng, 120);
        int length = snprintf(text, sizeof text, "%.*e", digits, border);
        if (i % 2) {
            char *last = strchr(text, 'e') - 1;
            *last = (char)('0' + tide_rng_below(&rng, 10));
        }
        float got = 0;
        const char *end = tide_decimal_read(text, &got);
        assert_ptr_equal(end, text + length);
        assert_int_equal(bits_of(got), bits_of(strtof(text, NULL)));
    }
}

static void text_that_is_not_a_number_is_refused(void **state)
{
    (void)state;
    const char *const none[] = {"",
                                "-",
                                "+",
                                ".",
                                "e5",
                                "1e",
                                "1e+",
                                "nan",
                                "inf",
                                "-inf",
                                " 1",
                                "--1",
                                "+-1",
                                ",5",
                                "x",
                                "1e999",
                                "4e38",
                                "-.e1",
                                ("\xc2\xa0"
                                 "1")};
    float value;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(tide_decimal_read(none[i], &value));
    const char *const begun[] = {"1,5", "0x10", "1.5.2", "1 2", "1e5e", "3-"};
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        const char *end = tide_decimal_read(begun[i], &value);
        assert_non_null(end);
        assert_true(*end != '\0');
    }
}

/* A locale with a decimal comma: one that is installed, or one made for the occasion.
 */
static bool set_comma_locale(const char *folder)
{
    const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) && *localeconv()->decimal_point == ',')
            return true;
    char command[512];
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' > '%s/log' 2>&1", folder,
             folder);
    setenv("LOCPATH", folder, 1);
    return system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") &&
           *localeconv()->decimal_point == ',';
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    char folder[] = P_tmpdir "/tide-locale-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    bool found = set_comma_locale(folder);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    if (!found)
        skip();
    expect_text(0.1f, "0.1");
    expect_text(0.5f, "0.5"); /* the slow way out */
    expect_text(0x1p-3f, "0.125");
    float value = 0;
    assert_non_null(tide_decimal_read("0.1", &value));
    assert_true(value == 0.1f);
    assert_non_null(
        tide_decimal_read("1.50000000000000000000000000000000000001", &value));
    assert_true(value == 1.5f); /* the slow way in */
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_floats_have_the_shortest_digits),
        cmocka_unit_test(subnormal_floats_have_the_shortest_digits),
        cmocka_unit_test(powers_of_two_and_ten_and_their_neighbors_do),
        cmocka_unit_test(whole_numbers_and_short_fractions_do),
        cmocka_unit_test(texts_have_the_documented_form),
        cmocka_unit_test(texts_of_any_length_are_read_as_the_library_does),
        cmocka_unit_test(midpoints_between_floats_are_rounded_correctly),
        cmocka_unit_test(text_that_is_not_a_number_is_refused),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
