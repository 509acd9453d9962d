"""A log that cannot be written costs the training nothing.

It may be closed, on a full disk, a pipe whose reader has gone, or a pipe or terminal that nobody reads: some lines
are lost, and nothing else.
"""

import os
import pty
import re
import subprocess
import termios
import time

import pytest
from conftest import BINARY, PATIENCE, TINY, start



def fill(log):
    """Until it takes no more; returns how much that was."""
    filled = 0
    os.set_blocking(log, False)
    try:
        while True:
            filled += os.write(log, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(log, True)
    return filled


def nobody_reads():
    end, log = os.pipe()
    fill(log)
    return end, log


def reader_has_gone():
    end, log = os.pipe()
    os.close(end)
    return None, log


def full_disk():
    return None, os.open("/dev/full", os.O_WRONLY)


def stopped_terminal():
    """As by Ctrl-S."""
    end, log = pty.openpty()
    termios.tcflow(log, termios.TCOOFF)
    return end, log


def line_of(text, folder):
    return [BINARY, "train", str(text), "--checkpoint", str(folder / "c.tide"), "--every", "10000",
            "--older", "0", "-o", str(folder / "m.tide"), *TINY]


@pytest.mark.parametrize("make", [nobody_reads, reader_has_gone, full_disk, stopped_terminal])
def test_a_log_that_takes_nothing(text, whole, tmp_path, figure, make):
    end, log = make()
    process = start(*line_of(text, tmp_path)[1:], stderr=log)
    assert process.wait(PATIENCE) == 0
    assert (tmp_path / "m.tide").read_bytes() == whole
    os.close(log)
    if end is not None:
        os.close(end)
    figure("exit 0, byte-equal")


@pytest.mark.parametrize("streams", ["2>&-", "<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(text, whole, tmp_path, figure, streams):
    """Their numbers go to no file: neither the model nor what is beside it has a line of the log in it."""
    script = f'exec "$@" {streams}'
    done = subprocess.run(["sh", "-c", script, "sh", *line_of(text, tmp_path)],
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0
    assert (tmp_path / "m.tide").read_bytes() == whole
    assert {path.name for path in tmp_path.iterdir()} == {"c.tide", "m.tide"}
    figure("exit 0, byte-equal")


def test_closed_streams_cannot_be_used(tmp_path):
    """What stands in for them is no empty text, and takes no words."""
    script = 'exec "$@" <&-'
    done = subprocess.run(["sh", "-c", script, "sh", BINARY, "train", "-o", tmp_path / "m.tide"],
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 1 and b"Bad file descriptor" in done.stderr
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", BINARY, "demo", "--tokens", "100"],
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 1 and b"cannot write to standard output" in done.stderr


def test_how_much_was_lost_is_reported(tmp_path):
    end, log = os.pipe()
    filled = fill(log)
    process = start("train", "--checkpoint", tmp_path / "c.tide", "--every", "1", *TINY,
                    stdin=subprocess.PIPE, stderr=log)
    process.stdin.write(b"some words\n")
    process.stdin.flush()
    while not (tmp_path / "c.tide").exists():  # it has begun, and its first line is lost
        assert process.poll() is None
        time.sleep(0.01)
    while filled:
        filled -= len(os.read(end, filled))
    process.communicate(b"and more\n")
    os.close(log)
    said = os.fdopen(end).read()
    assert process.returncode == 0
    assert re.match(r"wordtide: \d+ log lines dropped because ", said) and "msg=finished" in said
