/* source_kafka.c - Kafka topics: every message is a line, or several.
 *
 * A message is returned as its payload and a line feed; a message without a payload is
 * skipped. The position of a source is the next offset of each of its partitions. It
 * advances when a message was returned completely.
 *
 * In a group a partition can be revoked. The caller is asked to save first
 * (TIDE_SOURCE_SAVE). Offsets are committed after a save and never before, so messages
 * that are not in a saved model are read again.
 *
 * librdkafka has its own threads, and reports messages, rebalances and errors in one
 * queue of events. It retries by itself after temporary errors. Reading fails after
 * permanent ones, or if nothing could be reached at startup, since then the name of a
 * broker or topic is probably wrong.
 */
#include "source/kafka.h"
#include "source/source.h"

#include <stdlib.h>

enum { WAIT_MS = 1000 }; /* if the caller sets no limit */

static bool is_kafka(const char *spec, const tide_source_options *options)
{
    (void)options;
    return strncmp(spec, TIDE_KAFKA_PREFIX, sizeof TIDE_KAFKA_PREFIX - 1) == 0;
}

/* -- events ------------------------------------------------------------------------ */

static bool is_permanent(const tide_topics *k, rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return true;
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
        return k->settings.in_group;
    default:
        return false;
    }
}

static int on_error(tide_topics *k, rd_kafka_event_t *event, tide_error *err)
{
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    const char *reason = rd_kafka_event_error_string(event);
    tide_partition *p = rd_kafka_event_topic_partition(event);
    int status = TIDE_OK;
    if (code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET && p)
        status = tide_topics_reset_to_oldest(k, p, err);
    else if (rd_kafka_event_error_is_fatal(event) || is_permanent(k, code))
        status = tide_topics_fail(k, reason, err);
    else if (!k->started)
        tide_topics_fail(k, reason, &k->startup_error);
    else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
             code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        TIDE_TOPICS_NOTIFY(k, "%s; waiting", reason);
    if (p)
        rd_kafka_topic_partition_destroy(p);
    return status;
}

/* Handles one event. A fetched message stays in its event until it was returned. */
static int handle_event(tide_topics *k, rd_kafka_event_t *event, tide_error *err)
{
    int status = TIDE_OK;
    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_FETCH:
        /* The event owns the message, so it is destroyed only when the message has been
         * returned completely. */
        k->message = rd_kafka_event_message_next(event);
        k->event = event;
        k->returned = 0;
        return TIDE_OK;
    case RD_KAFKA_EVENT_REBALANCE:
        tide_topics_rebalance(k, event);
        break;
    case RD_KAFKA_EVENT_ERROR:
        status = on_error(k, event, err);
        break;
    case RD_KAFKA_EVENT_OFFSET_COMMIT:
        tide_topics_on_commit(k, event);
        break;
    }
    rd_kafka_event_destroy(event);
    return status;
}

/* -- reading ----------------------------------------------------------------------- */

/* Moves the position of the partition behind the current message. */
static void advance_position(tide_topics *k)
{
    const char *topic = rd_kafka_topic_name(k->message->rkt);
    int32_t number = k->message->partition;
    /* Messages usually come in batches from one partition, so the entry found last is
     * tried first. It is a pointer into the list and is reset whenever the list may
     * move. */
    if (!k->latest_position || k->latest_position->partition != number ||
        strcmp(k->latest_position->topic, topic) != 0)
        k->latest_position = tide_topics_position(k, topic, number);
    k->latest_position->offset = k->message->offset + 1;
}

static void drop_message(tide_topics *k)
{
    rd_kafka_event_destroy(k->event);
    k->event = NULL;
    k->message = NULL;
    k->returned = 0;
}

/* Copies the current message as far as it fits. A message that does not fit is split
 * only if it is the first of this read; otherwise it is left for the next read. */
