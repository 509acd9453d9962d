#!/usr/bin/python3
"""What a word costs as the vocabulary and the stream grow: it should stay the same.

    bench/growth.py [TEXT] [--long] [--profile NAME] [--dim D] [--rounds N]

Prints three tables: CPU nanoseconds per word with 7,000, 70,000 and 700,000 slots on one
text (without TEXT the demo stream, which has too few different words to fill them); the
same for ingest alone, that is tokenizer, vocabulary and subsampling; and training on 10^6,
10^7, 10^8 and (--long) 10^9 words of the demo stream. "start" is what the same training
costs on ten words: allocating, and saving the model. It is subtracted before a time is
divided by the words, and so is making the demo stream, which happens in the process that
trains on it. These are user times. System time has a column of its own: nearly all of it is
the supply of fresh pages at the start, which may take a virtual machine two seconds or none.
"""
import json
import os
import subprocess
import tempfile

from lab import say
from lab.command_line import arguments, number, run_main
from lab.running import measure, train
from lab.tables import median, print_table, spread
from texts import prepare_text, text_arguments

SLOTS = (7_000, 70_000, 700_000)
LENGTHS = (10**6, 10**7, 10**8)
LONG = 10**9
STEADY = 10**8  # longer runs are not repeated
MADE = 10**7  # words, to measure what making them costs


def settings(options):
    return ["--quiet", "--threads", "1", "--profile", options.profile,
            "--dim", str(options.dim)]


def usage_of(options, source, folder, *flags):
    """The usage of a training, and the size of its model file."""
    model = os.path.join(folder, "model.tide")
    usage = measure(train(options.command, source, model, *settings(options), *flags))
    return usage, os.path.getsize(model)


def start_of(options, folder, *flags):
    """User seconds."""
    return min(usage_of(options, "demo:tokens=10", folder, *flags)[0].user
               for _ in range(3))


def by_slots(options, folder, text, words):
    """On one text, in interleaved rounds."""
    starts = {k: start_of(options, folder, "--vocab", str(k)) for k in SLOTS}
    costs, system = {k: [] for k in SLOTS}, {k: [] for k in SLOTS}
    sizes = {}
    for turn in range(options.rounds):
        for slots in SLOTS:
            used, sizes[slots] = usage_of(options, text, folder, "--vocab", str(slots))
            costs[slots].append((used.user - starts[slots]) / words * 1e9)
            system[slots].append(used.system)
            say(f"round {turn + 1}: {slots} slots: {costs[slots][-1]:.0f} ns per word")
    print_table(["slots", "CPU ns per word", "× 7,000", "start, s", "system, s",
                 "model file, MB"],
                [[f"{k:,}", spread(costs[k], "%.0f"),
                  "%.2f" % (median(costs[k]) / median(costs[SLOTS[0]])),
                  "%.2f" % starts[k], spread(system[k], "%.2f"),
                  "%.0f" % (sizes[k] / 1e6)]
                 for k in SLOTS])


def by_length(options, folder):
    made = measure([options.command, "demo", "--tokens", str(MADE)])
    making = made.user / MADE * 1e9
    start = start_of(options, folder)
    rows, first = [], None
    for words in LENGTHS + ((LONG,) if options.long else ()):
        costs, system = [], []
        for _ in range(options.rounds if words < STEADY else 1):
            used, _ = usage_of(options, f"demo:tokens={words}", folder)
            costs.append((used.user - start) / words * 1e9 - making)
            system.append(used.system)
            say(f"{words} words: {costs[-1]:.0f} ns per word")
        first = first or median(costs)
        rows.append([f"{words:,}", spread(costs, "%.0f"),
                     "%.2f" % (median(costs) / first), spread(system, "%.2f")])
    print(f"demo stream; {making:.0f} ns per word for making it are subtracted\n")
    print_table(["words", "CPU ns per word", "× 10^6", "system, s"], rows)


def ingest(options, text):
    """The command measures this itself, in its own process."""
    rows = []
    for slots in SLOTS:
        times = []
        for _ in range(options.rounds):
            printed = subprocess.run(
                [options.command, "bench", "--json", "--vocab", str(slots), "ingest",
                 text], stdout=subprocess.PIPE, text=True, check=True)
            times.append(json.loads(printed.stdout)["nanoseconds"])
        rows.append([f"{slots:,}", spread(times, "%.1f"),
                     "%.1f" % (1e3 / median(times))])
    print_table(["ingest alone: slots", "CPU ns per word", "million words/CPU-s"], rows)


def main():
    parser = arguments(__doc__)
    text_arguments(parser)
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--dim", type=number, default=100)
    parser.add_argument("--rounds", type=number, default=3)
    parser.add_argument("--long", action="store_true", help="also a billion words")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text, name, words = prepare_text(options, folder)
        print(f"{name}: {words:,} words; profile {options.profile}, dim {options.dim},"
              f" one thread, {options.rounds} rounds\n", flush=True)
        by_slots(options, folder, text, words)
        ingest(options, text)
        by_length(options, folder)


if __name__ == "__main__":
    run_main("growth", main)
