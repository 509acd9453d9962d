"""Querying a model: text and JSON output, unknown words, queries from a pipe."""

import json
import struct
import subprocess

import pytest

from conftest import BINARY, PATIENCE, start, train, wordtide


def hits_of(stdout):
    return [(float(line.split("\t")[0]), line.split("\t")[1]) for line in stdout.splitlines()]


def test_nearest_prints_score_and_word_by_falling_score(model, words):
    done = wordtide("nearest", model, words[0], "-n", "5")
    hits = hits_of(done.stdout)
    assert done.returncode == 0 and len(hits) == 5
    assert [score for score, _ in hits] == sorted((s for s, _ in hits), reverse=True)
    assert words[0] not in [word for _, word in hits]
    assert wordtide("nn", model, words[0], "-n5").stdout == done.stdout


def test_json_output_equals_text_output(model, words):
    text = hits_of(wordtide("nearest", model, words[3]).stdout)
    hits = json.loads(wordtide("nearest", model, words[3], "--json").stdout)
    assert [hit["word"] for hit in hits] == [word for _, word in text] and len(hits) == 10
    for hit, (score, _) in zip(hits, text):
        assert abs(hit["score"] - score) < 1e-4


def test_a_count_above_the_vocabulary_returns_all_words(model, words):
    done = wordtide("nearest", model, words[0], "-n", "1000000000")
    assert len(done.stdout.splitlines()) == len(words) - 1


def test_top_searches_only_frequent_words(model, words):
    done = wordtide("nearest", model, words[0], "--among", "20", "-n", "100")
    assert {word for _, word in hits_of(done.stdout)} == set(words[1:20])


def test_subtracted_words_and_all_vectors_are_accepted(model, words):
    answers = set()
    for more in [], ["--negative", words[5]], ["--vectors", "sum"], ["--no-centre"]:
        done = wordtide("nearest", model, words[1], words[2], *more)
        assert done.returncode == 0
        answers.add(done.stdout)
    assert len(answers) == 4


def test_a_printed_vector_finds_its_word_again(model, words):
    vector = wordtide("vector", model, words[7]).stdout
    done = wordtide("nearest", model, "--no-centre", "--vector", "-", "-n1", input=vector)
    assert hits_of(done.stdout) == [(1.0, words[7])]


@pytest.mark.parametrize("numbers", ["", "1 2 3", "a b c", "nan " * 16, "1 " * 18])
def test_a_vector_of_another_dimension_is_rejected(model, numbers):
    done = wordtide("nearest", model, "--vector", "-", input=numbers)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1


def test_an_unknown_word_gets_suggestions(model, words):
    word = max(words[:50], key=len)
    done = wordtide("nearest", model, word + "x")
    assert done.returncode == 1 and done.stdout == ""
    line = done.stderr
    assert line.startswith(f"wordtide: '{word}x' is not in the vocabulary; did you mean ")
    assert word in line.split("did you mean ")[1].rstrip("?\n").split(", ")


def test_an_unknown_word_is_named_among_known_ones(model, words):
    for arguments in (
        ["nearest", model, words[0], "qqqqqq"],
        ["nearest", model, words[0], "--negative", "qqqqqq"],
        ["similarity", model, words[0], "qqqqqq"],
        ["analogy", model, words[0], words[1], "qqqqqq"],
        ["vector", model, "qqqqqq"],
    ):
        done = wordtide(*arguments)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.startswith("wordtide: 'qqqqqq' is not in the vocabulary")
        assert len(done.stderr.splitlines()) == 1


def test_control_characters_of_a_query_are_not_echoed(model):
    done = wordtide("nearest", model, "\x1b[31m\x07\u0085")
    assert done.returncode == 1
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in done.stderr.rstrip("\n"))


def test_queries_from_a_pipe_are_answered_one_by_one(model, words):
    questions = f"{words[0]}\n\n{words[1]} {words[2]}\nqqqqqq\n"
    done = wordtide("nearest", model, "-n2", input=questions)
    assert done.returncode == 1
    blocks = done.stdout.split("\n\n")
    assert blocks[0] + "\n" == wordtide("nearest", model, "-n2", words[0]).stdout
    assert blocks[1] + "\n" == wordtide("nearest", model, "-n2", words[1], words[2]).stdout
    assert "'qqqqqq' is not in the vocabulary" in done.stderr


