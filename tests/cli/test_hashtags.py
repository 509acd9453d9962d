"""The hashtag experiment: its arithmetic, and a complete run in its smallest form."""

import gzip
import json
import lzma
import os
import random
import re
import signal
import subprocess
import sys
from collections import namedtuple
from datetime import datetime, timedelta

import pytest
from conftest import BINARY, PATIENCE, ROOT, SANITIZED, STARTED
from test_paper_report import Page, between

sys.path.insert(0, str(ROOT / "paper"))

import hashtag_document  # noqa: E402
import hashtag_findings as findings  # noqa: E402
import hashtag_page  # noqa: E402
import hashtag_plan as plans  # noqa: E402
import hashtag_scores as scores  # noqa: E402
import hashtag_stream as streams  # noqa: E402
from runs import Failed, Store  # noqa: E402

heavy = pytest.mark.skipif(SANITIZED, reason="many runs, each tested elsewhere")

TINY = ["--command", BINARY, "--k", "400", "--dim", "8", "--top", "6", "--each", "60",
        "--refit", "100", "--epochs", "2", "--label-memory", "1M", "--seeds", "2"]
for small in ("reservoir=1000", "replay-ring=2000", "label-slots=100", "classifier-maps=4",
              "classifier-epochs=4", "classifier-rate=0.05"):
    TINY += ["--set", small]
MODELS = ["stream", "stream, no anchors", "athena", "paper", "static", "static 0.0025",
          "frozen", "stream, refreshed", "static, refreshed", "stream, linear",
          "stream, frequent"]


# -- the stream ------------------------------------------------------------------------


def posts(count=900, topics=6):
    """Posts of ten months whose words tell their hashtag, some with another one that they
    do not tell. The last one, #late, is born in the test and becomes frequent there."""
    rng, time = random.Random(1), datetime(2020, 1, 1)
    for index in range(count):
        topic = rng.randrange(topics)
        if index > 0.7 * count and rng.random() < 0.9:
            topic = topics
        words = [f"w{topic}{rng.choice('abcdefgh')}" for _ in range(6)]
        words += [f"Common{rng.randrange(20)}", rng.choice(["#Late", "#LATE"])
                  if topic == topics else f"#Topic{topic}"]
        if rng.random() < 0.2:
            words.append(f"#Topic{rng.randrange(topics)}")
        rng.shuffle(words)
        yield f"{time.isoformat()}Z\t{' '.join(words)}\n"
        time += timedelta(days=304 / count)


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    path = tmp_path_factory.mktemp("hashtags") / "posts.tsv"
    path.write_text("no time here\n" + "".join(posts()))
    return path


