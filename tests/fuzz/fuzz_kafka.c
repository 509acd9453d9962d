/* fuzz_kafka.c - arbitrary bytes as the name of a Kafka source, and as a position in
 * one.
 *
 * The first byte says which of the two the rest is. A name is refused with a reason, or
 * has brokers and topics and gets as far as rd_kafka_new, which is replaced here and
 * always fails. A position is refused, or survives formatting and parsing.
 */
#include "source/kafka.h"
#include "fuzz_fixture.h"

static bool asked; /* rd_kafka_new was called */

rd_kafka_t *rd_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *reason,
                         size_t capacity)
{
    char brokers[8];
    size_t size = sizeof brokers;
    must(type == RD_KAFKA_CONSUMER);
    rd_kafka_conf_get(conf, "bootstrap.servers", NULL, &size);
    must(size > 1);
    asked = true;
    snprintf(reason, capacity, "not here");
    return NULL;
}

static void try_name(const char *text)
{
    char name[8192];
    tide_kafka_settings settings;
    tide_error err = {.text = ""};
    asked = false;
    snprintf(name, sizeof name, TIDE_KAFKA_PREFIX "%s", text);
    must(tide_kafka_connect(name, NULL, &settings, &err) == NULL);
    must_have_error_text(&err);
    must(!settings.text && asked == !strcmp(err.text, "kafka: not here"));
}

static void try_positions(const char *text)
{
    tide_partitions *positions = tide_kafka_position_parse(text);
    if (!positions)
        return;
    char *once = tide_kafka_position_format(positions);
    tide_partitions *again = once ? tide_kafka_position_parse(once) : NULL;
    must(again && again->cnt == positions->cnt);
    char *twice = tide_kafka_position_format(again);
    must(twice && strcmp(once, twice) == 0);
    rd_kafka_topic_partition_list_destroy(positions);
    rd_kafka_topic_partition_list_destroy(again);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    must(text != NULL);
    if (data[0] & 1)
        try_name(text);
    else
        try_positions(text);
    free(text);
    return 0;
}
