/* replay.c - runs a fuzz target over the files of a folder, for builds without
 * libFuzzer.
 *
 * What fuzzing once found stays found: the seeds in tests/fuzz/corpus are ordinary
 * tests. Prints its results in TAP, one for each file and one for the empty input,
 * which every target must bear. A target that fails crashes, and the missing results
 * tell.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MAX = 1 << 20 };

/* The bytes are copied to a block of their exact size, where a sanitizer sees a read
 * beyond. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = calloc(1, size + !size);
    if (!exact)
        exit(EXIT_FAILURE);
    if (size > 0)
        memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int replay(const char *folder, const char *name)
{
    static uint8_t bytes[FILE_MAX];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    run(bytes, size);
    return 0;
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int count = argc > 1 ? scandir(argv[1], &entries, NULL, alphasort) : 0;
    int number = 1, failed = 0;
    run(NULL, 0);
    printf("ok 1 - the empty input\n");
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.') {
            int bad = replay(argv[1], name) < 0;
            printf("%sok %d - %s\n", bad ? "not " : "", ++number, name);
            failed += bad;
        }
        free(entries[i]);
    }
    free(entries);
    printf("1..%d\n", number);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
