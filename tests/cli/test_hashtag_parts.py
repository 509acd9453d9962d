"""The parts of the hashtag experiment that need no training: streams, plans, scores, findings."""

import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
from collections import namedtuple

import pytest
from conftest import BINARY, PATIENCE, ROOT, STARTED
from experiments import posts
from optional import need_module, need_program

import hashtag_findings as findings
import hashtag_page
import hashtag_plan as plans
import hashtag_scores as scores
import hashtag_stream as streams
import hashtags
from lab import Failed
from lab.cache import Output, Store
from lab.document import Document
from test_hashtags import MODELS


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    path = tmp_path_factory.mktemp("hashtags") / "posts.tsv"
    path.write_text("no time here\n" + "".join(posts()))
    return path


def run(*arguments, timeout=PATIENCE):
    return subprocess.run(
        ["/usr/bin/python3", str(ROOT / "paper" / "hashtags.py"), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=timeout)


# -- plans -----------------------------------------------------------------------------


@pytest.fixture
def plan(stream, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["hashtags.py", str(stream), "--refit", "100"])
    store = Store(tmp_path / "runs", BINARY)
    parsed = streams.Stream(stream, store)
    return plans.Plan(store, parsed, streams.usual_splits(parsed.survey), hashtags.parse())


def line_of(job):
    return [f".{part.extension}" if isinstance(part, Output) else str(part)
            for part in job.arguments if not isinstance(part, plans.Job)]


def job_of(plan, name):
    model = next(model for model in plan.models if model.name == name)
    return plan.test(plan.splits[0], model, 1)


@pytest.mark.parametrize("model,learning", [
    ("stream", "--learn"), ("stream, no anchors", "--learn"), ("athena", "--learn"),
    ("paper", "--learn"), ("frozen", ""),
    ("static", "--learn --frozen yes"),
    ("static 0.0025", "--learn --frozen yes --min-alpha 0.0025"),
    ("stream, refreshed", "--learn --label-refit 100"),
    ("static, refreshed", "--learn --frozen yes --label-refit 100"),
    ("stream, linear", "--learn"), ("stream, frequent", "--learn")])
def test_a_model_learns_in_the_test_what_its_name_says(plan, model, learning):
    line = line_of(job_of(plan, model))
    assert line[:2] == ["labels", "eval"] and line[line.index(".jsonl") + 1:] == learning.split()


@pytest.mark.parametrize("model,fit", [
    ("stream, no anchors", "--label-anchors 0"), ("stream, linear", "--classifier linear"),
    ("stream, frequent", "--classifier frequent")])
def test_a_model_may_have_a_classifier_of_its_own(plan, model, fit):
    [fitted] = job_of(plan, model).needs
    line = line_of(fitted)
    assert line[:2] == ["labels", "fit"] and fit in " ".join(line)
    assert [plan.store.key(base) for base in fitted.needs] == [
        plan.store.key(base) for base in job_of(plan, "stream").needs]


@pytest.mark.parametrize("base,profile", [("stream", "default"), ("athena", "athena"),
                                          ("paper", "paper"), ("static", "word2vec")])
def test_a_base_is_trained_with_its_profile_on_the_first_part(plan, base, profile):
    [trained] = job_of(plan, base).needs
    line = line_of(trained)
    assert line[:2] == ["labels", "train"] and "-train-" in line[2]
    assert line[line.index("--profile") + 1] == profile


@pytest.mark.parametrize("posts,every", [
    (3, 1), (900, 225), (999, 249), (1000, 1000), (7999, 1000), (8000, 2000),
    (123456, 30000)])
def test_a_classifier_is_retrained_about_four_times(posts, every):
    assert plans.usual_refit(posts) == every


# -- unusable input --------------------------------------------------------------------


@pytest.mark.parametrize("arguments,code,said", [
    ([], 1, "no STREAM"), (["/nowhere/stream"], 1, "cannot read /nowhere/stream"),
    (["STREAM", "--command", "/nowhere/program"], 1, "no program /nowhere/program"),
    (["STREAM", "--only", "magic"], 1, "no model 'magic'; there are: stream; stream, no"),
    (["STREAM", "--out", "/dev/null/out"], 1, "/dev/null/out"),
    (["STREAM", "--split", "long", "--split", "long"], 1, "two splits have one name"),
    (["STREAM", "--split", "a=2031,2032"], 1, "split a: no post to train on; the stream"),
    (["STREAM", "--split", "a=2020-01,2032"], 1, "split a: no post to test; the stream"),
    (["STREAM", "--split", "medium"], 2, "'medium' is neither long nor short nor NAME="),
    (["STREAM", "--split", "a=2020,2019"], 2, "the test must come after the training"),
    (["STREAM", "--set", "window"], 2, "'window' is not NAME=VALUE"),
    (["STREAM", "--rate", "2"], 2, "2 is not above 0 and up to 1"),
    (["STREAM", "--seeds", "0"], 2, "0 is not a whole number of at least 1")])
def test_what_cannot_be_used_is_reported_in_a_line(stream, tmp_path, arguments, code, said):
    need_module("matplotlib")
    arguments = [stream if part == "STREAM" else part for part in arguments]
    done = run("--out", tmp_path / "out", "--command", BINARY, *arguments)
    assert done.returncode == code
    assert said in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr


@pytest.mark.parametrize("text,said", [
    (b"", "has no line that is TIME TAB TEXT"), (b"a\tb\n", "has no line that is TIME TAB"),
    (b"2020-02-30T00:00:00Z\ta\n0001-01-01T25:00:00Z\ta\n", "has no line that is TIME TAB"),
    (b"2020-01-02T00:00:00Z\ta\n", "split whole: no post to train on"),
    (b"2020-01-02T00:00:00Z\ta\n2020-01-01T00:00:00Z\tb\n",
     ":2: 2020-01-01T00:00:00 comes after 2020-01-02T00:00:00: sort the stream by time"),
    (gzip.compress(b"2020-01-02T00:00:00Z\ta\n" * 99)[:40], "is damaged"),
    (lzma.compress(b"2020-01-02T00:00:00Z\ta\n" * 99)[:60], "is damaged"),
    (b"\x28\xb5\x2f\xfd and so on", "is damaged")])
def test_an_invalid_stream_is_reported_in_a_line(tmp_path, text, said):
    need_module("matplotlib")
    need_program("zstd")
    path = tmp_path / "stream"
    path.write_bytes(text)
    done = run(path, "--out", tmp_path / "out", "--command", BINARY)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert said in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_script_ends_at_once_and_leaves_no_result(stream, tmp_path, asked):
    need_module("matplotlib")
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\necho $$ > $0.pid.half\nmv $0.pid.half $0.pid\n"
                       "exec sleep 600\n")
    endless.chmod(0o755)
    process = subprocess.Popen(
        ["/usr/bin/python3", str(ROOT / "paper" / "hashtags.py"), str(stream), "--out",
         str(tmp_path), "--command", str(endless)], stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(asked, signal.SIG_DFL))
    STARTED.append(process)
    while process.stderr.readline() != b"whole-stream-1\n":
        assert process.poll() is None
    pid = tmp_path / "endless.pid"
    while not pid.exists():
        assert process.poll() is None
    process.send_signal(asked)
    process.stderr.read()
    assert process.wait(PATIENCE) == 130
    assert not list((tmp_path / "runs").glob("whole-stream-*"))
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


