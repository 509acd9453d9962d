"""Sent text is learned completely and once."""

import concurrent.futures
import gzip
import json
import re
import signal
import time

import pytest
from running import SMALL, counts
from serving import Server
from watching import wait_until

ELASTIC = "/insert/elasticsearch"


def lines_of(values):
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "learned.tide"


@pytest.fixture
def listener(place):
    """A server without other sources."""
    return Server("--checkpoint", place, "--every", "1h", size=LARGE)


LARGE = ["--vocab", "20000", "--dim", "4", "--threads", "1", "--window", "1", "--admission", "none",
         "--replay-ring", "2000"]


def is_found(server, word):
    answer = server.get(f"/v1/words/{word}")
    return answer.status == 200 and answer.json["held"]


def test_sent_text_is_learned(listener):
    assert listener.send("seaside holidays\n" * 20).json == {"taken": 20, "skipped": 0, "bytes": 340}
    wait_until(lambda: is_found(listener, "seaside"), "the word")
    listener.wait_for_tokens(40)


def test_records_without_text_are_counted(listener):
    body = '{"message":"good one"}\nnot json\n{"other":1}\n\n{"message":"good two"}\n[1]\n{"message":5}'
    answer = listener.post("/v1/ingest", body, Content_Type="application/x-ndjson").json
    assert answer["taken"] + answer["skipped"] == 6 and answer["taken"] >= 2
    listener.wait_for_tokens(4)


def test_the_client_names_the_text_fields(listener):
    body = lines_of([{"a": {"b": "deeply hidden"}, "message": "not this"}])
    assert listener.post("/v1/ingest?text=a.b", body, Content_Type="application/x-ndjson").json["taken"] == 1
    listener.wait_for_tokens(2)
    assert is_found(listener, "hidden") and not is_found(listener, "not")


@pytest.mark.parametrize("path", ["/v1/ingest?text=a,", "/insert/jsonline?_msg_field=a,", f"{ELASTIC}/_bulk?_msg_field=a,"])
def test_an_empty_field_name_is_rejected(listener, path):
    answer = listener.post(path, '{"a":"one"}\n', Content_Type="application/x-ndjson")
    assert answer.status == 400 and answer.json["detail"] == "empty field name"


@pytest.mark.parametrize("body", [b"", b"\n", b" ", b"\r\n\r\n", b" \t\r\n" * 5000, b" " * 16384, b"[", b"[[", b"\0"])
@pytest.mark.parametrize("path", ["/v1/ingest", "/insert/jsonline", f"{ELASTIC}/_bulk"])
@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_empty_bodies_are_accepted(server, body, path, kind):
    answer = server.post(path, body, Content_Type=kind)
    assert answer.status in (200, 400)
    json.loads(answer.body)


@pytest.mark.parametrize("body", [
    b'{"index":{}}', b'{"index":{}}\n', b'{"nothing":{}}\n{"message":"a"}\n', b"x\n", b"{}\n", b"[]\n", b"1\n1\n",
    b'{"index":{}}\n{"message":"a"}\n{"ind', b'{"delete":{"_id":"1"}}\n', b"[" * 100_000, b'{"a":' * 100_000,
])
def test_malformed_bulks_are_rejected(server, body):
    answer = server.post(f"{ELASTIC}/_bulk", body, Content_Type="application/x-ndjson")
    assert answer.status in (200, 400), answer.body
    json.loads(answer.body)


@pytest.mark.parametrize("path", ["/v1/ingest", "/insert/jsonline", f"{ELASTIC}/_bulk"])
def test_unsupported_content_encodings_are_rejected(server, path):
    for coding, body in (("br", b"x"), ("deflate", b"x"), ("gzip, gzip", b"x")):
        assert server.post(path, body, Content_Type="text/plain", Content_Encoding=coding).status == 415
    whole = gzip.compress(b"some text\n" * 1000)
    for broken in (b"", b"x", whole[:-1], whole[:20], whole + b"x"):
        assert server.post(path, broken, Content_Type="text/plain", Content_Encoding="gzip").status == 400


# -- full queue --------------------------------------------------------------------------------


def numbered(first, last):
    return [f"n{number} q{number}" for number in range(first, last)]


@pytest.mark.parametrize("form", ["text", "records", "list", "bulk"])
def test_a_full_queue_neither_loses_nor_duplicates(place, form):
    """A server that is paused now and then, and a client that follows its answers."""
    server = Server("--checkpoint", place, "--every", "1h", "--queue", "4096", size=LARGE)
    lines = numbered(0, 4000)
    at = refused = 0
    while at < len(lines):
        some = lines[at:at + 700]
        answer, taken = send(server, form, some)
        assert answer.status in (200, 429) and 0 <= taken <= len(some)
        if form != "bulk":
            assert (answer.status == 200) == (taken == len(some))
        if taken < len(some):
            refused += 1
            if answer.status == 429:
                assert answer.headers["Retry-After"] == "1"
            time.sleep(0.01)
        at += taken
    assert refused
    server.end()
    assert counts(place) == {word: 1 for line in lines for word in line.split()}


