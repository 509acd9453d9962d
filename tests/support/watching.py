"""No test waits for ever, and none leaves a process behind.

Who imports `watchdog` and `time_limit` into a conftest.py has every test of that folder watched. The limits are
for what hangs; nothing is judged by them, so they are what a very busy machine with a sanitizer needs.
"""

import os
import signal
import time

import pytest

PATIENCE = 120  # seconds in which what is waited for has come, if it ever does
STARTED = []  # processes that a failing test may leave behind


def wait_until(holds, what="it", pause=0.01):
    """Asks until it holds; returns what it said."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        said = holds()
        if said:
            return said
        time.sleep(pause)
    raise AssertionError(f"{what} did not come in {PATIENCE} s")


@pytest.fixture
def time_limit():
    """Seconds for one test. A file or a folder that needs more has a fixture of this name."""
    return 3600 if os.environ.get("WORDTIDE_SLOW") else 300


def end_started():
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE)


@pytest.fixture
def figure(record_property):
    """Tells what a test has found: the line that `run_tests --figures` shows for it."""

    def tell(text):
        print(text)
        record_property("figure", text)

    return tell


@pytest.fixture(autouse=True)
def watchdog(time_limit):
    def too_late(number, frame):
        raise TimeoutError(f"a test took longer than {time_limit} s")

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(time_limit)
    yield
    signal.alarm(0)
    end_started()
