/* test_memory.c - constructors allocate all memory, as much as the budget says;
 * training allocates none; and failed allocations are reported without leaks.
 *
 * The functions below replace the C library's. With a sanitizer, which replaces them
 * itself, only tide_alloc is replaced, which allocates nearly everything.
 */
#include "train_fixture.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>

/* -- the allocator ----------------------------------------------------------------- */

static volatile bool counting;
static volatile long calls; /* while counting */
static volatile long
    calls_left; /* allocations before one fails; negative for no limit */
static volatile size_t live, peak;

static bool must_fail(void)
{
    if (!counting)
        return false;
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return calls_left >= 0 && calls_left-- == 0;
}

#define OURS __attribute__((visibility("default")))

#if !SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void *note_block(void *block)
{
    if (block) {
        size_t now =
            __atomic_add_fetch(&live, malloc_usable_size(block), __ATOMIC_RELAXED);
        if (now > peak)
            peak = now;
    }
    return block;
}

OURS void *malloc(size_t size)
{
    return must_fail() ? NULL : note_block(__libc_malloc(size));
}

OURS void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : note_block(__libc_calloc(count, size));
}

static void forget_block(void *block)
{
    if (block)
        __atomic_sub_fetch(&live, malloc_usable_size(block), __ATOMIC_RELAXED);
}

OURS void *realloc(void *block, size_t size)
{
    if (must_fail())
        return NULL;
    forget_block(block);
    return note_block(__libc_realloc(block, size));
}

OURS void *aligned_alloc(size_t alignment, size_t size)
{
    return must_fail() ? NULL : note_block(__libc_memalign(alignment, size));
}

OURS void free(void *block)
{
    forget_block(block);
    __libc_free(block);
}

/* Aligned to a cache line only: a larger alignment would waste memory that no budget
 * counts. */
OURS int posix_memalign(void **block, size_t alignment, size_t size)
{
    (void)alignment;
    *block = must_fail() ? NULL : note_block(__libc_memalign(64, size));
    return *block ? 0 : ENOMEM;
}
#else
OURS int posix_memalign(void **block, size_t alignment, size_t size)
{
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    *block = must_fail() ? NULL : aligned_alloc(alignment, rounded);
    return *block ? 0 : ENOMEM;
}
#endif

static void start_counting(long limit)
{
    calls = 0;
    calls_left = limit;
    counting = true;
}

static long stop_counting(void)
{
    counting = false;
    calls_left = -1;
    return calls;
}

/* -- on the way of a token --------------------------------------------------------- */

static const char *const recipes[] = {
    "vocab=3000 dim=20 replay-ring=100000",
    "vocab=300 dim=20 replay-ring=100000",
    "vocab=300 dim=20 replay=1 admission=none",
    "profile=paper vocab=300 dim=20 reservoir=10000",
    "profile=athena vocab=300 dim=20 reservoir=10000",
    "profile=incremental vocab=300 dim=20 reservoir=10000",
    "profile=word2vec vocab=300 dim=20 rate=power",
    "vocab=300 dim=20 replay=1 subword=1000 half-life=5000 rate-half-life=1000",
    "vocab=300 dim=20 replay=1 threads=3 admission=none",
};

static void training_allocates_nothing(void **state)
{
    (void)state;
    corpus t = demo_text(31, SANITIZED ? 20000 : 200000);
    for (size_t r = 0; r < COUNT(recipes); r++) {
        tide_trainer *trainer = trainer_of(recipes[r]);
        size_t start = t.size / 20;
        feed(trainer, t.bytes, start);
        size_t held = live;
        start_counting(-1);
        feed(trainer, t.bytes + start, t.size - start);
        int status = tide_trainer_end(trainer, NULL);
        tide_stats stats = stats_of(trainer);
        long count = stop_counting();
        assert_int_equal(status, TIDE_OK);
        if (count)
            fail_msg("%s: %ld allocations", recipes[r], count);
        assert_true(held == live);
        assert_true(r == 0 || stats.evicted + stats.rejected > 100);
        tide_trainer_free(trainer);
    }
    free(t.bytes);
}

/* -- as much as was said ----------------------------------------------------------- */

/* All parts except the program, which is the last. */
static uint64_t promised(const tide_trainer *trainer)
{
    tide_part parts[TIDE_PARTS_MAX];
    uint64_t total = 0;
    int count = tide_trainer_budget(trainer, parts);
    assert_string_equal(parts[count - 1].name, "program");
    for (int i = 0; i < count - 1; i++)
        total += parts[i].bytes;
    return total;
}

static void assert_near(const char *what, size_t real, uint64_t wanted)
{
    double ratio = (double)real / (double)wanted;
    if (!SANITIZED && (ratio > 1.1 || ratio < 0.9))
        fail_msg("%s: %zu bytes and not %llu", what, real, (unsigned long long)wanted);
}

/* Construction, feeding, saving and loading included. The margin of a tenth is for
 * stdio and the C library's threads. */
static void memory_stays_within_the_budget(void **state)
{
    (void)state;
    corpus t = demo_text(32, 20000);
    static const char *const larger[] = {
        "vocab=20000 dim=50 replay-ring=1M",
        "vocab=20000 dim=50 replay=1 subword=20000",
        "profile=paper vocab=20000 dim=50 reservoir=1M",
        "profile=incremental vocab=20000 dim=50 reservoir=1M",
        "vocab=20000 dim=50 replay=1 threads=2",
    };
    for (size_t r = 0; r < COUNT(larger); r++) {
        size_t held = live;
        peak = live;
        tide_trainer *trainer = trainer_of(larger[r]);
        uint64_t wanted = promised(trainer);
        assert_near(larger[r], live - held, wanted);
        feed(trainer, t.bytes, t.size);
        save_to(trainer, "m");
        assert_near(larger[r], peak - held, wanted);
        tide_trainer_free(trainer);
        if (!SANITIZED)
            assert_in_range(live - held, 0, 65536);
        held = live;
        peak = live;
        trainer = load_from("m"); /* with one thread, whatever it was trained with */
        wanted = promised(trainer);
        assert_near("loaded", live - held, wanted);
        assert_near("while it is loaded", peak - held, wanted);
        tide_trainer_free(trainer);
    }
    free(t.bytes);
}

