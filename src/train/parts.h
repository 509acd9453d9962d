/* parts.h - the parts of a trainer, private to this folder.
 *
 *     run ──bytes──► intake ──lessons──► trainer ──► learner (sgns.c) ──► rows
 *                    tokenizer, vocabulary,          contexts, negatives, rates
 *                    sampler, replay
 *
 * The intake is the single writer of the vocabulary. It turns sentences into lessons: slots that
 * are known to be valid, sub-sampled, with everything random about them fixed by a number. Learning
 * a lesson is then pure arithmetic, which any thread can do.
 */
#ifndef TIDE_TRAIN_PARTS_H
#define TIDE_TRAIN_PARTS_H

#include "label/label.h"
#include "train/train.h"

enum {
    SENTENCE_MAX = 1000, /* tokens */
    RATE_HALF_LIFE_LEAST =
        50, /* tokens: the scale must not overflow within a sentence */
    WINDOW_MAX = 64,
    CONTEXTS_MIDDLE = WINDOW_MAX + TIDE_QUAD,
    NEGATIVE_MAX = 64,
    DELIMITER_MAX = 2, /* likewise */
    TEXT_MAX = 256, /* bytes of a parameter that is a text, the 0 at its end included */
    SHARED_DRAWS = 4, /* draws of a block, for each negative a pair should have */
};

/* -- params (params.c) ------------------------------------------------------------------------- */

typedef enum tide_profile {
    PROFILE_DEFAULT,
    PROFILE_FAST,
    PROFILE_PAPER,
    PROFILE_ATHENA,
    PROFILE_INCREMENTAL,
    PROFILE_WORD2VEC,
} tide_profile;

enum { TOKENS_WORDS, TOKENS_SPACE, TOKENS_SOCIAL, TOKENS_LOG };
enum { COUNT_ALL, COUNT_KEPT };
enum { KEEP_WORD2VEC, KEEP_ROOT };
enum { NEGATIVES_SHARED, NEGATIVES_PAIR };
enum { GRADIENT_BEFORE, GRADIENT_AFTER };
enum { CONTEXTS_WEIGHTED, CONTEXTS_DYNAMIC, CONTEXTS_FULL };
enum { INIT_SMALL, INIT_UNIFORM, INIT_NORMAL, INIT_BOTH };
enum {
    RATE_ADAGRAD,
    RATE_COORDINATE,
    RATE_LINEAR,
    RATE_POWER,
    RATE_CONSTANT,
    RATE_DECAY
};
enum { AGE_PAIR, AGE_CENTRE };
enum { FROZEN_NOT, FROZEN_WORDS, FROZEN_ALL };
enum { LABELS_OFF, LABELS_HASHTAGS, LABELS_MARKED };

struct tide_params {
    uint64_t profile;
    /* sizes */
    uint64_t vocab, dim, memory, threads, seed;
    /* sources to words */
    uint64_t tokens, tokens_version, numbers, hashtags, mentions, urls, min_length,
        max_length;
    uint64_t phrases, phrase_count;
    double phrase_threshold;
    uint64_t records;
    char stop_words[TEXT_MAX], text[TEXT_MAX], time[TEXT_MAX], label[TEXT_MAX];
    char delimiter[DELIMITER_MAX];
    const char *stop_list; /* that of a model, borrowed; NULL: what the file has */
    /* text to pairs */
    uint64_t window, contexts, counting, keep;
    double sample;
    /* vocabulary */
    uint64_t vocabulary, admission, half_life, frozen;
    /* batch */
    uint64_t epochs, min_count;
    /* negatives */
    uint64_t negative, negatives, exclude, sampler, reservoir;
    double power;
    /* learning */
    uint64_t init, gradient, rate, age;
    double alpha, alpha_output, alpha_first, min_alpha, tau;
    uint64_t rate_half_life;
    /* replay */
    uint64_t replay, replay_ring, replay_fade;
    /* subwords */
    uint64_t subword, minn, maxn;
    /* labels */
    uint64_t labels, label_slots, label_posts, label_memory, label_bytes;
    uint64_t label_top, label_each, label_refit, label_anchors;
    /* classifier */
    uint64_t classifier, maps, post_words, batch, fit_epochs, patience;
    double dropout, fit_rate, held_out;
    bool vocab_given;
    bool loaded; /* from a model, whose size is what it is */
    /* what others in the process need beside such a trainer; NULL for nothing */
    uint64_t (*others)(const tide_params *params, const void *data);
    const void *others_data;
};

