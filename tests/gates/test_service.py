"""The unit for systemd runs as it stands, and gives away as few rights as it can."""

import os
import re
import shlex
import shutil
import socket
import subprocess

import pytest
from watching import PATIENCE, STARTED

MOST_EXPOSED = 1.5  # of 10; a unit that says nothing about rights has 9.6
ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(not ANALYZE, reason="needs systemd-analyze")


@pytest.fixture
def unit(root):
    return (root / "packaging" / "wordtide.service").read_text()


@pytest.fixture
def command(build):
    return os.environ.get("WORDTIDE", str(build / "cli" / "wordtide"))


def exposure(folder, text):
    path = folder / "wordtide.service"
    path.write_text(text)
    said = subprocess.run(
        [ANALYZE, "security", "--offline=true", "--no-pager", str(path)],
        capture_output=True, text=True, check=False,
    )
    level = re.search(r"Overall exposure level for \S+: (\d+\.\d)", said.stdout)
    assert level, said.stderr
    return float(level.group(1))


def setting(unit, name):
    return re.search(rf"^{name}=(.*)$", unit, re.MULTILINE).group(1)


@needs_systemd
def test_the_unit_is_hardly_exposed(tmp_path, unit):
    assert exposure(tmp_path, unit) <= MOST_EXPOSED


@needs_systemd
def test_a_unit_with_all_rights_would_be_noticed(tmp_path, unit):
    bare = [line for line in unit.splitlines()
            if not re.match("Protect|Private|Restrict[^P]|SystemCall|Dynamic|Capab|NoNew", line)]
    assert exposure(tmp_path, "\n".join(bare)) > MOST_EXPOSED


@needs_systemd
def test_systemd_understands_every_line(tmp_path, unit, command):
    path = tmp_path / "wordtide.service"
    path.write_text(unit.replace("ExecStart=wordtide", f"ExecStart={command}"))
    said = subprocess.run([ANALYZE, "verify", "--man=no", str(path)],
                          capture_output=True, text=True, check=False).stderr
    assert [line for line in said.splitlines() if "wordtide" in line] == []


class Service:
    """What systemd does with the unit: its command, with a notification socket."""

    def __init__(self, folder, unit, command):
        self.folder, self.line, self.command = folder, setting(unit, "ExecStart"), command
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "notify"))
        self.socket.settimeout(PATIENCE)

    def start(self, parameters):
        line = self.line.replace("$SOURCES", "log.txt").replace("$PARAMETERS", parameters)
        name, *arguments = shlex.split(line)
        assert name == "wordtide"
        process = subprocess.Popen([self.command, *arguments], cwd=self.folder,
                                   env={**os.environ, "NOTIFY_SOCKET": str(self.folder / "notify")},
                                   stderr=subprocess.PIPE, text=True)
        STARTED.append(process)
        return process

    def run(self, parameters):
        """Starts it, and stops it once it is ready."""
        process = self.start(parameters)
        while b"READY=1" not in self.socket.recv(4096):
            pass
        process.terminate()
        said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 0 and "msg=stopped" in said, said
        return said


@pytest.fixture
def service(tmp_path, unit, command):
    (tmp_path / "log.txt").write_text("one line of text\n")
    service = Service(tmp_path, unit, command)
    yield service
    service.socket.close()


PARAMETERS = "--vocab 50 --dim 4 --replay-ring 2000 --profile fast --tokenizer social --threads 1"


def test_its_command_begins_a_model_and_goes_on_with_it(service, tmp_path):
    assert "words=4 " in service.run(PARAMETERS)
    assert "words=4 " in service.run(PARAMETERS)  # nothing is read twice
    with (tmp_path / "log.txt").open("a") as log:
        log.write("and one more\n")
    assert "words=7 " in service.run(PARAMETERS)


def test_changed_parameters_are_reported(service, tmp_path, unit):
    service.run(PARAMETERS)
    begun = (tmp_path / "words.tide").read_bytes()
    process = service.start(PARAMETERS.replace("--dim 4", "--dim 5"))
    said = process.communicate(timeout=PATIENCE)[1]
    assert "dim cannot be changed to 5: the model was started with 4" in said.splitlines()[0]
    assert (tmp_path / "words.tide").read_bytes() == begun
    assert str(process.returncode) in setting(unit, "RestartPreventExitStatus").split()


def test_only_the_service_notifies_systemd(unit):
    assert setting(unit, "Type") == "notify" and setting(unit, "NotifyAccess") == "main"
    assert 0 < int(setting(unit, "WatchdogSec")) <= 30
    assert "AF_UNIX" in setting(unit, "RestrictAddressFamilies").split()
