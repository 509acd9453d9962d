/* params_table.c - THE table of parameters, and the profiles.
 *
 * Flags of the command, tide_params_set, the params section of a model file and the lists in the
 * documents all come from the one table below. A profile is a list of settings in the same words.
 */
#include "model/model.h"
#include "params/params.h"
#include "params/params_internal.h"
#include "vocab/vocab.h"

#define MOST_TOKENS 9e18

/* ROW(kind, field, least, most, keeping, name, aliases, former, values, initial, help, group, on_resume) */
#define PARAMETERS(ROW)                                                                \
    ROW(CHOICE, profile, 0, 0, FILED, "profile", "", "",                               \
        "default|fast|paper|athena|incremental|word2vec", "default",                   \
        "the whole recipe; other options change parts of it", "Recipe", false)         \
    ROW(COUNT, vocab, 1, TIDE_CAPACITY_MAX, FILED, "vocab",                            \
        "vocab-size max-vocab-size", "", "1..1073741824", "70000",                     \
        "words to hold at any time", "Size", false)                                    \
    ROW(COUNT, dim, 1, TIDE_DIM_MAX, FILED, "dim", "size vector-size", "", "1..4096",  \
        "100", "numbers in a vector", "Size", false)                                   \
    ROW(SIZE, memory, 0, 1e15, LOCAL, "memory", "max-memory", "",                      \
        "bytes, as 512M or 2G; 0 for any", "0",                                        \
        "hold as many words as a process of this size has room for", "Size", true)     \
    ROW(COUNT, threads, 1, 256, LOCAL, "threads", "thread workers", "", "1..256", "1", \
        "threads; with 1 the result depends on text and seed alone", "Size", true)     \
    ROW(SEED, seed, 0, MOST_TOKENS, FILED, "seed", "", "", "0..9e18 or random", "1",   \
        "of everything random; random: one that nobody knows beforehand", "Size",      \
        false)                                                                         \
    ROW(CHOICE, tokens, 0, 0, FILED, "tokenizer", "", "tokens",                        \
        "words|space|social|log", "words",                                             \
        "what a word is: Unicode words, anything between spaces, the same with "       \
        "hashtags and emoji, "                                                         \
        "log lines with numbers and the like masked",                                  \
        "Text", false)                                                                 \
    ROW(CHOICE, tokens_version, 0, 0, LATER, "tokenizer-version", "",                  \
        "tokens-version", "1|2", "2",                                                  \
        "rules for words; 2: Thai, Lao, Khmer and Burmese by syllables, Greek final "  \
        "sigma and Japanese long vowels kept; 1: as models from before",               \
        "Text", false)                                                                 \
    ROW(CHOICE, numbers, 0, 0, FILED, "numbers", "", "", "keep|mask|drop", "keep",     \
        "words, social: what becomes of numbers; mask: <number>", "Text", false)       \
    ROW(CHOICE, hashtags, 0, 0, FILED, "hashtags", "", "", "keep|mask|drop|word",      \
        "keep", "social: keep, <hashtag>, leave out, or without the sign", "Text",     \
        false)                                                                         \
    ROW(CHOICE, mentions, 0, 0, FILED, "mentions", "", "", "keep|mask|drop|word",      \
        "mask", "social: keep, <user>, leave out, or without the sign", "Text", false) \
    ROW(CHOICE, urls, 0, 0, FILED, "urls", "", "", "keep|mask|drop", "mask",           \
        "social: keep, <url>, or leave out", "Text", false)                            \
    ROW(COUNT, min_length, 1, TIDE_WORD_MAX, FILED, "min-length", "", "", "1..63",     \
        "1", "leave out words of fewer characters", "Text", false)                     \
    ROW(COUNT, max_length, 1, TIDE_WORD_MAX, FILED, "max-length", "", "", "1..63",     \
        "63", "leave out words of more characters", "Text", false)                     \
    ROW(TEXT, stop_words, 0, TEXT_MAX, FILED, "stop-words", "", "",                    \
        "a file, one word a line", "",                                                 \
        "leave out these words, given as they would come out", "Text", false)          \
    ROW(COUNT, phrases, 0, TIDE_CAPACITY_MAX, FILED, "phrases", "", "",                \
        "0..1073741824", "0",                                                          \
        "count so many words and pairs, and join pairs that belong together: "         \
        "new_york",                                                                    \
        "Text", false)                                                                 \
    ROW(REAL, phrase_threshold, 0, 1e12, FILED, "phrase-threshold", "", "", "0..1e12", \
        "100", "a pair is joined when it comes so many times as often as by chance",   \
        "Text", true)                                                                  \
    ROW(COUNT, phrase_count, 1, MOST_TOKENS, FILED, "phrase-count",                    \
        "phrase-min-count", "", "1..9e18", "5",                                        \
        "and has been seen more often than this", "Text", true)                        \
    ROW(CHOICE, records, 0, 0, FILED, "records", "", "", "lines|json|csv|tsv",         \
        "lines",                                                                       \
        "what a line of the source is; with lines, what looks like something else is " \
        "read as text, too",                                                           \
        "Records", true)                                                               \
    ROW(TEXT, text, 0, TEXT_MAX, FILED, "text", "text-field", "",                      \
        "fields, with commas between them", "",                                        \
        "where the text is: user.name in JSON, a name or number of a column",          \
        "Records", true)                                                               \
    ROW(TEXT, time, 0, TEXT_MAX, FILED, "time", "time-field", "", "a field", "",       \
        "where the time is, so that the log shows how far the stream has come",        \
        "Records", true)                                                               \
    ROW(TEXT, label, 0, TEXT_MAX, FILED, "label-field", "", "label", "a field", "",    \
        "where a label is, or an array of them; in the text __label__NAME", "Records", \
        true)                                                                          \
    ROW(TEXT, delimiter, 0, DELIMITER_MAX, OPTIONAL, "delimiter", "", "",              \
        "a character", "",                                                             \
        "csv: what is between columns (default: found in a line with names, "          \
        "otherwise "                                                                   \
        "a comma)",                                                                    \
        "Records", true)                                                               \
    ROW(COUNT, window, 1, WINDOW_MAX, FILED, "window", "ws", "", "1..64", "8",         \
        "how far a context may be from its word", "Contexts", false)                   \
    ROW(CHOICE, contexts, 0, 0, FILED, "contexts", "", "", "weighted|dynamic|full",    \
        "weighted",                                                                    \
        "all in the window weighted by 1/distance, a random width, or whole windows "  \
        "only",                                                                        \
        "Contexts", false)                                                             \
    ROW(REAL, sample, 0, 1, FILED, "sample", "t", "", "0..1, 0 for off", "0.0001",     \
        "words more frequent than this are thinned out", "Contexts", true)             \
    ROW(CHOICE, keep, 0, 0, FILED, "subsample", "", "keep", "word2vec|root",           \
        "word2vec",                                                                    \
        "chance to stay: (sqrt(f)+1)/f or 1/sqrt(f), f = frequency/sample",            \
        "Contexts", false)                                                             \
    ROW(CHOICE, counting, 0, 0, FILED, "counting", "", "", "all|kept", "all",          \
        "count every token, or only those that stay", "Contexts", false)               \
    ROW(CHOICE, vocabulary, 0, 0, FILED, "sketch", "", "vocabulary",                   \
        "space-saving|misra-gries|exact", "space-saving", "which words are held",      \
        "Vocabulary", false)                                                           \
    ROW(CHOICE, admission, 0, 0, FILED, "admission", "", "", "none|gate", "gate",      \
        "space-saving: a newcomer takes a slot at once, or once it beats the "         \
        "smallest count",                                                              \
        "Vocabulary", false)                                                           \
    ROW(COUNT, half_life, 0, MOST_TOKENS, FILED, "half-life", "", "",                  \
        "tokens, 0 for never", "0",                                                    \
        "halve all counts every so many tokens, to follow a drifting stream",          \
        "Vocabulary", false)                                                           \
    ROW(CHOICE, frozen, 0, 0, OPTIONAL, "frozen", "", "", "no|yes|all", "no",          \
        "with --resume: words and counts stay as they are, and words that are not "    \
        "held are left out of their sentences; all: vectors stay as well",             \
        "Vocabulary", true)                                                            \
    ROW(COUNT, epochs, 0, 10000, OPTIONAL, "epochs", "epoch iter", "", "0..10000",     \
        "0",                                                                           \
        "read stored text so many times, after its words were counted; 0 for a "       \
        "stream",                                                                      \
        "Batch", true)                                                                 \
    ROW(COUNT, min_count, 1, MOST_TOKENS, OPTIONAL, "min-count", "minCount", "",       \
        "1..9e18", "5", "and leave out words that occur less often", "Batch", false)   \
    ROW(COUNT, negative, 0, NEGATIVE_MAX, FILED, "negative", "neg", "", "0..64", "5",  \
        "negatives for each pair", "Negatives", false)                                 \
    ROW(CHOICE, negatives, 0, 0, FILED, "negative-sharing", "", "negatives",           \
        "shared|pair", "shared",                                                       \
        "shared by neighboring words, or drawn for each pair", "Negatives", false)     \
    ROW(CHOICE, exclude, 0, 0, FILED, "exclude", "", "", "no|yes", "yes",              \
        "do not use a context as its own negative", "Negatives", false)                \
    ROW(CHOICE, sampler, 0, 0, FILED, "sampler", "", "", "alias|reservoir|smoothed",   \
        "alias", "draw from counts^power, a sample of the stream, or a smoothed one",  \
        "Negatives", false)                                                            \
    ROW(REAL, power, 0, 1, FILED, "power", "ns-exponent", "", "0..1", "0.75",          \
        "smoothing of the negatives", "Negatives", false)                              \
    ROW(COUNT, reservoir, 1, 4294967296.0, FILED, "reservoir", "", "", "1..2^32",      \
        "10000000", "entries of the reservoirs", "Negatives", false)                   \
    ROW(CHOICE, rate, 0, 0, FILED, "optimizer", "", "rate",                            \
        "adagrad|coordinate|linear|power|constant|decay", "adagrad",                   \
        "how steps shrink: by a row's gradients, by a coordinate's, by a slot's age, " \
        "not, or evenly to the end of the last epoch, where they stay at "             \
        "--min-alpha; decay does not shrink them in a stream, which has no end",       \
        "Learning", false)                                                             \
    ROW(REAL, alpha, 1e-9, 10, FILED, "alpha", "lr", "", "1e-9..10", "0.3",            \
        "learning rate", "Learning", true)                                             \
    ROW(REAL, alpha_output, 1e-6, 10, FILED, "alpha-output", "", "", "1e-6..10",       \
        "0.2", "the same for output vectors, as a part of alpha", "Learning", true)    \
    ROW(REAL, alpha_first, 1e-6, 10, FILED, "alpha-first", "", "", "1e-6..10", "0.3",  \
        "adagrad: the first step of a new word", "Learning", true)                     \
    ROW(REAL, min_alpha, 0, 1, FILED, "min-alpha", "", "", "0..1", "0",                \
        "no step is smaller than this; where decay ends, and may be changed with "     \
        "--resume",                                                                    \
        "Learning", true)                                                              \
    ROW(COUNT, rate_half_life, 0, MOST_TOKENS, FILED, "rate-half-life", "", "",        \
        "tokens, 50 or more; 0 for never", "100000000",                                \
        "adagrad: forget half of the old gradients after so many tokens", "Learning",  \
        true)                                                                          \
    ROW(REAL, tau, 1, 1e18, FILED, "tau", "", "", "1..1e18", "100",                    \
        "linear, power: the age at which rates have fallen", "Learning", true)         \
    ROW(CHOICE, age, 0, 0, FILED, "age", "", "", "pair|centre", "pair",                \
        "linear: a slot ages with every pair, or as a center word only", "Learning",   \
        false)                                                                         \
    ROW(CHOICE, gradient, 0, 0, FILED, "gradient", "", "", "before|after", "before",   \
        "input vectors follow output vectors before or after these moved", "Learning", \
        false)                                                                         \
    ROW(CHOICE, init, 0, 0, FILED, "init", "", "", "small|uniform|normal|both",        \
        "small",                                                                       \
        "first vectors: +-0.5/dim and 0, +-0.5 and 0, N(0,1) twice, +-0.5/dim twice",  \
        "Learning", false)                                                             \
    ROW(COUNT, replay, 1, 100, FILED, "replay", "", "", "1..100", "3",                 \
        "how often a sentence is trained in all", "Replay", false)                     \
    ROW(COUNT, replay_ring, 2 * SENTENCE_MAX, 1e11, FILED, "replay-ring", "", "",      \
        "2000..1e11", "4000000", "tokens of the past kept for it", "Replay", false)    \
    ROW(COUNT, replay_fade, 0, MOST_TOKENS, FILED, "replay-fade", "", "",              \
        "tokens, 0 for never", "50000000",                                             \
        "after so many tokens repeats become rarer", "Replay", true)                   \
    ROW(COUNT, subword, 0, TIDE_CAPACITY_MAX, FILED, "subword", "bucket", "",          \
        "0..1073741824", "0",                                                          \
        "rows for character n-grams: vectors for unseen words too", "Subwords", false) \
    ROW(COUNT, minn, 1, TIDE_SUBWORD_LENGTH_MAX, FILED, "minn", "min-n", "", "1..8",   \
        "3", "shortest n-gram", "Subwords", false)                                     \
    ROW(COUNT, maxn, 1, TIDE_SUBWORD_LENGTH_MAX, FILED, "maxn", "max-n", "", "1..8",   \
        "5", "longest n-gram", "Subwords", false)                                      \
    ROW(CHOICE, labels, 0, 0, OPTIONAL, "labels", "", "", "off|hashtags|marked",       \
        "off",                                                                         \
        "words that are labels of their post and not of its text: those with #, or "   \
        "__label__NAME, which --label-field makes of a field",                         \
        "Labels", false)                                                               \
    ROW(COUNT, label_slots, 1, 16777216, OPTIONAL, "label-slots", "", "", "1..2^24",   \
        "10000", "labels to hold at any time", "Labels", false)                        \
    ROW(COUNT, label_posts, 1, 16777216, OPTIONAL, "label-posts", "", "", "1..2^24",   \
        "100000", "posts to keep of one label, at most", "Labels", false)              \
    ROW(SIZE, label_memory, 65536, 1e12, OPTIONAL, "label-memory", "", "",             \
        "bytes, as 64M or 1G", "64M", "for the posts of all labels", "Labels", false)  \
    ROW(COUNT, label_bytes, 64, 4096, OPTIONAL, "label-bytes", "", "", "64..4096",     \
        "512", "keep so many bytes of a post", "Labels", false)                        \
    ROW(COUNT, label_top, 1, 65536, OPTIONAL, "label-top", "", "", "1..65536", "100",  \
        "tell so many labels, the most frequent", "Labels", true)                      \
    ROW(COUNT, label_each, 1, 16777216, OPTIONAL, "label-each", "", "", "1..2^24",     \
        "1000", "learn each of them from so many posts", "Labels", true)               \
    ROW(COUNT, label_refit, 0, MOST_TOKENS, OPTIONAL, "label-refit", "", "",           \
        "posts, 0 for never", "0", "learn to tell them anew after so many posts",      \
        "Labels", true)                                                                \
    ROW(COUNT, label_anchors, 0, TIDE_CAPACITY_MAX, OPTIONAL, "label-anchors", "", "", \
        "0..1073741824", "5000",                                                       \
        "read the so many most frequent words as they were when the labels were "      \
        "learned",                                                                     \
        "Labels", true)                                                                \
    ROW(CHOICE, classifier, 0, 0, OPTIONAL, "classifier", "", "",                      \
        "cnn|linear|frequent", "cnn",                                                  \
        "tells labels by windows of 1 to 3 words, by the mean of the words, or "       \
        "always "                                                                      \
        "the most frequent",                                                           \
        "Classifier", true)                                                            \
    ROW(COUNT, maps, 1, 1024, OPTIONAL, "classifier-maps", "", "", "1..1024", "100",   \
        "cnn: features of each width of window", "Classifier", true)                   \
    ROW(COUNT, post_words, 1, 1000, OPTIONAL, "classifier-words", "", "", "1..1000",   \
        "64", "look at the first so many words of a post", "Classifier", true)         \
    ROW(COUNT, batch, 1, 1024, OPTIONAL, "classifier-batch", "", "", "1..1024", "50",  \
        "posts in a step", "Classifier", true)                                         \
    ROW(COUNT, fit_epochs, 1, 10000, OPTIONAL, "classifier-epochs", "", "",            \
        "1..10000", "100", "epochs, at most", "Classifier", true)                      \
    ROW(COUNT, patience, 1, 10000, OPTIONAL, "classifier-patience", "", "",            \
        "1..10000", "3", "stop after so many epochs that were no better",              \
        "Classifier", true)                                                            \
    ROW(REAL, dropout, 0, 0.9, OPTIONAL, "classifier-dropout", "", "", "0..0.9",       \
        "0.5", "share of the features left out in a step", "Classifier", true)         \
    ROW(REAL, fit_rate, 1e-9, 1, OPTIONAL, "classifier-rate", "", "", "1e-9..1",       \
        "0.001", "of Adam's steps", "Classifier", true)                                \
    ROW(REAL, held_out, 0, 0.5, OPTIONAL, "classifier-held-out", "", "", "0..0.5",     \
        "0.1", "share of the posts by which it decides when to stop", "Classifier",    \
        true)

