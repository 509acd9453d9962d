"""What the paper says it found, and whether it is found here.

The paper has no tables of its first two experiments; its numbers are in the text of section
4 and, for speed, of section 6. A Claim has the paper's words in short, the rule by which it
holds, a function that looks up the measured value, the rule as a predicate, and how the
value is shown. The paper's words are vague ("near", "about"), so the rules are ours; the
report prints them next to the verdicts.

A claim is checked for two readings of the paper's method: profile `paper`, Algorithm 2 to
the letter, and profile `athena`, what the released program does. The version that made the
figures lies between them: it counts like the one and trains like the other. A claim holds,
holds partly (for one of the two), or fails.

Cosines are compared with two baselines: the batch word2vec of the paper's program, which
made its figures, and ordinary word2vec of one epoch, which its text names.

That 0.6 of the undefined pairs are those with one rare word and 0.85 those with two is our
reading of "near 0.6 or 0.85 depending on the particular word intervals": if 0.6 of the rare
words are dropped, 1 - 0.4 * 0.4 = 0.84 of their pairs are undefined.
"""
from collections import namedtuple

from lab.sets import mean
from lab.tables import MISSING, fraction

METHODS = ["paper", "athena"]
SHOWN = [*METHODS, "default"]
RARE = "6401-6500"
FREQUENT = "1-100"

CLOSE = 0.7          # "in the range of 0.8": at least this
NEAR_ZERO = 0.2      # "even near zero": no further from it than this
LITTLE = 0.03        # "approximately unbiased": no more than this
SUBSTANTIAL = 0.1    # "substantially upward-biased": more than this
ABOUT = 0.1          # "near 0.6": no further from it than this
AROUND = (0.5, 2.5)  # "around one or two": what rounds to it
TWICE = 2            # "a factor of two or more"

Claim = namedtuple("Claim", "text paper_says rule value holds form")
Row = namedtuple("Row", "text paper_says rule values verdict")


def check_all(found):
    """Rows of the table. `found` has counts(k, profile), slowness(profile) and
    agreement(k, profile, reference), which return None for what was not measured."""
    return [check(claim, found) for claim in CLAIMS]


def check(claim, found):
    measured = {profile: claim.value(found, profile) for profile in SHOWN}
    holds = [claim.holds(measured[p]) for p in METHODS if measured[p] is not None]
    verdict = "not run"
    if holds:
        verdict = "holds" if all(holds) else "partly" if any(holds) else "fails"
    return Row(claim.text, claim.paper_says, claim.rule,
               {p: MISSING if value is None else claim.form(value)
                for p, value in measured.items()}, verdict)


def span(values):
    return f"{fraction(min(values), 2)} to {fraction(max(values), 2)}"


def two_digits(value):
    return fraction(value, 2)


# -- values: functions of the findings and a profile ----------------------------------------


def errors_of_many(k):
    """Median errors around the ranks of the upper half of the top K."""
    def value(found, profile):
        counts = found.counts(k, profile) or {"bands": []}
        return [band["median_error"] for band in counts["bands"]
                if k / 2 < band["rank"] <= k] or None

    return value


def mean_error(k):
    return lambda found, profile: (found.counts(k, profile) or {}).get("mean_error")


def of_cell(k, first, second, reference, what):
    def value(found, profile):
        return next((cell[what] for cell in found.agreement(k, profile, reference) or []
                     if (cell["first"], cell["second"]) == (first, second)), None)

    return value


def of_all_cells(k, reference, what):
    def value(found, profile):
        return [cell[what] for cell in found.agreement(k, profile, reference) or []
                if cell[what] is not None] or None

    return value


def mean_of_cells(k, reference, what):
    return lambda found, profile: mean(of_all_cells(k, reference, what)(found, profile) or [])


def both_means(k, larger, reference):
    def value(found, profile):
        pair = [mean_of_cells(size, reference, "pearson")(found, profile)
                for size in (k, larger)]
        return None if None in pair else pair

    return value


# -- claims ----------------------------------------------------------------------------------


def about_cosines(reference, against):
    """The claims on cosines, for one baseline."""
    def claim(k, what, *rest):
        return Claim(f"K = {k:,}: {what}, against {against}", *rest)

    def bias(k, paper_says, rule, holds):
        return claim(k, "mean bias", paper_says, rule, mean_of_cells(k, reference, "bias"),
                     holds, lambda value: fraction(value, 2, "+"))

    return [
        claim(7000, "mean correlation here and at 70,000", "lower", "first < second",
              both_means(7000, 70000, reference), lambda pair: pair[0] < pair[1],
              lambda pair: ", ".join(map(two_digits, pair))),
        claim(7000, "correlation of rare words (6401–6500)", "near zero",
              f"within ±{NEAR_ZERO}", of_cell(7000, RARE, RARE, reference, "pearson"),
              lambda r: abs(r) <= NEAR_ZERO, two_digits),
        *(claim(k, "correlations, all pairs of bands", "in the range of 0.8",
                f"all ≥ {CLOSE}", of_all_cells(k, reference, "pearson"),
                lambda values: min(values) >= CLOSE, span) for k in (70000, 700000)),
        bias(7000, "substantially upward", f"> {SUBSTANTIAL}", lambda b: b > SUBSTANTIAL),
        bias(70000, "approximately none", f"within ±{LITTLE}", lambda b: abs(b) <= LITTLE),
        bias(700000, "downward", f"< −{LITTLE}", lambda b: b < -LITTLE),
    ]


def undefined(first, second, words, share):
    return Claim(f"K = 7,000: undefined pairs of {words}", f"near {share}",
                 f"within ±{ABOUT} of it", of_cell(7000, first, second, "own", "undefined"),
                 lambda value: abs(value - share) <= ABOUT, two_digits)


CLAIMS = [
    *(Claim(f"K = {k:,}: relative error of counts, medians from rank K/2 to K",
            "around one or two for many words", f"one from {AROUND[0]} to {AROUND[1]}",
            errors_of_many(k),
            lambda errors: any(AROUND[0] <= error <= AROUND[1] for error in errors), span)
      for k in (7000, 70000)),
    Claim("K = 700,000: relative error of counts, mean over all words", "zero at every rank",
          "0", mean_error(700000), lambda error: error == 0,
          lambda error: fraction(error, 3)),
    undefined(FREQUENT, RARE, "frequent and rare words (1–100, 6401–6500)", 0.6),
    undefined(RARE, RARE, "rare words (6401–6500)", 0.85),
    *about_cosines("own", "the paper's word2vec"),
    *about_cosines("one", "word2vec, 1 epoch"),
    Claim("time of the streaming system, word2vec's one epoch = 1", "two or more",
          f"≥ {TWICE}", lambda found, profile: found.slowness(profile),
          lambda factor: factor >= TWICE, lambda factor: f"{factor:.2f} ×"),
]
