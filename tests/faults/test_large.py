"""Checkpoints that are large enough to have room made for them while training goes on.

Each call that this adds is killed, or fails, in turn. Whatever happens, what was saved before is there and
good, and going on comes to the very bytes of a run that nothing happened to.
"""

import subprocess

import pytest
from conftest import NIGHT, command, expect_good, expect_the_same_end, wordtide
from tracing import needs_strace

pytestmark = needs_strace
WORDS = 90_000
LARGE = ["--vocab", WORDS, "--dim", "100", "--profile", "fast"]  # 69 MiB of vectors
FAULTS = ["fallocate:signal=SIGKILL:when=2", "pwrite64:signal=SIGKILL:when=100",
          "pwrite64:error=ENOSPC:when=100+", "ftruncate:error=EIO:when=1+"]
MORE = ["fallocate:signal=SIGKILL:when=1", "syncfs:signal=SIGKILL:when=2", "pwrite64:retval=1:when=100",
        "ftruncate:signal=SIGKILL:when=1", "pwrite64:signal=SIGKILL:when=300"]


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """All words come, and come again."""
    path = tmp_path_factory.mktemp("large") / "words.txt"
    lines = [" ".join(f"w{i}" for i in range(at, at + 30)) for at in range(0, WORDS, 30)]
    path.write_text("\n".join(lines * 16) + "\n")
    return path


@pytest.fixture(scope="module")
def end(words, tmp_path_factory):
    path = tmp_path_factory.mktemp("end") / "whole.tide"
    assert wordtide("train", words, "-o", path, *LARGE).returncode == 0
    return path.read_bytes()


def traced(words, folder, *options):
    line = ["strace", "-f", "-qq", "-o", folder / "trace", *options,
            *command(words, folder, options=LARGE)]
    done = subprocess.run(list(map(str, line)), capture_output=True, timeout=100)
    return done.returncode, done.stderr.decode()


def saved(said):
    return said.count('msg="checkpoint: ')


def test_they_are_saved_and_change_nothing(words, end, tmp_path):
    code, said = traced(words, tmp_path, "-e", "trace=fallocate,ftruncate")
    assert code == 0, said
    made = (tmp_path / "trace").read_text()
    assert saved(said) > 1 and "fallocate(" in made  # how many of them are large depends on the machine
    assert (tmp_path / "m.tide").read_bytes() == end
    expect_good(tmp_path)
    assert not list(tmp_path.glob(".*.tmp.*"))


def test_a_disk_without_room_costs_nothing_that_was_saved(words, end, tmp_path):
    """Those before are of a vocabulary that was still small, and need no room."""
    code, said = traced(words, tmp_path, "-e", "trace=fallocate", "-e", "inject=fallocate:error=ENOSPC")
    assert code == 0, said
    small, *large = said.split(f"not saved: cannot write {tmp_path / 'c.tide'}: No space left on device")
    assert large and saved("".join(large)) == 0
    assert (tmp_path / "c.tide").exists() == (saved(small) > 0)
    expect_good(tmp_path)
    assert (tmp_path / "m.tide").read_bytes() == end
    assert not list(tmp_path.glob(".*.tmp.*"))


def test_a_file_system_that_promises_nothing_will_do(words, end, tmp_path):
    code, said = traced(words, tmp_path, "-e", "trace=fallocate",
                        "-e", "inject=fallocate:error=EOPNOTSUPP")
    assert code == 0, said
    assert saved(said) > 1
    assert (tmp_path / "m.tide").read_bytes() == end
    expect_good(tmp_path)


@pytest.mark.parametrize("fault", FAULTS + MORE if NIGHT else FAULTS)
def test_going_on_after_a_fault_comes_to_the_same_end(words, end, tmp_path, fault):
    traced(words, tmp_path, "-e", "trace=" + fault.split(":")[0], "-e", "inject=" + fault)
    expect_good(tmp_path)
    expect_the_same_end(words, tmp_path, end, options=LARGE)
    assert not list(tmp_path.glob(".*.tmp.*"))
