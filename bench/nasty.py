#!/usr/bin/python3
"""Puts hostile text through every tokenizer and every format.

    bench/nasty.py FOLDER

Trains on every file of FOLDER with every tokenizer. All words must be UTF-8 without white
space; with tokenizer space, the bytes of the words, the white space and the bytes counted as
dropped must add up to the file. Every model is exported to every format, and gensim, if
installed, must load the same words from word2vec's two. Prints a table; exits with 1 if
anything was wrong.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.command_line import arguments
from lab.tables import print_table

TOKENIZERS = ["space", "words", "social", "log"]
FORMATS = ["word2vec", "word2vec-binary", "glove", "npy", "projector", "safetensors",
           "pgvector", "sqlite"]
BLANKS = bytes(range(0x21))


class Refused(Exception):
    """The command reports that the file is not text, or that it has no words."""


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    log = done.stderr.decode("utf-8", "replace")
    if done.returncode == 3 and re.search("which cannot be read|no words were read", log):
        raise Refused
    if done.returncode:
        raise AssertionError(f"{command}: exit {done.returncode}: {log[-500:]}")
    return done.stdout, log


def train(command, path, kind, model):
    """Trains with room for every word; returns counts by word and the last log line."""
    _, log = run(command, "train", path, "-o", model, "--tokenizer", kind, "--vocab", "2e6",
                 "--dim", "4", "--profile", "fast")
    last = [line for line in log.splitlines() if " msg=finished " in line][-1]
    fields = dict(field.split("=", 1) for field in last.split() if "=" in field)
    words = {}
    for line in run(command, "words", model, "--json")[0].decode("utf-8").split("\n")[:-1]:
        entry = json.loads(line)
        words[entry["word"]] = entry["count"]
    return words, fields


def check_bytes(path, words, fields):
    content = path.read_bytes()
    kept = sum(len(word.encode()) * count for word, count in words.items())
    blank = sum(content.count(bytes([byte])) for byte in BLANKS)
    dropped = int(fields["dropped_bytes"])
    assert kept + blank + dropped == len(content), (
        f"{path}: {kept} in words, {blank} blank, {dropped} dropped, of {len(content)}")


def check_gensim(path, binary, words):
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        return
    loaded = KeyedVectors.load_word2vec_format(str(path), binary=binary)
    wanted = {word for word in words if not re.search(r"[ \t\n\v\f\r]", word)}
    assert set(loaded.key_to_index) == wanted, f"{path}: gensim has other words"


def export_all(command, model, folder, words):
    for form in FORMATS:
        out = folder / f"out.{'npy' if form == 'npy' else form}"
        run(command, "export", model, "--format", form, "-o", out)
        if form.startswith("word2vec") and words:
            check_gensim(out, form.endswith("binary"), words)


def main():
    parser = arguments(__doc__)
    parser.add_argument("folder")
    options = parser.parse_args()
    rows, wrong = [], 0
    files = sorted(path for path in Path(options.folder).rglob("*") if path.is_file())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in files:
            for kind in TOKENIZERS:
                model = folder / "model.tide"
                try:
                    words, fields = train(options.command, path, kind, model)
                    assert not any(re.search(r"\s", word, re.ASCII) for word in words), path
                    if kind == "space":
                        check_bytes(path, words, fields)
                    export_all(options.command, model, folder, words)
                    rows.append([f"{os.path.relpath(path, options.folder)}, {kind}",
                                 fields["bytes"], fields["words"], len(words),
                                 fields["dropped_bytes"]])
                except Refused:
                    rows.append([f"{os.path.relpath(path, options.folder)}, {kind}",
                                 path.stat().st_size, "refused", "", ""])
                except (AssertionError, UnicodeDecodeError) as error:
                    wrong += 1
                    print(f"nasty: {path} {kind}: {error}", file=sys.stderr)
    print_table(["file, tokenizer", "bytes", "words", "different", "bytes dropped"], rows)
    print(f"{len(rows)} passed, {wrong} failed")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
