"""The commands in the documents run, and print what the documents say they print.

A ```sh block is run in the order of its document, all of a document in one directory. The ```text block
after it is what it prints. More words after "sh" or "text" say otherwise:

    sh skip         needs something that a test does not have
    sh background   goes on running until the document ends: a server
    sh fails        ends with an error, whose message is what it prints
    text varies     what it prints differs from run to run

Scores depend on the processor in their last digits, and words with nearly equal scores may change
places. So numbers are compared with a tolerance, and of the words in a block most must be the same.
"""

import collections
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from running import BINARY, ROOT, SANITIZED
from watching import STARTED

DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "doc").glob("*.md")])
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(\.\d+)?$")
NEEDED = ("curl", "gcc", "awk", "sed", "timeout")

Block = collections.namedtuple("Block", "language flags text line")


def blocks(text):
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(match[1], match[2].split(), match[3], line)


def steps(text):
    """Pairs of a block to run and what it prints; None where that is not said."""
    found = list(blocks(text))
    for block, after in zip(found, [*found[1:], None]):
        if block.language == "sh" and "skip" not in block.flags:
            said = after and after.language == "text" and "varies" not in after.flags
            yield block, after.text if said else None


def runnable(path):
    return any(True for _ in steps(path.read_text()))


def close(expected, actual):
    """Whether two numbers as text are the same but for what a processor may change."""
    a, b = float(expected), float(actual)
    return abs(a - b) <= max(0.05, 0.05 * max(abs(a), abs(b)))


def compare(expected, actual):
    """What is wrong with the lines that were printed; empty if nothing is."""
    wanted = expected.splitlines()
    got = actual.splitlines()
    if wanted and wanted[-1] == "...":
        wanted.pop()
        got = got[:len(wanted)]
    if len(wanted) != len(got):
        return f"{len(wanted)} lines expected"
    words = collections.Counter(), collections.Counter()
    for one, other in zip(wanted, got):
        a, b = one.split(), other.split()
        if len(a) != len(b):
            return f"expected: {one}"
        for left, right in zip(a, b):
            if NUMBER.match(left) and NUMBER.match(right):
                if not close(left, right):
                    return f"expected: {one}"
            else:
                words[0][left] += 1
                words[1][right] += 1
    same = sum((words[0] & words[1]).values())
    return "" if same >= 0.6 * sum(words[0].values()) else "other words"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Shell:
    """Runs blocks in a directory in which `wordtide`, `include` and `build` are ours."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.background = []
        tools = folder / ".tools"
        tools.mkdir()
        (tools / "wordtide").symlink_to(BINARY)
        (folder / "include").symlink_to(ROOT / "include")
        (folder / "build").symlink_to(Path(BINARY).resolve().parents[1])
        self.env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}

    def command(self, text):
        text = text.replace("localhost:8080", f"localhost:{self.port}")
        text = text.replace("wordtide serve", f"wordtide serve --port {self.port}")
        return ["bash", "-e", "-o", "pipefail", "-c", text.replace("curl ", "curl -sS --fail ")]

    def start(self, text):
        process = subprocess.Popen(self.command("exec " + text), cwd=self.folder, env=self.env,
                                   stderr=subprocess.DEVNULL)
        STARTED.append(process)
        self.background.append(process)
        self.wait_until_learned(process)

    def wait_until_learned(self, process):
        """A server answers, and knows the word that the document asks for."""
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"http://localhost:{self.port}/v1/words/coffee/neighbors?topn=1")
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        pytest.fail(f"the server ended with {process.returncode}")

    def run(self, block):
        done = subprocess.run(self.command(block.text), cwd=self.folder, env=self.env, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def stop(self):
        for process in self.background:
            process.send_signal(signal.SIGTERM)
        for process in self.background:
            assert process.wait() == 0


@pytest.fixture
def time_limit():
    return 3600 if os.environ.get("WORDTIDE_SLOW") else 900


@pytest.mark.skipif(SANITIZED, reason="documents are about a release build")
@pytest.mark.parametrize("path", [path for path in DOCUMENTS if runnable(path)], ids=lambda path: path.name)
def test_every_documented_command_runs_and_prints_what_is_documented(path, tmp_path):
    for tool in NEEDED:
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    text = path.read_text()
    for block in blocks(text):
        if block.language == "c":
            (tmp_path / "example.c").write_text(block.text)
    shell = Shell(tmp_path)
    for block, expected in steps(text):
        where = f"{path.relative_to(ROOT)}:{block.line}"
        if "background" in block.flags:
            shell.start(block.text)
            continue
        code, printed = shell.run(block)
        assert (code != 0) == ("fails" in block.flags), f"{where}: exit {code}\n{printed}"
        if expected is not None:
            assert not (why := compare(expected, printed)), f"{where}: {why}\n{printed}"
    shell.stop()


LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)?(#[^)\s]+)?\)")


def anchors(text):
    """The fragments of a document's headings, as GitHub makes them."""
    text = BLOCK.sub("", text)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", sorted([*ROOT.glob("*.md"), *(ROOT / "doc").glob("*.md"),
                                         *ROOT.glob("bench/*.md"), *ROOT.glob("paper/*.md")]),
                         ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(path):
    for target, fragment in LINK.findall(BLOCK.sub("", path.read_text())):
        if "://" in target:
            continue
        other = (path.parent / target).resolve() if target else path
        assert other.exists(), f"{path.name} links to {target}"
        if fragment and other.suffix == ".md":
            assert fragment in anchors(other.read_text()), f"{path.name} links to {target}{fragment}"


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= 1000


def test_comparison_allows_for_the_processor_and_for_nothing_else():
    assert compare("0.90 tea\n0.80 beer\n", "0.91 tea\n0.80 beer\n") == ""
    assert compare("a 1\n...\n", "a 1\nb\nc\n") == ""
    assert compare("0.90 tea\n", "0.50 tea\n") != ""
    assert compare("0.90 tea\n", "0.90 tea\nb\n") != ""
    assert compare("tea and coffee\n", "milk and sugar\n") != ""


PATH_NAMED = re.compile(r"`((?:src|tests|cli|server|scripts|bench|paper|demo|packaging|web)/[\w./*{},-]+)`")
TEST_NAMED = re.compile(r"`(tests/[\w/]+\.(?:c|py))`((?: \(`\w+`(?:, `\w+`)*\))?)")


def existing(name):
    """Files that a path in a document stands for; {a,b} and * may be in it."""
    choice = re.search(r"\{([^}]*)\}", name)
    names = [name.replace(choice[0], part) for part in choice[1].split(",")] if choice else [name]
    return all(any(True for _ in ROOT.glob(one.rstrip("/"))) for one in names)


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"],
                         ids=lambda path: path.name)
def test_files_and_tests_that_documents_name_exist(path):
    text = path.read_text()
    named = {name for name in PATH_NAMED.findall(text) if "_X." not in name and not name.endswith("_X/")}
    missing = sorted(name for name in named if not existing(name))
    for name, tests in TEST_NAMED.findall(text):
        if (ROOT / name).exists():
            content = (ROOT / name).read_text()
            missing += [test for test in re.findall(r"`(\w+)`", tests) if test not in content]
    for name, word in re.findall(r"(tests/\w+/test_\w+\.py)\s+-k\s+(\w+)", text):
        if not re.search(rf"def test_\w*{word}", (ROOT / name).read_text()):
            missing.append(f"{name} -k {word}")
    assert missing == []
