"""labels with the default classifier, which learns from every post as it arrives."""

import json
import signal
import subprocess

import pytest

from conftest import PATIENCE, SANITIZED, logged, start, wordtide
from labeled import SMALL, TOPICS, as_lines, labels, labels_of, make_posts, objects, text_of

POSTS = make_posts(1, 3000)
LATER = make_posts(2, 500, unlabeled=0)
CLEAR = {"#football": "the keeper and the striker in the stadium",
         "#cooking": "simmer the onion in butter with garlic",
         "#space": "a rocket in orbit of the moon"}


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    path = tmp_path_factory.mktemp("bag") / "posts.txt"
    path.write_text(as_lines(POSTS))
    return path


@pytest.fixture(scope="module")
def model(stream):
    path = stream.with_name("posts.tide")
    labels("train", stream, "-o", path, "-q", *SMALL)
    return path


def best(model, text):
    """The most probable label of each line."""
    answers = objects(labels("predict", model, "--json", "-n", 1, input=text).stdout)
    return [answer["labels"][0]["label"] for answer in answers]


def scores(model, posts, *arguments):
    done = labels("eval", model, "-", "--json", "-q", *arguments, input=as_lines(posts))
    return objects(done.stdout)[-1]


def predictions(model, posts, path, *arguments):
    """{post: [(label, probability)]}"""
    scores(model, posts, "--predictions", path, *arguments)
    lines = map(json.loads, path.read_text().splitlines())
    return {line["post"]: [(one["label"], one["probability"]) for one in line["told"]]
            for line in lines if "told" in line}


# -- what is learned -------------------------------------------------------------------------------


def test_it_is_the_default_and_predicts_labels(model):
    done = wordtide("info", model, "--json")
    assert json.loads(done.stdout)["parameters"]["classifier"] == "bag"
    assert best(model, "\n".join(CLEAR.values())) == list(CLEAR)
    assert scores(model, LATER)["p@1"] > 0.9


def test_it_can_be_exchanged_for_a_network_and_back(model, tmp_path):
    path = tmp_path / "m.tide"
    labels("fit", model, "-o", path, "-q", "--classifier", "linear", "--classifier-rate", 0.05)
    assert path.stat().st_size < model.stat().st_size
    assert best(path, "\n".join(CLEAR.values())) == list(CLEAR)
    labels("fit", path, "-q", "--classifier", "bag")
    assert best(path, "\n".join(CLEAR.values())) == list(CLEAR)


def test_learning_follows_labels_that_change(model, tmp_path):
    """From one post to the next, the topics exchange their names."""
    names = list(TOPICS)
    swap = {name: names[i ^ 1] for i, name in enumerate(names)}
    other = [post._replace(tags=[(place, swap[name]) for place, name in post.tags])
             for post in make_posts(3, 3000, unlabeled=0)]
    fixed, learning = scores(model, other), scores(model, other, "--learn")
    assert fixed["p@1"] < 0.3 and learning["p@1"] > fixed["p@1"] + 0.2


# -- what a prediction depends on ------------------------------------------------------------------


@pytest.mark.parametrize("more", [[], ["--learn"]])
def test_a_prediction_does_not_depend_on_the_labels_of_its_post(model, tmp_path, more):
    path = tmp_path / "p.jsonl"
    ours = predictions(model, LATER, path, *more)
    for number in 0, 7, 99:
        changed = [*LATER]
        names = {name: "chess" for name in labels_of(LATER[number])}
        changed[number] = LATER[number]._replace(
            tags=[(place, names[name]) for place, name in LATER[number].tags])
        theirs = predictions(model, changed, path, *more)
        first = 3000 + number
        assert all(ours[post] == theirs[post] for post in ours if post <= first)
        assert (ours != theirs) == bool(more and labels_of(LATER[number]) != {"chess"})


def test_eval_and_predict_agree(model, tmp_path):
    told = predictions(model, LATER, tmp_path / "p.jsonl")
    text = "\n".join(text_of(post, lambda name: "") for post in LATER)
    answers = objects(labels("predict", model, "--json", "-n", 5, input=text).stdout)
    for post, answer in zip(LATER, answers, strict=True):
        number = 3000 + LATER.index(post)
        mine = [(one["label"], one["probability"]) for one in answer["labels"]]
        assert told[number][:5] == mine


# -- stops and memory ------------------------------------------------------------------------------


def test_resumed_training_ends_in_the_same_bytes(model, stream, tmp_path):
    half, rest, path = (tmp_path / name for name in ("half.txt", "rest.txt", "m.tide"))
    lines = stream.read_text().splitlines(keepends=True)
    half.write_text("".join(lines[:1701]))
    rest.write_text("".join(lines[1701:]))
    whole = tmp_path / "whole.tide"
    labels("train", half, rest, "-o", whole, "-q", *SMALL, "--checkpoint", 0.001)
    labels("train", half, rest, "-o", path, "-q", *SMALL)
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_training_continues_to_the_same_model(stream, tmp_path, number):
    """The stream is read slowly, from a file that is long enough."""
    source, path, whole = (tmp_path / name for name in ("long.txt", "m.tide", "whole.tide"))
    source.write_text(stream.read_text() * (4 if SANITIZED else 30))
    arguments = [source, *SMALL, "--every", 20000]
    labels("train", *arguments, "-o", whole, "-q")
    with start("labels", "train", *arguments, "-o", path, stderr=subprocess.PIPE) as process:
        assert any(b"checkpoint" in line for line in process.stderr)
        process.send_signal(number)
        process.stderr.read()
        process.wait(PATIENCE)
    labels("train", "--resume", path, source, "-q")
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.skipif(SANITIZED, reason="a sanitizer takes memory of its own")
def test_memory_stays_within_the_budget(tmp_path):
    """10^5 labels for 2,000 slots, of which 400 are learned."""
    stream = tmp_path / "many.txt"
    with stream.open("w") as file:
        for i in range(200_000):
            print(f"w{i % 977} w{i % 461} w{i % 83} rocket #t{i * 7919 % 100_000}", file=file)
    done = labels("train", stream, "-o", tmp_path / "m.tide", *SMALL, "--vocab", 2000,
                  "--label-slots", 2000, "--label-memory", "4M", "--replay-ring", 10000)
    budget = int(logged(done.stderr, "memory")["total_bytes"])
    most = int(logged(done.stderr, "finished")["rss_bytes"])
    assert 6 << 20 < most <= budget < 48 << 20
