"""bench/lab: measured runs, kept results, tables, documents and plots, and the texts of bench/."""

import json
import random
import sys
import threading
import time

import experiments
import pytest
from optional import need_module

import texts
from lab import Failed, cache, document, plots, running, sets, tables
from lab.cache import Job, Output, Store

MIB = 1 << 20


# -- running ---------------------------------------------------------------------------


def python(code):
    return [sys.executable, "-c", code]


def test_a_run_has_its_output_log_and_usage():
    used = running.measure(python(
        "import sys; x = b'x' * (80 << 20); print('out'); print('log', file=sys.stderr)"))
    assert (used.output, used.log) == ("out\n", "log\n")
    assert used.cpu > 0 and used.wall > 0
    assert 80 * MIB < used.peak < 500 * MIB


def test_a_shell_line_reads_what_it_is_fed():
    used = running.measure("tr a-z A-Z", feed=iter([b"one ", b"two"]))
    assert used.output == "ONE TWO"


def test_a_command_may_end_before_it_has_read_everything():
    assert running.measure(["true"], feed=iter([b"x" * MIB] * 4)).output == ""


@pytest.mark.parametrize("line,message", [
    ("echo first >&2; echo last >&2; echo Try sh --help >&2; exit 3", "last"),
    ("exit 3", "exit status 3"), ("kill -9 $$", "exit status -9")])
def test_a_failed_run_reports_the_last_line_of_its_log(line, message):
    with pytest.raises(Failed, match=f"^job: {message}$"):
        running.measure(line, name="job")


def test_a_stopped_runner_kills_what_runs_and_starts_nothing():
    runner, failed = running.Runner(), []

    def run():
        with pytest.raises(Failed) as failure:
            runner.measure(["sleep", "600"])
        failed.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    while not runner.children:
        time.sleep(0.01)
    runner.stop()
    thread.join()
    assert failed and not runner.children
    with pytest.raises(Failed, match="stopped"):
        runner.measure(["true"])


def large_sum(size):
    return sum(bytearray(size))


def test_work_apart_does_not_count_for_later_runs():
    assert running.apart(large_sum, 300 * MIB) == 0
    assert running.measure(["true"]).peak < 300 * MIB


# -- cache -----------------------------------------------------------------------------

# Prints its arguments as JSON, writes the file after -o, and logs each run.
PROGRAM = """#!/bin/sh
[ "$1" = fail ] && { echo broken >&2; exit 1; }
echo "$1" >> "$0.log"
out=; for word; do [ "$out" = next ] && { echo model > "$word"; out=; }
[ "$word" = -o ] && out=next; done
echo "{\\"what\\": \\"$1\\"}"
"""


@pytest.fixture
def store(tmp_path):
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    (tmp_path / "text").write_text("some text")
    return Store(tmp_path / "runs", program, workers=4)


def log_of(store):
    path = store.folder.parent / "program.log"
    return path.read_text().split() if path.exists() else []


def model_job(store):
    return Job("model", "train", store.folder.parent / "text", "-o", Output("tide"))


def test_the_key_of_a_job_is_what_it_reads_and_does(tmp_path):
    def key(text, *arguments):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        path.write_text(text)
        return Store(tmp_path / "runs", "wordtide").key(
            Job("name", "train", path, "-o", Output("tide"), *arguments))

    keys = [key("a text"), key("a text", "--dim", 8), key("a text", "--dim", 9),
            key("another")]
    assert len(set(keys)) == len(keys)
    assert key("a text") == keys[0]  # another path


def test_a_job_runs_once_and_after_those_it_needs(store):
    model = model_job(store)
    infos = [Job("info", "info", model, str(number)) for number in range(3)]
    results = store.run_all(infos)
    assert [result["printed"] for result in results] == [[{"what": "info"}]] * 3
    assert log_of(store)[0] == "train" and log_of(store).count("train") == 1
    assert results[0]["command"][1] == str(store.path(model))
    again = Store(store.folder, store.command)
    assert again.run_all([model, *infos])[1:] == results
    assert again.made == [] and len(log_of(store)) == 4


