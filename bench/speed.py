#!/usr/bin/python3
"""Words per CPU second beside other trainers, and the gain from more threads.

    bench/speed.py [TEXT] [--prefix BYTES] [--rounds N] [--threads 1,2,4] [--profiles LIST]
                   [--word2vec PATH] [--rival 'NAME=COMMAND']...

All programs read the same file: TEXT, or its first BYTES, in lines of at most 1,000 words, or
the demo stream if there is no TEXT. The others read it once after counting its words;
systems.py has their settings. Rounds are interleaved (A B C A B C ...), so that a noisy
neighbor slows all of them. Figures are medians with the range in parentheses, and ratios are
those within a round.

The first table has the user time of the whole process, from its start to the saved model;
"start" is the part that does not depend on the text, the smallest of three measurements on
100 kB. The second has the ratios of the times. The third compares N threads with N separate
runs of one thread at the same time, which is the limit of the machine, by the command's own
clock, which runs from the first byte read to the saved model.

Only wordtide itself and Python's standard library are required. A program that is not
installed and a profile that wordtide does not know are reported and skipped.
"""
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab import Failed, say
from lab.command_line import arguments, names, number, numbers, program, run_main
from lab.running import measure
from lab.tables import MISSING, median, print_table, spread
from systems import (BATCH, ONE_THREAD, WORDTIDE, fill_in, find_rivals, our_systems,
                     rival_arguments)
from texts import prepare_text, text_arguments, write_lines

SHORT = 100_000  # bytes
TICK = 0.01  # seconds: less may be measured as nothing
PROFILES = ["default", "fast", BATCH]


class Bench:
    def __init__(self, options, folder):
        self.folder, self.rounds = folder, options.rounds
        self.text, self.name, self.words = prepare_text(options, folder)
        self.short = os.path.join(folder, "short")
        write_lines(self.text, self.short, SHORT)

    def run(self, system, text, *options, copy=0):
        out = os.path.join(self.folder, f"model{copy}.tide")
        line = fill_in(system.command, program=system.program, text=text, repeated=text,
                       out=out, seed=1, words=os.devnull)
        return measure([*line, *options], env=ONE_THREAD, name=system.label)

    def remove_outputs(self):
        for path in Path(self.folder).glob("model*"):
            path.unlink()


# -- beside other trainers -------------------------------------------------------------


def start_costs(bench, systems):
    """{system: CPU seconds on a short text}, without programs that fail even there."""
    costs = {}
    for system in systems:
        try:
            costs[system.label] = min(bench.run(system, bench.short).user for _ in range(3))
        except Failed as failure:
            if system.family == WORDTIDE:
                raise
            say(f"skipped: {failure}")
        bench.remove_outputs()
    return costs


def compare(bench, ours, rivals):
    costs = start_costs(bench, [*ours, *rivals])
    systems = [system for system in [*ours, *rivals] if system.label in costs]
    user = {label: [] for label in costs}
    for turn in range(bench.rounds):
        for system in systems:
            user[system.label].append(max(TICK, bench.run(system, bench.text).user))
            say(f"round {turn + 1}: {system.label}: {user[system.label][-1]:.2f} s")
            bench.remove_outputs()
    print_table(["one thread", "CPU s", "start, s", "words/s"],
                [[label, spread(times, "%.2f"), f"{costs[label]:.2f}",
                  f"{bench.words / median(times):,.0f}"] for label, times in user.items()])
    others = [system.label for system in systems if system.family != WORDTIDE]
    if others:
        print_table(["times as fast as", *others],
                    [[system.label, *(spread(ratios(user[other], user[system.label]), "%.1f")
                                      for other in others)] for system in ours])


def ratios(some, others):
    """Round by round."""
    return [a / b for a, b in zip(some, others)]


# -- threads ---------------------------------------------------------------------------


def seconds_of(usage):
    return float(re.search(r"seconds=([0-9.]+)", usage.log).group(1))


def scaling(bench, system, threads):
    """Rows of a system for each number of threads."""
    def speed(count, copy=0):
        used = bench.run(system, bench.text, "--threads", str(count), copy=copy)
        return bench.words / seconds_of(used)

    def speed_apart(count):
        with ThreadPoolExecutor(count) as pool:
            return sum(pool.map(lambda copy: speed(1, copy), range(count)))

    together = {count: [] for count in threads}
    apart = {count: [] for count in threads if count > 1}
    for turn in range(bench.rounds):
        for count in threads:
            together[count].append(speed(count))
            if count > 1:
                apart[count].append(speed_apart(count))
            bench.remove_outputs()
            say(f"round {turn + 1}: {system.label}, threads: {count}")
    return scaling_rows(system.label, together, apart)


SCALING_HEAD = ["million words/s", "threads", "one run", "times one thread", "separate runs",
                "share of these"]


def scaling_rows(label, together, apart):
    """Rows from {threads: [words/s]} of one run and of as many separate runs of one thread."""
    for count, speeds in sorted(together.items()):
        row = [label, count, spread(millions(speeds), "%.2f"),
               spread(ratios(speeds, together[1]), "%.2f")]
        if count in apart:
            shares = [100 * ratio for ratio in ratios(speeds, apart[count])]
            yield [*row, spread(millions(apart[count]), "%.2f"), spread(shares, "%.0f") + " %"]
        else:
            yield [*row, MISSING, MISSING]


def millions(values):
    return [value / 1e6 for value in values]


def usable(threads, cores):
    """Those numbers of threads for which there are cores."""
    for count in threads:
        if count > cores:
            say(f"skipped: {count} threads, there are {cores} cores")
    return [count for count in threads if count <= cores]


# -- the command -----------------------------------------------------------------------


def parse():
    parser = arguments(__doc__)
    text_arguments(parser)
    parser.add_argument("--rounds", type=number, default=5, help="how often (5)")
    parser.add_argument("--profiles", type=names, default=PROFILES, metavar="LIST",
                        help="each with training options, if any; `batch` is train --batch "
                        f"({','.join(PROFILES)})")
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="LIST",
                        help="numbers of threads of the third table; 1 leaves it out (1,2)")
    parser.add_argument("--threads-only", action="store_true", help="only the third table")
    rival_arguments(parser)
    options = parser.parse_args()
    options.command = program(options.command)
    return options


def main():
    options = parse()
    ours = list(our_systems(options.command, options.profiles))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        print(f"{bench.name}: {bench.words:,} words; {options.rounds} rounds\n", flush=True)
        if not options.threads_only:
            compare(bench, ours, find_rivals(options, [1]))
        threads = usable(sorted({1, *options.threads}), os.cpu_count() or 1)
        if threads != [1]:
            print_table(SCALING_HEAD, [row for system in ours
                                       for row in scaling(bench, system, threads)])


if __name__ == "__main__":
    run_main("speed", main)
