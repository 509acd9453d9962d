"""Requests stay within their memory budget, 64 MiB plus 32 KiB per connection, and return it."""

import base64
import concurrent.futures
import gzip
import json
import pathlib
import random
import re
import time

import pytest
from running import SANITIZED, SMALL
from serving import Server, read_all
from watching import PATIENCE, wait_until

BOUND = 64 << 20
CONNECTION = 32 << 10
JSON = {"Content_Type": "application/json"}
TEXT = {"Content_Type": "text/plain"}
PACKED = {"Content_Encoding": "gzip"}
BULK = "/insert/elasticsearch/_bulk"

pytestmark = pytest.mark.skipif(SANITIZED, reason="a sanitizer has memory of its own")


def packed(text):
    return gzip.compress(text, 6)


BOMBS = {
    "a list of objects": ("/v1/ingest", packed(b"[" + b"{}," * 5_592_000 + b"{}]"), JSON | PACKED),
    "a list of numbers": ("/v1/ingest", packed(b"[" + b"0," * 8_388_000 + b"0]"), JSON | PACKED),
    "a bulk of deletions": (BULK, packed(b'{"delete":{}}\n' * 1_198_000), JSON | PACKED),
    "a bulk of records": (BULK, packed(b'{"index":{}}\n{"log":"a"}\n' * 600_000), JSON | PACKED),
    "empty lines": ("/v1/ingest", packed(b"\n" * (16 << 20)), TEXT | PACKED),
    "short lines": ("/v1/ingest", packed(b"a\n" * (8 << 20)), TEXT | PACKED),
    "records with many labels": ("/v1/ingest", packed(b'{"log":"a","tags":[' + b"0," * 300_000 + b"0]}\n" * 20), JSON | PACKED),
    "a plain list": ("/insert/jsonline", b"[" + b"{}," * 5_592_000 + b"{}]", JSON),
    "a question of many values": ("/v1/most_similar", b'{"positive":[' + b"{}," * 340_000 + b"{}]}", JSON),
    "texts of many values": ("/v1/embeddings", b'{"input":[' + b"[]," * 340_000 + b"[]]}", JSON),
    "a thousand texts": ("/v1/embeddings", json.dumps({"input": ["the"] * 1000}).encode(), JSON),
}


def memory(server, kind):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(rf"{kind}:\s+(\d+)", status)[1]) * 1024


@pytest.fixture
def bounded(tmp_path):
    """A server whose queue is resident from the start."""
    return Server("--records", "json", "--text", "log", "--label", "tags", "--queue", "48M", size=["--vocab", "300", "--dim", "1000"])


@pytest.fixture
def time_limit():
    return 600


def post(server, path, body, headers):
    answer = server.ask("POST", path, body, **headers)
    assert answer.status in (200, 400, 413, 429), answer.body[:300]
    return answer


