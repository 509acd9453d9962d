"""Importing vectors from elsewhere, and embedding texts."""

import gzip
import json
import math
import os
import random
import resource
import struct
import subprocess

import pytest

from optional import OptionalModule, need_program
from running import BINARY, SANITIZED, SMALL, counts, train, wordtide
from watching import PATIENCE

numpy = OptionalModule("numpy")


def run(*arguments, code=0, **options):
    done = wordtide(*arguments, **options)
    assert done.returncode == code, done.stderr
    return done


def vectors(path):
    """Words and vectors, rounded to single precision."""
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
    for wrong in ("tea nine", "tea -9", "tea \v-9", "tea 18446744073709551616", "tea"):
        (tmp_path / "counts").write_text(f"rain 7\n{wrong}\n")
        done = run("import", file, "-o", tmp_path / "m.tide", "--counts", tmp_path / "counts", code=4)
        assert "counts:2: not a word and its count" in done.stderr


VEC = "3 2\ntea 1 2\nrain 3 4\nsnow 5 6\n"


@pytest.fixture
def vec(tmp_path):
    (tmp_path / "v.vec").write_text(VEC)
    return tmp_path / "v.vec"


@pytest.mark.parametrize(
    "profile", ["default", "fast", "paper", "athena", "incremental", "word2vec"]
)
def test_training_resumes_in_every_profile(vec, tmp_path, profile):
    small = ["--vocab", "10", "--reservoir", "1000"]
    run("import", vec, "-o", tmp_path / "m.tide", "--profile", profile, *small)
    assert set(counts(tmp_path / "m.tide")) == {"tea", "rain", "snow"}
    text = "tea with rain and snow and rain\n" * 50
    run("train", "--resume", tmp_path / "m.tide", input=text)
    assert counts(tmp_path / "m.tide")["rain"] > 15


def test_counts_may_come_from_a_pipe(vec, tmp_path):
    pipe = "<(printf 'tea 9\\nrain 7\\n')"
    script = f"'{BINARY}' import '{vec}' -o '{tmp_path}/m.tide' --counts {pipe}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert counts(tmp_path / "m.tide") == {"tea": 9, "rain": 7, "snow": 1}
    assert "1 of them are not in " in done.stderr


def test_counts_from_a_directory_are_an_error(vec, tmp_path):
    done = run("import", vec, "-o", tmp_path / "m.tide", "--counts", tmp_path, code=1)
    assert "Is a directory" in done.stderr and not (tmp_path / "m.tide").exists()


def test_counts_of_zero_and_of_long_words_are_ignored(vec, tmp_path):
    (tmp_path / "counts").write_text("</s> 0\ntea 9\r\n" + "x" * 9000 + " 7\nrain 7\nsnow 5")
    done = run("import", vec, "-o", tmp_path / "m.tide", "--counts", tmp_path / "counts")
    assert counts(tmp_path / "m.tide") == {"tea": 9, "rain": 7, "snow": 5}
    assert "are not in" not in done.stderr


def bounds(model):
    lines = run("words", model, "-n", "100000", "--json").stdout.splitlines()
    return {entry["word"]: (entry["count"], entry["error"]) for entry in map(json.loads, lines)}


def test_imported_counts_keep_their_bounds_and_estimated_ones_have_none(text, vec, tmp_path):
    train(tmp_path / "small.tide", text, "--vocab", "60")
    before = bounds(tmp_path / "small.tide")
    assert any(error for _, error in before.values())
    run("import", tmp_path / "small.tide", "-o", tmp_path / "back.tide")
    assert bounds(tmp_path / "back.tide") == before
    run("import", vec, "-o", tmp_path / "m.tide")
    assert all(count == error for count, error in bounds(tmp_path / "m.tide").values())


def test_the_input_is_not_overwritten(model, vec, tmp_path):
    os.link(vec, tmp_path / "link")
    (tmp_path / "soft").symlink_to(vec)
    (tmp_path / "counts").write_text("tea 1\n")
    copy = tmp_path / "copy.tide"
    copy.write_bytes(model.read_bytes())
    for arguments in (
        ["import", vec, "-o", vec],
        ["import", vec, "-o", tmp_path / "link"],
        ["import", vec, "-o", tmp_path / "soft"],
        ["import", vec, "--counts", tmp_path / "counts", "-o", tmp_path / "counts"],
        ["export", copy, "--format", "glove", "-o", copy],
        ["embed", copy, vec, "-o", copy],
        ["embed", copy, vec, "-o", vec],
    ):
        assert "is the same file as input" in run(*arguments, code=2).stderr
    assert vec.read_text() == VEC and copy.read_bytes() == model.read_bytes()
    assert (tmp_path / "counts").read_text() == "tea 1\n"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("4000000 2\ntea 1 2\n", "v.vec: the file is too short for the 4000000 rows"),
        ("1073741825 2\ntea 1 2\n", "v.vec"),
    ],
)
def test_a_wrong_header_is_detected_at_once(tmp_path, content, why):
    (tmp_path / "v.vec").write_text(content)
    done = run("import", tmp_path / "v.vec", "-o", tmp_path / "m.tide", code=4)
    assert why in done.stderr and "--vocab" not in done.stderr


