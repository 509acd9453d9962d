"""Shared by the tests of the page: node and the browser driver.

The page runs in Debian's chromium, driven by playwright-core, which `npm ci` in web/ installs.
Tests that need what is missing are skipped.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from watching import PATIENCE, time_limit, watchdog  # noqa: E402, F401

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEB = ROOT / "web"
DRIVER = ROOT / "tests" / "web" / "driver.mjs"


def what_npm_lacks():
    if not shutil.which("node"):
        return "node"
    return None if (WEB / "node_modules" / "playwright-core").exists() else "web/node_modules (make deps-all)"


def what_the_browser_lacks():
    """Ubuntu's chromium is a snap, which cannot access our files or /tmp, and is not in /usr/bin."""
    return what_npm_lacks() or (None if pathlib.Path("/usr/bin/chromium").exists() else "chromium")


def needs(missing):
    return pytest.mark.skipif(missing is not None, reason=f"needs {missing}")


needs_npm = needs(what_npm_lacks())
needs_browser = needs(what_the_browser_lacks())


def scenarios():
    """The names of all scenarios, as the driver lists them."""
    if not shutil.which("node"):
        return ["scenarios"]
    listed = subprocess.run(
        ["node", DRIVER, "--list"], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return listed.stdout.splitlines()


@pytest.fixture(scope="session")
def driver():
    """One browser for all scenarios: given a name, it runs that scenario and returns the result."""
    process = subprocess.Popen(
        ["node", DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def play(name):
        process.stdin.write(name + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, "the driver has ended"
        return json.loads(line)

    yield play
    process.stdin.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(PATIENCE)
