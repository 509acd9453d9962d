"""A server as tests start it, and ways to ask it."""

import contextlib
import http.client
import json
import pathlib
import re
import select
import socket
import subprocess
import threading
import urllib.parse

from running import BINARY, SMALL, done_well, wordtide
from watching import PATIENCE, STARTED, wait_until


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def encoded(word):
    return urllib.parse.quote(word, safe="")


class Server:
    """`wordtide serve` on a free port of loopback, small by default; `before` precedes the command."""

    def __init__(self, *arguments, size=SMALL, before=(), lasting=False, **options):
        command = [*before, BINARY, "serve", "--port", "0", *size, *arguments]
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
        if not lasting:
            STARTED.append(self.process)
        self.log, self.port = [], None
        self.begun = threading.Event()
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()
        assert self.begun.wait(PATIENCE) and self.port, "".join(self.log)
        self.host = f"127.0.0.1:{self.port}"
        wait_until(lambda: self.get("/health").status == 200, "an answer")

    def read_log(self):
        """Reads to its end; `begun` is set when the port is known, or never will be."""
        for line in self.process.stderr:
            self.log.append(line.decode())
            found = re.search(r"listening on http://\S*:(\d+)/", self.log[-1])
            if found:
                self.port = int(found[1])
                self.begun.set()
        self.begun.set()

    def connect(self, timeout=PATIENCE):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
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
        """Until so many are read, and those who list words have looked, which they do once a second."""
        wait_until(lambda: self.stats()["tokens"] >= count, f"word {count}")
        if count:
            wait_until(lambda: self.get("/v1/words?limit=1").json["total"], "words")

    def memory(self, name):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", status)[1]) * 1024

    def resident(self):
        """Bytes of memory that the process has."""
        return self.memory("VmRSS")

    def peak(self):
        """The most that it had."""
        return self.memory("VmHWM")

    def end(self):
        """Ends it as a service manager does; returns its log."""
        self.process.terminate()
        assert self.ended() == 0, "".join(self.log)
        return "".join(self.log)

    def kill(self):
        self.process.kill()
        self.ended()

    def ended(self):
        """The exit code, once it has ended and its log is read."""
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stderr.close()
        return code


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


def has_come(connection, wait_ms=0):
    """Whether there is something to read, or the end. Unlike select(), for any number of connections."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(wait_ms))


def is_closed(connection):
    """Whether the other side has closed, asked without waiting."""
    if not has_come(connection):
        return False
    try:
        return connection.recv(65536) == b""
    except ConnectionError:
        return True


def refusal(*arguments, size=SMALL):
    """What a server says that ends by itself."""
    done = wordtide("serve", "--port", "0", *size, *arguments)
    assert done.returncode in (1, 2), done.stderr
    return done.stderr


def resume(checkpoint, *command):
    """What the command says about a saved model."""
    return done_well(command[0], checkpoint, *command[1:]).stdout