/* What a trainer allocates, and what a process with it comes to. */
uint64_t tide_params_total(const tide_params *params);
uint64_t tide_params_process(const tide_params *params);

bool tide_params_on_resume(const char *name);

/* Whether this asks for no value of its own, so that the one of a model that is resumed will do. */
bool tide_params_any(const char *name, const char *value);

/* Whether no word comes or goes and nothing is counted: in batch training, whose vocabulary was made
 * beforehand, and when it is frozen. */
bool tide_params_fixed(const tide_params *params);

/* Whether a run reads its sources several times. */
bool tide_params_batch(const tide_params *params);

/* Sees that the parameters fit together and chooses the vocabulary's size if only the memory was
 * given. */
int tide_params_settle(tide_params *params, tide_error *err);

/* "name value" lines of all parameters that shape the result; free with free(). */
char *tide_params_print(const tide_params *params);

/* Reads them back; `path` is the file that they come from. */
int tide_params_scan(tide_params *params, const char *text, const char *path,
                     tide_error *err);

tide_sampler_options tide_params_sampler(const tide_params *params);

/* The texts in the options are the parameters' own, or `stop_words`, which may be NULL. */
tide_tokenizer_options tide_params_tokenizer(const tide_params *params,
                                             const char *stop_words);
tide_record_options tide_params_records(const tide_params *params);

/* Whether a word is a label; *label is then its name, within the word, which may be empty. */
bool tide_params_label(const tide_params *params, const tide_word *word,
                       tide_word *label);
tide_tracker_options tide_params_tracker(const tide_params *params);
tide_teller_options tide_params_teller(const tide_params *params);

/* -- lessons --------------------------------------------------------------------------------- */

typedef struct tide_lesson {
    const uint32_t *slots; /* TIDE_NO_SLOT for a hole; only with contexts full */
    uint32_t count;
    uint64_t number;         /* seeds all that is random about it */
    uint64_t sentence;       /* being read when it was given */
    bool fresh;              /* text not trained before: its loss is an honest one */
    const tide_draws *draws; /* where negatives come from */
    float scale;             /* of the rates */
} tide_lesson;

/* -- contexts (contexts.c) ----------------------------------------------------------------------- */

typedef struct tide_contexts {
    uint64_t kind;
    uint32_t width;
    /* weights[CONTEXTS_MIDDLE + d] of the word d to the right, or to the left where d is negative; 0 of the word
     * itself, and of those that are out of its reach. */
    float weights[2 * CONTEXTS_MIDDLE + 1];
    float reach[WINDOW_MAX + 1]; /* weight of the nearest so many on one side */
} tide_contexts;

void tide_contexts_init(tide_contexts *contexts, const tide_params *params);

/* The contexts of word `at` of the lesson are [*first, *last] without itself. False when it has none. */
bool tide_contexts_around(const tide_contexts *contexts, const tide_lesson *lesson,
                          tide_rng *rng, uint32_t at, uint32_t *first, uint32_t *last);

/* -- the learner (sgns.c) ---------------------------------------------------------------- */

typedef struct tide_rates tide_rates; /* rates.h */

/* What learning adds up; each thread has its own. */
typedef struct tide_learned {
    uint64_t centres;
    double loss;
    double pairs;
} tide_learned;

typedef struct tide_learner {
    const tide_params *params;
    tide_model *model;
    tide_rates *rates;
    const tide_kernels *kernels;
    tide_contexts contexts;
    const uint64_t *closed; /* bit per slot: not to be drawn; NULL with one thread */
} tide_learner;

/* The room one thread needs to learn. `chosen`, which may be NULL, are the slots that other threads want too
 * (copies.c). */
typedef struct tide_desk tide_desk;

tide_desk *tide_desk_new(uint32_t dim, const _Atomic uint32_t *chosen, tide_error *err);
void tide_desk_free(tide_desk *desk);
uint64_t tide_desk_bytes(uint32_t dim, bool copies);

/* For the thread that gives lessons: all are learned, so that what the desk has copied is to be in the model;
 * a slot has been closed because it gets another word. */
void tide_desk_settle(tide_desk *desk, const tide_learner *learner);
void tide_desk_recall(tide_desk *desk, uint32_t slot);

void tide_learn(const tide_learner *learner, tide_desk *desk, const tide_lesson *lesson,
                tide_learned *learned);

