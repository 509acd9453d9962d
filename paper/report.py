#!/usr/bin/python3
"""The paper's intrinsic experiments on a text of your own, as one page.

    make paper TEXT=FILE [SETS=DIR] [OUT=DIR] [THREADS=n]
    paper/report.py TEXT [--sets DIR] [--out DIR] [--jobs n]

Trains the paper's systems, incremental SGNS, wordtide's default and batch word2vec for
K = 7,000, 70,000 and 700,000, compares them as the paper does, and writes
OUT/report.html, one file with all figures and tables next to the paper's own numbers, and
the same as OUT/report.md. Models and results stay in OUT/runs and are used again.
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))  # where lab is

import sections
from lab import plots, say
from lab.cache import Store
from lab.command_line import (arguments, display_name, number, numbers, program,
                              readable_file, run_main, training_arguments, training_options)
from lab.document import Document, escaped
from lab.sets import Sets
from plan import COMPARED_WORDS, Findings, Plan, epochs_text

BANDS = "1-100,801-900,1601-1700,6401-6500"
TEXT8 = (100_000_000, 17_005_207, 253_854)  # bytes, words, types


def bands(text):
    found = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        band = (number(first), number(last or "0" if dash else first))
        if band[0] > band[1]:
            raise argparse.ArgumentTypeError(f"{part} is not a band of ranks")
        found.append(band)
    return found


def parse():
    parser = arguments(__doc__)
    training_arguments(parser)
    parser.add_argument("text", nargs="?", metavar="TEXT")
    parser.add_argument("--sets", metavar="DIR",
                        help="similarity/*.txt and analogy/questions-words.txt")
    parser.add_argument("--out", default="build/paper", metavar="DIR",
                        help="where models, results and the report go (build/paper)")
    parser.add_argument("--k", type=numbers, default=[7000, 70000, 700000],
                        help="sizes of the vocabulary (7000,70000,700000)")
    parser.add_argument("--bands", type=bands, default=bands(BANDS),
                        help=f"bands of ranks ({BANDS})")
    parser.add_argument("--epochs", type=number, default=5,
                        help="of batch word2vec, at most (5)")
    options = parser.parse_args()
    options.k = sorted(set(options.k))
    return options


def describe_text(document, text, found):
    plan = found.plan
    counted = found.counted(plan.ks[-1], "plain")
    size = os.path.getsize(text)
    if (size, counted["tokens"], counted["types"]) == TEXT8:
        which = "This is text8, the paper's text."
    else:
        which = ("This is **not text8**, the paper's text (100,000,000 bytes, 17,005,207 words, "
                 "253,854 types): compare the shapes of curves, not values.")
    version = subprocess.run([plan.store.command, "--version"], stdout=subprocess.PIPE,
                             encoding="utf-8", check=True).stdout.strip()
    document.facts([
        ("text", f"{escaped(display_name(text))}: {size:,} bytes, {counted['tokens']:,} words, "
                 f"{counted['types']:,} types. {which}"),
        ("quality", quality_measure(plan)),
        ("models", f"dimension {plan.dim}, one thread each, the same tokenizer for all"),
        ("program", f"{escaped(version)} on {escaped(processor())}"),
    ])


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return "an unknown processor"


def quality_measure(plan):
    if plan.sets:
        return (f"{len(plan.sets.names)} sets: {escaped(', '.join(plan.sets.names))}; "
                "Spearman's correlation of similarities, share of analogies answered; "
                "raw input vectors")
    return ("no sets were given, so **quality is the share of common words among the 10 "
            f"nearest** in a model and in batch word2vec of {epochs_text(plan.epochs)}, "
            f"over the {COMPARED_WORDS:,} most frequent words; batch word2vec of fewer epochs "
            "starts from the same vectors, which helps it")


def write_report(found, text, out):
    document = Document("Streaming word embeddings: the paper and what came after")
    document.text("May, Duh, Van Durme and Lall, “Streaming Word Embeddings with the "
                  "Space-Saving Algorithm” (2017): its experiments on counts and cosines "
                  "repeated, next to wordtide's default, incremental SGNS and batch word2vec.")
    describe_text(document, text, found)
    for section in (sections.claims_section, sections.counts_section,
                    sections.agreement_section, sections.stream_section,
                    sections.models_section):
        section(document, found)
    document.write(out, "report")


def main():
    options = parse()
    text, command = readable_file(options.text, "TEXT"), program(options.command)
    sets = Sets(options.sets) if options.sets else None
    plots.require()
    out = Path(options.out)
    store = Store(out / "runs", command, options.jobs)
    plan = Plan(store, text, sets, options,
                ["--tokenizer", "words", *training_options(options)])
    plan.run()
    write_report(Findings(plan), text, out)
    say(f"{len(store.made)} runs made, {out / 'report.html'} written")


if __name__ == "__main__":
    run_main("paper", main)
