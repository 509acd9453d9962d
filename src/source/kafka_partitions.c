/* kafka_partitions.c - partitions that come and go, and where to begin with them.
 *
 * Without a group all partitions are ours from the beginning, and our places alone say
 * where to go on. In a group they come and go. One that comes is read from our own
 * place or from the offset that the group has committed, whichever is further: if it is
 * the group's, another member has gone on where we had stopped. One that goes is kept
 * until all that was read from it is saved; then its offset is committed, and only then
 * may another member begin. A save says up to which place, which may be an older one: a
 * checkpoint takes a while, and reading goes on meanwhile.
 *
 * librdkafka has two ways to hand out partitions: all anew every time, or
 * ("cooperative") only those that change.
 */
#include "source/kafka.h"
#include "source/source.h"

enum { COMMIT_AGAIN_MS = 100, FINISH_MS = 3000 };
enum { ANSWER_MS = 1000 }; /* how long we wait for an answer before we ask again */

int tide_topics_fail(const tide_topics *k, const char *reason, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "kafka: cannot read %s from %s: %s",
                     k->settings.topics, k->settings.brokers, reason);
}

/* The status of a call that says what went wrong in an object. */
static int taken(const tide_topics *k, rd_kafka_error_t *error, tide_error *err)
{
    if (!error)
        return TIDE_OK;
    int status = tide_topics_fail(k, rd_kafka_error_string(error), err);
    rd_kafka_error_destroy(error);
    return status;
}

void tide_partitions_forget(tide_partitions **list)
{
    if (*list)
        rd_kafka_topic_partition_list_destroy(*list);
    *list = NULL;
}

/* -- places ------------------------------------------------------------------------ */

/* RD_KAFKA_OFFSET_INVALID, which is less than any offset, if there is none. */
static int64_t offset_in(const tide_partitions *list, const tide_partition *p)
{
    const tide_partition *found =
        rd_kafka_topic_partition_list_find(list, p->topic, p->partition);
    return found ? found->offset : RD_KAFKA_OFFSET_INVALID;
}

static int64_t place_of(const tide_topics *k, const tide_partition *p)
{
    return offset_in(k->places, p);
}

static tide_partition *entry(tide_partitions *list, const char *topic, int32_t number)
{
    tide_partition *found = rd_kafka_topic_partition_list_find(list, topic, number);
    return found ? found : rd_kafka_topic_partition_list_add(list, topic, number);
}

tide_partition *tide_topics_entry(tide_topics *k, const char *topic, int32_t number)
{
    k->of_latest = NULL;
    return entry(k->places, topic, number);
}

/* An offset in `list` never moves back. */
static void raise_offset(tide_partitions *list, const tide_partition *p, int64_t offset)
{
    if (offset > offset_in(list, p))
        entry(list, p->topic, p->partition)->offset = offset;
}

void tide_topics_note_saved(tide_topics *k, const tide_partitions *places)
{
    for (int i = 0; i < places->cnt; i++) {
        const tide_partition *p = &places->elems[i];
        if (p->offset <= place_of(k, p))
            raise_offset(k->saved, p, p->offset);
    }
}

/* -- offsets that are committed ---------------------------------------------------- */

static int refuse_commit(rd_kafka_resp_err_t code, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "kafka: offsets are not committed: %s",
                     rd_kafka_err2str(code));
}

static void note_committed(tide_topics *k, const tide_partitions *list)
{
    for (int i = 0; i < list->cnt; i++)
        if (!list->elems[i].err)
            raise_offset(k->committed, &list->elems[i], list->elems[i].offset);
}

/* The group goes on without us, and what it has may be further. */
static bool is_final(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION ||
           code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
           code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
}

void tide_topics_on_commit(tide_topics *k, rd_kafka_event_t *event)
{
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    const tide_partitions *list = rd_kafka_event_topic_partition_list(event);
    if (code && code != RD_KAFKA_RESP_ERR__NO_OFFSET) {
        refuse_commit(code, &k->not_committed);
        k->commit_again_ms = is_final(code) ? 0 : tide_now_ms() + COMMIT_AGAIN_MS;
        k->refused = is_final(code);
    } else if (list) {
        note_committed(k, list);
    }
}

