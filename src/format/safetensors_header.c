/* safetensors_header.c - the JSON of a safetensors header.
 *
 * The header is an object of objects: {"NAME": {"dtype": "F32", "shape": [2, 3],
 * "data_offsets": [0, 24]}, ...}. A scanner walks over it once, keeps what is known and
 * passes over other values, however deep, without recursion. It never looks beyond
 * `end`.
 */
#include "format/format_safetensors.h"

typedef struct scanner {
    const char *at, *end;
    bool wrong;
} scanner;

static char peek(scanner *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

/* Takes the character if it comes next. */
static bool take(scanner *s, char wanted)
{
    if (peek(s) != wanted || s->at == s->end)
        return false;
    s->at++;
    return true;
}

static void need(scanner *s, char wanted)
{
    if (!take(s, wanted))
        s->wrong = true;
}

/* A string; what does not fit, or has escapes in it, equals no name that is looked for.
 */
static void read_string(scanner *s, char *text, size_t room)
{
    size_t length = 0;
    need(s, '"');
    while (s->at < s->end && *s->at != '"' && !s->wrong) {
        if (*s->at == '\\' && s->at + 1 < s->end)
            s->at++;
        if (length + 1 < room)
            text[length++] = *s->at;
        else
            length = room; /* too long */
        s->at++;
    }
    need(s, '"');
    text[length < room ? length : 0] = '\0';
}

static uint64_t read_number(scanner *s)
{
    uint64_t number = 0;
    char c = peek(s);
    s->wrong = s->wrong || c < '0' || c > '9';
    while (!s->wrong && s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        s->wrong = number > (uint64_t)INT64_MAX / 10 - 1;
        number = 10 * number + (uint64_t)(*s->at++ - '0');
    }
    return number;
}

/* Up to two numbers are kept; returns how many there are. */
static uint32_t read_numbers(scanner *s, uint64_t numbers[2])
{
    uint32_t count = 0;
    need(s, '[');
    if (take(s, ']'))
        return 0;
    do {
        uint64_t number = read_number(s);
        if (count < 2)
            numbers[count] = number;
        count++;
    } while (!s->wrong && take(s, ','));
    need(s, ']');
    return count;
}

/* Any value, by its brackets. */
static void skip_value(scanner *s)
{
    char text[1];
    size_t depth = 0;
    do {
        char c = peek(s);
        if (s->at >= s->end)
            s->wrong = true;
        else if (c == '"')
            read_string(s, text, sizeof text);
        else if (c == '{' || c == '[')
            depth++, s->at++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--, s->at++;
        else
            s->at++;
    } while (!s->wrong &&
             (depth > 0 || (peek(s) != ',' && peek(s) != '}' && peek(s) != ']')));
}

static void read_tensor(scanner *s, tide_tensor *tensor)
{
    uint64_t offsets[2] = {0, 0};
    uint32_t count = 0;
    *tensor = (tide_tensor){.present = true};
    need(s, '{');
    do {
        char key[16];
        read_string(s, key, sizeof key);
        need(s, ':');
        if (s->wrong)
            return;
        if (!strcmp(key, "dtype"))
            read_string(s, tensor->dtype, sizeof tensor->dtype);
        else if (!strcmp(key, "shape"))
            tensor->dims = read_numbers(s, tensor->shape);
        else if (!strcmp(key, "data_offsets"))
            count = read_numbers(s, offsets);
        else
            skip_value(s);
    } while (!s->wrong && take(s, ','));
    need(s, '}');
    tensor->begin = offsets[0];
    tensor->end = offsets[1];
    s->wrong = s->wrong || count != 2 || tensor->begin > tensor->end;
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
    need(&s, '{');
    do {
        char name[16];
        tide_tensor *tensor = NULL;
        read_string(&s, name, sizeof name);
        need(&s, ':');
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (!strcmp(name, known[i].name))
                tensor = known[i].tensor;
        if (s.wrong)
            return false;
        if (tensor)
            read_tensor(&s, tensor);
        else
            skip_value(&s);
    } while (!s.wrong && take(&s, ','));
    need(&s, '}');
    return !s.wrong && peek(&s) == '\0' && s.at == s.end;
}
