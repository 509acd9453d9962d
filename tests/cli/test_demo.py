"""The demo stream as a command and as a source: its events and its rate."""

import signal
import subprocess
import time

import pytest

from conftest import SMALL, Running, start, wordtide

KINDS = {"birth", "fade", "change", "burst", "season"}


def events(*arguments):
    done = wordtide("demo", "--events", "--truth", "-", *arguments)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return [line[1:] for line in lines if line[0] == "event"]


def test_truth_lists_facts_then_events():
    facts = wordtide("demo", "--truth", "-").stdout
    reported = wordtide("demo", "--events", "--truth", "-", "--tokens", "3e6").stdout
    assert "event" not in facts and reported.startswith(facts)
    lines = [line.split("\t") for line in reported[len(facts):].splitlines()]
    assert {line[0] for line in lines} == {"event"} and {line[1] for line in lines} == KINDS
    groups = {line.split("\t")[1] for line in facts.splitlines() if line.startswith("group\t")}
    for _, kind, word, start_token, end_token, before, after, *shares in lines:
        assert word.islower() and int(start_token) < int(end_token)
        assert (before == "-") == (kind == "birth") and (after == "-") == (kind == "fade")
        assert {before, after} <= groups | {"-"}
        assert len(shares) == 3 and all(0 <= float(share) < 1 for share in shares)
    starts = [int(line[3]) for line in lines]
    assert starts == sorted(starts) and starts[-1] < 3e6


def test_until_limits_the_events():
    def last(*arguments):
        return max(int(event[2]) for event in events(*arguments))

    assert 9e6 < last() < 1e7
    assert 1e6 < last("--tokens", "2e6") < 2e6
    assert 3e6 < last("--tokens", "2e6", "--until", "4e6") < 4e6
    assert 8e7 < last("--until", "1e7", "--pace", "0.1") * 10 < 1e8


def test_a_new_word_does_not_occur_before_its_birth():
    born = {e[1]: (int(e[2]), int(e[3])) for e in events("--tokens", "1e6", "--pace", "2")
            if e[0] == "birth"}
    text = wordtide("demo", "--events", "--pace", "2", "--tokens", "1e6").stdout
    tokens, first = 0, {}
    for line in text.splitlines():
        words = line.split()
        for word in words:
            first.setdefault(word, tokens)
        tokens += len(words)
    assert len(born) >= 4
    for word, (begin, end) in born.items():
        assert begin <= first.get(word, begin) < end
    assert any(word in first for word in born)


def test_events_are_off_by_default():
    plain = wordtide("demo", "--tokens", "3e4").stdout
    assert plain == wordtide("demo", "--tokens", "3e4", "--rate", "1e9").stdout
    assert plain != wordtide("demo", "--tokens", "3e4", "--events").stdout


@pytest.mark.parametrize("arguments, reported", [
    (["--pace", "2"], "pace needs events"),
    (["--events", "--pace", "0"], "from 0.01 to 100"),
    (["--events", "--pace", "quick"], "'quick'"),
    (["--rate", "0"], "rate"),
    (["--rate", "1e10"], "1e9"),
])
def test_invalid_settings_are_reported_in_one_line(arguments, reported):
    done = wordtide("demo", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert reported in done.stderr.splitlines()[0]


def test_output_arrives_line_by_line_at_its_rate():
    """Never more than is due, and not only when a buffer fills."""
    begin = time.monotonic()
    process = start("demo", "--rate", "300", stdout=subprocess.PIPE, bufsize=0)
    words = 0
    for _ in range(15):
        line = process.stdout.readline()
        assert words <= 300 * (time.monotonic() - begin)
        words += len(line.split())
    process.kill()
    process.stdout.close()


def test_training_from_a_slow_stream_saves_stops_and_resumes(tmp_path):
    """While there is nothing to read, checkpoints are saved and signals are handled."""
    path = tmp_path / "m.tide"
    source = "demo:rate=200,events=on,pace=50"
    running = Running(source, "-o", path, *SMALL, "--every", "1s")
    while not path.exists():
        assert running.process.poll() is None
        time.sleep(0.01)
    running.process.send_signal(signal.SIGTERM)
    running.wait_for("msg=stopped")
    assert running.finish() == 0
    more = Running("--resume", path, source)
    more.wait_for("resuming where the last run stopped")
    more.process.terminate()
    assert more.finish() == 0


def test_a_rate_does_not_change_what_is_learned(tmp_path):
    learned = []
    for rate in "0", "20000":
        path = tmp_path / rate
        done = wordtide("train", f"demo:tokens=5000,events=on,rate={rate}", "-o", path, *SMALL)
        assert done.returncode == 0, done.stderr
        vectors = tmp_path / f"{rate}.vec"
        assert wordtide("export", path, "-o", vectors).returncode == 0
        learned.append(vectors.read_bytes())
    assert learned[0] == learned[1] and learned[0]
