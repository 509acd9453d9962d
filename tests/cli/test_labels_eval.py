"""labels eval: posts are predicted before they are learned, and scored like scikit-learn."""

import json
import re
import signal
import subprocess
from collections import defaultdict
from datetime import datetime

import pytest

from conftest import PATIENCE, SANITIZED, start, wordtide
from labeled import (
    FIT, JSON_FIELDS, SMALL, TOPICS, as_json, as_lines, labels, labels_of, learned, make_posts,
    objects,
)
from optional import OptionalModule

metrics = OptionalModule("sklearn.metrics")
LAST_DIGIT = 0.5000001e-6  # half of the last digit that is printed
TEST = make_posts(2, 1200, begin="2020-01-20")  # to the end of November


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("eval")


@pytest.fixture(scope="module")
def model(folder):
    """A model that knows four of the six topics, not too well."""
    path = folder / "posts.tide"
    labels("train", "-o", path, "-q", *SMALL, *FIT, "--label-top", 4, "--label-each", 60,
           "--label-anchors", 0,
           *JSON_FIELDS, input=as_json(make_posts(1, 2000)))
    return path


@pytest.fixture(scope="module")
def timeless(folder):
    """A model trained on lines without times."""
    path = folder / "timeless.tide"
    labels("train", "-o", path, "-q", *SMALL, *FIT, input=as_lines(make_posts(1, 500)))
    return path


@pytest.fixture(scope="module")
def stream(folder):
    path = folder / "test.jsonl"
    path.write_text(as_json(TEST))
    return path


def evaluate(model, *arguments, **options):
    return objects(labels("eval", model, *arguments, "--json", "-q", **options).stdout)


def scored_lines(path):
    """The lines about posts, without those that name the labels."""
    return [line for line in path.read_text().splitlines() if "names" not in json.loads(line)]


def scored(path):
    return objects("\n".join(scored_lines(path)))


@pytest.fixture(scope="module")
def judged(model, stream, folder):
    """The object for the whole stream, and the predictions."""
    path = folder / "predictions.jsonl"
    [found] = evaluate(model, stream, "--predictions", path, "--threshold", 0.3)
    return found, scored(path)


def names_told(model):
    return [row["label"] for row in objects(labels("list", model, "--json").stdout)
            if row["told"] == "yes"]


# -- scores ----------------------------------------------------------------------------------------


