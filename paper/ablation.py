#!/usr/bin/python3
"""What each part of the default is worth: one changed at a time.

    make ablation TEXT=FILE SETS=DIR [OUT=DIR] [THREADS=n]
    paper/ablation.py TEXT --sets DIR [--out DIR] [--jobs n]

Trains the grid of grid.py, judges every model by the sets and writes OUT/ablation.md,
with quality, time and memory and answers to the paper's open questions, and
OUT/ablation.jsonl, a model a line. What is there in OUT/runs is not made again; a model
is deleted once it is judged.
"""
import json
import os
import re
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shlex import quote

import answers
import grid
from answers import percent, signed
from command_line import (arguments, number, program, run_main, shown, text_file,
                          training_options)
from runs import Failed, Job, Made, Store, results_of, say, write_whole
from sets import Sets, scores

YOUNG = [("gate", {}), ("no gate", {"admission": "none"})]

Outcome = namedtuple("Outcome", "row scores cpu_seconds peak_bytes budget_bytes")


def parse():
    parser = arguments(__doc__)
    parser.add_argument("--out", default="build/ablation", metavar="DIR",
                        help="where results go (build/ablation)")
    parser.add_argument("--k", type=number, default=70000,
                        help="size of the vocabulary (70000)")
    parser.add_argument("--small", type=number, default=7000,
                        help="size for the rows about a vocabulary that is too small (7000)")
    parser.add_argument("--only", action="append", metavar="FACTOR",
                        help="these factors and no others; may be given again")
    options = parser.parse_args()
    options.changed = [(f"--{name}", getattr(options, name)) for name in ("k", "small", "dim")
                       if getattr(options, name) != parser.get_default(name)]
    options.changed += [("--only", factor) for factor in options.only or []]
    options.changed += [("--set", pair) for pair in options.settings]
    return options


class Ablation:
    def __init__(self, store, text, sets, options):
        self.store, self.text, self.sets = store, text, sets
        self.common, self.dim = training_options(options), options.dim
        self.k, self.small, self.changed = options.k, options.small, options.changed
        most_words = os.path.getsize(text) // 2 + 1
        self.rows = grid.rows(options.k, options.small, most_words, options.only)

    def options_of(self, k, changed):
        """Profile first, since it sets the others, and what is common last."""
        chosen = {"vocab": k, **changed}
        names = sorted(chosen, key=lambda name: (name != "profile", name))
        return [part for name in names for part in (f"--{name}", chosen[name])]

    def model(self, row):
        name = re.sub(r"\W+", "-", f"{row.factor} {row.choice} {row.k}")
        return Job(name, "train", self.text, "-o", Made("tide"), "--quiet",
                   *self.options_of(row.k, row.settings), *self.common)

    def judge(self, row):
        """Trains, asks and deletes."""
        model = self.model(row)
        info = Job(f"{model.name}-info", "info", "--json", model)
        judgments = self.sets.jobs(model)
        results = self.store.run_all([model, info, *judgments])
        self.store.path(model).unlink(missing_ok=True)
        cost, about = results[0], results[1]["printed"][0]
        return Outcome(row, scores(results[2:]), cost["cpu_seconds"], cost["peak_bytes"],
                       about["memory"])

    def ejections(self, case):
        """The last line of a trace: what came of the words that came and went."""
        k, changed = case
        job = Job(f"ejections-{k}", "eval", "trace", "--json", self.text, "--every", 10**12,
                  *self.options_of(k, changed), *self.common)
        return self.store.run_all([job])[0]["printed"][-1]

    def run(self, workers):
        cases = [(k, changed) for k in (self.k, self.small) for _, changed in YOUNG]
        with ThreadPoolExecutor(workers) as pool:
            try:
                outcomes = results_of(pool.submit(self.judge, row) for row in self.rows)
                ends = results_of(pool.submit(self.ejections, case) for case in cases)
            except BaseException as failure:
                self.store.stop()
                raise self.store.failure or failure
        names = [(k, name) for k in (self.k, self.small) for name, _ in YOUNG]
        return outcomes, dict(zip(names, ends))


def markdown_table(head, rows):
    """The first two columns are text, the others numbers."""
    marks = ["---"] * 2 + ["---:"] * (len(head) - 2)
    lines = ["|" + "|".join(f" {str(cell).replace('|', '/')} " for cell in row) + "|"
             for row in (head, *rows)]
    lines.insert(1, "|" + "|".join(marks) + "|")
    return "\n".join(lines) + "\n"


