#!/usr/bin/python3
"""What each part of the default contributes: one part changed at a time.

    make ablation TEXT=FILE SETS=DIR [OUT=DIR] [THREADS=n]
    paper/ablation.py TEXT --sets DIR [--out DIR] [--jobs n]

Trains the rows of grid.py, evaluates every model on the sets and writes OUT/ablation.md
and OUT/ablation.html, with quality, time and memory and answers to the paper's open
questions, and OUT/ablation.jsonl, one model per line. Results stay in OUT/runs and are used
again; a model is deleted once it has been evaluated.
"""
import json
import os
import re
import sys
from collections import namedtuple
from pathlib import Path
from shlex import quote

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))  # where lab is

import answers
import grid
from answers import signed
from lab import Failed, say
from lab.cache import Job, Output, Store, write_whole
from lab.command_line import (arguments, display_name, number, program, readable_file,
                              run_main, training_arguments, training_options)
from lab.document import Document, escaped
from lab.sets import Sets, scores
from lab.tables import MISSING, percent

GATES = [("gate", {}), ("no gate", {"admission": "none"})]

Outcome = namedtuple("Outcome", "row scores cpu_seconds peak_bytes budget_bytes")


def parse():
    parser = arguments(__doc__)
    training_arguments(parser)
    parser.add_argument("text", nargs="?", metavar="TEXT")
    parser.add_argument("--sets", metavar="DIR",
                        help="similarity/*.txt and analogy/questions-words.txt")
    parser.add_argument("--out", default="build/ablation", metavar="DIR",
                        help="where results go (build/ablation)")
    parser.add_argument("--k", type=number, default=70000,
                        help="size of the vocabulary (70000)")
    parser.add_argument("--small", type=number, default=7000,
                        help="size for the rows about a vocabulary that is too small (7000)")
    parser.add_argument("--only", action="append", metavar="FACTOR",
                        help="only this factor; may be repeated")
    options = parser.parse_args()
    options.changed = [(f"--{name}", getattr(options, name)) for name in ("k", "small", "dim")
                       if getattr(options, name) != parser.get_default(name)]
    options.changed += [("--only", factor) for factor in options.only or []]
    options.changed += [("--set", f"{name[2:]}={value}") for name, value in options.settings]
    return options


class Ablation:
    def __init__(self, store, text, sets, options):
        self.store, self.text, self.sets, self.options = store, text, sets, options
        self.common = ["--tokenizer", "words", *training_options(options)]
        most_words = os.path.getsize(text) // 2 + 1
        self.rows = grid.rows(options.k, options.small, most_words, options.only)

    def options_of(self, k, changed):
        """The profile first, since it sets the others, and what is common last."""
        chosen = {"vocab": k, **changed}
        names = sorted(chosen, key=lambda name: (name != "profile", name))
        return [part for name in names for part in (f"--{name}", chosen[name])] + self.common

    def evaluate(self, row):
        """Trains, evaluates and deletes the model of a row."""
        name = re.sub(r"\W+", "-", f"{row.factor} {row.choice} {row.k}")
        model = Job(name, "train", self.text, "-o", Output("tide"), "--quiet",
                    *self.options_of(row.k, row.settings))
        cost = self.store.run(model)
        info = self.store.run(Job(f"{name}-info", "info", "--json", model))["printed"][0]
        printed = {kind: self.store.run(Job(f"{name}-{kind}", *line))["printed"]
                   for kind, line in self.sets.commands(model).items()}
        self.store.path(model).unlink(missing_ok=True)
        return Outcome(row, scores(printed), cost["cpu_seconds"], cost["peak_bytes"],
                       info["memory"])

    def evictions(self, case):
        """The last line of a trace, which counts words that came and went."""
        k, _, changed = case
        job = Job(f"evictions-{k}", "eval", "trace", "--json", self.text, "--every", 10**12,
                  *self.options_of(k, changed))
        return self.store.run(job)["printed"][-1]

    def run(self):
        cases = [(k, name, changed) for k in (self.options.k, self.options.small)
                 for name, changed in GATES]
        outcomes = self.store.map(self.evaluate, self.rows)
        ends = self.store.map(self.evictions, cases)
        return outcomes, {(k, name): end for (k, name, _), end in zip(cases, ends)}


