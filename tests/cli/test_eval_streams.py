"""eval counts, agreement and trace, checked against Python's Counter and numpy."""

import collections
import gzip
import itertools
import json
import math
import random
import signal
import subprocess

import pytest

from conftest import PATIENCE, SMALL, start, wordtide
from optional import OptionalModule

numpy = OptionalModule("numpy")
RANKS = [1, 10, 100, 1000, 2000, 5000, 7000, 10000]


def objects(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def tables(text):
    """The tables of a TSV output, each a list of rows by column name."""
    result = []
    for part in text.strip("\n").split("\n\n"):
        names, *rows = [line.split("\t") for line in part.split("\n")]
        result.append([dict(zip(names, row, strict=True)) for row in rows])
    return result


def near(x, y, tolerance=2e-6):
    if x is None or y is None or math.isnan(y):
        return x is None and (y is None or math.isnan(y))
    return abs(x - y) <= tolerance * (1 + abs(y))


# -- counts --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def zipf(tmp_path_factory):
    """A text whose word frequencies follow 1 / rank, and its words."""
    draw = random.Random(1)
    words = [f"w{int(5000 ** draw.random())}" for _ in range(60000)]
    path = tmp_path_factory.mktemp("zipf") / "text"
    lines = (" ".join(words[i : i + 20]) + "\n" for i in range(0, len(words), 20))
    path.write_text("".join(lines))
    return path, words


SKETCHES = {
    "none": ["--admission", "none"],
    "gate": ["--admission", "gate"],
    "paper": ["--profile", "paper", "--reservoir", "1e5"],
    "paper of all": ["--profile", "paper", "--reservoir", "1e5", "--counting", "all"],
    "roomy": ["--vocab", "9000"],
}


def trained(path, text, *options):
    done = wordtide("train", "-q", text, "-o", path, "--threads", "1", *options)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def counted(zipf, tmp_path_factory):
    """A model for each sketch."""
    folder = tmp_path_factory.mktemp("counted")
    size = ["--tokens", "space", "--vocab", "200", "--dim", "2", "--replay", "1"]
    return {
        name: trained(folder / f"{number}.tide", zipf[0], *size, *options)
        for number, (name, options) in enumerate(SKETCHES.items())
    }


class CountOracle:
    """The expected statistics of a model, from its words and those of the text."""

    def __init__(self, model, words, capacity):
        listed = wordtide("words", model).stdout.splitlines()
        self.held = {w: int(n) for w, n, _ in (line.split("\t") for line in listed)}
        self.minimum = min(self.held.values()) if len(self.held) == capacity else 0
        self.truth = collections.Counter(words).most_common()
        self.count = numpy.array([self.held.get(w, self.minimum) for w, _ in self.truth])
        self.real = numpy.array([n for _, n in self.truth])
        self.kept = numpy.array([w in self.held for w, _ in self.truth])
        self.errors = abs(self.count - self.real) / self.real
        self.top = slice(0, min(capacity, len(self.truth)))

    def figures(self):
        top = self.top
        return {
            "tokens": self.real.sum(),
            "types": len(self.truth),
            "held": len(self.held),
            "minimum": self.minimum,
            "dropped_top": 1 - self.kept[top].mean(),
            "dropped_types": 1 - self.kept.mean(),
            "dropped_tokens": self.real[~self.kept].sum() / self.real.sum(),
            "mean_error": self.errors[top].mean(),
            "mean_error_held": self.errors[top][self.kept[top]].mean(),
        }

    def bands(self):
        for rank in RANKS:
            if rank > len(self.truth):
                return
            first, last = -(-rank * 95 // 100), min(rank * 105 // 100, len(self.truth))
            window = slice(first - 1, last)
            kept = self.errors[window][self.kept[window]]
            yield {
                "rank": rank,
                "from": first,
                "to": last,
                "words": last - first + 1,
                "dropped": 1 - self.kept[window].mean(),
                "median_error": numpy.median(self.errors[window]),
                "median_error_held": numpy.median(kept) if len(kept) else None,
            }


@pytest.mark.parametrize("name", SKETCHES)
def test_counts_are_judged_as_counter_and_numpy_do(zipf, counted, tmp_path, name):
    text, words = zipf
    capacity = 9000 if name == "roomy" else 200
    done = wordtide("eval", "counts", counted[name], text, "--json", "--points", tmp_path / "p")
    (result,) = objects(done)
    oracle = CountOracle(counted[name], words, capacity)
    assert result["capacity"] == capacity
    for key, value in oracle.figures().items():
        assert near(result[key], value), key
    bands = list(oracle.bands())
    assert len(bands) == len(result["bands"]) > 4
    for band, wanted in zip(result["bands"], bands):
        assert band.keys() == wanted.keys()
        assert all(near(band[key], wanted[key]) for key in band), band
    header, *points = [line.split("\t") for line in (tmp_path / "p").read_text().splitlines()]
    assert header == ["rank", "true", "count", "held", "error"]
    points = numpy.array(points, dtype=float)
    assert (points[:, 0] == 1 + numpy.arange(len(oracle.truth))).all()
    assert (points[:, 1] == oracle.real).all() and (points[:, 2] == oracle.count).all()
    assert (points[:, 3] == oracle.kept).all()
    assert abs(points[:, 4] - oracle.errors).max() < 1e-6


def test_the_gate_keeps_what_plain_space_saving_drops(zipf, counted):
    def dropped(name):
        done = wordtide("eval", "counts", counted[name], zipf[0], "--json")
        return objects(done)[0]["dropped_top"]

    assert dropped("none") > 0.2 > 0.1 > dropped("gate")


def test_counts_that_are_not_of_the_whole_text_are_reported(zipf, counted):
    assert "--counting kept" in wordtide("eval", "counts", counted["paper"], zipf[0]).stderr
    assert wordtide("eval", "counts", counted["paper of all"], zipf[0]).stderr == ""


def test_tables_of_counts_say_what_the_object_says(zipf, counted):
    arguments = ["eval", "counts", counted["none"], zipf[0]]
    (result,) = objects(wordtide(*arguments, "--json"))
    figures, bands = tables(wordtide(*arguments, "--tsv").stdout)
    for row in figures:
        assert near(float(row["value"]), result[row["what"]])
    assert [int(row["rank"]) for row in bands] == [band["rank"] for band in result["bands"]]
    for row, band in zip(bands, result["bands"]):
        assert near(float(row["median_error"]), band["median_error"])
    shown = wordtide(*arguments).stdout
    assert f"{result['dropped_top']:.4f}" in shown and "median_error_held" in shown


def test_a_text_is_counted_however_it_is_stored(zipf, counted, tmp_path):
    text, _ = zipf
    lines = text.read_bytes().splitlines(keepends=True)
    (tmp_path / "a").write_bytes(b"".join(lines[:1000]))
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"".join(lines[1000:])))
    records = (json.dumps({"body": line.decode().strip()}) + "\n" for line in lines)
    (tmp_path / "c.jsonl").write_text("".join(records))
    whole = wordtide("eval", "counts", counted["none"], text, "--json").stdout
    for arguments, data in [
        ([tmp_path / "a", tmp_path / "b.gz"], b""),
        ([tmp_path / "c.jsonl", "--text", "body"], b""),
        ([], text.read_bytes()),
    ]:
        done = wordtide("eval", "counts", counted["none"], *arguments, "--json", input=data)
        assert done.stdout == whole, done.stderr


