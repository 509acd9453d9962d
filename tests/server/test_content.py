"""How a server handles input that is not text, or does not look like text."""

import gzip
import json

import pytest
from running import counts, done_well, train, wordtide
from serving import Server
from watching import wait_until

FIRST_LINES = [b"PAR1S is where I live", b"BZh91A is my nick", b"\xff\xfe hi", b"\x1f\x8b\x08 zipped",
               b"\x28\xb5\x2f\xfd", b"BZh91AY&SY", b"PK\3\4", b'{"a":1}\n{"a":2}\n{"a":3}']


@pytest.mark.parametrize("first", FIRST_LINES)
def test_the_first_line_of_a_rotated_log_never_stops_a_server(tmp_path, first):
    log, checkpoint = tmp_path / "chat.log", tmp_path / "m.tide"
    log.write_bytes(b"hello there world\n" * 200)
    arguments = [log, "--checkpoint", checkpoint, "--every", "1h", "--continue"]
    server = Server(*arguments)
    server.wait_for_tokens(600)
    log.rename(tmp_path / "chat.log.1")
    log.write_bytes(first + b"\n" + b"honest posts follow\n" * 100)
    server.wait_for_tokens(900)
    server.end()
    server = Server(*arguments, size=[])
    with log.open("ab") as more:
        more.write(b"and later more\n" * 100)
    server.wait_for_tokens(1200)
    server.end()
    assert counts(checkpoint)["honest"] == counts(checkpoint)["later"] == 100


@pytest.fixture
def model(tmp_path):
    train(tmp_path / "m.tide", b"tea and milk\nrain and snow\n" * 20)
    return tmp_path / "m.tide"


def test_a_model_as_input_is_served_unchanged(model):
    before = model.read_bytes()
    server = Server(model, size=[])
    assert server.get("/v1/words/milk").json["count"] == 20
    server.send("milk and cream\n")
    wait_until(lambda: server.get("/v1/words/cream").status == 200, "what was sent")
    log = server.end()
    assert "will not be changed; add --checkpoint FILE to save" in log
    assert model.read_bytes() == before


def test_a_model_as_input_learns_from_the_other_sources(model, tmp_path):
    log = tmp_path / "chat.log"
    log.write_text("milk and cream\n" * 10)
    server = Server(log, model, "--checkpoint", tmp_path / "new.tide", size=[])
    server.wait_for_tokens(150)
    server.end()
    assert counts(tmp_path / "new.tide")["milk"] == 30


def test_two_models_as_input_are_rejected(model):
    for arguments in ["--resume", model], ["--continue", "--checkpoint", "x.tide"], [model]:
        done = wordtide("serve", "--port", "0", model, *arguments)
        assert done.returncode == 2
        assert f"{model} is a model, but" in done.stderr


def test_vector_files_as_input_are_rejected(model, tmp_path):
    done_well("export", model, "-o", tmp_path / "v.vec")
    for arguments, code in (["v.vec"], 3), (["--resume", "v.vec"], 4):
        done = wordtide("serve", "--port", "0", *arguments, cwd=tmp_path)
        assert done.returncode == code
        assert "wordtide import v.vec -o NEW.tide" in done.stderr


def utf(text, code):
    return text.encode(code)


@pytest.mark.parametrize("body, wanted", [
    (utf("tea and milk\n", "utf-16"), "UTF-16"), (utf("tea and milk\n", "utf-16-le"), "UTF-16"),
    (utf("café thé\nZürich über\n", "latin-1"), "iconv"), (b"PAR1\x15\x04\x15\x10", "Parquet"),
    (b"PK\3\4\24\0", "zip"), (gzip.compress(b"tea\n"), "Content-Encoding: gzip"),
    (b"3 4\n" + b"tea 1 2 3 4\n" * 3, "vectors"), ("model", "a wordtide model")])
def test_a_binary_body_is_rejected_with_its_format(server, body, wanted):
    if body == "model":
        body = server.checkpoint.read_bytes() if server.checkpoint.exists() else b"\x89TID\r\n\x1a\n"
    before = server.stats()["tokens"]
    for kind in "text/plain", "application/json", "text/csv":
        for headers, sent in ({}, body), ({"Content_Encoding": "gzip"}, gzip.compress(body)):
            reply = server.post("/v1/ingest?text=1", sent, Content_Type=kind, **headers)
            assert reply.status == 415, reply.body
            assert wanted in reply.json["detail"]
    assert server.stats()["tokens"] == before


@pytest.mark.parametrize("first", [b"PAR1S is where I live", b"BZh91A is my nick", b"\xff\xfe hi", b"2 3",
                                   b'{"a":1}\n{"a":2}\n{"a":3}', b"caf\xe9 \xe9 \xe9 \xe9 \xe9"])
def test_text_that_begins_like_another_format_is_accepted(server, first):
    reply = server.send(first + b"\n" + b"more text follows here\n" * 10)
    assert reply.status == 200 and reply.json["taken"] == 10 + len(first.splitlines())


def test_multiline_json_and_multi_member_gzip_are_accepted(server):
    one, two = json.dumps({"text": "tea and milk"}, indent=1), json.dumps({"text": "rain"}, indent=1)
    body = gzip.compress(f"{one}\n".encode()) + gzip.compress(f"{two}\n".encode())
    reply = server.post("/v1/ingest?text=text", body, Content_Type="application/json", Content_Encoding="gzip")
    assert reply.status == 200 and reply.json["taken"] == 2
