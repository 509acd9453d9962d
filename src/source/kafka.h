/* kafka.h - what the files of the reader of topics share. Private to source_kafka.c, which reads,
 * kafka_setup.c and kafka_partitions.c. */
#ifndef TIDE_SOURCE_KAFKA_H
#define TIDE_SOURCE_KAFKA_H

#include "source/source.h"

#include <librdkafka/rdkafka.h>

#define TIDE_KAFKA_PREFIX "kafka://"

typedef rd_kafka_topic_partition_t tide_partition;
typedef rd_kafka_topic_partition_list_t tide_partitions;

/* -- kafka_setup.c ------------------------------------------------------------------------------ */

typedef struct tide_kafka_settings {
    char *text; /* holds what the next ones point to */
    const char *brokers, *topics;
    bool in_group;
    bool from_end;
    tide_partitions *wanted; /* topics; with their partitions if given */
    bool some_partitions;    /* they are */
    int patience_ms; /* how long a topic or a broker may fail to show up at first */
} tide_kafka_settings;

/* Makes a client of "kafka://BROKERS/TOPICS?..." that has not begun to read. NULL on failure. */
rd_kafka_t *tide_kafka_connect(const char *spec, const tide_source_options *options,
                               tide_kafka_settings *settings, tide_error *err);
void tide_kafka_settings_clear(tide_kafka_settings *settings);

/* "topic[partition]=OFFSET ..." in order; free() it. NULL without memory. */
char *tide_kafka_places_text(tide_partitions *places);

/* The way back; NULL when it is no such text. */
tide_partitions *tide_kafka_places_parse(const char *text);

/* -- kafka_partitions.c -------------------------------------------------------------------------- */

/* The reader. */
typedef struct tide_topics {
    tide_kafka_settings settings;
    rd_kafka_t *client;
    rd_kafka_queue_t *queue;
    tide_partitions *places;    /* the next offsets of all that we know */
    tide_partitions *saved;     /* the same, as far as a saved model has come */
    tide_partitions *committed; /* the same, as far as the group knows */
    tide_partitions *arriving;  /* given to us; where to begin is not known yet */
    tide_partitions *leaving; /* revoked; kept until what was read from them is saved */
    bool lost;                /* those belong to another member already */
    bool begun;               /* partitions were assigned at least once */
    bool told;                /* that it is not known where to begin */
    int64_t opened_ms;
    bool one_message; /* no read goes beyond the end of a message */

    rd_kafka_event_t *event; /* holds the message */
    const rd_kafka_message_t *message;
    size_t given;              /* of its payload and line feed */
    tide_partition *of_latest; /* the place of the latest message */

    tide_error failure; /* to be returned when what was read is given out */
    tide_error trouble; /* why nothing could be reached so far */
    tide_error not_committed;
    bool refused;            /* for good */
    int64_t commit_again_ms; /* when to try once more what was refused; 0 for never */
    tide_error news;
    bool is_news;
} tide_topics;

/* Something a person should know, see tide_source_news. */
#define TIDE_TOPICS_TELL(k, ...)                                                       \
    ((k)->is_news = true, (void)tide_fail(&(k)->news, TIDE_OK, __VA_ARGS__))

/* "kafka: cannot read TOPICS from BROKERS: ...". */
int tide_topics_fail(const tide_topics *k, const char *reason, tide_error *err);

void tide_partitions_forget(tide_partitions **list);

/* The place of a partition, made if there is none. Others may move. */
tide_partition *tide_topics_entry(tide_topics *k, const char *topic, int32_t number);

/* Without a group: all partitions of the topics arrive. TIDE_SOURCE_LATER while they are unknown. */
int tide_topics_take_all(tide_topics *k, tide_error *err);

/* Whether somebody who knows all the topics can be reached. */
bool tide_topics_are_there(tide_topics *k);

/* Begins to read what arrives, or asks again the next time (TIDE_SOURCE_LATER), which is told
 * once. */
int tide_topics_take_arriving(tide_topics *k, tide_error *err);

/* Messages that we wanted next are gone: goes on with the oldest one. */
int tide_topics_begin_again(tide_topics *k, const tide_partition *p, tide_error *err);

void tide_topics_rebalance(tide_topics *k, rd_kafka_event_t *event);

/* Whether revoked partitions have to wait for a save. */
bool tide_topics_leaving_unsaved(const tide_topics *k);

/* Commits what is saved of revoked partitions, and gives them back to the group. They go even when the commit fails:
 * the next member then reads again what we have read. */
int tide_topics_release(tide_topics *k, tide_error *err);

/* Gives up what is revoked and takes nothing of what is assigned: librdkafka waits for an answer before it closes. */
void tide_topics_answer_rebalance(tide_topics *k);

/* A model with these places was loaded, or is saved. What lies behind our own place is ignored. */
void tide_topics_note_saved(tide_topics *k, const tide_partitions *places);

/* As tide_source_saved. The place may be an older one than the present: revoked partitions stay until all that was
 * read from them is in a saved model, so TIDE_SOURCE_SAVE is answered only by a place that has that. */
int tide_topics_commit(tide_topics *k, const char *place, tide_error *err);

/* An answer to a commit came. */
void tide_topics_on_commit(tide_topics *k, rd_kafka_event_t *event);

/* As tide_source_finish. Partitions that are revoked meanwhile are kept until then. */
int tide_topics_finish(tide_topics *k, tide_error *err);

/* Commits again what was refused a while ago. A group does that while its members join anew. */
void tide_topics_commit_again(tide_topics *k);

#endif
