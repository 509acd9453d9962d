/* simple.c - trains on a file and prints the words nearest to another.
 *
 *     simple TEXT MODEL WORD
 */
#include <wordtide.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: simple TEXT MODEL WORD\n");
        return 2;
    }
    tide_error err;
    if (tide_train_file(argv[1], argv[2], NULL, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    tide_model *model = tide_model_load(argv[2], &err);
    tide_hit hits[10];
    int found = model ? tide_nearest(model, argv[3], hits, 10, &err) : -1;
    if (found < 0)
        fprintf(stderr, "%s\n", err.text);
    for (int i = 0; i < found; i++)
        printf("%.4f %s\n", (double)hits[i].score, hits[i].word);
    tide_model_free(model);
    return found < 0;
}
