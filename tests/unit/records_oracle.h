/* records_oracle.h - a simple, slow reference parser that reads the whole input at
 * once.
 *
 * JSON is parsed into a tree that is searched for paths afterwards; CSV is read byte by
 * byte. The result is a transcript: each text prefixed by its length, and the counters.
 */
#ifndef TIDE_RECORDS_ORACLE_H
#define TIDE_RECORDS_ORACLE_H

#include "record/record.h"

#include <ctype.h>
#include <stdlib.h>

/* -- transcripts ------------------------------------------------------------------- */

typedef struct pile {
    unsigned char *bytes;
    size_t size, capacity;
} pile;

static inline void pile_add(pile *p, const void *bytes, size_t size)
{
    if (p->size + size + 1 > p->capacity) {
        p->capacity = 2 * p->capacity + size + 64;
        p->bytes = realloc(p->bytes, p->capacity);
        if (!p->bytes)
            abort();
    }
    if (size > 0)
        memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
    p->bytes[p->size] = '\0';
}

typedef struct transcript {
    pile texts;
    tide_record_counts counts;
} transcript;

static inline void transcript_add(transcript *t, const void *text, size_t size)
{
    char length[32];
    pile_add(&t->texts, length, (size_t)snprintf(length, sizeof length, "%zu:", size));
    pile_add(&t->texts, text, size);
}

static inline void transcript_take(transcript *t, tide_records *r)
{
    const char *text;
    size_t size;
    while (tide_records_next(r, &text, &size))
        transcript_add(t, text, size);
    t->counts = tide_records_counted(r);
}

static inline bool transcript_equal(const transcript *a, const transcript *b)
{
    return a->texts.size == b->texts.size &&
           (a->texts.size == 0 ||
            memcmp(a->texts.bytes, b->texts.bytes, a->texts.size) == 0) &&
           memcmp(&a->counts, &b->counts, sizeof a->counts) == 0;
}

/* -- JSON as a tree ---------------------------------------------------------------- */

typedef struct node {
    char kind; /* { [ or "; 1 for numbers, true and false; 0 for null */
    pile key, text;
    struct node *children[256];
    size_t count;
} node;

typedef struct json_oracle {
    const unsigned char *at, *end;
    int depth;
} json_oracle;

static inline void node_free(node *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->count; i++)
        node_free(n->children[i]);
    free(n->key.bytes);
    free(n->text.bytes);
    free(n);
}

static inline int peek(json_oracle *o)
{
    return o->at < o->end ? *o->at : -1;
}

static inline bool accept(json_oracle *o, int c)
{
    if (peek(o) != c)
        return false;
    o->at++;
    return true;
}

static inline void skip_blanks(json_oracle *o)
{
    while (peek(o) == ' ' || peek(o) == '\t' || peek(o) == '\r')
        o->at++;
}

static inline bool oracle_hex(json_oracle *o, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, o->at++) {
        int c = peek(o);
        if (c < 0 || !isxdigit(c))
            return false;
        *value = *value * 16 + (uint32_t)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    return true;
}

static inline void add_code_point(pile *p, uint32_t c)
{
    unsigned char b[4] = {(unsigned char)c};
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size - 1; size > 1 && i > 0; i--, c >>= 6)
        b[i] = (unsigned char)(0x80 | (c & 0x3f));
    if (size > 1)
        b[0] = (unsigned char)(lead[size] | c);
    pile_add(p, b, size);
}

/* Decodes one escape, looking ahead for the second half of a surrogate pair. */
static inline bool oracle_escape(json_oracle *o, pile *text)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int c = peek(o);
    const char *simple = c > 0 ? strchr(names, c) : NULL;
    if (simple) {
        o->at++;
        pile_add(text, &meant[simple - names], 1);
        return true;
    }
    uint32_t high, low;
    if (!accept(o, 'u') || !oracle_hex(o, &high))
        return false;
    json_oracle ahead = *o;
    if (high >= 0xd800 && high < 0xdc00 && accept(&ahead, '\\') &&
        accept(&ahead, 'u') && oracle_hex(&ahead, &low) && low >= 0xdc00 &&
        low < 0xe000) {
        *o = ahead;
        high = 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
    }
    add_code_point(text, high >= 0xd800 && high < 0xe000 ? 0xfffd : high);
    return true;
}

