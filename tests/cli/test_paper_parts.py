"""The parts of paper/ that need no training: claims, answers, figures, and how scripts end."""

import os
import random
import signal
import subprocess
from collections import namedtuple

import experiments
import pytest
from conftest import BINARY, PATIENCE, ROOT, STARTED
from optional import need_module

import answers
import claims
import figures
import grid
from lab import plots
from lab.document import Document


# -- claims ----------------------------------------------------------------------------


class Found:
    """Measurements as the paper has them, some of them changed."""

    def __init__(self, error=1.5, slow=2.5, r=None, bias=None, dropped=0.6):
        self.error, self.slow, self.dropped = error, slow, dropped
        self.r = {7000: 0.05, 70000: 0.8, 700000: 0.8, **(r or {})}
        self.bias = {7000: 0.2, 70000: 0.0, 700000: -0.1, **(bias or {})}

    def counts(self, k, profile):
        error = 0.0 if k == 700000 else self.error
        bands = [{"rank": rank, "median_error": error if rank > k / 2 else 0.0}
                 for rank in (1000, 5000, 7000, 50000, 70000)]
        return {"mean_error": error, "bands": bands} if profile != "paper" else None

    def agreement(self, k, profile, reference):
        drop = {"1-100": 0.0, "6401-6500": self.dropped if k == 7000 else 0.0}
        return [{"first": a, "second": b, "pearson": self.r[k], "bias": self.bias[k],
                 "undefined": 1 - (1 - drop[a]) * (1 - drop[b])}
                for a, b in [("1-100", "1-100"), ("1-100", "6401-6500"),
                             ("6401-6500", "6401-6500")]]

    def slowness(self, profile):
        return self.slow


def failed(found):
    return [row.text for row in claims.check_all(found) if row.verdict == "fails"]


def test_the_papers_own_numbers_hold():
    assert {row.verdict for row in claims.check_all(Found())} == {"holds"}


@pytest.mark.parametrize("changed,failing,times", [
    ({"error": 0.1}, "relative error of counts, medians", 2),
    ({"error": 9.0}, "relative error of counts, medians", 2),
    ({"slow": 1.9}, "time of the streaming system", 1),
    ({"r": {70000: 0.4}}, "K = 70,000: correlations", 2),
    ({"r": {700000: 0.4}}, "K = 700,000: correlations", 2),
    ({"r": {7000: -0.4}}, "K = 7,000: correlation of rare words", 2),
    ({"bias": {7000: 0.05}}, "K = 7,000: mean bias", 2),
    ({"bias": {70000: 0.1}}, "K = 70,000: mean bias", 2),
    ({"bias": {700000: 0.1}}, "K = 700,000: mean bias", 2),
    ({"dropped": 0.0}, "K = 7,000: undefined pairs", 2),
])
def test_a_claim_that_is_not_met_fails_alone(changed, failing, times):
    found = failed(Found(**changed))
    assert len(found) == times and all(failing in text for text in found)


def test_a_correlation_that_is_not_lower_fails():
    found = failed(Found(r={7000: 0.85}))
    assert len(found) == 4 and "mean correlation here and at 70,000" in found[0]


def test_a_claim_holds_partly_where_one_reading_meets_it():
    class OneOfTwo(Found):
        def slowness(self, profile):
            return 3 if profile == "paper" else 1

    assert claims.check_all(OneOfTwo())[-1].verdict == "partly"


Outcome = namedtuple("Outcome", "row scores cpu_seconds")
ENDS = {(70000, "gate"): {"evicted": 0, "evicted_young": 0, "tokens": 10}}
SPREAD = 0.005  # of the default's three seeds


def answered(change, only=None):
    """The answers if all rows score 0.4, apart from seeds, except where `change` changes a
    row."""
    outcomes = []
    for row in grid.rows(70000, 7000, 10**6, only):
        score = 0.4 + (SPREAD if row.choice == "default, seed 2" else 0) + change(row)
        outcomes.append(Outcome(row, {"mean": 0.9, "strict": score, "known": 0.8}, 1.0))
    document = Document("answers")
    answers.add_answers(document, outcomes, ENDS, 70000, 7000)
    return "\n".join(document.markdown)


def part(text, title):
    return text.split(f"**{title}**", 1)[1].split("**", 1)[0]


@pytest.mark.parametrize("gain,answer", [
    (0.03, "3.0 points worse than constant"), (-0.03, "3.0 points better than constant"),
    (0.009, "not distinguishable from constant (−0.9)"),
    (-0.009, "not distinguishable from constant (+0.9)")])
def test_an_answer_follows_the_figures_and_their_noise(gain, answer):
    text = answered(lambda row: gain if row.choice == "constant" else 0)
    assert answer in part(text, "Learning rates.")
    assert "span 0.50 points" in text


