"""Every route answers correctly, and describes what is wrong with an invalid request."""

import base64
import gzip
import http.client
import json
import struct

import pytest
from ranking import assert_same_ranking
from running import ROOT, done_well, wordtide
from serving import Server, encoded, read_all, resume
from watching import PATIENCE

LIMITS = [  # a path with a number, its minimum and maximum
    ("/v1/words?limit={}", 1, 1000),
    ("/v1/words?offset={}", 0, 2**32 - 1),
    ("/v1/words/the/neighbors?topn={}", 1, 1000),
    ("/v1/analogy?a=the&b=and&c=a&topn={}", 1, 1000),
]
BODY_MAX, INGEST_MAX = 1 << 20, 16 << 20


def problem(answer, status):
    assert answer.status == status, answer.body
    assert answer.headers["Content-Type"] == "application/problem+json"
    reply = answer.json
    assert reply["status"] == status and reply["title"] and reply["detail"]
    return reply


@pytest.fixture(scope="module")
def saved(server):
    """The file of the model that the server queries."""
    reply = server.post("/v1/checkpoint").json
    assert reply["path"] == str(server.checkpoint) and reply["bytes"] == server.checkpoint.stat().st_size
    return server.checkpoint


@pytest.fixture(scope="module")
def words(saved):
    return [line.split("\t")[0] for line in resume(saved, "words").splitlines()]


# -- correct answers, with the command as the oracle -----------------------------------------------------


def test_health_and_readiness(server):
    assert server.get("/health").json == {"status": "ok"}
    assert server.get("/ready").json == {"status": "ready"}


def test_a_seed_is_reported_exactly(tmp_path):
    """Doubles have 53 bits."""
    server = Server("--seed", "8999999999999999999", "--checkpoint", tmp_path / "m.tide")
    assert server.post("/v1/checkpoint", {}).status == 200
    assert server.stats()["model"]["seed"] == 8999999999999999999
    server.end()
    assert '"seed":"8999999999999999999"' in done_well("info", "--json", tmp_path / "m.tide").stdout.replace(" ", "")


def test_every_response_has_security_headers(server):
    for path in ("/health", "/v1/stats", "/v1/words", "/v1/words/none", "/nothing"):
        headers = server.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert not [name for name in headers if name.lower().startswith("access-control")]


def test_the_page_has_a_strict_content_security_policy(server):
    page = server.get("/")
    assert page.status == 200 and page.headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_words_are_those_of_the_model(server, saved, words):
    reply = server.get("/v1/words?limit=1000").json
    listed = [(entry["word"], entry["count"]) for entry in reply["words"]]
    rows = [line.split("\t") for line in resume(saved, "words").splitlines()]
    assert reply["total"] == len(rows) == len(listed)
    assert sorted(listed) == sorted((row[0], int(row[1])) for row in rows)
    assert [entry["rank"] for entry in reply["words"]] == list(range(1, len(rows) + 1))
    pages = [server.get(f"/v1/words?limit=7&offset={at}").json["words"] for at in range(0, len(rows), 7)]
    # Rates change between the two requests.
    assert [entry["word"] for page in pages for entry in page] == [entry["word"] for entry in reply["words"]]


def test_words_are_listed_by_prefix(server, words):
    for prefix in ("", "t", "th", "zzzz", words[5]):
        reply = server.get(f"/v1/words?limit=1000&prefix={encoded(prefix)}").json
        assert sorted(entry["word"] for entry in reply["words"]) == sorted(
            word for word in words if word.startswith(prefix))
        assert reply["total"] == len(reply["words"])


def test_neighbors_equal_those_of_the_command(server, saved, words):
    for word in words[:40]:
        reply = server.get(f"/v1/words/{encoded(word)}/neighbors?topn=12").json
        found = json.loads(resume(saved, "nearest", word, "-n", "17", "--json"))
        assert reply["word"] == word and reply["age"] == 0 and len(reply["neighbors"]) == 12
        assert_same_ranking(*([(hit["word"], hit["score"]) for hit in hits] for hits in (reply["neighbors"], found)), 2e-6)


