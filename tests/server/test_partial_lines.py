"""A partially written line of a followed file blocks nothing else."""

import pytest
from running import counts
from serving import Server

POSTS = 200


@pytest.mark.parametrize(("begin", "end", "settings"), [
    ("x " * 40000, "\n", []),
    ('"x ' + "x " * 40000, '"\n', ["--records", "csv", "--text", "1"]),
    ('"x \n\nx ', '"\n', ["--records", "csv", "--text", "1"]),
], ids=["line", "quote", "short-quote"])
def test_a_partial_line_blocks_neither_training_nor_saving(tmp_path, begin, end, settings):
    log, saved = tmp_path / "chat.log", tmp_path / "m.tide"
    log.write_text(begin)
    server = Server(log, "--checkpoint", saved, "--every", "1h", *settings)
    assert server.send("beta gamma\n" * POSTS).status == 200
    server.wait_for_tokens(2 * POSTS)
    assert server.post("/v1/checkpoint").status == 200
    server.kill()  # the partial line is not part of the checkpoint and is read again
    log.open("a").write(end)
    server = Server("--resume", saved, log, "--checkpoint", saved, size=[])
    server.wait_for_tokens(2 * POSTS + begin.count("x"))
    server.end()
    assert counts(saved)["x"] == begin.count("x")
    assert counts(saved)["beta"] == POSTS


def test_a_server_stops_despite_a_partial_line(tmp_path):
    log, saved = tmp_path / "chat.log", tmp_path / "m.tide"
    log.write_text("x " * 40000)
    server = Server(log, "--checkpoint", saved, "--every", "1h")
    assert server.send("beta gamma\n" * POSTS).status == 200
    server.end()
    assert counts(saved)["beta"] == POSTS


def test_accepted_text_survives_an_error_of_another_source(tmp_path):
    log, saved = tmp_path / "log.jsonl", tmp_path / "m.tide"
    log.write_text("")
    server = Server(log, "--checkpoint", saved, "--every", "1h", "--max-errors", "5",
                    "--records", "json", "--text", "text", "--queue", "64M")
    taken = 0
    for _ in range(5):
        taken += server.send("beta gamma\n" * 20000).json["taken"]
    log.open("a").write("{bad\n" * 20)
    assert server.ended() == 3
    assert counts(saved)["beta"] == taken
