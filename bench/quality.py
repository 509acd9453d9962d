#!/usr/bin/python3
"""Quality, time and memory of wordtide's profiles and of other trainers, in one table.

    bench/quality.py TEXT --sets DIR [--seeds N] [--epochs 1,5] [--profiles LIST]
                     [--word2vec PATH] [--jobs N] [--tsv FILE] [--chart FILE.svg]
    bench/quality.py --sets DIR --model FILE...

Trains every system with one thread (systems.py has the settings), evaluates its vectors
with `wordtide eval`, and prints a table in Markdown. DIR is described in README.md. The
second form evaluates models or files of vectors that exist already.

CPU s         user time of the whole process, the median of the seeds
words/s       words of the text per CPU second, however often a program reads the text
memory        peak of resident pages
WS353 ...     100 times Spearman's correlation with human scores; percent of the analogies
mean          of these; mean and standard deviation of the seeds
same words    this mean over the pairs and questions whose words occur five times or more
              in TEXT, which every program knows
strict        this mean where a pair with an unknown word has a cosine of 0 and a question
              with one counts as wrong
known         percent of the pairs in which both words have a vector

Systems with n-grams also have vectors of words that they have not read. Every run is kept
in the cache, by its settings, the text and, for wordtide, the program. So the command can be
interrupted and started again, and only runs what is missing. A program that is not installed
and a profile that wordtide does not know are reported and skipped.
"""
import json
import os
import re
import shutil
import tempfile
from collections import Counter, namedtuple
from pathlib import Path
from statistics import median, stdev

from lab import Failed, plots, say
from lab.cache import Store, fingerprint, kept, read_json, short_hash, write_whole
from lab.command_line import (arguments, names, number, numbers, program, readable_file,
                              run_main)
from lab.running import apart
from lab.sets import STRICT, Sets, evaluate
from lab.tables import MISSING, fraction, mean_and_deviation, percent, print_table, whole
from systems import (BATCH, FASTTEXT, GENSIM, ONE_THREAD, OTHER, WORD2VEC, WORDTIDE, fill_in,
                     find_rivals, identity, our_systems, profiles_of, rival_arguments)
from texts import prepare_text, sentences, text_arguments

COMMON = 5  # occurrences from which on all programs know a word
SAME = "same words"
OUTLIERS = 4  # systems that a chart may show at its lower edge
COLORS = {WORDTIDE: plots.BLUE, FASTTEXT: plots.ORANGE, GENSIM: plots.GREEN,
          WORD2VEC: plots.PURPLE, OTHER: plots.GRAY}

Row = namedtuple("Row", "label system words runs")  # a run: {user, peak, scores}


