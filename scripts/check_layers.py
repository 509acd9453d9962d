#!/usr/bin/env python3
"""check_layers.py - includes point down only.

    check_layers.py [ROOT]

The library's modules are the directories of src/, and demo/. Its public header bears its name;
all other headers are private to the directory. A module may include the headers of the
modules that BELOW lists for it, all of which come before it in that list. Every file may include
<wordtide.h> and the headers of include/wordtide. The front ends (cli, server) include only base/base.h
and the headers in their own directory besides; the command contains the server and may also include
server/server.h and server/process.h. Tests may include anything.

Prints one line for each include that breaks the rule and exits with 1 if there was any.
"""

import os
import re
import sys
from pathlib import Path

BELOW = {
    "base": "",
    "demo": "base",
    # files and input
    "file": "base",
    "decode": "base",
    "detect": "base decode",
    "source": "base file decode detect demo",
    "spool": "base file decode detect source",
    "feed": "base file source spool",
    "record": "base file detect",
    "token": "base file",
    # counting, drawing, vectors
    "vocab": "base file",
    "sampler": "base file vocab",
    "vector": "base file",
    # models
    "model": "base file vocab vector",
    "query": "base vocab vector model",
    "format": "base file source vocab vector model query",
    # training
    "params": "base record token vocab sampler vector model",
    "reader": "base file record token vocab model query params",
    "label": "base file vocab vector model params reader",
    "sgns": "base file vocab sampler vector model params",
    "train": "base file vocab sampler vector model query format params reader label sgns",
    "run": "base file detect source vocab model params reader label train",
    # on top
    "history": "base file vocab vector model query params train",
    "bench": "base file source record reader vocab vector model params sgns train run",
    "eval": "base source vocab vector model query params train run history",
}
MODULES = {name: set(below.split()) for name, below in BELOW.items()}
FRONT_ENDS = ("cli", "server")
CARRIED = (Path("server/server.h"), Path("server/process.h"))
SHARED = Path("src/base/base.h")
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
    """The project file that an include resolves to, relative to root; None if it is a foreign one.

    Raises ValueError if that cannot be determined.
    """
    match = re.match(r'([<"])([^>"]+)[>"]', wanted)
    if not match:
        raise ValueError("an include that is computed cannot be checked")
    quoted, name = match.group(1) == '"', match.group(2)
    folders = ([path.parent] if quoted else []) + [root / "include", root / "src", root]
    for folder in folders:
        target = Path(os.path.normpath(folder / name))
        if target.is_file() and root in target.parents:
            return target.relative_to(root)
    if quoted:
        raise ValueError("no such file; put foreign headers in <>")
    return None


def module_of(path):
    """The module that a file is in; None if it is in none."""
    if path.parts[0] == "src" and len(path.parts) == 3 and path.parts[1] != "demo":
        return path.parts[1] if path.parts[1] in MODULES else None
    return "demo" if path.parts[0] == "demo" and len(path.parts) == 2 else None


def judge_module(module, target):
    """Why a file of a module may not include target; None if it may."""
    other = module_of(target)
    if other is None:
        return f"the library does not know {target.parts[0]}/"
    if other == module:
        return None
    if other not in MODULES[module]:
        return f"{module} does not know {other}"
    if target.name != other + ".h":
        return f"a private header of {other}"
    return None


def judge(path, target):
    """Why the file path may not include target; None if it may. Both relative to root."""
    if target == Path("include/wordtide.h") or target.parent == Path("include/wordtide") and path.parts[0] != "include":
        return None
    module = module_of(path)
    if module:
        return judge_module(module, target)
    if path.parts[0] == "include":
        return "the public header stands alone"
    if target.parent == path.parent:
        return None
    if target == SHARED or path.parts[0] == "cli" and target in CARRIED:
        return None
    return "a front end includes the public headers, base/base.h and its own headers, nothing else of ours"


def cycles():
    """Modules that do not come after all that they include."""
    known = set()
    for module, below in MODULES.items():
        for other in sorted(below - known):
            yield f"BELOW: {module} comes before {other}"
        known.add(module)


def violations(root):
    """All broken rules of the tree under root, as printable lines."""
    root = Path(root).resolve()
    found = list(cycles())
    for top in ("include", "src", "demo") + FRONT_ENDS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            name = path.relative_to(root)
            if top in ("src", "demo") and not module_of(name):
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
