"""Fixtures and helpers shared by the tests of the command: runs, a text and a model."""

import pathlib
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from running import (  # noqa: E402, F401 - by way of here they are known to all tests
    BINARY,
    ROOT,
    SANITIZED,
    SMALL,
    Running,
    logged,
    send_twice,
    shown_on_terminal,
    start,
    train,
    wordtide,
)
from watching import PATIENCE, STARTED, figure, time_limit, watchdog  # noqa: E402, F401


def pytest_collection_modifyitems(items):
    """Tests that load gensim's models run last: the peak memory of a program that a test
    starts is never less than that of the tests."""
    items.sort(key=lambda item: item.path.name == "test_import.py")


@pytest.fixture(scope="session")
def text():
    done = wordtide("demo", "--tokens", "20000")
    assert done.returncode == 0
    return done.stdout.encode()


@pytest.fixture(scope="session")
def model(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "demo.tide"
    train(path, text)
    return path


@pytest.fixture(scope="session")
def words(model):
    """The model's words by falling count."""
    lines = wordtide("words", model).stdout.splitlines()
    return [line.split("\t")[0] for line in lines]
