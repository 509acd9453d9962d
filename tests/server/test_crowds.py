"""Slow clients and very many of them: everybody else is served as before."""

import resource
import socket
import time

import pytest
from running import SANITIZED
from serving import Server, is_closed
from watching import wait_until

SLOW = 200 if SANITIZED else 1000
READERS = 50
QUICK = 3  # answers in the time in which the slow ones are borne with
MANY = 10_000
HEAD = b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nX: "
BODY = b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture
def served(text):
    server = Server(text)
    server.wait_for_tokens(20000)
    return server


@pytest.fixture(autouse=True)
def files():
    """As many sockets as may be."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    yield most
    resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))


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
    slow = []
    for _ in range(SLOW):
        connection = served.connect()
        connection.sendall(beginning)
        slow.append(connection)
    for _ in range(QUICK):
        trickle(slow)
        assert served.get("/v1/words/the/neighbors").status == 200
    # An answer that had waited for a slow one would have come after its end, some ten seconds later.
    assert not any(map(is_closed, slow))
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
