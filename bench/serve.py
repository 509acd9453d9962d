#!/usr/bin/env python3
"""serve.py - what questions over HTTP cost learning, and how long they take, while it goes on.

    bench/serve.py [--command wordtide] [--rate 500] [--seconds 8] [--rounds 3] [--vocab 100000] [--dim 100]

A server learns an endless stream of invented words (Zipf, more of them than it holds) while a load of questions for
the ten neighbours of random words comes evenly at the rate (load.c). The time is cut into turns with and without
the load, so that whatever else the machine does falls on both. The same is asked with 1,000 clients that send
a byte a second, and right after 10,000 connections. Ends with a table in Markdown.
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMAND = HERE.parent / "build" / "cli" / "wordtide"
SLOW, MANY = 1000, 10_000


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
             "--threads", "1", "--admission", "none"], stdin=self.stream.stdout, stderr=subprocess.PIPE)
        self.stream.stdout.close()
        for line in self.process.stderr:
            found = re.search(rb"http://\S*:(\d+)/", line)
            if found:
                break
        self.port = int(found[1])
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return json.load(answer)

    def figures(self):
        """Words learned, at a time of the server's own clock."""
        stats = self.get("/v1/stats")
        return stats["tokens"], stats["now"], stats["vocabulary"]["size"]

    def desk_seconds(self):
        """Processor time of the thread that searches."""
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text() == "desk\n":
                fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
                return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        for process in (self.process, self.stream):
            process.terminate()
            process.wait(60)


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
                             random.Random(2).sample(range(1, args.vocab // 10), 5000)).encode()

    def speed(self, during):
        """Words learned a second while something goes on, which is returned too."""
        time.sleep(1)  # the figures are a second old at most
        before = self.server.figures()
        result = during()
        time.sleep(1)
        after = self.server.figures()
        return (after[0] - before[0]) / (after[1] - before[1]), result

    def ask(self):
        before = self.server.desk_seconds()
        done = subprocess.run([self.load, str(self.server.port), str(self.args.rate), str(self.args.seconds)],
                              input=self.paths, stdout=subprocess.PIPE, check=True)
        seconds = self.server.desk_seconds() - before
        told = [float(word) for word in done.stdout.split()]
        return [*told, 1e3 * seconds / told[0]]

    def compare(self):
        """Speeds without and with the load, and latencies, of every round."""
        rounds = []
        for _ in range(self.args.rounds):
            alone = self.speed(lambda: time.sleep(self.args.seconds))[0]
            asked, told = self.speed(self.ask)
            rounds.append((alone, asked, told))
        return rounds


def row(name, rounds):
    def median(take):
        return statistics.median(map(take, rounds))

    answered, failed = (sum(told[i] for _, _, told in rounds) for i in (0, 1))
    return (f"| {name} | {median(lambda r: r[0]) / 1e3:.0f} | {median(lambda r: r[1]) / 1e3:.0f} | "
            f"{100 * median(lambda r: r[1] / r[0]):.0f} % | {median(lambda r: r[2][2]):.1f} | "
            f"{median(lambda r: r[2][3]):.1f} | {max(r[2][4] for r in rounds):.0f} | "
            f"{median(lambda r: r[2][5]):.2f} | {answered:.0f} | {failed:.0f} |")


def main():
    parser = argparse.ArgumentParser(description="Questions while learning: their latency and their price.")
    parser.add_argument("--command", default=str(COMMAND))
    parser.add_argument("--rate", type=float, default=500, help="questions a second")
    parser.add_argument("--seconds", type=float, default=8, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vocab", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=100)
    args = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    print(f"cores: {os.cpu_count()}, load before: {os.getloadavg()[0]:.1f}\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="wordtide-bench-") as scratch:
        load, text = f"{scratch}/load", f"{scratch}/text"
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", HERE / "load.c", "-o", load], check=True)
        write_text(text, args.vocab * 3 // 2)
        server = Server(args, text)
        try:
            bench = Bench(args, server, load)
            while server.figures()[2] < args.vocab:
                time.sleep(0.5)
            print("| clients | words/ms alone | words/ms asked | of it | p50 ms | p99 ms | most ms | CPU ms a question | answered | failed |")
            print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
            print(row(f"{args.rate:.0f} questions a second", bench.compare()), flush=True)
            slow = Slow(server.port, SLOW)
            print(row(f"the same beside {SLOW} slow ones", bench.compare()), flush=True)
            slow.end()
            flood(server.port, min(MANY, most - 200))
            print(row(f"the same after {MANY} connections", bench.compare()), flush=True)
        finally:
            server.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
