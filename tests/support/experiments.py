"""Lets tests import what bench/ and paper/ consist of, and parses the pages that they write."""

import base64
import pathlib
import random
import re
import sys
import xml.etree.ElementTree as xml
from datetime import datetime, timedelta
from html.parser import HTMLParser

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "paper")]

VOID = {"meta", "br", "img"}


class Page(HTMLParser):
    """Elements by id, external references, the figures, and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.fetched, self.wrong, self.figures = [], {}, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            assert given["id"] not in self.ids, given["id"]
            self.ids[given["id"]] = self.getpos()
        self.fetched += [value for name, value in given.items()
                         if name in ("src", "srcset", "data", "action", "href")
                         and not value.startswith(("#", "data:"))]
        if tag == "img":
            self.figures.append(svg_text(given["src"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append((tag, self.getpos()))


def svg_text(source):
    """An embedded figure, which must be well-formed."""
    kind, data = source.split(",", 1)
    assert kind == "data:image/svg+xml;base64"
    text = base64.b64decode(data).decode()
    xml.fromstring(text)
    return text


def check_page(text):
    """A page that is whole and loads nothing from elsewhere."""
    page = Page(text)
    assert not page.wrong and not page.open and not page.fetched
    assert not re.search(r"@import|url\(|<script|<link", text)
    return page


def between(text, start, end):
    return text.split(start, 1)[1].split(end, 1)[0]


def posts(count=900, topics=6):
    """Posts of ten months whose words determine their hashtag, some with another one at random.
    The last hashtag, #late, first appears in the test and becomes frequent there."""
    rng, time = random.Random(1), datetime(2020, 1, 1)
    for index in range(count):
        topic = rng.randrange(topics)
        if index > 0.7 * count and rng.random() < 0.9:
            topic = topics
        words = [f"w{topic}{rng.choice('abcdefgh')}" for _ in range(6)]
        words += [f"Common{rng.randrange(20)}", rng.choice(["#Late", "#LATE"])
                  if topic == topics else f"#Topic{topic}"]
        if rng.random() < 0.2:
            words.append(f"#Topic{rng.randrange(topics)}")
        rng.shuffle(words)
        yield f"{time.isoformat()}Z\t{' '.join(words)}\n"
        time += timedelta(days=304 / count)
