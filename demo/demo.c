/* demo.c - generates an endless stream of synthetic news about an invented world.
 *
 * Demonstrations need a stream to train on, and tests need to know what a model should
 * have learned from it. The text is generated from tables (demo_words.c,
 * demo_templates.c), so the ground truth follows from the same tables (demo_truth.c):
 * which words form a group, and which pairs have the same relation.
 *
 * The stream is a sequence of articles of a few lines about one topic. A line consists
 * of an optional opener, a template of the topic, and an optional tail. Each of these
 * is on one of two sides, drawn at random. Both words of a pair thus occur in the same
 * sentences, which differ only in the words that depend on the side. That is what makes
 * the pairs of a relation analogous: "the king and his guests" and "the queen and her
 * guests", "will soon bake" and "recently baked".
 *
 * With events, words appear, fade, change their group or become more frequent for a
 * while, and topics have seasons: demo_calendar.c schedules the events, and
 * demo_groups.c computes the resulting probabilities. A line is generated from the
 * state at its start.
 *
 * The stream is a function of its settings: all draws come from one generator in the
 * order of the text, and time is the number of tokens. A draw by rank uses a guide
 * table: the top eight bits of a random number select the row where a linear search
 * starts. Each gap costs one draw and one copy; nothing is allocated.
 */
#include "demo/demo.h"

#include <assert.h>
#include <stdlib.h>

struct tide_demo {
    bool hashtags; /* each line ends with the hashtag of its topic */
    bool events;   /* if false, calendar and groups are not used */
    tide_demo_calendar calendar;
    tide_demo_groups groups;
    tide_demo_state state;
    tide_demo_tables tables;
};

tide_demo *tide_demo_of(const tide_demo_settings *settings, tide_error *err)
{
    tide_demo *demo = tide_alloc(1, sizeof *demo);
    if (!demo) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the demo (%zu bytes)",
                  sizeof *demo);
        return NULL;
    }
    tide_demo_tables_load(&demo->tables);
    tide_demo_groups_load(&demo->groups, &demo->tables);
    demo->calendar =
        tide_demo_calendar_make(&demo->tables, settings->seed, settings->pace);
    demo->events = settings->events;
    demo->hashtags = settings->hashtags;
    demo->state.rng = tide_rng_seeded(settings->seed);
    demo->state.last_template = UINT32_MAX;
    return demo;
}

tide_demo *tide_demo_new(uint64_t seed, tide_error *err)
{
    return tide_demo_of(&(tide_demo_settings){.seed = seed, .pace = 1}, err);
}

void tide_demo_free(tide_demo *demo)
{
    free(demo);
}

const tide_demo_calendar *tide_demo_active_calendar(const tide_demo *demo)
{
    return demo->events ? &demo->calendar : NULL;
}

/* The tick in which the current line begins. */
static int64_t current_tick(const tide_demo *demo)
{
    return (int64_t)(demo->state.tokens / demo->calendar.tick);
}

/* -- generating lines -------------------------------------------------------------- */

/* A random number below a small bound, with a bias of less than bound / 2^32. */
static uint32_t draw(tide_demo *demo, uint32_t bound)
{
    return (uint32_t)((tide_rng_next(&demo->state.rng) >> 32) * bound >> 32);
}

static uint8_t draw_row(tide_demo *demo, const tide_demo_rows *l)
{
    uint64_t random = tide_rng_next(&demo->state.rng) >> 32;
    uint32_t point = (uint32_t)(random * l->below[l->count - 1] >> 32);
    uint8_t row = l->guide[random >> 24];
    while (l->below[row] <= point)
        row++;
    return row;
}

/* The row that a list is bound to, drawn on first use. Bindings 1 and 2 (of the
 * article) are different rows, and so are 3 and 4 (of the line). */
static uint8_t bound_row(tide_demo *demo, uint8_t number, uint8_t binding)
{
    tide_demo_state *p = &demo->state;
    unsigned which = binding - 1u, other = which ^ 1u;
    if (!(p->is_bound[number] >> which & 1)) {
        const tide_demo_rows *l = &demo->tables.lists[number];
        uint8_t row = draw_row(demo, l);
        if ((p->is_bound[number] >> other & 1) && row == p->bound[number][other])
            row = (uint8_t)((row + 1) % l->count);
        p->bound[number][which] = row;
        p->is_bound[number] |= (uint8_t)(1u << which);
    }
    return p->bound[number][which];
}

/* Appends a space and the text, and changes an article "a" before a vowel to "an". */
static void write_text(tide_demo_state *p, tide_demo_text t)
{
    if (t.length == 0)
        return;
    bool after_a =
        (p->length == 1 || (p->length > 1 && p->line[p->length - 2] == ' ')) &&
        p->line[p->length - 1] == 'a';
    assert(p->length + t.length + 4 < TIDE_DEMO_LINE_MAX);
    if (after_a && memchr("aeiou", t.bytes[0], 5))
        p->line[p->length++] = 'n';
    if (p->length > 0)
        p->line[p->length++] = ' ';
    memcpy(p->line + p->length, t.bytes, t.length);
    p->length += t.length;
}

