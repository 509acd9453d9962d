"""The questions that the paper left to future work, answered by the ablation.

The questions are in sections 1, 3 and 6 of the paper. One whose rows were not run is left
out. A sentence that says which of two is better is chosen by their difference; a difference
of less than twice the range of the default's scores over three seeds is called chance,
because two runs that differ only in their seed rarely differ by more.

All scores are "strict" means (lab/sets.py), since rows do not all know the same words.
"""
from lab.tables import percent

GATE, NO_GATE = "space-saving, gate", "space-saving, no gate"
TRUE_TOP = "the true top K, counted beforehand"


def signed(gain):
    return percent(gain, 1, "+")


def score(outcome):
    return outcome.scores["strict"]


class Ablation:
    """Outcomes by size, factor and choice, and comparisons of two."""

    def __init__(self, outcomes, k, small):
        self.by_name = {(o.row.k, o.row.factor, o.row.choice): o for o in outcomes}
        self.default, self.k, self.small = outcomes[0], k, small
        seeds = [score(o) for o in outcomes if o.row.factor in ("default", "noise")]
        seeds = [one for one in seeds if one is not None]
        self.noise = max(seeds) - min(seeds) if len(seeds) > 1 else None

    def rows(self, k, factor, *choices):
        """The outcomes, or None if one of them was not run or has no score."""
        found = [self.by_name.get((k, factor, choice)) for choice in choices]
        return found if all(o and score(o) is not None for o in (self.default, *found)) else None

    def choose(self, gain, better, worse, same):
        if self.noise is None or abs(gain) <= 2 * self.noise:
            return same
        return better if gain > 0 else worse

    def against(self, outcome, other, name):
        """1.2 points better than NAME, or worse, or no different."""
        gain = score(outcome) - score(other)
        if self.noise is None:
            return f"{signed(gain)} points against {name}"
        points = f"{percent(abs(gain))} points"
        return self.choose(gain, f"{points} better than {name}", f"{points} worse than {name}",
                           f"not distinguishable from {name} ({signed(gain)})")

    def time(self, outcome):
        return f"{outcome.cpu_seconds / max(self.default.cpu_seconds, 1e-3):.2f}"


def listed(outcomes):
    return "; ".join(f"{o.row.choice}: {percent(score(o))}" for o in outcomes)


def listed_with_known(outcomes):
    return "; ".join(f"{o.row.choice}: {percent(score(o))} ({percent(o.scores['known'])} % of "
                     "the pairs known)" for o in outcomes)


# -- the questions: (title, question, answer), or None if their rows were not run ------------


def best_of_both(a):
    streams = a.rows(a.k, "profile", "paper, to the letter", "paper, gradient before the step",
                     "athena", "incremental")
    batches = a.rows(a.k, "profile", "batch word2vec, 1 epoch", "batch word2vec, 5 epochs")
    if not streams or not batches:
        return None
    best = max(streams, key=score)
    others = [(best, f"{best.row.choice}, the best of the other streaming systems"),
              *((batch, batch.row.choice) for batch in batches)]
    compared = "; ".join(a.against(a.default, other, name) for other, name in others)
    times = "; ".join(f"{o.row.choice}: {a.time(o)}" for o in (*streams[2:], *batches))
    return ("A third implementation.",
            "Do the best parts of the paper's system and of incremental SGNS make a better "
            "one?",
            f"K = {a.k:,}. {listed([*streams, *batches, a.default])}. The default is "
            f"{compared}. Time relative to the default: {times}.")


def vocabularies(a):
    rows = a.rows(a.small, "vocabulary", GATE, NO_GATE, "misra-gries", TRUE_TOP)
    if not rows:
        return None
    gate, plain, misra_gries, true_top = rows
    return ("Which words.",
            "Space-Saving or Misra-Gries, and what does a bounded vocabulary cost?",
            f"K = {a.small:,}. {listed_with_known(rows)}. Plain Space-Saving is "
            f"{a.against(plain, misra_gries, 'Misra-Gries')}; with the gate it is "
            f"{a.against(gate, plain, 'without')}, and {a.against(gate, true_top, TRUE_TOP)}.")


