"""The report and the ablation of paper/, in their smallest form on the demo stream."""

import json
import os
import re
import signal
import subprocess
from html.parser import HTMLParser

import pytest
from conftest import BINARY, PATIENCE, ROOT, SANITIZED, STARTED, wordtide

PAPER = ROOT / "paper"

pytestmark = pytest.mark.skipif(SANITIZED, reason="hundreds of runs, each tested elsewhere")

TINY = ["--command", BINARY, "--dim", "8", "--set", "reservoir=1000",
        "--set", "replay-ring=2000"]
KS, BANDS = (60, 400), "1-30,101-130"
VOID = {"meta", "br", "path"}


def run(program, *arguments, timeout=PATIENCE):
    return subprocess.run(
        ["/usr/bin/python3", str(PAPER / program), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=timeout)


def report(text, out, *more):
    done = run("report.py", text, "--out", out, "--k", ",".join(map(str, KS)), "--bands",
               BANDS, "--epochs", "2", *TINY, *more)
    assert done.returncode == 0, done.stderr
    return done


class Page(HTMLParser):
    """Elements by id, external references, and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.fetched, self.wrong = [], {}, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            assert tag != "div" and given["id"] not in self.ids, given["id"]
            self.ids[given["id"]] = self.getpos()
        self.fetched += [value for name, value in given.items()
                         if name in ("src", "srcset", "data", "action")
                         or (name == "href" and not value.startswith("#"))]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append((tag, self.getpos()))


def between(page, start, end):
    return page.split(start, 1)[1].split(end, 1)[0]


def figure(page, name):
    return between(page, f'<figure id="{name}">', "</figure>")


def points(part):
    return len(re.findall(r"m[-.\d ]+h0", part))


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


def test_the_page_is_whole_and_asks_for_nothing(made):
    _, text = made
    page = Page(text)
    assert not page.wrong and not page.open
    assert not page.fetched
    assert not re.search(r"https?://|@import|url\(|<script|<link|<img", text)


def test_every_figure_is_there(made):
    _, text = made
    page = Page(text)
    wanted = {f"figure-1-{k}" for k in KS} | {
        "figure-2", "figure-3", "figure-4", "figure-stream", "figure-churn", "figure-time"}
    assert wanted <= set(page.ids)
    for name in wanted:
        assert "<svg" in figure(text, name)
        assert "nan" not in figure(text, name)


@pytest.mark.parametrize("k", KS)
def test_every_word_of_the_top_has_its_point(made, k):
    _, text = made
    assert points(figure(text, f"figure-1-{k}")) == 2 * 2 * k  # two axes, with gate and not


@pytest.mark.parametrize("number,k", [(3, KS[0]), (4, KS[1])])
def test_a_cell_has_as_many_points_as_pairs_are_defined(made, number, k):
    out, text = made
    grids = figure(text, f"figure-{number}").split('<div class="cells">')[1:]
    profiles = ["paper", "athena", "default", "incremental", "twin"]
    assert len(grids) == len(profiles)
    for profile, grid in zip(profiles, grids):
        found = results(out / "runs", f"{profile}-{k}-as-own-{k}-*.json")
        cells = found[0]["printed"][0]["cells"]
        drawn = [points(cell) for cell in grid.split('<div class="cell">')[1:]]
        assert drawn == [min(2000, cell["defined"]) for cell in cells]
        assert len(cells) == (1 if k == KS[0] else 3)


def test_bands_beyond_the_vocabulary_are_left_out_and_said_so(made):
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
    last = f"<td>{trace[-1]['overlap']:.4f}</td></tr>"
    assert last in between(text, "<summary>All steps</summary>", "</details>")


def test_a_second_run_makes_nothing_again(made, stream):
    out, text = made
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert "0 runs made" in report(stream, out).stderr
    assert before == {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert (out / "report.html").read_text() == text


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


def test_with_sets_scores_are_those_of_the_command(stream, sets, tmp_path):
    report(stream, tmp_path, "--sets", sets, "--jobs", "2")
    page = (tmp_path / "report.html").read_text()
    model = next((tmp_path / "runs").glob("default-400-*.tide"))
    pairs = sets / "similarity" / "some.txt"
    said = json.loads(wordtide("eval", "similarity", "--json", model, pairs).stdout)
    rows = between(page, 'id="models-table"', "</table>").split("<tr>")
    row = next(r for r in rows if r.startswith("<td>default</td><td>400</td>"))
    assert f"<td>{said['spearman']:.3f}</td>".replace("-", "−") in row


def test_the_ablation_is_a_table_and_resumes(stream, sets, tmp_path):
    wanted = ["--out", tmp_path, "--sets", sets, "--k", "300", "--small", "60", *TINY,
              "--only", "sampler", "--only", "vocabulary", "--jobs", "2"]
    done = run("ablation.py", stream, *wanted)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "ablation.md").read_text()
    lines = [json.loads(line) for line in (tmp_path / "ablation.jsonl").open()]
    for line in lines:
        assert f"| {line['choice']} |" in text
        assert line["score_strict"] is not None and line["peak_bytes"] > 0
    assert {line["k"] for line in lines} >= {60, 300}
    columns = {row.count("|") for row in text.splitlines() if row.startswith("|")}
    assert len(columns) == 1
    assert "## The paper's open questions" in text and "Ejected too soon" in text
    assert not list((tmp_path / "runs").glob("*.tide"))
    assert "\n0 runs made" in "\n" + run("ablation.py", stream, *wanted).stderr
    assert (tmp_path / "ablation.md").read_text() == text


@pytest.mark.parametrize("program", ["report.py", "ablation.py"])
@pytest.mark.parametrize("arguments,said", [
    ([], "no TEXT"), (["/nowhere/text"], "cannot read /nowhere/text")])
def test_a_missing_text_is_said_in_a_line(program, arguments, said, tmp_path):
    done = run(program, *arguments, "--out", tmp_path / "out", "--command", BINARY)
    assert done.returncode == 1 and said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_run_that_fails_is_named_and_not_remembered(stream, tmp_path):
    done = run("report.py", stream, "--out", tmp_path, "--k", "60", "--set",
               "window=1000000", *TINY)
    assert done.returncode == 1
    assert "paper-60: " in done.stderr and "window" in done.stderr
    assert not list((tmp_path / "runs").glob("*.json"))


def test_of_several_runs_the_one_that_failed_is_named(stream, tmp_path):
    """All others wait forever and are stopped."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\ncase $* in *incremental*) echo broken >&2; exit 1;; esac\n"
                       "exec sleep 600\n")
    program.chmod(0o755)
    done = run("report.py", stream, "--out", tmp_path, "--k", "60", "--jobs", "6",
               "--command", program, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "paper: incremental-60: broken"


@pytest.mark.parametrize("program,first", [
    ("report.py", b"paper-60\n"), ("ablation.py", b"default-default-60\n")])
@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_stopped_ends_at_once_and_leaves_nothing(
        stream, sets, tmp_path, program, first, asked):
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\necho $$ > $0.pid.half\nmv $0.pid.half $0.pid\n"
                       "exec sleep 600\n")
    endless.chmod(0o755)
    process = subprocess.Popen(
        ["/usr/bin/python3", str(PAPER / program), str(stream), "--out", str(tmp_path),
         "--sets", str(sets), "--k", "60", "--command", str(endless)],
        stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(asked, signal.SIG_DFL))
    STARTED.append(process)
    assert process.stderr.readline() == first
    pid = tmp_path / "endless.pid"
    while not pid.exists():
        assert process.poll() is None
    process.send_signal(asked)
    process.stderr.read()
    assert process.wait(PATIENCE) == 130
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {".gitignore"}
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.parametrize("program", ["report.py", "ablation.py"])
def test_a_text_that_cannot_be_read_twice_is_refused(program, sets, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for text in (pipe, tmp_path):
        done = run(program, text, "--sets", sets, "--out", tmp_path / "out", "--command",
                   BINARY, timeout=PATIENCE)
        assert done.returncode == 1
        assert f"{text} is not a file that can be read twice\n" in done.stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments,said", [
    (["--sets", "/nowhere/sets"], "no folder /nowhere/sets"),
    (["--command", "/nowhere/program"], "no program /nowhere/program"),
    (["--set", "window"], "'window' is not NAME=VALUE"),
    (["--out", "/dev/null/out"], "/dev/null/out")])
