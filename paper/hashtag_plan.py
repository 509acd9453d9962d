"""The models of the experiment: how each is trained, and how it goes through the test.

A base is an embedding that learned from the first part of the stream, with the tracker
of labels and a classifier of its own. What is done with it in the test makes a model:

  stream   live vocabulary, vectors learned on;
  athena   the same as the paper's released program does it;
  paper    the same with the paper's Algorithm 2 to the letter, whose first vectors are so
           long that they hardly move on a stream of this size;
  static   batch word2vec: the vocabulary stays, the vectors are learned on, at the rate
           at which batch training ended (as in the paper) and at a higher one;
  frozen   `stream`, and nothing is learned any more;

all of them with the classifier as it was at the beginning of the test, and stream and
static also with one that learns anew on the way. Vectors that go on moving under a
classifier that stays are not those it has learned to read, so it reads the most frequent
words as they were then, its anchors; `stream, no anchors` shows what these are worth. Two
plainer classifiers on `stream` show what the network is worth. Every post is told its
labels before it is learned from.

All bases see the same posts and the same words, and have the same tracker and classifier.
Bases are made before any test, because a test may share its base with others. Then all
tests go on side by side, those with a classifier that learns anew first: they take
longest, and the short ones fill what time is left at the end.
"""
import json
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

from hashtag_scores import Calendar, Tally, check, merged, read_predictions
from runs import Failed, Job, Made, results_of, write_whole

RECORDS = ["--records", "tsv", "--time", 1, "--text", 2]
STRIPPED = ["--mentions", "drop", "--urls", "drop"]  # as the paper does
FIXED, REFRESHED, PLAINER = "fixed", "refreshed", "plainer"
REFITS = 4  # of a classifier that learns anew, in a test
ROUND = 1000  # posts; tests that have fewer are cut exactly

# `kind` is the class of its line in plots, `learning` what it does in the test, and `fit`
# how its classifier is made where that is not the one of its base
Model = namedtuple("Model", "name base about kind panel learning fit", defaults=([],))
Outcome = namedtuple("Outcome", "total periods unknown")


def models(options):
    """In the order of tables."""
    static, live = ["--learn", "--frozen", "yes"], ["--learn"]
    return [
        Model("stream", "stream", "live vocabulary", "s-default", FIXED, live),
        Model("stream, no anchors", "stream", "the same, and the classifier reads no word as "
              "it was when it learned", "rule s-default", FIXED, live,
              ["--label-anchors", 0]),
        Model("athena", "athena", "what the paper's released program does, live vocabulary",
              "s-athena", FIXED, live),
        Model("paper", "paper", "the paper's Algorithm 2 to the letter, live vocabulary",
              "s-paper", FIXED, live),
        Model("static", "static", "batch word2vec, vocabulary stays", "s-word2vec", FIXED,
              static),
        Model(f"static {options.rate:g}", "static", f"the same, learned on at a rate of "
              f"{options.rate:g}", "s-incremental", FIXED,
              [*static, "--min-alpha", f"{options.rate:g}"]),
        Model("frozen", "stream", "stream, nothing learned in the test", "s-fast", FIXED, []),
        Model("stream, refreshed", "stream", "live vocabulary, the classifier learns anew",
              "s-athena", REFRESHED, live),
        Model("static, refreshed", "static", "vocabulary stays, the classifier learns anew",
              "s-incremental", REFRESHED, static),
        Model("stream, linear", "stream", "logistic regression on the mean vector",
              "s-athena", PLAINER, live, ["--classifier", "linear"]),
        Model("stream, frequent", "stream", "labels as frequent as they are", "s-paper",
              PLAINER, live, ["--classifier", "frequent"]),
    ]