def send(server, form, lines):
    """Sends the lines; returns the answer and the number of lines that it reports as accepted."""
    if form == "text":
        answer = server.send("\n".join(lines))
        return answer, answer.json["taken"]
    records = [{"message": line} for line in lines]
    if form == "bulk":
        body = "".join(lines_of([{"index": {}}, record]) for record in records)
        answer = server.post(f"{ELASTIC}/_bulk", body, Content_Type="application/x-ndjson")
        statuses = [item["index"]["status"] for item in answer.json["items"]]
        taken = statuses.count(201)
        assert statuses == [201] * taken + [429] * (len(lines) - taken)
        assert answer.json["errors"] == (taken < len(lines))
        return answer, taken
    body = lines_of(records) if form == "records" else json.dumps(records)
    kind = "application/x-ndjson" if form == "records" else "application/json"
    answer = server.post("/v1/ingest", body, Content_Type=kind)
    return answer, answer.json["taken"]


def test_a_shipper_that_resends_everything_duplicates_nothing(place):
    """Fluent Bit and Vector ignore "taken", so all of their records are accepted or none."""
    server = Server("--checkpoint", place, "--every", "1h", "--queue", "4096", size=LARGE)
    lines, refused = numbered(0, 4000), []

    def ship(some):
        while True:
            answer = server.post("/insert/jsonline?_msg_field=log", lines_of({"log": line} for line in some),
                                 Content_Type="application/x-ndjson")
            if answer.status == 200:
                return
            assert answer.status == 429 and answer.json["taken"] == 0
            refused.append(answer)
            time.sleep(0.01)

    with concurrent.futures.ThreadPoolExecutor(6) as shippers:
        for done in [shippers.submit(ship, lines[at:at + 250]) for at in range(0, len(lines), 250)]:
            done.result()
    assert refused
    answer = server.post("/insert/jsonline", lines_of({"log": line} for line in lines), Content_Type="application/json")
    assert answer.status == 413 and "4096" in answer.json["detail"]
    server.end()
    assert counts(place) == {word: 1 for line in lines for word in line.split()}


@pytest.mark.parametrize("form", ["text", "records", "list"])
def test_skipped_inputs_count_as_sent(place, form):
    """Malformed records before the point where the queue is full do not cause good ones to be resent."""
    server = Server("--checkpoint", place, "--every", "1h", "--queue", "4096", size=LARGE)
    good = numbered(0, 2000)
    if form == "text":
        items = [item for at in range(0, 2000, 40) for item in (*good[at:at + 40], "y" * 5000)]
    else:
        records = ([{"message": line}, {"message": line.swapcase()}, {"other": 1}] for line in good)
        items = sum(records, [])
    at = refused = 0
    while at < len(items):
        some = items[at:at + 1500]
        if form == "text":
            answer = server.send("\n".join(some))
        elif form == "records":
            answer = server.post("/v1/ingest", lines_of(some), Content_Type="application/x-ndjson")
        else:
            answer = server.post("/v1/ingest", some)
        if answer.status == 200:
            at += len(some)
        else:
            at += answer.json["taken"]
            refused += 1
            time.sleep(0.01)
    assert refused
    server.end()
    times = 1 if form == "text" else 2
    assert counts(place) == {word: times for line in good for word in line.split()}


def test_a_line_that_never_fits_is_skipped(place):
    server = Server("--checkpoint", place, "--queue", "4096", size=LARGE)
    answer = server.send("first\n" + "x " * 3000 + "\nlast\n").json
    assert (answer["taken"], answer["skipped"]) == (2, 1)
    server.end()
    assert counts(place) == {"first": 1, "last": 1}


def test_sigterm_learns_what_was_acknowledged(place):
    """Text is sent until the server stops; the model has what was acknowledged and nothing else."""
    server = Server("--checkpoint", place, "--every", "1h", "--queue", "64k", size=LARGE)
    at = 0
    for turn in range(60):
        some = numbered(at, at + 100)
        try:
            answer = server.send("\n".join(some))
        except OSError:
            break
        if answer.status == 503:
            break
        at += answer.json["taken"]
        if turn == 20:
            server.process.send_signal(signal.SIGTERM)
    assert at >= 1000
    assert server.ended() == 0  # a second signal would mean that it does not finish
    assert counts(place) == {word: 1 for line in numbered(0, at) for word in line.split()}


def test_metrics_count_rejected_text(place):
    server = Server("--queue", "4096", size=SMALL)
    answer = server.send("\n".join(numbered(0, 4000)))
    assert answer.status == 429
    refused = re.search(rb"^wordtide_queue_refused_bytes_total (\d+)$", server.get("/metrics").body, re.M)
    sent = sum(len(line) + 1 for line in numbered(0, 4000))
    kept = sum(len(line) + 1 for line in numbered(0, answer.json["taken"]))
    assert int(refused[1]) == sent - kept == server.stats()["queue"]["refused"]
    server.end()
