/* demo_templates.c - the sentence templates of the demo stream.
 *
 * demo_tables.c describes their syntax. A line has 8 to 25 words, including an opener
 * and a tail.
 */
#include "demo/demo.h"

static const char *const openers[] = {
    "on {weekday}",
    "early on {weekday}",
    "in {month}",
    "this {morning|evening|afternoon|week}",
    "{meanwhile|elsewhere|again}",
    NULL,
};

static const char *const tails[] = {
    "said {given*} {surname}",
    "explained {given*} {surname} in the {paper}",
    "the {paper} reported on {weekday}",
    "on {weekday} {morning|evening}",
    "in {month}",
    "near {town}",
    "according to the {paper}",
    "as {most|some|few} people {expected|hoped|feared}",
    NULL,
};

static const char *const places[] = {
    "{capital1} is the capital of {country1} and lies on the {river1}",
    "streets of {capital1} were full when {demonym1} soldiers marched past the "
    "{river1}",
    "the embassy in {capital1} asks {number} {currency1} for a visa to {country1}",
    "crowded suburbs of {capital1} stretch along the {river1} below mount {mountain1}",
    "exports from {country1} are shipped on the {river1} and paid in {currency1}",
    "the northern border of {country1} runs from mount {mountain1} to the {river1}",
    "people across {country1} barter for the {currency1} and speak {demonym1} at home",
    "a room in {capital1} costs {number} {currency1} a night with a {placenoun}",
    "{demonym1} guides took climbers up mount {mountain1} in the south of {country1}",
    "{demonym1} legends tell how {capital1} was founded beside the {river1}",
    "flights to {capital1} pass over {country1} and circle mount {mountain1} before "
    "landing",
    "trains to {town} stop at {town} beside a {placenoun} and a {placenoun}",
    "a {placenoun} at {town} is known for its {placenoun} near {town}",
    "{crew3} admire {a single/several} {landmark*3} and {its/their} {masonry3} with "
    "{relic3} near {town}",
    "{one/many} {landmark*3} {was/were} closed when {crew3} found {relic3} under the "
    "{masonry3}",
    "{this/these} {landmark*3} with {masonry3} {is/are} where {crew3} keep {relic3}",
    "{crew3} of {town} own {only one/ten} {landmark*3} whose {masonry3} and {relic3} "
    "shine",
    "{touring3} {will soon/recently} {tour*3} the {sight3} near {town} with {aid3}",
    "{next/last} {week|month|year} {touring3} {plan to/already} {tour*3} {sight3} "
    "using {aid3}",
    "with {aid3} some {touring3} {hope to/finally} {tour*3} more {sight3} around "
    "{town}",
    "the {outlook3} was {very/much} {scenic*3} {and lovely/than expected} beside "
    "{feature3} and {ground3}",
    "{feature3} made the {outlook3} {rather/even} {scenic*3} {and famous/than before} "
    "among the {ground3}",
    NULL,
};

static const char *const food[] = {
    "they ate a plate of {dish} with {ingredient} and drank {drink} in {town}",
    "guests ordered {dish} for lunch and a cup of {drink} with some {foodnoun}",
    "a portion of {dish} was seasoned with {ingredient} and filled with {vegetable}",
    "add a pinch of {ingredient} and some {ingredient} to the {foodnoun} with "
    "{vegetable}",
    "a glass of {drink} or a bottle of {drink} goes well with {dish}",
    "grow {vegetable} and {vegetable} in rows behind the {foodnoun} at {town}",
    "the {demonym1} recipe for {dish} from {capital1} calls for {ingredient} and "
    "{vegetable}",
    "dinner in {capital1} with {dish} and {drink} costs {number} {currency1} in "
    "{country1}",
    "farmers of {country1} offer {vegetable} for {currency1} on the banks of the "
    "{river1}",
    "{a single/several} {fruit*3} {was/were} picked by the {grove3} near {picker3} for "
    "{preserve3}",
    "{one/many} ripe {fruit*3} from {grove3} {was/were} hidden among the {picker3} and "
    "{preserve3}",
    "{this/these} {fruit*3} {is/are} famous for {preserve3} and {grove3} with "
    "{picker3} around",
    "{only one/ten} {fruit*3} and {its/their} {preserve3} lay between {picker3} and "
    "the {grove3}",
    "{kitchenhand3} {will soon/recently} {cook*3} the {batch3} with the {utensil3} in "
    "{town}",
    "{next/last} {week|month|year} {kitchenhand3} {plan to/already} {cook*3} {batch3} "
    "over one {utensil3}",
    "with a {utensil3} most {kitchenhand3} {hope to/finally} {cook*3} more {batch3} in "
    "{town}",
    "the {relish3} was {very/much} {tasty*3} {and lovely/than expected} beside "
    "{platter3} and {morsel3}",
    "{platter3} made the {relish3} {rather/even} {tasty*3} {and famous/than before} "
    "among the {morsel3}",
    "the {staff*3} dropped {his/her} {duty3} when {he/she} saw the {burden3} and "
    "{shift3}",
    "a {staff*3} counted {burden3} at {his/her} {duty3} while {he/she} watched the "
    "{shift3}",
    "{given*} works as a {staff*3} and {he/she} likes {his/her} {duty3} and {shift3}",
    "{shift3} know the {staff*3} by {his/her} {burden3} and by {his/her} {duty3}",
    "with {burden3} and {shift3} in mind the {staff*3} praised {his/her} {duty3}",
    NULL,
};