# -- reading ---------------------------------------------------------------------------


def compressed(kind, text):
    if kind == "zst":
        return subprocess.run(["zstd", "-q"], input=text, stdout=subprocess.PIPE,
                              check=True).stdout
    return {"gz": gzip.compress, "xz": lzma.compress, "tsv": bytes}[kind](text)


@pytest.mark.parametrize("kind", ["tsv", "gz", "xz", "zst"])
def test_a_compressed_stream_is_the_same(stream, tmp_path, kind):
    need_program("zstd")
    path = tmp_path / "stream"
    path.write_bytes(compressed(kind, stream.read_bytes()))
    survey = streams.read_survey(path)
    assert (survey.posts, survey.skipped) == (900, 1)
    assert (survey.first, survey.last[:7]) == ("2020-01-01T00:00:00", "2020-10")
    assert set(survey.born) == {"late", *(f"topic{i}" for i in range(6))}
    assert survey.born["late"][:7] == "2020-08"


@pytest.mark.parametrize("text,tags", [
    ("#One and #two, #ONE", {"one", "two"}), ("a#b #2020 #", set()), ("(#x_1)!", {"x_1"}),
    ("＃Straße", {"strasse"}), ("no tag", set()), ("##twice", {"twice"})])
def test_hashtags_of_a_line(text, tags):
    assert streams.hashtags(f"2020-01-01T00:00:00Z\t{text}\n".encode()) == tags