static inline bool oracle_string(json_oracle *o, pile *text)
{
    if (!accept(o, '"'))
        return false;
    while (!accept(o, '"')) {
        if (peek(o) < 0x20)
            return false;
        if (accept(o, '\\')) {
            if (!oracle_escape(o, text))
                return false;
        } else {
            pile_add(text, o->at++, 1);
        }
    }
    return true;
}

static inline bool oracle_digits(json_oracle *o)
{
    const unsigned char *start = o->at;
    while (peek(o) >= '0' && peek(o) <= '9')
        o->at++;
    return o->at > start;
}

static inline bool oracle_number(json_oracle *o)
{
    accept(o, '-');
    if (!accept(o, '0') && !oracle_digits(o))
        return false;
    if (accept(o, '.') && !oracle_digits(o))
        return false;
    if (!accept(o, 'e') && !accept(o, 'E'))
        return true;
    if (!accept(o, '+'))
        accept(o, '-');
    return oracle_digits(o);
}

static inline bool oracle_literal(json_oracle *o, node *n)
{
    static const char *const names[] = {"null", "true", "false"};
    const unsigned char *start = o->at;
    n->kind = 1;
    for (int i = 0; i < 3; i++) {
        size_t size = strlen(names[i]);
        if ((size_t)(o->end - o->at) >= size && memcmp(o->at, names[i], size) == 0) {
            o->at += size;
            n->kind = i > 0;
            pile_add(&n->text, names[i], size);
            return true;
        }
    }
    bool valid = oracle_number(o);
    pile_add(&n->text, start, (size_t)(o->at - start));
    return valid;
}

static inline bool oracle_value(json_oracle *o, node *n);

/* Tests stay below the maximum number of children of a node. */
static inline bool oracle_children(json_oracle *o, node *n, int close)
{
    o->at++;
    skip_blanks(o);
    if (accept(o, close))
        return true;
    do {
        node *child = calloc(1, sizeof *child);
        if (!child || n->count == sizeof n->children / sizeof *n->children)
            abort();
        n->children[n->count++] = child;
        skip_blanks(o);
        if (n->kind == '{') {
            if (!oracle_string(o, &child->key))
                return false;
            skip_blanks(o);
            if (!accept(o, ':'))
                return false;
            skip_blanks(o);
        }
        if (!oracle_value(o, child))
            return false;
        skip_blanks(o);
    } while (accept(o, ','));
    return accept(o, close);
}

static inline bool oracle_value(json_oracle *o, node *n)
{
    n->kind = (char)peek(o);
    if (n->kind == '"')
        return oracle_string(o, &n->text);
    if (n->kind != '{' && n->kind != '[')
        return oracle_literal(o, n);
    if (++o->depth > 512)
        return false;
    bool valid = oracle_children(o, n, n->kind == '{' ? '}' : ']');
    o->depth--;
    return valid;
}

static inline bool is_overridden(const node *n, size_t i)
{
    const pile *key = &n->children[i]->key;
    for (size_t k = i + 1; k < n->count; k++) {
        const pile *other = &n->children[k]->key;
        if (other->size == key->size &&
            (!key->size || memcmp(other->bytes, key->bytes, key->size) == 0))
            return true;
    }
    return false;
}

/* Adds all values at a path; `at` is the path of the node, NULL for the root. */
static inline void collect(const node *n, const pile *at, const char *path, pile *found)
{
    if (n->kind == '"' || n->kind == 1) {
        bool here =
            at && at->size == strlen(path) && !memcmp(at->bytes, path, at->size);
        if (here && n->text.size > 0) {
            pile_add(found, " ", found->size > 0);
            pile_add(found, n->text.bytes, n->text.size);
        }
    }
    for (size_t i = 0; i < n->count; i++) {
        const node *child = n->children[i];
        if (n->kind == '[') {
            collect(child, at, path, found);
        } else if (!is_overridden(n, i)) {
            pile below = {0};
            if (at) {
                pile_add(&below, at->bytes, at->size);
                pile_add(&below, ".", 1);
            }
            pile_add(&below, child->key.bytes, child->key.size);
            collect(child, &below, path, found);
            free(below.bytes);
        }
    }
}

