/* json.c - a JSON object on standard output. */
#include "json.h"
#include "output.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static void begin_value(json_writer *j, const char *name)
{
    if (j->depth > 0) {
        if (j->begun[j->depth - 1])
            putchar(',');
        j->begun[j->depth - 1] = true;
    }
    if (!name)
        return;
    print_json(name);
    putchar(':');
}

static void begin_bracket(json_writer *j, const char *name, char open, char close)
{
    assert(j->depth < JSON_DEPTH);
    begin_value(j, name);
    putchar(open);
    j->close[j->depth] = close;
    j->begun[j->depth++] = false;
}

void json_object(json_writer *j, const char *name)
{
    begin_bracket(j, name, '{', '}');
}

void json_array(json_writer *j, const char *name)
{
    begin_bracket(j, name, '[', ']');
}

void json_end(json_writer *j)
{
    assert(j->depth > 0);
    putchar(j->close[--j->depth]);
    if (j->depth == 0)
        putchar('\n');
}

void json_text(json_writer *j, const char *name, const char *text)
{
    begin_value(j, name);
    print_json(text);
}

void json_count(json_writer *j, const char *name, uint64_t count)
{
    begin_value(j, name);
    printf("%" PRIu64, count);
}

void json_real(json_writer *j, const char *name, double value, int digits)
{
    begin_value(j, name);
    if (isfinite(value))
        printf("%.*f", digits, value);
    else
        fputs("null", stdout);
}