static void write_word(tide_demo *demo, const tide_demo_step *s, uint32_t side)
{
    const tide_demo_field *f = &demo->tables.fields[s->field];
    const tide_demo_rows *l = &demo->tables.lists[f->list];
    const tide_demo_group_words *group =
        demo->events ? tide_demo_groups_find(&demo->groups, &demo->calendar, f->list,
                                             current_tick(demo))
                     : NULL;
    if (group) {
        write_text(&demo->state, group->words[draw_row(demo, &group->rows)]);
        return;
    }
    uint32_t row =
        s->binding ? bound_row(demo, f->list, s->binding) : draw_row(demo, l);
    uint32_t column = f->column + (f->paired ? side : 0);
    write_text(&demo->state, demo->tables.words[l->first + row * l->columns + column]);
}

static void write_template(tide_demo *demo, uint32_t number)
{
    uint32_t side = draw(demo, 2);
    const tide_demo_step *s = &demo->tables.steps[demo->tables.templates[number]];
    for (; s->kind != TIDE_DEMO_END; s += 1 + s->count) {
        if (s->kind == TIDE_DEMO_WORD)
            write_word(demo, s, side);
        else if (s->kind == TIDE_DEMO_TEXT)
            write_text(&demo->state, s->text);
        else if (s->kind == TIDE_DEMO_SIDE)
            write_text(&demo->state, s[1 + side].text);
        else
            write_text(&demo->state, s[1 + draw(demo, s->count)].text);
    }
}

static uint32_t draw_topic(tide_demo *demo)
{
    uint32_t topic = 0;
    if (!demo->events)
        return draw(demo, (uint32_t)tide_demo_topic_count);
    uint32_t point = draw(demo, TIDE_DEMO_WHOLE);
    for (;; topic++) {
        const char *name = tide_demo_topics[topic].name;
        uint32_t share = tide_demo_calendar_topic_share(name, current_tick(demo));
        if (point < share)
            return topic;
        point -= share;
    }
}

static void start_article(tide_demo *demo)
{
    tide_demo_state *p = &demo->state;
    p->topic = draw_topic(demo);
    p->lines_left = 3 + draw(demo, 4);
    memset(p->is_bound, 0, sizeof p->is_bound);
}

static uint32_t count_tokens(const tide_demo_state *p)
{
    uint32_t tokens = 1;
    for (uint32_t i = 0; i < p->length; i++)
        tokens += p->line[i] == ' ';
    return tokens;
}

/* The hashtag is a label and does not count as a token. */
static void write_hashtag(tide_demo_state *p)
{
    const char *topic = tide_demo_topics[p->topic].name;
    write_text(p, (tide_demo_text){"#", 1});
    size_t length = strlen(topic);
    assert(p->length + length + 1 < TIDE_DEMO_LINE_MAX);
    memcpy(p->line + p->length, topic, length);
    p->length += (uint32_t)length;
}

static void generate_line(tide_demo *demo)
{
    tide_demo_state *p = &demo->state;
    p->length = p->given = 0;
    if (p->lines_left == 0)
        start_article(demo);
    p->lines_left--;
    for (size_t i = 0; i < tide_demo_list_count; i++)
        p->is_bound[i] &= 3; /* release bindings 3 and 4, which last for a line */

    const tide_demo_range *t = &demo->tables.topics[p->topic];
    uint32_t number = t->first + draw(demo, t->count);
    if (number == p->last_template)
        number = t->first + (number - t->first + 1) % t->count;
    p->last_template = number;
    if (draw(demo, 8) == 0)
        write_template(demo, demo->tables.openers.first +
                                 draw(demo, demo->tables.openers.count));
    write_template(demo, number);
    if (draw(demo, 6) == 0)
        write_template(demo,
                       demo->tables.tails.first + draw(demo, demo->tables.tails.count));
    p->tokens += count_tokens(p);
    if (demo->hashtags)
        write_hashtag(p);
    p->line[p->length++] = '\n';
}

/* -- reading ----------------------------------------------------------------------- */

tide_demo_state *tide_demo_current(tide_demo *demo)
{
    return &demo->state;
}

size_t tide_demo_read_until(tide_demo *demo, char *bytes, size_t capacity,
                            uint64_t tokens)
{
    tide_demo_state *p = &demo->state;
    size_t size = 0;
    while (size < capacity) {
        if (p->given == p->length) {
            if (p->tokens >= tokens)
                break;
            generate_line(demo);
        }
        size_t part = p->length - p->given;
        part = part < capacity - size ? part : capacity - size;
        memcpy(bytes + size, p->line + p->given, part);
        p->given += (uint32_t)part;
        size += part;
    }
    p->offset += size;
    return size;
}

size_t tide_demo_read(tide_demo *demo, char *bytes, size_t capacity)
{
    return tide_demo_read_until(demo, bytes, capacity, UINT64_MAX);
}

uint64_t tide_demo_tokens(const tide_demo *demo)
{
    return demo->state.tokens;
}