/* Initial vectors of the word in a slot, from hash(seed, word). (init.c) */
void tide_init_slot(const tide_learner *learner, uint32_t slot);
void tide_init_subwords(const tide_learner *learner);

/* -- replay (replay.c) --------------------------------------------------------------------------------- */

typedef struct tide_replay tide_replay;

tide_replay *tide_replay_new(const tide_params *params, tide_error *err);
void tide_replay_free(tide_replay *replay);
uint64_t tide_replay_bytes(const tide_params *params);

/* Remembers a sentence, number `now`. Returns true when that completed a chunk, and repeats are due. */
bool tide_replay_remember(tide_replay *replay, const uint32_t *slots, uint32_t count,
                          uint64_t now);

/* The slot has another word from now on: forget it where the stamps cannot tell. */
void tide_replay_forget(tide_replay *replay, uint32_t slot);

typedef struct tide_memory {
    const uint32_t *tokens; /* TIDE_FIRST marks the first of a sentence */
    uint32_t count;
    uint64_t stamp; /* words admitted after this sentence are others */
} tide_memory;

#define TIDE_FIRST (UINT32_C(1) << 31)

/* The chunk to repeat as number `turn` of replay - 1; false when none is due. */
bool tide_replay_recall(tide_replay *replay, uint32_t turn, uint64_t tokens,
                        tide_memory *memory);

void tide_replay_save(const tide_replay *replay, tide_store_writer *writer);
int tide_replay_load(tide_replay *replay, uint32_t vocab, tide_store *store,
                     tide_error *err);

/* The smallest ring that what was saved fits. */
uint64_t tide_replay_saved_ring(const tide_store *store);

/* -- positions (positions.c) ---------------------------------------------------------------------------- */

/* How far an unfinished run has come in its sources, so that the next one can go on. */
enum { SPEC_MAX = 4096, PLACE_MAX = 1 << 20 };

typedef struct tide_position {
    char *spec;
    char *place; /* as the source wrote it; NULL while there is none */
    bool live;   /* the state of the intake belongs to this source */
    bool taken;  /* by a source of the run that goes on */
} tide_position;

typedef struct tide_positions {
    tide_position *items;
    size_t count;
} tide_positions;

/* Another source is begun: its number. Then, how far it has come: `place` is taken over. */
int tide_positions_begin(tide_positions *positions, const char *spec, size_t *number,
                         tide_error *err);
void tide_positions_note(tide_positions *positions, size_t number, char *place,
                         bool live);

/* The first place noted for a source of this name that was not taken yet; NULL without. */
tide_position *tide_positions_take(tide_positions *positions, const char *spec);

void tide_positions_clear(tide_positions *positions);

/* Makes `copy` the same. */
int tide_positions_copy(const tide_positions *positions, tide_positions *copy,
                        tide_error *err);
void tide_positions_save(const tide_positions *positions, tide_store_writer *writer);
int tide_positions_load(tide_positions *positions, tide_store *store, tide_error *err);

/* -- phrases (phrases.c) ------------------------------------------------------------------------------------ */

typedef struct tide_phrases tide_phrases;

/* The counts come out of the store, if there is one; the rest follows with tide_phrases_load. */
tide_phrases *tide_phrases_new(const tide_params *params, tide_store *store,
                               tide_error *err);
void tide_phrases_free(tide_phrases *phrases);
uint64_t tide_phrases_bytes(const tide_params *params);

/* Gives words as tide_tokenizer_take does. */
typedef size_t tide_take(void *from, tide_word *words, size_t room,
                         bool *sentence_ended);

/* The same, with words joined. */
size_t tide_phrases_take(tide_phrases *phrases, tide_take *take, void *from,
                         tide_word *words, size_t room, bool *sentence_ended);

/* Whether no word is held back. */
bool tide_phrases_between(const tide_phrases *phrases);

/* Sections phrase and phrase.*. */
void tide_phrases_save(const tide_phrases *phrases, tide_store_writer *writer);
int tide_phrases_load(tide_phrases *phrases, tide_store *store, tide_error *err);

/* -- reader (reader.c) -------------------------------------------------------------------------------------- */

/* Records, tokenizer and phrases, as the parameters want them. Its functions are those of a
 * tide_tokenizer. */
typedef struct tide_reader tide_reader;

/* Counts of phrases and the stop words come out of the store, if there is one; the rest follows with
 * tide_reader_load. */