@pytest.mark.parametrize("gain,answer", [
    (0.03, "contradicts the idea"), (-0.03, "as the paper supposes"), (0.0, "question open")])
def test_smoothing_by_over_counting_is_found_only_where_it_is(gain, answer):
    """Without the gate, smoothing gains more, less, or as much."""
    text = answered(lambda row: -gain if row.choice == "no gate, power 1" else 0)
    assert answer in part(text, "A happy side effect?")


@pytest.mark.parametrize("better", ["athena", "incremental"])
def test_the_default_may_lose_to_its_parents(better):
    text = answered(lambda row: 0.1 if row.choice == better else 0)
    assert f"default is 10.0 points worse than {better}, the best of the other" in text


def test_without_seeds_there_is_no_verdict():
    text = answered(lambda row: 0.2 if row.choice == "constant" else 0, only=["optimizer"])
    assert "The noise between seeds was not measured" in text
    assert "−20.0 points against constant" in part(text, "Learning rates.")
    assert "better" not in text and "worse" not in text


def test_questions_whose_rows_were_not_run_are_left_out():
    text = answered(lambda row: 0, only=["noise"])
    assert text.count("**") == 2 and "Evicted too soon" in text


# -- figures ---------------------------------------------------------------------------


def count_file(path, k):
    rng = random.Random(1)
    path.write_text("rank\ttrue\tcount\theld\terror\n" + "".join(
        f"{rank}\t9\t9\t{rng.randrange(2)}\t{rank / k:.4f}\n" for rank in range(1, 2 * k)))
    return path


@pytest.mark.parametrize("k", [50, 1000])
def test_every_word_of_a_small_top_has_its_point(tmp_path, k):
    points = figures.count_points(count_file(tmp_path / "points", k), k)
    assert [rank for rank, _, _ in points] == list(range(1, k + 1))
    assert points[9] == (10, pytest.approx(10 / k, abs=1e-4), points[9][2])


def test_the_points_of_a_large_top_cover_both_scales(tmp_path):
    k = 100_000
    ranks = [rank for rank, _, _ in figures.count_points(count_file(tmp_path / "points", k), k)]
    assert 1000 < len(ranks) <= figures.COUNT_POINTS
    assert ranks[:10] == list(range(1, 11))  # as the logarithm asks for
    gaps = [b - a for a, b in zip(ranks, ranks[1:])]
    assert max(gaps) <= 2 * k / (figures.COUNT_POINTS / 2)  # as the rank itself does


def drawn_points(axes):
    return [tuple(point) for cloud in axes.collections for point in cloud.get_offsets()]


def test_all_points_are_drawn_and_large_errors_at_the_edge():
    need_module("matplotlib")
    held = [(rank, 0.5, rank % 2 == 0) for rank in range(1, 1001)]
    figure = figures.count_panels({"plain": [*held, (1001, 99.0, True)], "gate": held}, 1001,
                                  ("log", "linear"))
    panels = figure.axes
    assert [len(drawn_points(panel)) for panel in panels] == [1001, 1000] * 2
    edge = panels[0].get_ylim()[1]
    assert edge < 1 and max(y for _, y in drawn_points(panels[0])) <= edge
    assert (panels[0].get_xscale(), panels[2].get_xscale()) == ("log", "linear")


def cells(count):
    return [{"first": f"{i}-9", "second": "10-19", "pearson": 0.5, "bias": -0.1,
             "undefined": 0.25} for i in range(count)]


def test_each_pair_of_bands_has_its_panel_and_points():
    need_module("matplotlib")
    found = cells(7)
    clouds = {(cell["first"], cell["second"]): [(0.1, 0.2)] * (i + 1)
              for i, cell in enumerate(found[:-1])}
    figure = figures.agreement("athena", found, clouds)
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert [len(drawn_points(panel)) for panel in shown] == [1, 2, 3, 4, 5, 6, 0]
    assert shown[0].get_title() == "0–9 × 10–19\nr 0.50, bias −0.10\n25% undefined"
    plots.svg(figure)


def test_pairs_of_a_cell_are_model_against_reference(tmp_path):
    path = tmp_path / "points"
    path.write_text("first\tsecond\ta\tb\tcos_a\tcos_b\n1-2\t3-4\tx\ty\t0.1\t0.9\n")
    assert figures.cell_points(path) == {("1-2", "3-4"): [(0.9, 0.1)]}


def steps(*admitted):
    return [{"tokens": 1000 * (i + 1), "cpu_seconds": i / 10, "mean": None if i == 0 else 0.1,
             "admitted": count, "evicted_young": 0} for i, count in enumerate(admitted)]


