"""Checkpoints during training: generations, recovery, one writer at a time."""

import fcntl
import signal
import subprocess

import pytest
from conftest import PATIENCE, SMALL, start, wordtide
from killing import learned

EVERY = ["--every", "10000"]
MOST_BETWEEN = 11000  # what was asked for, and the rest of a sentence


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "news.txt"
    path.write_text(wordtide("demo", "--tokens", "120000").stdout)
    return path


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.tide"
    assert wordtide("train", text, "-o", path, *SMALL).returncode == 0
    return path


def tokens_of(path):
    done = wordtide("info", path, "--json")
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split('"tokens":')[1].split(",")[0].rstrip("}\n"))


def checkpointed(text, folder, *more):
    """A complete run that leaves its model and its checkpoints."""
    done = wordtide("train", text, "--checkpoint", folder / "c.tide", *EVERY, *more,
                    *(SMALL if "--continue" not in more else []))
    assert done.returncode == 0, done.stderr
    return done


def test_the_last_three_are_kept_and_each_is_good(text, whole, tmp_path):
    done = checkpointed(text, tmp_path, "-o", tmp_path / "m.tide")
    assert (tmp_path / "m.tide").read_bytes() == whole.read_bytes()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["c.tide", "c.tide.1", "c.tide.2", "m.tide"]
    ages = [tokens_of(tmp_path / name) for name in names]
    assert ages[3] > ages[0] > ages[1] > ages[2] >= 10000
    assert done.stderr.count('msg="checkpoint: ') >= 3
    assert "training paused" in done.stderr


@pytest.mark.parametrize("older", [0, 1, 5])
def test_the_requested_number_is_kept(text, tmp_path, older):
    checkpointed(text, tmp_path, "--older", older)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["c.tide"] + [f"c.tide.{age}" for age in range(1, older + 1)]
    ages = [tokens_of(tmp_path / name) for name in names]
    steps = [newer - before for newer, before in zip(ages, ages[1:])]
    assert all(0 < step <= MOST_BETWEEN for step in steps), "the last ones, each once"


def test_without_output_the_final_model_is_the_newest_checkpoint(text, whole, tmp_path):
    checkpointed(text, tmp_path)
    assert (tmp_path / "c.tide").read_bytes() == whole.read_bytes()


def test_a_directory_is_accepted(text, whole, tmp_path):
    done = wordtide("train", text, "--checkpoint", tmp_path, *EVERY, *SMALL)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model.tide").read_bytes() == whole.read_bytes()


def test_resuming_from_any_generation_gives_the_same_model(text, whole, tmp_path):
    checkpointed(text, tmp_path, "-o", tmp_path / "m.tide")
    for name in "c.tide", "c.tide.1", "c.tide.2":
        done = wordtide("train", "--resume", tmp_path / name, text, "-o", tmp_path / "again.tide")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "again.tide").read_bytes() == whole.read_bytes()


def test_a_bad_checkpoint_is_reported_left_alone_and_the_previous_one_used(text, whole, tmp_path):
    checkpointed(text, tmp_path, "-o", tmp_path / "m.tide")
    newest = tmp_path / "c.tide"
    damaged = bytearray(newest.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "c.tide.1").write_bytes(b"")
    for bad in bytes(damaged), bytes(damaged[:100]), b"":
        newest.unlink()
        newest.write_bytes(bad)
        done = wordtide("train", "--resume", newest, text, "-o", tmp_path / "again.tide", "-q")
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines()
        assert len(lines) == 2 and "trying" in lines[0] and "c.tide.2" in lines[1]
        assert (tmp_path / "again.tide").read_bytes() == whole.read_bytes()
        assert newest.read_bytes() == bad and (tmp_path / "c.tide.1").read_bytes() == b""
    newest.unlink()
    done = wordtide("train", "--resume", newest, text, "-o", tmp_path / "again.tide", "-q")
    assert done.returncode == 0 and (tmp_path / "again.tide").read_bytes() == whole.read_bytes()


