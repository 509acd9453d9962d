/* demo.c - an endless newspaper about a world that does not exist.
 *
 * A stream to learn from needs text, and a test of what was learned needs the truth
 * about it. This one makes its text out of tables (demo_words.c, demo_templates.c), so
 * the truth can be read off the same tables (demo_truth.c): which words are of one
 * kind, which pairs stand in one relation.
 *
 * The stream is a row of articles of a few lines on one topic. A line is an opener or
 * none, a template of the topic, and a tail or none. Each of them is on one of two
 * sides, drawn at random. So both words of a pair get the very same sentences and
 * differ only in what goes with their side, which is what makes a relation out of many
 * pairs: "the king and his guests" and "the queen and her guests", "will soon bake" and
 * "recently baked".
 *
 * With events some words come, go, change their group or are drawn more often for a
 * while, and topics have their seasons: demo_calendar.c says when, demo_names.c what
 * that means for a draw. Lines keep to what was true when they began.
 *
 * The stream is a function of its settings: every draw comes from one generator, in
 * the order of the text, and the time is the number of tokens. A draw by rank looks up the leading eight bits of a random
 * number and goes on from there row by row. A line costs a draw and a copy for each
 * gap; nothing is allocated.
 */
#include "demo/demo.h"

#include <assert.h>
#include <stdlib.h>

struct tide_demo {
    bool hashtags; /* a line ends with that of its topic */
    bool events;   /* else what follows is not used */
    tide_demo_calendar calendar;
    tide_demo_names rosters;
    tide_demo_place place;
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
    tide_demo_names_load(&demo->rosters, &demo->tables);
    demo->calendar =
        tide_demo_calendar_of(&demo->tables, settings->seed, settings->pace);
    demo->events = settings->events;
    demo->hashtags = settings->hashtags;
    demo->place.rng = tide_rng_seeded(settings->seed);
    demo->place.last_template = UINT32_MAX;
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

const tide_demo_calendar *tide_demo_calendar_in(const tide_demo *demo)
{
    return demo->events ? &demo->calendar : NULL;
}

/* Ticks of the calendar before the present line. */
static int64_t now(const tide_demo *demo)
{
    return (int64_t)(demo->place.tokens / demo->calendar.tick);
}

/* -- writing lines ----------------------------------------------------------------- */

/* Uniform enough below a small bound: the bias is below bound / 2^32. */
static uint32_t draw(tide_demo *demo, uint32_t bound)
{
    return (uint32_t)((tide_rng_next(&demo->place.rng) >> 32) * bound >> 32);
}

static uint8_t draw_row(tide_demo *demo, const tide_demo_rows *l)
{
    uint64_t random = tide_rng_next(&demo->place.rng) >> 32;
    uint32_t point = (uint32_t)(random * l->below[l->count - 1] >> 32);
    uint8_t row = l->guide[random >> 24];
    while (l->below[row] <= point)
        row++;
    return row;
}

/* The row that a list is bound to, drawn when it is first asked for. The rows of an
 * article, and so those of a line, come in twos that differ. */
static uint8_t bound_row(tide_demo *demo, uint8_t number, uint8_t binding)
{
    tide_demo_place *p = &demo->place;
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

/* Adds text with a space before it, and makes an article "a" an "an" where that is
 * needed. */
static void write_text(tide_demo_place *p, tide_demo_text t)
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
    const tide_demo_name_list *roster =
        demo->events
            ? tide_demo_names_find(&demo->rosters, &demo->calendar, f->list, now(demo))
            : NULL;
    if (roster) {
        write_text(&demo->place, roster->words[draw_row(demo, &roster->rows)]);
        return;
    }
    uint32_t row =
        s->binding ? bound_row(demo, f->list, s->binding) : draw_row(demo, l);
    uint32_t column = f->column + (f->paired ? side : 0);
    write_text(&demo->place, demo->tables.words[l->first + row * l->columns + column]);
}

static void write_template(tide_demo *demo, uint32_t number)
{
    uint32_t side = draw(demo, 2);
    const tide_demo_step *s = &demo->tables.steps[demo->tables.templates[number]];
    for (; s->kind != TIDE_DEMO_END; s += 1 + s->count) {
        if (s->kind == TIDE_DEMO_WORD)
            write_word(demo, s, side);
        else if (s->kind == TIDE_DEMO_TEXT)
            write_text(&demo->place, s->text);
        else if (s->kind == TIDE_DEMO_SIDE)
            write_text(&demo->place, s[1 + side].text);
        else
            write_text(&demo->place, s[1 + draw(demo, s->count)].text);
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
        uint32_t share = tide_demo_calendar_topic(name, now(demo));
        if (point < share)
            return topic;
        point -= share;
    }
}

static void begin_article(tide_demo *demo)
{
    tide_demo_place *p = &demo->place;
    p->topic = draw_topic(demo);
    p->lines_left = 3 + draw(demo, 4);
    memset(p->is_bound, 0, sizeof p->is_bound);
}

static uint32_t count_tokens(const tide_demo_place *p)
{
    uint32_t tokens = 1;
    for (uint32_t i = 0; i < p->length; i++)
        tokens += p->line[i] == ' ';
    return tokens;
}

/* It is a label, and not one of the words. */
static void write_hashtag(tide_demo_place *p)
{
    const char *topic = tide_demo_topics[p->topic].name;
    write_text(p, (tide_demo_text){"#", 1});
    size_t length = strlen(topic);
    assert(p->length + length + 1 < TIDE_DEMO_LINE_MAX);
    memcpy(p->line + p->length, topic, length);
    p->length += (uint32_t)length;
}

static void begin_line(tide_demo *demo)
{
    tide_demo_place *p = &demo->place;
    p->length = p->given = 0;
    if (p->lines_left == 0)
        begin_article(demo);
    p->lines_left--;
    for (size_t i = 0; i < tide_demo_list_count; i++)
        p->is_bound[i] &= 3; /* what was bound for the last line alone is free again */

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

tide_demo_place *tide_demo_stand(tide_demo *demo)
{
    return &demo->place;
}

size_t tide_demo_read_until(tide_demo *demo, char *bytes, size_t room, uint64_t tokens)
{
    tide_demo_place *p = &demo->place;
    size_t done = 0;
    while (done < room) {
        if (p->given == p->length) {
            if (p->tokens >= tokens)
                break;
            begin_line(demo);
        }
        size_t part = p->length - p->given;
        part = part < room - done ? part : room - done;
        memcpy(bytes + done, p->line + p->given, part);
        p->given += (uint32_t)part;
        done += part;
    }
    p->offset += done;
    return done;
}

size_t tide_demo_read(tide_demo *demo, char *bytes, size_t room)
{
    return tide_demo_read_until(demo, bytes, room, UINT64_MAX);
}

uint64_t tide_demo_tokens(const tide_demo *demo)
{
    return demo->place.tokens;
}