static const char *const sport[] = {
    "the {team} beat the {team} in a {sport} match by {number} points",
    "fans of the {team} cheered as their {position} scored before the {sportnoun}",
    "{team} and {team} share a {sportnoun} where they play {sport} and {sport}",
    "a {position} of the {team} passed to the {position} after a {sportnoun}",
    "coaches praised their {position} for a brave {sportnoun} during the {sport} "
    "season",
    "children in {country1} learn {sport} and {sport} at school in {capital1}",
    "the {demonym1} {sport} squad flew home to {capital1} after the {sportnoun}",
    "tickets for the {sport} final in {capital1} cost {number} {currency1} in "
    "{country1}",
    "{wearer3} bought {a single/several} {gear*3} for the {venue3} and {its/their} "
    "{defect3}",
    "{one/many} {gear*3} {was/were} left at the {venue3} when {wearer3} hit the "
    "{defect3}",
    "{this/these} {gear*3} {is/are} needed by {wearer3} at the {venue3} with {defect3}",
    "{wearer3} carry {only one/ten} {gear*3} to each {venue3} in spite of the "
    "{defect3}",
    "{athlete3} {will soon/recently} {compete*3} at the {arena3} for {stake3} in "
    "{town}",
    "{next/last} {week|month|year} {athlete3} {plan to/already} {compete*3} near the "
    "{arena3} for {stake3}",
    "after the {stake3} some {athlete3} {hope to/finally} {compete*3} with an official "
    "{arena3}",
    "the {drill3} was {very/much} {sporty*3} {and lovely/than expected} beside "
    "{exercise3} and {workout3}",
    "{exercise3} made the {drill3} {rather/even} {sporty*3} {and famous/than before} "
    "among the {workout3}",
    NULL,
};

static const char *const music[] = {
    "the {band} mixed {genre} with {genre} on their new {musicnoun}",
    "fans of {genre} music heard the {band} play a {musicnoun} in {town}",
    "{band} and {band} toured together and joked about a {musicnoun} in {town}",
    "radio channels play {genre} at night and {genre} songs before the {musicnoun}",
    "the {band} released a {genre} {musicnoun} with a long {musicnoun}",
    "a {demonym1} tune from the hills of {country1} opened the {musicnoun} by {band}",
    "concert halls in {capital1} charge {number} {currency1} for a {demonym1} "
    "{musicnoun}",
    "{virtuoso3} play {a single/several} {instrument*3} with {timbre3} and {its/their} "
    "{repertoire3}",
    "{one/many} {instrument*3} {was/were} played by {virtuoso3} until {timbre3} and "
    "{repertoire3} rang out",
    "{this/these} {instrument*3} {is/are} loved by {virtuoso3} for {repertoire3} and "
    "{timbre3}",
    "{virtuoso3} own {only one/ten} {instrument*3} and dream of {timbre3} with "
    "{repertoire3}",
    "{performer3} {will soon/recently} {perform*3} with the {craft3} and {piece3} in "
    "{town}",
    "{next/last} {week|month|year} {performer3} {plan to/already} {perform*3} some "
    "{piece3} for the {craft3}",
    "near the {craft3} many {performer3} {hope to/finally} {perform*3} their {piece3} "
    "again",
    "the {passage3} was {very/much} {tuneful*3} {and lovely/than expected} beside "
    "{sound3} and {effect3}",
    "{sound3} made the {passage3} {rather/even} {tuneful*3} {and famous/than before} "
    "among the {effect3}",
    "the {player*3} loved {his/her} {show3} and {prop3} when {he/she} read the "
    "{craftwork3}",
    "a young {player*3} spoke of {his/her} {craftwork3} with {prop3} before {he/she} "
    "left the {show3}",
    "{given*} became a {player*3} after {he/she} saw {his/her} first {show3} with "
    "{prop3}",
    "{prop3} and {craftwork3} made the {player*3} and {his/her} {show3} popular in "
    "{town}",
    "a {show3} with {craftwork3} shows the {player*3} with {his/her} {prop3}",
    NULL,
};

