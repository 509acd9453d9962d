/* fuzz_options.c - arbitrary arguments of a command.
 *
 * Every line of the input is an argument. They are parsed, after which every option has a value of its kind and the
 * operands are in front; or there is a complaint and the command ends: leave() is what the parser has here for exit().
 * Numbers and times are within bounds, and numbers come back from what they are printed as.
 */
#include "fuzz_fixture.h"

#include <setjmp.h>

__attribute__((noreturn)) void leave(int ending);
#define exit leave
#include "../../cli/options.c"

enum { ARGUMENTS_MAX = 40, OPERANDS_MAX = 3, CHOICES = 3 };

static jmp_buf end;
static int code; /* with which it ended */
static bool complained;

/* -- instead of the command's ----------------------------------------------------------------------- */

void leave(int ending)
{
    code = ending;
    longjmp(end, 1);
}

void complain(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    must(vsnprintf(text, sizeof text, format, arguments) > 0);
    va_end(arguments);
    complained = true;
}

int say(const char *format, ...)
{
    return format[0] != 0;
}

int report(const tide_error *err)
{
    must_have_said_why(err);
    return EXIT_FAILURE;
}

void print_help(const command_usage *usage)
{
    must(usage->options != NULL);
}

int finish_output(int ending)
{
    return ending;
}

/* -- what must hold ------------------------------------------------------------------------------------ */

static void must_come_back(uint64_t number)
{
    char text[32];
    uint64_t again;
    snprintf(text, sizeof text, "%ju", (uintmax_t)number);
    must(parse_number(text, &again) && again == number);
}

static void parse(int count, char **arguments, settings *typed, text_list *list)
{
    static bool flag;
    static uint64_t number, least_one, bytes;
    static const char *text;
    static int choice;
    const option options[] = {
        {"flag", 'f', OPTION_FLAG, &flag, NULL, "a flag"},
        {"number", 'n', OPTION_NUMBER, &number, "N", "a number"},
        {"count", 0, OPTION_COUNT, &least_one, "N", "a count"},
        {"size-of-it", 's', OPTION_SIZE, &bytes, "BYTES", "a size"},
        {"text", 't', OPTION_TEXT, &text, "TEXT", "a text"},
        {"list", 'l', OPTION_LIST, list, "ITEM", "an item"},
        {"choice", 0, OPTION_CHOICE, &choice, "one|two|three", "a choice"},
        {0},
    };
    const command_usage usage = {.command = "fuzz",
                                 .synopsis = "fuzz",
                                 .options = options,
                                 .most = OPERANDS_MAX};
    number = bytes = 0;
    least_one = 1;
    text = "";
    choice = 0;
    complained = false;
    if (setjmp(end)) {
        must(complained == (code == EXIT_USAGE) &&
             (complained || code == EXIT_SUCCESS));
        return;
    }
    int operands = parse_options(count, arguments, &usage, typed);
    must(operands >= 0 && operands <= OPERANDS_MAX && least_one > 0 && text);
    must(choice >= 0 && choice < CHOICES && list->count < (size_t)count);
    must_come_back(number);
    must_come_back(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "fuzz";
    char *arguments[ARGUMENTS_MAX + 1] = {name};
    char *text = strndup((const char *)data, size), *rest = text;
    int count = 1;
    must(text != NULL);
    for (char *one; count < ARGUMENTS_MAX && (one = strsep(&rest, "\n")); count++) {
        double seconds = parse_seconds(one);
        must(seconds >= 0 && isfinite(seconds));
        arguments[count] = one;
    }
    settings typed = {0};
    text_list list = {0};
    parse(count, arguments, &typed, &list);
    settings_free(&typed);
    text_list_free(&list);
    free(text);
    return 0;
}
