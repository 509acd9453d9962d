/* test_demo_events.c - the schedule of the events in the demo stream, and the stream
 * with events. */
#include "base/base.h"
#include "source/source.h"
#include "demo_fixture.h"

#include <ctype.h>
#include <math.h>

enum { MINUTE = 120000 };

/* -- events ------------------------------------------------------------------------ */

static bool same_event(const tide_demo_event *a, const tide_demo_event *b)
{
    return a->kind == b->kind && strcmp(a->word, b->word) == 0 && a->from == b->from &&
           a->to == b->to && a->before == b->before && a->after == b->after;
}

static void stream_without_events_has_none(void **state)
{
    (void)state;
    event_list *l = events_of("demo:seed=3", 0, UINT64_MAX);
    assert_int_equal(l->count, 0);
    free(l);
    tide_error err = {0};
    assert_int_equal(tide_demo_events("news.txt", 0, 1, collect, NULL, &err),
                     TIDE_ERROR_PARAMETER);
    assert_string_equal(err.text, "'news.txt' is not a demo stream ('demo:...')");
    assert_int_equal(tide_demo_events("demo:pace=3", 0, 1, collect, NULL, &err),
                     TIDE_ERROR_PARAMETER);
}

static void events_of_an_interval_are_those_that_overlap_it(void **state)
{
    (void)state;
    static const char spec[] = "demo:seed=3,events=on,pace=0.7";
    tide_rng rng = tide_rng_seeded(1);
    event_list *all = events_of(spec, 0, 20000000);
    assert_in_range(all->count, 100, 300);
    for (int run = 0; run < 300; run++) {
        uint64_t from = tide_rng_below(&rng, 15000000);
        const tide_demo_event *some = &all->items[tide_rng_below(&rng, all->count / 2)];
        from = run % 3 == 1 ? some->from : run % 3 == 2 ? some->to : from;
        uint64_t to = from + tide_rng_below(&rng, run % 2 ? 5 : 3000000);
        event_list *found = events_of(spec, from, to);
        size_t next = 0;
        for (size_t i = 0; i < all->count; i++)
            if (all->items[i].to > from && all->items[i].from < to && from < to)
                assert_true(next < found->count &&
                            same_event(&all->items[i], &found->items[next++]));
        assert_int_equal(next, found->count);
        free(found);
    }
    free(all);
}

/* At pace 1 and 2,000 words/s there is about an event per minute and never a long gap;
 * events of a kind do not overlap. */
static void events_come_at_a_steady_pace(void **state)
{
    (void)state;
    enum { MINUTES = 600 };
    event_list *l = events_of("demo:seed=11,events=on", 0, (uint64_t)MINUTES * MINUTE);
    assert_in_range(l->count, MINUTES, 2 * MINUTES);
    for (size_t i = 1; i < l->count; i++) {
        const tide_demo_event *e = &l->items[i];
        assert_in_range(e->from - l->items[i - 1].from, 0, 3 * MINUTE);
        assert_true(e->from < e->to);
        for (size_t before = i; before-- > 0;)
            if (is(&l->items[before], e->kind)) {
                assert_true(l->items[before].to <= e->from);
                break;
            }
    }
    free(l);
}

static void events_of_a_kind_are_far_apart_for_each_word(void **state)
{
    (void)state;
    event_list *l = events_of("demo:seed=5,events=on", 0, (uint64_t)1000 * MINUTE);
    for (size_t i = 0; i < l->count; i++) {
        const tide_demo_event *e = &l->items[i], *next = e + 1;
        if (is(e, "season"))
            continue;
        while (next < l->items + l->count && (next->kind != e->kind || /* by address */
                                              strcmp(next->word, e->word) != 0))
            next++;
        uint64_t min_gap = is(e, "change") ? 40 : 90;
        if (next < l->items + l->count && next->from - e->to < min_gap * MINUTE)
            fail_msg("%s %s: %llu, %llu", e->kind, e->word, (unsigned long long)e->to,
                     (unsigned long long)next->from);
    }
    free(l);
}

/* A word fades from the group it was born in, and a change starts from the group that
 * the previous change has led to. */
static void events_of_a_word_are_consistent(void **state)
{
    (void)state;
    event_list *l = events_of("demo:seed=6,events=on", 0, (uint64_t)500 * MINUTE);
    size_t followed = 0;
    double max_factor = 0;
    for (size_t i = 0; i < l->count; i++) {
        const tide_demo_event *e = &l->items[i];
        if (is(e, "birth"))
            assert_true(!e->before && e->after && e->share_before == 0);
        if (is(e, "fade"))
            assert_true(e->before && !e->after && e->share_after == 0);
        if (is(e, "burst")) {
            double factor = e->share_during / e->share_before;
            assert_true(factor > 4.99 && factor < 20.01);
            max_factor = fmax(max_factor, factor);
        }
        for (size_t k = i + 1; k < l->count && !is(e, "season"); k++)
            if (strcmp(l->items[k].word, e->word) == 0) {
                const tide_demo_event *next = &l->items[k];
                assert_true(next->before == e->after); /* may both be NULL */
                assert_true(next->share_before == e->share_after);
                followed++;
                break;
            }
    }
    assert_in_range(followed, 100, l->count);
    assert_true(max_factor > 15);
    free(l);
}

