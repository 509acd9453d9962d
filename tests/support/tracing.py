"""Runs under strace, which ends a process or lets a call fail where a test says so."""

import re
import shutil
import subprocess

import pytest
from running import SANITIZED
from watching import PATIENCE


def injects():
    """Whether strace is there and may trace."""
    if not shutil.which("strace") or SANITIZED:
        return False
    done = subprocess.run(["strace", "-qq", "-e", "inject=getppid:error=EIO:when=1", "true"],
                          capture_output=True)
    return done.returncode == 0


needs_strace = pytest.mark.skipif(not injects(), reason="needs strace, and a plain build")


def traced(command, folder, *options, **how):
    """The exit code and what was said; the calls are in folder/trace."""
    line = ["strace", "-f", "-qq", "-o", folder / "trace", *options, *command]
    done = subprocess.run(list(map(str, line)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PATIENCE, **how)
    return done.returncode, done.stderr.decode()


def calls(folder):
    """The thread, the name and the line of every call, in their order."""
    for line in (folder / "trace").read_text().splitlines():
        found = re.match(r"(\d+) +(\w+)\(", line)
        if found:
            yield found[1], found[2], line
