"""What the measurements share: sentences of a text, a measured child, tables.

CPU seconds are user + system time of a child and all it has waited for, as the kernel
counts them. Peak memory is the kernel's too; it is never less than what the parent held
when it made the child, so nothing here reads large files into memory before measuring
memory.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

COMMAND = str(Path(__file__).resolve().parent.parent / "build" / "cli" / "wordtide")
SENTENCE = 1000  # words; the command and its rivals cut longer lines there or later
BLOCK = 1 << 20

Usage = namedtuple("Usage", "user system wall peak log")  # seconds, bytes, stderr
Usage.cpu = property(lambda usage: usage.user + usage.system)


class Failed(Exception):
    """A measured command did not end well."""


def sentences(path, limit=None):
    """Lists of words: the lines of a file or of its first bytes, long ones cut."""
    left = os.path.getsize(path) if limit is None else limit
    rest = b""
    with open(path, "rb") as file:
        while block := file.read(min(BLOCK, left)):
            left -= len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                yield from pieces(line.split())
            words = rest.split() if len(rest) > BLOCK else []
            whole = max(0, len(words) - 1) // SENTENCE * SENTENCE
            if whole:  # the last word may go on in the next block
                yield from pieces(words[:whole])
                open_end = b" " if rest[-1:].isspace() else b""
                rest = b" ".join(words[whole:]) + open_end
    yield from pieces(rest.split())


def pieces(words):
    for start in range(0, len(words), SENTENCE):
        yield words[start:start + SENTENCE]


def write_lines(source, target, limit=None):
    """Copies a text as lines of at most SENTENCE words; returns the number of words."""
    count = 0
    with open(target, "wb") as out:
        for words in sentences(source, limit):
            out.write(b" ".join(words) + b"\n")
            count += len(words)
    return count


def measure(command, feed=None, env=None):
    """Runs a command to its end. `feed` yields bytes for its standard input."""
    with tempfile.TemporaryFile() as log:
        start = time.monotonic()
        child = subprocess.Popen(
            command, shell=isinstance(command, str), env=env, stderr=log,
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        if feed:
            feed_child(child, feed)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        said = log.read().decode("utf-8", "replace")
    if child.returncode:
        raise Failed(f"{command}: exit {child.returncode}\n{said[-2000:]}")
    return Usage(used.ru_utime, used.ru_stime, wall, used.ru_maxrss * 1024, said)


def feed_child(child, feed):
    try:
        for block in feed:
            child.stdin.write(block)
        child.stdin.close()
    except BrokenPipeError:
        pass  # its exit status says why


def train(command, source, output, *options):
    return [command, "train", str(source), "-o", str(output), *options]


def median(values):
    return statistics.median(values)


def spread(values, form):
    """The median and, when there are several values, the smallest and the largest."""
    text = form % median(values)
    if len(values) > 1:
        text += f" ({form % min(values)} to {form % max(values)})"
    return text


def print_table(head, rows):
    """Markdown; all columns but the first are right-aligned."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" + "---:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def say(text):
    print(text, file=sys.stderr, flush=True)


def number(text):
    """A whole number, also as 1e8."""
    value = float(text)
    if value < 0 or value != int(value):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number")
    return int(value)


def arguments(doc):
    """A parser with what every measurement takes."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--command", default=COMMAND, help="the wordtide to measure")
    return parser


def text_arguments(parser):
    """What prepare_text needs."""
    parser.add_argument("text", nargs="?", metavar="TEXT")
    parser.add_argument("--prefix", type=number, metavar="BYTES",
                        help="only so much of TEXT")
    parser.add_argument("--tokens", type=number, default=2_000_000,
                        help="of the demo stream, where there is no TEXT (2e6)")


def prepare_text(options, folder):
    """A private copy of the text: its path, its name for people and its words."""
    source, copy = options.text, os.path.join(folder, "text")
    if not source:
        source = os.path.join(folder, "demo")
        with open(source, "wb") as out:
            subprocess.run([options.command, "demo", "--tokens", str(options.tokens)],
                           stdout=out, check=True)
    words = write_lines(source, copy, options.prefix)
    return copy, os.path.basename(options.text or "demo stream"), words


def run_main(main):
    try:
        sys.exit(main())
    except (Failed, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(130)
