"""While the disk blocks, everything but the acknowledgment of text is answered.

A file controls when the disk blocks (tests/support/held_disk.c), so nothing here depends on timing.
"""

import contextlib
import os
import pathlib
import resource
import signal
import threading

import pytest
from running import BINARY, SANITIZED, counts
from serving import Server, has_come, is_closed
from watching import PATIENCE, wait_until

MODULE = pathlib.Path(BINARY).resolve().parents[1] / "tests" / "held_disk.so"
pytestmark = pytest.mark.skipif(SANITIZED or not MODULE.exists(), reason="preloading needs a plain build with tests")


class Held(Server):
    """A server whose disk blocks for matching paths between hold() and let_go()."""

    def __init__(self, folder, part, *arguments, **options):
        self.flag, self.threads, self.answers = folder / "hold", [], []
        environment = {**os.environ, "LD_PRELOAD": str(MODULE), "HELD_PATH": part, "HELD_FLAG": str(self.flag)}
        super().__init__("--checkpoint", folder / "m.tide", "--every", "1h", *arguments, env=environment,
                         **options)

    def hold(self, *threads):
        """Blocks the disk, and waits until a call of these threads is blocked."""
        self.flag.touch()
        for asking in threads:
            self.ask_in_background(asking)
        wait_until(self.flag.with_suffix(".waiting").exists, "a call that waits for the disk")

    def ask_in_background(self, asking):
        self.threads.append(threading.Thread(target=lambda: self.answers.append(asking())))
        self.threads[-1].start()

    def let_go(self):
        self.flag.unlink()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def take(self, text):
        wait_until(lambda: self.send(text).status == 200, "text to be taken")

    def save(self):
        return self.post("/v1/checkpoint", {})


def expect_answers(server, ready=200):
    """Twice, on every HTTP thread: a lock that is held would eventually block all of them."""
    for _ in range(8):
        assert server.get("/health").json == {"status": "ok"}
        assert server.get("/ready").status == ready
        for path in ("/metrics", "/v1/stats", "/v1/words", "/v1/words/hello/neighbors", "/v1/words/hello",
                     "/v1/similarity?a=hello&b=world", "/v1/map"):
            assert server.get(path).status == 200


def test_requests_are_answered_while_the_spool_is_emptied(tmp_path):
    server = Held(tmp_path, ".spool", "--spool", tmp_path / "s", "--spool-sync", "none")
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.hold(server.save)
    expect_answers(server)
    server.let_go()
    assert [answer.status for answer in server.answers] == [200]
    server.end()


def test_requests_are_answered_while_the_spool_is_synced(tmp_path):
    server = Held(tmp_path, ".spool", "--spool", tmp_path / "s")
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.hold(lambda: server.send("more\n"))
    expect_answers(server)
    server.let_go()
    server.end()


def test_requests_are_answered_while_text_is_synced(tmp_path):
    """And no text is acknowledged before."""
    server = Held(tmp_path, ".spool", "--spool", tmp_path / "s", "--spool-sync", "always")
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.hold(*[lambda: server.send("one two three\n")] * 20)
    expect_answers(server)
    assert server.answers == []
    server.let_go()
    assert [answer.status for answer in server.answers] == [200] * 20
    server.wait_for_tokens(300 + 3 * 20)
    server.end()
    assert counts(tmp_path / "m.tide")["two"] == 20


def test_requests_are_answered_while_the_history_is_written(tmp_path):
    server = Held(tmp_path, ".history")
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.hold(server.save)
    expect_answers(server)
    assert server.ask("PUT", "/v1/words/hello/watch").status == 204
    # The ticker is not blocked either.
    listener, slow = server.connect(), server.connect()
    listener.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    slow.sendall(b"GET /health HTTP/1.1\r\nX: ")
    reply = b""
    while reply.count(b"event: stats") < 3:
        reply += listener.recv(65536)
    wait_until(lambda: is_closed(slow) or trickle(slow), "the end of a request that takes too long", pause=0.5)
    server.let_go()
    server.end()


def test_requests_are_answered_during_the_final_save(tmp_path):
    """From the signal on it is not ready and accepts no text."""
    server = Held(tmp_path, "m.tide.tmp")
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.flag.touch()
    server.process.send_signal(signal.SIGTERM)
    wait_until(server.flag.with_suffix(".waiting").exists, "the last save")
    wait_until(lambda: server.get("/ready").status == 503, "the end to be announced")
    assert server.get("/ready").json == {"status": "stopping"}
    assert server.send("too late\n").status == 503
    expect_answers(server, ready=503)
    server.flag.unlink()
    assert server.ended() == 0


def trickle(connection):
    with contextlib.suppress(OSError):
        connection.sendall(b"x")


# -- requested checkpoints -----------------------------------------------------------------


def test_a_checkpoint_includes_what_was_learned_before_the_request(tmp_path):
    """Even if another one is in progress that lacks it. Training waits for neither."""
    server = Held(tmp_path, "m.tide.tmp")
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.hold(server.save)
    server.take("marker\n" * 50)
    wait_until(lambda: server.get("/v1/words/marker").status == 200, "the marker to be learned")
    server.ask_in_background(server.save)
    expect_answers(server)  # by now the second has arrived too
    listener = server.connect()
    listener.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    reply = b""
    while reply.count(b"event: stats") < 3:  # by now it has been checked
        reply += listener.recv(65536)
    server.take("later\n")
    wait_until(lambda: server.get("/v1/words/later").status == 200, "what came later to be learned")
    server.let_go()
    server.kill()
    assert [answer.status for answer in server.answers] == [200, 200]
    assert server.answers[0].json != server.answers[1].json  # of different checkpoints
    assert counts(tmp_path / "m.tide")["marker"] == 50



def post_and_wait(server):
    """Requests a checkpoint on a connection without reading the answer."""
    connection = server.connect()
    connection.sendall(b"POST /v1/checkpoint HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    return connection


def refused(connections):
    """The connections that have been answered."""
    return [one for one in connections if has_come(one)]


def test_the_number_of_waiting_checkpoint_requests_is_bounded(tmp_path):
    """And disconnected clients do not count."""
    server = Held(tmp_path, "m.tide.tmp")
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.hold(server.save)
    waiting = [post_and_wait(server) for _ in range(200)]
    wait_until(lambda: len(refused(waiting)) == 200 - 63, "the others to be refused")
    assert all(one.recv(12) == b"HTTP/1.1 429" for one in refused(waiting))
    expect_answers(server)
    for connection in waiting:
        connection.close()
    one = []

    def is_let_in():
        one[:] = [post_and_wait(server)]
        return not has_come(one[0], 500)

    wait_until(is_let_in, "places for others")
    server.let_go()
    assert one[0].recv(12) == b"HTTP/1.1 200"
    server.end()


def test_waiting_text_leaves_connections_for_others(tmp_path):
    few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))}
    server = Held(tmp_path, ".spool", "--spool", tmp_path / "s", "--spool-sync", "always", **few)
    server.take("hello world again\n" * 100)
    server.wait_for_tokens(300)
    server.hold(*[lambda: server.send("one\n")] * 60)
    wait_until(lambda: server.answers, "text to be refused")
    expect_answers(server)
    server.let_go()
    reply = [answer.status for answer in server.answers]
    assert set(reply) == {200, 429} and len(reply) == 60
    server.wait_for_tokens(300 + reply.count(200))
    server.end()
    assert counts(tmp_path / "m.tide")["one"] == reply.count(200)
