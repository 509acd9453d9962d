"""The command as tests run it: to its end, in the background, or fed by a pipe.

It is $WORDTIDE, or the one that the build directory holds. Who imports `watchdog` into a conftest.py has it
watch every test of that folder.
"""

import os
import pathlib
import re
import signal
import subprocess
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["--vocab", "300", "--dim", "16", "--threads", "1"]


def find_binary():
    if os.environ.get("WORDTIDE"):
        return os.environ["WORDTIDE"]
    for place in ("build/cli/wordtide", "build/wordtide"):
        if (ROOT / place).exists():
            return str(ROOT / place)
    pytest.exit("no wordtide to test: build it, or name it in WORDTIDE")


BINARY = find_binary()
SANITIZED = re.search(rb"__[at]san_", pathlib.Path(BINARY).read_bytes()) is not None
STARTED = []  # processes that a failing test may leave behind
TEST_SECONDS = 3600 if os.environ.get("WORDTIDE_SLOW") else 120 if SANITIZED else 30


def too_late(number, frame):
    raise TimeoutError(f"a test took longer than {TEST_SECONDS} s")


@pytest.fixture(autouse=True)
def watchdog():
    """No test waits for ever, and none leaves a process behind."""
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(TEST_SECONDS)
    yield
    signal.alarm(0)
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait(10)


def start(*arguments, **options):
    """Starts the command; the watchdog ends it with the test at the latest."""
    process = subprocess.Popen([BINARY, *map(str, arguments)], **options)
    STARTED.append(process)
    return process


def wordtide(*arguments, input=b"", timeout=30, **options):
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
    done = wordtide("train", "-o", model, *SMALL, *arguments, input=text, **options)
    assert done.returncode == 0, done.stderr
    return done


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

    def finish(self, timeout=20):
        """The exit code, once the process has ended by itself."""
        code = self.process.wait(timeout)
        self.feeding.clear()
        if self.thread:
            self.thread.join(10)
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
    assert process.wait(20) == 0
    return shown.decode()
