#!/usr/bin/python3
"""How useful syllables are as units for Thai, Lao, Khmer and Burmese.

    bench/segment.py --tokens build/tests/print_tokens [--command wordtide] th=THAI.txt ...

Each text has a sentence per line, split into words with spaces by people. The spaces are
removed, the text is split again, and three things are counted: units per word, the share of
word boundaries that are unit boundaries, and the share of units that cross one. With
--command, vectors are trained on most of the sentences; both halves of the others are
embedded, and each half has to find its other half among 20. The same is done for unsegmented
text, for the words of ICU if python3-icu is installed, and for the words of the people.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

try:
    import icu
except ImportError:
    icu = None

LETTERS = {"th": "\u0e00-\u0e4e", "lo": "\u0e80-\u0ecd", "my": "\u1000-\u103f\u1050-\u109f", "km": "\u1780-\u17d3"}
DIM, TESTED, AMONG, SEEDS = 60, 400, 20, 3


def by_syllables(program, lines, runs):
    text = "\n".join(" ".join(runs.findall(line)) for line in lines)
    begun = time.process_time(), time.perf_counter()
    cut = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    return cut.split("\n"), len(text.encode()) / (time.perf_counter() - begun[1])


def by_icu(language, line):
    iterator = icu.BreakIterator.createWordInstance(icu.Locale(language))
    iterator.setText(line)
    ends = list(iterator)
    return [line[a:b] for a, b in zip([0, *ends], ends)]


def ends_of(pieces):
    ends, at = set(), 0
    for piece in pieces:
        at += len(piece)
        ends.add(at)
    return ends


def boundaries(words, units):
    """Of a run without its spaces: words, units, word boundaries, those found, units that cross one."""
    gold, mine = ends_of(words), ends_of(units)
    end = max(gold)
    across, at = 0, 0
    for unit in units:
        across += any(at < stop < at + len(unit) for stop in gold)
        at += len(unit)
    return len(words), len(units), len(gold - {end}), len((gold & mine) - {end}), across


def runs_of(line, runs):
    """The words of each run of letters of a script that is written without spaces."""
    spaced, joined = line.split(), "".join(line.split())
    ends = ends_of(spaced)
    for match in runs.finditer(joined):
        stops = sorted({stop for stop in ends if match.start() < stop < match.end()} | {match.end()})
        yield [joined[a:b] for a, b in zip([match.start(), *stops], stops)]


def right_halves(command, cut, lines, tested):
    """The share of halves that find their other half; cut(text) puts spaces between units."""
    import numpy

    right = 0
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder, "text"), Path(folder, "model.tide")
        text.write_text("\n".join(cut(line) for line in lines) + "\n")
        for seed in range(1, SEEDS + 1):
            subprocess.run([command, "train", text, "-o", model, "-q", "--tokenizer", "space", "--dim", str(DIM),
                            "--epochs", "5", "--min-count", "2", "--seed", str(seed)], check=True,
                           stderr=subprocess.DEVNULL)
            sides = []
            for side in (0, 1):
                lines_in = "\n".join(cut(halves[side]) for halves in tested) + "\n"
                printed = subprocess.run([command, "embed", model], input=lines_in, capture_output=True, text=True,
                                      check=True).stdout.split("\n")
                rows = [numpy.array(row.split() or [0] * DIM, float) for row in printed[:len(tested)]]
                sides.append(numpy.array([row / max(numpy.linalg.norm(row), 1e-9) for row in rows]))
            for at in range(0, len(tested), AMONG):
                near = sides[0][at:at + AMONG] @ sides[1][at:at + AMONG].T
                right += sum(row[i] > 0 and (row >= row[i]).sum() == 1 for i, row in enumerate(near))
    return right / (SEEDS * len(tested))


def measure(language, path, options):
    runs = re.compile(f"[{LETTERS[language]}]+")
    text = unicodedata.normalize("NFKC", Path(path).read_text(errors="replace"))  # like the tokens
    lines = [line for line in text.split("\n") if line.strip()]
    gold = [words for line in lines for words in runs_of(line, runs)]
    cut, speed = by_syllables(options.tokens, ["".join(words) for words in gold], runs)
    ways = {"syllables": lambda run: table.get(run, [run])}
    table = {"".join(words): re.split(" ", units.strip()) for words, units in zip(gold, cut)}
    table = {run: units for run, units in table.items() if "".join(units) == run}  # without words cut at 63 bytes
    ways["unsegmented"] = lambda run: [run]
    if icu:
        ways[f"ICU {icu.ICU_VERSION}"] = lambda run: by_icu(language, run)
    print(f"{language}: {len(gold)} runs, {len(table)} different, "
          f"{speed / 1e6:.1f} MB/s including the start of the program")
    held = [words for words in gold if "".join(words) in table]
    for name, way in ways.items():
        words, units, ends, found, across = map(sum, zip(*(boundaries(w, way("".join(w))) for w in held)))
        print(f"  {name:12} {units / words:5.2f} units per word, {found / max(ends, 1):7.2%} of the boundaries, "
              f"{across / units:7.2%} of the units cross one", flush=True)
    if not options.command:
        return
    long = [line for line in lines if len(line.split()) >= 12]
    random.Random(1).shuffle(long)
    tested, rest = long[:TESTED], long[TESTED:]
    middle = [(line.split(), len(line.split()) // 2) for line in tested]
    joined = [("".join(words[:at]), "".join(words[at:])) for words, at in middle]

    def spaced(way):
        return lambda text: runs.sub(lambda run: f" {' '.join(way(run[0]))} ", text)

    def syllables(texts):
        found = sorted({run for text in texts for run in runs.findall(text)})
        units, _ = by_syllables(options.tokens, found, runs)
        table.update({run: unit.split() for run, unit in zip(found, units)})

    texts = ["".join(line.split()) for line in rest]
    syllables(texts + [half for halves in joined for half in halves])
    for name, way in ways.items():
        print(f"  {name:12} right halves {right_halves(options.command, spaced(way), texts, joined):.3f}", flush=True)
    people = [(" ".join(words[:at]), " ".join(words[at:])) for words, at in middle]
    print(f"  {'people':12} right halves {right_halves(options.command, str, rest, people):.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", required=True, help="print_tokens, built with the tests")
    parser.add_argument("--command", help="wordtide, to also train vectors")
    parser.add_argument("texts", nargs="+", metavar="LANGUAGE=TEXT")
    options = parser.parse_args()
    for text in options.texts:
        language, _, path = text.partition("=")
        if language not in LETTERS or not path:
            sys.exit(f"{text}: LANGUAGE=TEXT, with one of {', '.join(LETTERS)}")
        measure(language, path, options)


if __name__ == "__main__":
    main()
