"""Messages of a topic are learned exactly once, however often training is killed."""

import pathlib
import subprocess

import pytest

from conftest import BINARY, PATIENCE, STARTED, wordtide
from killing import (
    EVERY,
    KILLS,
    ROOMY,
    Training,
    count_words,
    kill_and_go_on,
    learned,
    time_limit,  # noqa: F401
)
from running import counts

MOCK = pathlib.Path(BINARY).resolve().parents[1] / "tests" / "mock_kafka"
pytestmark = pytest.mark.skipif(not MOCK.exists(), reason="built without Kafka")


class Topic:
    """A topic on a private Kafka broker, filled with a text line by line."""

    def __init__(self, text, parts, partitions):
        self.process = subprocess.Popen(
            [MOCK, "topic", str(partitions)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        STARTED.append(self.process)
        self.brokers = self.process.stdout.readline().decode().strip()
        self.lines = text.splitlines(keepends=True)
        self.size = len(self.lines) // parts + 1

    def go_on(self, dice=None):
        self.send(self.lines[: self.size])
        del self.lines[: self.size]

    def send(self, lines):
        """Waits until all messages are in the topic."""
        self.process.stdin.write(b"".join(lines) + b"\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == b"ok\n"

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def trained_while_killed(tmp_path, text, partitions, settings="", seed=1, kills=KILLS):
    """The model after all kills."""
    topic, model = Topic(text, kills + 1, partitions), tmp_path / "m.tide"
    spec = f"kafka://{topic.brokers}/topic{settings}"
    fast = [f"-X{name}" for name in ("fetch.wait.max.ms=20", "session.timeout.ms=6000")]

    def begin(every=EVERY):
        return Training(model, spec, *fast, every=every)

    kill_and_go_on(begin, topic.go_on, seed, kills)
    topic.send(topic.lines)
    begin(every=1).finish_at(count_words(text))
    topic.close()
    return model


@pytest.fixture
def reference(text, tmp_path):
    path = tmp_path / "reference.tide"
    done = wordtide("train", "-o", path, *ROOMY, input=text)
    assert done.returncode == 0, done.stderr
    return path


def test_one_partition_gives_the_model_of_a_file(tmp_path, text, reference):
    model = trained_while_killed(tmp_path, text, 1)
    assert learned(model) == learned(reference)


def test_every_message_of_several_partitions_counts_once(tmp_path, text, reference):
    model = trained_while_killed(tmp_path, text, 3, seed=2)
    assert counts(model) == counts(reference)


def test_a_killed_member_of_a_group_resumes(tmp_path, text, reference):
    """Few kills, since the group waits seconds for a member that does not respond."""
    model = trained_while_killed(tmp_path, text, 3, "?group=words", seed=3, kills=1)
    assert counts(model) == counts(reference)


def test_a_quote_in_one_message_does_not_swallow_the_next(tmp_path):
    """A message always holds one or more complete records."""
    topic, model = Topic(b"", 1, 1), tmp_path / "m.tide"
    topic.send([b'"open quote\n'] + [b"beta gamma\n"] * 200)
    spec = f"kafka://{topic.brokers}/topic"
    first = ["--records", "csv", "--text", "1"]
    Training(model, spec, "-Xfetch.wait.max.ms=20", *first, every=1).finish_at(400)
    topic.close()
    assert counts(model)["beta"] == 200


def test_a_missing_topic_is_reported(tmp_path):
    done = wordtide(
        *["train", "kafka://127.0.0.1:1/words", "-o", tmp_path / "m.tide", *ROOMY],
        "-Xsocket.connection.setup.timeout.ms=1000",
    )
    assert done.returncode == 1
    assert "cannot read words from 127.0.0.1:1" in done.stderr


def test_an_invalid_property_is_reported(tmp_path):
    done = wordtide(
        *["train", "kafka://127.0.0.1:1/words", "-o", tmp_path / "m.tide", *ROOMY],
        "-Xno.such=1",
    )
    assert done.returncode != 0 and "no.such" in done.stderr
