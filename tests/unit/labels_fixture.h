/* labels_fixture.h - for tests of labeled streams: a stream with labels and the same
 * one without, and a log of all predictions. Include it in one file.
 */
#ifndef TIDE_LABELS_FIXTURE_H
#define TIDE_LABELS_FIXTURE_H

#include "base/base.h"
#include "file/store_internal.h"
#include "batch_fixture.h"

/* Labels and a classifier that train quickly. */
#define LABELED                                                                        \
    "label-slots=40 label-memory=65536 label-top=6 label-each=20 classifier=linear "   \
    "classifier-epochs=2 "

/* -- texts ------------------------------------------------------------------------ */

typedef enum label_kind { SPACE_HASHTAGS, SOCIAL_HASHTAGS, MARKED, KINDS } label_kind;

static const char *const kind_settings[KINDS] = {" tokens=space labels=hashtags",
                                                 " tokens=social labels=hashtags",
                                                 " tokens=words labels=marked"};

/* A text, and the same text with its labels removed by hand. */
typedef struct stream {
    corpus with, without;
    int posts;
} stream;

static inline void write_both(stream *s, const char *text)
{
    s->with.size += (size_t)sprintf(s->with.bytes + s->with.size, "%s", text);
    s->without.size += (size_t)sprintf(s->without.bytes + s->without.size, "%s", text);
}

static inline void write_label(stream *s, label_kind kind, uint64_t number)
{
    s->with.size +=
        (size_t)sprintf(s->with.bytes + s->with.size, " %stag%llu ",
                        kind == MARKED ? "__label__" : "#", (unsigned long long)number);
}

/* Text that looks like a label but is not one, or a label without a name. */
static inline void write_oddity(stream *s, label_kind kind)
{
    static const char *const none[KINDS] = {
        " # a#b #\xef\xb8\x8f\xe2\x83\xa3 #\xe2\x83\xa3 ",
        " # a#b #\xef\xb8\x8f\xe2\x83\xa3 #\xe2\x83\xa3 #123 ",
        " __label a__label__b #tag "};
    write_both(s, none[kind]);
    if (kind == MARKED)
        s->with.size += (size_t)sprintf(s->with.bytes + s->with.size, " __label__ ");
}

/* Words of falling frequency, of which "new" is always followed by "york"; the label of
 * a post is mostly that of its first word. Some posts have no label, some no word, some
 * many. */
static inline stream make_stream(label_kind kind, uint64_t seed, int posts)
{
    size_t capacity = (size_t)posts * 400 + 65536;
    stream s = {{calloc(1, capacity), 0}, {calloc(1, capacity), 0}, posts};
    assert_true(s.with.bytes && s.without.bytes);
    tide_rng rng = tide_rng_seeded(seed);
    for (int i = 0; i < posts; i++) {
        uint64_t words = i % 9 == 8 ? 0 : 1 + tide_rng_below(&rng, 9);
        uint64_t first = tide_rng_below(&rng, 8),
                 once = tide_rng_below(&rng, 1 + words);
        words = i == posts / 2 ? 2300 : words;
        for (uint64_t w = 0; w < words; w++) {
            char word[32];
            uint64_t number = w ? (uint64_t)pow(60, tide_rng_double(&rng)) : first;
            snprintf(word, sizeof word, "%sw%llu ", number == 5 ? "new york " : "",
                     (unsigned long long)number);
            write_both(&s, word);
            if (w == once && i % 5)
                write_label(&s, kind, tide_rng_below(&rng, 4) ? first : w);
        }
        for (int n = words ? 0 : 2; n > 0; n--)
            write_label(&s, kind, tide_rng_below(&rng, 12));
        if (i % 13 == 7)
            write_oddity(&s, kind);
        write_both(&s, "\n");
    }
    return s;
}

static inline void stream_free(stream *s)
{
    free(s->with.bytes);
    free(s->without.bytes);
}

