/* fuzz_demo.c - arbitrary bytes as the settings of a demo stream.
 *
 * Accepted settings are within their ranges; rejected ones have an error message. In
 * one of READ cases, since it is slow, the stream is read twice with different read
 * sizes and must be the same, and the events at its start or end must be listed in
 * order.
 */
#include "base/base.h"
#include "demo/demo.h"
#include "fuzz_fixture.h"

#include <wordtide/tools.h>

enum { SPEC_MAX = 512, TEXT = 1000, SPAN = 100000, READ = 8 };

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
    tide_demo *demo = tide_demo_of(settings, NULL);
    must(demo != NULL);
    tide_demo_state start = *tide_demo_current(demo);
    must(tide_demo_read(demo, one, TEXT) == TEXT);
    *tide_demo_current(demo) = start;
    for (size_t i = 0; i < TEXT; i++)
        must(tide_demo_read(demo, two + i, 1) == 1);
    must(memcmp(one, two, TEXT) == 0);
    tide_demo_free(demo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char spec[SPEC_MAX + 1] = "demo:";
    size = size < SPEC_MAX - 5 ? size : SPEC_MAX - 5;
    memcpy(spec + 5, data, size);
    tide_demo_settings settings;
    tide_error err = {.text = ""};
    if (tide_demo_settings_read(spec, &settings, &err) != TIDE_OK) {
        must_have_error_text(&err);
        return 0;
    }
    must(settings.pace >= 0.01f && settings.pace <= 100);
    must(settings.rate <= 1000000000);
    uint64_t chance = tide_hash(data, size, 0);
    if (chance % READ)
        return 0;
    read_twice(&settings);
    uint64_t last = 0, end = chance / READ % 2 ? SPAN : UINT64_MAX;
    must(tide_demo_events(spec, end - SPAN, end, must_be_in_order, &last, NULL) ==
         TIDE_OK);
    return 0;
}
