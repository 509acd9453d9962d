#!/usr/bin/python3
"""What queries over HTTP cost training, and their latency meanwhile.

    bench/serve.py [--rate 500] [--seconds 8] [--rounds 3] [--vocab 100000] [--dim 100]
    taskset -c 0,1 bench/serve.py --command PATH --load PATH    # with load.c built elsewhere

A server trains on an endless stream of invented words (with Zipf's frequencies, and more of
them than it holds) while queries for the ten neighbors of random words arrive at a constant
rate (load.c). Intervals with and without queries alternate, so that other load on the machine
affects both. This is repeated next to 1,000 clients that send one byte per second, and right
after 10,000 connections. Prints two tables.

The first shows what users see: words trained per second, and latencies, counted from the
moment a query was due. Other load on the machine affects them. The second shows the cost:
words trained per CPU second of the training threads, and CPU time per query, in the threads
that search and that speak HTTP, and in the client. Other load affects these only through
shared caches and memory.
"""
import json
import os
import random
import re
import resource
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import namedtuple
from pathlib import Path
from statistics import median

from lab import Failed, say
from lab.command_line import arguments, number, run_main
from lab.tables import print_table

HERE = Path(__file__).resolve().parent
SLOW, MANY = 1000, 10_000
PATIENCE = 60  # seconds

Mark = namedtuple("Mark", "words time cpu")
Speed = namedtuple("Speed", "per_second per_cpu_second")
Load = namedtuple("Load", "answered failed p50 p99 most client_cpu server_cpu")  # ms; seconds
Load.count = property(lambda load: load.answered + load.failed)


def write_text(path, words):
    """Millions of words with Zipf's frequencies."""
    draw = random.Random(1)
    ranks = range(1, words + 1)
    total, sums = 0.0, []
    for rank in ranks:
        total += 1 / rank
        sums.append(total)
    with open(path, "w") as out:
        for _ in range(20):
            some = draw.choices(ranks, cum_weights=sums, k=100_000)
            for at in range(0, len(some), 20):
                out.write(" ".join(f"w{rank}" for rank in some[at:at + 20]) + "\n")
        for at in range(1, words + 1, 20):  # each at least once
            out.write(" ".join(f"w{rank}" for rank in range(at, min(at + 20, words + 1))) + "\n")


