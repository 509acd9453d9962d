/* record_json.c - extracts fields from a JSON object in one line.
 *
 * The line is parsed and validated in a single pass from left to right, without
 * building a tree. A path is the sequence of keys that lead to a value, joined by dots;
 * arrays do not contribute to it. A value therefore has exactly one path and belongs to
 * at most one field. Each key is compared only with the paths that lead to the current
 * object (`active`); in an object that no path leads to, keys are skipped like other
 * strings.
 *
 * Values found are decoded into an arena as segments
 *
 *     | length, 24 bits | nested, 1 bit | field, 7 bits | text |
 *
 * in the order of the line. The values of an array are appended to one segment,
 * separated by spaces. The label field is different: each value is a label in its own
 * segment, and values of nested arrays are ignored.
 *
 * If an object has a key more than once, the last one wins and the segments found under
 * the earlier ones are discarded. To find them, each object along a path records the
 * range of the arena that each of its keys has filled. Such a key is identified by the
 * part of the path at which it ends, so both the number of keys per object and the
 * depth of such objects are bounded by the number of parts of the path.
 *
 * The arena cannot overflow: text never grows when it is decoded, and a segment adds a
 * header of four bytes. The worst case is an array of one-digit labels, where the two
 * bytes "0," become five.
 */
#include "record/json.h"
#include "record/record_internal.h"

#include <assert.h>

enum {
    DEPTH_MAX = 512,
    NO_FIELD = 127,
    NESTED = 128,
    SEGMENT_HEADER = 4,
};
#define NONE UINT32_MAX

/* What the keys so far have matched. */
typedef struct context {
    uint32_t active; /* bit i: the path of field i continues below this value */
    uint32_t field;  /* the field whose path ends here; NO_FIELD for none */
    uint32_t arrays; /* arrays around the value since then */
} context;

/* -- the arena --------------------------------------------------------------------- */

static uint32_t header_at(const tide_json *j, uint32_t at)
{
    uint32_t header;
    memcpy(&header, j->arena + at, SEGMENT_HEADER);
    return header;
}

static void set_header(tide_json *j, uint32_t at, uint32_t field, uint32_t length)
{
    uint32_t header = field << 24 | length;
    memcpy(j->arena + at, &header, SEGMENT_HEADER);
}

static uint32_t field_at(const tide_json *j, uint32_t at)
{
    return header_at(j, at) >> 24 & ~(uint32_t)NESTED;
}

static uint32_t length_at(const tide_json *j, uint32_t at)
{
    return header_at(j, at) & 0xffffff;
}

static bool appends_to_latest(const tide_records *r, context ctx)
{
    const tide_json *j = &r->json;
    return j->latest != NONE && field_at(j, j->latest) == ctx.field &&
           (int)ctx.field != r->label_field;
}

/* Returns where to write the bytes of a value, leaving space for what precedes them: a
 * separator within a segment, or the header of a new one. */
static unsigned char *value_start(tide_records *r, context ctx)
{
    return r->json.arena + r->json.used +
           (appends_to_latest(r, ctx) ? 1 : SEGMENT_HEADER);
}

/* Commits the value written from value_start up to `to`. An empty value is dropped. */
static void commit_value(tide_records *r, context ctx, const unsigned char *to)
{
    tide_json *j = &r->json;
    uint32_t end = (uint32_t)(to - j->arena);
    assert(end <= TIDE_JSON_ARENA);
    if (appends_to_latest(r, ctx)) {
        if (end == j->used + 1)
            return;
        j->arena[j->used] = ' ';
        set_header(j, j->latest, ctx.field, end - j->latest - SEGMENT_HEADER);
    } else {
        if (end == j->used + SEGMENT_HEADER)
            return;
        uint32_t nested = ctx.arrays > 1 ? NESTED : 0;
        set_header(j, j->used, ctx.field | nested, end - j->used - SEGMENT_HEADER);
        j->latest = j->used;
    }
    j->used = end;
}

/* Discards the segments of a field in a range of the arena. */
static void discard_segments(tide_json *j, uint32_t field, uint32_t from, uint32_t to)
{
    while (from < to) {
        uint32_t length = length_at(j, from);
        if (field_at(j, from) == field)
            set_header(j, from, NO_FIELD, length);
        from += SEGMENT_HEADER + length;
    }
}

