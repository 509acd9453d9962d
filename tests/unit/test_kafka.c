/* test_kafka.c - messages of a topic come once each and in the order of their
 * partition, whatever happens to their reader, and members of a group share them. */

#include "base/base.h"
#include "source/kafka.h"
#include "source/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

#include "kafka_fixture.h"
#include "clock_fixture.h"
#include "memory_fixture.h"

enum { PARTITIONS = 3, TEXT_MAX = 1 << 20, WAIT_MS = 20 };

static const tide_source_kind *const kind = &tide_source_kafka;

/* -- readers ----------------------------------------------------------------------- */

typedef struct reader {
    const cluster *cluster;
    const char *settings; /* "?group=..." */
    void *state;
    char *text; /* [TEXT_MAX], all that was read */
    size_t size;
    char *position; /* saved last */
    char *pending;  /* of a checkpoint that is not on the disk yet, or NULL */
    size_t position_size;
    int saves;     /* that the source has asked for */
    bool may_fail; /* to commit */
    int failures;
} reader;

/* Short times, so that no test waits for long. */
static const char *const properties[] = {
    "session.timeout.ms=6000",
    "heartbeat.interval.ms=100",
    "fetch.wait.max.ms=20",
    "socket.connection.setup.timeout.ms=1000",
    "reconnect.backoff.max.ms=100",
    "fetch.error.backoff.ms=20",
    "partition.assignment.strategy=cooperative-sticky",
};
static tide_source_options options = {.properties = properties, .property_count = 6};

static void open_reader(reader *r)
{
    char spec[256];
    tide_error err = {0};
    snprintf(spec, sizeof spec, "kafka://%s/topic%s", r->cluster->brokers, r->settings);
    r->state = kind->open(spec, &options, &err);
    if (!r->state)
        fail_msg("%s", err.text);
}

static reader new_unopened(const cluster *c, const char *settings)
{
    return (reader){.cluster = c, .settings = settings, .text = malloc(TEXT_MAX)};
}

static reader new_reader(const cluster *c, const char *settings)
{
    reader r = new_unopened(c, settings);
    open_reader(&r);
    return r;
}

static void free_reader(reader *r)
{
    if (r->state)
        kind->close(r->state);
    free(r->text);
    free(r->position);
    free(r->pending);
}

static void note_position(reader *r)
{
    tide_error err = {0};
    assert_true(kind->at_boundary(r->state));
    free(r->position);
    r->position = kind->position(r->state, 0, &err);
    if (!r->position)
        fail_msg("%s", err.text);
    r->position_size = r->size;
}

static void tell_saved(reader *r, const char *position)
{
    tide_error err = {0};
    int status = kind->saved(r->state, position, &err);
    r->failures += status != TIDE_OK;
    if (status != TIDE_OK && !r->may_fail)
        fail_msg("%s", err.text);
}

/* A checkpoint starts; it is on disk only later. */
static void begin_checkpoint(reader *r)
{
    tide_error err = {0};
    assert_null(r->pending);
    r->pending = kind->position(r->state, 0, &err);
    assert_non_null(r->pending);
}

/* Like a run: a running checkpoint is finished first and reported to the source. */
static void save(reader *r)
{
    if (r->pending)
        tell_saved(r, r->pending);
    free(r->pending);
    r->pending = NULL;
    note_position(r);
    tell_saved(r, r->position);
}

/* Like a kill: what was read since the last save is lost. */
static void go_back(reader *r)
{
    tide_error err = {0};
    if (r->state)
        kind->close(r->state);
    open_reader(r);
    r->size = r->position_size;
    if (r->position && kind->seek_position(r->state, r->position, &err) != TIDE_OK)
        fail_msg("%s", err.text);
}

