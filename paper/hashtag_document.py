"""A document that is written twice: as HTML with plots, and as Markdown without.

Texts are plain; each form escapes them in its own way.
"""
import re
from html import escape

import page


class Text:
    def __init__(self, text, note=False):
        self.text, self.note = text, note

    def html(self):
        return page.paragraph(escape(self.text), "note" if self.note else "")

    def markdown(self):
        return f"{'> ' if self.note else ''}{plain(self.text)}\n"


class Heading:
    def __init__(self, text):
        self.text = text

    def html(self):
        return f"<h3>{escape(self.text)}</h3>"

    def markdown(self):
        return f"### {plain(self.text)}\n"


class Bullets:
    def __init__(self, items):
        self.items = items

    def html(self):
        return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in self.items) + "</ul>"

    def markdown(self):
        return "".join(f"- {plain(item)}\n" for item in self.items)


class Facts:
    """[(name, text)]"""

    def __init__(self, pairs):
        self.pairs = pairs

    def html(self):
        return page.facts([(name, escape(text)) for name, text in self.pairs])

    def markdown(self):
        return "".join(f"- **{name}:** {plain(text)}\n" for name, text in self.pairs)


class Table:
    """Cells are texts, or (text, class); the first `texts` columns are no numbers."""

    def __init__(self, name, caption, head, rows, texts=1):
        self.name, self.caption, self.texts = name, caption, texts
        self.head, self.rows = head, rows

    def html(self):
        kind = f"left{self.texts}" if self.texts > 1 else ""
        return page.table(self.head, self.rows, self.caption, self.name, kind)

    def markdown(self):
        marks = ["---" if column < self.texts else "---:" for column in range(len(self.head))]
        rows = [[cell[0] if isinstance(cell, tuple) else cell for cell in row]
                for row in self.rows]
        lines = ["| " + " | ".join(plain(str(cell)) for cell in row) + " |"
                 for row in (self.head, *rows)]
        lines.insert(1, "|" + "|".join(marks) + "|")
        return f"{plain(self.caption)}\n\n" + "\n".join(lines) + "\n"


class Picture:
    """HTML alone."""

    def __init__(self, name, title, body, caption):
        self.figure = page.figure(name, title, body, escape(caption))

    def html(self):
        return self.figure

    def markdown(self):
        return ""


class Section:
    def __init__(self, name, title, parts):
        self.name, self.title, self.parts = name, title, parts

    def html(self):
        return page.section(self.name, self.title, *(part.html() for part in self.parts))

    def markdown(self):
        return join([f"## {plain(self.title)}\n", *(p.markdown() for p in self.parts)])


def plain(text):
    """Text that Markdown takes for nothing else."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


def join(parts):
    return "\n".join(part for part in parts if part)


def as_html(title, opening, sections):
    links = "".join(f'<a href="#{s.name}">{escape(s.title)}</a>' for s in sections)
    return page.page(title, "\n".join([
        f"<h1>{escape(title)}</h1>", *(part.html() for part in opening),
        f"<nav>{links}</nav>", *(section.html() for section in sections)]))


def as_markdown(title, opening, sections):
    return join([f"# {plain(title)}\n", *(part.markdown() for part in opening),
                 *(section.markdown() for section in sections)])