/* What is saved and not committed of the partitions that we have now: the others belong
 * to other members. */
static tide_partitions *to_commit(const tide_topics *k)
{
    tide_partitions *ours = NULL, *list = rd_kafka_topic_partition_list_new(8);
    if (rd_kafka_assignment(k->client, &ours) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return list;
    for (int i = 0; i < ours->cnt; i++) {
        const tide_partition *p = &ours->elems[i];
        int64_t saved = offset_in(k->saved, p);
        if (saved > offset_in(k->committed, p) && saved >= 0)
            rd_kafka_topic_partition_list_add(list, p->topic, p->partition)->offset =
                saved;
    }
    rd_kafka_topic_partition_list_destroy(ours);
    return list;
}

static int commit(tide_topics *k, bool wait, tide_error *err)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    tide_partitions *list = to_commit(k);
    if (k->settings.in_group && list->cnt > 0 && !k->lost)
        /* With rd_kafka_commit the result would come only where a callback is set. */
        code = wait ? rd_kafka_commit(k->client, list, false)
                    : rd_kafka_commit_queue(k->client, list, k->queue, NULL, NULL);
    if (wait && !code)
        note_committed(k, list);
    rd_kafka_topic_partition_list_destroy(list);
    return code ? refuse_commit(code, err) : TIDE_OK;
}

void tide_topics_commit_again(tide_topics *k)
{
    if (!k->commit_again_ms || tide_now_ms() < k->commit_again_ms)
        return;
    k->commit_again_ms = 0;
    (void)commit(k, false, NULL);
}

static bool all_committed(const tide_topics *k)
{
    tide_partitions *list = to_commit(k);
    bool none = list->cnt == 0;
    rd_kafka_topic_partition_list_destroy(list);
    return none;
}

int tide_topics_finish(tide_topics *k, tide_error *err)
{
    int64_t until = tide_now_ms() + FINISH_MS;
    k->refused = false;
    while (k->settings.in_group && !all_committed(k)) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(k->queue, COMMIT_AGAIN_MS);
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT)
            tide_topics_on_commit(k, event);
        else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE)
            tide_topics_rebalance(k, event);
        rd_kafka_event_destroy(event);
        if (k->refused || rd_kafka_assignment_lost(k->client) || tide_now_ms() > until)
            return k->not_committed.status
                       ? tide_fail(err, TIDE_ERROR_IO, "%s", k->not_committed.text)
                       : refuse_commit(RD_KAFKA_RESP_ERR__TIMED_OUT, err);
        tide_topics_commit_again(k);
    }
    return TIDE_OK;
}

/* -- partitions that come ---------------------------------------------------------- */

static bool is_cooperative(const tide_topics *k)
{
    return strcmp(rd_kafka_rebalance_protocol(k->client), "COOPERATIVE") == 0;
}

/* Takes partitions in addition to those that we have, or instead of them. */
static int assign(tide_topics *k, const tide_partitions *list, tide_error *err)
{
    k->begun = true;
    if (is_cooperative(k))
        return taken(k, rd_kafka_incremental_assign(k->client, list), err);
    rd_kafka_resp_err_t code = rd_kafka_assign(k->client, list);
    return code ? tide_topics_fail(k, rd_kafka_err2str(code), err) : TIDE_OK;
}

/* "The end" as an offset, so that it is the same after a stop. */
static rd_kafka_resp_err_t find_ends(tide_topics *k, tide_partitions *list)
{
    tide_partitions *ends = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt; i++)
        if (list->elems[i].offset == RD_KAFKA_OFFSET_END)
            rd_kafka_topic_partition_list_add(ends, list->elems[i].topic,
                                              list->elems[i].partition)
                ->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t code =
        ends->cnt ? rd_kafka_offsets_for_times(k->client, ends, ANSWER_MS)
                  : RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < ends->cnt && !code; i++) {
        const tide_partition *p = &ends->elems[i];
        code = p->err;
        rd_kafka_topic_partition_list_set_offset(list, p->topic, p->partition,
                                                 p->offset);
    }
    rd_kafka_topic_partition_list_destroy(ends);
    return code;
}