/* One read; false when there was nothing. */
static bool read_some(reader *r, size_t capacity)
{
    tide_error err = {0};
    assert_true(r->size + capacity < TEXT_MAX);
    ptrdiff_t count = kind->read(r->state, r->text + r->size, capacity, WAIT_MS, &err);
    if (count == TIDE_SOURCE_SAVE) {
        r->saves++;
        save(r);
        return true;
    }
    if (count == TIDE_SOURCE_LATER)
        return false;
    if (count <= 0)
        fail_msg("%td %s", count, err.text);
    assert_true((size_t)count <= capacity);
    r->size += (size_t)count;
    r->text[r->size] = '\0';
    return true;
}

static size_t count_lines(const reader *r)
{
    size_t lines = 0;
    for (size_t i = 0; i < r->size; i++)
        lines += r->text[i] == '\n';
    return lines;
}

/* Reads until there are this many lines. */
static void read_lines(reader *r, size_t lines, size_t capacity)
{
    for (double end = seconds() + 30; count_lines(r) < lines;) {
        if (seconds() > end)
            fail_msg("%zu lines instead of %zu", count_lines(r), lines);
        read_some(r, capacity);
    }
}

/* -- what was read ----------------------------------------------------------------- */

/* Lines are "PARTITION NUMBER ...". Every number from 0 on is there once, in order. */
static void assert_complete(const reader *r, int partitions, int each)
{
    int next[PARTITIONS] = {0};
    for (const char *line = r->text; line < r->text + r->size;
         line = strchr(line, '\n') + 1) {
        char *rest;
        long partition = strtol(line, &rest, 10), number = strtol(rest, NULL, 10);
        assert_in_range(partition, 0, PARTITIONS - 1);
        assert_int_equal(number, next[partition]);
        next[partition]++;
    }
    for (int i = 0; i < partitions; i++)
        assert_int_equal(next[i], each);
}

static void produce_numbers(const cluster *c, int first, int end, int length)
{
    char text[2000];
    for (int number = first; number < end; number++)
        for (int i = 0; i < PARTITIONS; i++) {
            int size = snprintf(text, sizeof text, "%d %d %0*d", i, number, length, 7);
            produce(c, "topic", i, text, (size_t)size);
        }
    deliver(c);
}

static int64_t committed(const cluster *c, const char *group, int partition)
{
    return committed_in(c, group, "topic", partition);
}

/* -- without a group --------------------------------------------------------------- */

static void a_message_is_a_line(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", 1);
    produce(&c, "topic", 0, "one two", 7);
    produce(&c, "topic", 0, NULL, 0);
    produce(&c, "topic", 0, "three\nfour", 10);
    produce(&c, "topic", 0, "", 0);
    deliver(&c);
    reader r = new_reader(&c, "");
    assert_true(kind->can_resume(r.state));
    read_lines(&r, 3, 100);
    assert_string_equal(r.text, "one two\nthree\nfour\n");
    while (strcmp(r.position ? r.position : "", "topic[0]=4") !=
           0) { /* the empty one */
        read_some(&r, 100);
        note_position(&r);
    }
    free_reader(&r);
    free_cluster(&c);
}

static void a_message_larger_than_the_buffer_is_returned_in_parts(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", 1);
    produce(&c, "topic", 0, "abcdefgh", 8);
    produce(&c, "topic", 0, "i", 1);
    deliver(&c);
    for (size_t capacity = 1; capacity < 12; capacity++) {
        reader r = new_reader(&c, "");
        while (r.size < 9) {
            read_some(&r, capacity);
            size_t within = r.size % 9;
            if (r.size < 9)
                assert_int_equal(kind->at_boundary(r.state), within == 0);
        }
        read_lines(&r, 2, capacity);
        assert_string_equal(r.text, "abcdefgh\ni\n");
        assert_true(kind->at_boundary(r.state));
        free_reader(&r);
    }
    free_cluster(&c);
}

