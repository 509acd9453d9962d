"""Shared by the tests of the server: one that has learned a text, and ways to start others."""

import pathlib
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from running import wordtide  # noqa: E402
from serving import Server  # noqa: E402
from watching import PATIENCE, figure, time_limit, watchdog  # noqa: E402, F401


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """A file of text for the server to learn."""
    done = wordtide("demo", "--tokens", "20000")
    assert done.returncode == 0
    path = tmp_path_factory.mktemp("text") / "demo.txt"
    path.write_text(done.stdout)
    return path


@pytest.fixture(scope="module")
def server(text, tmp_path_factory):
    """A server that has learned the text and can save."""
    checkpoint = tmp_path_factory.mktemp("saved") / "served.tide"
    running = Server(text, "--checkpoint", checkpoint, "--every", "1h", lasting=True)
    running.checkpoint = checkpoint
    try:
        running.wait_for_tokens(20000)
        yield running
        running.end()
    finally:
        running.process.kill()
        running.process.wait(PATIENCE)
