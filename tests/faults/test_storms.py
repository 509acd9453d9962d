"""Storms of signals: nothing hangs or breaks, and the exit code tells how it ended.

What does not ask for an end does not end the training, and does not change what it learns.
"""

import random
import signal
import subprocess
import threading
import time

import pytest
from conftest import NIGHT, PATIENCE, command, expect_good, expect_the_same_end, start, wordtide

SOURCE = "demo:tokens=500000"
HARMLESS = [signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE, signal.SIGCHLD, signal.SIGWINCH,
            signal.SIGCONT, signal.SIGSTOP]
ENDING = [signal.SIGTERM, signal.SIGINT]
SIGNALS = 1000 if NIGHT else 300
STORMS = 100 if NIGHT else 3


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The model of an undisturbed run, and how long that takes."""
    folder = tmp_path_factory.mktemp("calm")
    begun = time.monotonic()
    assert wordtide(*command(SOURCE, folder)[1:]).returncode == 0
    return (folder / "m.tide").read_bytes(), time.monotonic() - begun


class Stormy:
    """A training that has begun, and whose log somebody reads."""

    def __init__(self, folder):
        line = command(SOURCE, folder)
        self.process = start(*line[1:], stderr=subprocess.PIPE)
        for said in self.process.stderr:
            if b"msg=memory" in said:
                break
        self.log = b""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for said in self.process.stderr:
            self.log += said

    def send(self, number):
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            self.process.send_signal(signal.SIGCONT)

    def ended(self):
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stderr.close()
        return code


def test_what_does_not_end_a_training_does_not_change_it(calm, tmp_path, figure):
    whole, seconds = calm
    sent = saved = 0
    for storm in range(STORMS):
        dice = random.Random(storm)
        folder = tmp_path / str(storm)
        folder.mkdir()
        run = Stormy(folder)
        for _ in range(SIGNALS):
            if run.process.poll() is not None:
                break
            run.send(dice.choice(HARMLESS))
            sent += 1
            time.sleep(dice.uniform(0, seconds / SIGNALS))
        assert run.ended() == 0, run.log.decode()
        assert (folder / "m.tide").read_bytes() == whole
        expect_good(folder)
        saved += run.log.count(b'msg="checkpoint: ')
    figure(f"{STORMS} storms, {sent} signals, {saved} checkpoints, 0 hangs, "
           f"{STORMS} exits with 0, {STORMS} ends byte-equal")


def test_a_training_that_is_ended_in_a_storm_goes_on(calm, tmp_path, figure):
    """Whenever it has ended it goes on, and so does the storm."""
    whole, seconds = calm
    codes = {0: 0, 130: 0}
    for storm in range(STORMS):
        dice = random.Random(storm)
        folder = tmp_path / str(storm)
        folder.mkdir()
        run = Stormy(folder)
        for _ in range(SIGNALS):
            if run.process.poll() is not None:
                codes[run.ended()] += 1
                expect_good(folder)
                run = Stormy(folder)
            run.send(dice.choice(HARMLESS * 4 + ENDING))
            time.sleep(dice.uniform(0, seconds / 100))
        run.process.terminate()
        codes[run.ended()] += 1
        expect_good(folder)
        expect_the_same_end(SOURCE, folder, whole)
    figure(f"{STORMS} storms, {STORMS * SIGNALS} signals, {codes[0]} exits with 0 and {codes[130]} "
           f"with 130, 0 hangs, 0 unreadable, {STORMS} ends byte-equal")
