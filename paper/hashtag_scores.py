"""How good predictions are: from a file of predictions to counts, from counts to scores.

A file of predictions has one post per line: its time, its labels, and the labels predicted
for it, the most probable first: all with a probability of at least THRESHOLD, and at least
five. Other lines name the labels that the classifier predicts from there on; a label of a
post only counts if the classifier predicts it at the time. The file is large and read once.
What remains is a Tally for every month of the test, with three counts for each label (posts
that have it, posts for which it was predicted, and both), from which all scores follow, of a
month, of the whole test, or of the labels of an age:

    precision = both / predicted,  recall = both / had,  F1 = 2 both / (had + predicted),

0 where that would be 0 / 0, and their means weighted by `had`. Of the five most probable
labels, P@5 is the share that is right, and R@5 the share of the post's labels among them.
"""
import json
from collections import namedtuple
from datetime import date

from lab import Failed

THRESHOLD = 0.5
TOP = 5
TOLERANCE = 1e-6  # between our scores and those that the command prints
HAD, PREDICTED, BOTH = range(3)

Score = namedtuple("Score", "precision recall f1")


class Tally:
    def __init__(self, posts=0, first_right=0, right=0.0, found=0.0, labels=None):
        self.posts, self.first_right = posts, first_right
        self.right, self.found = right, found  # sums of P@5 and R@5
        self.labels = labels if labels is not None else {}

    def as_list(self):
        return [self.posts, self.first_right, self.right, self.found, self.labels]

    def count(self, label, what):
        self.labels.setdefault(label, [0, 0, 0])[what] += 1

    def add(self, had, predicted):
        """A post with its labels and [(label, probability)], the most probable first."""
        top = [label for label, _ in predicted[:TOP]]
        hits = sum(label in had for label in top)
        self.posts += 1
        self.first_right += top[:1] != [] and top[0] in had
        self.right += hits / len(top) if top else 0
        self.found += hits / len(had) if had else 0
        for label in had:
            self.count(label, HAD)
        for label, probability in predicted:
            if probability >= THRESHOLD:
                self.count(label, PREDICTED)
                if label in had:
                    self.count(label, BOTH)

    def merge(self, other):
        self.posts += other.posts
        self.first_right += other.first_right
        self.right += other.right
        self.found += other.found
        for label, counts in other.labels.items():
            mine = self.labels.setdefault(label, [0, 0, 0])
            mine[:] = map(sum, zip(mine, counts))

    def at_top(self):
        """P@1, P@5 and R@5."""
        return [share(sum_, self.posts) for sum_ in (self.first_right, self.right, self.found)]


def merged(tallies):
    total = Tally()
    for tally in tallies:
        total.merge(tally)
    return total


def share(part, whole):
    return part / whole if whole else 0.0


def score(counts):
    had, predicted, both = counts
    return Score(share(both, predicted), share(both, had), share(2 * both, had + predicted))


def weighted(labels):
    """The mean score of {label: counts}; None if no post had any of them."""
    whole = sum(counts[HAD] for counts in labels.values())
    if not whole:
        return None
    scores = [(counts[HAD] / whole, score(counts)) for counts in labels.values()]
    return Score(*(sum(weight * one[i] for weight, one in scores) for i in range(3)))


# -- time ------------------------------------------------------------------------------


class Calendar:
    """Divides the time of a test into months, or a short one into weeks or days."""

    def __init__(self, first, last):
        self.first = first
        for self.days, least in ((0, 4), (7, 3), (1, 0)):  # 0 for months
            if self.position(last) >= least:
                break
        self.size = int(self.position(last)) + 1

    def position(self, time):
        """How many of them have passed at a time."""
        if self.days:
            return (day_of(time) - int(day_of(self.first))) / self.days
        months = 12 * (int(time[:4]) - int(self.first[:4]))
        return months + int(time[5:7]) - int(self.first[5:7]) + (int(time[8:10]) - 1) / 31

    def name(self, index):
        if self.days:
            return date.fromordinal(int(day_of(self.first)) + index * self.days).isoformat()
        months = int(self.first[5:7]) - 1 + index
        return f"{int(self.first[:4]) + months // 12}-{months % 12 + 1:02}"

    @property
    def unit(self):
        return {0: "month", 7: "week", 1: "day"}[self.days]


def day_of(time):
    return date.fromisoformat(time[:10]).toordinal() + int(time[11:13]) / 24


# -- predictions -----------------------------------------------------------------------


class Reader:
    """Takes the lines of a file one by one. Only the labels that the classifier predicts at
    the time are scored."""

    def __init__(self, calendar):
        self.calendar, self.scored = calendar, set()
        self.tallies = [Tally() for _ in range(calendar.size)]
        self.by_hour = {}

    def tally_at(self, time):
        hour = time[:13]
        if hour not in self.by_hour:
            self.by_hour[hour] = self.tallies[int(self.calendar.position(time))]
        return self.by_hour[hour]

    def take(self, line):
        if "names" in line:
            self.scored = set(line["names"])
            return
        predicted = [(one["label"], one["probability"]) for one in line["told"]]
        self.tally_at(line["time"]).add(self.scored.intersection(line["labels"]), predicted)


def read_predictions(path, calendar):
    """Tallies for the months of the calendar."""
    reader = Reader(calendar)
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                reader.take(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError):
                raise Failed(f"{path}:{number} is not a prediction") from None
    return reader.tallies


def check(name, total, printed):
    """The command counts independently; both must have the same result."""
    ours = weighted(total.labels) or Score(0, 0, 0)
    if total.posts != printed["scored"]:
        raise Failed(f"{name}: the predictions are of {total.posts:,} posts, but the command "
                     f"has scored {printed['scored']:,}")
    for field, value in ours._asdict().items():
        if not abs(value - printed[field]) <= TOLERANCE:
            raise Failed(f"{name}: weighted {field} is {value:.7f} by the predictions, but "
                         f"the command prints {printed[field]:.7f}")