class Bench:
    """Trains and evaluates systems on one text, and keeps the results."""

    def __init__(self, options, sets, folder):
        self.store = Store(options.cache, options.command, options.jobs)
        self.folder, self.sets = Path(folder), sets
        self.options = ["--center"] * options.centered
        text, self.name, self.words = prepare_text(options, folder)
        self.text, self.repeated = Path(text), {1: Path(text)}
        self.unseen = self.folder / "words"
        self.unseen.write_text("\n".join(sorted(sets.words())) + "\n")
        self.same_words = sets.restricted(apart(common_words, text), self.folder / "same")
        self.question_key = short_hash([*map(fingerprint, sets.files), self.options])

    def run_all(self, systems, seeds):
        """Rows of the systems. The first seed of all systems comes before the second, so that
        a noisy neighbor slows all of them."""
        systems = list(systems)
        for epochs in {system.epochs for system in systems if "{repeated}" in system.command}:
            self.repeat(epochs)
        plan = [(system, seed) for seed in range(1, seeds + 1) for system in systems
                if seed == 1 or system.seeded]
        runs = self.store.map(lambda item: self.run(*item), plan)
        for system in systems:
            mine = [run for (other, _), run in zip(plan, runs) if other is system and run]
            if mine:
                yield Row(system.label, system, self.words, mine)

    def repeat(self, epochs):
        """Writes the text `epochs` times into one file."""
        self.repeated[epochs] = self.folder / f"text{epochs}"
        with open(self.repeated[epochs], "wb") as out:
            for _ in range(epochs):
                with open(self.text, "rb") as text:
                    shutil.copyfileobj(text, out)

    def run(self, system, seed):
        """The result of a run, or None if a program other than wordtide fails."""
        try:
            return self.kept_run(system, seed)
        except Failed as failure:
            if system.family == WORDTIDE or self.store.runner.stopped:
                raise
            say(f"skipped: {failure}")
            return None

    def kept_run(self, system, seed):
        key = short_hash([identity(system), self.store.fingerprint(self.text)])
        base = self.store.folder / f"{slug(system.label)}-{seed}-{key}"
        usage, vectors = Path(f"{base}.json"), Path(f"{base}.vec")

        def scores():
            if not (usage.exists() and vectors.exists()):
                self.train(system, seed, usage, vectors)
            return self.evaluate(vectors)

        found = kept(Path(f"{base}-{self.question_key}.scores"), scores, dict)
        if system.family == WORDTIDE:  # quick to train again
            vectors.unlink(missing_ok=True)
        return {**read_json(usage), "scores": found}

    def train(self, system, seed, usage, vectors):
        name = f"{system.label}, seed {seed}"
        with tempfile.TemporaryDirectory(dir=self.store.folder) as folder:
            out = os.path.join(folder, "model.tide")
            line = fill_in(system.command, program=system.program, text=self.text, out=out,
                           repeated=self.repeated.get(system.epochs), seed=seed,
                           words=self.unseen)
            used = self.store.runner.measure(line, env=ONE_THREAD, name=name)
            if not os.path.exists(out):
                os.replace(f"{out}.vec", out)  # fastText appends this
            if system.unseen:
                self.add_unseen(system, out)
            os.replace(out, vectors)
        write_whole(usage, json.dumps({"user": used.user, "peak": used.peak}))
        say(f"{name}: {used.user:.1f} s")

    def add_unseen(self, system, out):
        """Adds the vectors of words that a program has not read to those in word2vec's text
        format, without the line with their number."""
        longer = f"{out}.longer"
        missing = set(self.unseen.read_text().split())
        with open(out, encoding="utf-8") as old, open(longer, "w", encoding="utf-8") as new:
            next(old)
            for line in old:
                new.write(line)
                missing.discard(line.split(" ", 1)[0])
            feed = [f"{word}\n".encode() for word in sorted(missing)]
            new.write(self.store.runner.measure(fill_in(system.unseen, out=out), feed).output)
        os.replace(longer, out)

    def evaluate(self, vectors):
        def scores(sets):
            return evaluate(self.store.command, sets, vectors, *self.options,
                            run=self.store.runner.measure)

        return {**scores(self.sets), SAME: scores(self.same_words)["mean"]}


def common_words(path):
    counts = Counter()
    for words in sentences(path):
        counts.update(words)
    return {word.decode("utf-8", "replace") for word, count in counts.items() if count >= COMMON}


def slug(text):
    return re.sub(r"[^a-zA-Z0-9.]+", "-", text)


def model_row(path, sets, options):
    """A row for a file of vectors whose training was not measured."""
    found = evaluate(options.command, sets, readable_file(path, "MODEL"),
                     *["--center"] * options.centered)
    return Row(os.path.basename(path), None, None, [{"user": None, "peak": None, "scores": found}])


# -- the table -------------------------------------------------------------------------


def values(row, name):
    """A score of all seeds, without those that are undefined."""
    found = (run["scores"].get(name) for run in row.runs)
    return [value for value in found if value is not None]


def average(row, name):
    found = values(row, name)
    return sum(found) / len(found) if found else None


def middle(row, name):
    found = [run[name] for run in row.runs if run[name] is not None]
    return median(found) if found else None


def speed(row):
    """Words of the text per CPU second."""
    user = middle(row, "user")
    return round(row.words / user) if user else None


def markdown_row(row, columns):
    peak, user = middle(row, "peak"), middle(row, "user")
    means = [100 * value for value in values(row, "mean")]
    return [row.label, fraction(user, 1), whole(speed(row)),
            MISSING if peak is None else f"{peak / 2**20:.0f} MiB",
            *(percent(average(row, name)) for name in columns),
            mean_and_deviation(means) if means else MISSING,
            *(percent(average(row, name)) for name in (SAME, STRICT, "known"))]


def head(columns):
    return ["one thread", "CPU s", "words/s", "memory", *columns, "mean", SAME, STRICT, "known"]


def tsv(rows, columns):
    """All numbers at full precision; several seeds are several lines."""
    names_ = [*columns, "mean", SAME, STRICT, "known"]
    lines = [["system", "run", "user_seconds", "words", "peak_bytes", *names_]]
    for row in rows:
        for number_, run in enumerate(row.runs, 1):
            numbers_ = (run["user"], row.words, run["peak"], *map(run["scores"].get, names_))
            lines.append([row.label, number_, *("" if value is None else value
                                                for value in numbers_)])
    return "".join("\t".join(map(str, line)) + "\n" for line in lines)


# -- the chart -------------------------------------------------------------------------

Point = namedtuple("Point", "label name family epochs x y error")


