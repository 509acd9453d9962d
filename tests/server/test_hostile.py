"""Hostile words and bodies: they are returned as data or rejected."""

import gzip
import json
import random
import re
import zlib

import pytest
from hostile import hostile_words
from running import SANITIZED, wordtide
from serving import Server, encoded
from watching import wait_until

RAW_CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f]")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    server = Server("--checkpoint", tmp_path_factory.mktemp("hostile") / "words.tide", lasting=True,
                    size=["--vocab", "20000", "--dim", "4", "--threads", "1", "--admission", "none",
                          "--tokens", "space"])
    words = hostile_words(10_000)
    text = "\n".join(" ".join(words[at:at + 10]) for at in range(0, len(words), 10))
    for form in (text.encode(), "\n".join(reversed(text.split("\n"))).encode() + b"\xff\xfe\0\n"):
        wait_until(lambda: server.send(form).status == 200)
    wait_until(lambda: server.stats()["vocabulary"]["size"] > 1000 and not server.stats()["queue"]["bytes"])
    yield server
    server.end()


def all_words(server):
    words, at = [], 0
    while True:
        answer = server.get(f"/v1/words?limit=1000&offset={at}")
        assert not RAW_CONTROL.search(answer.body)
        page = answer.json["words"]
        if not page:
            return [entry["word"] for entry in words]
        words += page
        at += len(page)


def test_every_listed_word_can_be_queried(hostile):
    words = all_words(hostile)
    assert len(words) > 1000
    for word in words[::37]:
        answer = hostile.get(f"/v1/words/{encoded(word)}/neighbors?topn=50")
        assert answer.status == 200 and answer.json["word"] == word
        assert not RAW_CONTROL.search(answer.body)
        assert answer.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "glove", "safetensors"])
def test_exports_can_be_imported(hostile, tmp_path, format):
    """As many words as announced, each of them a listed one."""
    answer = hostile.get(f"/v1/export?format={format}")
    assert answer.status == 200
    path = tmp_path / "vectors"
    path.write_bytes(answer.body)
    done = wordtide("words", path, "-n", "100000", "--json")
    words = [json.loads(line)["word"] for line in done.stdout.split("\n")[:-1]]
    listed = all_words(hostile)
    assert len(words) == int(answer.headers["Wordtide-Words"]) > 1000
    assert len(listed) == len(words) + int(answer.headers["Wordtide-Left-Out"])
    assert set(words) <= set(listed) and any("<script>" in word for word in words)
    done = wordtide("import", path, "-o", tmp_path / "again.tide", "-q")
    assert done.returncode == 0, done.stderr


def test_problems_quote_words_safely(hostile):
    for word in hostile_words(400):
        answer = hostile.get(f"/v1/words/{encoded(word + 'Zz9')}")
        assert answer.status in (200, 404) and not RAW_CONTROL.search(answer.body)
        json.loads(answer.body)


def test_metrics_contain_no_words(hostile):
    body = hostile.get("/metrics").body.decode()
    for line in body.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ [ -~]+|\w+(\{[ -~]*\})? [-+.\deEinfNa]+", line), line
    labels = set(re.findall(r'route="([^"]*)"', body))
    assert all(re.fullmatch(r"(GET|POST|PUT|DELETE) [a-z0-9_/{}*]+|none", label) for label in labels)
    assert "script" not in body


def test_events_have_no_line_breaks_in_data(hostile):
    connection = hostile.connect()
    connection.sendall(b"GET /v1/events HTTP/1.0\r\nHost: localhost\r\n\r\n")
    got = b""
    while got.count(b"\n\n") < 2:
        got += connection.recv(65536)
    connection.close()
    body = got.split(b"\r\n\r\n", 1)[1]
    for message in body.split(b"\n\n")[:2]:
        kind, data = message.split(b"\n")
        assert kind.startswith(b"event: ") and json.loads(data.removeprefix(b"data: "))


# -- bodies ---------------------------------------------------------------------------------------------------


def test_zip_bombs_are_rejected(server):
    before = server.resident()
    for size in (17 << 20, 64 << 20, 256 << 20):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        bomb = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(size >> 20)) + packer.flush()
        answer = server.post("/v1/ingest", bomb, Content_Type="text/plain", Content_Encoding="gzip")
        assert answer.status == 413
    assert server.resident() - before < (80 << 20) * (3 if SANITIZED else 1)
    fair = "".join(random.Random(1).choices("abcdefghij \n", k=3_000_000)).encode()
    wait_until(lambda: server.post("/v1/ingest", gzip.compress(fair), Content_Type="text/plain",
                                   Content_Encoding="gzip").status == 200)


@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"a":', "}"), ('[{"":', "}]")])
@pytest.mark.parametrize("path", ["/v1/ingest", "/insert/jsonline", "/insert/elasticsearch/_bulk", "/v1/embeddings"])
def test_json_nested_100000_deep_is_rejected(server, opening, closing, path):
    for body in (opening * 100_000, opening * 100_000 + "1" + closing * 100_000):
        answer = server.post(path, body, Content_Type="application/json")
        assert answer.status in (200, 400)
    assert server.get("/health").status == 200


def test_a_body_of_16_megabytes_is_learned(server):
    line = b"one two three four five six seven\n"
    body = line * ((16 << 20) // len(line))
    before = server.stats()["tokens"]
    answer = wait_until(lambda: (lambda a: a.status == 200 and a)(server.send(body)), "room")
    assert answer.json["taken"] == len(body) // len(line)
    server.wait_for_tokens(before + 1000)


def test_the_saved_model_of_hostile_words_is_exported_completely(hostile, tmp_path):
    path = hostile.post("/v1/checkpoint").json["path"]
    rows = wordtide("words", path, "-n", "100000").stdout.split("\n")
    assert len(rows) > 1000
    assert not RAW_CONTROL.search("\n".join(rows).replace("\t", "").encode())
