"""Training from the command line: messages, rejected input, saved and unchanged files."""

import os
import pty
import re
import resource
import subprocess
import time

import pytest

from conftest import (
    BINARY,
    PATIENCE,
    SMALL,
    Running,
    logged,
    shown_on_terminal,
    start,
    train,
    wordtide,
)


def test_the_log_has_memory_progress_and_the_result(tmp_path, text):
    done = train(tmp_path / "m.tide", text)
    memory = logged(done.stderr, "memory")
    parts = [int(value) for key, value in memory.items() if key.endswith("_bytes")]
    assert len(parts) > 2 and 2 * int(memory["total_bytes"]) == sum(parts)
    end = logged(done.stderr, "finished")
    assert int(end["words"]) == len(text.split())
    assert {"words_per_second", "vocabulary", "admitted", "evicted", "loss"} <= set(end)
    assert int(end["rss_bytes"]) > 0 and end["model"] == f'"{tmp_path}/m.tide"'
    assert done.stdout == ""


def test_quiet_prints_nothing(tmp_path, text):
    assert train(tmp_path / "m.tide", text, "--quiet").stderr == ""


def test_a_terminal_gets_one_progress_line(tmp_path):
    watcher, terminal = pty.openpty()
    process = start(
        "train", "demo:tokens=300000", "-o", tmp_path / "m.tide", *SMALL, stderr=terminal
    )
    os.close(terminal)
    shown = shown_on_terminal(process, watcher)
    line = r"\r[\d.]+[kM]? words  \S+/s  vocab \S+/300  loss \S+  rss \d+M  in \S+/s out \S+/s"
    assert re.search(line, shown)
    assert "finished after 300k words" in shown and "msg=" not in shown


def test_a_terminal_is_rejected_as_source(tmp_path):
    _, terminal = pty.openpty()
    done = subprocess.run(
        [BINARY, "train", "-o", str(tmp_path / "m.tide")],
        stdin=terminal,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
    )
    assert done.returncode == 2 and b"no input" in done.stderr


def test_unwritable_output_is_rejected_before_reading(tmp_path):
    for place in (tmp_path / "missing" / "m.tide", tmp_path):
        reader, writer = os.pipe()
        os.write(writer, b"some text\n")
        done = subprocess.run(
            [BINARY, "train", "-o", str(place)],
            stdin=reader,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
        )
        assert done.returncode == 1
        assert done.stderr.startswith(b"wordtide: ") and done.stderr.count(b"\n") == 1
        assert os.read(reader, 100) == b"some text\n"
        os.close(reader)
        os.close(writer)


def test_a_missing_source_does_not_change_the_old_model(tmp_path, model):
    old = tmp_path / "m.tide"
    old.write_bytes(model.read_bytes())
    done = wordtide("train", "-o", old, *SMALL, tmp_path / "none.txt")
    assert done.returncode == 1 and "none.txt" in done.stderr
    assert old.read_bytes() == model.read_bytes()


def test_text_before_a_failed_source_is_learned_and_saved(tmp_path, text):
    (tmp_path / "a.txt").write_bytes(text)
    done = wordtide(
        "train", "-o", tmp_path / "m.tide", *SMALL, tmp_path / "a.txt", tmp_path / "none.txt"
    )
    assert done.returncode == 1
    assert wordtide("words", tmp_path / "m.tide").returncode == 0


def test_a_file_size_limit_keeps_the_old_model(tmp_path, text, model):
    old = tmp_path / "m.tide"
    old.write_bytes(model.read_bytes())
    done = subprocess.run(
        [BINARY, "train", "-o", str(old), *SMALL],
        input=text,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1].startswith("wordtide: ")
    assert old.read_bytes() == model.read_bytes()
    assert os.listdir(tmp_path) == ["m.tide"]


def test_a_model_is_saved_during_training(tmp_path, text):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL, "--every", "10k", "--every", "1h")
    running.feed(text)
    running.wait_for("msg=training")
    while not path.exists():
        assert running.process.poll() is None
        time.sleep(0.01)
    assert wordtide("words", path).stdout.count("\n") > 10
    running.process.terminate()
    assert running.finish() == 0


def test_resume_writes_to_the_same_file_by_default(tmp_path, text, model):
    path, other = tmp_path / "m.tide", tmp_path / "other.tide"
    path.write_bytes(model.read_bytes())
    done = wordtide("train", "--resume", path, "-o", other, input=text)
    assert done.returncode == 0 and path.read_bytes() == model.read_bytes()
    done = wordtide("train", "--resume", path, input=text)
    assert done.returncode == 0 and path.read_bytes() == other.read_bytes()
    assert int(logged(done.stderr, "finished")["words"]) == 2 * len(text.split())


def test_resume_rejects_another_shape(tmp_path, text, model):
    done = wordtide(
        "train", "--resume", model, "-o", tmp_path / "m.tide", "--dim", "17", input=text
    )
    assert done.returncode == 2 and "dim" in done.stderr.splitlines()[0]
    assert not (tmp_path / "m.tide").exists()


@pytest.mark.parametrize("more", [["--vocab", "2"], ["--dim", "1"], ["--dim", "4096"]])
def test_the_smallest_and_the_largest_shapes_work(tmp_path, text, more):
    path = tmp_path / "m.tide"
    done = wordtide("train", "-o", path, *SMALL, *more, input=text[:20000])
    assert done.returncode == 0, done.stderr
    words = [line.split("\t")[0] for line in wordtide("words", path).stdout.splitlines()]
    assert 1 <= len(words) <= (2 if "--vocab" in more else 300)
    row = wordtide("vector", path, words[0]).stdout.split()
    assert len(row) == 1 + (int(more[1]) if "--dim" in more else 16)
    assert all(abs(float(number)) < 1e6 for number in row[1:])
    assert wordtide("nearest", path, words[0]).returncode == 0


def test_a_vocabulary_larger_than_the_text_holds_every_word_exactly(tmp_path, text):
    train(tmp_path / "m.tide", text, "--vocab", "50000")
    held = {}
    for line in wordtide("words", tmp_path / "m.tide").stdout.splitlines():
        word, count, error = line.split("\t")
        held[word] = int(count)
        assert error == "0"
    exact = {}
    for word in text.decode().split():
        exact[word] = exact.get(word, 0) + 1
    assert held == exact
