"""Input formats: compressed, in records, from several sources, with invalid parts."""

import csv
import gzip
import json
import lzma
import random

import pytest

from running import SMALL, counts, logged, train, wordtide


def learned(tmp_path, source, *arguments, code=0):
    """Trains from a source; returns the process and the bytes of the model."""
    model = tmp_path / "learned.tide"
    model.unlink(missing_ok=True)
    done = wordtide("train", source, "-o", model, *SMALL, *arguments)
    assert done.returncode == code, done.stderr
    return done, model


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# -- compressed -----------------------------------------------------------------------------


PACK = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "members": lambda text: gzip.compress(text[:5000]) + gzip.compress(text[5000:]),
}


@pytest.mark.parametrize("how", PACK)
def test_compressed_text_gives_the_same_model_whatever_its_name(tmp_path, text, how):
    train(tmp_path / "plain.tide", text)
    packed = write(tmp_path / "news.txt", PACK[how](text))
    _, model = learned(tmp_path, packed)
    assert model.read_bytes() == (tmp_path / "plain.tide").read_bytes()
    model.unlink()
    train(model, PACK[how](text))  # and through a pipe
    assert model.read_bytes() == (tmp_path / "plain.tide").read_bytes()


def test_a_truncated_archive_is_reported_and_its_text_kept(tmp_path, text):
    packed = gzip.compress(text)
    source = write(tmp_path / "news.gz", packed[: len(packed) // 2])
    done, model = learned(tmp_path, source, code=3)
    assert "news.gz" in done.stderr and "is truncated" in done.stderr
    assert sum(counts(model).values()) > len(text.split()) // 4


@pytest.mark.parametrize("content, wanted", [
    (b"BZh91AY&SY" + bytes(100), "bzcat"),
    ("tea and coffee".encode("utf-16"), "iconv"),
])
def test_unsupported_content_is_rejected_with_advice(tmp_path, content, wanted):
    source = write(tmp_path / "news", content)
    done = wordtide("train", source, "-o", tmp_path / "m.tide", *SMALL)
    assert done.returncode == 3 and f"{wanted} " in done.stderr
    assert not (tmp_path / "m.tide").exists()


# -- records ---------------------------------------------------------------------------------


def posts(count):
    rng = random.Random(1)
    names = "tea coffee rain snow goal match song drum".split()
    return [" ".join(rng.choices(names, k=8)) for _ in range(count)]


def test_json_csv_tsv_and_plain_lines_give_the_same_vectors(tmp_path):
    lines = posts(300)
    plain = write(tmp_path / "posts.txt", "".join(f"{line}\n" for line in lines))
    objects = [json.dumps({"id": i, "user": {"name": "x"}, "body": line})
               for i, line in enumerate(lines)]
    jsonl = write(tmp_path / "posts.jsonl", "\n".join(objects))
    with open(tmp_path / "posts.csv", "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["id", "body", "note"])
        rows.writerows([i, line, 'a "quoted",\nnote'] for i, line in enumerate(lines))
    tsv = write(tmp_path / "posts.tsv", "".join(f"{i}\t{t}\n" for i, t in enumerate(lines)))
    _, model = learned(tmp_path, plain)
    wanted = wordtide("vector", model).stdout
    for source, field in (jsonl, "body"), (tmp_path / "posts.csv", "body"), (tsv, "2"):
        done, model = learned(tmp_path, source, "--text", field)
        assert "skipped" not in done.stderr
        assert wordtide("vector", model).stdout == wanted, source


def test_bad_records_are_counted_by_reason(tmp_path):
    long = json.dumps({"text": "x" * (2 << 20)})
    lines = ['{"text":"tea is good"}', "{oops", '{"body":"no text"}', "", long,
             '{"text":"coffee is good"}', '{"text":null}']
    source = write(tmp_path / "posts.jsonl", "\n".join(lines))
    done, model = learned(tmp_path, source, "--text", "text")
    assert "malformed: 1" in done.stderr
    assert "have no text: 2" in done.stderr
    assert "longer than 1 MiB: 1" in done.stderr
    assert counts(model) == {"is": 2, "good": 2, "tea": 1, "coffee": 1}


def test_too_many_bad_records_end_the_run_with_3_and_keep_what_was_learned(tmp_path):
    source = write(tmp_path / "p.jsonl", '{"text":"tea tea"}\n' + "[\n" * 5)
    done, model = learned(tmp_path, source, "--text", "text", "--max-errors", 5)
    assert counts(model) == {"tea": 2}
    done, model = learned(tmp_path, source, "--text", "text", "--max-errors", 4, code=3)
    assert "5 bad records exceed the limit of 4" in done.stderr
    assert counts(model) == {"tea": 2}


def test_a_missing_column_is_reported_with_the_existing_ones(tmp_path):
    source = write(tmp_path / "p.csv", "id,text\n1,tea\n")
    done, _ = learned(tmp_path, source, "--text", "body", code=3)
    assert "p.csv: no column 'body'" in done.stderr and "id, text" in done.stderr


def test_json_is_the_same_in_lines_a_list_and_over_several_lines(tmp_path):
    objects = [{"id": i, "body": line, "tags": ["a", {"b": "c"}]} for i, line in enumerate(posts(300))]
    _, model = learned(tmp_path, write(tmp_path / "posts.txt", "".join(f"{o['body']}\n" for o in objects)))
    wanted = wordtide("vector", model).stdout
    for text in (json.dumps(objects), json.dumps(objects, indent=2), json.dumps(objects, indent=0),
                 "\n".join(json.dumps(o, indent=1) for o in objects)):
        done, model = learned(tmp_path, write(tmp_path / "posts.json", text), "--text", "body")
        assert "skipped" not in done.stderr
        assert wordtide("vector", model).stdout == wanted


def test_a_missing_field_is_reported_with_the_existing_ones(tmp_path):
    source = write(tmp_path / "p.jsonl", '{"id":1,"user":{"bio":"x"},"title":"tea"}\n' * 5)
    for options, name in ([], "text"), (["--text", "tilte"], "tilte"):
        done, model = learned(tmp_path, source, *options, code=3)
        assert f"field '{name}' has no text in the first 5 records; fields found: id, user.bio, title" in done.stderr
        assert not model.exists()


@pytest.mark.parametrize("separator", ";|\t")
def test_columns_may_have_other_separators_than_commas(tmp_path, separator):
    text = separator.join(["id", "text", "label"]) + "\n" + separator.join(["1", "tea, milk", "x"]) + "\n"
    _, model = learned(tmp_path, write(tmp_path / "p.csv", text), "--text", "text")
    assert counts(model) == {"tea": 1, "milk": 1}


def test_a_separator_can_be_given_and_is_kept(tmp_path):
    source = write(tmp_path / "p.csv", "1;tea, milk\n")
    _, model = learned(tmp_path, source, "--text", "2", "--delimiter", ";")
    assert counts(model) == {"tea": 1, "milk": 1}
    more = write(tmp_path / "more.csv", "2;rain, snow\n")
    assert wordtide("train", "--resume", model, more).returncode == 0
    assert counts(model) == {"tea": 1, "milk": 1, "rain": 1, "snow": 1}
    for wrong in ";;", '"', "\t", " ":
        done = wordtide("train", source, "-o", model, "--text", "2", "--delimiter", wrong)
        assert done.returncode == 2 and "delimiter" in done.stderr
    assert wordtide("train", "-", "-o", model, "--delimiter", ";").returncode == 2


def test_a_column_with_a_comma_in_its_name_is_named_in_quotes(tmp_path):
    source = write(tmp_path / "p.csv", 'id,"text, long",note\n1,tea,milk\n')
    _, model = learned(tmp_path, source, "--text", '"text, long",note')
    assert counts(model) == {"tea": 1, "milk": 1}


def test_the_file_name_implies_the_record_format(tmp_path):
    source = write(tmp_path / "p.jsonl.gz", gzip.compress(b'{"text":"tea","id":7}\n'))
    _, model = learned(tmp_path, source)
    assert counts(model) == {"tea": 1}
    folder = tmp_path / "x.csv.d"
    folder.mkdir()
    _, model = learned(tmp_path, write(folder / "plain", "tea,id\n"))
    assert counts(model) == {"tea": 1, "id": 1}


def test_bench_reads_records_and_counts_them(tmp_path):
    source = write(tmp_path / "p.jsonl", '{"text":"tea"}\n' * 1000)
    done = wordtide("bench", "records", "--records", "json", "--json", source)
    reported = json.loads(done.stdout)
    assert reported["records"] == 1000 and reported["bytes_per_second"] > 0
    done = wordtide("bench", "records", source)
    assert done.returncode == 2 and "records must be json, csv or tsv" in done.stderr
    assert wordtide("bench", "records").returncode == 2


def test_fields_need_records(tmp_path):
    done = wordtide("train", "-o", tmp_path / "m.tide", "--records", "lines", "--text", "a")
    assert done.returncode == 2 and "need records json, csv or tsv" in done.stderr


def test_labels_are_words_and_fields_are_joined(tmp_path):
    rows = [{"title": "tea time", "body": "hot tea", "topic": "Food & drink"}] * 3
    source = write(tmp_path / "p.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
    for tokens in "words", "space", "social":
        _, model = learned(tmp_path, source, "--text", "title,body", "--label", "topic",
                           "--tokens", tokens)
        wanted = {"tea": 6, "time": 3, "hot": 3, "__label__Food_&_drink": 3}
        assert counts(model) == wanted, tokens


def test_the_time_of_the_stream_is_logged(tmp_path):
    rows = [{"text": "tea", "at": "2026-01-02T03:04:05Z"}]
    source = write(tmp_path / "p.jsonl", json.dumps(rows[0]))
    done, _ = learned(tmp_path, source, "--text", "text", "--time", "at")
    assert logged(done.stderr, "finished")["time"] == "2026-01-02T03:04:05Z"


def test_records_resume_where_they_stopped(tmp_path, text):
    lines = [json.dumps({"text": line.decode()}) for line in text.splitlines()]
    source = write(tmp_path / "p.jsonl", "\n".join(lines))
    _, model = learned(tmp_path, source, "--text", "text")
    whole = model.read_bytes()
    half = len(lines) // 2
    first = write(tmp_path / "1.jsonl", "\n".join(lines[:half]))
    second = write(tmp_path / "2.jsonl", "\n".join(lines[half:]))
    learned(tmp_path, first, "--text", "text")
    done = wordtide("train", "--resume", model, second)
    assert done.returncode == 0, done.stderr
    assert wordtide("vector", model).stdout == wordtide_vectors(whole, tmp_path)


def wordtide_vectors(content, tmp_path):
    return wordtide("vector", write(tmp_path / "other.tide", content)).stdout


# -- words -----------------------------------------------------------------------------------


TEXT = "Visit https://a.org NOW, @ann! #Tea \u2615 costs 3.50 \u4f60\u597d don't\n"


@pytest.mark.parametrize("tokens, wanted", [
    ("space", "Visit https://a.org NOW, @ann! #Tea \u2615 costs 3.50 \u4f60\u597d don't"),
    ("words", "visit https a org now ann tea costs 3.50 \u4f60 \u597d don't"),
    ("social", "visit <url> now <user> #tea \u2615 costs 3.50 \u4f60 \u597d don't"),
])
def test_tokenizers_split_words(tmp_path, tokens, wanted):
    _, model = learned(tmp_path, write(tmp_path / "t", TEXT), "--tokens", tokens)
    assert sorted(counts(model)) == sorted(wanted.split())


def test_words_of_logs_are_masked(tmp_path):
    line = "2026-01-02 10:00:00 ERROR id=17 from 10.0.0.1:80 in /var/log/a.log\n"
    _, model = learned(tmp_path, write(tmp_path / "t", line), "--tokens", "log")
    found = counts(model)
    assert {"error", "<number>", "<ip>", "<path>", "<time>"} <= set(found)
    assert not any(c.isdigit() for word in found for c in word)


def test_phrases_become_words(tmp_path):
    rng = random.Random(2)
    fill = [f"w{i}" for i in range(200)]
    lines = [" ".join(rng.choices(fill, k=5) + ["new", "york"] + rng.choices(fill, k=5))
             for _ in range(200)]
    source = write(tmp_path / "t", "\n".join(lines))
    _, model = learned(tmp_path, source, "--phrases", 5000, "--phrase-threshold", 5,
                       "--vocab", 1000)
    found = counts(model)
    assert found["new_york"] > 150 and found["new"] < 20


def test_stop_words_and_lengths(tmp_path):
    stop = write(tmp_path / "stop", "the\nof\n")
    source = write(tmp_path / "t", "The end of the internationalisation a b\n")
    _, model = learned(tmp_path, source, "--stop-words", stop, "--min-length", 2,
                       "--max-length", 10)
    assert counts(model) == {"end": 1}