def test_the_predictions_are_those_of_scored_posts(judged, model):
    found, predictions = judged
    known = set(names_told(model))
    numbers = [i for i, post in enumerate(TEST) if {f"#{n}" for n in labels_of(post)} & known]
    assert len(known) == 4 and found["scored"] == len(predictions) == len(numbers) < len(TEST)
    assert found["posts"] == len(TEST)
    assert found["labelled"] == sum(bool(post.tags) for post in TEST)
    for number, line in zip(numbers, predictions):
        assert line["post"] == 2000 + number
        assert line["time"] == f"{TEST[number].time.isoformat()}Z"
        assert set(line["labels"]) == {f"#{name}" for name in labels_of(TEST[number])}
        probabilities = [one["probability"] for one in line["told"]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert {one["label"] for one in line["told"]} == known


def test_scores_are_those_of_scikit_learn(judged, model):
    found, predictions = judged
    names = names_told(model)
    truth = [[name in line["labels"] for name in names] for line in predictions]
    guess = [[any(one["label"] == name and one["probability"] >= 0.3 for one in line["told"])
              for name in names] for line in predictions]
    for average in "weighted", "macro", "micro":
        expected = metrics.precision_recall_fscore_support(truth, guess, average=average,
                                                           zero_division=0)[:3]
        ours = found if average == "weighted" else found[average]
        assert [ours[key] for key in ("precision", "recall", "f1")] == pytest.approx(
            expected, abs=1e-6)
        assert 0.5 < ours["f1"] < 0.99


def test_scores_of_labels_are_those_of_scikit_learn(judged, model, stream):
    rows = evaluate(model, stream, "--per-label", "--threshold", 0.3)
    assert {row["label"] for row in rows} == set(names_told(model))
    assert [row["support"] for row in rows] == sorted((r["support"] for r in rows), reverse=True)
    for row in rows:
        truth = [row["label"] in line["labels"] for line in judged[1]]
        guess = [any(one["label"] == row["label"] and one["probability"] >= 0.3
                     for one in line["told"]) for line in judged[1]]
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(
            truth, guess, average="binary", zero_division=0)
        assert [row["precision"], row["recall"], row["f1"]] == pytest.approx(
            [precision, recall, f1], abs=1e-6)
        assert row["support"] == sum(truth)


def test_scores_of_the_most_probable(judged, model):
    found, predictions = judged
    known = set(names_told(model))
    sums = defaultdict(float)
    for line in predictions:
        top = [one["label"] for one in line["told"][:5]]
        had = set(line["labels"]) & known
        sums["p@1"] += top[0] in had
        sums["p@5"] += len(had & set(top)) / len(top)
        sums["r@5"] += len(had & set(top)) / len(had)
    assert {key: found[key] for key in sums} == pytest.approx(
        {key: value / len(predictions) for key, value in sums.items()}, abs=LAST_DIGIT)


def test_at_least_five_labels_are_written(stream, folder):
    path, written = folder / "six.tide", folder / "six.jsonl"
    labels("train", "-o", path, "-q", *SMALL, *FIT, *JSON_FIELDS,
           input=as_json(make_posts(1, 1000)))
    for threshold, count in (0.9, 5), (0, 6):
        evaluate(path, stream, "--predictions", written, "--threshold", threshold)
        assert {len(line["told"]) for line in scored(written)} == {count}


def test_unknown_words_are_counted(model, folder):
    """With --learn, a word of a post is known from the next post on."""
    path = folder / "unknown.jsonl"
    bodies = ["the rocket zzz yyy #space", "xxx without a label", "the moon zzz vvv #space"]
    path.write_text("".join(json.dumps({"body": body}) + "\n" for body in bodies))
    for more, unknown in ([], 4), (["--learn"], 3):
        [found] = evaluate(model, path, *more)
        assert (found["words"], found["unknown"], found["scored"]) == (8, unknown, 2)
    line = labels("eval", model, path, "-q", "--tsv").stdout.splitlines()[1]
    assert line.split("\t")[-1] == "0.500000"


# -- windows ---------------------------------------------------------------------------------------


def test_a_window_is_scored_like_its_own_stream(model, stream, folder):
    *windows, total = evaluate(model, stream, "--by", 500)
    assert [window["period"] for window in windows] == ["posts 0-499", "posts 500-999",
                                                        "posts 1000-1199"]
    assert total == evaluate(model, stream)[0]
    for i, window in enumerate(windows):
        part = folder / "part.jsonl"
        part.write_text(as_json(TEST[500 * i:500 * (i + 1)]))
        [alone] = evaluate(model, part)
        assert {**alone, "period": window["period"]} == window


@pytest.mark.parametrize("unit, length", [("day", 10), ("month", 7), ("year", 4)])
def test_windows_follow_the_calendar(model, stream, unit, length):
    expected = defaultdict(int)
    for post in TEST:
        expected[post.time.isoformat()[:length]] += 1
    *windows, _ = evaluate(model, stream, "--by", unit)
    assert {window["period"]: window["posts"] for window in windows} == expected
    assert [window["period"] for window in windows] == list(expected)


def test_late_posts_and_those_without_a_time_are_in_the_current_window(timeless, folder):
    months = [None, 3, None, 4, 3, None, 5]
    posts = [post._replace(time=month and datetime(2020, month, 31 if month == 3 else 1))
             for post, month in zip(make_posts(3, len(months)), months)]
    path = folder / "odd.jsonl"
    path.write_text(as_json(posts))
    *windows, _ = evaluate(timeless, path, "--by", "month", *JSON_FIELDS)
    assert [(w["period"], w["posts"]) for w in windows] == [
        ("2020-03", 3), ("2020-04", 3), ("2020-05", 1)]


def test_table_and_tsv_equal_json(model, stream):
    expected = evaluate(model, stream, "--by", 400)
    head, *rows = [line.split("\t") for line in labels(
        "eval", model, stream, "--by", 400, "--tsv", "-q").stdout.splitlines()]
    for row, found in zip(rows, expected, strict=True):
        named = dict(zip(head, row, strict=True))
        assert named.pop("period") == found["period"]
        assert float(named.pop("unknown")) == pytest.approx(found["unknown"] / found["words"],
                                                            abs=LAST_DIGIT)
        assert {key: float(value) for key, value in named.items()} == {
            key: found[key] for key in named}
    table = labels("eval", model, stream, "--by", 400, "-q").stdout.splitlines()
    assert len(table) == len(rows) + 1 and len({len(line) for line in table}) == 1


# -- the order of things ---------------------------------------------------------------------------


def predictions_of(model, path, posts, *arguments):
    stream = path.with_suffix(".stream")
    stream.write_text(as_json(posts))
    evaluate(model, stream, "--predictions", path, *arguments)
    return path.read_text().splitlines()


def test_labels_are_named_after_every_fit(model, folder):
    """The second classifier knows more labels."""
    path = folder / "named.jsonl"
    lines = [json.loads(line) for line in predictions_of(
        model, path, TEST[:500], "--learn", "--label-refit", 250, "--label-top", 5)]
    named = [line for line in lines if "names" in line]
    assert lines[0] is named[0] and set(named[0]["names"]) == set(names_told(model))
    assert [line["post"] for line in named] == [2000, 2250]
    for line in lines:
        if "told" in line:
            reported = named[line["post"] >= 2250]["names"]
            assert {one["label"] for one in line["told"]} == set(reported)
    assert len(named[1]["names"]) == 5


def test_without_learn_nothing_is_learned(model, stream, folder):
    path = folder / "same.tide"
    evaluate(model, stream, "-o", path)
    same = [wordtide(*question, m).stdout for m in (model, path)
            for question in (["export", "--format", "word2vec"], ["words"])]
    assert same[:2] == same[2:] and len(same[0]) > 1000
    texts = as_json(TEST[:50], tag=lambda name: "")
    assert len({labels("predict", m, input=texts).stdout for m in (model, path)}) == 1


@pytest.mark.parametrize("more", [["--learn"], ["--learn", "--frozen", "yes"],
                                  ["--learn", "--label-refit", 150]])
def test_predictions_do_not_depend_on_later_posts(model, folder, more):
    path = folder / "order.jsonl"
    first = make_posts(5, 300)
    alone = predictions_of(model, path, first, *more)
    others = {"other": ["entirely", "different", "words"], "space": ["garlic", "onion"]}
    for future in make_posts(6, 300), make_posts(7, 300, topics=others, begin="1999-01-01"):
        both = predictions_of(model, path, first + future, *more)
        assert both[:len(alone)] == alone and len(both) > len(alone) > 100
    still = predictions_of(model, path, first)
    assert still[:2] == alone[:2] and still[-1] != alone[-1]  # something was learned in between


def test_a_post_is_predicted_before_its_labels_are_learned(model, folder):
    """A post's labels do not affect its own prediction; then they are learned."""
    path = folder / "own.jsonl"
    posts = make_posts(8, 200, unlabeled=0)
    names = list(TOPICS)
    swap = {name: names[i ^ 1] for i, name in enumerate(names)}
    other = [post._replace(tags=[(place, swap[name]) for place, name in post.tags])
             for post in posts]
    for more in [], ["--learn"]:
        ours, theirs = ({line["post"]: line.get("told") for line in map(
            json.loads, predictions_of(model, path, some, *more)[1:])} for some in (posts, other))
        both = ours.keys() & theirs.keys()
        assert len(both) > 100 and all(ours[post] == theirs[post] for post in both)


def test_a_stopped_evaluation_resumes_where_it_stopped(model, stream, tmp_path):
    """Refits take a while, so a stop comes in the middle."""
    more = ["--learn", "--label-refit", 100, "--classifier-patience", 100,
            "--classifier-epochs", 10 if SANITIZED else 40]
    whole, first, second = (tmp_path / name for name in ("whole", "first", "second"))
    path = tmp_path / "m.tide"
    evaluate(model, stream, *more, "--predictions", whole, "-o", tmp_path / "whole.tide")
    first.write_text("of another run\n")
    process = start("labels", "eval", model, stream, *more, "--predictions", first,
                    "-o", path, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    fits = 0
    for line in process.stderr:
        fits += b"msg=fitting epoch=1 " in line
        if fits == 3:
            break
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and b"msg=stopped" in said
    assert 0 < json.loads(printed)["posts"] < len(TEST)
    evaluate(path, stream, *more, "--predictions", second)
    assert scored_lines(first) + scored_lines(second) == scored_lines(whole)
    for part in first, second:  # each can be read alone
        assert "names" in json.loads(part.read_text().splitlines()[0])
    evaluate(path, stream, *more, "--predictions", first, "-o", path)
    assert first.read_text() == whole.read_text()  # the same command, and the same file
    assert path.read_bytes() == (tmp_path / "whole.tide").read_bytes()


def test_same_seed_same_predictions(model, stream, folder):
    texts = []
    for name in "one", "two":
        evaluate(model, stream, "--learn", "--predictions", folder / name, "-o", folder / "o.tide")
        texts.append(((folder / name).read_bytes(), learned(folder / "o.tide")))
    assert texts[0] == texts[1]


# -- bad input -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def names(model, timeless, stream, folder):
    (folder / "empty.jsonl").write_text("")
    (folder / "bare.jsonl").write_text(as_json(TEST[:20], tag=lambda name: ""))
    (folder / "broken.jsonl").write_text("nothing\n" * 5)
    batch = folder / "batch.tide"
    labels("train", "--batch", stream, "-o", batch, "-q", *SMALL, *FIT, *JSON_FIELDS)
    frozen = folder / "frozen.tide"
    evaluate(model, stream, "-o", frozen)
    return {"MODEL": model, "TIMELESS": timeless, "STREAM": stream, "BATCH": batch,
            "FROZEN": frozen, **{path.stem.upper(): path for path in folder.glob("*.jsonl")}}


def run(names, tmp_path, arguments):
    return wordtide("labels", "eval", *(names.get(word, word) for word in arguments), "-q",
                    cwd=tmp_path, input="")


@pytest.mark.parametrize("arguments, code, message", [
    (["MODEL", "missing"], 1, "missing"),
    (["missing", "STREAM"], 1, "missing"),
    (["STREAM", "STREAM"], 4, "not a wordtide model"),
    (["MODEL", "BARE"], 3, "no post has a label"),
    (["TIMELESS", "STREAM", "--records", "lines", "--by", "day"], 3, "no post has a time"),
    (["MODEL", "STREAM", "-o", "no/folder"], 1, "no/folder"),
    (["MODEL", "STREAM", "--predictions", "no/folder"], 1, "no/folder"),
    (["MODEL", "STREAM", "--predictions", "/dev/full"], 1, "No space left"),
])
def test_unusable_input_is_reported_in_one_line(names, tmp_path, arguments, code, message):
    done = run(names, tmp_path, arguments)
    assert done.returncode == code and message in done.stderr
    assert re.fullmatch("wordtide: .+\n", done.stderr)


@pytest.mark.parametrize("source", ["EMPTY", "BROKEN"])
def test_a_stream_without_posts_is_reported(names, tmp_path, source):
    done = run(names, tmp_path, ["MODEL", source, "--json"])
    assert done.returncode == 3 and done.stderr.startswith("wordtide: no words were read\n")


@pytest.mark.parametrize("arguments", [
    [], ["MODEL", "STREAM", "--by", "week"], ["MODEL", "STREAM", "--by", "0"],
    ["MODEL", "STREAM", "--by", "day", "--per-label"], ["MODEL", "STREAM", "--threshold", "-1"],
    ["MODEL", "STREAM", "--json", "--tsv"], ["MODEL", "STREAM", "-o", "-"],
    ["MODEL", "STREAM", "--predictions", "STREAM"], ["MODEL", "STREAM", "--predictions", "MODEL"],
    ["MODEL", "STREAM", "--predictions", "x", "-o", "x"], ["MODEL", "STREAM", "--vocab", "7"],
    ["MODEL", "STREAM", "--labels", "marked"], ["MODEL", "STREAM", "--seed", "7"],
    ["BATCH", "STREAM", "--learn"], ["FROZEN", "STREAM", "--learn"],
    ["MODEL", "STREAM", "--frozen", "no"], ["MODEL", "STREAM", "--frozen", "yes"],
    ["MODEL", "STREAM", "--classifier", "linear"], ["MODEL", "STREAM", "--label-top", "2"],
])
def test_usage_errors_are_reported(names, tmp_path, arguments):
    before = names["MODEL"].read_bytes(), names["STREAM"].read_bytes()
    done = run(names, tmp_path, arguments)
    (complaint,) = done.stderr.splitlines()
    assert done.returncode == 2 and done.stdout == "" and list(tmp_path.iterdir()) == []
    assert complaint.startswith("wordtide: ") and complaint.endswith("(see 'wordtide labels eval --help')")
    assert before == (names["MODEL"].read_bytes(), names["STREAM"].read_bytes())


def test_a_batch_model_resumes_with_a_frozen_vocabulary(names, tmp_path):
    done = run(names, tmp_path, ["BATCH", "STREAM", "--learn", "--frozen", "yes", "--json"])
    assert done.returncode == 0 and json.loads(done.stdout)["posts"] == len(TEST)