static void every_message_comes_once_whatever_happens(void **state)
{
    (void)state;
    enum { EACH = 400 };
    cluster c = new_cluster("topic", PARTITIONS);
    tide_rng rng = tide_rng_seeded(1);
    produce_numbers(&c, 0, EACH / 2, 30);
    reader r = new_reader(&c, "");
    int deaths = 0;
    for (int made = EACH / 2; made < EACH || count_lines(&r) < EACH * PARTITIONS;) {
        uint64_t what = tide_rng_below(&rng, 30);
        if (what < 1 && deaths++ < 20) {
            go_back(&r);
        } else if (what < 8 && kind->at_boundary(r.state)) {
            note_position(&r);
        } else if (what < 10 && made < EACH) {
            produce_numbers(&c, made, made + 20, 30);
            made += 20;
        } else {
            read_some(&r, 1 + tide_rng_below(&rng, what < 20 ? 60 : 1500));
        }
    }
    assert_true(deaths > 5);
    assert_complete(&r, PARTITIONS, EACH);
    free_reader(&r);
    free_cluster(&c);
}

static void only_the_partitions_asked_for_are_read(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", PARTITIONS);
    produce_numbers(&c, 0, 10, 1);
    reader r = new_reader(&c, "?partitions=0,2");
    read_lines(&r, 20, 1000);
    assert_false(read_some(&r, 1000));
    note_position(&r);
    assert_string_equal(r.position, "topic[0]=10 topic[2]=10");
    free_reader(&r);
    free_cluster(&c);
}

/* The end is where it was at the first start, also for the next run. */
static void reading_from_the_end_loses_nothing_after_it(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", PARTITIONS);
    produce_numbers(&c, 0, 10, 1);
    reader r = new_reader(&c, "?from=end");
    for (double end = seconds() + 30; seconds() < end;) {
        assert_false(read_some(&r, 1000));
        note_position(&r);
        if (strcmp(r.position, "topic[0]=10 topic[1]=10 topic[2]=10") == 0)
            break;
    }
    kind->close(r.state);
    r.state = NULL;
    produce_numbers(&c, 10, 12, 1);
    go_back(&r);
    read_lines(&r, 6, 1000);
    assert_non_null(strstr(r.text, "0 10 7\n0 11 7\n"));
    free_reader(&r);
    free_cluster(&c);
}

static void expired_messages_are_reported(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", PARTITIONS);
    produce_numbers(&c, 0, 5, 1);
    reader r = new_reader(&c, "");
    assert_int_equal(
        kind->seek_position(r.state, "topic[0]=5 topic[1]=1000 topic[2]=4", NULL),
        TIDE_OK);
    read_lines(&r, 6, 1000);
    const char *notice = kind->notice(r.state);
    assert_non_null(notice);
    assert_non_null(strstr(notice, "topic[1]: message 1000 no longer exists"));
    assert_null(kind->notice(r.state));
    assert_non_null(strstr(r.text, "1 0 7\n1 1 7\n1 2 7\n1 3 7\n1 4 7\n"));
    assert_non_null(strstr(r.text, "2 4 7\n"));
    assert_false(read_some(&r, 1000));
    assert_int_equal(count_lines(&r), 6);
    free_reader(&r);
    free_cluster(&c);
}

/* -- in a group -------------------------------------------------------------------- */

static void offsets_are_committed_when_saved_and_not_before(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", PARTITIONS);
    produce_numbers(&c, 0, 10, 1);
    reader r = new_reader(&c, "?group=g");
    read_lines(&r, 30, 1000);
    assert_int_equal(committed(&c, "g", 1), RD_KAFKA_OFFSET_INVALID);
    save(&r);
    produce_numbers(&c, 10, 20, 1);
    read_lines(&r, 60, 1000);
    kind->close(r.state);
    r.state = NULL;
    for (int i = 0; i < PARTITIONS; i++)
        assert_int_equal(committed(&c, "g", i), 10);
    assert_complete(&r, PARTITIONS, 20);

    reader other = new_reader(&c, "?group=g"); /* without a position of its own */
    read_lines(&other, 30, 1000);
    assert_non_null(strstr(other.text, "1 10 7\n"));
    assert_null(strstr(other.text, "1 9 7\n"));
    save(&other);
    tide_error err = {
        0}; /* the answer to an asynchronous commit is waited for, and comes */
    if (kind->finish(other.state, &err) != TIDE_OK)
        fail_msg("%s", err.text);
    free_reader(&other);

    go_back(&r); /* the other has gone on to 20 */
    produce_numbers(&c, 20, 21, 1);
    r.size = 0;
    read_lines(&r, 3, 1000);
    assert_null(strstr(r.text, "1 10 7\n"));
    assert_non_null(strstr(r.text, "1 20 7\n"));
    free_reader(&r);
    free_cluster(&c);
}

