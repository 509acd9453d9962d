"""Queries about time: lists of new, gone, rising and moving words, histories, the map, and
watched words."""

import json

import pytest
from running import wordtide
from serving import Server, encoded
from watching import wait_until


@pytest.fixture(scope="module")
def server():
    server = Server("demo:seed=3,events=on,rate=40000", "--history-step", "1s", "--half-life", "300000",
                    size=["--vocab", "3000", "--dim", "16"], lasting=True)
    server.wait_for_tokens(100000)
    yield server
    server.end()


def words(server, query):
    answer = server.get(f"/v1/words?{query}")
    assert answer.status == 200
    return answer.json["words"]


def test_words_have_rates_and_are_sorted(server):
    wait_until(lambda: all(word["rate"] for word in words(server, "limit=20")), "rates")
    listed = words(server, "limit=20")
    assert [word["count"] for word in listed] == sorted((word["count"] for word in listed), reverse=True)
    assert [word["rank"] for word in listed] == list(range(1, 21))
    assert all(word["rate"] > 0 for word in listed)
    trends = wait_until(lambda: words(server, "sort=trend&limit=20"), "trends")
    assert [word["trend"] for word in trends] == sorted((word["trend"] for word in trends), reverse=True)


def test_a_ratio_is_the_quotient_of_its_rates(server):
    wait_until(lambda: all(word["baseline"] for word in words(server, "limit=20")), "rates")
    for sort in ("count", "trend"):
        for word in filter(lambda word: word["baseline"], words(server, f"sort={sort}&limit=200")):
            assert word["ratio"] == pytest.approx(word["rate"] / word["baseline"], rel=1e-6)


def test_seen_never_decreases(server):
    """The half-life of 300,000 words makes counts decrease."""
    seen, counts, fell = {}, {}, False

    def look():
        nonlocal fell
        for word in words(server, "limit=30"):
            name = word["word"]
            assert word["seen"] >= seen.get(name, 0)
            fell = fell or word["count"] < counts.get(name, 0)
            seen[name], counts[name] = word["seen"], word["count"]
        return fell

    wait_until(look, "counts that are halved")


def test_nothing_is_an_alarm_without_a_baseline():
    server = Server("demo:seed=3,events=on,rate=40000", size=["--vocab", "3000", "--dim", "16"])
    server.wait_for_tokens(400000)
    assert 0 < server.get("/v1/stats").json["history"]["baseline_in"] < 3600
    alarms = [line for line in server.get("/metrics").body.decode().splitlines()
              if line.startswith("wordtide_alarms_total")]
    assert len(alarms) == 4 and all(line.endswith(" 0") for line in alarms)
    server.end()


def test_rates_are_0_when_the_text_has_ended():
    server = Server("--history-step", "1s")

    def rates():
        stats = server.get("/v1/stats").json
        tea = server.get("/v1/words/tea")
        return stats["words_per_second"], tea.status == 200 and tea.json["rate"]

    def rates_of_more():
        server.send(b"tea and coffee\n" * 2000)
        return all(rate and rate > 0 for rate in rates())  # null at first

    wait_until(rates_of_more, "rates")
    wait_until(lambda: all(rate == 0 for rate in rates()), "the end of the text")
    assert server.get("/v1/words/tea").json["baseline"] > 0
    server.end()


def test_the_history_of_a_word_grows_oldest_first(server):
    word = encoded(words(server, "limit=5")[4]["word"])

    def points():
        answer = server.get(f"/v1/words/{word}/history")
        return answer.status == 200 and len(answer.json["points"]) >= 3 and answer.json["points"]

    ages = [point["age"] for point in wait_until(points, "a past")]
    assert ages == sorted(ages, reverse=True)

    def then():  # not asked again: there may be no snapshot of that age a moment later
        answer = server.get(f"/v1/words/{word}/neighbors?age=1&topn=5")
        return answer.status == 200 and answer.json

    answer = wait_until(then, "neighbors")
    assert answer["age"] > 0 and len(answer["neighbors"]) == 5


