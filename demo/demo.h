/* demo.h - the invented newsroom: its tables, and where a stream stands. Private. */
#ifndef TIDE_DEMO_H
#define TIDE_DEMO_H

#include "base/base.h"

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

/* -- what happens, as written (demo_events.c) ---------------------------------- */

enum {
    TIDE_DEMO_COINED_GROUPS = 6,
    TIDE_DEMO_COINED = 8, /* words in each */
    TIDE_DEMO_CHANGERS = 9,
    TIDE_DEMO_BURSTING = 4,
    TIDE_DEMO_SEASONS = 2, /* one has its season while the other has none */
};

/* New words, used like those of the group. */
typedef struct tide_demo_coinage {
    const char *group, *words;
} tide_demo_coinage;

/* A word of one group that goes over to another, and comes back. */
typedef struct tide_demo_changer {
    const char *word, *home, *abroad;
} tide_demo_changer;

/* A topic, and a group of it that appears nowhere else. */
typedef struct tide_demo_season {
    const char *topic, *group;
} tide_demo_season;

extern const tide_demo_coinage tide_demo_coinages[TIDE_DEMO_COINED_GROUPS];
extern const tide_demo_changer tide_demo_changers[TIDE_DEMO_CHANGERS];
extern const char *const tide_demo_bursting[TIDE_DEMO_BURSTING];
extern const tide_demo_season tide_demo_seasons[TIDE_DEMO_SEASONS];

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

/* Makes ready for drawing what has its sums `below`. */
void tide_demo_rows_guide(tide_demo_rows *l);

/* Cuts the next part off `rest`, up to any of `ends`; false when nothing is left. */
bool tide_demo_part(const char **rest, const char *ends, tide_demo_text *part);

/* The field of that name, which must exist. */
const tide_demo_field *tide_demo_field_find(const tide_demo_tables *t,
                                            tide_demo_text name);

/* The list of a group whose words are all in one column. */
uint8_t tide_demo_group_list(const tide_demo_tables *t, const char *group);

bool tide_demo_text_equal(tide_demo_text a, tide_demo_text b);

/* -- settings (demo_settings.c) ---------------------------------------------------- */

typedef struct tide_demo_settings {
    uint64_t seed, tokens; /* 0 tokens: without end */
    uint64_t rate;         /* words a second; 0: as fast as they are read */
    bool hashtags, events;
    float pace; /* of the events */
} tide_demo_settings;

bool tide_demo_is_spec(const char *spec);

/* Reads "demo:NAME=VALUE,...". */
int tide_demo_settings_read(const char *spec, tide_demo_settings *settings,
                            tide_error *err);

/* -- what happens, and when (demo_calendar.c) -------------------------------------- */

enum {
    TIDE_DEMO_TICK = 2000,     /* tokens, at pace 1: a second at an ordinary speed */
    TIDE_DEMO_WHOLE = 1 << 24, /* shares are parts of this */
    TIDE_DEMO_GUESTS_MAX = 16,
};

typedef struct tide_demo_calendar {
    const tide_demo_tables *tables;
    uint64_t seed;
    uint32_t tick; /* tokens */
    tide_demo_text coined[TIDE_DEMO_COINED_GROUPS][TIDE_DEMO_COINED];
} tide_demo_calendar;

/* Times are in ticks. A share is the part that a word has in the words of its group, for
 * a season the topic in the lines: before, at its mean between `from` and `to`, and
 * after. */
typedef struct tide_demo_event_script {
    const char *kind;
    tide_demo_text word;
    const char *before, *after; /* groups; NULL for none */
    int64_t from, to;
    uint32_t shares[3];
} tide_demo_event_script;

/* A word with a share of its own in a group. The others divide up the rest. */
typedef struct tide_demo_drawn_name {
    tide_demo_text word;
    uint32_t share;
} tide_demo_drawn_name;

tide_demo_calendar tide_demo_calendar_of(const tide_demo_tables *t, uint64_t seed,
                                         float pace);

/* Returns how many there are. */
uint32_t tide_demo_calendar_names(const tide_demo_calendar *c, const char *group,
                                  int64_t now,
                                  tide_demo_drawn_name guests[TIDE_DEMO_GUESTS_MAX]);

/* The share of a topic in the articles. */
uint32_t tide_demo_calendar_topic(const char *topic, int64_t now);

/* Tells everything that has not ended at `since` and begins before `until`, in the order
 * in which it begins. */
void tide_demo_calendar_describe(
    const tide_demo_calendar *c, int64_t since, int64_t until,
    void (*tell)(void *data, const tide_demo_event_script *h), void *data);

/* -- who is drawn while things happen (demo_names.c) ----------------------------- */

enum { TIDE_DEMO_ROSTERS_MAX = 16 };

/* The words of a group and their weights at a moment. */
typedef struct tide_demo_name_list {
    const char *group;
    int64_t now; /* -1: never filled */
    tide_demo_rows rows;
    tide_demo_text words[TIDE_DEMO_ROWS_MAX];
} tide_demo_name_list;

typedef struct tide_demo_names {
    size_t count;
    uint8_t number[TIDE_DEMO_LISTS_MAX]; /* of a list's roster, from 1; 0 for none */
    tide_demo_name_list rosters[TIDE_DEMO_ROSTERS_MAX];
} tide_demo_names;

/* Fills rosters that are all zero. */
void tide_demo_names_load(tide_demo_names *r, const tide_demo_tables *t);

/* The roster of a list at a moment; NULL when nothing happens to its words. */
const tide_demo_name_list *tide_demo_names_find(tide_demo_names *r,
                                                const tide_demo_calendar *c,
                                                uint8_t list, int64_t now);

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

/* The stream itself, without events or hashtags in the first; or with seed, hashtags, events and pace of the
 * settings, whose rest is the source's. */
typedef struct tide_demo tide_demo;

tide_demo *tide_demo_new(uint64_t seed, tide_error *err);
tide_demo *tide_demo_of(const tide_demo_settings *settings, tide_error *err);

void tide_demo_free(tide_demo *demo);

tide_demo_place *tide_demo_stand(tide_demo *demo);

/* Tokens of all the lines begun so far. */
uint64_t tide_demo_tokens(const tide_demo *demo);

/* The next bytes of the stream, which never ends: lower-case sentences, one a line. Returns how
 * many were written: at least one and at most `room`. How the stream is cut into reads does not
 * change it. */
size_t tide_demo_read(tide_demo *demo, char *bytes, size_t room);

/* The same, but ends with the first line that completes so many tokens: then 0. */
size_t tide_demo_read_until(tide_demo *demo, char *bytes, size_t room, uint64_t tokens);

/* NULL for a stream without events. */
const tide_demo_calendar *tide_demo_calendar_in(const tide_demo *demo);

#endif
