"""A spool with every system call killed once, and failing once.

strace counts the calls of a run and then ends the process, or lets the call fail, at each of
them in turn, as tests/faults/test_calls.py does for checkpoints. The test holds the pipe, so that what was
not taken is there for the next run, which must come to the very bytes of a run that nothing
happened to: nothing was lost, nothing learned twice.
"""

import collections
import fcntl
import os
import shutil
import subprocess

import pytest
from conftest import BINARY, wordtide
from tracing import calls, needs_strace, traced
from watching import PATIENCE

CALLS = ["mkdir", "openat", "flock", "pwrite64", "fdatasync", "fsync", "pipe2", "poll", "tee", "read",
         "pread64", "unlinkat", "ftruncate"]
FAILING = [("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("pwrite64", "EINTR"), ("fdatasync", "EIO"),
           ("fdatasync", "EINTR"), ("tee", "EINTR"), ("tee", "EIO"), ("tee", "EAGAIN"),
           ("read", "EIO"), ("read", "EINTR"), ("poll", "EINTR"), ("pread64", "EIO"),
           ("unlinkat", "EIO"), ("openat", "EMFILE"), ("fsync", "EIO"), ("mkdir", "EACCES"),
           ("pipe2", "EMFILE")]
TINY = ["--vocab", "100", "--dim", "8", "--replay", "1"]
PIPE_BYTES = 1 << 19

pytestmark = needs_strace


@pytest.fixture(scope="module")
def text():
    lines = wordtide("demo", "--tokens", "24000").stdout.encode()
    assert 2 * 65536 < len(lines) < PIPE_BYTES  # three pieces
    return lines


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.tide"
    assert wordtide("train", "-", "-o", path, *TINY, input=text).returncode == 0
    return path.read_bytes()


def fill(text):
    """A pipe with all of the text, which the test keeps open."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, 1031, PIPE_BYTES)  # F_SETPIPE_SZ
    assert os.write(writing, text) == len(text)
    os.close(writing)
    return reading


def command(folder):
    return [BINARY, "train", "-", "--spool", folder / "spool", "--spool-sync", "always",
            "--checkpoint", folder / "c.tide", "--continue", "--every", "8000", "-o",
            folder / "m.tide", *TINY]


@pytest.fixture(scope="module")
def made(text, tmp_path_factory):
    """The main thread's calls by name, from the first that has to do with the spool: which of
    them it is, and its line."""
    folder = tmp_path_factory.mktemp("counted")
    code, said = traced(command(folder), folder, "-e", "trace=" + ",".join(CALLS),
                        stdin=fill(text))
    assert code == 0, said
    found, count, main, begun = collections.defaultdict(list), collections.Counter(), None, False
    for thread, name, line in calls(folder):
        main = main or thread
        count[name] += thread == main
        begun = begun or name == "mkdir"
        if begun and thread == main:
            found[name].append((count[name], line))
    assert len(found["tee"]) >= 3 and len(found["read"]) >= 6 and found["unlinkat"]
    return found


def expect_the_same_end(folder, pipe, whole):
    done = subprocess.run(list(map(str, command(folder))), stdin=pipe, capture_output=True,
                          timeout=PATIENCE)
    os.close(pipe)
    assert done.returncode == 0, done.stderr.decode()
    assert (folder / "m.tide").read_bytes() == whole, done.stderr.decode()
    assert [path.stat().st_size for path in (folder / "spool").glob("*.spool")] == [56]


def test_killed_at_every_call(text, whole, made, tmp_path):
    killed = 0
    for name in made:
        for when, line in made[name]:
            folder, pipe = tmp_path / f"{name}-{when}", fill(text)
            folder.mkdir()
            code, said = traced(command(folder), folder, "-e", f"trace={name}", "-e",
                                f"inject={name}:signal=SIGKILL:when={when}", stdin=pipe)
            killed += code != 0
            try:
                expect_the_same_end(folder, pipe, whole)
            except AssertionError as failure:
                raise AssertionError(f"killed at {line}") from failure
            shutil.rmtree(folder)
    print(f"{killed} kills, 0 lost, 0 doubled")
    assert killed > 30


@pytest.mark.parametrize("name,error", FAILING)
def test_failing_at_every_call(text, whole, made, tmp_path, name, error):
    for when, line in made[name]:
        folder, pipe = tmp_path / f"{name}-{when}", fill(text)
        folder.mkdir()
        code, said = traced(command(folder), folder, "-e", f"trace={name}", "-e",
                            f"inject={name}:error={error}:when={when}", stdin=pipe)
        assert code in (0, 1, 2), (line, said)
        assert code == 0 or said.count("wordtide: ") == 1, (line, said)
        if error in ("EINTR", "EAGAIN"):
            assert code == 0, (line, said)
        try:
            expect_the_same_end(folder, pipe, whole)
        except AssertionError as failure:
            raise AssertionError(f"{error} at {line}: {said}") from failure
        shutil.rmtree(folder)


def test_training_waits_while_the_disk_is_full(text, whole, made, tmp_path):
    """Nothing is lost, the process survives, and the error is logged once."""
    pieces = [when for when, line in made["pwrite64"] if ", 655" in line]
    code, said = traced(command(tmp_path), tmp_path, "-e", "trace=pwrite64", "-e",
                        f"inject=pwrite64:error=ENOSPC:when={pieces[0]}..{pieces[0] + 4}",
                        stdin=fill(text))
    assert code == 0, said
    assert said.count("is full; waiting for space") == 1, said
    assert said.count("has space again") == 1, said
    assert (tmp_path / "m.tide").read_bytes() == whole
