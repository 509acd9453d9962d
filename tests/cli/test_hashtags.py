"""The hashtag experiment of paper/, complete and in its smallest form."""

import json
import os
import re
import subprocess

import pytest
from conftest import BINARY, PATIENCE, ROOT, SANITIZED
from experiments import between, check_page, posts
from optional import need_module, nightly

import hashtag_scores as scores

pytestmark = pytest.mark.skipif(SANITIZED, reason="many runs, each tested elsewhere")

TINY = ["--command", BINARY, "--k", "400", "--dim", "8", "--top", "6", "--each", "60",
        "--refit", "100", "--epochs", "2", "--label-memory", "1M", "--seeds", "2"]
for small in ("reservoir=1000", "replay-ring=2000", "label-slots=100", "classifier-maps=4",
              "classifier-epochs=4", "classifier-rate=0.05"):
    TINY += ["--set", small]
MODELS = ["stream", "stream, no anchors", "athena", "paper", "static", "static 0.0025",
          "frozen", "stream, refreshed", "static, refreshed", "stream, linear",
          "stream, frequent"]


@pytest.fixture(scope="module", autouse=True)
def matplotlib():
    need_module("matplotlib")


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


def test_the_page_is_whole_and_has_every_table_and_figure(made):
    out, text, _ = made
    page = check_page(text)
    assert {"gains", "split-whole", "time-whole", "ages-refreshed-whole"} <= set(page.ids)
    [figure] = page.figures
    assert "nan" not in figure and figure.count(">#late</text>") == 3  # once per panel
    for model in MODELS:
        assert f">{model}</text>" in figure
    assert (out / "figures" / "time-whole.svg").read_text() == figure


def test_every_model_has_its_row(made):
    _, _, tables = made
    rows = between(tables, "## Split whole", "## Next").splitlines()
    assert [row.split("|")[1].strip() for row in rows
            if re.match(r"\| (st|at|pa|fr)\w+.*±", row)][:len(MODELS)] == MODELS


def test_figures_are_those_of_the_command(made):
    out, _, tables = made
    found = [json.loads(path.read_text())["printed"][-1]["f1"]
             for path in sorted((out / "runs").glob("whole-stream-[12]-test-*.json"))]
    assert len(found) == 2
    row = next(row for row in tables.splitlines() if row.startswith("| stream |"))
    assert row.split("|")[4].split("±")[0].strip() == f"{sum(found) / 2:.3f}"


def test_only_a_retrained_classifier_predicts_a_label_that_is_new_in_the_test(made):
    _, _, tables = made
    fixed = between(tables, "label, fixed classifier.", "Weighted F1 by age")
    retrained = between(tables, "label, retrained classifier.", "Weighted F1 by age")
    assert "new in the test" not in fixed and "| new in the test | 1 |" in retrained


def test_training_posts_come_before_test_posts(made, stream):
    out, _, _ = made
    train, test = (next((out / "runs").glob(f"whole-{part}-*.tsv")).read_text().splitlines()
                   for part in ("train", "test"))
    assert train + test == stream.read_text().splitlines()[1:]
    assert train[-1] < test[0] and "#late" not in "".join(train).lower()
    learned = [json.loads(path.read_text())["command"]
               for path in (out / "runs").glob("whole-st*-1-*.json")]
    assert all("-train-" in line[2] for line in learned if line[1] == "train")


def test_a_retrained_classifier_gives_labels_up_and_the_command_agrees(made):
    """A label that is no longer predicted is no longer scored."""
    out, _, _ = made
    kept = [next((out / "runs").glob(f"whole-stream-{kind}1-test-*.{ending}")).read_text()
            for kind, ending in (("refreshed-", "tally"), ("refreshed-", "json"),
                                 ("", "tally"))]
    refit, said, fixed = map(json.loads, kept)
    total = scores.merged(scores.Tally(*period) for period in refit[1:])
    staying = scores.merged(scores.Tally(*period) for period in fixed[1:])
    assert "#late" in total.labels and "#late" not in staying.labels
    lost = [label for label in staying.labels
            if total.labels[label][scores.HAD] < staying.labels[label][scores.HAD]]
    assert len(lost) == 1
    printed = said["printed"][-1]
    scores.check("both", total, printed)
    assert total.at_top() == pytest.approx([printed[name] for name in ("p@1", "p@5", "r@5")],
                                           abs=1e-6)


