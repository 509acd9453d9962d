"""What the results are: means over seeds, differences, and which are more than chance.

A Measure is a mean over seeds with its spread, the sample standard deviation. One of two
models is called better only if their means differ by more than CHANCE times the larger
spread; otherwise they are level. With one seed the spread is unknown and there is no
verdict.

The age of a label is the time from its first post in the whole stream to the beginning of
the test.
"""
from collections import namedtuple
from statistics import mean, stdev

from hashtag_scores import merged, weighted
from hashtag_stream import folded, months_before

CHANCE = 2
AGES = [("under 1 month", 1), ("1 to 3 months", 3), ("3 to 12 months", 12),
        ("over 12 months", None)]
BORN, NOT_FOUND = "new in the test", "not found"
AGE_NAMES = [*(name for name, _ in AGES), BORN, NOT_FOUND]

Measure = namedtuple("Measure", "mean spread")


def measure(values):
    """Over the seeds that have a value; None if none has."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    return Measure(mean(values), stdev(values) if len(values) > 1 else None)


def verdict(one, other):
    """How `one` compares with `other`: "better", "worse" or "level"; None if unknown."""
    if one is None or other is None or None in (one.spread, other.spread):
        return None
    gain = one.mean - other.mean
    if abs(gain) <= CHANCE * max(one.spread, other.spread):
        return "level"
    return "better" if gain > 0 else "worse"


def age_of(label, begin, born):
    time = born.get(folded(label))
    if time is None:
        return NOT_FOUND
    if time >= begin:
        return BORN
    return next(name for name, months in AGES
                if months is None or time >= months_before(begin, months))


def f1(labels):
    found = weighted(labels)
    return found and found.f1


def at_top(total):
    """P@1, P@5 and R@5, if a post was scored."""
    return total.at_top() if total.posts else [None] * 3


class Findings:
    def __init__(self, plan, outcomes, survey):
        self.plan, self.outcomes, self.survey = plan, outcomes, survey
        self.ages = {}

    def has(self, split, *models):
        return all((split, model) in self.outcomes for model in models)

    def over_seeds(self, split, model, ask):
        """The measure of what `ask` finds in an outcome."""
        return measure([ask(outcome) for outcome in self.outcomes[split, model]])

    def row(self, split, model):
        """Measures of weighted precision, recall and F1, P@1, P@5, R@5, unknown words."""
        def all_scores(outcome):
            return [*(weighted(outcome.total.labels) or [None] * 3),
                    *at_top(outcome.total), outcome.unknown]

        seeds = [all_scores(outcome) for outcome in self.outcomes[split, model]]
        return [measure(column) for column in zip(*seeds)]

    def f1(self, split, model):
        return self.over_seeds(split, model, lambda o: f1(o.total.labels))

    def precision_at_1(self, split, model):
        return self.over_seeds(split, model, lambda o: at_top(o.total)[0])

    def recall_at_5(self, split, model):
        return self.over_seeds(split, model, lambda o: at_top(o.total)[2])

    def f1_of_periods(self, split, model, first, last):
        return self.over_seeds(split, model,
                               lambda o: f1(merged(o.periods[first:last]).labels))

    def age(self, split, label):
        if (split, label) not in self.ages:
            self.ages[split, label] = age_of(label, split.test.begin, self.survey.born)
        return self.ages[split, label]

    def labels_of_age(self, split, outcome, age):
        return {label: counts for label, counts in outcome.total.labels.items()
                if self.age(split, label) == age}

    def f1_of_age(self, split, model, age):
        return self.over_seeds(split, model,
                               lambda o: f1(self.labels_of_age(split, o, age)))

    def size_of_age(self, split, model, age):
        """How many labels, and how many posts had one, with the first seed."""
        labels = self.labels_of_age(split, self.outcomes[split, model][0], age)
        had = [counts[0] for counts in labels.values() if counts[0]]
        return len(had), sum(had)

    def halves(self, split):
        """The two halves of a test of two months or more: [(name, first, last)]."""
        size = self.plan.calendar(split).size
        if size < 2:
            return []
        return [("first half", 0, size // 2), ("second half", size // 2, size)]
