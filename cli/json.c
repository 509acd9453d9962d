/* json.c - writes a JSON object. */
#include "json.h"
#include "output.h"

#include <wordtide/tools.h>
#include <assert.h>
#include <inttypes.h>
#include <math.h>

static FILE *out(const json_writer *j)
{
    return j->file ? j->file : stdout;
}

static void begin_value(json_writer *j, const char *name)
{
    if (j->depth > 0) {
        if (j->begun[j->depth - 1])
            fputc(',', out(j));
        j->begun[j->depth - 1] = true;
    }
    if (!name)
        return;
    write_json(out(j), name);
    fputc(':', out(j));
}

static void begin_bracket(json_writer *j, const char *name, char open, char close)
{
    assert(j->depth < JSON_DEPTH);
    begin_value(j, name);
    fputc(open, out(j));
    j->close[j->depth] = close;
    j->begun[j->depth++] = false;
}

void out_object(json_writer *j, const char *name)
{
    begin_bracket(j, name, '{', '}');
}

void out_array(json_writer *j, const char *name)
{
    begin_bracket(j, name, '[', ']');
}

void out_end(json_writer *j)
{
    assert(j->depth > 0);
    fputc(j->close[--j->depth], out(j));
    if (j->depth == 0)
        fputc('\n', out(j));
}

void out_text(json_writer *j, const char *name, const char *text)
{
    begin_value(j, name);
    if (text)
        write_json(out(j), text);
    else
        fputs("null", out(j));
}

void out_count(json_writer *j, const char *name, uint64_t count)
{
    begin_value(j, name);
    fprintf(out(j), "%" PRIu64, count);
}

void out_real(json_writer *j, const char *name, double value, int digits)
{
    begin_value(j, name);
    if (isfinite(value))
        fprintf(out(j), "%.*f", digits, value);
    else
        fputs("null", out(j));
}

void out_float(json_writer *j, const char *name, float value)
{
    char text[TIDE_DECIMAL_MAX];
    size_t length = tide_decimal_write(value, text);
    begin_value(j, name);
    fwrite(text, 1, length, out(j));
}
