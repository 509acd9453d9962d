"""What the paper left to future work, and what the ablation says about it.

The questions are the paper's (sections 1, 3 and 6), in short; one whose rows were not run
is left out. Answers are made from the outcomes alone: a sentence that says which of two
is better is chosen by their difference, and there is a third one for a difference that
may be chance. Chance is taken to reach twice as far as the scores of the default with
three seeds lie apart: two runs that differ in the seed alone differ by more only rarely.

All scores are "strict" means (sets.py), since rows do not all know the same words.
"""

GATE, NO_GATE = "space-saving, gate", "space-saving, no gate"
TRUE_TOP = "the true top K, counted beforehand"


class Figures:
    """Looks outcomes up by size, factor and choice."""

    def __init__(self, outcomes):
        self.by_name = {(o.row.k, o.row.factor, o.row.choice): o for o in outcomes}
        self.default = outcomes[0]
        seeds = [self.score(o) for o in outcomes if o.row.factor in ("default", "noise")]
        seeds = [score for score in seeds if score is not None]
        self.spread = max(seeds) - min(seeds) if len(seeds) > 1 else None

    @staticmethod
    def score(outcome):
        return outcome.scores["strict"]

    def rows(self, k, factor, *choices):
        """The outcomes, or None where one of them was not run or has no score."""
        found = [self.by_name.get((k, factor, choice)) for choice in choices]
        scored = all(o and self.score(o) is not None for o in (self.default, *found))
        return found if scored else None

    def gain(self, outcome, other):
        return self.score(outcome) - self.score(other)

    def chance(self, gain):
        """Whether a difference may be chance; all may, while nobody knows how large it is."""
        return self.spread is None or abs(gain) <= 2 * self.spread

    def choose(self, gain, better, worse, same):
        if self.chance(gain):
            return same
        return better if gain > 0 else worse

    def against(self, outcome, other, name):
        """1.2 points better than NAME, or worse, or no different."""
        gain = self.gain(outcome, other)
        if self.spread is None:
            return f"{signed(gain)} points against {name}"
        points = f"{100 * abs(gain):.1f} points"
        return self.choose(gain, f"{points} better than {name}",
                           f"{points} worse than {name}",
                           f"not distinguishable from {name} ({signed(gain)})")

    def time(self, outcome):
        return f"{outcome.cpu_seconds / max(self.default.cpu_seconds, 1e-3):.2f}"


def percent(value):
    return "–" if value is None else f"{100 * value:.1f}".replace("-", "−")


def signed(gain):
    return f"{100 * gain:+.1f}".replace("-", "−")


def listed(f, outcomes):
    return "; ".join(f"{o.row.choice}: {percent(f.score(o))}" for o in outcomes)


def question(title, asked, found):
    return f"**{title}** {asked}\n\n{found}\n"


def best_of_both(f, k, small):
    streams = f.rows(k, "profile", "paper, to the letter", "paper, gradient before the step",
                     "athena", "incremental")
    batches = f.rows(k, "profile", "batch word2vec, 1 epoch", "batch word2vec, 5 epochs")
    if not streams or not batches:
        return None
    best = max(streams, key=f.score)
    rivals = [(best, f"{best.row.choice}, the best of the others that stream"),
              *((batch, batch.row.choice) for batch in batches)]
    compared = "; ".join(f.against(f.default, rival, name) for rival, name in rivals)
    times = "; ".join(f"{o.row.choice}: {f.time(o)}" for o in (*streams[2:], *batches))
    return question(
        "A third implementation.", "Do the best parts of the paper's system and of "
        "incremental SGNS make a better one?",
        f"K = {k:,}. {listed(f, [*streams, *batches, f.default])}. The default is "
        f"{compared}. Time where the default has 1: {times}.")


def vocabularies(f, k, small):
    rows = f.rows(small, "vocabulary", GATE, NO_GATE, "misra-gries", TRUE_TOP)
    if not rows:
        return None
    gate, plain, misra_gries, true_top = rows
    known = "; ".join(f"{o.row.choice}: {percent(f.score(o))} "
                      f"({percent(o.scores['known'])} % of the pairs known)" for o in rows)
    return question(
        "Which words.", "Space-Saving or Misra-Gries, and what does a bounded vocabulary "
        "cost?", f"K = {small:,}. {known}. Plain Space-Saving is "
        f"{f.against(plain, misra_gries, 'Misra-Gries')}, with the gate it is "
        f"{f.against(gate, plain, 'without')}, and {f.against(gate, true_top, TRUE_TOP)}.")


