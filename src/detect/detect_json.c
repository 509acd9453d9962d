/* detect_json.c - whether a text is JSON objects: an array of them, a sequence, or one
 * per line.
 *
 * The text is parsed as far as it is available, regardless of lines. Text that merely
 * starts with a bracket soon violates the grammar; it counts as JSON only if three
 * objects were complete before.
 */
#include "detect/detect.h"

enum { OBJECTS = 3, MEMBERS = 3, NESTING = 64 };

/* INVALID: not JSON; TRUNCATED: the bytes end within the value */
typedef enum result { DONE, INVALID, TRUNCATED } result;

typedef struct parser {
    const unsigned char *at, *end;
    size_t objects; /* complete ones with a member */
    size_t members; /* complete ones of the first object */
    char *fields;   /* collects the fields of the first object; may be NULL */
    char path[TIDE_JSON_FIELDS]; /* of the current member */
} parser;

static result parse_value(parser *p, unsigned depth);

static void skip_blanks(parser *p)
{
    while (p->at < p->end && memchr(" \t\r\n", *p->at, 4))
        p->at++;
}

/* Skips blanks and returns the next byte; 0 at the end. */
static unsigned char next_byte(parser *p)
{
    skip_blanks(p);
    return p->at < p->end ? *p->at : 0;
}

/* The parser is at the opening quote. */
static result parse_string(parser *p)
{
    bool escaped = false;
    for (p->at++; p->at < p->end; p->at++) {
        unsigned char c = *p->at;
        if (c < 0x20)
            return INVALID;
        if (c == '"' && !escaped) {
            p->at++;
            return DONE;
        }
        escaped = c == '\\' && !escaped;
    }
    return TRUNCATED;
}

static result parse_literal(parser *p)
{
    static const char *const names[] = {"true", "false", "null"};
    const unsigned char *from = p->at;
    while (p->at < p->end &&
           ((unsigned)(*p->at | 0x20) - 'a' < 26 || (*p->at >= '0' && *p->at <= '9') ||
            memchr("+-.", *p->at, 3)))
        p->at++;
    size_t size = (size_t)(p->at - from);
    if (p->at == p->end)
        return TRUNCATED;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size == strlen(names[i]) && !memcmp(from, names[i], size))
            return DONE;
    return size > 0 && (*from == '-' || (*from >= '0' && *from <= '9')) ? DONE
                                                                        : INVALID;
}

/* Adds the path to the list of fields, unless it is full. */
static void add_field(parser *p)
{
    size_t used = strlen(p->fields), size = strlen(p->path);
    const char *gap = used ? ", " : "";
    if (used + size + strlen(gap) + sizeof ", ..." <= TIDE_JSON_FIELDS)
        sprintf(p->fields + used, "%s%s", gap, p->path);
    else if (used >= 3 && strcmp(p->fields + used - 3, "...") != 0)
        memcpy(p->fields + used, ", ...", sizeof ", ...");
}

/* Parses one "key": value. Meanwhile the path includes the key. */
static result parse_member(parser *p, unsigned depth)
{
    size_t length = strlen(p->path);
    const unsigned char *key = p->at + 1;
    result done = *p->at == '"' ? parse_string(p) : INVALID;
    if (done != DONE)
        return done;
    size_t size = (size_t)(p->at - 1 - key);
    if (next_byte(p) != ':')
        return p->at < p->end ? INVALID : TRUNCATED;
    p->at++;
    bool listed =
        p->fields && p->objects == 0 && size > 0 && length + size + 2 < sizeof p->path;
    if (listed)
        snprintf(p->path + length, sizeof p->path - length, "%s%.*s", length ? "." : "",
                 (int)size, (const char *)key);
    unsigned char first = next_byte(p);
    if (listed && first && first != '{')
        add_field(p);
    done = parse_value(p, depth);
    p->path[length] = '\0';
    return done;
}

static result parse_object(parser *p, unsigned depth)
{
    p->at++;
    if (next_byte(p) == '}') {
        p->at++;
        return DONE;
    }
    for (;;) {
        if (next_byte(p) == 0)
            return p->at < p->end ? INVALID : TRUNCATED;
        result done = parse_member(p, depth);
        if (done != DONE)
            return done;
        p->members += p->objects == 0;
        unsigned char c = next_byte(p);
        if (c != ',' && c != '}')
            return p->at < p->end ? INVALID : TRUNCATED;
        p->at++;
        if (c == '}') {
            p->objects += depth == 0;
            return DONE;
        }
    }
}

static result parse_array(parser *p, unsigned depth)
{
    p->at++;
    if (next_byte(p) == ']') {
        p->at++;
        return DONE;
    }
    for (;;) {
        next_byte(p);
        result done = parse_value(p, depth);
        if (done != DONE)
            return done;
        unsigned char c = next_byte(p);
        if (c != ',' && c != ']')
            return p->at < p->end ? INVALID : TRUNCATED;
        p->at++;
        if (c == ']')
            return DONE;
    }
}

static result parse_value(parser *p, unsigned depth)
{
    if (p->at == p->end)
        return TRUNCATED;
    if (depth == NESTING)
        return INVALID;
    switch (*p->at) {
    case '"':
        return parse_string(p);
    case '{':
        return parse_object(p, depth + 1);
    case '[':
        return parse_array(p, depth + 1);
    default:
        return parse_literal(p);
    }
}

/* Parses objects, with commas between them in an array. With `fields`, only the first.
 */
static result parse_objects(parser *p)
{
    bool in_array = next_byte(p) == '[';
    p->at += in_array;
    while (p->objects < OBJECTS || p->fields) {
        unsigned char c = next_byte(p);
        if (p->at == p->end)
            return TRUNCATED;
        if (in_array && p->objects > 0 && (c == ']' || c == ',')) {
            in_array = c == ',';
            p->at++;
            continue;
        }
        result done = c == '{' ? parse_object(p, 0) : INVALID;
        if (done != DONE)
            return done;
        if (p->fields)
            break;
    }
    return DONE;
}

static parser parser_at(const unsigned char *bytes, size_t size)
{
    bool marked = size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3);
    return (parser){.at = bytes + (marked ? 3 : 0), .end = bytes + size};
}

tide_match tide_is_json(tide_head head)
{
    parser p = parser_at(head.bytes, head.size);
    result done = parse_objects(&p);
    if (p.objects >= OBJECTS)
        return TIDE_YES;
    if (done == INVALID)
        return TIDE_NO;
    if (!head.whole)
        return TIDE_MAYBE;
    return p.objects > 0 || p.members >= MEMBERS ? TIDE_YES : TIDE_NO;
}

void tide_json_fields(const unsigned char *bytes, size_t size,
                      char fields[TIDE_JSON_FIELDS])
{
    parser p = parser_at(bytes, size);
    fields[0] = '\0';
    p.fields = fields;
    parse_objects(&p);
}
