"""Slow clients, and many of them: other clients are served as usual."""

import resource
import socket
import time

import pytest
from running import SANITIZED, SMALL, counts, wordtide
from serving import Server, is_closed
from watching import wait_until

SLOW = 200 if SANITIZED else 1000
READERS = 50
QUICK = 3  # answers within the time limit of the slow ones
MANY = 10_000
HEAD = b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nX: "
BODY = b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"


SOFT, HARD = resource.getrlimit(resource.RLIMIT_NOFILE)  # of the test process


def limited(soft, hard):
    """Options for a process with this limit on open files."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}


@pytest.fixture
def served(text):
    server = Server(text, **limited(SOFT, HARD))
    server.wait_for_tokens(20000)
    return server


@pytest.fixture(autouse=True)
def files():
    """Raises the limit for the test process; servers have limits of their own."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (HARD, HARD))
    yield HARD
    resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, HARD))


# -- idle connections -------------------------------------------------------------------------------


class Idle:
    """Opens connections that send nothing or half a header, and replaces those that are closed."""

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
    """Sends one request of every kind, each on its own connection: none may fail."""
    assert server.send(f"word{number} among others\n").json["taken"] == 1
    assert server.post("/v1/checkpoint", {}).status == 200
    for path in ("/health", "/ready", "/metrics", "/v1/stats", "/v1/words", "/v1/words/among/neighbors"):
        assert server.get(path).status == 200, path


@pytest.mark.parametrize("soft, hard, idle", [(1024, HARD, 1500), (1024, 1024, 1500), (256, 256, 400), (128, 128, 200)])
def test_idle_connections_do_not_affect_others(tmp_path, soft, hard, idle):
    """More connections than allowed, while text is spooled, saved and queried."""
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


def test_an_active_connection_is_not_closed_for_others(tmp_path):
    server = Server(**limited(128, 128))
    used, crowd = server.connect(), Idle(server)
    for _ in range(50):
        crowd.open(4)
        used.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert used.recv(4096).startswith(b"HTTP/1.1 200 ")
    server.end()


def test_a_low_descriptor_limit_is_an_error_at_the_start(tmp_path):
    done = wordtide("serve", "--port", "0", *SMALL, **limited(64, 64))
    assert done.returncode == 1 and "ulimit -n 1024" in done.stderr, done.stderr


def test_the_descriptor_limit_is_raised():
    server = Server(**limited(256, 4096))
    assert resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE) == (4096, 4096)
    server.end()


# -- slow clients ----------------------------------------------------------------------------------------


def trickle(connections):
    """Sends one more byte on each; returns those that are still open."""
    for connection in connections[:]:
        try:
            connection.sendall(b"x")
        except OSError:
            connections.remove(connection)
            connection.close()


@pytest.mark.parametrize("beginning", [HEAD, BODY])
def test_slow_senders_do_not_delay_others(served, beginning):
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
        # An answer blocked by a slow client would arrive only after its end, seconds later.
        assert not all(map(is_closed, latest))
        slow += latest
    wait_until(lambda: trickle(slow) or not slow, "the end of the slow ones", pause=0.5)
    assert served.get("/health").status == 200
    served.end()


def test_a_single_slow_sender_is_tolerated(served):
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


def test_slow_readers_do_not_delay_others(served):
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
    kept = 400 << 20 if SANITIZED else 0  # freed memory that a sanitizer holds back
    assert served.resident() - before < (READERS << 20) + kept
    for connection in slow:
        connection.close()
    served.end()


def test_many_concurrent_connections_are_served(served, files):
    """More than the server allows: nothing breaks, and everything recovers afterward."""
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


def test_disconnecting_clients_do_no_harm(served):
    """In the middle of a request, of its body, and of the response."""
    for turn in range(300):
        connection = served.connect()
        connection.sendall((HEAD, BODY + b"abc", b"GET /v1/words/the/neighbors HTTP/1.1\r\nHost: localhost\r\n\r\n")[turn % 3])
        connection.close()
    assert served.get("/v1/words/the/neighbors").status == 200
    served.end()


def test_unfinished_bodies_are_freed(served):
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


def test_an_answered_body_returns_its_memory(served):
    """The buffer of a body grows in steps of 256 KiB, and all bodies together have 24 MiB. These bodies are rejected
    after they have been received, so that nothing is learned."""
    body = b"x" * (256 * 1024 + 1)
    answers = [served.post("/v1/ingest", body, Content_Type="text/plain", Content_Encoding="br").status for _ in range(200)]
    assert answers == [415] * 200
    served.end()


def test_the_total_memory_of_bodies_is_bounded(served):
    """Bodies that would need too much are refused at once, and the memory is returned."""
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
