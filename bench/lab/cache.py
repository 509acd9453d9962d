"""Runs of wordtide whose results are kept in files, so that none is repeated.

A Job is a command line. Its key is a hash of that line in which files are replaced by the
hash of their contents, and models by the key of the job that trains them: the same work
has the same key on any machine and in any directory. A Store keeps what a job printed and
cost in NAME-KEY.json, and the files that it wrote next to that. A deleted model is only
trained again if a job that is still to be run needs it. git ignores the directory.
"""
import hashlib
import json
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from lab import Failed, say
from lab.running import Runner

BLOCK = 1 << 20
MODEL = "tide"
SIGNAL_LATENCY = 0.5  # seconds within which an interrupt is noticed


class Output:
    """In a command line: a file that the job writes, by its extension."""

    def __init__(self, extension):
        self.extension = extension


class Job:
    """Arguments are texts, Paths of files to read, Outputs, and Jobs that stand for the
    model that they train."""

    def __init__(self, name, *arguments):
        self.name, self.arguments = name, arguments

    @property
    def needs(self):
        return [part for part in self.arguments if isinstance(part, Job)]


class Store:
    def __init__(self, folder, command, workers=1):
        self.folder, self.command, self.workers = Path(folder), str(command), workers
        self.runner, self.failure, self.made = Runner(), None, []  # names of jobs
        self.fingerprints, self.locks = {}, {}
        ignored_folder(self.folder)

    def fingerprint(self, path):
        if path not in self.fingerprints:
            self.fingerprints[path] = fingerprint(path)
        return self.fingerprints[path]

    def key(self, job):
        def identity(part):
            if isinstance(part, Job):
                return ["job", self.key(part)]
            if isinstance(part, Path):
                return ["file", self.fingerprint(part)]
            return ["output", part.extension] if isinstance(part, Output) else str(part)

        return short_hash([identity(part) for part in job.arguments])

    def path(self, job, extension=MODEL):
        return self.folder / f"{job.name}-{self.key(job)}.{extension}"

    def result(self, job):
        """What a job printed, a list of objects, and cost. The job must have been run."""
        return read_json(self.path(job, "json"))

    def is_done(self, job):
        """A model may have been deleted since; other files are still needed."""
        extensions = ["json", *(part.extension for part in job.arguments
                                if isinstance(part, Output) and part.extension != MODEL)]
        return all(self.path(job, extension).exists() for extension in extensions)

    def run_all(self, jobs):
        """Runs the jobs that have no result, `workers` at a time, and returns the results."""
        jobs = list(jobs)
        self.map(self.run, jobs)
        return [self.result(job) for job in jobs]

    def map(self, function, items):
        """Results of function(item) in `workers` threads. The first failure stops all."""
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                return results_of([pool.submit(self._guarded, function, item)
                                   for item in items])
            except BaseException as failure:
                self.runner.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise self.failure or failure  # not that of a run that was killed for it

    def _guarded(self, function, item):
        try:
            return function(item)
        except Exception as failure:
            if not self.runner.stopped:
                self.failure = failure
            self.runner.stop()
            raise

    def run(self, job):
        """Runs a job that has no result, and first those whose models it needs and that have
        none. Two threads never run the same job."""
        with self.lock(job):
            if not self.is_done(job):
                self._run(job)
        return self.result(job)

    def train(self, job):
        """Runs a job whose model is missing, even if it has a result."""
        with self.lock(job):
            if not self.path(job).exists() or not self.path(job, "json").exists():
                self._run(job)

    def lock(self, job):
        return self.locks.setdefault(self.key(job), threading.Lock())

    def _run(self, job):
        for needed in job.needs:
            self.train(needed)
        line = [self.command, *(self._typed(job, part) for part in job.arguments)]
        if not self.runner.stopped:
            say(job.name)
        used = self.runner.measure(line, name=job.name)
        write_whole(self.path(job, "json"), json.dumps({
            "name": job.name, "command": line[1:], "cpu_seconds": used.cpu,
            "wall_seconds": used.wall, "peak_bytes": used.peak,
            "printed": [json.loads(row) for row in used.output.split("\n") if row]}))
        self.made.append(job.name)

    def _typed(self, job, part):
        """An argument as it is typed."""
        if isinstance(part, Job):
            return str(self.path(part))
        return str(self.path(job, part.extension) if isinstance(part, Output) else part)


def results_of(futures):
    """Waits for all futures or for the first failure, in short steps: a signal that arrives
    just before a wait is noticed only when the wait ends."""
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, SIGNAL_LATENCY, FIRST_EXCEPTION)
        for future in done:
            future.result()
    return [future.result() for future in futures]


def ignored_folder(folder):
    """Creates a directory that git ignores."""
    folder.mkdir(parents=True, exist_ok=True)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n")


def fingerprint(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def short_hash(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]


def read_json(path, kind=lambda value: value):
    """The contents of a file, through `kind`, which raises ValueError or TypeError if they
    are not what it expects."""
    try:
        return kind(json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError):
        raise Failed(f"{path} is damaged: delete it") from None


def kept(path, make, kind=lambda value: value):
    """What the file contains. If it does not exist, it is written with what make() returns."""
    if not path.exists():
        write_whole(path, json.dumps(make()))
    return read_json(path, kind)


def write_whole(path, text):
    """Replaces a file in one step: readers see all of the new content or the old."""
    half = path.with_name(path.name + ".half")
    half.write_text(text, encoding="utf-8")
    half.replace(path)
