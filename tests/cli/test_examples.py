"""The programs of examples/ do what their heads say."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import wordtide

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BUILT = Path(os.environ.get("WORDTIDE_BUILD", "build")) / "tests"


def run(name, *arguments, **options):
    line = [str(BUILT / f"example_{name}"), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("examples") / "demo.txt"
    path.write_text(wordtide("demo", "--tokens", "300000").stdout)
    return path


@pytest.fixture(scope="module")
def model(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "demo.tide"
    assert wordtide("train", text, "-o", path, "-q").returncode == 0
    return path


def test_every_example_is_built_and_documented():
    names = {path.stem for path in EXAMPLES.glob("*.c")}
    assert len(names) == 4
    assert names == {path.name.removeprefix("example_") for path in BUILT.glob("example_*") if path.is_file()}
    assert names == set(re.findall(r"^\| `(\w+)\.c`", (EXAMPLES / "README.md").read_text(), re.M))


def test_simple_prints_what_the_command_prints(text, model, tmp_path):
    done = run("simple", text, tmp_path / "m.tide", "Coffee")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.tide").read_bytes() == model.read_bytes()
    hits = [line.split() for line in wordtide("nearest", model, "Coffee").stdout.splitlines()]
    assert done.stdout.split() == [word for hit in hits for word in hit]


def test_simple_keeps_a_model_that_is_there(text, model, tmp_path):
    path = tmp_path / "m.tide"
    path.write_bytes(model.read_bytes())
    assert run("simple", text, path, "coffee").returncode == 0
    assert (tmp_path / "m.tide.1").read_bytes() == model.read_bytes()


def test_simple_says_what_is_wrong(tmp_path):
    done = run("simple", tmp_path / "none.txt", tmp_path / "m.tide", "tea")
    assert done.returncode == 1 and "none.txt" in done.stderr and not done.stdout
    assert not (tmp_path / "m.tide").exists()


def test_simple_refuses_text_without_words(model, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n")
    path = tmp_path / "m.tide"
    path.write_bytes(model.read_bytes())
    done = run("simple", tmp_path / "empty.txt", path, "tea")
    assert done.returncode == 1 and done.stderr == f"{tmp_path / 'empty.txt'} has no words\n" and not done.stdout
    assert path.read_bytes() == model.read_bytes()


def test_stream_prints_neighbors_between_lines(text):
    done = run("stream", "coffee", "10000", stdin=text.open())
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) > 1
    counts = [int(line.split()[0]) for line in lines]
    assert counts == sorted(counts) and counts[-1] == 300000
    assert len(lines[-1].split(":")[1].split()) == 5


def test_stream_says_when_a_word_is_unknown():
    assert "'zebra' has not been seen" in run("stream", "zebra", input="tea and coffee\n").stdout


def test_live_answers_while_it_trains_and_stops():
    done = run("live", "demo:", "coffee", "3")
    assert done.returncode == 0, done.stderr
    counts = [int(line.split()[0]) for line in done.stdout.splitlines()]
    assert len(counts) == 3 and counts == sorted(counts) and counts[-1] > 0


def test_similar_lines_finds_the_line_about_the_same(model):
    drinks, sports = "coffee and tea with milk", "the match ended with a goal"
    done = run("similar_lines", model, input=f"{drinks}\n{sports}\nsome tea please\n")
    assert done.returncode == 0 and done.stdout.endswith("some tea please\n")