def described(row):
    return " ".join(f"`--{name} {value}`" for name, value in row.settings.items()) or "–"


def outcome_cells(outcome, base, names):
    gain = None
    if outcome.scores["mean"] is not None and base.scores["mean"] is not None:
        gain = outcome.scores["mean"] - base.scores["mean"]
    return [
        outcome.row.choice, described(outcome.row),
        *(percent(outcome.scores.get(name)) for name in names),
        percent(outcome.scores["mean"]),
        "–" if gain is None else signed(gain), percent(outcome.scores["known"]),
        percent(outcome.scores["strict"]),
        f"{outcome.cpu_seconds:.1f}",
        f"{outcome.cpu_seconds / max(base.cpu_seconds, 1e-3):.2f}",
        f"{outcome.peak_bytes / 1e6:.0f}", f"{outcome.budget_bytes / 1e6:.0f}",
    ]


def tables(outcomes, names):
    """A table for each size and factor, each beginning with what it is compared with."""
    head = ["choice", "settings that differ", *names, "mean", "against the first", "known",
            "strict", "CPU s", "× the first", "peak MB", "budget MB"]
    parts, groups = [], {}
    default = outcomes[0]
    for outcome in outcomes[1:]:
        groups.setdefault((outcome.row.k, outcome.row.factor), []).append(outcome)
    bases = {default.row.k: default}
    for (k, factor), group in groups.items():
        base = bases.setdefault(k, group[0])
        others = [outcome for outcome in group if outcome is not base]
        if not others:
            continue
        rows = [base, *others]
        parts += [f"### {factor.capitalize()}, K = {k:,}\n",
                  markdown_table(head, [outcome_cells(o, base, names) for o in rows])]
    return "\n".join(parts)


def command_of(name, changed):
    """What makes this table, with the folder of sets called `sets`."""
    if not changed:
        return f"make ablation TEXT={quote(name)} SETS=sets"
    more = " ".join(f"{option} {quote(str(value))}" for option, value in changed)
    return f"paper/ablation.py {quote(name)} --sets sets {more}"


def as_markdown(ablation, outcomes, ends):
    text = ablation.text
    return "\n".join([
        "## Ablation\n",
        f"    {command_of(shown(text), ablation.changed)}\n",
        f"Text: {shown(text)}, {os.path.getsize(text):,} bytes; dimension "
        f"{ablation.dim}, one thread, seed 1, one run a row. Scores are per cent: "
        "Spearman's correlation for similarity sets, analogies answered (3CosAdd among the "
        "30,000 most frequent words); raw input vectors. “known” is the per cent of pairs "
        "whose words have vectors: means of rows that know different pairs do not compare, "
        "“strict” does, where unknown words have a cosine of 0 and questions with them count "
        "as wrong. "
        "CPU time is of the whole process; the rows ran at different moments, so it is "
        "good to some 15 per cent. Peak memory is the resident set, budget what "
        "`wordtide info` says.\n",
        tables(outcomes, ablation.sets.names),
        answers.as_markdown(outcomes, ends, ablation.k, ablation.small),
    ])


def as_lines(outcomes):
    return "".join(json.dumps({
        "factor": o.row.factor, "choice": o.row.choice, "k": o.row.k,
        "settings": o.row.settings, **{f"score_{n}": v for n, v in o.scores.items()},
        "cpu_seconds": o.cpu_seconds, "peak_bytes": o.peak_bytes,
        "budget_bytes": o.budget_bytes}) + "\n" for o in outcomes)


def main():
    options = parse()
    text = text_file(options.text)
    if not options.sets:
        raise Failed("no SETS: quality cannot be judged without; SETS=DIR, or --sets DIR")
    command = program(options.command)
    known = {*grid.FACTORS, *grid.SMALL_FACTORS}
    for factor in options.only or []:
        if factor not in known:
            raise Failed(f"no factor '{factor}'; there are: {', '.join(sorted(known))}")
    out = Path(options.out)
    sets = Sets(options.sets)
    ablation = Ablation(Store(out / "runs", command), text, sets, options)
    outcomes, ends = ablation.run(options.jobs)
    write_whole(out / "ablation.jsonl", as_lines(outcomes))
    write_whole(out / "ablation.md", as_markdown(ablation, outcomes, ends))
    say(f"{ablation.store.done_now} runs made, {out / 'ablation.md'} written")


if __name__ == "__main__":
    run_main("ablation", main)
