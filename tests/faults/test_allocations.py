"""Every allocation of a command fails once, and then all from that one on (allocator.c).

Either the command ends as if nothing had happened, with the same bytes, or it ends with code 1 and
one line that says so, and nothing has the name of a result that is not a whole one.
"""

import gzip
import random
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import NIGHT, plain_build
from harness import Library, preloaded
from running import done_well

pytestmark = plain_build
FIRST, SOME = (10**9, 0) if NIGHT else (80, 30)  # calls: all of the first, some of the rest
TINY = ["--vocab", "60", "--dim", "8", "--replay-ring", "2000"]
POSTS = ["--vocab", "60", "--dim", "8", "--label-memory", "64k", "--label-each", "20",
         "--classifier-maps", "4", "--classifier-epochs", "2"]
JSON = ["--records", "json", "--text", "body"]
FORMATS = {"word2vec": "x.vec", "word2vec-binary": "x.bin", "glove": "x.txt", "npy": "x.npy",
           "projector": "x", "safetensors": "x.safetensors", "pgvector": "x.copy",
           "sqlite": "x.db"}

# Paths are those of `things`, but for what is written: OUT/ is a folder that is empty at first.
COMMANDS = {
    "train": "train news.txt -o OUT/m.tide {tiny}",
    "train-checkpoints": "train long.txt -o OUT/m.tide --checkpoint OUT/c.tide --every 1000 {tiny}",
    "train-continue": "train long.txt --checkpoint OUT/m.tide --continue --every 1000 {tiny}",
    "train-resume": "train --resume half.tide news.txt -o OUT/m.tide",
    "train-json": "train posts.jsonl -o OUT/m.tide {json} {tiny}",
    "train-zstd": "train news.txt.zst -o OUT/m.tide {tiny}",
    "train-gzip": "train news.txt.gz -o OUT/m.tide {tiny}",
    "train-threads": "train news.txt -o OUT/m.tide --threads 3 {tiny}",
    "train-batch": "train news.txt -o OUT/m.tide --batch --epochs 2 {tiny}",
    "train-paper": "train news.txt -o OUT/m.tide --profile paper --reservoir 1000 {tiny}",
    "train-subword": "train news.txt -o OUT/m.tide --subword 100 {tiny}",
    "train-phrases": "train news.txt -o OUT/m.tide --phrases 50 {tiny}",
    "info": "info m.tide",
    "info-json": "info m.tide --json",
    "check": "check m.tide",
    "check-labels": "check labels.tide",
    "check-vectors": "check m.vec",
    "words": "words m.tide",
    "vector": "vector m.tide",
    "nearest": "nearest m.tide the of --json",
    "similarity": "similarity m.tide the of",
    "analogy": "analogy m.tide the of and",
    "embed": "embed m.tide news.txt",
    "demo": "demo --tokens 200",
    **{f"export-{name}": f"export m.tide --format {name} -o OUT/{path}"
       for name, path in FORMATS.items()},
    "import": "import m.vec -o OUT/m.tide {tiny}",
    "import-npy": "import m.npy -o OUT/m.tide {tiny}",
    "labels-train": "labels train posts.txt -o OUT/m.tide {posts}",
    "labels-fit": "labels fit labels.tide -o OUT/m.tide",
    "labels-list": "labels list labels.tide",
    "labels-predict": "labels predict labels.tide news.txt --json",
    "labels-eval": "labels eval labels.tide posts.txt --learn -o OUT/m.tide --by 50 --json",
    "eval-similarity": "eval similarity m.tide pairs.tsv --json",
    "eval-analogy": "eval analogy m.tide questions.txt --json",
    "eval-counts": "eval counts m.tide news.txt --json --points OUT/points.tsv",
    "eval-agreement": "eval agreement m.tide m.vec --bands 1-50 --json",
    "eval-trace": "eval trace news.txt --every 1000 --json {tiny}",
    "eval-periods": "eval periods news.txt --by 1000 --json {tiny}",
    "eval-drift": "eval drift even.txt --words 4 --every 10000 --json --vocab 200 --dim 8",
}
ANY_BYTES = {"train-threads", "eval-trace"}  # threads and seconds: two runs differ

LINES = {"labels-eval": 2, "eval-trace": 2}  # what was asked for, and that it could not be saved


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    folder = tmp_path_factory.mktemp("things")
    text = done_well("demo", "--tokens", "3000").stdout
    tagged = done_well("demo", "--tokens", "1500", "--hashtags").stdout
    words = sorted(set(text.split()))[:8]
    (folder / "news.txt").write_text(text)
    (folder / "long.txt").write_text(10 * text)
    (folder / "posts.txt").write_text(tagged)
    (folder / "posts.jsonl").write_text("".join(
        f'{{"body":"{line}"}}\n' for line in tagged.splitlines()))
    (folder / "pairs.tsv").write_text("".join(f"{word}\tthe\t{place}\n"
                                              for place, word in enumerate(words)))
    (folder / "questions.txt").write_text(": all\n" + " ".join(words[:4]) + "\n")
    even = [f"w{number}" for number in range(150)] * 200  # words enough that can change
    random.Random(1).shuffle(even)
    (folder / "even.txt").write_text("\n".join(" ".join(even[at:at + 20])
                                               for at in range(0, len(even), 20)))
    compress(folder / "news.txt")
    done_well("train", folder / "news.txt", "-o", folder / "m.tide", *TINY)
    done_well("train", folder / "posts.txt", "-o", folder / "half.tide", *TINY)
    done_well("labels", "train", folder / "posts.txt", "-o", folder / "labels.tide", *POSTS)
    done_well("export", folder / "m.tide", "-o", folder / "m.vec")
    done_well("export", folder / "m.tide", "-o", folder / "m.npy")
    return folder


