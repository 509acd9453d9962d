"""JSON lines are parsed as by Python's json module.

Python reads more than RFC 8259: NaN and Infinity, which are refused here by parse_constant, and
any nesting, which is 512 at most for us. Its numbers are kept as they are written. Of two equal
keys in an object the later one counts, and stands where it stands.
"""

import json
import os
import pathlib
import random
import subprocess

import pytest
from watching import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("WORDTIDE_BUILD", ROOT / "build")) / "tests/print_records"
NESTING = 512
RAW = 0xF0000  # code points that stand for bytes which are not UTF-8

KEYS = ["text", "user", "name", "a", "a.b", "b", "c", "user.name", "", ".", "te", "texts", "b.c"]
FIELDS = ["text", "user.name", "a.b.c", "a"]
ODD = ['"', "\\", "/", "\b", "\f", "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "é", "ß", "水", "🌊",
       "\u2028", "\ufeff", "\uffff", "\U0010ffff", "\ud800", "\udc00", "\udbff\udfff",
       "\udc00\udc00", "\ud800\ud800\udc00", "\udfff\ud800", " "]


class Object(list):
    """The members of an object as pairs; of equal keys the last one wins."""

    def __init__(self, pairs):
        last = {key: i for i, (key, _) in enumerate(pairs)}
        super().__init__(pair for i, pair in enumerate(pairs) if last[pair[0]] == i)


def refuse(constant):
    raise ValueError(constant)


def read(line):
    """The value of a line, which may contain invalid UTF-8."""
    text = line.decode(errors="surrogateescape")
    text = "".join(chr(RAW + ord(c)) if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text)
    return json.loads(text, object_pairs_hook=Object, parse_constant=refuse,
                      parse_int=str, parse_float=str)


def nesting(line):
    """The nesting depth of a line of JSON."""
    deepest = depth = 0
    inside = escaped = False
    for c in line.decode("latin-1"):
        if inside:
            inside = escaped or c != '"'
            escaped = not escaped and c == "\\"
        elif c == '"':
            inside = True
        elif c in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in "]}":
            depth -= 1
    return deepest


def raw_bytes(text):
    """The text as UTF-8, with U+FFFD for lone surrogates."""
    out = b""
    for c in text:
        if RAW + 0xDC80 <= ord(c) <= RAW + 0xDCFF:
            out += bytes([ord(c) - RAW - 0xDC00])
        elif 0xD800 <= ord(c) <= 0xDFFF:
            out += "\ufffd".encode()
        else:
            out += c.encode()
    return out


def values(value, at, path):
    """The texts at a path; `at` is the path of the value."""
    if isinstance(value, Object):
        for key, inner in value:
            yield from values(inner, key if at is None else f"{at}.{key}", path)
    elif isinstance(value, list):
        for inner in value:
            yield from values(inner, at, path)
    elif at == path and value is not None:
        text = value if isinstance(value, str) else str(value).lower()
        if text:
            yield raw_bytes(text)


def expected(line):
    if not line.strip(b" \t\r"):
        return "none"
    try:
        value = read(line)
        if nesting(line) > NESTING:
            return "malformed"
    except (ValueError, RecursionError):
        return "malformed"
    if not isinstance(value, Object):
        return "missing"
    found = [b" ".join(values(value, None, field)) for field in FIELDS]
    text = b"\n".join(filter(None, found))
    return "good " + (text + b"\n").hex() if text else "missing"