@nightly
def test_a_second_run_makes_nothing_again(made, stream):
    out, text, tables = made
    assert not list((out / "runs").glob("*.jsonl"))  # counted and gone
    done = run(stream, "--out", out, *TINY)
    assert done.stderr.startswith("0 runs made")
    assert (out / "hashtags.html").read_text() == text
    assert (out / "hashtags.md").read_text() == tables


@nightly
def test_what_is_lost_is_made_again_and_no_more(made, stream):
    out, text, _ = made
    next((out / "runs").glob("whole-frozen-1-*.tally")).unlink()
    done = run(stream, "--out", out, *TINY)
    assert done.stderr.splitlines()[:-1] == ["whole-frozen-1-test"]
    assert (out / "hashtags.html").read_text() == text


@nightly
def test_a_base_that_is_lost_is_trained_once_for_all_that_need_it(made, stream):
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


@nightly
def test_bases_come_first_and_then_the_longest_tests(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--seeds", "1", "--only", "stream", "--only",
               "static, refreshed", "--split", "a=2020-01..2020-02,2020-03", "--split",
               "b=2020-01,2020-04")
    assert done.stderr.splitlines()[:-1] == [
        "reading the stream", *(f"cutting split {split} out of the stream" for split in "ab"),
        *(f"{split}-{base}-1" for base in ("static", "stream") for split in "ab"),
        *(f"{split}-{model}-1-test" for model in ("static-refreshed", "stream")
          for split in "ab")]


@nightly
def test_tests_of_one_base_run_in_parallel(stream, tmp_path):
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


@nightly
def test_splits_with_the_same_training_share_their_bases(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--seeds", "1", "--only", "stream",
               "--split", "a=2020-01..2020-02,2020-03", "--split",
               "b=2020-01-01..2020-02,2020-04")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[3:-1] == ["a-stream-1", "a-stream-1-test",
                                              "b-stream-1-test"]


@nightly
def test_the_page_says_how_often_a_classifier_is_retrained(made, stream, tmp_path):
    _, _, tables = made
    assert "is fitted every 100 posts." in tables
    tiny = [part for part in TINY if part not in ("--refit", "100")]
    run(stream, "--out", tmp_path, *tiny, "--seeds", "1", "--only", "stream, refreshed")
    assert "is fitted every 90 posts." in (tmp_path / "hashtags.md").read_text()
    kept = next((tmp_path / "runs").glob("whole-stream-refreshed-1-test-*.json"))
    assert json.loads(kept.read_text())["command"][-2:] == ["--label-refit", "90"]


@nightly
def test_with_one_seed_there_is_no_verdict(made, stream):
    out, _, _ = made
    done = run(stream, "--out", out, *TINY, "--seeds", "1")
    assert done.stderr.startswith("0 runs made")
    tables = (out / "hashtags.md").read_text()
    assert "there are no verdicts" in tables and "±" not in tables
    assert "with one seed and no verdict" in tables and "better" not in tables
    run(stream, "--out", out, *TINY)


@nightly
def test_splits_and_models_can_be_chosen(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--seeds", "1", "--only", "stream",
               "--only", "frozen", "--split", "a=2020-01..2020-02,2020-03", "--split",
               "b=2020-02,2020-04")
    assert done.returncode == 0, done.stderr
    tables = (tmp_path / "hashtags.md").read_text()
    assert "## Split a" in tables and "## Split b" in tables and "| static |" not in tables
    assert "from 2020-02 to before 2020-03; tested on 89, from 2020-04 to before" in tables


@nightly
def test_a_model_alone_has_a_page(stream, tmp_path):
    done = run(stream, "--out", tmp_path, *TINY, "--only", "paper", "--split",
               "day=2020-01..2020-03,2020-04-01")
    assert done.returncode == 0, done.stderr
    check_page((tmp_path / "hashtags.html").read_text())
    assert "No two models that can be compared were run" in (
        tmp_path / "hashtags.md").read_text()


@nightly
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
    assert last.endswith("but the command prints 0.1234560")
    assert not list((tmp_path / "out" / "runs").glob("*.tally"))


def test_a_stream_without_hashtags_is_reported_in_a_line(tmp_path):
    path = tmp_path / "plain.tsv"
    path.write_text("".join(line.replace("#", "") for line in posts(50)))
    done = run(path, "--out", tmp_path / "out", *TINY)
    assert done.returncode == 1
    assert "hashtags: whole-stream-1: " in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
