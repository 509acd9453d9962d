#!/usr/bin/python3
"""Makes a long stream from a short text, on standard output.

    bench/long.py TEXT [--tokens 150e6] [--chunk 10000] [--seed 1]

Passes over TEXT follow one another until that many words are written. Each pass shuffles
chunks of TEXT, so that neither the order of topics nor the distance of repeats is the same
twice. Repeated text teaches less than new text does: such a stream shows whether vectors keep
improving or decay, not how good they would be on as much real text.
"""
import random
import sys

from lab.command_line import arguments, number, run_main
from texts import sentences


def chunks(path, size):
    """Pairs of a number of words and the bytes of whole sentences with at least `size`."""
    lines, count = [], 0
    for words in sentences(path):
        lines.append(b" ".join(words) + b"\n")
        count += len(words)
        if count >= size:
            yield count, b"".join(lines)
            lines, count = [], 0
    if count:
        yield count, b"".join(lines)


def write_passes(parts, tokens, seed, out):
    rng = random.Random(seed)
    written = 0
    while written < tokens:
        rng.shuffle(parts)
        for words, lines in parts:
            if written >= tokens:
                break
            out.write(lines)
            written += words
    return written


def main():
    parser = arguments(__doc__)
    parser.add_argument("text", metavar="TEXT")
    parser.add_argument("--tokens", type=number, default=150_000_000)
    parser.add_argument("--chunk", type=number, default=10_000, help="words (10000)")
    parser.add_argument("--seed", type=number, default=1)
    options = parser.parse_args()
    parts = list(chunks(options.text, options.chunk))
    if not parts:
        return f"{options.text} has no words"
    try:
        write_passes(parts, options.tokens, options.seed, sys.stdout.buffer)
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = None  # the reader has ended
    return 0


if __name__ == "__main__":
    run_main("long", main)