def test_analogies_equal_those_of_the_command(server, saved, words):
    a, b, c = words[3:6]
    found = json.loads(resume(saved, "analogy", a, b, c, "-n", "5", "--json"))
    asked = f"/v1/analogy?a={encoded(a)}&b={encoded(b)}&c={encoded(c)}&topn=5"
    for reply in (server.get(asked), server.post("/v1/analogy", {"a": a, "b": b, "c": c, "topn": 5}),):
        assert [hit["word"] for hit in reply.json["answers"]] == [hit["word"] for hit in found]
    reply = server.post("/v1/most_similar", {"positive": [b, c], "negative": [a], "topn": 5}).json
    assert [hit["word"] for hit in reply["neighbors"]] == [hit["word"] for hit in found]


def test_invalid_utf8_at_the_end_of_a_word_is_ignored_in_analogies(server, words):
    a, b, c = words[:3]
    rest = f"&b={encoded(b)}&c={encoded(c)}"
    found = [server.get(f"/v1/analogy?a={encoded(a)}{more}{rest}") for more in ("", "%FF", "%E2%82")]
    assert [reply.status for reply in found] == [200] * 3
    answers = [[hit["word"] for hit in json.loads(reply.body)["answers"]] for reply in found]
    assert answers[0] == answers[1] == answers[2]


def test_similarity_equals_that_of_the_command(server, saved, words):
    a, b = words[7:9]
    reply = server.get(f"/v1/similarity?a={encoded(a)}&b={encoded(b)}").json
    assert (reply["a"], reply["b"]) == (a, b)
    printed = resume(saved, "similarity", a, b).split()[0]
    assert abs(reply["similarity"] - float(printed)) < 1e-4


def test_a_word_and_its_vector(server, words):
    reply = server.get(f"/v1/words/{encoded(words[2])}?vector=1").json
    assert reply["word"] == words[2] and len(reply["vector"]) == 16
    assert abs(sum(x * x for x in reply["vector"]) ** 0.5 - reply["norm"]) < 1e-6
    assert "vector" not in server.get(f"/v1/words/{encoded(words[2])}").json


def test_embeddings_equal_those_of_the_command(server, saved, words):
    texts = [" ".join(words[at:at + 5]) for at in range(20)]
    done = wordtide("embed", saved, input="\n".join(texts) + "\n")
    rows = [[float(x) for x in line.split("\t")] for line in done.stdout.splitlines()]
    reply = server.post("/v1/embeddings", {"input": texts, "model": "any"}).json
    assert reply["object"] == "list" and reply["model"] == "wordtide"
    assert [item["index"] for item in reply["data"]] == list(range(20))
    assert {item["object"] for item in reply["data"]} == {"embedding"}
    assert reply["usage"] == {"prompt_tokens": 100, "total_tokens": 100}
    for item, row in zip(reply["data"], rows):
        assert item["embedding"] == pytest.approx(row, rel=1e-6, abs=1e-9)
    packed = server.post("/v1/embeddings", {"input": texts, "encoding_format": "base64"}).json
    for item, row in zip(packed["data"], rows):
        assert struct.unpack("<16f", base64.b64decode(item["embedding"])) == pytest.approx(row, rel=1e-6)


def test_a_text_without_a_known_word_has_no_embedding(server, words):
    for form in ("float", "base64"):
        reply = server.post("/v1/embeddings", {"input": ["qqqq", words[0], ""], "encoding_format": form}).json
        assert [item["embedding"] is None for item in reply["data"]] == [True, False, True]


def test_models_are_listed_as_clients_expect(server):
    reply = server.get("/v1/models").json
    assert reply["object"] == "list"
    assert [(m["id"], m["object"], m["owned_by"]) for m in reply["data"]] == [("wordtide", "model", "wordtide")]


def test_head_is_get_without_a_body(server):
    for path in ("/health", "/v1/stats", "/v1/events", "/", "/nothing"):
        answer = server.ask("HEAD", path)
        assert answer.status == (404 if path == "/nothing" else 200) and answer.body == b""


# -- invalid requests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path, least, most", LIMITS)
def test_numbers_have_bounds(server, path, least, most):
    for good in (least, least + 1, most - 1, most):
        assert server.get(path.format(good)).status == 200
    for bad in (least - 1, most + 1, 10**30, "", "x", "1x", " 1", "+1", "1.0", "0x1", "%zz", "%00"):
        reply = problem(server.get(path.format(str(bad).replace(" ", "%20"))), 400)
        assert "topn" in reply["detail"] or "limit" in reply["detail"] or "offset" in reply["detail"]


