"""What a test needs and a machine may lack: the test is skipped there, and says why."""

import importlib
import importlib.util
import shutil

import pytest


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
