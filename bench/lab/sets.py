"""The evaluation sets, and the scores of a model on them.

DIR/similarity has files of word, word, human score, and DIR/analogy/questions-words.txt
Google's analogies. USUAL are the five similarity sets that the literature reports; if none
of them is there, all files of the directory are used.

A score is Spearman's correlation, or the share of analogies answered by 3CosAdd among the
30,000 most frequent words; "mean" is the mean of all. Pairs and questions with an unknown
word are left out, as in published figures. A model that knows fewer words is therefore
asked fewer and easier questions, so there is also "strict": the mean if unknown words have
a cosine of 0 and questions with them count as wrong. "known" is the share of all pairs in
which both words have a vector.
"""
import json
import os
import re
from pathlib import Path

from lab import Failed
from lab.running import measure

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
        return [short(path.stem) for path in self.pairs] + ["analogy"] * bool(self.questions)

    def commands(self, model, *options):
        """{kind: arguments of wordtide} that evaluate a model; scores() takes what they
        print."""
        commands = {}
        if self.pairs:
            similarity = ["eval", "similarity", "--json", model, *self.pairs, *options]
            commands = {"similarity": similarity, STRICT: [*similarity, "--oov", "zero"]}
        if self.questions:
            commands["analogy"] = ["eval", "analogy", "--json", model, self.questions, *options]
        return commands

    @property
    def files(self):
        return [*self.pairs, *([self.questions] if self.questions else [])]

    def lines(self, path):
        """The lines of a file, each with its words in lower case: two or four of them."""
        columns = 4 if path == self.questions else 2
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                yield line, re.split(r"[\t;, ]+", line.strip().lower())[:columns]

    def words(self):
        """All words of the pairs and questions, in lower case."""
        return {word for path in self.files for line, words in self.lines(path)
                if not line.startswith(":") for word in words if word}

    def restricted(self, vocabulary, folder):
        """The pairs and questions whose words are all in `vocabulary`, written to `folder`."""
        for path in self.files:
            copy = Path(folder) / path.parent.name / path.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text("".join(line for line, words in self.lines(path)
                                    if line.startswith(":") or vocabulary.issuperset(words)),
                            encoding="utf-8")
        return Sets(folder)

    def trace_options(self):
        options = [part for path in self.pairs for part in ("--pairs", path)]
        return options + (["--questions", self.questions] if self.questions else [])


def evaluate(command, sets, model, *options, run=measure):
    """The scores of a model or of a file of vectors."""
    printed = {}
    for kind, line in sets.commands(model, *options).items():
        output = run([command, *map(str, line)]).output
        printed[kind] = [json.loads(row) for row in output.split("\n") if row]
    return scores(printed)


def short(name):
    return USUAL.get(name, name)


def scores(printed):
    """{name: score} from {kind: the objects that its command printed}."""
    similarity, analogy = printed.get("similarity", []), printed.get("analogy", [])
    found = {short(row["name"]): row["spearman"] for row in similarity}
    found.update({"analogy": row["accuracy"] for row in analogy})
    strict = [row["spearman"] for row in printed.get(STRICT, [])]
    strict += [row["right"] / max(1, row["questions"]) for row in analogy]
    pairs = sum(row["pairs"] for row in similarity)
    known = sum(row["known"] for row in similarity)
    return {**found, "mean": mean(found.values()), STRICT: mean(strict),
            "known": known / pairs if pairs else None}


def mean(values):
    """The mean of the values that are defined."""
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None
