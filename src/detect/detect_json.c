/* detect_json.c - whether a text is JSON objects: a list of them, one after the other, or one
 * a line.
 *
 * The text is walked through as far as it is there, over lines or not. Text that merely
 * begins with a bracket breaks the rules of JSON soon, and then three objects must have been
 * complete before.
 */
#include "detect/detect.h"

enum { OBJECTS = 3, MEMBERS = 3, NESTING = 64 };

typedef enum result { DONE, BROKEN, CUT } result; /* CUT: the bytes end within it */

typedef struct walk {
    const unsigned char *at, *end;
    size_t objects; /* complete ones with a member */
    size_t members; /* complete ones of the first object */
    char *fields;   /* of the first object; NULL */
    char path[TIDE_JSON_FIELDS];
} walk;

static result value(walk *w, unsigned depth);

static void blanks(walk *w)
{
    while (w->at < w->end && memchr(" \t\r\n", *w->at, 4))
        w->at++;
}

/* The next byte behind blanks; 0 at the end. */
static unsigned char next(walk *w)
{
    blanks(w);
    return w->at < w->end ? *w->at : 0;
}

/* Over a string, which begins here. */
static result string(walk *w)
{
    bool escaped = false;
    for (w->at++; w->at < w->end; w->at++) {
        unsigned char c = *w->at;
        if (c < 0x20)
            return BROKEN;
        if (c == '"' && !escaped) {
            w->at++;
            return DONE;
        }
        escaped = c == '\\' && !escaped;
    }
    return CUT;
}

static result literal(walk *w)
{
    static const char *const names[] = {"true", "false", "null"};
    const unsigned char *from = w->at;
    while (w->at < w->end &&
           ((unsigned)(*w->at | 0x20) - 'a' < 26 || (*w->at >= '0' && *w->at <= '9') ||
            memchr("+-.", *w->at, 3)))
        w->at++;
    size_t size = (size_t)(w->at - from);
    if (w->at == w->end)
        return CUT;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size == strlen(names[i]) && !memcmp(from, names[i], size))
            return DONE;
    return size > 0 && (*from == '-' || (*from >= '0' && *from <= '9')) ? DONE : BROKEN;
}

/* Adds the path to the list, unless it is full. */
static void add_field(walk *w)
{
    size_t used = strlen(w->fields), size = strlen(w->path);
    const char *gap = used ? ", " : "";
    if (used + size + strlen(gap) + sizeof ", ..." <= TIDE_JSON_FIELDS)
        sprintf(w->fields + used, "%s%s", gap, w->path);
    else if (used >= 3 && strcmp(w->fields + used - 3, "...") != 0)
        memcpy(w->fields + used, ", ...", sizeof ", ...");
}

/* One "key": value; the path goes on with the key meanwhile. */
static result member(walk *w, unsigned depth)
{
    size_t length = strlen(w->path);
    const unsigned char *key = w->at + 1;
    result done = *w->at == '"' ? string(w) : BROKEN;
    if (done != DONE)
        return done;
    size_t size = (size_t)(w->at - 1 - key);
    if (next(w) != ':')
        return w->at < w->end ? BROKEN : CUT;
    w->at++;
    bool listed =
        w->fields && w->objects == 0 && size > 0 && length + size + 2 < sizeof w->path;
    if (listed)
        snprintf(w->path + length, sizeof w->path - length, "%s%.*s", length ? "." : "",
                 (int)size, (const char *)key);
    unsigned char first = next(w);
    if (listed && first && first != '{')
        add_field(w);
    done = value(w, depth);
    w->path[length] = '\0';
    return done;
}

static result object(walk *w, unsigned depth)
{
    w->at++;
    if (next(w) == '}') {
        w->at++;
        return DONE;
    }
    for (;;) {
        if (next(w) == 0)
            return w->at < w->end ? BROKEN : CUT;
        result done = member(w, depth);
        if (done != DONE)
            return done;
        w->members += w->objects == 0;
        unsigned char c = next(w);
        if (c != ',' && c != '}')
            return w->at < w->end ? BROKEN : CUT;
        w->at++;
        if (c == '}') {
            w->objects += depth == 0;
            return DONE;
        }
    }
}

static result list(walk *w, unsigned depth)
{
    w->at++;
    if (next(w) == ']') {
        w->at++;
        return DONE;
    }
    for (;;) {
        next(w);
        result done = value(w, depth);
        if (done != DONE)
            return done;
        unsigned char c = next(w);
        if (c != ',' && c != ']')
            return w->at < w->end ? BROKEN : CUT;
        w->at++;
        if (c == ']')
            return DONE;
    }
}

static result value(walk *w, unsigned depth)
{
    if (w->at == w->end)
        return CUT;
    if (depth == NESTING)
        return BROKEN;
    switch (*w->at) {
    case '"':
        return string(w);
    case '{':
        return object(w, depth + 1);
    case '[':
        return list(w, depth + 1);
    default:
        return literal(w);
    }
}

/* Objects, with commas between them in a list. */
static result walk_through(walk *w)
{
    bool in_list = next(w) == '[';
    w->at += in_list;
    while (w->objects < OBJECTS || w->fields) {
        unsigned char c = next(w);
        if (w->at == w->end)
            return CUT;
        if (in_list && w->objects > 0 && (c == ']' || c == ',')) {
            in_list = c == ',';
            w->at++;
            continue;
        }
        result done = c == '{' ? object(w, 0) : BROKEN;
        if (done != DONE)
            return done;
        if (w->fields)
            break;
    }
    return DONE;
}

static walk begin(const unsigned char *bytes, size_t size)
{
    bool marked = size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3);
    return (walk){.at = bytes + (marked ? 3 : 0), .end = bytes + size};
}

tide_match tide_is_json(tide_head head)
{
    walk w = begin(head.bytes, head.size);
    result done = walk_through(&w);
    if (w.objects >= OBJECTS)
        return TIDE_YES;
    if (done == BROKEN)
        return TIDE_NO;
    if (!head.whole)
        return TIDE_MAYBE;
    return w.objects > 0 || w.members >= MEMBERS ? TIDE_YES : TIDE_NO;
}

void tide_json_fields(const unsigned char *bytes, size_t size,
                      char fields[TIDE_JSON_FIELDS])
{
    walk w = begin(bytes, size);
    fields[0] = '\0';
    w.fields = fields;
    walk_through(&w);
}
