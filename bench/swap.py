#!/usr/bin/python3
"""How fast vectors follow a change of meaning: halfway, words exchange theirs.

    bench/swap.py TEXT --sets DIR [--after TOKENS] [TRAIN OPTION...]

The words of frequency rank 100 to 29,999 (the first has rank 0) form pairs of neighbors,
2i and 2i + 1. From the middle of the stream on, half of the pairs, chosen by a
hash of i, are exchanged: each occurrence of one word is replaced by the other. Neighbors are
about equally frequent, so only contexts reveal the exchange, not counts. The model is scored
twice, with every word under its own name (the old meaning) and with the exchanged words
renamed (the new one). Ideally the new meaning scores as in a stream without exchange and the
old one near zero. Unknown options are passed to `wordtide train`.
"""
import os
import tempfile
from collections import Counter

from lab import say
from lab.command_line import arguments, number_or_zero, run_main
from lab.running import measure, train
from lab.sets import STRICT, Sets, evaluate
from lab.tables import percent, print_table
from texts import sentences

FIRST, LAST = 100, 30_000
MULTIPLIER = 0x9E3779B97F4A7C15


def chosen(i):
    """The lowest bits of the two halves of the 128-bit product, added."""
    product = i * MULTIPLIER
    return (product >> 64 ^ product) & 1


def exchanges(ranked):
    """word -> word, both ways, for the chosen pairs."""
    swap = {}
    for i in range(FIRST // 2, min(LAST, len(ranked)) // 2):
        if chosen(i):
            one, other = ranked[2 * i], ranked[2 * i + 1]
            swap[one], swap[other] = other, one
    return swap


def exchanged_stream(path, swap, after):
    """The text, with words exchanged from token `after` on."""
    seen = 0
    for words in sentences(path):
        plain = max(0, min(len(words), after - seen))
        seen += len(words)
        words[plain:] = [swap.get(word, word) for word in words[plain:]]
        yield b" ".join(words) + b"\n"


def write_renamed(command, model, swap, path):
    """The vectors of a model, those of exchanged words under each other's name."""
    with open(path, "w", encoding="utf-8") as file:
        for line in measure([command, "vector", model, "--all"]).output.split("\n")[1:-1]:
            word, vector = line.split(" ", 1)
            file.write(f"{swap.get(word, word)} {vector}\n")


def main():
    parser = arguments(__doc__)
    parser.add_argument("text", metavar="TEXT")
    parser.add_argument("--sets", required=True,
                        help="folder with similarity/ and analogy/")
    parser.add_argument("--after", type=number_or_zero, help="exchange after this many words (half of the text)")
    parser.add_argument("--model", help="where to keep the model")
    options, flags = parser.parse_known_args()
    sets = Sets(options.sets)
    columns = [*sets.names, "mean", STRICT, "known"]
    counts = Counter()
    for words in sentences(options.text):
        counts.update(words)
    ranked = [word for word, _ in counts.most_common()]
    total = sum(counts.values())
    after = total // 2 if options.after is None else options.after
    swap = exchanges(ranked)
    say(f"{total:,} words, {len(swap) // 2:,} pairs exchanged after {after:,}")
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or os.path.join(folder, "swap.tide")
        measure(train(options.command, "-", model, "--quiet", *flags),
                exchanged_stream(options.text, swap, after))
        names = {a.decode("utf-8", "replace"): b.decode("utf-8", "replace")
                 for a, b in swap.items()}
        rows, vectors = [], os.path.join(folder, "vectors")
        for meaning, exchanged in ("old meaning", {}), ("new meaning", names):
            write_renamed(options.command, model, exchanged, vectors)
            scores = evaluate(options.command, sets, vectors)
            rows.append([meaning, *(percent(scores[column]) for column in columns)])
    print_table(["model", *columns], rows)


if __name__ == "__main__":
    run_main("swap", main)
