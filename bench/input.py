#!/usr/bin/python3
"""What compressed and structured input costs, compared with plain text.

    bench/input.py [TEXT] [--prefix BYTES] [--rounds N]

The same lines of twenty words, about the length of a post, as plain text; compressed with
gzip, zstd and xz; as JSON objects with a dozen other fields; as quoted CSV; and as TSV. Each
is trained on with profile fast, the one that hides the cost of reading least. "CPU" is the
median of the ratios to plain text within a round, "reading" the difference to plain text in
percent of the run.

The second table is about parsing records alone (`wordtide bench records`).
"""
import csv
import gzip
import json
import lzma
import subprocess
import tempfile
from pathlib import Path

from lab import say
from lab.command_line import arguments, number, run_main
from lab.running import measure, train
from lab.tables import median, print_table, spread
from texts import prepare_text, sentences, text_arguments

POST = 20  # words


def posts(path):
    for words in sentences(path):
        for start in range(0, len(words), POST):
            yield b" ".join(words[start:start + POST]).decode()


def post_object(number, text):
    """A record about as large as those of social networks."""
    return {
        "id": 1_000_000_000_000 + number,
        "created_at": "2026-01-02T03:04:05.000Z",
        "user": {"id": number % 10_000, "name": f"user {number % 10_000}",
                 "followers": number % 777, "verified": False,
                 "description": "writes about \"everything\", mostly \u00e9tudes"},
        "text": text,
        "entities": {"hashtags": [], "urls": [{"url": "https://example.org/a/b"}]},
        "lang": "en", "retweets": number % 13, "likes": number % 97, "source": None,
    }


def write_inputs(text, folder):
    """[(name, path, options of train)]"""
    plain, packed = folder / "plain", folder
    with open(plain, "w") as lines, open(folder / "jsonl", "w") as objects, \
            open(folder / "csv", "w", newline="") as table, \
            open(folder / "tsv", "w") as tabs:
        rows = csv.writer(table, quoting=csv.QUOTE_ALL)
        rows.writerow(["id", "time", "text", "lang"])
        for index, post in enumerate(posts(text)):
            lines.write(post + "\n")
            objects.write(json.dumps(post_object(index, post)) + "\n")
            rows.writerow([index, "2026-01-02", post, "en"])
            tabs.write(f"{index}\t2026-01-02\t{post}\n")
    content = plain.read_bytes()
    (packed / "gz").write_bytes(gzip.compress(content, 6))
    (packed / "xz").write_bytes(lzma.compress(content, preset=6))
    subprocess.run(["zstd", "-q", "-f", str(plain), "-o", str(packed / "zst")], check=True)
    subprocess.run(["zstd", "-q", "-f", str(folder / "jsonl"), "-o",
                    str(folder / "jsonl.zst")], check=True)
    fields = ["--records", "json", "--text", "text"]
    return [
        ("plain text", plain, []), ("gzip", packed / "gz", []),
        ("zstd", packed / "zst", []), ("xz", packed / "xz", []),
        ("JSON lines", folder / "jsonl", fields),
        ("JSON lines, zstd", folder / "jsonl.zst", fields),
        ("CSV, quoted", folder / "csv", ["--records", "csv", "--text", "text"]),
        ("TSV", folder / "tsv", ["--records", "tsv", "--text", "3"]),
    ]


def print_records(command, inputs):
    rows = []
    for label, path, fields in inputs:
        if fields and not path.name.endswith("zst"):
            done = subprocess.run([command, "bench", "records", "--json", *fields, path],
                                  stdout=subprocess.PIPE, check=True)
            rows.append([label, f"{json.loads(done.stdout)['bytes_per_second'] / 1e6:.0f}"])
    print_table(["parsing alone", "MB/CPU-s"], rows)


def main():
    parser = arguments(__doc__)
    text_arguments(parser)
    parser.add_argument("--rounds", type=number, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, title, words = prepare_text(options, folder)
        inputs = write_inputs(text, folder)
        seconds = {label: [] for label, _, _ in inputs}
        for turn in range(options.rounds):
            for label, path, fields in inputs:
                say(f"round {turn + 1}: {label}")
                used = measure(train(options.command, path, folder / "model.tide",
                                     "--profile", "fast", "--quiet", *fields))
                seconds[label].append(used.cpu)
        print(f"{title}, {words:,} words in posts of {POST}, profile fast, one thread:\n")
        rows = []
        for label, path, _ in inputs:
            ratios = [a / b for a, b in zip(seconds[label], seconds["plain text"])]
            share = max(0.0, 100 * (1 - 1 / median(ratios)))
            size = path.stat().st_size / 1e6
            rows.append([label, f"{size:.1f}", f"{size / median(seconds[label]):.0f}",
                         spread(ratios, "%.2f"), f"{share:.0f} %"])
        print_table(["input", "MB", "MB/CPU-s", "CPU, plain = 1", "reading"], rows)
        print_records(options.command, inputs)


if __name__ == "__main__":
    run_main("input", main)
