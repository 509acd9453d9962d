"""A stream of posts in order of time, and the parts of it to train and to test on.

A line is TIME TAB TEXT with a time like 2019-01-31T23:59:59Z. Such times compare as text,
and so do their beginnings: January of 2019 is what is not below "2019-01" and below
"2019-02". Lines without such a time are skipped and counted. A time before that of the
previous line is an error: a test must not know what comes later. The file may be compressed
with gzip, xz or zstd.

The stream is read twice, once to survey it and once to cut it, and what was found is kept:
survey-KEY.json with the first time of every hashtag, NAME-KEY.json about the parts.
"""
import re
import subprocess
from collections import Counter, namedtuple
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from functools import lru_cache
from unicodedata import normalize

from lab import Failed, say
from lab.cache import kept, short_hash

LINE = re.compile(rb"([12]\d{3}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.\d+)?Z?\t")
HASHTAG = re.compile(r"(?<!\w)[#\uff03](\w+)")
COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
TRAIN, TEST = 0, 1
TRAINED = 0.6  # of the time, if no split fits the stream

Range = namedtuple("Range", "begin end")  # begin <= time < end
Split = namedtuple("Split", "name train test")
Survey = namedtuple("Survey", "posts skipped first last born")
Parts = namedtuple("Parts", "train test posts tested first last newborn born_at")


# -- reading ---------------------------------------------------------------------------


