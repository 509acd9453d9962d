"""Vectors from elsewhere begin a model, and texts get vectors."""

import json
import math
import struct
import subprocess

import pytest

from conftest import SMALL, wordtide


def run(*arguments, code=0, **options):
    done = wordtide(*arguments, **options)
    assert done.returncode == code, done.stderr
    return done


def counts(model):
    lines = run("words", model, "-n", "100000", "--json").stdout.splitlines()
    return {entry["word"]: entry["count"] for entry in map(json.loads, lines)}


def vectors(path):
    """Word and numbers, as floats have them."""
    lines = run("vector", path).stdout.splitlines()[1:]
    rows = (line.split(" ") for line in lines)
    return {word: [struct.pack("f", float(n)) for n in numbers] for word, *numbers in rows}


FORMATS = ["word2vec", "word2vec-binary", "glove", "npy", "safetensors"]


@pytest.mark.parametrize("how", FORMATS)
def test_export_and_import_lose_nothing(model, tmp_path, how):
    file = tmp_path / ("v.npy" if how == "npy" else "v")
    run("export", model, "--format", how, "-o", file)
    run("import", file, "-o", tmp_path / "back.tide")
    assert vectors(tmp_path / "back.tide") == vectors(model)
    order = run("words", model).stdout.splitlines(), run("words", tmp_path / "back.tide")
    assert [line.split("\t")[0] for line in order[0]] == [
        line.split("\t")[0] for line in order[1].stdout.splitlines()
    ]
    if how in ("npy", "safetensors"):  # which have counts
        assert counts(tmp_path / "back.tide") == counts(model)


def test_a_model_can_be_imported_itself(model, tmp_path):
    run("import", model, "-o", tmp_path / "back.tide", "--vocab", "1000")
    assert vectors(tmp_path / "back.tide") == vectors(model)
    assert counts(tmp_path / "back.tide") == counts(model)


def test_counts_come_from_a_file_or_fall_with_the_rank(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text("3 2\ntea 1 2\nrain 3 4\nsnow 5 6\n")
    run("import", file, "-o", tmp_path / "m.tide", "--vocab", "10")
    assert counts(tmp_path / "m.tide") == {"tea": 30, "rain": 15, "snow": 10}
    (tmp_path / "counts").write_text("rain 7\ntea\t9\n")
    run("import", file, "-o", tmp_path / "m.tide", "--counts", tmp_path / "counts")
    assert counts(tmp_path / "m.tide") == {"tea": 9, "rain": 7, "snow": 1}
    (tmp_path / "counts").write_text("rain 7\ntea nine\n")
    done = run("import", file, "-o", tmp_path / "m.tide", "--counts", tmp_path / "counts", code=4)
    assert "counts:2: not a word and its count" in done.stderr


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def test_training_goes_on_from_imported_vectors(model, text, tmp_path):
    """Known words stay near where they were; new ones come in."""
    run("export", model, "-o", tmp_path / "v.vec")
    run("import", tmp_path / "v.vec", "-o", tmp_path / "m.tide", "--vocab", "500")
    before = vectors(tmp_path / "m.tide")
    more = text[: len(text) // 20] + b"\nzyx wvu zyx\n"
    run("train", "--resume", tmp_path / "m.tide", input=more)
    after = vectors(tmp_path / "m.tide")
    assert "zyx" in after and set(before) <= set(after)
    moved = [
        cosine(*([struct.unpack("f", n)[0] for n in v[word]] for v in (before, after)))
        for word in before
    ]
    assert sorted(moved)[len(moved) // 2] > 0.9


def test_words_beyond_the_room_and_odd_rows_are_counted(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text("5 2\na 1 2\nb 3 4\na 5 6\nc 7 8\nd 1 1\n")
    done = run("import", file, "-o", tmp_path / "m.tide", "--vocab", "2")
    assert "2 words in" in done.stderr and "2 more did not fit" in done.stderr
    assert "1 rows left out" in done.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"2 2\na 1 2\n", "v.vec"),
        (b"2 3\na 1 2 3\nb 1\n", "v.vec:3"),
        (b"", "v.vec"),
        (b"\x93NUMPY\x01\0", "v.vec"),
    ],
)
def test_what_is_no_file_of_vectors_is_refused(tmp_path, content, why):
    file = tmp_path / "v.vec"
    file.write_bytes(content)
    done = run("import", file, "-o", tmp_path / "m.tide", code=4)
    assert why in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "m.tide").exists()