/* The next responses to this request are an error that librdkafka does not retry. */
static void refuse_requests(const cluster *c, int16_t request, int count)
{
    for (int i = 0; i < count; i++)
        rd_kafka_mock_push_request_errors(c->mock, request, 1,
                                          RD_KAFKA_RESP_ERR_UNKNOWN);
}

static void unknown_start_offsets_are_reported_once(void **state)
{
    (void)state;
    enum { OFFSET_FETCH = 9 };
    cluster c = new_cluster("topic", PARTITIONS);
    produce_numbers(&c, 0, 5, 1);
    for (int run = 0; run < 2; run++) {
        refuse_requests(&c, OFFSET_FETCH, 3);
        reader r = new_reader(&c, "?group=g");
        const char *notice = NULL;
        for (double end = seconds() + 30; !notice && seconds() < end;) {
            assert_false(read_some(&r, 1000));
            notice = kind->notice(r.state);
        }
        assert_non_null(notice);
        assert_non_null(strstr(notice, "cannot determine the start offsets of 3 "
                                       "partitions: Unknown"));
        assert_non_null(strstr(notice, "; retrying"));
        read_lines(&r, 15, 1000);
        assert_null(kind->notice(r.state));
        assert_complete(&r, PARTITIONS, 5);
        free_reader(&r);
    }
    free_cluster(&c);
}

/* A position ahead of the group's was saved but not committed: the process was killed
 * between the two. */
static void an_own_position_ahead_of_the_group_is_used(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", PARTITIONS);
    reader r = new_reader(&c, "?group=g");
    for (int i = 0; i < 3; i++) {
        produce_numbers(&c, 10 * i, 10 * i + 10, 1);
        read_lines(&r, (size_t)(30 * i + 30), 1000);
        if (i == 0)
            save(&r);
        note_position(&r);
        if (i == 1)
            go_back(&r);
    }
    assert_complete(&r, PARTITIONS, 30);
    free_reader(&r);
    free_cluster(&c);
}

/* Whether one of the two has read every message. */
static bool all_read(const reader *a, const reader *b, int each)
{
    for (int i = 0; i < PARTITIONS * each; i++) {
        char line[40];
        snprintf(line, sizeof line, "%d %d 0", i % PARTITIONS, i / PARTITIONS);
        if (!strstr(a->text, line) && !strstr(b->text, line))
            return false;
    }
    return true;
}

/* Two members; the second comes while the first has text that is not saved. Ends when
 * all is read and nothing more comes; the texts of both are in `a` then. */
static void share_out(reader *a, reader *b, int each, bool checkpoint)
{
    const cluster *c = a->cluster;
    produce_numbers(c, 0, each / 2, 20);
    read_lines(a, 3, 60);
    if (checkpoint) {
        while (!kind->at_boundary(a->state))
            read_some(a, 200);
        begin_checkpoint(a);
        read_lines(a, (size_t)each, 60);
    }
    open_reader(b);
    b->text[0] = '\0';
    int made = each / 2, quiet = 0;
    for (double end = seconds() + 60; quiet < 10;) {
        if (seconds() > end)
            fail_msg("%zu and %zu lines", count_lines(a), count_lines(b));
        if (a->saves > 0 && made < each) {
            produce_numbers(c, made, each, 20);
            made = each;
        }
        bool more = read_some(a, 200);
        more = read_some(b, 200) || more;
        quiet = more || !all_read(a, b, each) ? 0 : quiet + 1;
    }
    assert_true(a->saves > 0 && b->size > 0);
    memcpy(a->text + a->size, b->text, b->size + 1);
    a->size += b->size;
}

