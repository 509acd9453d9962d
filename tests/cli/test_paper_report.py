"""The report and the ablation of paper/, in their smallest form on the demo stream."""

import json
import os
import re
import subprocess

import pytest
from conftest import BINARY, PATIENCE, ROOT, SANITIZED, wordtide
from experiments import between, check_page
from optional import need_module, nightly

pytestmark = pytest.mark.skipif(SANITIZED, reason="hundreds of runs, each tested elsewhere")

TINY = ["--command", BINARY, "--dim", "8", "--set", "reservoir=1000",
        "--set", "replay-ring=2000"]
KS, BANDS = (60, 400), "1-30,101-130"
PROFILES = ["paper", "athena", "default", "incremental", "twin"]


@pytest.fixture(scope="module", autouse=True)
def matplotlib():
    need_module("matplotlib")


def run(program, *arguments, timeout=PATIENCE):
    return subprocess.run(
        ["/usr/bin/python3", str(ROOT / "paper" / program), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=timeout)


def report(text, out, *more):
    done = run("report.py", text, "--out", out, "--k", ",".join(map(str, KS)), "--bands",
               BANDS, "--epochs", "2", *TINY, *more)
    assert done.returncode == 0, done.stderr
    return done


def results(folder, pattern):
    return [json.loads(path.read_text()) for path in sorted(folder.glob(pattern))]


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "demo.txt"
    path.write_text(wordtide("demo", "--tokens", "12000").stdout)
    return path


@pytest.fixture(scope="module")
def made(stream):
    """The report without test sets: its directory and its page."""
    out = stream.parent / "out"
    report(stream, out)
    return out, (out / "report.html").read_text()


@pytest.fixture(scope="module")
def sets(stream):
    """Pairs and questions of frequent words; their scores are meaningless."""
    model = stream.parent / "words.tide"
    assert wordtide("train", stream, "-o", model, "--dim", "4", "-q").returncode == 0
    words = [line.split("\t")[0] for line in wordtide("words", model).stdout.splitlines()]
    folder = stream.parent / "sets"
    (folder / "similarity").mkdir(parents=True)
    (folder / "analogy").mkdir()
    pairs = [f"{a} {b} {i % 7}\n" for i, (a, b) in enumerate(zip(words[:40], words[1:]))]
    (folder / "similarity" / "some.txt").write_text("".join(pairs))
    questions = [" ".join(words[i:i + 4]) + "\n" for i in range(20)]
    (folder / "analogy" / "questions-words.txt").write_text(": gram\n" + "".join(questions))
    return folder


def test_the_page_is_whole_and_has_every_figure(made):
    _, text = made
    page = check_page(text)
    wanted = {f"figure-1-{k}" for k in KS} | {"figure-2", "figure-stream", "figure-churn",
                                              "figure-time"}
    wanted |= {f"figure-{number}-{profile}" for number in (3, 4) for profile in PROFILES}
    assert wanted <= set(page.ids) and len(page.figures) == len(wanted)
    for figure in page.figures:
        assert "nan" not in re.sub(r'base64,[^"]*', "", figure)


def test_the_markdown_has_the_same_tables(made):
    out, text = made
    tables = (out / "report.md").read_text()
    assert tables.count("\n|---") == text.count("<table")
    assert all((out / path).exists() for path in re.findall(r"\((figures/.*?\.svg)\)", tables))


def test_bands_beyond_the_vocabulary_are_left_out_with_a_note(made):
    _, text = made
    assert re.search(r"K = 60: word2vec has 60 words here, .* remain are: 1–30\.", text)


def test_the_text_is_not_taken_for_text8(made):
    _, text = made
    assert "not text8" in text and "demo.txt: " in text


def test_without_sets_quality_is_the_overlap_of_neighbors(made):
    out, text = made
    assert "no sets were given" in text
    trace = results(out / "runs", "default-400-trace-*.json")[0]["printed"]
    assert trace[-1]["mean"] is None
    [row] = [row for row in table_rows(text, "models-table") if row[:2] == ["default", "400"]]
    assert row[-1] == f"{trace[-1]['overlap']:.3f}"


def table_rows(text, name):
    rows = between(text, f'id="{name}"', "</table>").split("<tr>")
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


@nightly
def test_a_second_run_makes_nothing_again(made, stream):
    out, text = made
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert "0 runs made" in report(stream, out).stderr
    assert before == {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert (out / "report.html").read_text() == text


@nightly
def test_what_is_lost_is_made_again_and_no_more(made, stream):
    out, text = made
    folder = out / "runs"
    for path in folder.glob("*.tide"):
        path.unlink()
    next(folder.glob("default-400-trace-*.json")).unlink()
    again = report(stream, out).stderr.splitlines()  # the trace, and its reference
    assert again[:-1] == ["word2vec-2-400", "default-400-trace"]
    next(folder.glob("default-60-counts-*.tsv")).unlink()
    again = report(stream, out).stderr.splitlines()  # the points, and their model
    assert again[:-1] == ["default-60", "default-60-counts"]


@nightly
def test_with_sets_scores_are_those_of_the_command(stream, sets, tmp_path):
    report(stream, tmp_path, "--sets", sets, "--jobs", "2")
    page = (tmp_path / "report.html").read_text()
    model = next((tmp_path / "runs").glob("default-400-*.tide"))
    pairs = sets / "similarity" / "some.txt"
    said = json.loads(wordtide("eval", "similarity", "--json", model, pairs).stdout)
    [row] = [row for row in table_rows(page, "models-table") if row[:2] == ["default", "400"]]
    assert f"{said['spearman']:.3f}".replace("-", "−") in row


def test_the_ablation_is_a_table_and_resumes(stream, sets, tmp_path):
    wanted = ["--out", tmp_path, "--sets", sets, "--k", "300", "--small", "60", *TINY,
              "--only", "sampler", "--only", "vocabulary", "--jobs", "2"]
    done = run("ablation.py", stream, *wanted)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "ablation.md").read_text()
    check_page((tmp_path / "ablation.html").read_text())
    lines = [json.loads(line) for line in (tmp_path / "ablation.jsonl").open()]
    for line in lines:
        assert f"| {line['choice']} |" in text
        assert line["score_strict"] is not None and line["peak_bytes"] > 0
    assert {line["k"] for line in lines} >= {60, 300}
    columns = {row.count("|") for row in text.splitlines() if row.startswith("|")}
    assert len(columns) == 1
    assert "## The paper's open questions" in text and "Evicted too soon" in text
    assert not list((tmp_path / "runs").glob("*.tide"))
    assert "\n0 runs made" in "\n" + run("ablation.py", stream, *wanted).stderr
    assert (tmp_path / "ablation.md").read_text() == text


def test_a_run_that_fails_is_named_and_not_kept(stream, tmp_path):
    done = run("report.py", stream, "--out", tmp_path, "--k", "60", "--set",
               "window=1000000", *TINY)
    assert done.returncode == 1
    assert "paper-60: " in done.stderr and "window" in done.stderr
    assert not list((tmp_path / "runs").glob("*.json"))


def smallest_report(text, out):
    """One K, one band, one epoch."""
    done = run("report.py", text, "--out", out, "--k", "40", "--bands", "1-20", "--epochs",
               "1", *TINY)
    assert done.returncode == 0, done.stderr
    return (out / "report.html").read_text()


@nightly
def test_a_text_of_one_word_has_a_page(tmp_path):
    text = tmp_path / "one"
    text.write_text("word")
    check_page(smallest_report(text, tmp_path / "out"))


@nightly
def test_names_of_any_bytes_are_shown_harmlessly(stream, tmp_path):
    name = b"a 'b\" <script>$x|\xff\n.txt"
    text = os.path.join(os.fsencode(tmp_path), name)
    with open(text, "wb") as file:
        file.write(stream.read_bytes()[:9000])
    page = smallest_report(os.fsdecode(text), tmp_path / "<b> out")
    assert "&lt;script&gt;$x|\ufffd\ufffd.txt: 9,000 bytes" in page
    assert "<script" not in page


@nightly
def test_a_band_that_is_cut_keeps_its_place_among_neighbors(stream, tmp_path):
    done = run("report.py", stream, "--out", tmp_path, "--k", "60", "--bands", "1-20,41-90",
               "--epochs", "1", *TINY)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "report.html").read_text()
    assert "remain are: 1–20, 41–60." in text
    [twin] = [row for row in table_rows(text, "neighbors-own") if "word2vec again" in str(row)]
    assert len([cell for cell in twin if re.fullmatch(r"[01]\.\d\d", cell)]) == 2


def test_without_sets_the_reference_is_not_compared_with_itself(made):
    _, text = made
    rows = [row for row in table_rows(text, "models-table") if row[:1] == ["word2vec, 2 epochs"]]
    assert [row[-1] for row in rows] == ["–", "–"]


@nightly
def test_a_part_of_the_ablation_is_compared_with_the_default_of_its_size(
        stream, sets, tmp_path):
    done = run("ablation.py", stream, "--out", tmp_path, "--sets", sets, "--k", "300",
               "--small", "60", *TINY, "--only", "counting")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "ablation.md").read_text()
    small = between(text, "### Counting, K = 60\n", "\n\n").split("\n")
    assert [line.split("|")[1].strip() for line in small if line][2:] == [
        "space-saving, gate", "what subsampling keeps"]
    assert "### Vocabulary" not in text
    assert "paper/ablation.py demo.txt --sets sets --k 300 --small 60" in text
    assert "--only counting" in text and "The noise between seeds was not measured" in text
