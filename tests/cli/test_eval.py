"""eval similarity and eval analogy: against gensim and SciPy, on the same vectors.

Where the two differ by intent: gensim compares words in upper case, so of words that differ in
case alone the most frequent one is meant, and an answer that differs from a word of the question
in case alone is passed over; here the exact spelling goes first. gensim does not know headers,
separators other than the given one, or more columns than three.
"""

import json
import math
import random

import pytest

from conftest import train, wordtide
from optional import OptionalModule

stats = OptionalModule("scipy.stats")
gensim_models = OptionalModule("gensim.models")
LAST_DIGIT = 0.6e-6  # half a unit of the last of six decimals, and what float arithmetic adds


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("eval")


@pytest.fixture(scope="module")
def truth():
    """The demo's groups and analogies."""
    lines = wordtide("demo", "--truth", "-").stdout.splitlines()
    rows = [line.split() for line in lines]
    groups = [row[2:] for row in rows if row[0] == "group"]
    analogies = {}
    for row in rows:
        if row[0] == "analogy":
            analogies.setdefault(row[1], []).append(row[2:])
    assert groups and analogies
    return groups, analogies


@pytest.fixture(scope="module")
def trained(folder):
    path = folder / "demo.tide"
    done = wordtide("train", "-o", path, "--vocab", 2000, "--dim", 24, "--subword", 0, "--threads", 1,
                    "--quiet", "demo:tokens=150000")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def exported(trained, folder):
    path = folder / "demo.bin"
    assert wordtide("export", trained, "-o", path).returncode == 0
    return path


@pytest.fixture(scope="module")
def mixed(folder, truth):
    """Random vectors of words, a third of which have two spellings."""
    rng = random.Random(5)
    groups, analogies = truth
    asked = {word for rows in analogies.values() for row in rows for word in row}
    words = sorted({word for group in groups for word in group} | asked)
    words += [word.capitalize() for word in words[::3]]
    rng.shuffle(words)
    path = folder / "mixed.vec"
    with path.open("w") as file:
        print(len(words), 12, file=file)
        for word in words:
            print(word, *(f"{rng.gauss(0, 1):.6f}" for _ in range(12)), file=file)
    return path


def keyed(path):
    return gensim_models.KeyedVectors.load_word2vec_format(
        str(path), binary=path.suffix == ".bin", unicode_errors="strict"
    )


@pytest.fixture(scope="module")
def pairs(folder, truth, exported):
    """Scores with many ties, more for words of one group; some words unknown or in capitals."""
    rng = random.Random(1)
    groups, _ = truth
    path = folder / "pairs.tsv"
    with path.open("w") as file:
        print("# invented", file=file)
        for _ in range(600):
            group = rng.choice(groups)
            a, b = rng.sample(group, 2)  # never a word with itself: in floats that is not exactly 1
            if rng.random() < 0.5:
                b = rng.choice(rng.choice([g for g in groups if a not in g]))
            a = rng.choice([a, a.upper(), a.capitalize(), "qq" + a])
            print(a, b, (b in group) * 3 + rng.randrange(4), sep="\t", file=file)
    return path


@pytest.fixture(scope="module")
def questions(folder, truth):
    rng = random.Random(2)
    path = folder / "questions.txt"
    with path.open("w") as file:
        for i, (name, rows) in enumerate(truth[1].items()):
            print(":", ("gram-" if i % 2 else "") + name, file=file)
            for row in rng.sample(rows, min(len(rows), 120)):
                row = [rng.choice([w, w, w.upper()]) for w in row]
                if rng.random() < 0.05:
                    row[rng.randrange(4)] = "qqqqq"
                print(*row, file=file)
                if rng.random() < 0.02:
                    print(*row[:3], file=file)
        print(": nothing known\nqq qq qq qq", file=file)
    return path