def test_a_missing_history_is_a_problem(server):
    word = encoded(words(server, "limit=5")[4]["word"])
    for path in (f"/v1/words/{word}/neighbors?age=1000000", "/v1/words/nobodysaysthis/history"):
        answer = server.get(path)
        assert answer.status == 404 and answer.json["type"] == "/problems/no-past"


def test_a_watched_word_is_followed_until_it_is_not(server):
    assert server.ask("PUT", "/v1/words/zyxwatched/watch", None).status == 204
    server.ask("POST", "/v1/ingest", b"zyxwatched is here\n" * 3, Content_Type="text/plain")

    def seen():
        answer = server.get("/v1/words/zyxwatched")
        return answer.status == 200 and answer.json["watched"] and answer.json["followed"]

    wait_until(seen, "the watched word")
    assert server.ask("DELETE", "/v1/words/zyxwatched/watch", None).status == 204
    assert server.ask("DELETE", "/v1/words/zyxwatched/watch", None).status == 404


WARM_UP = 12  # seconds without new words, with a margin


def test_a_sent_word_is_listed_as_new(server):
    wait_until(lambda: server.get("/v1/stats").json["now"] - server.get("/v1/stats").json["started"] > WARM_UP,
               "the end of the warm-up")
    server.ask("POST", "/v1/ingest", b"zyxnewborn comes with zyxnewborn\n" * 20, Content_Type="text/plain")
    wait_until(lambda: [word for word in words(server, "sort=new&limit=50") if word["word"] == "zyxnewborn"],
               "the new word")


def test_the_map_has_columns_of_one_length(server):
    answer = wait_until(lambda: server.get("/v1/map?limit=50").json, "a map")
    columns = {name: column for name, column in answer.items() if name != "frame"}
    assert {len(column) for column in columns.values()} == {50}
    assert len(set(answer["words"])) == 50


def test_lists_are_bounded(server):
    assert server.get("/v1/words?sort=trend&offset=1990&limit=10").status == 200
    assert server.get("/v1/words?sort=trend&offset=1991&limit=10").status == 400
    assert server.get("/v1/words?sort=up").status == 400


def test_the_history_survives_a_restart(tmp_path):
    path = tmp_path / "m.tide"
    arguments = ["demo:rate=20000", "--checkpoint", path, "--continue", "--history-step", "1s"]
    server = Server(*arguments)
    wait_until(lambda: words(server, "limit=3"), "words")
    word = encoded(words(server, "limit=3")[2]["word"])
    wait_until(lambda: server.get(f"/v1/words/{word}/history").status == 200
               and len(server.get(f"/v1/words/{word}/history").json["points"]) >= 3, "a past")
    server.end()
    server = Server(*arguments)

    def remembers():
        answer = server.get(f"/v1/words/{word}/history")
        return answer.status == 200 and answer.json["points"]

    assert len(wait_until(remembers, "the past")) >= 3


def test_check_accepts_the_history_file(tmp_path):
    path = tmp_path / "m.tide"
    server = Server("demo:rate=20000", "--checkpoint", path, "--history-step", "1s")
    wait_until(lambda: words(server, "limit=3"), "words")
    server.end()
    past = tmp_path / "m.tide.history"
    reply = wordtide("check", past)
    assert reply.returncode == 0 and f"{past}: good, " in reply.stdout and " followed, " in reply.stdout
    known = json.loads(wordtide("check", "--json", past).stdout)
    assert known["good"] and known["format"] == "history" and known["words"] > 100
    data = past.read_bytes()
    for at in (100, len(data) // 2, len(data) - 10):
        past.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])
        reply = wordtide("check", past)
        assert reply.returncode == 4 and reply.stdout == ""
        assert reply.stderr.count("\n") == 1 and str(past) in reply.stderr
