"""No state that a power loss may leave loses a checkpoint that was called safe, or passes for one.

A training with checkpoints is recorded, and the states that a disk may be in are made of the record
for every point of time (power.py). The library looks for the newest good checkpoint in each.
"""

import itertools
import random
import shutil

import pytest
from conftest import NIGHT, plain_build
from harness import Library, preloaded
from power import Disk, Promises, read_log
from running import done_well

pytestmark = plain_build
TINY = ["--vocab", "100", "--dim", "8", "--replay-ring", "2000"]
ROUNDS, STATES, GOING_ON = (1000, 10000, 200) if NIGHT else (60, 1000, 20)
OLDER = ("c.tide", "c.tide.1", "c.tide.2")


def command(text, folder):
    return ["train", text, "--checkpoint", folder / "c.tide", "--continue", "--every", "10000",
            "--older", "2", "-o", folder / "m.tide", *TINY]


class Recorded:
    """A run, its records, and what it left."""

    def __init__(self, scratch, arguments=command, tokens=80000, piped=False):
        self.text = scratch / "news.txt"
        self.text.write_text(done_well("demo", "--tokens", str(tokens)).stdout)
        self.folder = scratch / "recorded"
        self.folder.mkdir()
        log = scratch / "log"
        with log.open("ab") as stderr:  # both write at its end
            done = preloaded("recorder", *arguments(self.text, self.folder), stderr=stderr,
                             input=self.text.read_bytes() if piped else b"", WORDTIDE_RECORD=self.folder)
        assert done.returncode == 0
        self.records = read_log(log.read_bytes())
        self.inode = self.folder.stat().st_ino
        self.whole = (self.folder / "m.tide").read_bytes()

    def points(self, lazy=()):
        """(disk, promises) at every point of time."""
        disk, promises = Disk(self.inode, random.Random(1), lazy), Promises(self.inode)
        for record in self.records:
            if record.what != "said":
                disk.play(record)
            promises.play(record, disk)
            yield disk, promises


class Judge:
    """Asks the library about states; the same bytes are asked about once."""

    def __init__(self, recorded, scratch):
        *_, (_, promises) = recorded.points()
        self.library = Library()
        self.scratch = scratch / "state"
        self.written = {data for files in promises.placed.values() for data in files}
        self.generation = {}  # by how much text it has seen, from 1
        self.asked = {}
        for number, data in enumerate(promises.placed["c.tide"], 1):
            self.generation[self.ask({"c.tide": data}, self.library.load)] = number
        assert None not in self.generation and len(self.generation) == number

    def ask(self, files, how):
        """About the checkpoint in a folder with these files."""
        key = how.__name__, digest(files)
        if key not in self.asked:
            write_state(files, self.scratch)
            self.asked[key] = how(self.scratch / "c.tide")
        return self.asked[key]

    def newest(self, state):
        """The number of the generation that is found; 0 for none."""
        seen = {name: data for name, data in state.items() if name in OLDER}
        return self.generation.get(self.ask(seen, self.library.recover), 0)

    def damaged(self, state):
        """The same once the newest file has rotted."""
        return self.newest({**state, "c.tide": state.get("c.tide", b"")[:-1]})

    def accepted_wrongly(self, state):
        return [name for name, data in state.items() if data not in self.written
                and self.ask({"c.tide": data}, self.library.load) is not None]


def write_state(state, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in state.items():
        (folder / name).write_bytes(data)


def digest(state):
    return tuple(sorted((name, hash(data)) for name, data in state.items()))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return Recorded(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="module")
def judge(recorded, tmp_path_factory):
    return Judge(recorded, tmp_path_factory.mktemp("judge"))


def distinct_states(points, rounds):
    """(state, promises), each state once for what is promised."""
    seen = set()
    for disk, promises in points:
        for state in disk.states(rounds):
            key = digest(state), tuple(sorted(promises.kept.items()))
            if key not in seen:
                seen.add(key)
                yield state, promises


def test_the_record_is_whole(recorded):
    """Played to its end it comes to what is there, and nothing is called safe before it is."""
    for disk, promises in recorded.points():
        assert promises.reported <= promises.kept.get("c.tide", 0)
    assert disk.shown() == {path.name: path.read_bytes() for path in recorded.folder.iterdir()}
    assert promises.reported == promises.kept["c.tide"] >= 5
    assert promises.kept["m.tide"] == 1


def test_what_was_safe_is_found_in_every_state(recorded, judge):
    states = set()
    for state, promises in distinct_states(recorded.points(), ROUNDS):
        states.add(digest(state))
        safe = promises.kept.get("c.tide", 0)
        assert judge.newest(state) >= safe, sorted(state)
        assert safe < 2 or judge.damaged(state) >= safe - 1, sorted(state)
        assert judge.accepted_wrongly(state) == []
        assert "m.tide" not in promises.kept or state.get("m.tide") == recorded.whole
    print(f"{len(states)} states, 0 lost")
    assert len(states) >= STATES


@pytest.mark.parametrize("lazy", ["file", "folder"])
def test_a_sync_that_only_pretends_loses_what_was_safe(recorded, judge, lazy):
    """Otherwise the test above could not fail."""
    lost = (state for state, promises in distinct_states(recorded.points([lazy]), 1)
            if judge.newest(state) < promises.kept.get("c.tide", 0))
    assert len(list(itertools.islice(lost, 10))) == 10


def test_going_on_from_any_state_comes_to_the_same_end(recorded, tmp_path):
    states = [state for state, _ in distinct_states(recorded.points(), 1)]
    for number, state in enumerate(random.Random(2).sample(states, GOING_ON)):
        folder = tmp_path / str(number)
        write_state(state, folder)
        done_well(*command(recorded.text, folder))
        assert (folder / "m.tide").read_bytes() == recorded.whole, sorted(state)
        assert {path.name for path in folder.iterdir()} <= {*OLDER, "m.tide", "m.tide.1", "m.tide.2"}
        shutil.rmtree(folder)


# -- a spool ----------------------------------------------------------------------------------------


def spooling(text, folder):
    """From a pipe; model and spool are in one folder, whose changes are recorded."""
    return ["train", "-", "--spool", folder, "--spool-limit", "1M", "--spool-sync", "always",
            "--checkpoint", folder / "c.tide", "--continue", "--every", "60000", "-o", folder / "m.tide", *TINY]


def folders(recorded):
    """The states that the changes of the folder allow, each once, when there is a checkpoint."""
    seen = set()
    for disk, _ in recorded.points():
        for subset in disk.subsets():
            names = {name: file for name, file in disk.folder_after(subset).items() if not name.startswith(".")}
            key = frozenset((name, id(file)) for name, file in names.items())
            if "c.tide" in names and key not in seen:
                seen.add(key)
                yield {name: bytes(file.now) for name, file in names.items()}


def has_gap(state):
    numbers = sorted(int(name[:12]) for name in state if name.endswith(".spool"))
    return numbers and numbers[-1] - numbers[0] >= len(numbers)


def test_a_spool_goes_on_whichever_of_its_segments_are_left(tmp_path):
    """Segments that were learned are removed several at a time, and any of them may be back."""
    recorded, states, gaps = Recorded(tmp_path, spooling, 300000, piped=True), 0, 0
    for state in folders(recorded):
        folder = tmp_path / "state"
        write_state(state, folder)
        done_well(*spooling(None, folder))
        assert not list(folder.glob("*.spool"))[1:]
        states, gaps = states + 1, gaps + has_gap(state)
    print(f"{states} states of a spool, {gaps} with a gap")
    assert gaps >= 3
