"""The metrics are valid for Prometheus and correct."""

import re
import subprocess

import pytest
from optional import need_program
from prometheus_client.parser import text_string_to_metric_families
from serving import Server
from watching import wait_until

NAMES = [  # that dashboards and alerts use
    "build_info", "tokens", "sentences", "bytes", "skipped", "updates", "loss", "vocab_size", "vocab_capacity",
    "vocab_admissions", "vocab_evictions", "vocab_min_occurrences", "oov_contexts", "checkpoint_failures",
    "checkpoint_timestamp_seconds", "checkpoint_duration_seconds", "checkpoint_pause_seconds", "queue_bytes",
    "queue_refused_bytes", "memory_bytes", "http_request_duration_seconds",
]


def families(server):
    answer = server.get("/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {family.name: family for family in text_string_to_metric_families(answer.body.decode())}


def value(family, name=None, **labels):
    found = [sample.value for sample in family.samples
             if sample.name == (name or sample.name) and labels.items() <= sample.labels.items()]
    assert len(found) == 1
    return found[0]


def test_every_metric_appears_once(server):
    server.post("/v1/checkpoint")
    found = families(server)
    assert {f"wordtide_{name}" for name in NAMES} <= set(found)
    assert {"process_resident_memory_bytes", "process_start_time_seconds"} <= set(found)
    text = server.get("/metrics").body.decode()
    samples = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(samples) == len(set(samples))
    for family in found.values():
        assert family.documentation and family.type in ("counter", "gauge", "histogram")


def test_counters_end_in_total(server):
    text = server.get("/metrics").body.decode()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        assert name.endswith("_total") == (kind == "counter")
        assert not name.endswith(("_count", "_sum", "_bucket", "_info")) or name == "wordtide_build_info"


def test_promtool_finds_no_problem(server):
    server.post("/v1/checkpoint")
    for path in ("/v1/words/the/neighbors", "/v1/words/none", "/v1/export", "/nothing"):
        server.get(path)
    done = subprocess.run([need_program("promtool"), "check", "metrics"], input=server.get("/metrics").body, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_metrics_equal_the_stats(server):
    def same():
        stats, found = server.stats(), families(server)
        return (value(found["wordtide_tokens"]) == stats["tokens"] == server.stats()["tokens"]
                and value(found["wordtide_vocab_size"]) == stats["vocabulary"]["size"]
                and value(found["wordtide_vocab_evictions"]) == stats["vocabulary"]["evicted"]
                and value(found["wordtide_bytes"]) == stats["bytes"])

    wait_until(same, "a moment without learning")
    parts = {part["name"]: part["bytes"] for part in server.stats()["memory"]["parts"]}
    assert {s.labels["part"]: s.value for s in families(server)["wordtide_memory_bytes"].samples} == parts


def test_requests_are_counted_by_route(text):
    server = Server(text)
    server.wait_for_tokens(20000)
    for _ in range(7):
        assert server.get("/v1/words/the/neighbors").status == 200
    for _ in range(3):
        assert server.get("/v1/words/none/neighbors").status == 404
    server.get("/nothing")
    durations = families(server)["wordtide_http_request_duration_seconds"]
    name = durations.name + "_count"
    assert value(durations, name, route="GET /v1/words/{}/neighbors", code="2xx") == 7
    assert value(durations, name, route="GET /v1/words/{}/neighbors", code="4xx") == 3
    assert value(durations, name, route="none", code="4xx") == 1
    for sample in durations.samples:
        if sample.name == durations.name + "_bucket" and sample.labels["le"] == "+Inf":
            labels = {key: text for key, text in sample.labels.items() if key != "le"}
            assert sample.value == value(durations, name, **labels)
    server.end()


@pytest.mark.parametrize("path", ["/v1/words/", "/../", "/%00", "/\"}", "/x{y=\"z\"}"])
def test_unknown_paths_create_no_labels(server, path):
    server.get(path)
    routes = {sample.labels.get("route") for family in families(server).values() for sample in family.samples}
    assert all(route is None or route == "none" or re.fullmatch(r"[A-Z]+ [\w/{}*]+", route) for route in routes)
