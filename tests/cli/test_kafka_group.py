"""Members of a Kafka group are killed while they save and rebalance.

What can be promised: no message is lost, and two models learn the same one only if a kill came between a save and the
commit of its offsets, or with a warning, when the group does not take the commit: a member that did not answer in time
is not waited for. The model that was saved has then come further than the group knows, and another member goes on from
what the group knows. Every word here is a message of its own, so each model tells which messages it has learned, and
after each kill the file and the group tell whether it was such a moment.

WORDTIDE_KILLS says how many kills; a kill takes some seconds, since the group waits for a member that does not answer.
"""

import os
import random
import re
import signal
import time

import pytest
from conftest import PATIENCE, STARTED
from running import counts, start
from test_kafka import MOCK, Topic
from watching import end_started

KILLS = int(os.environ.get("WORDTIDE_KILLS", "3"))
MEMBERS, PARTITIONS, GROUP = 3, 6, "words"
MESSAGES = 60  # for each kill
SIZE = ["--vocab", str(1000 + (KILLS + 2) * MESSAGES), "--dim", "2", "--threads", "1", "--tokens", "space"]
FAST = [f"-X{setting}" for setting in (
    "fetch.wait.max.ms=20", "session.timeout.ms=1500", "heartbeat.interval.ms=100",
    "partition.assignment.strategy=cooperative-sticky")]
WARNING = re.compile("cannot commit offsets|before their offsets were committed")
ABORTED = "Assertion `assignor_state' failed"  # librdkafka before 2.2 (issue 4312), when it ends in a rebalance
pytestmark = pytest.mark.skipif(not MOCK.exists(), reason="built without Kafka")


@pytest.fixture
def time_limit():
    return 300 + 20 * KILLS


class Numbers(Topic):
    """Message number n is the word "wN", at offset n // PARTITIONS of partition n % PARTITIONS."""

    def __init__(self):
        super().__init__(b"", 1, PARTITIONS)
        self.made = 0

    def make(self, count):
        numbers = range(self.made, self.made + count)
        self.send([b"%d\tw%d\n" % (number % PARTITIONS, number) for number in numbers])
        self.made += count

    def committed(self):
        """The group's next offset of each partition."""
        self.process.stdin.write(f"?{GROUP}\n".encode())
        self.process.stdin.flush()
        return [max(0, int(offset)) for offset in self.process.stdout.readline().split()]

    def all_committed(self):
        return sum(self.committed()) == self.made


class Member:
    """A training process with its own model, which survives the process."""

    def __init__(self, folder, number, topic):
        self.model, self.log = folder / f"m{number}.tide", folder / f"m{number}.log"
        self.spec = f"kafka://{topic.brokers}/topic?group={GROUP}"
        self.process = None

    def start(self, every=10):
        where = ["--continue", "--checkpoint", self.model, *([] if self.model.exists() else SIZE)]
        with self.log.open("ab") as log:
            self.process = start("train", self.spec, *FAST, *where, "--every", every, stderr=log)
        STARTED.append(self.process)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process = None

    def stop(self):
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        self.process = None
        log = self.log.read_text()
        unlearned = code in (130, -signal.SIGTERM)
        aborted = code == -signal.SIGABRT and ABORTED in log
        assert code == 0 or unlearned or aborted, log

    def places(self):
        """The saved model's next offset of each partition."""
        found = dict.fromkeys(range(PARTITIONS), 0)
        if self.model.exists():
            places = re.findall(rb"topic\[(\d+)\]=(\d+)", self.model.read_bytes())
            found.update((int(partition), int(offset)) for partition, offset in places)
        return found

    def has_warned(self):
        """Whether it logged that it could not commit before losing its partitions."""
        return WARNING.search(self.log.read_text()) is not None

    def learned(self):
        return counts(self.model) if self.model.exists() else {}


def killed_between(member, topic):
    """Messages in the model of a killed member that the group will deliver again."""
    known = topic.committed()
    return {offset * PARTITIONS + partition
            for partition, place in member.places().items() for offset in range(known[partition], place)}


def wait_for_all(topic, members):
    end = time.monotonic() + PATIENCE
    while not topic.all_committed():
        assert all(member.process.poll() is None for member in members), "a member has ended"
        assert time.monotonic() < end, topic.committed()
        time.sleep(0.05)


class Tally:
    """The fate of all messages over all rounds."""

    def __init__(self):
        self.kills = self.messages = self.waiting = self.again = self.reported = 0
        self.lost, self.doubled = [], []

    def add(self, members, made, kills, allowed):
        learners = [[] for _ in range(made)]
        for member in members:
            for word, count in member.learned().items():
                learners[int(word[1:])] += [member] * count
        warned = {member for member in members if member.has_warned()}
        doubled = {number for number, some in enumerate(learners) if len(some) > 1}
        reported = {number for number in doubled - allowed if warned & set(learners[number])}
        self.kills += kills
        self.messages += made
        self.lost += [number for number, some in enumerate(learners) if not some]
        self.doubled += doubled - allowed - reported
        self.waiting += len(allowed)
        self.again += len(doubled & allowed)
        self.reported += len(reported)

    def __str__(self):
        return (f"{self.kills} kills, {self.messages} messages: {len(self.lost)} lost, {len(self.doubled)} doubled; of "
                f"the {self.waiting} saved and not yet committed at a kill {self.again} were learned again, and "
                f"{self.reported} others with a warning")


def one_of(dice, members):
    return dice.choice([member for member in members if member.process])


def disturb(dice, members, topic):
    """A member joins, perhaps another leaves, and one is killed during the rebalance."""
    joining = next(member for member in members if not member.process)
    if dice.random() < 0.2:
        one_of(dice, members).stop()
    joining.start()
    before, end = sum(topic.committed()), time.monotonic() + 8 * dice.random()
    for _ in range(3):
        topic.make(MESSAGES // 3)
        while sum(topic.committed()) == before and time.monotonic() < end:
            time.sleep(0.01)
    time.sleep(dice.random() * 0.3)
    victim = one_of(dice, members)
    victim.kill()
    waiting = killed_between(victim, topic)
    if sum(bool(member.process) for member in members) < MEMBERS - 1:
        next(member for member in members if not member.process).start()
    return waiting


def play(folder, dice, kills, topic, tally):
    """Some kills in a separate group."""
    members = [Member(folder, number, topic) for number in range(MEMBERS)]
    allowed = set()
    members[0].start()
    members[1].start()
    topic.make(MESSAGES)
    for _ in range(kills):
        allowed |= disturb(dice, members, topic)
    for member in members:
        if member.process:
            member.stop()
        member.start(every=1)
    wait_for_all(topic, members)
    for member in members:
        member.stop()
    tally.add(members, topic.made, kills, allowed)


def test_kills_during_rebalances_lose_and_repeat_nothing(tmp_path, figure):
    dice, tally = random.Random(7), Tally()
    for number in range(100 + KILLS):
        topic, folder = Numbers(), tmp_path / str(number)
        folder.mkdir()
        try:
            play(folder, dice, min(10, KILLS - tally.kills), topic, tally)
            topic.close()
        except (OSError, AssertionError):
            time.sleep(0.5)
            if topic.process.poll() != -signal.SIGABRT:
                raise
            print("librdkafka's mock cluster has failed (an assertion about a second SyncGroup); once more")
            end_started()
        if tally.kills == KILLS:
            break
    figure(str(tally))
    assert not tally.lost
    assert not tally.doubled
