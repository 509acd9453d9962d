/* similar_lines.c - finds the line most similar to the first one.
 *
 *     similar_lines MODEL < lines.txt
 *
 * The vector of a line is the weighted mean of its words' vectors. MODEL may be a model
 * of wordtide or any file of vectors, such as word2vec's or GloVe's.
 */
#include <wordtide.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double cosine(const float *a, const float *b, uint32_t dim)
{
    double ab = 0, aa = 0, bb = 0;
    for (uint32_t i = 0; i < dim; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: similar_lines MODEL < LINES\n");
        return 2;
    }
    tide_error err;
    tide_model *model = tide_model_open(argv[1], &err);
    tide_view *view =
        model ? tide_view_new(model, TIDE_VECTORS_INPUT, true, &err) : NULL;
    tide_embedder *embedder = view ? tide_embedder_new(view, 0.001, &err) : NULL;
    if (!embedder) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    uint32_t dim = tide_model_dim(model);
    float *vectors =
        calloc(2 * (size_t)dim, sizeof *vectors); /* the first line, this one */
    char *line = NULL, *best = NULL;
    size_t capacity = 0;
    double highest = -2;
    for (size_t number = 0; getline(&line, &capacity, stdin) > 0; number++) {
        float *vector = vectors + (number ? dim : 0);
        tide_embedder_add(embedder, line, strlen(line));
        tide_embedder_end(embedder, vector);
        double similarity = number ? cosine(vectors, vector, dim) : -2;
        if (similarity > highest) {
            highest = similarity;
            free(best);
            best = strdup(line);
        }
    }
    if (best)
        printf("%.4f %s", highest, best);
    free(best);
    free(line);
    free(vectors);
    tide_embedder_free(embedder);
    tide_view_free(view);
    tide_model_free(model);
    return 0;
}
