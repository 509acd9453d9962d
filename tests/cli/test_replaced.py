"""An existing model is never lost: not to an empty stream, a new model, or a full disk."""

import os
import resource
import signal
import subprocess

import pytest
from conftest import PATIENCE, SMALL, Running, start, train, wordtide

EMPTY = [b"", b"\n \n\n", b"... ,,, !!!\n"]


@pytest.fixture
def kept(model, tmp_path):
    """A model that must survive."""
    path = tmp_path / "m.tide"
    path.write_bytes(model.read_bytes())
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("arguments", [[], ["--every", "1"], ["--batch"], ["--records", "json", "--text", "body"]])
@pytest.mark.parametrize("empty", EMPTY)
def test_a_run_without_words_does_not_replace_a_model(kept, tmp_path, empty, arguments):
    source = tmp_path / "empty.txt"
    source.write_bytes(empty)
    before = kept.read_bytes()
    done = wordtide("train", source, "-o", kept, *SMALL, *arguments)
    assert done.returncode == 3, done.stderr
    assert kept.read_bytes() == before and names(tmp_path) == ["empty.txt", "m.tide"]


def test_a_run_without_words_creates_no_model(tmp_path):
    done = wordtide("train", "-o", tmp_path / "m.tide", *SMALL)
    assert done.returncode == 3 and "no words were read: " in done.stderr and "was not written" in done.stderr
    done = wordtide("train", "--checkpoint", tmp_path / "m.tide", *SMALL)
    assert done.returncode == 3 and "was not written" in done.stderr
    assert names(tmp_path) == []


@pytest.mark.parametrize("save_first", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_before_the_first_word_replaces_nothing(kept, tmp_path, number, save_first):
    before = kept.read_bytes()
    running = Running("-o", kept, *SMALL)
    running.wait_for("msg=memory")
    if save_first:
        running.process.send_signal(signal.SIGUSR1)
        running.wait_for("no words were read")
    running.process.send_signal(number)
    running.wait_for("is unchanged")
    assert running.finish() == 130
    assert kept.read_bytes() == before and names(tmp_path) == ["m.tide"]


def test_resuming_without_new_words_succeeds_and_changes_nothing(kept, tmp_path):
    before = kept.read_bytes()
    done = wordtide("train", "--resume", kept)
    assert done.returncode == 0 and "no words were read" in done.stderr
    assert kept.read_bytes() == before and names(tmp_path) == ["m.tide"]
    assert wordtide("train", "--resume", kept, "-o", tmp_path / "copy.tide").returncode == 0
    assert (tmp_path / "copy.tide").read_bytes() == before
    train(tmp_path / "other.tide", b"something else")
    other = (tmp_path / "other.tide").read_bytes()
    done = wordtide("train", "--resume", kept, "-o", tmp_path / "other.tide")
    assert done.returncode == 0 and "other.tide is unchanged" in done.stderr
    assert (tmp_path / "other.tide").read_bytes() == other


@pytest.mark.parametrize("every", [[], ["--every", "1000"]])
def test_the_previous_model_is_kept_and_named(kept, text, tmp_path, every):
    """However often the run saves."""
    old = kept.read_bytes()
    done = wordtide("train", "-o", kept, *SMALL, *every, "--seed", "2", input=text)
    assert done.returncode == 0 and f'earlier_model="{kept}.1"' in done.stderr
    new = kept.read_bytes()
    assert new != old and (tmp_path / "m.tide.1").read_bytes() == old
    assert names(tmp_path) == ["m.tide", "m.tide.1"]
    train(kept, text, *every, "--seed", "3")
    assert (tmp_path / "m.tide.1").read_bytes() == new and (tmp_path / "m.tide.2").read_bytes() == old
    train(kept, text, *every, "--older", "0")
    assert (tmp_path / "m.tide.1").read_bytes() == new and (tmp_path / "m.tide.2").read_bytes() == old


def test_a_new_model_names_no_previous_one(text, tmp_path):
    done = train(tmp_path / "m.tide", text)
    assert "earlier" not in done.stderr and names(tmp_path) == ["m.tide"]


def test_behind_a_link_it_is_kept_beside_the_target(kept, text, tmp_path):
    old = kept.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(kept)
    done = train(link, text, "--seed", "2")
    assert f'earlier_model="{kept.resolve()}.1"' in done.stderr
    assert (tmp_path / "m.tide.1").read_bytes() == old


def test_checkpoints_without_new_words_displace_no_older_one(text, tmp_path):
    path = tmp_path / "c.tide"
    again = ["train", "--checkpoint", path, "--continue", "--every", "5000"]
    assert wordtide(*again, *SMALL, input=text).returncode == 0
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    assert len(before) == 3
    for _ in range(3):
        assert wordtide(*again).returncode == 0
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_import_and_labels_keep_it_too(kept, text, tmp_path):
    old = kept.read_bytes()
    vectors = tmp_path / "m.vec"
    assert wordtide("export", kept, "-o", vectors).returncode == 0
    done = wordtide("import", vectors, "-o", kept)
    assert done.returncode == 0 and f"{kept}.1" in done.stderr
    assert (tmp_path / "m.tide.1").read_bytes() == old
    posts = "".join(f"news of sport #sport and more {i}\nsongs of the night #music {i}\n" for i in range(50))
    labels = tmp_path / "l.tide"
    assert wordtide("labels", "train", "-o", labels, *SMALL, input=posts).returncode == 0
    assert names(tmp_path) == ["l.tide", "m.tide", "m.tide.1", "m.vec"]
    old = labels.read_bytes()
    assert wordtide("labels", "fit", labels, "--label-top", "1").returncode == 0
    assert (tmp_path / "l.tide.1").read_bytes() == old
    old = labels.read_bytes()
    (tmp_path / "posts.txt").write_text(posts)
    assert wordtide("labels", "eval", labels, tmp_path / "posts.txt", "--learn", "-o", labels).returncode == 0
    assert (tmp_path / "l.tide.1").read_bytes() == old


@pytest.mark.parametrize("arguments", [
    ["export", "MODEL", "--format", "word2vec", "-o"], ["export", "MODEL", "--format", "sqlite", "-o"],
    ["export", "MODEL", "--format", "npy", "-o"], ["embed", "MODEL", "--format", "npy", "-o"],
    ["demo", "--tokens", "10", "--truth"]])
def test_only_a_model_may_replace_a_model(model, kept, arguments):
    before = kept.read_bytes()
    done = wordtide(*[model if argument == "MODEL" else argument for argument in arguments], kept, input=b"a\n")
    assert done.returncode == 2 and "m.tide is a wordtide model" in done.stderr
    assert kept.read_bytes() == before


def limit_files():
    """Limits the size of files, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


@pytest.mark.parametrize("place", ["-o", "--checkpoint"])
@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT])
def test_a_failed_last_save_is_a_failure(text, tmp_path, place, number):
    process = start("train", place, tmp_path / "m.tide", "--vocab", "5000", "--dim", "64", "--threads", "1",
                    "--every", "1h", stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit_files)
    process.stdin.write(text)
    if number:
        process.stdin.flush()
        while b"msg=training" not in process.stderr.readline():
            pass
        process.send_signal(number)
    said = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 1 and os.strerror(27) in said
    assert names(tmp_path) == []