def judge(what, *arguments):
    done = wordtide("eval", what, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


# -- similarity ----------------------------------------------------------------------------------


def test_spearman_and_pearson_are_those_of_scipy(folder):
    """Words in 40 directions of the plane against one, with ties on both sides."""
    rng = random.Random(3)
    angles = [rng.uniform(0, math.pi) for _ in range(40)]
    vectors = folder / "plane.txt"
    with vectors.open("w") as file:
        print("east 1 0", file=file)
        for i in range(400):
            at = angles[i % 40]
            print(f"w{i}", f"{math.cos(at):.9g}", f"{math.sin(at):.9g}", file=file)
    rows = [(i, round(3 * math.cos(angles[i % 40]) + rng.gauss(0, 3))) for i in range(400)]
    path = folder / "plane.tsv"
    path.write_text("".join(f"east\tw{i}\t{score}\n" for i, score in rows))
    people = [score for _, score in rows]
    cosines = [math.cos(angles[i % 40]) for i, _ in rows]
    [found] = judge("similarity", vectors, path)
    assert found["spearman"] == pytest.approx(stats.spearmanr(cosines, people)[0], abs=LAST_DIGIT)
    assert found["pearson"] == pytest.approx(stats.pearsonr(cosines, people)[0], abs=LAST_DIGIT)


@pytest.mark.parametrize("among", [0, 400])
@pytest.mark.parametrize("oov", ["skip", "zero"])
def test_pairs_score_as_in_gensim(trained, exported, pairs, among, oov):
    vectors = keyed(exported)
    pearson, spearman, unknown = vectors.evaluate_word_pairs(
        str(pairs), restrict_vocab=among or len(vectors), dummy4unknown=oov == "zero"
    )
    for model in trained, exported:
        [found] = judge("similarity", model, pairs, "--among", among, "--oov", oov)
        assert found["pairs"] == 600 and found["bad_lines"] == 0 and found["oov"] == oov
        assert 0 < found["known"] < 600 and found["name"] == "pairs"
        assert found["file"] == str(pairs)
        assert found["spearman"] == pytest.approx(spearman[0], abs=LAST_DIGIT)
        assert found["pearson"] == pytest.approx(pearson[0], abs=LAST_DIGIT)
        assert found["coverage"] == pytest.approx(1 - unknown / 100, abs=LAST_DIGIT)


def test_exact_spelling_is_gensims_case_sensitivity(mixed, folder):
    words = [line.split()[0] for line in mixed.read_text().splitlines()[1:]]
    rng = random.Random(4)
    path = folder / "cased.tsv"
    path.write_text("".join(
        f"{rng.choice(words)}\t{rng.choice(words)}\t{rng.randrange(9)}\n" for _ in range(300)))
    pearson, spearman, _ = keyed(mixed).evaluate_word_pairs(str(path), case_insensitive=False)
    [found] = judge("similarity", mixed, path)
    assert found["known"] == found["pairs"] == 300
    assert found["spearman"] == pytest.approx(spearman[0], abs=LAST_DIGIT)
    assert found["pearson"] == pytest.approx(pearson[0], abs=LAST_DIGIT)


@pytest.mark.parametrize("version", ["1", "2"])
def test_greek_pairs_are_known_whatever_sigma_words_end_in(tmp_path, version):
    model, pairs = tmp_path / "greek.tide", tmp_path / "pairs.tsv"
    train(model, ("ο καφές και το τσάι με νερό\n" * 50).encode(), "--tokens-version", version)
    pairs.write_text("Καφές\tΤσάι\t5\nΤσάι\tκαφές\t4\nΝερό\tκαφέσ\t3\n")
    [found] = judge("similarity", model, pairs)
    assert found["known"] == found["pairs"] == 3



def test_shapes_of_sets_do_not_matter(trained, pairs, folder):
    [expected] = judge("similarity", trained, pairs)
    lines = [line.split("\t") for line in pairs.read_text().splitlines()[1:]]
    shapes = {
        "comma.csv": "Word 1,Word 2,Human (mean)\n"
        + "".join(",".join(row) + "\n" for row in lines),
        "windows.txt": "\ufeff" + "".join("\t".join(row) + "\r\n" for row in lines),
        "blanks": "".join("  ".join(row) + "\n\n" for row in lines),
        "simlex.txt": "word1\tword2\tPOS\tSimLex999\tconc\n"
        + "".join(f"{a}\t{b}\tN\t{score}\t{i}\n" for i, (a, b, score) in enumerate(lines)),
    }
    for name, text in shapes.items():
        (folder / name).write_bytes(text.encode())
    found = judge("similarity", trained, *(folder / name for name in shapes))
    for row in found:
        for key in "spearman", "pearson", "pairs", "known", "coverage", "bad_lines":
            assert row[key] == expected[key]
    assert [row["name"] for row in found] == ["comma", "windows", "blanks", "simlex"]


def test_mean_and_other_vectors_change_the_score(trained, exported, pairs):
    ways = [], ["--centre"], ["--vectors", "output"], ["--vectors", "sum", "--centre"]
    assert len({judge("similarity", trained, pairs, *way)[0]["spearman"] for way in ways}) == 4
    done = wordtide("eval", "similarity", exported, pairs, "--vectors", "sum")
    assert done.returncode == 2 and "output vectors" in done.stderr


def test_a_correlation_that_is_not_defined_is_null(trained, folder):
    path = folder / "one.tsv"
    path.write_text("the\tand\t5\n")
    [found] = judge("similarity", trained, path)
    assert found["spearman"] is None and found["pearson"] is None and found["known"] == 1
    assert " - " in wordtide("eval", "similarity", trained, path).stdout


def test_a_file_without_pairs_fails_and_the_others_are_judged(trained, pairs, folder):
    (folder / "empty.tsv").write_text("nothing here\n")
    done = wordtide("eval", "similarity", trained, folder / "empty.tsv", pairs, "--tsv")
    assert done.returncode == 1 and "empty.tsv" in done.stderr
    assert len(done.stdout.splitlines()) == 2
    done = wordtide("eval", "similarity", trained, folder / "empty.tsv")
    assert done.returncode == 1 and done.stdout == ""


def test_ngrams_make_vectors_only_where_all_words_are_known(folder):
    model = folder / "ngrams.tide"
    done = wordtide("train", "-o", model, "--vocab", 300, "--dim", 8, "--threads", 1,
                    "--subword", 500, "--quiet", "demo:tokens=20000")
    assert done.returncode == 0, done.stderr
    path = folder / "unseen.tsv"
    path.write_text("the\tunseenwords\t5\nthe\tof\t4\nand\tof\t3\n")
    known = [judge("similarity", model, path, "--among", n)[0]["known"] for n in (0, 299, 300, 301)]
    assert known == [3, 2, 2, 2]


# -- analogies -----------------------------------------------------------------------------------


def compare(found, theirs, oov):
    score, sections = theirs
    *sections, total = sections
    assert [s["name"] for s in found["sections"]] == [s["section"] for s in sections]
    for ours, section in zip(found["sections"] + [found], sections + [total]):
        right, wrong = len(section["correct"]), len(section["incorrect"])
        assert (ours["right"], ours["asked"]) == (right, right + wrong)
        expected = pytest.approx(right / (right + wrong), abs=LAST_DIGIT) if right + wrong else None
        assert ours["accuracy"] == expected
    assert found["accuracy"] == pytest.approx(score, abs=LAST_DIGIT) and found["oov"] == oov


@pytest.mark.parametrize("among", [0, 600])
@pytest.mark.parametrize("oov", ["skip", "wrong"])
def test_questions_score_as_in_gensim(trained, exported, questions, among, oov):
    vectors = keyed(exported)
    theirs = vectors.evaluate_word_analogies(
        str(questions), restrict_vocab=among or len(vectors), dummy4unknown=oov == "wrong"
    )
    for model in trained, exported:
        [found] = judge("analogy", model, questions, "--among", among, "--oov", oov)
        compare(found, theirs, oov)
        assert found["right"] > 20 and found["among"] == among
        for kind, gram in ("syntactic", True), ("semantic", False):
            rows = [s for s in found["sections"] if s["name"].startswith("gram") == gram]
            for key in "right", "asked", "questions":
                assert found[kind][key] == sum(row[key] for row in rows)


def test_exact_spelling_answers_as_gensim_does(mixed, folder):
    rng = random.Random(6)
    vectors = keyed(mixed)
    words = vectors.index_to_key
    path = folder / "cased.txt"
    with path.open("w") as file:
        print(": a\n", file=file)
        for i in range(300):
            a, b, c, d = rng.sample(words, 4)
            if i % 2:
                (d, best), (_, second) = vectors.most_similar(positive=[b, c], negative=[a], topn=2)
                assert best - second > 1e-6, "rounding decides: take another seed"
            print(a, b, c, d, file=file)
    theirs = vectors.evaluate_word_analogies(str(path), case_insensitive=False)
    [found] = judge("analogy", mixed, path)
    compare(found, theirs, "skip")
    assert found["right"] >= 150 and found["asked"] == 300


def test_table_and_tsv_equal_json(trained, questions):
    [found] = judge("analogy", trained, questions)
    lines = wordtide("eval", "analogy", trained, questions, "--tsv").stdout.splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]
    expected = found["sections"] + [found["semantic"], found["syntactic"], found]
    for row, section in zip(rows, expected, strict=True):
        assert int(row["right"]) == section["right"] and int(row["asked"]) == section["asked"]
        accuracy = None if row["accuracy"] == "-" else float(row["accuracy"])
        assert accuracy == section["accuracy"]
    table = wordtide("eval", "analogy", trained, questions).stdout.splitlines()
    assert len(table) == len(lines) and len({len(line) for line in table}) == 1


