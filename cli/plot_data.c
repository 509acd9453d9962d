/* plot_data.c - a TSV file of data points for plots. */
#include "plot_data.h"
#include "output.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int report_write_error(const plot_data *p)
{
    log_message("cannot write %s: %s", p->path, strerror(errno));
    return EXIT_FAILURE;
}

int plot_data_open(plot_data *p, const char *path, const char *names)
{
    tide_error err;
    *p = (plot_data){.path = path};
    if (!path)
        return EXIT_SUCCESS;
    if (!strcmp(path, "-")) {
        log_message("--points needs a file; it cannot write to standard output");
        return EXIT_USAGE;
    }
    p->output = tide_output_create(path, &err);
    if (!p->output)
        return log_error(&err);
    p->file = fopen(tide_output_temporary(p->output), "w");
    if (!p->file)
        return report_write_error(p);
    fprintf(p->file, "%s\n", names);
    return EXIT_SUCCESS;
}

void plot_data_word(plot_data *p, const char *word)
{
    char text[TIDE_WORD_MAX + 1];
    snprintf(text, sizeof text, "%s", word);
    tide_utf8_clean(text);
    fprintf(p->file, "%s\t", text);
}

int plot_data_close(plot_data *p, int code)
{
    tide_error err;
    bool failed = p->file && ferror(p->file);
    if (p->file && fclose(p->file) != 0)
        failed = true;
    if (failed && code == EXIT_SUCCESS)
        code = report_write_error(p);
    if (code != EXIT_SUCCESS)
        tide_output_discard(p->output);
    else if (p->output && tide_output_commit(p->output, &err) < 0)
        code = log_error(&err);
    return code;
}
