"""Concurrent searches, and a flood of unknown words."""

import http.client
import json

from serving import PATIENCE, Server, encoded, wait_until


def ask_at_once(server, paths):
    """All requests are sent before any answer is read, each on its own connection."""
    connections = []
    for path in paths:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("GET", path)
        connections.append(connection)
    answers = []
    for connection in connections:
        answer = connection.getresponse()
        answers.append((answer.status, answer.read()))
        connection.close()
    return answers


def test_concurrent_searches_return_the_same_as_sequential_ones(server):
    listed = server.get("/v1/words?limit=60").json["words"]
    words = [entry["word"] for entry in listed]
    assert len(words) == 60
    paths = [f"/v1/words/{encoded(word)}/neighbors?topn={1 + i % 20}" for i, word in enumerate(words)]
    paths[7::11] = [f"/v1/words/{encoded(word)}nobody/neighbors" for word in words[7::11]]
    paths[5::9] = [f"/v1/analogy?a={encoded(words[0])}&b={encoded(word)}&c={encoded(words[1])}"
                   for word in words[5::9]]
    together = ask_at_once(server, paths)
    for path, (status, body) in zip(paths, together):
        alone = server.get(path)
        assert (status, body) == (alone.status, alone.body)
    assert {status for status, _ in together} == {200, 404}


def test_suggestions_use_a_bounded_share_of_the_time(tmp_path):
    """A client that asks for them continuously gets no suggestions for a while, and some again after a pause."""
    text = tmp_path / "many.txt"
    text.write_text("".join(f"word{i} another{i}\n" for i in range(20_000)))
    server = Server(text, size=("--vocab", "40000", "--dim", "4", "--subword", "0"))
    server.wait_for_tokens(40_000)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)

    def suggestions():
        connection.request("GET", "/v1/words/word123x")
        answer = connection.getresponse()
        assert answer.status == 404
        return json.loads(answer.read())["suggestions"]

    assert "word123" in suggestions()
    wait_until(lambda: not all(suggestions() for _ in range(50)), "an answer without suggestions")
    wait_until(suggestions, "an answer with suggestions")
    connection.close()
    server.end()
