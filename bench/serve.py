#!/usr/bin/env python3
"""serve.py - what questions over HTTP cost learning, and how long they take, while it goes on.

    bench/serve.py [--command wordtide] [--rate 500] [--seconds 8] [--rounds 3] [--vocab 100000] [--dim 100]
    taskset -c 0,1 bench/serve.py --command PATH --load PATH    # where there is no compiler: load.c, built elsewhere

A server learns an endless stream of invented words (Zipf, more of them than it holds) while a load of questions for
the ten neighbors of random words comes evenly at the rate (load.c). The time is cut into turns with and without
the load, so that whatever else the machine does falls on both. The same is asked with 1,000 clients that send
a byte a second, and right after 10,000 connections. Ends with tables in Markdown.

The first says what people see: words learned a second, and latencies, which count from the moment a question was due. What
others do on the machine is in these. The second says what it costs: words learned in a second of processor time of the threads that
learn, and processor time of a question, in the threads that search and that speak HTTP, and in
the client. What others do is not in these, but for the caches and the memory that all share.
"""
import argparse
import json
import os
import random
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMAND = HERE.parent / "build" / "cli" / "wordtide"
SLOW, MANY = 1000, 10_000
PATIENCE = 60  # seconds

Mark = namedtuple("Mark", "words time cpu")
Speed = namedtuple("Speed", "a_second a_cpu_second")
Told = namedtuple("Told", "answered failed p50 p99 most client_cpu server_cpu")  # ms; seconds
Told.count = property(lambda told: told.answered + told.failed)


def write_text(path, words):
    """Some millions of words whose frequencies fall as those of a language do."""
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
        self.name = Path(f"/proc/{self.process.pid}/comm").read_text()  # that of threads without one of their own
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def read_port(self):
        said = b""
        for line in self.process.stderr:
            said += line
            if found := re.search(rb"http://\S*:(\d+)/", line):
                return int(found[1])
        self.stream.kill()
        sys.exit(f"the server did not start: {said.decode()}")

    def stats(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/stats", timeout=PATIENCE) as answer:
            return json.load(answer)

    def mark(self):
        """Words learned, the time, and processor time of the threads that learn, at a moment when the first is new."""
        before = now = self.stats()["tokens"]
        end = time.monotonic() + PATIENCE
        while now == before:
            if time.monotonic() > end:
                sys.exit(f"nothing was learned for {PATIENCE} seconds")
            time.sleep(0.02)
            now = self.stats()["tokens"]
        return Mark(now, time.monotonic(), self.cpu(lambda name: name == self.name))

    def cpu_of_questions(self):
        """Processor time of the threads that search and that speak HTTP."""
        return self.cpu(lambda name: name.startswith(("desk", "MHD")))

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
    """Clients that send one byte a second and come again when they are thrown out."""

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
    """So many connections at once, then none."""
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

    def learn(self):
        """The speed of learning for a turn."""
        first = self.server.mark()
        time.sleep(self.args.seconds)
        last = self.server.mark()
        words = last.words - first.words
        return Speed(words / (last.time - first.time), words / (last.cpu - first.cpu))

    def ask(self):
        """The same while questions come, which begin before the turn and end after it; and what became of them."""
        before = self.server.cpu_of_questions()
        load = subprocess.Popen([self.load, str(self.server.port), str(self.args.rate), str(self.args.seconds + 3)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        load.stdin.write(self.paths)
        load.stdin.close()
        time.sleep(0.5)
        speed = self.learn()
        told = load.stdout.read().split()
        if load.wait():
            sys.exit("the load could not be made")
        used = self.server.cpu_of_questions() - before
        return speed, Told(*map(float, told), used)

    def compare(self):
        return [(self.learn(), *self.ask()) for _ in range(self.args.rounds)]


def median(values):
    return statistics.median(values)


def row_seen(name, rounds):
    return (f"| {name} | {median(alone.a_second for alone, _, _ in rounds) / 1e3:.0f} | "
            f"{median(asked.a_second for _, asked, _ in rounds) / 1e3:.0f} | "
            f"{100 * median(asked.a_second / alone.a_second for alone, asked, _ in rounds):.0f} % | "
            f"{median(told.p50 for *_, told in rounds):.1f} | {median(told.p99 for *_, told in rounds):.1f} | "
            f"{max(told.most for *_, told in rounds):.0f} | {sum(told.answered for *_, told in rounds):.0f} | "
            f"{sum(told.failed for *_, told in rounds):.0f} |")


def row_paid(name, rounds):
    return (f"| {name} | {median(alone.a_cpu_second for alone, _, _ in rounds) / 1e3:.0f} | "
            f"{median(asked.a_cpu_second for _, asked, _ in rounds) / 1e3:.0f} | "
            f"{100 * median(asked.a_cpu_second / alone.a_cpu_second for alone, asked, _ in rounds):.0f} % | "
            f"{median(1e3 * told.server_cpu / told.count for *_, told in rounds):.3f} | "
            f"{median(1e3 * told.client_cpu / told.count for *_, told in rounds):.3f} |")


def print_tables(measured):
    print("| clients | words/ms alone | asked | of it | p50 ms | p99 ms | most ms | answered | failed |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, rounds in measured:
        print(row_seen(name, rounds))
    print("\n| clients | words/CPU-ms alone | asked | of it | CPU ms a question | in the client |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, rounds in measured:
        print(row_paid(name, rounds))


def measure(args, server, load, most_files):
    bench = Bench(args, server, load)
    while server.stats()["vocabulary"]["size"] < args.vocab:
        time.sleep(0.5)
    name = f"{args.rate:.0f} questions a second"
    yield name, bench.compare()
    slow = Slow(server.port, SLOW)
    yield f"the same beside {SLOW} slow ones", bench.compare()
    slow.end()
    many = MANY if most_files == resource.RLIM_INFINITY else min(MANY, most_files - 200)
    flood(server.port, many)
    yield f"the same after {many} connections", bench.compare()


def main():
    parser = argparse.ArgumentParser(description="Questions while learning: their latency and their price.")
    parser.add_argument("--command", default=str(COMMAND))
    parser.add_argument("--load", help="the program that load.c is; built here unless told")
    parser.add_argument("--rate", type=float, default=500, help="questions a second")
    parser.add_argument("--seconds", type=float, default=8, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="that learn")
    parser.add_argument("--vocab", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=100)
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
                print(f"measured: {name}", file=sys.stderr)
            print_tables(measured)
        finally:
            server.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