def test_a_file_of_vectors_has_words_and_perhaps_counts(zipf, counted, tmp_path):
    path = tmp_path / "m.vec"
    assert wordtide("export", counted["none"], "-o", path, "--format", "word2vec").returncode == 0
    arguments = [zipf[0], "--json"]
    (native,) = objects(wordtide("eval", "counts", counted["none"], *arguments))
    (result,) = objects(wordtide("eval", "counts", path, *arguments, "--tokens", "space"))
    for key in "held", "dropped_top", "dropped_types", "dropped_tokens":
        assert result[key] == native[key]
    assert result["mean_error"] is None and result["bands"][2]["median_error"] is None


def test_what_cannot_be_counted_leaves_no_points(counted, tmp_path):
    done = wordtide("eval", "counts", counted["none"], tmp_path / "none", "--points", tmp_path / "p")
    assert done.returncode == 1 and "none" in done.stderr and done.stdout == ""
    assert list(tmp_path.iterdir()) == []
    done = wordtide("eval", "counts", tmp_path / "m.tide", input=b"a b c\n")
    assert done.returncode == 1 and "m.tide" in done.stderr


# -- agreement -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair_of_models(tmp_path_factory):
    """A knows fewer words than B."""
    folder = tmp_path_factory.mktemp("agreement")
    text = folder / "text"
    text.write_text(wordtide("demo", "--tokens", "40000").stdout)
    a = trained(folder / "a.tide", text, "--vocab", "450", "--dim", "12", "--admission", "none")
    b = trained(folder / "b.tide", text, "--vocab", "600", "--dim", "20", "--seed", "2")
    return a, b


