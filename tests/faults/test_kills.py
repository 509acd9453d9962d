"""kill -9 at any instant: of training, of a checkpoint, of the last save, of starting up, of an export.

A training is killed, goes on and is killed again, until it has come to its end; then another one begins.
After each kill a copy of all that it left is let run to its end. That is the oracle, and it also tells how
long the run from this very state takes, over which the next instant is drawn evenly. The seed is fixed; what
a kill meets is up to the machine.
"""

import collections
import gzip
import lzma
import random
import shutil
import subprocess
import time

import pytest
from conftest import BINARY, NIGHT, PATIENCE, TINY, command, expect_end, expect_good, start, wordtide
from killing import Log, Training, kill_and_go_on
from labeled import as_lines, make_posts
from running import counts

ROOMY = ["--vocab", "5000", "--dim", "8", "--replay-ring", "2000"]  # counts of all words are exact
LABELS = ["--vocab", "300", "--dim", "8", "--replay-ring", "2000", "--label-memory", "100K",
          "--classifier", "linear", "--classifier-epochs", "5"]
ROUND = 10

Job = collections.namedtuple("Job", "sources how result")


def kills(number):
    return 10 * number if NIGHT else number


def model_bytes(folder):
    return (folder / "m.tide").read_bytes()


def model_counts(folder):
    return counts(folder / "m.tide")


def packed(text, folder):
    """The text in three sources; the latter two cannot be read on at any byte."""
    lines = text.read_bytes().splitlines(keepends=True)
    half, most = len(lines) // 2, 3 * len(lines) // 4
    (folder / "a.txt").write_bytes(b"".join(lines[:half]))
    (folder / "b.txt.gz").write_bytes(gzip.compress(b"".join(lines[half:most])))
    (folder / "c.txt.xz").write_bytes(lzma.compress(b"".join(lines[most:])))
    return [folder / "a.txt", folder / "b.txt.gz", folder / "c.txt.xz"]


def posts(folder):
    (folder / "posts.txt").write_text(as_lines(make_posts(1, 3000)))
    return folder / "posts.txt"


JOBS = {
    "file": lambda text, folder: Job(text, {}, model_bytes),
    "sources": lambda text, folder: Job(packed(text, folder), {}, model_bytes),
    "labels": lambda text, folder: Job(
        posts(folder), {"verb": ("labels", "train"), "options": LABELS}, model_bytes),
    "batch": lambda text, folder: Job(
        text, {"options": [*TINY, "--batch", "--epochs", "2"]}, model_bytes),
    "threads": lambda text, folder: Job(
        text, {"options": [*ROOMY, "--threads", "2"]}, model_counts),
}


def ended(job, folder):
    """Lets the training end; its result, and how long it took."""
    begun = time.monotonic()
    expect_end(command(job.sources, folder, **job.how), folder)
    seconds = time.monotonic() - begun
    return job.result(folder), seconds


def is_killed(line, seconds):
    """Whether it was still running when so much time had passed."""
    process = start(*line[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    code = process.wait(PATIENCE)
    assert code in (0, -9)
    return code != 0


@pytest.mark.parametrize("name,number", [("file", 30), ("sources", 20), ("labels", 10),
                                         ("batch", 10), ("threads", 10)])
def test_a_killed_training_comes_to_the_same_end(text, tmp_path, figure, name, number):
    dice = random.Random(name)
    job = JOBS[name](text, tmp_path)
    folder, done, met = tmp_path / "run", 0, collections.Counter()
    folder.mkdir()
    whole, length = ended(job, folder)
    seconds = length
    shutil.rmtree(folder)
    while done < kills(number):
        folder.mkdir(exist_ok=True)
        if not is_killed(command(job.sources, folder, **job.how), dice.uniform(0, seconds)):
            assert job.result(folder) == whole
            shutil.rmtree(folder)
            seconds = length
            continue
        expect_good(folder)
        met[len(list(folder.glob("c.tide*")))] += 1
        copy = shutil.copytree(folder, tmp_path / "copy")
        result, seconds = ended(job, copy)
        assert result == whole
        shutil.rmtree(copy)
        done += 1
    figure(f"{done} kills, 0 unreadable, {done} ends "
           f"{'byte-equal' if job.result == model_bytes else 'with the same counts'}; "
           f"{done - met[0]} had left checkpoints")


def numbered(first, number):
    """Lines of words that come but once."""
    words = [f"word{i}" for i in range(first, first + number)]
    return "".join(" ".join(words[i : i + 9]) + "\n" for i in range(0, number, 9))


def test_a_followed_and_rotated_file_is_learned_once(tmp_path, figure):
    """In rounds of some kills, each with a file of its own."""
    done = rotations = 0
    while done < kills(2 * ROUND):
        folder = tmp_path / str(done)
        folder.mkdir()
        text = numbered(0, 4000).encode()
        log, model = Log(folder, text, ROUND + 3, longest=300), folder / "m.tide"

        def begin(every=50):
            if model.exists():
                expect_good(folder)
            return Training(model, "--follow", log.path, every=every)

        first = begin()
        log.write(log.size)
        first.wait_for_save()
        first.kill()
        kill_and_go_on(begin, log.go_on, done, kills=ROUND)
        log.write(len(text))
        begin(every=1).finish_at(4000)
        learned = counts(model)
        lost = 4000 - len(learned)
        doubled = sum(count != 1 for count in learned.values())
        assert (lost, doubled) == (0, 0)
        done += ROUND
        rotations += log.rotations
    figure(f"{done} kills, {rotations} rotations, 0 unreadable, 0 lost, 0 doubled")


@pytest.mark.parametrize("form", ["word2vec", "word2vec-binary", "npy", "safetensors", "sqlite"])
def test_an_export_is_there_as_a_whole_or_not_at_all(tmp_path, figure, form):
    """And what had the name before stays until then."""
    dice = random.Random(form)
    model, folder = tmp_path / "m.tide", tmp_path / "out"
    assert wordtide("train", "demo:tokens=60000", "-o", model, "--dim", "100").returncode == 0
    line = [BINARY, "export", str(model), "--format", form, "-o", str(folder / "v.out")]
    folder.mkdir()
    begun = time.monotonic()
    assert subprocess.run(line, capture_output=True).returncode == 0
    length = time.monotonic() - begun
    new = {path.name: path.read_bytes() for path in folder.iterdir()}
    old = {name: b"what was there before\n" for name in new}
    done = 0
    while done < kills(4):
        for name in old:
            (folder / name).write_bytes(old[name])
        if not is_killed(line, dice.uniform(0, length)):
            continue
        for name in new:
            found = (folder / name).read_bytes()
            assert found in (old[name], new[name]), name
        done += 1
    assert subprocess.run(line, capture_output=True).returncode == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == new
    figure(f"{done} kills, 0 half files, nothing left behind")
