/* demo_tables.c - compiles the source tables of the demo into words and steps.
 *
 * A template is text with gaps in braces:
 *
 *     {dish}      a word of the field dish, from any row
 *     {capital1}  likewise, from the row that the list is bound to for the article
 *     {capital2}  another such row
 *     {oven3}     from the row that the list is bound to for the line; {oven4} another
 *     {king*1}    one of the two columns of a pair, depending on the side
 *     {his/her}   one of two texts, depending on the side
 *     {a|b|c}     one of several texts with equal probability; a text may be empty
 *
 * Each template becomes a sequence of steps. Errors in the tables are bugs and are
 * caught by assertions whenever a demo stream is created.
 */
#include "demo/demo.h"

#include <assert.h>

bool tide_demo_next_part(const char **rest, const char *ends, tide_demo_text *part)
{
    *rest += strspn(*rest, ends);
    part->bytes = *rest;
    part->length = (uint32_t)strcspn(*rest, ends);
    *rest += part->length;
    return part->length > 0;
}

static uint8_t add_fields(tide_demo_tables *t, uint8_t number, const char *names)
{
    tide_demo_text name;
    uint8_t column = 0;
    while (tide_demo_next_part(&names, " ", &name)) {
        assert(t->field_count < TIDE_DEMO_FIELDS_MAX);
        bool paired = name.bytes[name.length - 1] == '*';
        t->fields[t->field_count++] = (tide_demo_field){name, number, column, paired};
        column = (uint8_t)(column + 1 + paired);
    }
    return column;
}

void tide_demo_rows_build_guide(tide_demo_rows *l)
{
    uint32_t row = 0, sum = l->below[l->count - 1];
    for (uint64_t i = 0; i < TIDE_DEMO_GUIDE; i++) {
        while (l->below[row] <= i * sum / TIDE_DEMO_GUIDE)
            row++;
        l->guide[i] = (uint8_t)row;
    }
}

static void set_weights(tide_demo_rows *l, unsigned flatness)
{
    uint32_t sum = 0;
    for (uint32_t row = 0; row < l->count; row++) {
        sum += (1u << 20) / (row + flatness);
        l->below[row] = sum;
    }
    tide_demo_rows_build_guide(l);
}

static void add_list(tide_demo_tables *t, uint8_t number)
{
    const tide_demo_list *source = &tide_demo_lists[number];
    tide_demo_rows *l = &t->lists[number];
    l->columns = add_fields(t, number, source->fields);
    l->first = (uint32_t)t->word_count;
    const char *rest = source->rows;
    tide_demo_text row, form;
    while (tide_demo_next_part(&rest, ",\n", &row)) {
        const char *forms = row.bytes + strspn(row.bytes, " ");
        for (int column = 0; column < l->columns; column++) {
            bool present = tide_demo_next_part(&forms, "/,\n", &form);
            assert(present && form.bytes < row.bytes + row.length);
            assert(t->word_count < TIDE_DEMO_WORDS_MAX);
            (void)present;
            t->words[t->word_count++] = form;
        }
        assert(forms == row.bytes + row.length && l->count < TIDE_DEMO_ROWS_MAX);
        l->count++;
    }
    set_weights(l, source->flatness);
}

bool tide_demo_text_equal(tide_demo_text a, tide_demo_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

const tide_demo_field *tide_demo_field_find(const tide_demo_tables *t,
                                            tide_demo_text name)
{
    for (size_t i = 0; i < t->field_count; i++)
        if (tide_demo_text_equal(t->fields[i].name, name))
            return &t->fields[i];
    assert(0); /* no list has this field */
    return NULL;
}

uint8_t tide_demo_group_list(const tide_demo_tables *t, const char *group)
{
    const tide_demo_fact *fact = tide_demo_facts;
    while (strcmp(fact->name, group) != 0)
        fact++;
    assert(fact < tide_demo_facts + tide_demo_fact_count);
    tide_demo_text name = {fact->fields, (uint32_t)strlen(fact->fields)};
    uint8_t list = tide_demo_field_find(t, name)->list;
    assert(t->lists[list].columns == 1);
    return list;
}

static tide_demo_step *add_step(tide_demo_tables *t, tide_demo_kind kind,
                                tide_demo_text part)
{
    assert(t->step_count < TIDE_DEMO_STEPS_MAX);
    tide_demo_step *s = &t->steps[t->step_count++];
    s->kind = kind;
    s->text = part;
    return s;
}

/* Adds a choice between the texts between the separators, which may be empty. */
static void add_choice(tide_demo_tables *t, tide_demo_kind kind, tide_demo_text gap,
                       char separator)
{
    tide_demo_step *choice = add_step(t, kind, gap);
    const char *start = gap.bytes, *end = gap.bytes + gap.length;
    for (const char *at = start;; at++) {
        if (at < end && *at != separator)
            continue;
        add_step(t, TIDE_DEMO_TEXT, (tide_demo_text){start, (uint32_t)(at - start)});
        choice->count++;
        if (at == end)
            return;
        start = at + 1;
    }
}

static void add_gap(tide_demo_tables *t, tide_demo_text gap)
{
    if (memchr(gap.bytes, '|', gap.length)) {
        add_choice(t, TIDE_DEMO_CHOICE, gap, '|');
        return;
    }
    if (memchr(gap.bytes, '/', gap.length)) {
        add_choice(t, TIDE_DEMO_SIDE, gap, '/');
        return;
    }
    char last = gap.bytes[gap.length - 1];
    bool bound = last >= '1' && last <= '0' + TIDE_DEMO_BOUND;
    gap.length -= bound;
    tide_demo_step *s = add_step(t, TIDE_DEMO_WORD, gap);
    s->binding = bound ? (uint8_t)(last - '0') : 0;
    s->field = (uint16_t)(tide_demo_field_find(t, gap) - t->fields);
}

static void add_template(tide_demo_tables *t, const char *rest)
{
    assert(t->template_count < TIDE_DEMO_TEMPLATES_MAX);
    t->templates[t->template_count++] = (uint32_t)t->step_count;
    while (*rest) {
        rest += strspn(rest, " ");
        tide_demo_text part = {rest, (uint32_t)strcspn(rest, "{")};
        rest += part.length;
        while (part.length > 0 && part.bytes[part.length - 1] == ' ')
            part.length--;
        if (part.length > 0)
            add_step(t, TIDE_DEMO_TEXT, part);
        if (*rest == '{') {
            add_gap(t, (tide_demo_text){rest + 1, (uint32_t)strcspn(rest + 1, "}")});
            rest = strchr(rest, '}') + 1;
        }
    }
    add_step(t, TIDE_DEMO_END, (tide_demo_text){rest, 0});
}

static tide_demo_range add_topic(tide_demo_tables *t, const tide_demo_topic *source)
{
    tide_demo_range range = {(uint32_t)t->template_count, 0};
    for (; source->templates[range.count]; range.count++)
        add_template(t, source->templates[range.count]);
    return range;
}

void tide_demo_tables_load(tide_demo_tables *t)
{
    assert(tide_demo_list_count <= TIDE_DEMO_LISTS_MAX);
    assert(tide_demo_topic_count <= TIDE_DEMO_TOPICS_MAX);
    for (size_t i = 0; i < tide_demo_list_count; i++)
        add_list(t, (uint8_t)i);
    for (size_t i = 0; i < tide_demo_topic_count; i++)
        t->topics[i] = add_topic(t, &tide_demo_topics[i]);
    t->openers = add_topic(t, &tide_demo_openers);
    t->tails = add_topic(t, &tide_demo_tails);
}
