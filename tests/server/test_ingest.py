"""Text that is sent is learned, whole and once, in every form in which shippers send it."""

import gzip
import json
import re
import signal
import time

import pytest
from serving import SMALL, Server, resume, wait_until

# Log shippers as their manuals have them configured for these routes: what they ask first, and how they send.
ELASTIC = "/insert/elasticsearch"
SHIPPERS = {
    "fluent-bit http json_lines": (
        [], "/insert/jsonline?_stream_fields=stream&_msg_field=log&_time_field=date", "lines",
        {"Content_Type": "application/stream+json", "User_Agent": "Fluent-Bit"}, "log"),
    "fluent-bit http json": (
        [], "/v1/ingest", "list", {"Content_Type": "application/json", "User_Agent": "Fluent-Bit"}, "log"),
    "fluent-bit http gzip": (
        [], "/insert/jsonline?_msg_field=log", "lines",
        {"Content_Type": "application/stream+json", "Content_Encoding": "gzip"}, "log"),
    "fluent-bit es": (
        [], f"{ELASTIC}/_bulk", "create",
        {"Content_Type": "application/x-ndjson", "User_Agent": "Fluent-Bit"}, "log"),
    "vector http": (
        [], "/insert/jsonline?_msg_field=message&_time_field=timestamp", "lines",
        {"Content_Type": "application/x-ndjson", "Content_Encoding": "gzip"}, "message"),
    "vector elasticsearch": (
        [("GET", f"{ELASTIC}/"), ("GET", f"{ELASTIC}/_cluster/health")], f"{ELASTIC}/_bulk?timeout=60s", "index",
        {"Content_Type": "application/x-ndjson", "Content_Encoding": "gzip"}, "message"),
    "logstash": (
        [("HEAD", f"{ELASTIC}/"), ("GET", f"{ELASTIC}/"), ("GET", f"{ELASTIC}/_license"),
         ("GET", f"{ELASTIC}/_xpack"), ("HEAD", f"{ELASTIC}/_index_template/ecs-logstash"),
         ("PUT", f"{ELASTIC}/_index_template/ecs-logstash")],
        f"{ELASTIC}/_bulk?filter_path=errors,items.*.error,items.*.status", "index",
        {"Content_Type": "application/json", "User_Agent": "Logstash/8.11"}, "message"),
    "filebeat": (
        [("GET", f"{ELASTIC}/"), ("GET", f"{ELASTIC}/_license"), ("HEAD", f"{ELASTIC}/_ilm/policy/filebeat"),
         ("PUT", f"{ELASTIC}/_ilm/policy/filebeat"), ("HEAD", f"{ELASTIC}/_index_template/filebeat"),
         ("PUT", f"{ELASTIC}/_ingest/pipeline/filebeat")],
        f"{ELASTIC}/_bulk", "create",
        {"Content_Type": "application/vnd.elasticsearch+json; compatible-with=8",
         "Accept": "application/vnd.elasticsearch+json; compatible-with=8"}, "message"),
}
BULK_ACTION = {"index": {"index": {"_index": "logs"}}, "create": {"create": {"_index": "logs", "_id": "x"}}}


