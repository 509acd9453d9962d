"""The wall clock jumps ten years forth and back, or stands still, and nothing follows from it.

The other clock, which nobody sets, ticks by questions here (bent_clock.c). So a training saves at the same
places every time, and that can be compared.
"""

import signal
import subprocess

import pytest
from conftest import BUILD, SANITIZED, TINY, send_twice, start, wordtide
from killing import Training
from running import counts
from watching import wait_until

BENT = BUILD / "tests" / "bent_clock.so"
WAYS = ["forth", "back", "still", "wild"]

pytestmark = pytest.mark.skipif(SANITIZED or not BENT.exists(), reason="needs bent_clock.so, and a plain build")


def bend(monkeypatch, way, tick_ms):
    monkeypatch.setenv("LD_PRELOAD", str(BENT))
    monkeypatch.setenv("WALL_CLOCK", way)
    monkeypatch.setenv("TICK_MS", str(tick_ms))


def trained(folder, monkeypatch, way):
    """The model, and how many words each of its checkpoints had."""
    folder.mkdir()
    bend(monkeypatch, way, 200)
    done = wordtide("train", "demo:tokens=300000", "--checkpoint", folder / "c.tide", "--every", "1s",
                    "--older", "1000", "-o", folder / "m.tide", *TINY)
    monkeypatch.undo()
    assert done.returncode == 0, done.stderr
    saved = sorted(folder.glob("c.tide*"))
    reported = wordtide("check", *saved).stdout.splitlines()
    assert len(reported) == done.stderr.count('msg="checkpoint: ')
    return (folder / "m.tide").read_bytes(), sorted(line.split(", ")[3] for line in reported)


def test_the_clock_is_bent(monkeypatch):
    """Or the others would tell nothing: Python asks often enough to meet the jump."""
    years = {}
    for way in WAYS:
        bend(monkeypatch, way, 1)
        asked = "import time; print({time.gmtime(time.time()).tm_year for _ in range(20)})"
        years[way] = eval(subprocess.check_output(["/usr/bin/python3", "-c", asked]))
        monkeypatch.undo()
    assert len(years["forth"]) == len(years["back"]) == 2 and len(years["still"]) == 1
    assert years["wild"] == years["forth"] | years["back"]


def test_checkpoints_come_when_they_are_due(tmp_path, monkeypatch, figure):
    calm = trained(tmp_path / "calm", monkeypatch, "")
    assert len(calm[1]) > 5
    for way in WAYS:
        assert trained(tmp_path / way, monkeypatch, way) == calm
    figure(f"{len(WAYS)} ways of the clock, {len(calm[1])} checkpoints each, 0 missed, 0 extra, "
           f"{len(WAYS)} ends byte-equal")


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_followed_through_its_rotation(tmp_path, monkeypatch, figure, way):
    bend(monkeypatch, way, 1)
    log, model = tmp_path / "log", tmp_path / "m.tide"
    training = Training(model, "--follow", log, every=1)
    log.write_text("one two\n")
    training.wait_for_save()
    log.rename(tmp_path / "log.1")
    log.write_text("three\n")
    training.finish_at(3)
    assert counts(model) == {"one": 1, "two": 1, "three": 1}
    figure("0 lost, 0 doubled")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_is_sent_twice_at_once_is_one(tmp_path, monkeypatch, figure, number):
    """timeout(1) does so. A stopped clock shows whether it happens at once."""
    turns = 10
    for turn in range(turns):
        path = tmp_path / f"{turn}.tide"
        bend(monkeypatch, "", 0)
        process = start("train", "demo:", "-o", path, "--every", "1000", *TINY, stderr=subprocess.PIPE)
        monkeypatch.undo()
        wait_until(path.exists, "a model of some words")
        send_twice(process, number)
        assert b"msg=stopped" in process.communicate()[1]
        assert process.returncode == 0
        assert wordtide("check", path).returncode == 0
    figure(f"{turns} times two {signal.Signals(number).name}, {turns} exits with 0")
