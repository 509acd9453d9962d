/* demo_events.c - to whom things happen in the invented newsroom.
 *
 * demo_calendar.c says when. Every group that words come into, leave or burst in has a
 * list of a single column, in which any word can stand for any other. No group that
 * words burst in is one that words come into or leave: so the share of a word there is
 * known at any time. The groups go by the names that they have in the truth.
 *
 * To add a word, add it to a row. Coinages are ours: they are no word, no firm and
 * nobody. There are as many in each row.
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

const tide_demo_changer tide_demo_changers[TIDE_DEMO_CHANGERS] = {
    {"vinegar", "seasonings", "companies"}, {"turnips", "vegetables", "bands"},
    {"cider", "drinks", "software"},        {"radishes", "vegetables", "teams"},
    {"saffron", "seasonings", "bands"},     {"brandy", "drinks", "companies"},
    {"turmeric", "seasonings", "software"}, {"leeks", "vegetables", "teams"},
    {"lemonade", "drinks", "bands"},
};

const char *const tide_demo_bursting[TIDE_DEMO_BURSTING] = {"towns", "dishes",
                                                            "surnames", "sports"};

const tide_demo_season tide_demo_seasons[TIDE_DEMO_SEASONS] = {{"weather", "storms"},
                                                               {"politics", "parties"}};
