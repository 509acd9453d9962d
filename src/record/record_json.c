/* record_json.c - the text in an object, whose bytes are those of one line.
 *
 * The line is read once, from left to right, and checked as it is read; no tree is
 * made. A path is the keys that lead to a value, joined by dots; arrays add nothing to
 * it. So the path of a value is one string, and no value belongs to two fields. At each
 * key only the paths that have led to this object (`live`) are compared with it, and in
 * an object that no path leads to, keys are strings like any other.
 *
 * What is found goes to an arena, decoded, as segments
 *
 *     | length, 24 bits | nested, 1 bit | field, 7 bits | text |
 *
 * in the order of the line. The values of one array are added to one segment, with a
 * blank between. Not so in the field that has the labels: there every value is one
 * label, and those of arrays within arrays (nested) are none.
 *
 * When a key comes a second time in an object, the later one counts, and what was found
 * under the earlier one is struck out. For this an object on the way along a path
 * remembers which stretch of the arena each of its keys has filled. Such a key can be
 * told by the part of the path at which it ends, so there are no more of them than
 * parts, and no more such objects inside each other either.
 *
 * The arena is large enough: text takes no more room than in the line, and a segment
 * has four bytes at its beginning. The shortest way to start one is a label of a digit
 * (0,) whose two bytes become five.
 */
#include "record/json.h"
#include "record/record_internal.h"

#include <assert.h>

enum {
    NESTING_MAX = 512,
    NO_FIELD = 127,
    NESTED = 128,
    HEAD = 4,
};
#define NONE UINT32_MAX

/* What leads here: the paths that go on, the field whose path ends, and how many arrays
 * are around the value since then. */
typedef struct place {
    uint32_t live;
    uint32_t field;
    uint32_t arrays;
} place;

/* -- the arena --------------------------------------------------------------------- */

static uint32_t head_at(const tide_json *j, uint32_t at)
{
    uint32_t head;
    memcpy(&head, j->arena + at, HEAD);
    return head;
}

static void set_head(tide_json *j, uint32_t at, uint32_t field, uint32_t length)
{
    uint32_t head = field << 24 | length;
    memcpy(j->arena + at, &head, HEAD);
}

static uint32_t field_at(const tide_json *j, uint32_t at)
{
    return head_at(j, at) >> 24 & ~(uint32_t)NESTED;
}

static uint32_t length_at(const tide_json *j, uint32_t at)
{
    return head_at(j, at) & 0xffffff;
}

static bool adds_to_latest(const tide_records *r, place here)
{
    const tide_json *j = &r->json;
    return j->latest != NONE && field_at(j, j->latest) == here.field &&
           (int)here.field != r->label_field;
}

/* Where the bytes of a value have to be put, */
static unsigned char *begin_value(tide_records *r, place here)
{
    return r->json.arena + r->json.used + (adds_to_latest(r, here) ? 1 : HEAD);
}

/* and how they are kept, from there up to `to`. */
static void end_value(tide_records *r, place here, const unsigned char *to)
{
    tide_json *j = &r->json;
    uint32_t end = (uint32_t)(to - j->arena);
    assert(end <= TIDE_JSON_ARENA);
    if (adds_to_latest(r, here)) {
        if (end == j->used + 1)
            return;
        j->arena[j->used] = ' ';
        set_head(j, j->latest, here.field, end - j->latest - HEAD);
    } else {
        if (end == j->used + HEAD)
            return;
        uint32_t nested = here.arrays > 1 ? NESTED : 0;
        set_head(j, j->used, here.field | nested, end - j->used - HEAD);
        j->latest = j->used;
    }
    j->used = end;
}

static void strike_out(tide_json *j, uint32_t field, uint32_t from, uint32_t to)
{
    while (from < to) {
        uint32_t length = length_at(j, from);
        if (field_at(j, from) == field)
            set_head(j, from, NO_FIELD, length);
        from += HEAD + length;
    }
}

/* -- keys -------------------------------------------------------------------------- */

static void enter_object(tide_json *j, uint32_t live)
{
    for (; live; live &= live - 1) {
        tide_json_path *path = &j->paths[__builtin_ctz(live)];
        path->level++;
        path->levels[path->level].seen = 0;
        path->levels[path->level].last = -1;
    }
}

static void leave_object(tide_json *j, uint32_t live)
{
    for (; live; live &= live - 1)
        j->paths[__builtin_ctz(live)].level--;
}

/* A key of this object has led along the path up to the end of its part k. */
static void note_key(tide_json *j, uint32_t field, tide_json_level *object, uint32_t k)
{
    if (object->last >= 0)
        object->to[object->last] = j->used;
    if (object->seen >> k & 1)
        strike_out(j, field, object->from[k], object->to[k]);
    object->seen |= UINT32_C(1) << k;
    object->from[k] = j->used;
    object->last = (int)k;
    j->latest = NONE;
}

static bool leads_on(const tide_field *f, uint32_t start, const void *key, size_t size)
{
    size_t left = f->length - start;
    if (size > left || (size < left && f->name[start + size] != '.'))
        return false;
    return memcmp(f->name + start, key, size) == 0;
}

static place follow_key(tide_records *r, const unsigned char *key, size_t size,
                        uint32_t live)
{
    place next = {0, NO_FIELD, 0};
    for (; live; live &= live - 1) {
        uint32_t field = (uint32_t)__builtin_ctz(live);
        const tide_field *f = &r->fields[field];
        tide_json_path *path = &r->json.paths[field];
        tide_json_level *object = &path->levels[path->level];
        if (!leads_on(f, object->start, key, size))
            continue;
        uint32_t part = object->part;
        for (size_t i = 0; i < size; i++)
            part += key[i] == '.';
        note_key(&r->json, field, object, part);
        if (size == f->length - object->start) {
            next.field = field;
        } else {
            object[1].start = object->start + (uint32_t)size + 1;
            object[1].part = part + 1;
            next.live |= UINT32_C(1) << field;
        }
    }
    return next;
}