tide_reader *tide_reader_new(const tide_params *params, tide_store *store,
                             tide_error *err);
void tide_reader_free(tide_reader *reader);
uint64_t tide_reader_bytes(const tide_params *params); /* without phrases */

/* Whether what is fed from now on are lines of text rather than records. To be changed only between records. */
void tide_reader_plain(tide_reader *reader, bool plain);
size_t tide_reader_feed(tide_reader *reader, const void *bytes, size_t size);
void tide_reader_end(tide_reader *reader);
size_t tide_reader_take(tide_reader *reader, tide_word *words, size_t room,
                        bool *sentence_ended);

/* Once a sentence has ended: its labels as they came, at most 256, until the next take. */
const tide_word *tide_reader_labels(const tide_reader *reader, size_t *count);

bool tide_reader_between(const tide_reader *reader);

/* Whether what is fed now falls into records, and then as tide_records_take_back. */
bool tide_reader_in_records(const tide_reader *reader);
size_t tide_reader_take_back(tide_reader *reader, void *bytes, uint64_t *skipped);
void tide_reader_skip(tide_reader *reader, uint64_t skipped);

/* What it has to say about bytes, records and words left out. */
void tide_reader_stats(const tide_reader *reader, tide_stats *stats);

/* Why no record has any text, in a line; NULL if that is not so. */
const char *tide_reader_problem(const tide_reader *reader);

/* Whether texts begin with the names of columns, and whether these are still to come. */
bool tide_reader_has_names(const tide_reader *reader);
bool tide_reader_names_due(const tide_reader *reader);

void tide_reader_save(const tide_reader *reader, tide_store_writer *writer);
int tide_reader_load(tide_reader *reader, tide_store *store, tide_error *err);

/* -- wording (wording.c) ---------------------------------------------------------------------------------- */

/* The words of a text as a model that does not learn knows them. */
typedef struct tide_wording tide_wording;

tide_wording *tide_wording_new(const tide_model *model, tide_error *err);

/* The same for what people ask for: nothing is left out as a stop word or for its length, and a file of vectors
 * alone has the words of the default parameters. */
tide_wording *tide_wording_new_asked(const tide_model *model, tide_error *err);

/* Words are joined to phrases as this model holds them, from now on. */
void tide_wording_look_at(tide_wording *wording, const tide_model *model);
void tide_wording_free(tide_wording *wording);

/* Is given a word that is valid during the call. */
typedef void tide_take_word(void *to, const tide_word *word);

/* More of the text, cut anywhere; and its end, after which the next begins. */
void tide_wording_add(tide_wording *wording, const char *text, size_t size,
                      tide_take_word *take, void *to);
void tide_wording_end(tide_wording *wording, tide_take_word *take, void *to);

/* -- labels (labels.c) ---------------------------------------------------------------------------------------- */

/* What a trainer has to do with the labels of its posts. */
typedef struct tide_labels tide_labels;

/* `closed`: slots whose vectors are not to be read. Comes out of the store, if there is one. */
tide_labels *tide_labels_new(const tide_params *params, const tide_model *model,
                             const uint64_t *closed, tide_store *store,
                             tide_error *err);
void tide_labels_free(tide_labels *labels);

/* What is there all the time, and what comes with learning to tell them. */
uint64_t tide_labels_bytes(const tide_params *params);
uint64_t tide_labels_fit_bytes(const tide_params *params);
void tide_labels_save(const tide_labels *labels, tide_store_writer *writer);

typedef struct tide_post_read {
    const tide_word *words; /* at most SENTENCE_MAX */
    size_t word_count;
    const tide_word *labels; /* as they came */
    size_t label_count;
    double time; /* NAN without */
} tide_post_read;

/* A post, before its words are counted or learned; `again` when its text has been read before. Whether it
 * is time for tide_labels_refit, once all before it is learned. */
bool tide_labels_post(tide_labels *labels, const tide_post_read *post, bool again);

/* Whether that is done: false when it was `stoppable` and the run has been asked to stop. The classifier is then
 * as it was before. */
bool tide_labels_refit(tide_labels *labels, bool stoppable);
void tide_labels_stop(tide_labels *labels, const volatile sig_atomic_t *stop);

/* What went wrong with that, once; NULL for nothing. */
const char *tide_labels_problem(tide_labels *labels);

/* As tide_trainer_fit and so on. */
int tide_labels_fit(tide_labels *labels, tide_epoch_watch *watch, void *data,
                    tide_error *err);
