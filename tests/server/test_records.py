"""Acknowledged text is learned word for word, for all kinds of bodies and of other records of the trainer."""

import collections
import json
import random

import pytest
from running import counts
from serving import Server
from watching import wait_until

SIZE = ["--vocab", "20000", "--dim", "4", "--threads", "1", "--window", "1", "--admission", "none", "--replay", "1",
        "--tokens", "space"]
RECORDS = {
    "lines": [],
    "json": ["--records", "json", "--text", "body"],
    "csv": ["--records", "csv", "--text", "2"],
    "csv by name": ["--records", "csv", "--text", "body"],
    "tsv": ["--records", "tsv", "--text", "3,1"],
}
FORMS = ["text", "records", "list", "pretty list", "jsonline", "bulk"]


def random_post(dice, form):
    """Text with every character that is special in one of the formats."""
    pieces = ['"', '""', ",", ";", "\t", "\\", "\\n", "{", "}", "[", "]", ":", "'", " ", "é", "__", "\r x"]
    if form != "text":
        pieces += ["\n", "\r\n"]
    parts = dice.choices(pieces, k=dice.randint(0, 12)) + [f"w{dice.randint(0, 300)}" for _ in range(dice.randint(1, 6))]
    dice.shuffle(parts)
    return dice.choice(["", '"', "\t", ",", "{"]) + "".join(parts)


def lines_of(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def send(server, form, posts):
    if form == "text":
        return server.send("\n".join(posts) + "\n")
    records = [{"message": post} for post in posts]
    if form == "records":
        return server.post("/v1/ingest", lines_of(records), Content_Type="application/x-ndjson")
    if form in ("list", "pretty list"):
        body = json.dumps(records, indent=2 if form != "list" else None, ensure_ascii=form == "list").encode()
        return server.post("/v1/ingest?text=message", body, Content_Type="application/json")
    if form == "jsonline":
        return server.post("/insert/jsonline", lines_of(records), Content_Type="application/x-ndjson")
    body = "".join(lines_of([{"index": {}}, record]) for record in records)
    return server.post("/insert/elasticsearch/_bulk", body, Content_Type="application/x-ndjson")


def words_of(posts):
    return collections.Counter(word for post in posts for word in post.split())


@pytest.mark.parametrize("records", RECORDS)
def test_acknowledged_text_is_learned(tmp_path, records):
    dice = random.Random(records)
    model = tmp_path / "m.tide"
    server = Server("--checkpoint", model, *RECORDS[records], size=SIZE)
    sent = collections.Counter()
    for turn in range(60):
        form = FORMS[turn % len(FORMS)]
        posts = [random_post(dice, form) for _ in range(dice.randint(1, 60))]
        answer = send(server, form, posts)
        assert answer.status == 200
        if form == "bulk":
            assert [item["index"]["status"] for item in answer.json["items"]] == [201] * len(posts)
        else:
            assert (answer.json["taken"], answer.json["skipped"]) == (len(posts), 0)
        sent += words_of(posts)
    server.end()
    assert counts(model) == sent


def test_posts_and_a_growing_file_of_records_do_not_mix(tmp_path):
    """Whenever a body arrives, the file ends in the middle of a record, even inside quotes."""
    dice = random.Random(1)
    model, path = tmp_path / "m.tide", tmp_path / "posts.csv"
    path.touch()
    server = Server(path, "--checkpoint", model, "--records", "csv", "--text", "2", size=SIZE)
    expected = collections.Counter()
    with open(path, "a", newline="") as file:
        for turn in range(30):
            text = random_post(dice, "csv").replace("\r", "")
            record = f'x,"{text.replace(chr(34), chr(34) * 2)}"\n'
            cut = dice.randint(0, len(record))
            file.write(record[:cut])
            file.flush()
            posts = [random_post(dice, "text") for _ in range(3)]
            assert send(server, "text", posts).json["taken"] == 3
            file.write(record[cut:])
            file.flush()
            expected += words_of(posts) + words_of([text])
    server.wait_for_tokens(expected.total())
    server.end()
    assert counts(model) == expected


@pytest.mark.parametrize("records", RECORDS)
def test_labels_of_records_are_learned(tmp_path, records):
    label = ["--label", "tags"] if RECORDS[records] else []
    model = tmp_path / "m.tide"
    server = Server("--checkpoint", model, *RECORDS[records], *label, size=SIZE)
    assert send(server, "text", ["plain words __label__seen"]).status == 200
    record = {"message": "words", "tags": ["one", "two, three"]}
    assert server.post("/v1/ingest", [record]).json["taken"] == 1
    server.end()
    labels = {"__label__one": 1, "__label__two,_three": 1} if label else {}
    assert counts(model) == {"plain": 1, "words": 2, "__label__seen": 1, **labels}


@pytest.mark.parametrize("kind", ["queue", "spool"])
def test_a_line_is_accepted_skipped_or_rejected_temporarily(tmp_path, kind):
    """Lines of about the size of the queue: a rejected one is accepted once the queue is empty."""
    limit = 1 << 20
    room = ["--queue", str(limit)] if kind == "queue" else ["--spool", tmp_path / "s", "--spool-limit", "1M"]
    model = tmp_path / "m.tide"
    server = Server("--checkpoint", model, *room, size=SIZE)
    wait_until(lambda: server.send("first\n").status == 200, "room")
    taken = skipped = 0
    for size in (limit // 2, *range(limit - 2000, limit + 200, 50), 2 * limit):
        line = "x " * (size // 2) + "\n"
        answer = wait_until(lambda: (lambda a: a.status == 200 and a)(server.send(line)), f"an answer to {size} bytes")
        assert answer.json["taken"] + answer.json["skipped"] >= 1
        taken += not answer.json["skipped"]
        skipped += answer.json["skipped"]
    assert taken and skipped and server.send("last\n").status in (200, 429)
    server.end()
