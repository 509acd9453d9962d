/* fuzz_classifier.c - changes to a valid file of a classifier.
 *
 * The first byte is the kind. Then come changes, each a u16 offset behind the header
 * and four bytes to store there. Checksums are recomputed, so the checks behind them
 * have to hold. A file that loads must give probabilities; one that does not must give
 * a reason.
 */
#include "base/base.h"
#include "file/file.h"
#include "file/store_internal.h"
#include "label/label.h"
#include "vector/vector.h"
#include "fuzz_fixture.h"

enum { FILE_MAX = 1 << 14, DIM = 3, LABELS = 2, POSTS = 8 };

static unsigned char valid[TIDE_CLASSIFIER_KINDS][FILE_MAX];
static size_t valid_sizes[TIDE_CLASSIFIER_KINDS];
static tide_matrix vectors;

/* -- valid files ------------------------------------------------------------------ */

static tide_classifier *trained(tide_classifier_kind kind)
{
    static const uint32_t words[] = {0, 1, 2, 3}, labels[] = {0, 1};
    tide_example examples[POSTS];
    for (uint32_t i = 0; i < POSTS; i++)
        examples[i] = (tide_example){words + i % 3, 1, labels + i % 2, 1};
    const tide_classifier_options options = {.kind = kind,
                                             .dim = DIM,
                                             .labels = LABELS,
                                             .maps = 2,
                                             .max_words = 4,
                                             .batch = 50,
                                             .max_epochs = 2,
                                             .patience = 3,
                                             .threads = 1,
                                             .dropout = 0.5f,
                                             .rate = 0.001f,
                                             .held_out = 0.1f,
                                             .seed = 1};
    tide_classifier *c = tide_classifier_new(&options, NULL);
    must(c && tide_classifier_train(c, examples, POSTS, &vectors, NULL, NULL, NULL) ==
                  TIDE_OK);
    return c;
}

static void make_valid(tide_classifier_kind kind)
{
    char folder[FOLDER_MAX], path[IN_FOLDER_MAX];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/c", folder);
    tide_classifier *c = trained(kind);
    tide_store_writer *writer = tide_store_create(path, NULL);
    must(writer != NULL);
    tide_classifier_save(c, writer);
    must(tide_store_commit(writer, NULL) == TIDE_OK);
    tide_classifier_free(c);
    valid_sizes[kind] = slurp(path, valid[kind], FILE_MAX);
    must(unlink(path) == 0 && rmdir(folder) == 0);
}

static void make_all_good(void)
{
    must(tide_matrix_init(&vectors, 4, DIM, NULL) == TIDE_OK);
    for (uint32_t i = 0; i < vectors.count; i++)
        tide_matrix_row(&vectors, i)[i % DIM] = (float)i + 1;
    for (int kind = 0; kind < TIDE_CLASSIFIER_KINDS; kind++)
        make_valid((tide_classifier_kind)kind);
}

/* -- inputs ----------------------------------------------------------------------- */

static void change(unsigned char *bytes, size_t size, const uint8_t *data, size_t left)
{
    for (; left >= 6; data += 6, left -= 6) {
        size_t capacity = size - TIDE_STORE_HEADER - 4;
        size_t place = TIDE_STORE_HEADER + (data[0] | (size_t)data[1] << 8) % capacity;
        memcpy(bytes + place, data + 2, 4);
    }
}

static void ask(tide_classifier *c)
{
    const tide_classifier_options *o = tide_classifier_options_of(c);
    float *probabilities = tide_alloc(o->labels, sizeof *probabilities);
    tide_matrix post;
    must(probabilities && tide_matrix_init(&post, 1, o->dim, NULL) == TIDE_OK);
    post.rows[0] = 1;
    const float *rows[] = {post.rows, post.rows, post.rows};
    for (uint32_t count = 0; count <= 3; count++) {
        tide_classifier_predict(c, rows, count, probabilities);
        for (uint32_t label = 0; label < o->labels; label++)
            must(probabilities[label] >= 0 && probabilities[label] <= 1);
    }
    tide_matrix_release(&post);
    free(probabilities);
}

static void try_file(const unsigned char *bytes, size_t size)
{
    tide_error err = {.text = ""};
    tide_store *store = tide_store_open(memory_file(bytes, size), &err);
    tide_classifier *c = store ? tide_classifier_load(store, &err) : NULL;
    if (c)
        ask(c);
    else
        must(err.text[0] != '\0');
    tide_classifier_free(c);
    tide_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[FILE_MAX];
    if (!vectors.rows)
        make_all_good();
    if (size == 0)
        return 0;
    int kind = data[0] % TIDE_CLASSIFIER_KINDS;
    memcpy(bytes, valid[kind], valid_sizes[kind]);
    change(bytes, valid_sizes[kind], data + 1, size - 1);
    tide_store_rechecksum(bytes, valid_sizes[kind]);
    try_file(bytes, valid_sizes[kind]);
    return 0;
}