@pytest.mark.parametrize("text,begin,end", [
    ("2019", "2019", "2020"), ("2019-12", "2019-12", "2020-01"),
    ("2019-02..2019-03", "2019-02", "2019-04"), ("2020-02-29", "2020-02-29", "2020-03-01"),
    ("2019..2019-03", "2019", "2019-04")])
def test_a_range_has_its_last_day_within(text, begin, end):
    assert streams.range_of(text) == (begin, end)


@pytest.mark.parametrize("text", ["", "19", "2019-13", "2019-02-30", "2020..2019", "a..b",
                                  "9999-12-31"])
def test_an_invalid_range_is_refused(text):
    with pytest.raises(ValueError):
        streams.range_of(text)


def survey(first, last):
    return streams.Survey(1, 0, first, last, {})


@pytest.mark.parametrize("first,last,names", [
    ("2018-05-01T00:00:00", "2023-01-01T00:00:00", ["long", "short"]),
    ("2019-01-20T00:00:00", "2021-12-01T00:00:00", ["long", "short"]),
    ("2019-01-20T00:00:00", "2021-11-30T00:00:00", ["short"]),
    ("2019-02-01T00:00:00", "2023-01-01T00:00:00", ["whole"])])
def test_the_usual_splits_are_those_that_the_stream_covers(first, last, names):
    assert [split.name for split in streams.usual_splits(survey(first, last))] == names


def test_no_post_is_both_trained_and_tested_on():
    split = streams.whole_split(survey("2020-01-01T00:00:00", "2020-01-11T00:00:00"))
    parts = [streams.part_of(split, time) for time in (
        None, "2019-12-31T23:59:59", "2020-01-01T00:00:00", "2020-01-06T23:59:59",
        "2020-01-07T00:00:00", "2020-01-11T00:00:00", "2020-01-12T00:00:00")]
    assert parts == [None, None, 0, 0, 1, 1, None]


def test_the_whole_is_split_by_time():
    split = streams.whole_split(survey("2020-01-01T00:00:00", "2020-01-11T00:00:00"))
    assert split.train == ("2020-01-01T00:00:00", "2020-01-07T00:00:00")
    assert split.test == ("2020-01-07T00:00:00", "2020-01-12")


# -- scores ----------------------------------------------------------------------------


def tally(*reported):
    """Scores of posts given as (labels, {label: probability})."""
    found = scores.Tally()
    for had, probabilities in reported:
        found.add(set(had.split()), sorted(probabilities.items(), key=lambda p: -p[1]))
    return found


def test_scores_are_weighted_by_the_posts_of_a_label():
    found = tally(("a", {"a": 0.9, "b": 0.5}), ("a", {"b": 0.7, "a": 0.49}),
                  ("a b", {"a": 0.6, "b": 0.1}), ("c", {"a": 0.2}))
    assert found.labels == {"a": [3, 2, 2], "b": [1, 2, 0], "c": [1, 0, 0]}
    score = scores.weighted(found.labels)
    assert score.precision == pytest.approx(3 / 5 * 1)
    assert score.recall == pytest.approx(3 / 5 * 2 / 3)
    assert score.f1 == pytest.approx(3 / 5 * 4 / 5)
    assert scores.weighted({"a": [0, 3, 0]}) is None


def test_the_five_most_probable_count_whatever_their_probability():
    six = {letter: 0.06 - i / 100 for i, letter in enumerate("abcdef")}
    found = tally(("a", six), ("b f", six), ("f", six), ("a", {"a": 0.1, "b": 0.05}))
    assert found.at_top() == pytest.approx([2 / 4, (1 / 5 + 1 / 5 + 0 + 1 / 2) / 4,
                                            (1 + 1 / 2 + 0 + 1) / 4])
    assert tally(("a", {})).at_top() == [0, 0, 0]