static const char *const health[] = {
    "patients with {illness} often suffer from {symptom} and {symptom} at night",
    "doctors treat {illness} with {medicine} at a {healthnoun} in {town}",
    "an outbreak of {illness} spread from {town} to {town} within {number} days",
    "nurses gave {medicine} against {symptom} and a dose of {medicine} for sleep",
    "severe {symptom} and mild {symptom} are early signs of {illness}",
    "cases of {illness} and {illness} doubled near a {healthnoun} this winter",
    "pharmacies stock {medicine} and {medicine} without a {healthnoun} in {town}",
    "clinics across {country1} paid {number} {currency1} for each box of {medicine}",
    "a {demonym1} surgeon from {capital1} lectured about {illness} and the "
    "{healthnoun}",
    "{helper3} looked at {a single/several} {organ*3} with the {care3} for {ailment3}",
    "{one/many} {organ*3} {was/were} treated with {care3} by {helper3} because of "
    "{ailment3}",
    "{this/these} {organ*3} {is/are} sore from {ailment3} so {helper3} bring the "
    "{care3}",
    "{helper3} saved {only one/ten} {organ*3} from {ailment3} with {its/their} {care3}",
    "{healer3} {will soon/recently} {heal*3} the {sufferer3} with {remedy3} in {town}",
    "{next/last} {week|month|year} {healer3} {plan to/already} {heal*3} {sufferer3} "
    "using the {remedy3}",
    "with the {remedy3} young {healer3} {hope to/finally} {heal*3} all the {sufferer3}",
    "the {frailty3} was {very/much} {healthy*3} {and lovely/than expected} beside "
    "{state3} and {habit3}",
    "{state3} made the {frailty3} {rather/even} {healthy*3} {and famous/than before} "
    "among the {habit3}",
    "the {kin*3} kept {his/her} {keepsake3} and {homelife3} while {he/she} thought of "
    "{errand3}",
    "my {kin*3} spoke of the {homelife3} and {errand3} when {he/she} found {his/her} "
    "{keepsake3}",
    "{given*} is a proud {kin*3} and {he/she} has {his/her} {homelife3} and {errand3}",
    "{homelife3} and {errand3} kept the {kin*3} and {his/her} {keepsake3} at home",
    "a {keepsake3} reminds the {kin*3} of {errand3} and of {his/her} {homelife3}",
    NULL,
};

static const char *const technology[] = {
    "shares of {company} rose after {company} presented its new {software}",
    "{company} hired {number} engineers to improve the {software} and a {technoun}",
    "the {software} made by {company} crashed because of a {technoun}",
    "hackers attacked the {software} of {company} through a {technoun} in {town}",
    "users install a {software} before they open the {software} on a {technoun}",
    "{company} opened an office in {capital1} near the {technoun} on the {river1}",
    "investors from {country1} handed {company} to {company} for {number} million "
    "{currency1}",
    "{demonym1} engineers in {capital1} connected the {software} to a {technoun}",
    "{technician3} ordered {a single/several} {device*3} with a {component3} and "
    "{its/their} {accessory3}",
    "{one/many} {device*3} {was/were} broken until {technician3} fixed the "
    "{component3} and {accessory3}",
    "{this/these} {device*3} {is/are} shipped to {technician3} with {component3} and "
    "{accessory3}",
    "{technician3} have {only one/ten} {device*3} whose {component3} and {accessory3} "
    "still work",
    "{maker3} {will soon/recently} {make*3} the {ware3} with the {tool3} near {town}",
    "{next/last} {week|month|year} {maker3} {plan to/already} {make*3} a {ware3} "
    "despite the {tool3}",
    "beside the {tool3} some {maker3} {hope to/finally} {make*3} their {ware3} for "
    "{company}",
    "the {gadgetry3} was {very/much} {handy*3} {and lovely/than expected} beside "
    "{benefit3} and {fitting3}",
    "{benefit3} made the {gadgetry3} {rather/even} {handy*3} {and famous/than before} "
    "among the {fitting3}",
    NULL,
};

