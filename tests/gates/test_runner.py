"""The runner counts every test, and nothing that goes wrong counts as passed."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = str(Path(__file__).resolve().parents[2] / "scripts" / "run_tests")
LOADER = importlib.machinery.SourceFileLoader("run_tests", SCRIPT)
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", LOADER))
LOADER.exec_module(runner)


def counts(outcome):
    return outcome.passed, outcome.failed, len(outcome.skipped)


@pytest.mark.parametrize(
    ("status", "output", "expected"),
    [
        (0, "1..2\nok 1 - a\nok 2 - b\n# ok - tests\n", (2, 0, 0)),
        (1, "1..2\nok 1 - a\nnot ok 2 - b\n# why\n", (1, 1, 0)),
        (0, "1..2\nok 1 - a\nnot ok 2 # SKIP b\n", (1, 0, 1)),
        (0, "1..1\nok 1 - a\n1..1\nok 1 - b\n", (2, 0, 0)),
        (0, "ok 1 - a\nok 2 - b\n1..2\n", (2, 0, 0)),
        (0, "1..2\nok 1 - a\n", (1, 1, 0)),  # ended early
        (0, "", (0, 1, 0)),  # said nothing
        (99, "1..1\nok 1 - a\n", (1, 1, 0)),  # passed, but the sanitizer had a word
        (-11, "1..3\nok 1 - a\n", (1, 1, 0)),  # crashed
        (-6, "1..3\nnot ok 1 - a\n", (0, 2, 0)),  # failed, then crashed
        (None, "1..3\nok 1 - a\n", (1, 1, 0)),  # hung
        (1, "1..5\nnot ok 0 - two [  FAILED  ] GROUP SETUP\n", (0, 1, 0)),
    ],
)
def test_results_in_tap_are_counted(status, output, expected):
    assert counts(runner.judge_tap(status, output, 1)) == expected


@pytest.mark.parametrize(
    ("status", "results", "expected"),
    [
        (0, '<testsuites><testsuite tests="3" skipped="1"/></testsuites>', (2, 0, 1)),
        (1, '<testsuite tests="3" failures="1" errors="1"/>', (1, 2, 0)),
        (2, '<testsuite tests="3"/>', (3, 1, 0)),  # pytest was interrupted
        (3, "<testsu", (0, 1, 0)),
        (4, None, (0, 1, 0)),
    ],
)
def test_results_of_pytest_are_counted(status, results, expected, tmp_path):
    path = tmp_path / "results.xml"
    if results is not None:
        path.write_text(results)
    assert counts(runner.judge_pytest(status, "", 1, path)) == expected


def test_the_reasons_of_skipped_tests_are_kept(tmp_path):
    said = runner.judge_tap(0, "1..2\nok 1 - a\nok 2 - b # SKIP no disk\n", 1)
    assert said.skipped == ["no disk"]
    path = tmp_path / "results.xml"
    path.write_text('<testsuite tests="2" skipped="1"><testcase><skipped message="no browser"/></testcase></testsuite>')
    assert runner.judge_pytest(0, "", 1, path).skipped == ["no browser"]


def test_lines_are_shown_before_a_program_ends(capfd):
    script = "import sys; print('tests/cli/test_x.py ..s', flush=True); print('more'); sys.stdin.read()"
    shown = []
    status, output = runner.run([sys.executable, "-c", script], 60, None, shown.append)
    assert status == 0 and shown == output.splitlines() == ["tests/cli/test_x.py ..s", "more"]
    for line in shown:
        runner.show_progress(line)
    assert capfd.readouterr().out == "       tests/cli/test_x.py ..s\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"!! build/"}, {"!! build/"}, (1, 0, 0)),
        ({"!! build/"}, {"!! build/", "?? left"}, (0, 1, 0)),
        ({"!! build/"}, {"!! build/", "!! left.tide"}, (0, 1, 0)),
        ({"?? mine"}, {"?? mine", "?? left"}, (0, 0, 0)),  # somebody works here
        (None, None, (0, 0, 0)),  # no repository
    ],
)
def test_what_tests_leave_in_a_clean_tree_is_a_failure(before, after, expected, monkeypatch):
    monkeypatch.setattr(runner, "untracked", lambda: after)
    assert counts(runner.judge_tree(before)) == expected


def test_a_program_that_hangs_is_ended_with_its_children():
    script = "import subprocess; print('begun', flush=True); subprocess.run(['sleep', '60'])"
    status, output = runner.run([sys.executable, "-c", script], 1, None)
    assert status is None
    assert output == "begun\n"


@pytest.mark.parametrize("text", [
    "==1==ERROR: AddressSanitizer: heap-buffer-overflow",
    "==1==ERROR: LeakSanitizer: detected memory leaks",
    "x.c:1:2: runtime error: signed integer overflow",
    "WARNING: ThreadSanitizer: data race (pid=1)",
])
def test_a_report_that_no_test_noticed_is_a_failure(text, tmp_path):
    (tmp_path / "report.1").write_text(text)
    outcome = runner.Outcome(passed=3)
    runner.add_reports(outcome, tmp_path, "")
    assert counts(outcome) == (3, 1, 0)


def test_a_failed_allocation_is_not_a_report(tmp_path):
    text = "==1==WARNING: ThreadSanitizer failed to allocate 0xffffffff bytes"
    (tmp_path / "report.1").write_text(text)
    outcome = runner.Outcome(passed=3)
    runner.add_reports(outcome, tmp_path, "")
    assert counts(outcome) == (3, 0, 0)