static void pace_scales_all_times(void **state)
{
    (void)state;
    event_list *l = events_of("demo:seed=3,events=on", 0, 20000000);
    event_list *fast = events_of("demo:seed=3,events=on,pace=10", 0, 2000000);
    event_list *slow = events_of("demo:seed=3,events=on,pace=0.5", 0, 40000000);
    event_list *other = events_of("demo:seed=4,events=on", 0, 20000000);
    assert_int_equal(l->count, fast->count);
    assert_int_equal(l->count, slow->count);
    size_t same = 0;
    for (size_t i = 0; i < l->count; i++) {
        tide_demo_event *a = &fast->items[i], *b = &slow->items[i];
        a->from *= 10, a->to *= 10, b->from /= 2, b->to /= 2;
        assert_true(same_event(&l->items[i], a) && same_event(&l->items[i], b));
        same += i < other->count && same_event(&l->items[i], &other->items[i]);
    }
    assert_in_range(same, 0, l->count / 4); /* seasons are the same for all seeds */
    free(l), free(fast), free(slow), free(other);
}

/* -- the stream -------------------------------------------------------------------- */

static void stream_does_not_depend_on_the_sizes_of_reads(void **state)
{
    (void)state;
    static const char spec[] = "demo:seed=3,events=on,pace=40,tokens=200000";
    static const size_t pieces[] = {1, 7, 4096, 0};
    text t = text_of(spec);
    tide_rng rng = tide_rng_seeded(3);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char piece[5000];
        tide_source *source = tide_source_open(spec, NULL);
        size_t done = 0;
        for (ptrdiff_t received;; done += (size_t)received) {
            size_t capacity = pieces[i] ? pieces[i] : 1 + tide_rng_below(&rng, 5000);
            received = tide_source_read(source, piece, capacity, NULL);
            if (received == 0)
                break;
            assert_memory_equal(piece, t.bytes + done, (size_t)received);
        }
        assert_int_equal(done, t.size);
        tide_source_close(source);
    }
    free(t.bytes);
}

static void source_can_seek_to_any_position(void **state)
{
    (void)state;
    static const char spec[] = "demo:seed=3,events=on,pace=20,tokens=800000";
    text t = text_of(spec);
    tide_rng rng = tide_rng_seeded(4);
    tide_source *source = tide_source_open(spec, NULL);
    for (int run = 0; run < 30; run++) {
        char position[64], piece[20000];
        size_t at = tide_rng_below(&rng, t.size - sizeof piece);
        size_t before = at < 4096 ? at : 4096;
        uint64_t fingerprint = tide_hash(t.bytes + at - before, before, 0);
        snprintf(position, sizeof position, "%zu %016llx", at,
                 (unsigned long long)fingerprint);
        assert_int_equal(tide_source_seek(source, position, NULL), TIDE_OK);
        assert_int_equal(tide_source_read(source, piece, sizeof piece, NULL),
                         sizeof piece);
        assert_memory_equal(piece, t.bytes + at, sizeof piece);
    }
    tide_source_close(source);
    free(t.bytes);
}

static void hashtags_are_added_to_the_same_stream(void **state)
{
    (void)state;
    text plain = text_of("demo:seed=3,events=on,pace=9,tokens=100000");
    text tagged = text_of("demo:seed=3,events=on,pace=9,tokens=100000,hashtags=on");
    size_t at = 0;
    for (size_t i = 0; i < tagged.size; i++) {
        if (tagged.bytes[i] == ' ' && tagged.bytes[i + 1] == '#')
            while (tagged.bytes[i] != '\n')
                i++;
        assert_true(at < plain.size && tagged.bytes[i] == plain.bytes[at]);
        at++;
    }
    assert_int_equal(at, plain.size);
    free(plain.bytes), free(tagged.bytes);
}

static void every_line_is_8_to_25_lower_case_words(void **state)
{
    (void)state;
    text t = text_of("demo:seed=8,events=on,pace=30,tokens=1000000");
    size_t length = 1;
    for (size_t i = 0; i < t.size; i++) {
        const char *at = &t.bytes[i];
        if (*at == '\n') {
            assert_in_range(length, 8, 25);
            length = 1;
            continue;
        }
        assert_true(*at == ' ' || islower((unsigned char)*at));
        length += *at == ' ';
        if (i > 0 && strncmp(at, " a ", 3) == 0)
            assert_null(memchr("aeiou", at[3], 5));
        if (i > 0 && strncmp(at, " an ", 4) == 0)
            assert_non_null(memchr("aeiou", at[4], 5));
    }
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_without_events_has_none),
        cmocka_unit_test(events_of_an_interval_are_those_that_overlap_it),
        cmocka_unit_test(events_come_at_a_steady_pace),
        cmocka_unit_test(events_of_a_kind_are_far_apart_for_each_word),
        cmocka_unit_test(events_of_a_word_are_consistent),
        cmocka_unit_test(pace_scales_all_times),
        cmocka_unit_test(stream_does_not_depend_on_the_sizes_of_reads),
        cmocka_unit_test(source_can_seek_to_any_position),
        cmocka_unit_test(hashtags_are_added_to_the_same_stream),
        cmocka_unit_test(every_line_is_8_to_25_lower_case_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