def test_what_cannot_be_used_is_said_in_a_line(stream, tmp_path, arguments, said):
    done = run("report.py", stream, "--out", tmp_path / "out", "--command", BINARY,
               *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("paper: ") and said in done.stderr
    assert done.stderr.count("\n") == 1


def smallest_report(text, out):
    """One K, one band, one epoch."""
    done = run("report.py", text, "--out", out, "--k", "40", "--bands", "1-20", "--epochs",
               "1", *TINY)
    assert done.returncode == 0, done.stderr
    return (out / "report.html").read_text()


def test_a_text_of_one_word_has_a_page(tmp_path):
    text = tmp_path / "one"
    text.write_text("word")
    page = Page(smallest_report(text, tmp_path / "out"))
    assert not page.wrong and not page.open


def test_names_of_any_bytes_are_shown_harmlessly(stream, tmp_path):
    name = b"a 'b\" <script>$x|\xff\n.txt"
    text = os.path.join(os.fsencode(tmp_path), name)
    with open(text, "wb") as file:
        file.write(stream.read_bytes()[:9000])
    page = smallest_report(os.fsdecode(text), tmp_path / "<b> out")
    assert "&lt;script&gt;$x|\ufffd\ufffd.txt: 9,000 bytes" in page
    assert "<script" not in page


def test_a_damaged_result_is_named(made, stream):
    out, _ = made
    damaged = next((out / "runs").glob("default-60-info-*.json"))
    whole = damaged.read_text()
    damaged.write_text(whole[:len(whole) // 2])
    done = run("report.py", stream, "--out", out, "--k", ",".join(map(str, KS)), "--bands",
               BANDS, "--epochs", "2", *TINY)
    damaged.write_text(whole)
    assert done.returncode == 1
    assert done.stderr == f"paper: {damaged} is damaged: delete it\n"


def test_a_band_that_is_cut_keeps_its_place_among_neighbors(stream, tmp_path):
    done = run("report.py", stream, "--out", tmp_path, "--k", "60", "--bands", "1-20,41-90",
               "--epochs", "1", *TINY)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "report.html").read_text()
    assert "remain are: 1–20, 41–60." in text
    rows = between(text, "<h3>Neighbors in common</h3>", "</table>").split("<tr>")
    twin = next(row for row in rows if "word2vec again" in row)
    assert len(re.findall(r"<td>[01]\.\d\d</td>", twin)) == 2


def test_without_sets_the_reference_is_not_judged_by_itself(made):
    _, text = made
    rows = between(text, 'id="models-table"', "</table>").split("<tr>")
    assert [row.endswith("<td>–</td></tr>") or row.endswith("<td>–</td></tr></tbody>")
            for row in rows if row.startswith("<td>word2vec, 2 epochs")] == [True, True]


def test_a_part_of_the_ablation_is_compared_with_the_default_of_its_size(
        stream, sets, tmp_path):
    done = run("ablation.py", stream, "--out", tmp_path, "--sets", sets, "--k", "300",
               "--small", "60", *TINY, "--only", "counting")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "ablation.md").read_text()
    small = between(text, "### Counting, K = 60\n", "\n\n").split("\n")
    assert [line.split("|")[1].strip() for line in small if line][2:] == [
        "space-saving, gate", "what sub-sampling keeps"]
    assert "### Vocabulary" not in text
    assert "paper/ablation.py demo.txt --sets sets --k 300 --small 60" in text
    assert "--only counting" in text and "The noise between seeds was not measured" in text
