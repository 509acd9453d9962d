"""Slow clients and very many of them: everybody else is served as before."""

import resource
import socket
import time

import pytest
from running import SANITIZED, SMALL, counts, wordtide
from serving import Server, is_closed
from watching import wait_until

SLOW = 200 if SANITIZED else 1000
READERS = 50
QUICK = 3  # answers in the time in which the slow ones are borne with
MANY = 10_000
HEAD = b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nX: "
BODY = b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"


SOFT, HARD = resource.getrlimit(resource.RLIMIT_NOFILE)  # as the tests were started


def limited(soft, hard):
    """Options for a process that may have so many files open."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}


@pytest.fixture
def served(text):
    server = Server(text, **limited(SOFT, HARD))
    server.wait_for_tokens(20000)
    return server


@pytest.fixture(autouse=True)
def files():
    """As many sockets as may be, for the test alone: servers are started with limits of their own."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (HARD, HARD))
    yield HARD
    resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, HARD))


# -- idle connections -------------------------------------------------------------------------------


class Idle:
    """Connections that send nothing, or half a header; those that are closed are replaced."""

    def __init__(self, server):
        self.server, self.connections, self.opened = server, [], 0

    def open(self, count):
        for connection in [one for one in self.connections if is_closed(one)]:
            self.connections.remove(connection)
            connection.close()
        for _ in range(count):
            self.connections.append(self.server.connect())
            self.opened += 1
            if self.opened % 2:
                self.connections[-1].sendall(HEAD)


def use_all(server, number):
    """One request of every sort, each on a connection of its own: none may fail."""
    assert server.send(f"word{number} among others\n").json["taken"] == 1
    assert server.post("/v1/checkpoint", {}).status == 200
    for path in ("/health", "/ready", "/metrics", "/v1/stats", "/v1/words", "/v1/words/among/neighbors"):
        assert server.get(path).status == 200, path


@pytest.mark.parametrize("soft, hard, idle", [(1024, HARD, 1500), (1024, 1024, 1500), (256, 256, 400), (128, 128, 200)])
def test_idle_connections_cost_nothing(tmp_path, soft, hard, idle):
    """More than there can be at a time, while text is taken into a spool, saved and asked for."""
    model, batch = tmp_path / "m.tide", idle // 15
    server = Server("--checkpoint", model, "--every", "1s", "--spool", tmp_path / "s", **limited(soft, hard))
    wait_until(lambda: server.send("among others\n").status == 200, "text to be taken")
    server.wait_for_tokens(2)
    crowd = Idle(server)
    for number in range(20):
        crowd.open(batch)
        use_all(server, number)
    assert crowd.opened > idle
    server.wait_for_tokens(2 + 3 * 20)
    log = server.end()
    assert "level=warning" not in log and "Too many open files" not in log, log
    found = counts(model)
    assert found["among"] == 21 and all(found[f"word{number}"] == 1 for number in range(20))


def test_the_one_that_is_used_is_not_the_one_that_is_closed(tmp_path):
    server = Server(**limited(128, 128))
    used, crowd = server.connect(), Idle(server)
    for _ in range(50):
        crowd.open(4)
        used.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert used.recv(4096).startswith(b"HTTP/1.1 200 ")
    server.end()


def test_too_few_files_are_refused_at_the_start(tmp_path):
    done = wordtide("serve", "--port", "0", *SMALL, **limited(64, 64))
    assert done.returncode == 1 and "ulimit -n 1024" in done.stderr, done.stderr


def test_the_limit_of_files_is_raised():
    server = Server(**limited(256, 4096))
    assert resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE) == (4096, 4096)
    server.end()


# -- slow ones ----------------------------------------------------------------------------------------


def trickle(connections):
    """One byte more on each; those that were closed are left out."""
    for connection in connections[:]:
        try:
            connection.sendall(b"x")
        except OSError:
            connections.remove(connection)
            connection.close()


