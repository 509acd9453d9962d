"""`wordtide check` finds unusable files before they are needed."""

import ctypes
import gzip
import json
import re
import struct

import pytest

from conftest import PATIENCE, SMALL, start, train, wordtide

VECTORS = b"3 2\na 1 2\nb 4 5\na 7 8\n"


def checksum(data):
    """XXH3, by the library whose header the build needs."""
    hash_bytes = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    hash_bytes.restype = ctypes.c_uint64
    return hash_bytes(bytes(data), ctypes.c_size_t(len(data)))


def sealed(data):
    """The model's bytes with corrected checksums."""
    data = bytearray(data)
    for at in range(64, 64 + 40 * struct.unpack_from("<I", data, 12)[0], 40):
        offset, size = struct.unpack_from("<QQ", data, at + 16)
        struct.pack_into("<Q", data, at + 32, checksum(data[offset : offset + size]))
    seal = checksum(data[:2680])
    struct.pack_into("<Q", data, 2680, seal)
    struct.pack_into("<Q", data, len(data) - 8, seal)
    return bytes(data)


def section(data, name):
    """The offset of a section in the model."""
    for at in range(64, 2680, 40):
        if data[at : at + 16].rstrip(b"\0") == name.encode():
            return struct.unpack_from("<Q", data, at + 16)[0]
    pytest.fail(f"no section {name}")


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def one_line(done):
    assert done.stderr.startswith("wordtide: ") and done.stderr.count("\n") == 1
    return done.stderr


def test_a_good_model_is_reported_in_one_line(model):
    done = wordtide("check", model)
    assert done.returncode == 0 and done.stderr == ""
    assert re.fullmatch(rf"{model}: good, \d+ KiB, 300 words, 20k tokens\n", done.stdout)


def test_a_good_model_in_json(model):
    reported = json.loads(wordtide("check", "--json", model).stdout)
    about = json.loads(wordtide("info", "--json", model).stdout)
    assert reported == {"file": str(model), "good": True, "format": "tide",
                    "file_bytes": model.stat().st_size, "words": 300, "tokens": about["tokens"]}


def test_check_does_not_change_the_model(model):
    before = model.read_bytes()
    wordtide("check", model)
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.iterdir()] == [model.name]


def test_a_model_without_a_word_is_good(tmp_path):
    path = tmp_path / "empty.tide"
    assert wordtide("import", "-", "-o", path, *SMALL, input="0 16\n").returncode == 0
    done = wordtide("check", path)
    assert done.returncode == 0 and done.stdout.endswith(" 0 words, 0 tokens\n")


@pytest.mark.parametrize("name", ["params", "vocab.counts", "output", "rate.input", "replay.tokens"])
def test_a_flipped_bit_is_found_and_its_section_named(tmp_path, model, name):
    path = tmp_path / "m.tide"
    data = model.read_bytes()
    path.write_bytes(flipped(data, section(data, name)))
    done = wordtide("check", path)
    assert done.returncode == 4 and done.stdout == ""
    line = one_line(done)
    assert str(path) in line and f'section "{name}"' in line


@pytest.mark.parametrize(("name", "place"), [
    ("intake", 40), ("sampler.state", 0), ("rate.input", 0), ("trainer", 8)])
def test_damage_that_only_training_would_notice_is_found(tmp_path, model, name, place):
    """The checksums are right but a number is invalid; the model can still be queried."""
    path = tmp_path / "m.tide"
    data = model.read_bytes()
    at = section(data, name) + place
    path.write_bytes(sealed(data[:at] + b"\xff" * 8 + data[at + 8 :]))
    assert wordtide("words", path).returncode == 0
    done = wordtide("check", path)
    assert done.returncode == 4 and done.stdout == ""
    line = one_line(done)
    assert str(path) in line and re.search(rf'section "?{re.escape(name)}', line)


def test_the_file_is_named_even_if_the_error_does_not(tmp_path, model):
    path = tmp_path / "m.tide"
    data = model.read_bytes()
    path.write_bytes(sealed(data.replace(b"\nwindow ", b"\nwindov ")))
    done = wordtide("check", path)
    assert done.returncode == 4 and one_line(done).startswith(f"wordtide: {path}: ")


def test_a_file_of_vectors_is_reported_with_its_format(tmp_path):
    path = tmp_path / "v.vec"
    path.write_bytes(VECTORS)
    done = wordtide("check", path)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == f"{path}: good, 22 B, word2vec, 2 words, 1 duplicate rows\n"
    assert json.loads(wordtide("check", "--json", path).stdout) == {
        "file": str(path), "good": True, "format": "word2vec", "file_bytes": 22, "words": 2,
        "left_out": 0, "twice": 1}


def test_vectors_may_come_from_a_pipe():
    done = wordtide("check", "-", input=gzip.compress(VECTORS))
    assert done.returncode == 0 and done.stdout.startswith("-: good, word2vec, 2 words")


def test_all_files_are_checked(tmp_path, model):
    bad, missing = tmp_path / "bad.tide", tmp_path / "none.tide"
    bad.write_bytes(model.read_bytes()[:-1])
    done = wordtide("check", missing, bad, model)
    assert done.returncode == 4
    assert done.stdout.startswith(f"{model}: good, ") and done.stdout.count("\n") == 1
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and "none.tide" in lines[0] and "bad.tide" in lines[1]


def test_quiet_prints_only_problems(tmp_path, model):
    bad = tmp_path / "bad.tide"
    bad.write_bytes(b"")
    done = wordtide("check", "-q", model, bad)
    assert done.returncode == 4 and done.stdout == "" and "bad.tide" in one_line(done)
    done = wordtide("check", "--quiet", model, model)
    assert done.returncode == 0 and done.stdout == "" and done.stderr == ""


def test_json_reports_problems_too(tmp_path, model):
    bad = tmp_path / 'a "name"\n.tide'
    bad.write_bytes(b"neither, nor")
    done = wordtide("check", "--json", bad, model)
    reported = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 4 and [one["good"] for one in reported] == [False, True]
    assert reported[0]["file"] == str(bad) and reported[0]["problem"].count('"name"?.tide') == 1
    one_line(done)


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_an_unreadable_file_is_a_plain_failure(tmp_path, kind):
    path = tmp_path if kind == "folder" else tmp_path / "none.tide"
    done = wordtide("check", path)
    assert done.returncode == 1 and done.stdout == "" and str(path) in one_line(done)


def test_nothing_to_check_is_a_usage_error():
    done = wordtide("check")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_the_help_fits_the_screen_and_mentions_memory():
    done = wordtide("check", "--help")
    assert done.returncode == 0 and "memory" in done.stdout and "\nExamples:\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert re.search(r"^  check ", wordtide("--help").stdout, re.M)


def test_output_that_cannot_be_written_is_a_failure(model):
    with open("/dev/full", "w") as full:
        process = start("check", model, stdout=full)
        assert process.wait(PATIENCE) == 1