def chart_points(rows):
    """Measured rows as points: CPU seconds, mean score in percent and its deviation."""
    for row in rows:
        means = [100 * value for value in values(row, "mean")]
        if row.system and means and middle(row, "user"):
            yield Point(row.label, row.system.name, row.system.family, row.system.epochs,
                        middle(row, "user"), sum(means) / len(means),
                        stdev(means) if len(means) > 1 else 0)


def curves(points):
    """Points of one program after different numbers of epochs, which a line connects."""
    by_name = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    return [sorted(group, key=lambda point: point.epochs) for group in by_name.values()
            if len(group) > 1]


def lowest(points):
    """Where the axis begins. A few systems below half of the best score, which would take
    most of the chart, are drawn at its edge."""
    scores = sorted(point.y for point in points)
    return min([scores[-1] / 2, *scores[OUTLIERS:OUTLIERS + 1]])


def chart(rows):
    points = list(chart_points(rows))
    if not points:
        raise Failed("nothing was measured that a chart could show")
    floor = lowest(points)
    drawn, axes = plots.figure(width=8.5, height=5.2)
    lines = []
    for group in curves(points):
        ends = [(point.x, max(point.y, floor)) for point in group]
        axes.plot(*zip(*ends), linewidth=0.9, alpha=0.6, color=COLORS[group[0].family], zorder=1)
        lines += zip(ends, ends[1:])
    labels = []
    for point in points:
        color, low, shown = COLORS[point.family], point.y < floor, max(point.y, floor)
        axes.plot(point.x, shown, "v" if low else "o", color=color, clip_on=False)
        if point.error and not low:
            axes.errorbar(point.x, shown, point.error, fmt="none", color=color, elinewidth=1)
            lines.append(((point.x, shown - point.error), (point.x, shown + point.error)))
        labels.append((point.x, shown, point.label + f": {fraction(point.y, 1)}" * low, color))
    plots.name_axes(axes, "CPU seconds, one thread", "mean score, %", log_x=True)
    axes.margins(x=0.12, y=0.08)
    axes.set_ylim(bottom=floor)
    plots.place_labels(drawn, axes, labels, lines)
    return plots.svg(drawn)


# -- the command -----------------------------------------------------------------------


def parse():
    parser = arguments(__doc__)
    text_arguments(parser, demo=False)
    parser.add_argument("--sets", required=True, metavar="DIR",
                        help="folder with similarity/ and analogy/")
    parser.add_argument("--seeds", type=number, default=3, help="runs of each system (3)")
    parser.add_argument("--epochs", type=numbers, default=[1, 5], metavar="LIST",
                        help="of the other trainers and of `batch` (1,5)")
    parser.add_argument("--profiles", type=names, metavar="LIST",
                        help="each with training options, if any: 'fast,default --dim 200'; "
                        f"`{BATCH}` is train --batch (all profiles and {BATCH})")
    parser.add_argument("--model", action="append", default=[], metavar="FILE",
                        help="also evaluate this model or file of vectors")
    parser.add_argument("--centered", action="store_true",
                        help="subtract the mean vector of the frequent words first")
    parser.add_argument("--jobs", type=number, default=1, help="runs at the same time (1)")
    parser.add_argument("--cache", default="build/quality", metavar="DIR",
                        help="where results are kept (build/quality)")
    parser.add_argument("--tsv", metavar="FILE", help="also write every run as TSV")
    parser.add_argument("--chart", metavar="FILE",
                        help="also draw quality against CPU time, as SVG")
    rival_arguments(parser)
    options = parser.parse_args()
    options.command = program(options.command)
    if not options.text and not options.model:
        raise Failed("needs a TEXT or a --model")
    if options.chart:
        plots.require()
    return options


def measured_rows(options, sets):
    profiles = options.profiles
    if profiles is None:
        profiles = [*profiles_of(options.command), BATCH]
    systems = [*our_systems(options.command, profiles, options.epochs),
               *find_rivals(options, options.epochs)]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, sets, folder)
        print(f"{bench.name}: {bench.words:,} words\n", flush=True)
        return list(bench.run_all(systems, options.seeds))


def main():
    options = parse()
    sets = Sets(options.sets)
    rows = measured_rows(options, sets) if options.text else []
    rows += [model_row(path, sets, options) for path in options.model]
    print_table(head(sets.names), [markdown_row(row, sets.names) for row in rows])
    if options.tsv:
        write_whole(Path(options.tsv), tsv(rows, sets.names))
    if options.chart:
        write_whole(Path(options.chart), chart(rows))


if __name__ == "__main__":
    run_main("quality", main)
