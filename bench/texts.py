"""The text of a measurement: its sentences, and a copy that all programs can read."""
import os
import subprocess

from lab.command_line import number

SENTENCE = 1000  # words; wordtide and the other trainers cut longer lines there or later
BLOCK = 1 << 20


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
            if whole:  # the last word may continue in the next block
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


def text_arguments(parser, demo=True):
    """What prepare_text needs; `demo` if the demo stream takes the place of a missing text."""
    parser.add_argument("text", nargs="?", metavar="TEXT",
                        help="plain text" + " (the built-in demo stream)" * demo)
    parser.add_argument("--prefix", type=number, metavar="BYTES",
                        help="use only the beginning of TEXT")
    if demo:
        parser.add_argument("--tokens", type=number, default=2_000_000, metavar="N",
                            help="words of the demo stream, without TEXT (2e6)")


def prepare_text(options, folder):
    """A private copy of the text: its path, its display name and its number of words."""
    source, copy = options.text, os.path.join(folder, "text")
    if not source:
        source = os.path.join(folder, "demo")
        with open(source, "wb") as out:
            subprocess.run([options.command, "demo", "--tokens", str(options.tokens)],
                           stdout=out, check=True)
    words = write_lines(source, copy, options.prefix)
    return copy, os.path.basename(options.text or "demo stream"), words
