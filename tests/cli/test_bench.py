"""bench/: the systems that are compared, quality.py and speed.py."""

import argparse
import csv
import random
import re
import shutil
import subprocess
import sys

import experiments
import pytest
from lab import Failed, plots
from lab.sets import Sets
from optional import need_module
from running import BINARY

import quality
import speed
import systems
from systems import System

BENCH = experiments.ROOT / "bench"


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


# -- systems ---------------------------------------------------------------------------


def test_profiles_are_those_of_the_command():
    assert {"default", "fast", "paper"} <= set(systems.profiles_of(BINARY))


@pytest.mark.parametrize("shown", [
    "  --profile NAME   a set (of parameters);\n      others override (default|fast|\n"
    "         best; default default)\n  --vocab N   (a|b; c)",
    "--profile NAME (default|fast|best; default fast)"])
def test_profiles_are_read_from_any_layout_of_the_help(shown):
    assert systems.parse_profiles(shown) == ["default", "fast", "best"]


def test_help_without_profiles_is_an_error():
    with pytest.raises(Failed, match="no list of profiles"):
        systems.parse_profiles("--vocab N  (1|2; 3)")


def test_unknown_profiles_are_left_out_and_options_belong_to_theirs(capsys):
    found = list(systems.our_systems(BINARY, ["fast --dim 20", "marvelous", "batch"], [1, 5]))
    assert [system.label for system in found] == [
        "wordtide fast --dim 20", "wordtide batch, 1 epoch", "wordtide batch, 5 epochs"]
    assert found[0].command[-4:] == ["--profile", "fast", "--dim", "20"]
    assert found[2].command[-3:] == ["--batch", "--epochs", "5"]
    assert capsys.readouterr().err == "skipped: wordtide has no profile marvelous\n"


def test_a_rival_reads_and_writes_files_of_any_name(tmp_path):
    rival = systems.parse_rival("mine=tr a-z A-Z < {text} > {out}; echo {seed} >> {out}")
    text, out = tmp_path / "it's a \"text\" $HOME", tmp_path / "out {seed}"
    text.write_text("words\n")
    subprocess.run(systems.fill_in(rival.command, text=text, out=out, seed=7), check=True)
    assert out.read_text() == "WORDS\n7\n"
    assert (rival.name, rival.family, rival.seeded) == ("mine", systems.OTHER, True)


@pytest.mark.parametrize("text", ["mine", "mine=", "=train"])
def test_a_rival_has_a_name_and_a_command(text):
    with pytest.raises(Failed, match=f"--rival {text}: not NAME=COMMAND"):
        systems.parse_rival(text)


def test_a_result_depends_on_settings_and_program_but_not_on_its_path(tmp_path):
    one, same = program(tmp_path / "one", "#!/bin/sh\n"), program(tmp_path / "same", "#!/bin/sh\n")
    other = program(tmp_path / "other", "#!/bin/bash\n")
    def key(path, epochs=1):
        return systems.identity(systems.word2vec(epochs, str(path)))
    assert key(one) == key(same)
    assert key(one) != key(other) and key(one) != key(one, 5)
    assert systems.identity(systems.fasttext(1, True)) != systems.identity(
        systems.fasttext(1, False))


def test_the_library_of_a_program_is_part_of_it():
    files = systems.files_of(BINARY)
    assert files[0] == BINARY
    linked = subprocess.run(["ldd", BINARY], stdout=subprocess.PIPE, text=True, check=False).stdout
    assert len(files) == 1 + sum("libwordtide" in line for line in linked.splitlines())


def options(**changed):
    return argparse.Namespace(**{"alone": False, "word2vec": None, "rival": [], **changed})


def test_missing_trainers_are_reported(monkeypatch, capsys):
    monkeypatch.setattr(systems.shutil, "which", lambda name: None)
    monkeypatch.setattr(systems, "has_gensim", lambda: False)
    rival = systems.parse_rival("mine=true")
    assert systems.find_rivals(options(word2vec="/nowhere", rival=[rival]), [1]) == [rival]
    assert [line.split(" (")[0] for line in capsys.readouterr().err.splitlines()] == [
        "skipped: fasttext is not installed", "skipped: gensim is not installed",
        "skipped: no program /nowhere"]


def test_every_trainer_runs_with_every_number_of_epochs(monkeypatch):
    monkeypatch.setattr(systems.shutil, "which", lambda name: name)
    monkeypatch.setattr(systems, "has_gensim", lambda: True)
    found = systems.find_rivals(options(word2vec="/bin/true"), [1, 5])
    names = ["fastText, no n-grams", "fastText", "gensim word2vec", "gensim FastText", "word2vec.c"]
    assert [system.label for system in found] == [f"{name}, 1 epoch" for name in names] + [
        f"{name}, 5 epochs" for name in names]
    assert [system.name for system in found if not system.seeded] == ["word2vec.c"] * 2


