#!/usr/bin/python3
"""How good the vectors of a model are: similarity sets and analogies.

    bench/quality.py --sets DIR MODEL...

A MODEL is one of wordtide (NAME.tide) or a file of word2vec, text or binary. DIR holds
similarity sets in similarity/ (word, word, score, a line each) and Google's analogies
in analogy/questions-words.txt. Scores are 100 times Spearman's rank correlation of
cosines and people's scores, pairs with an unknown word left out, and the per cent of
analogies answered by 3CosAdd among the 30,000 most frequent words of the first model.
Questions with other words are not asked; those with a word that a later model does not
know count as wrong. "mean" is the mean of these six. "known" is the per cent of all
pairs whose words are known: scores of models that know different pairs do not compare.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy

from common import COMMAND

SETS = [
    ("WS353", "EN-WS-353-ALL.txt"),
    ("SimLex", "EN-SIMLEX-999.txt"),
    ("MEN", "EN-MEN-TR-3k.txt"),
    ("RW", "EN-RW-STANFORD.txt"),
    ("MTurk", "EN-MTurk-287.txt"),
]
COLUMNS = [name for name, _ in SETS] + ["analogy", "mean", "known"]
TOP = 30000


def read_pairs(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if len(fields) == 3:
                yield fields[0].lower(), fields[1].lower(), float(fields[2])


def read_questions(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.lower().split()
            if len(words) == 4 and words[0] != ":":
                yield words


def ranks(values):
    """Equal values share the mean of their ranks."""
    values = numpy.asarray(values)
    order = numpy.argsort(values, kind="stable")
    rank = numpy.empty(len(values))
    rank[order] = numpy.arange(len(values))
    _, group = numpy.unique(values, return_inverse=True)
    return (numpy.bincount(group, rank) / numpy.bincount(group))[group]


def spearman(a, b):
    if len(a) < 3:
        return float("nan")
    return float(numpy.corrcoef(ranks(a), ranks(b))[0, 1])


class Vectors:
    """Words by falling count and their vectors; the model may compose missing ones."""

    def __init__(self, words, rows, compose=None):
        self.words, self.rows, self.compose = words, rows, compose
        self.place = {}
        for i, word in enumerate(words):
            self.place.setdefault(word, i)

    def extend(self, wanted):
        missing = [w for w in wanted if w not in self.place]
        found = list(self.compose(missing)) if self.compose and missing else []
        for i, (word, _) in enumerate(found, len(self.rows)):
            self.place[word] = i
        if found:
            self.rows = numpy.vstack([self.rows, *(row for _, row in found)])


def parse_text(lines):
    for line in lines:
        word, _, numbers = line.partition(" ")
        if numbers:
            yield word, numpy.fromstring(numbers, dtype=numpy.float32, sep=" ")


def load_tide(path, command=COMMAND, options=()):
    def ask(*arguments, words=None, check=True):
        done = subprocess.run([command, *arguments], input=words, check=check,
                              stdout=subprocess.PIPE, encoding="utf-8",
                              errors="replace")
        return done.stdout

    def compose(missing):
        said = ask("vector", path, *options, "-", words="\n".join(missing) + "\n",
                   check=False)
        return parse_text(said.split("\n"))

    lines = ask("vector", path, *options, "--all").split("\n")
    words, rows = zip(*parse_text(lines[1:]))
    subwords = json.loads(ask("info", "--json", path))["subwords"]
    return Vectors(list(words), numpy.stack(rows), compose if subwords else None)


def load_word2vec(path):
    with open(path, "rb") as file:
        count, dim = map(int, file.readline().split())
        start = file.tell()
        is_text = len(file.readline().rstrip().split(b" ")) == dim + 1
        file.seek(start)
        if is_text:
            words, rows = zip(*parse_text(line.decode("utf-8", "replace")
                                          for line in file))
            return Vectors(list(words), numpy.stack(rows))
        words, rows = [], numpy.empty((count, dim), numpy.float32)
        for i in range(count):
            word = b""
            while (byte := file.read(1)) not in (b" ", b""):
                word += byte
            words.append(word.strip().decode("utf-8", "replace"))
            rows[i] = numpy.frombuffer(file.read(4 * dim), numpy.float32)
        return Vectors(words, rows)


def normalised(rows):
    norms = numpy.linalg.norm(rows, axis=1, keepdims=True)
    return rows / numpy.where(norms > 0, norms, 1)


def analogies(vectors, rows, questions, top):
    """Per cent answered, and how many had only known words."""
    kept = [w for w in top if w in vectors.place]
    matrix = rows[[vectors.place[w] for w in kept]]
    place = {w: i for i, w in enumerate(kept)}
    known = [[place[w] for w in q] for q in questions if all(w in place for w in q)]
    right = 0
    for i in range(0, len(known), 256):
        a, b, c, d = numpy.array(known[i:i + 256]).T
        scores = (matrix[b] - matrix[a] + matrix[c]) @ matrix.T
        each = numpy.arange(len(a))
        for asked in (a, b, c):
            scores[each, asked] = -numpy.inf
        right += int((scores.argmax(axis=1) == d).sum())
    return 100.0 * right / max(1, len(questions)), len(known)


def similarities(vectors, rows, pairs):
    """Spearman's correlation times 100, and how many pairs are known."""
    known = [(vectors.place[a], vectors.place[b], s) for a, b, s in pairs
             if a in vectors.place and b in vectors.place]
    if not known:
        return float("nan"), 0
    left, right, gold = (numpy.array(column) for column in zip(*known))
    cosines = (rows[left] * rows[right]).sum(axis=1)
    return 100 * spearman(gold, cosines), len(known)


