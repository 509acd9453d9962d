"""labels train, fit, list and predict: from a stream of labeled posts to predictions."""

import json
import os
import pathlib
import re
import signal
import subprocess
from collections import Counter

import pytest

from conftest import PATIENCE, SANITIZED, logged, start, wordtide
from labeled import (
    FIT, SMALL, TOPICS, as_lines, labels, labels_of, learned, make_posts, objects, text_of,
)

POSTS = make_posts(1, 3000)
CLEAR = {"#football": "the keeper and the striker in the stadium",
         "#cooking": "simmer the onion in butter with garlic",
         "#space": "a rocket in orbit of the moon",
         "#music": "the singer and the drummer at the concert"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("labels")


@pytest.fixture(scope="module")
def stream(folder):
    path = folder / "posts.txt"
    path.write_text(as_lines(POSTS))
    return path


@pytest.fixture(scope="module")
def model(folder, stream):
    path = folder / "posts.tide"
    labels("train", stream, "-o", path, "-q", *SMALL, *FIT)
    return path


@pytest.fixture(scope="module")
def unlabeled(folder):
    path = folder / "unlabeled.tide"
    assert wordtide("train", "-o", path, "-q", *SMALL[:-2], input="a b\n").returncode == 0
    return path


def predicted(model, text, *arguments):
    """[(label, probability)] of each line."""
    answers = objects(labels("predict", model, "--json", *arguments, input=text).stdout)
    return [[(one["label"], one["probability"]) for one in answer["labels"]] for answer in answers]


def vectors(model):
    done = wordtide("export", model, "--format", "word2vec")
    assert done.returncode == 0 and len(done.stdout) > 1000
    return done.stdout


# -- what is learned -------------------------------------------------------------------------------


def test_clear_texts_get_their_labels(model):
    answers = predicted(model, "\n".join(CLEAR.values()))
    for label, answer in zip(CLEAR, answers, strict=True):
        assert answer[0][0] == label and answer[0][1] > 0.5
        assert len(answer) == 5 and answer == sorted(answer, key=lambda one: -one[1])
        assert all(probability < 0.5 for _, probability in answer[1:])


def test_every_classifier_predicts(model, folder):
    before = learned(model)
    for kind in "linear", "frequent":
        path = folder / f"{kind}.tide"
        labels("fit", model, "-o", path, "--classifier", kind, "-q", "--classifier-rate", 0.05)
        first = [answer[0][0] for answer in predicted(path, "\n".join(CLEAR.values()))]
        assert first == (list(CLEAR) if kind == "linear" else ["#football"] * 4)
    assert learned(model) == before  # another file was written


def test_labels_are_counted_exactly_below_capacity(model):
    truth = Counter(f"#{name}" for post in POSTS for name in labels_of(post))
    rows = objects(labels("list", model, "--json").stdout)
    assert {row["label"]: row["count"] for row in rows} == truth
    assert {(row["error"], row["told"]) for row in rows} == {(0, "yes")}
    assert [row["count"] for row in rows] == sorted(truth.values(), reverse=True)
    for row in rows:
        since = POSTS[row["since"]]
        assert row["label"][1:] in labels_of(since) and 0 < row["posts"] <= row["count"]


def test_list_prints_a_table(model):
    rows = objects(labels("list", model, "--json", "-n", 2).stdout)
    for more in [], ["--tsv"]:
        head, *lines = labels("list", model, "-n", 2, *more).stdout.splitlines()
        keys = ["predicted" if key == "told" and not more else key for key in rows[0]]
        assert head.split() == keys
        assert [line.split() for line in lines] == [[str(x) for x in row.values()] for row in rows]


def facts(model):
    """The output of info about labels, as JSON and as text."""
    done = wordtide("info", model, "--json")
    assert done.returncode == 0
    known = json.loads(done.stdout)
    names = ["labels", "posts", "posts_kept", "classifier", "labels_told"]
    shown = wordtide("info", model).stdout.split("\nparameters\n")[0]
    for name in names:
        spelled = {"labels_told": "predicted"}.get(name, name.replace("_", " "))
        line = re.search(rf"^{spelled} +(\S+)$", shown, re.M)
        assert (line and line[1]) == (str(known[name]) if name in known else None)
    return {name: known[name] for name in names if name in known}


def test_info_describes_labels_posts_and_the_classifier(model, stream, tmp_path, unlabeled):
    rows = objects(labels("list", model, "--json").stdout)
    found = facts(model)
    assert found["labels"] == len(rows) and found["posts"] == len(POSTS)
    most = max(row["posts"] for row in rows)
    assert most <= found["posts_kept"] <= sum(row["posts"] for row in rows)
    assert (found["classifier"], found["labels_told"]) == ("yes", 6)
    path = tmp_path / "m.tide"
    labels("fit", model, "-o", path, "--label-top", 2, "-q")
    assert facts(path) == {**found, "labels_told": 2}
    done = labels("train", "-o", path, "-q", *SMALL, code=3, input="no label\n")
    assert facts(path) == {"labels": 0, "posts": 1, "posts_kept": 0, "classifier": "no",
                           "labels_told": 0}
    assert facts(unlabeled) == {}


def test_only_the_most_frequent_labels_are_predicted(model, folder):
    path = folder / "top.tide"
    labels("fit", model, "-o", path, "--label-top", 2, "-q")
    rows = objects(labels("list", path, "--json").stdout)
    assert [row["told"] for row in rows] == ["yes"] * 2 + ["no"] * 4
    assert {label for label, _ in predicted(path, "rocket", "-n", 50)[0]} == {"#football", "#cooking"}


def test_no_label_is_left_out_for_its_length_or_as_a_stop_word(stream, folder):
    path, stops = folder / "left.tide", folder / "stops"
    stops.write_text("#space\nthe\n")
    labels("train", stream, "-o", path, "-q", *SMALL, *FIT, "--min-length", 7, "--max-length", 8,
           "--stop-words", stops)
    rows = objects(labels("list", path, "--json").stdout)
    assert {row["label"]: row["count"] for row in rows} == Counter(
        f"#{label}" for post in POSTS for label in labels_of(post))


def test_a_field_of_the_records_is_a_label(folder):
    path, stream = folder / "field.tide", folder / "field.tsv"
    posts = [post for post in make_posts(3, 1500, unlabeled=0) if len(post.tags) == 1]
    with stream.open("w") as file:
        for post in posts:
            print(post.tags[0][1], text_of(post, tag=lambda name: ""), sep="\t", file=file)
    labels("train", stream, "-o", path, "--label", 1, "--text", 2, "-q", *SMALL, *FIT)
    rows = objects(labels("list", path, "--json").stdout)
    assert {row["label"]: row["count"] for row in rows} == Counter(p.tags[0][1] for p in posts)
    assert predicted(path, CLEAR["#space"])[0][0][0] == "space"
    words = folder / "words.tide"
    done = wordtide("train", stream, "-o", words, "--text", 2, "-q", *SMALL[:-2])
    assert done.returncode == 0 and vectors(path) == vectors(words)


def test_an_array_has_several_labels(folder):
    """All labels of a post count; nested values and null do not."""
    path, stream = folder / "array.tide", folder / "array.jsonl"
    posts = make_posts(5, 1500)
    with stream.open("w") as file:
        for post in posts:
            tags = [name for _, name in post.tags]
            value = tags[0] if len(tags) == 1 else [*tags, None, ["nested"], {"in": "object"}]
            print(json.dumps({"tags": value, "body": text_of(post, tag=lambda name: "")}), file=file)
    labels("train", stream, "-o", path, "--label", "tags", "--text", "body", "-q", *SMALL, *FIT)
    rows = objects(labels("list", path, "--json").stdout)
    assert {row["label"]: row["count"] for row in rows} == Counter(
        name for post in posts for name in labels_of(post))
    assert facts(path)["posts"] == len(posts)
    assert predicted(path, CLEAR["#space"])[0][0][0] == "space"


def test_batch_training_has_labels_too(stream, folder):
    path = folder / "batch.tide"
    labels("train", "--batch", "--epochs", 3, stream, "-o", path, "-q", *SMALL, *FIT)
    rows = objects(labels("list", path, "--json").stdout)
    assert sum(row["count"] for row in rows) == sum(len(labels_of(post)) for post in POSTS)
    assert [one[0][0] for one in predicted(path, "\n".join(CLEAR.values()))] == list(CLEAR)


# -- what must not be learned ----------------------------------------------------------------------


def test_hashtags_of_a_text_do_not_change_the_prediction(model):
    posts = make_posts(4, 200)
    names = list(TOPICS)
    other = {name: names[(i + 1) % len(names)] for i, name in enumerate(names)}
    texts = [as_lines(posts), as_lines(posts, tag=lambda name: f"#{other[name]}"),
             as_lines(posts, tag=lambda name: "#neverseen"), as_lines(posts, tag=lambda name: "")]
    assert len(set(texts)) == 4
    assert len({labels("predict", model, "--json", input=text).stdout for text in texts}) == 1


@pytest.mark.parametrize("profile", ["default", "paper"])
def test_hashtags_leave_no_trace_in_the_vectors(stream, folder, profile):
    """Labels do not change the vectors, to the last digit."""
    with_labels, without = folder / f"with-{profile}.tide", folder / f"without-{profile}.tide"
    more = ["--profile", profile, "--reservoir", 1000, "-q"]
    labels("train", stream, "-o", with_labels, *more, *SMALL, *FIT, "--classifier", "frequent")
    done = wordtide("train", "-o", without, "--tokens", "social", *more, *SMALL[:-2],
                    input=as_lines(POSTS, tag=lambda name: ""))
    assert done.returncode == 0 and vectors(with_labels) == vectors(without)
    assert "#" not in wordtide("words", with_labels).stdout


# -- predict ---------------------------------------------------------------------------------------


def test_predict_says_the_same_in_every_form(model):
    text = "\n".join([*CLEAR.values(), "zzz", ""])
    answers = predicted(model, text, "-n", 3, "--threshold", 0.01)
    lines = labels("predict", model, "-n", 3, "--threshold", 0.01, input=text).stdout.splitlines()
    assert len(lines) == len(answers) == 5
    for line, answer in zip(lines, answers):
        assert line == "  ".join(f"{label} {probability:.4f}" for label, probability in answer)
    done = labels("predict", model, "-n", 3, "--threshold", 0.01, "--tsv", input=text)
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert head == ["line", "rank", "label", "probability"]
    assert rows == [[str(i), str(rank), label, f"{probability:.6f}"]
                    for i, answer in enumerate(answers, 1)
                    for rank, (label, probability) in enumerate(answer, 1)]
    assert done.stderr == "wordtide: 1 of 5 lines have no known word\n"


def test_a_line_without_a_probable_label_is_empty(model):
    done = labels("predict", model, "--threshold", 1, input="rocket moon\n\noven\n")
    assert done.stdout == "\n\n\n"
    assert [answer["known"] for answer in objects(
        labels("predict", model, "--json", input="rocket moon zzz #space\n\n").stdout)] == [2, 0]


def test_predict_reads_files_one_after_the_other(model, folder):
    (folder / "one.txt").write_text("rocket orbit\nsinger")
    (folder / "two.txt").write_text("oven butter")
    done = labels("predict", model, folder / "one.txt", folder / "two.txt", "-n", 1)
    first = [line.split()[0] for line in done.stdout.splitlines()]
    assert first == ["#space", "#music", "#cooking"]


def test_predict_answers_before_the_next_line_arrives(model):
    process = start("labels", "predict", model, "-n", 1, stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE)
    for label, text in CLEAR.items():
        process.stdin.write(f"{text}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline().decode().startswith(label)
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


# -- stopping and resuming -------------------------------------------------------------------------


class Training:
    """Training with labels from a file, which the test ends."""

    def __init__(self, *arguments, command="train"):
        self.process = start("labels", command, *arguments, stderr=subprocess.PIPE)

    def wait_for(self, message):
        for line in self.process.stderr:
            if message in line.decode():
                return line.decode()
        raise AssertionError(f"the log ended without {message}")

    def end(self, number):
        self.process.send_signal(number)
        said = self.process.stderr.read().decode()
        code = self.process.wait(PATIENCE)
        self.process.stderr.close()
        return code, said


# Refits take a while, so a stop comes in the middle.
EPOCHS = ["--classifier-patience", 100, "--classifier-epochs", 10 if SANITIZED else 40]
MIDDLE = ["--label-refit", 1000, *EPOCHS]
ENDLESS = ["--classifier-epochs", 10000, "--classifier-patience", 10000]


@pytest.fixture(scope="module")
def uninterrupted(stream, folder):
    path = folder / "uninterrupted.tide"
    labels("train", stream, "-o", path, "-q", *SMALL, *FIT, *MIDDLE)
    return path


def test_killed_training_resumes_to_the_same_model(stream, tmp_path, uninterrupted):
    path = tmp_path / "m.tide"
    training = Training(stream, "-o", path, *SMALL, *FIT, *MIDDLE, "--every", 1000)
    training.wait_for('msg="checkpoint')  # a part of the stream has been saved
    training.wait_for("msg=fitting")
    assert training.end(signal.SIGKILL)[0] == -signal.SIGKILL
    counted = sum(row["count"] for row in objects(labels("list", path, "--json").stdout))
    assert 0 < counted < sum(len(labels_of(post)) for post in POSTS)
    labels("train", "--resume", path, stream, "-q")
    assert path.read_bytes() == uninterrupted.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_training_is_saved_but_not_fitted(stream, tmp_path, uninterrupted, number):
    path = tmp_path / "m.tide"
    training = Training(stream, "-o", path, *SMALL, *FIT, *MIDDLE, *ENDLESS)
    training.wait_for("msg=fitting")
    code, said = training.end(number)
    assert code == 0 and f"'wordtide labels fit {path}' fits the classifier now" in said
    assert "msg=stopped" in said and "msg=fitted" not in said
    labels("train", "--resume", path, stream, "-q", *EPOCHS)
    assert path.read_bytes() == uninterrupted.read_bytes()


@pytest.mark.parametrize("more", [[], ["--batch", "--epochs", 2], ["--threads", 2]])
def test_a_signal_ends_a_refit_during_training(stream, tmp_path, more):
    """The refit would take forever. Resumed with fewer epochs, the model equals one that had few from the start."""
    path, whole, few = tmp_path / "m.tide", tmp_path / "whole.tide", ["--classifier-epochs", 4]
    common = [stream, *SMALL, *FIT, *more, "--label-refit", 1000]
    training = Training(*common, *ENDLESS, "-o", path)
    training.wait_for("msg=fitting")
    code, said = training.end(signal.SIGINT)
    assert code == 0 and "msg=stopped" in said and facts(path)["classifier"] == "no"
    labels("train", "--resume", path, stream, "-q", *few)
    assert facts(path)["posts"] == len(POSTS)
    if "--threads" not in more:
        labels("train", *common, *ENDLESS, *few, "-o", whole, "-q")
        assert path.read_bytes() == whole.read_bytes()


def test_a_signal_ends_the_fit_with_the_best_so_far(stream, tmp_path):
    path = tmp_path / "m.tide"
    training = Training(stream, "-o", path, *SMALL, *FIT, *ENDLESS)
    training.wait_for("msg=fitting")
    code, said = training.end(signal.SIGINT)
    assert code == 0 and 0 < int(logged(said, "fitted")["epoch"]) < 10000
    assert predicted(path, "rocket")


def test_a_kill_during_the_fit_loses_nothing_else(stream, tmp_path, model):
    path = tmp_path / "m.tide"
    training = Training(stream, "-o", path, *SMALL, *FIT, *ENDLESS)
    training.wait_for("msg=fitting")
    training.end(signal.SIGKILL)
    labels("predict", path, code=4)
    labels("fit", path, "-q", *FIT, "--classifier-patience", 3)
    assert learned(path) == learned(model)


def test_a_resumed_stream_is_fitted_again(tmp_path):
    path, more = tmp_path / "m.tide", tmp_path / "more.txt"
    text = as_lines(POSTS)
    half = text.index("\n", len(text) // 2) + 1
    (tmp_path / "half.txt").write_text(text[:half])
    more.write_text(text[half:])
    labels("train", tmp_path / "half.txt", "-o", path, "-q", *SMALL, *FIT)
    half_predicted = predicted(path, "rocket")
    done = labels("train", "--resume", path, more)
    assert int(logged(done.stderr, "fitted")["posts"]) == len(POSTS)
    assert predicted(path, "rocket") != half_predicted


def test_train_resumes_a_model_with_labels(model, tmp_path):
    path = tmp_path / "m.tide"
    done = wordtide("train", "--resume", model, "-o", path, "-q", input=as_lines(POSTS[:500]))
    assert done.returncode == 0 and done.stderr == ""
    before, after = (sum(row["count"] for row in objects(labels("list", m, "--json").stdout))
                     for m in (model, path))
    assert after == before + sum(len(labels_of(post)) for post in POSTS[:500])
    assert predicted(path, CLEAR["#space"])[0][0][0] == "#space"


@pytest.mark.parametrize("command", [["labels", "fit"], ["import", "-o"]])
def test_a_model_being_trained_is_locked(model, tmp_path, command):
    path = tmp_path / "m.tide"
    path.write_bytes(model.read_bytes())
    training = Training("--resume", path, "--follow", tmp_path / "log")
    training.wait_for("msg=memory")
    done = wordtide(*command, path, *([model] if command[0] == "import" else []))
    assert done.returncode == 1
    assert done.stderr == f"wordtide: {path}: another process is writing it\n"
    assert path.read_bytes() == model.read_bytes()
    assert training.end(signal.SIGTERM)[0] == 0
    labels("fit", path, "-q")


def test_a_model_being_fitted_is_locked(model, tmp_path):
    path = tmp_path / "m.tide"
    path.write_bytes(model.read_bytes())
    fit = Training(path, *ENDLESS, command="fit")
    fit.wait_for("msg=fitting")
    done = wordtide("train", "--resume", path, input="the rocket\n")
    assert done.returncode == 1 and "another process is writing it" in done.stderr
    assert fit.end(signal.SIGTERM)[0] == 0


# -- progress --------------------------------------------------------------------------------------


def test_the_log_describes_the_fit(stream, tmp_path):
    done = labels("train", stream, "-o", tmp_path / "m.tide", *SMALL, *FIT)
    assert logged(done.stderr, "fitting")["epochs_most"] == "40"
    fields = logged(done.stderr, "fitted")
    unlabeled = sum(not post.tags for post in POSTS)
    expected = {"posts": len(POSTS), "unlabelled": unlabeled, "labels": 6, "told": 6}
    assert {key: int(fields[key]) for key in expected} == expected
    assert 0 < float(fields["held_out_loss"]) < 0.4
    quiet = labels("train", stream, "-o", tmp_path / "m.tide", *SMALL, *FIT, "-q")
    assert quiet.stderr == "" and quiet.stdout == done.stdout == ""


def test_a_terminal_shows_every_epoch(model, tmp_path):
    watcher, terminal = os.openpty()
    process = start("labels", "fit", model, "-o", tmp_path / "m.tide", stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(watcher, 4096):
            shown += part
    except OSError:  # the process has closed its side
        pass
    os.close(watcher)
    assert process.wait(PATIENCE) == 0
    shown = shown.decode()
    epochs = re.findall(r"\rfitting: epoch (\d+) of at most 40, held-out loss 0\.\d{4}, best \d+",
                        shown)
    assert [int(epoch) for epoch in epochs] == list(range(1, len(epochs) + 1)) and len(epochs) > 1
    assert re.search(r"3k posts, 2\.7k with a label; 6 labels held, 6 predicted; held-out loss", shown)


# -- many labels, few labels -----------------------------------------------------------------------


def most_memory(process):
    """Peak memory of the process so far; 0 if it has ended."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)
    return int(found[1]) * 1024 if found else 0


@pytest.mark.skipif(SANITIZED, reason="sanitizers have memory of their own")
def test_memory_stays_within_the_budget(tmp_path):
    """10^5 labels for 2,000 slots."""
    stream = tmp_path / "many.txt"
    with stream.open("w") as file:
        for i in range(200_000):
            print(f"w{i % 977} w{i % 461} w{i % 83} rocket #t{i * 7919 % 100_000}", file=file)
    training = Training(stream, "-o", tmp_path / "m.tide", *SMALL, *FIT, "--vocab", 2000,
                        "--label-slots", 2000, "--label-memory", "4M", "--replay-ring", 10000)
    budget = int(logged(training.wait_for("msg=memory"), "memory")["total_bytes"])
    training.wait_for("msg=fitting")
    most = most_memory(training.process)
    fitted = logged(training.wait_for("msg=fitted"), "fitted")
    assert training.process.wait(PATIENCE) == 0
    training.process.stderr.close()
    assert 6 << 20 < most <= budget < 40 << 20
    assert int(fitted["labels"]) == 2000 and int(fitted["used_bytes"]) <= 4_000_000


@pytest.mark.skipif(SANITIZED, reason="takes too long")
def test_a_million_labels(tmp_path):
    stream = tmp_path / "million.txt"
    with stream.open("w") as file:
        for i in range(1_000_000):
            print(f"w{i % 97} #l{i}" + (" #often moon" if i % 10 == 0 else ""), file=file)
    path = tmp_path / "m.tide"
    labels("train", stream, "-o", path, "-q", *SMALL, "--replay", 1, "--classifier", "linear",
           "--label-top", 5, "--label-each", 100, "--label-slots", 1000, "--classifier-epochs", 5)
    first, *others = objects(labels("list", path, "--json").stdout)
    assert first["label"] == "#often" and first["count"] - first["error"] <= 100_000
    assert first["count"] >= 100_000 and len(others) == 999
    assert all(row["count"] - row["error"] <= 1 <= row["count"] for row in others)
    assert predicted(path, "moon")[0][0][0] == "#often"


def cpu_seconds():
    """Processor time of the runs so far, independent of the machine's load."""
    return os.times().children_user + os.times().children_system


@pytest.mark.skipif(SANITIZED, reason="takes too long")
def test_many_predicted_labels_are_listed_quickly(tmp_path):
    """A linear search per label would take some hundred times as long."""
    path, held, most = tmp_path / "m.tide", 100_000, 65_536
    begun = cpu_seconds()
    posts = "".join(f"w{i % 97} #l{i}\n" for i in range(held))
    labels("train", "-o", path, "-q", *SMALL, "--replay", 1, "--label-memory", "64M",
           "--label-slots", held, "--label-top", most, "--label-each", 1,
           "--classifier", "frequent", input=posts)
    trained = cpu_seconds()
    rows = objects(labels("list", path, "--json").stdout)
    assert cpu_seconds() - trained < 5 * (trained - begun)
    assert len(rows) == held and sum(row["told"] == "yes" for row in rows) == most


def test_a_single_label(tmp_path):
    path = tmp_path / "m.tide"
    labels("train", "-o", path, "-q", *SMALL, *FIT, input="rocket #space moon\n" * 50)
    assert [label for label, _ in predicted(path, "moon")[0]] == ["#space"]
    labels("train", "-o", path, "-q", *SMALL, *FIT, input="rocket #space\n")
    assert [label for label, _ in predicted(path, "moon")[0]] == ["#space"]


@pytest.mark.parametrize("text", ["the rocket and the moon\n" * 50, "#space #moon\n" * 50])
def test_no_post_with_a_label_and_text(tmp_path, text):
    path = tmp_path / "m.tide"
    done = labels("train", "-o", path, "-q", *SMALL, code=3, input="stars at night\n" + text)
    assert re.fullmatch(r"wordtide: no post with a label .* \(--labels hashtags\)\n", done.stderr)
    assert wordtide("words", path).stdout.startswith(("the\t", "stars\t"))
    for what in "fit", "predict", "eval":
        done = labels(what, path, code=3 if what == "fit" else 4, input=text)
        assert re.fullmatch("wordtide: .*\n", done.stderr)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, code", [
    (["train", "--resume", "UNLABELED", "-q"], 4),
    (["fit", "UNLABELED"], 4),
    (["list", "UNLABELED"], 4),
    (["predict", "UNLABELED"], 4),
    (["eval", "UNLABELED"], 4),
    (["fit", "STREAM"], 4),
    (["list", "STREAM"], 4),
    (["predict", "STREAM"], 4),
    (["eval", "STREAM"], 4),
    (["train", "missing", "-o", "OUT", "-q"], 1),
    (["train", "--resume", "missing"], 1),
    (["fit", "missing"], 1),
    (["list", "missing"], 1),
    (["predict", "missing"], 1),
    (["predict", "MODEL", "missing"], 1),
    (["train", "STREAM", "-o", "no/folder"], 1),
    (["fit", "MODEL", "-o", "no/folder"], 1),
    (["train", "STREAM", "-o", "OUT", "--tokens", "words"], 2),
])
def test_unusable_input_is_reported_in_one_line(arguments, code, unlabeled, model, stream,
                                                 tmp_path):
    names = {"UNLABELED": unlabeled, "MODEL": model, "STREAM": stream, "OUT": tmp_path / "out"}
    before = model.read_bytes()
    done = labels(*(names.get(word, word) for word in arguments), code=code, cwd=tmp_path,
                  input="a b #c\n")
    assert done.stdout == "" and re.fullmatch("wordtide: .+\n", done.stderr)
    assert model.read_bytes() == before and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [
    [], ["train"], ["train", "-o", "-"], ["train", "-o", "x", "--labels", "off"],
    ["train", "-o", "x", "--labels", "all"], ["train", "-o", "x", "--label-top", "0"],
    ["train", "--resume", "MODEL", "--label-slots", "7"],
    ["fit"], ["fit", "MODEL", "more"], ["fit", "MODEL", "-o", "-"], ["fit", "MODEL", "--dim", "9"],
    ["fit", "MODEL", "--classifier", "oracle"], ["list"], ["list", "MODEL", "-n", "0"],
    ["list", "MODEL", "--json", "--tsv"], ["predict"], ["predict", "MODEL", "--threshold", "1.5"],
    ["predict", "MODEL", "--threshold", "nan"], ["predict", "MODEL", "-n", "0"],
    ["nothing", "MODEL"],
])
def test_usage_errors_are_reported(arguments, model, tmp_path):
    before = model.read_bytes()
    done = wordtide("labels", *(model if word == "MODEL" else word for word in arguments),
                    cwd=tmp_path, input="a b #c\n")
    assert done.returncode == 2 and model.read_bytes() == before
    if arguments:
        (complaint,) = done.stderr.splitlines()
        assert complaint.startswith("wordtide: ") and "(see 'wordtide labels" in complaint


@pytest.mark.parametrize("style", [[], ["--json"], ["--tsv"]])
def test_a_closed_pipe_or_a_full_disk_ends_the_output(model, stream, style):
    with start("labels", "predict", model, stream, *style, stdout=subprocess.PIPE,
               stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 0 and process.stderr.read() == b""
    with open("/dev/full", "wb") as full, \
            start("labels", "predict", model, stream, *style, stdout=full,
                  stderr=subprocess.PIPE) as process:
        said = process.stderr.read().decode()
        assert process.wait(PATIENCE) == 1 and re.fullmatch("wordtide: .*: No space left on .*\n", said)


def test_labels_with_control_characters_are_data(tmp_path):
    path = tmp_path / "m.tide"
    stream = tmp_path / "s.tsv"
    stream.write_text("a\"\x1b[31m\\\tthe rocket\n" * 40)
    labels("train", stream, "-o", path, "-q", *SMALL, *FIT, "--label", 1, "--text", 2)
    [row] = objects(labels("list", path, "--json").stdout)
    assert "\x1b" not in labels("list", path).stdout
    assert predicted(path, "rocket")[0][0][0] == row["label"]
