#!/usr/bin/python3
"""Peak memory against the budget that the command prints and as a stream grows.

    bench/memory.py [--long] [--line BYTES] [--profile NAME] [--vocab K] [--dim D]

The first table trains on 10^6, 10^7, 10^8 and (--long) 10^9 words of the demo stream: the
budget covers everything that grows with the parameters, so what exceeds it (code, libraries,
stacks) must be small and must not grow. The second feeds a line of words without newline and
a single word through a pipe, each BYTES (4e9) long, and compares the peak with that of a
thousandth of the input.
"""
import os
import re
import tempfile

from lab import Failed, say
from lab.command_line import arguments, number, number_or_zero, run_main
from lab.running import measure, train
from lab.tables import print_table

LENGTHS = (10**6, 10**7, 10**8)
LONG = 10**9
BLOCK = 1 << 16
# Fast, because only the line matters, but larger than the Python process that measures it.
QUICK = ("--profile", "fast", "--vocab", "200000", "--dim", "8")
MIB = 1 << 20


def peak(options, source, folder, flags, feed=None):
    """Peak bytes of a training, and the budget it printed."""
    model = os.path.join(folder, "model.tide")
    usage = measure(train(options.command, source, model, "--threads",
                          str(options.threads), *flags), feed)
    if usage.peak <= measure(["true"]).peak:
        raise Failed("the command takes less memory than this script")
    budget = re.search(r"\btotal_bytes=(\d+)", usage.log)
    if not budget:
        raise Failed("the command printed no budget")
    return usage.peak, int(budget.group(1))


def mib(*sizes):
    return ["%.1f" % (round(size / MIB, 1) + 0.0) for size in sizes]  # never "-0.0"


def by_length(options, folder):
    flags = ["--profile", options.profile, "--vocab", str(options.vocab), "--dim",
             str(options.dim), "--subword", str(options.subword)]
    print("`" + " ".join(flags) + f" --threads {options.threads}`\n")
    rows, first = [], None
    for words in LENGTHS + ((LONG,) if options.long else ()):
        most, budget = peak(options, f"demo:tokens={words}", folder, flags)
        first = first or most
        rows.append([f"{words:,}", *mib(budget, most, most - budget, most - first)])
        say(f"{words} words: {most / MIB:.1f} MiB")
    print_table(["words", "budget, MiB", "peak, MiB", "above the budget",
                 "above 10^6 words"], rows)


def repeated(block, size):
    while size > 0:
        yield block[:size]
        size -= len(block)


def words_block():
    """A few thousand different words, without newline."""
    words = (b"word%d" % (n * n % 4999) for n in range(BLOCK))
    return b" ".join(words)[:BLOCK - 1] + b" "


def endless(options, folder):
    rows = []
    for name, block in (("a line of words", words_block()), ("a word", b"a" * BLOCK)):
        short, budget = peak(options, "-", folder, QUICK,
                             repeated(block, options.line // 1000))
        say(f"{name}: {short / MIB:.1f} MiB, now the long one")
        long, _ = peak(options, "-", folder, QUICK, repeated(block, options.line))
        rows.append([name, *mib(budget, short, long, long - short)])
    size = options.line
    print("`" + " ".join(QUICK) + f" --threads {options.threads}`\n")
    print_table(["through a pipe, without newline", "budget, MiB",
                 f"peak of {size // 1000:,} bytes", f"peak of {size:,} bytes",
                 "growth"], rows)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--profile", default="default")
    parser.add_argument("--vocab", type=number, default=70_000)
    parser.add_argument("--dim", type=number, default=100)
    parser.add_argument("--subword", type=number_or_zero, default=0)
    parser.add_argument("--threads", type=number, default=1)
    parser.add_argument("--line", type=number_or_zero, default=4_000_000_000, metavar="BYTES",
                        help="length of the input without newline; 0 to skip (4e9)")
    parser.add_argument("--long", action="store_true", help="also a billion words")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        by_length(options, folder)
        if options.line:
            endless(options, folder)


if __name__ == "__main__":
    run_main("memory", main)
