"""Includes point down only, and the script that says so notices when they do not."""

import subprocess
import sys

import check_layers
import pytest

CLEAN = {
    "include/wordtide.h": "#include <stdint.h>\n",
    "src/base/base.h": "#include <wordtide.h>\n",
    "src/base/private.h": '#include "base.h"\n',
    "src/base/rng.c": '#include "private.h"\n#include "base/base.h"\n',
    "demo/demo.h": '#include "base/base.h"\n',
    "src/token/token.h": '#include "base/base.h"\n',
    "src/source/source.h": '#include "base/base.h"\n',
    "src/source/source_demo.c": '#include "demo/demo.h"\n',
    "src/vocab/vocab.h": '#include "base/base.h"\n',
    "src/vector/vector.h": '#include "base/base.h"\n',
    "src/model/model.h": '#include "vocab/vocab.h"\n#include "vector/vector.h"\n',
    "src/train/train.h": '#include "model/model.h"\n#include "vocab/vocab.h"\n',
    "src/run/run.h": '#include "train/train.h"\n#include "source/source.h"\n',
    "src/eval/eval.h": '#include "run/run.h"\n',
    "cli/options.h": "#include <stdio.h>\n",
    "cli/main.c": '#include <wordtide.h>\n#include "base/base.h"\n#include "options.h"\n',
    "tests/unit/test_base.c": '#include "base/private.h"\n',
}

BROKEN = {
    "base knows nothing": ("src/base/a.c", '#include "token/token.h"'),
    "token does not know vocab": ("src/token/a.c", '#include "vocab/vocab.h"'),
    "vocab does not know vector": ("src/vocab/a.c", '#include "vector/vector.h"'),
    "vector does not know token": ("src/vector/a.c", '#include "token/token.h"'),
    "model does not know token": ("src/model/a.c", '#include "token/token.h"'),
    "model does not know train": ("src/model/a.c", '#include "train/train.h"'),
    "train does not know run": ("src/train/a.c", '#include "run/run.h"'),
    "train does not know sources": ("src/train/a.c", '#include "source/source.h"'),
    "the demo knows no source": ("demo/a.c", '#include "source/source.h"'),
    "only sources know the demo": ("src/run/a.c", '#include "demo/demo.h"'),
    "a header is private": ("src/token/a.c", '#include "base/private.h"'),
    "a path does not hide it": ("src/token/a.c", '#include "../base/private.h"'),
    "nor do brackets": ("src/token/a.c", "#  include <base/private.h>"),
    "the command stays outside": ("cli/a.c", '#include "token/token.h"'),
    "by any path": ("cli/a.c", '#include "../src/token/token.h"'),
    "base has private headers too": ("cli/a.c", '#include "base/private.h"'),
    "the server too": ("server/a.c", "#include <model/model.h>"),
    "front ends do not share headers": ("server/a.c", '#include "../cli/options.h"'),
    "the library does not know them": ("src/train/a.c", '#include "../../cli/options.h"'),
    "the public header stands alone": ("include/b.h", '#include "../src/base/base.h"'),
    "a comment before it changes nothing": ("cli/a.c", '/* */ #include "token/token.h"'),
    "no computed include": ("src/base/a.c", "#include NAME"),
    "ours are found": ("src/base/a.c", '#include "nowhere.h"'),
    "a module is a known folder": ("src/extra/a.c", ""),
    "and a file is in one": ("src/a.c", ""),
}


def plant(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_includes_of_this_tree_point_down_only(root):
    found = check_layers.violations(root)
    assert not found, "\n".join(found)


def test_a_clean_tree_passes(tmp_path):
    plant(tmp_path, CLEAN)
    assert check_layers.violations(tmp_path) == []


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_found(tmp_path, rule):
    name, line = BROKEN[rule]
    plant(tmp_path, {**CLEAN, name: line + "\n"})
    found = check_layers.violations(tmp_path)
    assert len(found) == 1
    assert found[0].startswith(name)


def test_an_include_inside_a_comment_does_not_count(tmp_path):
    plant(tmp_path, {**CLEAN, "cli/a.c": '/*\n#include "token/token.h"\n*/\n'})
    assert check_layers.violations(tmp_path) == []


def test_the_command_exits_with_1_and_names_the_line(root, tmp_path):
    plant(tmp_path, {**CLEAN, "cli/a.c": '\n#include "token/token.h"\n'})
    script = [sys.executable, str(root / "scripts/check_layers.py"), str(tmp_path)]
    result = subprocess.run(script, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout.startswith("cli/a.c:2: ")


def test_a_module_comes_after_those_it_includes(monkeypatch):
    monkeypatch.setitem(check_layers.MODULES, "base", {"eval"})
    assert list(check_layers.cycles()) == ["BELOW: base comes before eval"]