def test_a_deleted_model_is_trained_only_if_needed(store):
    model, info = model_job(store), Job("info", "info", model_job(store))
    store.run_all([model, info])
    store.path(model).unlink()
    store.run_all([model, info])
    assert log_of(store) == ["train", "info"]
    store.run_all([Job("other", "words", model)])
    assert log_of(store) == ["train", "info", "train", "words"]


def test_a_deleted_output_is_written_again(store):
    job = Job("points", "eval", "-o", Output("tsv"))
    store.run(job)
    store.path(job, "tsv").unlink()
    store.run(job)
    assert log_of(store) == ["eval", "eval"] and store.path(job, "tsv").exists()


def test_a_failure_is_named_stops_the_others_and_is_not_kept(store):
    with pytest.raises(Failed, match="^bad: broken$"):
        store.run_all([Job("bad", "fail"), *(Job(f"job{i}", "words", i) for i in range(50))])
    assert len(log_of(store)) < 50
    assert not list(store.folder.glob("bad*"))


def test_a_damaged_result_is_named(store):
    job = Job("info", "info")
    store.run(job)
    path = store.path(job, "json")
    path.write_text(path.read_text()[:20])
    with pytest.raises(Failed, match=f"^{path} is damaged: delete it$"):
        store.run(job)


def test_a_value_is_made_once_and_kept(tmp_path):
    path, calls = tmp_path / "value", []
    for _ in range(2):
        assert cache.kept(path, lambda: calls.append(1) or [1, 2], tuple) == (1, 2)
    assert calls == [1]
    path.write_text("3")
    with pytest.raises(Failed, match="is damaged"):
        cache.kept(path, list, tuple)


# -- sets ------------------------------------------------------------------------------


def test_scores_are_those_of_the_command_and_their_means():
    found = sets.scores({
        "similarity": [{"name": "EN-MEN-TR-3k", "spearman": 0.5, "pairs": 10, "known": 5},
                       {"name": "mine", "spearman": None, "pairs": 10, "known": 0}],
        "strict": [{"spearman": 0.2}, {"spearman": None}],
        "analogy": [{"accuracy": 0.7, "right": 3, "questions": 10}]})
    assert found == {"MEN": 0.5, "mine": None, "analogy": 0.7, "mean": pytest.approx(0.6),
                     "strict": pytest.approx(0.25), "known": 0.25}
    assert sets.scores({})["mean"] is None


def test_the_usual_sets_are_preferred(tmp_path):
    (tmp_path / "similarity").mkdir()
    with pytest.raises(Failed, match="no similarity"):
        sets.Sets(tmp_path)
    (tmp_path / "similarity" / "own.txt").write_text("")
    assert sets.Sets(tmp_path).names == ["own"]
    (tmp_path / "similarity" / "EN-MEN-TR-3k.txt").write_text("")
    assert sets.Sets(tmp_path).names == ["MEN"]
    assert "analogy" not in sets.Sets(tmp_path).commands("model")


# -- tables and documents ----------------------------------------------------------------


@pytest.mark.parametrize("value,options,text", [
    (None, {}, "–"), (-0.5, {"digits": 2}, "−0.50"), (-0.001, {"digits": 2}, "0.00"),
    (0.25, {"digits": 1, "sign": "+"}, "+0.2"), (0.0, {"digits": 1, "sign": "+"}, "0.0")])
def test_numbers_have_a_real_minus_sign(value, options, text):
    assert tables.fraction(value, **options) == text


def test_the_spread_is_the_sample_standard_deviation():
    assert tables.mean_and_deviation([1, 2, 3]) == "2.0 ± 1.0"
    assert tables.mean_and_deviation([2]) == "2.0"


def test_a_table_has_as_many_columns_in_every_row():
    lines = tables.markdown_table(["a", "b", "c"], [["x|y", 1, 2], ["z", 3, None]],
                                  texts=2).splitlines()
    assert lines == ["| a | b | c |", "|---|---|---:|", r"| x\|y | 1 | 2 |",
                     "| z | 3 | None |"]


ANYTHING = "".join(map(chr, range(32, 127))) + "„ä–"


def test_any_text_can_be_shown_literally():
    html = document.inline(document.escaped(ANYTHING))
    assert "<" not in html and experiments.Page(html).open == []
    parser = []
    page = experiments.HTMLParser()
    page.handle_data = parser.append
    page.feed(html)
    page.close()
    assert "".join(parser) == ANYTHING