@pytest.mark.parametrize("topn", [0, 1001, -1, 1.5, "10", None, 10**30, [], {}])
def test_numbers_in_bodies_have_bounds(server, topn):
    problem(server.post("/v1/most_similar", {"positive": ["the"], "topn": topn}), 400)


@pytest.mark.parametrize("body", [
    "", "x", "[]", "1", "null", '"text"', '{"positive":["the"]', '{"positive":"the"}', "{}",
    '{"positive":[]}', '{"positive":[1]}', '{"positive":["the"],"negative":{}}', '{"a":1,"a":2}',
    json.dumps({"positive": ["the"] * 33}), '{"positive":["\\u0000"]}', '{"positive":["\\ud800"]}',
    b'{"positive":["\xff"]}', '{"positive":["the"]} x', "\0",
])
def test_malformed_bodies_are_rejected(server, body):
    problem(server.post("/v1/most_similar", body, Content_Type="application/json"), 400)


@pytest.mark.parametrize("value", [
    None, [], {}, 1, [1], ["a", 1], [["a"]], ["a"] * 1001,
])
def test_inputs_other_than_texts_are_rejected(server, value):
    problem(server.post("/v1/embeddings", {"input": value}), 400)


def test_lists_of_words_have_the_documented_bound(server, words):
    assert server.post("/v1/most_similar", {"positive": ["the"] * 32}).status == 200
    assert len(server.post("/v1/embeddings", {"input": ["the"] * 1000}).json["data"]) == 1000


def test_json_may_be_nested_32_deep(server):
    for depth in (30, 31):  # one level is the body itself
        assert server.post("/v1/embeddings", '{"input":"the","x":' + "[" * depth + "]" * depth + "}",
                           Content_Type="application/json").status == 200
    for depth in (32, 33, 100_000):
        reply = problem(server.post("/v1/embeddings", '{"input":"the","x":' + "[" * depth + "]" * depth + "}",
                                   Content_Type="application/json"), 400)
        assert "deep" in reply["detail"]


def test_missing_words_are_reported(server):
    for path in ("/v1/similarity", "/v1/similarity?a=the", "/v1/analogy?a=the&b=and"):
        problem(server.get(path), 400)


def test_unknown_words_come_with_suggestions(server, words):
    long = next(word for word in words if len(word) > 6)
    for path in ("/v1/words/{}", "/v1/words/{}/neighbors", "/v1/similarity?a=the&b={}",
                 "/v1/analogy?a=the&b=and&c={}"):
        reply = problem(server.get(path.format(encoded(long + "x"))), 404)
        assert reply["type"] == "/problems/unknown-word" and reply["word"] == long + "x"
        assert long in reply["suggestions"]


@pytest.mark.parametrize("word", [
    "a/b", "100%", 'say"so"', "it's", "🌊", "👩‍👩‍👧", "\u202eabc", "<script>", "a?b", "a#b", "a&b", "..", "a+b",
    "é" * 31 + "x", "\\", "\x1b[31m", "\n", "x" * 5000,
])
def test_any_word_can_be_queried(server, word):
    """None of them is in the vocabulary as it is; of some a part is."""
    for path in ("/v1/words/{}", "/v1/words/{}/neighbors", "/v1/similarity?a=the&b={}"):
        answer = server.get(path.format(encoded(word)))
        if answer.status == 200:
            assert [term["text"] for term in answer.json["terms"]] == [word]
        else:
            assert problem(answer, 404)["word"] == word


@pytest.mark.parametrize("part", ["%", "%4", "%zz", "%00", "a%00b"])
def test_invalid_percent_encoding_is_rejected(server, part):
    problem(server.get(f"/v1/words/{part}"), 400)
    problem(server.get(f"/v1/words?prefix={part}"), 400)


def test_invalid_utf8_is_an_unknown_word(server):
    for part in ("%ff", "%c3", "%ed%a0%80", "%f5%80%80%80"):
        problem(server.get(f"/v1/words/{part}"), 404)
        assert server.get(f"/v1/words?prefix={part}").json["total"] == 0


def test_unknown_paths_and_methods_are_rejected(server):
    for path in ("/nothing", "/v1x", "/openapi.json", "/v1/words/", "/v1/words/a/b", "/v1/words/a/neighbors/", "//health"):
        problem(server.get(path), 404)
    refused = server.ask("DELETE", "/v1/analogy", Content_Length="0")
    problem(refused, 405)
    assert refused.headers["Allow"] == "GET, POST"


