#!/usr/bin/python3
"""What compressed and structured input costs, beside plain text.

    bench/input.py [TEXT] [--prefix BYTES] [--rounds N]

The same lines, of some twenty words as posts have them, as plain text, packed with gzip,
zstd and xz, as JSON objects with a dozen other fields, as CSV with quotes and as TSV;
each learned from with profile fast, the one that leaves the least time for anything
else. "CPU" is the median of the ratios to plain text within a round. "Reading" is what
of a core the way in takes, from the file to the words: the difference to plain text, in
per cent of the run.

The second table is of finding the texts alone (`wordtide bench records`).
"""
import csv
import gzip
import json
import lzma
import subprocess
import tempfile
from pathlib import Path

from common import arguments, measure, median, prepare_text, print_table, say, sentences
from common import spread, text_arguments, train

POST = 20  # words


def posts(path):
    for words in sentences(path):
        for start in range(0, len(words), POST):
            yield b" ".join(words[start:start + POST]).decode()


def post_object(number, text):
    """A record of the size that the interfaces of social networks give."""
    return {
        "id": 1_000_000_000_000 + number,
        "created_at": "2026-01-02T03:04:05.000Z",
        "user": {"id": number % 10_000, "name": f"somebody {number % 10_000}",
                 "followers": number % 777, "verified": False,
                 "description": "writes about \"everything\", mostly \u00e9tudes"},
        "text": text,
        "entities": {"hashtags": [], "urls": [{"url": "https://example.org/a/b"}]},
        "lang": "en", "retweets": number % 13, "likes": number % 97, "source": None,
    }


def write_inputs(text, folder):
    """Name, path and options of every input."""
    plain, packed = folder / "plain", folder
    with open(plain, "w") as lines, open(folder / "jsonl", "w") as objects, \
            open(folder / "csv", "w", newline="") as table, \
            open(folder / "tsv", "w") as tabs:
        rows = csv.writer(table, quoting=csv.QUOTE_ALL)
        rows.writerow(["id", "time", "text", "lang"])
        for number, post in enumerate(posts(text)):
            lines.write(post + "\n")
            objects.write(json.dumps(post_object(number, post)) + "\n")
            rows.writerow([number, "2026-01-02", post, "en"])
            tabs.write(f"{number}\t2026-01-02\t{post}\n")
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
    print_table(["finding the text alone", "MB a CPU-second"], rows)


def main():
    parser = arguments(__doc__)
    text_arguments(parser)
    parser.add_argument("--rounds", type=int, default=5)
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
        print_table(["input", "MB", "MB a CPU-second", "CPU, plain = 1", "reading"], rows)
        print_records(options.command, inputs)


if __name__ == "__main__":
    main()
