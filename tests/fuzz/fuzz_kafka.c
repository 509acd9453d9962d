/* fuzz_kafka.c - arbitrary bytes as the name of a Kafka source, and as a place in one.
 *
 * The first byte says which of the two the rest is. A name is refused with a reason, or
 * has brokers and topics and gets as far as rd_kafka_new, which is replaced here and
 * always fails. A place is refused, or survives formatting and parsing.
 */
#include "source/kafka.h"
#include "fuzz_fixture.h"

static bool asked; /* rd_kafka_new was called */

rd_kafka_t *rd_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *reason,
                         size_t room)
{
    char brokers[8];
    size_t size = sizeof brokers;
    must(type == RD_KAFKA_CONSUMER);
    rd_kafka_conf_get(conf, "bootstrap.servers", NULL, &size);
    must(size > 1);
    asked = true;
    snprintf(reason, room, "not here");
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
    must_have_said_why(&err);
    must(!settings.text && asked == !strcmp(err.text, "kafka: not here"));
}

static void try_places(const char *text)
{
    tide_partitions *places = tide_kafka_place_parse(text);
    if (!places)
        return;
    char *once = tide_kafka_place_format(places);
    tide_partitions *again = once ? tide_kafka_place_parse(once) : NULL;
    must(again && again->cnt == places->cnt);
    char *twice = tide_kafka_place_format(again);
    must(twice && strcmp(once, twice) == 0);
    rd_kafka_topic_partition_list_destroy(places);
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
        try_places(text);
    free(text);
    return 0;
}