def test_code_and_bold_become_html():
    assert document.inline("a `b<c` **d `e`** f_g") == (
        "a <code>b&lt;c</code> <b>d <code>e</code></b> f_g")


def test_a_document_says_the_same_in_both_forms(tmp_path):
    paper = document.Document("A & B")
    paper.section("one", "Section <1>")
    paper.heading("Heading")
    paper.text("Text with `code`.")
    paper.note("Note.")
    paper.bullets(["first", "second"])
    paper.facts([("name", "value")])
    paper.table(["x", "y"], [["left", "right"]], "Caption", name="table")
    paper.figure("plot", "Plot", "<svg xmlns='http://www.w3.org/2000/svg'/>", "Drawn.")
    paper.code("make it")
    paper.write(tmp_path / "out", "paper")
    html = (tmp_path / "out" / "paper.html").read_text()
    markdown = (tmp_path / "out" / "paper.md").read_text()
    page = experiments.check_page(html)
    assert set(page.ids) == {"one", "table", "plot"} and len(page.figures) == 1
    assert (tmp_path / "out" / "figures" / "plot.svg").read_text() == page.figures[0]
    assert "![Plot](figures/plot.svg)" in markdown and "\n| left | right |\n" in markdown
    for word in ("Heading", "Note.", "first", "value", "Caption", "Drawn.", "make it"):
        assert word in html and word in markdown


# -- plots -----------------------------------------------------------------------------


def drawing(label="a $label$ & <b>"):
    drawn, axes = plots.figure()
    rng = random.Random(1)
    axes.plot([1, 10, 100], [0.1, 0.2, 0.15], label=label)
    plots.dots(axes, [(rng.uniform(1, 100), rng.random()) for _ in range(500)], plots.RED)
    plots.name_axes(axes, "x", "y", log_x=True)
    plots.legend(axes)
    return plots.svg(drawn)


def test_the_same_figure_has_the_same_bytes():
    need_module("matplotlib")
    assert drawing() == drawing()
    assert "<dc:date>" not in drawing()


def test_text_in_a_figure_is_text():
    need_module("matplotlib")
    figure = drawing()
    root = experiments.xml.fromstring(figure)
    texts_ = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "a $label$ & <b>" in texts_
    assert {"1", "2", "5", "10", "100"} <= set(texts_)  # the ticks of less than three decades


def test_a_figure_has_no_color_of_a_theme():
    """Neither black nor white, which are invisible on one of the two backgrounds."""
    need_module("matplotlib")
    assert "#000000" not in drawing() and "#ffffff" not in drawing()


@pytest.mark.parametrize("value,text", [(0, "0"), (1200, "1.2k"), (17e6, "17M"), (-0.5, "−0.5"),
                                        (0.25, "0.25"), (999, "999")])
def test_numbers_on_axes_are_short(value, text):
    assert plots.short_number(value) == text


# -- texts -----------------------------------------------------------------------------


def test_sentences_are_the_lines_cut_at_a_thousand_words(tmp_path, monkeypatch):
    rng = random.Random(1)
    monkeypatch.setattr(texts, "BLOCK", 512)
    for _ in range(30):
        lines = [[b"w" * rng.randrange(1, 9) for _ in range(rng.choice([0, 1, 5, 999, 1000,
                                                                        1001, 2500]))]
                 for _ in range(rng.randrange(1, 6))]
        path = tmp_path / "text"
        path.write_bytes(b"\n".join(b" ".join(line) for line in lines))
        wanted = [line[at:at + 1000] for line in lines for at in range(0, len(line), 1000)]
        assert list(texts.sentences(path)) == wanted


def test_a_prefix_ends_in_the_middle(tmp_path):
    path, copy = tmp_path / "text", tmp_path / "copy"
    path.write_bytes(b"one two three")
    assert texts.write_lines(path, copy, 7) == 2 and copy.read_bytes() == b"one two\n"


def test_results_are_json(store):
    store.run(Job("info", "info"))
    kept = json.loads(store.path(Job("info", "info"), "json").read_text())
    assert kept["peak_bytes"] > 0 and kept["cpu_seconds"] >= 0
