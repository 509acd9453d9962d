"""Exactly once over HTTP: text that a server with a spool has acknowledged is learned once.

Clients send numbered words, every number once, and record the outcome: accepted, rejected, or unknown if the
server was killed first. In the end an accepted word has to be in the model once, a rejected one not at all, and
one with an unknown outcome at most once. WORDTIDE_KILLS is the number of kills; 200 is a long test.
"""

import http.client
import os
import random
import re
import threading
import time

import pytest
from killing import text_in
from running import SANITIZED, counts, wordtide
from serving import Server, refusal, resume
from tracing import needs_strace
from watching import PATIENCE, wait_until

KILLS = int(os.environ.get("WORDTIDE_KILLS", "6" if SANITIZED else "20"))
CLIENTS = 3
ROOMY = ["--vocab", "100000", "--dim", "2", "--threads", "1", "--replay", "1", "--history", "10"]
HEAD = 16  # bytes of the header of a spool segment


# -- a server ---------------------------------------------------------------------------------------


class Spooling(Server):
    """A server with a model and a spool in a directory."""

    def __init__(self, folder, *arguments, before=()):
        self.model, self.spool = folder / "m.tide", folder / "s"
        super().__init__("--checkpoint", self.model, "--continue", "--spool", self.spool, *arguments,
                         size=[] if self.model.exists() else ROOMY, before=before)

    def take(self, lines):
        """The number of lines accepted."""
        answer = self.send(lines)
        assert answer.status in (200, 429), answer.json
        return answer.json["taken"]

    def take_all(self, lines):
        """Resends until everything is accepted, like a client that follows the protocol."""
        left = lines.splitlines(keepends=True)
        while left:
            left = left[self.take(b"".join(left)):]

    def wait_for_word(self, word):
        wait_until(lambda: self.get(f"/v1/words/{word}").json.get("held"), word)

    def finish_with(self, word):
        """Sends one more word and stops when it is learned, and therefore everything before it."""
        self.take_all(f"{word}\n".encode())
        self.wait_for_word(word)
        self.end()


@pytest.fixture
def time_limit():
    return 300 + 10 * KILLS


@pytest.fixture
def serve(tmp_path):
    """Starts servers with the same model and spool."""
    return lambda *arguments, **options: Spooling(tmp_path, *arguments, **options)


# -- clients ----------------------------------------------------------------------------------------