def lines_of(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def counts(model):
    rows = (line.split("\t") for line in resume(model, "words", "-n", "100000").splitlines())
    return {row[0]: int(row[1]) for row in rows}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "learned.tide"


@pytest.fixture
def listener(place):
    """A server that learns only what is sent to it."""
    return Server("--checkpoint", place, "--every", "1h", size=LARGE)


LARGE = ["--vocab", "20000", "--dim", "4", "--threads", "1", "--window", "1", "--admission", "none",
         "--replay-ring", "2000"]


def is_found(server, word):
    return server.get(f"/v1/words/{word}").status == 200


def test_text_that_is_sent_is_found(listener):
    assert listener.send("seaside holidays\n" * 20).json == {"taken": 20, "skipped": 0, "bytes": 340}
    wait_until(lambda: is_found(listener, "seaside"), "the word")
    listener.wait_for_tokens(40)


@pytest.mark.parametrize("name", SHIPPERS)
def test_shippers_are_understood(listener, name):
    questions, path, form, headers, field = SHIPPERS[name]
    for method, question in questions:
        assert listener.ask(method, question, b"{}" if method == "PUT" else None,
                            **({"Content_Type": "application/json"} if method == "PUT" else {})).status == 200
    records = [{"date": 1.5, "stream": "a", field: f"word{i} sent é\n"} for i in range(50)]
    if form == "list":
        body = json.dumps(records)
    elif form == "lines":
        body = lines_of(records)
    else:
        body = "".join(lines_of([BULK_ACTION[form], record]) for record in records)
    body = gzip.compress(body.encode()) if "Content_Encoding" in headers else body.encode()
    answer = listener.ask("POST", path, body, **headers)
    assert answer.status == 200
    if form in ("index", "create"):
        told = answer.json
        assert told["errors"] is False and [item[form]["status"] for item in told["items"]] == [201] * 50
        assert answer.headers["X-Elastic-Product"] == "Elasticsearch"
    else:
        assert answer.json["taken"] == 50 and answer.json["skipped"] == 0
    listener.wait_for_tokens(150)
    told = listener.get("/v1/words?limit=1000").json["words"]
    assert {word["word"]: word["count"] for word in told} == {
        "sent": 50, "é": 50, **{f"word{i}": 1 for i in range(50)}}


def test_a_node_is_what_shippers_ask_for(listener):
    told = listener.get(f"{ELASTIC}/")
    assert told.json["version"]["number"] >= "8" and told.json["tagline"] == "You Know, for Search"
    assert told.headers["X-Elastic-Product"] == "Elasticsearch"
    assert listener.get(f"{ELASTIC}/_license").json["license"]["status"] == "active"


def test_records_without_text_are_counted(listener):
    body = '{"message":"good one"}\nnot json\n{"other":1}\n\n{"message":"good two"}\n[1]\n{"message":5}'
    answer = listener.post("/v1/ingest", body, Content_Type="application/x-ndjson").json
    assert answer["taken"] + answer["skipped"] == 6 and answer["taken"] >= 2
    listener.wait_for_tokens(4)


def test_fields_are_named_by_the_sender(listener):
    body = lines_of([{"a": {"b": "deeply hidden"}, "message": "not this"}])
    assert listener.post("/v1/ingest?text=a.b", body, Content_Type="application/x-ndjson").json["taken"] == 1
    listener.wait_for_tokens(2)
    assert is_found(listener, "hidden") and not is_found(listener, "not")


@pytest.mark.parametrize("path", ["/v1/ingest?text=a,", "/insert/jsonline?_msg_field=a,", f"{ELASTIC}/_bulk?_msg_field=a,"])
def test_a_field_without_a_name_is_refused(listener, path):
    answer = listener.post(path, '{"a":"one"}\n', Content_Type="application/x-ndjson")
    assert answer.status == 400 and answer.json["detail"] == "a field without a name"


@pytest.mark.parametrize("body", [b"", b"\n", b" ", b"\r\n\r\n", b" \t\r\n" * 5000, b" " * 16384, b"[", b"[[", b"\0"])
@pytest.mark.parametrize("path", ["/v1/ingest", "/insert/jsonline", f"{ELASTIC}/_bulk"])
@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_bodies_with_nothing_in_them(server, body, path, kind):
    answer = server.post(path, body, Content_Type=kind)
    assert answer.status in (200, 400)
    json.loads(answer.body)


@pytest.mark.parametrize("body", [
    b'{"index":{}}', b'{"index":{}}\n', b'{"nothing":{}}\n{"message":"a"}\n', b"x\n", b"{}\n", b"[]\n", b"1\n1\n",
    b'{"index":{}}\n{"message":"a"}\n{"ind', b'{"delete":{"_id":"1"}}\n', b"[" * 100_000, b'{"a":' * 100_000,
])
def test_bulks_that_are_cut_or_none(server, body):
    answer = server.post(f"{ELASTIC}/_bulk", body, Content_Type="application/x-ndjson")
    assert answer.status in (200, 400), answer.body
    json.loads(answer.body)


@pytest.mark.parametrize("path", ["/v1/ingest", "/insert/jsonline", f"{ELASTIC}/_bulk"])
def test_other_codings_are_refused(server, path):
    for coding, body in (("br", b"x"), ("deflate", b"x"), ("gzip, gzip", b"x")):
        assert server.post(path, body, Content_Type="text/plain", Content_Encoding=coding).status == 415
    whole = gzip.compress(b"some text\n" * 1000)
    for broken in (b"", b"x", whole[:-1], whole[:20], whole + b"x"):
        assert server.post(path, broken, Content_Type="text/plain", Content_Encoding="gzip").status == 400


# -- when there is no room --------------------------------------------------------------------------------


def numbered(first, last):
    return [f"n{number} q{number}" for number in range(first, last)]


@pytest.mark.parametrize("form", ["text", "records", "list", "bulk"])
def test_a_full_queue_loses_and_doubles_nothing(place, form):
    """A server that is stopped now and then, and a sender that goes by what it is told."""
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
    """Sends the lines; returns the answer, and how many of them were taken by what it says."""
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


@pytest.mark.parametrize("form", ["text", "records", "list"])
def test_what_is_left_out_counts_as_sent(place, form):
    """Bad records before the place where the queue was full do not have the good ones sent again."""
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


def test_a_line_that_never_fits_is_left_out(place):
    server = Server("--checkpoint", place, "--queue", "4096", size=LARGE)
    answer = server.send("first\n" + "x " * 3000 + "\nlast\n").json
    assert (answer["taken"], answer["skipped"]) == (2, 1)
    server.end()
    assert counts(place) == {"first": 1, "last": 1}


def test_term_learns_what_was_acknowledged(place):
    """Text is sent until the server ends; what it said it took is in the model, and nothing else is."""
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
    server.end()
    assert counts(place) == {word: 1 for line in numbered(0, at) for word in line.split()}


def test_metrics_count_what_was_refused(place):
    server = Server("--queue", "4096", size=SMALL)
    answer = server.send("\n".join(numbered(0, 4000)))
    assert answer.status == 429
    refused = re.search(rb"^wordtide_queue_refused_bytes_total (\d+)$", server.get("/metrics").body, re.M)
    sent = sum(len(line) + 1 for line in numbered(0, 4000))
    kept = sum(len(line) + 1 for line in numbered(0, answer.json["taken"]))
    assert int(refused[1]) == sent - kept == server.stats()["queue"]["refused"]
    server.end()
