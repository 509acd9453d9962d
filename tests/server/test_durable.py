"""Exactly once over HTTP: what a server with a spool has said it took is learned, one time.

Clients send numbered words, every number once, and note what they were told: taken, refused, or nothing, when
the server was killed first. At the end a word that was taken has to be in the model once, one that was refused not
at all, and one without an answer at most once. WORDTIDE_KILLS says how often the server is killed; 200 is
a long test.
"""

import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("WORDTIDE") or str(ROOT / "build/cli/wordtide")
SANITIZED = re.search(rb"__[at]san_", pathlib.Path(BINARY).read_bytes()) is not None
KILLS = int(os.environ.get("WORDTIDE_KILLS", "20"))
CLIENTS = 3
SECONDS = 300 if SANITIZED else 60
ROOMY = ["--vocab", "100000", "--dim", "2", "--threads", "1", "--replay", "1", "--history", "10"]
HEADER, HEAD = 56, 16  # bytes of a segment of the spool, of a piece


# -- a server ---------------------------------------------------------------------------------------


class Server:
    """`wordtide serve` on a port of its own, over a model and a spool in a folder."""

    def __init__(self, folder, *arguments, model="m.tide", spool="s", before=()):
        self.model, self.spool = folder / model, folder / spool
        fresh = [] if self.model.exists() else ROOMY
        self.process = subprocess.Popen(
            [*map(str, before), BINARY, "serve", "--port", "0", "--checkpoint", str(self.model),
             "--continue", "--spool", str(self.spool), *fresh, *map(str, arguments)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.log, self.port = [], None
        self.said = threading.Thread(target=self.read_log, daemon=True)
        self.answers = threading.Event()
        self.said.start()
        assert self.answers.wait(SECONDS)

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line.decode())
            found = re.search(r"page is at http://[^/]*:(\d+)/", self.log[-1])
            if found:
                self.port = int(found[1])
                self.answers.set()
        self.answers.set()

    def ask(self, method, path, body=None, kind="text/plain"):
        connection = http.client.HTTPConnection("localhost", self.port, timeout=SECONDS)
        try:
            connection.request(method, path, body, {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def send(self, lines):
        """How many lines were taken."""
        status, answer = self.ask("POST", "/v1/ingest", lines)
        assert status in (200, 429), answer
        return answer["taken"]

    def send_all(self, lines):
        """Again and again, as a client does that is told to."""
        left = lines.splitlines(keepends=True)
        end = time.monotonic() + SECONDS
        while left:
            assert time.monotonic() < end, "".join(self.log)
            left = left[self.send(b"".join(left)):]

    def finish_with(self, word):
        """Sends one more word and stops when it is learned, and so all that came before."""
        self.send_all(f"{word}\n".encode())
        while self.ask("GET", f"/v1/words/{word}")[0] != 200:
            assert self.process.poll() is None, "".join(self.log)
            time.sleep(0.01)
        self.stop()

    def kill(self):
        self.process.kill()
        self.finish()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.finish() == 0, "".join(self.log)

    def finish(self):
        code = self.process.wait(SECONDS)
        self.said.join(SECONDS)
        self.process.stderr.close()
        return code


def too_late(number, frame):
    raise TimeoutError("a test took too long")


@pytest.fixture
def serve(tmp_path):
    """Starts servers; none outlives its test, and no test goes on for ever."""
    started = []

    def begin(*arguments, **options):
        started.append(Server(tmp_path, *arguments, **options))
        return started[-1]

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(2 * SECONDS + 10 * KILLS)
    yield begin
    signal.alarm(0)
    for server in started:
        if server.process.poll() is None:
            server.kill()


def wordtide(*arguments, **options):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, timeout=SECONDS,
                          check=True, **options).stdout


def counts(model):
    entries = wordtide("words", model, "-n", "100000", "--json").splitlines()
    return {entry["word"]: entry["count"] for entry in map(json.loads, entries)}


def text_in(spool):
    """Bytes on the disk beyond the headers; a segment may be removed meanwhile."""
    total = 0
    for path in spool.glob("*.spool"):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size - HEADER
    return total


# -- clients ----------------------------------------------------------------------------------------


class Client(threading.Thread):
    """Sends words that are nobody else's and notes what became of them."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number, self.next = number, 0
        self.dice = random.Random(number)
        self.server, self.ended = None, False
        self.taken, self.unknown, self.refused = set(), set(), set()

    def send_some(self, server):
        """A few lines, sometimes more than a piece of the spool holds."""
        first, self.next = self.next, self.next + self.dice.randint(1, 30)
        words = [f"c{self.number}n{number}" for number in range(first, self.next)]
        end = " ." * (5000 if self.dice.random() < 0.1 else 0) + "\n"
        try:
            taken = server.send("".join(word + end for word in words).encode())
        except (OSError, http.client.HTTPException):
            self.unknown.update(words)
            return
        self.taken.update(words[:taken])
        self.refused.update(words[taken:])

    def run(self):
        while not self.ended:
            server = self.server
            if server:
                self.send_some(server)
            else:
                time.sleep(0.001)


def check(model, clients):
    """No word is lost, doubled, or there without having been sent."""
    found = counts(model)
    print(f"{KILLS} kills, {sum(len(client.taken) for client in clients)} words acknowledged,",
          f"{sum(len(client.unknown) for client in clients)} without an answer,",
          f"{sum(len(client.taken - found.keys()) for client in clients)} lost,",
          f"{sum(count > 1 for count in found.values())} doubled")
    assert max(found.values()) == 1
    for client in clients:
        assert not client.taken - found.keys()
        assert not client.refused & found.keys()
    sent = set().union(*(client.taken | client.unknown for client in clients))
    assert found.keys() <= sent


@pytest.mark.parametrize("sync", ["1s", "always"])
def test_what_was_acknowledged_is_learned_once_whenever_the_server_is_killed(serve, sync):
    dice = random.Random(1)
    clients = [Client(number) for number in range(CLIENTS)]
    options = ["--every", "300", "--spool-limit", "1M", "--spool-sync", sync]
    for client in clients:
        client.start()
    for _ in range(KILLS):
        server = serve(*options)
        before = sum(len(client.taken) for client in clients)
        for client in clients:
            client.server = server
        goal = before + dice.randint(0, min(1500, 60000 // KILLS))
        while sum(len(client.taken) for client in clients) < goal:
            assert server.process.poll() is None, "".join(server.log)
            time.sleep(0.001)
        for client in clients:
            client.server = None
        server.kill()
    for client in clients:
        client.ended = True
        client.join(SECONDS)
    last = serve(*options)
    last.finish_with("lastword")
    clients[0].taken.add("lastword")
    check(last.model, clients)
    assert text_in(last.spool) == 0
    assert all(client.taken for client in clients)


def test_the_model_is_that_of_the_same_lines_in_one_run(serve, tmp_path):
    """One client, so that the order is known; what a kill left open is told by the counts."""
    client = Client(0)
    options = ["--every", "200", "--dim", "8"]
    for turn in range(6):
        server = serve(*(options if turn == 0 else options[:2]))
        while len(client.taken) < 300 * (turn + 1):
            client.send_some(server)
        threading.Timer(0.02, server.process.kill).start()
        while server.process.poll() is None:
            client.send_some(server)
        server.finish()
    last = serve()
    last.finish_with("lastword")
    found = counts(last.model)
    words = [f"c0n{number}" for number in range(client.next) if f"c0n{number}" in found]
    text = "".join(f"{word}\n" for word in [*words, "lastword"]).encode()
    settings = [*ROOMY[:-2], "--dim", "8"]
    wordtide("train", "-o", tmp_path / "one.tide", *settings, input=text)
    for question in (["words", "-n", "100000", "--json"], ["export", "--format", "word2vec"]):
        told = [wordtide(question[0], model, *question[1:]) for model in (last.model, tmp_path / "one.tide")]
        assert told[0] == told[1]


def test_after_a_stop_the_next_server_goes_on(serve):
    for turn in range(3):
        server = serve()
        server.send_all(b"".join(b"t%dn%d\n" % (turn, n) for n in range(1000)))
        server.stop()
    last = serve()
    last.finish_with("lastword")
    found = counts(last.model)
    assert len(found) == 3001 and max(found.values()) == 1


def test_a_file_that_is_followed_goes_on_beside_it(serve, tmp_path):
    log = tmp_path / "log"
    log.touch()
    for turn in range(4):
        server = serve("--every", "100", log)
        with log.open("a") as file:
            file.writelines(f"f{turn}n{number}\n" for number in range(500))
        server.send_all(b"".join(b"t%dn%d\n" % (turn, number) for number in range(500)))
        server.kill()
    last = serve("--every", "100", log)
    with log.open("a") as file:
        file.write("lastline\n")
    while last.ask("GET", "/v1/words/lastline")[0] != 200:
        time.sleep(0.01)
    last.finish_with("lastword")
    found = counts(last.model)
    assert len(found) == 4002 and max(found.values()) == 1


# -- full -------------------------------------------------------------------------------------------


def test_a_full_spool_refuses_and_asks_for_a_save(serve):
    server = serve("--spool-limit", "1M", "--every", "1e9")
    lines = [b"w%d %s\n" % (number, b"x" * 20 + b" y" * 400) for number in range(5000)]
    refused, left = 0, lines
    while left:
        taken = server.send(b"".join(left[:500]))
        refused += taken < len(left[:500])
        left = left[taken:]
        assert text_in(server.spool) <= 1 << 20
    assert refused
    server.finish_with("lastword")
    found = counts(server.model)
    assert all(found[f"w{number}"] == 1 for number in range(5000))


# -- the disk ---------------------------------------------------------------------------------------


def traces():
    return shutil.which("strace") and not SANITIZED and subprocess.run(
        ["strace", "-qq", "-e", "trace=getppid", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not traces(), reason="strace cannot trace here")
def test_text_is_on_the_disk_before_the_answer(serve, tmp_path):
    trace = tmp_path / "trace"
    server = serve("--spool-sync", "always", before=[
        "strace", "-D", "-f", "-q", "-y", "-o", trace, "-e",
        "trace=pwrite64,fsync,fdatasync,sendto,sendmsg,write,writev"])
    for number in range(20):
        server.send_all(b"unmistakable%d\n" % number)
    server.stop()
    while not re.search(rf"(?m)^{server.process.pid} +\+\+\+ exited", trace.read_text()):
        time.sleep(0.01)
    unsynced, syncing, answers = False, None, 0
    for line in trace.read_text().splitlines():
        thread = line.split()[0]
        if "pwrite64(" in line and "unmistakable" in line:
            unsynced = True
        elif re.search(r"sync\(.*\.spool", line) and "unfinished" in line:
            syncing = thread
        elif re.search(r"sync\(.*\.spool", line) or ("sync resumed" in line and thread == syncing):
            unsynced = False
        elif re.search(r'taken\\+":1', line):
            answers += 1
            assert not unsynced
    assert answers == 20


@pytest.mark.skipif(not traces(), reason="strace cannot trace here")
def test_a_disk_that_fails_ends_the_server_and_costs_nothing(serve):
    first = serve()
    first.finish_with("first")
    segment = max(first.spool.glob("*.spool"))
    failing = serve("--spool-sync", "always", before=[
        "strace", "-D", "-f", "-qq", "-o", "/dev/null", "-P", segment, "-e", "inject=fdatasync:error=EIO"])
    status = 429
    while status == 429:  # until it has begun to read
        status, answer = failing.ask("POST", "/v1/ingest", b"doubtful\n")
    assert status == 500 and "cannot sync" in answer["detail"]
    assert failing.finish() == 1
    last = serve()
    last.finish_with("last")
    found = counts(last.model)
    assert found["first"] == found["last"] == 1 and found.get("doubtful", 0) <= 1


def test_a_push_that_was_not_finished_is_cut_off(serve):
    """Two pieces of which the second has no mark, as a kill leaves them."""
    server = serve("--every", "1e9")
    server.send_all(b"first\n")
    server.send_all(b"z" * 50 + b" " + b"half " * 20000 + b"\n")
    server.kill()
    segment = max(server.spool.glob("*.spool"))
    os.truncate(segment, segment.stat().st_size - HEAD)
    again = serve("--every", "1e9")
    again.finish_with("after")
    assert any("not written whole are cut off" in line for line in again.log)
    assert counts(again.model) == {"first": 1, "after": 1}


# -- what is refused --------------------------------------------------------------------------------


def refusal(*arguments):
    done = subprocess.run([BINARY, "serve", "--port", "0", *map(str, arguments)], capture_output=True,
                          timeout=SECONDS)
    lines = [line for line in done.stderr.decode().splitlines() if "spool" in line]
    assert done.returncode in (1, 2) and len(lines) == 1, done.stderr
    return lines[0]


def test_a_spool_without_a_checkpoint_is_refused(tmp_path):
    assert "--spool needs --checkpoint" in refusal("--spool", tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_two_servers_do_not_share_a_spool(serve, tmp_path):
    server = serve()
    said = refusal("--checkpoint", tmp_path / "other.tide", "--spool", server.spool, *ROOMY)
    assert "another process" in said
    server.send_all(b"still here\n")
    server.stop()


def test_another_spool_is_refused(serve, tmp_path):
    server = serve()
    server.send_all(b"some words\n")
    server.stop()
    wrong = refusal("--checkpoint", server.model, "--continue", "--spool", tmp_path / "t")
    assert "nothing of the stream" in wrong
    none = refusal("--checkpoint", server.model, "--continue")
    assert "--spool" in none
    again = serve()
    again.finish_with("more")
    assert counts(again.model) == {"some": 1, "words": 1, "more": 1}