# -- any file ------------------------------------------------------------------------------------


def test_every_format_is_judged_alike(trained, pairs, questions, folder):
    expected = judge("similarity", trained, pairs), judge("analogy", trained, questions)
    for name, form in [("a.vec", "word2vec"), ("a.npy", "npy"), ("a.glove", "glove"),
                       ("a.safetensors", "safetensors")]:
        done = wordtide("export", trained, "-o", folder / name, "--format", form)
        assert done.returncode == 0
        path = folder / name
        assert (judge("similarity", path, pairs), judge("analogy", path, questions)) == expected
        reported = json.loads(wordtide("info", "--json", path).stdout)
        assert reported["format"] == form and reported["left_out"] == reported["twice"] == 0


def test_files_of_vectors_answer_as_their_model(trained, exported, folder):
    for question in (["nearest", "tea"], ["similarity", "tea", "coffee"], ["vector", "tea"],
                     ["analogy", "bridge", "bridges", "castle"]):
        command, *words = question
        ours = wordtide(command, trained, *words)
        assert ours.returncode == 0 and ours.stdout == wordtide(command, exported, *words).stdout
    again = folder / "again.bin"
    assert wordtide("export", exported, "-o", again).returncode == 0
    assert again.read_bytes() == exported.read_bytes()


def test_counts_are_not_invented(trained, exported):
    ours = [line.split("\t") for line in wordtide("words", trained).stdout.splitlines()]
    theirs = [line.split("\t") for line in wordtide("words", exported).stdout.splitlines()]
    assert [row[0] for row in theirs] == [row[0] for row in ours]
    assert {(count, error) for _, count, error in theirs} == {("-", "-")}
    first = wordtide("words", exported, "-n1", "--json").stdout
    assert json.loads(first) == {"word": ours[0][0], "count": None, "error": None}