/* Sets where to begin. */
static rd_kafka_resp_err_t find_places(tide_topics *k, tide_partitions *list)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset = RD_KAFKA_OFFSET_INVALID;
    if (k->settings.in_group && list->cnt)
        code = rd_kafka_committed(k->client, list, ANSWER_MS);
    for (int i = 0; i < list->cnt && !code; i++) {
        tide_partition *p = &list->elems[i];
        int64_t own = place_of(k, p);
        code = p->err;
        raise_offset(k->committed, p, p->offset);
        raise_offset(k->saved, p, p->offset);
        if (own >= 0 && own > p->offset)
            p->offset = own;
        else if (p->offset < 0)
            p->offset =
                k->settings.from_end ? RD_KAFKA_OFFSET_END : RD_KAFKA_OFFSET_BEGINNING;
    }
    return code ? code : find_ends(k, list);
}

static void keep_places(tide_topics *k, const tide_partitions *list)
{
    for (int i = 0; i < list->cnt; i++) {
        const tide_partition *p = &list->elems[i];
        if (p->offset >= 0)
            tide_topics_entry(k, p->topic, p->partition)->offset = p->offset;
    }
}

int tide_topics_take_arriving(tide_topics *k, tide_error *err)
{
    rd_kafka_resp_err_t code = find_places(k, k->arriving);
    if (code) {
        tide_topics_fail(k, rd_kafka_err2str(code), &k->trouble);
        if (!k->told)
            TIDE_TOPICS_TELL(k,
                             "where to begin with %d partitions cannot be found out: "
                             "%s; asking again",
                             k->arriving->cnt, rd_kafka_err2str(code));
        k->told = true;
        return TIDE_SOURCE_LATER;
    }
    k->told = false;
    int status = assign(k, k->arriving, err);
    keep_places(k, k->arriving);
    tide_partitions_forget(&k->arriving);
    if (!status) /* a kill may have come between an earlier save and its commit */
        (void)commit(k, false, NULL);
    return status;
}

/* Adds the partitions of one topic, or finds that those we want are there. */
static int add_partitions(tide_topics *k, const tide_partition *wanted,
                          tide_partitions *list, tide_error *err)
{
    const struct rd_kafka_metadata *data = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(k->client, wanted->topic, NULL);
    rd_kafka_resp_err_t code =
        topic ? rd_kafka_metadata(k->client, 0, topic, &data, ANSWER_MS)
              : rd_kafka_last_error();
    int status = TIDE_SOURCE_LATER;
    bool found = !code && data && data->topic_cnt == 1;
    if (found)
        code = data->topics[0].err;
    if (code) {
        tide_topics_fail(k, rd_kafka_err2str(code), &k->trouble);
    } else if (found && data->topics[0].partition_cnt > 0) {
        int count = data->topics[0].partition_cnt;
        status = TIDE_OK;
        if (wanted->partition >= count)
            status = tide_fail(err, TIDE_ERROR_IO,
                               "kafka: %s has %d partitions, and no number %d",
                               wanted->topic, count, (int)wanted->partition);
        else if (wanted->partition >= 0)
            rd_kafka_topic_partition_list_add(list, wanted->topic, wanted->partition);
        else
            rd_kafka_topic_partition_list_add_range(list, wanted->topic, 0, count - 1);
    }
    if (data)
        rd_kafka_metadata_destroy(data);
    if (topic)
        rd_kafka_topic_destroy(topic);
    return status;
}

/* The partitions of all topics, added to a list. */
static int find_all(tide_topics *k, tide_partitions *list, tide_error *err)
{
    const tide_partitions *wanted = k->settings.wanted;
    int status = TIDE_OK;
    for (int i = 0; i < wanted->cnt && status == TIDE_OK; i++)
        status = add_partitions(k, &wanted->elems[i], list, err);
    return status;
}

/* Partitions that a topic gets later are found by the next run. */
int tide_topics_take_all(tide_topics *k, tide_error *err)
{
    tide_partitions *list = rd_kafka_topic_partition_list_new(8);
    int status = find_all(k, list, err);
    if (status == TIDE_OK)
        k->arriving = list;
    else
        rd_kafka_topic_partition_list_destroy(list);
    return status;
}