def test_queries_from_a_pipe_in_json_have_hits_or_an_error(model, words):
    lines = [words[0], 'qq"q\\qq', "two  words", "bad \udcff"]
    questions = "\n".join(lines).encode("utf-8", "surrogateescape")
    done = wordtide("nearest", model, "--json", input=questions)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["query"] for a in answers] == [*lines[:3], "bad \ufffd"]
    assert len(answers[0]["hits"]) == 10
    assert all("vocabulary" in answer["error"] for answer in answers[1:])


def test_an_endless_query_is_skipped(model, words):
    questions = "x" * 10**6 + "\n" + words[0] + "\n" + " ".join(words[:300] * 5)
    done = wordtide("vector", model, "-", input=questions)
    assert "skipped a query of more than" in done.stderr
    asked = [words[0], *words[:300] * 5]
    assert [line.split()[0] for line in done.stdout.splitlines()] == asked


def test_a_query_is_answered_before_the_next_one_arrives(model, words):
    process = start(
        "nearest", model, "--json", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        for word in words[:3]:
            process.stdin.write(word.encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["query"] == word
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_similarity_is_symmetric_and_one_with_itself(model, words):
    a, b = words[4], words[9]
    assert wordtide("similarity", model, a, a).stdout == "1.0000\n"
    one = wordtide("similarity", model, a, b).stdout
    assert one == wordtide("similarity", model, b, a).stdout and -1 <= float(one) <= 1
    piped = wordtide("similarity", model, input=f"{a} {b}\n{a}\n{a} {a}\n")
    assert piped.stdout == f"{one.strip()}\t{a}\t{b}\n1.0000\t{a}\t{a}\n"
    assert piped.returncode == 1 and piped.stderr == "wordtide: a pair needs two words\n"
    answer = json.loads(wordtide("similarity", model, a, b, "--json").stdout)
    assert answer["a"] == a and answer["b"] == b and abs(answer["score"] - float(one)) < 1e-4


def test_analogy_answers_with_other_words(model, words):
    done = wordtide("analogy", model, *words[10:13], "-n", "4", "--json")
    hits = json.loads(done.stdout)
    assert len(hits) == 4 and not {hit["word"] for hit in hits} & set(words[10:13])
    piped = wordtide("analogy", model, "-n4", "--json", input=" ".join(words[10:13]))
    assert json.loads(piped.stdout)["hits"] == hits
    assert wordtide("analogy", model, input="a b\n").returncode == 1


def test_all_vectors_are_word2vec_text(model, words):
    done = wordtide("vector", model)
    header, *rows = done.stdout.splitlines()
    assert header == f"{len(words)} 16"
    assert [row.split(" ")[0] for row in rows] == words
    assert all(len(row.split(" ")) == 17 for row in rows)
    assert wordtide("vector", model, "--all").stdout == done.stdout
    piped = wordtide("vector", model, "-", input="\n".join(words))
    assert piped.stdout.splitlines() == rows
    assert wordtide("vector", model, "--centre").stdout != done.stdout
    assert wordtide("vector", model, "--vectors", "output").stdout != done.stdout


def test_numbers_have_the_fewest_digits_that_round_trip(model, words):
    for number in wordtide("vector", model, words[2]).stdout.split()[1:]:
        single = struct.pack("f", float(number))
        (value,) = struct.unpack("f", single)
        digits = [f"{value:.{n}g}" for n in range(1, 10)]
        shortest = next(d for d in digits if struct.pack("f", float(d)) == single)
        assert float(number) == float(shortest)


def test_a_vector_in_json_has_the_same_numbers(model, words):
    row = wordtide("vector", model, words[2]).stdout.split()
    answer = json.loads(wordtide("vector", model, words[2], "--json").stdout)
    assert answer == {"word": words[2], "vector": [float(number) for number in row[1:]]}


def test_words_are_sorted_limited_and_filtered(model, words):
    rows = [line.split("\t") for line in wordtide("words", model).stdout.splitlines()]
    counts = [int(count) for _, count, _ in rows]
    assert counts == sorted(counts, reverse=True)
    assert all(0 <= int(error) <= int(count) for _, count, error in rows)
    assert wordtide("words", model, "-n", "3").stdout.count("\n") == 3
    by_word = wordtide("words", model, "--sort", "word").stdout.splitlines()
    assert [line.split("\t")[0] for line in by_word] == sorted(words)
    prefix = words[0][:1]
    chosen = wordtide("words", model, "--prefix", prefix).stdout.splitlines()
    assert len(chosen) == sum(word.startswith(prefix) for word in words)
    first = json.loads(wordtide("words", model, "--json", "-n1").stdout)
    assert first == {"word": rows[0][0], "count": counts[0], "error": int(rows[0][2])}


def test_unusual_words_survive_text_and_json(tmp_path):
    odd = ['"', "\\", "é", "日本", "a\u00a0b", "😀", "</script>"]
    train(tmp_path / "odd.tide", (" ".join(odd) + "\n").encode() * 50,
          "--tokens", "space")
    plain = wordtide("words", tmp_path / "odd.tide").stdout
    assert {line.split("\t")[0] for line in plain.splitlines()} == set(odd)
    quoted = wordtide("words", tmp_path / "odd.tide", "--json").stdout
    assert {json.loads(line)["word"] for line in quoted.splitlines()} == set(odd)


def test_info_of_a_model_is_correct(model, words):
    reported = json.loads(wordtide("info", model, "--json").stdout)
    assert reported["words"] == len(words) and reported["capacity"] == 300 and reported["dim"] == 16
    assert reported["tokens"] >= 20000 and reported["file_bytes"] == model.stat().st_size
    assert reported["parameters"]["vocab"] == "300"
    assert reported["memory"] == sum(reported["memory_by_part"].values()) > 0
    plan = json.loads(
        wordtide("info", "--subword=0", "--vocab=300", "--dim=16", "--threads=1", "--json").stdout
    )
    assert plan["memory"] == reported["memory"] and plan["parameters"] == reported["parameters"]


def test_info_without_a_model_grows_with_the_vocabulary():
    sizes = [
        json.loads(wordtide("info", "--json", "--vocab", k).stdout)["memory"]
        for k in (1000, 10000, 100000)
    ]
    assert sizes == sorted(sizes) and sizes[0] < sizes[2]


def test_bench_prints_times():
    rows = wordtide("bench", "kernels", "--dim", "16", "--json", timeout=PATIENCE).stdout
    timings = [json.loads(line) for line in rows.splitlines()]
    assert any(timing["chosen"] for timing in timings)
    assert all(timing["nanoseconds"] > 0 for timing in timings if timing["usable"])
    ingest = wordtide("bench", "ingest", "--json", "demo:tokens=10000")
    times = json.loads(ingest.stdout)
    assert times["nanoseconds"] > 0 and times["reading"] > 0
    assert times["counting"] < times["nanoseconds"]
    assert "with several threads: " in wordtide("bench", "ingest", "demo:tokens=10000").stdout


def test_bench_prints_how_long_a_checkpoint_pauses_training(tmp_path):
    path = tmp_path / "new.tide"
    small = ["--vocab", "500", "--dim", "8", "--rounds", "3"]
    done = wordtide("bench", "checkpoint", "--json", path, *small)
    assert done.returncode == 0, done.stderr
    rows = {row["part"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert list(rows) == ["check", "write", "preallocated", "preallocate", "pause", "commit"]
    assert [name for name in rows if not rows[name]["paused"]] == ["preallocate", "commit"]
    assert all(0 <= row["least"] <= row["median"] <= row["most"] for row in rows.values())
    assert not list(tmp_path.iterdir())
    assert "seconds per GiB" in wordtide("bench", "checkpoint", path, *small).stdout
    path.write_text("kept")
    assert wordtide("bench", "checkpoint", path, *small).returncode != 0
    assert path.read_text() == "kept"
    assert wordtide("bench", "checkpoint").returncode == 2


def test_a_closed_pipe_is_no_failure(model):
    for command in [["demo"], ["vector", str(model)]]:
        with start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(PATIENCE) == 0 and process.stderr.read() == b""


def test_a_full_disk_behind_standard_output_is_reported(model, words):
    with open("/dev/full", "wb") as full:
        for command in [["demo"], ["vector", str(model)], ["--help"], ["words", str(model)],
                        ["nearest", str(model), words[0], "-n", "299"]]:
            done = subprocess.run(
                [BINARY, *command], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE
            )
            assert done.returncode == 1
            assert done.stderr == \
                b"wordtide: cannot write to standard output: No space left on device\n"


def test_demo_is_the_same_for_the_same_seed_and_has_a_truth(tmp_path):
    one, two, other = (
        wordtide("demo", "--tokens", "2e3", "--seed", seed).stdout for seed in (1, 1, 2)
    )
    assert one == two != other and 2000 <= len(one.split()) < 2100 and one.endswith("\n")
    truth = tmp_path / "truth.tsv"
    assert wordtide("demo", "--tokens", "10", "--truth", truth).stdout
    assert truth.read_text() == wordtide("demo", "--truth", "-").stdout
    kinds = {line.split("\t")[0] for line in truth.read_text().splitlines()}
    assert kinds == {"group", "analogy"}


SPELLINGS = {"Tea": ["tea"], "ДЕНЬ": ["день"], "καφές": None, "J’aime": ["j'aime"], "咖啡": ["咖", "啡"],
             "cup of Tea": ["tea"]}


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    path = tmp_path_factory.mktemp("languages") / "languages.tide"
    train(path, "she drinks tea all day\nхороший день\nο καφές\nJ’aime le café\n我喜欢喝咖啡\n".encode() * 100)
    return path


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_words_are_looked_up_as_they_are_tokenized(languages, spelling):
    done = wordtide("nearest", languages, spelling, "-n3")
    assert done.returncode == 0 and done.stdout
    note = done.stderr
    assert note.startswith(f"wordtide: '{spelling}' is read as ") or not note
    tokens = SPELLINGS[spelling]
    if tokens is None:
        return
    assert all(f"'{token}'" in note for token in tokens)
    for command in ("vector", "nearest", "similarity", "analogy"):
        words = {"vector": ["{}"], "nearest": ["{}", "le"], "similarity": ["{}", "LE"],
                 "analogy": ["LE", "{}", "she"]}[command]
        mine = wordtide(command, languages, *(word.format(spelling) for word in words))
        plain = wordtide(command, languages, *(word.format(" ".join(tokens)).lower() for word in words))
        assert mine.returncode == plain.returncode == 0
        numbers = slice(1, None) if command == "vector" else slice(None)
        assert mine.stdout.split()[numbers] == plain.stdout.split()[numbers]


def test_json_answers_name_the_tokens_of_each_word(languages):
    done = wordtide("nearest", languages, "--json", input="Tea 咖啡 day\nday\n")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["terms"] == [{"text": "Tea", "tokens": ["tea"], "unknown": []},
                              {"text": "咖啡", "tokens": ["咖", "啡"], "unknown": []}]
    assert "terms" not in second and done.stderr == ""
    reported = json.loads(wordtide("vector", languages, "a TEA", "--json").stdout)
    assert reported["terms"] == [{"text": "a TEA", "tokens": ["tea"], "unknown": ["a"]}]
    reported = json.loads(wordtide("similarity", languages, "Tea", "day", "--json").stdout)
    assert reported["a"] == "Tea" and reported["terms"][0]["tokens"] == ["tea"]


def test_suggestions_are_for_the_tokenized_word(languages):
    for word, meant in ("DRINK", "drinks"), ("ДЕНЬЬ", "день"):
        done = wordtide("nearest", languages, word)
        assert done.returncode == 1
        assert done.stderr == f"wordtide: '{word}' is not in the vocabulary; did you mean {meant}?\n"