def usual_refit(posts):
    """After how many posts a classifier learns anew in a test that has so many."""
    every = posts // REFITS
    if posts < ROUND:
        return max(every, 1)
    return max(every // ROUND * ROUND, ROUND)


def file_name(*parts):
    return "-".join(str(part).replace(", ", "-").replace(" ", "-") for part in parts)


class Plan:
    def __init__(self, store, stream, splits, options):
        self.store, self.seeds = store, range(1, options.seeds + 1)
        self.splits, self.every = splits, options.refit
        self.parts = {split: stream.parts(split) for split in splits}
        self.first_to_learn = {}  # by the hash of what is learned
        for split, parts in self.parts.items():
            self.first_to_learn.setdefault(store.fingerprint(parts.train), split)
        self.models = [model for model in models(options)
                       if not options.only or model.name in options.only]
        self.profiles = {
            "stream": ["--profile", "default"], "athena": ["--profile", "athena"],
            "paper": ["--profile", "paper"],
            "static": ["--profile", "word2vec", "--batch", "--epochs", options.epochs,
                       "--min-count", 1]}
        self.labels = ["--label-top", options.top, "--label-each", options.each]
        self.common = [*RECORDS, "--tokens", options.tokens,
                       *(STRIPPED if options.tokens == "social" else []),
                       "--vocab", options.k, "--dim", options.dim, *self.labels,
                       "--label-memory", options.label_memory,
                       *(part for pair in options.settings for part in pair)]

    def calendar(self, split):
        return Calendar(self.parts[split].first, self.parts[split].last)

    def refit(self, split):
        return self.every or usual_refit(self.parts[split].tested)

    def base(self, split, name, seed):
        """Splits that learn from the same posts share it."""
        train = self.parts[split].train
        first = self.first_to_learn[self.store.fingerprint(train)]
        return Job(file_name(first.name, name, seed), "labels", "train", train, "-o",
                   Made("tide"), *self.profiles[name], *self.common, "--seed", seed)

    def tested(self, split, model, seed):
        name = file_name(split.name, model.name, seed)
        learned = self.base(split, model.base, seed)
        if model.fit:
            learned = Job(f"{name}-fit", "labels", "fit", learned, "-o", Made("tide"),
                          *model.fit, *self.labels)
        anew = ["--label-refit", self.refit(split)] if model.panel == REFRESHED else []
        return Job(f"{name}-test", "labels", "eval", learned, self.parts[split].test,
                   "--json", "--predictions", Made("jsonl"), *model.learning, *anew)

    def outcome(self, split, model, seed):
        """What came of a model, from what is kept of its predictions; these go once they
        are counted."""
        job = self.tested(split, model, seed)
        path = self.store.path(job, "tally")
        if not path.exists():
            said = all_of(self.store.run_all([job])[0]["printed"], job.name)
            predictions = self.store.path(job, "jsonl")
            periods = read_predictions(predictions, self.calendar(split))
            check(job.name, merged(periods), said)
            write_whole(path, json.dumps([unknown_share(said),
                                          *(period.as_list() for period in periods)]))
            predictions.unlink()
        return kept_outcome(path)

    def run(self):
        """{(split, model): outcomes of the seeds}"""
        tests = [(split, model, seed) for model in sorted(self.models, key=is_short)
                 for split in self.splits for seed in self.seeds]
        self.make_bases(tests)
        outcomes = {}
        for (split, model, _), outcome in zip(tests, self.outcomes_of(tests)):
            outcomes.setdefault((split, model.name), []).append(outcome)
        return outcomes

    def make_bases(self, tests):
        """Those of the tests that are still to be made."""
        bases = {}
        for split, model, seed in tests:
            if not self.store.path(self.tested(split, model, seed), "tally").exists():
                base = self.base(split, model.base, seed)
                bases[self.store.key(base)] = base
        for base in bases.values():
            if not self.store.path(base).exists():  # deleted since, and needed once more
                self.store.path(base, "json").unlink(missing_ok=True)
        self.store.run_all(bases.values())

    def outcomes_of(self, tests):
        """Side by side; a failure ends them all."""
        with ThreadPoolExecutor(self.store.workers) as pool:
            try:
                return results_of([pool.submit(self.outcome, *test) for test in tests])
            except BaseException as failure:
                self.store.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise self.store.failure or failure


def is_short(model):
    return model.panel != REFRESHED


def all_of(printed, name):
    """The object about the whole test, with the fields that are needed here."""
    for said in printed:
        if said.get("period") == "all":
            break
    else:
        raise Failed(f"{name}: labels eval says nothing about all")
    for field in ("scored", "precision", "recall", "f1", "words", "unknown"):
        if not isinstance(said.get(field), (int, float)):
            raise Failed(f"{name}: labels eval says no {field}")
    return said


def unknown_share(said):
    return said["unknown"] / said["words"] if said["words"] else 0.0


def kept_outcome(path):
    try:
        unknown, *kept = json.loads(path.read_text(encoding="utf-8"))
        periods = [Tally(*period) for period in kept]
    except (TypeError, ValueError):
        raise Failed(f"{path} is damaged: delete it") from None
    return Outcome(merged(periods), periods, unknown)
