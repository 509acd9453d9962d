/* points.c - the points of a picture, in a file. */
#include "points.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int cannot_write(const points *p)
{
    complain("cannot write %s: %s", p->path, strerror(errno));
    return EXIT_FAILURE;
}

int points_open(points *p, const char *path, const char *names)
{
    tide_error err;
    *p = (points){.path = path};
    if (!path)
        return EXIT_SUCCESS;
    if (!strcmp(path, "-")) {
        complain("points go to a file, not to standard output");
        return EXIT_USAGE;
    }
    p->output = tide_output_create(path, &err);
    if (!p->output)
        return report(&err);
    p->file = fopen(tide_output_temporary(p->output), "w");
    if (!p->file)
        return cannot_write(p);
    fprintf(p->file, "%s\n", names);
    return EXIT_SUCCESS;
}

void points_word(points *p, const char *word)
{
    char text[TIDE_WORD_MAX + 1];
    snprintf(text, sizeof text, "%s", word);
    clean_text(text);
    fprintf(p->file, "%s\t", text);
}

int points_close(points *p, int code)
{
    tide_error err;
    bool failed = p->file && ferror(p->file);
    if (p->file && fclose(p->file) != 0)
        failed = true;
    if (failed && code == EXIT_SUCCESS)
        code = cannot_write(p);
    if (code != EXIT_SUCCESS)
        tide_output_discard(p->output);
    else if (p->output && tide_output_commit(p->output, &err) < 0)
        code = report(&err);
    return code;
}
