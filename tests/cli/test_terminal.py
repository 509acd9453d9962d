"""Control characters in untrusted files never reach a terminal."""

import os
import pty
import re
import select
import struct

import pytest
from conftest import PATIENCE, SMALL, start, train, wordtide
from test_check import sealed

EVIL = b"\x1b]0;PWNED\x07\x1b[31m\x7f\xc2\x9b2J\x9b"
COMMANDS = [
    ["info"], ["info", "--json"], ["check"], ["check", "--json"], ["labels", "list"], ["words"],
    ["nearest", "MODEL", "alpha"], ["diff", "MODEL"], ["train", "--resume", "MODEL", "--label-slots", "5"],
    ["train", "--resume", "MODEL", "POSTS"], ["labels", "fit"], ["labels", "eval", "MODEL", "POSTS"],
    ["labels", "predict", "MODEL", "POSTS"], ["vector", "MODEL", "alpha"], ["similarity", "MODEL", "alpha", "beta"],
]


def replaced(data, changes):
    """The model with changed parameters; later sections move by multiples of 64."""
    at = next(at for at in range(64, 2680, 40) if data[at : at + 16].rstrip(b"\0") == b"params")
    offset, size = struct.unpack_from("<QQ", data, at + 16)
    text = data[offset : offset + size]
    for name, value in changes.items():
        text = re.sub(rb"(?m)^" + name + rb" .*$", lambda m: name + b" " + value, text)
    room = (size + 63) // 64 * 64
    padded = text + b"\0" * (-len(text) % 64)
    moved = len(padded) - room
    new = bytearray(data[:offset] + padded + data[offset + room :])
    struct.pack_into("<Q", new, at + 24, len(text))
    for other in range(64, 64 + 40 * struct.unpack_from("<I", new, 12)[0], 40):
        begins = struct.unpack_from("<Q", new, other + 16)[0]
        if begins > offset:
            struct.pack_into("<Q", new, other + 16, begins + moved)
    struct.pack_into("<Q", new, 16, len(new))
    struct.pack_into("<Q", new, len(new) - 16, len(new))
    return sealed(new)


@pytest.fixture(scope="module")
def posts(tmp_path_factory):
    path = tmp_path_factory.mktemp("posts") / "posts.jsonl"
    path.write_text('{"t": "alpha beta gamma delta", "l": "one"}\n{"t": "epsilon zeta eta alpha", "l": "two"}\n' * 100)
    return path


@pytest.fixture(scope="module")
def evil(posts, tmp_path_factory):
    path = tmp_path_factory.mktemp("evil") / "evil.tide"
    done = wordtide("labels", "train", posts, "--text", "t", "--label", "l", "--time", "d",
                    "-o", path, *SMALL)
    assert done.returncode == 0, done.stderr
    path.write_bytes(replaced(path.read_bytes(), {b"label": b"l," + EVIL, b"time": EVIL}))
    return path


def shown(*arguments):
    """The bytes sent to a terminal through standard output and standard error."""
    watcher, terminal = pty.openpty()
    process = start(*arguments, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    got = b""
    try:
        while select.select([watcher], [], [], PATIENCE)[0]:
            got += os.read(watcher, 65536)
    except OSError:  # the process has closed its side
        pass
    os.close(watcher)
    process.wait(PATIENCE)
    return got


def commands_in(got):
    """Control characters other than newlines and the overwritten progress line."""
    got = re.sub(rb"\r([^\r\n\x1b]*)\x1b\[K", rb"\1", got)
    return re.findall(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\x80-\xff])[\x80-\x9f]", got)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_prints_control_characters(evil, posts, tmp_path, command):
    path = tmp_path / "evil.tide"
    path.write_bytes(evil.read_bytes())
    named = {"MODEL": path, "POSTS": posts}
    arguments = [named.get(word, word) for word in command]
    got = shown(*arguments, *([] if "MODEL" in command and command[0] != "diff" else [path]))
    assert got and not commands_in(got), got


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_info_prints_replacements(evil, arguments):
    done = wordtide("info", evil, *arguments)
    assert done.returncode == 0 and "PWNED" in done.stdout
    assert not commands_in(done.stdout.encode())


def test_paths_are_printed_without_control_characters(posts, tmp_path):
    path = tmp_path / os.fsdecode(b"m" + EVIL.replace(b"/", b"") + b".tide")
    for arguments in (["-o", path], ["--resume", path]):
        for got in (shown("train", posts, "--text", "t", *arguments, *(SMALL if "-o" in arguments else [])),
                    wordtide("train", posts, "--text", "t", *arguments).stderr.encode()):
            assert b"PWNED" in got and not commands_in(got), got
    assert not commands_in(shown("check", path))
    assert not commands_in(shown("train", path, "-o", tmp_path / "n.tide"))


@pytest.mark.parametrize("name", ["label", "text", "time", "stop-words"])
@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x7f", "\x9b", "\t"])
def test_parameters_with_control_characters_are_rejected(tmp_path, name, character):
    done = wordtide("train", "-o", tmp_path / "m.tide", "--records", "json", f"--{name}", f"a{character}b", input="x\n")
    assert done.returncode == 2 and "control character" in done.stderr
    assert not commands_in(done.stderr.encode())