def test_another_dimension_is_refused(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text("1 2\na 1 2\n")
    done = run("import", file, "-o", tmp_path / "m.tide", "--dim", "3", code=4)
    assert "the vectors have 2 numbers, and --dim says 3" in done.stderr


def test_subwords_leave_imported_vectors_as_they_are(model, tmp_path):
    run("export", model, "-o", tmp_path / "v.vec")
    run("import", tmp_path / "v.vec", "-o", tmp_path / "m.tide", "--subword", "1000")
    for word, numbers in vectors(tmp_path / "m.tide").items():
        wanted = vectors_of(model)[word]
        for number, exact in zip(numbers, wanted):
            assert struct.unpack("f", number)[0] == pytest.approx(exact, abs=1e-5)


def vectors_of(model, kept={}):
    if model not in kept:
        kept[model] = {w: [struct.unpack("f", n)[0] for n in v] for w, v in vectors(model).items()}
    return kept[model]


# -- real writers -----------------------------------------------------------------------------


def test_what_gensim_writes_is_read(tmp_path):
    models = pytest.importorskip("gensim.models")
    sentences = [f"w{i % 7} w{i % 11} w{i % 13}".split() for i in range(500)]
    made = models.Word2Vec(sentences, vector_size=8, min_count=1, workers=1, seed=1)
    for binary in False, True:
        file = tmp_path / f"v{binary}"
        made.wv.save_word2vec_format(str(file), fvocab=str(tmp_path / "vocab"), binary=binary)
        run("import", file, "-o", tmp_path / "m.tide", "--counts", tmp_path / "vocab")
        found = vectors(tmp_path / "m.tide")
        assert list(found) == made.wv.index_to_key
        for word, numbers in found.items():
            assert b"".join(numbers) == made.wv[word].astype("<f4").tobytes() or not binary
        assert counts(tmp_path / "m.tide") == {
            word: made.wv.get_vecattr(word, "count") for word in made.wv.index_to_key
        }


def test_what_fasttext_writes_is_read(tmp_path, text):
    try:
        subprocess.run(
            ["fasttext", "skipgram", "-input", "text", "-output", "ft", "-dim", "8",
             "-minCount", "5", "-epoch", "1", "-thread", "1", "-bucket", "1000"],
            cwd=tmp_path, check=True, capture_output=True, timeout=25,
        ) if (tmp_path / "text").write_bytes(text) else None
    except FileNotFoundError:
        pytest.skip("fasttext is not installed")
    run("import", tmp_path / "ft.vec", "-o", tmp_path / "m.tide")
    lines = (tmp_path / "ft.vec").read_text().splitlines()
    found = vectors(tmp_path / "m.tide")
    assert len(found) == int(lines[0].split()[0]) == len(lines) - 1
    word, *numbers = lines[1].split()
    assert found[word] == [struct.pack("f", float(n)) for n in numbers]


# -- texts ------------------------------------------------------------------------------------


def test_embed_gives_the_weighted_mean_of_the_words(model):
    total = json.loads(run("info", model, "--json").stdout)["tokens"]
    known = counts(model)
    words = list(known)[3:6]
    line = " ".join([*words, "qqqqqq", words[0].upper()])
    told = run("embed", model, "--raw", "--format", "json", input=line).stdout
    weights = [0.001 / (0.001 + known[w] / total) for w in [*words, words[0]]]
    for d, number in enumerate(json.loads(told)["vector"]):
        rows = [vectors_of(model)[w][d] for w in [*words, words[0]]]
        mean = sum(w * x for w, x in zip(weights, rows)) / sum(weights)
        assert number == pytest.approx(mean, abs=1e-6)


def test_every_line_has_its_row_known_or_not(model, tmp_path):
    known = list(counts(model))[5]
    text = f"{known}\n\nqqqqqq\n{known} {known}"
    done = run("embed", model, input=text)
    lines = done.stdout.split("\n")
    assert len(lines) == 5 and lines[1] == lines[2] == lines[4] == ""
    assert len(lines[0].split("\t")) == 16 and lines[0] == lines[3]
    assert "2 of 4 lines have no word that is known" in done.stderr
    objects = run("embed", model, "--format", "json", input=text).stdout.splitlines()
    assert [json.loads(line)["vector"] is None for line in objects] == [False, True, True, False]
    run("embed", model, "--format", "npy", "-o", tmp_path / "v.npy", input=text)
    numpy = pytest.importorskip("numpy")
    rows = numpy.load(tmp_path / "v.npy", mmap_mode="r")
    assert rows.shape == (4, 16) and numpy.isnan(rows).all(axis=1).tolist() == [
        False, True, True, False]
    assert [float(n) for n in lines[0].split("\t")] == pytest.approx(rows[0].tolist())


def test_npy_does_not_go_into_a_pipe(model):
    done = run("embed", model, "--format", "npy", input="tea\n", code=2)
    assert "-o" in done.stderr


def test_lines_about_the_same_are_near(tmp_path):
    run("train", "demo:tokens=200000", "-o", tmp_path / "m.tide", *SMALL, "--vocab", "3000")
    text = "tea and coffee with milk\nthe beer and the brandy\nstorm and thunder and rain\n"
    a, b, c = (
        [float(n) for n in line.split("\t")]
        for line in run("embed", tmp_path / "m.tide", input=text).stdout.splitlines()
    )
    assert cosine(a, b) > cosine(a, c) + 0.2 and cosine(a, b) > cosine(b, c) + 0.2
