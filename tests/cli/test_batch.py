"""Training on stored text: counted once, read several times, then resumed."""

import gzip
import json
import os
import pty
import signal
import subprocess

import pytest

from conftest import PATIENCE, SANITIZED, logged, shown_on_terminal, start, wordtide

SMALL = ["--vocab", "300", "--dim", "16"]
REFUSED = "batch training reads its text several times, but '{}' can be read only once"


@pytest.fixture(scope="module")
def source(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("batch") / "text.txt"
    path.write_bytes(text)
    return path


@pytest.fixture(scope="module")
def whole(source):
    path = source.parent / "whole.tide"
    batch(path, source, "--epochs", 3)
    return path


def batch(model, *arguments):
    done = wordtide("train", "--batch", "-o", model, *SMALL, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def params(model):
    return json.loads(wordtide("info", model, "--json").stdout)["parameters"]


def exported(model):
    return wordtide("export", model, "--format", "word2vec").stdout


def test_batch_alone_means_word2vec_and_five_epochs(tmp_path, source):
    done = batch(tmp_path / "m.tide", source)
    assert params(tmp_path / "m.tide")["profile"] == "word2vec"
    assert params(tmp_path / "m.tide")["epochs"] == "5"
    finished = logged(done.stderr, "finished")
    assert finished["epoch"] == finished["epochs"] == "5"
    assert int(finished["words"]) == 5 * len(source.read_text().split())


def test_epochs_imply_batch(tmp_path, source, whole):
    done = wordtide("train", source, "--epochs=3", "-o", tmp_path / "m.tide", *SMALL)
    assert done.returncode == 0
    assert (tmp_path / "m.tide").read_bytes() == whole.read_bytes()


def test_batch_accepts_another_profile(tmp_path, source):
    batch(tmp_path / "m.tide", source, "--profile", "default", "-epoch", "2")
    assert params(tmp_path / "m.tide")["profile"] == "default"
    assert params(tmp_path / "m.tide")["rate"] == "adagrad"


def test_the_vocabulary_has_the_frequent_words_with_their_counts(source, whole):
    counts = {}
    for word in source.read_text().split():
        counts[word] = counts.get(word, 0) + 1
    expected = sorted(counts, key=counts.get, reverse=True)  # stable, as it must be
    expected = [word for word in expected if counts[word] >= 5][:300]
    lines = wordtide("words", whole, "-n", 300, "--json").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert [entry["word"] for entry in found] == expected
    assert [entry["count"] for entry in found] == [counts[word] for word in expected]


def test_words_below_min_count_are_left_out(tmp_path, source):
    done = batch(tmp_path / "m.tide", source, "--min-count", "100")
    entries = wordtide("words", tmp_path / "m.tide", "-n", 300, "--json").stdout
    counts = [json.loads(line)["count"] for line in entries.splitlines()]
    assert 5 < len(counts) < 300 and min(counts) >= 100, done.stderr


def test_compressed_text_is_the_same_text(tmp_path, source, whole):
    packed = tmp_path / "text.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    batch(tmp_path / "m.tide", packed, "--epochs", 3)
    assert exported(tmp_path / "m.tide") == exported(whole)


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_a_pipe_is_rejected_before_it_is_read(tmp_path, text, arguments):
    done = wordtide("train", "--batch", *arguments, "-o", tmp_path / "m", input=text)
    assert done.returncode == 2 and REFUSED.format("-") in done.stderr
    assert not (tmp_path / "m").exists()


def test_following_a_file_is_rejected(tmp_path, source):
    done = wordtide("train", "--batch", "--follow", source, "-o", tmp_path / "m")
    assert done.returncode == 2 and "a followed source has no end" in done.stderr


def test_text_without_words_is_bad_input(tmp_path):
    (tmp_path / "empty").write_text("\n\n")
    done = wordtide("train", "--batch", tmp_path / "empty", "-o", tmp_path / "m")
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    (tmp_path / "rare").write_text("each word once\n")
    done = wordtide("train", "--batch", tmp_path / "rare", "-o", tmp_path / "m")
    assert done.returncode == 3 and "no word occurs at least 5 times" in done.stderr
    assert not (tmp_path / "m").exists()


def test_min_count_without_batch_is_a_usage_error(tmp_path, source):
    done = wordtide("train", source, "--min-count", 3, "-o", tmp_path / "m")
    assert done.returncode == 2 and "--min-count needs --batch" in done.stderr


def interrupted_at(path, source, shown_first):
    """Trains, and sends SIGINT when this text appears on the terminal."""
    watcher, terminal = pty.openpty()
    process = start(
        *["train", "--batch", "--epochs", 4, source, "-o", path, *SMALL],
        stderr=terminal,
    )
    os.close(terminal)
    sent = []

    def interrupt(shown):
        if shown_first in shown and not sent:
            process.send_signal(signal.SIGINT)
            sent.append(True)

    return shown_on_terminal(process, watcher, interrupt)


def test_an_interrupted_run_resumes_within_its_epoch(tmp_path):
    source = tmp_path / "text.txt"
    source.write_text(wordtide("demo", "--tokens", "2e5" if SANITIZED else "1e6").stdout)
    batch(tmp_path / "one.tide", source, "--epochs", 4)
    shown = interrupted_at(tmp_path / "two.tide", source, b"epoch 2/4")
    assert "stopped after" in shown
    done = wordtide("train", "--resume", tmp_path / "two.tide", source)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.tide").read_bytes() == (tmp_path / "two.tide").read_bytes()


def test_a_signal_while_counting_words_leaves_no_model(tmp_path):
    process = start(
        *["train", "--batch", "demo:", "-o", tmp_path / "m"],
        stderr=subprocess.PIPE,
    )
    assert b"msg=counting" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 130
    assert b"there is no model" in process.stderr.read()
    process.stderr.close()
    assert not (tmp_path / "m").exists()


def test_a_finished_batch_says_how_to_continue(tmp_path, source, whole):
    again = ["train", "--resume", whole, source, "-o", tmp_path / "m.tide"]
    done = wordtide(*again)
    assert done.returncode == 2 and "all 3 epochs are done" in done.stderr
    assert not (tmp_path / "m.tide").exists()
    assert wordtide(*again, "--epochs", 4).returncode == 0
    assert params(tmp_path / "m.tide")["epochs"] == "4"


def test_a_stream_does_not_become_a_batch(tmp_path, text, source):
    model = tmp_path / "m.tide"
    wordtide("train", "-", "-o", model, *SMALL, input=text)
    before = model.read_bytes()
    for options in (["--batch"], ["--epochs", "2"]):
        done = wordtide("train", "--resume", model, source, *options)
        assert done.returncode == 2 and "as a stream" in done.stderr
    assert model.read_bytes() == before


def test_the_memory_budget_starts_on_its_own_line(tmp_path, source):
    watcher, terminal = pty.openpty()
    process = start(
        *["train", "--batch", "--epochs", 1, source, "-o", tmp_path / "m", *SMALL],
        stderr=terminal,
    )
    os.close(terminal)
    shown = shown_on_terminal(process, watcher)
    assert "counting" in shown and "\nmemory " in shown


def test_a_frozen_vocabulary_does_not_change(tmp_path, text, whole):
    new = b"unheard of words " * 50 + b"\n" + text[: len(text) // 2]
    done = wordtide(
        *["train", "--resume", whole, "--frozen", "yes", "--min-alpha", "0.01"],
        *["-", "-o", tmp_path / "m.tide"],
        input=new,
    )
    assert done.returncode == 0, done.stderr
    every = ["-n", 300, "--json"]
    before, after = (
        wordtide("words", path, *every).stdout for path in (whole, tmp_path / "m.tide")
    )
    assert before == after and "unheard" not in after
    assert exported(whole) != exported(tmp_path / "m.tide")


def test_a_new_model_cannot_be_frozen(tmp_path, source):
    done = wordtide("train", "--frozen", "yes", source, "-o", tmp_path / "m")
    assert done.returncode == 2 and "a model that is resumed" in done.stderr
