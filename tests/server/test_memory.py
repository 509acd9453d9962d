"""The process stays within the memory budget that it reports at the start."""

import re

import pytest
from running import SANITIZED, logged, wordtide
from serving import Server
from watching import wait_until

SIZE = ["--vocab", "30000", "--dim", "50"]


def read_budget(server):
    """The printed budget by part."""
    wait_until(lambda: any("msg=memory" in line for line in server.log), "the budget")
    facts = logged("".join(server.log), "memory")
    return {name: int(facts[name]) for name in facts if name.endswith("_bytes")}


@pytest.mark.skipif(SANITIZED, reason="a sanitizer has memory of its own")
def test_the_process_stays_within_the_budget(text, tmp_path):
    server = Server(text, "--checkpoint", tmp_path / "m.tide", "--every", "1h", size=SIZE)
    budget = read_budget(server)
    total = budget.pop("total_bytes")
    assert {"vectors_bytes", "questions_bytes", "history_bytes", "queue_bytes"} <= set(budget)
    assert sum(budget.values()) == total
    spare = budget["requests_bytes"] + budget["program_bytes"]  # only partly in use
    server.wait_for_tokens(20000)
    assert total - spare < server.resident() <= total
    for turn in range(3):
        for path in ["/v1/words?sort=drift", "/v1/words/the/neighbors?n=100", "/v1/map", "/v1/words/the/history", "/"]:
            assert server.get(path).status == 200
        assert server.send("a new text about markets and weather\n" * 20000).status == 200
        server.wait_for_tokens(20000 + (turn + 1) * 7 * 20000)
        assert server.post("/v1/checkpoint").status == 200
    assert total - spare < server.resident() and server.peak() <= total
    memory = server.stats()["memory"]
    assert memory["budget_bytes"] == total
    parts = {part["name"].replace(" ", "_") + "_bytes": part["bytes"] for part in memory["parts"]}
    assert parts == {**budget, "export_bytes": 0}
    assert memory["resident_bytes"] <= total
    server.end()


@pytest.mark.skipif(SANITIZED, reason="a sanitizer has memory of its own")
@pytest.mark.parametrize("options", [["--memory", "200M"], ["--memory", "150M", "--profile", "fast", "--queue", "8M"],
                                     ["--memory", "300M", "--threads", "4", "--history", "20000"]])
def test_the_memory_option_covers_the_whole_server(text, options):
    limit = int(options[1][:-1]) << 20
    server = Server(text, *options, size=[])
    total = read_budget(server)["total_bytes"]
    assert 0.9 * limit < total <= limit
    server.wait_for_tokens(20000)
    for path in ["/v1/words?sort=drift", "/v1/words/the/neighbors?n=100", "/v1/map", "/v1/words/the/history", "/"]:
        assert server.get(path).status == 200
    assert server.peak() <= total
    server.end()


def test_too_little_memory_is_rejected_with_the_minimum():
    done = wordtide("serve", "--port", "0", "--memory", "64M")
    needed = re.search(r"memory 64 MiB is too little: .* needs (\d+) MiB", done.stderr)
    assert done.returncode == 2 and needed
    server = Server("--memory", f"{needed[1]}M", size=[])
    server.end()


def test_a_spool_needs_no_queue(tmp_path):
    server = Server("--checkpoint", tmp_path / "m.tide", "--spool", tmp_path / "spool")
    assert "queue_bytes" not in read_budget(server)
    server.end()
