"""Progress, remaining time, and suggestions of the next command."""

import gzip
import os
import pty
import re

import pytest
from conftest import SMALL, logged, shown_on_terminal, start, wordtide

BLOCK = 65536


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    paths = []
    for seed in (1, 2):
        paths.append(folder / f"{seed}.txt")
        paths[-1].write_text(wordtide("demo", "--tokens", "40000", "--seed", str(seed)).stdout)
    return paths


def done_first(arguments, tmp_path, **options):
    """The fraction in the first progress line, which follows the first block."""
    done = wordtide("train", *arguments, "-o", tmp_path / "m.tide", *SMALL, **options)
    assert done.returncode == 0, done.stderr
    return float(logged(done.stderr, "training").get("done", 0))


def test_progress_is_the_share_of_all_files(texts, tmp_path):
    sizes = [path.stat().st_size for path in texts]
    assert done_first(texts[:1], tmp_path) == pytest.approx(BLOCK / sizes[0], abs=1e-3)
    assert done_first(texts, tmp_path) == pytest.approx(BLOCK / sum(sizes), abs=1e-3)
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert done_first([empty, *texts], tmp_path) == pytest.approx(BLOCK / sum(sizes), abs=1e-3)


def test_progress_in_a_compressed_file_is_the_share_of_its_bytes(texts, tmp_path):
    packed = tmp_path / "text.gz"
    packed.write_bytes(gzip.compress(b"".join(path.read_bytes() for path in texts), 1))
    assert packed.stat().st_size > BLOCK
    reported = done_first([packed], tmp_path)
    assert 0 < reported <= 2 * BLOCK / packed.stat().st_size
    both = done_first([packed, texts[0]], tmp_path)
    whole = packed.stat().st_size + texts[0].stat().st_size
    assert both == pytest.approx(reported * packed.stat().st_size / whole, abs=1e-3)


def test_progress_in_a_redirected_file_is_known(texts, tmp_path):
    with open(texts[0]) as text:
        process = start("train", "-o", tmp_path / "m.tide", *SMALL, stdin=text, stderr=open(tmp_path / "log", "w"))
        assert process.wait() == 0
    reported = float(logged((tmp_path / "log").read_text(), "training")["done"])
    assert reported == pytest.approx(BLOCK / texts[0].stat().st_size, abs=1e-3)


def test_progress_in_a_pipe_is_unknown(texts, tmp_path):
    assert done_first([], tmp_path, input=texts[0].read_bytes()) == 0
    assert done_first([texts[0], "-"], tmp_path, input=b"more words\n") == 0
    assert done_first(["demo:tokens=20000"], tmp_path) == 0


def test_progress_continues_after_resuming_and_covers_all_epochs(texts, tmp_path):
    size = texts[0].stat().st_size
    reported = done_first([texts[0], "--batch", "--epochs", "4"], tmp_path)
    assert 0 < reported <= BLOCK / size / 4 + 1e-3


def on_terminal(*arguments):
    watcher, terminal = pty.openpty()
    process = start(*arguments, stderr=terminal)
    os.close(terminal)
    return shown_on_terminal(process, watcher)


def test_a_terminal_shows_a_percentage_that_never_falls(texts, tmp_path):
    shown = on_terminal("train", *texts, *texts, *texts, "-o", tmp_path / "m.tide", *SMALL)
    reported = [int(each) for each in re.findall(r" words  (\d+)%", shown)]
    assert reported and reported == sorted(reported) and reported[-1] <= 100


def test_suggested_commands_work(texts, tmp_path):
    shown = on_terminal("train", *texts, "-o", tmp_path / "m.tide", "--dim", "20")
    command = re.search(r"try: wordtide (nearest \S+ \S+)\r\n$", shown)[1].split()
    assert len(wordtide(*command).stdout.splitlines()) == 10
    tiny = tmp_path / "tiny.txt"
    tiny.write_text("a b c\n")
    assert re.search(r"try: wordtide words \S+/n.tide\r\n$", on_terminal("train", tiny, "-o", tmp_path / "n.tide"))
    assert "try:" not in on_terminal("train", tiny, "-o", tmp_path / "odd name.tide")
    assert on_terminal("train", tiny, "-q", "-o", tmp_path / "q.tide") == ""
    assert "try:" not in wordtide("train", tiny, "-o", tmp_path / "p.tide").stderr


@pytest.mark.parametrize(("command", "ours"), [
    ("skipgram", "train"), ("supervised", "labels train"), ("print-sentence-vectors", "embed"),
    ("predict", "labels predict"), ("test", "labels eval"), ("most_similar", "nearest")])
def test_commands_of_other_tools_are_translated(command, ours):
    done = wordtide(command)
    assert done.returncode == 2 and f"'wordtide {ours}'" in done.stderr
    assert wordtide(*ours.split(), "--help").returncode == 0


@pytest.mark.parametrize(("arguments", "ours"), [
    (["nearest", "m", "w", "--topn", "3"], "--count"), (["nearest", "m", "w", "-k", "3"], "--count"),
    (["train", "-input", "x"], "give the files as arguments")])
def test_options_of_other_tools_are_translated(arguments, ours):
    done = wordtide(*arguments)
    assert done.returncode == 2 and ours in done.stderr


def test_more_threads_than_processors_are_noted(texts, tmp_path):
    many = os.sysconf("SC_NPROCESSORS_ONLN") + 1
    if many > 256:
        pytest.skip("a machine with more processors than threads")
    for threads, noticed in ((1, False), (many, True)):
        done = wordtide("train", texts[0], "-o", tmp_path / "m.tide", "--threads", threads)
        assert (f"{threads} threads on " in done.stderr) == noticed