/* The mock cluster accepts no commit while it waits for members to rejoin. So the
 * second member starts from the beginning, and the commit of the first one fails. */
static void members_of_a_group_share_and_lose_nothing(void **state)
{
    (void)state;
    enum { EACH = 60 };
    cluster c = new_cluster("topic", PARTITIONS);
    reader a = new_reader(&c, "?group=g"), b = new_unopened(&c, "?group=g");
    a.may_fail = b.may_fail = true;
    share_out(&a, &b, EACH, false);
    assert_true(a.failures > 0);
    assert_in_range(a.saves, 1, 5); /* one for each time that partitions leave */
    free_reader(&a);
    free_reader(&b);
    free_cluster(&c);
}

/* Every message comes once, and in order; false when the mock refused a commit because
 * one rebalance followed another, which happens on a busy machine: then what was not
 * committed is read again. */
static bool cooperate(int each, bool checkpoint)
{
    cluster c = new_cluster("topic", PARTITIONS);
    reader a = new_reader(&c, "?group=g"), b = new_unopened(&c, "?group=g");
    a.may_fail = b.may_fail = true;
    share_out(&a, &b, each, checkpoint);
    bool committed = a.failures + b.failures == 0;
    if (committed)
        assert_complete(&a, PARTITIONS, each);
    free_reader(&a);
    free_reader(&b);
    free_cluster(&c);
    return committed;
}

static void cooperate_without_a_refusal(bool checkpoint)
{
    bool done = false;
    options.property_count = sizeof properties / sizeof *properties;
    for (int i = 0; i < 5 && !done; i++)
        done = cooperate(60, checkpoint);
    options.property_count = 6;
    if (!done)
        print_message("every commit met a rebalance, so nothing was judged\n");
}

static void cooperative_members_lose_and_double_nothing(void **state)
{
    (void)state;
    cooperate_without_a_refusal(false);
}

/* It saves an older position than the one at which the partitions were revoked. */
static void a_running_checkpoint_does_not_release_partitions(void **state)
{
    (void)state;
    cooperate_without_a_refusal(true);
}

/* Nothing can be saved, as when the disk is full: then they go unsaved, and a second
 * member reads them again. */
static void a_member_closes_while_partitions_wait_for_a_save(void **state)
{
    (void)state;
    for (size_t protocol = 0; protocol < 2; protocol++) {
        options.property_count = 6 + protocol;
        cluster c = new_cluster("topic", PARTITIONS);
        reader a = new_reader(&c, "?group=g"), b = new_unopened(&c, "?group=g");
        produce_numbers(&c, 0, 10, 20);
        read_lines(&a, 30, 200);
        open_reader(&b);
        tide_error err = {0};
        ptrdiff_t count = TIDE_SOURCE_LATER;
        for (double end = seconds() + 60; count == TIDE_SOURCE_LATER;) {
            if (seconds() > end)
                fail_msg("no partitions were revoked");
            count = kind->read(a.state, a.text, 200, WAIT_MS, &err);
            read_some(&b, 200);
        }
        assert_int_equal(count, TIDE_SOURCE_SAVE);
        free_reader(&a);
        b.may_fail = true;
        while (count_lines(&b) < 30)
            read_some(&b, 200);
        assert_complete(&b, PARTITIONS, 10);
        free_reader(&b);
        free_cluster(&c);
    }
    options.property_count = 6;
}

/* The first member was killed between a save and its commit and has read nothing since.
 * False when the mock refused the commit. */