def unit_vectors(model, *options):
    """Words by falling count, and their unit vectors."""
    words = [line.split("\t")[0] for line in wordtide("words", model).stdout.splitlines()]
    done = wordtide("vector", model, *words, *options)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    vectors = numpy.array([row[-(len(rows[0]) - 1) :] for row in rows], dtype=float)
    return words, vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


class AgreementOracle:
    def __init__(self, a, b, *options):
        known, vectors = unit_vectors(a, *options)
        self.words, self.b = unit_vectors(b, *options)
        places = {word: i for i, word in enumerate(known)}
        self.held = numpy.array([word in places for word in self.words])
        self.a = numpy.array([vectors[places.get(word, 0)] for word in self.words])

    def cell(self, first, second):
        pairs = {
            (min(i, j), max(i, j))
            for i, j in itertools.product(range(*first), range(*second))
            if i != j
        }
        defined = numpy.array([p for p in sorted(pairs) if self.held[list(p)].all()])
        cosines = [(v[defined[:, 0]] * v[defined[:, 1]]).sum(axis=1) for v in (self.a, self.b)]
        return {
            "pairs": len(pairs),
            "defined": len(defined),
            "undefined": 1 - len(defined) / len(pairs),
            "pearson": numpy.corrcoef(*cosines)[0, 1],
            "bias": (cosines[0] - cosines[1]).mean(),
            "mean_a": cosines[0].mean(),
            "mean_b": cosines[1].mean(),
        }

    def overlap(self, band, count):
        common = numpy.flatnonzero(self.held)
        asked = [i for i in range(*band) if self.held[i]]
        shared = 0
        for i in asked:
            others = common[common != i]
            best = [others[numpy.argsort(-(v[others] @ v[i]))[:count]] for v in (self.a, self.b)]
            shared += len(set(best[0]) & set(best[1]))
        return len(asked), shared / len(asked) / count


@pytest.mark.parametrize("options", [[], ["--centre"], ["--vectors", "sum"]])
def test_agreement_is_that_of_numpy(pair_of_models, options):
    bands = {"1-60": (0, 60), "41-120": (40, 120), "201-300": (200, 300)}
    done = wordtide(
        "eval", "agreement", *pair_of_models, "--bands", ",".join(bands), "--json", *options
    )
    (result,) = objects(done)
    assert [result["a"], result["b"]] == list(map(str, pair_of_models))
    oracle = AgreementOracle(*pair_of_models, *options)
    assert result["common"] == oracle.held.sum()
    wanted = list(itertools.combinations_with_replacement(bands, 2))
    assert [(cell["first"], cell["second"]) for cell in result["cells"]] == wanted
    for cell in result["cells"]:
        right = oracle.cell(bands[cell["first"]], bands[cell["second"]])
        for key, value in right.items():  # cosines that hardly differ show their rounding
            assert near(cell[key], value, 1e-4 if key == "pearson" else 1e-5), (cell, key)
    assert result["all"]["pairs"] == sum(cell["pairs"] for cell in result["cells"])
    for line in result["neighbours"]:
        band = bands[line["band"]]
        words, overlap = oracle.overlap(band, 10)
        assert line["words"] == words and line["missing"] == band[1] - band[0] - words
        # rounding may exchange the tenth and the eleventh word of one list
        assert abs(line["overlap"] - overlap) < 1.5 / words / 10


