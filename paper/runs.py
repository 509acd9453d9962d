"""Runs of the command that are made once: measured, remembered and never repeated.

A Job is a command line. Its key is a hash of that line, in which files are replaced by
the hash of their contents and models by the key of the job that makes them: the same
work has the same key on any machine and in any folder. A Store keeps what a job printed
and cost in NAME-KEY.json and the files that it made beside it. A job without those files
has not been done; one whose model was deleted is done again only if a job that is
missing asks for the model. The folder tells git to look away from it.

CPU seconds are user + system time of the process, peak memory is its resident set, both
as the kernel counts them.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

BLOCK = 1 << 20
MODEL = "tide"
ATTENTION = 0.5  # seconds in which an interrupt is noticed


class Failed(Exception):
    """Something is missing or did not end well; the text is one line."""


class Made:
    """In a command line: a file that the job makes, by the ending of its name."""

    def __init__(self, ending):
        self.ending = ending


class Job:
    """Arguments are texts, Paths of files to read, Made files, and Jobs that stand for
    the model they make."""

    def __init__(self, name, *arguments):
        self.name, self.arguments = name, arguments

    @property
    def needs(self):
        return [part for part in self.arguments if isinstance(part, Job)]


class Store:
    def __init__(self, folder, command, workers=1):
        self.folder, self.command = Path(folder), str(command)
        self.workers = workers
        self.prints, self.children, self.lock = {}, set(), threading.Lock()
        self.stopped, self.failure, self.done_now = False, None, 0
        self.folder.mkdir(parents=True, exist_ok=True)
        ignored = self.folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n")

    def fingerprint(self, path):
        if path not in self.prints:
            digest = hashlib.sha256()
            with open(path, "rb") as file:
                while block := file.read(BLOCK):
                    digest.update(block)
            self.prints[path] = digest.hexdigest()
        return self.prints[path]

    def key(self, job):
        def known_as(part):
            if isinstance(part, Job):
                return ["job", self.key(part)]
            if isinstance(part, Path):
                return ["file", self.fingerprint(part)]
            return ["made", part.ending] if isinstance(part, Made) else str(part)

        line = json.dumps([known_as(part) for part in job.arguments])
        return hashlib.sha256(line.encode()).hexdigest()[:12]

    def path(self, job, ending=MODEL):
        return self.folder / f"{job.name}-{self.key(job)}.{ending}"

    def result(self, job):
        """What the job printed, as a list of objects, and cost; it must be done."""
        path = self.path(job, "json")
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise Failed(f"{path} is damaged: delete it") from None

    def run_all(self, jobs):
        """Runs what is missing, `workers` at a time. Models come before those who need
        them, so a worker that waits only waits for one that runs."""
        missing = {}
        for job in jobs:
            if not self._done(job):
                self._collect(job, missing)
        running = {}
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                for key, job in missing.items():
                    before = [running[k] for k in map(self.key, job.needs)
                              if k in running]
                    running[key] = pool.submit(self._run_after, before, job)
                results_of(running.values())
            except BaseException as failure:
                self.stop()
                raise self.failure or failure  # not that of a run that was stopped for it
        return [self.result(job) for job in jobs]

    def _done(self, job):
        """Models may have been deleted since, other files are still needed."""
        made = [part.ending for part in job.arguments if isinstance(part, Made)]
        endings = ["json", *(ending for ending in made if ending != MODEL)]
        return all(self.path(job, ending).exists() for ending in endings)

    def _collect(self, job, missing):
        for needed in job.needs:
            if not self.path(needed).exists() or not self.path(needed, "json").exists():
                self._collect(needed, missing)
        missing.setdefault(self.key(job), job)

    def _run_after(self, before, job):
        try:
            for future in before:
                future.result()
            self._run(job)
        except Exception as failure:
            self.stop(failure)
            raise

    def stop(self, failure=None):
        """Ends what runs without letting it finish, and begins nothing more: a training
        that is asked kindly would save half a model."""
        with self.lock:
            if not self.stopped:
                self.stopped, self.failure = True, failure
            for child in self.children:
                child.kill()

    def _line(self, job):
        def typed(part):
            if isinstance(part, Job):
                return str(self.path(part))
            return str(self.path(job, part.ending) if isinstance(part, Made) else part)

        return [self.command, *map(typed, job.arguments)]

    def _run(self, job):
        line = self._line(job)
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as log:
            start = time.monotonic()
            with self.lock:
                if self.stopped:
                    raise Failed("stopped")
                say(job.name)
                child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=printed,
                                         stderr=log, start_new_session=True)
                self.children.add(child)
            _, status, used = os.wait4(child.pid, 0)
            with self.lock:
                child.returncode = os.waitstatus_to_exitcode(status)
                self.children.discard(child)
            wall = time.monotonic() - start
            output, said = read_back(printed), read_back(log)
        if self.stopped or child.returncode:
            raise Failed(f"{job.name}: {reason(said, child.returncode)}")
        self._remember(job, {
            "name": job.name, "command": line[1:],
            "cpu_seconds": used.ru_utime + used.ru_stime, "wall_seconds": wall,
            "peak_bytes": used.ru_maxrss * 1024,
            "printed": [json.loads(row) for row in output.split("\n") if row],
        })

    def _remember(self, job, result):
        write_whole(self.path(job, "json"), json.dumps(result))
        with self.lock:
            self.done_now += 1


def results_of(futures):
    """Waits for all of them, or for the first that fails. In short steps: a signal that
    comes just before a wait begins is only noticed when the wait ends."""
    futures = list(futures)
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, ATTENTION, FIRST_EXCEPTION)
        for future in done:
            future.result()
    return [future.result() for future in futures]


def reason(said, code):
    """Why a command failed: its last line, unless that only points at the help."""
    lines = [line for line in said.splitlines() if line and not line.startswith("Try ")]
    return lines[-1] if lines else f"exit {code}"


def read_back(file):
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def write_whole(path, text):
    """Whoever reads the file sees all of it or what was there before."""
    half = path.with_suffix(".half")
    half.write_text(text, encoding="utf-8")
    half.replace(path)


def say(text):
    print(text, file=sys.stderr, flush=True)