def smoothing(f, k, small):
    powers = f.rows(k, "smoothing", "power 0", "power 0.5", "power 1")
    if not powers:
        return None
    plain = powers[-1]
    found = (f"K = {k:,}, `--sample 0.0001`, power 0.75: {percent(f.score(f.default))}; "
             f"{listed(f, powers)}. Power 0.75 is {f.against(f.default, plain, 'power 1')}")
    for sample in ("0.001", "0.00001"):
        rows = f.rows(k, "smoothing and sub-sampling",
                      *(f"sample {sample}, power {power}" for power in ("0.75", "1")))
        if rows:
            found += (f"; with `--sample {sample}` it has {percent(f.score(rows[0]))} and is "
                      f"{f.against(*rows, 'power 1')}")
    return question(
        "Smoothing and sub-sampling.", "Is smoothing of the negatives worth its cost in a "
        "stream, or does sub-sampling do the same?",
        f"{found}. Time of power 1, drawn from the same table, power 0.75 = 1: "
        f"{f.time(plain)}.")


def over_counting(f, k, small):
    plain = f.rows(small, "over-counting as smoothing", "no gate, power 1", "gate, power 1")
    smooth = f.rows(small, "vocabulary", NO_GATE, GATE)
    if not plain or not smooth:
        return None
    without, gated = (f.gain(a, b) for a, b in zip(smooth, plain))
    verdict = f.choose(
        without - gated, "It helps more without the gate: the figures speak against it.",
        "It helps less without the gate, as the paper supposes.",
        "The two do not differ by more than chance, which leaves the question open.")
    return question(
        "A happy side effect?", "The paper wonders whether Space-Saving's over-counting of "
        "rare words smooths the negatives by itself. Then smoothing should help less without "
        "the gate than with it, where counts are nearly exact.",
        f"K = {small:,}, power 0.75 against 1: {signed(without)} points without the gate, "
        f"{signed(gated)} with it. {verdict}")


def rates(f, k, small):
    rows = f.rows(k, "rate", "AdaGrad by coordinate", "linear by slot (paper)",
                  "power law by slot", "constant")
    if not rows:
        return None
    compared = "; ".join(f.against(f.default, o, o.row.choice) for o in rows)
    return question(
        "Rates.", "A thresholded linear rate for each slot, or AdaGrad, whose rates vanish?",
        f"K = {k:,}. The default, AdaGrad by row that forgets with a half-life: "
        f"{percent(f.score(f.default))}; {listed(f, rows)}. The default is {compared}.")


def subwords(f, k, small):
    name, found = "200,000 n-grams", []
    for size, base in ((k, f.default), (small, f.by_name.get((small, "vocabulary", GATE)))):
        rows = f.rows(size, "subwords", name)
        if rows and base and f.score(base) is not None:
            with_them = rows[0]
            found.append(
                f"K = {size:,}: {percent(f.score(with_them))} with "
                f"{percent(with_them.scores['known'])} % of the pairs known, which is "
                f"{f.against(with_them, base, 'without')} ({percent(f.score(base))}, "
                f"{percent(base.scores['known'])} %).")
    return question(
        "Words that are not held.", "Does it help to fall back on parts of words?",
        " ".join(found)) if found else None


def ejections(ends):
    parts = []
    for (size, name), end in ends.items():
        gone, young = end["evicted"], end["evicted_young"]
        share = f" ({100 * young / gone:.2f} %)" if gone else ""
        parts.append(f"K = {size:,}, {name}: {gone:,} words ejected in {end['tokens']:,}, "
                     f"{young:,} of them{share} within 1,000 words of their coming")
    return question(
        "Ejected too soon.", "How often does a word leave before its sentence is learned?",
        "; ".join(parts) + ". A sentence has at most 1,000 words, so this is a bound.")


QUESTIONS = [best_of_both, vocabularies, smoothing, over_counting, rates, subwords]


def as_markdown(outcomes, ends, k, small):
    figures = Figures(outcomes)
    found = [answer(figures, k, small) for answer in QUESTIONS]
    noise = "The noise between seeds was not measured, so no difference is judged."
    if figures.spread is not None:
        noise = (f"The default with several seeds spans {100 * figures.spread:.2f} points; "
                 "only differences of more than twice that are called better or worse. The "
                 "noise of other rows, and at the small K, is taken to be the same.")
    return "\n".join(["## The paper's open questions\n",
                      f"Scores are strict means, in per cent. {noise}\n",
                      *(part for part in found if part), ejections(ends)])
