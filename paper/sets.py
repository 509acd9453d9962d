"""The sets that vectors are judged by, where there are any.

DIR/similarity holds files of word, word, score, DIR/analogy/questions-words.txt Google's
analogies. The five similarity sets below are the ones that the literature reports; where
none of them is there, all files of the folder are used. "mean" is the mean of all scores.

Pairs and questions with an unknown word are left out, as published figures do. A model
that knows fewer words is then asked fewer and easier questions, so there is "strict" too:
the mean where unknown words have a cosine of 0 and such questions count as wrong.
"""
import os
from pathlib import Path

from runs import Failed, Job

USUAL = {
    "EN-WS-353-ALL": "WS353",
    "EN-SIMLEX-999": "SimLex",
    "EN-MEN-TR-3k": "MEN",
    "EN-RW-STANFORD": "RW",
    "EN-MTurk-287": "MTurk",
}
STRICT = "strict"


class Sets:
    def __init__(self, folder):
        if not os.path.isdir(folder):
            raise Failed(f"no folder {folder}")
        folder = Path(folder).resolve()
        self.pairs = [folder / "similarity" / f"{name}.txt" for name in USUAL]
        self.pairs = [path for path in self.pairs if path.exists()]
        self.pairs = self.pairs or sorted((folder / "similarity").glob("*.txt"))
        questions = folder / "analogy" / "questions-words.txt"
        self.questions = questions if questions.exists() else None
        if not self.pairs and not self.questions:
            raise Failed(f"no similarity/*.txt and no analogy/questions-words.txt in {folder}")

    @property
    def names(self):
        return [short(path.stem) for path in self.pairs] + (
            ["analogy"] if self.questions else [])

    def jobs(self, model):
        """The judgments of a model."""
        jobs = []
        if self.pairs:
            similarity = ["eval", "similarity", "--json", model, *self.pairs]
            jobs = [Job(f"{model.name}-similarity", *similarity),
                    Job(f"{model.name}-{STRICT}", *similarity, "--oov", "zero")]
        if self.questions:
            jobs.append(Job(f"{model.name}-analogy", "eval", "analogy", "--json",
                            model, self.questions))
        return jobs

    def trace_options(self):
        options = [part for path in self.pairs for part in ("--pairs", path)]
        return options + (["--questions", self.questions] if self.questions else [])


def short(name):
    return USUAL.get(name, name)


def scores(results):
    """{name: score} of the results of the jobs above, with "mean" and "strict", and
    "known": the share of all pairs whose words have vectors."""
    found, strict, pairs, known = {}, [], 0, 0
    for result in results:
        for row in result["printed"]:
            if "accuracy" in row:
                found["analogy"] = row["accuracy"]
                strict.append(row["right"] / max(1, row["questions"]))
            elif result["name"].endswith(STRICT):
                strict.append(row["spearman"])
            else:
                found[short(row["name"])] = row["spearman"]
                pairs += row["pairs"]
                known += row["known"]
    return {**found, "mean": mean(found.values()), "strict": mean(strict),
            "known": known / pairs if pairs else None}


def mean(values):
    """Of those that are defined."""
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None
