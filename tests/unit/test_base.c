/* test_base.c - errors, memory, random numbers, hashing and the queue.
 *
 * Seeds are fixed, so a statistical test gives the same verdict every time; the bounds
 * say how many standard deviations (sigma) of a true generator they allow.
 */

#include "base/base.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include "folder_fixture.h"

#include <wordtide/tools.h>

/* -- error ------------------------------------------------------------------------- */

static void control_characters_and_broken_utf8_are_shown_as_question_marks(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"a\nb\tc\x1b[31m", "a?b?c?[31m"},
        {"del\x7f.", "del?."},
        {"\xc2\x9b"
         "31m",
         "?31m"}, /* U+009B starts a terminal command */
        {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x8c\x8a", NULL}, /* stays as it is */
        {"\xff\xfe", "??"},
        {"\xc0\x8a", "??"},           /* an overlong line feed */
        {"\xe0\x80\x8a", "???"},      /* and a longer one */
        {"\xed\xa0\x80", "???"},      /* half of a surrogate pair */
        {"\xf4\x90\x80\x80", "????"}, /* above U+10FFFF */
        {"\xf0\x9f\x8c", "???"},      /* cut off by the end */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tide_error err;
        int status = tide_fail(&err, TIDE_ERROR_FORMAT, "%s", cases[i][0]);
        assert_int_equal(status, TIDE_ERROR_FORMAT);
        assert_int_equal(err.status, TIDE_ERROR_FORMAT);
        assert_string_equal(err.text, cases[i][1] ? cases[i][1] : cases[i][0]);
    }
}

static void long_text_loses_its_middle_between_code_points(void **state)
{
    (void)state;
    for (int shift = 0; shift < 8; shift++) {
        char path[6000];
        size_t n = (size_t)shift;
        memset(path, 'x', n);
        for (; n + 4 < 3000; n += 3)
            memcpy(path + n, "\xe2\x82\xac", 3);
        path[n] = '\0';
        tide_error err;
        tide_fail(&err, TIDE_ERROR_IO, "cannot write %s%.*s: no space left", path,
                  shift, "xxxxxxxx");
        size_t length = strlen(err.text);
        assert_in_range(length, sizeof err.text - 6, sizeof err.text - 1);
        assert_int_equal(strncmp(err.text, "cannot write ", 13), 0);
        assert_string_equal(err.text + length - 15, ": no space left");
        assert_non_null(strstr(err.text, "..."));
        tide_error again; /* what was kept is whole UTF-8 */
        tide_fail(&again, TIDE_ERROR_IO, "%s", err.text);
        assert_string_equal(again.text, err.text);
    }
}

static void text_of_any_length_stays_inside_its_buffer(void **state)
{
    (void)state;
    for (int length = 0; length < 5000; length += length < 300 ? 1 : 97) {
        tide_error err;
        tide_fail(&err, TIDE_ERROR_IO, "%*s", length, "");
        assert_int_equal(strlen(err.text), length < 256 ? length : 255);
    }
}

static void fail_without_an_error_object_keeps_status_and_errno(void **state)
{
    (void)state;
    tide_error err;
    errno = EINTR;
    assert_int_equal(tide_fail(NULL, TIDE_ERROR_MEMORY, "%d", 1), TIDE_ERROR_MEMORY);
    assert_int_equal(tide_fail(&err, TIDE_ERROR_IO, "%d", 1), TIDE_ERROR_IO);
    assert_int_equal(errno, EINTR);
}

/* -- memory ------------------------------------------------------------------------ */

/* Replaces the C library's, so that tests can make it fail. */
static bool memory_is_out;

int posix_memalign(void **block, size_t alignment, size_t size)
{
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    *block = memory_is_out ? NULL : aligned_alloc(alignment, rounded);
    return *block ? 0 : ENOMEM;
}

static void memory_is_zero_and_aligned(void **state)
{
    (void)state;
    static const size_t sizes[] = {
        0,      1, 63, 64, 65, 4096, 1000003, (4 << 20) - 1, 4 << 20, (4 << 20) + 1,
        9 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int again = 0; again < 2; again++) {
            unsigned char *block = tide_alloc(1, sizes[i]);
            assert_non_null(block);
            size_t alignment = sizes[i] >= 4 << 20 ? 2 << 20 : 64;
            assert_int_equal((uintptr_t)block % alignment, 0);
            unsigned char any = 0;
            for (size_t at = 0; at < sizes[i]; at++)
                any |= block[at];
            assert_int_equal(any, 0);
            memset(block, 0xff, sizes[i]); /* so that reuse would show */
            free(block);
        }
}

