/* predictions.c - a file of predicted labels. */
#include "predictions.h"
#include "output.h"

#include "base/base.h"

#include <wordtide/tools.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TOP_ALWAYS = 5 };

typedef struct candidate {
    float probability;
    uint32_t index;
} candidate;

struct predictions {
    const char *path;
    FILE *file;
    float threshold;
    uint64_t fit;          /* whose names were written last; 0 before the first */
    candidate *candidates; /* [capacity] scratch */
    uint32_t capacity;
    bool failed; /* an error message was printed */
};

predictions *predictions_open(const char *path, float threshold, bool append,
                              uint64_t fit)
{
    predictions *p = calloc(1, sizeof *p);
    if (!p) {
        log_message("out of memory");
        return NULL;
    }
    *p = (predictions){.path = path, .threshold = threshold};
    tide_error err;
    if (tide_path_not_model(path, &err)) {
        log_error(&err);
        free(p);
        return NULL;
    }
    p->file = fopen(path, append ? "a" : "w");
    struct stat status;
    /* Names precede the first post. A file that is continued has them already, if the
     * classifier is still the same. */
    if (p->file && append && fstat(fileno(p->file), &status) == 0 && status.st_size > 0)
        p->fit = fit;
    if (p->file)
        return p;
    log_message("cannot write %s: %s", path, strerror(errno));
    free(p);
    return NULL;
}

static bool report_write_error(predictions *p, int error)
{
    if (!p->failed)
        log_message("cannot write %s: %s", p->path, strerror(error));
    p->failed = true;
    return false;
}

static int by_falling_probability(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool reserve(predictions *p, uint32_t count)
{
    if (count <= p->capacity)
        return true;
    candidate *candidates = realloc(p->candidates, count * sizeof *candidates);
    if (!candidates)
        return false;
    p->candidates = candidates;
    p->capacity = count;
    return true;
}

static void write_names(predictions *p, const tide_predicted_post *post)
{
    tide_json_writer w = {.file = p->file};
    tide_json_object(&w, NULL);
    tide_json_count(&w, "post", post->post);
    tide_json_array(&w, "names");
    for (uint32_t i = 0; i < post->name_count; i++)
        tide_json_text(&w, NULL, post->names[i]);
    tide_json_end(&w);
    tide_json_end(&w);
    p->fit = post->fit;
}

/* Sorts the labels of a post by descending probability. Returns how many to write. */
static uint32_t sort_candidates(predictions *p, const tide_predicted_post *post)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < post->name_count; i++)
        p->candidates[i] = (candidate){post->probabilities[i], i};
    qsort(p->candidates, post->name_count, sizeof *p->candidates,
          by_falling_probability);
    while (count < post->name_count &&
           (count < TOP_ALWAYS || p->candidates[count].probability >= p->threshold))
        count++;
    return count;
}

static void write_post(predictions *p, const tide_predicted_post *post)
{
    char text[TIME_TEXT];
    uint32_t count = sort_candidates(p, post);
    tide_json_writer w = {.file = p->file};
    tide_json_object(&w, NULL);
    tide_json_count(&w, "post", post->post);
    tide_json_text(&w, "time", time_text(text, post->time));
    tide_json_array(&w, "labels");
    for (uint32_t i = 0; i < post->label_count; i++)
        tide_json_text(&w, NULL, post->labels[i]);
    tide_json_end(&w);
    tide_json_array(&w, "told");
    for (uint32_t i = 0; i < count; i++) {
        tide_json_object(&w, NULL);
        tide_json_text(&w, "label", post->names[p->candidates[i].index]);
        tide_json_float(&w, "probability", p->candidates[i].probability);
        tide_json_end(&w);
    }
    tide_json_end(&w);
    tide_json_end(&w);
}

bool predictions_add(predictions *p, const tide_predicted_post *post, bool scored)
{
    if (p->failed || !reserve(p, post->name_count))
        return report_write_error(p, ENOMEM);
    errno = 0;
    if (post->fit != p->fit)
        write_names(p, post);
    if (scored)
        write_post(p, post);
    return !ferror(p->file) || report_write_error(p, errno ? errno : EIO);
}

int predictions_close(predictions *p)
{
    if (!p)
        return EXIT_SUCCESS;
    errno = 0;
    if (fclose(p->file) != 0)
        report_write_error(p, errno ? errno : EIO);
    int code = p->failed ? EXIT_FAILURE : EXIT_SUCCESS;
    free(p->candidates);
    free(p);
    return code;
}
