"""Trainings of endless sources that are killed and go on, for tests of those sources.

WORDTIDE_KILLS says how often; 200 is a long test.
"""

import contextlib
import json
import os
import random
import subprocess
import time

import pytest
from running import start, wordtide
from watching import PATIENCE

KILLS = int(os.environ.get("WORDTIDE_KILLS", "8"))
EVERY = min(300, 6000 // (KILLS + 2))  # words between saves: some for every kill
SEGMENT_HEADER = 56  # bytes, in a spool
ROOMY = ["--vocab", "5000", "--dim", "8", "--threads", "1"]  # no word has to leave


@pytest.fixture
def time_limit():
    """Many kills take longer than a test usually may."""
    return 300 + 3 * KILLS


def count_words(text):
    return len(text.split())


def learned(model):
    """All that a model knows: its words, their counts and their vectors."""
    words = wordtide("words", model, "-n", "5000", "--json")
    vectors = wordtide("export", model, "--format", "word2vec")
    assert words.returncode == 0 and vectors.returncode == 0, vectors.stderr
    return words.stdout, vectors.stdout


def words_in(model):
    """How many words of text a saved model has seen."""
    return json.loads(wordtide("info", model, "--json").stdout)["tokens"]


def text_in(spool):
    """Bytes on the disk beyond the headers of segments; one may be removed meanwhile."""
    total = 0
    for path in spool.glob("*.spool"):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size - SEGMENT_HEADER
    return total


class Training:
    """A training of one source that goes on with its model, if there is one."""

    def __init__(self, model, *arguments, every=EVERY):
        self.model = model
        self.before = self.stamp()
        where = ["--resume", model] if model.exists() else ["-o", model, *ROOMY]
        self.process = start(
            *["train", *arguments, *where, "--every", every], stderr=subprocess.PIPE
        )
        self.log = []
        self.wait_for("msg=memory")

    def stamp(self):
        """Another one whenever the model is saved."""
        try:
            status = self.model.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns

    def wait_for(self, message):
        for line in self.process.stderr:
            self.log.append(line.decode())
            if message in self.log[-1]:
                return
        raise AssertionError("".join(self.log))

    def wait_for_save(self, seconds=PATIENCE):
        """Or so long, if there may be nothing to save."""
        end = time.monotonic() + seconds
        while self.stamp() == self.before and time.monotonic() < end:
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.002)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stderr.close()

    def finish_at(self, words):
        """Ends well once a model with so many words is saved."""
        while not self.model.exists() or words_in(self.model) < words:
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.01)
        self.process.terminate()
        self.wait_for("msg=stopped")
        assert self.process.wait(PATIENCE) == 0
        self.process.stderr.close()


def kill_and_go_on(begin, more, seed, kills=KILLS):
    """Kills trainings at any moment, while `more` makes text."""
    dice = random.Random(seed)
    for _ in range(kills):
        training = begin()
        more(dice)
        if dice.random() < 0.5:
            training.wait_for_save(0.5)
        time.sleep(dice.random() * 0.05)  # any moment
        training.kill()


class Log:
    """A log that is written piece by piece and rotated by renaming."""

    def __init__(self, folder, text, parts, longest=5000):
        self.longest = longest  # bytes of a piece
        self.path = folder / "log"
        self.text = text
        self.size = len(text) // parts + 1
        self.at = 0
        self.rotations = 0
        self.path.touch()

    def write(self, size):
        with self.path.open("ab") as file:
            file.write(self.text[self.at : self.at + size])
        self.at = min(self.at + size, len(self.text))

    def rotate(self):
        """Ends the last line, as a writer does who opens a new file."""
        end = self.text.index(b"\n", self.at - 1) + 1 if self.at else 0
        self.write(end - self.at)
        for number in range(self.rotations, 0, -1):
            old = self.path.with_name(f"log.{number}")
            old.rename(old.with_name(f"log.{number + 1}"))
        self.path.rename(self.path.with_name("log.1"))
        self.rotations += 1

    def go_on(self, dice):
        """Writes the next part of the text in pieces, and rotates in between."""
        end = self.at + self.size
        while self.at < min(end, len(self.text)):
            self.write(min(dice.randrange(1, self.longest), end - self.at))
            if dice.random() < 0.1 and self.at < len(self.text):
                self.rotate()
                self.write(1)
