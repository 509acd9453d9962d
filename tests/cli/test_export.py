"""Exported vectors as other programs read them: gensim, fastText, NumPy, PostgreSQL, SQLite.

A reader that is not installed skips its test. What the library itself reads is printed by
print_rows, which the build makes beside the tests.
"""

import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess

import pytest

from conftest import BINARY, PATIENCE, start, train, wordtide
from optional import OptionalModule, need_program
from ranking import assert_same_ranking

numpy = OptionalModule("numpy")
PRINT_ROWS = pathlib.Path(BINARY).resolve().parents[1] / "tests" / "print_rows"
STREAMS = ["word2vec", "word2vec-binary", "glove", "safetensors", "pgvector"]


def export(model, path, *arguments):
    done = wordtide("export", model, "-o", path, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def read_rows(path, *form):
    """(format, {word: (count, bits of the vector)}, left out) of a file, as we read it."""
    if not PRINT_ROWS.exists():
        pytest.skip("no print_rows: the build has no tests")
    done = subprocess.run(
        [PRINT_ROWS, path, *form], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    head, *rows, tail, _ = done.stdout.split("\n")
    table = {}
    for row in rows:
        word, count, bits = row.split("\t")
        table[word] = int(count), bits
    return head.split()[0], table, int(tail.split()[-1])


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A model with words that break careless readers."""
    words = ['"', "\\", "\\N", "é", "日本", "a\u00a0b", "x\u2028y", "x\u0085y", "😀", "1e5"]
    path = tmp_path_factory.mktemp("odd") / "odd.tide"
    train(path, (" ".join(words) + "\n").encode() * 50, "--tokens", "space")
    return path


# -- the command -----------------------------------------------------------------------------


def test_one_line_says_how_many_words_were_written(model, words, tmp_path):
    said = export(model, tmp_path / "a.vec")
    assert said == f"wordtide: {len(words)} words written\n"
    said = export(model, tmp_path / "a.vec", "--top", "7")
    assert said == "wordtide: 7 words written\n"
    assert (tmp_path / "a.vec").read_text().splitlines()[0] == "7 16"


def test_words_that_a_format_cannot_represent_are_counted(odd, tmp_path):
    said = export(odd, tmp_path / "a", "--format", "glove")
    left_out = int(said.split("; ")[1].split()[0])
    words = {line.split("\t")[0] for line in wordtide("words", odd).stdout.split("\n")[:-1]}
    held = {word for word in words if word.split() == [word]}
    assert left_out == len(words) - len(held)
    lines = (tmp_path / "a").read_text().split("\n")[:-1]
    assert {line.split()[0] for line in lines} == held
    assert all(len(line.split()) == 17 for line in lines)


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("a.vec", b"3 16\n"),
        ("a.txt", b"3 16\n"),
        ("a.bin", b"3 16\n"),
        ("a.npy", b"\x93NUMPY"),
        ("a.db", b"SQLite format 3\0"),
        ("a.sqlite", b"SQLite format 3\0"),
    ],
)
def test_the_suffix_selects_the_format(model, tmp_path, name, beginning):
    export(model, tmp_path / name, "--top", "3")
    assert (tmp_path / name).read_bytes().startswith(beginning)


@pytest.mark.parametrize("form", STREAMS)
def test_standard_output_gets_the_same_bytes(model, tmp_path, form):
    export(model, tmp_path / "a", "--format", form)
    for more in [], ["-o", "-"]:
        done = subprocess.run(
            [BINARY, "export", model, "--format", form, *more], capture_output=True, check=True
        )
        assert done.stdout == (tmp_path / "a").read_bytes()


def test_a_closed_pipe_is_no_failure(model):
    process = start(
        "export", model, "--format", "word2vec", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() in (b"", b"wordtide: 300 words written\n")
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-o", "a.unknown"], 2),
        ([], 2),
        (["--format", "glvoe"], 2),
        (["--format", "tide"], 2),
        (["--format", "npy"], 2),
        (["--format", "glove", "--dtype", "f16"], 2),
        (["--format", "npy", "--dtype", "f64", "-o", "a"], 2),
        (["--format", "glove", "-o", "no/such/folder/a"], 1),
        (["--format", "glove", "-o", "."], 1),
        (["--format", "glove", "-o", "/dev/stdout"], 2),
        (["--format", "glove", "-o", "/dev/null"], 2),
    ],
)
def test_a_usage_error_writes_nothing(model, tmp_path, arguments, code):
    done = wordtide("export", model, *arguments, cwd=tmp_path)
    assert done.returncode == code and done.stdout == ""
    assert done.stderr.startswith("wordtide: ") and len(done.stderr.splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_rejected_in_favor_of_standard_output(model):
    done = wordtide("export", model, "--format", "glove", "-o", "/dev/stdout")
    assert "'-o -' writes to standard output" in done.stderr


def test_the_help_names_suffixes_and_files(model):
    reported = " ".join(wordtide("export", "--help").stdout.split())
    assert ".safetensors safetensors" in reported and "NAME.words.tsv" in reported
    reported = " ".join(wordtide("import", "--help").stdout.split())
    assert "glove (" in reported and "safetensors (" in reported and "pgvector" not in reported


@pytest.mark.parametrize("form", ["word2vec", "glove", "pgvector", "word2vec-binary"])
def test_the_only_dtype_may_be_given(model, tmp_path, form):
    export(model, tmp_path / "a", "--format", form)
    export(model, tmp_path / "b", "--format", form, "--dtype", "f32")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_damaged_model_is_unusable(model, tmp_path):
    (tmp_path / "bad.tide").write_bytes(model.read_bytes()[:-100])
    done = wordtide("export", tmp_path / "bad.tide", "-o", tmp_path / "a.vec")
    assert done.returncode == 4 and not (tmp_path / "a.vec").exists()


def test_a_full_disk_leaves_the_old_file(model, tmp_path):
    path = tmp_path / "a.vec"
    path.write_text("old")
    limited = f"ulimit -f 4; exec '{BINARY}' export '{model}' -o '{path}'"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "cannot write" in done.stderr
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


# -- round trips -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", ["word2vec", "word2vec-binary", "glove", "npy", "safetensors"]
)
def test_exported_vectors_are_read_back_bit_by_bit(model, odd, tmp_path, form):
    for path in model, odd:
        _, native, _ = read_rows(path)
        said = export(path, tmp_path / "a", "--format", form)
        reported, table, left_out = read_rows(tmp_path / "a")
        assert reported == form and left_out == 0
        missing = int(said.split("; ")[1].split()[0]) if ";" in said else 0
        assert len(native) == len(table) + missing
        for word, (count, bits) in table.items():
            assert bits == native[word][1]
            assert count == (native[word][0] if form in ("npy", "safetensors") else 0)


# -- gensim ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def keyed_vectors():
    return OptionalModule("gensim.models").KeyedVectors


def bits_of(vector):
    return b"".join(struct.pack(">f", x) for x in vector).hex()


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_every_word_and_number(keyed_vectors, model, odd, tmp_path, binary):
    form = "word2vec-binary" if binary else "word2vec"
    for path in model, odd:
        _, native, _ = read_rows(path)
        assert ";" not in export(path, tmp_path / "a", "--format", form)
        read = keyed_vectors.load_word2vec_format(str(tmp_path / "a"), binary=binary)
        assert read.index_to_key == list(native)
        for word in native:
            assert bits_of(read[word]) == native[word][1]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_gensim_finds_the_same_neighbors(
    keyed_vectors, model, words, tmp_path, binary, center
):
    form = "word2vec-binary" if binary else "word2vec"
    export(model, tmp_path / "a", "--format", form, *(["--center"] if center else []))
    read = keyed_vectors.load_word2vec_format(str(tmp_path / "a"), binary=binary)
    for word in words[:10]:
        raw = [] if center else ["--no-center"]
        hits = json.loads(wordtide("nearest", model, word, "--json", *raw).stdout)
        assert len(hits) == 10
        assert_same_ranking([(hit["word"], hit["score"]) for hit in hits], read.most_similar(word, topn=15), 1e-5)


def test_gensim_reads_glove(keyed_vectors, model, words, tmp_path):
    export(model, tmp_path / "a", "--format", "glove")
    read = keyed_vectors.load_word2vec_format(str(tmp_path / "a"), no_header=True)
    assert read.index_to_key == words


@pytest.mark.parametrize("binary", [False, True])
def test_files_of_gensim_are_read(keyed_vectors, model, tmp_path, binary):
    _, native, _ = read_rows(model)
    export(model, tmp_path / "a.vec")
    read = keyed_vectors.load_word2vec_format(str(tmp_path / "a.vec"))
    read.save_word2vec_format(str(tmp_path / "theirs"), binary=binary)
    reported, table, left_out = read_rows(tmp_path / "theirs")
    assert reported == ("word2vec-binary" if binary else "word2vec") and left_out == 0
    assert {w: bits for w, (_, bits) in table.items()} == {
        w: bits for w, (_, bits) in native.items()
    }


# -- fastText ----------------------------------------------------------------------------------


def test_fasttext_accepts_the_vectors(model, words, tmp_path):
    fasttext = need_program("fasttext")
    export(model, tmp_path / "a.vec")
    (tmp_path / "text").write_text("__label__a " + " ".join(words[:50]) + "\n" * 9)
    subprocess.run(
        [fasttext, "supervised", "-input", tmp_path / "text", "-output", tmp_path / "ft",
         "-dim", "16", "-pretrainedVectors", tmp_path / "a.vec", "-lr", "0", "-epoch", "1",
         "-thread", "1", "-minCount", "1", "-verbose", "0"],
        check=True, capture_output=True,
    )
    asked = "\n".join(words) + "\n"
    reported = subprocess.run(
        [fasttext, "print-word-vectors", tmp_path / "ft.bin"],
        input=asked, text=True, check=True, capture_output=True,
    ).stdout
    ours = dict(
        line.split(" ", 1) for line in (tmp_path / "a.vec").read_text().splitlines()[1:]
    )
    for line in reported.splitlines():
        word, *numbers = line.split()
        for theirs, number in zip(numbers, ours[word].split()):
            assert float(theirs) == pytest.approx(float(number), rel=1e-4)


def test_files_of_fasttext_are_read(text, tmp_path):
    fasttext = need_program("fasttext")
    (tmp_path / "text").write_bytes(text)
    subprocess.run(
        [fasttext, "skipgram", "-input", tmp_path / "text", "-output", tmp_path / "ft",
         "-dim", "8", "-epoch", "1", "-thread", "1", "-maxn", "0", "-verbose", "0"],
        check=True, capture_output=True,
    )
    reported, table, left_out = read_rows(tmp_path / "ft.vec")
    lines = (tmp_path / "ft.vec").read_text().splitlines()[1:]
    assert reported == "word2vec" and left_out == 0 and len(table) == len(lines) > 100
    for line in lines:
        word, *numbers = line.split()
        assert table[word][1] == bits_of(map(float, numbers))


# -- NumPy -------------------------------------------------------------------------------------


def words_beside(path):
    lines = path.read_text().split("\n")[:-1]
    return [line.split("\t") for line in lines]


def test_numpy_maps_the_array(model, words, tmp_path):
    _, native, _ = read_rows(model)
    export(model, tmp_path / "a.npy")
    array = numpy.load(tmp_path / "a.npy", mmap_mode="r", allow_pickle=False)
    assert array.shape == (len(words), 16) and array.dtype == numpy.float32
    assert array.offset % 64 == 0 and array.flags.c_contiguous
    beside = words_beside(tmp_path / "a.words.tsv")
    assert [word for word, _ in beside] == words
    for row, (word, count) in zip(array, beside):
        assert (int(count), bits_of(row)) == native[word]


def test_numpy_makes_the_same_halves_and_bytes(model, tmp_path):
    for dtype in "f32", "f16", "i8":
        export(model, tmp_path / f"{dtype}.npy", "--dtype", dtype)
    full = numpy.load(tmp_path / "f32.npy")
    halves = numpy.load(tmp_path / "f16.npy")
    assert halves.dtype == numpy.float16
    assert (halves.view("u2") == full.astype(numpy.float16).view("u2")).all()
    small = numpy.load(tmp_path / "i8.npy")
    largest = abs(full).max(axis=1, keepdims=True)
    wanted = numpy.rint(127 * (full.astype("f8") / largest.astype("f8")))
    assert small.dtype == numpy.int8 and (small == wanted).all()
    scales = [float(scale) for _, _, scale in words_beside(tmp_path / "i8.words.tsv")]
    assert abs(small * numpy.array(scales)[:, None] - full).max() < largest.max() / 250
    _, table, _ = read_rows(tmp_path / "f16.npy")
    assert [bits for _, bits in table.values()] == [
        bits_of(row) for row in halves.astype("f4")
    ]


def test_files_of_numpy_are_read(model, tmp_path):
    _, native, _ = read_rows(model)
    export(model, tmp_path / "a.npy")
    array = numpy.load(tmp_path / "a.npy")
    for dtype in "<f4", "<f8":
        numpy.save(tmp_path / "a.npy", array.astype(dtype))
        assert read_rows(tmp_path / "a.npy") == ("npy", native, 0)
    numpy.save(tmp_path / "a.npy", numpy.asfortranarray(array))
    done = subprocess.run([PRINT_ROWS, tmp_path / "a.npy"], capture_output=True, check=False)
    assert done.returncode == 1 and b"Fortran order" in done.stderr


# -- safetensors -------------------------------------------------------------------------------


def read_safetensors(raw):
    """The tensors of a file, read strictly by the specification."""
    sizes = {"I64": 8, "F32": 4, "F16": 2, "I8": 1, "U8": 1}
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = raw[8 : 8 + length], raw[8 + length :]
    assert length <= 100_000_000 and header[:1] == b"{" and length % 8 == 0
    assert header.rstrip(b" ")[-1:] == b"}"
    pairs = json.loads(header, object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), "a key occurs twice"
    metadata, tensors, end = {}, {}, 0
    for name, fields in pairs:
        if name == "__metadata__":
            metadata = dict(fields)
            assert all(isinstance(value, str) for value in metadata.values())
            continue
        fields = dict(fields)
        assert set(fields) == {"dtype", "shape", "data_offsets"}
        size = sizes[fields["dtype"]]
        begin, finish = fields["data_offsets"]
        assert begin == end, "there is a hole"
        assert begin % size == 0, "not aligned"
        count = 1
        for extent in fields["shape"]:
            count *= extent
        assert finish - begin == count * size
        tensors[name] = fields["dtype"], fields["shape"], data[begin:finish]
        end = finish
    assert end == len(data), "bytes that belong to no tensor"
    return metadata, tensors


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
def test_safetensors_follow_their_specification(model, words, tmp_path, dtype):
    _, native, _ = read_rows(model)
    export(model, tmp_path / "a.safetensors", "--dtype", dtype)
    metadata, tensors = read_safetensors((tmp_path / "a.safetensors").read_bytes())
    assert metadata["format"] == "wordtide"
    kind, shape, raw = tensors["words"]
    assert kind == "U8" and raw.decode().split("\n") == words and shape == [len(raw)]
    kind, shape, raw = tensors["counts"]
    assert kind == "I64" and shape == [len(words)]
    counts = struct.unpack(f"<{len(words)}q", raw)
    assert list(counts) == [native[word][0] for word in words]
    kind, shape, raw = tensors["embeddings"]
    assert kind == dtype.upper() and shape == [len(words), 16]
    assert ("scales" in tensors) == (dtype == "i8")
    if dtype == "f32":
        numbers = struct.unpack(f"<{16 * len(words)}f", raw)
        assert bits_of(numbers) == "".join(native[word][1] for word in words)


# -- PostgreSQL --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    """A private server on a Unix socket; returns a function that runs psql."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("needs a PostgreSQL server")
    programs = found[-1].parent
    folder = tmp_path_factory.mktemp("postgres")
    run_as = []
    if os.geteuid() == 0:
        if not shutil.which("runuser") or subprocess.run(
            ["id", "postgres"], capture_output=True, check=False
        ).returncode:
            pytest.skip("needs a user to run PostgreSQL as")
        run_as = ["runuser", "-u", "postgres", "--"]
        folder = pathlib.Path(
            subprocess.run(
                [*run_as, "mktemp", "-d", "/tmp/tide-postgres-XXXXXX"],
                capture_output=True, text=True, check=True,
            ).stdout.strip()
        )
    def run(*command, **options):
        return subprocess.run(
            [*run_as, *map(str, command)], capture_output=True, check=True, cwd="/", **options
        )

    data = folder / "data"
    run(programs / "initdb", "-D", data, "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
    options = f"-c listen_addresses= -c fsync=off -k {folder}"
    control = programs / "pg_ctl"
    run(control, "-D", data, "-o", options, "-l", folder / "log", "-w", "start")

    def psql(command, input=b""):
        return run(
            programs / "psql", "-h", folder, "-d", "postgres", "-X", "-A", "-t", "-q",
            "-v", "ON_ERROR_STOP=1", "-c", command, input=input,
        ).stdout.decode()

    yield psql
    run(control, "-D", data, "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder)


def test_postgresql_copies_every_word_and_number(postgres, model, odd, tmp_path):
    installed = postgres("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").strip()
    if installed:
        postgres("CREATE EXTENSION IF NOT EXISTS vector")
    for path in model, odd:
        _, native, _ = read_rows(path)
        assert ";" not in export(path, tmp_path / "copy", "--format", "pgvector")
        lines = (tmp_path / "copy").read_bytes()
        column = "vector(16)" if installed else "real[]"
        if not installed:  # arrays are the same in braces
            head, tail = b"\t[", b"]\n"
            lines = lines.replace(head, b"\t{").replace(tail, b"}\n")
        postgres("DROP TABLE IF EXISTS words")
        postgres(f"CREATE TABLE words(word text PRIMARY KEY, count bigint, vector {column})")
        postgres("COPY words FROM STDIN", input=lines)
        reported = json.loads(
            postgres(
                "SELECT json_agg(json_build_array(word, count, vector::real[])) FROM words"
            )
        )
        assert {word: (count, bits_of(vector)) for word, count, vector in reported} == native


# -- SQLite ------------------------------------------------------------------------------------


def test_sqlite_has_every_word_and_number(model, odd, tmp_path):
    for path in model, odd:
        _, native, _ = read_rows(path)
        assert ";" not in export(path, tmp_path / "a.sqlite")
        with sqlite3.connect(tmp_path / "a.sqlite") as database:
            rows = database.execute("SELECT word, count, vector FROM words ORDER BY rowid")
            found = {
                word: (count, bits_of(struct.unpack("<16f", vector)))
                for word, count, vector in rows
            }
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.close()
        assert list(found) == list(native) and found == native
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]


def test_the_sqlite_command_reads_it(model, words, tmp_path):
    sqlite = need_program("sqlite3")
    export(model, tmp_path / "a.db")
    reported = subprocess.run(
        [sqlite, tmp_path / "a.db", ".schema words",
         "SELECT word FROM words ORDER BY count DESC, rowid LIMIT 5"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    assert reported[0] == (
        "CREATE TABLE words(word TEXT PRIMARY KEY, count INTEGER, vector BLOB);"
    )
    assert reported[1:] == words[:5]


# -- TensorBoard -------------------------------------------------------------------------------


def test_the_projector_gets_three_files_that_agree(model, words, tmp_path):
    export(model, tmp_path / "p", "--format", "projector")
    assert {path.name for path in tmp_path.iterdir()} == {
        "p_vectors.tsv", "p_metadata.tsv", "p_config.json"
    }
    config = json.loads((tmp_path / "p_config.json").read_text())
    (tensor,) = config["embeddings"]
    assert tensor["tensorShape"] == [len(words), 16]
    vectors = (tmp_path / tensor["tensorPath"]).read_text().splitlines()
    header, *rows = (tmp_path / tensor["metadataPath"]).read_text().splitlines()
    assert header == "word\tcount" and [row.split("\t")[0] for row in rows] == words
    _, native, _ = read_rows(model)
    for word, line in zip(words, vectors):
        assert bits_of(map(float, line.split("\t"))) == native[word][1]


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_projector_writes_into_a_directory(model, tmp_path, slash):
    (tmp_path / "p").mkdir()
    export(model, f"{tmp_path}/p{slash}", "--format", "projector")
    assert [path.name for path in tmp_path.iterdir()] == ["p"]
    assert {path.name for path in (tmp_path / "p").iterdir()} == {
        "vectors.tsv", "metadata.tsv", "config.json"
    }
    (tensor,) = json.loads((tmp_path / "p" / "config.json").read_text())["embeddings"]
    assert tensor["tensorPath"] == "vectors.tsv"
