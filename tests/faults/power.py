"""What a disk may hold after the power has gone, from a log of what was done to it (recorder.c).

The model is the worst that file systems allow. What was synced is there. Of what was not,

- every block of a file has the bytes of any of the writes since the last sync, or those from before
  it, for itself: blocks are 4096 bytes, or 512;
- a file has any of the sizes that it had since, and what was never written in it is zeros, or what
  another file had there;
- every change of the folder has come or not, for itself. A rename comes whole.

A point of time is the number of records that have been done. `Disk` goes through them and makes
states of each point, some of them by a system and some by dice.
"""

import itertools
import re
from collections import namedtuple

Record = namedtuple("Record", "what words bytes")  # "said": a line of the program itself
ALL_SUBSETS = 5  # of so many changes of the folder; of more, some
BLOCKS = (4096, 512)


def read_log(data):
    """The records of a log, in order."""
    records, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at) + 1
        line = data[at:end].decode()
        if not line.startswith("\x1e"):
            records.append(Record("said", line, b""))
            at = end
            continue
        what, *words = line[1:].split()
        size = int(words[2]) if what == "write" else 0
        records.append(Record(what, words, data[end:end + size]))
        at = end + size
    return records


class File:
    """An inode: its bytes as the kernel shows them, and what became of them since the last sync."""

    def __init__(self):
        self.now = bytearray()
        self.sync()

    def sync(self):
        self.safe = bytes(self.now)
        self.sizes = [len(self.now)]
        self.writes = []  # (offset, bytes) since the sync

    def write(self, offset, data):
        self.now.extend(bytes(max(0, offset + len(data) - len(self.now))))
        self.now[offset:offset + len(data)] = data
        self.writes.append((offset, data))
        self.sizes.append(len(self.now))

    def truncate(self, size):
        self.now[size:] = bytes(max(0, size - len(self.now)))
        self.sizes.append(size)

    def blocks(self, block):
        """Those that were written since the sync."""
        return sorted({number for offset, data in self.writes
                       for number in range(offset // block, (offset + len(data) - 1) // block + 1)})

    def after(self, size, block, versions, hole=b""):
        """The bytes if this was the last size, and each block had come so far: versions[number] of
        the writes to it have, or none. `hole` is what was on the disk where nothing has come."""
        found = bytearray(self.safe + (hole + bytes(size))[len(self.safe):])[:size]
        for number, version in versions.items():
            begin, end = number * block, number * block + block
            touching = [(offset, data) for offset, data in self.writes
                        if offset < end and offset + len(data) > begin]
            for offset, data in touching[:version]:
                first, last = max(begin, offset), min(end, offset + len(data), size)
                if first < last:
                    found[first:last] = data[first - offset:last - offset]
        return bytes(found)

    def by_system(self):
        """Nothing has come, all has, all up to a block, all but a block, only a block."""
        latest = len(self.writes)
        for block in BLOCKS[:1]:
            numbers = self.blocks(block)
            chosen = [[], numbers]
            for place, number in enumerate(numbers):
                chosen += [numbers[:place], numbers[:place] + numbers[place + 1:], [number]]
            for size, some in itertools.product({self.sizes[0], self.sizes[-1]}, chosen):
                yield self.after(size, block, dict.fromkeys(some, latest))

    def by_dice(self, dice, hole):
        block = dice.choice(BLOCKS)
        share = dice.random()
        versions = {number: dice.randint(0, 1 + len(self.writes))
                    for number in self.blocks(block) if dice.random() < share}
        return self.after(dice.choice(self.sizes), block, versions, dice.choice([b"", hole]))


class Disk:
    """Plays records; `lazy` are the kinds of sync ("file", "folder") that only pretend to sync."""

    def __init__(self, folder_inode, dice, lazy=()):
        self.folder_inode = str(folder_inode)
        self.dice = dice
        self.lazy = lazy
        self.inodes = {}  # of the log: numbers are given to new files again
        self.names = {}   # as the kernel shows them
        self.safe_names = {}
        self.changes = []  # of names since the folder was synced: {name: File or None}
        self.hole = b""    # bytes of the last file that was put in its place

    def change(self, names):
        self.changes.append(names)
        self.apply(self.names, names)

    @staticmethod
    def apply(names, change):
        for name, file in change.items():
            names.pop(name, None)
            if file:
                names[name] = file

    def play(self, record):
        getattr(self, record.what)(*record.words, *([record.bytes] if record.bytes else []))

    def create(self, inode, name):
        self.inodes[inode] = File()
        self.change({name: self.inodes[inode]})

    def write(self, inode, offset, size, data):
        self.inodes[inode].write(int(offset), data)

    def truncate(self, inode, size):
        self.inodes[inode].truncate(int(size))

    def rename(self, names):
        old, new = names.split("/")
        if self.names[old] is not self.names.get(new):  # otherwise it does nothing
            self.hole = bytes(self.names[old].now)
            self.change({old: None, new: self.names[old]})

    def link(self, names):
        old, new = names.split("/")
        self.change({new: self.names[old]})

    def unlink(self, name):
        self.change({name: None})

    def sync(self, inode):
        if inode != self.folder_inode:
            if "file" not in self.lazy:
                self.inodes[inode].sync()
        elif "folder" not in self.lazy:
            self.safe_names, self.changes = dict(self.names), []

    def subsets(self):
        """Of the changes of the folder: all, or all that lack an end, and some."""
        count = len(self.changes)
        if count <= ALL_SUBSETS:
            return list(itertools.product([True, False], repeat=count))
        ends = [[place < end for place in range(count)] for end in range(count + 1)]
        return ends + [[self.dice.random() < 0.5 for _ in range(count)]
                       for _ in range(2 ** ALL_SUBSETS)]

    def folder_after(self, subset):
        names = dict(self.safe_names)
        for change in itertools.compress(self.changes, subset):
            self.apply(names, change)
        return names

    def shown(self):
        """What the kernel shows now."""
        return {name: bytes(file.now) for name, file in self.names.items()}

    def states(self, rounds):
        """Of this point of time: {name: bytes}. Some come twice."""
        for subset in self.subsets():
            names = self.folder_after(subset)
            dirty = {file for file in names.values() if file.writes}
            for _ in range(rounds if dirty else 1):
                after = {file: file.by_dice(self.dice, self.hole) for file in dirty}
                yield {name: after.get(file, file.safe) for name, file in names.items()}
        for file in {file for file in self.names.values() if file.writes}:
            for found in file.by_system():
                yield {**self.shown(), **{name: found for name, other in self.names.items()
                                          if other is file}}


class Promises:
    """What was promised at a point of time, from the same records: the files that have been put in
    their places with the folder synced behind it."""

    def __init__(self, folder_inode):
        self.folder_inode = str(folder_inode)
        self.placed = {}  # name: all that were put there, the last one last
        self.kept = {}    # name: how many of them are promised
        self.reported = 0     # how many checkpoints the program has called safe

    def play(self, record, disk):
        """After the disk has played it."""
        if record.what == "rename":
            new = record.words[0].split("/")[1]
            self.placed.setdefault(new, []).append(bytes(disk.names[new].now))
        elif record.what == "sync" and record.words[0] == self.folder_inode:
            self.kept = {name: len(files) for name, files in self.placed.items()}
        elif record.what == "said":
            self.reported += len(re.findall('msg="checkpoint: ', record.words))
