"""Every header compiles alone, so that the order of includes never matters."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]

# A template is included more than once with macros that its includer defines.
OURS = sorted(
    str(path.relative_to(ROOT))
    for top in ("src", "demo", "cli", "server")
    for path in (ROOT / top).rglob("*.h")
    if not path.stem.endswith("_tmpl")
)


def compile_alone(header, compiler, tmp_path, *flags):
    language = "cc" if "++" in compiler else "c"
    source = tmp_path / f"alone.{language}"
    source.write_text(f'#include "{ROOT / header}"\nint alone(void);\n')
    command = [compiler, *flags, *WARNINGS, f"-I{ROOT}/include", str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_the_public_header_is_plain_c(standard, tmp_path):
    compiler = os.environ.get("CC", "cc")
    compile_alone("include/wordtide.h", compiler, tmp_path, f"-std={standard}")


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_the_public_header_is_c_plus_plus(standard, tmp_path):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("needs g++ or clang++")
    compile_alone("include/wordtide.h", compiler, tmp_path, f"-std={standard}")


@pytest.mark.parametrize("header", OURS)
def test_a_header_of_ours_compiles_alone(header, tmp_path):
    compiler = os.environ.get("CC", "cc")
    inside = [f"-I{ROOT}/src", f"-I{ROOT}"]  # check_layers.py says who may include what
    compile_alone(header, compiler, tmp_path, "-std=gnu11", "-D_GNU_SOURCE", *inside)
