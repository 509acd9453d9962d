#!/usr/bin/python3
"""Words a CPU-second on one core, beside other trainers, and with a second thread.

    bench/speed.py [TEXT] [--prefix BYTES] [--rounds N] [--rival 'NAME=COMMAND']...

Everyone reads the same file: TEXT, or its first BYTES, cut into lines of at most 1,000
words, or the demo stream where there is no TEXT. Rounds are interleaved (A B C A B C
...), so that a noisy neighbor slows all of them; figures are medians, ratios are
medians of the ratios within a round. Time is user + system time of the whole process,
from its start to the saved model. "start" is the part of it that does not grow with the
text, the smallest of three measurements on 100 kB.

A rival that is not installed is left out with a note. --rival puts another beside them:
a shell command with {text} and {out} where the names of files go.
"""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab import Failed, say
from lab.command_line import arguments, number, run_main
from lab.running import measure, train
from lab.tables import median, print_table, spread
from texts import prepare_text, text_arguments, write_lines

SHORT = 100_000  # bytes
PYTHON = "/usr/bin/python3"  # where Debian's gensim is
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
GENSIM = """
import sys
from gensim.models import Word2Vec
model = Word2Vec(corpus_file=sys.argv[1], workers=1, sg=1, vector_size=100, window=5,
                 negative=5, sample=1e-3, min_count=5, epochs=1)
model.wv.save_word2vec_format(sys.argv[2], binary=True)
"""
FASTTEXT = ("fasttext skipgram -maxn 0 -dim 100 -ws 5 -neg 5 -t 1e-3 -epoch 1 -thread 1"
            " -minCount 5 -verbose 0").split()

FAST, DEFAULT, BATCH = "wordtide fast", "wordtide default", "wordtide batch, 1 epoch"
ALIKE = "wordtide fast, their settings"
OURS = {
    FAST: ("--profile", "fast"),
    DEFAULT: ("--profile", "default"),
    ALIKE: ("--profile", "fast", "--window", "5", "--sample", "1e-3"),
    BATCH: ("--batch", "--epochs", "1"),
}


def find_installed():
    """Name -> function of (text, out) that returns the command."""
    found = {}
    if shutil.which("fasttext"):
        found["fastText"] = lambda text, out: [
            *FASTTEXT, "-input", text, "-output", out]
    else:
        say("speed: fasttext is not installed, left out")
    python = PYTHON if os.access(PYTHON, os.X_OK) else "python3"
    probe = [python, "-c", "import gensim"]
    if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        found["gensim"] = lambda text, out: [python, "-c", GENSIM, text, out]
    else:
        say("speed: gensim is not installed, left out")
    return found


def find_rivals(options):
    found = {} if options.alone else find_installed()
    for rival in options.rival:
        name, _, template = rival.partition("=")
        if not template:
            raise Failed(f"--rival {rival}: not NAME=COMMAND")
        found[name] = lambda text, out, template=template: fill_in(template, text, out)
    return found


def fill_in(template, text, out):
    named = template.replace("{text}", shlex.quote(text))
    return named.replace("{out}", shlex.quote(out))


def contestants(options):
    runs = {}
    for name, flags in OURS.items():
        runs[name] = lambda text, out, flags=flags: train(
            options.command, text, out, "--quiet", "--threads", "1", *flags)
    return {**runs, **find_rivals(options)}


def remove_outputs(folder):
    for path in Path(folder).glob("model*"):
        path.unlink()


def start_costs(runs, short, folder):
    """CPU seconds on a short text; what fails even there is left out from now on."""
    costs = {}
    for name in list(runs):
        try:
            costs[name] = min(run_once(runs[name], short, folder).cpu
                              for _ in range(3))
        except Failed as failure:
            if name in OURS:
                raise
            say(f"speed: {name} left out: {failure}")
            del runs[name]
    return costs


def run_once(make, text, folder):
    usage = measure(make(text, os.path.join(folder, "model.tide")), env=ONE_THREAD)
    remove_outputs(folder)
    return usage


def compare(options, text, short, words, folder):
    runs = contestants(options)
    costs = start_costs(runs, short, folder)
    cpu = {name: [] for name in runs}
    for turn in range(options.rounds):
        for name, make in runs.items():
            cpu[name].append(run_once(make, text, folder).cpu)
            say(f"round {turn + 1}: {name}: {cpu[name][-1]:.2f} s")

    def ratio(ours, theirs):
        return "%.1f" % median([b / a for a, b in zip(cpu[ours], cpu[theirs])])

    print_table(
        ["one core", "CPU s", "start, s", "thousand words a CPU-s", "fast is x faster",
         "default is x faster", "batch is x faster"],
        [[name, spread(cpu[name], "%.2f"), "%.2f" % costs[name],
          "%.0f" % median([words / s / 1000 for s in cpu[name]]),
          ratio(FAST, name), ratio(DEFAULT, name), ratio(BATCH, name)] for name in runs])


def seconds_of(usage):
    """From the first byte read to the model saved, by the command's own clock."""
    return float(re.search(r"seconds=([0-9.]+)", usage.log).group(1))


def scaling(options, text, folder):
    """Seconds of one thread, of `options.threads` and, as the limit of the machine, of
    as many runs of one thread at the same time, in turns."""
    def run(name, threads, number=0):
        out = os.path.join(folder, f"model{number}.tide")
        return seconds_of(measure(train(options.command, text, out, "--threads",
                                        str(threads), *OURS[name])))

    def run_at_once(name):
        with ThreadPoolExecutor(options.threads) as pool:
            return list(pool.map(lambda i: run(name, 1, i), range(options.threads)))

    rows = []
    for name in (FAST, DEFAULT):
        one, many, apart = [], [], []
        for _ in range(options.rounds):
            one.append(run(name, 1))
            many.append(run(name, options.threads))
            apart.append(sum(one[-1] / seconds for seconds in run_at_once(name)))
            remove_outputs(folder)
        rows.append([name, spread(one, "%.2f"), spread(many, "%.2f"),
                     spread([a / b for a, b in zip(one, many)], "%.2f"),
                     spread(apart, "%.2f")])
    print_table(["seconds", "1 thread", f"{options.threads} threads", "x faster",
                 f"{options.threads} runs apart, x faster"], rows)


def main():
    parser = arguments(__doc__)
    text_arguments(parser)
    parser.add_argument("--rounds", type=number, default=5)
    parser.add_argument("--threads", type=number, default=2,
                        help="to compare with one thread; 1 leaves this out (2)")
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--alone", action="store_true", help="no rivals but those of --rival")
    parser.add_argument("--threads-only", action="store_true",
                        help="only one thread beside several")
    options = parser.parse_args()
    if options.threads > (os.cpu_count() or 1):
        say(f"speed: there are no {options.threads} cores here; scaling is left out")
        options.threads = 1
    with tempfile.TemporaryDirectory() as folder:
        text, name, words = prepare_text(options, folder)
        short = os.path.join(folder, "short")
        write_lines(text, short, SHORT)
        print(f"{name}: {words:,} words; dim 100, {options.rounds} rounds\n",
              flush=True)
        if not options.threads_only:
            compare(options, text, short, words, folder)
        if options.threads > 1:
            scaling(options, text, folder)


if __name__ == "__main__":
    run_main("speed", main)
