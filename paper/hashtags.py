#!/usr/bin/python3
"""The paper's extrinsic experiment: telling hashtags while the embedding learns on.

    make hashtags STREAM=FILE [OUT=DIR] [SEEDS=3] [THREADS=n]
    paper/hashtags.py STREAM [--out DIR] [--split NAME=TRAIN,TEST] [--seeds n] [--jobs n]

STREAM has a post a line, TIME TAB TEXT in the order of times, packed or not. Models learn
from a first part of it and then go through a second part once, telling the hashtags of
every post before they learn from it. Writes OUT/hashtags.html, a page with tables and
plots, and OUT/hashtags.md, the tables alone. Models and results stay in OUT/runs; what is
there is not made again.
"""
import argparse
import subprocess
from pathlib import Path

from command_line import COMMAND, number, program, run_main, shown, text_file
from hashtag_document import Facts, Text, as_html, as_markdown
from hashtag_findings import Findings
from hashtag_page import sections
from hashtag_plan import Plan, models
from hashtag_stream import Stream, split_of, usual_splits
from runs import Failed, Store, say, write_whole

TITLE = "Telling hashtags while learning"


def split(text):
    try:
        return split_of(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(str(failure)) from None


def setting(text):
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return f"--{name}", value


def rate(text):
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and up to 1")
    return value


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("stream", nargs="?", metavar="STREAM")
    add("--out", default="build/hashtags", metavar="DIR",
        help="where models, results and the page go (build/hashtags)")
    add("--command", default=COMMAND, help="the wordtide to run")
    add("--jobs", type=number, default=1, help="runs side by side, each with one thread (1)")
    add("--seeds", type=number, default=3, help="how often each model is trained (3)")
    add("--split", type=split, action="append", default=[], metavar="NAME=TRAIN,TEST",
        dest="splits", help="what to learn and what to test, as "
        "year=2019,2020-01..2021-12; may be given again (long: that; short: "
        "2019-01,2019-02; or, where the stream has not these, 60%% of its time and the rest)")
    add("--only", action="append", metavar="MODEL",
        help="this model and no other, as a table has it; may be given again")
    add("--k", type=number, default=100000, help="size of the vocabulary (100000)")
    add("--dim", type=number, default=100, help="of all vectors (100)")
    add("--epochs", type=number, default=5, help="of batch word2vec (5)")
    add("--rate", type=rate, default=0.0025,
        help="at which batch word2vec learns on, other than at its last (0.0025)")
    add("--refit", type=number, metavar="POSTS",
        help="after which a classifier learns anew (a quarter of those of the test, in "
        "thousands)")
    add("--top", type=number, default=100, help="labels to tell (100)")
    add("--each", type=number, default=1000, help="posts of each to learn from (1000)")
    add("--label-memory", default="512M", help="for the posts of all labels (512M)")
    add("--tokens", default="social", help="what a word is, for all models (social)")
    add("--set", type=setting, action="append", default=[], metavar="NAME=VALUE",
        dest="settings", help="a parameter of every training")
    return parser.parse_args()


def check_names(options):
    known = [model.name for model in models(options)]
    for name in options.only or []:
        if name not in known:
            raise Failed(f"no model '{name}'; there are: {'; '.join(known)}")
    names = [split.name for split in options.splits]
    if len(set(names)) < len(names):
        raise Failed(f"two splits have one name: {', '.join(names)}")


def opening(stream, options, command):
    survey = stream.survey
    version = subprocess.run([command, "--version"], stdout=subprocess.PIPE,
                             encoding="utf-8", check=True).stdout.strip()
    passed = f"; {survey.passed_over:,} lines without a time" if survey.passed_over else ""
    return [
        Text("May, Duh, Van Durme and Lall, “Streaming Word Embeddings with the Space-Saving "
             "Algorithm” (2017), section 5 repeated: a classifier tells hashtags from the "
             "vectors of words, and the vectors go on learning while the classifier stays. "
             "Every post is told its hashtags before anything is learned from it."),
        Facts([
            ("stream", f"{shown(stream.path)}: {survey.posts:,} posts, {len(survey.born):,} "
                       f"hashtags, {survey.first[:10]} to {survey.last[:10]}{passed}"),
            ("labels", f"the {options.top:,} most frequent of the part that is learned, from "
                       f"up to {options.each:,} posts of each; taken out of the text"),
            ("models", f"K = {options.k:,}, dimension {options.dim}, {options.epochs} epochs "
                       f"of batch word2vec, tokens {options.tokens}, one thread each, seed"
                       + (f"s 1 to {options.seeds}" if options.seeds > 1 else " 1")),
            ("program", version)])]


def main():
    options = parse()
    check_names(options)
    if not options.stream:
        raise Failed("no STREAM: STREAM=FILE, or its path as argument")
    path, command = text_file(options.stream), program(options.command)
    out = Path(options.out)
    store = Store(out / "runs", command, options.jobs)
    stream = Stream(path, store)
    plan = Plan(store, stream, options.splits or usual_splits(stream.survey), options)
    found = Findings(plan, plan.run(), stream.survey)
    document = TITLE, opening(stream, options, command), sections(found)
    write_whole(out / "hashtags.html", as_html(*document))
    write_whole(out / "hashtags.md", as_markdown(*document))
    say(f"{store.done_now} runs made, {out / 'hashtags.html'} written")


if __name__ == "__main__":
    run_main("hashtags", main)
