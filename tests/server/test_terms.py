"""Words are found in any spelling: queries go through the tokenizer like text."""

import json

import pytest
from serving import Server, encoded, wait_until

TEXT = """she drinks tea and coffee every day
J’aime le café et le thé
сегодня хороший день
我喜欢喝咖啡
ο καφές είναι καλός
"""
SPELLINGS = {"Tea": ["tea"], "COFFEE": ["coffee"], "ДЕНЬ": ["день"], "J'AIME": ["j'aime"], "J’aime": ["j'aime"],
             "咖啡": ["咖", "啡"], "Tea, Coffee!": ["tea", "coffee"]}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    text = tmp_path_factory.mktemp("texts") / "texts.txt"
    text.write_text(TEXT * 200)
    server = Server(text, lasting=True)
    server.wait_for_tokens(200 * 26)
    yield server
    server.end()


def ask(server, method, path, body=None):
    if body is not None:
        return server.post(path, json.dumps(body), Content_Type="application/json")
    return server.ask(method, path, None)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_queries_are_tokenized_like_text(reader, spelling):
    tokens = SPELLINGS[spelling]
    note = [{"text": spelling, "tokens": tokens, "unknown": []}]
    word, plain = encoded(spelling), encoded(" ".join(tokens))
    reply = reader.get(f"/v1/words/{word}").json
    assert reply["word"] == " ".join(tokens) and reply["terms"] == note
    assert reply["held"] == (len(tokens) == 1)
    assert reply["norm"] == pytest.approx(reader.get(f"/v1/words/{plain}").json["norm"])
    near = reader.get(f"/v1/words/{word}/neighbors?topn=5").json
    assert near["terms"] == note
    assert near["neighbors"] == reader.get(f"/v1/words/{plain}/neighbors?topn=5").json["neighbors"]
    assert not {hit["word"] for hit in near["neighbors"]} & set(tokens)
    same = reader.get(f"/v1/similarity?a={word}&b={plain}").json
    assert same["similarity"] == pytest.approx(1, abs=1e-5) and same["a"] == same["b"]
    like = ask(reader, "POST", "/v1/most_similar", {"positive": [spelling], "negative": ["DAY"], "topn": 3}).json
    assert like["terms"] == [*note, {"text": "DAY", "tokens": ["day"], "unknown": []}]
    plainly = ask(reader, "POST", "/v1/most_similar",
                  {"positive": [" ".join(tokens)], "negative": ["day"], "topn": 3}).json
    assert like["neighbors"] == plainly["neighbors"]
    asked = reader.get(f"/v1/analogy?a={word}&b=le&c=ДЕНЬ&topn=3".replace("ДЕНЬ", encoded("ДЕНЬ"))).json
    assert asked["answers"] == reader.get(f"/v1/analogy?a={plain}&b=le&c={encoded('день')}&topn=3").json["answers"]


@pytest.mark.parametrize("spelling", ["καφές", "ΚΑΦΈΣ", "Καφές"])
def test_a_greek_word_is_found_with_its_final_sigma(reader, spelling):
    reply = reader.get(f"/v1/words/{encoded(spelling)}")
    assert reply.status == 200 and reply.json["held"]


def test_a_word_of_the_model_has_no_terms(reader):
    for path in ("/v1/words/tea", "/v1/words/tea/neighbors", "/v1/similarity?a=tea&b=coffee",
                 "/v1/analogy?a=tea&b=coffee&c=le"):
        assert "terms" not in reader.get(path).json


def test_unknown_words_of_a_text_are_listed(reader):
    reply = reader.get(f"/v1/words/{encoded('Cup of Tea')}").json
    assert reply["word"] == "tea"
    assert reply["terms"] == [{"text": "Cup of Tea", "tokens": ["tea"], "unknown": ["cup", "of"]}]


def test_suggestions_are_for_the_tokenized_word(reader):
    reply = reader.get("/v1/words/COFFE")
    assert reply.status == 404 and reply.json["word"] == "COFFE" and reply.json["suggestions"] == ["coffee"]


def test_a_prefix_is_normalized_if_nothing_matches(reader):
    for prefix in ("COFF", "Coff", "coff"):
        words = [entry["word"] for entry in reader.get(f"/v1/words?prefix={prefix}").json["words"]]
        assert words == ["coffee"]
    assert reader.get(f"/v1/words?prefix={encoded('ДЕ')}").json["words"][0]["word"] == "день"


def test_a_watched_word_is_tokenized(reader):
    assert ask(reader, "PUT", "/v1/words/COFFEE/watch").status == 204
    wait_until(lambda: reader.get("/v1/words/coffee").json["watched"], "the watched word")
    assert wait_until(lambda: reader.get("/v1/words/Coffee/history").status == 200, "its history")
    assert reader.get("/v1/words/Coffee/history").json["word"] == "coffee"
    assert ask(reader, "DELETE", "/v1/words/Coffee/watch").status == 204
    refused = ask(reader, "PUT", f"/v1/words/{encoded('tea coffee')}/watch")
    assert refused.status == 400 and "one word" in refused.json["detail"]
