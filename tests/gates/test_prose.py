"""Comments, messages and documents use the field's terms, and the script that checks it notices others."""

import subprocess
import sys

import check_prose
import pytest


def test_the_tree_has_none_of_the_listed_phrases(root):
    done = subprocess.run([sys.executable, root / "scripts/check_prose.py"],
                          capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.parametrize("text", [
    "/* a number that is none */",
    "/* Trained anew\n * after a stop. */",
    'fail("the file is\n"  "on its way");',
    "1,000 words a second",
    "Whoever asks is served.",
    "labelled text",
])
def test_a_listed_phrase_is_found_also_across_lines(tmp_path, text):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.c").write_text("int a;\n" + text + "\n")
    found = check_prose.violations(tmp_path)
    assert len(found) >= 1
    assert found[0].startswith("src/a.c:")


def test_ordinary_prose_passes(tmp_path):
    (tmp_path / "README.md").write_text("A second one. It reads 1,000 words/s. Renewable energy.\n")
    assert check_prose.violations(tmp_path) == []
