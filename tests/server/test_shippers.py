"""Log shippers can send text without a plugin: their recorded requests, byte for byte.

The heads and bodies are those of Fluent Bit 3 (plugins http and es), Vector 0.34 (sinks http and elasticsearch),
Logstash 8.11 and Filebeat 8.11 (outputs elasticsearch), configured as the web page shows, and of curl.
"""

import gzip
import http.client
import json
import subprocess

import pytest
from optional import need_program
from serving import PATIENCE, Answer, Server
from watching import wait_until

ELASTIC = "/insert/elasticsearch"
SIZE = ["--vocab", "2000", "--dim", "4", "--threads", "1", "--window", "1", "--admission", "none"]
RECORDS = 50


def line(number):
    return f'word{number} sent é "quoted"'


def fluent_record(number):
    return {"date": "2024-01-02T03:04:05.678901Z", "log": line(number) + "\n", "stream": "stdout",
            "kubernetes": {"pod_name": "p-0", "labels": {"app": "web"}}}


def fluent_es_record(number):
    return {"@timestamp": "2024-01-02T03:04:05.678Z", "log": line(number), "stream": "stdout"}


def vector_record(number):
    return {"file": "/var/log/web.log", "host": "web-1", "message": line(number), "source_type": "file",
            "timestamp": "2024-01-02T03:04:05.678901234Z"}


def logstash_record(number):
    return {"@timestamp": "2024-01-02T03:04:05.678901Z", "@version": "1", "event": {"original": "not this"},
            "host": {"name": "web-1"}, "message": line(number), "log": {"file": {"path": "/var/log/web.log"}}}


def filebeat_record(number):
    return {"@timestamp": "2024-01-02T03:04:05.678Z", "input": {"type": "filestream"}, "ecs": {"version": "8.0.0"},
            "host": {"name": "web-1"}, "agent": {"name": "web-1", "type": "filebeat", "version": "8.11.0"},
            "log": {"offset": 12, "file": {"path": "/var/log/web.log"}}, "message": line(number)}


def lines_of(make):
    return "".join(json.dumps(make(n), ensure_ascii=False) + "\n" for n in range(RECORDS))


def list_of(make):
    return json.dumps([make(n) for n in range(RECORDS)], ensure_ascii=False)


def bulk_of(make, action):
    return "".join(json.dumps(action) + "\n" + json.dumps(make(n), ensure_ascii=False) + "\n" for n in range(RECORDS))


FLUENT = ["Content-Length: {size}", "{type}", "User-Agent: Fluent-Bit"]
VECTOR = ["content-type: application/x-ndjson", "content-encoding: gzip",
          "user-agent: Vector/0.34.1 (x86_64-unknown-linux-gnu 86f1c22 2023-11-16 14:59:10.486846964)",
          "accept-encoding: zstd,gzip,deflate,br", "content-length: {size}"]
LOGSTASH = ["Connection: Keep-Alive", "Content-Type: application/json", "Content-Encoding: gzip",
            "X-Elastic-Product-Origin: logstash-output-elasticsearch",
            "User-Agent: Logstash/8.11.1 (OS=Linux-6.1.0-13-amd64-amd64; JVM=Eclipse Adoptium-17.0.9) "
            "logstash-output-elasticsearch/11.22.1", "Accept-Encoding: gzip,deflate", "Content-Length: {size}"]
FILEBEAT = ["User-Agent: Elastic-Filebeat/8.11.1 (linux; amd64; b87dbd0; 2023-11-11 05:27:07 +0000 UTC)",
            "Connection: close", "Content-Length: {size}", "Accept: application/json", "Content-Encoding: gzip",
            "Content-Type: application/json; charset=UTF-8", "X-Elastic-Product-Origin: observability",
            "X-Elastic-Uncompressed-Request-Length: 12345", "Accept-Encoding: gzip"]
FILTER = ("errors%2Citems.index.status%2Citems.index.error%2Citems.create.status%2Citems.create.error%2C"
          "items.update.status%2Citems.update.error")


def with_type(head, kind, *more):
    return [text.replace("{type}", f"Content-Type: {kind}") for text in head] + list(more)