static size_t copy_message(tide_topics *k, char *bytes, size_t capacity, bool first)
{
    /* A message counts with a line feed after it, unless it is empty: those
     * (tombstones, for example) are skipped without one. */
    size_t length = k->message->len, size = length ? length + 1 : 0;
    size_t part = size - k->returned;
    if (part > capacity && !first)
        return 0;
    part = part < capacity ? part : capacity;
    size_t end = k->returned + part;
    if (k->returned < length)
        memcpy(bytes, (const char *)k->message->payload + k->returned,
               (end < length ? end : length) - k->returned);
    if (end > length)
        bytes[part - 1] = '\n';
    k->returned = end;
    /* Only a message that was returned completely moves the position, so a stop in the
     * middle of one repeats all of it. */
    if (end == size) {
        advance_position(k);
        drop_message(k);
    }
    return part;
}

/* Fails if the first partitions have not been assigned within the startup timeout. In a
 * group it may take longer, as long as the topics exist. */
static int check_startup(tide_topics *k, tide_error *err)
{
    if (k->started || !k->startup_error.status ||
        tide_now_ms() - k->opened_ms <= k->settings.startup_timeout_ms)
        return TIDE_SOURCE_LATER;
    if (!k->settings.in_group || !tide_topics_are_reachable(k))
        return tide_fail(err, TIDE_ERROR_IO, "%s", k->startup_error.text);
    k->startup_error.status = TIDE_OK;
    return TIDE_SOURCE_LATER;
}

/* Takes the next step: startup, a pending assignment, or one event. TIDE_SOURCE_LATER
 * if there was nothing to do. */
static int process_next(tide_topics *k, int wait_ms, tide_error *err)
{
    int status = TIDE_SOURCE_LATER;
    /* An assignment is completed before any other event is taken: until then nothing
     * can be fetched. */
    if (k->assigned) {
        status = tide_topics_start_assigned(k, err);
    } else if (!k->started && !k->settings.in_group) {
        status = tide_topics_assign_all(k, err);
    } else {
        rd_kafka_event_t *event = rd_kafka_queue_poll(k->queue, wait_ms);
        if (event)
            status = handle_event(k, event, err);
    }
    return status == TIDE_SOURCE_LATER ? check_startup(k, err) : status;
}

/* The result of a read that ends with this status. If it has read something, a failure
 * is returned by the next read. */
static ptrdiff_t read_result(tide_topics *k, int status, size_t used, tide_error *err)
{
    if (used == 0 || status == TIDE_SOURCE_LATER)
        return used ? (ptrdiff_t)used : status;
    tide_fail(&k->failure, (tide_status)status, "%s",
              err ? err->text : "kafka: failed");
    return (ptrdiff_t)used;
}

static ptrdiff_t topics_read(void *state, void *bytes, size_t capacity, int wait_ms,
                             tide_error *err)
{
    tide_topics *k = state;
    size_t used = 0;
    int64_t until = tide_now_ms() + (wait_ms < 0 ? WAIT_MS : wait_ms);
    int status = k->failure.status;
    if (status)
        return tide_fail(err, k->failure.status, "%s", k->failure.text);
    tide_topics_retry_commit(k);
    for (;;) {
        /* Return as much of the current message as fits; the read ends when the buffer
         * is full or, for CSV, after one message. */
        if (k->message) {
            used += copy_message(k, (char *)bytes + used, capacity - used, used == 0);
            if (k->message || used == capacity || (used && k->one_message))
                return (ptrdiff_t)used;
        }
        /* The caller has to learn what it got before it can save. So it gets that
         * first, and TIDE_SOURCE_SAVE with the next read. */
        if (k->revoked && used)
            return (ptrdiff_t)used;
        if (tide_topics_revoked_unsaved(k))
            return TIDE_SOURCE_SAVE;
        tide_error refused;
        if (k->revoked && tide_topics_release_revoked(k, &refused) != TIDE_OK)
            TIDE_TOPICS_NOTIFY(k, "%s", refused.text);
        /* Once something was read, only what is already in the queue is added to it. */
        int64_t left = until - tide_now_ms();
        status = process_next(k, used || left < 0 ? 0 : (int)left, err);
        if (status != TIDE_OK || (used == 0 && left < 0 && !k->message))
            return read_result(k, status ? status : TIDE_SOURCE_LATER, used, err);
    }
}

/* -- positions --------------------------------------------------------------------- */

static bool topics_can_resume(const void *state)
{
    (void)state;
    return true;
}

static bool topics_at_boundary(const void *state)
{
    return ((const tide_topics *)state)->returned == 0;
}

