"""Files that the page sends to a real server are learned like the command does, or rejected with a reason."""

import gzip
import json
import subprocess

from conftest import needs_browser
from running import ROOT
from serving import Server
from watching import PATIENCE, wait_until

pytestmark = needs_browser
POSTS = [{"id": i, "body": f"word{i}, and\nmore"} for i in range(100)]


def test_files_of_every_kind_are_accepted_or_rejected(tmp_path):
    files = {
        "members.txt.gz": b"".join(gzip.compress(b"packed line\n" * 50) for _ in range(20)),
        "list.json": json.dumps(POSTS, indent=1).encode(),
        "lines.jsonl.gz": gzip.compress("".join(f"{json.dumps(p)}\n" for p in POSTS).encode()),
        "table.csv": ("id;body\n" + "".join(f'{p["id"]};"{p["body"]}"\n' for p in POSTS)).encode(),
        "wide.txt": "tea and milk\n".encode("utf-16"),
        "latin.txt": "café thé\nZürich über\n".encode("latin-1"),
        "data.parquet": b"PAR1\x15\x04\x15\x10",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    server = Server()
    done = subprocess.run(
        ["node", ROOT / "tests" / "web" / "send.mjs", f"http://localhost:{server.port}", "body",
         *(tmp_path / name for name in files)],
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    for name, lines in ("members.txt.gz", "1,000"), ("list.json", 100), ("lines.jsonl.gz", 100), ("table.csv", 100):
        assert said[name].startswith(f"accepted \u00b7 {lines} lines accepted"), said
    for name, what in ("wide.txt", "UTF-16"), ("latin.txt", "iconv"), ("data.parquet", "Parquet"):
        assert said[name].startswith("rejected") and what in said[name], said
    wait_until(lambda: server.stats()["tokens"] == 2000 + 900, "all that was taken")
    server.end()
