#!/usr/bin/python3
"""Words per CPU-second on streams designed to slow training down, next to a normal one.

    bench/hostile.py [TEXT] [--prefix BYTES] [--tokens N] [--rounds N] [--flood WORDS]
                     [--distinct N]

    churn     every word is new, so that without the gate each takes another word's slot
    spam      one word all the time
    floods    a few thousand words whose hashes collide, drawn uniformly, and as many other
              words drawn in the same way
    distinct  the churn of a long stream, through a pipe: --distinct 1e8

All have as many words as the normal stream, TEXT or the demo, in lines of 20, and are trained
with one thread and a vocabulary (--vocab) that is much smaller than a flood. Rounds are
interleaved; the ratio is the median of the ratios within a round. Exits with 1 if a ratio
misses its target.

The words of a flood are found by inverting XXH3, which is a bijection for words of 8 bytes,
and keeping those that are text. Those for the table agree in the lowest 20 bits of unseeded
XXH3: a table that relies on it would put them all in one chain. Ours is keyed with a random
secret per process, so that such words cannot be prepared. The gate is keyed with the seed,
because which words it admits is part of the model. If the seed is known, and the default is
public, words can be made that fall into the same two cells and count for each other; they
pass the gate as if there were none, which is no worse than no gate. With --seed random they
are words like any others.
"""
import random
import tempfile
from collections import namedtuple
from pathlib import Path

from lab import say
from lab.command_line import arguments, number, number_or_zero, run_main
from lab.running import measure, train
from lab.tables import median, print_table, spread
from texts import prepare_text, sentences, text_arguments

LINE = 20  # words
SEED = 1  # the command's own
MASK = (1 << 64) - 1
MULTIPLIER = 0x9FB21C651E98DF25
BACK = pow(MULTIPLIER, -1, 1 << 64)
SECRET = (int.from_bytes(bytes.fromhex("7c01812cf721ad1c"), "little")
          ^ int.from_bytes(bytes.fromhex("ded46de9839097db"), "little"))

Stream = namedtuple("Stream", "name path options base target")


def rotated(value, by):
    by %= 64
    return (value << by | value >> (64 - by)) & MASK


def word_of(value, seed):
    """The one word of 8 bytes whose XXH3 is this value. Each line inverts one of XXH3_rrmxmx;
    the rotations by powers of two are the 63rd power of the first step, whose 64th is the
    identity."""
    value ^= value >> 28 ^ value >> 56
    value = value * BACK & MASK
    value ^= (value >> 35) + 8
    value = value * BACK & MASK
    for power in range(6):
        value ^= rotated(value, 49 << power) ^ rotated(value, 24 << power)
    swapped = int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big")
    value ^= (SECRET - (seed ^ swapped << 32)) & MASK
    return (value >> 32).to_bytes(4, "little") + (value & 0xFFFFFFFF).to_bytes(4, "little")


def is_text(word):
    try:
        return word.decode().isprintable() and b" " not in word
    except UnicodeDecodeError:
        return False


def any_value(rng):
    return rng.getrandbits(64)


def table_value(rng):
    """The lowest 20 bits are zero."""
    return rng.getrandbits(44) << 20


def gate_value(rng):
    """The bits that choose the line of the gate and the two cells in it are zero as well."""
    free = rng.getrandbits(36)
    return (free & 0xFFF) << 20 | (free >> 12 & 0xFFFFF) << 32 | free >> 32 << 56


def found_words(count, rng, value, seed):
    say(f"looking for {count} words")
    found = set()
    while len(found) < count:
        word = word_of(value(rng), seed)
        if is_text(word):
            found.add(word)
    return sorted(found)


def new_words(count):
    return (b"n%x" % i for i in range(count))


def write_words(path, words):
    with open(path, "wb") as out:
        for block in blocks(words):
            out.write(block)
    return path


