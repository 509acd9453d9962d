"""Checkpoints can be requested, and are reported truthfully."""

import resource
import threading

import pytest
from running import SMALL, logged, wordtide
from serving import Server
from tracing import needs_strace
from watching import PATIENCE, wait_until


def test_a_checkpoint_has_what_was_learned(server):
    reply = server.post("/v1/checkpoint")
    assert reply.status == 200
    assert reply.json["bytes"] == server.checkpoint.stat().st_size
    assert wordtide("check", server.checkpoint).returncode == 0
    after = server.stats()["checkpoint"]
    assert after["path"] == str(server.checkpoint) and after["bytes"] == reply.json["bytes"] and after["time"]


def test_the_state_of_checkpoints_is_reported(text, tmp_path):
    server = Server(text, "--checkpoint", tmp_path / "reported.tide", "--every", "1h")
    reply = server.stats()["checkpoint"]
    assert (reply["running"], reply["time"], reply["age_seconds"], reply["failures"]) == (False, None, None, 0)
    for _ in range(3):
        answer = server.post("/v1/checkpoint").json
        reply = server.stats()
        assert reply["checkpoint"]["seconds"] == answer["seconds"] and not reply["checkpoint"]["running"]
        assert abs(reply["now"] - reply["checkpoint"]["time"] - reply["checkpoint"]["age_seconds"]) < 0.1
    server.end()


@needs_strace
def test_a_checkpoint_in_progress_is_reported(text, tmp_path):
    """Every sync takes a third of a second."""
    slowly = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
              "-e", "inject=fsync,fdatasync:delay_enter=300000"]
    server = Server(text, "--checkpoint", tmp_path / "slow.tide", "--every", "1h", before=slowly)
    asking = threading.Thread(target=lambda: server.post("/v1/checkpoint"))
    asking.start()
    wait_until(lambda: server.stats()["checkpoint"]["running"], "a checkpoint on its way")
    assert asking.is_alive()
    asking.join()
    reply = server.stats()["checkpoint"]
    assert not reply["running"] and reply["seconds"] > 0.3
    server.end()


def test_concurrent_checkpoint_requests_are_answered(server):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(server.post("/v1/checkpoint"))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers] == [200] * 20


def test_without_a_checkpoint_file_requests_are_rejected():
    server = Server()
    answer = server.post("/v1/checkpoint")
    assert answer.status == 409 and "--checkpoint" in answer.json["detail"]
    assert server.stats()["checkpoint"] is None
    server.end()


def let_files_grow(server, size):
    """Limits the file size, which looks like a full disk."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_full_disk_is_reported_and_recovered_from(tmp_path):
    place = tmp_path / "full.tide"
    # Python ignores SIGXFSZ, and its children inherit that.
    server = Server("--checkpoint", place, "--every", "1h", restore_signals=False)
    assert server.post("/v1/checkpoint").status == 200
    let_files_grow(server, 1000)
    answer = server.post("/v1/checkpoint")
    assert answer.status == 500 and str(place) in answer.json["detail"]
    ready = server.get("/ready")
    assert ready.status == 503 and ready.json["status"] == "degraded" and str(place) in ready.json["detail"]
    assert server.stats()["checkpoint"]["failures"] == 1
    assert server.get("/health").status == 200
    assert wordtide("check", place).returncode == 0  # the previous one is intact
    let_files_grow(server, resource.RLIM_INFINITY)
    assert server.post("/v1/checkpoint").status == 200
    assert server.get("/ready").json == {"status": "ready"}
    server.end()


def test_a_failed_save_is_retried(tmp_path):
    """Long before the next one is due, and without further text."""
    server = Server("--checkpoint", tmp_path / "full.tide", "--every", "1h", restore_signals=False)
    server.send("some text\n")
    server.wait_for_tokens(2)
    let_files_grow(server, 1000)
    assert server.post("/v1/checkpoint").status == 500
    let_files_grow(server, resource.RLIM_INFINITY)
    wait_until(lambda: server.get("/ready").status == 200, "the next try", pause=0.2)
    assert wordtide("check", tmp_path / "full.tide").returncode == 0
    server.kill()


def test_shutdown_answers_waiting_requests(tmp_path):
    """A checkpoint requested during shutdown is saved or refused, but always answered."""
    for turn in range(5):
        server = Server("--checkpoint", tmp_path / f"{turn}.tide", "--every", "1h")
        answers = []

        def ask():
            try:
                while True:
                    answers.append(server.post("/v1/checkpoint").status)
            except OSError:
                pass

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: answers)
        server.end()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        assert set(answers) <= {200, 503}


@pytest.mark.parametrize("body", [None, "", "{}", "[]", "x"])
def test_the_body_of_a_checkpoint_request_is_ignored(server, body):
    assert server.post("/v1/checkpoint", body, Content_Type="application/json").status == 200


def test_the_end_is_reported_without_a_checkpoint_too(text):
    server = Server(text)
    server.wait_for_tokens(20000)
    last = logged(server.end().splitlines()[-1], "stopped")
    assert int(last["words"]) >= 20000 and "model" not in last


def test_a_failed_final_save_is_an_error(text, tmp_path):
    server = Server(text, "--checkpoint", tmp_path / "m.tide", "--every", "1h", size=["--vocab", "5000", "--dim", "64"],
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
    server.wait_for_tokens(10000)
    server.process.terminate()
    assert server.ended() == 1
    assert "File too large" in server.log[-1]
    assert not (tmp_path / "m.tide").exists()


def test_a_server_that_learns_nothing_keeps_its_checkpoints(text, tmp_path):
    path = tmp_path / "m.tide"
    for _ in range(4):
        server = Server("--checkpoint", path, "--continue", size=SMALL if not path.exists() else [])
        if not path.exists():
            server.send("some words to begin with\n")
            server.wait_for_tokens(5)
        server.end()
        if not (tmp_path / "before").exists():
            (tmp_path / "before").write_bytes(path.read_bytes())
    assert path.read_bytes() == (tmp_path / "before").read_bytes()
    assert not (tmp_path / "m.tide.1").exists()


def test_a_server_stopped_before_the_first_word_writes_no_model(tmp_path):
    server = Server("--checkpoint", tmp_path / "m.tide")
    assert "m.tide was not written" in server.end()
    assert not (tmp_path / "m.tide").exists()
