"""Runs a command and measures it, by the kernel's own account of the process.

CPU seconds are user + system time of a process and all children it has waited for. Peak
memory is the largest resident set. It is never less than that of the Python process that
started the command, so a script must not load large modules or files before it measures
memory; apart() is for work that takes much.
"""
import os
import subprocess
import tempfile
import threading
import time
from collections import namedtuple

from lab import Failed

Usage = namedtuple("Usage", "user system wall peak output log")  # seconds, bytes, text
Usage.cpu = property(lambda usage: usage.user + usage.system)


class Runner:
    """Runs commands, in any number of threads, until it is stopped."""

    def __init__(self):
        self.children, self.lock, self.stopped = set(), threading.Lock(), False

    def measure(self, command, feed=None, env=None, name=None):
        """Runs a command, a list or a line for the shell, to its end. `feed` yields the
        blocks of its standard input, `name` is used in messages."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as log:
            begin = time.monotonic()
            child = self._start(command, env, output, log, bool(feed))
            try:
                if feed:
                    write_all(child.stdin, feed)
                _, status, used = os.wait4(child.pid, 0)
            except BaseException:
                child.kill()
                child.wait()
                raise
            finally:
                with self.lock:
                    self.children.discard(child)
            wall = time.monotonic() - begin
            printed, logged = read_back(output), read_back(log)
        child.returncode = os.waitstatus_to_exitcode(status)
        if self.stopped or child.returncode:
            why = error_message(logged, child.returncode)
            raise Failed(f"{name or command_name(command)}: {why}")
        return Usage(used.ru_utime, used.ru_stime, wall, used.ru_maxrss * 1024, printed, logged)

    def _start(self, command, env, output, log, fed):
        with self.lock:
            if self.stopped:
                raise Failed("stopped")
            child = subprocess.Popen(
                command, shell=isinstance(command, str), env=env, stdout=output, stderr=log,
                stdin=subprocess.PIPE if fed else subprocess.DEVNULL, start_new_session=True)
            self.children.add(child)
            return child

    def stop(self):
        """Kills what is running and starts nothing more. SIGKILL, because a training that is
        asked to stop would first save its model."""
        with self.lock:
            self.stopped = True
            for child in self.children:
                child.kill()


measure = Runner().measure


def write_all(pipe, blocks):
    try:
        for block in blocks:
            pipe.write(block)
        pipe.close()
    except BrokenPipeError:
        pass  # the exit status says why


def read_back(file):
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def command_name(command):
    return command.split()[0] if isinstance(command, str) else os.path.basename(str(command[0]))


def error_message(log, status):
    """The last line that a failed command printed, unless it only refers to the help."""
    lines = [line for line in log.splitlines() if line and not line.startswith("Try ")]
    return lines[-1] if lines else f"exit status {status}"


def train(command, source, output, *options):
    """The command line of a training."""
    return [command, "train", str(source), "-o", str(output), *map(str, options)]


def apart(function, *arguments):
    """Calls a function in a process of its own, whose memory ends with it."""
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(function, arguments)