def test_bodies_have_bounds(server):
    for size in (BODY_MAX - 1, BODY_MAX):
        problem(server.post("/v1/embeddings", b"x" * size, Content_Type="application/json"), 400)


def test_too_large_bodies_are_rejected_before_they_are_sent(server):
    for path, size in (("/v1/embeddings", BODY_MAX + 1), ("/v1/ingest", INGEST_MAX + 1), ("/v1/ingest", 2**63)):
        connection = server.connect()
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           f"Content-Length: {size}\r\n\r\n".encode())
        got, closed = read_all(connection)
        connection.close()
        assert got.startswith(b"HTTP/1.1 413 ") and closed


def test_chunked_bodies_have_the_same_bounds(server):
    def chunks(size):
        return (b"x" * min(1 << 16, size - at) for at in range(0, size, 1 << 16))

    problem(server.post("/v1/embeddings", chunks(BODY_MAX), Content_Type="application/json"), 400)
    refused = server.post("/v1/embeddings", chunks(BODY_MAX + 1), Content_Type="application/json")
    problem(refused, 413)


def test_paths_and_headers_have_bounds(server):
    for size, status in ((8191, 404), (8192, 404), (8193, 414)):
        assert server.get("/" + "x" * (size - 1)).status == status
    for count, status in ((60, 200), (70, 431)):
        assert server.get("/health", **{f"X{i}": "y" for i in range(count)}).status == status
    for size, status in ((15_000, 200), (16_384, 431), (60_000, 431)):
        assert server.get("/health", X="y" * size).status == status


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_posts_must_be_json(server, kind):
    for path in ("/v1/checkpoint", "/v1/embeddings", "/v1/analogy", "/v1/most_similar"):
        problem(server.post(path, "{}", Content_Type=kind), 415)


def test_a_server_without_words_answers():
    empty = Server()
    assert empty.get("/v1/words").json == {"total": 0, "words": []}
    problem(empty.get("/v1/words/any/neighbors"), 404)
    assert empty.post("/v1/embeddings", {"input": "any"}).json["data"][0]["embedding"] is None
    assert empty.stats()["tokens"] == 0
    empty.end()


@pytest.mark.parametrize("body, headers", [
    (None, b""), (None, b"Content-Length: 0\r\n"), (b"{}", b"Content-Type: application/json\r\nContent-Length: 2\r\n"),
    (None, b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n"),
])
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_checkpoint_needs_no_body(server, body, headers, version):
    """As curl -X POST and curl -d '' send it. Bytes after a request without a length are not a new request."""
    connection = server.connect()
    connection.sendall(b"POST /v1/checkpoint HTTP/" + version + b"\r\nHost: localhost\r\n" + headers + b"\r\n" + (body or b"")
                       + b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    got, closed = read_all(connection)
    connection.close()
    assert closed and got.split()[1] == b"200" and got.count(b"pause_seconds") == 1
    assert headers and version == b"1.1" or b"owned_by" not in got


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_checkpoint_with_another_content_type_is_rejected(server, kind):
    assert server.post("/v1/checkpoint", b"x", Content_Type=kind).status == 415
    assert server.post("/v1/checkpoint", iter([b"x"]), Content_Type=kind).status == 415


PAGE = gzip.decompress((ROOT / "web" / "dist" / "index.html.gz").read_bytes())


@pytest.mark.parametrize("accepted, packed", [
    (None, False), ("", False), ("identity", False), ("br, deflate", False), ("gzip;q=0", False), ("gzip; q=0.0, br", False),
    ("gzip", True), ("br, GZIP", True), ("deflate, gzip;q=0.5", True), ("*", True), ("gzipped, xgzip", False),
])
def test_the_page_is_compressed_for_clients_that_accept_gzip(server, accepted, packed):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.putrequest("GET", "/", skip_accept_encoding=True)
    if accepted is not None:
        connection.putheader("Accept-Encoding", accepted)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 200 and answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Content-Encoding"] == ("gzip" if packed else None)
    assert (gzip.decompress(body) if packed else body) == PAGE
    assert b"openapi.yaml" in PAGE


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/openapi.yaml"])
def test_the_api_description_is_served(server, path):
    answer = server.get(path)
    assert answer.status == 200 and answer.body == (ROOT / "server" / "openapi.yaml").read_bytes()