/* Adds a label and a 0 byte; blanks and control characters become '_'. */
static inline void add_label(pile *labels, const pile *text)
{
    for (size_t i = 0; i < text->size; i++) {
        unsigned char byte = text->bytes[i] <= ' ' ? '_' : text->bytes[i];
        pile_add(labels, &byte, 1);
    }
    pile_add(labels, "", text->size > 0);
}

/* Adds every label at a path, whether a single value or an element of an array. */
static inline void collect_labels(const node *n, const pile *at, const char *path,
                                  int arrays, pile *labels)
{
    bool here = at && at->size == strlen(path) && !memcmp(at->bytes, path, at->size);
    if (here && arrays < 2 && (n->kind == '"' || n->kind == 1))
        add_label(labels, &n->text);
    for (size_t i = 0; i < n->count; i++) {
        const node *child = n->children[i];
        pile below = {0};
        if (n->kind == '{') {
            pile_add(&below, at ? at->bytes : NULL, at ? at->size : 0);
            pile_add(&below, ".", at != NULL);
            pile_add(&below, child->key.bytes, child->key.size);
            if (!is_overridden(n, i))
                collect_labels(child, &below, path, 0, labels);
        } else {
            collect_labels(child, at, path, arrays + 1, labels);
        }
        free(below.bytes);
    }
}

/* -- one record -------------------------------------------------------------------- */

enum { ORACLE_FIELDS = 8 };

/* The requested fields: those with text, then the labels. */
typedef struct wanted_fields {
    char names[ORACLE_FIELDS][64];
    size_t texts;
    bool label;
    bool one_line;
    int columns[ORACLE_FIELDS]; /* CSV, TSV; from 1, 0 for none */
} wanted_fields;

static inline wanted_fields find_wanted_fields(const tide_record_options *options)
{
    wanted_fields w = {.label = options->label[0] != '\0',
                       .one_line = options->one_line};
    char copy[256];
    snprintf(copy, sizeof copy, "%s", options->text);
    for (char *name = strtok(copy, ","); name; name = strtok(NULL, ","))
        snprintf(w.names[w.texts++], sizeof *w.names, "%s", name);
    snprintf(w.names[w.texts], sizeof *w.names, "%s", options->label);
    return w;
}

/* Joins the values of the fields into the text of a record, and counts it. */
static inline void finish_record(transcript *t, const wanted_fields *w,
                                 pile found[ORACLE_FIELDS], bool valid, size_t whole)
{
    pile text = {0}, line = {0}, *labels = &found[w->texts];
    for (size_t i = 0; i < w->texts; i++) {
        pile_add(&text, "\n", text.size > 0 && found[i].size > 0);
        pile_add(&text, found[i].bytes, found[i].size);
    }
    t->counts.records++;
    t->counts.malformed += !valid;
    t->counts.missing += valid && text.size == 0;
    if (valid && text.size > 0) {
        for (size_t at = 0, count = 0; at < labels->size && count < 256; count++) {
            size_t size = strlen((const char *)labels->bytes + at);
            pile_add(&line, "__label__", 9);
            pile_add(&line, labels->bytes + at, size);
            pile_add(&line, " ", 1);
            at += size + 1;
        }
        for (size_t i = 0; i < text.size && w->one_line; i++)
            text.bytes[i] = text.bytes[i] == '\n' ? ' ' : text.bytes[i];
        pile_add(&line, text.bytes, text.size);
        pile_add(&line, "\n", 1);
        transcript_add(t, line.bytes, line.size);
    } else {
        t->counts.bytes += whole;
    }
    free(text.bytes);
    free(line.bytes);
    for (size_t i = 0; i < ORACLE_FIELDS; i++)
        free(found[i].bytes);
}

