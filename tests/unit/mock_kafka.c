/* mock_kafka.c - a Kafka for the tests of the command.
 *
 *     mock_kafka TOPIC PARTITIONS
 *
 * Starts librdkafka's mock cluster and prints its address. Every line of standard input
 * becomes a message: "PARTITION<TAB>text" in that partition, others in one after the
 * other. An empty line prints "ok" when all messages before it are in. Runs until
 * standard input ends.
 */
#include "kafka_fixture.h"

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
    size_t room = 0;
    for (ssize_t size; (size = getline(&line, &room, stdin)) > 0;) {
        size -= line[size - 1] == '\n';
        if (size == 0) {
            deliver(&c);
            puts("ok");
            fflush(stdout);
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
