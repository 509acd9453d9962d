"""Ten thousand hostile words are learned by a real server, and its page shows them: nothing else happens."""

import json
import subprocess

from conftest import needs_browser
from hostile import hostile_words
from running import ROOT
from serving import Server
from watching import PATIENCE, wait_until

pytestmark = needs_browser


def test_hostile_words_are_shown_and_nothing_else():
    server = Server(size=["--vocab", "20000", "--dim", "8", "--admission", "none", "--tokens", "space"])
    words = hostile_words(10_000)
    text = "\n".join(" ".join(words[at:at + 10]) for at in range(0, len(words), 10))
    for _ in range(3):
        wait_until(lambda: server.send(text.encode()).status == 200)
    wait_until(lambda: server.stats()["tokens"] >= 30_000 and not server.stats()["queue"]["bytes"])
    assert server.stats()["vocabulary"]["size"] > 5000
    done = subprocess.run(["node", ROOT / "tests" / "web" / "attacked.mjs", f"http://localhost:{server.port}"],
                          capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["wrong"] == []
    assert seen["strange"] == {"scripts": 0, "pictures": 0, "links": 0}
    assert seen["visited"] > 60 and seen["onMap"] > 1000
    server.end()
