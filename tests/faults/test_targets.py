"""Places where a model cannot be: refused at the start, with one line and exit code 1, or 2 for what is no name.

What is there already is left alone. Root may write everywhere, so the command is run without that right.
"""

import errno
import os
import shutil
import signal
import stat
import subprocess

import pytest
from conftest import BINARY, NIGHT, PATIENCE, TINY, start, wordtide
from tracing import needs_strace

ROOT_USER = os.geteuid() == 0
NOBODY = 65534
# A user like others, who may do what the files' modes say.
PLAIN = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"] if ROOT_USER else []
OPTIONS = ["-o", "--checkpoint"]


def run(*arguments, before=(), **options):
    line = [*PLAIN, *before, BINARY, "train", "-q", *map(str, arguments), *TINY]
    return subprocess.run(line, input=b"some words\n", capture_output=True, timeout=PATIENCE, **options)


def missing_folder(f):
    return f / "missing" / "m.tide"


def read_only_folder(f):
    (f / "folder").mkdir(mode=0o555)
    return f / "folder" / "m.tide"


def closed_folder(f):
    (f / "folder").mkdir(mode=0)
    return f / "folder" / "m.tide"


def file_as_folder(f):
    (f / "file").write_text("text")
    return f / "file" / "m.tide"


def fifo(f):
    os.mkfifo(f / "m.tide")
    return f / "m.tide"


def unix_socket(f):
    os.mknod(f / "m.tide", stat.S_IFSOCK | 0o600)
    return f / "m.tide"


def device(f):
    return "/dev/full"


def standard_output(f):
    return "/dev/stdout"


def open_file(f):
    return "/proc/self/fd/1"


def link_to_nowhere(f):
    (f / "m.tide").symlink_to(f / "nowhere")
    return f / "m.tide"


def link_to_itself(f):
    (f / "m.tide").symlink_to("m.tide")
    return f / "m.tide"


def link_to_fifo(f):
    os.mkfifo(f / "pipe")
    (f / "m.tide").symlink_to("pipe")
    return f / "m.tide"


def read_only_file(f):
    (f / "m.tide").write_text("text")
    (f / "m.tide").chmod(0o444)
    return f / "m.tide"


def others_file(f):
    (f / "m.tide").write_text("text")
    (f / "m.tide").chmod(0o644)
    if ROOT_USER:
        os.chown(f / "m.tide", NOBODY, NOBODY)
    else:
        (f / "m.tide").chmod(0o444)
    return f / "m.tide"


def long_name(f):
    return f / ("m" * 300)


def longest_name(f):
    """There is no room for the lock's beside it."""
    return f / ("m" * 255)


def taken_lock(f):
    (f / ".m.tide.lock").mkdir()
    return f / "m.tide"


def linked_lock(f):
    (f / ".m.tide.lock").symlink_to(f / "elsewhere")
    return f / "m.tide"


BAD = {
    missing_folder: (1, "No such file or directory"),
    read_only_folder: (1, "Permission denied"),
    closed_folder: (1, "Permission denied"),
    file_as_folder: (1, "Not a directory"),
    fifo: (1, "not a regular file"),
    unix_socket: (1, "not a regular file"),
    device: (1, "not a regular file"),
    standard_output: (1, "an open file cannot be replaced"),
    open_file: (1, "an open file cannot be replaced"),
    link_to_nowhere: (1, "dangling symbolic link"),
    link_to_itself: (1, "Too many levels of symbolic links"),
    link_to_fifo: (1, "not a regular file"),
    read_only_file: (1, "Permission denied"),
    others_file: (1, "Permission denied"),
    long_name: (1, "File name too long"),
    longest_name: (1, "File name too long"),
    taken_lock: (1, "Is a directory"),
    linked_lock: (1, "Too many levels of symbolic links"),
}


def seen(folder):
    """All that is there: kind, rights and, where it can be read, the bytes."""
    return {str(path): (path.lstat().st_mode, path.is_file() and not path.is_symlink() and path.read_bytes())
            for path in sorted(folder.rglob("*"))}


def test_bad_positions_are_refused_at_the_start(tmp_path, figure):
    for place, (code, reason) in BAD.items():
        for option in OPTIONS:
            folder = tmp_path / f"{place.__name__}{option}"
            folder.mkdir()
            path = place(folder)
            before = seen(folder)
            more = ["--continue"] if option == "--checkpoint" else []
            done = run(option, path, *more)
            said = done.stderr.decode().splitlines()
            assert len(said) == 1 and said[0].startswith("wordtide: "), (place, option, said)
            assert done.returncode == code and reason in said[0], (place, option, said)
            assert seen(folder) == before, place
    figure(f"{len(BAD)} bad places, each with -o and --checkpoint: one line, nothing touched")


