"""A report, written as Markdown with its figures as SVG files, and as one HTML file.

Texts are Markdown with `code` and **bold** only; escaped() makes any text harmless.
"""
import base64
import re
from html import escape

from lab.cache import write_whole
from lab.tables import markdown_table

STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,"Segoe UI",Roboto,sans-serif;max-width:1040px;margin:0 auto;
padding:1em}
p,figcaption{max-width:76ch}
h2{margin-top:2.2em;border-top:1px solid #8885;padding-top:.6em}
nav{display:flex;flex-wrap:wrap;gap:.3em 1.2em}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1.2em}
dt,figcaption,caption,th{color:#7a828c}
dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
caption{text-align:left}
th,td{padding:.28em .7em;border-bottom:1px solid #8885;text-align:right;vertical-align:top}
.text{text-align:left}
figure{margin:2em 0}
img{max-width:100%}
.note{border-left:3px solid #b8860b;padding:.2em .9em}
"""


class Document:
    def __init__(self, title):
        self.title, self.links, self.figures = title, [], {}
        self.markdown, self.html = [f"# {title}\n"], []

    def _add(self, markdown, html):
        self.markdown.append(markdown.rstrip("\n") + "\n")
        self.html.append(html)

    def section(self, name, title):
        self.links.append(f'<a href="#{name}">{inline(title)}</a>')
        self._add(f"## {title}", f'<h2 id="{name}">{inline(title)}</h2>')

    def heading(self, title):
        self._add(f"### {title}", f"<h3>{inline(title)}</h3>")

    def text(self, text):
        self._add(text, f"<p>{inline(text)}</p>")

    def note(self, text):
        self._add(f"> {text}", f'<p class="note">{inline(text)}</p>')

    def code(self, text):
        self._add(f"    {text}", f"<pre>{escape(text)}</pre>")

    def bullets(self, items):
        self._add("\n".join(f"- {item}" for item in items),
                  "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>")

    def facts(self, pairs):
        """[(name, text)]"""
        self._add("\n".join(f"- **{name}:** {text}" for name, text in pairs),
                  "<dl>" + "".join(f"<dt>{inline(name)}</dt><dd>{inline(text)}</dd>"
                                   for name, text in pairs) + "</dl>")

    def table(self, head, rows, caption="", texts=1, name=""):
        """The first `texts` columns are not numbers."""
        def line(tag, cells):
            return "<tr>" + "".join(
                f"<{tag}{kind}>{inline(str(cell))}</{tag}>" for cell, kind in
                zip(cells, [' class="text"'] * texts + [""] * len(head))) + "</tr>"

        caption_html = f"<caption>{inline(caption)}</caption>" if caption else ""
        mark = f' id="{name}"' if name else ""
        self._add((f"{caption}\n\n" if caption else "") + markdown_table(head, rows, texts),
                  f'<div class="wide"><table{mark}>{caption_html}<thead>{line("th", head)}'
                  f"</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"
                  "</div>")

    def figure(self, name, title, svg, caption):
        self.figures[name] = svg
        data = base64.b64encode(svg.encode()).decode()
        self._add(f"### {title}\n\n![{title}](figures/{name}.svg)\n\n{caption}",
                  f'<figure id="{name}"><h3>{inline(title)}</h3><img alt="{inline(title)}" '
                  f'src="data:image/svg+xml;base64,{data}">'
                  f"<figcaption>{inline(caption)}</figcaption></figure>")

    def write(self, folder, name):
        """Writes NAME.md, figures/*.svg and NAME.html."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.figures:
            (folder / "figures").mkdir(exist_ok=True)
        for figure, svg in self.figures.items():
            write_whole(folder / "figures" / f"{figure}.svg", svg)
        write_whole(folder / f"{name}.md", "\n".join(self.markdown))
        write_whole(folder / f"{name}.html", self.page())

    def page(self):
        title, body = inline(self.title), "\n".join(self.html)
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta '
                f'name="viewport" content="width=device-width,initial-scale=1"><title>{title}'
                f"</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
                f"<nav>{''.join(self.links)}</nav>\n{body}\n</body></html>\n")


def escaped(text):
    """Any text as Markdown that shows it literally."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def inline(text):
    """Markdown as HTML: `code`, **bold** and escaped characters."""
    def html(match):
        code, bold, character = match.groups()
        if code is not None:
            return f"<code>{escape(code)}</code>"
        return f"<b>{inline(bold)}</b>" if bold is not None else escape(character)

    parts, end = [], 0
    for match in re.finditer(r"`([^`]+)`|\*\*(.+?)\*\*|\\(.)", text):
        parts += [escape(text[end:match.start()]), html(match)]
        end = match.end()
    return "".join(parts) + escape(text[end:])
