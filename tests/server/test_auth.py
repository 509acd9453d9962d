"""Access control: allowed hosts, origins and tokens."""

import os
import subprocess

import pytest
from running import SMALL, start
from serving import Server, read_all, refusal
from watching import PATIENCE

TOKEN = "0123456789abcdef0123456789abcdef"
OPEN = ["/", "/health", "/ready", "/v1", "/v1/", "/openapi.yaml"]
SHUT = [("GET", path) for path in (
    "/metrics", "/v1/stats", "/v1/events", "/v1/words", "/v1/words/the", "/v1/words/the/neighbors",
    "/v1/similarity?a=a&b=b", "/v1/analogy?a=a&b=b&c=c", "/v1/models", "/insert/elasticsearch/", "/nothing")
] + [("POST", path) for path in (
    "/v1/analogy", "/v1/most_similar", "/v1/embeddings", "/v1/ingest", "/v1/checkpoint", "/insert/jsonline",
    "/insert/elasticsearch/_bulk")]

HERE = "localhost:{port}"
PAIRS = [  # Host, Origin (None: not a browser), whether it is accepted
    ("localhost", None, True),
    (HERE, None, True),
    ("LOCALHOST:{port}", None, True),
    ("127.0.0.1", None, True),
    ("127.0.0.1:{port}", None, True),
    ("[::1]", None, True),
    ("[::1]:{port}", None, True),
    ("localhost:1", None, True),
    ("known.example", None, True),
    ("known.example:443", None, True),
    ("Known.Example", None, True),
    ("evil.example", None, False),
    ("evil.example:{port}", None, False),
    ("localhost.evil.example", None, False),
    ("127.0.0.1.evil.example", None, False),
    ("evil.example.localhost", None, False),
    ("localhost.", None, False),
    ("known.example.", None, False),
    ("xknown.example", None, False),
    ("known.examplex", None, False),
    ("0.0.0.0", None, False),
    ("127.0.0.2", None, False),
    ("127.1", None, False),
    ("2130706433", None, False),
    ("0x7f.0.0.1", None, False),
    ("[::]", None, False),
    ("[::ffff:127.0.0.1]", None, False),
    ("[::1", None, False),
    ("::1", None, False),
    ("[::1]x", None, False),
    ("localhost:", None, False),
    ("localhost:x", None, False),
    ("localhost:123456", None, False),
    ("localhost:80:80", None, False),
    ("evil@localhost", None, False),
    ("localhost@evil.example", None, False),
    ("localhost/", None, False),
    (HERE, "http://localhost:{port}", True),
    (HERE, "HTTP://LOCALHOST:{port}", True),
    ("127.0.0.1:{port}", "http://127.0.0.1:{port}", True),
    ("known.example", "https://known.example", True),
    (HERE, "https://localhost:{port}", True),
    (HERE, "null", False),
    (HERE, "", False),
    (HERE, "http://evil.example", False),
    (HERE, "http://localhost", False),
    (HERE, "http://localhost:3000", False),
    (HERE, "http://127.0.0.1:{port}", False),
    (HERE, "http://localhost:{port}.evil.example", False),
    (HERE, "http://localhost:{port}/", False),
    (HERE, "file://", False),
    (HERE, "chrome-extension://abc", False),
    (HERE, "http://evil.example@localhost:{port}", False),
    ("known.example", "http://localhost:{port}", False),
    ("evil.example", "http://evil.example", False),
]


@pytest.fixture(scope="module")
def named(text):
    server = Server(text, "--allow-host", "known.example", lasting=True)
    yield server
    server.end()


SITES = [  # Sec-Fetch-Site, Sec-Fetch-Mode, whether the page is served, whether data is
    ("same-origin", "cors", True, True),
    ("none", "navigate", True, True),
    ("cross-site", "navigate", True, False),  # a link
    ("same-site", "navigate", True, False),
    ("cross-site", "no-cors", False, False),  # an image
    ("cross-site", "cors", False, False),
    ("cross-site", "websocket", False, False),
    ("cross-site", None, False, False),
    ("same-site", "no-cors", False, False),
    ("Cross-Site", "no-cors", False, False),
    ("", "no-cors", False, False),
    ("anything", "no-cors", False, False),
]


@pytest.mark.parametrize("site, mode, page, data", SITES)
def test_other_sites_may_only_link_to_public_routes(named, site, mode, page, data):
    headers = {"Sec_Fetch_Site": site} | ({"Sec_Fetch_Mode": mode} if mode else {})
    for path in OPEN:
        assert named.get(path, **headers).status == (200 if page else 403)
    for path in ("/v1/stats", "/v1/export?format=glove", "/metrics", "/v1/words"):
        assert named.get(path, **headers).status == (200 if data else 403)
    answer = named.post("/v1/embeddings", {"input": "the"}, **headers)
    assert answer.status == (200 if data else 403)


