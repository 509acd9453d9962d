"""Unusable model files are rejected with exit code 4 and one line."""

import gzip

import pytest

from conftest import wordtide


def refused(path, text=b""):
    """Both ways to open a model must report the same error."""
    for arguments in (["words", path], ["train", "--resume", path]):
        done = wordtide(*arguments, input=text)
        assert done.returncode == 4, (arguments, done)
        assert done.stderr.startswith("wordtide: ") and done.stderr.count("\n") == 1
        assert done.stdout == ""


FOREIGN = {
    "empty": b"",
    "text": b"root:x:0:0:root\n" * 100,
    "zeros": bytes(10000),
    "gzip": gzip.compress(b"text " * 1000),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files_are_rejected(tmp_path, kind):
    path = tmp_path / "m.tide"
    path.write_bytes(FOREIGN[kind])
    refused(path)
    assert path.read_bytes() == FOREIGN[kind]


def test_vectors_alone_can_be_queried_but_not_trained(tmp_path):
    path = tmp_path / "m.tide"
    path.write_bytes(b"2 3\na 1 2 3\nb 4 5 6\n")
    assert wordtide("words", path).stdout == "a\t-\t-\nb\t-\t-\n"
    assert wordtide("train", "--resume", path).returncode == 4


@pytest.mark.parametrize("part", [0.0005, 0.1, 0.5, 0.9, 0.9999])
def test_truncated_files_are_rejected(tmp_path, model, part):
    whole = model.read_bytes()
    path = tmp_path / "m.tide"
    path.write_bytes(whole[: int(len(whole) * part)])
    refused(path)


def test_longer_files_are_rejected(tmp_path, model):
    path = tmp_path / "m.tide"
    path.write_bytes(model.read_bytes() + b"x")
    refused(path)


def test_a_flipped_bit_is_detected_anywhere(tmp_path, model):
    whole = model.read_bytes()
    path = tmp_path / "m.tide"
    for i in range(40):
        at = i * (len(whole) - 1) // 39
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << i % 8]) + whole[at + 1 :])
        refused(path)


def test_a_missing_file_is_a_plain_failure(tmp_path):
    for arguments in (["words"], ["nearest"], ["info"], ["train", "--resume"]):
        done = wordtide(*arguments, tmp_path / "none.tide", input=b"a\n")
        assert done.returncode == 1
        assert "none.tide" in done.stderr and done.stderr.count("\n") == 1