def test_points_of_agreement_are_pairs_of_their_cells(pair_of_models, tmp_path):
    arguments = ["eval", "agreement", *pair_of_models, "--bands", "1-100,201-220", "--points"]
    results = [objects(wordtide(*arguments, tmp_path / name, "--json"))[0] for name in "xy"]
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()
    oracle = AgreementOracle(*pair_of_models)
    (points,) = tables((tmp_path / "x").read_text())
    ranks = {word: i + 1 for i, word in enumerate(oracle.words)}
    for cell in results[0]["cells"]:
        rows = [p for p in points if (p["first"], p["second"]) == (cell["first"], cell["second"])]
        assert len(rows) == min(2000, cell["defined"])
        assert len({(p["word_a"], p["word_b"]) for p in rows}) == len(rows)
        for p in rows:
            for word, band in (p["word_a"], p["first"]), (p["word_b"], p["second"]):
                first, last = map(int, band.split("-"))
                assert first <= ranks[word] <= last
            i, j = ranks[p["word_a"]] - 1, ranks[p["word_b"]] - 1
            assert near(float(p["cosine_a"]), oracle.a[i] @ oracle.a[j], 1e-5)
            assert near(float(p["cosine_b"]), oracle.b[i] @ oracle.b[j], 1e-5)


def test_tables_of_agreement_say_what_the_object_says(pair_of_models):
    arguments = ["eval", "agreement", *pair_of_models, "--bands", "1-100,101-140"]
    (result,) = objects(wordtide(*arguments, "--json"))
    cells, neighbors = tables(wordtide(*arguments, "--tsv").stdout)
    assert cells[-1]["first"] == "all"
    for row, cell in zip(cells, [*result["cells"], result["all"]], strict=True):
        assert near(float(row["pearson"]), cell["pearson"])
        assert int(row["defined"]) == cell["defined"]
    for row, line in zip(neighbors, result["neighbours"], strict=True):
        assert near(float(row["overlap"]), line["overlap"])


def test_vectors_of_others_agree_with_the_model_they_came_from(pair_of_models, tmp_path):
    _, model = pair_of_models
    path = tmp_path / "m.bin"
    wordtide("export", model, "-o", path, "--format", "word2vec-binary")
    done = wordtide("eval", "agreement", path, model, "--bands", "1-50,201-250", "--json")
    (result,) = objects(done)
    assert result["all"]["pearson"] > 0.999999 and result["all"]["undefined"] == 0
    assert all(line["overlap"] == 1 for line in result["neighbours"])


def test_bands_are_cut_or_refused(pair_of_models):
    a, b = pair_of_models
    done = wordtide("eval", "agreement", a, b, "--bands", "1-20,591-700", "--json")
    assert objects(done)[0]["cells"][1]["second"] == "591-600"
    assert done.stderr.count("\n") == 1 and "591-700" in done.stderr
    done = wordtide("eval", "agreement", a, b)
    assert done.returncode == 2 and "801-900" in done.stderr and done.stdout == ""
    for bands in ["", "1", "1-", "0-5", "9-3", "1-5;6-9", "1-5,", "-1-5", "1-99999999999", "a-b"]:
        done = wordtide("eval", "agreement", a, b, f"--bands={bands}")
        assert done.returncode == 2 and "--bands" in done.stderr


# -- trace ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A text, two lists of pairs and analogies about it."""
    folder = tmp_path_factory.mktemp("trace")
    text = wordtide("demo", "--tokens", "30000").stdout
    (folder / "text").write_text(text)
    truth = [line.split() for line in wordtide("demo", "--truth", "-").stdout.splitlines()]
    questions = [" ".join(words) + "\n" for kind, _, *words in truth if kind == "analogy"]
    (folder / "questions").write_text(": all\n" + "".join(questions))
    words = [word for word, _ in collections.Counter(text.split()).most_common(150)]
    draw = random.Random(1)
    for name in "one", "two":
        rows = (f"{draw.choice(words)}\t{draw.choice(words)}\t{draw.random():.3f}\n" for _ in range(80))
        (folder / f"{name}.tsv").write_text("".join(rows))
    return folder


def sets(course):
    return [
        *("--pairs", course / "one.tsv", "--pairs", course / "two.tsv"),
        *("--questions", course / "questions"),
    ]


