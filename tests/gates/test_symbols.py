"""The shared library exports what the public headers declare TIDE_API, and nothing else."""

import re
import subprocess

import pytest


def declared(header):
    """Names of the functions that the text of a header declares TIDE_API."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    names = []
    for declaration in re.findall(r"\bTIDE_API\b([^;]*);", text):
        name = re.match(r"[^(]*?(\w+)\s*\(", declaration)
        assert name, f"not a function: {declaration}"
        names.append(name.group(1))
    return names


def exported(library):
    """Names of the dynamic symbols that a shared library defines."""
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", str(library)],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    return {line.split()[0].split("@")[0] for line in lines}


def headers(root):
    """The texts of the public headers, the core first."""
    return [path.read_text() for path in (root / "include/wordtide.h", *sorted((root / "include/wordtide").glob("*.h")))]


def test_the_library_exports_the_headers_and_nothing_else(root, build):
    library = build / "src" / "libwordtide.so"
    wanted = {name for text in headers(root) for name in declared(text)}
    present = exported(library)
    assert sorted(wanted - present) == [], "declared in a public header but not exported"
    assert sorted(present - wanted) == [], "exported but not declared in a public header"


def test_every_function_is_declared_once(root):
    names = [name for text in headers(root) for name in declared(text)]
    assert len(names) > 10
    assert sorted(names) == sorted(set(names))


def test_the_core_stays_small(root):
    assert len(declared(headers(root)[0])) <= 90


@pytest.mark.parametrize("number", range(6))
def test_every_prototype_of_a_header_is_marked(root, number):
    text = headers(root)[number]
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"\btypedef\s+\w+\s+tide_\w+\([^;]*;", " ", text)  # types of functions
    prototypes = re.findall(r"\b(tide_\w+)\s*\(", text)
    assert sorted(prototypes) == sorted(declared(text))


def test_names_are_found_in_any_layout():
    text = """
        #define TIDE_API __attribute__((visibility("default")))
        /* TIDE_API int tide_in_a_comment(void); */
        TIDE_API const char *tide_one(void);
        TIDE_API uint32_t
        tide_two(const tide_model *model); /* rows (n of them) */
        TIDE_API int tide_three(void (*call)(void *data),
                                int n);
    """
    assert declared(text) == ["tide_one", "tide_two", "tide_three"]


def test_a_variable_is_not_taken_for_a_function():
    with pytest.raises(AssertionError):
        declared("TIDE_API extern int tide_variable;")
