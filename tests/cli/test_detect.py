"""Detection of the input: it is read correctly, or rejected with the command to use."""

import gzip
import json

import pytest

from killing import Training
from running import SMALL, counts, train, wordtide

POSTS = [{"id": i, "user": {"name": "x"}, "body": "tea and milk"} for i in range(20)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, and its vectors in the formats of others."""
    folder = tmp_path_factory.mktemp("made")
    train(folder / "m.tide", b"tea and milk\nrain and snow\n" * 20)
    for name, options in {"v.vec": [], "v.bin": ["--format", "word2vec-binary"],
                          "v.npy": ["--format", "npy"], "v.safetensors": [],
                          "v.txt": ["--format", "glove"]}.items():
        assert wordtide("export", folder / "m.tide", "-o", folder / name, *options).returncode == 0
    return folder


def refused(source, output, *options, code=3, **how):
    done = wordtide("train", source, "-o", output, *SMALL, *options, **how)
    assert done.returncode == code, done.stderr
    assert not output.exists()
    return done.stderr


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("name, wanted", [
    ("m.tide", "wordtide train --resume"), ("v.vec", "wordtide import"), ("v.bin", "wordtide import"),
    ("v.npy", "wordtide import"), ("v.safetensors", "wordtide import"),
    ("v.txt", "wordtide import")])
def test_models_and_vectors_are_not_learned_as_text(made, tmp_path, name, wanted, piped, packed):
    content = (made / name).read_bytes()
    if packed:
        content = gzip.compress(content)
    source = tmp_path / name
    source.write_bytes(content)
    said = (refused("-", tmp_path / "new.tide", input=content) if piped
            else refused(source, tmp_path / "new.tide"))
    assert wanted in said


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("content, wanted", [
    ("café thé\nZürich über\n".encode("latin-1"), "iconv -f WINDOWS-1252"),
    ("tea and milk\n".encode("utf-16"), "iconv -f UTF-16 "),
    ("tea and milk\n".encode("utf-16-le"), "iconv -f UTF-16LE "),
    ("чай и молоко\n".encode("utf-16-be"), "iconv -f UTF-16BE "),
    ("tea and milk\n".encode("utf-32-le"), "iconv -f UTF-32LE "),
    (b"PAR1\x15\x04\x15\x10" + bytes(50) + b"PAR1", "Parquet"),
    (b"\xba\x16\x4f\x2f\x0c\0\0\0" + bytes(100), ".vec"),
    (b"\x80\x04\x95\xa1\0\0\0\0\0\0\0\x8c\x1cgensim.models.keyedvectors", "save_word2vec_format"),
])
def test_other_content_than_text_is_rejected_with_advice(tmp_path, content, wanted, piped):
    source = tmp_path / "news"
    source.write_bytes(content)
    said = (refused("-", tmp_path / "new.tide", input=content) if piped
            else refused(source, tmp_path / "new.tide"))
    assert wanted in said


def test_the_advice_is_complete_if_the_name_is_long(tmp_path):
    folder = tmp_path / ("x" * 50) / ("y" * 50)
    folder.mkdir(parents=True)
    (folder / "news").write_bytes("café thé\nZürich über\n".encode("latin-1"))
    assert "iconv -f WINDOWS-1252 -t UTF-8 FILE | wordtide train -" in refused(folder / "news", tmp_path / "new.tide")


@pytest.mark.parametrize("first", [b"PAR1S is a nice city", b"BZh91AY&SY is my nick", b"\xff\xfe hi",
                                   b"2 3", b'{"a": 1}', b"[{", b"%PDF-1.4"])
def test_text_is_read_whatever_its_first_line_is(tmp_path, first):
    source = tmp_path / "news.txt"
    source.write_bytes(first + b"\n" + b"more text follows here\n" * 50)
    done = wordtide("train", source, "-o", tmp_path / "m.tide", *SMALL)
    assert done.returncode == 0, done.stderr
    assert counts(tmp_path / "m.tide")["follows"] == 50


@pytest.mark.parametrize("text", [json.dumps(POSTS), json.dumps(POSTS, indent=1),
                                  "".join(f"{json.dumps(p, indent=2)}\n" for p in POSTS),
                                  "".join(f"{json.dumps(p)}\n" for p in POSTS)],
                         ids=["list", "pretty list", "pretty objects", "lines"])
def test_json_is_learned_as_text_only_on_request(tmp_path, text):
    source = tmp_path / "posts.json"
    source.write_text(text)
    said = refused(source, tmp_path / "m.tide")
    assert 'parameter "text"' in said and "id, user.name, body" in said
    done = wordtide("train", source, "-o", tmp_path / "m.tide", "--records", "lines", *SMALL)
    assert done.returncode == 0
    assert counts(tmp_path / "m.tide")["body"] == 20


def test_vectors_cannot_be_resumed(made, tmp_path):
    done = wordtide("train", "--resume", made / "v.vec", input=b"tea\n")
    assert done.returncode == 4
    assert f"wordtide import {made / 'v.vec'} -o NEW.tide" in done.stderr


def test_a_followed_file_may_appear_later_and_start_with_anything(tmp_path):
    log, model = tmp_path / "chat.log", tmp_path / "m.tide"
    training = Training(model, "--follow", log, every=1)
    training.wait_for("does not exist yet; waiting for it")
    log.write_text("PAR1S is where I live\n")
    training.finish_at(5)
    assert counts(model)["live"] == 1
