"""As a service: systemd is notified of readiness, of activity and of the shutdown."""

import os
import secrets
import signal
import socket
import subprocess

import pytest

from conftest import BINARY, PATIENCE, SMALL, logged, start, wordtide

SELDOM = {"WATCHDOG_USEC": "60000000"}  # so that messages wait in the queue
OFTEN = {"WATCHDOG_USEC": "200000"}


class Manager:
    """A stand-in for systemd: a socket and the service's environment."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0", 1))
        self.socket.settimeout(PATIENCE)
        self.environment = {"NOTIFY_SOCKET": address, **SELDOM}

    def start(self, *arguments, **more):
        environment = {**os.environ, **self.environment, **more}
        self.process = start("train", *arguments, *SMALL, env=environment,
                             stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        return self.process

    def hear(self, seconds=PATIENCE):
        """Waits for the next message and returns its fields."""
        self.socket.settimeout(seconds)
        lines = self.socket.recv(4096).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def heard(self):
        """All messages in the queue."""
        messages = []
        try:
            while True:
                messages.append(self.hear(0))
        except BlockingIOError:
            return messages

    def hear_to_the_end(self):
        self.process.communicate(timeout=PATIENCE)
        return self.heard()


@pytest.fixture(params=["path", "abstract"])
def any_manager(request, tmp_path):
    name = tmp_path / "notify" if request.param == "path" else f"@wordtide-{secrets.token_hex(8)}"
    manager = Manager(str(name))
    yield manager
    manager.socket.close()


@pytest.fixture
def manager(tmp_path):
    manager = Manager(str(tmp_path / "notify"))
    yield manager
    manager.socket.close()


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("one line of text\n")
    return path


def read_log(process, message):
    """Reads up to the line with the message."""
    for line in process.stderr:
        if message in line.decode():
            return
    pytest.fail(f"the log ended without {message}")


def test_ready_is_sent_when_the_model_and_the_sources_are_open(any_manager, tmp_path, text):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = any_manager.start(pipe, "-o", tmp_path / "m.tide")
    read_log(process, "msg=memory")  # the model is there, and the pipe waits for its writer
    assert any_manager.heard() == []
    with pipe.open("wb") as writer:
        message = any_manager.hear()
        assert message["READY"] == message["WATCHDOG"] == "1" and "STOPPING" not in message
        writer.write(text)
    reported = any_manager.hear_to_the_end()
    assert process.returncode == 0 and all("READY" not in message for message in reported)


@pytest.mark.parametrize("damage", ["model", "source"])
def test_ready_is_not_sent_without_a_model_or_a_source(manager, tmp_path, log, damage):
    (tmp_path / "m.tide").write_bytes(b"no model")
    what = ["--resume", tmp_path / "m.tide", log] if damage == "model" else \
        [tmp_path / "missing", "-o", tmp_path / "n.tide"]
    process = manager.start(*what)
    reported = manager.hear_to_the_end()
    assert process.returncode in (1, 2, 4) and all("READY" not in message for message in reported)


def test_a_resumed_model_is_ready_once_it_is_loaded(manager, tmp_path, log, text):
    path = tmp_path / "m.tide"
    assert wordtide("train", "-o", path, *SMALL, input=text).returncode == 0
    process = manager.start("--follow", log, "--resume", path)
    message = manager.hear()
    os.set_blocking(process.stderr.fileno(), False)
    assert b"msg=memory" in os.read(process.stderr.fileno(), 4096)  # it was there before
    assert "READY" in message and message["STATUS"].startswith("20k words")
    process.terminate()
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("source", ["demo:", "--follow"])
def test_keep_alives_are_sent_regularly(manager, tmp_path, log, source):
    """Both while it learns and while it waits for text."""
    sources = [source, log] if source == "--follow" else [source]
    process = manager.start(*sources, "-o", tmp_path / "m.tide", "-q", **OFTEN)
    assert "READY" in manager.hear()
    for _ in range(5):
        message = manager.hear()
        assert message["WATCHDOG"] == "1" and "words, " in message["STATUS"]
    process.terminate()
    assert process.wait(PATIENCE) == 0


def test_stopping_is_sent_before_the_last_save(manager, tmp_path, log):
    process = manager.start("--follow", log, "-o", tmp_path / "m.tide")
    manager.hear()
    process.terminate()
    reported = manager.hear_to_the_end()
    first = next(i for i, message in enumerate(reported) if "STOPPING" in message)
    assert all(int(message["EXTEND_TIMEOUT_USEC"]) > 0 for message in reported[first:])
    assert all("EXTEND_TIMEOUT_USEC" not in message for message in reported[:first])
    assert process.returncode == 0 and (tmp_path / "m.tide").exists()


def test_stopping_is_sent_at_the_end_of_the_text(manager, tmp_path, log):
    process = manager.start(log, "-o", tmp_path / "m.tide")
    reported = manager.hear_to_the_end()
    assert process.returncode == 0
    assert "READY" in reported[0] and "STOPPING" in reported[-1]


def test_a_process_that_hangs_sends_no_keep_alive(manager, tmp_path, log):
    process = manager.start("--follow", log, "-o", tmp_path / "m.tide", **OFTEN)
    assert "READY" in manager.hear()
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    manager.heard()
    with pytest.raises(TimeoutError):  # five times as long as one takes to come
        manager.hear(0.5)
    process.send_signal(signal.SIGCONT)
    assert manager.hear()["WATCHDOG"] == "1"
    process.terminate()
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("watchdog", [
    {"WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "often"},
    {"WATCHDOG_USEC": "-5"}, {"WATCHDOG_USEC": "99999999999999999999"}, {"WATCHDOG_USEC": ""}])
def test_keep_alives_are_sent_only_with_a_watchdog(manager, tmp_path, log, watchdog):
    manager.start(log, "-o", tmp_path / "m.tide", **watchdog)
    reported = manager.hear_to_the_end()
    assert "READY" in reported[0] and "STOPPING" in reported[-1]
    assert all("WATCHDOG" not in message for message in reported)


def test_the_watchdog_of_this_process_is_answered(manager, tmp_path, log):
    """The shell is replaced by the command, which keeps its process id."""
    script = 'WATCHDOG_PID=$$ exec "$0" "$@"'
    arguments = ["train", log, "-o", tmp_path / "m.tide", *SMALL]
    done = subprocess.run(["sh", "-c", script, BINARY, *map(str, arguments)],
                          env={**os.environ, **manager.environment}, capture_output=True,
                          timeout=PATIENCE, check=False)
    assert done.returncode == 0 and manager.hear()["WATCHDOG"] == "1"


@pytest.mark.parametrize("address", [
    None, "", "@", "relative", "/missing/socket", "/" + 200 * "x", "vsock:2:1234", "/dev/null"])
def test_a_missing_socket_is_no_failure(tmp_path, text, address):
    environment = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
    expected, path = tmp_path / "expected.tide", tmp_path / "m.tide"
    for output, more in (expected, {}), (path, {"NOTIFY_SOCKET": address} if address else {}):
        done = wordtide("train", "-o", output, *SMALL, "-q", input=text,
                        env={**environment, **more, **OFTEN})
        assert done.returncode == 0
    warnings = done.stderr.splitlines()
    assert len(warnings) == bool(address)
    assert all(line.startswith("wordtide: cannot notify systemd") for line in warnings)
    assert path.read_bytes() == expected.read_bytes()


def test_a_full_socket_does_not_block_training(manager, tmp_path, log):
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.setblocking(False)
    sender.connect(manager.environment["NOTIFY_SOCKET"])
    with pytest.raises(BlockingIOError):
        while True:
            sender.send(b"STATUS=full")
    done = wordtide("train", log, "-o", tmp_path / "m.tide", *SMALL,
                    env={**os.environ, **manager.environment})
    assert done.returncode == 0 and "systemd" not in done.stderr
    assert logged(done.stderr, "finished")["words"] == "4"
    process = manager.start("--follow", log, "-o", tmp_path / "n.tide")
    read_log(process, "msg=memory")
    while "READY" not in manager.hear():  # what could not be sent is sent later
        pass
    process.terminate()
    assert process.wait(PATIENCE) == 0
    sender.close()
