/* kafka_fixture.h - a Kafka in this process: librdkafka's mock cluster, and a
 * producer. */
#ifndef KAFKA_FIXTURE_H
#define KAFKA_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

typedef struct cluster {
    rd_kafka_t *owner, *producer;
    rd_kafka_mock_cluster_t *mock;
    const char *brokers;
} cluster;

static void drop_cluster_log(const rd_kafka_t *client, int level, const char *facility,
                             const char *text)
{
    (void)client, (void)level, (void)facility, (void)text;
}

static rd_kafka_t *new_producer(const char *brokers)
{
    char reason[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, drop_cluster_log);
    rd_kafka_conf_set(conf, "linger.ms", "1", NULL, 0);
    if (brokers)
        rd_kafka_conf_set(conf, "bootstrap.servers", brokers, NULL, 0);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    if (!client) {
        fprintf(stderr, "%s\n", reason);
        abort();
    }
    return client;
}

static cluster new_cluster(const char *topic, int partitions)
{
    cluster c = {.owner = new_producer(NULL)};
    c.mock = rd_kafka_mock_cluster_new(c.owner, 1);
    c.brokers = rd_kafka_mock_cluster_bootstraps(c.mock);
    rd_kafka_mock_topic_create(c.mock, topic, partitions, 1);
    c.producer = new_producer(c.brokers);
    return c;
}

static void free_cluster(cluster *c)
{
    rd_kafka_destroy(c->producer);
    rd_kafka_mock_cluster_destroy(c->mock);
    rd_kafka_destroy(c->owner);
}

/* Without text: a message without payload. */
static void produce(const cluster *c, const char *topic, int partition,
                    const char *text, size_t size)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(c->producer, topic, NULL);
    while (rd_kafka_produce(handle, partition, RD_KAFKA_MSG_F_COPY,
                            (void *)(uintptr_t)text, size, NULL, 0, NULL) != 0) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            abort();
        rd_kafka_poll(c->producer, 10);
    }
    rd_kafka_poll(c->producer, 0);
    rd_kafka_topic_destroy(handle);
}

static void deliver(const cluster *c)
{
    if (rd_kafka_flush(c->producer, 10000) != RD_KAFKA_RESP_ERR_NO_ERROR)
        abort();
}

/* The offset that a group has committed for a partition, RD_KAFKA_OFFSET_INVALID for
 * none. */
static inline int64_t committed_in(const cluster *c, const char *group,
                                   const char *topic, int partition)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", c->brokers, NULL, 0);
    rd_kafka_conf_set(conf, "group.id", group, NULL, 0);
    rd_kafka_conf_set_log_cb(conf, drop_cluster_log);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, NULL, 0);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_UNKNOWN;
    for (int i = 0; client && code && i < 10; i++) /* the group may be busy */
        code = rd_kafka_committed(client, list, 10000);
    if (code) {
        fprintf(stderr, "committed offsets: %s\n", rd_kafka_err2str(code));
        abort();
    }
    int64_t offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
    return offset;
}

#endif