# name: preceding requests, path, head, body, whether the answer is Elasticsearch's and its action
SHIPPERS = {
    "fluent-bit http json_lines": (
        [], "/insert/jsonline?_msg_field=log&_time_field=date", with_type(FLUENT, "application/x-ndjson"),
        lines_of(fluent_record), None),
    "fluent-bit http json_lines, before 3": (
        [], "/insert/jsonline?_stream_fields=stream&_msg_field=log&_time_field=date",
        with_type(FLUENT, "application/json"), lines_of(fluent_record), None),
    "fluent-bit http json_lines gzip": (
        [], "/insert/jsonline?_msg_field=log&_time_field=date",
        with_type(FLUENT, "application/x-ndjson", "Content-Encoding: gzip"), lines_of(fluent_record), None),
    "fluent-bit http json": (
        [], "/v1/ingest", with_type(FLUENT, "application/json"), list_of(fluent_record), None),
    "fluent-bit http json_stream": (
        [], "/v1/ingest?text=log", with_type(FLUENT, "application/json"), lines_of(fluent_record).rstrip("\n"), None),
    "fluent-bit es": (
        [], f"{ELASTIC}/_bulk", with_type(FLUENT, "application/x-ndjson"),
        bulk_of(fluent_es_record, {"create": {"_index": "fluent-bit"}}), "create"),
    "fluent-bit es gzip, with types": (
        [], f"{ELASTIC}/_bulk", with_type(FLUENT, "application/x-ndjson", "Content-Encoding: gzip"),
        bulk_of(fluent_es_record, {"index": {"_index": "fluent-bit", "_type": "_doc"}}), "index"),
    "vector http": (
        [], "/insert/jsonline?_msg_field=message&_time_field=timestamp", VECTOR,
        lines_of(vector_record).rstrip("\n"), None),
    "vector elasticsearch": (
        [("GET", "/"), ("GET", "/_cluster/health")], f"{ELASTIC}/_bulk?timeout=60s", VECTOR,
        bulk_of(vector_record, {"index": {"_index": "vector-2024.01.02"}}), "index"),
    "logstash": (
        [("HEAD", "/"), ("GET", "/"), ("GET", "/_license"), ("GET", "/_xpack"),
         ("HEAD", "/_index_template/ecs-logstash"), ("PUT", "/_index_template/ecs-logstash")],
        f"{ELASTIC}/_bulk?_msg_field=message&_time_field=%40timestamp&filter_path=errors,items.*.error,items.*.status",
        LOGSTASH, bulk_of(logstash_record, {"index": {"_id": None, "_index": "logs", "routing": None}}), "index"),
    "filebeat": (
        [("GET", "/"), ("GET", "/_license?human=false"), ("HEAD", "/_ilm/policy/filebeat"),
         ("PUT", "/_ilm/policy/filebeat"), ("HEAD", "/_index_template/filebeat-8.11.1"),
         ("PUT", "/_ingest/pipeline/filebeat")],
        f"{ELASTIC}/_bulk?_msg_field=message&_time_field=%40timestamp&filter_path={FILTER}", FILEBEAT,
        bulk_of(filebeat_record, {"create": {"_index": "filebeat-8.11.1"}}), "create"),
    "filebeat, nothing said about fields": (
        [], f"{ELASTIC}/_bulk?filter_path={FILTER}", FILEBEAT,
        bulk_of(filebeat_record, {"create": {"_index": "filebeat-8.11.1", "pipeline": "x", "_id": "y"}}), "create"),
}


@pytest.fixture
def listener():
    """A server without other sources."""
    return Server(size=SIZE)


def exchange(server, method, path, head, body=b""):
    """Sends exactly this head and this body."""
    head = "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *head])
    with server.connect() as connection:
        connection.sendall(head.format(size=len(body)).encode() + b"\r\n\r\n" + body)
        answer = http.client.HTTPResponse(connection, method=method)
        answer.begin()
        return Answer(answer.status, answer.headers, answer.read())


