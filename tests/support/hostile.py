"""Words that mean harm to whoever shows them: to browsers, terminals, spreadsheets, parsers."""

import random

SEEDS = [
    "<script>alert(1)</script>", "<img/src=x/onerror=alert(1)>", "javascript:alert(1)", "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07", "\u202egnp.exe", "\u2066x\u2069", "\ufeff", "=cmd|'/c'!A1", "+1+1", "-1+1", "@SUM(1)",
    "'; drop-table words;--", "\"quoted\"", "\\u0000", "%s%n%x", "{{7*7}}", "${jndi:ldap://x}", "../../etc/passwd",
    "\u2028", "\u2029", "\x85", "\x7f", "\x9b31m", "a\u0300" * 20, "👩‍👩‍👧‍👦", "x" * 63, "y" * 64, "é" * 40, "𝕳",
    "\ud7ff", "\ufffe", "\uffff", "le=\"+Inf\"} 1", "# TYPE wordtide_x counter", "data:", "event:end",
]


def hostile_words(count):
    draw = random.Random(5)
    words = list(SEEDS)
    while len(words) < count:
        words.append("".join(draw.sample(SEEDS, 2))[:draw.randint(1, 80)] + str(len(words)))
    return words
