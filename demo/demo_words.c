/* demo_words.c - the words of the demo stream, and the facts about them.
 *
 * demo.h describes lists. Words of a row occur in the same sentences. The last columns
 * of most lists exist only for that: they distinguish one pair from the next ("bake"
 * has its oven, "fry" its skillet), while the same sides of all pairs of a relation
 * share the words of that side ("will soon" against "recently"). All places, people,
 * teams, bands, companies, newspapers and parties are invented.
 *
 * To add a word, add it to a row. To add a relation, add a list with a starred field,
 * sentences that use it on both sides, and a fact. The tests check that it occurs often
 * enough to be learned.
 */
#include "demo/demo.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

const tide_demo_list tide_demo_lists[] = {
    {"country capital demonym currency river mountain", 30,
     "norvania/tarsk/norvanian/krell/selwin/kolgrad,"
     "elmoria/castrin/elmorian/florel/arda/pinnara,"
     "kestria/halvard/kestrian/marn/brell/hornspitz,"
     "tavolia/porvin/tavolian/zent/corrin/monteba,"
     "brasovia/lindel/brasovian/dorin/dunnow/vratha,"
     "ostrania/grelsk/ostranian/rubak/volchna/sibrek,"
     "miravia/sellanto/miravian/peska/falda/aguiro,"
     "quenland/aldburg/quenish/tolar/gavern/bencraig,"
     "veldora/maristo/veldoran/lirune/ilsera/solanto,"
     "zephria/anquil/zephrian/drakel/jorda/kazbeth,"
     "pelagia/corvanto/pelagian/obel/kessio/olyntha,"
     "hartland/eastmere/hartish/shellin/lorne/snaeberg,"
     "sundara/kavali/sundaran/rupal/ganjira/himaven,"
     "jorland/skaldheim/jorlandic/kronel/glomra/galdtind,"
     "olmania/brenz/olmanian/talerin/oderna/watzmar,"
     "ferrosia/ironvale/ferrosian/ferrin/pralin/magnetor,"
     "lacadia/montreve/lacadian/ecuren/loirette/mirador,"
     "tarkesh/samarbad/tarkeshi/dinaret/amurdar/ararun,"
     "ibrelia/toledra/ibrelian/realto/tajora/penalara,"
     "norholt/vinterby/norholtish/orel/nevra/kebnek,"
     "cambrosa/sanlucero/cambrosan/cruzal/paranol/chimbaro,"
     "yandu/okembe/yanduan/kobwe/limbopo/kilimar,"
     "mazibia/lusanga/mazibian/kwandi/zambeki/mulanda,"
     "tessara/philonos/tessaran/drachel/acherna/parnath,"
     "wendmark/kopperhavn/wendish/skilar/gudenar/yding,"
     "garoda/jakalta/garodan/ringal/musinda/semerang,"
     "palmetia/bahari/palmetian/cowrel/lagunero/coralto,"
     "istrava/zagrel/istravan/kunel/dravane/triglan"},
    {"town", 6,
     "ashcombe, brindlewick, calverton, dunmarsh, eldersby, fenwater, gorsefield,"
     "hollowmere, ivymoor, kelloway, larkhurst, mosswick, nettleford, oakhaven,"
     "pennyfold, quarrydale, ravensea, saltmarsh, thornwick, vexley, westerlow,"
     "yarrowby, amberlow, birchgate, cragmoor, dewsbrook, emberton, foxhollow,"
     "greywell, hazelmead, islepoint, junipergate, kingsreach, lowmarket, millbrae,"
     "northwick"},

    {"landmark* masonry crew relic", 20,
     "bridge/bridges/arches/ferrymen/pillars, castle/castles/moat/knights/dungeon,"
     "cathedral/cathedrals/spire/deacons/bells,"
     "museum/museums/exhibits/curators/statues,"
     "harbour/harbours/pier/dockers/trawlers, garden/gardens/fountain/gardeners/roses,"
     "temple/temples/shrine/pilgrims/incense,"
     "fortress/fortresses/ramparts/sentries/cannons,"
     "library/libraries/shelves/librarians/manuscripts,"
     "station/stations/platforms/porters/locomotives"},
    {"tour* sight touring aid", 20,
     "visit/visited/ruins/archaeologists/columns,"
     "explore/explored/caves/divers/torches, cross/crossed/canyon/hikers/footbridge,"
     "paint/painted/facades/decorators/ladders,"
     "photograph/photographed/sunsets/honeymooners/tripod,"
     "restore/restored/frescoes/conservators/pigments,"
     "map/mapped/footpaths/surveyors/compass, sail/sailed/lagoon/yachtsmen/catamaran"},
    {"scenic* outlook feature ground", 20,
     "tall/taller/belfry/steeple/ladder, narrow/narrower/alley/passageway/elbows,"
     "steep/steeper/staircase/handrail/cliffs, deep/deeper/lake/swimmers/pebbles,"
     "quiet/quieter/cemetery/tombstones/willows"},
    {"placenoun", 2,
     "holiday, souvenir, postcard, suitcase, hostel, campsite, cottage, tramway, quay,"
     "pavement, suburb, village, hamlet, meadowland, peninsula, island, archipelago,"
     "estuary, waterfall, plateau, ravine, orchardland, vineyards, cobbles, rooftop,"
     "balcony, chimney, doorway, signpost, compass, atlas, itinerary, brochure,"
     "excursion, pilgrimage, voyage, passport, customs, caravan, ferryboat, funicular,"
     "windmill, aqueduct, obelisk, mosaic, pavilion"},
    {"given*", 10,
     "adam/alice, boris/bertha, carl/clara, david/diana, edgar/emma, felix/flora,"
     "george/greta, henry/hannah, igor/irene, jacob/julia, karim/karin, leon/laura,"
     "martin/maria, nolan/nadia, oscar/olivia, peter/paula, quentin/queenie,"
     "robert/rosa, simon/sophia, thomas/tamara, victor/vera, walter/wanda,"
     "xavier/xenia, yusuf/yvonne, anton/anna, bruno/bella, cyril/celia, dmitri/daphne,"
     "erik/elena, frank/frida, gavin/gloria, hugo/helga, ivan/ines, jonas/judith,"
     "kurt/klara, lars/lena"},
    {"surname", 6,
     "aldermann, barlow, castellan, drummond, ellery, fairfax, gundersen, hartwell,"
     "ingram, jansky, kowalt, lindqvar, moreau, nakamuri, ostrov, pemberton, quillon,"
     "rasmund, sandoval, thackeray, vasquine, whitlock, yardley, zimmerle, ashdown,"
     "bellweather, crowther, delacroy, everhart, fontaine, grimshaw, holloway,"
     "iversen, jellicoe, kestrel, lombardi, marchetti, northcote, oakley, petrovan,"
     "ravenscar, silverton, tolliver, wainwright, wexford, abernathy, blackwood,"
     "carmody"},
    {"weekday", 30, "monday, tuesday, wednesday, thursday, friday, saturday, sunday"},
    {"month", 30,
     "january, february, march, april, may, june, july, august, september, october,"
     "november, december"},
    {"number", 10,
     "two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, fifteen,"
     "twenty, thirty, forty, fifty, sixty, eighty, ninety"},
    {"paper", 4,
     "herald, courier, gazette, chronicle, tribune, observer, dispatch, examiner,"
     "bulletin, messenger"},
    {"royal* regalia retinue custom", 20,
     "king/queen/throne/courtiers/coronation, prince/princess/palace/footmen/frogs,"
     "duke/duchess/estate/gamekeepers/pheasants,"
     "emperor/empress/sceptre/legions/conquest,"
     "baron/baroness/manor/tenants/fireplaces,"
     "count/countess/carriage/coachmen/masquerade,"
     "heir/heiress/fortune/lawyers/inheritance"},
    {"kin* homelife keepsake errand", 20,
     "father/mother/pram/rattle/diapers, son/daughter/homework/satchel/exams,"
     "brother/sister/attic/bunk/quarrels, husband/wife/anniversary/honeymoon/sofa,"
     "uncle/aunt/farmhouse/tractor/cousins, nephew/niece/puzzle/crayons/babysitting,"
     "grandfather/grandmother/armchair/slippers/knitting,"
     "widower/widow/grief/graveside/loneliness,"
     "godfather/godmother/baptism/christening/candle,"
     "boy/girl/playground/swings/marbles"},
    {"player* show prop craftwork", 20,
     "actor/actress/film/director/screenplay, host/hostess/quiz/contestants/jackpot,"
     "hero/heroine/novel/dragon/chapters, sorcerer/sorceress/spell/wand/potion,"
     "comedian/comedienne/joke/laughter/punchline"},
    {"staff* duty burden shift", 20,
     "waiter/waitress/tray/tips/tables, landlord/landlady/lodging/rent/lodgers,"
     "steward/stewardess/cabin/passengers/seatbelts,"
     "barman/barmaid/taproom/pints/regulars,"
     "salesman/saleswoman/counter/commission/shoppers,"
     "headmaster/headmistress/schoolyard/pupils/detention"},
    /* food */
    {"dish", 6,
     "goulash, risotto, lasagne, paella, moussaka, curry, stew, pancakes, dumplings,"
     "noodles, omelette, casserole, chowder, ravioli, kebab, falafel, couscous,"
     "gnocchi, meatballs, schnitzel, quiche, fritters, porridge, pudding, pie, tart,"
     "salad, sandwich, soup, pizza, burrito, tagine, sauerkraut, cobbler"},
    {"ingredient", 5,
     "pepper, garlic, saffron, ginger, cinnamon, basil, thyme, parsley, mustard,"
     "vinegar, paprika, nutmeg, oregano, rosemary, cumin, turmeric, coriander, dill,"
     "sesame, cardamom, mint, sage"},
    {"drink", 6,
     "coffee, tea, wine, beer, cider, lemonade, cocoa, whisky, brandy, milkshake,"
     "sherry, rum, champagne, espresso"},
    {"fruit* grove picker preserve", 20,
     "apple/apples/orchard/hayloft/barn, cherry/cherries/blossom/sparrows/liqueur,"
     "lemon/lemons/terraces/zest/sorbet, grape/grapes/trellis/harvesters/raisins,"
     "plum/plums/wasps/brambles/jam, peach/peaches/nectar/velvet/cobblers,"
     "melon/melons/vines/seeds/rind, fig/figs/courtyard/goats/chutney,"
     "olive/olives/hillsides/donkeys/oil, banana/bananas/plantation/monkeys/fibre"},
    {"vegetable", 6,
     "carrots, onions, potatoes, cabbages, tomatoes, turnips, pumpkins, cucumbers,"
     "beetroots, radishes, leeks, spinach, celery, lettuce, peas, beans, mushrooms,"
     "artichokes"},
    {"cook* utensil batch kitchenhand", 20,
     "bake/baked/oven/loaves/bakers, fry/fried/skillet/batter/fishmongers,"
     "boil/boiled/pot/eggs/campers, grill/grilled/charcoal/sausages/barbecuers,"
     "roast/roasted/spit/chestnuts/vendors, chop/chopped/cleaver/herbs/trainees,"
     "knead/kneaded/bowl/dough/pastrycooks, smoke/smoked/barrel/trout/anglers"},
    {"tasty* relish platter morsel", 20,
     "sweet/sweeter/honey/beehive/caramel, spicy/spicier/chillies/peppers/salsa,"
     "salty/saltier/anchovies/brine/capers, crisp/crisper/crust/crackers/toast,"
     "juicy/juicier/steak/ribs/marinade"},
    {"foodnoun", 2,
     "recipe, menu, kitchen, supper, breakfast, banquet, picnic, dessert, bakery,"
     "butcher, grocer, cookbook, apron, napkin, tablecloth, cutlery, teapot, saucepan,"
     "freezer, pantry, bistro, tavern, canteen, buffet, feast, snack, appetite,"
     "flavour, aroma, diner, cheese, butter, yoghurt, flour, yeast, syrup, vanilla,"
     "walnut, almond, hazelnut, lentils, barley"},
    /* sport */
    {"sport", 6,
     "football, tennis, cricket, rugby, hockey, basketball, volleyball, handball,"
     "badminton, boxing, fencing, wrestling, archery, rowing, cycling, gymnastics,"
     "golf, judo, curling, baseball"},
    {"team", 6,
     "redhawks, ironbacks, bluefins, stormriders, wolverlings, goldfoxes, riverkings,"
     "nightowls, thunderbulls, greyhounds, skylarks, steelrams, seawolves, firecats,"
     "snowbears, windjammers, blackbirds, moonrakers, longbows, copperheads,"
     "highlanders, marshcats, starlings, bullfrogs"},
    {"position", 8,
     "goalkeeper, striker, defender, midfielder, winger, captain, substitute, forward,"
     "sweeper, fullback, playmaker, bowler"},
    {"gear* venue wearer defect", 20,
     "racket/rackets/court/ballboys/net, bat/bats/pitch/batsmen/wickets,"
     "saddle/saddles/stable/jockeys/stirrups, helmet/helmets/circuit/racers/visors,"
     "oar/oars/regatta/rowers/rudder, ski/skis/slope/snowboarders/chairlift,"
     "glove/gloves/ring/boxers/knockout, arrow/arrows/quiver/archers/bullseye"},
    {"compete* arena athlete stake", 20,
     "win/won/medal/champions/anthem, lose/lost/semifinal/underdogs/consolation,"
     "throw/threw/discus/decathletes/distance, ride/rode/horse/equestrians/paddock,"
     "swim/swam/pool/swimmers/butterfly, run/ran/marathon/joggers/finish,"
     "climb/climbed/summit/mountaineers/ropes, shoot/shot/rifle/marksmen/targets"},
    {"sporty* drill exercise workout", 20,
     "fast/faster/sprint/hurdles/stopwatch, strong/stronger/squats/dumbbells/biceps,"
     "tough/tougher/training/mudbath/bootcamp, "
     "fit/fitter/treadmill/stretching/stamina"},
    {"sportnoun", 2,
     "trophy, referee, umpire, tournament, championship, league, stadium, supporter,"
     "spectator, scoreboard, halftime, offside, rebound, dribble, header, volley,"
     "backhand, serve, corner, tackle, foul, fixture, transfer, contract, injury,"
     "comeback, upset, streak, rookie, veteran, coach, trainer, podium, mascot,"
     "banner, chant, derby, qualifier, playoff"},
    /* music */
    {"instrument* timbre virtuoso repertoire", 20,
     "guitar/guitars/chords/guitarists/frets, piano/pianos/keyboard/pianists/pedals,"
     "violin/violins/bow/violinists/rosin, drum/drums/sticks/drummers/snare,"
     "flute/flutes/breath/flautists/birdsong,"
     "trumpet/trumpets/fanfare/trumpeters/mute, harp/harps/angels/harpists/plucking,"
     "clarinet/clarinets/reed/clarinettists/klezmer,"
     "accordion/accordions/bellows/sailors/shanties,"
     "banjo/banjos/porch/cowboys/hoedown"},
    {"genre", 6,
     "jazz, blues, rock, folk, opera, reggae, techno, punk, swing, soul, disco, tango,"
     "samba, gospel, bluegrass, flamenco, waltz, polka"},
    {"band", 6,
     "velvetines, lanternfish, saturnalia, paperboats, halfmoons, ravenettes,"
     "silverkeys, dustbowlers, marigolds, northlights, glasshearts, wildgeese,"
     "tinsoldiers, nightbakers, cloudmakers, pinecones, brassmonks, turnstiles,"
     "owlcreek, fireflies"},
    {"perform* craft performer piece", 20,
     "sing/sang/choir/sopranos/carols, chant/chanted/abbey/novices/psalms,"
     "dance/danced/ballroom/couples/foxtrot,"
     "compose/composed/symphony/maestros/scores,"
     "rehearse/rehearsed/quartet/cellists/minuet,"
     "strum/strummed/ukulele/buskers/ditties, hum/hummed/cradle/nannies/lullaby,"
     "record/recorded/studio/producers/demos"},
    {"tuneful* passage sound effect", 20,
     "loud/louder/amplifier/speakers/feedback, sad/sadder/requiem/mourners/elegy,"
     "quick/quicker/rhythm/tambourine/jig, calm/calmer/nocturne/moonlight/interlude"},
    {"musicnoun", 2,
     "album, single, concert, encore, chorus, verse, lyrics, tour, festival, audience,"
     "applause, microphone, headphones, vinyl, playlist, songwriter, composer,"
     "conductor, soloist, duet, trio, rehearsal, stagehand, spotlight, ticket,"
     "backstage, tempo, harmony, octave, sonata, concerto, prelude, anthem, hymn,"
     "riff, bassline, drummer, pianist, violinist, singer"},
    /* health */
    {"illness", 6,
     "influenza, measles, malaria, asthma, diabetes, pneumonia, bronchitis,"
     "tuberculosis, cholera, arthritis, migraine, anaemia, hepatitis, eczema, mumps,"
     "insomnia, sciatica, tonsillitis, rabies, scurvy, typhoid, epilepsy, shingles,"
     "gout"},
    {"medicine", 6,
     "aspirin, antibiotics, insulin, penicillin, vaccine, ointment, painkillers,"
     "lozenges, steroids, vitamins, sedatives, antiseptic, eyedrops, antihistamine"},
    {"symptom", 5,
     "fever, headache, cough, rash, nausea, fatigue, dizziness, cramps, chills,"
     "swelling, itching, numbness, sneezing, wheezing"},
    {"organ* care helper ailment", 20,
     "knee/knees/crutches/physiotherapists/ligament,"
     "lung/lungs/ventilator/smokers/oxygen, kidney/kidneys/dialysis/urologists/stones,"
     "eye/eyes/spectacles/opticians/cataract, ear/ears/earplugs/audiologists/deafness,"
     "tooth/teeth/drill/dentists/cavity, ankle/ankles/plaster/hobblers/sprain,"
     "shoulder/shoulders/sling/masseurs/dislocation"},
    {"heal* remedy healer sufferer", 20,
     "examine/examined/scan/radiologists/skeleton,"
     "inject/injected/needle/anaesthetists/veins,"
     "bandage/bandaged/gauze/scouts/wounds,"
     "prescribe/prescribed/pills/physicians/tablets, wash/washed/soap/orderlies/linen,"
     "weigh/weighed/scales/midwives/newborns,"
     "diagnose/diagnosed/biopsy/pathologists/tumours,"
     "heal/healed/balm/herbalists/scars"},
    {"healthy* frailty state habit", 20,
     "weak/weaker/pulse/limbs/trembling, pale/paler/cheeks/lips/fainting,"
     "thin/thinner/diet/waist/fasting, healthy/healthier/smoothies/jogging/wholegrain,"
     "sleepy/sleepier/bedtime/pillow/yawning"},
    {"healthnoun", 2,
     "hospital, clinic, surgeon, nurse, pharmacist, midwife, therapist, ambulance,"
     "stretcher, sickbay, operation, anaesthetic, recovery, relapse, epidemic,"
     "quarantine, infection, bacteria, virus, immunity, allergy, hygiene, nutrition,"
     "cholesterol, heartbeat, wheelchair, stethoscope, thermometer, prescription,"
     "dosage, symptom, treatment, therapy, rehabilitation, donor, transplant,"
     "paramedic, patient, checkup, insurance"},
    /* technology */
    {"device* component technician accessory", 20,
     "laptop/laptops/hinge/students/trackpad,"
     "camera/cameras/lens/photographers/shutter,"
     "printer/printers/cartridge/secretaries/toner,"
     "robot/robots/gripper/roboticists/joints, drone/drones/propeller/pilots/rotors,"
     "router/routers/antenna/gamers/bandwidth,"
     "satellite/satellites/orbit/astronomers/thrusters,"
     "projector/projectors/bulb/lecturers/slides,"
     "calculator/calculators/digits/accountants/decimals,"
     "turbine/turbines/blades/electricians/dynamo"},
    {"company", 6,
     "axiotech, brightwave, cobaltix, datumeer, electrine, fluxworks, gridpoint,"
     "hexacore, inovis, jadelink, kinetra, lumenta, microdyne, nexalon, optavia,"
     "pixelforge, quantrel, robolith, silicore, tronica"},
    {"software", 6,
     "database, browser, compiler, firewall, spreadsheet, algorithm, website,"
     "emulator, debugger, spellchecker, chatbot, network, kernel, interface, "
     "simulator"},
    {"make* tool maker ware", 20,
     "build/built/scaffold/bricklayers/skyscraper,"
     "design/designed/blueprint/architects/floorplan,"
     "test/tested/laboratory/chemists/samples,"
     "repair/repaired/workbench/mechanics/gearbox,"
     "sell/sold/showroom/dealers/bargains,"
     "invent/invented/patent/tinkerers/contraption,"
     "launch/launched/countdown/cosmonauts/rocket, weld/welded/torch/shipwrights/hull"},
    {"handy* gadgetry benefit fitting", 20,
     "small/smaller/microchip/tweezers/wafer, cheap/cheaper/discount/coupons/outlet,"
     "light/lighter/aluminium/carbon/feather, smart/smarter/assistant/voice/reminders,"
     "safe/safer/encryption/padlock/passcode"},
    {"technoun", 2,
     "startup, investor, engineer, programmer, inventor, gadget, upgrade, download,"
     "hardware, circuitry, transistor, semiconductor, voltage, electricity, generator,"
     "plug, cable, button, touchscreen, pixel, memory, storage, backup, update, bug,"
     "glitch, outage, hacker, privacy, automation, prototype, assembly, conveyor,"
     "magnet, laser, microscope, telescope, spacecraft, astronaut, algorithms"},
    /* weather */
    {"storm", 6,
     "thunderstorm, blizzard, hurricane, tornado, hailstorm, heatwave, drought,"
     "downpour, gale, snowstorm, drizzle, fog, frost, cyclone, sandstorm, monsoon,"
     "cloudburst, sleet"},
    {"batter* victim weapon onlooker", 20,
     "freeze/froze/ponds/icy/ducks, flood/flooded/cellars/swollen/pumps,"
     "tear/tore/awnings/ragged/shopkeepers, bend/bent/poplars/howling/foresters,"
     "bury/buried/hedges/drifting/shepherds, soak/soaked/haystacks/pelting/farmhands,"
     "shake/shook/shutters/rattling/householders,"
     "delay/delayed/ferries/choppy/commuters"},
    {"weather* sign clothing scene", 20,
     "cold/colder/icicles/mittens/hearth, warm/warmer/crocuses/cardigan/balconies,"
     "hot/hotter/sunburn/sandals/fans, dry/drier/dust/cactus/wells,"
     "wet/wetter/puddles/galoshes/gutters, windy/windier/kites/windbreaker/dunes,"
     "dark/darker/dusk/lanterns/moths, sunny/sunnier/beaches/sunglasses/parasols"},
    {"damage* cause rescuer debris", 20,
     "roof/roofs/tiles/roofers/gutters, tree/trees/roots/lumberjacks/branches,"
     "boat/boats/anchor/fishermen/planks, road/roads/potholes/motorists/asphalt,"
     "fence/fences/posts/ranchers/wire, window/windows/panes/glaziers/splinters,"
     "dam/dams/reservoir/hydrologists/sluice, tent/tents/pegs/festivalgoers/canvas"},
    {"weathernoun", 2,
     "forecast, forecaster, temperature, degrees, barometer, humidity, rainfall,"
     "snowfall, thaw, rainbow, lightning, thunder, sunshine, sunrise, sunset, horizon,"
     "skyline, wind, breeze, gusts, tide, wave, avalanche, landslide, snowdrift,"
     "snowplough, raincoat, scarf, boots, mittens, sunscreen, shade, climate, glacier,"
     "iceberg, meteorologist, radar, evacuation, shelter"},
    /* politics */
    {"ministry", 8,
     "finance, defence, education, transport, agriculture, justice, energy, trade,"
     "housing, culture, environment, labour, fisheries, tourism"},
    {"party", 8,
     "liberals, conservatives, socialists, greens, republicans, monarchists,"
     "nationalists, federalists, centrists, reformists, agrarians, progressives"},
    {"official* office aide paperwork", 20,
     "senator/senators/senate/staffers/filibuster,"
     "mayor/mayors/townhall/aldermen/ribbon, judge/judges/courtroom/jurors/verdict,"
     "ambassador/ambassadors/embassies/envoys/protocol,"
     "governor/governors/province/troopers/pardon,"
     "general/generals/barracks/soldiers/medals,"
     "bishop/bishops/diocese/priests/sermon,"
     "teacher/teachers/classroom/parents/curriculum"},
    {"govern* motion faction dispute", 20,
     "sign/signed/treaty/negotiators/parchment,"
     "tax/taxed/incomes/treasurers/loopholes, lead/led/coalition/whips/backbenchers,"
     "choose/chose/candidate/delegates/primaries,"
     "ban/banned/smoking/campaigners/cigarettes,"
     "abolish/abolished/tariffs/importers/quotas, break/broke/truce/rebels/ambush,"
     "debate/debated/bill/lawmakers/clauses"},
    {"political* trend crowd demand", 20,
     "poor/poorer/peasants/hunger/bread, angry/angrier/protesters/slogans/barricades,"
     "wealthy/wealthier/bankers/dividends/yachts,"
     "busy/busier/lobbyists/corridors/lunches"},
    {"politicsnoun", 2,
     "election, parliament, president, chancellor, opposition, referendum,"
     "constitution, majority, minority, legislation, budget, deficit, inflation,"
     "subsidy, pension, welfare, strike, boycott, protest, petition, ceasefire,"
     "sanctions, summit, diplomat, negotiation, alliance, scandal, corruption,"
     "inquiry, committee, deputy, campaign, manifesto, poll, turnout, ballot, mandate,"
     "decree, monarchy, republic"},
};

