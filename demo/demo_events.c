/* demo_events.c - the words and topics that have events in the demo stream.
 *
 * demo_calendar.c schedules the events. Each group with events is a list of a single
 * column, so its words are interchangeable. Groups with bursts are different from those
 * that words join or leave, so that the share of a word is always known. Groups have
 * the names of the facts in demo_words.c.
 *
 * To add a word, add it to a row. All rows of coined words have the same length. Coined
 * words must not be words, companies or persons in reality.
 */
#include "demo/demo.h"

const tide_demo_coinage tide_demo_coinages[TIDE_DEMO_COINED_GROUPS] = {
    {"companies", "vantrellis, ombrix, calderune, zelphora, plinthor, quorvane,"
                  "mirelath, dunvexa"},
    {"bands", "gravelhymns, moonladders, tincathedrals, velvetherons, saltlanterns,"
              "mothparades, copperlullabies, driftorchids"},
    {"illnesses", "veltrosis, brumeflu, kelmitis, dravosis, quellpox, tarnivirus,"
                  "ombritis, sulpharia"},
    {"software", "glimmerpad, taskwisp, notelark, pingloom, mapsprig, wordkettle,"
                 "chatfern, clipbadger"},
    {"teams", "cinderhawks, harbourlynxes, frostmartens, emberstags, ridgebadgers,"
              "galeferrets, quarryhounds, marshlances"},
    {"genres", "glasswave, mudstep, rustcore, lanternpop, driftbeat, hollowfolk,"
               "sparkswing, fogtrance"},
};

const tide_demo_changing_word tide_demo_changing_words[TIDE_DEMO_CHANGING_WORDS] = {
    {"vinegar", "seasonings", "companies"}, {"turnips", "vegetables", "bands"},
    {"cider", "drinks", "software"},        {"radishes", "vegetables", "teams"},
    {"saffron", "seasonings", "bands"},     {"brandy", "drinks", "companies"},
    {"turmeric", "seasonings", "software"}, {"leeks", "vegetables", "teams"},
    {"lemonade", "drinks", "bands"},
};

const char *const tide_demo_burst_groups[TIDE_DEMO_BURST_GROUPS] = {
    "towns", "dishes", "surnames", "sports"};

const tide_demo_season tide_demo_seasons[TIDE_DEMO_SEASONS] = {{"weather", "storms"},
                                                               {"politics", "parties"}};