static void sizes_that_overflow_or_exceed_memory_return_null(void **state)
{
    (void)state;
    assert_null(tide_alloc(SIZE_MAX, 2));
    assert_null(tide_alloc((size_t)1 << 32, (size_t)1 << 32));
    assert_null(tide_alloc(SIZE_MAX, 1));
    assert_null(tide_alloc((size_t)PTRDIFF_MAX + 1, 1));
    memory_is_out = true;
    void *block = tide_alloc(1, 1);
    memory_is_out = false;
    assert_null(block);
}

/* -- random numbers ---------------------------------------------------------------- */

/* Pearson's statistic of counts that should be equal, in sigmas of the chi-square. */
static double chi_square_sigmas(const uint32_t *counts, size_t bins)
{
    double total = 0, sum = 0, freedom = (double)bins - 1;
    for (size_t i = 0; i < bins; i++)
        total += counts[i];
    double expected = total / (double)bins;
    for (size_t i = 0; i < bins; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    return (sum - freedom) / sqrt(2 * freedom);
}

static void every_byte_of_a_draw_is_uniform(void **state)
{
    (void)state;
    uint32_t counts[8][256] = {{0}};
    tide_rng rng = tide_rng_seeded(1);
    for (int i = 0; i < 1 << 20; i++) {
        uint64_t x = tide_rng_next(&rng);
        for (int byte = 0; byte < 8; byte++)
            counts[byte][x >> (8 * byte) & 255]++;
    }
    for (int byte = 0; byte < 8; byte++)
        assert_true(fabs(chi_square_sigmas(counts[byte], 256)) < 5);
}

static void successive_draws_are_independent(void **state)
{
    (void)state;
    static uint32_t counts[256 * 256];
    tide_rng rng = tide_rng_seeded(2);
    uint64_t last = tide_rng_next(&rng) >> 56;
    for (int i = 0; i < 1 << 22; i++) {
        uint64_t top = tide_rng_next(&rng) >> 56;
        counts[last << 8 | top]++;
        last = top;
    }
    assert_true(fabs(chi_square_sigmas(counts, 256 * 256)) < 5);
}

static void draws_below_a_bound_are_below_it_and_unbiased(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {
        1,
        2,
        3,
        10,
        1000003,
        UINT64_C(1) << 32,
        (UINT64_C(1) << 32) + 1,
        UINT64_C(3) << 33,
        (UINT64_C(1) << 63) - 1,
        UINT64_C(1) << 63,
        (UINT64_C(1) << 63) + 1,
        UINT64_C(3) << 62, /* without rejection half of the draws are multiples of 3 */
        UINT64_C(5) << 61,
        UINT64_MAX,
    };
    enum { DRAWS = 300000 };
    tide_rng rng = tide_rng_seeded(3);
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        uint64_t bound = bounds[b];
        size_t bins = bound < 30 ? (size_t)bound : 30;
        uint32_t by_size[30] = {0}, by_rest[30] = {0};
        for (int i = 0; i < DRAWS; i++) {
            uint64_t x = tide_rng_below(&rng, bound);
            assert_true(x < bound);
            by_size[(size_t)((long double)x / (long double)bound *
                             (long double)bins)]++;
            by_rest[x % bins]++;
        }
        if (bins > 1) {
            assert_true(chi_square_sigmas(by_size, bins) < 6);
            assert_true(chi_square_sigmas(by_rest, bins) < 6);
        }
    }
}

static void draws_below_any_bound_are_below_it(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(4);
    for (int i = 0; i < 1000000; i++) {
        uint64_t bound = (tide_rng_next(&rng) >> (i % 64)) | 1;
        assert_true(tide_rng_below(&rng, bound) < bound);
    }
}