def smoothing(a):
    powers = a.rows(a.k, "smoothing", "power 0", "power 0.5", "power 1")
    if not powers:
        return None
    found = (f"K = {a.k:,}, `--sample 0.0001`, power 0.75: {percent(score(a.default))}; "
             f"{listed(powers)}. Power 0.75 is {a.against(a.default, powers[-1], 'power 1')}")
    for sample in ("0.001", "0.00001"):
        rows = a.rows(a.k, "smoothing and subsampling",
                      *(f"sample {sample}, power {power}" for power in ("0.75", "1")))
        if rows:
            found += (f"; with `--sample {sample}` it has {percent(score(rows[0]))} and is "
                      f"{a.against(*rows, 'power 1')}")
    return ("Smoothing and subsampling.",
            "Is smoothing of the negatives worth its cost in a stream, or does subsampling do "
            "the same?",
            f"{found}. Time with power 1, whose negatives come from the same table, relative "
            f"to power 0.75: {a.time(powers[-1])}.")


def over_counting(a):
    plain = a.rows(a.small, "over-counting as smoothing", "no gate, power 1", "gate, power 1")
    smooth = a.rows(a.small, "vocabulary", NO_GATE, GATE)
    if not plain or not smooth:
        return None
    without, gated = (score(one) - score(other) for one, other in zip(smooth, plain))
    verdict = a.choose(
        without - gated, "It helps more without the gate, which contradicts the idea.",
        "It helps less without the gate, as the paper supposes.",
        "The two do not differ by more than chance, which leaves the question open.")
    return ("A happy side effect?",
            "The paper wonders whether Space-Saving's over-counting of rare words smooths the "
            "negatives by itself. If so, smoothing should help less without the gate than with "
            "it, where counts are nearly exact.",
            f"K = {a.small:,}, power 0.75 against 1: {signed(without)} points without the "
            f"gate, {signed(gated)} with it. {verdict}")


def optimizers(a):
    rows = a.rows(a.k, "optimizer", "AdaGrad by coordinate", "linear by slot (paper)",
                  "power law by slot", "constant")
    if not rows:
        return None
    compared = "; ".join(a.against(a.default, o, o.row.choice) for o in rows)
    return ("Learning rates.",
            "A linear rate with a minimum for each slot, or AdaGrad, whose rates vanish?",
            f"K = {a.k:,}. The default, AdaGrad by row with a half-life: "
            f"{percent(score(a.default))}; {listed(rows)}. The default is {compared}.")


def subwords(a):
    found = []
    for size in (a.k, a.small):
        rows = a.rows(size, "subwords", "200,000 n-grams", "no n-grams")
        if rows:
            found.append(f"K = {size:,}: {listed_with_known(rows)}; with n-grams it is "
                         f"{a.against(*rows, 'without')}.")
    return ("Unknown words.", "Does it help to fall back on parts of words?",
            " ".join(found)) if found else None


def evictions(ends):
    """`ends` has the last line of a trace for each (K, name)."""
    parts = []
    for (size, name), end in ends.items():
        evicted, young = end["evicted"], end["evicted_young"]
        share = f" ({100 * young / evicted:.2f} %)" if evicted else ""
        parts.append(f"K = {size:,}, {name}: {evicted:,} words evicted in {end['tokens']:,}, "
                     f"{young:,} of them{share} within 1,000 words of their admission")
    return ("Evicted too soon.",
            "How often does a word leave before its sentence has been trained?",
            "; ".join(parts) + ". A sentence has at most 1,000 words, so this is a bound.")


QUESTIONS = [best_of_both, vocabularies, smoothing, over_counting, optimizers, subwords]


def add_answers(document, outcomes, ends, k, small):
    ablation = Ablation(outcomes, k, small)
    noise = "The noise between seeds was not measured, so no difference is called one."
    if ablation.noise is not None:
        noise = (f"The scores of the default with several seeds span "
                 f"{percent(ablation.noise, 2)} points; only differences of more than twice "
                 "that are called better or worse. The noise of other rows, and at the small "
                 "K, is assumed to be the same.")
    document.section("questions", "The paper's open questions")
    document.text(f"Scores are strict means, in percent. {noise}")
    for found in (*(question(ablation) for question in QUESTIONS), evictions(ends)):
        if found:
            title, question, answer = found
            document.text(f"**{title}** {question}")
            document.text(answer)
