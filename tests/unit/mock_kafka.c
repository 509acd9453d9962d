/* mock_kafka.c - a Kafka broker for the tests of the command.
 *
 *     mock_kafka TOPIC PARTITIONS
 *
 * Starts librdkafka's mock cluster and prints its address. Every line of standard input
 * becomes a message: "PARTITION<TAB>text" in that partition, others in one after the
 * other. An empty line prints "ok" when all messages before it are in, and "?GROUP" the
 * offsets that the group has committed, -1 for none. Runs until standard input ends.
 */
#include "kafka_fixture.h"

static void print_committed(const cluster *c, const char *group, const char *topic,
                            int partitions)
{
    for (int i = 0; i < partitions; i++) {
        int64_t offset = committed_in(c, group, topic, i);
        printf("%s%lld", i ? " " : "", (long long)(offset < 0 ? -1 : offset));
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int partitions = argc == 3 ? atoi(argv[2]) : 0, turn = 0;
    if (partitions < 1) {
        fprintf(stderr, "usage: mock_kafka TOPIC PARTITIONS\n");
        return 2;
    }
    cluster c = new_cluster(argv[1], partitions);
    printf("%s\n", c.brokers);
    fflush(stdout);
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
        size -= line[size - 1] == '\n';
        if (size == 0) {
            deliver(&c);
            puts("ok");
            fflush(stdout);
            continue;
        }
        if (line[0] == '?') {
            line[size] = '\0';
            print_committed(&c, line + 1, argv[1], partitions);
            continue;
        }
        char *text = line;
        long partition = strtol(line, &text, 10);
        if (text == line || *text != '\t') {
            partition = turn++ % partitions;
            text = NULL;
        }
        text = text ? text + 1 : line;
        produce(&c, argv[1], (int)partition, text, (size_t)(line + size - text));
    }
    free(line);
    free_cluster(&c);
    return 0;
}
