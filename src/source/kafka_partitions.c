/* kafka_partitions.c - assignment of partitions, start offsets and commits.
 *
 * Without a group all partitions are ours from the start, and our own positions alone
 * say where to continue. In a group, partitions are assigned and revoked:
 *
 *     assigned --> read from max(own position, offset committed by the group)
 *     revoked  --> held until everything read from it is saved, then committed,
 *                  then released to the next member
 *
 * If the group's offset is further than our own, another member has continued where we
 * had stopped. A partition is released only after the commit, so that the next member
 * does not read the same messages again. A save reports its position, which may be
 * older than the current one: a checkpoint takes a while, and reading continues
 * meanwhile.
 *
 * librdkafka has two rebalance protocols: all partitions are revoked and assigned again
 * every time ("eager"), or only those that change ("cooperative").
 */
#include "source/kafka.h"
#include "source/source.h"

enum { COMMIT_RETRY_MS = 100, FINISH_MS = 3000 };
enum { REQUEST_MS = 1000 }; /* timeout of a request, which is then repeated */

int tide_topics_fail(const tide_topics *k, const char *reason, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "kafka: cannot read %s from %s: %s",
                     k->settings.topics, k->settings.brokers, reason);
}

/* The status of a call that returns an error object; destroys the object. */
static int status_of(const tide_topics *k, rd_kafka_error_t *error, tide_error *err)
{
    if (!error)
        return TIDE_OK;
    int status = tide_topics_fail(k, rd_kafka_error_string(error), err);
    rd_kafka_error_destroy(error);
    return status;
}

void tide_partitions_clear(tide_partitions **list)
{
    if (*list)
        rd_kafka_topic_partition_list_destroy(*list);
    *list = NULL;
}

/* -- positions --------------------------------------------------------------------- */

/* The offset of a partition; RD_KAFKA_OFFSET_INVALID, which is less than any offset, if
 * there is none. */
static int64_t offset_in(const tide_partitions *list, const tide_partition *p)
{
    const tide_partition *found =
        rd_kafka_topic_partition_list_find(list, p->topic, p->partition);
    return found ? found->offset : RD_KAFKA_OFFSET_INVALID;
}

static int64_t position_of(const tide_topics *k, const tide_partition *p)
{
    return offset_in(k->positions, p);
}

static tide_partition *find_or_add(tide_partitions *list, const char *topic,
                                   int32_t number)
{
    tide_partition *found = rd_kafka_topic_partition_list_find(list, topic, number);
    return found ? found : rd_kafka_topic_partition_list_add(list, topic, number);
}

tide_partition *tide_topics_position(tide_topics *k, const char *topic, int32_t number)
{
    k->latest_position = NULL;
    return find_or_add(k->positions, topic, number);
}

/* Sets the offset of a partition unless it would decrease. */
static void raise_offset(tide_partitions *list, const tide_partition *p, int64_t offset)
{
    if (offset > offset_in(list, p))
        find_or_add(list, p->topic, p->partition)->offset = offset;
}

void tide_topics_note_saved(tide_topics *k, const tide_partitions *positions)
{
    for (int i = 0; i < positions->cnt; i++) {
        const tide_partition *p = &positions->elems[i];
        /* An offset beyond our own position dates from before the partition was
         * reset or reassigned, and says nothing about what this reader has returned. */
        if (p->offset <= position_of(k, p))
            raise_offset(k->saved, p, p->offset);
    }
}

/* -- commits ----------------------------------------------------------------------- */

static int fail_commit(rd_kafka_resp_err_t code, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "kafka: cannot commit offsets: %s",
                     rd_kafka_err2str(code));
}

static void note_committed(tide_topics *k, const tide_partitions *list)
{
    for (int i = 0; i < list->cnt; i++)
        if (!list->elems[i].err)
            raise_offset(k->committed, &list->elems[i], list->elems[i].offset);
}

/* This client is no longer a member of the group, whose offsets may be further. A retry
 * cannot succeed. */
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
    /* NO_OFFSET means that there was nothing to commit. */
    if (code && code != RD_KAFKA_RESP_ERR__NO_OFFSET) {
        fail_commit(code, &k->commit_error);
        k->commit_retry_ms = is_final(code) ? 0 : tide_now_ms() + COMMIT_RETRY_MS;
        k->commit_refused = is_final(code);
    } else if (list) {
        note_committed(k, list);
    }
}

/* Offsets that are saved but not committed, of the partitions currently assigned to us;
 * the others belong to other members. */
