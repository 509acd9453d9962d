"""A signal ends training well: the sentence is finished, the model saved, exit 0."""

import os
import signal

import pytest

from conftest import SMALL, Running, wordtide


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_saves_while_text_comes_in(tmp_path, text, number, threads):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL, "--threads", threads)
    running.feed(text)
    running.wait_for("msg=training")
    running.process.send_signal(number)
    running.wait_for("msg=stopped")
    assert running.finish() == 0
    assert wordtide("words", path).stdout.count("\n") > 10


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_while_the_pipe_is_silent(tmp_path, text, number):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.feed(text)
    running.wait_for("msg=training")
    running.feeding.clear()
    running.thread.join(10)
    running.process.send_signal(number)
    assert running.finish() == 0
    assert wordtide("words", path).stdout.count("\n") > 10


def test_a_signal_before_any_text_saves_an_empty_model(tmp_path):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.wait_for("msg=memory")
    running.process.terminate()
    assert running.finish() == 0
    assert wordtide("words", path).stdout == ""


def test_a_signal_ends_the_wait_for_a_named_pipe(tmp_path):
    path = tmp_path / "m.tide"
    os.mkfifo(tmp_path / "pipe")
    running = Running("-o", path, *SMALL, tmp_path / "pipe")
    running.wait_for("msg=memory")
    running.process.terminate()
    assert running.finish() == 0
    assert wordtide("words", path).stdout == ""


def test_two_signals_end_at_once(tmp_path, text):
    """Both are pending when the stopped process goes on, so the second meets the first."""
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.feed(text)
    running.wait_for("msg=training")
    for number in signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT:
        running.process.send_signal(number)
    assert running.finish() == 130
    assert not path.exists()


def test_a_stopped_model_goes_on(tmp_path, text):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.feed(text)
    running.wait_for("msg=training")
    running.process.terminate()
    assert running.finish() == 0
    assert wordtide("train", "--resume", path, input=text).returncode == 0
