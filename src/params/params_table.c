/* params_table.c - the table of parameters, and the profiles.
 *
 * The options of the command, tide_params_set, the params section of a model file and
 * the lists in the documentation all come from this table. A profile is a list of
 * assignments to the same parameters.
 */
#include "model/model.h"
#include "params/params.h"
#include "params/params_internal.h"
#include "vocab/vocab.h"

#define TOKENS_MAX 9e18

/* ROW(kind, field, min, max, storage,
 *     name, aliases, former, values, initial, help, group, on_resume)
 * `former` is the parameter's name in version 0.1, which model files still use. */
#define PARAMETERS(ROW)                                                                \
    ROW(CHOICE, profile, 0, 0, STORED, "profile", "", "",                              \
        "default|fast|best|paper|athena|incremental|word2vec", "default",              \
        "complete set of training parameters; other options override parts of "        \
        "it",                                                                          \
        "Recipe", false)                                                               \
    ROW(COUNT, vocab, 1, TIDE_CAPACITY_MAX, STORED, "vocab",                           \
        "vocab-size max-vocab-size", "", "1..1073741824", "70000",                     \
        "maximum number of words in the vocabulary", "Size", false)                    \
    ROW(COUNT, dim, 1, TIDE_DIM_MAX, STORED, "dim", "size vector-size", "", "1..4096", \
        "100", "dimensions of the vectors", "Size", false)                             \
    ROW(SIZE, memory, 0, 1e15, NOT_STORED, "memory", "max-memory", "",                 \
        "bytes, as 512M or 2G", "0",                                                   \
        "set the vocabulary size so that the process fits this much memory; 0: off",   \
        "Size", true)                                                                  \
    ROW(COUNT, threads, 1, 256, NOT_STORED, "threads", "thread workers", "", "1..256", \
        "1", "number of threads; with 1, results are reproducible from text and seed", \
        "Size", true)                                                                  \
    ROW(SEED, seed, 0, TOKENS_MAX, STORED, "seed", "", "", "0..9e18 or random", "1",   \
        "random seed; 'random' draws an unpredictable one", "Size", false)             \
    ROW(CHOICE, tokenizer, 0, 0, STORED, "tokenizer", "", "tokens",                    \
        "words|space|social|log", "words",                                             \
        "what counts as a word: Unicode words; anything between white space; "         \
        "Unicode words with hashtags, mentions and emoji; or words of log "            \
        "lines, with numbers and the like masked",                                     \
        "Text", false)                                                                 \
    ROW(CHOICE, tokenizer_version, 0, 0, STORED_IF_SET, "tokenizer-version", "",       \
        "tokens-version", "1|2", "2",                                                  \
        "word rules; 2 splits Thai, Lao, Khmer and Burmese into syllables and "        \
        "keeps Greek final sigma and Japanese long vowels; 1 is for models of "        \
        "old versions",                                                                \
        "Text", false)                                                                 \
    ROW(CHOICE, numbers, 0, 0, STORED, "numbers", "", "", "keep|mask|drop", "keep",    \
        "words, social: keep numbers, replace them by <number>, or drop them", "Text", \
        false)                                                                         \
    ROW(CHOICE, hashtags, 0, 0, STORED, "hashtags", "", "", "keep|mask|drop|word",     \
        "keep",                                                                        \
        "social: keep hashtags, replace them by <hashtag>, drop them, or keep "        \
        "them without the sign",                                                       \
        "Text", false)                                                                 \
    ROW(CHOICE, mentions, 0, 0, STORED, "mentions", "", "", "keep|mask|drop|word",     \
        "mask",                                                                        \
        "social: keep mentions, replace them by <user>, drop them, or keep them "      \
        "without the sign",                                                            \
        "Text", false)                                                                 \
    ROW(CHOICE, urls, 0, 0, STORED, "urls", "", "", "keep|mask|drop", "mask",          \
        "social: keep URLs, replace them by <url>, or drop them", "Text", false)       \
    ROW(COUNT, min_length, 1, TIDE_WORD_MAX, STORED, "min-length", "", "", "1..63",    \
        "1", "drop words with fewer characters", "Text", false)                        \
    ROW(COUNT, max_length, 1, TIDE_WORD_MAX, STORED, "max-length", "", "", "1..63",    \
        "63", "drop words with more characters", "Text", false)                        \
    ROW(TEXT, stop_words, 0, TEXT_MAX, STORED, "stop-words", "", "",                   \
        "a file with one word per line", "",                                           \
        "drop these words, written as the tokenizer outputs them", "Text", false)      \
    ROW(COUNT, phrases, 0, TIDE_CAPACITY_MAX, STORED, "phrases", "", "",               \
        "0..1073741824", "0",                                                          \
        "join word pairs like new_york, counting at most this many words and "         \
        "pairs; 0 for off",                                                            \
        "Text", false)                                                                 \
    ROW(REAL, phrase_threshold, 0, 1e12, STORED, "phrase-threshold", "", "",           \
        "0..1e12", "100",                                                              \
        "join a pair that occurs this many times as often as expected by chance",      \
        "Text", true)                                                                  \
    ROW(COUNT, phrase_count, 1, TOKENS_MAX, STORED, "phrase-count",                    \
        "phrase-min-count", "", "1..9e18", "5",                                        \
        "and that has occurred more often than this", "Text", true)                    \
    ROW(CHOICE, records, 0, 0, STORED, "records", "", "", "lines|json|csv|tsv",        \
        "lines", "format of the source; lines reads everything as plain text",         \
        "Records", true)                                                               \
    ROW(TEXT, text, 0, TEXT_MAX, STORED, "text", "text-field", "",                     \
        "fields separated by commas", "",                                              \
        "where the text is: a path like user.name in JSON, a column name or "          \
        "number in CSV and TSV",                                                       \
        "Records", true)                                                               \
    ROW(TEXT, time, 0, TEXT_MAX, STORED, "time", "time-field", "", "a field", "",      \
        "where the time is, for showing in the log how far the stream has come",       \
        "Records", true)                                                               \
    ROW(TEXT, label_field, 0, TEXT_MAX, STORED, "label-field", "", "label", "a field", \
        "",                                                                            \
        "where the label, or an array of labels, is; read as words "                   \
        "__label__NAME",                                                               \
        "Records", true)                                                               \
    ROW(TEXT, delimiter, 0, DELIMITER_MAX, STORED_IF_CHANGED, "delimiter", "", "",     \
        "a character", "",                                                             \
        "csv: character between columns (default: detected from the header, "          \
        "otherwise a comma)",                                                          \
        "Records", true)                                                               \
    ROW(COUNT, window, 1, WINDOW_MAX, STORED, "window", "ws", "", "1..64", "8",        \
        "maximum distance between a word and its contexts", "Contexts", false)         \
    ROW(CHOICE, contexts, 0, 0, STORED, "contexts", "", "", "weighted|dynamic|full",   \
        "weighted",                                                                    \
        "weight contexts by 1/distance, draw the width of the window at random, "      \
        "or use only complete windows",                                                \
        "Contexts", false)                                                             \
    ROW(REAL, sample, 0, 1, STORED, "sample", "t", "", "0..1, 0 for off", "0.0001",    \
        "subsample words more frequent than this; 0 for off", "Contexts", true)        \
    ROW(CHOICE, subsample, 0, 0, STORED, "subsample", "", "keep", "word2vec|root",     \
        "word2vec",                                                                    \
        "probability of keeping a word: (sqrt(f)+1)/f or 1/sqrt(f), f = "              \
        "frequency/sample",                                                            \
        "Contexts", false)                                                             \
    ROW(CHOICE, counting, 0, 0, STORED, "counting", "", "", "all|kept", "all",         \
        "count every token, or only those that subsampling keeps", "Contexts", false)  \
    ROW(CHOICE, sketch, 0, 0, STORED, "sketch", "", "vocabulary",                      \
        "space-saving|misra-gries|exact", "space-saving",                              \
        "algorithm that decides which words are in the vocabulary", "Vocabulary",      \
        false)                                                                         \
    ROW(CHOICE, admission, 0, 0, STORED, "admission", "", "", "none|gate", "gate",     \
        "space-saving: admit a new word at once, or only when its count beats "        \
        "the smallest one",                                                            \
        "Vocabulary", false)                                                           \
    ROW(COUNT, half_life, 0, TOKENS_MAX, STORED, "half-life", "", "",                  \
        "tokens, 0 for never", "0",                                                    \
        "halve all counts every this many tokens, to follow drift; 0 for never",       \
        "Vocabulary", false)                                                           \
    ROW(CHOICE, frozen, 0, 0, STORED_IF_CHANGED, "frozen", "", "", "no|yes|all", "no", \
        "when resuming, yes: keep words and counts as they are and drop unknown "      \
        "words; all: keep the vectors too",                                            \
        "Vocabulary", true)                                                            \
    ROW(COUNT, epochs, 0, 10000, STORED_IF_CHANGED, "epochs", "epoch iter", "",        \
        "0..10000", "0",                                                               \
        "number of passes over stored text, after a pass that counts its words; "      \
        "0 for a stream",                                                              \
        "Batch", true)                                                                 \
    ROW(COUNT, min_count, 1, TOKENS_MAX, STORED_IF_CHANGED, "min-count", "minCount",   \
        "", "1..9e18", "5", "with epochs: drop words that occur less often", "Batch",  \
        false)                                                                         \
    ROW(COUNT, negative, 0, NEGATIVE_MAX, STORED, "negative", "neg", "", "0..64", "5", \
        "negative samples per pair", "Negatives", false)                               \
    ROW(CHOICE, negative_sharing, 0, 0, STORED, "negative-sharing", "", "negatives",   \
        "shared|pair", "shared",                                                       \
        "share negatives among neighboring words, or draw them for each pair",         \
        "Negatives", false)                                                            \
    ROW(CHOICE, exclude, 0, 0, STORED, "exclude", "", "", "no|yes", "yes",             \
        "do not use a context as its own negative", "Negatives", false)                \
    ROW(CHOICE, sampler, 0, 0, STORED, "sampler", "", "", "alias|reservoir|smoothed",  \
        "alias",                                                                       \
        "draw negatives from counts^power, from a reservoir sample of the "            \
        "stream, or from a smoothed one",                                              \
        "Negatives", false)                                                            \
    ROW(REAL, power, 0, 1, STORED, "power", "ns-exponent", "", "0..1", "0.75",         \
        "exponent that smooths the distribution of negatives", "Negatives", false)     \
    ROW(COUNT, reservoir, 1, 4294967296.0, STORED, "reservoir", "", "", "1..2^32",     \
        "10000000", "capacity of the reservoir", "Negatives", false)                   \
    ROW(CHOICE, optimizer, 0, 0, STORED, "optimizer", "", "rate",                      \
        "adagrad|coordinate|linear|power|constant|decay", "adagrad",                   \
        "how learning rates fall: by AdaGrad per row, by AdaGrad per "                 \
        "coordinate, linearly or as a power of a word's age, not at all, or "          \
        "linearly to min-alpha at the end of the last epoch (constant in a "           \
        "stream)",                                                                     \
        "Learning", false)                                                             \
    ROW(REAL, alpha, 1e-9, 10, STORED, "alpha", "lr", "", "1e-9..10", "0.3",           \
        "learning rate", "Learning", true)                                             \
    ROW(REAL, alpha_output, 1e-6, 10, STORED, "alpha-output", "", "", "1e-6..10",      \
        "0.2", "learning rate of output vectors, relative to alpha", "Learning", true) \
    ROW(REAL, alpha_first, 1e-6, 10, STORED, "alpha-first", "", "", "1e-6..10", "0.3", \
        "adagrad: learning rate of a word's first step", "Learning", true)             \
    ROW(REAL, min_alpha, 0, 1, STORED, "min-alpha", "", "", "0..1", "0",               \
        "minimum learning rate; decay ends at it", "Learning", true)                   \
    ROW(COUNT, rate_half_life, 0, TOKENS_MAX, STORED, "rate-half-life", "", "",        \
        "tokens, 50 or more; 0 for never", "100000000",                                \
        "adagrad: half-life of accumulated gradients in tokens; 0 for no decay",       \
        "Learning", true)                                                              \
    ROW(REAL, tau, 1, 1e18, STORED, "tau", "", "", "1..1e18", "100",                   \
        "linear: age at which the learning rate reaches its minimum; power: age at "   \
        "which it is alpha/sqrt(2)",                                                   \
        "Learning", true)                                                              \
    ROW(CHOICE, age, 0, 0, STORED, "age", "", "", "pair|center", "pair",               \
        "linear: count a word's age in pairs, or in its occurrences as a center "      \
        "word",                                                                        \
        "Learning", false)                                                             \
    ROW(CHOICE, gradient, 0, 0, STORED, "gradient", "", "", "before|after", "before",  \
        "compute input gradients before or after the output vectors move", "Learning", \
        false)                                                                         \
    ROW(CHOICE, init, 0, 0, STORED, "init", "", "", "small|uniform|normal|both",       \
        "small",                                                                       \
        "initial input and output vectors: +-0.5/dim and 0; +-0.5 and 0; both "        \
        "N(0,1); both +-0.5/dim",                                                      \
        "Learning", false)                                                             \
    ROW(COUNT, replay, 1, 100, STORED, "replay", "", "", "1..100", "4",                \
        "how often each sentence is trained in total", "Replay", false)                \
    ROW(COUNT, replay_ring, 2 * SENTENCE_MAX, 1e11, STORED, "replay-ring", "", "",     \
        "2000..1e11", "4000000", "tokens of recent text kept for replay", "Replay",    \
        false)                                                                         \
    ROW(COUNT, replay_fade, 0, TOKENS_MAX, STORED, "replay-fade", "", "",              \
        "tokens, 0 for never", "50000000",                                             \
        "replay less and less often after this many tokens; 0 for never", "Replay",    \
        true)                                                                          \
    ROW(COUNT, subword, 0, TIDE_CAPACITY_MAX, STORED, "subword", "bucket", "",         \
        "0..1073741824", "180000",                                                     \
        "rows for character n-grams, which also give vectors for unseen words; "       \
        "0 for none (default: 180000, but at most three per word of the vocabulary)",  \
        "Subwords", false)                                                             \
    ROW(COUNT, minn, 1, TIDE_SUBWORD_LENGTH_MAX, STORED, "minn", "min-n", "", "1..8",  \
        "3", "length of the shortest n-gram", "Subwords", false)                       \
    ROW(COUNT, maxn, 1, TIDE_SUBWORD_LENGTH_MAX, STORED, "maxn", "max-n", "", "1..8",  \
        "5", "length of the longest n-gram", "Subwords", false)                        \
    ROW(CHOICE, labels, 0, 0, STORED_IF_CHANGED, "labels", "", "",                     \
        "off|hashtags|marked", "off",                                                  \
        "which words label their post and are not part of its text: hashtags, "        \
        "or __label__NAME (also made by label-field)",                                 \
        "Labels", false)                                                               \
    ROW(COUNT, label_slots, 1, 16777216, STORED_IF_CHANGED, "label-slots", "", "",     \
        "1..2^24", "10000", "maximum number of labels", "Labels", false)               \
    ROW(COUNT, label_posts, 1, 16777216, STORED_IF_CHANGED, "label-posts", "", "",     \
        "1..2^24", "100000", "maximum number of posts kept per label", "Labels",       \
        false)                                                                         \
    ROW(SIZE, label_memory, 65536, 1e12, STORED_IF_CHANGED, "label-memory", "", "",    \
        "bytes, as 64M or 1G", "64M", "memory for the posts of all labels", "Labels",  \
        false)                                                                         \
    ROW(COUNT, label_bytes, 64, 4096, STORED_IF_CHANGED, "label-bytes", "", "",        \
        "64..4096", "512", "maximum bytes kept of a post", "Labels", false)            \
    ROW(COUNT, label_top, 1, 65536, STORED_IF_CHANGED, "label-top", "", "",            \
        "1..65536", "100", "predict this many of the most frequent labels", "Labels",  \
        true)                                                                          \
    ROW(COUNT, label_each, 1, 16777216, STORED_IF_CHANGED, "label-each", "", "",       \
        "1..2^24", "1000", "all but bag: train on this many posts per label",          \
        "Labels", true)                                                                \
    ROW(COUNT, label_refit, 0, TOKENS_MAX, STORED_IF_CHANGED, "label-refit", "", "",   \
        "posts, 0 for never", "0",                                                     \
        "fit the classifier again every this many posts; 0 for never", "Labels", true) \
    ROW(COUNT, label_anchors, 0, TIDE_CAPACITY_MAX, STORED_IF_CHANGED,                 \
        "label-anchors", "", "", "0..1073741824", "5000",                              \
        "all but bag: classify with this many of the most frequent words as their "    \
        "vectors were at the last training",                                           \
        "Labels", true)                                                                \
    ROW(CHOICE, classifier, 0, 0, STORED_IF_SET, "classifier", "", "",                 \
        "cnn|linear|frequent|bag", "bag",                                              \
        "words and word pairs, learned from every post; or, from sample posts, "       \
        "convolutions over 1 to 3 words, the mean of the words, or always the "        \
        "most frequent labels",                                                        \
        "Classifier", true)                                                            \
    ROW(COUNT, classifier_maps, 1, 1024, STORED_IF_CHANGED, "classifier-maps", "", "", \
        "1..1024", "100", "cnn: features per window width", "Classifier", true)        \
    ROW(COUNT, classifier_words, 1, 1000, STORED_IF_CHANGED, "classifier-words", "",   \
        "", "1..1000", "64", "use only this many words of a post", "Classifier", true) \
    ROW(COUNT, classifier_batch, 1, 1024, STORED_IF_CHANGED, "classifier-batch", "",   \
        "", "1..1024", "50", "posts per step", "Classifier", true)                     \
    ROW(COUNT, classifier_epochs, 1, 10000, STORED_IF_CHANGED, "classifier-epochs",    \
        "", "", "1..10000", "100", "maximum number of epochs", "Classifier", true)     \
    ROW(COUNT, classifier_patience, 1, 10000, STORED_IF_CHANGED,                       \
        "classifier-patience", "", "", "1..10000", "3",                                \
        "stop after this many epochs without improvement", "Classifier", true)         \
    ROW(REAL, classifier_dropout, 0, 0.9, STORED_IF_CHANGED, "classifier-dropout", "", \
        "", "0..0.9", "0.5", "share of features dropped in a step", "Classifier",      \
        true)                                                                          \
    ROW(REAL, classifier_rate, 1e-9, 1, STORED_IF_CHANGED, "classifier-rate", "", "",  \
        "1e-9..1", "0.001", "learning rate of Adam", "Classifier", true)               \
    ROW(REAL, classifier_held_out, 0, 0.5, STORED_IF_CHANGED, "classifier-held-out",   \
        "", "", "0..0.5", "0.1", "share of posts held out to decide when to stop",     \
        "Classifier", true)