static tide_partitions *uncommitted_offsets(const tide_topics *k)
{
    tide_partitions *ours = NULL, *list = rd_kafka_topic_partition_list_new(8);
    if (rd_kafka_assignment(k->client, &ours) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return list;
    for (int i = 0; i < ours->cnt; i++) {
        const tide_partition *p = &ours->elems[i];
        int64_t saved = offset_in(k->saved, p);
        /* A commit never goes back, even if a model that is older than the group's
         * offset was resumed: that would make other members read messages twice. */
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
    tide_partitions *list = uncommitted_offsets(k);
    /* A commit for lost partitions would be refused by the group. */
    if (k->settings.in_group && list->cnt > 0 && !k->lost)
        /* rd_kafka_commit without waiting would report its result only to a
         * callback. */
        code = wait ? rd_kafka_commit(k->client, list, false)
                    : rd_kafka_commit_queue(k->client, list, k->queue, NULL, NULL);
    if (wait && !code)
        note_committed(k, list);
    rd_kafka_topic_partition_list_destroy(list);
    return code ? fail_commit(code, err) : TIDE_OK;
}

void tide_topics_retry_commit(tide_topics *k)
{
    if (!k->commit_retry_ms || tide_now_ms() < k->commit_retry_ms)
        return;
    k->commit_retry_ms = 0;
    (void)commit(k, false, NULL);
}

static bool all_committed(const tide_topics *k)
{
    tide_partitions *list = uncommitted_offsets(k);
    bool none = list->cnt == 0;
    rd_kafka_topic_partition_list_destroy(list);
    return none;
}

int tide_topics_finish(tide_topics *k, tide_error *err)
{
    int64_t until = tide_now_ms() + FINISH_MS;
    k->commit_refused = false;
    while (k->settings.in_group && !all_committed(k)) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(k->queue, COMMIT_RETRY_MS);
        /* Rebalances must still be handled: the group may be waiting for this member,
         * and the commits for the group. */
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT)
            tide_topics_on_commit(k, event);
        else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE)
            tide_topics_rebalance(k, event);
        rd_kafka_event_destroy(event);
        if (k->commit_refused || rd_kafka_assignment_lost(k->client) ||
            tide_now_ms() > until)
            return k->commit_error.status
                       ? tide_fail(err, TIDE_ERROR_IO, "%s", k->commit_error.text)
                       : fail_commit(RD_KAFKA_RESP_ERR__TIMED_OUT, err);
        tide_topics_retry_commit(k);
    }
    return TIDE_OK;
}

/* -- assigned partitions ----------------------------------------------------------- */

static bool is_cooperative(const tide_topics *k)
{
    return strcmp(rd_kafka_rebalance_protocol(k->client), "COOPERATIVE") == 0;
}

/* Starts fetching from these partitions, in addition to the current ones or instead of
 * them, according to the protocol. */
static int assign(tide_topics *k, const tide_partitions *list, tide_error *err)
{
    k->started = true;
    if (is_cooperative(k))
        return status_of(k, rd_kafka_incremental_assign(k->client, list), err);
    rd_kafka_resp_err_t code = rd_kafka_assign(k->client, list);
    return code ? tide_topics_fail(k, rd_kafka_err2str(code), err) : TIDE_OK;
}

/* Replaces RD_KAFKA_OFFSET_END by the actual offset, so that it is the same after a
 * restart. */
static rd_kafka_resp_err_t resolve_ends(tide_topics *k, tide_partitions *list)
{
    tide_partitions *ends = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt; i++)
        if (list->elems[i].offset == RD_KAFKA_OFFSET_END)
            rd_kafka_topic_partition_list_add(ends, list->elems[i].topic,
                                              list->elems[i].partition)
                ->offset = RD_KAFKA_OFFSET_END;
    /* One request for all of them. The answer has one error per partition, and the
     * first one makes the whole attempt fail, to be repeated. */
    rd_kafka_resp_err_t code =
        ends->cnt ? rd_kafka_offsets_for_times(k->client, ends, REQUEST_MS)
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

/* Determines the start offsets of the partitions in `list`. */
static rd_kafka_resp_err_t find_start_offsets(tide_topics *k, tide_partitions *list)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset = RD_KAFKA_OFFSET_INVALID;
    if (k->settings.in_group && list->cnt)
        code = rd_kafka_committed(k->client, list, REQUEST_MS);
    for (int i = 0; i < list->cnt && !code; i++) {
        tide_partition *p = &list->elems[i];
        int64_t own = position_of(k, p);
        code = p->err;
        raise_offset(k->committed, p, p->offset);
        raise_offset(k->saved, p, p->offset);
        /* The further of the two wins. Without either, the partition has never been
         * read and starts where the user wants. */
        if (own >= 0 && own > p->offset)
            p->offset = own;
        else if (p->offset < 0)
            p->offset =
                k->settings.from_end ? RD_KAFKA_OFFSET_END : RD_KAFKA_OFFSET_BEGINNING;
    }
    return code ? code : resolve_ends(k, list);
}

