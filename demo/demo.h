/* demo.h - the demo stream, synthetic news: its tables, events and state. Private. */
#ifndef TIDE_DEMO_H
#define TIDE_DEMO_H

#include "base/base.h"

/* -- source tables (demo_words.c, demo_templates.c) -------------------------------- */

/* A list has rows of related words, "king/queen/throne, prince/princess/palace".
 * `fields` names the columns; a name with a star covers two columns, the sides of a
 * pair. A row of rank r is drawn with probability proportional to 1 / (r +
 * flatness). */
typedef struct tide_demo_list {
    const char *fields;
    unsigned flatness;
    const char *rows;
} tide_demo_list;

/* Sentence templates; demo_tables.c describes their syntax. */
typedef struct tide_demo_topic {
    const char *name;
    const char *const *templates; /* terminated by NULL */
} tide_demo_topic;

/* A fact about columns. A group consists of the words of some fields; an analogy of the
 * pairs of some starred fields, or of two plain ones written "from:to". */
typedef struct tide_demo_fact {
    const char *kind, *name, *fields;
} tide_demo_fact;

extern const tide_demo_list tide_demo_lists[];
extern const tide_demo_fact tide_demo_facts[];
extern const tide_demo_topic tide_demo_topics[], tide_demo_openers, tide_demo_tails;
extern const size_t tide_demo_list_count, tide_demo_fact_count, tide_demo_topic_count;

/* -- words and topics of the events (demo_events.c) -------------------------------- */

enum {
    TIDE_DEMO_COINED_GROUPS = 6,
    TIDE_DEMO_COINED = 8, /* words in each */
    TIDE_DEMO_CHANGING_WORDS = 9,
    TIDE_DEMO_BURST_GROUPS = 4,
    TIDE_DEMO_SEASONS = 2, /* alternate: one is in season while the other is not */
};

/* Invented words, used like those of the group. */
typedef struct tide_demo_coinage {
    const char *group, *words;
} tide_demo_coinage;

/* A word that moves from its original group to another, and back. */
typedef struct tide_demo_changing_word {
    const char *word, *original, *other;
} tide_demo_changing_word;

/* A topic, and a group that appears only in it. */
typedef struct tide_demo_season {
    const char *topic, *group;
} tide_demo_season;

extern const tide_demo_coinage tide_demo_coinages[TIDE_DEMO_COINED_GROUPS];
extern const tide_demo_changing_word tide_demo_changing_words[TIDE_DEMO_CHANGING_WORDS];
extern const char *const tide_demo_burst_groups[TIDE_DEMO_BURST_GROUPS];
extern const tide_demo_season tide_demo_seasons[TIDE_DEMO_SEASONS];

/* -- compiled tables (demo_tables.c) ----------------------------------------------- */

enum {
    TIDE_DEMO_LISTS_MAX = 96,
    TIDE_DEMO_ROWS_MAX = 64,
    TIDE_DEMO_WORDS_MAX = 6000,
    TIDE_DEMO_FIELDS_MAX = 256,
    TIDE_DEMO_STEPS_MAX = 8000,
    TIDE_DEMO_TEMPLATES_MAX = 320,
    TIDE_DEMO_TOPICS_MAX = 16,
    TIDE_DEMO_BOUND = 4, /* rows of a list that can be bound at a time */
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
    uint32_t below[TIDE_DEMO_ROWS_MAX]; /* cumulative weights, including the row */
    uint8_t guide[TIDE_DEMO_GUIDE];     /* first row to try, by the top 8 random bits */
} tide_demo_rows;

typedef enum tide_demo_kind {
    TIDE_DEMO_TEXT,   /* literal text */
    TIDE_DEMO_WORD,   /* a word of a field */
    TIDE_DEMO_CHOICE, /* a random one of the next `count` texts */
    TIDE_DEMO_SIDE,   /* one of the next two texts, depending on the side */
    TIDE_DEMO_END,
} tide_demo_kind;

typedef struct tide_demo_step {
    tide_demo_kind kind;
    uint8_t binding; /* from 1; 0 for none */
    uint16_t count, field;
    tide_demo_text text;
} tide_demo_step;

typedef struct tide_demo_range {
    uint32_t first, count; /* templates */
} tide_demo_range;

typedef struct tide_demo_tables {
    size_t field_count, word_count, step_count, template_count;
    tide_demo_range topics[TIDE_DEMO_TOPICS_MAX], openers, tails;
    uint32_t templates[TIDE_DEMO_TEMPLATES_MAX]; /* index of the first step */
    tide_demo_field fields[TIDE_DEMO_FIELDS_MAX];
    tide_demo_rows lists[TIDE_DEMO_LISTS_MAX];
    tide_demo_text words[TIDE_DEMO_WORDS_MAX];
    tide_demo_step steps[TIDE_DEMO_STEPS_MAX];
} tide_demo_tables;

/* Compiles the source tables. *t must be zeroed. */
void tide_demo_tables_load(tide_demo_tables *t);

/* Builds the guide table from the cumulative weights. */
void tide_demo_rows_build_guide(tide_demo_rows *l);

/* Sets *part to the next part of *rest, up to any of the characters `ends`, and
 * advances *rest past it. Returns false if there is none. */
bool tide_demo_next_part(const char **rest, const char *ends, tide_demo_text *part);

/* The field with this name, which must exist. */
const tide_demo_field *tide_demo_field_find(const tide_demo_tables *t,
                                            tide_demo_text name);

/* The index of the list of a group that consists of one single-column list. */
uint8_t tide_demo_group_list(const tide_demo_tables *t, const char *group);

bool tide_demo_text_equal(tide_demo_text a, tide_demo_text b);

/* -- settings (demo_settings.c) ---------------------------------------------------- */

