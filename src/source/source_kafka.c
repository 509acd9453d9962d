/* source_kafka.c - topics of Kafka: every message is a line, or several.
 *
 * A message is given out as its payload and a line feed. Messages without a payload
 * give nothing. The place of a topic is the next offset of each of its partitions, and
 * it moves when a message is given out to its end.
 *
 * In a group a partition can be taken from us. The caller is asked to save first
 * (TIDE_SOURCE_SAVE). Offsets are committed after a save and never before, so what
 * nobody has saved is read again.
 *
 * librdkafka has its own threads and queues, and tells us of messages, of partitions
 * that come and go and of errors in one queue of events. It tries again by itself as
 * long as there is hope. We give up when there is none, or when nothing could be
 * reached at the beginning: then the name of a broker or topic is likely to be wrong.
 */
#include "source/kafka.h"
#include "source/source.h"

#include <stdlib.h>

enum { WAIT_MS = 1000 }; /* when the caller would wait for ever */

static bool is_kafka(const char *spec, const tide_source_options *options)
{
    (void)options;
    return strncmp(spec, TIDE_KAFKA_PREFIX, sizeof TIDE_KAFKA_PREFIX - 1) == 0;
}

/* -- events ------------------------------------------------------------------------ */

static bool is_hopeless(const tide_topics *k, rd_kafka_resp_err_t code)
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
        status = tide_topics_begin_again(k, p, err);
    else if (rd_kafka_event_error_is_fatal(event) || is_hopeless(k, code))
        status = tide_topics_fail(k, reason, err);
    else if (!k->begun)
        tide_topics_fail(k, reason, &k->trouble);
    else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
             code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        TIDE_TOPICS_TELL(k, "%s; waiting", reason);
    if (p)
        rd_kafka_topic_partition_destroy(p);
    return status;
}

/* Takes one event. A message stays in it. */
static int take_event(tide_topics *k, rd_kafka_event_t *event, tide_error *err)
{
    int status = TIDE_OK;
    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_FETCH:
        k->message = rd_kafka_event_message_next(event);
        k->event = event;
        k->given = 0;
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

static void advance(tide_topics *k)
{
    const char *topic = rd_kafka_topic_name(k->message->rkt);
    int32_t number = k->message->partition;
    if (!k->of_latest || k->of_latest->partition != number ||
        strcmp(k->of_latest->topic, topic) != 0)
        k->of_latest = tide_topics_entry(k, topic, number);
    k->of_latest->offset = k->message->offset + 1;
}

static void drop_message(tide_topics *k)
{
    rd_kafka_event_destroy(k->event);
    k->event = NULL;
    k->message = NULL;
    k->given = 0;
}

/* Gives out the message that we have, as far as there is room: whole, unless it comes
 * first and is larger. */
static size_t give(tide_topics *k, char *bytes, size_t room, bool first)
{
    size_t length = k->message->len, size = length ? length + 1 : 0;
    size_t part = size - k->given;
    if (part > room && !first)
        return 0;
    part = part < room ? part : room;
    size_t end = k->given + part;
    if (k->given < length)
        memcpy(bytes, (const char *)k->message->payload + k->given,
               (end < length ? end : length) - k->given);
    if (end > length)
        bytes[part - 1] = '\n';
    k->given = end;
    if (end == size) {
        advance(k);
        drop_message(k);
    }
    return part;
}

/* Fails when we have waited long enough for the first partitions. In a group that may
 * take its time, as long as the topics are there. */
static int be_patient(tide_topics *k, tide_error *err)
{
    if (k->begun || !k->trouble.status ||
        tide_now_ms() - k->opened_ms <= k->settings.patience_ms)
        return TIDE_SOURCE_LATER;
    if (!k->settings.in_group || !tide_topics_are_there(k))
        return tide_fail(err, TIDE_ERROR_IO, "%s", k->trouble.text);
    k->trouble.status = TIDE_OK;
    return TIDE_SOURCE_LATER;
}

/* Does the next thing there is to do. TIDE_SOURCE_LATER when nothing came. */
static int work(tide_topics *k, int wait_ms, tide_error *err)
{
    int status = TIDE_SOURCE_LATER;
    if (k->arriving) {
        status = tide_topics_take_arriving(k, err);
    } else if (!k->begun && !k->settings.in_group) {
        status = tide_topics_take_all(k, err);
    } else {
        rd_kafka_event_t *event = rd_kafka_queue_poll(k->queue, wait_ms);
        if (event)
            status = take_event(k, event, err);
    }
    return status == TIDE_SOURCE_LATER ? be_patient(k, err) : status;
}

/* A failure waits until what was read before it is given out. */
static ptrdiff_t finish(tide_topics *k, int status, size_t used, tide_error *err)
{
    if (used == 0 || status == TIDE_SOURCE_LATER)
        return used ? (ptrdiff_t)used : status;
    tide_fail(&k->failure, (tide_status)status, "%s",
              err ? err->text : "kafka: failed");
    return (ptrdiff_t)used;
}

static ptrdiff_t topics_read(void *state, void *bytes, size_t room, int wait_ms,
                             tide_error *err)
{
    tide_topics *k = state;
    size_t used = 0;
    int64_t until = tide_now_ms() + (wait_ms < 0 ? WAIT_MS : wait_ms);
    int status = k->failure.status;
    if (status)
        return tide_fail(err, k->failure.status, "%s", k->failure.text);
    tide_topics_commit_again(k);
    for (;;) {
        if (k->message) {
            used += give(k, (char *)bytes + used, room - used, used == 0);
            if (k->message || used == room || (used && k->one_message))
                return (ptrdiff_t)used;
        }
        if (k->leaving && used)
            return (ptrdiff_t)used;
        if (tide_topics_leaving_unsaved(k))
            return TIDE_SOURCE_SAVE;
        tide_error refused;
        if (k->leaving && tide_topics_release(k, &refused) != TIDE_OK)
            TIDE_TOPICS_TELL(k, "%s", refused.text);
        int64_t left = until - tide_now_ms();
        status = work(k, used || left < 0 ? 0 : (int)left, err);
        if (status != TIDE_OK || (used == 0 && left < 0 && !k->message))
            return finish(k, status ? status : TIDE_SOURCE_LATER, used, err);
    }
}

/* -- the rest ---------------------------------------------------------------------- */

static bool topics_replayable(const void *state)
{
    (void)state;
    return true;
}

static bool topics_settled(const void *state)
{
    return ((const tide_topics *)state)->given == 0;
}

static char *topics_place(void *state, uint64_t offset, tide_error *err)
{
    (void)offset;
    tide_topics *k = state;
    k->of_latest = NULL; /* entries are put in order */
    char *text = tide_kafka_places_text(k->places);
    if (!text)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a place in %s",
                  k->settings.topics);
    return text;
}