def blocks(words):
    """Lines of LINE words, in large blocks."""
    lines, line = [], []
    for word in words:
        line.append(word)
        if len(line) == LINE:
            lines.append(b" ".join(line))
            line = []
        if len(lines) == 5000:
            yield b"\n".join(lines) + b"\n"
            lines = []
    lines.append(b" ".join(line))
    yield b"\n".join(lines) + b"\n"


def make_streams(options, text, count, folder):
    rng = random.Random(1)

    def write_drawn(name, words):
        return write_words(folder / name, (rng.choice(words) for _ in range(count)))

    normal = write_words(folder / "normal", (w for s in sentences(text) for w in s))
    churn = write_words(folder / "churn", new_words(count))
    spam = write_words(folder / "spam", (b"spam" for _ in range(count)))
    other = write_drawn("other", found_words(options.flood, rng, any_value, 0))
    table = write_drawn("table", found_words(options.flood, rng, table_value, 0))
    gate = write_drawn("gate", found_words(options.flood, rng, gate_value, SEED))
    return [
        Stream("normal", normal, [], None, None),
        Stream("churn", churn, [], "normal", 0.25),
        Stream("churn, no gate", churn, ["--admission", "none"], "normal", 0.25),
        Stream("spam", spam, [], "normal", 0.25),
        Stream("other words", other, [], "normal", 0.25),
        Stream("flood of the table", table, [], "other words", 0.8),
        Stream("flood of the gate", gate, ["--seed", "random"], "other words", 0.8),
        Stream("the same, seed known", gate, [], "normal", 0.25),
        Stream("other words, no gate", other, ["--admission", "none"], "normal", 0.25),
    ]


def train_on(options, source, model, flags, feed=None):
    return measure(train(options.command, source, model, "--quiet", "--threads", "1",
                         "--seed", str(SEED), "--tokenizer", "space", "--vocab",
                         str(options.vocab), *flags), feed)


def compare(options, streams, count, folder):
    cpu = {stream.name: [] for stream in streams}
    for turn in range(options.rounds):
        for stream in streams:
            used = train_on(options, stream.path, folder / "model.tide", stream.options)
            cpu[stream.name].append(used.cpu)
            say(f"round {turn + 1}: {stream.name}: {used.cpu:.2f} s")
    rows, missed = [], 0
    for stream in streams:
        row = [stream.name, spread(cpu[stream.name], "%.2f"),
               "%.0f" % median([count / s / 1000 for s in cpu[stream.name]])]
        if stream.base:
            ratios = [a / b for a, b in zip(cpu[stream.base], cpu[stream.name])]
            missed += median(ratios) < stream.target
            row += [spread(ratios, "%.2f"), stream.base, "%.2f" % stream.target]
        rows.append(row + [""] * (6 - len(row)))
    print_table(["stream", "CPU s", "thousand words/CPU-s", "ratio", "relative to", "at least"],
                rows)
    return missed


def many_words(options, folder):
    used = train_on(options, "-", folder / "model.tide", [], blocks(new_words(options.distinct)))
    print(f"{options.distinct:,} distinct words: {used.cpu:.1f} CPU s, "
          f"{options.distinct / used.cpu / 1000:.0f} thousand words/CPU-s, "
          f"{used.peak / 2**20:.0f} MiB peak")


def main():
    parser = arguments(__doc__)
    text_arguments(parser)
    parser.add_argument("--rounds", type=number, default=5)
    parser.add_argument("--vocab", type=number, default=1000, help="size of the vocabulary (1000)")
    parser.add_argument("--flood", type=number, default=4000, metavar="WORDS",
                        help="words of each flood (4000); 200 per second are found")
    parser.add_argument("--distinct", type=number_or_zero, default=0, metavar="N",
                        help="also that many different words, each once (0)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, title, count = prepare_text(options, name)
        streams = make_streams(options, text, count, folder)
        print(f"{title}: {count:,} words, {options.vocab:,} slots, "
              f"{options.rounds} rounds\n", flush=True)
        missed = compare(options, streams, count, folder)
        if options.distinct:
            many_words(options, folder)
    return 1 if missed else 0


if __name__ == "__main__":
    run_main("hostile", main)