def test_events_are_counted_per_step():
    assert figures.per_thousand(steps(500, 600, 600, 700), "admitted") == [
        (1000, 500), (2000, 100), (4000, 100)]


def test_curves_have_the_steps_that_have_a_value():
    need_module("matplotlib")
    traces = {"default": steps(5, 6, 7), "fast": steps(5, 6)}
    figure = figures.stream_quality(traces, "mean", [("batch, 1 epoch", 0.3)], "score")
    lines = {line.get_label(): list(line.get_xdata()) for line in figure.axes[0].lines}
    assert lines["default"] == [2000, 3000] and lines["fast"] == [2000]
    assert "batch, 1 epoch" in lines
    plots.svg(figures.churn(traces))
    figure = figures.time(traces, "mean", [(1, 2.0, 0.2), (5, 9.0, 0.4)], "score")
    assert {text.get_text() for text in figure.axes[0].texts} == {"1", "5"}


# -- how the scripts end ---------------------------------------------------------------


def run(script, *arguments, timeout=PATIENCE):
    return subprocess.run(
        ["/usr/bin/python3", str(ROOT / "paper" / script), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=timeout)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text("some words\n" * 100)
    return path


@pytest.fixture
def sets(tmp_path):
    (tmp_path / "sets" / "similarity").mkdir(parents=True)
    (tmp_path / "sets" / "similarity" / "own.txt").write_text("some words 1\n")
    return tmp_path / "sets"


@pytest.mark.parametrize("script", ["report.py", "ablation.py"])
@pytest.mark.parametrize("arguments,message", [
    ([], "no TEXT"), (["/nowhere/text"], "cannot read /nowhere/text"),
    (["PIPE"], "pipe is not a file that can be read twice"),
    (["FOLDER"], " is not a file that can be read twice")])
def test_a_text_that_cannot_be_read_twice_is_reported_in_a_line(script, arguments, message,
                                                               tmp_path):
    os.mkfifo(tmp_path / "pipe")
    places = {"PIPE": tmp_path / "pipe", "FOLDER": tmp_path}
    done = run(script, *(places.get(word, word) for word in arguments), "--out",
               tmp_path / "out", "--command", BINARY)
    assert done.returncode == 1 and message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments,status,message", [
    (["--sets", "/nowhere/sets"], 1, "paper: no folder /nowhere/sets"),
    (["--command", "/nowhere/program"], 1, "paper: no program /nowhere/program"),
    (["--set", "window"], 2, "'window' is not NAME=VALUE"),
    (["--k", "0"], 2, "0 is not a whole number of at least 1"),
    (["--bands", "9-1"], 2, "9-1 is not a band of ranks"),
    (["--out", "/dev/null/out"], 1, "paper: /dev/null/out")])
def test_what_cannot_be_used_is_reported_in_a_line(text, tmp_path, arguments, status, message):
    need_module("matplotlib")
    done = run("report.py", text, "--out", tmp_path / "out", "--command", BINARY, *arguments)
    assert done.returncode == status and message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_an_unknown_factor_is_reported_with_the_known_ones(text, sets, tmp_path):
    done = run("ablation.py", text, "--sets", sets, "--only", "magic", "--command", BINARY)
    assert done.returncode == 1
    assert done.stderr.startswith("ablation: no factor 'magic'; there are: contexts, counting")


def test_of_several_runs_the_one_that_failed_is_named(text, tmp_path):
    """All others wait forever and are killed."""
    need_module("matplotlib")
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\ncase $* in *incremental*) echo broken >&2; exit 1;; esac\n"
                       "exec sleep 600\n")
    program.chmod(0o755)
    done = run("report.py", text, "--out", tmp_path, "--k", "60", "--jobs", "6",
               "--command", program, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "paper: incremental-60: broken"


@pytest.mark.parametrize("script,first", [
    ("report.py", b"paper-60\n"), ("ablation.py", b"default-default-60\n")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_script_ends_at_once_and_leaves_nothing(text, sets, tmp_path, script, first,
                                                          number):
    need_module("matplotlib")
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\necho $$ > $0.pid.half\nmv $0.pid.half $0.pid\n"
                       "exec sleep 600\n")
    endless.chmod(0o755)
    process = subprocess.Popen(
        ["/usr/bin/python3", str(ROOT / "paper" / script), str(text), "--out", str(tmp_path),
         "--sets", str(sets), "--k", "60", "--command", str(endless)],
        stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    STARTED.append(process)
    assert process.stderr.readline() == first
    pid = tmp_path / "endless.pid"
    while not pid.exists():
        assert process.poll() is None
    process.send_signal(number)
    process.stderr.read()
    assert process.wait(PATIENCE) == 130
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {".gitignore"}
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
