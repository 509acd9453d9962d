"""paper/classifiers.py: label classifiers of wordtide beside fastText."""

import subprocess

import pytest
from conftest import BINARY, PATIENCE, ROOT
from experiments import posts
from optional import need_program

import classifiers

SPLIT = ["--split", "half=2020-01..2020-06,2020-07..2020-10"]


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    path = tmp_path_factory.mktemp("classifiers") / "posts.tsv"
    path.write_text("no time here\n" + "".join(posts()))
    return path


def run(*arguments):
    return subprocess.run(
        ["/usr/bin/python3", str(ROOT / "paper" / "classifiers.py"), "--wordtide", BINARY,
         *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=PATIENCE)


def test_words_are_lower_case_without_hashtags_links_and_mentions():
    assert classifiers.words_of("Don’t MISS #this, @you: https://x.org/#that ＃full ok-ay 1st") == [
        "don’t", "miss", "ok", "ay", "1st"]


def test_scores_are_those_counted_by_hand():
    tested = [(["a"], ["x", "y"]), (["b"], ["x"]), (["c"], ["z"]), (["d"], ["z"])]
    score = classifiers.Score(tested, [["x"], ["y", "x"], ["x", "y"], []])
    assert score.at_1 == 1 / 4 and score.recall == (1 / 2 + 1 + 0 + 0) / 4
    with pytest.raises(classifiers.Failed):
        classifiers.Score(tested, [["x"]])


def test_only_the_most_frequent_labels_and_their_posts_count(stream):
    read = classifiers.Posts(stream, "2020-01", "2020-07")
    chosen = read.most_frequent(2)
    assert len(chosen) == 2 and all(label.startswith("topic") for label in chosen)
    kept = read.with_labels(chosen)
    assert 0 < len(kept) < len(read.posts)
    assert all(words and labels and chosen.issuperset(labels) for words, labels in kept)
    assert not classifiers.Posts(stream, "2021", "2022").posts


def test_all_programs_predict_clear_labels(stream):
    need_program("fasttext")
    done = run(stream, *SPLIT, "--rates", ".5", "--epochs", 5, "--top", 4)
    assert done.returncode == 0, done.stderr
    table = [[cell.strip() for cell in line.split("|")[1:-1]]
             for line in done.stdout.splitlines() if line]
    assert table[0] == ["2020-01 → 2020-07", "P@1", "R@5", "CPU s"]
    found = {name: float(at_1) for name, at_1, *_ in table[2:]}
    assert list(found) == ["fastText, -lr .5", "wordtide", "wordtide, all posts",
                           "wordtide, learning", "wordtide, cnn", "wordtide, linear"]
    assert found["fastText, -lr .5"] > 0.7 and found["wordtide"] > 0.7


@pytest.mark.parametrize("arguments, why", [
    (["nowhere.tsv"], "cannot read nowhere.tsv"),
    (["STREAM", "--split", "none=2010,2011"], "has no post to train on"),
])
def test_bad_arguments_are_errors(stream, arguments, why):
    done = run(*(stream if part == "STREAM" else part for part in arguments))
    assert done.returncode != 0 and why in done.stderr and "Traceback" not in done.stderr