static inline void oracle_json(transcript *t, const wanted_fields *w,
                               const unsigned char *line, size_t size, size_t whole)
{
    json_oracle o = {line, line + size, 0};
    skip_blanks(&o);
    if (o.at == o.end)
        return;
    node *top = calloc(1, sizeof *top);
    if (!top)
        abort();
    bool valid = oracle_value(&o, top);
    skip_blanks(&o);
    valid = valid && o.at == o.end;
    pile found[ORACLE_FIELDS] = {0};
    for (size_t i = 0; valid && top->kind == '{' && i < w->texts; i++)
        collect(top, NULL, w->names[i], &found[i]);
    if (valid && top->kind == '{' && w->label)
        collect_labels(top, NULL, w->names[w->texts], 0, &found[w->texts]);
    finish_record(t, w, found, valid, whole);
    node_free(top);
}

/* -- columns ----------------------------------------------------------------------- */

/* Splits a record into at most size + 1 columns. Returns their number; -1 if the record
 * is malformed. */
static inline int oracle_split(bool csv, const unsigned char *b, size_t size,
                               pile *columns)
{
    if (size > 0 && b[size - 1] == '\r')
        size--;
    int count = 0;
    for (size_t i = 0;; i++) { /* at the beginning of a column */
        pile *column = &columns[count++];
        if (csv && i < size && b[i] == '"') {
            for (i++; i < size; i++) {
                if (b[i] == '"' && !(i + 1 < size && b[i + 1] == '"'))
                    break;
                pile_add(column, &b[i], 1);
                i += b[i] == '"';
            }
            if (i >= size || (i + 1 < size && b[i + 1] != ','))
                return -1;
            i++;
        }
        for (; i < size && b[i] != (csv ? ',' : '\t'); i++)
            pile_add(column, &b[i], 1);
        if (i == size)
            return count;
    }
}

static inline void oracle_header(wanted_fields *w, int count, const pile *columns)
{
    for (size_t i = 0; i < w->texts + w->label; i++) {
        w->columns[i] = atoi(w->names[i]);
        for (int k = count - 1; k >= 0 && !isdigit((unsigned char)*w->names[i]); k--)
            if (columns[k].size == strlen(w->names[i]) &&
                !memcmp(columns[k].bytes, w->names[i], columns[k].size))
                w->columns[i] = k + 1;
        for (size_t k = 0; k < i && i < w->texts; k++)
            if (w->columns[k] == w->columns[i])
                w->columns[i] = 0;
    }
}

static inline void oracle_columns(transcript *t, wanted_fields *w, bool csv,
                                  bool *names, const unsigned char *record, size_t size,
                                  size_t whole)
{
    if (size == 0 || (size == 1 && *record == '\r'))
        return;
    pile found[ORACLE_FIELDS] = {0}, *columns = calloc(size + 1, sizeof *columns);
    int count = oracle_split(csv, record, size, columns);
    if (*names) {
        oracle_header(w, count, columns);
        if (count < 0)
            finish_record(t, w, found, false, whole);
    } else {
        for (size_t i = 0; i < w->texts; i++)
            if (w->columns[i] > 0 && w->columns[i] <= count)
                pile_add(&found[i], columns[w->columns[i] - 1].bytes,
                         columns[w->columns[i] - 1].size);
        int label = w->label ? w->columns[w->texts] : 0;
        if (label > 0 && label <= count)
            add_label(&found[w->texts], &columns[label - 1]);
        finish_record(t, w, found, count >= 0, whole);
    }
    *names = false;
    for (size_t i = 0; i <= size; i++)
        free(columns[i].bytes);
    free(columns);
}

/* The offset of the line feed that ends the first record, or `size`. */
static inline size_t oracle_end(bool csv, const unsigned char *b, size_t size)
{
    bool quotes = false, begins = true;
    for (size_t i = 0; i < size; i++) {
        if (quotes) {
            if (b[i] == '"' && i + 1 < size && b[i + 1] == '"')
                i++;
            else if (b[i] == '"')
                quotes = false;
            begins = false;
            continue;
        }
        if (b[i] == '\n')
            return i;
        quotes = csv && begins && b[i] == '"';
        begins = b[i] == ',';
    }
    return size;
}

/* -- JSON documents ---------------------------------------------------------------- */

static inline bool is_json_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the first line that is not blank begins an array, or an object that is still
 * open at its end. */
