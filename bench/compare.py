#!/usr/bin/python3
"""Speed, memory and quality beside other trainers, in one table.

    bench/compare.py TEXT --sets DIR [--prefix BYTES] [--rounds N] [--rival 'NAME=COMMAND']...

Every trainer reads the same file (see speed.py, which also has the settings) and writes
its vectors, which `wordtide eval` then scores as quality.py does. Only words that every
program has a vector for are scored, so that all of them answer the same questions.
"words/s" are words per CPU second of the whole process, "memory" is its peak of resident
pages, and "quality" is the mean of five similarity sets and Google's analogies.
"""
import os
import statistics
import tempfile

from lab import Failed, say
from lab.command_line import arguments, number, run_main
from lab.running import measure
from lab.tables import print_table
from texts import prepare_text, text_arguments
from quality import COLUMNS, evaluate, frequent_words, load_vectors, write_vectors
from speed import ONE_THREAD, contestants


def output_of(path):
    """The vectors that a program wrote when told to write to `path`."""
    return path if os.path.exists(path) else path + ".vec"


def train_all(options, text, folder):
    """Name -> (CPU seconds, peak bytes, file of vectors). Rounds are interleaved."""
    found = {}
    for turn in range(options.rounds):
        for number_, (name, make) in enumerate(contestants(options).items()):
            out = os.path.join(folder, f"model{number_}")
            usage = measure(make(text, out), env=ONE_THREAD)
            cpu, peak, _ = found.setdefault(name, ([], [], output_of(out)))
            cpu.append(usage.cpu)
            peak.append(usage.peak)
            say(f"round {turn + 1}: {name}: {usage.cpu:.2f} s")
    return found


def score_all(options, models, folder):
    """Name -> scores over the words that all models have."""
    vectors = {name: load_vectors(options.command, path) for name, path in models.items()}
    shared = set.intersection(*(set(words) for words in vectors.values()))
    top = [word for word in frequent_words(options.command, next(iter(models.values())))
           if word in shared]
    scores = {}
    for name, words in vectors.items():
        path = os.path.join(folder, "shared.vec")
        write_vectors(path, {word: words[word] for word in words if word in shared})
        scores[name] = evaluate(options.command, path, options.sets, top)
    return scores


def main():
    parser = arguments(__doc__)
    text_arguments(parser)
    parser.add_argument("--sets", required=True, help="folder with similarity/ and analogy/")
    parser.add_argument("--rounds", type=number, default=3)
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--alone", action="store_true", help="no rivals but those of --rival")
    options = parser.parse_args()
    if not options.text:
        raise Failed("compare: needs a TEXT")
    with tempfile.TemporaryDirectory() as folder:
        text, name, words = prepare_text(options, folder)
        print(f"{name}: {words:,} words; dim 100, {options.rounds} rounds\n", flush=True)
        found = train_all(options, text, folder)
        scores = score_all(options, {name: row[2] for name, row in found.items()}, folder)
        rows = []
        for name, (cpu, peak, _) in found.items():
            rows.append([name, f"{words / statistics.median(cpu):,.0f}",
                         f"{statistics.median(peak) / 2**20:.0f} MiB",
                         *(f"{scores[name][column]:.1f}" for column in COLUMNS)])
        print_table(["one thread", "words/s", "memory", *COLUMNS], rows)


if __name__ == "__main__":
    run_main("compare", main)
