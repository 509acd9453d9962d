#!/usr/bin/python3
"""Predicting hashtags: the label classifiers of wordtide beside fastText's supervised mode.

    paper/classifiers.py STREAM [--split NAME=TRAIN,TEST]... [--rates LIST] [--epochs N]

STREAM has one post per line, TIME TAB TEXT in order of time, and may be compressed. The labels
are the most frequent hashtags of the first part of a split. All programs read the same file,
the posts of that part with one of these labels, in order of time: one per line, lower case, with
the words of the post and its labels as __label__NAME. They predict the labels of the posts of
the second part that have one. P@1 is the share of posts whose most probable label is right, R@5
the mean share of a post's labels among the five most probable. fastText reads the file --epochs
times (25), once for each of --rates (.1,.5,1,5); the best is what matters. "all posts" has read
the other posts of the first part too, and "learning" also learns from every post of the test
after predicting it. Prints a table in Markdown.
"""
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from unicodedata import normalize

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))  # where lab is

from hashtag_stream import HASHTAG, KNOWN, folded, hashtags, lines_of, split_of
from lab import Failed, say
from lab.command_line import arguments, names, number, program, readable_file, run_main
from lab.running import measure
from lab.tables import MISSING, fraction, print_table

TOP = 5
NOISE = re.compile(r"https?://\S+|@\w+")
WORD = re.compile(r"\w+(?:['’]\w+)*")
LABEL = "__label__"


class Posts:
    """The posts of a range of time: their words, and their hashtags in byte order."""

    def __init__(self, path, begin, end):
        self.posts = []
        for time, line in lines_of(path):
            if time and begin <= time < end:
                text = line.decode("utf-8", "replace").partition("\t")[2]
                self.posts.append((words_of(text), sorted(hashtags(line))))

    def most_frequent(self, count):
        counts = Counter(label for words, labels in self.posts if words for label in labels)
        ranked = sorted(counts, key=lambda label: (-counts[label], label))
        return set(ranked[:count])

    def with_labels(self, chosen):
        """[(words, labels)] of the posts with words that have one of these labels."""
        found = ((words, [label for label in labels if label in chosen])
                 for words, labels in self.posts)
        return [(words, labels) for words, labels in found if words and labels]


def words_of(text):
    plain = HASHTAG.sub(" ", NOISE.sub(" ", normalize("NFKC", text)))
    return WORD.findall(plain.casefold())


def write(path, posts, with_labels=True):
    with open(path, "w", encoding="utf-8") as file:
        for words, labels in posts:
            marked = [LABEL + label for label in labels] if with_labels else []
            file.write(" ".join(marked + words) + "\n")
    return path


class Score:
    def __init__(self, posts, predicted):
        if len(posts) != len(predicted):
            raise Failed(f"{len(predicted):,} predictions for {len(posts):,} posts")
        first = found = 0
        for (_, labels), guesses in zip(posts, predicted):
            first += guesses[:1] != [] and guesses[0] in labels
            found += len(set(guesses[:TOP]).intersection(labels)) / len(labels)
        self.at_1, self.recall = first / len(posts), found / len(posts)


class Experiment:
    def __init__(self, options, folder, split):
        self.options, self.folder = options, Path(folder)
        train = Posts(options.stream, *split.train)
        self.labels = train.most_frequent(options.top)
        self.train = train.with_labels(self.labels)
        self.test = Posts(options.stream, *split.test).with_labels(self.labels)
        if not self.train or not self.test:
            raise Failed(f"split {split.name} has no post to train on or to test")
        self.train_file = write(self.folder / "train", self.train)
        self.all_file = write(self.folder / "all", train.posts)
        self.test_file = write(self.folder / "test", self.test)
        self.text_file = write(self.folder / "text", self.test, with_labels=False)

    # -- programs ----------------------------------------------------------------------

    def fasttext(self, rate):
        """None if training fails: its weights may become NaN."""
        model = self.folder / "fasttext"
        try:
            used = measure([
                "fasttext", "supervised", "-input", self.train_file, "-output", model, "-lr",
                rate, "-epoch", str(self.options.epochs), "-thread", "1", "-verbose", "0"])
        except Failed as failure:
            say(f"fastText with -lr {rate}: {failure}")
            return None, None
        printed = measure(["fasttext", "predict", f"{model}.bin", self.text_file, str(TOP)])
        lines = printed.output.splitlines()
        return used.cpu, [[label.removeprefix(LABEL) for label in line.split()]
                          for line in lines]

    def fit(self, file, *more):
        model = self.folder / "model.tide"
        model.unlink(missing_ok=True)
        used = measure([
            self.options.command, "labels", "train", file, "-o", model, "--quiet", "--labels",
            "marked", "--tokenizer", "space", "--label-top", str(self.options.top), *more])
        return used.cpu, model

    def wordtide(self, file, *more):
        seconds, model = self.fit(file, *more)
        printed = measure([self.options.command, "labels", "predict", model, self.text_file,
                           "--tsv", "-n", str(TOP)])
        predicted = [[] for _ in self.test]
        for line in printed.output.splitlines()[1:]:
            number_, _, label, _ = line.split("\t")
            predicted[int(number_) - 1].append(label)
        return seconds, predicted

    def learning(self):
        seconds, model = self.fit(self.train_file)
        path = self.folder / "predictions"
        measure([self.options.command, "labels", "eval", model, self.test_file, "--learn",
                 "--quiet", "--predictions", path])
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return seconds, [[one["label"] for one in line["told"]]
                         for line in lines if "told" in line]

    # -- table -------------------------------------------------------------------------

    def row(self, name, seconds, predicted):
        if predicted is None:
            return [name, MISSING, MISSING, MISSING]
        score = Score(self.test, predicted)
        return [name, fraction(score.at_1), fraction(score.recall), f"{seconds:.0f}"]

    def rows(self):
        for rate in self.options.rates:
            yield self.row(f"fastText, -lr {rate}", *self.fasttext(rate))
        yield self.row("wordtide", *self.wordtide(self.train_file))
        yield self.row("wordtide, all posts", *self.wordtide(self.all_file))
        yield self.row("wordtide, learning", *self.learning())
        for kind in "cnn", "linear":
            yield self.row(f"wordtide, {kind}",
                           *self.wordtide(self.train_file, "--classifier", kind))


def parse():
    parser = arguments(__doc__)
    add = parser.add_argument
    add("stream", metavar="STREAM")
    add("--split", type=split_of, action="append", default=[], dest="splits",
        metavar="NAME=TRAIN,TEST", help="what to train and to test on, as "
        "year=2019,2020-01..2021-12; may be repeated (January and February 2019; 2019 and "
        "2020; 2019 and 2021)")
    add("--rates", type=names, default=[".1", ".5", "1", "5"], help="of fastText (.1,.5,1,5)")
    add("--epochs", type=number, default=25, help="of fastText (25)")
    add("--top", type=number, default=100, help="labels to predict (100)")
    return parser.parse_args()


def main():
    options = parse()
    readable_file(options.stream, "STREAM")
    program(options.command)
    splits = options.splits or [KNOWN["short"], split_of("2020=2019,2020"),
                                split_of("2021=2019,2021")]
    for split in splits:
        with tempfile.TemporaryDirectory() as folder:
            experiment = Experiment(options, folder, split)
            say(f"{split.name}: {len(experiment.train):,} posts to train on, "
                f"{len(experiment.test):,} to test")
            head = f"{split.train.begin} → {split.test.begin}"
            print_table([head, "P@1", "R@5", "CPU s"], experiment.rows())


if __name__ == "__main__":
    run_main("classifiers", main)
