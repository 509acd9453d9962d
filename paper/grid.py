"""The rows of the ablation: one part changed at a time around the default.

A row has all settings that differ from the default. If a part does not work with the rest
as it is, they are changed with it and the row says so:

  - another optimizer has other learning rates, and the same one for both matrices: linear
    the paper's 0.025, constant 0.05 and power 0.1 from the hundredth step on, the best of a
    few that were tried on 20 MB of text, coordinate incremental SGNS's 0.1; coordinate
    requires negatives drawn for each pair;
  - negatives for each pair have the default's learning rates, and once more equal ones for
    both matrices, as word2vec has;
  - random widths and complete windows have word2vec's and the paper's window of 5;
  - no replay is there with the learning rates of profile fast as well as the default's;
  - exact counting needs room for every word of the text;
  - the true top K take a pass before the one that trains (`--epochs 1`).
"""
from collections import namedtuple

EXACT = "exact, every word"
EXACT_MOST = 1_000_000  # words that the exact vocabulary may hold
SEEDS = (2, 3)     # of two more runs of the default, which show the noise

Row = namedtuple("Row", "factor choice settings k")

BATCH = {"profile": "word2vec", "min-count": "1"}
ORACLE = ("the true top K, counted beforehand",
          {"profile": "default", "epochs": "1", "min-count": "1"})
SUBWORDS = [("no n-grams", {"subword": "0"}), ("200,000 n-grams", {"subword": "200000"})]

FACTORS = {
    "noise": [(f"default, seed {seed}", {"seed": str(seed)}) for seed in SEEDS],
    "profile": [
        ("fast", {"profile": "fast"}),
        ("paper, to the letter", {"profile": "paper"}),
        ("paper, gradient before the step", {"profile": "paper", "gradient": "before"}),
        ("athena", {"profile": "athena"}),
        ("incremental", {"profile": "incremental"}),
        ("word2vec's step in a stream", {"profile": "word2vec"}),
        ("batch word2vec, 1 epoch", {**BATCH, "epochs": "1"}),
        ("batch word2vec, 5 epochs", {**BATCH, "epochs": "5"}),
    ],
    "vocabulary": [
        ("space-saving, no gate", {"admission": "none"}),
        ("misra-gries", {"sketch": "misra-gries", "admission": "none"}),
        (EXACT, {"sketch": "exact"}),
        ORACLE,
    ],
    "counting": [("what subsampling keeps", {"counting": "kept"})],
    "sampler": [
        ("reservoir", {"sampler": "reservoir"}),
        ("smoothed reservoir", {"sampler": "smoothed"}),
    ],
    "smoothing": [(f"power {power}", {"power": power}) for power in ("0", "0.5", "1")],
    "smoothing and subsampling": [
        (f"sample {sample}, power {power}", {"sample": sample, "power": power})
        for sample in ("0.001", "0.00001") for power in ("0.5", "0.75", "1")],
    "optimizer": [
        ("AdaGrad by coordinate", {"optimizer": "coordinate", "negative-sharing": "pair",
                                   "alpha": "0.1"}),
        ("linear by slot (paper)", {"optimizer": "linear", "alpha": "0.025",
                                    "alpha-output": "1", "tau": "17000000",
                                    "min-alpha": "0.0000025"}),
        ("power law by slot", {"optimizer": "power", "alpha": "0.1", "alpha-output": "1",
                               "tau": "100"}),
        ("constant", {"optimizer": "constant", "alpha": "0.05", "alpha-output": "1"}),
    ],
    "negatives": [
        ("for each pair", {"negative-sharing": "pair"}),
        ("for each pair, word2vec's equal steps",
         {"negative-sharing": "pair", "alpha": "0.15", "alpha-output": "1"}),
    ],
    "contexts": [
        ("random widths", {"contexts": "dynamic", "window": "5"}),
        ("complete windows only", {"contexts": "full", "window": "5"}),
        ("weighted, window 5", {"window": "5"}),
    ],
    "initial vectors": [(name, {"init": name}) for name in ("both", "uniform", "normal")],
    "replay": [
        ("1, fast's rates", {"replay": "1", "alpha": "0.35", "alpha-output": "0.5"}),
        ("1", {"replay": "1"}),
        ("2", {"replay": "2"}),
        ("5", {"replay": "5"}),
    ],
    "subwords": SUBWORDS,
}

SMALL_FACTORS = {
    "vocabulary": [
        ("space-saving, gate", {}),
        ("space-saving, no gate", {"admission": "none"}),
        ("misra-gries", {"sketch": "misra-gries", "admission": "none"}),
        ORACLE,
    ],
    "counting": [("what subsampling keeps", {"counting": "kept"})],
    "over-counting as smoothing": [
        ("no gate, power 1", {"admission": "none", "power": "1"}),
        ("gate, power 1", {"power": "1"}),
    ],
    "subwords": SUBWORDS,
}


def rows(k, small, most_words, only=None):
    """All rows, the default first; `only` names the factors to run. The first row of the
    small size is its default, with which all others are compared. `most_words` bounds the
    different words of the text."""
    found = [Row("default", "default", {}, k)]
    for size, factors in ((k, FACTORS), (small, SMALL_FACTORS)):
        chosen = [Row(factor, choice, settings, size) for factor, choices in factors.items()
                  for choice, settings in choices]
        wanted = [row for row in chosen if not only or row.factor in only]
        if factors is SMALL_FACTORS and wanted and wanted[0] != chosen[0]:
            wanted.insert(0, chosen[0])
        found += wanted
    room = {"vocab": str(min(most_words, EXACT_MOST))}
    return [row._replace(settings={**row.settings, **room}) if row.choice == EXACT else row
            for row in found]