@contextmanager
def opened(path):
    """The bytes of the file, decompressed."""
    with open(path, "rb") as file:
        if not file.read(8).startswith(COMPRESSED):
            file.seek(0)
            yield file
            return
    try:
        child = subprocess.Popen(["zstd", "-dcq", "--", path], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise Failed(f"no program zstd to decompress {path} with") from None
    with child:
        try:
            yield child.stdout
        except BaseException:
            child.kill()
            raise
    if child.returncode:
        raise Failed(f"{path} is damaged")


@lru_cache(maxsize=None)
def is_day(text):
    """Whether the calendar has it."""
    try:
        return bool(date.fromisoformat(text.decode()))
    except ValueError:
        return False


def lines_of(path):
    """(time, line) of all lines, with None for a missing time."""
    before = b""
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            found = LINE.match(line)
            time = found[1] if found else b""
            if not is_day(time[:10]):
                yield None, line
                continue
            if time < before:
                raise Failed(f"{path}:{number}: {time.decode()} comes after "
                             f"{before.decode()}: sort the stream by time first")
            before = time
            yield time.decode(), line


def hashtags(line):
    """The different hashtags of a line, without their sign and folded as wordtide does it."""
    if b"#" not in line and b"\xef\xbc\x83" not in line:
        return set()
    text = line.decode("utf-8", "replace").partition("\t")[2]
    return {folded(tag) for tag in HASHTAG.findall(text) if not tag.isdigit()}


def folded(label):
    return normalize("NFKC", label).casefold().lstrip("#")


def read_survey(path):
    say("reading the stream")
    posts = skipped = 0
    first = last = None
    born = {}
    for time, line in lines_of(path):
        if time is None:
            skipped += 1
            continue
        posts, first, last = posts + 1, first or time, time
        for label in hashtags(line):
            born.setdefault(label, time)
    if not posts:
        raise Failed(f"{path} has no line that is TIME TAB TEXT, with a time like "
                     "2019-01-31T23:59:59Z")
    return Survey(posts, skipped, first, last, born)


# -- ranges of time --------------------------------------------------------------------


def after(text):
    """The year, month or day after the given one."""
    if len(text) == 4:
        return f"{int(text) + 1:04}"
    if len(text) == 7:
        year, month = int(text[:4]), int(text[5:])
        return f"{year + month // 12:04}-{month % 12 + 1:02}"
    return (date.fromisoformat(text) + timedelta(1)).isoformat()


def range_of(text):
    """2019, 2019-01, 2019-01-31, or two of them with .. between, both included."""
    first, _, last = text.partition("..")
    last = last or first
    for part in (first, last):
        if not re.fullmatch(r"[12]\d{3}(-\d\d(-\d\d)?)?", part):
            raise ValueError(f"'{text}' is not a range of time like 2019-01..2019-12")
        date.fromisoformat((part + "-01-01")[:10])
    found = Range(first, after(last))
    if not found.begin < found.end:
        raise ValueError(f"'{text}' ends before it begins")
    return found


def split_of(text):
    """The name of a known split, or NAME=TRAIN,TEST."""
    if text in KNOWN:
        return KNOWN[text]
    name, equals, ranges = text.partition("=")
    train, comma, test = ranges.partition(",")
    if not equals or not comma or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", name):
        raise ValueError(f"'{text}' is neither {' nor '.join(KNOWN)} nor "
                         "NAME=2019-01..2019-12,2020-01..2020-06")
    split = Split(name, range_of(train), range_of(test))
    if split.test.begin < split.train.end:
        raise ValueError(f"'{text}': the test must come after the training")
    return split


KNOWN = {
    "long": Split("long", Range("2019-01", "2020-01"), Range("2020-01", "2022-01")),
    "short": Split("short", Range("2019-01", "2019-02"), Range("2019-02", "2019-03")),
}


def whole_split(survey):
    """The first part of the time, and the rest."""
    first, last = (datetime.fromisoformat(time) for time in (survey.first, survey.last))
    border = (first + TRAINED * (last - first)).isoformat(timespec="seconds")
    return Split("whole", Range(survey.first, border), Range(border, after(survey.last[:10])))


def covered(split, survey):
    """Whether there are posts in the first month and in the last."""
    return (survey.first[:7] <= split.train.begin[:7]
            and after(survey.last[:7]) >= split.test.end[:7])


def usual_splits(survey):
    return [split for split in KNOWN.values() if covered(split, survey)] or [
        whole_split(survey)]


def part_of(split, time):
    for part, (begin, end) in ((TRAIN, split.train), (TEST, split.test)):
        if time and begin <= time < end:
            return part
    return None


def months_before(time, months):
    """The same moment that many months earlier, as text that compares."""
    count = int(time[:4]) * 12 + int(time[5:7] or 1) - 1 - months
    return f"{count // 12:04}-{count % 12 + 1:02}{time[7:]}"


# -- parts that are kept ---------------------------------------------------------------


class Stream:
    def __init__(self, path, store):
        self.path, self.folder = path, store.folder
        self.digest = store.fingerprint(path)
        self.survey = kept(self.folder / f"survey-{self.digest[:12]}.json",
                           lambda: read_survey(path), lambda found: Survey(*found))

    def parts(self, split):
        key = short_hash([self.digest, split])
        about = self.folder / f"{split.name}-{key}.json"
        paths = [self.folder / f"{split.name}-{part}-{key}.tsv" for part in ("train", "test")]
        if not all(path.exists() for path in paths):
            about.unlink(missing_ok=True)
        found = kept(about, lambda: self.cut(split, paths), lambda found: Parts(*found))
        return found._replace(train=paths[TRAIN], test=paths[TEST])

    def cut(self, split, paths):
        """Writes both parts and describes them, with the most frequent of the hashtags that
        appear for the first time in the test."""
        say(f"cutting split {split.name} out of the stream")
        halves = [path.with_suffix(".half") for path in paths]
        counts, newborn, tested = [0, 0], Counter(), []
        with open(halves[TRAIN], "wb") as train, open(halves[TEST], "wb") as test:
            for time, line in lines_of(self.path):
                part = part_of(split, time)
                if part is None:
                    continue
                (train, test)[part].write(line)
                counts[part] += 1
                if part == TEST:
                    tested = [tested[0] if tested else time, time]
                    newborn.update(label for label in hashtags(line)
                                   if self.survey.born[label] >= split.test.begin)
        for count, purpose in zip(counts, ("train on", "test")):
            if not count:
                raise Failed(f"split {split.name}: no post to {purpose}; the stream goes "
                             f"from {self.survey.first} to {self.survey.last}")
        for half, path in zip(halves, paths):
            half.replace(path)
        most = min(newborn, key=lambda label: (-newborn[label], label), default=None)
        return Parts(None, None, *counts, *tested, most, self.survey.born.get(most))
