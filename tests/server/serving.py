"""A server as tests start it, and ways to ask it."""

import http.client
import json
import pathlib
import re
import select
import socket
import subprocess
import sys
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(1, str(ROOT / "tests" / "cli"))

from running import BINARY, SANITIZED, SMALL, STARTED, watchdog, wordtide  # noqa: E402, F401

PATIENCE = 60 if SANITIZED else 20  # seconds until something must have happened


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def wait_until(holds, what="it"):
    """Asks until it holds; returns what it said."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        said = holds()
        if said:
            return said
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come in {PATIENCE} s")


def encoded(word):
    return urllib.parse.quote(word, safe="")


class Server:
    """`wordtide serve` on a free port of loopback, small unless told otherwise."""

    def __init__(self, *arguments, size=SMALL, lasting=False, **options):
        command = [BINARY, "serve", "--port", "0", *size, *map(str, arguments)]
        self.log = []
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
        if not lasting:
            STARTED.append(self.process)
        self.port = self.read_port()
        self.host = f"127.0.0.1:{self.port}"
        wait_until(lambda: self.get("/health").status == 200, "an answer")

    def read_port(self):
        for line in self.process.stderr:
            self.log.append(line.decode())
            found = re.search(r"the page is at http://\S*:(\d+)/", self.log[-1])
            if found:
                return int(found[1])
        raise AssertionError("".join(self.log))

    def connect(self, timeout=PATIENCE):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, value=None, **headers):
        """JSON, unless the type says otherwise."""
        if "Content_Type" not in headers:
            headers["Content_Type"] = "application/json"
            value = json.dumps(value)
        return self.ask("POST", path, value, **headers)

    def send(self, text, **headers):
        text = text.encode() if isinstance(text, str) else text
        return self.post("/v1/ingest", text, Content_Type="text/plain", **headers)

    def stats(self):
        return self.get("/v1/stats").json

    def wait_for_tokens(self, count):
        wait_until(lambda: self.stats()["tokens"] >= count, f"word {count}")

    def resident(self):
        """Bytes of memory that the process has."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024

    def end(self):
        """Ends it as a service manager does; returns its log."""
        if self.process.poll() is None:
            self.process.terminate()
        self.log.append(self.process.communicate(timeout=PATIENCE)[1].decode())
        assert self.process.returncode == 0, "".join(self.log)
        return "".join(self.log)


def read_all(connection):
    """What comes until the other side closes, and whether it did."""
    got = b""
    try:
        while True:
            more = connection.recv(65536)
            if not more:
                return got, True
            got += more
    except TimeoutError:
        return got, False
    except ConnectionError:
        return got, True


def is_closed(connection):
    """Whether the other side has closed, asked without waiting."""
    if not select.select([connection], [], [], 0)[0]:
        return False
    try:
        return connection.recv(65536) == b""
    except ConnectionError:
        return True


def resume(checkpoint, *command):
    """What the command says about a saved model."""
    done = wordtide(command[0], checkpoint, *command[1:])
    assert done.returncode == 0, done.stderr
    return done.stdout