static bool hand_over_what_was_saved_before(int each)
{
    cluster c = new_cluster("topic", PARTITIONS);
    reader a = new_reader(&c, "?group=g"), b = new_unopened(&c, "?group=g");
    a.may_fail = b.may_fail = true;
    produce_numbers(&c, 0, each / 2, 20);
    read_lines(&a, (size_t)(PARTITIONS * each / 2), 200);
    note_position(&a);
    go_back(&a);
    while (!((const tide_topics *)a.state)->started)
        assert_false(read_some(&a, 200));
    open_reader(&b);
    b.text[0] = '\0';
    const char *notice = NULL;
    bool shared = false;
    for (double end = seconds() + 60; !all_read(&a, &b, each);) {
        if (seconds() > end)
            fail_msg("%zu and %zu lines", count_lines(&a), count_lines(&b));
        read_some(&a, 200);
        read_some(&b, 200);
        notice = notice ? notice : kind->notice(a.state);
        if (!shared) {
            note_position(&b);
            shared = strcmp(b.position, "-") != 0 || b.size > 0;
            if (shared)
                produce_numbers(&c, each / 2, each, 20);
        }
    }
    memcpy(a.text + a.size, b.text, b.size + 1);
    a.size += b.size;
    bool committed = a.failures + b.failures == 0 && !notice;
    if (committed)
        assert_complete(&a, PARTITIONS, each);
    free_reader(&a);
    free_reader(&b);
    free_cluster(&c);
    return committed;
}

static void saved_offsets_are_committed_before_a_release(void **state)
{
    (void)state;
    bool done = false;
    options.property_count = sizeof properties / sizeof *properties;
    for (int i = 0; i < 5 && !done; i++)
        done = hand_over_what_was_saved_before(20);
    options.property_count = 6;
    if (!done)
        print_message("every commit met a rebalance, so nothing was judged\n");
}

/* -- failures ---------------------------------------------------------------------- */