/* Whether we are to read this partition at all. */
static bool is_wanted(const tide_topics *k, const tide_partition *p)
{
    int32_t number = k->settings.some_partitions ? p->partition : RD_KAFKA_PARTITION_UA;
    return rd_kafka_topic_partition_list_find(k->settings.wanted, p->topic, number);
}

static int topics_saved(void *state, const char *place, tide_error *err)
{
    return tide_topics_commit(state, place, err);
}

static int topics_finish(void *state, tide_error *err)
{
    return tide_topics_finish(state, err);
}

/* To be called before anything is read. Whether the messages are still there turns out
 * when they are asked for. */
static int topics_go_to(void *state, const char *place, tide_error *err)
{
    tide_topics *k = state;
    tide_partitions *places = tide_kafka_places_parse(place);
    if (!places)
        return tide_fail(err, TIDE_ERROR_FORMAT, "'%s' is no place in a topic", place);
    int taken_over = 0;
    for (int i = 0; i < places->cnt; i++) {
        const tide_partition *p = &places->elems[i];
        if (!is_wanted(k, p))
            continue;
        tide_topics_entry(k, p->topic, p->partition)->offset = p->offset;
        taken_over++;
    }
    tide_topics_note_saved(k, k->places);
    bool none = places->cnt > 0 && taken_over == 0;
    rd_kafka_topic_partition_list_destroy(places);
    if (none)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "none of the partitions that were read before is read now");
    return TIDE_OK;
}

static const char *topics_news(void *state)
{
    tide_topics *k = state;
    bool is_news = k->is_news;
    k->is_news = false;
    return is_news ? k->news.text : NULL;
}

static void topics_close(void *state)
{
    tide_topics *k = state;
    rd_kafka_event_destroy(k->event);
    if (k->client)
        tide_topics_answer_rebalance(k);
    if (k->queue)
        rd_kafka_queue_destroy(k->queue);
    if (k->client) {
        rd_kafka_consumer_close(k->client);
        rd_kafka_destroy(k->client);
    }
    tide_partitions_forget(&k->places);
    tide_partitions_forget(&k->saved);
    tide_partitions_forget(&k->committed);
    tide_partitions_forget(&k->arriving);
    tide_partitions_forget(&k->leaving);
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
    k->places = rd_kafka_topic_partition_list_new(8);
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
    .replayable = topics_replayable,
    .settled = topics_settled,
    .place = topics_place,
    .go_to = topics_go_to,
    .saved = topics_saved,
    .finish = topics_finish,
    .news = topics_news,
};
