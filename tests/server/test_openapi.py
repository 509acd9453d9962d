"""server/openapi.yaml matches the server: its routes, status codes and members."""

import re

import pytest
import yaml
from running import ROOT
from serving import Server, encoded


@pytest.fixture(scope="module")
def described():
    return yaml.safe_load((ROOT / "server" / "openapi.yaml").read_text())


def table():
    source = (ROOT / "server" / "routes.c").read_text()
    return {(method, path): flags for method, path, flags in
            re.findall(r'\{"([A-Z]+)", "([^"]+)", ([^,]+), \w+\}', source)}


def as_in_table(path):
    """/v1/words/{word} is /v1/words/{} there, and what follows any is *."""
    return re.sub(r"\{\w+\}", "{}", path.replace("/{any}", "*"))


def operations(described):
    return {(method.upper(), as_in_table(path)): operation
            for path, methods in described["paths"].items() for method, operation in methods.items()}


def resolve(described, value):
    while "$ref" in value:
        found = described
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        value = found
    return value


def test_exactly_the_routes_are_described(described):
    assert set(operations(described)) == set(table())


def test_public_routes_are_marked(described):
    for key, operation in operations(described).items():
        assert (operation.get("security") == []) == ("ROUTE_PUBLIC" in table()[key])


def test_every_reference_resolves(described):
    def walk(value):
        if isinstance(value, dict):
            if "$ref" in value:
                assert resolve(described, value)
            value = list(value.values())
        for item in value if isinstance(value, list) else []:
            walk(item)

    walk(described)


def fits(described, schema, value):
    """Checks the members and types of a value: the part of JSON Schema that the file uses."""
    schema = resolve(described, schema)
    types = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
             "boolean": bool, "null": type(None)}
    allowed = schema.get("type", [])
    allowed = [allowed] if isinstance(allowed, str) else allowed
    assert not allowed or any(isinstance(value, types[name]) for name in allowed), (schema, value)
    assert "enum" not in schema or value in schema["enum"]
    assert "const" not in schema or value == schema["const"]
    for part in schema.get("allOf", []):
        fits(described, part, value)
    if isinstance(value, dict):
        assert set(schema.get("required", [])) <= set(value)
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                fits(described, inner, value[name])
    if isinstance(value, list) and "items" in schema:
        for item in value:
            fits(described, schema["items"], item)


def examples(word):
    """Requests for every route, with every kind of response that is available immediately."""
    json_type = {"Content_Type": "application/json"}
    for path in ("/", "/v1", "/v1/", "/openapi.yaml"):
        yield "GET", path, None, {}
    for path in ("/health", "/ready", "/metrics", "/v1/stats", "/v1/models", "/v1/words", "/v1/words?limit=0",
                 "/v1/words?prefix=a&offset=1", f"/v1/words/{word}", f"/v1/words/{word}?vector=1", "/v1/words/none",
                 "/v1/words/%zz", f"/v1/words/{word}/neighbors", "/v1/words/none/neighbors",
                 f"/v1/words/{word}/neighbors?topn=0", f"/v1/words/{word}/neighbors?age=9999",
                 "/v1/words?sort=new", "/v1/words?sort=gone", "/v1/words?sort=trend", "/v1/words?sort=drift",
                 "/v1/words?sort=none", f"/v1/words/{word}/history", "/v1/words/none/history", "/v1/map?limit=5",
                 "/v1/map?limit=0", f"/v1/similarity?a={word}&b={word}", "/v1/similarity",
                 f"/v1/similarity?a={word}&b=none", f"/v1/analogy?a={word}&b={word}&c={word}", "/v1/analogy",
                 f"/v1/analogy?a={word}&b={word}&c=none", "/insert/elasticsearch/_license",
                 "/v1/words/-?word=..", f"/v1/words/-/neighbors?word={word}", "/v1/export", "/v1/export?format=npy",
                 "/v1/export?format=safetensors&dtype=f16&top=5&center=1", "/v1/export?format=glove&dtype=f16",
                 "/v1/export?top=0"):
        yield "GET", path, None, {}
    yield "PUT", "/insert/elasticsearch/_ilm", b"{}", json_type
    for method in ("PUT", "DELETE", "DELETE"):
        yield method, f"/v1/words/{word}/watch", None, {}
    for path, good, bad in (
            ("/v1/analogy", f'{{"a":"{word}","b":"{word}","c":"{word}"}}', "{}"),
            ("/v1/most_similar", f'{{"positive":["{word}"]}}', "{}"),
            ("/v1/embeddings", f'{{"input":["{word}","none"]}}', "{}"),
            ("/v1/checkpoint", "{}", "{}"),
            ("/v1/ingest", "[]", "["),
            ("/insert/jsonline", "{}", "["),
            ("/insert/elasticsearch/_bulk", '{"index":{}}\n{"message":"a"}\n', "{}")):
        yield "POST", path, good.encode(), json_type
        yield "POST", path, bad.encode(), json_type
        yield "POST", path, b"x", {"Content_Type": "text/plain", "Content_Encoding": "br"}
    yield "POST", "/v1/ingest", b"n0 q0\n" * 2000, {"Content_Type": "text/plain"}


def test_responses_match_the_description(described, text):
    server = Server(text, "--queue", "4096")
    server.wait_for_tokens(20000)
    word = encoded(server.get("/v1/words?limit=5").json["words"][4]["word"])
    asked = set()
    for method, path, body, headers in examples(word):
        answer = server.ask(method, path, body, **headers)
        bare = path.split("?")[0]
        key = (method, next(form for _, form in sorted(table(), key=lambda key: "{" in key[1] or "*" in key[1])
                            if re.fullmatch(form.replace("{}", "[^/]+").replace("*", ".*"), bare)))
        asked.add(key)
        operation = operations(described)[key]
        assert str(answer.status) in operation["responses"], (key, answer.status)
        for name in re.findall(r"[?&](\w+)=", path):
            assert name in {resolve(described, p)["name"] for p in operation["parameters"]}
        if answer.status == 204:
            continue
        content = resolve(described, operation["responses"][str(answer.status)]).get("content", {})
        kind = answer.headers["Content-Type"].split(";")[0]
        assert kind in content, (key, answer.status, kind)
        if kind.endswith("json"):
            fits(described, content[kind].get("schema", {}), answer.json)
    assert asked == set(table()) - {("GET", "/v1/events")}
    server.end()