static inline bool is_document(const unsigned char *b, size_t size)
{
    size_t at = 0, line = 0;
    for (; at < size && is_json_space(b[at]); at++)
        line = b[at] == '\n' ? at + 1 : line;
    if (at == size || at - line > TIDE_RECORD_MAX || (b[at] != '[' && b[at] != '{'))
        return false;
    if (b[at] == '[')
        return true;
    size_t depth = 0;
    bool quoted = false;
    for (; at < size && b[at] != '\n'; at++) {
        if (b[at] == '"')
            quoted = !quoted;
        else if (quoted && b[at] == '\\' && at + 1 < size && b[at + 1] != '\n')
            at++;
        else if (!quoted && strchr("[{", b[at]) && b[at])
            depth++;
        else if (!quoted && strchr("]}", b[at]) && b[at] && depth > 0)
            depth--;
    }
    return at < size && at - line <= TIDE_RECORD_MAX && depth > 0 && !quoted;
}

/* The end of the first value. */
static inline size_t document_end(const unsigned char *b, size_t size)
{
    size_t depth = 0, i = 0;
    unsigned char last = 0;
    for (; i < size; i++) {
        if (b[i] == '"') {
            for (i++; i < size && b[i] != '"' && b[i] != '\n'; i++)
                if (b[i] == '\\' && i + 1 < size && b[i + 1] != '\n')
                    i++;
            if (i == size || b[i] == '\n')
                return i;
            last = '"';
            if (depth == 0)
                return i + 1;
            continue;
        }
        if (depth == 0 && i > 0 && (b[i] == ']' || b[i] == ',' || b[i] == '\n'))
            return i;
        if (b[i] == '\n' && i + 1 < size && b[i + 1] == '{' && last != '[' &&
            last != ':' && last != ',')
            return i;
        last = is_json_space(b[i]) ? last : b[i];
        if (b[i] == '{' || b[i] == '[')
            depth++;
        if (b[i] == '}' || b[i] == ']') {
            depth -= depth > 0;
            if (depth == 0)
                return i + 1;
        }
    }
    return size;
}

static inline void oracle_document(transcript *t, const wanted_fields *w,
                                   const unsigned char *b, size_t size)
{
    bool in_list = false;
    for (size_t at = 0; at < size;) {
        if (is_json_space(b[at]) || b[at] == ',' || b[at] == ']' ||
            (b[at] == '[' && !in_list)) {
            in_list = b[at] == '[' || (in_list && b[at] != ']');
            at++;
            continue;
        }
        size_t length = document_end(b + at, size - at);
        unsigned char *line = malloc(length + 1);
        for (size_t i = 0; line && i < length; i++)
            line[i] = b[at + i] == '\n' ? ' ' : b[at + i];
        if (length > TIDE_RECORD_MAX) {
            t->counts.records++;
            t->counts.too_long++;
            t->counts.bytes += length;
        } else {
            oracle_json(t, w, line, length, length);
        }
        free(line);
        at += length;
    }
}

/* Reads a whole input. */
static inline void oracle_read(transcript *t, const tide_record_options *options,
                               const unsigned char *b, size_t size)
{
    wanted_fields w = find_wanted_fields(options);
    bool csv = options->kind == TIDE_RECORDS_CSV, names = false;
    for (size_t i = 0; i < w.texts + w.label; i++)
        names |=
            options->kind != TIDE_RECORDS_JSON && !isdigit((unsigned char)*w.names[i]);
    oracle_header(&w, 0, NULL); /* column numbers do not need a header */
    size_t at = size >= 3 && memcmp(b, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (options->kind == TIDE_RECORDS_JSON && is_document(b + at, size - at)) {
        oracle_document(t, &w, b + at, size - at);
        return;
    }
    while (at < size) {
        size_t length = oracle_end(csv, b + at, size - at);
        if (length > TIDE_RECORD_MAX) {
            size_t next = at + TIDE_RECORD_MAX + 1;
            while (next < size && b[next] != '\n')
                next++;
            next += next < size;
            t->counts.records++;
            t->counts.too_long++;
            t->counts.bytes += next - at;
            names = false;
            at = next;
            continue;
        }
        size_t whole = length + (at + length < size);
        if (options->kind == TIDE_RECORDS_JSON)
            oracle_json(t, &w, b + at, length, whole);
        else
            oracle_columns(t, &w, csv, &names, b + at, length, whole);
        at += whole;
    }
}

#endif
