"""The parts of paper/ that need no training: keys, claims, answers and plots."""

import re
import sys
from collections import namedtuple

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "paper"))

import answers  # noqa: E402
import claims  # noqa: E402
import grid  # noqa: E402
import runs  # noqa: E402
import svg  # noqa: E402


def test_the_key_of_a_run_is_what_it_reads_and_does(tmp_path):
    def key(text, *arguments):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        path.write_text(text)
        return runs.Store(tmp_path / "runs", "wordtide").key(
            runs.Job("name", "train", path, "-o", runs.Made("tide"), *arguments))

    keys = [key("a text"), key("a text", "--dim", 8), key("a text", "--dim", 9),
            key("another")]
    assert len(set(keys)) == len(keys)
    assert key("a text") == keys[0]  # another path


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
    return [row.text for row in claims.judge(found) if row.verdict == "fails"]


def test_the_papers_own_numbers_hold():
    assert {row.verdict for row in claims.judge(Found())} == {"holds"}


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

    assert claims.judge(OneOfTwo())[-1].verdict == "partly"


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
    return answers.as_markdown(outcomes, ENDS, 70000, 7000)


def part(text, title):
    return text.split(f"**{title}**", 1)[1].split("**", 1)[0]


@pytest.mark.parametrize("gain,said", [
    (0.03, "3.0 points worse than constant"), (-0.03, "3.0 points better than constant"),
    (0.009, "not distinguishable from constant (−0.9)"),
    (-0.009, "not distinguishable from constant (+0.9)")])
def test_an_answer_follows_the_figures_and_their_noise(gain, said):
    text = answered(lambda row: gain if row.choice == "constant" else 0)
    assert said in part(text, "Rates.")
    assert "spans 0.50 points" in text


@pytest.mark.parametrize("gain,said", [
    (0.03, "speak against it"), (-0.03, "as the paper supposes"), (0.0, "question open")])
def test_smoothing_by_over_counting_is_found_only_where_it_is(gain, said):
    """Without the gate, smoothing gains more, less, or as much."""
    text = answered(lambda row: -gain if row.choice == "no gate, power 1" else 0)
    assert said in part(text, "A happy side effect?")


@pytest.mark.parametrize("better", ["athena", "incremental"])
def test_the_default_may_lose_to_its_parents(better):
    text = answered(lambda row: 0.1 if row.choice == better else 0)
    assert f"default is 10.0 points worse than {better}, the best of the others" in text


def test_without_seeds_nothing_is_judged():
    text = answered(lambda row: 0.2 if row.choice == "constant" else 0, only=["rate"])
    assert "The noise between seeds was not measured" in text
    assert "−20.0 points against constant" in part(text, "Rates.")
    assert "better" not in text and "worse" not in text


def test_questions_whose_rows_were_not_run_are_left_out():
    text = answered(lambda row: 0, only=["noise"])
    assert text.count("**") == 2 and "Ejected too soon" in text


@pytest.mark.parametrize("low,high", [(0, 1), (-0.31, 0.97), (0, 17e6), (3e-4, 4e-4)])
def test_ticks_are_round_and_inside(low, high):
    ticks = svg.linear_ticks(low, high)
    step = ticks[1] - ticks[0]
    mantissa = float(f"{step:.6e}".split("e")[0])
    assert mantissa in (1, 2, 5)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 * step <= t <= high + 1e-9 * step for t in ticks)


def test_labels_never_cover_each_other():
    plot = svg.Plot(svg.Axis(0, 1), svg.Axis(0, 1), right=100)
    for value in (0.0, 0.01, 0.5, 0.505, 0.51, 0.99, 1.0, 1.0):
        plot.rule(value, "s-paper", "label")
    page = plot.svg("labels")
    places = [float(y) for y in re.findall(r'class="label s-paper" x="[\d.]+" y="([\d.]+)"',
                                           page)]
    gaps = [b - a for a, b in zip(places, places[1:])]
    assert len(places) == 8 and min(gaps) >= svg.LABEL_HEIGHT - 0.11
    assert 0 < places[0] and places[-1] < plot.height - 20


def test_points_keep_their_places_in_the_path():
    """Moves are relative; their sums match the axes to a tenth."""
    plot = svg.Plot(svg.Axis(0, 1), svg.Axis(0, 1))
    wanted = [(i / 97 % 1, i * i / 89 % 1) for i in range(200)]
    plot.dots(wanted, "s-paper")
    found = []
    for path in re.findall(r'd="([^"]+)"', plot.svg("dots")):
        x = y = 0
        for across, down in re.findall(r"m(-?[\d.]+)( ?-?[\d.]+)h0", path):
            x, y = x + float(across), y + float(down)
            found.append((x, y))
    for x, y in (plot.at(*point) for point in wanted):
        found.remove(next(f for f in found if abs(f[0] - x) < 0.06 and abs(f[1] - y) < 0.06))
    assert not found