/* Over a key, behind its first quote. A key with escapes is decoded where the next value
 * would go. */
static const unsigned char *read_key(tide_records *r, const unsigned char *p,
                                     uint32_t live, place *next)
{
    const unsigned char *end = tide_json_run(p);
    if (*end == '"') {
        *next = follow_key(r, p, (size_t)(end - p), live);
        return end + 1;
    }
    unsigned char *key = r->json.arena + r->json.used, *to = key;
    p = tide_json_decode(p, &to);
    if (p)
        *next = follow_key(r, key, (size_t)(to - key), live);
    return p;
}

/* -- values ------------------------------------------------------------------------ */

static const unsigned char *read_value(tide_records *r, const unsigned char *p,
                                       place here, unsigned depth);

static const unsigned char *read_members(tide_records *r, const unsigned char *p,
                                         uint32_t live, unsigned depth)
{
    for (;;) {
        place next = {0, NO_FIELD, 0};
        if (*p != '"')
            return NULL;
        p = live ? read_key(r, p + 1, live, &next) : tide_json_string(p + 1);
        if (!p)
            return NULL;
        p = tide_json_blanks(p);
        if (*p != ':')
            return NULL;
        p = read_value(r, tide_json_blanks(p + 1), next, depth);
        if (!p)
            return NULL;
        p = tide_json_blanks(p);
        if (*p != ',')
            return *p == '}' ? p + 1 : NULL;
        p = tide_json_blanks(p + 1);
    }
}

static const unsigned char *read_object(tide_records *r, const unsigned char *p,
                                        uint32_t live, unsigned depth)
{
    p = tide_json_blanks(p);
    if (*p == '}')
        return p + 1;
    enter_object(&r->json, live);
    p = read_members(r, p, live, depth);
    leave_object(&r->json, live);
    return p;
}

static const unsigned char *read_array(tide_records *r, const unsigned char *p,
                                       place here, unsigned depth)
{
    p = tide_json_blanks(p);
    if (*p == ']')
        return p + 1;
    here.arrays++;
    for (;;) {
        p = read_value(r, p, here, depth);
        if (!p)
            return NULL;
        p = tide_json_blanks(p);
        if (*p != ',')
            return *p == ']' ? p + 1 : NULL;
        p = tide_json_blanks(p + 1);
    }
}

static const unsigned char *take_string(tide_records *r, const unsigned char *p,
                                        place here)
{
    unsigned char *to = begin_value(r, here);
    p = tide_json_decode(p, &to);
    if (p)
        end_value(r, here, to);
    return p;
}

static const unsigned char *take_literal(tide_records *r, const unsigned char *p,
                                         place here)
{
    const unsigned char *end = tide_json_literal(p);
    if (end && *p != 'n') {
        unsigned char *to = begin_value(r, here);
        memcpy(to, p, (size_t)(end - p));
        end_value(r, here, to + (end - p));
    }
    return end;
}

static const unsigned char *read_value(tide_records *r, const unsigned char *p,
                                       place here, unsigned depth)
{
    bool wanted = here.field != NO_FIELD;
    switch (*p) {
    case '"':
        return wanted ? take_string(r, p + 1, here) : tide_json_string(p + 1);
    case '{':
        return depth < NESTING_MAX ? read_object(r, p + 1, here.live, depth + 1) : NULL;
    case '[':
        return depth < NESTING_MAX ? read_array(r, p + 1, here, depth + 1) : NULL;
    default:
        return wanted ? take_literal(r, p, here) : tide_json_literal(p);
    }
}

/* -- the format -------------------------------------------------------------------- */

static tide_reading json_read(tide_records *r, const unsigned char *record, size_t size)
{
    const unsigned char *p = tide_json_blanks(record), *end = record + size;
    if (p == end)
        return TIDE_READ_NOTHING;
    r->json.used = 0;
    r->json.latest = NONE;
    for (size_t i = 0; i < r->field_count; i++)
        r->json.paths[i].level = -1; /* level 0 starts with the path, and stays so */
    uint32_t all = *p == '{' ? (UINT32_C(1) << r->field_count) - 1 : 0;
    p = read_value(r, p, (place){all, NO_FIELD, 0}, 0);
    return p && tide_json_blanks(p) == end ? TIDE_READ : TIDE_READ_MALFORMED;
}

static size_t json_value(const tide_records *r, size_t field, unsigned char *to)
{
    const tide_json *j = &r->json;
    size_t size = 0;
    for (uint32_t at = 0; at < j->used;) {
        uint32_t length = length_at(j, at);
        if (field_at(j, at) == field) {
            if (size > 0)
                to[size++] = ' ';
            memcpy(to + size, j->arena + at + HEAD, length);
            size += length;
        }
        at += HEAD + length;
    }
    return size;
}

static size_t json_label(const tide_records *r, uint32_t *at, unsigned char *to)
{
    const tide_json *j = &r->json;
    while (*at < j->used) {
        uint32_t from = *at + HEAD, length = length_at(j, *at);
        bool is_label = head_at(j, *at) >> 24 == (uint32_t)r->label_field;
        *at = from + length;
        if (!is_label)
            continue;
        memcpy(to, j->arena + from, length);
        return length;
    }
    return 0;
}

const tide_record_format tide_record_json = {
    .begin = tide_document_begin,
    .find_end = tide_records_find_line,
    .read = json_read,
    .value = json_value,
    .label = json_label,
};
