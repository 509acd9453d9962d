"""Invalid input: training succeeds, reports what it skipped, and stays within its memory."""

import os
import subprocess
import threading

import pytest

from conftest import PATIENCE, SMALL, logged, start, train, wordtide


def words_of(path):
    return {line.split("\t")[0] for line in wordtide("words", path).stdout.splitlines()}


def test_an_empty_model_can_be_queried_and_trained(tmp_path):
    path = tmp_path / "m.tide"
    assert wordtide("import", "-", "-o", path, *SMALL, input=b"0 16\n").returncode == 0
    assert words_of(path) == set()
    assert wordtide("vector", path).stdout == "0 16\n"
    assert wordtide("info", path).returncode == 0
    done = wordtide("nearest", path, "word")
    assert done.returncode == 1
    assert done.stderr == "wordtide: 'word' is not in the vocabulary\n"
    assert wordtide("train", "--resume", path, input=b"a b\n").returncode == 0
    assert words_of(path) == {"a", "b"}


@pytest.mark.parametrize("text", [b"word", b"word\n", b"\nword "])
def test_one_word_is_enough(tmp_path, text):
    path = tmp_path / "m.tide"
    train(path, text)
    assert wordtide("words", path).stdout == "word\t1\t0\n"
    done = wordtide("nearest", path, "word")
    assert done.returncode == 0 and done.stdout == ""
    assert wordtide("nearest", path, "word", "--json").stdout == "[]\n"


@pytest.mark.parametrize("bad", [b"\xff", b"b\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"x\x7fx"])
def test_invalid_words_are_skipped_and_counted(tmp_path, bad):
    path = tmp_path / "m.tide"
    done = train(path, b"good " + bad + b" word\n", "--tokens", "space")
    assert words_of(path) == {"good", "word"}
    assert "words skipped because they are not valid text: 1\"" in done.stderr


@pytest.mark.parametrize("tokens", ["words", "social", "log"])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe9"])
def test_an_invalid_word_is_skipped_completely_and_counted(tmp_path, bad, tokens):
    path = tmp_path / "m.tide"
    done = train(path, b"good half" + bad + b"half, word\n", "--tokens", tokens)
    assert words_of(path) == {"good", "word"}
    assert "words skipped because they are not valid text: 1\"" in done.stderr


@pytest.mark.parametrize("tokens", ["words", "social", "log"])
def test_control_characters_separate_words_and_are_counted(tmp_path, tokens):
    path = tmp_path / "m.tide"
    done = train(path, b"good\x7fword\n", "--tokens", tokens)
    assert words_of(path) == {"good", "word"}
    assert "words skipped because they are not valid text: 1\"" in done.stderr


def test_all_bytes_are_harmless(tmp_path):
    path = tmp_path / "m.tide"
    state, noise = 1, bytearray()
    for _ in range(200000):
        state = (state * 1103515245 + 12345) % 2**31
        noise.append(state >> 16 & 255)
    done = train(path, bytes(noise))
    assert "not valid text" in done.stderr
    rows = wordtide("words", path, "--json").stdout.splitlines()
    assert len(rows) == 300


def test_nul_bytes_are_harmless(tmp_path):
    path = tmp_path / "m.tide"
    train(path, b"one\0two " * 50 + b"\0" * 5000 + b"\nthree\n")
    assert "three" in words_of(path)
    assert all("\0" not in word for word in words_of(path))


def test_a_word_of_a_mebibyte_is_truncated_between_characters(tmp_path):
    path = tmp_path / "m.tide"
    text = b"before " + "é".encode() * 2**19 + b" after\n" + b"x" * 2**20
    done = train(path, text, "--tokens", "space")
    assert words_of(path) == {"before", "after", "é" * 31, "x" * 63}
    assert 'long words truncated: 2"' in done.stderr
    done = train(path, text)  # in pieces of a KiB
    assert words_of(path) == {"before", "after", "é" * 31, "x" * 63}
    assert 'long words truncated: 2048"' in done.stderr


def peak_bytes(tmp_path, chunk, count):
    """Trains on a repeated chunk and returns the peak memory of the process."""
    process = start(
        *["train", "-o", tmp_path / "m.tide", *SMALL, "--profile", "fast", "--tokens", "space"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    def write():
        for _ in range(count):
            process.stdin.write(chunk)
        process.stdin.close()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    log = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    writer.join(PATIENCE)
    assert process.returncode == 0, log
    words = chunk.count(b" ") * count
    assert int(logged(log, "finished")["words"]) == max(words, 1)
    return usage.ru_maxrss * 1024


LONG = (b"w" * 60 + b" ") * 17000  # 1 MB without a line feed
SIZES = [100, 4000] if os.environ.get("WORDTIDE_SLOW") else [100]


@pytest.mark.parametrize("chunk", [LONG, b"y" * 10**6], ids=["words", "letters"])
@pytest.mark.parametrize("megabytes", SIZES)
def test_an_endless_line_needs_no_more_memory(tmp_path, chunk, megabytes):
    small = peak_bytes(tmp_path, chunk, 1)
    large = peak_bytes(tmp_path, chunk, megabytes)
    assert large - small < 8 * 2**20