def evaluate(vectors, sets, top, centred):
    pairs = {name: list(read_pairs(os.path.join(sets, "similarity", file)))
             for name, file in SETS}
    vectors.extend(sorted({w for p in pairs.values() for a, b, _ in p for w in (a, b)}))
    rows = vectors.rows
    if centred:
        rows = rows - rows[: min(TOP, len(vectors.words))].mean(axis=0)
    rows = normalised(rows)
    result, known = {}, 0
    for name, _ in SETS:
        result[name], result[name + " pairs"] = similarities(vectors, rows, pairs[name])
        known += result[name + " pairs"]
    everyone = set(top)
    path = os.path.join(sets, "analogy", "questions-words.txt")
    questions = [q for q in read_questions(path) if all(w in everyone for w in q)]
    score, asked = analogies(vectors, rows, questions, top)
    result.update({"analogy": score, "analogies known": asked,
                   "analogies": len(questions)})
    six = [result[name] for name, _ in SETS] + [score]
    result["mean"] = float(numpy.mean(six))
    result["known"] = 100.0 * known / sum(map(len, pairs.values()))
    return result


def print_head():
    print("| model | " + " | ".join(COLUMNS) + " |")
    print("|---|" + "---:|" * len(COLUMNS), flush=True)


def print_result(name, result):
    scores = ("%.1f" % result[column] for column in COLUMNS)
    print(f"| {name} | " + " | ".join(scores) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--sets", required=True,
                        help="folder with similarity/ and analogy/")
    parser.add_argument("--command", default=COMMAND, help="the wordtide to ask")
    parser.add_argument("--vectors", default="input",
                        choices=["input", "output", "sum"])
    parser.add_argument("--centred", action="store_true",
                        help="take the mean vector of the frequent words out first")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    top = None
    if not options.json:
        print_head()
    for path in options.models:
        if path.endswith(".tide"):
            vectors = load_tide(path, options.command, ["--vectors", options.vectors])
        else:
            vectors = load_word2vec(path)
        top = top or vectors.words[:TOP]
        result = evaluate(vectors, options.sets, top, options.centred)
        if options.json:
            print(json.dumps({"model": path, **result}), flush=True)
        else:
            print_result(os.path.basename(path), result)


if __name__ == "__main__":
    sys.exit(main())
