"""The command as tests run it: to its end, in the background, or fed by a pipe.

It is $WORDTIDE, or the one that the build directory holds.
"""

import json
import os
import pathlib
import re
import subprocess
import threading

import pytest
from watching import PATIENCE, STARTED

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["--subword", "0", "--vocab", "300", "--dim", "16", "--threads", "1"]


def find_binary():
    if os.environ.get("WORDTIDE"):
        return os.environ["WORDTIDE"]
    for place in ("build/cli/wordtide", "build/wordtide"):
        if (ROOT / place).exists():
            return str(ROOT / place)
    pytest.exit("no wordtide to test: build it, or name it in WORDTIDE")


BINARY = find_binary()
SANITIZED = re.search(rb"__[at]san_", pathlib.Path(BINARY).read_bytes()) is not None


def start(*arguments, **options):
    """Starts the command; the watchdog ends it with the test at the latest."""
    process = subprocess.Popen([BINARY, *map(str, arguments)], **options)
    STARTED.append(process)
    return process


def wordtide(*arguments, input=b"", timeout=PATIENCE, **options):
    """Runs the command to its end; its output is decoded."""
    if isinstance(input, str):
        input = input.encode()
    done = subprocess.run(
        [BINARY, *map(str, arguments)],
        input=input,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=timeout,
        **options,
    )
    done.stdout = done.stdout.decode()
    done.stderr = done.stderr.decode()
    return done


def done_well(*arguments, **options):
    done = wordtide(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


def counts(model):
    """How often a model has seen each of its words."""
    lines = done_well("words", model, "-n", "100000", "--json").stdout.splitlines()
    return {entry["word"]: entry["count"] for entry in map(json.loads, lines)}


def is_pending(process, number):
    """Whether a signal has been sent and not been taken yet."""
    with open(f"/proc/{process.pid}/status") as status:
        waiting = [int(line.split()[1], 16) for line in status if line.startswith(("ShdPnd", "SigPnd"))]
    return any(mask >> (number - 1) & 1 for mask in waiting)


def send_twice(process, number):
    """Two signals of which the second does not merge with the first."""
    process.send_signal(number)
    while is_pending(process, number):
        pass
    process.send_signal(number)


def train(model, text=b"", *arguments, **options):
    """Trains a small model from standard input and expects it to work."""
    return done_well("train", "-o", model, *SMALL, *arguments, input=text, **options)


def logged(stderr, message):
    """The fields of the last log line with this message."""
    lines = [line for line in stderr.splitlines() if f" msg={message} " in line]
    assert lines, stderr
    return dict(field.split("=", 1) for field in lines[-1].split() if "=" in field)


class Running:
    """A training that reads a pipe which the test holds."""

    def __init__(self, *arguments):
        self.process = start(
            "train", *arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self.feeding = threading.Event()
        self.thread = None

    def feed(self, text):
        """Writes the text over and over until `feeding` is cleared or nobody reads."""

        def write():
            try:
                while self.feeding.is_set():
                    self.process.stdin.write(text)
            except OSError:
                pass

        self.feeding.set()
        self.thread = threading.Thread(target=write, daemon=True)
        self.thread.start()

    def wait_for(self, message):
        """Reads the log up to the line that has the message."""
        for line in self.process.stderr:
            if message in line.decode():
                return
        pytest.fail(f"the log ended without {message}")

    def finish(self, timeout=PATIENCE):
        """The exit code, once the process has ended by itself."""
        code = self.process.wait(timeout)
        self.feeding.clear()
        if self.thread:
            self.thread.join(PATIENCE)
        self.process.stdin.close()
        self.process.stderr.close()
        return code


def shown_on_terminal(process, watcher, on_output=lambda shown: None):
    """All that the process writes to the terminal whose other side is `watcher`."""
    shown = b""
    try:
        while True:
            shown += os.read(watcher, 4096)
            on_output(shown)
    except OSError:  # the process has closed its side
        pass
    os.close(watcher)
    assert process.wait(PATIENCE) == 0
    return shown.decode()