static void assert_refused(const char *spec, const char *part)
{
    tide_error err = {0};
    assert_null(kind->open(spec, &options, &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    if (!strstr(err.text, part))
        fail_msg("%s: %s", spec, err.text);
}

static void wrong_names_and_settings_are_refused(void **state)
{
    (void)state;
    assert_refused("kafka://", "no broker before ''");
    assert_refused("kafka://host", "no topic after 'host'");
    assert_refused("kafka:///topic", "no broker before 'topic'");
    assert_refused("kafka:// ,\t/topic", "no broker before 'topic'");
    assert_refused("kafka://host/a,,b", "invalid topic name in 'a,,b'");
    assert_refused("kafka://host/a b", "invalid topic name in 'a b'");
    assert_refused("kafka://host/a?grup=x", "or from): 'grup'");
    assert_refused("kafka://host/a?group=", "missing value for 'group='");
    assert_refused("kafka://host/a?partitions=0,x", "must be numbers, not '0,x'");
    assert_refused("kafka://host/a?partitions=1&group=g", "a group assigns partitions");
    assert_refused("kafka://host/a?from=middle", "not 'middle'");
    static const char *const wrong[][2] = {
        {"no.such=1", "No such configuration property: \"no.such\""},
        {"nothing", "a property is NAME=VALUE, not 'nothing'"},
        {"enable.auto.commit=true", "do not set 'enable.auto.commit'"},
        {"session.timeout.ms=x", "session.timeout.ms"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tide_error err = {0};
        const tide_source_options one = {.properties = &wrong[i][0],
                                         .property_count = 1};
        assert_null(kind->open("kafka://host/a", &one, &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
        assert_non_null(strstr(err.text, wrong[i][1]));
    }
}

static void lost_memory_is_reported(void **state)
{
    (void)state;
    tide_error err = {0};
    for (allocations_left = 0; allocations_left < 2;) {
        int limit = allocations_left;
        assert_null(kind->open("kafka://host/a", &options, &err));
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
        allocations_left = limit + 1;
    }
    allocations_left = -1;
}

/* Reads until it fails. */
static tide_error failure_of(const char *spec)
{
    char bytes[100];
    tide_error err = {0};
    void *source = kind->open(spec, &options, &err);
    assert_non_null(source);
    ptrdiff_t count;
    double end = seconds() + 30;
    do
        count = kind->read(source, bytes, sizeof bytes, WAIT_MS, &err);
    while (count == TIDE_SOURCE_LATER && seconds() < end);
    assert_int_equal(count, TIDE_ERROR_IO);
    kind->close(source);
    return err;
}

static void an_unreachable_broker_is_named(void **state)
{
    (void)state;
    static const char *const specs[] = {"kafka://127.0.0.1:1/topic",
                                        "kafka://127.0.0.1:1/topic?group=g"};
    for (int i = 0; i < 2; i++) {
        tide_error err = failure_of(specs[i]);
        assert_non_null(strstr(err.text, "cannot read topic from 127.0.0.1:1: "));
    }
}

static void a_missing_topic_or_partition_is_named(void **state)
{
    (void)state;
    cluster c = new_cluster("topic", PARTITIONS);
    char spec[256];
    snprintf(spec, sizeof spec, "kafka://%s/topic?partitions=1,7", c.brokers);
    tide_error err = failure_of(spec);
    assert_string_equal(err.text,
                        "kafka: topic topic has 3 partitions, but no partition 7");
    rd_kafka_mock_topic_set_error(c.mock, "gone",
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    for (int i = 0; i < 2; i++) {
        snprintf(spec, sizeof spec, "kafka://%s/gone%s", c.brokers,
                 i ? "?group=g" : "");
        err = failure_of(spec);
        assert_non_null(strstr(err.text, "cannot read gone from 127.0.0.1:"));
    }
    free_cluster(&c);
}

static void invalid_positions_are_refused(void **state)
{
    (void)state;
    tide_error err = {0};
    void *source = kind->open("kafka://127.0.0.1:1/topic", &options, &err);
    static const char *const wrong[] = {"",
                                        "topic",
                                        "topic[0]",
                                        "topic[0]=",
                                        "topic[]=1",
                                        "topic[0]=x",
                                        "topic[0=1",
                                        "topic[0]1",
                                        "[0]=1",
                                        "topic[0]=1 ",
                                        "a b[0]=1",
                                        "topic[-1]=1",
                                        "topic[0]=-1",
                                        " topic[0]=1",
                                        "topic[0]=99999999999999999999",
                                        "topic[99999999999]=1",
                                        "other[0]=5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(kind->seek_position(source, wrong[i], &err),
                         TIDE_ERROR_FORMAT);
    assert_int_equal(kind->seek_position(source, "-", &err), TIDE_OK);
    assert_int_equal(
        kind->seek_position(source, "other[0]=5 topic[7]=9 topic[2]=3", &err), TIDE_OK);
    char *position = kind->position(source, 0, &err);
    assert_string_equal(position, "topic[2]=3 topic[7]=9");
    free(position);
    kind->close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_a_line),
        cmocka_unit_test(a_message_larger_than_the_buffer_is_returned_in_parts),
        cmocka_unit_test(every_message_comes_once_whatever_happens),
        cmocka_unit_test(only_the_partitions_asked_for_are_read),
        cmocka_unit_test(reading_from_the_end_loses_nothing_after_it),
        cmocka_unit_test(expired_messages_are_reported),
        cmocka_unit_test(offsets_are_committed_when_saved_and_not_before),
        cmocka_unit_test(unknown_start_offsets_are_reported_once),
        cmocka_unit_test(an_own_position_ahead_of_the_group_is_used),
        cmocka_unit_test(members_of_a_group_share_and_lose_nothing),
        cmocka_unit_test(cooperative_members_lose_and_double_nothing),
        cmocka_unit_test(a_running_checkpoint_does_not_release_partitions),
        cmocka_unit_test(a_member_closes_while_partitions_wait_for_a_save),
        cmocka_unit_test(saved_offsets_are_committed_before_a_release),
        cmocka_unit_test(wrong_names_and_settings_are_refused),
        cmocka_unit_test(lost_memory_is_reported),
        cmocka_unit_test(an_unreachable_broker_is_named),
        cmocka_unit_test(a_missing_topic_or_partition_is_named),
        cmocka_unit_test(invalid_positions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
