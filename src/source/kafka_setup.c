/* kafka_setup.c - making a librdkafka client for
 * "kafka://BROKER[,BROKER]/TOPIC[,TOPIC][?SETTING[&SETTING]]", and positions as text.
 *
 *     group=NAME              share the partitions with the other members of the group
 *     partitions=0,2          only these (without a group)
 *     from=beginning|end      where to start what has not been read before
 *
 * In addition all properties of librdkafka can be set, except those that would commit
 * offsets before the text is safe on disk. Its log messages are dropped: everything
 * that matters is also reported as an event, and a library does not print.
 */
#include "source/kafka.h"
#include "source/source.h"

#include <stdlib.h>

#define TOPIC_LETTERS                                                                  \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

enum { TOPIC_MAX = 249, PARTITION_MAX = 1000000 };

/* -- the name of the source -------------------------------------------------------- */

static int invalid(tide_error *err, const char *what, const char *text)
{
    return tide_fail(err, TIDE_ERROR_PARAMETER, "kafka: %s '%s'", what, text);
}

static bool is_topic(const char *text, size_t length)
{
    return length > 0 && length <= TOPIC_MAX && strspn(text, TOPIC_LETTERS) >= length;
}

/* A decimal number that ends at `end`. */
static bool read_number(const char *text, const char *end, int64_t max, int64_t *value)
{
    *value = 0;
    for (const char *c = text; c < end; c++) {
        if (*c < '0' || *c > '9' || *value > (max - (*c - '0')) / 10)
            return false;
        *value = *value * 10 + (*c - '0');
    }
    return text < end;
}

static int parse_topics(tide_kafka_settings *s, tide_error *err)
{
    if (!*s->topics)
        return invalid(err, "no topic after", s->brokers);
    for (const char *at = s->topics;; at++) {
        char name[TOPIC_MAX + 1];
        size_t length = strcspn(at, ",");
        if (!is_topic(at, length))
            return invalid(err, "invalid topic name in", s->topics);
        memcpy(name, at, length);
        name[length] = '\0';
        if (!rd_kafka_topic_partition_list_find(s->wanted, name, RD_KAFKA_PARTITION_UA))
            rd_kafka_topic_partition_list_add(s->wanted, name, RD_KAFKA_PARTITION_UA);
        at += length;
        if (*at == '\0')
            return TIDE_OK;
    }
}

/* Replaces the topics by the given partitions of each of them. */
static int parse_partitions(tide_kafka_settings *s, const char *text, tide_error *err)
{
    tide_partitions *topics = s->wanted;
    s->wanted = rd_kafka_topic_partition_list_new(topics->cnt);
    s->some_partitions = true;
    bool good = true;
    for (const char *at = text; good; at++) {
        const char *end = at + strcspn(at, ",");
        int64_t number;
        good = read_number(at, end, PARTITION_MAX, &number);
        for (int i = 0; i < topics->cnt && good; i++)
            if (!rd_kafka_topic_partition_list_find(s->wanted, topics->elems[i].topic,
                                                    (int32_t)number))
                rd_kafka_topic_partition_list_add(s->wanted, topics->elems[i].topic,
                                                  (int32_t)number);
        at = end;
        if (*at == '\0')
            break;
    }
    rd_kafka_topic_partition_list_destroy(topics);
    return good ? TIDE_OK : invalid(err, "partitions must be numbers, not", text);
}

static int parse_setting(tide_kafka_settings *s, char *setting, const char **group,
                         const char **partitions, tide_error *err)
{
    char *value = strchr(setting, '=');
    if (!value || value[1] == '\0')
        return invalid(err, "missing value for", setting);
    *value++ = '\0';
    if (strcmp(setting, "group") == 0)
        *group = value;
    else if (strcmp(setting, "partitions") == 0)
        *partitions = value;
    else if (strcmp(setting, "from") != 0)
        return invalid(err,
                       "unknown setting (use group, partitions or from):", setting);
    else if (strcmp(value, "end") == 0)
        s->from_end = true;
    else if (strcmp(value, "beginning") != 0)
        return invalid(err, "from must be beginning or end, not", value);
    return TIDE_OK;
}

static int parse_spec(tide_kafka_settings *s, const char **group, tide_error *err)
{
    char *rest = s->text + sizeof TIDE_KAFKA_PREFIX - 1;
    const char *partitions = NULL;
    s->brokers = strsep(&rest, "/");
    s->topics = rest ? strsep(&rest, "?") : "";
    if (s->brokers[strspn(s->brokers, " \t\n\v\f\r,")] == '\0')
        return invalid(err, "no broker before", s->topics);
    int status = parse_topics(s, err);
    while (rest && status == TIDE_OK)
        status = parse_setting(s, strsep(&rest, "&"), group, &partitions, err);
    if (status == TIDE_OK && *group && partitions)
        return invalid(err, "a group assigns partitions itself; remove partitions",
                       partitions);
    if (status == TIDE_OK && partitions)
        status = parse_partitions(s, partitions, err);
    return status;
}

/* -- the client -------------------------------------------------------------------- */

static void drop_log(const rd_kafka_t *client, int level, const char *facility,
                     const char *text)
{
    (void)client, (void)level, (void)facility, (void)text;
}

static int set_conf(rd_kafka_conf_t *conf, const char *name, const char *value,
                    tide_error *err)
{
    char reason[256];
    if (rd_kafka_conf_set(conf, name, value, reason, sizeof reason) == RD_KAFKA_CONF_OK)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_PARAMETER, "kafka: %s", reason);
}