/* -- keys -------------------------------------------------------------------------- */

/* Descends one level on every active path; no key of the object has been seen yet. */
static void enter_object(tide_json *j, uint32_t active)
{
    for (; active; active &= active - 1) {
        tide_json_path *path = &j->paths[__builtin_ctz(active)];
        path->level++;
        path->levels[path->level].seen = 0;
        path->levels[path->level].last = -1;
    }
}

static void leave_object(tide_json *j, uint32_t active)
{
    for (; active; active &= active - 1)
        j->paths[__builtin_ctz(active)].level--;
}

/* Records that a key of this object has matched the path up to the end of part k.
 * Closes the range of the previous such key, and discards what an earlier occurrence of
 * this key has found. */
static void record_key(tide_json *j, uint32_t field, tide_json_level *object,
                       uint32_t k)
{
    if (object->last >= 0)
        object->to[object->last] = j->used;
    if (object->seen >> k & 1)
        discard_segments(j, field, object->from[k], object->to[k]);
    object->seen |= UINT32_C(1) << k;
    object->from[k] = j->used;
    object->last = (int)k;
    j->latest = NONE;
}

/* Whether the path of a field, from `start`, begins with this key. The key may contain
 * dots and so match several parts. */
static bool path_continues(const tide_field *f, uint32_t start, const void *key,
                           size_t size)
{
    size_t left = f->length - start;
    if (size > left || (size < left && f->name[start + size] != '.'))
        return false;
    return memcmp(f->name + start, key, size) == 0;
}

/* Returns the context of a key's value. */
static context match_key(tide_records *r, const unsigned char *key, size_t size,
                         uint32_t active)
{
    context next = {0, NO_FIELD, 0};
    for (; active; active &= active - 1) {
        uint32_t field = (uint32_t)__builtin_ctz(active);
        const tide_field *f = &r->fields[field];
        tide_json_path *path = &r->json.paths[field];
        tide_json_level *object = &path->levels[path->level];
        if (!path_continues(f, object->start, key, size))
            continue;
        uint32_t part = object->part;
        for (size_t i = 0; i < size; i++)
            part += key[i] == '.';
        record_key(&r->json, field, object, part);
        if (size == f->length - object->start) {
            next.field = field; /* the whole path has been matched */
        } else {
            /* If the value is an object, its keys are matched from here on. */
            object[1].start = object->start + (uint32_t)size + 1;
            object[1].part = part + 1;
            next.active |= UINT32_C(1) << field;
        }
    }
    return next;
}

/* Parses a key, just past its opening quote. A key with escapes is decoded into the
 * unused part of the arena. */
static const unsigned char *parse_key(tide_records *r, const unsigned char *p,
                                      uint32_t active, context *next)
{
    const unsigned char *end = tide_json_skip_run(p);
    if (*end == '"') {
        *next = match_key(r, p, (size_t)(end - p), active);
        return end + 1;
    }
    unsigned char *key = r->json.arena + r->json.used, *to = key;
    p = tide_json_decode_string(p, &to);
    if (p)
        *next = match_key(r, key, (size_t)(to - key), active);
    return p;
}

/* -- values ------------------------------------------------------------------------ */

static const unsigned char *parse_value(tide_records *r, const unsigned char *p,
                                        context ctx, unsigned depth);

static const unsigned char *parse_members(tide_records *r, const unsigned char *p,
                                          uint32_t active, unsigned depth)
{
    for (;;) {
        context next = {0, NO_FIELD, 0};
        if (*p != '"')
            return NULL;
        p = active ? parse_key(r, p + 1, active, &next) : tide_json_skip_string(p + 1);
        if (!p)
            return NULL;
        p = tide_json_skip_blanks(p);
        if (*p != ':')
            return NULL;
        p = parse_value(r, tide_json_skip_blanks(p + 1), next, depth);
        if (!p)
            return NULL;
        p = tide_json_skip_blanks(p);
        if (*p != ',')
            return *p == '}' ? p + 1 : NULL;
        p = tide_json_skip_blanks(p + 1);
    }
}

