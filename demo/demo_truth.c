/* demo_truth.c - the ground truth of the demo stream: groups and analogies from its
 * tables, events from its calendar. */
#include "demo/demo.h"

#include <wordtide/tools.h>
#include <assert.h>
#include <stdlib.h>

/* A column of a list. */
typedef struct column {
    const tide_demo_text *words;
    uint32_t rows, stride;
} column;

static column find_column(const tide_demo_tables *t, tide_demo_text name, bool *paired)
{
    const tide_demo_field *f = tide_demo_field_find(t, name);
    const tide_demo_rows *l = &t->lists[f->list];
    *paired = f->paired;
    return (column){&t->words[l->first + f->column], l->count, l->columns};
}

static void print_group(const tide_demo_tables *t, const tide_demo_fact *fact,
                        FILE *out)
{
    const char *rest = fact->fields, *separator = "\t";
    tide_demo_text name;
    fprintf(out, "group\t%s", fact->name);
    while (tide_demo_next_part(&rest, " ", &name)) {
        bool paired;
        column c = find_column(t, name, &paired);
        for (uint32_t i = 0; i < c.rows * (1u + paired); i++, separator = " ") {
            const tide_demo_text *word =
                &c.words[i / (1u + paired) * c.stride + i % (1u + paired)];
            fprintf(out, "%s%.*s", separator, (int)word->length, word->bytes);
        }
    }
    fputc('\n', out);
}

enum { PAIRS_MAX = 256, PARTNERS = 5 };

typedef struct pairs {
    uint32_t count;
    const tide_demo_text *words[PAIRS_MAX][2];
} pairs;

/* Adds the pairs of a starred field, or of two fields written "from:to". */
static void add_pairs(const tide_demo_tables *t, tide_demo_text name, pairs *all)
{
    bool paired;
    const char *colon = memchr(name.bytes, ':', name.length);
    tide_demo_text from_name = name, to_name = name;
    if (colon) {
        from_name.length = (uint32_t)(colon - name.bytes);
        to_name = (tide_demo_text){colon + 1, name.length - from_name.length - 1};
    }
    column from = find_column(t, from_name, &paired);
    column to = find_column(t, to_name, &paired);
    assert(paired == !colon && all->count + from.rows <= PAIRS_MAX);
    for (uint32_t i = 0; i < from.rows; i++, all->count++) {
        all->words[all->count][0] = &from.words[i * from.stride];
        all->words[all->count][1] = &to.words[i * to.stride + paired];
    }
}

/* Prints analogies of every pair with a few others, evenly spaced over all pairs. */
static void print_analogies(const tide_demo_tables *t, const tide_demo_fact *fact,
                            FILE *out)
{
    pairs all = {0};
    const char *rest = fact->fields;
    tide_demo_text name;
    while (tide_demo_next_part(&rest, " ", &name))
        add_pairs(t, name, &all);
    for (uint32_t i = 0; i < all.count; i++)
        for (uint32_t k = 1; k <= PARTNERS; k++) {
            uint32_t j = (i + k * all.count / (PARTNERS + 1)) % all.count;
            fprintf(out, "analogy\t%s", fact->name);
            for (int part = 0; part < 4; part++) {
                const tide_demo_text *word = all.words[part < 2 ? i : j][part % 2];
                fprintf(out, "\t%.*s", (int)word->length, word->bytes);
            }
            fputc('\n', out);
        }
}

int tide_demo_truth(FILE *out, tide_error *err)
{
    tide_demo_tables *t = tide_alloc(1, sizeof *t);
    if (!t)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the demo (%zu bytes)",
                         sizeof *t);
    tide_demo_tables_load(t);
    for (size_t i = 0; i < tide_demo_fact_count; i++) {
        const tide_demo_fact *fact = &tide_demo_facts[i];
        if (strcmp(fact->kind, "group") == 0)
            print_group(t, fact, out);
        else
            print_analogies(t, fact, out);
    }
    free(t);
    if (fflush(out) != 0 || ferror(out))
        return tide_fail(err, TIDE_ERROR_IO,
                         "cannot write the ground truth of the demo");
    return TIDE_OK;
}

/* -- events ------------------------------------------------------------------------ */

typedef struct event_sink {
    uint64_t tick; /* tokens */
    void (*callback)(void *data, const tide_demo_event *event);
    void *data;
} event_sink;

/* Converts ticks to tokens; UINT64_MAX if that overflows. */
static uint64_t as_tokens(int64_t ticks, uint64_t tick)
{
    uint64_t tokens;
    return __builtin_mul_overflow((uint64_t)ticks, tick, &tokens) ? UINT64_MAX : tokens;
}

static double as_fraction(uint32_t share)
{
    return (double)share / TIDE_DEMO_WHOLE;
}

static void forward_event(void *data, const tide_demo_scheduled_event *e)
{
    const event_sink *l = data;
    tide_demo_event event = {
        .kind = e->kind,
        .from = as_tokens(e->from, l->tick),
        .to = as_tokens(e->to, l->tick),
        .before = e->before,
        .after = e->after,
        .share_before = as_fraction(e->shares[0]),
        .share_during = as_fraction(e->shares[1]),
        .share_after = as_fraction(e->shares[2]),
    };
    assert(e->word.length <= TIDE_WORD_MAX);
    memcpy(event.word, e->word.bytes, e->word.length);
    l->callback(l->data, &event);
}

int tide_demo_events(const char *spec, uint64_t from, uint64_t to,
                     void (*callback)(void *data, const tide_demo_event *event),
                     void *data, tide_error *err)
{
    tide_demo_settings settings;
    int status = tide_demo_settings_read(spec, &settings, err);
    if (status != TIDE_OK)
        return status;
    tide_demo *demo = tide_demo_of(&settings, err);
    if (!demo)
        return TIDE_ERROR_MEMORY;
    const tide_demo_calendar *c = tide_demo_active_calendar(demo);
    if (c && from < to) {
        event_sink l = {c->tick, callback, data};
        tide_demo_calendar_list(c, (int64_t)(from / c->tick),
                                (int64_t)((to - 1) / c->tick) + 1, forward_event, &l);
    }
    tide_demo_free(demo);
    return TIDE_OK;
}