@pytest.mark.parametrize("host, origin, may", PAIRS)
def test_only_allowed_hosts_and_the_same_origin_are_accepted(named, host, origin, may):
    host = host.format(port=named.port)
    lines = f"Host: {host}\r\n"
    if origin is not None:
        lines += f"Origin: {origin.format(port=named.port)}\r\n"
    for first in ("GET /v1/stats HTTP/1.1", "GET /health HTTP/1.1", "DELETE /v1/stats HTTP/1.1",
                  "OPTIONS /v1/ingest HTTP/1.1"):
        connection = named.connect()
        connection.sendall(f"{first}\r\n{lines}Connection: close\r\n\r\n".encode())
        got = read_all(connection)[0]
        connection.close()
        status = int(got.split()[1])
        assert b"Access-Control" not in got
        if may:
            assert status == (200 if first.startswith("GET") else 405)
        else:
            assert status in (400, 403)


def test_the_list_of_cases_is_complete():
    assert len(PAIRS) >= 40


# -- tokens ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def token_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("token") / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def protected(text, token_file):
    server = Server(text, "--token-file", token_file, lasting=True)
    yield server
    server.end()


def test_public_routes_need_no_token(protected):
    assert [protected.get(path).status for path in OPEN] == [200] * len(OPEN)


@pytest.mark.parametrize("method, path", SHUT)
def test_all_other_routes_need_the_token(protected, method, path):
    for wrong in (None, "", "Bearer", "Bearer ", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}",
                  f"Bearer x{TOKEN[1:]}", f"Bearer {TOKEN} {TOKEN}", f"Bearer {TOKEN}{TOKEN}", f"Bearer {TOKEN.upper()}"):
        headers = {"Content-Type": "application/json"} | ({} if wrong is None else {"Authorization": wrong})
        answer = protected.ask(method, path, b"{}" if method == "POST" else None, **headers)
        assert answer.status == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
    for scheme in ("Bearer", "bearer"):
        connection = protected.connect()
        body = "{}" if method == "POST" else ""
        connection.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {scheme} {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        assert int(connection.recv(100).split()[1]) != 401
        connection.close()


def refused(*arguments):
    """The error message of a server that does not start."""
    message = refusal(*arguments)
    assert "listening on" not in message
    return message


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o666, 0o610])
def test_a_token_file_readable_by_others_is_rejected(tmp_path, mode):
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(mode)
    assert "chmod 600" in refused("--token-file", path)


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"x" * 15, b"x" * 257, b"x" * 5000, b"\n" + TOKEN.encode(),
                                     b"with a blank in it", b"with\x01control0000", "äääääääääääää".encode(),
                                     b"0123456789abcdef\x000123456789"])
def test_an_invalid_token_file_is_rejected(tmp_path, content):
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    assert "--token-file" in refused("--token-file", path)


def test_an_unreadable_token_file_is_reported(tmp_path):
    assert "--token-file" in refused("--token-file", tmp_path / "none")
    assert "--token-file" in refused("--token-file", tmp_path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "--token-file" in refused("--token-file", tmp_path / "pipe")


@pytest.mark.parametrize("size", [16, 256])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_tokens_of_any_valid_length_work(tmp_path, size, end):
    path = tmp_path / "token"
    path.write_bytes(("x" * size + end).encode())
    path.chmod(0o400)
    server = Server("--token-file", path)
    assert server.get("/v1/stats").status == 401
    assert server.get("/v1/stats", Authorization="Bearer " + "x" * size).status == 200
    server.end()


# -- listening ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.9"])
@pytest.mark.parametrize("with_token", [False, True])
def test_it_starts_without_a_token_on_loopback(token_file, host, with_token):
    server = start("serve", "--port", "0", *SMALL, "--host", host,
                   *(["--token-file", token_file] if with_token else []), stderr=subprocess.PIPE)
    assert b"listening on" in server.stderr.readline()
    server.terminate()
    server.communicate(timeout=PATIENCE)
    assert server.returncode == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.invalid"])
def test_it_requires_a_token_on_reachable_addresses(host):
    assert "--token-file" in refused("--host", host)


def test_with_a_token_it_listens_on_all_addresses(token_file):
    server = Server("--host", "0.0.0.0", "--token-file", token_file)
    assert server.get("/v1/stats").status == 401
    assert server.get("/v1/stats", Authorization=f"Bearer {TOKEN}").status == 200
    server.end()


@pytest.mark.parametrize("host", ["example.invalid", "300.1.1.1", "", "192.0.2.1"])
def test_a_foreign_address_is_reported(token_file, host):
    assert "cannot listen on" in refused("--host", host, "--token-file", token_file)


def test_a_port_in_use_is_reported(named):
    for host in ("127.0.0.1", "localhost"):
        assert f"{host}:{named.port}: Address already in use" in refused("--host", host, "--port", named.port)


@pytest.mark.parametrize("port", ["-1", "65536", "x", "99999999999999999999"])
def test_invalid_ports_are_rejected(port):
    assert "--port" in refused("--port", port)
