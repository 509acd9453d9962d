#!/usr/bin/env python3
"""check_prose.py - phrases that do not belong in comments, messages and documents.

    check_prose.py [ROOT]

PHRASES lists patterns with what to write instead. They are looked for in the sources, scripts and documents;
lines of a file that match a pattern of ALLOWED for it are skipped. A
phrase may span a line break in a comment or a paragraph.

Prints one line per occurrence and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

# (pattern, what to write instead)
PHRASES = (
    (r"numbers? that (?:is|are) none", "NaN"),
    (r"that (?:is|are) none\b", "say what is invalid"),
    (r"\bnobody (?:sets|asks|knows|looks|waits|reads|has)\b", "say what does not happen"),
    (r"\bwhoever\b", "name the caller, client or user"),
    (r"\bwho (?:asks|learns|waits|writes|reads|holds) ", "name the caller, client or user"),
    (r"\banew\b", "again, retrain, rebuild"),
    (r"(?<!-)\bon (?:its|the|their) way\b", "in progress, while reading"),
    (r"\bso many\b", "a number, N, as many"),
    (r"\bis told\b", "is reported, is notified"),
    (r"\btells of\b", "reports, describes"),
    (r"\btells (?:whether|which|where|how|so)\b", "says, shows, determines"),
    (r"\btold otherwise\b", "by default, unless --x says otherwise"),
    (r"\bof which both\b", "in which both"),
    (r"\blearn(?:s|ed|ing)? to tell\b", "predict, distinguish"),
    (r"\b(?:words|tokens|bytes|MB|MiB|GB|questions|queries|requests|inputs|lines|times) a second\b", "per second, words/s"),
    (r"\bnumbers do not run out\b", "do not overflow"),
    (r"\bstands? still for\b", "pauses"),
    (r"\bhalf way in\b", "say where"),
    (r"\b(?:neighbour|behaviour|favour|colour|labell(?:ed|ing)|centr(?:e|ed|ing)\b|normalis|recognis|optimis)", "American spelling"),
)

# Names that users and programs know: former options, keys of JSON, columns of tables.
ALLOWED = {
    "NEWS.md": (r"^- Options with a second meaning", r"neighbours", r"centre"),
    "src/params/params.c": (r"centre",),
    "cli/eval_agreement.c": (r'"neighbours"',),
    "cli/label_report.c": (r'"labelled"',),
    "paper/plan.py": (r'\["neighbours"\]',),
    "paper/sections.py": (r'\["neighbours"\]',),
    "cli/options.c": (r'\{"\w',),
    "server/export.c": (r'"centre"',),
    "server/status.c": (r'"centred"',),
    "scripts/check_prose.py": (r".",),
}

DOCUMENTS = ("*.md", "doc/*.md")
SOURCES = tuple(
    f"{folder}/**/*{suffix}"
    for folder in ("include", "src", "demo", "cli", "server", "examples", "scripts", "bench", "paper")
    for suffix in (".c", ".h", ".py", "")
)
BINARY = re.compile(r"\.(?:png|gz|zst|xz|tide)$")


def files(root, patterns):
    found = {path for pattern in patterns for path in root.glob(pattern)}
    for path in sorted(found):
        if path.is_file() and not BINARY.search(path.name) and "__pycache__" not in path.parts:
            yield path


def flattened(text):
    """The text with line breaks, comment stars and string seams as single spaces, of the same length."""
    def blank(match):
        return " " * len(match[0])
    return re.sub(r'"\s*\n\s*"|\n[ \t]*(?:\*(?!/)|//|#|>)?[ \t]*', blank, text)


def occurrences(name, text):
    """Yields (line number, phrase, advice) for a file's text."""
    flat = flattened(text)
    lines = text.split("\n")
    allowed = [re.compile(pattern) for pattern in ALLOWED.get(name, ())]
    for pattern, advice in PHRASES:
        spaced = pattern.replace(" ", r"\s+")
        for match in re.finditer(spaced, flat, re.IGNORECASE):
            number = text.count("\n", 0, match.start()) + 1
            if not any(one.search(lines[number - 1]) for one in allowed):
                yield number, " ".join(match[0].split()), advice


def violations(root, patterns=DOCUMENTS + SOURCES):
    root = Path(root).resolve()
    found = []
    for path in files(root, patterns):
        name = str(path.relative_to(root))
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, phrase, advice in sorted(occurrences(name, text)):
            found.append(f'{name}:{number}: "{phrase}": {advice}')
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = violations(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
