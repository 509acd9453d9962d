#!/usr/bin/env python3
"""check_layers.py - includes point down only.

    check_layers.py [ROOT]

The library's modules are the folders of src/. Each may include the header that bears its own
name and the headers of those below it:

    base  <-  text, sketch, vector  <-  model (not text)  <-  label (nor this)  <-  train  <-  history  <-  eval

The three in the middle do not know each other. A header with another name is private to its folder. Everybody may include <wordtide.h>; the front ends (cli, server, python,
mpi) include nothing else of ours except the headers in their own folder; the command also carries
the server and includes server/server.h and server/process.h. Tests may look inside.

Prints one line for each include that breaks the rule and exits with 1 if there was any.
"""

import os
import re
import sys
from pathlib import Path

BELOW = {
    "base": set(),
    "text": {"base"},
    "sketch": {"base"},
    "vector": {"base"},
    "model": {"base", "sketch", "vector"},
    "label": {"base", "sketch", "vector", "model"},
    "train": {"base", "text", "sketch", "vector", "model", "label"},
    "history": {"base", "sketch", "vector", "model", "train"},
    "eval": {"base", "text", "sketch", "vector", "model", "train", "history"},
}
FRONT_ENDS = ("cli", "server", "python", "mpi")
CARRIED = (Path("server/server.h"), Path("server/process.h"))
SOURCES = (".c", ".h", ".cc", ".cpp", ".hpp", ".inc")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r"^\s*#\s*include\s*(.*?)\s*$", re.MULTILINE)


def includes(path):
    """Yields (line number, what follows #include) for the directives of a file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


def resolve(root, path, wanted):
    """The file of ours that an include means, relative to root; None if it is not ours.

    Raises ValueError where that cannot be told.
    """
    match = re.match(r'([<"])([^>"]+)[>"]', wanted)
    if not match:
        raise ValueError("an include that is computed cannot be checked")
    quoted, name = match.group(1) == '"', match.group(2)
    folders = ([path.parent] if quoted else []) + [root / "include", root / "src"]
    for folder in folders:
        target = Path(os.path.normpath(folder / name))
        if target.is_file() and root in target.parents:
            return target.relative_to(root)
    if quoted:
        raise ValueError("no such file here; headers of others stand in <>")
    return None


def judge_module(module, target):
    """Why a file of src/MODULE/ may not include target; None if it may."""
    if target.parts[:2] == ("src", module):
        return None
    if target.parts[0] != "src":
        return f"the library does not know {target.parts[0]}/"
    other = target.parts[1]
    if other not in BELOW[module]:
        return f"{module} does not know {other}"
    if target != Path("src", other, other + ".h"):
        return f"a private header of {other}"
    return None


def judge(path, target):
    """Why the file path may not include target; None if it may. Both relative to root."""
    if target == Path("include/wordtide.h"):
        return None
    if path.parts[0] == "src":
        return judge_module(path.parts[1], target)
    if path.parts[0] == "include":
        return "the public header stands alone"
    if target.parent == path.parent:
        return None
    if path.parts[0] == "cli" and target in CARRIED:
        return None
    return "a front end includes <wordtide.h> and its own headers, nothing else of ours"


def violations(root):
    """All broken rules of the tree under root, as printable lines."""
    root = Path(root).resolve()
    found = []
    for top in ("include", "src") + FRONT_ENDS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            name = path.relative_to(root)
            if top == "src" and (len(name.parts) != 3 or name.parts[1] not in BELOW):
                found.append(f"{name}: not in the folder of a module")
                continue
            for line, wanted in includes(path):
                try:
                    target = resolve(root, path, wanted)
                    why = judge(name, target) if target else None
                except ValueError as error:
                    why = str(error)
                if why:
                    found.append(f"{name}:{line}: #include {wanted}: {why}")
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = violations(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
