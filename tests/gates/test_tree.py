"""What is committed, and what a test may take for granted."""

import ast
import subprocess
import sys

import pytest

LARGEST = 100_000
MAY_BE_LARGE = ("tests/", "doc/", "web/dist/")
NEEDED = {"pytest", "yaml", "prometheus_client"}  # Python modules that `make test` installs


def is_binary(content):
    return b"\0" in content


def strange(paths, read):
    """The files that do not belong into a repository of sources."""
    return [path for path in paths if not path.startswith(MAY_BE_LARGE)
            and (is_binary(read(path)) or len(read(path)) > LARGEST)]


def test_no_large_or_binary_file_is_tracked(root):
    done = subprocess.run(["git", "-c", f"safe.directory={root}", "ls-files", "-z"],
                          cwd=root, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("needs a git repository")
    paths = [path for path in done.stdout.decode().split("\0")[:-1] if (root / path).is_file()]
    assert len(paths) > 100
    assert strange(paths, lambda path: (root / path).read_bytes()) == []


def test_such_files_are_found():
    files = {"src/a.c": b"int a;", "src/b.o": b"\x7fELF\0", "notes": b"x" * 100_001, "tests/c": b"\0", ".history": b"\0"}
    assert strange(files, files.get) == ["src/b.o", "notes", ".history"]


def imported(tree):
    """The modules that a file imports when it is loaded."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            yield statement.module


def test_tests_import_only_what_is_installed_for_them(root):
    """Others are named with support/optional.py, so that their tests are skipped where they are missing."""
    ours = {path.stem for top in ("tests", "scripts", "paper", "bench") for path in (root / top).rglob("*.py")}
    ours |= {path.parent.name for path in (root / "bench").rglob("__init__.py")}
    known = ours | NEEDED | set(sys.stdlib_module_names)
    for path in sorted((root / "tests").rglob("*.py")):
        for module in imported(ast.parse(path.read_text())):
            assert module.split(".")[0] in known, f"{path.name} imports {module}"
