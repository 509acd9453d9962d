/* demo_fixture.h - shared by the tests of the demo stream: its text and its events. */
#ifndef TIDE_DEMO_FIXTURE_H
#define TIDE_DEMO_FIXTURE_H

#include "demo/demo.h"

#include <wordtide/tools.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { EVENTS_MAX = 4096 };

typedef struct event_list {
    size_t count;
    tide_demo_event items[EVENTS_MAX];
} event_list;

static inline void collect(void *data, const tide_demo_event *event)
{
    event_list *l = data;
    assert_true(l->count < EVENTS_MAX);
    l->items[l->count++] = *event;
}

static inline event_list *events_of(const char *spec, uint64_t from, uint64_t to)
{
    event_list *l = calloc(1, sizeof *l);
    assert_non_null(l);
    assert_int_equal(tide_demo_events(spec, from, to, collect, l, NULL), TIDE_OK);
    return l;
}

static inline bool is(const tide_demo_event *e, const char *kind)
{
    return strcmp(e->kind, kind) == 0;
}

typedef struct text {
    char *bytes;
    size_t size;
} text;

static inline text text_of(const char *spec)
{
    enum { CAPACITY = 40 << 20 };
    text t = {malloc(CAPACITY), 0};
    tide_error err = {0};
    tide_source *source = tide_source_open(spec, &err);
    if (!source || !t.bytes)
        fail_msg("%s", err.text);
    for (ptrdiff_t size; (size = tide_source_read(source, t.bytes + t.size,
                                                  CAPACITY - t.size, NULL)) > 0;)
        t.size += (size_t)size;
    assert_true(t.size < CAPACITY);
    tide_source_close(source);
    return t;
}

#endif