#define INFO(KIND, FIELD, MIN, MAX, STORAGE, ...) {__VA_ARGS__},
#define RULE(KIND, FIELD, MIN, MAX, STORAGE, ...)                                      \
    {offsetof(tide_params, FIELD), MIN, MAX, KIND, STORAGE},

const tide_param_info tide_param_infos[] = {PARAMETERS(INFO)};
const tide_param_rule tide_param_rules[] = {PARAMETERS(RULE)};

const int tide_param_count = sizeof tide_param_rules / sizeof tide_param_rules[0];

/* What differs from profile default. */
const char *const tide_param_profiles[] = {
    [TIDE_PROFILE_DEFAULT] = "",
    [TIDE_PROFILE_FAST] = "window=5 alpha=0.25 alpha-output=0.5 replay=1 subword=0",
    [TIDE_PROFILE_BEST] = "dim=200 replay=8 subword=1000000",
    [TIDE_PROFILE_PAPER] =
        ("tokenizer=space window=5 contexts=full sample=0.001 "
         "subsample=root counting=kept "
         "admission=none negative-sharing=pair exclude=no "
         "sampler=reservoir optimizer=linear "
         "alpha=0.025 alpha-output=1 min-alpha=0.0000025 tau=17000000 "
         "gradient=after init=normal replay=1 subword=0 reservoir=100000000"),
    [TIDE_PROFILE_ATHENA] =
        ("tokenizer=space window=5 contexts=dynamic sample=0.001 "
         "subsample=root admission=none "
         "negative-sharing=pair exclude=no sampler=reservoir "
         "optimizer=linear alpha=0.025 "
         "alpha-output=1 min-alpha=0.0000025 tau=17000000 age=center "
         "init=uniform replay=1 subword=0 reservoir=100000000"),
    [TIDE_PROFILE_INCREMENTAL] =
        ("tokenizer=space window=5 contexts=dynamic sample=0.001 subsample=root "
         "sketch=misra-gries admission=none negative-sharing=pair exclude=no "
         "sampler=smoothed "
         "optimizer=coordinate alpha=0.1 init=both replay=1 subword=0"),
    [TIDE_PROFILE_WORD2VEC] =
        ("tokenizer=space window=5 contexts=dynamic sample=0.001 "
         "negative-sharing=pair optimizer=decay alpha=0.025 alpha-output=1 "
         "min-alpha=0.0000025 replay=1 subword=0"),
};