def test_parts_of_a_test_add_up():
    first, second = ("a", {"a": 0.9}), ("a b", {"b": 0.9, "a": 0.2})
    both = scores.merged([tally(first), tally(second)])
    assert both.as_list() == tally(first, second).as_list()


def predictions(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return scores.read_predictions(path, scores.Calendar("2020-01-05", "2020-06-30"))


def line(time, labels, **reported):
    return {"post": 1, "time": f"{time}T12:00:00Z", "labels": labels.split(),
            "told": [{"label": label, "probability": p} for label, p in reported.items()]}


def test_a_label_is_scored_while_it_is_predicted(tmp_path):
    found = predictions(
        tmp_path / "some", {"post": 0, "names": ["a"]}, line("2020-01-10", "a b", a=0.9),
        {"post": 2, "names": ["b"]}, line("2020-03-10", "a b x", b=0.9))
    assert [period.posts for period in found] == [1, 0, 1, 0, 0, 0]
    assert found[0].labels == {"a": [1, 1, 1]}
    assert found[2].labels == {"b": [1, 1, 1]}  # a was given up


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"time":null,"labels":[],"told":[]}'])
def test_an_invalid_prediction_is_named(tmp_path, text):
    path = tmp_path / "some"
    path.write_text('{"names":["a"]}\n' + text + "\n")
    with pytest.raises(Failed, match="some:2 is not a prediction"):
        scores.read_predictions(path, scores.Calendar("2020-01-05", "2020-06-30"))


def test_the_command_must_have_the_same_result():
    total = tally(("a", {"a": 0.9, "b": 0.6}), ("b", {"a": 0.9}))
    said = {"scored": 2, "precision": 0.25, "recall": 0.5, "f1": 1 / 3}
    scores.check("name", total, said)
    scores.check("name", total, {**said, "f1": 0.333333})
    for wrong in ({"f1": 0.33333}, {"recall": 0.6}, {"scored": 3}, {"f1": float("nan")}):
        with pytest.raises(Failed, match="^name: "):
            scores.check("name", total, {**said, **wrong})


@pytest.mark.parametrize("first,last,unit,size,names", [
    ("2019-11-20T00:00:00", "2020-03-02T00:00:00", "month", 5, ["2019-11", "2020-03"]),
    ("2020-02-03T06:00:00", "2020-02-29T23:59:59", "week", 4, ["2020-02-03", "2020-02-24"]),
    ("2020-02-28T06:00:00", "2020-03-02T05:00:00", "day", 4, ["2020-02-28", "2020-03-02"]),
    ("2020-02-28T06:00:00", "2020-02-28T06:00:00", "day", 1, ["2020-02-28", "2020-02-28"])])
def test_a_test_is_divided_into_months_weeks_or_days(first, last, unit, size, names):
    calendar = scores.Calendar(first, last)
    assert (calendar.unit, calendar.size) == (unit, size)
    assert [calendar.name(0), calendar.name(size - 1)] == names
    assert int(calendar.position(first)) == 0 and int(calendar.position(last)) == size - 1


# -- findings --------------------------------------------------------------------------


@pytest.mark.parametrize("born,age", [
    ("2020-01-01T00:00:00", "new in the test"), ("2019-12-31T23:59:59", "under 1 month"),
    ("2019-12-01T00:00:00", "under 1 month"), ("2019-11-30T23:59:59", "1 to 3 months"),
    ("2019-10-01T00:00:00", "1 to 3 months"), ("2019-09-30T00:00:00", "3 to 12 months"),
    ("2019-01-01T00:00:00", "3 to 12 months"), ("2018-12-31T00:00:00", "over 12 months")])
@pytest.mark.parametrize("begin", ["2020-01", "2020", "2020-01-01T00:00:00"])
def test_the_age_of_a_label_is_that_at_the_beginning_of_the_test(born, age, begin):
    assert findings.age_of("#Tag", begin, {"tag": born}) == age
    assert findings.age_of("other", begin, {"tag": born}) == "not found"