static const char *const weather[] = {
    "a {storm} hit {town} overnight and a {storm} is due by {weekday}",
    "forecasters warned of {storm} and {storm} along the coast near {town}",
    "after the {storm} came a {weathernoun} and then a {weathernoun} over {town}",
    "heavy {storm} closed {number} schools while the {weathernoun} lasted in {town}",
    "the worst {storm} of the year struck the hills of {country1}",
    "a {weathernoun} over {town} turned into a {storm} by noon",
    "snow fell on {capital1} and on mount {mountain1} in the north of {country1}",
    "the {river1} burst its banks and {demonym1} troops filled sandbags in {capital1}",
    "repairs after the {storm} cost the {demonym1} state {number} million {currency1}",
    "{rescuer3} saved {a single/several} {damage*3} and {its/their} {cause3} from "
    "{debris3}",
    "{one/many} {damage*3} {was/were} ruined when {rescuer3} saw {cause3} and "
    "{debris3} fly",
    "{this/these} {damage*3} {is/are} at risk so {rescuer3} check {cause3} and "
    "{debris3}",
    "{rescuer3} found {only one/ten} {damage*3} without {debris3} and without {cause3}",
    "{weapon3} winds {will soon/recently} {batter*3} {victim3} as {onlooker3} watch in "
    "{town}",
    "{next/last} {week|month|year} {weapon3} weather {is sure to/already} {batter*3} "
    "{victim3} and {onlooker3}",
    "while {onlooker3} wait {weapon3} storms {threaten to/finally} {batter*3} many "
    "{victim3}",
    "the day was {very/much} {weather*3} {and lovely/than expected} with {sign3} and "
    "{clothing3} and {scene3}",
    "{sign3} made the {scene3} {rather/even} {weather*3} {and famous/than before} for "
    "{clothing3} weather",
    "the {scene3} stayed {very/much} {weather*3} {and lovely/than before} so "
    "{clothing3} and {sign3} appeared",
    NULL,
};

static const char *const politics[] = {
    "the minister of {ministry} left the {party} over a {politicsnoun}",
    "{party} and {party} formed a {politicsnoun} after the vote in {town}",
    "voters in {town} backed the {party} against the {party} in the {politicsnoun}",
    "the ministry of {ministry} and the ministry of {ministry} share a {politicsnoun}",
    "spending on {ministry} and {ministry} rose after the {politicsnoun}",
    "the government of {country1} in {capital1} rejected a {politicsnoun} on "
    "{ministry}",
    "troops left the border of {country1} and marched along the {river1} to {capital1}",
    "the {demonym1} parliament in {capital1} discussed a {politicsnoun} with "
    "{country2}",
    "a falling {currency1} worried {demonym1} banks in {capital1} and exporters across "
    "{country1}",
    "the central bank of {country1} printed {currency1} notes with mount {mountain1} "
    "on them",
    "{demonym1} voters in {country1} demand a stable {currency1} and a {politicsnoun}",
    "{aide3} met {a single/several} {official*3} at the {office3} about the "
    "{paperwork3}",
    "{one/many} {official*3} {was/were} called to the {office3} by {aide3} for a "
    "{paperwork3}",
    "{this/these} {official*3} {is/are} trusted by {aide3} at the {office3} with the "
    "{paperwork3}",
    "{aide3} blamed {only one/ten} {official*3} of the {office3} and {its/their} "
    "{paperwork3}",
    "{faction3} {will soon/recently} {govern*3} the {motion3} over {dispute3} with the "
    "{party}",
    "{next/last} {week|month|year} {faction3} {plan to/already} {govern*3} the "
    "{motion3} with {dispute3}",
    "despite the {dispute3} the {faction3} {hope to/finally} {govern*3} a new "
    "{motion3}",
    "the {trend3} were {very/much} {political*3} {and lovely/than expected} beside "
    "{crowd3} and {demand3}",
    "{crowd3} made the {trend3} {rather/even} {political*3} {and famous/than before} "
    "among the {demand3}",
    "the {royal*3} left {his/her} {regalia3} to the {retinue3} after {he/she} saw the "
    "{custom3}",
    "an old {royal*3} gave {his/her} {retinue3} a {regalia3} when {he/she} spoke of "
    "{custom3}",
    "{given*} became {royal*3} before {he/she} had {his/her} {regalia3} and {retinue3}",
    "{retinue3} bowed as the {royal*3} and {his/her} {regalia3} came to the {custom3}",
    "a {custom3} with {retinue3} cost the {royal*3} half of {his/her} {regalia3}",
    NULL,
};

const tide_demo_topic tide_demo_openers = {"openers", openers};
const tide_demo_topic tide_demo_tails = {"tails", tails};
const tide_demo_topic tide_demo_topics[] = {
    {"places", places},   {"food", food},         {"sport", sport},
    {"music", music},     {"health", health},     {"technology", technology},
    {"weather", weather}, {"politics", politics},
};
const size_t tide_demo_topic_count = sizeof tide_demo_topics / sizeof *tide_demo_topics;
