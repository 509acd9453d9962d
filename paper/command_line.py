"""What the three commands share: their arguments, what they refuse, and how they end."""
import argparse
import os
import signal
import sys
from pathlib import Path

from runs import Failed

COMMAND = Path(__file__).resolve().parent.parent / "build" / "cli" / "wordtide"


def number(text):
    """A whole number above 0, also as 7e4."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 1e15 or value != int(value):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above 0")
    return int(value)


def numbers(text):
    return [number(part) for part in text.split(",")]


def arguments(doc):
    """A parser with what the report and the ablation both take."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?", metavar="TEXT")
    parser.add_argument("--sets", metavar="DIR",
                        help="similarity/*.txt and analogy/questions-words.txt")
    parser.add_argument("--command", default=COMMAND, help="the wordtide to run")
    parser.add_argument("--jobs", type=number, default=1,
                        help="runs side by side, each with one thread (1)")
    parser.add_argument("--dim", type=number, default=100, help="of all vectors (100)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        dest="settings", help="a parameter of every training")
    return parser


def text_file(path):
    """The text, which is read again and again and so cannot be a pipe."""
    if not path:
        raise Failed("no TEXT: TEXT=FILE, or its path as argument")
    if not os.access(path, os.R_OK):
        raise Failed(f"cannot read {path}")
    if not os.path.isfile(path):
        raise Failed(f"{path} is not a file that can be read twice")
    return Path(path).resolve()


def program(path):
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise Failed(f"no program {path}: build it first")
    return os.path.abspath(path)


def training_options(options):
    """What every training of a command has: --dim, --tokens and each --set."""
    chosen = ["--dim", options.dim, "--tokens", "words"]
    for pair in options.settings:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Failed(f"'{pair}' is not NAME=VALUE")
        chosen += [f"--{name}", value]
    return chosen


def shown(path):
    """The name of a file for people, whatever bytes it has."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def run_main(name, main):
    """Runs to the end; to be asked to stop is to be interrupted, so that no child is left
    behind."""
    def interrupt(*_):
        raise KeyboardInterrupt

    for asked in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(asked) != signal.SIG_IGN:  # as nohup has it
            signal.signal(asked, interrupt)
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(printable(f"{name}: {failure}"))
    except OSError as failure:
        place = f"{failure.filename}: " if failure.filename else ""
        sys.exit(printable(f"{name}: {place}{failure.strerror}"))
    except KeyboardInterrupt:
        sys.exit(130)


def printable(text):
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").splitlines())
