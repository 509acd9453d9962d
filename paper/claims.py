"""What the paper says it found, and whether it is found here.

The paper prints no tables for its first two experiments; its numbers are in the text of
section 4 and, for speed, of section 6. Each claim below has the paper's words in short, a
rule for when they hold, and a function that says, of what was measured, a value for
people and whether it meets the rule. The paper's words are vague ("near", "about"), so
the rules are ours; the page prints them beside the verdicts.

A claim is asked for two readings of the paper's method: profile `paper`, Algorithm 2 to
the letter, and profile `athena`, what the released program does. The version that made
the figures lies between them: it counts like the one and trains like the other. A claim
holds, holds partly (for one of the two), or fails.

Cosines are compared with two baselines: the batch word2vec of the paper's program, which
made its figures, and word2vec of one epoch as it is known, which its text names.

That 0.6 of the undefined pairs are those with one rare word and 0.85 those with two is
our reading of "near 0.6 or 0.85 depending on the particular word intervals": where 0.6 of
the rare words are dropped, 1 - 0.4 * 0.4 = 0.84 of their pairs are undefined.
"""
from collections import namedtuple

from page import fraction

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

Claim = namedtuple("Claim", "text paper_says rule measure")
Row = namedtuple("Row", "text paper_says rule values verdict")


def judge(found):
    """Rows of the table. `found` answers counts(k, profile), slowness(profile) and
    agreement(k, profile, reference), each with None where that was not measured."""
    return [judged(claim, found) for claim in CLAIMS]


def judged(claim, found):
    answers = {profile: claim.measure(found, profile) for profile in SHOWN}
    values = {profile: answer[0] if answer else "–" for profile, answer in answers.items()}
    holds = [answers[profile][1] for profile in METHODS if answers[profile]]
    if not holds:
        verdict = "not run"
    elif all(holds):
        verdict = "holds"
    else:
        verdict = "partly" if any(holds) else "fails"
    return Row(claim.text, claim.paper_says, claim.rule, values, verdict)


def error_of_many(k):
    """Medians around the ranks of the counts' table in the second half of the top K."""
    def measure(found, profile):
        counts = found.counts(k, profile)
        errors = [band["median_error"] for band in (counts or {"bands": []})["bands"]
                  if k / 2 < band["rank"] <= k]
        if not errors:
            return None
        return span(errors), any(AROUND[0] <= error <= AROUND[1] for error in errors)

    return measure


def no_error(k):
    def measure(found, profile):
        counts = found.counts(k, profile)
        if not counts or counts["mean_error"] is None:
            return None
        return fraction(counts["mean_error"], 3), counts["mean_error"] == 0

    return measure


def slowness(found, profile):
    factor = found.slowness(profile)
    return (f"{factor:.2f} ×", factor >= TWICE) if factor else None


def undefined(k, first, second, paper_says):
    def measure(found, profile):
        share = of_cell(found.agreement(k, profile, "own"), first, second, "undefined")
        return None if share is None else (
            f"{share:.2f}", abs(share - paper_says) <= ABOUT)

    return measure


def near_zero(k, reference):
    """The correlation of rare words with each other."""
    def measure(found, profile):
        r = of_cell(found.agreement(k, profile, reference), RARE, RARE, "pearson")
        return None if r is None else (fraction(r, 2), abs(r) <= NEAR_ZERO)

    return measure


def lower(k, larger, reference):
    def measure(found, profile):
        here, there = (mean(defined(found.agreement(size, profile, reference), "pearson"))
                       for size in (k, larger))
        if here is None or there is None:
            return None
        return f"{fraction(here, 2)}, {fraction(there, 2)}", here < there

    return measure


def close(k, reference):
    def measure(found, profile):
        r = defined(found.agreement(k, profile, reference), "pearson")
        return (span(r), min(r) >= CLOSE) if r else None

    return measure


def bias(k, reference, holds):
    def measure(found, profile):
        value = mean(defined(found.agreement(k, profile, reference), "bias"))
        return None if value is None else (fraction(value, 2, "+"), holds(value))

    return measure


def of_cell(cells, first, second, what):
    return next((cell[what] for cell in cells or []
                 if (cell["first"], cell["second"]) == (first, second)), None)


def defined(cells, what):
    return [cell[what] for cell in cells or [] if cell[what] is not None]


def mean(values):
    return sum(values) / len(values) if values else None


def span(values):
    return f"{fraction(min(values), 2)} to {fraction(max(values), 2)}"


def about_cosines(reference, against):
    """The claims on cosines, for one baseline."""
    def claim(k, what, paper_says, rule, measure):
        return Claim(f"K = {k:,}: {what}, against {against}", paper_says, rule, measure)

    return [
        claim(7000, "mean correlation here and at 70,000", "lower", "first < second",
              lower(7000, 70000, reference)),
        claim(7000, "correlation of rare words (6401–6500)", "near zero",
              f"within ±{NEAR_ZERO}", near_zero(7000, reference)),
        *(claim(k, "correlations, all pairs of bands", "in the range of 0.8",
                f"all ≥ {CLOSE}", close(k, reference)) for k in (70000, 700000)),
        claim(7000, "mean bias", "substantially upward", f"> {SUBSTANTIAL}",
              bias(7000, reference, lambda b: b > SUBSTANTIAL)),
        claim(70000, "mean bias", "approximately none", f"within ±{LITTLE}",
              bias(70000, reference, lambda b: abs(b) <= LITTLE)),
        claim(700000, "mean bias", "downward", f"< −{LITTLE}",
              bias(700000, reference, lambda b: b < -LITTLE)),
    ]


CLAIMS = [
    *(Claim(f"K = {k:,}: relative error of counts, medians from rank K/2 to K",
            "around one or two for many words", f"one from {AROUND[0]} to {AROUND[1]}",
            error_of_many(k)) for k in (7000, 70000)),
    Claim("K = 700,000: relative error of counts, mean over all words",
          "zero at every rank", "0", no_error(700000)),
    Claim("K = 7,000: undefined pairs of frequent and rare words (1–100, 6401–6500)",
          "near 0.6", f"within ±{ABOUT} of it", undefined(7000, FREQUENT, RARE, 0.6)),
    Claim("K = 7,000: undefined pairs of rare words (6401–6500)",
          "near 0.85", f"within ±{ABOUT} of it", undefined(7000, RARE, RARE, 0.85)),
    *about_cosines("own", "the paper's word2vec"),
    *about_cosines("one", "word2vec, 1 epoch"),
    Claim("time of the streaming system, word2vec's one epoch = 1", "two or more",
          f"≥ {TWICE}", slowness),
]