@pytest.mark.parametrize("beginning", [HEAD, BODY])
def test_slow_senders_keep_nobody_waiting(served, beginning):
    def begin_slowly(count):
        slow = [served.connect() for _ in range(count)]
        for connection in slow:
            connection.sendall(beginning)
        return slow

    slow = begin_slowly(SLOW)
    for _ in range(QUICK):
        trickle(slow)
        latest = begin_slowly(10)
        assert served.get("/v1/words/the/neighbors").status == 200
        # An answer that had waited for a slow one would have come after its end, some seconds later.
        assert not all(map(is_closed, latest))
        slow += latest
    wait_until(lambda: trickle(slow) or not slow, "the end of the slow ones", pause=0.5)
    assert served.get("/health").status == 200
    served.end()


def test_one_slow_sender_has_some_seconds(served):
    begun = time.monotonic()
    connection = served.connect()
    connection.sendall(HEAD)
    while not is_closed(connection):
        try:
            connection.sendall(b"x")
        except OSError:
            break
        time.sleep(0.2)
    assert 9 < time.monotonic() - begun
    connection.close()
    served.end()


def test_slow_readers_keep_nobody_waiting(served):
    before = served.resident()
    slow = []
    for _ in range(READERS):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.connect(("127.0.0.1", served.port))
        connection.sendall(b"GET /v1/words?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        slow.append(connection)
    for _ in range(20):
        assert served.get("/v1/words/the/neighbors").status == 200
    kept = 400 << 20 if SANITIZED else 0  # what was freed, for a while
    assert served.resident() - before < (READERS << 20) + kept
    for connection in slow:
        connection.close()
    served.end()


def test_many_connections(served, files):
    """More than there are places: nothing breaks, and when they have gone all is as before."""
    many = []
    for _ in range(min(MANY, files - 200)):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", served.port))
        many.append(connection)
    assert served.process.poll() is None
    for connection in many:
        connection.close()
    wait_until(lambda: served.get("/v1/words/the/neighbors").status == 200, "an answer")
    assert served.process.poll() is None
    served.end()


def test_clients_that_go_away(served):
    """In the middle of a request, of its body, and of what they asked for."""
    for turn in range(300):
        connection = served.connect()
        connection.sendall((HEAD, BODY + b"abc", b"GET /v1/words/the/neighbors HTTP/1.1\r\nHost: localhost\r\n\r\n")[turn % 3])
        connection.close()
    assert served.get("/v1/words/the/neighbors").status == 200
    served.end()


def test_bodies_without_an_end_are_forgotten(served):
    served.send("x\n" * 1000)
    before = served.resident()
    body = (b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
            b"Content-Length: 16000000\r\n\r\n" + b"x" * 1_000_000)
    for _ in range(100):
        connection = served.connect()
        connection.sendall(body)
        connection.close()
    wait_until(lambda: served.send("x\n").status == 200, "room")
    assert served.resident() - before < (80 << 20) * (3 if SANITIZED else 1)
    served.end()


def test_a_body_that_was_answered_leaves_its_room(served):
    """All the room that it took, which grows in steps of 256 KiB and is 24 MiB for all bodies together. These are refused
    when they have come, so that nothing is learned."""
    body = b"x" * (256 * 1024 + 1)
    answers = [served.post("/v1/ingest", body, Content_Type="text/plain", Content_Encoding="br").status for _ in range(200)]
    assert answers == [415] * 200
    served.end()


def test_all_bodies_together_have_a_bound(served):
    """Who would need too much is told so; nobody is kept waiting, and the memory comes back."""
    before = served.resident()
    waiting = []
    for _ in range(12):
        connection = served.connect()
        connection.sendall(b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                           b"Content-Length: 16000000\r\n\r\n")
        try:
            connection.sendall(b"x" * 15_000_000)
        except OSError:
            pass
        waiting.append(connection)
    assert served.get("/health").status == 200
    assert served.resident() - before < (128 << 20) * (3 if SANITIZED else 1)
    for connection in waiting:
        connection.close()
    wait_until(lambda: served.send("a\n" * 5_000_000).status == 200, "room")
    served.end()
