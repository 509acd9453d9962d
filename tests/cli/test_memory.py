"""Training takes no more memory than it reports at the start, including the program."""

import re
import subprocess
import sys

import pytest
from conftest import BINARY, PATIENCE, SANITIZED, logged, wordtide

pytestmark = pytest.mark.skipif(SANITIZED, reason="a sanitizer has memory of its own")


# The most memory of a process counts what it had of its parent when it began, and so this is a small one.
MEASURED = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def trained(folder, *arguments):
    """The reported bytes, and the peak of the process."""
    line = [sys.executable, "-I", "-S", "-c", MEASURED, BINARY, "train", *arguments, "-o", folder / "m.tide"]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return int(logged(done.stderr, "memory")["total_bytes"]), int(done.stdout) * 1024


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(wordtide("demo", "--tokens", "300000").stdout)
    return path


@pytest.mark.parametrize("memory", ["60M", "200M"])
@pytest.mark.parametrize("options", [
    [], ["--threads", "4"], ["--profile", "fast"], ["--every", "100000"], ["--records", "tsv", "--text", "1"],
    ["--subword", "1000", "--dim", "50"], ["--batch", "--epochs", "2"], ["--phrases", "2", "--threads", "16"]])
def test_the_process_stays_within_the_given_memory(source, tmp_path, memory, options):
    total, peak = trained(tmp_path, source, "--memory", memory, *options)
    assert peak <= total <= int(memory[:-1]) << 20


@pytest.mark.parametrize("options", [["--vocab", "100", "--dim", "4"], [], ["--threads", "64"], ["--half-life", "10000"]])
def test_the_process_stays_within_the_reported_budget(source, tmp_path, options):
    total, peak = trained(tmp_path, source, *options)
    assert peak <= total


def test_a_resumed_process_stays_within_the_budget(source, tmp_path):
    trained(tmp_path, source, "--memory", "60M")
    total, peak = trained(tmp_path, "--resume", tmp_path / "m.tide", source)
    assert peak <= total <= 60 << 20


@pytest.mark.parametrize("profile", ["default", "fast"])
def test_too_little_memory_is_rejected_with_the_minimum(source, tmp_path, profile):
    done = wordtide("train", source, "-o", tmp_path / "m.tide", "--memory", "10M", "--profile", profile)
    assert done.returncode == 2
    needed = re.search(r"^wordtide: (?:--)?memory 10 MiB is too little: .* needs (\d+) MiB", done.stderr)[1]
    assert ("profile fast" in done.stderr) == (profile != "fast")
    total, peak = trained(tmp_path, source, "--profile", profile, "--memory", f"{needed}M")
    assert peak <= total <= int(needed) << 20