@pytest.mark.parametrize("at_once", [1, 4])
def test_requests_stay_within_the_memory_budget(bounded, at_once):
    bounded.send("the first words\n")
    bounded.wait_for_tokens(3)
    before = memory(bounded, "VmRSS")
    for name, (path, body, headers) in BOMBS.items():
        with concurrent.futures.ThreadPoolExecutor(at_once) as senders:
            for done in [senders.submit(post, bounded, path, body, headers) for _ in range(at_once)]:
                done.result()
        grown = memory(bounded, "VmHWM") - before
        print(f"{name}, {at_once} at once: {len(body)} bytes, {grown / (1 << 20):.1f} MiB")
        assert grown < BOUND + at_once * CONNECTION, name
    wait_until(lambda: memory(bounded, "VmRSS") - before < BOUND // 4, "the memory")
    bounded.end()


def test_bulk_items_report_their_outcome(tmp_path):
    """Also with many items and too little room in the queue."""
    server = Server("--queue", "4096", size=SMALL)
    dice = random.Random(1)
    lines, expected = [], []
    for number in range(20_000):
        action = dice.choice(["index", "create", "update", "delete"])
        record = None if action == "delete" else dice.choice(
            [{"message": f"word{number}"}, {"message": f"word{number}", "x": [1, {"y": "z"}]}, {"other": 1}, {}])
        lines.append(json.dumps({action: {"_index": "a", "_id": str(number)}}))
        lines += [] if record is None else [json.dumps(record)]
        expected.append((action, bool(record) and "message" in record))
    answer = server.post(BULK, packed("\n".join(lines).encode()), **JSON | PACKED)
    reply = answer.json
    assert answer.status == 200 and reply["errors"] is True
    assert [next(iter(item)) for item in reply["items"]] == [action for action, _ in expected]
    statuses = [item[action]["status"] for item, (action, _) in zip(reply["items"], expected, strict=True)]
    taken = sum(status == 201 and gives for status, (_, gives) in zip(statuses, expected, strict=True))
    left = taken
    for status, (_, gives) in zip(statuses, expected, strict=True):
        assert status == (429 if gives and not left else 201)
        left -= gives and left > 0
    assert 100 < taken < 1000
    server.end()


@pytest.mark.parametrize("kind", ["float", "base64"])
def test_streamed_embeddings_equal_those_of_single_texts(server, kind):
    texts = ["the", "nothing-known", "of the", "", "and", "the of and"] * 50
    many = server.post("/v1/embeddings", {"input": texts, "encoding_format": kind}).json
    assert [entry["index"] for entry in many["data"]] == list(range(len(texts)))
    for text, entry in zip(texts[:6], many["data"]):
        one = server.post("/v1/embeddings", {"input": text, "encoding_format": kind}).json["data"][0]["embedding"]
        assert entry["embedding"] == one
        assert one is None or len(one) == 16 or len(base64.b64decode(one)) == 64
    assert many["usage"]["total_tokens"] > 0


def test_stalled_bodies_are_evicted_for_others(bounded):
    """More clients than there is memory for never send the last byte of a large body."""
    slow = []
    for _ in range(8):
        connection = bounded.connect()
        connection.sendall(b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                           b"Content-Length: 16000000\r\n\r\n")
        try:
            connection.sendall(b"x" * 15_999_999)
        except OSError:
            pass
        slow.append(connection)
    begun = time.monotonic()
    wait_until(lambda: bounded.send("y\n" * 7_000_000).status == 200, "room")
    assert bounded.post("/v1/most_similar", {"positive": ["the"]}).status in (200, 404)
    assert time.monotonic() - begun < PATIENCE / 4
    for connection in slow:
        connection.close()
    bounded.end()


def test_some_of_many_concurrent_large_bodies_are_accepted(bounded):
    """All grow in lockstep; those that find no room are refused, which makes room for the others."""
    connections = []
    body = b"y\n" * 7_900_000
    for _ in range(4):
        connection = bounded.connect()
        connection.sendall(b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                           b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
        connections.append(connection)
    for at in range(0, len(body), 1 << 18):
        for connection in connections:
            connection.sendall(body[at:at + (1 << 18)])
    statuses = [int(read_all(connection)[0].split()[1]) for connection in connections]
    for connection in connections:
        connection.close()
    assert 200 in statuses and set(statuses) <= {200, 429}
    bounded.end()


def test_gzip_of_several_members_is_one_body(bounded):
    body = packed(b"one two\n") + packed(b"three") + packed(b" four\n")
    assert bounded.post("/v1/ingest", body, **TEXT | PACKED).json["taken"] == 2
    bounded.wait_for_tokens(4)
    bounded.end()


@pytest.mark.parametrize("body, status", [
    ("[]", 200), (" [ ] \n", 200), ('[{"log":"a b"}]', 200), ('[\n{"log":\n"a"\n}\n,\n{"log":"b"}\n]\n', 200),
    ('[{"log":"] , [ \\" \\\\"},{"log":"x"}]', 200), ("[", 400), ("[{}", 400), ("[{},", 400), ("[{}]]", 400),
    ("[{}] x", 400), ("[,]", 400), ("[}", 400), ('["', 400), ('[{"log":"a\nb"}]', 400), ('[{"log":"a"}', 400),
    ("[[]", 400), ("[1,2,]", 200),
])
def test_a_json_array_must_be_complete(bounded, body, status):
    answer = bounded.post("/v1/ingest", body, **JSON)
    assert answer.status == status, answer.body
    assert bounded.stats()["queue"]["bytes"] == 0 if status == 400 else True
    bounded.end()


def test_columns_are_selected_by_name_or_number(bounded):
    """An unterminated quote ends with the request."""
    csv = {"Content_Type": "text/csv"}
    assert bounded.post("/v1/ingest", "id,body\n1,\"a, b\"\n2,c\n", **csv).status == 400
    answer = bounded.post("/v1/ingest?text=body", "id,body\n1,\"a, \"\"b\"\"\nd\"\n2,c\n", **csv)
    assert (answer.json["taken"], answer.json["skipped"]) == (2, 0)
    answer = bounded.post("/v1/ingest?text=2", '1,good\n2,"never closed\n3,swallowed\n', **csv)
    assert (answer.json["taken"], answer.json["skipped"]) == (1, 1)
    assert bounded.post("/v1/ingest?text=2", '1,"fresh, word"\n', **csv).json["taken"] == 1
    answer = bounded.post("/v1/ingest?text=2", 'a\t"b, c\nd\te\n', Content_Type="text/tab-separated-values")
    assert answer.json["taken"] == 2
    bounded.wait_for_tokens(10)
    bounded.end()
