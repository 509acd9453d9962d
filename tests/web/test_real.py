"""The page of a real server, on the demo stream, shows what the truth of that stream says."""

import json
import subprocess

import pytest
from conftest import needs_browser
from running import ROOT, wordtide
from serving import Server
from watching import PATIENCE, wait_until

pytestmark = needs_browser
SOURCE = "demo:seed=3,events=on,rate=40000"
FOLLOWING = ["--history-step", "1s", "--half-life", "300000", "--rate-half-life", "300000"]
WARM_UP_WORDS = 500_000  # ten seconds and a little, in which no word is new


@pytest.fixture(scope="module")
def truth():
    said = wordtide("demo", "--seed", "3", "--events", "--tokens", "1", "--truth", "-", "--until", "2e6").stdout
    return [line.split() for line in said.splitlines() if line.startswith(("group", "event"))]


def born_words(truth):
    """Those that come after the warm-up and within the next half a minute."""
    return [fields[2] for fields in truth if fields[:2] == ["event", "birth"]
            and WARM_UP_WORDS < int(fields[3]) < 1_200_000]


def group_of(truth, word):
    return next(set(fields[2:]) for fields in truth if fields[0] == "group" and word in fields[2:])


def test_the_page_shows_what_is_true(truth):
    server = Server(SOURCE, *FOLLOWING, size=["--vocab", "5000", "--dim", "32"])
    born = born_words(truth)
    assert born
    wait_until(lambda: server.get("/v1/stats").json["tokens"] > 300_000, "a first part of the stream")
    done = subprocess.run(
        ["node", ROOT / "tests" / "web" / "real.mjs", f"http://localhost:{server.port}", "coffee", *born],
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["wrong"] == []
    drinks = group_of(truth, "coffee")
    assert len(seen["neighbors"]) >= 7  # they change while one looks
    assert len(drinks & set(seen["neighbors"])) >= 6
    assert seen["onMap"] > 1000
    assert seen["found"]
    assert len(seen["fresh"]) >= len(born) - 1, (born, seen["fresh"])