# -- quality ---------------------------------------------------------------------------

LETTERS = "abcdefghij"
WORDS = [a + b for a in LETTERS for b in LETTERS]

# Have the arguments of the real ones, log them, and give every word that occurs often enough
# a vector made of its letters. Both print words they have not read in the same way.
VECTORS = """
def vector(word):
    return word + " " + " ".join(str((ord(letter) - 96) / 10) for letter in word[:2]) + " 1"
"""
WORD2VEC = f"""#!{sys.executable}
import collections, sys
{VECTORS}
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
words = collections.Counter(open(given["-train"]).read().split())
known = [word for word, count in words.most_common() if count >= int(given["-min-count"])]
with open(given["-output"], "w") as out:
    print(len(known), 3, file=out)
    for word in known:
        print(vector(word), file=out)
print(sum(words.values()), file=open(sys.argv[0] + ".log", "a"))
"""
FASTTEXT = f"""#!{sys.executable}
import collections, os, sys
{VECTORS}
if sys.argv[1] == "print-word-vectors":
    assert os.path.exists(sys.argv[2])
    for line in sys.stdin:
        print(vector(line.strip()))
    sys.exit()
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
words = collections.Counter(open(given["-input"]).read().split())
with open(given["-output"] + ".vec", "w") as out:
    print(len(words) - 1, 3, file=out)
    for word, _ in words.most_common()[:-1]:
        print(vector(word), file=out)
open(given["-output"] + ".bin", "w").close()
"""


@pytest.fixture
def place(tmp_path):
    """A text in which each word occurs seven times but "jj", which occurs four times, and sets
    about these words and one that does not occur."""
    rng = random.Random(1)
    words = [word for word in WORDS for _ in range(4 if word == "jj" else 7)]
    rng.shuffle(words)
    (tmp_path / "text").write_text(" ".join(words) + "\n")
    sets = tmp_path / "sets"
    (sets / "similarity").mkdir(parents=True)
    (sets / "analogy").mkdir()
    pairs = [(rng.choice(WORDS), rng.choice(WORDS), rng.random()) for _ in range(40)]
    pairs += [("jj", "aa", 1), ("unseen", "ab", 2)]
    (sets / "similarity" / "own.txt").write_text(
        "".join(f"{a.upper()}\t{b}\t{score}\n" for a, b, score in pairs if "jj" not in (a, b)
                or score == 1))
    (sets / "analogy" / "questions-words.txt").write_text(
        ": gram\naa ab ba bb\naa ab ca jj\naa ab ca unseen\n")
    return tmp_path