/* A model that is only queried takes memory for its words and not for its capacity. */
static void a_loaded_model_takes_memory_for_its_words_only(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=100000 dim=50 admission=none replay=1");
    feed_text(trainer, "a few words\n");
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    size_t held = live;
    tide_model *model = tide_model_load("m", NULL);
    assert_non_null(model);
    assert_true(SANITIZED || live - held < 100000);
    tide_model_free(model);
}

/* -- when it runs out -------------------------------------------------------------- */

typedef void *maker(tide_error *err);
typedef void breaker(void *object);

static const char *making; /* settings of the new trainer */

static void *make_trainer(tide_error *err)
{
    counting = false; /* the parameters exist already */
    tide_params *params = params_of(making);
    counting = true;
    tide_trainer *trainer = tide_trainer_new(params, err);
    tide_params_free(params);
    return trainer;
}

static void *make_loaded_trainer(tide_error *err)
{
    return tide_trainer_load("m", NULL, 0, err);
}

static void *make_params(tide_error *err)
{
    return tide_params_new(err);
}

static void *make_model(tide_error *err)
{
    return tide_model_load("m", err);
}

static tide_model *asked;

static void *make_space(tide_error *err)
{
    return tide_view_new(asked, TIDE_VECTORS_INPUT, true, err);
}

static void break_trainer(void *object)
{
    tide_trainer_free(object);
}

static void break_params(void *object)
{
    tide_params_free(object);
}

static void break_model(void *object)
{
    tide_model_free(object);
}

static void break_space(void *object)
{
    tide_view_free(object);
}

/* Constructs the object with more and more memory, until it is enough. Sorting can do
 * without memory; any other failed allocation must make the constructor fail. */
static void assert_bears_lost_memory(const char *name, maker *make, breaker *release)
{
    bool sorts = make == make_space;
    for (long limit = 0;; limit++) {
        tide_error err = {.status = TIDE_OK, .text = ""};
        size_t held = live;
        start_counting(limit);
        void *object = make(&err);
        long left = calls_left;
        stop_counting();
        if (object && left < 0 && sorts) {
            release(object);
            continue;
        }
        if (object && left < 0)
            fail_msg("%s: is made although allocation %ld failed", name, limit + 1);
        if (object) {
            release(object);
            assert_true(limit > 0);
            return;
        }
        if (err.status != TIDE_ERROR_MEMORY)
            fail_msg("%s: allocation %ld fails, which is called %d, '%s'", name,
                     limit + 1, err.status, err.text);
        assert_true(err.text[0] && !strchr(err.text, '\n'));
        if (live != held)
            fail_msg("%s: allocation %ld fails, and %ld bytes leak", name, limit + 1,
                     (long)(live - held));
        start_counting(limit);
        object = make(NULL);
        stop_counting();
        assert_null(object);
    }
}

static void every_constructor_survives_failed_allocations(void **state)
{
    (void)state;
    corpus t = demo_text(33, 3000);
    assert_bears_lost_memory("tide_params_new", make_params, break_params);
    for (size_t r = 0; r < COUNT(recipes); r++) {
        making = recipes[r];
        assert_bears_lost_memory(recipes[r], make_trainer, break_trainer);
        tide_trainer *trainer = trained(recipes[r], &t);
        save_to(trainer, "m");
        tide_trainer_free(trainer);
        assert_bears_lost_memory("tide_trainer_load", make_loaded_trainer,
                                 break_trainer);
        assert_bears_lost_memory("tide_model_load", make_model, break_model);
        asked = tide_model_load("m", NULL);
        assert_non_null(asked);
        assert_bears_lost_memory("tide_view_new", make_space, break_space);
        tide_model_free(asked);
    }
    free(t.bytes);
}

static void queries_and_saves_survive_failed_allocations(void **state)
{
    (void)state;
    corpus t = demo_text(34, 3000);
    tide_trainer *trainer = trained("vocab=300 dim=20 replay=1", &t);
    tide_view *space =
        tide_view_new(tide_trainer_model(trainer), TIDE_VECTORS_INPUT, true, NULL);
    const char *word = "the";
    tide_query query = {.positive = &word, .positive_count = 1};
    tide_error err;
    tide_hit hit;
    start_counting(0);
    int status = tide_view_nearest(space, &query, &hit, 1, &err);
    stop_counting();
    assert_int_equal(status, TIDE_ERROR_MEMORY);
    for (long limit = 0, left = -1; left < 0; limit++) {
        size_t held = live;
        start_counting(limit);
        status = tide_trainer_save(trainer, "m", &err);
        left = calls_left;
        stop_counting();
        assert_true(live == held);
        assert_true(status == TIDE_OK || err.status == TIDE_ERROR_MEMORY);
        assert_true(status == TIDE_OK || limit < 9);
    }
    assert_int_equal(status, TIDE_OK);
    tide_trainer_free(load_from("m"));
    tide_view_free(space);
    tide_trainer_free(trainer);
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_allocates_nothing),
        IN_FOLDER(memory_stays_within_the_budget),
        IN_FOLDER(a_loaded_model_takes_memory_for_its_words_only),
        IN_FOLDER(every_constructor_survives_failed_allocations),
        IN_FOLDER(queries_and_saves_survive_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