@pytest.mark.parametrize("one,other,said", [
    ([0.5, 0.52], [0.4, 0.41], "better"), ([0.4, 0.41], [0.5, 0.52], "worse"),
    ([0.40, 0.42], [0.42, 0.44], "level"), ([0.5], [0.4], None), ([None], [0.4, 0.5], None)])
def test_a_difference_counts_beyond_twice_the_spread(one, other, said):
    assert findings.verdict(findings.measure(one), findings.measure(other)) == said


def test_the_spread_is_the_sample_standard_deviation():
    assert findings.measure([0.1, 0.2, 0.3]) == pytest.approx((0.2, 0.1))


Plan = namedtuple("Plan", "models seeds splits calendar")
Outcome = namedtuple("Outcome", "total periods unknown")
SPLIT = streams.Split("long", streams.Range("2019", "2020"), streams.Range("2020", "2022"))


def outcome(right):
    """A label with 1,000 posts, of which so many are predicted correctly."""
    total = scores.Tally(1010, right, 0.0, 505.0,
                         {"old": [1000, right, right], "young": [10, 5, 5]})
    return Outcome(total, [total] * 6, 0.0)


def findings_of(**right):
    """Results of models, given the posts that two seeds predicted correctly."""
    calendar = scores.Calendar("2020-01-05", "2020-06-30")
    plan = Plan([], [1, 2], [SPLIT], lambda split: calendar)
    born = {"old": "2018-01-01T00:00:00", "young": "2019-12-05T00:00:00"}
    return findings.Findings(
        plan, {(SPLIT, name): list(map(outcome, counts)) for name, counts in right.items()},
        streams.Survey(1, 0, "", "", born))


@pytest.mark.parametrize("static,said", [
    ([310, 300], "stream is 2"), ([505, 515], "stream is level with static"),
    ([810, 800], "stream is 2")])
def test_sentences_follow_the_figures(static, said):
    found = findings_of(stream=[500, 510], static=static)
    text = hashtag_page.sentence(found, SPLIT, "stream", "static")
    assert text.startswith(said)
    word = {310: "better", 505: "level", 810: "worse"}[static[0]]
    assert f"By age of the label: {word} at " in text
    assert "level at under 1 month" in text
    assert ("points better" in text, "points worse" in text) == (
        word == "better", word == "worse")


def add(section, found, *arguments):
    document = Document("findings")
    section(document, found, *arguments)
    return "\n".join(document.markdown)


def test_only_stream_and_static_are_compared_by_age():
    found = findings_of(stream=[500, 510], frozen=[310, 300])
    assert "By age" not in hashtag_page.sentence(found, SPLIT, "stream", "frozen")
    assert "by age" not in add(hashtag_page.gains_section, found)
    found = findings_of(stream=[500, 510], static=[310, 300])
    rows = add(hashtag_page.gains_by_age, found, SPLIT).splitlines()[-2:]
    assert rows == ["| under 1 month | 0.0 level |", "| over 12 months | +20.4 better |"]


def test_gains_are_of_f1_and_of_the_most_probable():
    found = findings_of(stream=[500, 510], frozen=[310, 300])
    table = add(hashtag_page.gains_table, found, SPLIT, [("stream", "frozen")]).splitlines()
    name, f1, first, recall, *halves = table[-1].strip("| ").split(" | ")
    assert name == "stream − frozen" and table[-1].count("|") == table[-3].count("|")
    assert f1.endswith(" better") and halves == [f1] * 2
    assert (first, recall) == ("+19.8 better", "0.0 level")


def test_what_is_compared_is_known_by_its_name():
    names = {model.name for model in plans.models(namedtuple("Options", "rate")(0.0025))}
    assert names == set(MODELS)
    assert {name for pair in hashtag_page.PAIRS for name in pair} <= names


def test_a_damaged_survey_is_named(stream, tmp_path):
    store = Store(tmp_path, BINARY)
    streams.Stream(stream, store)
    kept = next(tmp_path.glob("survey-*.json"))
    kept.write_text(kept.read_text()[:30])
    with pytest.raises(Failed, match="is damaged: delete it"):
        streams.Stream(stream, store)