def run_quality(place, *arguments):
    done = subprocess.run(
        [sys.executable, BENCH / "quality.py", "--wordtide", BINARY, "--sets", place / "sets",
         "--cache", place / "cache", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in done.stdout.splitlines() if line.startswith("|")]
    return {row[0]: dict(zip(rows[0], row)) for row in rows[2:]}, done.stderr


def log_of(place):
    return (place / "word2vec.log").read_text().split()


def test_systems_are_trained_once_and_epochs_of_word2vec_are_repetitions(place):
    word2vec = program(place / "word2vec", WORD2VEC)
    arguments = [place / "text", "--alone", "--word2vec", word2vec, "--seeds", 2, "--jobs", 2,
                 "--profiles", "fast --dim 8,marvelous,batch --dim 8", "--tsv", place / "tsv"]
    found, log = run_quality(place, *arguments)
    assert list(found) == ["wordtide fast --dim 8", "wordtide batch --dim 8, 1 epoch",
                           "wordtide batch --dim 8, 5 epochs", "word2vec.c, 1 epoch",
                           "word2vec.c, 5 epochs"]
    assert "no profile marvelous" in log and "no profile batch" not in log
    assert sorted(log_of(place)) == ["3485", "697"]
    assert found["word2vec.c, 1 epoch"]["mean"] == found["word2vec.c, 5 epochs"]["mean"]
    assert "±" in found["wordtide fast --dim 8"]["mean"]
    assert "±" not in found["word2vec.c, 1 epoch"]["mean"]
    again, log = run_quality(place, *arguments)
    assert again == found and len(log_of(place)) == 2
    assert not re.search(r"seed \d", log)
    rows = list(csv.DictReader(open(place / "tsv", encoding="utf-8"), delimiter="\t"))
    assert [(row["system"], row["run"]) for row in rows][:2] == [
        ("wordtide fast --dim 8", "1"), ("wordtide fast --dim 8", "2")]
    assert rows[0]["own"] != rows[1]["own"]
    assert {row["words"] for row in rows} == {"697"}


def test_a_run_depends_on_text_and_seed_and_scores_on_the_sets(place):
    word2vec = program(place / "word2vec", WORD2VEC)
    arguments = [place / "text", "--alone", "--word2vec", word2vec, "--profiles", "",
                 "--epochs", 1]
    run_quality(place, *arguments)
    pairs = place / "sets" / "similarity" / "own.txt"
    pairs.write_text(pairs.read_text() + "aa ab 3\n")
    run_quality(place, *arguments)  # the same vectors, evaluated again
    assert len(log_of(place)) == 1
    (place / "text").write_text((place / "text").read_text() + "aa\n")
    run_quality(place, *arguments)
    assert log_of(place) == ["697", "698"]


def test_a_trainer_that_fails_is_left_out(place):
    found, log = run_quality(place, place / "text", "--alone", "--profiles", "fast --dim 8",
                             "--seeds", 1, "--rival", "bad=echo no luck >&2; false")
    assert list(found) == ["wordtide fast --dim 8"]
    assert "skipped: bad, seed 1: no luck" in log


def test_models_that_exist_are_only_evaluated(place):
    out = place / "vectors"
    subprocess.run([program(place / "word2vec", WORD2VEC), "-train", place / "text", "-output", out,
                    "-min-count", "5"], check=True)
    found, _ = run_quality(place, "--model", out, "--model", out, "--centered")
    assert list(found) == ["vectors"]
    assert found["vectors"]["CPU s"] == found["vectors"]["same words"] == "–"
    assert found["vectors"]["mean"] != "–"


@pytest.fixture
def bench(place, monkeypatch):
    program(place / "fasttext", FASTTEXT)
    monkeypatch.setenv("PATH", str(place), prepend=":")
    monkeypatch.setitem(quality.ONE_THREAD, "PATH", f"{place}:/usr/bin:/bin")
    given = argparse.Namespace(cache=place / "cache", command=BINARY, jobs=1, centered=False,
                               text=str(place / "text"), prefix=None)
    (place / "work").mkdir()
    return quality.Bench(given, Sets(place / "sets"), place / "work")


def test_vectors_of_unseen_words_count_where_a_program_has_them(bench):
    with_ngrams, without = [row.runs[0]["scores"] for row in bench.run_all(
        [systems.fasttext(1, True), systems.fasttext(1, False)], 1)]
    assert with_ngrams["known"] == 1 and without["known"] < 1
    assert with_ngrams["own"] != without["own"]
    assert with_ngrams["strict"] != without["strict"]
    assert with_ngrams["same words"] == without["same words"]
    assert not list(bench.store.folder.glob("*.bin"))
    for path in bench.store.folder.glob("*.vec"):
        words = [line.split()[0] for line in path.read_text().splitlines()]
        assert len(set(words)) == len(words)


def test_the_same_words_are_those_that_occur_five_times(bench):
    lines = [line.split() for path in bench.same_words.files
             for line in path.read_text().splitlines() if not line.startswith(":")]
    assert ["aa", "ab", "ba", "bb"] in lines
    assert not any("jj" in line or "unseen" in line for line in lines)
    assert len(lines) > 30
    assert bench.sets.words() >= {"jj", "unseen", "aa"}


def row(name, family, epochs, user, means, **scores):
    system = System(name, family, epochs, [])
    return quality.Row(system.label, system, 1000, [
        {"user": user, "peak": 5 << 20, "scores": {"mean": mean, **scores}} for mean in means])


ROWS = [row("wordtide fast", "wordtide", None, 2, [0.4, 0.5], known=0.5),
        row("wordtide batch", "wordtide", 5, 40, [0.3]),
        row("wordtide batch", "wordtide", 1, 10, [0.2]),
        row("wordtide paper", "wordtide", None, 10, [0.03]),
        row("gensim", "gensim", 1, 100, [None])]


def test_a_row_of_the_table_has_times_of_the_text_and_means_of_the_seeds():
    assert quality.markdown_row(ROWS[0], ["own"]) == [
        "wordtide fast", "2.0", "500", "5 MiB", "–", "45.0 ± 7.1", "–", "–", "50.0"]
    assert quality.markdown_row(ROWS[1], [])[2] == "25"  # however many epochs
    assert quality.markdown_row(ROWS[4], [])[4] == "–"
    assert len(quality.head(["own"])) == len(quality.markdown_row(ROWS[0], ["own"]))


def test_the_chart_has_every_system_that_has_a_score():
    points = list(quality.chart_points(ROWS))
    assert [point.label for point in points] == [
        "wordtide fast", "wordtide batch, 5 epochs", "wordtide batch, 1 epoch", "wordtide paper"]
    assert (points[0].x, points[0].y) == (2, pytest.approx(45))
    assert points[0].error == pytest.approx(7.07, abs=0.01) and points[1].error == 0
    assert [[point.epochs for point in curve] for curve in quality.curves(points)] == [[1, 5]]
    assert quality.lowest(points) == pytest.approx(22.5)


def test_few_systems_are_below_the_axis_of_the_chart():
    def lowest(*scores):
        return quality.lowest([quality.Point("", "", "", 1, 1, score, 0) for score in scores])

    assert lowest(50) == lowest(50, 40, 30, 26) == 25
    assert lowest(50, 1, 2, 3, 4) == 25
    assert lowest(50, 1, 2, 3, 4, 5) == lowest(5, 4, 50, 3, 2, 1, 49) == 5


def test_a_chart_says_how_low_the_systems_below_its_axis_are():
    need_module("matplotlib")
    root = experiments.xml.fromstring(quality.chart(ROWS))
    shown = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"wordtide fast", "wordtide batch, 5 epochs", "wordtide batch, 1 epoch: 20.0",
            "wordtide paper: 3.0", "CPU seconds, one thread"} <= set(shown)