#define INFO(KIND, FIELD, LEAST, MOST, KEEPING, ...) {__VA_ARGS__},
#define RULE(KIND, FIELD, LEAST, MOST, KEEPING, ...)                                   \
    {offsetof(tide_params, FIELD), LEAST, MOST, KIND, KEEPING},

const tide_param_info tide_param_infos[] = {PARAMETERS(INFO)};
const tide_param_rule tide_param_rules[] = {PARAMETERS(RULE)};

const int tide_param_count = sizeof tide_param_rules / sizeof tide_param_rules[0];

/* What differs from profile default. */
const char *const tide_param_profiles[] = {
    [PROFILE_DEFAULT] = "",
    [PROFILE_FAST] = "alpha=0.35 alpha-output=0.5 replay=1",
    [PROFILE_PAPER] = ("tokenizer=space window=5 contexts=full sample=0.001 "
                       "subsample=root counting=kept "
                       "admission=none negative-sharing=pair exclude=no "
                       "sampler=reservoir optimizer=linear "
                       "alpha=0.025 alpha-output=1 min-alpha=0.0000025 tau=17000000 "
                       "gradient=after init=normal replay=1 reservoir=100000000"),
    [PROFILE_ATHENA] = ("tokenizer=space window=5 contexts=dynamic sample=0.001 "
                        "subsample=root admission=none "
                        "negative-sharing=pair exclude=no sampler=reservoir "
                        "optimizer=linear alpha=0.025 "
                        "alpha-output=1 min-alpha=0.0000025 tau=17000000 age=centre "
                        "init=uniform replay=1 reservoir=100000000"),
    [PROFILE_INCREMENTAL] =
        ("tokenizer=space window=5 contexts=dynamic sample=0.001 subsample=root "
         "sketch=misra-gries admission=none negative-sharing=pair exclude=no "
         "sampler=smoothed "
         "optimizer=coordinate alpha=0.1 init=both replay=1"),
    [PROFILE_WORD2VEC] =
        ("tokenizer=space window=5 contexts=dynamic sample=0.001 "
         "negative-sharing=pair optimizer=decay alpha=0.025 alpha-output=1 "
         "min-alpha=0.0000025 replay=1"),
};
