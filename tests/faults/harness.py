"""What the tests of faults share: the command, the library, how much is to be done, a watchdog.

WORDTIDE_FAULTS=night does all there is to do; otherwise it is what every change can wait for.
"""

import ctypes
import os
import pathlib
import re
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("WORDTIDE", ROOT / "build/cli/wordtide")).resolve()
BUILD = BINARY.parents[1]
NIGHT = os.environ.get("WORDTIDE_FAULTS", "commit") == "night"
TEST_SECONDS = 3 * 3600 if NIGHT else 280

if not BINARY.exists():
    pytest.exit("no wordtide to test: build it, or name it in WORDTIDE")
SANITIZED = re.search(rb"__[at]san_", BINARY.read_bytes()) is not None
plain_build = pytest.mark.skipif(SANITIZED, reason="preloading needs a plain build")


def too_late(number, frame):
    raise TimeoutError(f"a test took longer than {TEST_SECONDS} s")


@pytest.fixture(autouse=True)
def watchdog():
    """No test waits for ever."""
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(TEST_SECONDS)
    yield
    signal.alarm(0)


def wordtide(*arguments, input=b"", preload=None, timeout=60, stderr=subprocess.PIPE, **settings):
    """Runs the command to its end, with a module of tests/faults in front of the C library."""
    environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
    if preload:
        environment["LD_PRELOAD"] = str(BUILD / "tests" / f"{preload}.so")
    return subprocess.run([str(BINARY), *map(str, arguments)], input=input, env=environment,
                          stdout=subprocess.PIPE, stderr=stderr, timeout=timeout)


def done_well(*arguments, **options):
    done = wordtide(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


class Library:
    """libwordtide in this process: trainers read from files."""

    def __init__(self):
        self.calls = ctypes.CDLL(str(BUILD / "src" / "libwordtide.so"))
        for name in ("load", "recover", "model"):
            getattr(self.calls, f"tide_trainer_{name}").restype = ctypes.c_void_p
        self.calls.tide_model_tokens.restype = ctypes.c_uint64
        self.error = ctypes.create_string_buffer(4096)

    def tokens(self, trainer):
        """How much text a trainer has seen; None for no trainer."""
        if not trainer:
            return None
        trainer = ctypes.c_void_p(trainer)
        model = ctypes.c_void_p(self.calls.tide_trainer_model(trainer))
        count = self.calls.tide_model_tokens(model)
        self.calls.tide_trainer_free(trainer)
        return count

    def load(self, path):
        return self.tokens(self.calls.tide_trainer_load(
            os.fsencode(path), None, ctypes.c_size_t(0), self.error))

    def recover(self, path):
        return self.tokens(self.calls.tide_trainer_recover(
            os.fsencode(path), None, ctypes.c_size_t(0), None, None, self.error))
