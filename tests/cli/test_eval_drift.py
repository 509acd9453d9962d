"""`wordtide eval drift` and `eval periods`: their output, checked against numpy."""

import csv
import json
import re

import pytest

from conftest import SANITIZED, wordtide
from optional import OptionalModule
from ranking import assert_same_ranking

numpy = OptionalModule("numpy")
EVENTS = ["swap", "gradual", "born", "dead", "unchanged"]
SMALL = ["--dim", "10", "--vocab", "3000", "--words", "8", "--quiet"]


def run(*arguments, **options):
    done = wordtide("eval", *arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def objects(*arguments, **options):
    return [json.loads(line) for line in run(*arguments, "--json", **options).splitlines()]


@pytest.fixture(scope="session")
def demo(text, tmp_path_factory):
    """A text long enough for words to change."""
    path = tmp_path_factory.mktemp("drift") / "demo.txt"
    path.write_bytes(wordtide("demo", "--tokens", "150000").stdout.encode())
    return path


# -- drift -------------------------------------------------------------------------------


def test_every_profile_has_a_row_for_every_event(demo):
    rows = objects("drift", demo, "--profiles", "fast,incremental", "--control", *SMALL)
    found = [(row["profile"], row["control"], row["event"]) for row in rows]
    assert found == [(profile, control, event)
                     for profile in ("fast", "incremental")
                     for control in ("no", "yes") for event in EVENTS]
    for row in rows:
        assert row["words"] == (1000 if row["event"] == "unchanged" else 8)
        if row["event"] == "unchanged":
            assert 0 < row["overlap"] <= 1 and 0 < row["aligned"] <= 1
            assert row["half"] is row["followed"] is row["score"] is None
        else:
            assert 0 <= row["followed"] <= 1
            assert row["cosine"] is row["aligned"] is row["overlap"] is None


def test_points_say_when_words_have_followed(demo, tmp_path):
    path = tmp_path / "points.tsv"
    rows = objects("drift", demo, "--profile", "fast", "--every", "5000",
                   "--at", "50000", "--points", path, *SMALL)
    with open(path, newline="") as file:
        points = list(csv.DictReader(file, delimiter="\t"))
    for row in rows[:4]:
        curve = [(int(p["tokens"]), float(p["followed"])) for p in points
                 if p["event"] == row["event"]]
        assert [tokens for tokens, _ in curve[:-1]] == list(range(0, curve[-1][0], 5000))
        for share, name in ((0.5, "half"), (0.9, "nine_tenths")):
            first = [tokens for tokens, followed in curve if followed >= share]
            assert row[name] == (first[0] if first else None)
        assert row["followed"] == pytest.approx(curve[-1][1], abs=1e-6)


def test_table_and_tsv_say_what_json_says(demo):
    arguments = ["drift", demo, "--profile", "fast", *SMALL]
    rows = objects(*arguments)
    lines = [line.split("\t") for line in run(*arguments, "--tsv").splitlines()]
    table = [line.split() for line in run(*arguments).splitlines()]
    assert lines[0] == table[0] == list(rows[0])
    for row, line, cells in zip(rows, lines[1:], table[1:], strict=True):
        for value, exact, shown in zip(row.values(), line, cells, strict=True):
            if value is None:
                assert exact == shown == "-"
            elif isinstance(value, float):
                assert exact == f"{value:.6f}"
                assert float(shown) == pytest.approx(value, abs=6e-5)
            else:
                assert exact == shown == str(value)


def test_demo_is_the_text_when_there_is_none():
    if SANITIZED:
        pytest.skip("two million tokens")
    done = wordtide("eval", "drift", "--profile", "fast", "--dim", "4", "--words", "4")
    assert done.returncode == 0, done.stderr
    assert re.search(r"profile fast: 20000\d\d tokens", done.stderr)


def test_input_that_cannot_be_read_twice_is_refused():
    done = wordtide("eval", "drift", "-", input="a b c\n")
    assert done.returncode == 2 and "twice" in done.stderr


@pytest.mark.parametrize("arguments, code, words", [
    (["drift", "nowhere"], 1, "nowhere"),
    (["drift", "--profiles", "nothing"], 2, "nothing"),
    (["drift", "--profiles", "fast,,paper"], 2, "fast,,paper"),
    (["drift", "--profiles", "fast", "--profile", "paper"], 2, "cannot be combined"),
    (["drift", "--json", "--tsv"], 2, "cannot be combined"),
    (["drift", "--every", "0"], 2, "every"),
    (["drift", "--at", "soon"], 2, "soon"),
    (["drift", "demo:tokens=1000", "--at", "2000"], 2, "2000"),
    (["drift", "demo:tokens=1000"], 3, "too few"),
    (["periods", "nowhere"], 1, "nowhere"),
    (["periods", "--by", "fortnight"], 2, "fortnight"),
    (["periods", "--by", "0"], 2, "--by"),
    (["periods", "demo:tokens=1000"], 3, "parameter time"),
])
def test_what_cannot_be_done_is_reported(arguments, code, words):
    done = wordtide("eval", *arguments)
    assert done.returncode == code, done.stderr
    assert words in done.stderr and "\n" not in done.stderr.split("Try")[0].strip()


# -- periods, against numpy --------------------------------------------------------------

LINE = 10  # words
PERIOD = 30000  # tokens


@pytest.fixture(scope="session")
def periods_text(demo):
    """The same words in lines of equal length, so that periods end at line ends."""
    words = demo.read_text().split()
    return ["".join(word + " " for word in words[i:i + LINE]) + "\n"
            for i in range(0, 3 * PERIOD, LINE)]


def unit_vectors(lines, folder):
    """Trains on the lines; returns the 10,000 most frequent words and their unit vectors."""
    model, vectors = folder / "m.tide", folder / "m.txt"
    done = wordtide("train", "-", "-o", model, "--profile", "fast", "--dim", "10",
                    "--vocab", "1500", input="".join(lines))
    assert done.returncode == 0, done.stderr
    wordtide("export", model, "--format", "word2vec", "-o", vectors)
    rows = [line.split() for line in vectors.read_text().splitlines()[1:10001]]
    matrix = numpy.array([row[1:] for row in rows], dtype=float)
    matrix /= numpy.linalg.norm(matrix, axis=1, keepdims=True)
    return [row[0] for row in rows], matrix


def nearest(matrix, count):
    """The ten nearest neighbors of each of the first rows."""
    scores = numpy.einsum("id,jd->ij", matrix[:count], matrix)
    scores[range(count), range(count)] = -2
    return [set(row) for row in numpy.argsort(-scores, axis=1, kind="stable")[:, :10]]


def compared(before, after):
    """The expected result: stability of the frequent words, and the words that moved."""
    place = {word: i for i, word in enumerate(after[0])}
    common = [i for i, word in enumerate(before[0]) if word in place]
    then = before[1][common]
    now = after[1][[place[before[0][i]] for i in common]]
    u, _, v = numpy.linalg.svd(then.T @ now)
    aligned = ((then @ u @ v) * now).sum(axis=1)
    count = sum(i < 1000 for i in common)
    overlap = [len(a & b) / 10 for a, b in zip(nearest(then, count), nearest(now, count))]
    moved = sorted(((before[0][common[i]], float(score)) for i, score in enumerate(aligned)), key=lambda one: one[1])
    return {"words": count, "cosine": (then * now).sum(axis=1)[:count].mean(),
            "aligned": aligned[:count].mean(), "overlap": numpy.mean(overlap)}, moved


def test_periods_are_what_numpy_finds(periods_text, tmp_path):
    path = tmp_path / "text"
    path.write_text("".join(periods_text))
    found = objects("periods", path, "--by", PERIOD, "--profile", "fast", "--dim", "10",
                    "--vocab", "1500", "--quiet")
    assert [p["tokens"] for p in found] == [PERIOD] * 3
    assert [p["period"] for p in found] == ["30000", "60000", "90000"]
    lines = PERIOD // LINE
    states = [unit_vectors(periods_text[:lines * (i + 1)], tmp_path) for i in range(3)]
    for i in (1, 2):
        expected, moved = compared(states[i - 1], states[i])
        for name, value in expected.items():
            assert found[i][name] == pytest.approx(value, abs=2e-4), name
        aligned = dict(moved)
        assert_same_ranking([(mover["word"], aligned[mover["word"]]) for mover in found[i]["moved"]], moved, 1e-5)
        held = set(states[i - 1][0])
        new = [word for word in states[i][0] if word not in held][:5]
        assert [word["word"] for word in found[i]["new"]] == new
        words, matrix = states[i]
        for mover in found[i]["moved"]:
            scores = matrix @ matrix[words.index(mover["word"])]
            eleventh = numpy.sort(scores)[-11]  # the word itself is the first
            assert all(scores[words.index(word)] > eleventh - 1e-5 for word in mover["now"])


def test_periods_of_records_have_names(tmp_path):
    path = tmp_path / "posts.tsv"
    path.write_text("".join(f"2020-{month:02}-{day:02}\ta b c word{day}\n"
                            for month in (1, 2, 3) for day in range(1, 29)))
    arguments = ["periods", path, "--time", "1", "--text", "2", "--dim", "4",
                 "--vocab", "100", "--quiet"]
    assert [p["period"] for p in objects(*arguments)] == ["2020-01", "2020-02", "2020-03"]
    assert len(objects(*arguments, "--by", "week")) == 13
    tsv = [line.split("\t") for line in run(*arguments, "--tsv").splitlines()]
    assert [row[0] for row in tsv] == ["period", "2020-01", "2020-02", "2020-03"]
    assert [row[1] for row in tsv[1:]] == ["112"] * 3
    table, movers = run(*arguments).split("\n\n")
    assert len(table.splitlines()) == 4
    assert len(movers.splitlines()) == 1 + 2 * 5


@pytest.mark.parametrize("what", ["drift", "periods"])
def test_help_explains(what):
    text = run(what, "--help")
    assert text.startswith(f"usage: wordtide eval {what}")
    assert "--half-life" in text and "rotation" in text