const size_t tide_demo_list_count = COUNT(tide_demo_lists);

/* -- facts ------------------------------------------------------------------------- */

const tide_demo_fact tide_demo_facts[] = {
    {"group", "countries", "country"},
    {"group", "capitals", "capital"},
    {"group", "peoples", "demonym"},
    {"group", "currencies", "currency"},
    {"group", "towns", "town"},
    {"group", "rivers", "river"},
    {"group", "mountains", "mountain"},
    {"group", "names", "given*"},
    {"group", "surnames", "surname"},
    {"group", "weekdays", "weekday"},
    {"group", "months", "month"},
    {"group", "papers", "paper"},
    {"group", "dishes", "dish"},
    {"group", "seasonings", "ingredient"},
    {"group", "drinks", "drink"},
    {"group", "vegetables", "vegetable"},
    {"group", "fruits", "fruit*"},
    {"group", "sports", "sport"},
    {"group", "teams", "team"},
    {"group", "positions", "position"},
    {"group", "instruments", "instrument*"},
    {"group", "genres", "genre"},
    {"group", "bands", "band"},
    {"group", "illnesses", "illness"},
    {"group", "medicines", "medicine"},
    {"group", "symptoms", "symptom"},
    {"group", "devices", "device*"},
    {"group", "companies", "company"},
    {"group", "software", "software"},
    {"group", "storms", "storm"},
    {"group", "ministries", "ministry"},
    {"group", "parties", "party"},
    {"analogy", "capital", "country:capital"},
    {"analogy", "people", "country:demonym"},
    {"analogy", "currency", "country:currency"},
    {"analogy", "plural",
     "landmark* fruit* gear* instrument* organ* device* damage* official*"},
    {"analogy", "past", "tour* cook* compete* perform* heal* make* batter* govern*"},
    {"analogy", "gender", "royal* kin* player* staff*"},
    {"analogy", "comparative",
     "scenic* tasty* sporty* tuneful* healthy* handy* weather* political*"},
};
const size_t tide_demo_fact_count = COUNT(tide_demo_facts);
