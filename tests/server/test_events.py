"""All subscribers receive the same events every second, and none can delay the others."""

import json
import socket
import threading

import pytest
from serving import Server, read_all
from watching import wait_until

ASK = b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def listen(server):
    connection = server.connect()
    connection.sendall(ASK)
    return connection


def read_messages(connection, count):
    """The first messages as (kind, data), without the chunked encoding."""
    stream = connection.makefile("rb")
    while stream.readline().strip():
        pass
    text = b""
    while text.count(b"\n\n") < count:
        size = int(stream.readline(), 16)
        text += stream.read(size)
        stream.readline()
    messages = (message.split(b"\n") for message in text.split(b"\n\n")[:count])
    return [(kind.removeprefix(b"event: ").decode(), json.loads(data.removeprefix(b"data: ")))
            for kind, data in messages]


@pytest.fixture
def busy(text):
    return Server(text)


def test_stats_arrive_every_second(busy):
    """Possibly late on a busy machine, but not more often."""
    connection = listen(busy)
    reply = read_messages(connection, 4)
    assert {kind for kind, _ in reply} == {"stats"}
    times = [data["now"] for _, data in reply]
    assert times == sorted(set(times)) and times[-1] - times[0] > 1.5
    assert set(reply[0][1]) == set(busy.stats())
    connection.close()
    busy.end()


def test_the_stream_has_the_right_headers(busy):
    connection = listen(busy)
    head = connection.recv(4096).split(b"\r\n\r\n")[0].lower()
    assert b"content-type: text/event-stream" in head and b"cache-control: no-store" in head
    connection.close()
    busy.end()


def test_several_subscribers_receive_the_same(busy):
    heard = []
    connections = [listen(busy) for _ in range(5)]
    threads = [threading.Thread(target=lambda c=c: heard.append(read_messages(c, 3))) for c in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # On a busy machine the history may have something to report among the statistics.
    stats = [data for reply in heard for kind, data in reply if kind == "stats"]
    by_time = {data["now"]: data for data in stats}
    assert len(heard) == 5 and len(stats) >= 5
    for data in stats:
        assert by_time[data["now"]] == data
    busy.end()


def test_a_slow_subscriber_does_not_delay_others(busy):
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    slow.connect(("127.0.0.1", busy.port))
    slow.sendall(ASK)
    other = listen(busy)
    assert len(read_messages(other, 5)) == 5
    slow.close()
    other.close()
    assert len(read_messages(listen(busy), 1)) == 1
    busy.end()


def test_300_subscribe_and_disconnect(busy):
    many = [listen(busy) for _ in range(300)]
    heads = [connection.recv(4096) for connection in many]
    assert {head.split()[1] for head in heads} == {b"200", b"503"}
    assert sum(head.split()[1] == b"200" for head in heads) == 256
    assert busy.get("/v1/stats").status == 200
    for connection in many:
        connection.close()

    def may_listen():
        connection = listen(busy)
        status = connection.recv(4096).split()[1]
        connection.close()
        return status == b"200"

    wait_until(may_listen, "room for a listener")
    busy.end()


def test_shutdown_ends_the_stream(busy):
    connections = [listen(busy) for _ in range(20)]
    for connection in connections:
        connection.recv(100)
    busy.end()
    for connection in connections:
        assert read_all(connection)[1]
        connection.close()
