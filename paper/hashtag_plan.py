"""The models of the experiment: how each is trained and tested.

A base is an embedding trained on the first part of the stream, with a label tracker and a
classifier of its own. What happens to it in the test makes a model:

  stream   live vocabulary, vectors trained further;
  athena   the same as the paper's released program does it;
  paper    the same with the paper's Algorithm 2 to the letter, whose initial vectors are so
           long that they hardly move on a stream of this size;
  static   batch word2vec: fixed vocabulary, vectors trained further, at the learning rate at
           which batch training ended (as in the paper) and at a higher one;
  frozen   `stream`, and nothing is learned any more;

all of them with the classifier as it was at the beginning of the test; stream and static
also with a classifier that is retrained during the test. Vectors that keep moving are no
longer those that a fixed classifier was fitted to, so it reads the most frequent words as
they were then, its anchors; `stream, no anchors` shows what these are worth. Two simpler
classifiers on `stream` show what the network is worth. The labels of a post are predicted
before anything is learned from it.

All bases see the same posts and the same words, and have the same tracker and classifier.
Bases are trained before any test, because several tests may share one. Then all tests run in
parallel, those with a retrained classifier first: they take longest.
"""
import json
from collections import namedtuple

from hashtag_scores import Calendar, Tally, check, merged, read_predictions
from lab import Failed
from lab.cache import Job, Output, read_json, write_whole
from lab.plots import AMBER, BLUE, CYAN, GRAY, GREEN, PURPLE, RED

RECORDS = ["--records", "tsv", "--time", 1, "--text", 2]
STRIPPED = ["--mentions", "drop", "--urls", "drop"]  # as the paper does
FIXED, REFRESHED, SIMPLER = "fixed", "refreshed", "simpler"
REFITS = 4  # of a retrained classifier, in a test
ROUND = 1000  # posts; shorter tests are cut exactly

# `color` is that of its line, `learning` the options of the test, and `fit` those of its
# classifier if that is not the base's own.
Model = namedtuple("Model", "name base about color panel learning fit", defaults=([],))
Outcome = namedtuple("Outcome", "total periods unknown")


def models(options):
    """In the order of tables."""
    static, live = ["--learn", "--frozen", "yes"], ["--learn"]
    return [
        Model("stream", "stream", "live vocabulary", BLUE, FIXED, live),
        Model("stream, no anchors", "stream", "the same with a classifier that reads all words "
              "as they are now", PURPLE, FIXED, live, ["--label-anchors", 0]),
        Model("athena", "athena", "what the paper's released program does, live vocabulary",
              AMBER, FIXED, live),
        Model("paper", "paper", "the paper's Algorithm 2 to the letter, live vocabulary", RED,
              FIXED, live),
        Model("static", "static", "batch word2vec, fixed vocabulary", GRAY, FIXED, static),
        Model(f"static {options.rate:g}", "static", "the same, trained further at a learning "
              f"rate of {options.rate:g}", GREEN, FIXED,
              [*static, "--min-alpha", f"{options.rate:g}"]),
        Model("frozen", "stream", "stream, nothing learned in the test", CYAN, FIXED, []),
        Model("stream, refreshed", "stream", "live vocabulary, the classifier is retrained",
              AMBER, REFRESHED, live),
        Model("static, refreshed", "static", "fixed vocabulary, the classifier is retrained",
              GREEN, REFRESHED, static),
        Model("stream, linear", "stream", "logistic regression on the mean vector", AMBER,
              SIMPLER, live, ["--classifier", "linear"]),
        Model("stream, frequent", "stream", "always the most frequent labels", RED, SIMPLER,
              live, ["--classifier", "frequent"]),
    ]


def usual_refit(posts):
    """After how many posts a classifier is retrained, in a test of that many."""
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
        self.first_to_train = {}  # by the hash of the text
        for split, parts in self.parts.items():
            self.first_to_train.setdefault(store.fingerprint(parts.train), split)
        self.models = [model for model in models(options)
                       if not options.only or model.name in options.only]
        self.profiles = {
            "stream": ["--profile", "default"], "athena": ["--profile", "athena"],
            "paper": ["--profile", "paper"],
            "static": ["--profile", "word2vec", "--batch", "--epochs", options.epochs,
                       "--min-count", 1]}
        self.labels = ["--label-top", options.top, "--label-each", options.each]
        self.common = [*RECORDS, "--classifier", "cnn", "--tokenizer", options.tokenizer,
                       *(STRIPPED if options.tokenizer == "social" else []),
                       "--vocab", options.k, "--dim", options.dim, *self.labels,
                       "--label-memory", options.label_memory,
                       *(part for pair in options.settings for part in pair)]

    def calendar(self, split):
        return Calendar(self.parts[split].first, self.parts[split].last)

    def refit(self, split):
        return self.every or usual_refit(self.parts[split].tested)

    def base(self, split, name, seed):
        """Splits that train on the same posts share it."""
        train = self.parts[split].train
        first = self.first_to_train[self.store.fingerprint(train)]
        return Job(file_name(first.name, name, seed), "labels", "train", train, "-o",
                   Output("tide"), *self.profiles[name], *self.common, "--seed", seed)

    def test(self, split, model, seed):
        name = file_name(split.name, model.name, seed)
        trained = self.base(split, model.base, seed)
        if model.fit:
            trained = Job(f"{name}-fit", "labels", "fit", trained, "-o", Output("tide"),
                          *model.fit, *self.labels)
        refit = ["--label-refit", self.refit(split)] if model.panel == REFRESHED else []
        return Job(f"{name}-test", "labels", "eval", trained, self.parts[split].test,
                   "--json", "--predictions", Output("jsonl"), *model.learning, *refit)

    def tally_path(self, split, model, seed):
        return self.store.path(self.test(split, model, seed), "tally")

    def outcome(self, split, model, seed):
        """The result of a model, from a tally of its predictions, which are deleted."""
        job, path = self.test(split, model, seed), self.tally_path(split, model, seed)
        if not path.exists():
            printed = totals(self.store.run(job)["printed"], job.name)
            predictions = self.store.path(job, "jsonl")
            periods = read_predictions(predictions, self.calendar(split))
            check(job.name, merged(periods), printed)
            unknown = printed["unknown"] / printed["words"] if printed["words"] else 0.0
            write_whole(path, json.dumps([unknown, *(period.as_list() for period in periods)]))
            predictions.unlink()
        return read_json(path, read_outcome)

    def run(self):
        """{(split, model): outcomes of the seeds}"""
        tests = [(split, model, seed)
                 for model in sorted(self.models, key=lambda model: model.panel != REFRESHED)
                 for split in self.splits for seed in self.seeds]
        bases = {}
        for split, model, seed in tests:
            if not self.tally_path(split, model, seed).exists():
                base = self.base(split, model.base, seed)
                bases[self.store.key(base)] = base
        self.store.map(self.store.train, bases.values())
        outcomes = {}
        found = self.store.map(lambda test: self.outcome(*test), tests)
        for (split, model, _), outcome in zip(tests, found):
            outcomes.setdefault((split, model.name), []).append(outcome)
        return outcomes


def totals(printed, name):
    """The object about the whole test, with the fields that are needed here."""
    found = next((row for row in printed if row.get("period") == "all"), {})
    for field in ("scored", "precision", "recall", "f1", "words", "unknown"):
        if not isinstance(found.get(field), (int, float)):
            raise Failed(f"{name}: labels eval prints no {field} for the whole test")
    return found


def read_outcome(kept):
    unknown, *periods = kept
    periods = [Tally(*period) for period in periods]
    return Outcome(merged(periods), periods, unknown)
