"""No output replaces a text of the user: neither a file that is not a model, nor an input."""

import gzip
import os
import subprocess

import pytest
from conftest import PATIENCE, SMALL, start, wordtide

CONTENTS = {
    "text": b"The only copy of my notes.\n" * 100,
    "short": b"x",
    "gzip": gzip.compress(b"one two three\n" * 100, mtime=0),
    "vectors": b"2 2\na 1 2\nb 3 4\n",
    "zeros first": b"\0" * 5000 + b"then data",
}

COMMANDS = {
    "train": ["train", "TEXT", "-o"],
    "batch": ["train", "--batch", "TEXT", "-o"],
    "checkpoint": ["train", "TEXT", "--checkpoint"],
    "keep nothing": ["train", "TEXT", "--keep-checkpoints", "0", "-o"],
    "resume": ["train", "--resume", "MODEL", "TEXT", "-o"],
    "resume with checkpoint": ["train", "--resume", "MODEL", "TEXT", "-o", "new.tide", "--checkpoint"],
    "serve": ["serve", "--port", "0", "-o"],
    "serve with checkpoint": ["serve", "--port", "0", "--checkpoint"],
    "labels train": ["labels", "train", "TEXT", "-o"],
    "labels fit": ["labels", "fit", "MODEL", "-o"],
    "labels eval": ["labels", "eval", "MODEL", "TEXT", "--learn", "-o"],
    "import": ["import", "VECTORS", "-o"],
    "trace": ["eval", "trace", "TEXT", "-o"],
}


