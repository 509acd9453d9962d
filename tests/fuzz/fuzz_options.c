/* fuzz_options.c - arbitrary arguments of a command.
 *
 * Every line of the input is an argument. Parsing either leaves every option with a
 * value of its kind and the operands at the front of argv, or it reports an error and
 * exits with EXIT_USAGE; exit() is replaced by a longjmp. Numbers and durations are
 * within bounds, and a printed number parses as itself.
 */
#include "fuzz_fixture.h"

#include <setjmp.h>

__attribute__((noreturn)) void exit_parser(int status);
#define exit exit_parser
#include "../../cli/options.c"

enum { ARGUMENTS_MAX = 40, OPERANDS_MAX = 3, CHOICES = 3 };

static jmp_buf at_exit;
static int exit_code; /* of a parser that exited */
static bool reported;

/* -- replacements of the command's functions --------------------------------------- */

void exit_parser(int status)
{
    exit_code = status;
    longjmp(at_exit, 1);
}

void log_message(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    must(vsnprintf(text, sizeof text, format, arguments) > 0);
    va_end(arguments);
    reported = true;
}

int log_printf(const char *format, ...)
{
    return format[0] != 0;
}

int log_error(const tide_error *err)
{
    must_have_error_text(err);
    return EXIT_FAILURE;
}

void print_help(const command_usage *usage, bool all)
{
    (void)all;
    must(usage->options != NULL);
}

int finish_output(int status)
{
    return status;
}

/* -- properties -------------------------------------------------------------------- */

static void must_parse_as_itself(uint64_t number)
{
    char text[32];
    uint64_t again;
    snprintf(text, sizeof text, "%ju", (uintmax_t)number);
    must(parse_number(text, &again) && again == number);
}

static void parse(int count, char **arguments, settings *typed, text_list *list)
{
    static bool flag;
    static uint64_t number, count_value, bytes;
    static const char *text;
    static int choice;
    const option options[] = {
        {"flag", 'f', OPTION_FLAG, &flag, NULL, "a flag"},
        {"number", 'n', OPTION_NUMBER, &number, "N", "a number"},
        {"count", 0, OPTION_COUNT, &count_value, "N", "a count"},
        {"size-of-it", 's', OPTION_SIZE, &bytes, "BYTES", "a size"},
        {"text", 't', OPTION_TEXT, &text, "TEXT", "a text"},
        {"list", 'l', OPTION_LIST, list, "ITEM", "an item"},
        {"choice", 0, OPTION_CHOICE, &choice, "one|two|three", "a choice"},
        {0},
    };
    const command_usage usage = {.command = "fuzz",
                                 .synopsis = "fuzz",
                                 .options = options,
                                 .max_operands = OPERANDS_MAX};
    number = bytes = 0;
    count_value = 1;
    text = "";
    choice = 0;
    reported = false;
    if (setjmp(at_exit)) {
        must(reported == (exit_code == EXIT_USAGE) &&
             (reported || exit_code == EXIT_SUCCESS));
        return;
    }
    int operands = parse_options(count, arguments, &usage, typed);
    must(operands >= 0 && operands <= OPERANDS_MAX && count_value > 0 && text);
    must(choice >= 0 && choice < CHOICES && list->count < (size_t)count);
    must_parse_as_itself(number);
    must_parse_as_itself(bytes);
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