void tide_labels_watch(tide_labels *labels,
                       void (*post)(void *data, const tide_told *told),
                       tide_epoch_watch *epoch, void *data);
void tide_labels_stats(const tide_labels *labels, tide_label_stats *stats);
size_t tide_labels_list(const tide_labels *labels, tide_label *list, size_t room);

/* -- intake (intake.c) ------------------------------------------------------------------------------------ */

#define TIDE_EVERY_SENTENCE (UINT64_MAX - 1) /* even then there is a next */

/* Who takes the lessons. */
typedef struct tide_school {
    void *self;
    /* The slots are copied if they are needed beyond the call. */
    void (*teach)(void *self, const tide_lesson *lesson);
    /* The last sentence of which all lessons have been learned; TIDE_EVERY_SENTENCE when all have. */
    uint64_t (*finished)(void *self);
    /* Returns when every lesson so far has been learned. */
    void (*wait)(void *self);
    /* The slot has been closed: it gets another word. */
    void (*recall)(void *self, uint32_t slot);
} tide_school;

/* One that has learned a lesson when `teach` returns (crew.c). */
tide_school tide_school_at_once(void *self, void (*teach)(void *, const tide_lesson *));

typedef struct tide_intake tide_intake;

/* The sampler comes out of the store, if there is one; the rest follows with tide_intake_load. */
tide_intake *tide_intake_new(const tide_params *params, const tide_learner *learner,
                             tide_store *store, tide_error *err);
void tide_intake_free(tide_intake *intake);
uint64_t tide_intake_bytes(const tide_params *params);

/* To be set before the first feed. */
void tide_intake_school(tide_intake *intake, tide_school school);

/* Posts go to the labels before they are learned. To be set before the first feed. */
void tide_intake_labels(tide_intake *intake, tide_labels *labels,
                        const uint64_t *passes);

/* hands[slot] counts from now on how often the slot changes hands; NULL for no more. Others may read it. */
void tide_intake_hands(tide_intake *intake, _Atomic uint32_t *hands);

/* Bit per slot: its old vectors may still be in use, so it is not to be drawn. */
const uint64_t *tide_intake_closed(const tide_intake *intake);

/* As tide_reader_plain. */
void tide_intake_plain(tide_intake *intake, bool plain);
void tide_intake_feed(tide_intake *intake, const void *bytes, size_t size);
void tide_intake_end(tide_intake *intake);

/* Whether the last sentence is complete and the next has not begun. */
bool tide_intake_between(const tide_intake *intake);

/* As those of tide_reader. All that was fed before the half-read record is taken. */
bool tide_intake_in_records(const tide_intake *intake);
size_t tide_intake_take_back(tide_intake *intake, void *bytes, uint64_t *skipped);
void tide_intake_skip(tide_intake *intake, uint64_t skipped);

/* Whether a stop has left a post, and all that was fed after it, for later: until then nothing is learned. The next
 * feed or end sees to that first. */
bool tide_intake_waits(const tide_intake *intake);

/* Gives a word a slot before the first sentence, with its first vectors. TIDE_NO_SLOT when it has
 * one or none is left. */
uint32_t tide_intake_grant(tide_intake *intake, const tide_word *word, uint64_t count,
                           uint64_t error);

/* No word comes any more: makes the table of negatives if there is none yet. False when there is nothing to
 * draw, and so nothing can be learned. */
bool tide_intake_ready(tide_intake *intake);

uint64_t tide_intake_tokens(const tide_intake *intake);

/* The same without those that were left out because nobody knows them and the words are fixed: what
 * time is for the rates. */
uint64_t tide_intake_clock(const tide_intake *intake);

/* Records left out, whatever the reason. */
uint64_t tide_intake_bad_records(const tide_intake *intake);
/* As those of tide_reader. */
const char *tide_intake_problem(const tide_intake *intake);
bool tide_intake_has_names(const tide_intake *intake);
bool tide_intake_names_due(const tide_intake *intake);
void tide_intake_stats(const tide_intake *intake, tide_stats *stats);

/* Calls `pause` between two sentences, the first time that the number of tokens has reached or passed
 * another multiple of `every`. The intake must not be fed meanwhile. NULL for no more. */
void tide_intake_pause(tide_intake *intake, uint64_t every, void (*pause)(void *data),
                       void *data);

/* Waits until all lessons are learned and opens all slots: the state that can be saved. */
void tide_intake_settle(tide_intake *intake);