@pytest.fixture
def folder(text, model, tmp_path, monkeypatch):
    """A text, a model and its vectors, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TEXT").write_bytes(text)
    (tmp_path / "MODEL").write_bytes(model.read_bytes())
    assert wordtide("export", "MODEL", "--format", "word2vec", "-o", "VECTORS").returncode == 0
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refused(folder, message, *arguments):
    """The command ends as for a usage error, and no file has changed."""
    before = contents(folder)
    done = wordtide(*arguments)
    assert done.returncode == 2 and message in done.stderr, (done.returncode, done.stderr)
    assert contents(folder) == before


def not_a_model(name):
    return f"{name} exists and is not a model; choose another name, or delete it"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_model_does_not_replace_a_text(folder, command):
    (folder / "notes.txt").write_bytes(CONTENTS["text"])
    refused(folder, not_a_model("notes.txt"), *COMMANDS[command], "notes.txt")


@pytest.mark.parametrize("content", CONTENTS)
def test_a_model_replaces_only_a_model(folder, content):
    (folder / "file").write_bytes(CONTENTS[content])
    refused(folder, not_a_model("file"), "train", "TEXT", "-o", "file")


def test_the_refusal_comes_before_the_stream_is_read(folder):
    (folder / "notes.txt").write_bytes(CONTENTS["text"])
    process = start("train", "-o", "notes.txt", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.wait(PATIENCE) == 2
        assert process.stderr.read().decode() == "wordtide: " + not_a_model("notes.txt") + "\n"
    finally:
        process.kill()
        process.stdin.close()
        process.stderr.close()


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_text_behind_a_link_is_not_replaced(folder, make):
    (folder / "notes.txt").write_bytes(CONTENTS["text"])
    make("notes.txt", "m.tide")
    refused(folder, not_a_model("m.tide"), "train", "TEXT", "-o", "m.tide")


def test_a_text_is_not_replaced_by_an_earlier_model(folder):
    """logrotate leaves an empty file and its predecessors, for example."""
    (folder / "m.log").write_bytes(b"")
    (folder / "m.log.2").write_bytes(CONTENTS["text"])
    refused(folder, not_a_model("m.log.2"), "train", "TEXT", "-o", "m.log")
    assert wordtide("train", "TEXT", "-o", "m.log", "--keep-checkpoints", "1", *SMALL).returncode == 0
    refused(folder, not_a_model("m.log.2"), "train", "--resume", "m.log", "TEXT")
    assert wordtide("train", "--resume", "m.log", "TEXT", "--keep-checkpoints", "1").returncode == 0
    assert (folder / "m.log.2").read_bytes() == CONTENTS["text"]


def test_a_text_that_appears_during_training_is_not_replaced(folder, text):
    process = start("train", "-o", "m.tide", *SMALL, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(text)
    process.stdin.flush()
    while b"msg=training" not in process.stderr.readline():
        pass
    (folder / "m.tide").write_bytes(CONTENTS["text"])
    log = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 1 and "cannot write m.tide: it exists and is not a model" in log, log
    assert (folder / "m.tide").read_bytes() == CONTENTS["text"]


@pytest.mark.parametrize("content", [b"", b"\0" * 5000])
def test_a_file_without_content_may_be_replaced(folder, content):
    (folder / "m.tide").write_bytes(content)
    assert wordtide("train", "TEXT", "-o", "m.tide", *SMALL).returncode == 0
    assert wordtide("check", "m.tide").returncode == 0


@pytest.mark.parametrize("damage", ["start", "end", "text mode"])
def test_a_corrupt_model_is_still_a_model(folder, damage):
    bad = (folder / "MODEL").read_bytes()
    bad = {"start": bad[:1000], "end": b"damage" + bad[6:], "text mode": bad.replace(b"\r\n", b"\n")}[damage]
    (folder / "m.tide").write_bytes(bad)
    assert wordtide("train", "TEXT", "-o", "m.tide", *SMALL).returncode == 0
    assert (folder / "m.tide.1").read_bytes() == bad


def same_file(output, name):
    return f"output {output} is the same file as input {name}"


@pytest.mark.parametrize("command", ["train", "batch", "checkpoint", "serve", "serve with checkpoint", "labels train", "trace"])
@pytest.mark.parametrize("content", ["text", "empty", "none"])
def test_an_output_is_no_input(folder, command, content):
    """A file that is empty, or not there yet, may be followed."""
    log = folder / "u.txt"
    if content != "none":
        log.write_bytes(CONTENTS["text"] if content == "text" else b"")
    arguments = ["u.txt" if argument == "TEXT" else argument for argument in COMMANDS[command]]
    if command.startswith("serve"):
        arguments.insert(1, "u.txt")
    refused(folder, same_file("u.txt", "u.txt"), *arguments, "u.txt")


def test_an_output_under_another_name_is_no_input(folder):
    log = folder / "u.txt"
    log.write_bytes(CONTENTS["text"])
    os.symlink("u.txt", "link")
    os.link("u.txt", "hard")
    for name in "link", "hard", "./u.txt", log, f"../{folder.name}/u.txt":
        refused(folder, same_file(name, "u.txt"), "train", "TEXT", "u.txt", "-o", name)
        refused(folder, same_file("u.txt", name), "train", "TEXT", name, "-o", "u.txt")


@pytest.mark.parametrize("arguments", [
    ["embed", "MODEL", "TEXT", "-o", "TEXT"],
    ["export", "VECTORS", "--format", "glove", "-o", "VECTORS"],
    ["eval", "counts", "MODEL", "TEXT", "--points", "TEXT"],
    ["eval", "drift", "TEXT", "--points", "TEXT"],
    ["eval", "agreement", "VECTORS", "MODEL", "--points", "VECTORS"],
    ["eval", "agreement", "MODEL", "VECTORS", "--points", "VECTORS"],
    ["labels", "eval", "MODEL", "TEXT", "--predictions", "TEXT"],
    ["labels", "eval", "MODEL", "TEXT", "--learn", "-o", "TEXT"]])
def test_other_outputs_are_no_inputs_either(folder, arguments):
    refused(folder, same_file(arguments[-1], arguments[-1]), *arguments)


def test_an_export_replaces_an_export(folder):
    for _ in range(2):
        assert wordtide("export", "MODEL", "-o", "m.vec").returncode == 0
        assert wordtide("embed", "MODEL", "TEXT", "-o", "m.tsv").returncode == 0
    assert not (folder / "m.vec.1").exists()
