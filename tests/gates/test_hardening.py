"""What is built is hardened, and calculates as IEEE 754 says."""

import json
import re
import shlex
import subprocess

import pytest

from test_house import sanitized

# Each of these lets the compiler take a NaN for a number, or a sum in another order.
FAST_MATH = {
    "-Ofast", "-ffast-math", "-funsafe-math-optimizations", "-ffinite-math-only",
    "-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-fcx-limited-range",
}


def readelf(path, *flags):
    command = ["readelf", "--wide", *flags, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def faults(path):
    """What a program or a library lacks."""
    header, segments = readelf(path, "-h"), readelf(path, "-l")
    dynamic, symbols = readelf(path, "-d"), readelf(path, "--dyn-syms")
    stack = re.search(r"GNU_STACK(?:\s+0x\w+){5}\s+([RWE ]+)", segments)
    holds = {
        "relro": "GNU_RELRO" in segments,
        "now": re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic),
        "stack without code": stack and "E" not in stack.group(1),
        "any address": re.search(r"Type:\s+DYN", header),
        "canaries": "__stack_chk_fail" in symbols,
    }
    return [name for name, found in holds.items() if not found]


def compile_commands(build):
    commands = json.loads((build / "compile_commands.json").read_text())
    return {entry["file"]: shlex.split(entry["command"]) for entry in commands}


def programs(build):
    return [build / "cli" / "wordtide", build / "src" / "libwordtide.so"]


def test_the_command_and_the_library_are_hardened(build):
    for path in programs(build):
        assert faults(path) == [], path


def test_calls_of_the_c_library_are_checked(build):
    if sanitized(build):
        pytest.skip("the sanitizers have checks of their own")
    for path in programs(build):
        assert re.search(r"__\w+_chk@", readelf(path, "--dyn-syms")), path
    for file, command in compile_commands(build).items():
        assert re.search(r"-D_FORTIFY_SOURCE=[23]", " ".join(command)), file


def test_nothing_is_compiled_with_fast_math(build):
    commands = compile_commands(build)
    assert len(commands) > 100
    for file, command in commands.items():
        assert not FAST_MATH & set(command), file


@pytest.mark.parametrize(("flags", "expected"), [
    (["-Wl,-z,norelro", "-Wl,-z,now"], ["relro"]),
    (["-Wl,-z,relro", "-Wl,-z,lazy"], ["now"]),
    (["-Wl,-z,now", "-Wl,-z,execstack"], ["stack without code"]),
    (["-Wl,-z,now", "-no-pie", "-fno-pie"], ["any address"]),
    (["-Wl,-z,now", "-fno-stack-protector"], ["canaries"]),
])
def test_what_is_missing_is_noticed(tmp_path, flags, expected):
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text("#include <stdio.h>\n"
                      "int main(void) { char b[64]; return !fgets(b, 64, stdin) || b[0]; }\n")
    subprocess.run(["cc", "-O2", "-fPIE", "-pie", "-fstack-protector-strong", "-Wl,-z,relro",
                    *flags, str(source), "-o", str(program)], check=True)
    assert faults(program) == expected
