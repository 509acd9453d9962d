"""GET /v1/export: the current vectors, complete, while everything else continues."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import subprocess
import threading

import pytest
from optional import OptionalModule
from ranking import assert_same_ranking
from running import BINARY, SANITIZED, wordtide
from serving import Server, encoded
from watching import PATIENCE, wait_until

FORMATS = ["word2vec", "word2vec-binary", "glove", "safetensors", "pgvector"]
LARGE = ["--vocab", "20000", "--dim", "100", "--threads", "1", "--window", "1", "--admission", "none", "--replay", "1"]


def vectors_file(server, query=""):
    """Downloads the file; no other export is in progress."""
    answer = server.get(f"/v1/export{query}")
    assert answer.status == 200, answer.body[:500]
    assert int(answer.headers["Content-Length"]) == len(answer.body)
    return answer


def sent_words(count):
    return "\n".join(" ".join(f"w{n}" for n in range(at, at + 20)) for at in range(0, count, 20))


@pytest.fixture
def large(tmp_path):
    """A server with so many words that an export exceeds the socket buffers."""
    (tmp_path / "temporary").mkdir()
    server = Server("--checkpoint", tmp_path / "large.tide", "--every", "1h", size=LARGE,
                    env=dict(os.environ, TMPDIR=str(tmp_path / "temporary")))
    server.temporary = tmp_path / "temporary"
    server.send(sent_words(20000))
    server.wait_for_tokens(20000)
    wait_until(lambda: server.get("/v1/words?limit=1").json["total"] == 20000)
    return server


def descriptors(server):
    """The targets of its open files. Some may be closed meanwhile."""
    folder, open_files = f"/proc/{server.process.pid}/fd", []
    for number in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            open_files.append(os.readlink(f"{folder}/{number}"))
    return open_files


def nameless(server):
    return [path for path in descriptors(server) if "wordtide-export" in path]


# -- content ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("query, options", [
    ("", []), ("&top=40", ["--top", "40"]), ("&center=1", ["--centre"]), ("&dtype=f32", ["--dtype", "f32"])])
def test_a_download_equals_the_export_of_the_saved_model(server, tmp_path, format, query, options):
    assert server.post("/v1/checkpoint").status == 200
    answer = vectors_file(server, f"?format={format}{query}")
    out = tmp_path / "out"
    assert wordtide("export", server.checkpoint, "--format", format, "-o", out, *options).returncode == 0
    assert answer.body == out.read_bytes()


def test_a_download_has_descriptive_headers(server):
    for format, ending in zip(FORMATS, (".vec", ".bin", ".txt", ".safetensors", ".tsv")):
        headers = vectors_file(server, f"?format={format}").headers
        assert headers["Content-Disposition"] == f'attachment; filename="wordtide{ending}"'
        assert headers["Content-Type"] == "application/octet-stream"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert int(headers["Wordtide-Words"]) == server.stats()["vocabulary"]["size"]
        assert headers["Wordtide-Left-Out"] == "0"
    assert vectors_file(server).body == vectors_file(server, "?format=word2vec").body


def test_a_head_request_does_not_block_exports(server):
    for _ in range(100):
        bare = server.ask("HEAD", "/v1/export?format=glove")
        assert bare.status == 200 and not bare.body
        assert int(bare.headers["Content-Length"]) == len(vectors_file(server, "?format=glove").body)


@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "glove"])
def test_gensim_reads_downloaded_vectors(server, tmp_path, format):
    path = tmp_path / "vectors"
    path.write_bytes(vectors_file(server, f"?format={format}&center=1").body)
    loaded = OptionalModule("gensim.models").KeyedVectors.load_word2vec_format(path, binary=format == "word2vec-binary", no_header=format == "glove")
    listed = [entry["word"] for entry in server.get("/v1/words?limit=1000").json["words"]]
    assert loaded.index_to_key == listed and len(listed) > 100
    for word in listed[::7]:
        reply = server.get(f"/v1/words/{encoded(word)}?vector=1").json["vector"]
        assert loaded[word].tolist() == pytest.approx(reply, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("query, detail", [
    ("format=npy", "word2vec-binary, word2vec, glove"), ("format=tide", "unknown format"), ("format=", "unknown format"),
    ("format=WORD2VEC", "unknown format"), ("format=%3Cscript%3E", "unknown format"), ("format=word2vec&dtype=f16", "holds f32"),
    ("dtype=f64", "not 'f64'"), ("top=0", "top must be an integer"), ("top=-1", "top must be"), ("top=x", "top must be")])
def test_invalid_export_parameters_are_rejected(server, query, detail):
    answer = server.get(f"/v1/export?{query}")
    assert answer.status == 400 and answer.headers["Content-Type"] == "application/problem+json"
    assert detail in answer.json["detail"] and "script" not in answer.json["detail"]
    vectors_file(server, "?top=1")


def test_an_empty_model_exports_a_file_without_rows():
    server = Server()
    assert vectors_file(server).body == b"0 16\n"
    server.end()


def test_training_continues_during_an_export():
    """Words enter and leave all the time; every file is complete and has each word once. Words evicted while it is
    written are missing, which are most of them in a vocabulary this small."""
    server = Server("demo:events=on,pace=20", "--half-life", "20000", size=["--vocab", "400", "--dim", "8"])
    server.wait_for_tokens(20000)
    for turn in range(4):
        before = server.stats()["tokens"]
        lines = vectors_file(server).body.decode().split("\n")
        words = [line.split(" ")[0] for line in lines[1:-1]]
        assert lines[0] == f"{len(words)} 8" and len(set(words)) == len(words) > 50
        assert all(len(line.split(" ")) == 9 for line in lines[1:-1])
        wait_until(lambda: server.stats()["tokens"] > before, "more text")
    server.end()


# -- readers -----------------------------------------------------------------------------------------------


def begin_slowly(server):
    """Requests a file and reads only its first bytes."""
    connection = server.connect()
    connection.sendall(b"GET /v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert connection.recv(12) == b"HTTP/1.1 200"
    return connection


def test_there_is_one_export_at_a_time(large):
    slow = begin_slowly(large)
    assert len(nameless(large)) == 1
    answer = large.get("/v1/export")
    assert answer.status == 429 and answer.headers["Retry-After"] == "1"
    assert answer.json["type"] == "/problems/busy"
    for _ in range(20):
        assert large.get("/v1/words/w7/neighbors").status == 200
    slow.close()
    wait_until(lambda: large.get("/v1/export?top=9").status == 200, "the next")
    assert [large.get("/v1/export?top=9").status for _ in range(100)] == [200] * 100
    wait_until(lambda: not nameless(large), "the end of the file")
    large.end()


def test_a_slow_reader_receives_the_whole_file(large):
    slow = begin_slowly(large)
    large.send(sent_words(2000))
    with slow.makefile("rb") as answer:
        sizes = [int(line.split()[1]) for line in iter(answer.readline, b"\r\n") if line.startswith(b"Content-Length:")]
        body = answer.read(sizes[0])
    assert body.count(b"\n") == 20001 and body.endswith(b"\n")
    slow.close()
    large.end()


def test_an_aborted_download_leaves_nothing_behind(large):
    before = len(descriptors(large))
    for turn in range(15):
        connection = wait_until(lambda: try_begin(large, turn), "a turn")
        connection.close()
    wait_until(lambda: large.get("/v1/export?top=9").status == 200, "the next")
    wait_until(lambda: len(descriptors(large)) <= before, "all files closed")
    assert list(large.temporary.iterdir()) == []
    assert export_bytes(large) == 0
    large.end()


def try_begin(server, turn):
    """Aborts an export at a different moment each time; None while another is in progress."""
    connection = server.connect()
    connection.sendall(b"GET /v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
    if turn % 3 == 0:
        return connection
    got = connection.recv(12 if turn % 3 == 1 else 100_000)
    if got.startswith(b"HTTP/1.1 200"):
        return connection
    connection.close()
    return None


def export_bytes(server):
    return {part["name"]: part["bytes"] for part in server.stats()["memory"]["parts"]}["export"]


# -- failures -------------------------------------------------------------------------------------------------


def test_shutdown_does_not_wait_for_an_export(large):
    """While it is written, sent or requested: every client gets an answer or a closed connection."""
    slow = begin_slowly(large)
    statuses = []

    def ask():
        try:
            while True:
                statuses.append(large.get("/v1/export").status)
        except (OSError, http.client.HTTPException):
            pass

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: 429 in statuses)
    slow.close()
    wait_until(lambda: 200 in statuses)
    large.end()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert set(statuses) <= {200, 429, 503}
    assert list(large.temporary.iterdir()) == []


def test_a_full_disk_is_reported_and_recovered_from(large):
    resource.prlimit(large.process.pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    answer = large.get("/v1/export")
    assert answer.status == 500 and "File too large" in answer.json["detail"]
    assert large.get("/ready").status == 200 and not nameless(large)
    resource.prlimit(large.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    vectors_file(large)
    large.end()


@pytest.mark.skipif(SANITIZED, reason="a sanitizer has all addresses for itself")
def test_memory_exhaustion_is_reported_and_recovered_from(large):
    status = pathlib.Path(f"/proc/{large.process.pid}/status").read_text()
    present = int(re.search(r"VmSize:\s+(\d+)", status)[1]) << 10
    resource.prlimit(large.process.pid, resource.RLIMIT_AS, (present + (1 << 20), resource.RLIM_INFINITY))
    answer = large.get("/v1/export")
    assert answer.status == 503 and "memory" in answer.json["detail"]
    resource.prlimit(large.process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    vectors_file(large)
    large.end()


def test_a_missing_directory_is_reported(tmp_path):
    server = Server(env=dict(os.environ, TMPDIR=str(tmp_path / "none")))
    answer = server.get("/v1/export")
    assert answer.status == 500 and "No such file" in answer.json["detail"]
    server.end()


def test_without_tmpdir_the_file_is_next_to_the_checkpoint(tmp_path):
    bare = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    server = Server("--checkpoint", tmp_path / "here.tide", "--every", "1h", size=LARGE, env=bare)
    server.send(sent_words(20000))
    wait_until(lambda: server.get("/v1/words?limit=1").json["total"] == 20000)
    slow = begin_slowly(server)
    assert str(tmp_path) in nameless(server)[0]
    slow.close()
    server.end()


def test_the_memory_of_the_copy_is_reported(large):
    """Polls until the export is being written."""
    reply = []

    def ask():
        while not any(reply) and len(reply) < 10_000:
            reply.append(export_bytes(large))

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        vectors_file(large)
    asking.join(PATIENCE)
    assert 20000 * 100 * 4 < max(reply) < 20000 * (100 * 4 + 300)
    assert wait_until(lambda: export_bytes(large) == 0)
    large.end()


def test_the_command_imports_a_download(server, tmp_path):
    """Like any vector file: the neighbors equal those of the server."""
    path = tmp_path / "wordtide.vec"
    path.write_bytes(vectors_file(server).body)
    word = server.get("/v1/words?limit=9").json["words"][8]["word"]
    reply = server.get(f"/v1/words/{encoded(word)}/neighbors?topn=5").json["neighbors"]
    done = subprocess.run([BINARY, "nearest", path, word, "-n", "9", "--json"], capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert len(reply) == 5
    assert_same_ranking(*([(hit["word"], hit["score"]) for hit in hits] for hits in (reply, found)), 2e-6)
