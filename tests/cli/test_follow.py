"""A file that grows and is rotated is learned exactly once, however often training is
killed."""

import pytest

from conftest import wordtide
from killing import (
    EVERY,
    KILLS,
    ROOMY,
    Log,
    Training,
    count_words,
    kill_and_go_on,
    learned,
    time_limit,  # noqa: F401
)


@pytest.fixture
def reference(text, tmp_path):
    path = tmp_path / "reference.tide"
    done = wordtide("train", "-o", path, *ROOMY, input=text)
    assert done.returncode == 0, done.stderr
    return learned(path)


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_training_loses_and_repeats_nothing(tmp_path, text, reference, seed):
    log, model = Log(tmp_path, text, KILLS + KILLS // 10 + 4), tmp_path / "m.tide"

    def begin(every=EVERY):
        return Training(model, "--follow", log.path, every=every)

    first = begin()
    log.write(log.size)
    first.wait_for_save()  # from now on there is a position to resume from
    first.kill()
    kill_and_go_on(begin, log.go_on, seed)
    log.write(len(text))
    last = begin(every="1s")
    last.finish_at(count_words(text))
    assert learned(model) == reference


def test_a_file_that_appears_later_is_read(tmp_path, text, reference):
    log, model = tmp_path / "log", tmp_path / "m.tide"
    training = Training(model, "--follow", log, every="1s")
    log.write_bytes(text)
    training.finish_at(count_words(text))
    assert learned(model) == reference


def test_rotation_and_a_lost_position_are_reported(tmp_path, text):
    log, model = tmp_path / "log", tmp_path / "m.tide"
    log.write_bytes(text)
    training = Training(model, "--follow", log, every="1s")
    training.wait_for_save()
    log.rename(tmp_path / "log.1")
    log.write_bytes(b"a new file\n")
    training.wait_for("log: was rotated; continuing with the next file")
    training.finish_at(count_words(text) + 3)
    log.write_bytes(b"x\n")
    again = Training(model, "--follow", log, every="1s")
    again.wait_for("has the text that was read before")
    again.finish_at(count_words(text) + 4)