@pytest.mark.parametrize(
    "options",
    [[], ["--profile", "paper", "--reservoir", "1e5"], ["--subword", "500"], ["--batch", "--epochs", "2"]],
    ids=["default", "paper", "subwords", "batch"],
)
def test_a_traced_model_is_that_of_train(course, tmp_path, options):
    arguments = [course / "text", *SMALL, *options]
    done = wordtide("train", "-q", *arguments, "-o", tmp_path / "m.tide")
    assert done.returncode == 0, done.stderr
    steps = objects(
        wordtide(
            "eval", "trace", *arguments, "-q", "-o", tmp_path / "t.tide",
            "--every", "7000", *sets(course), "--json",
        )
    )
    assert (tmp_path / "m.tide").read_bytes() == (tmp_path / "t.tide").read_bytes()
    last = objects(wordtide("eval", "similarity", tmp_path / "m.tide", course / "one.tsv", "--json"))
    assert near(steps[-1]["similarity"]["one"], last[0]["spearman"])
    last = objects(wordtide("eval", "analogy", tmp_path / "m.tide", course / "questions", "--json"))
    assert near(steps[-1]["analogy"], last[0]["accuracy"])


def test_records_and_compression_are_recognized_as_by_train(course, tmp_path):
    lines = (course / "text").read_text().splitlines()
    records = "".join(json.dumps({"id": 1, "body": line}) + "\n" for line in lines)
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(records.encode()))
    arguments = [tmp_path / "r.jsonl.gz", "--text", "body", *SMALL, "-q"]
    assert wordtide("train", *arguments, "-o", tmp_path / "m.tide").returncode == 0
    objects(wordtide("eval", "trace", *arguments, "-o", tmp_path / "t.tide", "--json"))
    assert (tmp_path / "m.tide").read_bytes() == (tmp_path / "t.tide").read_bytes()