def compress(path):
    path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    subprocess.run(["zstd", "-q", path, "-o", path.with_suffix(".txt.zst")], check=True)


class Attempt:
    """The command `name`, with the allocation `failing` ("7", or "7+" with all behind it)."""

    def __init__(self, name, things, scratch, failing="0"):
        self.name, self.failing = name, failing
        out, count = scratch / failing, scratch / f"{failing}.count"
        out.mkdir()
        line = COMMANDS[name].format(tiny=" ".join(TINY), posts=" ".join(POSTS),
                                     json=" ".join(JSON))
        arguments = [word.replace("OUT", str(out)) if "OUT" in word
                     else things / word if (things / word).exists() else word
                     for word in line.split()]
        done = preloaded("allocator", *arguments, WORDTIDE_ALLOCATION=failing,
                         WORDTIDE_ALLOCATIONS=count)
        self.code, self.stdout = done.returncode, done.stdout
        self.stderr = done.stderr.decode()
        self.calls, self.blocks = map(int, count.read_text().split()) if count.exists() else (0, 0)
        self.files = {path.name: path.read_bytes() for path in out.iterdir()}
        self.paths = list(out.iterdir())

    def problem(self, whole):
        """What is wrong with it, beside the one that nothing happened to; None for nothing."""
        complaints = re.findall("^wordtide: .*$", self.stderr, re.MULTILINE)
        if self.code == 0 and self.results() != whole.results():
            return "another result"
        if self.code not in (0, 1):
            return f"ended with {self.code}"
        if self.code == 1 and not 1 <= len(complaints) <= LINES.get(self.name, 1):
            return f"{len(complaints)} complaints"
        if self.blocks > whole.blocks:
            return f"{self.blocks - whole.blocks} blocks leaked"
        if not self.files.keys() <= whole.files.keys():
            return f"left {sorted(self.files)}"
        if not all(self.is_whole(path, whole) for path in self.paths):
            return "a result that is not whole"
        return None

    def results(self):
        """Not the checkpoints: that one cannot be saved does not end a training."""
        files = {name: data for name, data in self.files.items()
                 if not re.match(r"c\.|m\.tide\.", name)}
        return None if self.name in ANY_BYTES else (self.stdout, files)

    def is_whole(self, path, other):
        if ".tide" in path.name:
            return Library().load(path) is not None
        return self.name in ANY_BYTES or self.files[path.name] == other.files[path.name]


@pytest.fixture(scope="module")
def tally():
    """How all attempts of all commands ended."""
    codes = []
    yield codes
    print(f"{len(codes)} runs without memory, {codes.count(0)} of them done all the same")


def calls_to_fail(count, name):
    rest = range(FIRST + 1, count + 1)
    some = random.Random(name).sample(rest, min(SOME, len(rest))) if rest else []
    return [*range(1, min(FIRST, count) + 1), *some]


@pytest.mark.parametrize("name", COMMANDS)
def test_memory_that_runs_out(name, things, tally, tmp_path):
    whole = Attempt(name, things, tmp_path)
    assert whole.code == 0, whole.stderr
    assert whole.calls > 1
    failing = [f"{call}{ever}" for call in calls_to_fail(whole.calls, name) for ever in ("", "+")]
    with ThreadPoolExecutor(2) as pool:
        tried = list(pool.map(lambda which: Attempt(name, things, tmp_path, which), failing))
    problems = [f"{attempt.failing}: {problem}: {attempt.stderr[-600:]}" for attempt in tried
                if (problem := attempt.problem(whole))]
    tally += [attempt.code for attempt in tried]
    assert not problems, "\n".join(problems)
    assert any(attempt.code for attempt in tried)


@pytest.mark.parametrize("threads", [1, 3])
def test_more_text_takes_no_more_allocations(threads, things, tmp_path):
    calls = set()
    for text in "news.txt", "long.txt":
        done = preloaded("allocator", "train", things / text, "--quiet", "--threads", threads, "-o",
                         tmp_path / "m.tide", *TINY, WORDTIDE_ALLOCATIONS=tmp_path / "count")
        assert done.returncode == 0, done.stderr
        calls.add((tmp_path / "count").read_text())
    assert len(calls) == 1