static void fractions_are_in_the_half_open_unit_interval(void **state)
{
    (void)state;
    enum { DRAWS = 1 << 20 };
    tide_rng rng = tide_rng_seeded(5);
    double sum = 0, sum_float = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = tide_rng_double(&rng);
        float y = tide_rng_float(&rng);
        assert_true(x >= 0 && x < 1 && y >= 0 && y < 1);
        sum += x;
        sum_float += (double)y;
    }
    double sigma = sqrt(1.0 / 12 / DRAWS);
    assert_true(fabs(sum / DRAWS - 0.5) < 5 * sigma);
    assert_true(fabs(sum_float / DRAWS - 0.5) < 5 * sigma);
}

/* For n standard normals the mean of x^k has the variance (E x^2k - (E x^k)^2) / n. */
static void normals_have_the_moments_and_tails_of_a_normal_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 1000000 };
    tide_rng rng = tide_rng_seeded(6);
    double moment[5] = {0}, product = 0, last = 0, beyond = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = tide_rng_normal(&rng), power = 1;
        for (int k = 0; k < 5; k++, power *= x)
            moment[k] += power / DRAWS;
        product += x * last / DRAWS;
        beyond += fabs(x) > 3 ? 1.0 / DRAWS : 0;
        last = x;
    }
    double sigma = 1 / sqrt(DRAWS), tail = 0.0026997961;
    assert_true(fabs(moment[1]) < 5 * sigma);
    assert_true(fabs(moment[2] - 1) < 5 * sigma * sqrt(2));
    assert_true(fabs(moment[3]) < 5 * sigma * sqrt(15));
    assert_true(fabs(moment[4] - 3) < 5 * sigma * sqrt(96));
    assert_true(fabs(product) < 5 * sigma);
    assert_true(fabs(beyond - tail) < 5 * sigma * sqrt(tail));
}

static void each_bit_of_a_seed_flips_each_bit_of_the_state_half_the_time(void **state)
{
    (void)state;
    enum { SEEDS = 4096 };
    static int flips[64][64];
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int in = 0; in < 64; in++) {
            uint64_t changed = tide_rng_seeded(seed).state ^
                               tide_rng_seeded(seed ^ UINT64_C(1) << in).state;
            for (int out = 0; out < 64; out++)
                flips[in][out] += (int)(changed >> out & 1);
        }
    for (int in = 0; in < 64; in++) /* sigma is 32; 6 of them, for 4096 cells */
        for (int out = 0; out < 64; out++)
            assert_in_range(flips[in][out], SEEDS / 2 - 192, SEEDS / 2 + 192);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The position on the cycle in steps: the state divided by the counter's increment. */