def run(*arguments, timeout=PATIENCE):
    return subprocess.run(
        ["/usr/bin/python3", str(ROOT / "paper" / "hashtags.py"), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=timeout)


@pytest.fixture(scope="module")
def made(stream):
    """The folder, the page and the tables."""
    out = stream.parent / "out"
    done = run(stream, "--out", out, *TINY, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    return out, (out / "hashtags.html").read_text(), (out / "hashtags.md").read_text()


# -- the whole -------------------------------------------------------------------------


@heavy
def test_the_page_is_whole_and_asks_for_nothing(made):
    _, text, _ = made
    page = Page(text)
    assert not page.wrong and not page.open and not page.fetched
    assert not re.search(r"https?://|@import|url\(|<script|<link|<img|nan", text)
    assert {"gains", "split-whole", "time-whole", "ages-refreshed-whole"} <= set(page.ids)


@heavy
def test_every_model_has_its_row_and_its_line(made):
    _, text, tables = made
    rows = between(tables, "## Split whole", "## Beside").splitlines()
    assert [row.split("|")[1].strip() for row in rows
            if re.match(r"\| (st|at|pa|fr)\w+.*±", row)][:len(MODELS)] == MODELS
    figure = between(text, '<figure id="time-whole">', "</figure>")
    assert figure.count("<svg viewBox") == 3
    assert figure.count("#late</text>") == 3  # when the most frequent newcomer is born


@heavy
def test_figures_are_those_of_the_command(made):
    out, _, tables = made
    found = [json.loads(path.read_text())["printed"][-1]["f1"]
             for path in sorted((out / "runs").glob("whole-stream-[12]-test-*.json"))]
    assert len(found) == 2
    row = next(row for row in tables.splitlines() if row.startswith("| stream |"))
    assert row.split("|")[4].split("±")[0].strip() == f"{sum(found) / 2:.3f}"


@heavy
def test_a_label_that_is_born_in_the_test_is_told_only_by_who_learns_anew(made):
    _, _, tables = made
    fixed = between(tables, "label, the classifier stays.", "Weighted F1 by age")
    anew = between(tables, "label, the classifier learns anew.", "Weighted F1 by age")
    assert "born in the test" not in fixed and "| born in the test | 1 |" in anew


@heavy
def test_what_is_learned_comes_before_what_is_tested(made, stream):
    out, _, _ = made
    train, test = (next((out / "runs").glob(f"whole-{part}-*.tsv")).read_text().splitlines()
                   for part in ("train", "test"))
    assert train + test == stream.read_text().splitlines()[1:]
    assert train[-1] < test[0] and "#late" not in "".join(train).lower()
    learned = [json.loads(path.read_text())["command"]
               for path in (out / "runs").glob("whole-st*-1-*.json")]
    assert all("-train-" in line[2] for line in learned if line[1] == "train")


@heavy
@pytest.mark.parametrize("model,learning", [
    ("stream", "--learn"), ("stream-no-anchors", "--learn"), ("athena", "--learn"),
    ("paper", "--learn"), ("frozen", ""),
    ("static", "--learn --frozen yes"),
    ("static-0.0025", "--learn --frozen yes --min-alpha 0.0025"),
    ("stream-refreshed", "--learn --label-refit 100"),
    ("static-refreshed", "--learn --frozen yes --label-refit 100"),
    ("stream-linear", "--learn"), ("stream-frequent", "--learn")])
def test_a_model_learns_what_its_name_says(made, model, learning):
    out, _, _ = made
    kept = next((out / "runs").glob(f"whole-{model}-1-test-*.json"))
    line = json.loads(kept.read_text())["command"]
    assert line[:2] == ["labels", "eval"] and line[-1 - len(learning.split())].endswith(
        ".jsonl")
    assert line[len(line) - len(learning.split()):] == learning.split()


@heavy
@pytest.mark.parametrize("model,fit", [
    ("stream-no-anchors", "--label-anchors 0"), ("stream-linear", "--classifier linear"),
    ("stream-frequent", "--classifier frequent")])
def test_a_model_may_have_a_classifier_of_its_own(made, model, fit):
    out, _, _ = made
    tested, fitted = (
        json.loads(next((out / "runs").glob(f"whole-{model}-1-{part}-*.json")).read_text())
        for part in ("test", "fit"))
    line = fitted["command"]
    assert line[:2] == ["labels", "fit"] and fit in " ".join(line)
    assert "whole-stream-1-" in line[2] and tested["command"][2] == line[4]


@heavy
def test_every_profile_learns_by_itself(made):
    out, _, _ = made
    for base, profile in (("stream", "default"), ("athena", "athena"), ("paper", "paper"),
                          ("static", "word2vec")):
        kept = [path for path in (out / "runs").glob(f"whole-{base}-1-*.json")
                if "-test-" not in path.name]
        assert len(kept) == 1
        line = json.loads(kept[0].read_text())["command"]
        assert line[line.index("--profile") + 1] == profile


@heavy
def test_who_learns_anew_gives_labels_up_and_the_command_agrees(made):
    """A label that is no longer predicted is no longer scored."""
    out, _, _ = made
    kept = [next((out / "runs").glob(f"whole-stream-{kind}1-test-*.{ending}")).read_text()
            for kind, ending in (("refreshed-", "tally"), ("refreshed-", "json"),
                                 ("", "tally"))]
    anew, said, fixed = map(json.loads, kept)
    total = scores.merged(scores.Tally(*period) for period in anew[1:])
    staying = scores.merged(scores.Tally(*period) for period in fixed[1:])
    assert "#late" in total.labels and "#late" not in staying.labels
    lost = [label for label in staying.labels
            if total.labels[label][scores.HAD] < staying.labels[label][scores.HAD]]
    assert len(lost) == 1
    printed = said["printed"][-1]
    scores.check("both", total, printed)
    assert total.at_top() == pytest.approx([printed[name] for name in ("p@1", "p@5", "r@5")],
                                           abs=1e-6)


@heavy
def test_a_second_run_makes_nothing_again(made, stream):
    out, text, tables = made
    assert not list((out / "runs").glob("*.jsonl"))  # counted and gone
    done = run(stream, "--out", out, *TINY)
    assert done.stderr.startswith("0 runs made")
    assert (out / "hashtags.html").read_text() == text
    assert (out / "hashtags.md").read_text() == tables


@heavy
def test_what_is_lost_is_made_again_and_no_more(made, stream):
    out, text, _ = made
    next((out / "runs").glob("whole-frozen-1-*.tally")).unlink()
    done = run(stream, "--out", out, *TINY)
    assert done.stderr.splitlines()[:-1] == ["whole-frozen-1-test"]
    assert (out / "hashtags.html").read_text() == text


@heavy
def test_a_base_that_is_lost_is_made_once_for_all_who_need_it(made, stream):
    out, text, _ = made
    runs = out / "runs"
    for path in [*runs.glob("whole-stream-1-????????????.tide"),
                 *runs.glob("whole-frozen-1-*.tally"), *runs.glob("whole-stream-1-*.tally")]:
        path.unlink()
    done = run(stream, "--out", out, *TINY, "--jobs", "2")
    names = done.stderr.splitlines()[:-1]
    assert names[0] == "whole-stream-1"
    assert sorted(names[1:]) == ["whole-frozen-1-test", "whole-stream-1-test"]
    assert (out / "hashtags.html").read_text() == text


@heavy
def test_bases_come_first_and_then_what_takes_longest(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--seeds", "1", "--only", "stream", "--only",
               "static, refreshed", "--split", "a=2020-01..2020-02,2020-03", "--split",
               "b=2020-01,2020-04")
    assert done.stderr.splitlines()[:-1] == [
        "reading the stream", *(f"cutting split {split} out of the stream" for split in "ab"),
        *(f"{split}-{base}-1" for base in ("static", "stream") for split in "ab"),
        *(f"{split}-{model}-1-test" for model in ("static-refreshed", "stream")
          for split in "ab")]


@heavy
def test_tests_of_one_base_go_on_side_by_side(stream, tmp_path):
    """One writes to a pipe that the other reads, so neither can finish alone."""
    os.mkfifo(tmp_path / "pipe")
    program = tmp_path / "program"
    program.write_text(f"""#!/bin/sh
case "$*" in
*eval*--learn*) timeout 10 sh -c ': > {tmp_path}/pipe' || exit 1;;
*eval*) timeout 10 sh -c ': < {tmp_path}/pipe' || exit 1;;
esac
exec '{BINARY}' "$@"
""")
    program.chmod(0o755)
    done = run(stream, "--out", tmp_path / "out", *TINY, "--seeds", "1", "--only", "stream",
               "--only", "frozen", "--command", program, "--jobs", "2")
    assert done.returncode == 0, done.stderr


@heavy
def test_splits_that_learn_the_same_share_their_bases(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--seeds", "1", "--only", "stream",
               "--split", "a=2020-01..2020-02,2020-03", "--split",
               "b=2020-01-01..2020-02,2020-04")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[3:-1] == ["a-stream-1", "a-stream-1-test",
                                              "b-stream-1-test"]


@pytest.mark.parametrize("posts,every", [
    (3, 1), (900, 225), (999, 249), (1000, 1000), (7999, 1000), (8000, 2000),
    (123456, 30000)])
def test_a_classifier_learns_anew_four_times_or_so(posts, every):
    assert plans.usual_refit(posts) == every


@heavy
def test_the_page_says_how_often_a_classifier_learns_anew(made, stream, tmp_path):
    _, _, tables = made
    assert "does so every 100 posts." in tables
    tiny = [part for part in TINY if part not in ("--refit", "100")]
    run(stream, "--out", tmp_path, *tiny, "--seeds", "1", "--only", "stream, refreshed")
    assert "does so every 90 posts." in (tmp_path / "hashtags.md").read_text()
    kept = next((tmp_path / "runs").glob("whole-stream-refreshed-1-test-*.json"))
    assert json.loads(kept.read_text())["command"][-2:] == ["--label-refit", "90"]


@heavy
def test_with_one_seed_nothing_is_judged(made, stream):
    out, _, _ = made
    done = run(stream, "--out", out, *TINY, "--seeds", "1")
    assert done.stderr.startswith("0 runs made")
    tables = (out / "hashtags.md").read_text()
    assert "no difference is judged" in tables and "±" not in tables
    assert "which one seed cannot judge" in tables and "better" not in tables
    run(stream, "--out", out, *TINY)


@heavy
def test_splits_and_models_can_be_chosen(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--seeds", "1", "--only", "stream",
               "--only", "frozen", "--split", "a=2020-01..2020-02,2020-03", "--split",
               "b=2020-02,2020-04")
    assert done.returncode == 0, done.stderr
    tables = (tmp_path / "hashtags.md").read_text()
    assert "## Split a" in tables and "## Split b" in tables and "| static |" not in tables
    assert "from 2020-02 to before 2020-03; tested on 89, from 2020-04 to before" in tables


@heavy
def test_a_model_alone_has_a_page(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--only", "paper", "--split",
               "day=2020-01..2020-03,2020-04-01")
    assert done.returncode == 0, done.stderr
    page = Page((tmp_path / "hashtags.html").read_text())
    assert not page.wrong and not page.open
    assert "No two models that can be compared were run" in (
        tmp_path / "hashtags.md").read_text()


@heavy
def test_scores_that_the_command_does_not_confirm_are_an_error(stream, tmp_path):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n'{BINARY}' \"$@\" | "
                       "sed 's/\"f1\":[0-9.]*/\"f1\":0.123456/'\n")
    program.chmod(0o755)
    done = run(stream, "--out", tmp_path / "out", *TINY, "--only", "stream", "--command",
               program)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("hashtags: whole-stream-1-test: weighted f1 is 0.")
    assert last.endswith("but the command says 0.1234560")
    assert not list((tmp_path / "out" / "runs").glob("*.tally"))


@heavy
def test_a_stream_without_hashtags_is_said_in_a_line(tmp_path):
    path = tmp_path / "plain.tsv"
    path.write_text("".join(line.replace("#", "") for line in posts(50)))
    done = run(path, "--out", tmp_path / "out", *TINY)
    assert done.returncode == 1
    assert "hashtags: whole-stream-1: " in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


# -- unusable input --------------------------------------------------------------------


@pytest.mark.parametrize("arguments,code,said", [
    ([], 1, "no STREAM"), (["/nowhere/stream"], 1, "cannot read /nowhere/stream"),
    (["STREAM", "--command", "/nowhere/program"], 1, "no program /nowhere/program"),
    (["STREAM", "--only", "magic"], 1, "no model 'magic'; there are: stream; stream, no"),
    (["STREAM", "--out", "/dev/null/out"], 1, "/dev/null/out"),
    (["STREAM", "--split", "long", "--split", "long"], 1, "two splits have one name"),
    (["STREAM", "--split", "a=2031,2032"], 1, "split a: no post to learn from; the stream"),
    (["STREAM", "--split", "a=2020-01,2032"], 1, "split a: no post to test; the stream"),
    (["STREAM", "--split", "medium"], 2, "'medium' is neither long nor short nor NAME="),
    (["STREAM", "--split", "a=2020,2019"], 2, "must come after what is learned"),
    (["STREAM", "--set", "window"], 2, "'window' is not NAME=VALUE"),
    (["STREAM", "--rate", "2"], 2, "2 is not above 0 and up to 1"),
    (["STREAM", "--seeds", "0"], 2, "0 is not a whole number above 0")])
def test_what_cannot_be_used_is_said_in_a_line(stream, tmp_path, arguments, code, said):
    arguments = [stream if part == "STREAM" else part for part in arguments]
    done = run("--out", tmp_path / "out", "--command", BINARY, *arguments)
    assert done.returncode == code
    assert said in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr


@pytest.mark.parametrize("text,said", [
    (b"", "has no line that is TIME TAB TEXT"), (b"a\tb\n", "has no line that is TIME TAB"),
    (b"2020-02-30T00:00:00Z\ta\n0001-01-01T25:00:00Z\ta\n", "has no line that is TIME TAB"),
    (b"2020-01-02T00:00:00Z\ta\n", "split whole: no post to learn from"),
    (b"2020-01-02T00:00:00Z\ta\n2020-01-01T00:00:00Z\tb\n",
     ":2: 2020-01-01T00:00:00 comes after 2020-01-02T00:00:00: sort the stream by time"),
    (gzip.compress(b"2020-01-02T00:00:00Z\ta\n" * 99)[:40], "is damaged"),
    (lzma.compress(b"2020-01-02T00:00:00Z\ta\n" * 99)[:60], "is damaged"),
    (b"\x28\xb5\x2f\xfd and so on", "is damaged")])
def test_a_stream_that_is_none_is_said_in_a_line(tmp_path, text, said):
    path = tmp_path / "stream"
    path.write_bytes(text)
    done = run(path, "--out", tmp_path / "out", "--command", BINARY)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert said in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_ends_at_once_and_leaves_no_result(stream, tmp_path, asked):
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


def packed(kind, text):
    if kind == "zst":
        return subprocess.run(["zstd", "-q"], input=text, stdout=subprocess.PIPE,
                              check=True).stdout
    return {"gz": gzip.compress, "xz": lzma.compress, "tsv": bytes}[kind](text)


@pytest.mark.parametrize("kind", ["tsv", "gz", "xz", "zst"])
def test_a_packed_stream_is_the_same(stream, tmp_path, kind):
    path = tmp_path / "stream"
    path.write_bytes(packed(kind, stream.read_bytes()))
    survey = streams.read_survey(path)
    assert (survey.posts, survey.passed_over) == (900, 1)
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
def test_what_is_no_range_is_refused(text):
    with pytest.raises(ValueError):
        streams.range_of(text)


def survey(first, last):
    return streams.Survey(1, 0, first, last, {})


@pytest.mark.parametrize("first,last,names", [
    ("2018-05-01T00:00:00", "2023-01-01T00:00:00", ["long", "short"]),
    ("2019-01-20T00:00:00", "2021-12-01T00:00:00", ["long", "short"]),
    ("2019-01-20T00:00:00", "2021-11-30T00:00:00", ["short"]),
    ("2019-02-01T00:00:00", "2023-01-01T00:00:00", ["whole"])])
def test_usual_splits_are_those_that_the_stream_covers(first, last, names):
    assert [split.name for split in streams.usual_splits(survey(first, last))] == names


def test_no_post_is_both_learned_and_tested():
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


def tally(*told):
    """Scores of posts given as (labels, {label: probability})."""
    found = scores.Tally()
    for had, probabilities in told:
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


def line(time, labels, **told):
    return {"post": 1, "time": f"{time}T12:00:00Z", "labels": labels.split(),
            "told": [{"label": label, "probability": p} for label, p in told.items()]}


def test_a_label_is_judged_while_it_is_told(tmp_path):
    found = predictions(
        tmp_path / "some", {"post": 0, "names": ["a"]}, line("2020-01-10", "a b", a=0.9),
        {"post": 2, "names": ["b"]}, line("2020-03-10", "a b x", b=0.9))
    assert [period.posts for period in found] == [1, 0, 1, 0, 0, 0]
    assert found[0].labels == {"a": [1, 1, 1]}
    assert found[2].labels == {"b": [1, 1, 1]}  # a was given up


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"time":null,"labels":[],"told":[]}'])
def test_a_prediction_that_is_none_is_named(tmp_path, text):
    path = tmp_path / "some"
    path.write_text('{"names":["a"]}\n' + text + "\n")
    with pytest.raises(Failed, match="some:2 is not a prediction"):
        scores.read_predictions(path, scores.Calendar("2020-01-05", "2020-06-30"))