def test_too_many_rows_are_an_error_that_names_the_file(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text("1073741825 1\na 1\n")
    os.truncate(file, 1 << 33)
    done = run("import", file, "-o", tmp_path / "m.tide", "--format", "word2vec", code=4)
    assert "v.vec: 1073741825 rows" in done.stderr


def test_unknown_formats_are_usage_errors(vec, tmp_path):
    done = run("import", vec, "-o", tmp_path / "m.tide", "--format", "glvoe", code=2)
    assert "did you mean glove?" in done.stderr
    done = run("import", vec, "-o", tmp_path / "m.tide", "--format", "pgvector", code=2)
    assert "format pgvector cannot be read" in done.stderr


def test_pipes_and_compressed_files_are_read(vec, model, tmp_path):
    wanted = vectors_in_text(VEC)
    (tmp_path / "v.vec.gz").write_bytes(gzip.compress(VEC.encode()))
    (tmp_path / "v.glove.gz").write_bytes(gzip.compress(VEC.split("\n", 1)[1].encode()))
    for name in "v.vec.gz", "v.glove.gz":
        run("import", tmp_path / name, "-o", tmp_path / "m.tide")
        assert vectors(tmp_path / "m.tide") == wanted
    for content in VEC, VEC.split("\n", 1)[1]:
        run("import", "-", "-o", tmp_path / "p.tide", input=content)
        assert vectors(tmp_path / "p.tide") == wanted
    script = f"'{BINARY}' import <(cat '{vec}') -o '{tmp_path}/q.tide'"
    subprocess.run(["bash", "-c", script], check=True, capture_output=True)
    assert vectors(tmp_path / "q.tide") == wanted
    done = run("import", "-", "-o", tmp_path / "r.tide", input=model.read_bytes(), code=4)
    assert "format tide cannot be read from a pipe" in done.stderr


def vectors_in_text(text):
    rows = (line.split() for line in text.splitlines()[1:])
    return {word: [struct.pack("f", float(n)) for n in numbers] for word, *numbers in rows}


def parameters(model):
    return json.loads(run("info", model, "--json").stdout)["parameters"]


def test_an_imported_model_keeps_its_tokenizer(text, tmp_path):
    train(tmp_path / "a.tide", text, "--tokens", "social", "--numbers", "mask", "--min-length", "3")
    run("import", tmp_path / "a.tide", "-o", tmp_path / "b.tide")
    found = parameters(tmp_path / "b.tide")
    assert (found["tokens"], found["numbers"], str(found["min-length"])) == ("social", "mask", "3")
    run("import", tmp_path / "a.tide", "-o", tmp_path / "b.tide", "--tokens", "space")
    found = parameters(tmp_path / "b.tide")
    assert (found["tokens"], found["numbers"]) == ("space", "mask")


@pytest.fixture
def blanks(tmp_path):
    """A model with a word that has a space, and one that looks like a number."""
    numpy.save(tmp_path / "v.npy", numpy.array([[1, 2], [3, 4], [-5, 6]], "<f4"))
    (tmp_path / "v.words.tsv").write_text("New York\t9\n2024\t8\ntea\t7\n")
    run("import", tmp_path / "v.npy", "-o", tmp_path / "m.tide")
    return tmp_path / "m.tide"


def test_vector_leaves_out_words_with_spaces(blanks):
    done = run("vector", blanks)
    assert done.stdout == "2 2\n2024 3 4\ntea -5 6\n"
    assert "1 words with spaces left out" in done.stderr
    assert len(run("vector", blanks, "--json").stdout.splitlines()) == 3


def test_nearest_accepts_the_vector_of_a_word_that_is_a_number(blanks):
    reported = run("vector", blanks, "2024").stdout
    found = run("nearest", blanks, "--no-centre", "--vector", "-", input=reported).stdout
    assert found.splitlines()[0] == "1.0000\t2024"


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def test_training_continues_from_imported_vectors(model, text, tmp_path):
    """Known words stay near their vectors, and new words are admitted."""
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


def test_words_beyond_the_capacity_and_invalid_rows_are_counted(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text("5 2\na 1 2\nb 3 4\na 5 6\nc 7 8\nd 1 1\n")
    done = run("import", file, "-o", tmp_path / "m.tide", "--vocab", "2")
    assert "2 words in" in done.stderr and "2 more words did not fit" in done.stderr
    assert "1 rows skipped" in done.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"2 2\na 1 2\n", "v.vec"),
        (b"2 3\na 1 2 3\nb 1\n", "v.vec:3"),
        (b"", "v.vec"),
        (b"\x93NUMPY\x01\0", "v.vec"),
    ],
)
def test_a_file_without_vectors_is_rejected(tmp_path, content, why):
    file = tmp_path / "v.vec"
    file.write_bytes(content)
    done = run("import", file, "-o", tmp_path / "m.tide", code=4)
    assert why in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "m.tide").exists()


