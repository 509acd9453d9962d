"""10,000 words that mean harm, through files of vectors and onto a terminal: they come back as they were, and what a
terminal is sent has no control character in it."""

import json
import os
import pty
import random
import re
import struct
import subprocess

import pytest
from hostile import hostile_words

from conftest import BINARY, wordtide
from optional import OptionalModule

READ_AGAIN = ["word2vec", "word2vec-binary", "glove", "safetensors", "npy"]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def holdable(word):
    """Whether a binary file of word2vec has room for it, and a vocabulary."""
    return 0 < len(word.encode()) <= 63 and not re.search("[ \n]", word)


WORDS = list(dict.fromkeys(word for word in hostile_words(20_000) if holdable(word)))[:10_000]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """An untrusted file: no trainer has removed its control characters."""
    draw = random.Random(3)
    rows = (word.encode() + b" " + struct.pack("<4f", *(draw.uniform(-1, 1) for _ in range(4))) + b"\n"
            for word in WORDS)
    path = tmp_path_factory.mktemp("hostile") / "stranger.bin"
    path.write_bytes(f"{len(WORDS)} 4\n".encode() + b"".join(rows))
    return path


def words_of(path):
    """The words of any file of vectors, exactly."""
    done = subprocess.run([BINARY, "words", path, "-n", "100000", "--json"], capture_output=True, check=True)
    assert not CONTROL.search(done.stdout.decode())
    return [json.loads(line)["word"] for line in done.stdout.decode().split("\n")[:-1]]


def test_all_hostile_words_are_held(vectors):
    assert len(WORDS) == 10_000 and any("\x1b" in word for word in WORDS)
    assert words_of(vectors) == WORDS


@pytest.mark.parametrize("form", READ_AGAIN)
def test_words_in_a_format_are_read_back(vectors, tmp_path, form):
    out = tmp_path / ("out.npy" if form == "npy" else "out")
    done = wordtide("export", vectors, "--format", form, "-o", out)
    assert done.returncode == 0, done.stderr
    written = int(re.match(r"wordtide: (\d+) words written", done.stderr)[1])
    again = words_of(out)
    assert len(again) == written > 0.5 * len(WORDS)
    kept = set(again)
    assert again == [word for word in WORDS if word in kept]
    model = tmp_path / "again.tide"
    done = wordtide("import", out, "-o", model, "-q", "--admission", "none")
    assert done.returncode == 0, done.stderr
    assert set(words_of(model)) == kept


@pytest.mark.parametrize("form", ["word2vec", "word2vec-binary"])
def test_gensim_reads_the_words_in_a_format(vectors, tmp_path, form):
    models = OptionalModule("gensim.models")
    assert wordtide("export", vectors, "--format", form, "-o", tmp_path / "out").returncode == 0
    loaded = models.KeyedVectors.load_word2vec_format(tmp_path / "out", binary=form == "word2vec-binary")
    assert loaded.index_to_key == words_of(tmp_path / "out")


# -- on a terminal ------------------------------------------------------------------------------------------------


def on_terminal(*arguments):
    """The command's combined output on a terminal, and its exit status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                               env=dict(os.environ, TERM="xterm"))
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 65536):
            shown += more
    except OSError:
        pass  # the other side has closed
    os.close(ours)
    return shown.decode().replace("\r\n", "\n"), process.wait(20)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_terminal_is_sent_no_control_characters(vectors, tmp_path, more):
    draw = random.Random(4)
    harmful = [word for word in WORDS if CONTROL.search(word) and not word.startswith("-")]
    shown, code = on_terminal("words", vectors, "-n", "100000", *more)
    assert code == 0 and not CONTROL.search(shown) and shown.count("\n") == len(WORDS)
    for turn in range(10):
        some = draw.sample(harmful, 3)
        for question in (["nearest", *more, vectors, some[0]], ["nearest", *more, vectors, *some],
                         ["analogy", *more, vectors, *some], ["similarity", *more, vectors, *some[:2]],
                         ["vector", *more, vectors, *some], ["nearest", *more, vectors, some[0] + "Zz9"],
                         ["similarity", *more, vectors, some[0], some[1] + "Zz9"]):
            shown, code = on_terminal(*question)
            assert shown and not CONTROL.search(shown), question
    other = tmp_path / "fewer.bin"
    assert wordtide("export", vectors, "--top", "3000", "-o", other).returncode == 0
    shown, code = on_terminal("diff", other, vectors, "--sort", "new", "-n", "100000", *more)
    assert code == 0 and shown and not CONTROL.search(shown)
    for command in (["info", vectors], ["check", vectors]):
        assert not CONTROL.search(on_terminal(*command)[0])


def test_an_export_to_a_terminal_is_rejected(vectors):
    for form in ("word2vec", "safetensors"):
        shown, code = on_terminal("export", vectors, "--format", form)
        assert code == 2 and "standard output is a terminal" in shown and shown.count("\n") <= 2
