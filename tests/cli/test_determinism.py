"""With one thread the model is a function of parameters, seed and text, to the byte."""

import os
import pty
import re
import signal
import subprocess

import pytest

from conftest import PATIENCE, SANITIZED, SMALL, shown_on_terminal, start, train, wordtide


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "m.tide"
    train(path, text)
    return path.read_bytes()


def test_the_same_run_gives_the_same_file(tmp_path, text, whole):
    train(tmp_path / "m.tide", text)
    assert (tmp_path / "m.tide").read_bytes() == whole


def test_another_seed_gives_another_file(tmp_path, text, whole):
    train(tmp_path / "m.tide", text, "--seed", "2")
    assert (tmp_path / "m.tide").read_bytes() != whole


def test_a_random_seed_can_be_reused(tmp_path, text):
    drawn, again = tmp_path / "drawn.tide", tmp_path / "again.tide"
    train(drawn, text, "--seed", "random")
    reported = wordtide("info", drawn).stdout
    seed = re.search(r"^ *seed +(\d+)$", reported, re.MULTILINE).group(1)
    train(again, text, "--seed", seed)
    assert again.read_bytes() == drawn.read_bytes()


def test_a_resumed_model_keeps_its_random_seed(tmp_path, text):
    """A restart may repeat --seed random."""
    path, other = tmp_path / "m.tide", tmp_path / "other.tide"
    train(path, text, "--seed", "random")
    wordtide("train", "--resume", path, "-o", other, input=text)
    wordtide("train", "--resume", path, "--seed", "random", input=text)
    assert path.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_the_pieces_of_a_pipe_do_not_matter(tmp_path, text, whole, size):
    process = start(
        *["train", "-o", tmp_path / "m.tide", *SMALL],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    for at in range(0, len(text), size):
        process.stdin.write(text[at : at + size])
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    assert (tmp_path / "m.tide").read_bytes() == whole


def test_files_and_a_pipe_give_the_same_model(tmp_path, text, whole):
    """The files are split at newlines, since the end of a file ends its sentence."""
    lines = text.splitlines(keepends=True)
    cuts = [0, 100, 101, 700, len(lines)]
    parts = [tmp_path / f"part{i}.txt" for i in range(4)]
    for i, part in enumerate(parts):
        part.write_bytes(b"".join(lines[cuts[i] : cuts[i + 1]]))
    train(tmp_path / "parts.tide", b"", *parts)
    assert (tmp_path / "parts.tide").read_bytes() == whole
    (tmp_path / "all.txt").write_bytes(text)
    train(tmp_path / "all.tide", b"", tmp_path / "all.txt")
    assert (tmp_path / "all.tide").read_bytes() == whole


def test_two_halves_give_the_model_of_the_whole(tmp_path, text, whole):
    path = tmp_path / "m.tide"
    lines = text.splitlines(keepends=True)
    train(path, b"".join(lines[:500]))
    done = wordtide("train", "--resume", path, input=b"".join(lines[500:]))
    assert done.returncode == 0 and path.read_bytes() == whole


def interrupted(path, source):
    """Trains on a file and sends SIGINT at the first progress line."""
    watcher, terminal = pty.openpty()
    process = start("train", source, "-o", path, *SMALL, stderr=terminal)
    os.close(terminal)
    sent = []

    def interrupt(shown):
        if b" words " in shown and not sent:
            process.send_signal(signal.SIGINT)
            sent.append(True)

    assert "stopped after" in shown_on_terminal(process, watcher, interrupt)


def test_an_interrupted_file_resumes_where_it_stopped(tmp_path):
    source = tmp_path / "text.txt"
    source.write_text(wordtide("demo", "--tokens", "2e5" if SANITIZED else "1e6").stdout)
    uninterrupted, path = tmp_path / "one.tide", tmp_path / "two.tide"
    train(uninterrupted, b"", source)
    interrupted(path, source)
    assert path.read_bytes() != uninterrupted.read_bytes()
    done = wordtide("train", "--resume", path, source)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == uninterrupted.read_bytes()