def test_another_dimension_is_rejected(tmp_path):
    file = tmp_path / "v.vec"
    file.write_text("1 2\na 1 2\n")
    done = run("import", file, "-o", tmp_path / "m.tide", "--dim", "3", code=2)
    assert "the vectors have 2 dimensions, but dim is 3" in done.stderr


def test_subwords_do_not_change_imported_vectors(model, tmp_path):
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


def test_files_of_gensim_are_read(tmp_path):
    models = OptionalModule("gensim.models")
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


def test_files_of_fasttext_are_read(tmp_path, text):
    (tmp_path / "text").write_bytes(text)
    subprocess.run(
        [need_program("fasttext"), "skipgram", "-input", "text", "-output", "ft", "-dim", "8",
         "-minCount", "5", "-epoch", "1", "-thread", "1", "-bucket", "1000"],
        cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE,
    )
    run("import", tmp_path / "ft.vec", "-o", tmp_path / "m.tide")
    lines = (tmp_path / "ft.vec").read_text().splitlines()
    found = vectors(tmp_path / "m.tide")
    assert len(found) == int(lines[0].split()[0]) == len(lines) - 1
    word, *numbers = lines[1].split()
    assert found[word] == [struct.pack("f", float(n)) for n in numbers]


# -- texts ------------------------------------------------------------------------------------


def test_embed_prints_the_weighted_mean_of_the_words(model):
    total = json.loads(run("info", model, "--json").stdout)["tokens"]
    known = counts(model)
    words = list(known)[3:6]
    line = " ".join([*words, "qqqqqq", words[0].upper()])
    reported = run("embed", model, "--raw", "--format", "json", input=line).stdout
    weights = [0.001 / (0.001 + known[w] / total) for w in [*words, words[0]]]
    for d, number in enumerate(json.loads(reported)["vector"]):
        rows = [vectors_of(model)[w][d] for w in [*words, words[0]]]
        mean = sum(w * x for w, x in zip(weights, rows)) / sum(weights)
        assert number == pytest.approx(mean, abs=1e-6)


def test_every_line_has_a_row(model, tmp_path):
    known = list(counts(model))[5]
    text = f"{known}\n\nqqqqqq\n{known} {known}"
    done = run("embed", model, input=text)
    lines = done.stdout.split("\n")
    assert len(lines) == 5 and lines[1] == lines[2] == lines[4] == ""
    assert len(lines[0].split("\t")) == 16 and lines[0] == lines[3]
    assert "2 of 4 lines have no known word" in done.stderr
    objects = run("embed", model, "--format", "json", input=text).stdout.splitlines()
    assert [json.loads(line)["vector"] is None for line in objects] == [False, True, True, False]
    run("embed", model, "--format", "npy", "-o", tmp_path / "v.npy", input=text)
    rows = numpy.load(tmp_path / "v.npy", mmap_mode="r")
    assert rows.shape == (4, 16) and numpy.isnan(rows).all(axis=1).tolist() == [
        False, True, True, False]
    assert [float(n) for n in lines[0].split("\t")] == pytest.approx(rows[0].tolist())


def test_npy_is_not_written_to_a_pipe(model):
    for more in [], ["-o", "-"]:
        done = run("embed", model, "--format", "npy", *more, input="tea\n", code=2)
        assert "-o" in done.stderr and done.stdout == ""


