#!/usr/bin/python3
"""How good the vectors of a model are: similarity sets and analogies.

    bench/quality.py --sets DIR MODEL...

A MODEL is one of wordtide or any file of vectors that it reads. DIR holds similarity
sets in similarity/ (word, word, score, a line each) and Google's analogies in
analogy/questions-words.txt. `wordtide eval` judges. Scores are 100 times Spearman's
rank correlation of cosines and people's scores, pairs with an unknown word left out,
and the per cent of analogies answered by 3CosAdd among the 30,000 most frequent words
of the first model. Questions with other words are not asked; those with a word that a
later model does not know count as wrong. "mean" is the mean of these six. "known" is
the per cent of all pairs whose words are known: scores of models that know different
pairs do not compare.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from lab.command_line import COMMAND


SETS = [
    ("WS353", "EN-WS-353-ALL.txt"),
    ("SimLex", "EN-SIMLEX-999.txt"),
    ("MEN", "EN-MEN-TR-3k.txt"),
    ("RW", "EN-RW-STANFORD.txt"),
    ("MTurk", "EN-MTurk-287.txt"),
]
COLUMNS = [name for name, _ in SETS] + ["analogy", "mean", "known"]
TOP = 30000


def ask(command, *arguments):
    """The lines that the command prints."""
    done = subprocess.run([command, *map(str, arguments)], check=True,
                          stdout=subprocess.PIPE)
    return done.stdout.decode("utf-8", "replace").split("\n")[:-1]


def frequent_words(command, model):
    return [line.split("\t")[0] for line in ask(command, "words", model, "-n", TOP)]


def load_vectors(command, model, *options):
    """word -> its numbers, as text, by falling count."""
    lines = ask(command, "vector", model, "--all", *options)
    return dict(line.split(" ", 1) for line in lines[1:])


def write_vectors(path, vectors):
    with open(path, "w", encoding="utf-8") as file:
        for word, numbers in vectors.items():
            file.write(f"{word} {numbers}\n")


def similarities(command, model, sets, options):
    paths = [os.path.join(sets, "similarity", file) for _, file in SETS]
    lines = ask(command, "eval", "similarity", model, *paths, "--json", *options)
    result, pairs, known = {}, 0, 0
    for (name, _), found in zip(SETS, map(json.loads, lines)):
        score = found["spearman"]
        result[name] = float("nan") if score is None else 100 * score
        result[name + " pairs"] = found["known"]
        pairs += found["pairs"]
        known += found["known"]
    result["known"] = 100.0 * known / pairs
    return result


def write_questions(path, sets, top):
    """Those whose words are all among `top`."""
    everyone = set(top)
    with open(os.path.join(sets, "analogy", "questions-words.txt"),
              encoding="utf-8") as all_of_them, open(path, "w", encoding="utf-8") as file:
        file.writelines(line for line in all_of_them if line.startswith(":")
                        or everyone.issuperset(line.lower().split()))


def analogies(command, vectors, sets, top, folder):
    """Answers are looked for among the words of `top` that have a vector."""
    model, questions = (os.path.join(folder, name) for name in ("top", "questions"))
    write_vectors(model, {word: vectors[word] for word in top if word in vectors})
    write_questions(questions, sets, top)
    [line] = ask(command, "eval", "analogy", model, questions, "--json", "--top", 0,
                 "--oov", "wrong")
    found = json.loads(line)
    return {"analogy": 100 * found["accuracy"], "analogies known": found["known"],
            "analogies": found["questions"]}


def evaluate(command, model, sets, top, options=()):
    with tempfile.TemporaryDirectory() as folder:
        result = similarities(command, model, sets, options)
        vectors = load_vectors(command, model, *options)
        result.update(analogies(command, vectors, sets, top, folder))
    six = [result[name] for name, _ in SETS] + [result["analogy"]]
    result["mean"] = statistics.fmean(six)
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
    parser.add_argument("--centered", action="store_true",
                        help="take the mean vector of the frequent words out first")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    flags = ["--vectors", options.vectors] + ["--center"] * options.centered
    top = frequent_words(options.command, options.models[0])
    if not options.json:
        print_head()
    for path in options.models:
        result = evaluate(options.command, path, options.sets, top, flags)
        if options.json:
            print(json.dumps({"model": path, **result}), flush=True)
        else:
            print_result(os.path.basename(path), result)


if __name__ == "__main__":
    sys.exit(main())
