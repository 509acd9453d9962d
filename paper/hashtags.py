#!/usr/bin/python3
"""The paper's extrinsic experiment: predicting hashtags while the embedding keeps learning.

    make hashtags STREAM=FILE [OUT=DIR] [SEEDS=3] [THREADS=n]
    paper/hashtags.py STREAM [--out DIR] [--split NAME=TRAIN,TEST] [--seeds n] [--jobs n]

STREAM has one post per line, TIME TAB TEXT in order of time, and may be compressed. Models
are trained on a first part of it and then read a second part once, predicting the hashtags
of every post before they learn from it. Writes OUT/hashtags.html, one file with tables and
plots, and the same as OUT/hashtags.md. Models and results stay in OUT/runs and are used
again.
"""
import argparse
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))  # where lab is

from hashtag_findings import Findings
from hashtag_page import add_sections
from hashtag_plan import Plan, models
from hashtag_stream import Stream, split_of, usual_splits
from lab import Failed, plots, say
from lab.cache import Store
from lab.command_line import (arguments, display_name, number, program, readable_file,
                              run_main, training_arguments)
from lab.document import Document, escaped


def split(text):
    try:
        return split_of(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(str(failure)) from None


def rate(text):
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and up to 1")
    return value


def parse():
    parser = arguments(__doc__)
    training_arguments(parser)
    add = parser.add_argument
    add("stream", nargs="?", metavar="STREAM")
    add("--out", default="build/hashtags", metavar="DIR",
        help="where models, results and the report go (build/hashtags)")
    add("--seeds", type=number, default=3, help="how often each model is trained (3)")
    add("--split", type=split, action="append", default=[], metavar="NAME=TRAIN,TEST",
        dest="splits", help="what to train and to test on, as "
        "year=2019,2020-01..2021-12; may be repeated (long: that; short: "
        "2019-01,2019-02; or, if the stream has not these, 60%% of its time and the rest)")
    add("--only", action="append", metavar="MODEL",
        help="only this model, as named in the tables; may be repeated")
    add("--k", type=number, default=100000, help="size of the vocabulary (100000)")
    add("--epochs", type=number, default=5, help="of batch word2vec (5)")
    add("--rate", type=rate, default=0.0025,
        help="other learning rate at which batch word2vec is trained further (0.0025)")
    add("--refit", type=number, metavar="POSTS",
        help="how often a classifier is retrained (a quarter of the test, in thousands)")
    add("--top", type=number, default=100, help="labels to predict (100)")
    add("--each", type=number, default=1000, help="posts of each label to train on (1000)")
    add("--label-memory", default="512M", help="for the posts of all labels (512M)")
    add("--tokenizer", default="social", help="of all models (social)")
    return parser.parse_args()


def check_names(options):
    known = [model.name for model in models(options)]
    for name in options.only or []:
        if name not in known:
            raise Failed(f"no model '{name}'; there are: {'; '.join(known)}")
    names = [split.name for split in options.splits]
    if len(set(names)) < len(names):
        raise Failed(f"two splits have one name: {', '.join(names)}")


def describe_stream(document, stream, options, command):
    survey = stream.survey
    version = subprocess.run([command, "--version"], stdout=subprocess.PIPE,
                             encoding="utf-8", check=True).stdout.strip()
    skipped = f"; {survey.skipped:,} lines without a time" if survey.skipped else ""
    seeds = f"seeds 1 to {options.seeds}" if options.seeds > 1 else "seed 1"
    document.text(
        "May, Duh, Van Durme and Lall, “Streaming Word Embeddings with the Space-Saving "
        "Algorithm” (2017), section 5 repeated: a classifier predicts hashtags from the vectors "
        "of words, and the vectors are trained further while the classifier stays. The hashtags "
        "of every post are predicted before anything is learned from it.")
    document.facts([
        ("stream", f"{escaped(display_name(stream.path))}: {survey.posts:,} posts, "
                   f"{len(survey.born):,} hashtags, {survey.first[:10]} to "
                   f"{survey.last[:10]}{skipped}"),
        ("labels", f"the {options.top:,} most frequent of the part that is trained on, up to "
                   f"{options.each:,} posts of each; removed from the text"),
        ("models", f"K = {options.k:,}, dimension {options.dim}, {options.epochs} epochs of "
                   f"batch word2vec, tokenizer {options.tokenizer}, one thread each, {seeds}"),
        ("program", escaped(version))])


def main():
    options = parse()
    check_names(options)
    path, command = readable_file(options.stream, "STREAM"), program(options.command)
    plots.require()
    out = Path(options.out)
    store = Store(out / "runs", command, options.jobs)
    stream = Stream(path, store)
    plan = Plan(store, stream, options.splits or usual_splits(stream.survey), options)
    found = Findings(plan, plan.run(), stream.survey)
    document = Document("Predicting hashtags while learning")
    describe_stream(document, stream, options, command)
    add_sections(document, found)
    document.write(out, "hashtags")
    say(f"{len(store.made)} runs made, {out / 'hashtags.html'} written")


if __name__ == "__main__":
    run_main("hashtags", main)
