"""What is easily forgotten: a test that is not built, a parameter that no help names."""

import ctypes
import json
import os
import re
import subprocess

import pytest


class Parameter(ctypes.Structure):
    """tide_param_info of wordtide.h."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("aliases", ctypes.c_char_p),
        ("former", ctypes.c_char_p),
        ("values", ctypes.c_char_p),
        ("initial", ctypes.c_char_p),
        ("help", ctypes.c_char_p),
        ("group", ctypes.c_char_p),
        ("on_resume", ctypes.c_bool),
    ]


def parameters(build):
    library = ctypes.CDLL(str(build / "src" / "libwordtide.so"))
    library.tide_params_table.restype = ctypes.POINTER(Parameter)
    count = ctypes.c_size_t()
    table = library.tide_params_table(ctypes.byref(count))
    return [table[i] for i in range(count.value)]


def sanitized(build):
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    return any(o["name"] == "b_sanitize" and o["value"] != "none" for o in options)


@pytest.fixture
def table(build):
    if sanitized(build):
        pytest.skip("a plain Python cannot load a library with a sanitizer in it")
    return parameters(build)


def test_every_test_program_is_built_and_run(root, build):
    run = {test["name"] for test in json.loads(
        (build / "meson-info/intro-tests.json").read_text())}
    written = {path.stem for path in (root / "tests/unit").glob("test_*.c")}
    written |= {path.stem for path in (root / "tests/fuzz").glob("fuzz_*.c")}
    assert sorted(written - run) == [], "not listed in tests/meson.build"


def test_help_all_of_labels_train_names_every_parameter(build, table):
    command = os.environ.get("WORDTIDE", str(build / "cli" / "wordtide"))
    text = subprocess.run(
        [command, "labels", "train", "--help-all"], capture_output=True, text=True, check=True
    ).stdout
    names = ["--" + parameter.name.decode() for parameter in table]
    assert len(names) > 10
    assert [name for name in names if name not in text] == []


def test_every_parameter_has_a_help_and_a_group(table):
    for parameter in table:
        assert parameter.help and parameter.group and parameter.values


def test_no_name_or_alias_means_two_parameters(table):
    names = [p.name.decode() for p in table]
    for parameter in table:
        names += parameter.aliases.decode().split() + parameter.former.decode().split()
    assert sorted(names) == sorted(set(names))


def test_the_format_page_names_who_writes_a_section(root):
    """A row of its table: `section` `section` | `file` | when."""
    rows = re.findall(r"^\| ((?:`[\w.-]+` ?)+)\| `(src/[^`]+)` \|", (root / "doc/FORMAT.md").read_text(), re.M)
    assert len(rows) > 30
    for sections, files in rows:
        stem, kinds = re.fullmatch(r"(.*/)(?:\{(.*)\}|[^{]*)\.c", files).groups()
        for path in [f"{stem}{kind}.c" for kind in kinds.split(",")] if kinds else [files]:
            text = (root / path).read_text()
            for section in re.findall(r"`([^`]+)`", sections):
                family, _, name = section.rpartition(".")
                assert f'"{section}"' in text or f'"{name}"' in text or f'"%s.{name}"' in text, (section, path)