def described(row):
    return " ".join(f"`--{name} {value}`" for name, value in row.settings.items()) or MISSING


def cells(outcome, base, names):
    mean, first = outcome.scores["mean"], base.scores["mean"]
    return [
        outcome.row.choice, described(outcome.row),
        *(percent(outcome.scores.get(name)) for name in names), percent(mean),
        MISSING if mean is None or first is None else signed(mean - first),
        percent(outcome.scores["known"]), percent(outcome.scores["strict"]),
        f"{outcome.cpu_seconds:.1f}",
        f"{outcome.cpu_seconds / max(base.cpu_seconds, 1e-3):.2f}",
        f"{outcome.peak_bytes / 1e6:.0f}", f"{outcome.budget_bytes / 1e6:.0f}",
    ]


def add_tables(document, outcomes, names):
    """A table for each size and factor, which begins with what the others are compared with."""
    head = ["choice", "settings that differ", *names, "mean", "against the first", "known",
            "strict", "CPU s", "× the first", "peak MB", "budget MB"]
    groups, bases = {}, {outcomes[0].row.k: outcomes[0]}
    for outcome in outcomes[1:]:
        groups.setdefault((outcome.row.k, outcome.row.factor), []).append(outcome)
    for (k, factor), group in groups.items():
        base = bases.setdefault(k, group[0])
        others = [outcome for outcome in group if outcome is not base]
        if others:
            document.heading(f"{factor.capitalize()}, K = {k:,}")
            document.table(head, [cells(o, base, names) for o in (base, *others)], texts=2)


def command_of(name, changed):
    """The command that makes this report, with SETS for the directory of sets."""
    if not changed:
        return f"make ablation TEXT={quote(name)} SETS=sets"
    more = " ".join(f"{option} {quote(str(value))}" for option, value in changed)
    return f"paper/ablation.py {quote(name)} --sets sets {more}"


def make_document(ablation, outcomes, ends):
    text, options = ablation.text, ablation.options
    document = Document("Ablation")
    document.code(command_of(display_name(text), options.changed))
    document.text(
        f"Text: {escaped(display_name(text))}, {os.path.getsize(text):,} bytes; dimension "
        f"{options.dim}, one thread, seed 1, one run per row. Scores are percentages: "
        "Spearman's correlation for similarity sets, analogies answered (3CosAdd among the "
        "30,000 most frequent words); raw input vectors. “known” is the percentage of pairs in "
        "which both words have a vector; compare means only where it is the same. “strict” can "
        "always be compared: there, unknown words have a cosine of 0 and questions with them "
        "count as wrong. CPU time is that of the whole process; the rows ran at different times, "
        "so it is accurate to about 15 percent. Peak memory is the resident set; budget is what "
        "`wordtide info` prints.")
    add_tables(document, outcomes, ablation.sets.names)
    answers.add_answers(document, outcomes, ends, options.k, options.small)
    return document


def as_lines(outcomes):
    return "".join(json.dumps({
        "factor": o.row.factor, "choice": o.row.choice, "k": o.row.k,
        "settings": o.row.settings, **{f"score_{n}": v for n, v in o.scores.items()},
        "cpu_seconds": o.cpu_seconds, "peak_bytes": o.peak_bytes,
        "budget_bytes": o.budget_bytes}) + "\n" for o in outcomes)


def main():
    options = parse()
    text = readable_file(options.text, "TEXT")
    if not options.sets:
        raise Failed("no SETS, which evaluate the models: SETS=DIR, or --sets DIR")
    command = program(options.command)
    known = {*grid.FACTORS, *grid.SMALL_FACTORS}
    for factor in options.only or []:
        if factor not in known:
            raise Failed(f"no factor '{factor}'; there are: {', '.join(sorted(known))}")
    out = Path(options.out)
    sets = Sets(options.sets)
    ablation = Ablation(Store(out / "runs", command, options.jobs), text, sets, options)
    outcomes, ends = ablation.run()
    write_whole(out / "ablation.jsonl", as_lines(outcomes))
    make_document(ablation, outcomes, ends).write(out, "ablation")
    say(f"{len(ablation.store.made)} runs made, {out / 'ablation.md'} written")


if __name__ == "__main__":
    run_main("ablation", main)
