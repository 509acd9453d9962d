/* safetensors_header.c - parser for the JSON header of a safetensors file.
 *
 * The header is an object of objects: {"NAME": {"dtype": "F32", "shape": [2, 3],
 * "data_offsets": [0, 24]}, ...}. It is scanned once. Unknown values are skipped
 * without recursion, however deeply nested. The scanner never reads past `end`.
 */
#include "format/format_safetensors.h"

typedef struct scanner {
    const char *at, *end;
    bool failed;
} scanner;

static char peek(scanner *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

/* Consumes the next character if it is the given one. */
static bool accept(scanner *s, char character)
{
    if (peek(s) != character || s->at == s->end)
        return false;
    s->at++;
    return true;
}

static void expect(scanner *s, char character)
{
    if (!accept(s, character))
        s->failed = true;
}

/* Reads a string to compare it with known names, all of which are short and need no
 * escapes: a string that is too long becomes empty, and escapes are not decoded. */
static void read_string(scanner *s, char *text, size_t capacity)
{
    size_t length = 0;
    expect(s, '"');
    while (s->at < s->end && *s->at != '"' && !s->failed) {
        if (*s->at == '\\' && s->at + 1 < s->end)
            s->at++;
        if (length + 1 < capacity)
            text[length++] = *s->at;
        else
            length = capacity; /* too long */
        s->at++;
    }
    expect(s, '"');
    text[length < capacity ? length : 0] = '\0';
}

static uint64_t read_number(scanner *s)
{
    uint64_t number = 0;
    char c = peek(s);
    s->failed = s->failed || c < '0' || c > '9';
    while (!s->failed && s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        s->failed = number > (uint64_t)INT64_MAX / 10 - 1;
        number = 10 * number + (uint64_t)(*s->at++ - '0');
    }
    return number;
}

/* Reads an array of numbers and stores the first two. Returns the number of
 * elements. */
static uint32_t read_numbers(scanner *s, uint64_t numbers[2])
{
    uint32_t count = 0;
    expect(s, '[');
    if (accept(s, ']'))
        return 0;
    do {
        uint64_t number = read_number(s);
        if (count < 2)
            numbers[count] = number;
        count++;
    } while (!s->failed && accept(s, ','));
    expect(s, ']');
    return count;
}

/* Skips any value by matching brackets. */
static void skip_value(scanner *s)
{
    char text[1];
    size_t depth = 0;
    do {
        char c = peek(s);
        if (s->at >= s->end)
            s->failed = true;
        else if (c == '"')
            read_string(s, text, sizeof text);
        else if (c == '{' || c == '[')
            depth++, s->at++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--, s->at++;
        else
            s->at++;
    } while (!s->failed &&
             (depth > 0 || (peek(s) != ',' && peek(s) != '}' && peek(s) != ']')));
}

static void read_tensor(scanner *s, tide_tensor *tensor)
{
    uint64_t offsets[2] = {0, 0};
    uint32_t count = 0;
    *tensor = (tide_tensor){.present = true};
    expect(s, '{');
    do {
        char key[16];
        read_string(s, key, sizeof key);
        expect(s, ':');
        if (s->failed)
            return;
        if (!strcmp(key, "dtype"))
            read_string(s, tensor->dtype, sizeof tensor->dtype);
        else if (!strcmp(key, "shape"))
            tensor->dims = read_numbers(s, tensor->shape);
        else if (!strcmp(key, "data_offsets"))
            count = read_numbers(s, offsets);
        else
            skip_value(s);
    } while (!s->failed && accept(s, ','));
    expect(s, '}');
    tensor->begin = offsets[0];
    tensor->end = offsets[1];
    s->failed = s->failed || count != 2 || tensor->begin > tensor->end;
}

bool tide_tensors_parse(const char *text, size_t length, tide_tensors *tensors)
{
    scanner s = {text, text + length, false};
    *tensors = (tide_tensors){0};
    const struct {
        const char *name;
        tide_tensor *tensor;
    } known[] = {{"embeddings", &tensors->embeddings},
                 {"words", &tensors->words},
                 {"counts", &tensors->counts},
                 {"scales", &tensors->scales}};
    expect(&s, '{');
    do {
        char name[16];
        tide_tensor *tensor = NULL;
        read_string(&s, name, sizeof name);
        expect(&s, ':');
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (!strcmp(name, known[i].name))
                tensor = known[i].tensor;
        if (s.failed)
            return false;
        if (tensor)
            read_tensor(&s, tensor);
        else
            skip_value(&s);
    } while (!s.failed && accept(&s, ','));
    expect(&s, '}');
    return !s.failed && peek(&s) == '\0' && s.at == s.end;
}