static char *topics_position(void *state, uint64_t offset, tide_error *err)
{
    (void)offset;
    tide_topics *k = state;
    k->latest_position = NULL; /* formatting sorts the entries */
    char *text = tide_kafka_position_format(k->positions);
    if (!text)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a position in %s",
                  k->settings.topics);
    return text;
}

/* Whether this partition is one of those to read. */
static bool is_wanted(const tide_topics *k, const tide_partition *p)
{
    int32_t number = k->settings.some_partitions ? p->partition : RD_KAFKA_PARTITION_UA;
    return rd_kafka_topic_partition_list_find(k->settings.wanted, p->topic, number);
}

static int topics_saved(void *state, const char *position, tide_error *err)
{
    return tide_topics_commit(state, position, err);
}

static int topics_finish(void *state, tide_error *err)
{
    return tide_topics_finish(state, err);
}

/* To be called before anything is read. Whether the messages still exist is known only
 * when they are fetched. */
static int topics_seek_position(void *state, const char *position, tide_error *err)
{
    tide_topics *k = state;
    tide_partitions *positions = tide_kafka_position_parse(position);
    if (!positions)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "'%s' is not a valid position in a topic", position);
    int resumed = 0;
    for (int i = 0; i < positions->cnt; i++) {
        const tide_partition *p = &positions->elems[i];
        if (!is_wanted(k, p))
            continue;
        tide_topics_position(k, p->topic, p->partition)->offset = p->offset;
        resumed++;
    }
    /* The model at these positions was loaded from a file, so they are saved by
     * definition. If a process was killed between its save and its commit, this lets
     * the commit be repeated. */
    tide_topics_note_saved(k, k->positions);
    bool none = positions->cnt > 0 && resumed == 0;
    rd_kafka_topic_partition_list_destroy(positions);
    if (none)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "none of the partitions read before are among those to read");
    return TIDE_OK;
}

static const char *topics_notice(void *state)
{
    tide_topics *k = state;
    bool had_notice = k->has_notice;
    k->has_notice = false;
    return had_notice ? k->notice.text : NULL;
}

static void topics_close(void *state)
{
    tide_topics *k = state;
    rd_kafka_event_destroy(k->event);
    /* A pending rebalance has to be answered first: closing the consumer would wait
     * for that answer. */
    if (k->client)
        tide_topics_end_rebalance(k);
    if (k->queue)
        rd_kafka_queue_destroy(k->queue);
    if (k->client) {
        rd_kafka_consumer_close(k->client);
        rd_kafka_destroy(k->client);
    }
    tide_partitions_clear(&k->positions);
    tide_partitions_clear(&k->saved);
    tide_partitions_clear(&k->committed);
    tide_partitions_clear(&k->assigned);
    tide_partitions_clear(&k->revoked);
    tide_kafka_settings_clear(&k->settings);
    free(k);
}

static void *topics_open(const char *spec, const tide_source_options *options,
                         tide_error *err)
{
    tide_topics *k = tide_alloc(1, sizeof *k);
    if (!k) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    k->client = tide_kafka_connect(spec, options, &k->settings, err);
    if (!k->client) {
        free(k);
        return NULL;
    }
    rd_kafka_poll_set_consumer(k->client);
    k->queue = rd_kafka_queue_get_consumer(k->client);
    k->positions = rd_kafka_topic_partition_list_new(8);
    k->saved = rd_kafka_topic_partition_list_new(8);
    k->committed = rd_kafka_topic_partition_list_new(8);
    k->opened_ms = tide_now_ms();
    k->one_message = options->one_message;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (k->settings.in_group)
        code = rd_kafka_subscribe(k->client, k->settings.wanted);
    if (code) {
        tide_topics_fail(k, rd_kafka_err2str(code), err);
        topics_close(k);
        return NULL;
    }
    return k;
}

const tide_source_kind tide_source_kafka = {
    .matches = is_kafka,
    .open = topics_open,
    .close = topics_close,
    .read = topics_read,
    .several_texts = true,
    .can_resume = topics_can_resume,
    .at_boundary = topics_at_boundary,
    .position = topics_position,
    .seek_position = topics_seek_position,
    .saved = topics_saved,
    .finish = topics_finish,
    .notice = topics_notice,
};