/* -- predictions ------------------------------------------------------------------ */

/* A line per post: the exact predictions and the labels that it carries. */
typedef struct prediction_log {
    char *predictions, *labels_carried;
    size_t predictions_size, carried_size;
    FILE *predictions_file, *labels_file;
    int posts;
} prediction_log;

static inline void log_open(prediction_log *log)
{
    *log = (prediction_log){0};
    log->predictions_file = open_memstream(&log->predictions, &log->predictions_size);
    log->labels_file = open_memstream(&log->labels_carried, &log->carried_size);
    assert_true(log->predictions_file && log->labels_file);
}

static inline void log_close(prediction_log *log)
{
    fclose(log->predictions_file);
    fclose(log->labels_file);
    free(log->predictions);
    free(log->labels_carried);
}

static inline void log_post(void *data, const tide_predicted_post *prediction)
{
    prediction_log *log = data;
    fprintf(log->predictions_file, "%llu %a: %u words, %u unknown; %llu",
            (unsigned long long)prediction->post, prediction->time, prediction->words,
            prediction->unknown, (unsigned long long)prediction->fit);
    for (uint32_t i = 0; i < prediction->name_count; i++) {
        assert_true(prediction->probabilities[i] >= 0 &&
                    prediction->probabilities[i] <= 1);
        fprintf(log->predictions_file, " %s %a", prediction->names[i],
                (double)prediction->probabilities[i]);
    }
    for (uint32_t i = 0; i < prediction->label_count; i++)
        fprintf(log->labels_file, " %s", prediction->labels[i]);
    fputc('\n', log->predictions_file);
    fputc('\n', log->labels_file);
    fflush(log->predictions_file);
    fflush(log->labels_file);
    log->posts++;
}

static inline void watch_into(tide_trainer *trainer, prediction_log *log)
{
    tide_trainer_watch_labels(trainer, log_post, NULL, log);
}

/* The start of the last line of a log. */
static inline const char *last_line(const char *lines)
{
    const char *line = lines;
    for (const char *at = lines; *at; at++)
        if (*at == '\n' && at[1])
            line = at + 1;
    return line;
}

/* The prediction for the last post, without its number and the number of trainings. */
static inline const char *last_prediction(const prediction_log *log)
{
    const char *text = strchr(last_line(log->predictions), ':');
    assert_non_null(text);
    return text;
}

/* -- trainers --------------------------------------------------------------------- */

static inline void fit(tide_trainer *trainer)
{
    tide_error err = {.text = ""};
    if (tide_trainer_fit(trainer, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static inline tide_label_stats label_stats_of(const tide_trainer *trainer)
{
    tide_label_stats stats;
    tide_trainer_label_stats(trainer, &stats);
    return stats;
}

static inline void feed_pieces(tide_trainer *trainer, const corpus *t, size_t most)
{
    for (size_t at = 0, size; at < t->size; at += size) {
        size = most < t->size - at ? most : t->size - at;
        feed(trainer, t->bytes + at, size);
    }
}

static inline void finish(tide_trainer *trainer, const char *path)
{
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    save_to(trainer, path);
    tide_trainer_free(trainer);
}

static inline tide_trainer *load_frozen(const char *path, const char *how)
{
    const char *const frozen[][2] = {{"frozen", how}};
    tide_error err;
    tide_trainer *trainer = tide_trainer_load(path, frozen, 1, &err);
    if (!trainer)
        fail_msg("%s", err.text);
    return trainer;
}

/* Calls `visit` for every section of a file. Returns how many it accepted. */
static inline int each_section(const char *path, bool visit(const char *name))
{
    tide_section_table table;
    int file = open(path, O_RDONLY), taken = 0;
    assert_int_equal(tide_store_table(file, path, &table, NULL), TIDE_OK);
    close(file);
    for (uint32_t i = 0; i < table.count; i++)
        taken += visit(table.sections[i].name);
    return taken;
}

#endif
