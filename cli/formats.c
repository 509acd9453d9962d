/* formats.c - names of formats, and a check that input and output differ. */
#include "formats.h"
#include "options.h"

#include "base/base.h"

#include <wordtide/formats.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool usable(const tide_format_info *format, format_use use)
{
    return use == FORMAT_READ ? format->reads : format->writes;
}

void list_formats(format_use use, char *text, size_t size)
{
    size_t count, length = strlen(text);
    const tide_format_info *formats = tide_formats(&count);
    const char *separator = "";
    for (size_t i = 0; i < count && length < size; i++) {
        if (!usable(&formats[i], use))
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s %s (%s)",
                                   separator, formats[i].name, formats[i].help);
        separator = ",";
    }
}

void check_format(const char *command, format_use use, const char *name)
{
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    const char *nearest = NULL;
    int distance = 3;
    for (size_t i = 0; i < count; i++) {
        int d = tide_edit_distance(name, strlen(name), formats[i].name,
                                   strlen(formats[i].name), 2);
        if (d == 0 && !usable(&formats[i], use))
            usage_error(command, "format %s cannot be %s", name,
                        use == FORMAT_READ ? "read" : "written");
        if (d == 0)
            return;
        /* Only formats that would be accepted are suggested. */
        if (usable(&formats[i], use) && d < distance) {
            distance = d;
            nearest = formats[i].name;
        }
    }
    if (nearest)
        usage_error(command, "unknown format '%s'; did you mean %s?", name, nearest);
    usage_error(command, "unknown format '%s'", name);
}

void check_distinct(const char *command, const char *input, const char *output)
{
    struct stat in, out;
    bool exists = stat(output, &out) == 0;
    /* By device and inode, since one file may have several names. A device such as
     * /dev/null may be both. A file that does not exist yet may be followed. */
    bool same = exists ? stat(input, &in) == 0 && S_ISREG(out.st_mode) &&
                             in.st_dev == out.st_dev && in.st_ino == out.st_ino
                       : !strcmp(input, output);
    if (same && strcmp(output, "-") != 0)
        usage_error(command, "output %s is the same file as input %s", output, input);
}