def test_the_command_must_come_to_the_same():
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
def test_a_test_is_cut_into_months_weeks_or_days(first, last, unit, size, names):
    calendar = scores.Calendar(first, last)
    assert (calendar.unit, calendar.size) == (unit, size)
    assert [calendar.name(0), calendar.name(size - 1)] == names
    assert int(calendar.place(first)) == 0 and int(calendar.place(last)) == size - 1


# -- findings --------------------------------------------------------------------------


@pytest.mark.parametrize("born,age", [
    ("2020-01-01T00:00:00", "born in the test"), ("2019-12-31T23:59:59", "under 1 month"),
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


def test_only_stream_and_static_are_compared_by_age():
    found = findings_of(stream=[500, 510], frozen=[310, 300])
    assert "By age" not in hashtag_page.sentence(found, SPLIT, "stream", "frozen")
    assert "gains-ages" not in hashtag_page.gains_section(found).html()
    found = findings_of(stream=[500, 510], static=[310, 300])
    assert hashtag_page.gains_by_age(found, SPLIT).rows == [
        ["under 1 month", "0.0 level"], ["over 12 months", ("+20.4 better", "holds")]]


def test_gains_are_of_f1_and_of_the_most_probable():
    pair = ("stream", "frozen")
    found = findings_of(stream=[500, 510], frozen=[310, 300])
    table = hashtag_page.gains_table(found, SPLIT, [pair])
    name, f1, first, recall, *halves = table.rows[0]
    assert name == "stream − frozen" and len(table.head) == len(table.rows[0])
    assert f1[0].endswith(" better") and halves == [f1] * 2
    assert (first, recall) == (("+19.8 better", "holds"), "0.0 level")


def test_what_is_compared_is_known_by_its_name():
    names = {model.name for model in plans.models(namedtuple("Options", "rate")(0.0025))}
    assert names == set(MODELS)
    assert {name for pair in hashtag_page.PAIRS for name in pair} <= names


def test_markdown_takes_names_for_names():
    assert hashtag_document.plain("a_b|<c>*") == r"a\_b\|\<c\>\*"


def test_parts_that_are_damaged_are_named(stream, tmp_path):
    store = Store(tmp_path, BINARY)
    streams.Stream(stream, store)
    kept = next(tmp_path.glob("survey-*.json"))
    kept.write_text(kept.read_text()[:30])
    with pytest.raises(Failed, match="is damaged: delete it"):
        streams.Stream(stream, store)