static void streams_of_ten_thousand_seeds_are_billions_of_draws_apart(void **state)
{
    (void)state;
    enum { SEEDS = 10000 };
    uint64_t increment = 0x9e3779b97f4a7c15u, inverse = increment;
    for (int i = 0; i < 6; i++) /* Newton: each step doubles the bits that are right */
        inverse *= 2 - increment * inverse;
    assert_true(increment * inverse == 1);
    static uint64_t places[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        places[seed] = tide_rng_seeded(seed).state * inverse;
    qsort(places, SEEDS, sizeof places[0], by_value);
    for (int i = 0; i < SEEDS; i++) /* the smallest of so many is some 10^11 */
        assert_true(places[(i + 1) % SEEDS] - places[i] > UINT64_C(2000000000));
}

static void first_draws_of_successive_seeds_are_uniform(void **state)
{
    (void)state;
    static uint32_t high[1024], low[1024];
    for (uint64_t seed = 0; seed < 1 << 20; seed++) {
        tide_rng rng = tide_rng_seeded(seed);
        uint64_t x = tide_rng_next(&rng);
        high[x >> 54]++;
        low[x & 1023]++;
    }
    assert_true(fabs(chi_square_sigmas(high, 1024)) < 5);
    assert_true(fabs(chi_square_sigmas(low, 1024)) < 5);
}

/* Saved models hold generators and hashes, so these must not change. */
static void generators_and_hashes_are_the_same_on_every_machine(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(1);
    assert_true(tide_rng_next(&rng) == UINT64_C(0xc11cbf4c42eacffc));
    assert_true(tide_rng_next(&rng) == UINT64_C(0xf8967ae3687922c8));
    assert_true(tide_hash("", 0, 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(tide_hash("wordtide", 8, 0) == UINT64_C(0x550d9fb1418de8d8));
    assert_true(tide_hash("wordtide", 8, 1) == UINT64_C(0x7defbb62c53e7827));
}

static void secrets_differ(void **state)
{
    (void)state;
    uint64_t first = tide_secret(), second = tide_secret();
    assert_true(first != second);
}

/* -- queue ------------------------------------------------------------------------- */

static void
queue_gives_items_in_their_order_and_holds_no_more_than_its_capacity(void **state)
{
    (void)state;
    static char items[20000];
    tide_rng rng = tide_rng_seeded(7);
    for (size_t capacity = 1; capacity <= 9; capacity++) {
        tide_queue *queue = tide_queue_new(capacity, NULL);
        assert_non_null(queue);
        size_t pushed = 0, popped = 0;
        while (pushed < sizeof items)
            if (tide_rng_next(&rng) & 1) {
                bool has_room = pushed - popped < capacity;
                assert_int_equal(tide_queue_try_push(queue, &items[pushed]), has_room);
                pushed += has_room;
            } else {
                void *expected = popped < pushed ? &items[popped] : NULL;
                assert_ptr_equal(tide_queue_try_pop(queue), expected);
                popped += expected != NULL;
            }
        tide_queue_free(queue);
    }
}

static void closed_queue_returns_its_items_and_then_null(void **state)
{
    (void)state;
    int items[2];
    tide_queue *queue = tide_queue_new(3, NULL);
    assert_true(tide_queue_try_push(queue, &items[0]));
    assert_true(tide_queue_try_push(queue, &items[1]));
    tide_queue_close(queue);
    assert_false(tide_queue_try_push(queue, &items[0]));
    assert_ptr_equal(tide_queue_pop(queue), &items[0]);
    assert_ptr_equal(tide_queue_pop(queue), &items[1]);
    assert_null(tide_queue_pop(queue));
    assert_null(tide_queue_try_pop(queue));
    tide_queue_free(queue);
    tide_queue_free(NULL);
}

static void queue_without_capacity_or_memory_is_refused(void **state)
{
    (void)state;
    tide_error err;
    assert_null(tide_queue_new(0, &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    assert_null(tide_queue_new(SIZE_MAX / sizeof(void *), &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    assert_null(tide_queue_new(SIZE_MAX, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    memory_is_out = true;
    tide_queue *queue = tide_queue_new(1, &err);
    memory_is_out = false;
    assert_null(queue);
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
}

enum { PRODUCERS = 3, CONSUMERS = 3, EACH = 20000 };

typedef struct job {
    int producer, number;
    int taken; /* how often */
} job;

typedef struct worker {
    tide_queue *queue;
    job *jobs;
    bool in_order;
    pthread_t thread;
} worker;

static void *produce(void *data)
{
    worker *w = data;
    for (int i = 0; i < EACH; i++)
        while (!tide_queue_try_push(w->queue, &w->jobs[i]))
            sched_yield();
    return NULL;
}

static void *consume(void *data)
{
    worker *w = data;
    int last[PRODUCERS] = {-1, -1, -1};
    w->in_order = true;
    for (job *j; (j = tide_queue_pop(w->queue));) {
        w->in_order = w->in_order && j->number > last[j->producer];
        last[j->producer] = j->number;
        j->taken++; /* ThreadSanitizer reports it if another thread has it */
    }
    return NULL;
}

static void
every_item_goes_to_one_thread_and_those_of_one_producer_in_order(void **state)
{
    (void)state;
    static job jobs[PRODUCERS][EACH];
    worker producers[PRODUCERS], consumers[CONSUMERS];
    tide_queue *queue = tide_queue_new(7, NULL);
    for (int c = 0; c < CONSUMERS; c++) {
        consumers[c] = (worker){.queue = queue};
        pthread_create(&consumers[c].thread, NULL, consume, &consumers[c]);
    }
    for (int p = 0; p < PRODUCERS; p++) {
        for (int i = 0; i < EACH; i++)
            jobs[p][i] = (job){.producer = p, .number = i};
        producers[p] = (worker){.queue = queue, .jobs = jobs[p]};
        pthread_create(&producers[p].thread, NULL, produce, &producers[p]);
    }
    for (int p = 0; p < PRODUCERS; p++)
        pthread_join(producers[p].thread, NULL);
    tide_queue_close(queue); /* wakes all waiting threads */
    for (int c = 0; c < CONSUMERS; c++) {
        pthread_join(consumers[c].thread, NULL);
        assert_true(consumers[c].in_order);
    }
    for (int p = 0; p < PRODUCERS; p++)
        for (int i = 0; i < EACH; i++)
            assert_int_equal(jobs[p][i].taken, 1);
    tide_queue_free(queue);
}

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void a_deadline_is_the_given_milliseconds_from_now(void **state)
{
    (void)state;
    const int waits[] = {0, 1, 99, 999, 1000, 1001, 59999, INT_MAX};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        for (int again = 0; again < 1000; again++) {
            struct timespec before, after, until;
            clock_gettime(CLOCK_MONOTONIC, &before);
            until = tide_deadline(waits[i] * TIDE_MS);
            clock_gettime(CLOCK_MONOTONIC, &after);
            assert_in_range(until.tv_nsec, 0, 999999999);
            assert_in_range(nanoseconds(until) - (int64_t)waits[i] * 1000000,
                            nanoseconds(before), nanoseconds(after));
        }
}

/* -- locks ------------------------------------------------------------------------- */

typedef struct contest {
    pthread_barrier_t start;
    _Atomic int holders;
    _Atomic unsigned held, wrong;
} contest;

static void *compete(void *argument)
{
    contest *c = argument;
    pthread_barrier_wait(&c->start);
    for (int i = 0; i < 5000; i++) {
        tide_error err;
        tide_lock *lock = tide_lock_open("model", &err);
        if (!lock)
            continue;
        c->wrong += c->holders++ != 0;
        sched_yield();
        c->holders--;
        c->held++;
        tide_lock_close(lock);
    }
    return NULL;
}

/* Also where the one before has removed its file just after it was opened. */
static void a_lock_has_one_holder_at_a_time(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    contest c = {0};
    pthread_t threads[THREADS];
    pthread_barrier_init(&c.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compete, &c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&c.start);
    assert_int_equal(c.wrong, 0);
    assert_true(c.held > 0);
    tide_lock_close(tide_lock_open("model", NULL));
    assert_int_not_equal(access(".model.lock", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_is_the_given_milliseconds_from_now),
        cmocka_unit_test(
            control_characters_and_broken_utf8_are_shown_as_question_marks),
        cmocka_unit_test(long_text_loses_its_middle_between_code_points),
        cmocka_unit_test(text_of_any_length_stays_inside_its_buffer),
        cmocka_unit_test(fail_without_an_error_object_keeps_status_and_errno),
        cmocka_unit_test(memory_is_zero_and_aligned),
        cmocka_unit_test(sizes_that_overflow_or_exceed_memory_return_null),
        cmocka_unit_test(every_byte_of_a_draw_is_uniform),
        cmocka_unit_test(successive_draws_are_independent),
        cmocka_unit_test(draws_below_a_bound_are_below_it_and_unbiased),
        cmocka_unit_test(draws_below_any_bound_are_below_it),
        cmocka_unit_test(fractions_are_in_the_half_open_unit_interval),
        cmocka_unit_test(normals_have_the_moments_and_tails_of_a_normal_distribution),
        cmocka_unit_test(each_bit_of_a_seed_flips_each_bit_of_the_state_half_the_time),
        cmocka_unit_test(streams_of_ten_thousand_seeds_are_billions_of_draws_apart),
        cmocka_unit_test(first_draws_of_successive_seeds_are_uniform),
        cmocka_unit_test(generators_and_hashes_are_the_same_on_every_machine),
        cmocka_unit_test(secrets_differ),
        cmocka_unit_test(
            queue_gives_items_in_their_order_and_holds_no_more_than_its_capacity),
        cmocka_unit_test(closed_queue_returns_its_items_and_then_null),
        cmocka_unit_test(queue_without_capacity_or_memory_is_refused),
        cmocka_unit_test(
            every_item_goes_to_one_thread_and_those_of_one_producer_in_order),
        IN_FOLDER(a_lock_has_one_holder_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
