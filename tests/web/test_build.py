"""The page as it is committed: what the sources make, small, and closed to the outside."""

import base64
import gzip
import hashlib
import json
import re
import subprocess

from conftest import WEB, needs_npm

DIST = WEB / "dist"


def run(*command):
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def page():
    return gzip.decompress((DIST / "index.html.gz").read_bytes()).decode()


@needs_npm
def test_units_hold():
    run("npm", "test")


@needs_npm
def test_the_committed_page_is_what_the_sources_make(tmp_path):
    run("npx", "tsc", "--noEmit")
    run("npx", "vite", "build", "--logLevel", "warn", "--outDir", tmp_path / "out")
    run("node", "pack.mjs", tmp_path / "dist", tmp_path / "out")
    for name in ("index.html.gz", "csp.txt"):
        assert (tmp_path / "dist" / name).read_bytes() == (DIST / name).read_bytes(), name


def test_the_page_is_small_and_has_no_time_stamp():
    packed = (DIST / "index.html.gz").read_bytes()
    assert len(packed) <= 150_000
    assert packed[3:8] == bytes(5), "flags and time of the gzip header"


def test_the_policy_names_the_script_and_the_style():
    html = page()
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in (DIST / "csp.txt").read_text()


def test_nothing_comes_from_outside():
    html = page()
    shell = re.sub(r"<(script|style)(?: [^>]*)?>.*?</\1>", "", html, flags=re.DOTALL)
    assert not re.search(r"\s(on\w+|style|src)=", shell)
    assert re.findall(r'href="([a-z]+):', shell) == ["data"]
    assert not re.search(r"@import|url\((?!data:)", html)


def test_words_never_become_markup():
    for path in (WEB / "src").rglob("*.ts*"):
        text = path.read_text()
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySet",
                    "document.write", "eval(", "new Function", ": any", "as any"):
            assert way not in text, f"{path}: {way}"


def test_packages_come_from_the_public_registry():
    lock = json.loads((WEB / "package-lock.json").read_text())
    for name, package in lock["packages"].items():
        address = package.get("resolved", "https://registry.npmjs.org/")
        assert address.startswith("https://registry.npmjs.org/"), name
        assert not name or "integrity" in package, name
