/* batch_fixture.h - texts in files, and runs over them. */
#ifndef BATCH_FIXTURE_H
#define BATCH_FIXTURE_H

#include "base/base.h"
#include "train_fixture.h"

/* Words of descending frequency, some of which occur once, and a few lines longer than
 * a sentence may be. */
static inline corpus make_text(uint64_t seed, int lines, int types)
{
    corpus t = {malloc((size_t)lines * 2000), 0};
    assert_non_null(t.bytes);
    tide_rng rng = tide_rng_seeded(seed);
    for (int i = 0; i < lines; i++) {
        int words = i % 100 == 99 ? 2500 : 1 + (int)tide_rng_below(&rng, 30);
        for (int w = 0; w < words; w++) {
            bool once = tide_rng_below(&rng, 25) == 0;
            int number = once ? (int)tide_rng_below(&rng, 1000)
                              : (int)pow(types, tide_rng_double(&rng));
            t.size += (size_t)sprintf(t.bytes + t.size, "%s%d%c", once ? "rare" : "w",
                                      number, w + 1 < words ? ' ' : '\n');
        }
    }
    t.bytes[t.size] = 0;
    return t;
}

/* A run over "text" and, with two sources, "more". */
static inline tide_run run_over(size_t sources)
{
    static const char *const specs[] = {"text", "more"};
    return (tide_run){
        .size = sizeof(tide_run), .sources = specs, .source_count = sources};
}

static inline tide_trainer *batch_of(const char *settings, const tide_run *run)
{
    tide_error err;
    tide_params *params = params_of(settings);
    tide_trainer *trainer;
    tide_trainer_new_batch(params, run, &trainer, &err);
    tide_params_free(params);
    if (!trainer)
        fail_msg("%s: %s", settings, err.text);
    return trainer;
}

static inline void run_to(tide_trainer *trainer, const tide_run *run, int expected)
{
    tide_error err = {.text = ""};
    int status = tide_trainer_run(trainer, run, &err);
    if (status != expected)
        fail_msg("the run came to %d: %s", status, err.text);
}

static inline void two_sources(uint64_t seed)
{
    corpus t = make_text(seed, 1500, 300), more = make_text(seed + 1, 500, 400);
    write_file("text", t.bytes, t.size);
    write_file("more", more.bytes, more.size);
    free(t.bytes);
    free(more.bytes);
}

static inline void same_section(const char *a, const char *b, const char *name)
{
    size_t one, two;
    unsigned char *left = read_section(a, name, &one),
                  *right = read_section(b, name, &two);
    if (one != two || memcmp(left, right, one) != 0)
        fail_msg("%s and %s differ in section %s", a, b, name);
    free(left);
    free(right);
}

#endif