typedef struct tide_demo_settings {
    uint64_t seed, tokens; /* tokens 0: endless */
    uint64_t rate;         /* words per second; 0: unlimited */
    bool hashtags, events;
    float pace; /* speed of the events */
} tide_demo_settings;

bool tide_demo_is_spec(const char *spec);

/* Parses "demo:NAME=VALUE,...". */
int tide_demo_settings_read(const char *spec, tide_demo_settings *settings,
                            tide_error *err);

/* -- the schedule of events (demo_calendar.c) -------------------------------------- */

enum {
    TIDE_DEMO_TICK = 2000, /* tokens per tick at pace 1: a second at 2,000 words/s */
    TIDE_DEMO_WHOLE = 1 << 24, /* shares are fractions of this */
    TIDE_DEMO_SHARES_MAX = 16,
};

typedef struct tide_demo_calendar {
    const tide_demo_tables *tables;
    uint64_t seed;
    uint32_t tick; /* in tokens */
    tide_demo_text coined[TIDE_DEMO_COINED_GROUPS][TIDE_DEMO_COINED];
} tide_demo_calendar;

/* An event. Times are in ticks. A share is the fraction of the uses of a group that a
 * word has, or for a season the fraction of the articles that a topic has: before, mean
 * between `from` and `to`, and after. */
typedef struct tide_demo_scheduled_event {
    const char *kind;
    tide_demo_text word;
    const char *before, *after; /* groups; NULL for none */
    int64_t from, to;
    uint32_t shares[3];
} tide_demo_scheduled_event;

/* A word whose share of its group is set by an event. Other words divide the rest. */
typedef struct tide_demo_word_share {
    tide_demo_text word;
    uint32_t share;
} tide_demo_word_share;

tide_demo_calendar tide_demo_calendar_make(const tide_demo_tables *t, uint64_t seed,
                                           float pace);

/* Lists the words of a group that have a share set by an event. Returns their
 * number. */
uint32_t tide_demo_calendar_shares(const tide_demo_calendar *c, const char *group,
                                   int64_t now,
                                   tide_demo_word_share shares[TIDE_DEMO_SHARES_MAX]);

/* The share of a topic in the articles. */
uint32_t tide_demo_calendar_topic_share(const char *topic, int64_t now);

/* Calls `callback` for each event that ends after `since` and begins before `until`,
 * ordered by start. */
void tide_demo_calendar_list(const tide_demo_calendar *c, int64_t since, int64_t until,
                             void (*callback)(void *data,
                                              const tide_demo_scheduled_event *e),
                             void *data);

/* -- words and weights of groups with events (demo_groups.c) ----------------------- */

enum { TIDE_DEMO_GROUPS_MAX = 16 };

/* The words of a group and their weights during one tick. */
typedef struct tide_demo_group_words {
    const char *group;
    int64_t now; /* the tick; -1: not filled yet */
    tide_demo_rows rows;
    tide_demo_text words[TIDE_DEMO_ROWS_MAX];
} tide_demo_group_words;

typedef struct tide_demo_groups {
    size_t count;
    uint8_t group_index[TIDE_DEMO_LISTS_MAX]; /* by list: its group from 1, or 0 */
    tide_demo_group_words groups[TIDE_DEMO_GROUPS_MAX];
} tide_demo_groups;

/* Finds the groups that have events. *r must be zeroed. */
void tide_demo_groups_load(tide_demo_groups *r, const tide_demo_tables *t);

/* The words of a list at a tick; NULL if its words have no events. */
const tide_demo_group_words *tide_demo_groups_find(tide_demo_groups *r,
                                                   const tide_demo_calendar *c,
                                                   uint8_t list, int64_t now);

/* -- a stream (demo.c) ------------------------------------------------------------- */

enum { TIDE_DEMO_LINE_MAX = 512 }; /* bytes, including the line feed */

/* The complete state of a stream: copy it to return to this position later. */
typedef struct tide_demo_state {
    tide_rng rng;
    uint64_t offset; /* bytes returned */
    uint64_t tokens; /* in the lines generated so far, including the current one */
    uint32_t topic, lines_left, last_template;
    uint32_t length, given; /* bytes of the current line, and how many were returned */
    uint8_t bound[TIDE_DEMO_LISTS_MAX][TIDE_DEMO_BOUND]; /* rows */
    uint8_t is_bound[TIDE_DEMO_LISTS_MAX];               /* a bit per binding */
    char line[TIDE_DEMO_LINE_MAX];
} tide_demo_state;

typedef struct tide_demo tide_demo;

/* Creates a stream without events or hashtags. */
tide_demo *tide_demo_new(uint64_t seed, tide_error *err);

/* Creates a stream with the seed, hashtags, events and pace of the settings. The caller
 * enforces the rate and the number of tokens. */
tide_demo *tide_demo_of(const tide_demo_settings *settings, tide_error *err);

void tide_demo_free(tide_demo *demo);

/* The state of the stream, which may be copied and overwritten. */
tide_demo_state *tide_demo_current(tide_demo *demo);

/* The number of tokens in the lines generated so far. */
uint64_t tide_demo_tokens(const tide_demo *demo);

/* Reads the next bytes of the endless stream: lower-case sentences, one per line.
 * Returns the number of bytes, at least 1 and at most `capacity`. The stream does not
 * depend on the sizes of the reads. */
size_t tide_demo_read(tide_demo *demo, char *bytes, size_t capacity);

/* Likewise, but returns 0 after the first line with which the stream has at least this
 * many tokens. */
size_t tide_demo_read_until(tide_demo *demo, char *bytes, size_t capacity,
                            uint64_t tokens);

/* NULL for a stream without events. */
const tide_demo_calendar *tide_demo_active_calendar(const tide_demo *demo);

#endif