bool tide_topics_are_there(tide_topics *k)
{
    tide_partitions *list = rd_kafka_topic_partition_list_new(8);
    int status = find_all(k, list, NULL);
    rd_kafka_topic_partition_list_destroy(list);
    return status == TIDE_OK;
}

/* They are too old, or the topic was made anew. */
int tide_topics_begin_again(tide_topics *k, const tide_partition *p, tide_error *err)
{
    tide_partitions *list = NULL;
    TIDE_TOPICS_TELL(
        k,
        "%s[%d]: there is no message %lld any more; going on with the oldest "
        "there is",
        p->topic, (int)p->partition, (long long)place_of(k, p));
    k->of_latest = NULL;
    tide_partitions *const lists[] = {k->places, k->saved, k->committed};
    for (int i = 0; i < 3; i++)
        rd_kafka_topic_partition_list_del(lists[i], p->topic, p->partition);
    if (is_cooperative(k)) {
        list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, p->topic, p->partition);
        int status = taken(k, rd_kafka_incremental_unassign(k->client, list), err);
        if (status) {
            tide_partitions_forget(&list);
            return status;
        }
    } else if (rd_kafka_assignment(k->client, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return tide_topics_fail(k, "no partitions", err);
    }
    for (int i = 0; i < list->cnt; i++) {
        int64_t own = place_of(k, &list->elems[i]);
        list->elems[i].offset = own >= 0 ? own : RD_KAFKA_OFFSET_BEGINNING;
    }
    int status = assign(k, list, err);
    tide_partitions_forget(&list);
    return status;
}

/* -- a save ------------------------------------------------------------------------- */

int tide_topics_commit(tide_topics *k, const char *place, tide_error *err)
{
    tide_partitions *places = tide_kafka_places_parse(place);
    if (!places)
        return tide_fail(err, TIDE_ERROR_FORMAT, "kafka: '%s' is no place", place);
    tide_topics_note_saved(k, places);
    rd_kafka_topic_partition_list_destroy(places);
    bool release = k->leaving && !tide_topics_leaving_unsaved(k);
    int status = release ? tide_topics_release(k, err) : commit(k, false, err);
    if (!status && k->not_committed.status) {
        status = tide_fail(err, TIDE_ERROR_IO, "%s", k->not_committed.text);
        k->not_committed.status = TIDE_OK;
    }
    return status;
}

/* -- partitions that go ------------------------------------------------------------ */

bool tide_topics_leaving_unsaved(const tide_topics *k)
{
    for (int i = 0; k->leaving && !k->lost && i < k->leaving->cnt; i++)
        if (place_of(k, &k->leaving->elems[i]) >
            offset_in(k->saved, &k->leaving->elems[i]))
            return true;
    return false;
}

static void unassign_leaving(tide_topics *k)
{
    if (is_cooperative(k))
        taken(k, rd_kafka_incremental_unassign(k->client, k->leaving), &k->trouble);
    else
        rd_kafka_assign(k->client, NULL);
    tide_partitions_forget(&k->leaving);
    k->lost = false;
}

int tide_topics_release(tide_topics *k, tide_error *err)
{
    int status = commit(k, true, err);
    unassign_leaving(k);
    return status;
}

void tide_topics_answer_rebalance(tide_topics *k)
{
    tide_error ignored;
    if (k->leaving)
        unassign_leaving(k);
    if (!k->arriving)
        return;
    tide_partitions *none = rd_kafka_topic_partition_list_new(0);
    (void)assign(k, none, &ignored);
    tide_partitions_forget(&none);
    tide_partitions_forget(&k->arriving);
}

void tide_topics_rebalance(tide_topics *k, rd_kafka_event_t *event)
{
    const tide_partitions *list = rd_kafka_event_topic_partition_list(event);
    tide_partitions_forget(&k->arriving);
    tide_partitions_forget(&k->leaving);
    if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        k->arriving = rd_kafka_topic_partition_list_copy(list);
        return;
    }
    k->leaving = rd_kafka_topic_partition_list_copy(list);
    k->lost = rd_kafka_assignment_lost(k->client);
    if (k->lost)
        TIDE_TOPICS_TELL(k,
                         "partitions were given to another member of the group before "
                         "their offsets were committed; both may read the same");
}
