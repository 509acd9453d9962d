"""Every system call of a checkpoint killed once, and failing once and for ever.

strace counts the calls of a run and then ends the process, or lets the call fail, at each of
them in turn; by day at every third of those beyond the tenth. Whatever happens, what was saved before is there and good, and going on comes to
the very bytes of a run that nothing happened to.
"""

import collections
import shutil

import pytest
from conftest import NIGHT, command, expect_good, expect_the_same_end
from tracing import calls, needs_strace, traced

pytestmark = needs_strace

# All that a checkpoint does; reading its own program and libraries is not part of it.
CALLS = ["pwrite64", "fsync", "fdatasync", "linkat", "renameat", "renameat2", "unlinkat", "flock",
         "fchmod", "pread64", "newfstatat"]
FAILING = {"pwrite64": ["ENOSPC", "EIO", "EDQUOT", "EINTR"], "fsync": ["EIO", "ENOSPC", "EINTR"],
           "renameat": ["EIO", "ENOSPC", "EROFS"], "linkat": ["EPERM", "ENOSPC"],
           "flock": ["ENOLCK", "EINTR"], "pread64": ["EIO"], "unlinkat": ["EIO"]}


def calls_made(text, folder):
    """How often each of the calls is made, by the thread that makes it most often."""
    code, said = traced(command(text, folder), folder, "-e", "trace=" + ",".join(CALLS))
    assert code == 0, said
    made = collections.Counter((thread, name) for thread, name, _ in calls(folder))
    return {name: max(made[key] for key in made if key[1] == name)
            for name in {key[1] for key in made}}


@pytest.fixture(scope="module")
def made(text, tmp_path_factory):
    counted = calls_made(text, tmp_path_factory.mktemp("counted"))
    assert counted["fsync"] > 3 and counted["pwrite64"] > 3 and counted["pread64"] > 3
    return counted


def tried(times):
    """Which of so many calls of a name are killed or fail."""
    return [when for when in range(1, times + 1) if NIGHT or when <= 10 or when % 3 == 0]


def test_killed_at_every_call(text, whole, made, tmp_path, figure):
    killed = 0
    for name, times in made.items():
        for when in tried(times):
            folder = tmp_path / f"{name}-{when}"
            folder.mkdir()
            code, _ = traced(command(text, folder), folder, "-e", f"trace={name}", "-e",
                             f"inject={name}:signal=SIGKILL:when={when}")
            killed += code != 0
            expect_good(folder)
            expect_the_same_end(text, folder, whole)
            shutil.rmtree(folder)
    assert killed > 20
    figure(f"{killed} kills, 0 bad, {killed} ends byte-equal")


@pytest.mark.parametrize("name,error", [(name, error) for name in FAILING for error in FAILING[name]])
def test_failing_at_every_call_once_and_for_ever(text, whole, made, tmp_path, figure, name, error):
    """Training goes on; at the end it may be said that the model could not be saved."""
    failures = 0
    for when in tried(made.get(name, 0)):
        for ever in ("", "+"):
            folder = tmp_path / f"{when}{ever}"
            folder.mkdir()
            code, said = traced(command(text, folder), folder, "-e", f"trace={name}", "-e",
                                f"inject={name}:error={error}:when={when}{ever}")
            loader = code == 127 and "shared libraries" in said  # had not begun yet
            assert code in (0, 1) or loader, said
            assert code == 0 or "wordtide: " in said or loader
            expect_good(folder)
            expect_the_same_end(text, folder, whole)
            shutil.rmtree(folder)
            failures += 1
    figure(f"{failures} failures, 0 bad, {failures} ends byte-equal")


def test_a_write_that_is_not_what_it_says_is_found_before_it_counts(
        text, whole, made, tmp_path, figure):
    """The kernel says that one byte was written, and none was."""
    for when in range(1, made["pwrite64"] + 1):
        folder = tmp_path / str(when)
        folder.mkdir()
        code, said = traced(command(text, folder), folder, "-e", "trace=pwrite64", "-e",
                            f"inject=pwrite64:retval=1:when={when}")
        assert code in (0, 1), said
        expect_good(folder)
        expect_the_same_end(text, folder, whole)
    figure(f"{made['pwrite64']} writes that lie, 0 bad, all ends byte-equal")
