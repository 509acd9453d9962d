"""Exactly once for pipes: what is in a spool is learned once.

The oracle is the model of the same text from a pipe without a spool: with one thread, text that
was lost or learned twice anywhere makes other bytes. WORDTIDE_KILLS says how often the process is
killed; 200 is a long test.
"""

import array
import fcntl
import gzip
import os
import pty
import random
import signal
import socket
import subprocess
import termios
import threading
import time

import pytest

from killing import text_in, time_limit  # noqa: F401
from running import BINARY, SMALL, counts, start, train, wordtide
from watching import PATIENCE, wait_until

KILLS = int(os.environ.get("WORDTIDE_KILLS", "20"))
ROOMY = ["--vocab", "5000", "--dim", "8", "--threads", "1"]  # no word has to leave


def numbered(words, seed=1):
    """Every word occurs once, so no position looks like another."""
    names = [f"w{number}" for number in range(words)]
    dice = random.Random(seed)
    lines, at = [], 0
    while at < words:
        size = dice.randint(1, 12)
        lines.append(" ".join(names[at:at + size]))
        at += size
    return ("\n".join(lines) + "\n").encode()


def plain(path, text, *arguments):
    """The model without a spool."""
    done = wordtide("train", "-o", path, *arguments, input=text)
    assert done.returncode == 0, done.stderr
    return path.read_bytes()


def fill(text):
    """The read end of a pipe with all of the text in it; the caller keeps it open."""
    reading, writing = os.pipe()
    assert len(text) <= 60000
    os.write(writing, text)
    os.close(writing)
    return reading


def waiting_in(pipe):
    """The unread bytes of a pipe."""
    size = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0]


# -- the same model -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    [], ["--every", "1000"], ["--spool-limit", "1M"], ["--spool-sync", "always"],
    ["--spool-sync", "none", "--every", "3000"]])
def test_a_spool_does_not_change_the_model(tmp_path, text, options):
    long = text * 20  # larger than the smallest spool
    whole = plain(tmp_path / "whole.tide", long, *SMALL)
    train(tmp_path / "m.tide", long, "--spool", tmp_path / "s", *options)
    assert (tmp_path / "m.tide").read_bytes() == whole
    assert text_in(tmp_path / "s") == 0


def test_text_without_a_newline_and_empty_text_are_spooled(tmp_path):
    whole = plain(tmp_path / "whole.tide", b"one two", *SMALL)
    train(tmp_path / "m.tide", b"one two", "--spool", tmp_path / "s")
    assert (tmp_path / "m.tide").read_bytes() == whole
    done = wordtide("train", "-o", tmp_path / "n.tide", *SMALL, "--spool", tmp_path / "s")
    assert done.returncode == 3 and not (tmp_path / "n.tide").exists()


def test_sockets_and_terminals_are_spooled_too(tmp_path):
    lines = numbered(600)  # no more than a terminal holds
    whole = plain(tmp_path / "whole.tide", lines, *ROOMY)
    near, far = socket.socketpair()
    far.sendall(lines)
    far.close()
    done = wordtide_from(near.fileno(), "-o", tmp_path / "a.tide", *ROOMY, "--spool",
                         tmp_path / "a")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.tide").read_bytes() == whole

    master, slave = pty.openpty()
    quiet = termios.tcgetattr(slave)
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, quiet)
    process = start("train", "-", "-o", tmp_path / "b.tide", *ROOMY, "--spool", tmp_path / "b",
                    stdin=slave, stderr=subprocess.PIPE)
    os.close(slave)
    for line in lines.splitlines(keepends=True):
        os.write(master, line)
    os.write(master, b"\x04")
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, said
    assert (tmp_path / "b.tide").read_bytes() == whole


def test_columns_keep_their_names_after_a_kill(tmp_path):
    rows = b"id,body\n" + b"".join(b"x%d,a%d b%d\n" % (n, n, n) for n in range(800))
    arguments = [*ROOMY, "--records", "csv", "--text", "body"]
    whole = plain(tmp_path / "whole.tide", rows, *arguments)
    pipe = fill(rows)
    spool, model = tmp_path / "s", tmp_path / "m.tide"
    begun = start("train", "-o", model, *arguments, "--spool", spool, "--every", "300",
                  "--checkpoint", tmp_path / "c.tide", stdin=pipe, stderr=subprocess.PIPE)
    wait_until((tmp_path / "c.tide").exists)
    begun.kill()
    begun.wait(PATIENCE)
    done = wordtide_from(pipe, "-o", model, "--spool", spool, "--checkpoint",
                         tmp_path / "c.tide", "--continue")
    assert done.returncode == 0, done.stderr
    assert model.read_bytes() == whole


