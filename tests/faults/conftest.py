"""What the tests of faults share: a text, a training with checkpoints, and what must hold after a fault.

The oracle is the uninterrupted training with one thread. Whatever happens to another one, all that it has
saved is good, and going on comes to the very same bytes.

$WORDTIDE_FAULTS says how much is done: `commit`, the default, or `night`.
"""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from running import BINARY, SANITIZED, send_twice, start, wordtide  # noqa: E402, F401
from watching import PATIENCE, figure, watchdog  # noqa: E402, F401

EXTENT = os.environ.get("WORDTIDE_FAULTS", "commit")
if EXTENT not in ("commit", "night"):
    pytest.exit(f"WORDTIDE_FAULTS is commit or night, not {EXTENT}")
NIGHT = EXTENT == "night"
TINY = ["--vocab", "100", "--dim", "8", "--replay-ring", "2000"]
BUILD = pathlib.Path(BINARY).resolve().parents[1]
plain_build = pytest.mark.skipif(SANITIZED, reason="preloading needs a plain build")


@pytest.fixture
def time_limit():
    return 3 * 3600 if NIGHT else 300


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "news.txt"
    path.write_text(wordtide("demo", "--tokens", "25000").stdout)
    return path


@pytest.fixture(scope="session")
def whole(text, tmp_path_factory):
    """The bytes of the model that nothing has happened to."""
    path = tmp_path_factory.mktemp("whole") / "whole.tide"
    assert wordtide("train", text, "-o", path, *TINY).returncode == 0
    return path.read_bytes()


def command(sources, folder, verb=("train",), options=TINY):
    """Some checkpoints on the way, and the model at the end."""
    sources = sources if isinstance(sources, list) else [sources]
    return list(map(str, [BINARY, *verb, *sources, "--checkpoint", folder / "c.tide", "--continue",
                          "--every", "10000", "-o", folder / "m.tide", *options]))


def expect_good(folder):
    """All that has the name of a checkpoint or of the model is good."""
    saved = sorted(folder.glob("[cm].tide*"))
    if saved:
        done = wordtide("check", *saved)
        assert done.returncode == 0, done.stdout + done.stderr


def expect_end(line, folder):
    """Let run, it comes to its end and leaves nothing else."""
    done = subprocess.run(line, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr.decode()
    left = {path.name for path in folder.iterdir()} - {"trace"}
    assert left <= {"c.tide", "c.tide.1", "c.tide.2", "m.tide", "m.tide.1", "m.tide.2"}, left


def expect_the_same_end(sources, folder, whole, **how):
    expect_end(command(sources, folder, **how), folder)
    assert (folder / "m.tide").read_bytes() == whole
