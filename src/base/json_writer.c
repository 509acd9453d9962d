/* json_writer.c - writes a JSON object to a stream. */
#include "base/base.h"

#include <wordtide/tools.h>
#include <assert.h>
#include <inttypes.h>
#include <math.h>

size_t tide_json_escape(const char **text, char escaped[TIDE_JSON_ESCAPE_MAX])
{
    const char *at = *text;
    size_t length = tide_utf8_length(at, 4);
    *text += length ? length : 1;
    if (!length || tide_utf8_is_control(at)) {
        /* The last byte of a control character, one byte or C2 and another, is its code
         * point. */
        unsigned code = length ? (unsigned char)at[length - 1] : 0xfffd;
        static const char digits[] = "0123456789abcdef";
        memcpy(escaped, "\\u", 2);
        for (int i = 0; i < 4; i++)
            escaped[2 + i] = digits[code >> (12 - 4 * i) & 15];
        return 6;
    }
    if (*at == '"' || *at == '\\') {
        escaped[0] = '\\';
        escaped[1] = *at;
        return 2;
    }
    memcpy(escaped, at, length);
    return length;
}

static FILE *out(const tide_json_writer *w)
{
    return w->file ? w->file : stdout;
}

static void write_string(const tide_json_writer *w, const char *text)
{
    char escaped[TIDE_JSON_ESCAPE_MAX];
    fputc('"', out(w));
    while (*text) {
        size_t length = tide_json_escape(&text, escaped);
        fwrite(escaped, 1, length, out(w));
    }
    fputc('"', out(w));
}

static void begin_value(tide_json_writer *w, const char *name)
{
    if (w->depth > 0) {
        if (w->has_value[w->depth - 1])
            fputc(',', out(w));
        w->has_value[w->depth - 1] = true;
    }
    if (!name)
        return;
    write_string(w, name);
    fputc(':', out(w));
}

static void begin_bracket(tide_json_writer *w, const char *name, char open, char close)
{
    assert(w->depth < TIDE_JSON_DEPTH);
    begin_value(w, name);
    fputc(open, out(w));
    w->close[w->depth] = close;
    w->has_value[w->depth++] = false;
}

void tide_json_object(tide_json_writer *w, const char *name)
{
    begin_bracket(w, name, '{', '}');
}

void tide_json_array(tide_json_writer *w, const char *name)
{
    begin_bracket(w, name, '[', ']');
}

void tide_json_end(tide_json_writer *w)
{
    assert(w->depth > 0);
    fputc(w->close[--w->depth], out(w));
    if (w->depth == 0)
        fputc('\n', out(w));
}

void tide_json_text(tide_json_writer *w, const char *name, const char *text)
{
    begin_value(w, name);
    if (text)
        write_string(w, text);
    else
        fputs("null", out(w));
}

void tide_json_count(tide_json_writer *w, const char *name, uint64_t count)
{
    begin_value(w, name);
    fprintf(out(w), "%" PRIu64, count);
}

void tide_json_bool(tide_json_writer *w, const char *name, bool value)
{
    begin_value(w, name);
    fputs(value ? "true" : "false", out(w));
}

void tide_json_real(tide_json_writer *w, const char *name, double value, int digits)
{
    begin_value(w, name);
    if (isfinite(value))
        fprintf(out(w), "%.*f", digits, value);
    else
        fputs("null", out(w));
}

void tide_json_float(tide_json_writer *w, const char *name, float value)
{
    char text[TIDE_DECIMAL_MAX];
    size_t length = tide_decimal_write(value, text);
    begin_value(w, name);
    fwrite(text, 1, length, out(w));
}
