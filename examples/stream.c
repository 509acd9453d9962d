/* stream.c - trains on standard input as it comes, and prints what a word means every
 * so often.
 *
 *     tail -f posts.txt | stream WORD [LINES]
 *
 * The trainer is fed by hand here, so the program decides when to query: after every
 * LINES lines (1,000) it waits until everything so far is trained and prints the five
 * nearest words.
 */
#include <wordtide.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const tide_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    return 1;
}

static void print_nearest(const tide_model *model, const char *word)
{
    tide_hit hits[5];
    tide_entry entry;
    int found = tide_nearest(model, word, hits, 5, NULL);
    printf("%llu words:", (unsigned long long)tide_model_tokens(model));
    for (int i = 0; i < found; i++)
        printf(" %s", hits[i].word);
    /* A word that has not been seen has a vector all the same, made of its n-grams. */
    if (tide_model_find(model, word, &entry, NULL))
        printf(" ('%s' has not been seen)", word);
    putchar('\n');
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: stream WORD [LINES]\n");
        return 2;
    }
    unsigned long every = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000, lines = 0;
    tide_error err;
    tide_params *params = tide_params_new(&err);
    if (!params || tide_params_set(params, "vocab", "20000", &err))
        return fail(&err);
    tide_trainer *trainer = tide_trainer_new(params, &err);
    tide_params_free(params);
    if (!trainer)
        return fail(&err);

    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
        tide_trainer_feed(trainer, line, (size_t)size, NULL);
        if (++lines % every == 0) {
            tide_trainer_end(trainer, NULL);
            print_nearest(tide_trainer_model(trainer), argv[1]);
        }
    }
    tide_trainer_end(trainer, NULL);
    print_nearest(tide_trainer_model(trainer), argv[1]);
    free(line);
    tide_trainer_free(trainer);
    return 0;
}