def wordtide_from(pipe, *arguments, **options):
    """Runs the command with this standard input."""
    return subprocess.run([BINARY, "train", "-", *map(str, arguments)], stdin=pipe,
                          capture_output=True, text=True, timeout=PATIENCE, **options)


# -- killed at any moment -------------------------------------------------------------------------


def feed(fifo, text, dice, done):
    """Writes pieces of random sizes, slowly enough for kills in between."""
    at = 0
    while at < len(text) and not done.is_set():
        size = dice.randint(1, 2 * len(text) // (40 * KILLS) + 2)
        at += os.write(fifo, text[at:at + size])
        done.wait(0.003)


def test_nothing_is_lost_or_learned_twice_when_killed(tmp_path, figure):
    dice = random.Random(7)
    lines = numbered(4900)
    whole = plain(tmp_path / "whole.tide", lines, *ROOMY)
    model, path, spool = tmp_path / "m.tide", tmp_path / "fifo", tmp_path / "s"
    os.mkfifo(path)
    fifo = os.open(path, os.O_RDWR)  # the supervisor
    done = threading.Event()
    writer = threading.Thread(target=feed, args=(fifo, lines, dice, done))
    command = ["train", path, "--spool", spool, "--every", "100", "-q"]
    writer.start()
    try:
        for _ in range(KILLS):
            where = ["--resume", model] if model.exists() else ["-o", model, *ROOMY]
            process = start(*command, *where, stderr=subprocess.PIPE)
            if dice.random() < 0.7:
                wait_until(lambda: text_in(spool) > 0 or not writer.is_alive())
            time.sleep(dice.random() * 0.1)  # any moment
            process.kill()
            said = process.communicate(timeout=PATIENCE)[1]
            assert process.returncode == -signal.SIGKILL, said
    except BaseException:
        done.set()
        raise
    writer.join(PATIENCE + KILLS)
    where = ["--resume", model] if model.exists() else ["-o", model, *ROOMY]
    process = start(*command, *where, stderr=subprocess.PIPE)
    wait_until(lambda: waiting_in(fifo) == 0)
    os.close(fifo)
    said = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 0, said
    found = counts(model)
    wrong = {word: count for word, count in found.items() if count != 1}
    figure(f"{KILLS} kills, {4900 - len(found)} lost, {len(wrong)} doubled")
    assert len(found) == 4900 and not wrong
    assert model.read_bytes() == whole


def test_a_repetitive_stream_is_not_mistaken_for_spooled_text(tmp_path):
    """The last piece is marked as consumed, so a repetition counts as new text."""
    reading, writing = os.pipe()
    spool, model = tmp_path / "s", tmp_path / "m.tide"
    command = ["-o", model, *ROOMY, "--spool", spool]
    for _ in range(3):
        before = text_in(spool) if spool.exists() else 0
        process = start("train", *command, stdin=reading, stderr=subprocess.PIPE)
        os.write(writing, b"tick tock\n")
        wait_until(lambda: spool.exists() and text_in(spool) == before + 16 + 10 + 16)
        process.kill()
        process.wait(PATIENCE)
    os.close(writing)
    done = wordtide_from(reading, *command)
    assert done.returncode == 0, done.stderr
    assert counts(model) == {"tick": 3, "tock": 3}


@pytest.mark.parametrize("ending", [b"", b"and half a sen"])
def test_stopping_keeps_unlearned_text(tmp_path, ending):
    lines = numbered(3000) + ending
    whole = plain(tmp_path / "whole.tide", lines, *ROOMY)
    reading, writing = os.pipe()
    model = tmp_path / "m.tide"
    process = start("train", "-o", model, *ROOMY, "--spool", tmp_path / "s", stdin=reading,
                    stderr=subprocess.PIPE)
    os.write(writing, lines)
    wait_until(lambda: waiting_in(reading) == 0)
    process.terminate()
    assert process.wait(PATIENCE) == 0
    again = ["--resume", model, "--spool", tmp_path / "s"]
    process = start("train", "-", *again, stdin=reading, stderr=subprocess.PIPE)
    assert any(b"msg=memory" in line for line in process.stderr)
    process.terminate()  # nothing has come since
    assert process.wait(PATIENCE) == 0
    os.close(writing)
    done = wordtide_from(reading, *again)
    assert done.returncode == 0, done.stderr
    assert model.read_bytes() == whole


# -- the wrong spool ------------------------------------------------------------------------------


@pytest.fixture
def stopped(tmp_path):
    """A model stopped in the middle of a stream, and a pipe with the rest."""
    reading, writing = os.pipe()
    model = tmp_path / "m.tide"
    process = start("train", "-o", model, *ROOMY, "--spool", tmp_path / "s", "--every", "10",
                    stdin=reading, stderr=subprocess.PIPE)
    os.write(writing, b"one two three\nfour")
    wait_until(lambda: waiting_in(reading) == 0)
    process.terminate()
    assert process.wait(PATIENCE) == 0
    os.write(writing, b"teen five\n")
    os.close(writing)
    return model, reading


def test_a_position_in_a_spool_needs_that_spool(tmp_path, stopped):
    model, pipe = stopped
    before = model.read_bytes()
    for arguments, said in (
        [], "cannot be resumed where the model stopped: set the spool"), (
        ["--spool", tmp_path / "other"], "other does not have the stream"), (
        ["--spool", tmp_path / "s" / "none" / "s"], "cannot create the directory: No such file"):
        done = wordtide_from(pipe, "--resume", model, *arguments)
        assert done.returncode in (1, 2) and said in done.stderr
        assert done.stderr.count("\n") <= 3, done.stderr
        assert model.read_bytes() == before
    assert waiting_in(pipe) == len(b"teen five\n")
    done = wordtide_from(pipe, "--resume", model, "--spool", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    assert set(counts(model)) == {"one", "two", "three", "fourteen", "five"}


def test_the_position_can_be_abandoned(tmp_path, stopped):
    model, pipe = stopped
    done = wordtide_from(pipe, "--resume", model, "--from-start")
    assert done.returncode == 0, done.stderr
    assert "teen" in counts(model)


def test_a_model_does_not_resume_with_another_spool(tmp_path, stopped):
    model, pipe = stopped
    spool, new = tmp_path / "s", tmp_path / "new.tide"
    reading, writing = os.pipe()
    process = start("train", "-", "--resume", model, "--spool", spool, stdin=reading,
                    stderr=subprocess.PIPE)
    os.write(writing, b" the rest\n")
    wait_until(lambda: text_in(spool) > 0)
    process.kill()
    process.wait(PATIENCE)
    os.close(writing)
    fresh = ["-o", new, *ROOMY, "--spool", spool]
    done = wordtide_from(reading, *fresh)
    assert done.returncode == 2 and not new.exists()
    assert "another model has learned the first 18 bytes of its stream" in done.stderr
    done = wordtide_from(reading, *fresh, "--from-start")
    assert done.returncode == 0, done.stderr
    assert set(counts(new)) == {"the", "rest"}
    # Now the text that the first one wants has gone to the other.
    done = wordtide_from(reading, "--resume", model, "--spool", spool)
    assert done.returncode == 2
    assert "starts at byte 28, but the model has read only up to byte 18" in done.stderr


def test_a_spool_is_locked(tmp_path):
    reading, writing = os.pipe()
    process = start("train", "-o", tmp_path / "a.tide", *ROOMY, "--spool", tmp_path / "s",
                    stdin=reading, stderr=subprocess.PIPE)
    wait_until(lambda: (tmp_path / "s" / "000000000001.spool").exists())
    done = wordtide("train", "-o", tmp_path / "b.tide", *ROOMY, "--spool", tmp_path / "s",
                    input=b"text\n")
    assert done.returncode == 1 and "another process is writing it" in done.stderr
    os.write(writing, b"text\n")
    os.close(writing)
    assert process.wait(PATIENCE) == 0


def test_a_torn_end_is_truncated_and_reported(tmp_path, stopped):
    model, pipe = stopped
    last = max((tmp_path / "s").glob("*.spool"))
    with open(last, "ab") as file:
        file.write(b"half a head")
    done = wordtide_from(pipe, "--resume", model, "--spool", tmp_path / "s")
    assert done.returncode == 0 and "cut off 11 bytes" in done.stderr
    assert set(counts(model)) == {"one", "two", "three", "fourteen", "five"}


def test_a_learned_end_may_be_missing(tmp_path):
    """A power failure may lose unsynced text, but the saved model is synced."""
    spool, model = tmp_path / "s", tmp_path / "c.tide"
    where = ["--spool", spool, "--checkpoint", model, "--every", "6"]
    reading, writing = os.pipe()
    process = start("train", "-", *ROOMY, *where, stdin=reading, stderr=subprocess.PIPE)
    written = 0
    for text in (b"one two\n", b"three four\nfive ", b"six\nseven"):
        os.write(writing, text)
        written += 16 + len(text) + 16
        wait_until(lambda: spool.exists() and text_in(spool) == written)
    wait_until(model.exists)  # saved behind "six", so the spool was kept
    process.kill()
    process.wait(PATIENCE)
    os.truncate(spool / "000000000001.spool", 56)
    os.write(writing, b"eight\n")
    os.close(writing)
    done = wordtide_from(reading, *where, "--continue")
    assert done.returncode == 0, done.stderr
    assert set(counts(model)) == {"one", "two", "three", "four", "five", "six", "eight"}


def test_damage_is_reported_and_nothing_is_skipped(tmp_path):
    spool, segment = tmp_path / "s", tmp_path / "s" / "000000000001.spool"
    reading, writing = os.pipe()
    arguments = ["-o", tmp_path / "m.tide", *ROOMY, "--spool", spool]
    process = start("train", "-", *arguments, stdin=reading, stderr=subprocess.PIPE)
    for text in (b"one two\n", b"three four\n", b"five six\n"):
        os.write(writing, text)
        wait_until(lambda: segment.exists() and text in segment.read_bytes()[:-16])
    process.kill()
    process.wait(PATIENCE)
    os.close(writing)
    damaged = bytearray(segment.read_bytes())
    damaged[damaged.index(b"three")] ^= 1
    segment.write_bytes(damaged)
    done = wordtide_from(reading, *arguments)
    assert done.returncode == 3, done.stderr
    assert "000000000001.spool is corrupt at byte 96" in done.stderr
    assert segment.read_bytes() == damaged and not (tmp_path / "m.tide").exists()


# -- rejected input -------------------------------------------------------------------------------


def test_only_pipes_are_spooled(tmp_path, text):
    path = tmp_path / "text"
    path.write_bytes(text)
    spool = ["-o", tmp_path / "m.tide", *SMALL, "--spool", tmp_path / "s"]
    for sources, said in (
        [path], "can resume without one"), (["demo:"], "can resume without one"), (
        [path, "-"], "a spool is for exactly one source"), (["-", "--spool-limit", "9k"], "1 MiB or more"), (
        ["-", "--spool-limit", "1x"], "is not a whole number"), (
        ["-", "--spool-sync", "2s"], "must be one of 1s|always|none"):
        done = wordtide("train", *sources, *spool, input=text)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    with open(path, "rb") as file:
        done = wordtide_from(file, *spool)
    assert done.returncode == 2 and "name the file" in done.stderr


@pytest.mark.parametrize("pieces", [1, 2])
def test_compressed_text_is_rejected_and_left_in_the_pipe(tmp_path, text, pieces):
    packed = gzip.compress(text[:5000])
    reading, writing = os.pipe()
    first = packed if pieces == 1 else packed[:2]
    os.write(writing, first)
    process = start("train", "-", "-o", tmp_path / "m.tide", *SMALL, "--spool", tmp_path / "s",
                    stdin=reading, stderr=subprocess.PIPE)
    wait_until(lambda: (tmp_path / "s" / "000000000001.spool").exists())
    os.write(writing, packed[len(first):])
    said = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 3 and "decompress the gzip data before the pipe" in said
    assert waiting_in(reading) == len(packed) and text_in(tmp_path / "s") == 0
