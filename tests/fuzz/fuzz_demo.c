/* fuzz_demo.c - arbitrary bytes as the settings of a demo stream.
 *
 * Settings that are taken are within their ranges and make a stream: two of them are the
 * same, and what happens there is told in order. What is not taken says why.
 */
#include "fuzz_fixture.h"
#include "text/demo.h"

enum { SPEC_MAX = 512, TEXT = 2000 };

static void must_be_in_order(void *data, const tide_demo_event *event)
{
    uint64_t *last = data;
    must(event->from >= *last && event->to > event->from && event->word[0]);
    must(event->share_during > 0 && event->share_during < 1);
    *last = event->from;
}

static void read_twice(const tide_demo_settings *settings)
{
    char one[TEXT], two[TEXT];
    tide_demo *demo = tide_demo_of(settings, NULL),
              *same = tide_demo_of(settings, NULL);
    must(demo && same);
    must(tide_demo_read(demo, one, TEXT) == TEXT);
    for (size_t i = 0; i < TEXT; i++)
        must(tide_demo_read(same, two + i, 1) == 1);
    must(memcmp(one, two, TEXT) == 0);
    tide_demo_free(demo);
    tide_demo_free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char spec[SPEC_MAX + 1] = "demo:";
    size = size < SPEC_MAX - 5 ? size : SPEC_MAX - 5;
    memcpy(spec + 5, data, size);
    tide_demo_settings settings;
    tide_error err = {.text = ""};
    if (tide_demo_settings_read(spec, &settings, &err) != TIDE_OK) {
        must_have_said_why(&err);
        return 0;
    }
    must(settings.pace >= 0.01f && settings.pace <= 100);
    must(settings.rate <= 1000000000);
    read_twice(&settings);
    uint64_t last = 0, ends[] = {100000, UINT64_MAX};
    for (int i = 0; i < 2; i++)
        must(tide_demo_events(spec, ends[i] - 100000, ends[i], must_be_in_order, &last,
                              NULL) == TIDE_OK);
    return 0;
}
