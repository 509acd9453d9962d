"""Tests that are skipped: where a machine lacks what they need, and, if they are exhaustive, except at night."""

import importlib
import importlib.util
import os
import shutil

import pytest

# $WORDTIDE_SLOW asks for the exhaustive variants, as scripts/nightly does.
SLOW = bool(os.environ.get("WORDTIDE_SLOW"))
nightly = pytest.mark.skipif(not SLOW, reason="runs at night (WORDTIDE_SLOW=1)")


class OptionalModule:
    """A Python module that is imported when a test first uses it."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # pytest looks for marks when it collects tests
            raise AttributeError(attribute)
        try:
            module = importlib.import_module(self.__name__)
        except ImportError:
            pytest.skip(f"needs Python's {self.__name__.split('.')[0]}")
        return getattr(module, attribute)


def need_module(name):
    """Skips the test if Python lacks a module."""
    if not importlib.util.find_spec(name):
        pytest.skip(f"needs Python's {name}")


def need_program(name):
    """The path of a program."""
    found = shutil.which(name)
    if not found:
        pytest.skip(f"needs {name}")
    return found