def test_npy_is_not_appended(model, tmp_path):
    path = tmp_path / "v.npy"
    path.write_text("old")
    command = [BINARY, "embed", model, "--format", "npy"]
    with open(path, "ab") as appended:
        done = subprocess.run(command, input=b"tea\n", stdout=appended, check=False)
    assert done.returncode == 2 and path.read_text() == "old"


def test_embed_replaces_a_file_completely_or_not_at_all(model, words, tmp_path):
    path, text = tmp_path / "v.tsv", f"{words[3]}\n" * 2000
    path.write_text("old")
    done = run("embed", model, tmp_path / "missing", "-o", path, code=1)
    assert "missing: No such file" in done.stderr and path.read_text() == "old"
    limited = f"ulimit -f 4; exec '{BINARY}' embed '{model}' -o '{path}'"
    done = subprocess.run(
        ["bash", "-c", limited], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "v.tsv: File too large" in done.stderr
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    run("embed", model, "-o", path, input=text)
    reported = run("embed", model, "-o", "-", input=text).stdout
    assert path.read_text() == reported and len(reported.splitlines()) == 2000
    assert list(tmp_path.iterdir()) == [path]


def test_embed_reads_compressed_files_and_rejects_directories(model, words, tmp_path):
    done = run("embed", model, tmp_path, code=1)
    assert "Is a directory" in done.stderr
    text = f"{words[3]}\n{words[4]} {words[5]}"
    (tmp_path / "t.gz").write_bytes(gzip.compress(text.encode()))
    reported = run("embed", model, tmp_path / "t.gz").stdout
    assert reported == run("embed", model, input=text).stdout and len(reported.splitlines()) == 2


@pytest.mark.skipif(SANITIZED, reason="sanitizers need all of the address space")
def test_a_line_of_any_length_needs_no_more_memory(model, words, tmp_path):
    """A line of 200 MiB, in 128 MiB of address space."""
    part = (words[3].encode() + b" ").ljust(1 << 20)
    (tmp_path / "long").write_bytes(part * 200 + b"\n")

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (128 << 20, 128 << 20))

    done = run("embed", model, tmp_path / "long", preexec_fn=limited)
    short = run("embed", model, input=words[3])
    assert [float(n) for n in done.stdout.split("\t")] == pytest.approx(
        [float(n) for n in short.stdout.split("\t")], abs=1e-6
    )


def test_stop_words_do_not_count_in_texts(text, tmp_path):
    (tmp_path / "stop").write_text("the\nand\n")
    train(tmp_path / "m.tide", text, "--stop-words", tmp_path / "stop", "--subword", "1000")
    with_them = run("embed", tmp_path / "m.tide", input="the tea and the rain\n")
    assert with_them.stdout == run("embed", tmp_path / "m.tide", input="tea rain\n").stdout
    none = run("embed", tmp_path / "m.tide", input="the and\n")
    assert none.stdout == "\n" and "1 of 1 lines" in none.stderr


def test_phrases_are_joined_everywhere(tmp_path):
    rng = random.Random(2)
    fill = [f"w{i}" for i in range(200)]
    lines = (rng.choices(fill, k=5) + ["new", "york"] + rng.choices(fill, k=5) for _ in range(200))
    text = "\n".join(map(" ".join, lines))
    model = tmp_path / "m.tide"
    train(model, text.encode(), "--phrases", "5000", "--phrase-threshold", "5")
    assert "new_york" in counts(model)
    once = run("embed", model, "--raw", input="new york\n").stdout
    assert once == run("vector", model, "new_york").stdout.split(" ", 1)[1].replace(" ", "\t")
    for before in 62, 63, 64, 127:  # words that are not known
        line = "zz " * before + "new york\n"
        assert run("embed", model, "--raw", input=line).stdout == once
    apart = run("embed", model, "--raw", input="new\nyork\n").stdout.splitlines()
    assert once.strip() not in apart


def test_lines_on_one_topic_are_near(tmp_path):
    run("train", "demo:tokens=200000", "-o", tmp_path / "m.tide", *SMALL, "--vocab", "3000")
    text = "tea and coffee with milk\nthe beer and the brandy\nstorm and thunder and rain\n"
    a, b, c = (
        [float(n) for n in line.split("\t")]
        for line in run("embed", tmp_path / "m.tide", input=text).stdout.splitlines()
    )
    assert cosine(a, b) > cosine(a, c) + 0.2 and cosine(a, b) > cosine(b, c) + 0.2