class Server:
    def __init__(self, args, text):
        self.stream = subprocess.Popen(["sh", "-c", 'while cat "$0"; do :; done', text], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [args.command, "serve", "-", "--port", "0", "--vocab", str(args.vocab), "--dim", str(args.dim),
             "--threads", str(args.threads), "--admission", "none"], stdin=self.stream.stdout, stderr=subprocess.PIPE)
        self.stream.stdout.close()
        self.port = self.read_port()
        self.name = Path(f"/proc/{self.process.pid}/comm").read_text()  # of threads without a name of their own
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def read_port(self):
        log = b""
        for line in self.process.stderr:
            log += line
            if found := re.search(rb"http://\S*:(\d+)/", line):
                return int(found[1])
        self.stream.kill()
        raise Failed(f"the server did not start: {log.decode()}")

    def stats(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/stats", timeout=PATIENCE) as answer:
            return json.load(answer)

    def mark(self):
        """Words trained, the time, and CPU time of the training threads, just after the first has changed."""
        before = now = self.stats()["tokens"]
        end = time.monotonic() + PATIENCE
        while now == before:
            if time.monotonic() > end:
                raise Failed(f"nothing was trained for {PATIENCE} seconds")
            time.sleep(0.02)
            now = self.stats()["tokens"]
        return Mark(now, time.monotonic(), self.cpu(lambda name: name == self.name))

    def cpu_of_queries(self):
        """CPU time of the threads that search and that speak HTTP."""
        return self.cpu(lambda name: name.startswith(("search", "MHD")))

    def cpu(self, counts):
        seconds = 0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            if counts((task / "comm").read_text()):
                fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
                seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return seconds

    def end(self):
        for process in (self.process, self.stream):
            process.terminate()
            process.wait(PATIENCE)


class Slow:
    """Clients that send one byte per second and reconnect when they are disconnected."""

    def __init__(self, port, count):
        self.port, self.running = port, True
        self.sockets = [self.connect() for _ in range(count)]
        self.thread = threading.Thread(target=self.trickle)
        self.thread.start()

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ")
        return connection

    def trickle(self):
        while self.running:
            for i, connection in enumerate(self.sockets):
                try:
                    connection.sendall(b"x")
                except OSError:
                    connection.close()
                    self.sockets[i] = self.connect()
            time.sleep(1)

    def end(self):
        self.running = False
        self.thread.join()
        for connection in self.sockets:
            connection.close()


def flood(port, count):
    """Many connections at once, then none."""
    many = []
    for _ in range(count):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", port))
        many.append(connection)
    for connection in many:
        connection.close()


class Bench:
    def __init__(self, args, server, load):
        self.args, self.server, self.load = args, server, load
        self.paths = "".join(f"/v1/words/w{rank}/neighbors\n" for rank in
                             random.Random(2).sample(range(1, args.vocab // 10), args.vocab // 20)).encode()

    def train(self):
        """The speed of training for an interval."""
        first = self.server.mark()
        time.sleep(self.args.seconds)
        last = self.server.mark()
        words = last.words - first.words
        return Speed(words / (last.time - first.time), words / (last.cpu - first.cpu))

    def query(self):
        """The same while queries arrive, from before the interval until after it; and their result."""
        before = self.server.cpu_of_queries()
        load = subprocess.Popen([self.load, str(self.server.port), str(self.args.rate), str(self.args.seconds + 3)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        load.stdin.write(self.paths)
        load.stdin.close()
        time.sleep(0.5)
        speed = self.train()
        printed = load.stdout.read().split()
        if load.wait():
            raise Failed("the load failed")
        used = self.server.cpu_of_queries() - before
        return speed, Load(*map(float, printed), used)

    def compare(self):
        return [(self.train(), *self.query()) for _ in range(self.args.rounds)]


def row_seen(name, rounds):
    return [name, f"{median(alone.per_second for alone, _, _ in rounds) / 1e3:.0f}",
            f"{median(loaded.per_second for _, loaded, _ in rounds) / 1e3:.0f}",
            f"{100 * median(loaded.per_second / alone.per_second for alone, loaded, _ in rounds):.0f} %",
            f"{median(load.p50 for *_, load in rounds):.1f}",
            f"{median(load.p99 for *_, load in rounds):.1f}",
            f"{max(load.most for *_, load in rounds):.0f}",
            f"{sum(load.answered for *_, load in rounds):.0f}",
            f"{sum(load.failed for *_, load in rounds):.0f}"]


def row_cost(name, rounds):
    return [name, f"{median(alone.per_cpu_second for alone, _, _ in rounds) / 1e3:.0f}",
            f"{median(loaded.per_cpu_second for _, loaded, _ in rounds) / 1e3:.0f}",
            f"{100 * median(loaded.per_cpu_second / alone.per_cpu_second for alone, loaded, _ in rounds):.0f} %",
            f"{median(1e3 * load.server_cpu / load.count for *_, load in rounds):.3f}",
            f"{median(1e3 * load.client_cpu / load.count for *_, load in rounds):.3f}"]


def print_tables(measured):
    print_table(["clients", "words/ms alone", "with queries", "ratio", "p50 ms", "p99 ms",
                 "max ms", "answered", "failed"],
                [row_seen(name, rounds) for name, rounds in measured])
    print_table(["clients", "words/CPU-ms alone", "with queries", "ratio", "CPU ms/query",
                 "in the client"], [row_cost(name, rounds) for name, rounds in measured])


def measure(args, server, load, most_files):
    bench = Bench(args, server, load)
    while server.stats()["vocabulary"]["size"] < args.vocab:
        time.sleep(0.5)
    name = f"{args.rate:.0f} queries per second"
    yield name, bench.compare()
    slow = Slow(server.port, SLOW)
    yield f"the same next to {SLOW} slow clients", bench.compare()
    slow.end()
    many = MANY if most_files == resource.RLIM_INFINITY else min(MANY, most_files - 200)
    flood(server.port, many)
    yield f"the same after {many} connections", bench.compare()


def main():
    parser = arguments(__doc__)
    parser.add_argument("--load", metavar="PATH", help="load.c as a program (built here)")
    parser.add_argument("--rate", type=float, default=500, help="queries per second (500)")
    parser.add_argument("--seconds", type=float, default=8, help="length of an interval (8)")
    parser.add_argument("--rounds", type=number, default=3)
    parser.add_argument("--threads", type=number, default=1, help="training threads (1)")
    parser.add_argument("--vocab", type=number, default=100_000)
    parser.add_argument("--dim", type=number, default=100)
    args = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    print(f"cores: {len(os.sched_getaffinity(0))}, load before: {os.getloadavg()[0]:.1f}\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="wordtide-bench-") as scratch:
        load, text = os.path.abspath(args.load or f"{scratch}/load"), f"{scratch}/text"
        if not args.load:
            subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", HERE / "load.c", "-o", load], check=True)
        write_text(text, args.vocab * 3 // 2)
        server = Server(args, text)
        try:
            measured = []
            for name, rounds in measure(args, server, load, most):
                measured.append((name, rounds))
                say(f"measured: {name}")
            print_tables(measured)
        finally:
            server.end()


if __name__ == "__main__":
    run_main("serve", main)
