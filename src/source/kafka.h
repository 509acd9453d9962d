/* kafka.h - shared by the files of the Kafka source: source_kafka.c reads messages,
 * kafka_setup.c parses settings and makes the client, kafka_partitions.c handles
 * assignment and commits. Private. */
#ifndef TIDE_SOURCE_KAFKA_H
#define TIDE_SOURCE_KAFKA_H

#include "source/source.h"

#include <librdkafka/rdkafka.h>

#define TIDE_KAFKA_PREFIX "kafka://"

typedef rd_kafka_topic_partition_t tide_partition;
typedef rd_kafka_topic_partition_list_t tide_partitions;

/* -- kafka_setup.c ----------------------------------------------------------------- */

typedef struct tide_kafka_settings {
    char *text; /* the strings below point into it */
    const char *brokers, *topics;
    bool in_group;
    bool from_end;
    tide_partitions *wanted; /* topics, or their partitions if those are given */
    bool some_partitions;    /* partitions are given */
    int startup_timeout_ms;  /* how long brokers and topics may be missing at first */
} tide_kafka_settings;

/* Makes a client for "kafka://BROKERS/TOPICS?...", which does not fetch yet. NULL on
 * failure. */
rd_kafka_t *tide_kafka_connect(const char *spec, const tide_source_options *options,
                               tide_kafka_settings *settings, tide_error *err);
void tide_kafka_settings_clear(tide_kafka_settings *settings);

/* Formats a position, "topic[partition]=OFFSET ..." in order; free() it. NULL if out of
 * memory. */
char *tide_kafka_position_format(tide_partitions *positions);

/* Parses a position; NULL if it is not valid. */
tide_partitions *tide_kafka_position_parse(const char *text);

/* -- kafka_partitions.c ------------------------------------------------------------ */

/* The reader. */
typedef struct tide_topics {
    tide_kafka_settings settings;
    rd_kafka_t *client;
    rd_kafka_queue_t *queue;

    /* Offsets per partition, of the next message. For each partition
     * committed <= saved <= positions, unless the group has committed more than this
     * reader has read. */
    tide_partitions *positions; /* as far as messages were returned */
    tide_partitions *saved;     /* as far as a saved model has come */
    tide_partitions *committed; /* as far as the group knows */

    tide_partitions *assigned; /* pending: their start offsets are not known yet */
    tide_partitions *revoked; /* pending: held until what was read from them is saved */
    bool lost;                /* the revoked ones already belong to another member */
    bool started;             /* partitions were assigned at least once */
    bool warned;              /* that start offsets cannot be determined */
    int64_t opened_ms;
    bool one_message; /* a read returns no more than one message */

    rd_kafka_event_t *event; /* holds the message */
    const rd_kafka_message_t *message;
    size_t returned;                 /* bytes of its payload and line feed */
    tide_partition *latest_position; /* entry in `positions` of the latest message */

    tide_error failure;       /* returned by the next read */
    tide_error startup_error; /* why nothing could be reached so far */
    tide_error commit_error;
    bool commit_refused;     /* for good */
    int64_t commit_retry_ms; /* when to retry a failed commit; 0: never */
    tide_error notice;
    bool has_notice;
} tide_topics;

/* Sets a notice for the user, see tide_source_notice. */
#define TIDE_TOPICS_NOTIFY(k, ...)                                                     \
    ((k)->has_notice = true, (void)tide_fail(&(k)->notice, TIDE_OK, __VA_ARGS__))

/* Fails with "kafka: cannot read TOPICS from BROKERS: REASON". */
int tide_topics_fail(const tide_topics *k, const char *reason, tide_error *err);

/* Destroys a list and sets it to NULL. */
void tide_partitions_clear(tide_partitions **list);

/* The position of a partition, added if there is none, which may move the others. */
tide_partition *tide_topics_position(tide_topics *k, const char *topic, int32_t number);

/* Without a group: assigns all partitions of the topics. TIDE_SOURCE_LATER while they
 * are unknown. */
int tide_topics_assign_all(tide_topics *k, tide_error *err);

/* Whether all topics can be reached. */
bool tide_topics_are_reachable(tide_topics *k);

/* Starts to read the pending assigned partitions. TIDE_SOURCE_LATER if their start
 * offsets cannot be determined yet; this is reported once. */
int tide_topics_start_assigned(tide_topics *k, tide_error *err);

/* The next messages of a partition have expired: continues with the oldest one. */
int tide_topics_reset_to_oldest(tide_topics *k, const tide_partition *p,
                                tide_error *err);

/* Handles a rebalance event: partitions become pending as assigned or revoked. */
void tide_topics_rebalance(tide_topics *k, rd_kafka_event_t *event);

/* Whether revoked partitions have to wait for a save. */
bool tide_topics_revoked_unsaved(const tide_topics *k);

/* Commits what is saved of the revoked partitions and releases them to the group. They
 * are released even if the commit fails: then the next member reads the same messages
 * again. */
int tide_topics_release_revoked(tide_topics *k, tide_error *err);

/* Before closing: releases what is revoked and declines what is assigned, since
 * librdkafka waits for a response to a rebalance. */
void tide_topics_end_rebalance(tide_topics *k);

/* Records that a model with these positions was loaded or saved. Offsets behind our own
 * positions are ignored. */
void tide_topics_note_saved(tide_topics *k, const tide_partitions *positions);

/* As tide_source_saved. The position may be older than the current one. Revoked
 * partitions are held until a saved model has everything that was read from them, so
 * only a position that covers it ends TIDE_SOURCE_SAVE. */
int tide_topics_commit(tide_topics *k, const char *position, tide_error *err);

/* Handles the result of a commit. */
void tide_topics_on_commit(tide_topics *k, rd_kafka_event_t *event);

/* As tide_source_finish. Partitions that are revoked meanwhile are held until then. */
int tide_topics_finish(tide_topics *k, tide_error *err);

/* Retries a failed commit when it is due. A group refuses commits while it
 * rebalances. */
void tide_topics_retry_commit(tide_topics *k);

#endif
