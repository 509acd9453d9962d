"""Arguments that many scripts take, how they refuse bad ones, and how they end."""
import argparse
import os
import signal
import sys
from pathlib import Path

from lab import Failed

COMMAND = Path(__file__).resolve().parents[2] / "build" / "cli" / "wordtide"


def whole_number(text, least):
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not least <= value <= 1e15 or value != int(value):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least {least}")
    return int(value)


def number(text):
    """A whole number above 0, also as 7e4."""
    return whole_number(text, 1)


def number_or_zero(text):
    return whole_number(text, 0)


def numbers(text):
    return [number(part) for part in text.split(",")]


def names(text):
    """A list separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def setting(text):
    """NAME=VALUE, as the option --NAME and its value."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return f"--{name}", value


def arguments(doc):
    """A parser whose help is the docstring of the script, with the command to run."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordtide", "--command", dest="command", default=str(COMMAND),
                        metavar="PATH", help="the wordtide to run (build/cli/wordtide)")
    return parser


def training_arguments(parser):
    """What every training of an experiment takes."""
    parser.add_argument("--jobs", type=number, default=1,
                        help="trainings that run in parallel, each with one thread (1)")
    parser.add_argument("--dim", type=number, default=100, help="of all vectors (100)")
    parser.add_argument("--set", action="append", default=[], type=setting, dest="settings",
                        metavar="NAME=VALUE", help="a parameter of every training")


def training_options(options):
    return ["--dim", options.dim, *(part for pair in options.settings for part in pair)]


def readable_file(path, name):
    """An argument that is read several times, and therefore cannot be a pipe."""
    if not path:
        raise Failed(f"no {name}: {name}=FILE, or its path as argument")
    if not os.access(path, os.R_OK):
        raise Failed(f"cannot read {path}")
    if not os.path.isfile(path):
        raise Failed(f"{path} is not a file that can be read twice")
    return Path(path).resolve()


def program(path):
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise Failed(f"no program {path}: build it first")
    return os.path.abspath(path)


def display_name(path):
    """The name of a file as printable text, whatever bytes it has."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def run_main(name, main):
    """Runs a script to its end. SIGTERM and SIGHUP are handled like SIGINT, so that no child
    process is left behind."""
    def interrupt(*_):
        raise KeyboardInterrupt

    for number_ in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number_) != signal.SIG_IGN:  # ignored under nohup
            signal.signal(number_, interrupt)
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(one_line(f"{name}: {failure}"))
    except OSError as failure:
        where = f"{failure.filename}: " if failure.filename else ""
        sys.exit(one_line(f"{name}: {where}{failure.strerror}"))
    except KeyboardInterrupt:
        sys.exit(130)


def one_line(text):
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").splitlines())
