"""A signal ends training cleanly: it finishes the sentence, saves the model and exits with 0."""

import os
import signal
import time

import pytest

from conftest import PATIENCE, SMALL, Running, send_twice, shown_on_terminal, start, wordtide


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_saves_while_text_arrives(tmp_path, text, number, threads):
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
    running.thread.join(PATIENCE)
    running.process.send_signal(number)
    assert running.finish() == 0
    assert wordtide("words", path).stdout.count("\n") > 10


def test_a_signal_before_any_text_creates_no_model(tmp_path):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.wait_for("msg=memory")
    running.process.terminate()
    assert running.finish() == 130
    assert not path.exists()


def test_a_signal_ends_the_wait_for_a_named_pipe(tmp_path):
    path = tmp_path / "m.tide"
    os.mkfifo(tmp_path / "pipe")
    running = Running("-o", path, *SMALL, tmp_path / "pipe")
    running.wait_for("msg=memory")
    running.process.terminate()
    assert running.finish() == 130
    assert not path.exists()


def test_a_second_signal_exits_at_once(tmp_path, text):
    """Both are pending when the stopped process continues, so the second follows at once."""
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.feed(text)
    running.wait_for("msg=training")
    for number in signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT:
        running.process.send_signal(number)
    assert running.finish() == 130
    assert not path.exists()


def test_a_stopped_model_can_be_resumed(tmp_path, text):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.feed(text)
    running.wait_for("msg=training")
    running.process.terminate()
    assert running.finish() == 0
    assert wordtide("train", "--resume", path, input=text).returncode == 0


def expect_saved(running, path):
    """SIGUSR1 saves the model, and training continues."""
    running.process.send_signal(signal.SIGUSR1)
    running.wait_for("checkpoint: ")
    assert wordtide("check", path).returncode == 0
    assert running.process.poll() is None


@pytest.mark.parametrize("option", ["-o", "--checkpoint"])
@pytest.mark.parametrize("threads", [1, 2])
def test_usr1_saves_and_continues(tmp_path, text, option, threads):
    path = tmp_path / "m.tide"
    running = Running(option, path, *SMALL, "--threads", threads)
    running.feed(text)
    running.wait_for("msg=training")
    for _ in range(3):
        expect_saved(running, path)
    running.process.terminate()
    assert running.finish() == 0


def test_usr1_saves_while_the_pipe_is_silent(tmp_path):
    """Repeatedly, even without new text: the disk may have been full before."""
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.wait_for("msg=memory")
    for _ in range(3):
        expect_saved(running, path)
    running.process.stdin.write(b"some words\n")
    running.wait_for("msg=training")
    expect_saved(running, path)
    assert len(wordtide("words", path).stdout.splitlines()) == 2
    running.process.terminate()
    assert running.finish() == 0


def test_usr1_does_not_end_the_wait_for_a_named_pipe(tmp_path):
    path = tmp_path / "m.tide"
    os.mkfifo(tmp_path / "pipe")
    running = Running("-o", path, *SMALL, tmp_path / "pipe")
    running.wait_for("msg=memory")
    for _ in range(20):  # whether it waits already cannot be observed
        running.process.send_signal(signal.SIGUSR1)
        time.sleep(0.01)
    (tmp_path / "pipe").write_bytes(b"some words\n")
    running.wait_for("msg=finished")
    assert running.finish() == 0
    assert len(wordtide("words", path).stdout.splitlines()) == 2


def test_hup_is_ignored_without_a_terminal(tmp_path, text):
    path = tmp_path / "m.tide"
    running = Running("-o", path, *SMALL)
    running.feed(text)
    running.wait_for("msg=training")
    running.process.send_signal(signal.SIGHUP)
    expect_saved(running, path)
    running.process.terminate()
    assert running.finish() == 0


def on_terminal(path, on_hup=signal.SIG_DFL):
    """Training on a terminal that has shown its first words. SIGHUP is reset, since it may be ignored here."""
    watcher, terminal = os.openpty()
    process = start("train", "demo:", "-o", path, *SMALL, stderr=terminal,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, on_hup))
    os.close(terminal)
    shown = b""
    while b"words" not in shown:
        shown += os.read(watcher, 4096)
    return process, watcher


def test_hup_saves_when_the_terminal_is_closed(tmp_path):
    """Even if it is sent twice, by the kernel and by the shell."""
    path = tmp_path / "m.tide"
    process, watcher = on_terminal(path)
    send_twice(process, signal.SIGHUP)
    os.close(watcher)
    assert process.wait(PATIENCE) == 0
    assert wordtide("check", path).returncode == 0


def test_hup_stays_ignored_if_it_was_ignored(tmp_path):
    """As nohup does."""
    path = tmp_path / "m.tide"
    process, watcher = on_terminal(path, signal.SIG_IGN)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR1)
    shown = b""
    while b"checkpoint: " not in shown:
        shown += os.read(watcher, 4096)
    process.terminate()
    shown_on_terminal(process, watcher)
