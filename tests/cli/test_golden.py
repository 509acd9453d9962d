"""Files of old versions load forever: each in tests/golden is queried and resumed.

NEVER change these files, nor make them anew, to have this test pass: somebody has weeks of learning
in a file like them. What they hold, and how they were made, is in their README.md. A new kind of
file gets a new name beside them. What comes of going on may change with training, the files may not.
"""

import hashlib
import shutil

import pytest

from conftest import ROOT, wordtide

GOLDEN = ROOT / "tests" / "golden"
SUMS = dict(reversed(line.split()) for line in (GOLDEN / "SHA256SUMS").read_text().splitlines())
NAMES = sorted(path.stem for path in GOLDEN.glob("*.tide"))
SOURCES = {"records": "more.jsonl", "batch": "first.txt"}  # others: more.txt
CLOSE = 1e-5  # classes of processors differ by less
# Rows of n-grams are rounded at random, so a difference in the last bit of a float may become one
# in the last bit of a bfloat16.
ROUGHLY = 0.05
NGRAMS = ("subword", "ngrams")


def digest(data):
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def printed(*arguments):
    done = wordtide(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def vectors(text):
    """Rows of word2vec's text format: a list of words and a list of vectors."""
    rows = [line.split() for line in text.splitlines()[1:]]
    return [row[0] for row in rows], [[float(x) for x in row[1:]] for row in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working copy, since a batch model remembers its source by name."""
    return shutil.copytree(GOLDEN, tmp_path_factory.mktemp("golden") / "copy")


def go_on(folder, name):
    source = SOURCES.get(name, "more.txt")
    done = wordtide("train", "--quiet", "--threads", "1", "--resume", f"{name}.tide",
                    source, "-o", f"{name}.after.tide", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / f"{name}.after.tide"


def test_there_is_one_of_each_kind():
    profiles = "default fast paper athena incremental word2vec"
    others = "subword ngrams phrases frozen batch labels records smallest"
    assert set(f"{profiles} {others}".split()) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_is_the_original(name):
    assert digest((GOLDEN / f"{name}.tide").read_bytes()) == SUMS[f"{name}.tide"]


def test_all_golden_files_are_good():
    lines = printed("check", *(GOLDEN / f"{name}.tide" for name in NAMES)).splitlines()
    assert len(lines) == len(NAMES)
    assert all(": good, " in line for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_its_vectors_have_not_changed(name):
    text = printed("export", GOLDEN / f"{name}.tide", "--format", "word2vec")
    assert digest(text) == SUMS[f"{name}.export"]


@pytest.mark.parametrize("name", NAMES)
def test_resuming_it_gives_the_same_result_as_ever(folder, name):
    after = go_on(folder, name)
    assert digest(printed("words", after)) == SUMS[f"{name}.words"]
    words, rows = vectors(printed("export", after, "--format", "word2vec"))
    old_words, old_rows = vectors((GOLDEN / f"{name}.vec").read_text())
    assert words == old_words
    for row, old in zip(rows, old_rows):
        assert row == pytest.approx(old, rel=0, abs=ROUGHLY if name in NGRAMS else CLOSE)


def test_its_predictions_have_not_changed():
    reported = printed("labels", "list", GOLDEN / "labels.tide", "-n", "3").splitlines()
    assert [line.split()[0] for line in reported[1:]] == ["#sport", "#health", "#politics"]
    assert {line.split()[-1] for line in reported[1:]} == {"yes"}