def test_a_folder_is_no_model_but_a_place_for_checkpoints(tmp_path):
    for path in tmp_path, f"{tmp_path}/":
        done = run("-o", path)
        assert done.returncode == 1 and b"Is a directory" in done.stderr
        done = run("--checkpoint", path, "--continue")
        assert done.returncode == 0 and wordtide("check", tmp_path / "model.tide").returncode == 0


@pytest.mark.parametrize("arguments,reason", [
    (["-o", ""], "needs a file name"),
    (["--checkpoint", ""], "needs a file name"),
    (["--checkpoint", "./" * 5000 + "c.tide"], "is too long"),
    (["-o", "-"], "a model cannot be written to standard output"),
])
def test_what_is_no_name_is_wrong_usage(tmp_path, arguments, reason):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and reason in done.stderr.decode().splitlines()[0]
    assert list(tmp_path.iterdir()) == []


def test_a_link_leads_to_the_model_and_stays(tmp_path):
    (tmp_path / "there").mkdir()
    model = tmp_path / "there" / "m.tide"
    assert run("-o", model).returncode == 0
    before = model.read_bytes()
    (tmp_path / "link").symlink_to(model)
    assert run("--resume", model, "-o", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").is_symlink() and model.read_bytes() != before
    assert wordtide("check", model).returncode == 0
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["m.tide", "m.tide.1"]


def test_two_names_of_one_model_have_one_writer(tmp_path):
    model, link = tmp_path / "m.tide", tmp_path / "link"
    assert run("-o", model).returncode == 0
    link.symlink_to(model)
    for first, second in (model, link), (link, model):
        process = start("train", "-o", first, *TINY, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stderr.readline()  # it has begun
        done = run("-o", second)
        assert done.returncode == 1 and b"another process is writing it" in done.stderr
        process.communicate(b"some words\n")
        assert process.returncode == 0


def remove(folder):
    shutil.rmtree(folder)


def close(folder):
    folder.chmod(0o555)


@pytest.mark.parametrize("change", [remove, close])
@pytest.mark.parametrize("option", OPTIONS)
def test_a_folder_that_goes_bad_on_the_way(tmp_path, change, option):
    """A failed save is reported and training continues; the end reports that there is no model."""
    folder = tmp_path / "folder"
    folder.mkdir()
    line = [*PLAIN, BINARY, "train", option, folder / "m.tide", *TINY]
    process = subprocess.Popen(list(map(str, line)), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stderr.readline()  # it has begun
    change(folder)
    process.stdin.write(b"some words\n")
    process.stdin.flush()
    process.send_signal(signal.SIGUSR1)
    for said in process.stderr:
        if b"not saved: " in said:
            break
    else:
        pytest.fail("nobody said that it was not saved")
    assert process.poll() is None
    said = process.communicate(b"and more\n")[1].decode().splitlines()
    assert process.returncode == 1
    assert [line for line in said if line.startswith("wordtide: cannot write ")] == said[-1:]


@needs_strace
@pytest.mark.parametrize("error", ["ENOSPC", "EROFS", "EDQUOT"])
@pytest.mark.parametrize("option", OPTIONS)
def test_a_disk_that_takes_nothing(tmp_path, error, option):
    model = tmp_path / "m.tide"
    assert run(option, model).returncode == 0
    before = seen(tmp_path)
    inject = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
              f"inject=pwrite64:error={error}:when=1+"]
    done = run("--resume", model, option, model, before=inject)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        f"wordtide: cannot write {model}: {os.strerror(getattr(errno, error))}"]
    assert seen(tmp_path) == before


def test_of_two_that_begin_at_once_exactly_one_runs(tmp_path, figure):
    pairs = 100 if NIGHT else 20
    for number in range(pairs):
        folder = tmp_path / str(number)
        folder.mkdir()
        pair = [start("train", "--checkpoint", folder / "c.tide", "--continue", *TINY,
                      stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        first = [process.stderr.readline().decode() for process in pair]
        assert sorted("msg=memory" in line for line in first) == [False, True], first
        assert sum("another process is writing it" in line for line in first) == 1
        for process in pair:
            process.communicate(b"some words\n")
        assert sorted(process.returncode for process in pair) == [0, 1]
        assert [path.name for path in folder.iterdir()] == ["c.tide"]
    figure(f"{pairs} pairs, exactly one ran {pairs} times")
