#!/usr/bin/python3
"""The paper's intrinsic experiments on a text of your own, as one page.

    make paper TEXT=FILE [SETS=DIR] [OUT=DIR] [THREADS=n]
    paper/report.py TEXT [--sets DIR] [--out DIR] [--jobs n]

Trains the paper's systems, incremental SGNS, wordtide's default and batch word2vec for
K = 7,000, 70,000 and 700,000, compares them as the paper does, and writes
OUT/report.html: one file with all figures and tables, the paper's numbers beside them.
Models and results stay in OUT/runs; what is there is not made again.
"""
import argparse
import os
import subprocess
from html import escape
from pathlib import Path

import page
import sections
from agreement import agreement_section
from command_line import (arguments, number, numbers, program, run_main, shown, text_file,
                          training_options)
from findings import Findings
from plan import JUDGED_WORDS, Plan, epochs_text
from runs import Store, say, write_whole
from sets import Sets

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
    parser.add_argument("--out", default="build/paper", metavar="DIR",
                        help="where models, results and report.html go (build/paper)")
    parser.add_argument("--k", type=numbers, default=[7000, 70000, 700000],
                        help="sizes of the vocabulary (7000,70000,700000)")
    parser.add_argument("--bands", type=bands, default=bands(BANDS),
                        help=f"bands of ranks ({BANDS})")
    parser.add_argument("--epochs", type=number, default=5,
                        help="of batch word2vec, at most (5)")
    options = parser.parse_args()
    options.k = sorted(set(options.k))
    return options


def describe_text(text, found):
    plan = found.plan
    counted = found.counted(plan.ks[-1], "plain")
    size = os.path.getsize(text)
    if (size, counted["tokens"], counted["types"]) == TEXT8:
        which = "This is text8, the paper's text."
    else:
        which = ("This is <b>not text8</b>, the paper's text (100,000,000 bytes, 17,005,207 "
                 "words, 253,854 types): figures compare in shape, not in value.")
    version = subprocess.run([plan.store.command, "--version"], stdout=subprocess.PIPE,
                             encoding="utf-8", check=True).stdout.strip()
    return page.facts([
        ("text", f"{escape(shown(text))}: {size:,} bytes, {counted['tokens']:,} words, "
                 f"{counted['types']:,} types. {which}"),
        ("judged by", judged_by(plan)),
        ("models", f"dimension {plan.dim}, one thread each, all words of the text taken "
                   "alike"),
        ("program", f"{escape(version)} on {escape(processor())}"),
    ])


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return "an unknown processor"


def judged_by(plan):
    if plan.sets:
        return (f"{len(plan.sets.names)} sets: {escape(', '.join(plan.sets.names))}; "
                "Spearman's correlation of similarities, share of analogies answered; "
                "raw input vectors")
    return (f"no sets were given, so <b>quality is the share of common words among the 10 "
            f"nearest</b> in a model and in batch word2vec of {epochs_text(plan.epochs)}, "
            f"over the {JUDGED_WORDS:,} most frequent words; batch word2vec of fewer epochs "
            "begins with the same vectors, which helps it")


def write_report(found, text, path):
    links = [("claims", "claims"), ("counts", "counts"), ("agreement", "agreement"),
             ("stream", "along the stream"), ("time", "quality against time"),
             ("models", "all models")]
    title = "Streaming word embeddings: the paper and what came after"
    body = "\n".join([
        f"<h1>{title}</h1>",
        page.paragraph("May, Duh, Van Durme and Lall, “Streaming Word Embeddings with the "
                       "Space-Saving Algorithm” (2017), its experiments on counts and "
                       "cosines repeated, with wordtide's default, incremental SGNS and "
                       "batch word2vec beside them."),
        describe_text(text, found),
        "<nav>" + "".join(f'<a href="#{a}">{b}</a>' for a, b in links) + "</nav>",
        sections.claims_section(found), sections.counts_section(found),
        agreement_section(found), sections.stream_section(found),
        sections.models_section(found)])
    write_whole(path, page.page(title, body))


def main():
    options = parse()
    text, command = text_file(options.text), program(options.command)
    sets = Sets(options.sets) if options.sets else None
    out = Path(options.out)
    common = training_options(options)
    store = Store(out / "runs", command, options.jobs)
    plan = Plan(store, text, sets, options, common)
    plan.run()
    write_report(Findings(plan), text, out / "report.html")
    say(f"{store.done_now} runs made, {out / 'report.html'} written")


if __name__ == "__main__":
    run_main("paper", main)