def found(lines):
    if not PROGRAM.exists():
        pytest.skip("print_records is not built")
    done = subprocess.run([str(PROGRAM), "json", ",".join(FIELDS), "", ""],
                          input=b"".join(line + b"\n" for line in lines),
                          stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    return done.stdout.decode().splitlines()


def compare(lines):
    answers = found(lines)
    assert len(answers) == len(lines)
    for line, answer in zip(lines, answers):
        assert answer == expected(line), line


# -- random lines -----------------------------------------------------------------------------------


def random_string(rng, text=None):
    """A JSON string whose characters are escaped at random."""
    if text is None:
        length = rng.choice([0, 1, 2, 5, 15, 16, 17, 40])
        text = "".join(rng.choice(ODD) if rng.random() < 0.2 else chr(rng.randrange(32, 127))
                       for _ in range(length))
    short = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "/": "\\/",
             '"': '\\"', "\\": "\\\\"}
    out = ""
    for c in text:
        way = rng.random()
        if c in short and way < 0.8:
            out += short[c]
        elif c in '"\\' or ord(c) < 32 or 0xD800 <= ord(c) <= 0xDFFF or way > 0.95:
            units = c.encode("utf-16-be", "surrogatepass").hex()
            units = units.upper() if way > 0.97 else units
            out += "".join("\\u" + units[i:i + 4] for i in range(0, len(units), 4))
        else:
            out += c
    return f'"{out}"'


def random_number(rng):
    if rng.random() < 0.3:
        return rng.choice(["0", "-0", "1", "1E9", "1e-9", "0.5", "-1.25e+3", "12345678901234567890",
                           "00", "01", "1.", ".5", "-", "+1", "1e", "1e+", "0x1", "NaN",
                           "Infinity", "-Infinity", "1_0"])
    return str(rng.randrange(-10**9, 10**20))


def random_value(rng, depth, blank):
    kind = rng.random()
    if depth > 0 and kind < 0.45:
        members = [random_string(rng, rng.choice(KEYS)) + blank + ":" + blank
                   + random_value(rng, depth - 1, blank) for _ in range(rng.randrange(6))]
        return "{" + blank + f"{blank},{blank}".join(members) + blank + "}"
    if depth > 0 and kind < 0.6:
        items = [random_value(rng, depth - 1, blank) for _ in range(rng.randrange(5))]
        return "[" + blank + f"{blank},{blank}".join(items) + blank + "]"
    if kind < 0.85:
        return random_string(rng)
    return rng.choice(["true", "false", "null", random_number(rng)])


def random_line(rng):
    blank = rng.choice(["", "", " ", "\t", "\r", " \t "])
    members = [random_string(rng, rng.choice(KEYS)) + blank + ":" + blank
               + random_value(rng, rng.randrange(5), blank) for _ in range(rng.randrange(8))]
    line = "{" + f"{blank},{blank}".join(members) + "}"
    if rng.random() < 0.1:
        line = random_value(rng, 2, blank)
    return (blank + line + blank).encode()


def corrupted(rng, line):
    """Deletes, inserts or changes one byte, or truncates the line."""
    at = rng.randrange(len(line) + 1)
    byte = bytes([rng.choice(b'"\\{}[],:0123456789eE+-.truefalsn \t\r\x00\x1f\x80\xc3\xff')])
    way = rng.randrange(4)
    end = [at + 1, at, at + 1, len(line)][way]
    return line[:at] + [b"", byte, byte, b""][way] + line[end:]


def test_valid_and_corrupted_objects_are_parsed_as_by_python():
    rng = random.Random(1)
    lines = []
    for _ in range(6000):
        line = random_line(rng)
        lines.append(line)
        for _ in range(rng.randrange(3)):
            line = corrupted(rng, line)
        lines.append(line)
    answers = {expected(line).split()[0] for line in lines}
    assert answers >= {"good", "malformed", "missing"}
    compare(lines)


def test_every_truncation_of_an_object_is_malformed():
    line = '{"text": "a\\u00e9\\n\\ud83c\\udf0a水", "a": [1.5e-3, true, {"b": null}]}'.encode()
    compare([line[:size] for size in range(len(line) + 1)])


def test_every_byte_is_allowed_where_python_allows_it():
    lines = []
    for byte in range(256):
        if byte != 10:
            one = bytes([byte])
            lines += [b'{"text":"' + one + b'"}', b'{"text":"\\' + one + b'"}',
                      b'{"text":' + one + b'"x"}', b'{"text":1' + one + b'}', one]
    compare(lines)


@pytest.mark.parametrize("depth", [1, 100, 511, 512, 513, 600])
def test_nesting_has_a_limit(depth):
    compare([b"[" * depth + b"]" * depth,
             b'{"text":"x","b":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}",
             b'{"text":' * depth + b'"x"' + b"}" * depth])