def test_a_step_is_the_model_of_the_text_so_far(course, tmp_path):
    steps = objects(
        wordtide(
            "eval", "trace", course / "text", *SMALL, "-q", "--every", "10000", *sets(course), "--json"
        )
    )
    text = (course / "text").read_text()
    total = len(text.split())
    assert [step["tokens"] // 10000 for step in steps[:2]] == [1, 2]
    assert steps[-1]["tokens"] == total and len(steps) in (3, 4)
    lines = text.splitlines(keepends=True)
    for step in steps[:2]:
        read, count = 0, 0
        while read < step["tokens"]:
            read += len(lines[count].split())
            count += 1
        assert read == step["tokens"]
        (tmp_path / "part").write_text("".join(lines[:count]))
        model = trained(tmp_path / "part.tide", tmp_path / "part", *SMALL)
        judged = objects(
            wordtide("eval", "similarity", model, course / "one.tsv", course / "two.tsv", "--json")
        )
        for result in judged:
            assert near(step["similarity"][result["name"]], result["spearman"])
        (answers,) = objects(wordtide("eval", "analogy", model, course / "questions", "--json"))
        assert near(step["analogy"], answers["accuracy"])
        held = wordtide("words", model).stdout.count("\n")
        assert step["vocabulary"] == held == step["admitted"] - step["evicted"]


def test_steps_tell_scores_their_mean_and_the_churn(course, pair_of_models, tmp_path):
    reference = pair_of_models[1]
    arguments = [course / "text", *SMALL, "-q", "--every", "8000", *sets(course)]
    arguments += ["--reference", reference, "-o", tmp_path / "m.tide"]
    steps = objects(wordtide("eval", "trace", *arguments, "--json"))
    for step in steps:
        scores = [*step["similarity"].values(), step["analogy"]]
        assert None in scores or near(step["mean"], numpy.mean(scores), 1e-5)
        assert step["evicted"] >= step["evicted_young"] and step["loss"] > 0
    assert [s["tokens"] for s in steps] == sorted({s["tokens"] for s in steps})
    for key in "seconds", "cpu_seconds", "admitted", "evicted", "rejected":
        values = [step[key] for step in steps]
        assert values == sorted(values) and values[0] > 0
    done = wordtide(
        "eval", "agreement", tmp_path / "m.tide", reference, "--bands", "1-600", "--json"
    )
    assert near(steps[-1]["overlap"], objects(done)[0]["neighbours"][0]["overlap"])
    (rows,) = tables(wordtide("eval", "trace", *arguments, "--tsv").stdout)
    for row, step in zip(rows, steps, strict=True):
        assert int(row["tokens"]) == step["tokens"] and near(float(row["loss"]), step["loss"])
        assert near(float(row["two"]), step["similarity"]["two"])
    shown = wordtide("eval", "trace", *arguments).stdout.splitlines()
    assert shown[0].split()[0] == "tokens" and len(shown) == len(steps) + 1


def test_names_of_sets_are_data(course, tmp_path):
    names = ['a "b" \\', "tab\there\x1b", "caf\u00e9"]
    pairs = []
    for name in names:
        (tmp_path / f"{name}.tsv").write_text((course / "one.tsv").read_text())
        pairs += ["--pairs", tmp_path / f"{name}.tsv"]
    arguments = ["eval", "trace", course / "text", *SMALL, "-q", *pairs]
    (step,) = objects(wordtide(*arguments, "--json"))
    assert list(step["similarity"]) == names and len(set(step["similarity"].values())) == 1
    (rows,) = tables(wordtide(*arguments, "--tsv").stdout)
    assert near(float(rows[0]["tab?here?"]), step["similarity"][names[0]])


def test_a_set_that_is_lost_on_the_way_ends_the_training(course, tmp_path):
    """Standard input can be read only once, by the evaluation before the first word."""
    done = wordtide(
        "eval", "trace", course / "text", *SMALL, "-q", "--every", "5000", "--pairs", "-",
        "-o", tmp_path / "m.tide", input=(course / "one.tsv").read_bytes(),
    )
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1


def test_without_test_sets_scores_are_null(course):
    (step,) = objects(wordtide("eval", "trace", course / "text", *SMALL, "-q", "--json"))
    assert step["similarity"] == {} and step["loss"] > 0
    assert step["analogy"] is step["mean"] is step["overlap"] is None


def test_the_time_of_evaluation_is_left_out(course, pair_of_models):
    """Ten times as many steps take ten times the evaluation but the same training."""
    def cpu_seconds(every):
        arguments = [course / "text", *SMALL, "-q", "--every", every, "--json"]
        steps = objects(
            wordtide("eval", "trace", *arguments, "--reference", pair_of_models[1])
        )
        return len(steps), steps[-1]["cpu_seconds"]

    (few, short), (many, long) = cpu_seconds(30000), cpu_seconds(150)
    assert many > 100 * few and long < 10 * short


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_after_one_more_step(course, tmp_path, number):
    path = tmp_path / "m.tide"
    process = start(
        "eval", "trace", *SMALL, "-q", "--every", "1e4", "-o", path, "--json",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )
    process.stdin.write((course / "text").read_bytes())
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    process.send_signal(number)
    steps = [first, *map(json.loads, process.stdout.read().splitlines())]
    assert process.wait(PATIENCE) == 0
    process.stdin.close()
    process.stdout.close()
    tokens = [step["tokens"] for step in steps]
    assert tokens == sorted(set(tokens)) and len(tokens) > 1
    assert wordtide("words", path).stdout.count("\n") == steps[-1]["vocabulary"]


def test_unusable_files_are_found_before_training(course, tmp_path):
    text = course / "text"
    for wrong in (
        ["--pairs", tmp_path / "none.tsv"],
        ["--questions", tmp_path / "none.txt"],
        ["--reference", tmp_path / "none.tide"],
        ["-o", tmp_path / "none" / "m.tide"],
    ):
        done = wordtide("eval", "trace", text, *SMALL, "-q", *wrong)
        assert done.returncode == 1 and "none" in done.stderr and done.stdout == ""
        assert done.stderr.count("\n") == 1
    done = wordtide("eval", "trace", text, *SMALL, "--pairs", course / "one.tsv", "--pairs", "x/one.csv")
    assert done.returncode == 2 and "'one'" in done.stderr


def test_a_closed_pipe_ends_the_training(course):
    process = start(
        "eval", "trace", "demo:", *SMALL, "-q", "--every", "1e4", "--tsv", stdout=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