def test_a_chart_of_nothing_is_an_error():
    with pytest.raises(Failed, match="nothing was measured"):
        quality.chart(ROWS[4:])


def test_labels_cover_nothing_while_there_is_room():
    rng = random.Random(1)
    frame = (0, 0, 2000, 2000)
    points = [(rng.uniform(0, 2000), rng.uniform(0, 2000)) for _ in range(60)]
    taken = [plots.square(point, 4) for point in points]
    for point in points:
        size = rng.uniform(20, 120), 12
        box = plots.free_place(point, size, taken, frame, 5)
        assert not any(plots.overlap(box, other) for other in taken)
        assert plots.outside(box, frame) == pytest.approx(0, abs=1e-6)
        assert (box[2] - box[0], box[3] - box[1]) == pytest.approx(size)
        gap = max(box[0] - point[0], point[0] - box[2], box[1] - point[1], point[1] - box[3])
        assert 0 < gap <= 5 + 6 * 12
        taken.append(box)


# -- speed -----------------------------------------------------------------------------


def test_ratios_are_those_within_a_round():
    rows = list(speed.scaling_rows("fast", {1: [1e6, 2e6], 2: [1.5e6, 2e6]}, {2: [2e6, 4e6]}))
    assert rows == [
        ["fast", 1, "1.50 (1.00 to 2.00)", "1.00 (1.00 to 1.00)", "–", "–"],
        ["fast", 2, "1.75 (1.50 to 2.00)", "1.25 (1.00 to 1.50)", "3.00 (2.00 to 4.00)",
         "62 (50 to 75) %"]]
    assert len(rows[0]) == len(speed.SCALING_HEAD)


def test_more_threads_than_cores_are_left_out(capsys):
    assert speed.usable([1, 2, 8], 2) == [1, 2]
    assert capsys.readouterr().err == "skipped: 8 threads, there are 2 cores\n"


def test_speed_needs_nothing_but_a_copy_and_the_command(place, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(BENCH, copy, ignore=shutil.ignore_patterns("__pycache__"))
    word2vec = program(place / "word2vec", WORD2VEC)
    done = subprocess.run(
        [sys.executable, "-S", "-E", copy / "speed.py", place / "text", "--wordtide", BINARY,
         "--rounds", "2", "--threads", "1", "--alone", "--word2vec", word2vec, "--rival",
         "bad=false", "--profiles", "fast --dim 8,marvelous"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "697 words; 2 rounds" in done.stdout
    tables = done.stdout.split("\n\n")[1:]
    assert [line.split("|")[1].strip() for line in tables[0].splitlines()[2:]] == [
        "wordtide fast --dim 8", "word2vec.c, 1 epoch"]
    assert re.search(r"^\| wordtide fast --dim 8 \| [\d.]+ \([\d.]+ to [\d.]+\) \|$", tables[1],
                     re.MULTILINE)
    assert "skipped: wordtide has no profile marvelous" in done.stderr
    assert "skipped: bad: exit status 1" in done.stderr