int tide_topics_start_assigned(tide_topics *k, tide_error *err)
{
    rd_kafka_resp_err_t code = find_start_offsets(k, k->assigned);
    if (code) {
        tide_topics_fail(k, rd_kafka_err2str(code), &k->startup_error);
        if (!k->warned)
            TIDE_TOPICS_NOTIFY(
                k,
                "cannot determine the start offsets of %d partitions: %s; "
                "retrying",
                k->assigned->cnt, rd_kafka_err2str(code));
        k->warned = true;
        return TIDE_SOURCE_LATER;
    }
    k->warned = false;
    int status = assign(k, k->assigned, err);
    /* An offset of BEGINNING is negative and sets no position: until the first message
     * is read there is nothing to save. */
    for (int i = 0; i < k->assigned->cnt; i++) {
        const tide_partition *p = &k->assigned->elems[i];
        if (p->offset >= 0)
            tide_topics_position(k, p->topic, p->partition)->offset = p->offset;
    }
    tide_partitions_clear(&k->assigned);
    if (!status) /* an earlier process may have been killed between save and commit */
        (void)commit(k, false, NULL);
    return status;
}

/* Adds the wanted partitions of one topic to the list, if they exist. */
static int add_partitions(tide_topics *k, const tide_partition *wanted,
                          tide_partitions *list, tide_error *err)
{
    const struct rd_kafka_metadata *data = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(k->client, wanted->topic, NULL);
    rd_kafka_resp_err_t code =
        topic ? rd_kafka_metadata(k->client, 0, topic, &data, REQUEST_MS)
              : rd_kafka_last_error();
    /* A broker that cannot be reached, or a topic that does not exist yet, is retried
     * until the startup timeout; only a partition that cannot exist is an error. */
    int status = TIDE_SOURCE_LATER;
    bool found = !code && data && data->topic_cnt == 1;
    if (found)
        code = data->topics[0].err;
    if (code) {
        tide_topics_fail(k, rd_kafka_err2str(code), &k->startup_error);
    } else if (found && data->topics[0].partition_cnt > 0) {
        int count = data->topics[0].partition_cnt;
        status = TIDE_OK;
        if (wanted->partition >= count)
            status = tide_fail(err, TIDE_ERROR_IO,
                               "kafka: topic %s has %d partitions, but no partition %d",
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

/* Adds the wanted partitions of all topics to the list. */
static int add_all_partitions(tide_topics *k, tide_partitions *list, tide_error *err)
{
    const tide_partitions *wanted = k->settings.wanted;
    int status = TIDE_OK;
    for (int i = 0; i < wanted->cnt && status == TIDE_OK; i++)
        status = add_partitions(k, &wanted->elems[i], list, err);
    return status;
}

/* Partitions that are added to a topic later are found by the next run. */
int tide_topics_assign_all(tide_topics *k, tide_error *err)
{
    tide_partitions *list = rd_kafka_topic_partition_list_new(8);
    int status = add_all_partitions(k, list, err);
    if (status == TIDE_OK)
        k->assigned = list;
    else
        rd_kafka_topic_partition_list_destroy(list);
    return status;
}

bool tide_topics_are_reachable(tide_topics *k)
{
    tide_partitions *list = rd_kafka_topic_partition_list_new(8);
    int status = add_all_partitions(k, list, NULL);
    rd_kafka_topic_partition_list_destroy(list);
    return status == TIDE_OK;
}

/* The messages have expired, or the topic was deleted and created again. */
int tide_topics_reset_to_oldest(tide_topics *k, const tide_partition *p,
                                tide_error *err)
{
    tide_partitions *list = NULL;
    TIDE_TOPICS_NOTIFY(
        k, "%s[%d]: message %lld no longer exists; continuing with the oldest one",
        p->topic, (int)p->partition, (long long)position_of(k, p));
    k->latest_position = NULL;
    /* The offsets of this partition belong to messages that no longer exist, and
     * offsets may have restarted at 0. Keeping them would block all commits, which
     * never go back. */
    tide_partitions *const lists[] = {k->positions, k->saved, k->committed};
    for (int i = 0; i < 3; i++)
        rd_kafka_topic_partition_list_del(lists[i], p->topic, p->partition);
    /* To change its offset, the partition must be assigned again. The cooperative
     * protocol can do that for it alone; the eager one assigns all partitions again,
     * each at its own position. */
    if (is_cooperative(k)) {
        list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, p->topic, p->partition);
        int status = status_of(k, rd_kafka_incremental_unassign(k->client, list), err);
        if (status) {
            tide_partitions_clear(&list);
            return status;
        }
    } else if (rd_kafka_assignment(k->client, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return tide_topics_fail(k, "no partitions are assigned", err);
    }
    for (int i = 0; i < list->cnt; i++) {
        int64_t own = position_of(k, &list->elems[i]);
        list->elems[i].offset = own >= 0 ? own : RD_KAFKA_OFFSET_BEGINNING;
    }
    int status = assign(k, list, err);
    tide_partitions_clear(&list);
    return status;
}

/* -- saves ------------------------------------------------------------------------- */

int tide_topics_commit(tide_topics *k, const char *position, tide_error *err)
{
    tide_partitions *positions = tide_kafka_position_parse(position);
    if (!positions)
        return tide_fail(err, TIDE_ERROR_FORMAT, "kafka: '%s' is not a valid position",
                         position);
    tide_topics_note_saved(k, positions);
    rd_kafka_topic_partition_list_destroy(positions);
    /* If this save covers everything that was read from the revoked partitions, they
     * can go to the next member now. Otherwise they wait for the next save. */
    bool release = k->revoked && !tide_topics_revoked_unsaved(k);
    int status = release ? tide_topics_release_revoked(k, err) : commit(k, false, err);
    /* The failure of an earlier commit in the background is reported here. */
    if (!status && k->commit_error.status) {
        status = tide_fail(err, TIDE_ERROR_IO, "%s", k->commit_error.text);
        k->commit_error.status = TIDE_OK;
    }
    return status;
}

/* -- revoked partitions ------------------------------------------------------------ */

bool tide_topics_revoked_unsaved(const tide_topics *k)
{
    for (int i = 0; k->revoked && !k->lost && i < k->revoked->cnt; i++)
        if (position_of(k, &k->revoked->elems[i]) >
            offset_in(k->saved, &k->revoked->elems[i]))
            return true;
    return false;
}

static void unassign_revoked(tide_topics *k)
{
    if (is_cooperative(k))
        status_of(k, rd_kafka_incremental_unassign(k->client, k->revoked),
                  &k->startup_error);
    else
        rd_kafka_assign(k->client, NULL);
    tide_partitions_clear(&k->revoked);
    k->lost = false;
}

int tide_topics_release_revoked(tide_topics *k, tide_error *err)
{
    /* The commit must be complete before the next member starts, hence the wait. */
    int status = commit(k, true, err);
    unassign_revoked(k);
    return status;
}

void tide_topics_end_rebalance(tide_topics *k)
{
    tide_error ignored;
    if (k->revoked)
        unassign_revoked(k);
    if (!k->assigned)
        return;
    /* Assigning nothing is how an assignment is declined. */
    tide_partitions *none = rd_kafka_topic_partition_list_new(0);
    (void)assign(k, none, &ignored);
    tide_partitions_clear(&none);
    tide_partitions_clear(&k->assigned);
}

void tide_topics_rebalance(tide_topics *k, rd_kafka_event_t *event)
{
    const tide_partitions *list = rd_kafka_event_topic_partition_list(event);

    /* A new event supersedes whatever is still pending from the last one. */
    tide_partitions_clear(&k->assigned);
    tide_partitions_clear(&k->revoked);

    /* Neither kind of event is answered here. An assignment needs start offsets, which
     * take a request to the group and may have to be retried
     * (tide_topics_start_assigned).
     */
    if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        k->assigned = rd_kafka_topic_partition_list_copy(list);
        return;
    }

    /* A revocation is answered by tide_topics_release_revoked, after the caller has
     * saved what was read from the partitions. Until then the group waits, and no other
     * member can start with them. The exception is a member that has been silent for
     * too long: its partitions are already reassigned, so a commit would be refused,
     * and there is no point in waiting. */
    k->revoked = rd_kafka_topic_partition_list_copy(list);
    k->lost = rd_kafka_assignment_lost(k->client);
    if (k->lost)
        TIDE_TOPICS_NOTIFY(
            k, "partitions were reassigned to another member of the group "
               "before their offsets were committed; both may read the same "
               "messages");
}