static const unsigned char *parse_object(tide_records *r, const unsigned char *p,
                                         uint32_t active, unsigned depth)
{
    p = tide_json_skip_blanks(p);
    if (*p == '}')
        return p + 1;
    enter_object(&r->json, active);
    p = parse_members(r, p, active, depth);
    leave_object(&r->json, active);
    return p;
}

static const unsigned char *parse_array(tide_records *r, const unsigned char *p,
                                        context ctx, unsigned depth)
{
    p = tide_json_skip_blanks(p);
    if (*p == ']')
        return p + 1;
    ctx.arrays++;
    for (;;) {
        p = parse_value(r, p, ctx, depth);
        if (!p)
            return NULL;
        p = tide_json_skip_blanks(p);
        if (*p != ',')
            return *p == ']' ? p + 1 : NULL;
        p = tide_json_skip_blanks(p + 1);
    }
}

static const unsigned char *store_string(tide_records *r, const unsigned char *p,
                                         context ctx)
{
    unsigned char *to = value_start(r, ctx);
    p = tide_json_decode_string(p, &to);
    if (p)
        commit_value(r, ctx, to);
    return p;
}

static const unsigned char *store_literal(tide_records *r, const unsigned char *p,
                                          context ctx)
{
    const unsigned char *end = tide_json_skip_literal(p);
    if (end && *p != 'n') {
        unsigned char *to = value_start(r, ctx);
        memcpy(to, p, (size_t)(end - p));
        commit_value(r, ctx, to + (end - p));
    }
    return end;
}

static const unsigned char *parse_value(tide_records *r, const unsigned char *p,
                                        context ctx, unsigned depth)
{
    bool wanted = ctx.field != NO_FIELD;
    switch (*p) {
    case '"':
        return wanted ? store_string(r, p + 1, ctx) : tide_json_skip_string(p + 1);
    case '{':
        return depth < DEPTH_MAX ? parse_object(r, p + 1, ctx.active, depth + 1) : NULL;
    case '[':
        return depth < DEPTH_MAX ? parse_array(r, p + 1, ctx, depth + 1) : NULL;
    default:
        return wanted ? store_literal(r, p, ctx) : tide_json_skip_literal(p);
    }
}

/* -- the format -------------------------------------------------------------------- */

static tide_parse_result json_parse(tide_records *r, const unsigned char *record,
                                    size_t size)
{
    const unsigned char *p = tide_json_skip_blanks(record), *end = record + size;
    if (p == end)
        return TIDE_PARSE_BLANK;
    r->json.used = 0;
    r->json.latest = NONE;
    for (size_t i = 0; i < r->field_count; i++)
        r->json.paths[i].level = -1; /* level 0 always starts at offset 0 of the path */
    uint32_t all = *p == '{' ? (UINT32_C(1) << r->field_count) - 1 : 0;
    p = parse_value(r, p, (context){all, NO_FIELD, 0}, 0);
    return p && tide_json_skip_blanks(p) == end ? TIDE_PARSE_OK : TIDE_PARSE_MALFORMED;
}

/* Joins the segments of the field with spaces. */
static size_t json_copy_field(const tide_records *r, size_t field, unsigned char *to)
{
    const tide_json *j = &r->json;
    size_t size = 0;
    for (uint32_t at = 0; at < j->used;) {
        uint32_t length = length_at(j, at);
        if (field_at(j, at) == field) {
            if (size > 0)
                to[size++] = ' ';
            memcpy(to + size, j->arena + at + SEGMENT_HEADER, length);
            size += length;
        }
        at += SEGMENT_HEADER + length;
    }
    return size;
}

static size_t json_copy_label(const tide_records *r, uint32_t *at, unsigned char *to)
{
    const tide_json *j = &r->json;
    while (*at < j->used) {
        uint32_t from = *at + SEGMENT_HEADER, length = length_at(j, *at);
        bool is_label = header_at(j, *at) >> 24 == (uint32_t)r->label_field;
        *at = from + length;
        if (!is_label)
            continue;
        memcpy(to, j->arena + from, length);
        return length;
    }
    return 0;
}

const tide_record_format tide_record_json = {
    .detect = tide_document_detect,
    .find_end = tide_records_find_line,
    .parse = json_parse,
    .copy_field = json_copy_field,
    .copy_label = json_copy_label,
};
