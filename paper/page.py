"""The page: one file with its style inside, no script, nothing from elsewhere."""
from html import escape

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#5b6570;--paper:#fff;--panel:#f6f7f9;
--rule:#dfe3e8;--blue:#0066b3;--sky:#3d9fdb;--red:#cf4a00;--amber:#b97a00;--green:#00835f;
--grey:#4a4f57;--good:#00704f;--bad:#b23c00;--half:#8a5a00;--dot:.3}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#9aa5b1;--paper:#14171b;
--panel:#1c2025;--rule:#333a43;--blue:#5db1ff;--sky:#9fd6ff;--red:#ff8a4c;--amber:#f0b840;
--green:#3ecfa0;--grey:#c3c9d1;--good:#4fd3a6;--bad:#ff9562;--half:#f0b840;--dot:.34}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1040px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.7rem;line-height:1.2;margin:.2em 0 .6em}
h2{font-size:1.25rem;margin:2.4em 0 .5em;padding-top:.6em;border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:1.6em 0 .3em}
p{max-width:72ch;margin:.6em 0}
a{color:var(--blue)}
nav{display:flex;flex-wrap:wrap;gap:.3em 1.2em;font-size:.9rem;margin:1em 0}
code{font-size:.88em;background:var(--panel);padding:.1em .3em;border-radius:3px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1.2em;margin:1em 0}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto;margin:.8em 0}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--dim);padding:.3em 0}
th,td{padding:.28em .7em;border-bottom:1px solid var(--rule);text-align:right;
vertical-align:top;white-space:nowrap}
th{font-weight:600;color:var(--dim)}
th:first-child,td:first-child{text-align:left;padding-left:0;position:sticky;left:0;
background:var(--paper)}
td.words{text-align:left;white-space:normal}
table.cards{width:100%}
:is(.cards,.left2,.left3) :is(th,td):nth-child(2),
:is(.cards,.left3) :is(th,td):nth-child(3){text-align:left}
td.holds{color:var(--good);font-weight:600}td.fails{color:var(--bad);font-weight:600}
td.partly{color:var(--half);font-weight:600}td.not-run{color:var(--dim)}
figure{margin:2em 0}
figure>h3{margin:0 0 .4em}
figcaption{font-size:.9rem;color:var(--dim);max-width:76ch;margin-top:.5em}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));
gap:14px 20px}
.panels>div{min-width:0;max-width:560px}
.single{max-width:580px}
.panels h4,.cell h4{font-size:.85rem;font-weight:600;margin:0 0 2px}
.cells{display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr));gap:12px 10px}
.cell{min-width:0}.cell p{font-size:.76rem;line-height:1.35;color:var(--dim);margin:0}
.cell p b{color:var(--ink)}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{font-family:inherit;fill:var(--ink)}
svg .tick{font-size:10px;fill:var(--dim)}svg .name{font-size:10.5px;fill:var(--dim)}
svg .label{font-size:10.5px;fill:var(--c);font-weight:600}
svg .middle{text-anchor:middle}svg .end{text-anchor:end}
.grid{stroke:var(--rule);stroke-width:.7;fill:none}
.line{stroke:var(--c);stroke-width:1.8;fill:none;stroke-linejoin:round}
.rule{stroke:var(--c);stroke-width:1.4;stroke-dasharray:5 3;fill:none}
.leader{stroke:var(--c);stroke-width:.8;fill:none;opacity:.7}
.mark{fill:var(--c);stroke:var(--paper);stroke-width:.8}
.identity{stroke:var(--dim);stroke-width:.9;stroke-dasharray:3 2;fill:none}
.dots{stroke:var(--c);stroke-width:2.3;stroke-linecap:round;fill:none;opacity:var(--dot)}
.firm{stroke-width:2.6;opacity:.6}
.blob{stroke:var(--c);stroke-width:8;stroke-linecap:round}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:.2em 0 .6em;
padding:0;font-size:.85rem}
.legend li{display:flex;align-items:center;gap:.4em}.legend .key{width:26px;height:12px}
.legend .key[viewBox="0 0 12 12"]{width:12px}
.s-default,.s-held{--c:var(--blue)}.s-fast{--c:var(--sky)}
.s-paper,.s-dropped{--c:var(--red)}.s-athena{--c:var(--amber)}
.s-incremental{--c:var(--green)}.s-word2vec,.s-twin{--c:var(--grey)}
details{margin:.8em 0}summary{cursor:pointer;font-weight:600;font-size:.95rem}
.note{background:var(--panel);border-left:3px solid var(--half);padding:.5em .9em}
@media (max-width:600px){main{padding:14px 12px 48px}dl{grid-template-columns:1fr}
dd{margin-bottom:.4em}th,td{padding:.28em .5em}h1{font-size:1.4rem}
.cells{grid-template-columns:1fr 1fr}
:is(.panels,.single) :is(.tick,.name){font-size:12px}.single .label{font-size:11.5px}
.cards thead{display:none}.cards tr{display:block;padding:.5em 0;
border-bottom:1px solid var(--rule)}
.cards td:nth-child(n){display:flex;justify-content:space-between;gap:1em;border:0;
padding:.1em 0;text-align:right}
.cards td::before{content:attr(data-name);color:var(--dim)}
.cards td:first-child:nth-child(n){display:block;text-align:left;font-weight:600}
.cards td:first-child::before{content:""}}
@media print{details{display:block}h2{break-after:avoid}figure{break-inside:avoid}}
"""


def page(title, body):
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
            f"<body><main>\n{body}\n</main></body></html>\n")


def section(name, title, *parts):
    return f'<section id="{name}"><h2>{escape(title)}</h2>\n' + "\n".join(parts) + "</section>"


def paragraph(text, kind=""):
    """The text is HTML."""
    return f'<p class="{kind}">{text}</p>' if kind else f"<p>{text}</p>"


def figure(name, title, body, caption):
    """The caption is HTML."""
    return (f'<figure id="{name}"><h3>{escape(title)}</h3>{body}'
            f"<figcaption>{caption}</figcaption></figure>")


def panels(items):
    """[(heading, svg)] side by side where there is room."""
    return '<div class="panels">' + "".join(
        f"<div><h4>{escape(heading)}</h4>{picture}</div>"
        for heading, picture in items) + "</div>"


def single(picture):
    return f'<div class="single">{picture}</div>'


def more(summary, body, opened=False):
    return (f'<details{" open" if opened else ""}><summary>{escape(summary)}</summary>'
            f"{body}</details>")


def table(head, rows, caption="", name="", kind=""):
    """Cells are text, or (text, class). Kind "cards" makes a card of each row where the
    screen is narrow; "left2" and "left3" are tables whose first columns are text."""
    lines = ["<tr>" + "".join(table_cell(cell, about, kind == "cards")
                              for cell, about in zip(row, head)) + "</tr>" for row in rows]
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    about = f"<caption>{escape(caption)}</caption>" if caption else ""
    marks = (f' id="{name}"' if name else "") + (f' class="{kind}"' if kind else "")
    return (f'<div class="wide"><table{marks}>{about}<thead><tr>{top}</tr></thead><tbody>'
            f'{"".join(lines)}</tbody></table></div>')


def table_cell(cell, head, cards):
    text, kind = cell if isinstance(cell, tuple) else (cell, "")
    marks = (f' class="{kind}"' if kind else "") + (
        f' data-name="{escape(head)}"' if cards else "")
    return f"<td{marks}>{escape(str(text))}</td>"


def facts(pairs):
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>"
                            for name, value in pairs) + "</dl>"


def fraction(value, digits=4, sign=""):
    """A number of a table, with a real minus sign and none for zero; "–" where it is not
    defined. `sign` "+" shows that of positive numbers too."""
    if value is None:
        return "–"
    text = f"{value:{sign}.{digits}f}"
    return text.lstrip("+-") if not float(text) else text.replace("-", "−")


def whole(value):
    return "–" if value is None else f"{value:,}"
