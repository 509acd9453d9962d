"""What the gates share: the tree under test and the build that is being tested."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests" / "support")]

from watching import time_limit, watchdog  # noqa: E402, F401


@pytest.fixture
def root():
    return ROOT


@pytest.fixture
def build():
    return Path(os.environ.get("WORDTIDE_BUILD", ROOT / "build"))