class Client(threading.Thread):
    """Sends words that no other client sends, and records their fate."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number, self.next = number, 0
        self.dice = random.Random(number)
        self.server, self.ended = None, False
        self.taken, self.unknown, self.refused = set(), set(), set()

    def send_some(self, server):
        """A few lines, sometimes more than a spool segment holds."""
        first, self.next = self.next, self.next + self.dice.randint(1, 30)
        words = [f"c{self.number}n{number}" for number in range(first, self.next)]
        end = " ." * (5000 if self.dice.random() < 0.1 else 0) + "\n"
        try:
            taken = server.take("".join(word + end for word in words).encode())
        except (OSError, http.client.HTTPException):
            self.unknown.update(words)
            return
        self.taken.update(words[:taken])
        self.refused.update(words[taken:])

    def run(self):
        while not self.ended:
            server = self.server
            if server:
                self.send_some(server)
            else:
                time.sleep(0.001)


def check(model, clients, figure):
    """No word is lost, duplicated or invented."""
    found = counts(model)
    figure(f"{KILLS} kills, {sum(len(client.taken) for client in clients)} words acknowledged, "
           f"{sum(len(client.unknown) for client in clients)} without an answer, "
           f"{sum(len(client.taken - found.keys()) for client in clients)} lost, "
           f"{sum(count > 1 for count in found.values())} doubled")
    assert max(found.values()) == 1
    for client in clients:
        assert not client.taken - found.keys()
        assert not client.refused & found.keys()
    sent = set().union(*(client.taken | client.unknown for client in clients))
    assert found.keys() <= sent


@pytest.mark.parametrize("sync", ["1s", "always"])
def test_acknowledged_text_is_learned_exactly_once_despite_kills(serve, sync, figure):
    dice = random.Random(1)
    clients = [Client(number) for number in range(CLIENTS)]
    options = ["--every", "300", "--spool-limit", "1M", "--spool-sync", sync]
    for client in clients:
        client.start()
    for _ in range(KILLS):
        server = serve(*options)
        before = sum(len(client.taken) for client in clients)
        for client in clients:
            client.server = server
        goal = before + dice.randint(0, min(1500, 60000 // KILLS))
        while sum(len(client.taken) for client in clients) < goal:
            assert server.process.poll() is None, "".join(server.log)
            time.sleep(0.001)
        for client in clients:
            client.server = None
        server.kill()
    for client in clients:
        client.ended = True
        client.join(PATIENCE)
    last = serve(*options)
    last.finish_with("lastword")
    clients[0].taken.add("lastword")
    check(last.model, clients, figure)
    assert text_in(last.spool) == 0
    assert all(client.taken for client in clients)


def test_the_model_equals_that_of_one_uninterrupted_run(serve, tmp_path):
    """One client, so that the order is known; the counts show what a kill left open."""
    client = Client(0)
    settings = [*ROOMY[:-2], "--dim", "8"]

    def start():
        begun = (tmp_path / "m.tide").exists()
        return serve("--every", "200", *([] if begun else settings))

    for turn in range(6):
        server = start()
        while len(client.taken) < 300 * (turn + 1):
            client.send_some(server)
        threading.Timer(0.02, server.process.kill).start()
        while server.process.poll() is None:
            client.send_some(server)
        server.ended()
    last = start()
    last.finish_with("lastword")
    found = counts(last.model)
    words = [f"c0n{number}" for number in range(client.next) if f"c0n{number}" in found]
    text = "".join(f"{word}\n" for word in [*words, "lastword"]).encode()
    assert wordtide("train", "-o", tmp_path / "one.tide", *settings, input=text).returncode == 0
    for question in (["words", "-n", "100000", "--json"], ["export", "--format", "word2vec"]):
        reply = [resume(model, *question) for model in (last.model, tmp_path / "one.tide")]
        assert reply[0] == reply[1]


def test_the_next_server_continues_after_a_stop(serve):
    for turn in range(3):
        server = serve()
        server.take_all(b"".join(b"t%dn%d\n" % (turn, n) for n in range(1000)))
        server.end()
    last = serve()
    last.finish_with("lastword")
    found = counts(last.model)
    assert len(found) == 3001 and max(found.values()) == 1


def test_a_followed_file_continues_along_with_the_spool(serve, tmp_path):
    log = tmp_path / "log"
    log.touch()
    for turn in range(4):
        server = serve("--every", "100", log)
        with log.open("a") as file:
            file.writelines(f"f{turn}n{number}\n" for number in range(500))
        server.take_all(b"".join(b"t%dn%d\n" % (turn, number) for number in range(500)))
        server.kill()
    last = serve("--every", "100", log)
    with log.open("a") as file:
        file.write("lastline\n")
    last.wait_for_word("lastline")
    last.finish_with("lastword")
    found = counts(last.model)
    assert len(found) == 4002 and max(found.values()) == 1


# -- full -------------------------------------------------------------------------------------------


def test_a_full_spool_rejects_text_and_requests_a_checkpoint(serve):
    server = serve("--spool-limit", "1M", "--every", "1e9")
    lines = [b"w%d %s\n" % (number, b"x" * 20 + b" y" * 400) for number in range(5000)]
    refused, left = 0, lines
    while left:
        taken = server.take(b"".join(left[:500]))
        refused += taken < len(left[:500])
        left = left[taken:]
        assert text_in(server.spool) <= 1 << 20
    assert refused
    server.finish_with("lastword")
    found = counts(server.model)
    assert all(found[f"w{number}"] == 1 for number in range(5000))


# -- the disk ---------------------------------------------------------------------------------------


@needs_strace
def test_text_is_on_the_disk_before_it_is_acknowledged(serve, tmp_path):
    trace = tmp_path / "trace"
    server = serve("--spool-sync", "always", before=[
        "strace", "-D", "-f", "-q", "-y", "-o", trace, "-e",
        "trace=pwrite64,fsync,fdatasync,sendto,sendmsg,write,writev"])
    for number in range(20):
        server.take_all(b"unmistakable%d\n" % number)
    server.end()
    ended = re.compile(rf"^{server.process.pid} +\+\+\+ exited", re.MULTILINE)
    wait_until(lambda: ended.search(trace.read_text()), "the end of the trace")
    unsynced, syncing, answers = False, None, 0
    for line in trace.read_text().splitlines():
        thread = line.split()[0]
        if "pwrite64(" in line and "unmistakable" in line:
            unsynced = True
        elif re.search(r"sync\(.*\.spool", line) and "unfinished" in line:
            syncing = thread
        elif re.search(r"sync\(.*\.spool", line) or ("sync resumed" in line and thread == syncing):
            unsynced = False
        elif re.search(r'taken\\+":1', line):
            answers += 1
            assert not unsynced
    assert answers == 20


@needs_strace
def test_a_failing_disk_stops_the_server_without_losses(serve):
    first = serve()
    first.finish_with("first")
    segment = max(first.spool.glob("*.spool"))
    failing = serve("--spool-sync", "always", before=[
        "strace", "-D", "-f", "-qq", "-o", "/dev/null", "-P", segment, "-e", "inject=fdatasync:error=EIO"])
    answer = failing.send(b"doubtful\n")
    while answer.status == 429:  # until it has started to read
        answer = failing.send(b"doubtful\n")
    assert answer.status == 500 and "cannot sync" in answer.json["detail"]
    assert failing.ended() == 1
    last = serve()
    last.finish_with("last")
    found = counts(last.model)
    assert found["first"] == found["last"] == 1 and found.get("doubtful", 0) <= 1


def test_an_incomplete_append_is_truncated(serve):
    """Two segments, of which the second has no mark, as a kill leaves them."""
    server = serve("--every", "1e9")
    server.take_all(b"first\n")
    server.take_all(b"z" * 50 + b" " + b"half " * 20000 + b"\n")
    server.kill()
    segment = max(server.spool.glob("*.spool"))
    os.truncate(segment, segment.stat().st_size - HEAD)
    again = serve("--every", "1e9")
    again.finish_with("after")
    assert any("was incomplete; cut off" in line for line in again.log)
    assert counts(again.model) == {"first": 1, "after": 1}


# -- errors --------------------------------------------------------------------------------


def refused_spool(*arguments):
    message = refusal(*arguments, size=[])
    lines = [line for line in message.splitlines() if "spool" in line]
    assert len(lines) == 1, message
    return lines[0]


def test_a_spool_without_a_checkpoint_is_rejected(tmp_path):
    assert "--spool needs --checkpoint" in refused_spool("--spool", tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_two_servers_do_not_share_a_spool(serve, tmp_path):
    server = serve()
    message = refused_spool("--checkpoint", tmp_path / "other.tide", "--spool", server.spool, *ROOMY)
    assert "another process" in message
    server.take_all(b"still here\n")
    server.end()


def test_another_spool_is_rejected(serve, tmp_path):
    server = serve()
    server.take_all(b"some\n")
    server.finish_with("words")
    wrong = refused_spool("--checkpoint", server.model, "--continue", "--spool", tmp_path / "t")
    assert "does not have the stream" in wrong
    none = refused_spool("--checkpoint", server.model, "--continue")
    assert "spool" in none
    again = serve()
    again.finish_with("more")
    assert counts(again.model) == {"some": 1, "words": 1, "more": 1}
