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
    "src/text/text.h": '#include "base/base.h"\n',
    "src/sketch/sketch.h": '#include "base/base.h"\n',
    "src/vector/vector.h": '#include "base/base.h"\n',
    "src/model/model.h": '#include "sketch/sketch.h"\n#include "vector/vector.h"\n',
    "src/train/train.h": '#include "model/model.h"\n#include "text/text.h"\n',
    "src/eval/eval.h": '#include "train/train.h"\n',
    "cli/options.h": "#include <stdio.h>\n",
    "cli/main.c": '#include <wordtide.h>\n#include "options.h"\n',
    "tests/unit/test_base.c": '#include "base/private.h"\n',
}

BROKEN = {
    "base knows nothing": ("src/base/a.c", '#include "text/text.h"'),
    "text does not know sketch": ("src/text/a.c", '#include "sketch/sketch.h"'),
    "sketch does not know vector": ("src/sketch/a.c", '#include "vector/vector.h"'),
    "vector does not know text": ("src/vector/a.c", '#include "text/text.h"'),
    "model does not know text": ("src/model/a.c", '#include "text/text.h"'),
    "model does not know train": ("src/model/a.c", '#include "train/train.h"'),
    "train does not know eval": ("src/train/a.c", '#include "eval/eval.h"'),
    "a header is private": ("src/text/a.c", '#include "base/private.h"'),
    "a path does not hide it": ("src/text/a.c", '#include "../base/private.h"'),
    "nor do brackets": ("src/text/a.c", "#  include <base/private.h>"),
    "the command stays outside": ("cli/a.c", '#include "base/base.h"'),
    "by any path": ("cli/a.c", '#include "../src/base/base.h"'),
    "the server too": ("server/a.c", "#include <model/model.h>"),
    "front ends do not share headers": ("server/a.c", '#include "../cli/options.h"'),
    "the library does not know them": ("src/train/a.c", '#include "../../cli/options.h"'),
    "the public header stands alone": ("include/b.h", '#include "../src/base/base.h"'),
    "a comment before it changes nothing": ("cli/a.c", '/* */ #include "base/base.h"'),
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
    plant(tmp_path, {**CLEAN, "cli/a.c": '/*\n#include "base/base.h"\n*/\n'})
    assert check_layers.violations(tmp_path) == []


def test_the_command_exits_with_1_and_names_the_line(root, tmp_path):
    plant(tmp_path, {**CLEAN, "cli/a.c": '\n#include "base/base.h"\n'})
    script = [sys.executable, str(root / "scripts/check_layers.py"), str(tmp_path)]
    result = subprocess.run(script, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout.startswith("cli/a.c:2: ")