/* Sections intake.*, tokenizer, sampler.*, replay.*. */
void tide_intake_save(const tide_intake *intake, tide_store_writer *writer);
int tide_intake_load(tide_intake *intake, tide_store *store, tide_error *err);

/* -- keeper (keeper.c) -------------------------------------------------------------------------- */

/* Makes checkpoints safe while training goes on. */
typedef struct tide_keeper tide_keeper;

tide_keeper *tide_keeper_new(tide_error *err);
void tide_keeper_free(tide_keeper *keeper); /* once the last is in its place */

/* Of all that is given to it, the one before must be done, and have been asked for if it was to be finished. */

/* As tide_store_make_room: the caller keeps the file, and does not touch it before that is done. */
void tide_keeper_make_room(tide_keeper *keeper, tide_store_writer *writer,
                           uint64_t bytes);

/* From here on the keeper writes what is put into the file, and owns it, also after a failure. */
int tide_keeper_begin(tide_keeper *keeper, tide_store_writer *writer, tide_error *err);

/* That file has been sealed. `older` as in tide_store_publish. */
void tide_keeper_finish(tide_keeper *keeper, uint32_t older);

/* Whether one is still on its way, after waiting for it for so long. */
bool tide_keeper_busy(tide_keeper *keeper, int wait_ms);

typedef struct tide_kept {
    int status; /* TIDE_OK when the file is safe and in its place */
    tide_error error;
    double seconds; /* that it took */
} tide_kept;

/* What became of the last one finished, once. False when nothing has, or not yet. */
bool tide_keeper_ask(tide_keeper *keeper, tide_kept *kept);

/* -- crew (crew.c) ----------------------------------------------------------------------------- */

typedef struct tide_crew tide_crew;

/* What has been learned: the loss is summed over the last million or so of pairs. */
typedef struct tide_progress {
    uint64_t centres;
    double loss;
    double pairs;
} tide_progress;

tide_crew *tide_crew_new(const tide_learner *learner, tide_error *err);
void tide_crew_free(tide_crew *crew);
uint64_t tide_crew_bytes(const tide_params *params);

tide_school tide_crew_school(tide_crew *crew);
tide_progress tide_crew_progress(tide_crew *crew);
void tide_crew_go_on_from(tide_crew *crew, tide_progress progress);

/* -- import (import.c) -------------------------------------------------------------------------------------- */

/* As tide_trainer_import. */
int tide_import(tide_intake *intake, const tide_learner *learner, tide_rows *rows,
                const char *counts_path, tide_imported *done, tide_error *err);

/* -- trainer (trainer.c) ------------------------------------------------------------------------------------ */

tide_positions *tide_trainer_positions(tide_trainer *trainer);

/* The file that it was loaded from, also if that was an older one beside it; NULL for a new one. */
const char *tide_trainer_origin(const tide_trainer *trainer);

/* How often a batch run has read all its text. */
uint64_t *tide_trainer_passes(tide_trainer *trainer);

/* Sees that all vectors are numbers, all lessons learned; returns how many were begun again since the trainer
 * was made, because they were not. Called before anything is saved, too. */
uint64_t tide_trainer_scrub(tide_trainer *trainer);

/* The first half of saving: fills the file and seals it; returns how large it is. */
uint64_t tide_trainer_write(tide_trainer *trainer, tide_store_writer *writer);

/* How large it would be, less what is small beside the vectors. */
uint64_t tide_trainer_write_bytes(const tide_trainer *trainer);

/* An empty one for these parameters, whoever fills its vocabulary. */
tide_trainer *tide_trainer_make(const tide_params *params, tide_error *err);

/* The vocabulary is filled or loaded: lets the rates know how much there is to learn and, where words are
 * fixed, sees that there are negatives. */
int tide_trainer_plan(tide_trainer *trainer, tide_error *err);
tide_intake *tide_trainer_intake(tide_trainer *trainer);
tide_labels *tide_trainer_label_part(tide_trainer *trainer); /* NULL without */

/* -- live (live.c) --------------------------------------------------------------------------------------------- */

/* Who asks while the trainer learns; NULL for nobody. */
void tide_trainer_set_live(tide_trainer *trainer, tide_live *live);
tide_live *tide_trainer_live(const tide_trainer *trainer);

/* Some ten times a second, by the thread that learns: the figures, and now and then the words. */
void tide_live_tick(tide_live *live, double now);

#endif