def assert_learned(server):
    expected = {**dict.fromkeys(["sent", "é", "quoted"], RECORDS), **{f"word{n}": 1 for n in range(RECORDS)}}

    def word_counts():
        return {word["word"]: word["count"] for word in server.get("/v1/words?limit=1000").json["words"]}

    server.wait_for_tokens(4 * RECORDS)
    wait_until(lambda: word_counts() == expected or sum(word_counts().values()) >= 4 * RECORDS, "all words")  # listed every second
    assert word_counts() == expected


@pytest.mark.parametrize("name", SHIPPERS)
def test_requests_of_shippers_are_understood(listener, name):
    questions, path, head, text, action = SHIPPERS[name]
    for method, question in questions:
        body = b"{}" if method == "PUT" else b""
        plain = [text for text in head if not text.lower().startswith(("content-encoding", "x-elastic-unc"))]
        asked = plain if body else [text for text in plain if not text.lower().startswith("content-")]
        assert exchange(listener, method, ELASTIC + question, asked, body).status == 200
    body = text.encode()
    if any(text.lower() == "content-encoding: gzip" for text in head):
        body = gzip.compress(body)
    answer = exchange(listener, "POST", path, head, body)
    assert answer.status == 200
    reply = answer.json
    if action:
        assert reply["errors"] is False and [item[action]["status"] for item in reply["items"]] == [201] * RECORDS
        assert answer.headers["X-Elastic-Product"] == "Elasticsearch"
    else:
        assert reply["taken"] == RECORDS and reply["skipped"] == 0
    assert_learned(listener)
    listener.end()


def test_shippers_find_an_elasticsearch_node(listener):
    reply = listener.get(f"{ELASTIC}/")
    assert reply.json["version"]["number"] >= "8" and reply.json["tagline"] == "You Know, for Search"
    assert reply.headers["X-Elastic-Product"] == "Elasticsearch"
    assert listener.get(f"{ELASTIC}/_license").json["license"]["status"] == "active"
    listener.end()


PLAIN = "".join(line(n) + "\n" for n in range(RECORDS)).encode()
CURL = {
    "text": (["-H", "Content-Type: text/plain"], "/v1/ingest", PLAIN),
    "nothing said": ([], "/v1/ingest", PLAIN),
    "records, gzip": (["-H", "Content-Type: application/x-ndjson", "-H", "Content-Encoding: gzip"],
                      "/v1/ingest?text=message", gzip.compress(lines_of(vector_record).encode())),
    "chunks": (["-H", "Transfer-Encoding: chunked", "-H", "Content-Type: text/plain"], "/v1/ingest", PLAIN),
    "asking first": (["-H", "Expect: 100-continue", "-H", "Content-Type: application/json"], "/v1/ingest",
                     list_of(vector_record).encode()),
    "wanting HTTP/2": (["-H", "Content-Type: application/x-ndjson", "--http2"], f"{ELASTIC}/_bulk",
                       bulk_of(vector_record, {"index": {}}).encode()),
}


@pytest.mark.parametrize("name", CURL)
def test_requests_of_curl_are_understood(listener, name):
    options, path, body = CURL[name]
    done = subprocess.run([need_program("curl"), "-sSf", "--max-time", str(PATIENCE), "--data-binary", "@-", *options,
                           f"http://localhost:{listener.port}{path}"], input=body, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert_learned(listener)
    listener.end()


def access_log(count):
    """Very similar lines, like those of a web server."""
    return "".join(json.dumps({"message": f'10.0.0.{n % 20} - - [02/Jan/2024:03:04:{n % 60:02} +0000] '
                                          f'"GET /static/page{n % 300}.html HTTP/1.1" 200 {n % 977} "-" '
                                          '"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"'}) + "\n"
                   for n in range(count)).encode()


def test_highly_compressible_logs_are_accepted(listener):
    body = access_log(20_000)
    packed = gzip.compress(body)
    assert len(body) > 15 * len(packed) and len(body) > 1 << 20
    answer = listener.post("/insert/jsonline?_msg_field=message", packed, Content_Type="application/x-ndjson",
                           Content_Encoding="gzip")
    assert answer.status == 200 and answer.json["taken"] == 20_000
    listener.end()