def test_a_missing_generation_is_skipped(text, whole, tmp_path):
    """A kill while generations are renamed leaves a gap."""
    checkpointed(text, tmp_path, "-o", tmp_path / "m.tide")
    (tmp_path / "c.tide.1").unlink()
    newest = tmp_path / "c.tide"
    damaged = bytearray(newest.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    newest.write_bytes(damaged)
    done = wordtide("train", "--resume", newest, text, "-o", tmp_path / "again.tide", "-q")
    assert done.returncode == 0 and "trying" in done.stderr and "c.tide.2" in done.stderr
    assert (tmp_path / "again.tide").read_bytes() == whole.read_bytes()


def test_if_none_is_good_the_newest_is_reported(text, tmp_path):
    for name in "c.tide", "c.tide.1":
        (tmp_path / name).write_bytes(b"no model")
    done = wordtide("train", "--resume", tmp_path / "c.tide", text, "-q")
    assert done.returncode == 4 and "c.tide" in done.stderr.splitlines()[-1]
    assert "c.tide.1" not in done.stderr.splitlines()[-1]


def test_a_new_run_does_not_overwrite_a_checkpoint(text, tmp_path):
    checkpointed(text, tmp_path)
    before = (tmp_path / "c.tide").read_bytes()
    done = wordtide("train", text, "--checkpoint", tmp_path / "c.tide", *SMALL)
    assert done.returncode == 2
    assert "already exists; use --continue to resume from it" in done.stderr.splitlines()[0]
    assert (tmp_path / "c.tide").read_bytes() == before


def test_continue_starts_without_a_checkpoint(text, whole, tmp_path):
    done = wordtide("train", text, "--checkpoint", tmp_path / "c.tide", "--continue", *SMALL)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.tide").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("arguments,complaint", [
    (["--continue", "-o", "m.tide"], "--continue needs --checkpoint"),
    (["--checkpoint", ""], "needs a file name"),
    (["--checkpoint", "c.tide", "--continue", "--resume", "m.tide"], "cannot be combined"),
])
def test_contradictory_options_are_rejected(text, tmp_path, arguments, complaint):
    done = wordtide("train", text, *arguments, cwd=tmp_path)
    assert done.returncode == 2 and complaint in done.stderr


def test_stopping_and_continuing_does_not_change_the_model(tmp_path):
    """The source never ends, so a stop always comes in the middle."""
    spec, path = "demo:tokens=400000", tmp_path / "c.tide"
    command = ["train", spec, "--checkpoint", path, "--continue", "--every", "5000"]
    for turn in range(3):
        process = start(*command, *SMALL, stderr=subprocess.PIPE)
        for line in process.stderr:
            if b"checkpoint: " in line:
                break
        process.send_signal(signal.SIGKILL if turn < 2 else signal.SIGTERM)
        process.stderr.read()
        assert process.wait(PATIENCE) in (0, -signal.SIGKILL)
    assert wordtide(*command, *SMALL).returncode == 0
    assert wordtide("train", spec, "-o", tmp_path / "whole.tide", *SMALL).returncode == 0
    assert learned(path) == learned(tmp_path / "whole.tide")
    assert path.read_bytes() == (tmp_path / "whole.tide").read_bytes()


def test_two_processes_do_not_write_one_model(text, tmp_path):
    process = start("train", "-o", tmp_path / "m.tide", *SMALL, stdin=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    process.stderr.readline()  # it has started
    done = wordtide("train", text, "-o", tmp_path / "m.tide", *SMALL)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"wordtide: {tmp_path / 'm.tide'}: another process is writing it"]
    process.communicate(b"a b c\n")
    assert process.returncode == 0
    assert wordtide("train", text, "-o", tmp_path / "m.tide", *SMALL).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.tide", "m.tide.1"]


def test_a_stale_lock_is_ignored(text, tmp_path):
    (tmp_path / ".m.tide.lock").write_bytes(b"")
    assert wordtide("train", text, "-o", tmp_path / "m.tide", *SMALL).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["m.tide"]
    with open(tmp_path / ".m.tide.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert wordtide("train", text, "-o", tmp_path / "m.tide", *SMALL).returncode == 1


def test_exactly_one_of_many_processes_writes(tmp_path):
    crowd = [start("train", "-o", tmp_path / "m.tide", *SMALL, stdin=subprocess.PIPE,
                   stderr=subprocess.PIPE) for _ in range(12)]
    winners = [process for process in crowd if b"msg=memory" in process.stderr.readline()]
    assert len(winners) == 1
    winners[0].communicate(b"a b c\n")
    for process in crowd:
        process.communicate()
    assert sorted(process.returncode for process in crowd) == [0] + [1] * 11