static int set_property(rd_kafka_conf_t *conf, const char *property, tide_error *err)
{
    static const char *const reserved[] = {"enable.auto.commit",
                                           "enable.auto.offset.store",
                                           "auto.commit.enable", "auto.offset.reset"};
    char name[128];
    const char *value = strchr(property, '=');
    size_t length = value ? (size_t)(value - property) : 0;
    if (length == 0 || length >= sizeof name)
        return invalid(err, "a property is NAME=VALUE, not", property);
    memcpy(name, property, length);
    name[length] = '\0';
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(name, reserved[i]) == 0)
            return invalid(err, "offsets are managed by wordtide; do not set", name);
    return set_conf(conf, name, value + 1, err);
}

static int configure(rd_kafka_conf_t *conf, tide_kafka_settings *s, const char *group,
                     const tide_source_options *options, tide_error *err)
{
    const char *const defaults[][2] = {
        {"bootstrap.servers", s->brokers},
        {"client.id", "wordtide"},
        {"group.id", group ? group : ""},
        {"queued.max.messages.kbytes", "16384"},
        {"fetch.max.bytes", "16777216"},
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"auto.offset.reset", "error"}, /* so that expired messages are reported */
    };
    int status = TIDE_OK;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults && !status; i++)
        status = set_conf(conf, defaults[i][0], defaults[i][1], err);
    for (size_t i = 0; options && i < options->property_count && !status; i++)
        status = set_property(conf, options->properties[i], err);
    char value[32] = "";
    size_t size = sizeof value;
    if (rd_kafka_conf_get(conf, "group.id", NULL, &size) == RD_KAFKA_CONF_OK)
        s->in_group = size > 1;
    if (!s->in_group && !status) /* required by librdkafka, but not used */
        status = set_conf(conf, "group.id", "wordtide", err);
    size = sizeof value;
    rd_kafka_conf_get(conf, "socket.connection.setup.timeout.ms", value, &size);
    s->startup_timeout_ms = atoi(value);
    if (!status && s->in_group && s->some_partitions)
        status = tide_fail(err, TIDE_ERROR_PARAMETER,
                           "kafka: a group assigns partitions itself");
    rd_kafka_conf_set_log_cb(conf, drop_log);
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_REBALANCE |
                                       RD_KAFKA_EVENT_ERROR |
                                       RD_KAFKA_EVENT_OFFSET_COMMIT);
    return status;
}

void tide_kafka_settings_clear(tide_kafka_settings *settings)
{
    if (settings->wanted)
        rd_kafka_topic_partition_list_destroy(settings->wanted);
    free(settings->text);
    *settings = (tide_kafka_settings){0};
}

rd_kafka_t *tide_kafka_connect(const char *spec, const tide_source_options *options,
                               tide_kafka_settings *settings, tide_error *err)
{
    char reason[256];
    const char *group = NULL;
    rd_kafka_t *client = NULL;
    size_t size = strlen(spec) + 1;
    *settings = (tide_kafka_settings){.text = tide_alloc(1, size)};
    if (!settings->text) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    memcpy(settings->text, spec, size);
    settings->wanted = rd_kafka_topic_partition_list_new(1);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (parse_spec(settings, &group, err) != TIDE_OK ||
        configure(conf, settings, group, options, err) != TIDE_OK)
        goto failed;
    client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
    if (client)
        return client;
    tide_fail(err, TIDE_ERROR_PARAMETER, "kafka: %s", reason);

failed:
    rd_kafka_conf_destroy(conf);
    tide_kafka_settings_clear(settings);
    return NULL;
}

/* -- positions --------------------------------------------------------------------- */

/* Partitions without an offset are omitted; an empty list is "-". */
char *tide_kafka_position_format(tide_partitions *positions)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *separator = "";
    rd_kafka_topic_partition_list_sort(positions, NULL, NULL);
    for (int i = 0; i < positions->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &positions->elems[i];
        if (p->offset < 0)
            continue;
        fprintf(out, "%s%s[%d]=%lld", separator, p->topic, (int)p->partition,
                (long long)p->offset);
        separator = " ";
    }
    if (*separator == '\0')
        fputc('-', out);
    bool failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

/* One "topic[partition]=OFFSET" that ends at `end`. */
static bool parse_position(const char *text, const char *end,
                           tide_partitions *positions)
{
    char topic[TOPIC_MAX + 1];
    int64_t partition, offset;
    const char *bracket = memchr(text, '[', (size_t)(end - text));
    const char *equals = bracket ? memchr(bracket, '=', (size_t)(end - bracket)) : NULL;
    if (!equals || equals[-1] != ']' || !is_topic(text, (size_t)(bracket - text)) ||
        !read_number(bracket + 1, equals - 1, PARTITION_MAX, &partition) ||
        !read_number(equals + 1, end, INT64_MAX, &offset))
        return false;
    memcpy(topic, text, (size_t)(bracket - text));
    topic[bracket - text] = '\0';
    rd_kafka_topic_partition_list_add(positions, topic, (int32_t)partition)->offset =
        offset;
    return true;
}

tide_partitions *tide_kafka_position_parse(const char *text)
{
    tide_partitions *positions = rd_kafka_topic_partition_list_new(8);
    if (strcmp(text, "-") == 0)
        return positions;
    for (;; text++) {
        const char *end = text + strcspn(text, " ");
        if (!parse_position(text, end, positions))
            break;
        text = end;
        if (*text == '\0')
            return positions;
    }
    rd_kafka_topic_partition_list_destroy(positions);
    return NULL;
}
