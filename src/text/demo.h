/* demo.h - the invented newsroom: its tables, and where a stream stands. Private. */
#ifndef TIDE_DEMO_H
#define TIDE_DEMO_H

#include "text/text.h"

/* -- as written (demo_words.c, demo_templates.c) ----------------------------------- */

/* A list is rows of forms, "king/queen/throne, prince/princess/palace": what stands
 * in one row belongs together. `fields` names the columns. A name with a star covers
 * two columns, the sides of a pair. A row of rank r is drawn in proportion to
 * 1 / (r + flatness). */
typedef struct tide_demo_list {
    const char *fields;
    unsigned flatness;
    const char *rows;
} tide_demo_list;

/* Sentences with gaps; demo_tables.c says how they are written. */
typedef struct tide_demo_topic {
    const char *name;
    const char *const *templates; /* NULL ends them */
} tide_demo_topic;

/* A statement about columns. A group is the words of some fields; an analogy is made
 * of the pairs of some starred fields, or of two plain ones written "from:to". */
typedef struct tide_demo_fact {
    const char *kind, *name, *fields;
} tide_demo_fact;

extern const tide_demo_list tide_demo_lists[];
extern const tide_demo_fact tide_demo_facts[];
extern const tide_demo_topic tide_demo_topics[], tide_demo_openers, tide_demo_tails;
extern const size_t tide_demo_list_count, tide_demo_fact_count, tide_demo_topic_count;

/* -- as used (demo_tables.c) ------------------------------------------------------- */

enum {
    TIDE_DEMO_LISTS_MAX = 96,
    TIDE_DEMO_ROWS_MAX = 64,
    TIDE_DEMO_WORDS_MAX = 6000,
    TIDE_DEMO_FIELDS_MAX = 256,
    TIDE_DEMO_STEPS_MAX = 8000,
    TIDE_DEMO_TEMPLATES_MAX = 320,
    TIDE_DEMO_TOPICS_MAX = 16,
    TIDE_DEMO_BOUND = 4, /* rows that a list can have bound at a time */
    TIDE_DEMO_GUIDE = 256,
};

typedef struct tide_demo_text {
    const char *bytes;
    uint32_t length;
} tide_demo_text;

typedef struct tide_demo_field {
    tide_demo_text name;
    uint8_t list, column;
    bool paired;
} tide_demo_field;

typedef struct tide_demo_rows {
    uint32_t first; /* its words are words[first + row * columns + column] */
    uint8_t count, columns;
    uint32_t
        below[TIDE_DEMO_ROWS_MAX];  /* sum of the weights up to and including a row */
    uint8_t guide[TIDE_DEMO_GUIDE]; /* where the search for a random number starts */
} tide_demo_rows;

typedef enum tide_demo_kind {
    TIDE_DEMO_TEXT,   /* text */
    TIDE_DEMO_WORD,   /* a word of a field */
    TIDE_DEMO_CHOICE, /* one of the `count` texts that follow, at random */
    TIDE_DEMO_SIDE,   /* one of the two texts that follow, by the side */
    TIDE_DEMO_END,
} tide_demo_kind;

typedef struct tide_demo_step {
    tide_demo_kind kind;
    uint8_t binding; /* 0 for none */
    uint16_t count, field;
    tide_demo_text text;
} tide_demo_step;

typedef struct tide_demo_range {
    uint32_t first, count; /* templates */
} tide_demo_range;

typedef struct tide_demo_tables {
    size_t field_count, word_count, step_count, template_count;
    tide_demo_range topics[TIDE_DEMO_TOPICS_MAX], openers, tails;
    uint32_t templates[TIDE_DEMO_TEMPLATES_MAX]; /* first steps */
    tide_demo_field fields[TIDE_DEMO_FIELDS_MAX];
    tide_demo_rows lists[TIDE_DEMO_LISTS_MAX];
    tide_demo_text words[TIDE_DEMO_WORDS_MAX];
    tide_demo_step steps[TIDE_DEMO_STEPS_MAX];
} tide_demo_tables;

/* Fills tables that are all zero. */
void tide_demo_tables_load(tide_demo_tables *t);

/* Cuts the next part off `rest`, up to any of `ends`; false when nothing is left. */
bool tide_demo_part(const char **rest, const char *ends, tide_demo_text *part);

/* The field of that name, which must exist. */
const tide_demo_field *tide_demo_field_find(const tide_demo_tables *t,
                                            tide_demo_text name);

/* -- a stream (demo.c) ------------------------------------------------------------- */

enum { TIDE_DEMO_LINE_MAX = 512 }; /* bytes, line feed included */

/* All that changes as the stream goes on: copy it, and later go on from the copy. */
typedef struct tide_demo_place {
    tide_rng rng;
    uint64_t offset; /* bytes given out */
    uint64_t tokens; /* of the lines begun */
    uint32_t topic, lines_left, last_template;
    uint32_t length, given; /* bytes of this line, and how many were given out */
    uint8_t bound[TIDE_DEMO_LISTS_MAX][TIDE_DEMO_BOUND]; /* rows */
    uint8_t is_bound[TIDE_DEMO_LISTS_MAX];               /* a bit for each of them */
    char line[TIDE_DEMO_LINE_MAX];
} tide_demo_place;

tide_demo_place *tide_demo_stand(tide_demo *demo);

/* As tide_demo_read, but ends with the first line that completes so many tokens: then
 * 0. */
size_t tide_demo_read_until(tide_demo *demo, char *bytes, size_t room, uint64_t tokens);

#endif
