/* output.c - messages, words and numbers. */
#include "output.h"

#include "base/base.h"

#include <wordtide/tools.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void write_clean(FILE *out, const char *text)
{
    while (*text) {
        size_t length = tide_utf8_length(text, 4);
        if (length && !tide_utf8_is_control(text))
            fwrite(text, 1, length, out);
        else
            fputc('?', out);
        text += length ? length : 1;
    }
}

void log_message(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tide_utf8_clean(text);
    log_printf("wordtide: %s\n", text);
}

int log_error(const tide_error *err)
{
    log_message("%s", err->text);
    return err->status == TIDE_ERROR_PARAMETER ? EXIT_USAGE : EXIT_FAILURE;
}

int log_load_error(const tide_error *err)
{
    log_message("%s", err->text);
    bool unusable =
        err->status == TIDE_ERROR_FORMAT || err->status == TIDE_ERROR_PARAMETER;
    return unusable ? EXIT_MODEL : EXIT_FAILURE;
}

void print_float(float value)
{
    char text[TIDE_DECIMAL_MAX];
    size_t length = tide_decimal_write(value, text);
    fwrite(text, 1, length, stdout);
}

/* Like isatty, but leaves errno, which may hold the reason of a failed write. */
static bool on_terminal(void)
{
    int saved_errno = errno;
    bool terminal = isatty(STDOUT_FILENO);
    errno = saved_errno;
    return terminal;
}

void print_word(const char *word)
{
    if (on_terminal())
        write_clean(stdout, word);
    else
        fputs(word, stdout);
}

/* errno of the first failed write; later calls on the stream overwrite it. */
static int output_error;

bool output_ok(void)
{
    if (!output_error && ferror(stdout))
        output_error = errno ? errno : EIO;
    return !output_error;
}

void output_set_error(int error)
{
    if (output_ok())
        output_error = error;
}

int finish_output(int code)
{
    if (output_ok() && fflush(stdout) != 0)
        output_error = errno;
    if (output_error == 0 || output_error == EPIPE)
        return code;
    log_message("cannot write to standard output: %s", strerror(output_error));
    return EXIT_FAILURE;
}

const char *short_count(char text[SHORT_TEXT], double value)
{
    static const char units[] = {0, 'k', 'M', 'G', 'T', 'P', 0};
    size_t unit = 0;
    while (value >= 999.5 && units[unit + 1]) {
        value /= 1000;
        unit++;
    }
    int decimals = unit > 0 && value < 99.95;
    snprintf(text, SHORT_TEXT, "%.*f", decimals, value);
    char *tail = strstr(text, ".0");
    if (!tail)
        tail = text + strlen(text);
    tail[0] = units[unit];
    if (units[unit])
        tail[1] = 0;
    return text;
}

const char *short_bytes(char text[SHORT_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 999.5 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(text, SHORT_TEXT, "%.*f %s", unit > 0 && value < 9.95, value, units[unit]);
    return text;
}

uint64_t budget_total(const tide_part *parts, int count)
{
    uint64_t total = 0;
    for (int i = 0; i < count; i++)
        total += parts[i].bytes;
    return total;
}

void print_budget(printf_function *print, const tide_part *parts, int count)
{
    char text[SHORT_TEXT];
    print("memory    %10s\n", short_bytes(text, budget_total(parts, count)));
    for (int i = 0; i < count; i++)
        print("          %10s  %s\n", short_bytes(text, parts[i].bytes), parts[i].name);
}

const char *time_text(char text[TIME_TEXT], double seconds)
{
    struct tm parts;
    if (!(seconds > -30e9 && seconds < 253e9))
        return NULL;
    time_t whole = (time_t)floor(seconds);
    if (!gmtime_r(&whole, &parts))
        return NULL;
    return strftime(text, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &parts) ? text : NULL;
}