# -- bad input -----------------------------------------------------------------------------------


def test_hostile_names_are_data(trained, folder):
    path = folder / "a\tb\x1b[31m\n.tsv"
    path.write_text("the\tand\t5\nthe\tof\t4\nand\tof\t3\n")
    [found] = judge("similarity", trained, path)
    assert found["file"] == str(path)
    for more in [], ["--tsv"]:
        shown = wordtide("eval", "similarity", trained, path, *more).stdout
        assert "\x1b" not in shown and len(shown.splitlines()) == 2
    sections = folder / "sections.txt"
    sections.write_text(': \x1b[2J"\\\nthe and of the\n')
    [found] = judge("analogy", trained, sections)
    assert found["sections"][0]["name"] == '\x1b[2J"\\'
    assert "\x1b" not in wordtide("eval", "analogy", trained, sections).stdout


@pytest.mark.parametrize("arguments", [
    [], ["similarity"], ["similarity", "MODEL"], ["nothing", "MODEL", "PAIRS"],
    ["similarity", "MODEL", "PAIRS", "--json", "--tsv"],
    ["similarity", "MODEL", "PAIRS", "--oov", "wrong"],
    ["analogy", "MODEL", "PAIRS", "PAIRS"],
])
def test_usage_errors_are_reported(arguments, trained, pairs):
    names = {"MODEL": trained, "PAIRS": pairs}
    done = wordtide("eval", *(names.get(word, word) for word in arguments))
    assert done.returncode == 2


def test_what_is_no_file_of_vectors_is_an_unusable_model(pairs, folder):
    done = wordtide("eval", "similarity", pairs, pairs)
    assert done.returncode == 4 and "pairs.tsv" in done.stderr
    assert wordtide("eval", "analogy", folder / "missing", pairs).returncode == 1
