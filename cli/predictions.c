/* predictions.c - a file of what was told of posts. */
#include "predictions.h"
#include "json.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ALWAYS = 5 };

typedef struct choice {
    float probability;
    uint32_t name;
} choice;

struct predictions {
    const char *path;
    FILE *file;
    float threshold;
    uint64_t fit;    /* whose names are written; 0 before the first */
    choice *choices; /* [room] */
    uint32_t room;
    bool failed; /* and that was complained about */
};

predictions *predictions_open(const char *path, float threshold, bool go_on,
                              uint64_t fit)
{
    predictions *p = calloc(1, sizeof *p);
    if (!p) {
        complain("out of memory");
        return NULL;
    }
    *p = (predictions){.path = path, .threshold = threshold};
    tide_error err;
    if (tide_path_not_model(path, &err)) {
        report(&err);
        free(p);
        return NULL;
    }
    p->file = fopen(path, go_on ? "a" : "w");
    struct stat status;
    if (p->file && go_on && fstat(fileno(p->file), &status) == 0 && status.st_size > 0)
        p->fit = fit;
    if (p->file)
        return p;
    complain("cannot write %s: %s", path, strerror(errno));
    free(p);
    return NULL;
}

static bool fail(predictions *p, int error)
{
    if (!p->failed)
        complain("cannot write %s: %s", p->path, strerror(error));
    p->failed = true;
    return false;
}

static int by_falling_probability(const void *a, const void *b)
{
    const choice *x = a, *y = b;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static bool make_room(predictions *p, uint32_t count)
{
    if (count <= p->room)
        return true;
    choice *choices = realloc(p->choices, count * sizeof *choices);
    if (!choices)
        return false;
    p->choices = choices;
    p->room = count;
    return true;
}

static void write_names(predictions *p, const tide_predicted_post *told)
{
    json_writer w = {.file = p->file};
    out_object(&w, NULL);
    out_count(&w, "post", told->post);
    out_array(&w, "names");
    for (uint32_t i = 0; i < told->name_count; i++)
        out_text(&w, NULL, told->names[i]);
    out_end(&w);
    out_end(&w);
    p->fit = told->fit;
}

/* The first so many choices, by falling probability. */
static uint32_t choose(predictions *p, const tide_predicted_post *told)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < told->name_count; i++)
        p->choices[i] = (choice){told->probabilities[i], i};
    qsort(p->choices, told->name_count, sizeof *p->choices, by_falling_probability);
    while (count < told->name_count &&
           (count < ALWAYS || p->choices[count].probability >= p->threshold))
        count++;
    return count;
}

static void write_post(predictions *p, const tide_predicted_post *told)
{
    char text[TIME_TEXT];
    uint32_t count = choose(p, told);
    json_writer w = {.file = p->file};
    out_object(&w, NULL);
    out_count(&w, "post", told->post);
    out_text(&w, "time", time_text(text, told->time));
    out_array(&w, "labels");
    for (uint32_t i = 0; i < told->label_count; i++)
        out_text(&w, NULL, told->labels[i]);
    out_end(&w);
    out_array(&w, "told");
    for (uint32_t i = 0; i < count; i++) {
        out_object(&w, NULL);
        out_text(&w, "label", told->names[p->choices[i].name]);
        out_float(&w, "probability", p->choices[i].probability);
        out_end(&w);
    }
    out_end(&w);
    out_end(&w);
}

bool predictions_add(predictions *p, const tide_predicted_post *told, bool scored)
{
    if (p->failed || !make_room(p, told->name_count))
        return fail(p, ENOMEM);
    errno = 0;
    if (told->fit != p->fit)
        write_names(p, told);
    if (scored)
        write_post(p, told);
    return !ferror(p->file) || fail(p, errno ? errno : EIO);
}

int predictions_close(predictions *p)
{
    if (!p)
        return EXIT_SUCCESS;
    errno = 0;
    if (fclose(p->file) != 0)
        fail(p, errno ? errno : EIO);
    int code = p->failed ? EXIT_FAILURE : EXIT_SUCCESS;
    free(p->choices);
    free(p);
    return code;
}
