"""Plots as SVG text, drawn for a column that may be as narrow as a phone.

A plot is 400 units wide or less, so that its letters stay readable when a small screen
shrinks it. Colors are classes (s-NAME) that the page's style sheet defines for light
and dark. A cloud of points is a few paths of zero-length strokes with round ends: a
point costs about nine bytes, and since a path covers itself only once, points are dealt
out to several translucent paths so that density shows.
"""
import math
from html import escape

LAYERS = 6
LABEL_HEIGHT = 12.5


class Axis:
    """Maps values to 0..1. Ticks are 1-2-5 steps; on a log axis decades, or 1-2-5."""

    def __init__(self, low, high, log=False, form=None):
        if not high > low:
            high = low * 10 if log else low + 1
        self.low, self.high, self.log = low, high, log
        self.form = form or short_number

    def place(self, value):
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most=6):
        if not self.log:
            return linear_ticks(self.low, self.high, most)
        first = math.floor(math.log10(self.low))
        last = math.ceil(math.log10(self.high))
        every = max(1, math.ceil((last - first) / most))
        parts = (1,) if math.log10(self.high / self.low) > 2.5 else (1, 2, 5)
        marks = [part * 10.0 ** power for power in range(first, last + 1, every)
                 for part in parts]
        return [mark for mark in marks
                if self.low * 0.999 <= mark <= self.high * 1.001]


def linear_ticks(low, high, most=6):
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def fitting(values, zero=False, log=False, form=None):
    """An axis that holds the values and ends at a tick, or a little beyond the data."""
    values = [value for value in values if value is not None and (value > 0 or not log)]
    if not values:
        return Axis(1, 10, log, form) if log else Axis(0, 1, log, form)
    low, high = min(values), max(values)
    if log:
        return Axis(round_log(low, math.floor), round_log(high * 1.001, math.ceil), True, form)
    low = min(0, low) if zero else low
    if not high > low:
        return Axis(low - 0.5 if low else 0, high + 0.5, False, form)
    step = linear_ticks(low, high)
    step = step[1] - step[0] if len(step) > 1 else high - low
    return Axis(math.floor(low / step + 1e-9) * step,
                math.ceil(high / step - 1e-9) * step, False, form)


def round_log(value, towards):
    """The nearest 1, 2 or 5 times a power of ten, below or above."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [power * part for part in (1, 2, 5, 10)]
    below = max(step for step in steps if step <= value * (1 + 1e-9))
    return below if towards is math.floor else min(s for s in steps if s >= value)


def short_number(value):
    """1200 as 1.2k, 17000000 as 17M; small numbers as they are."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}".replace("-", "−") if value else "0"


class Plot:
    """Width and height are of the whole picture; `right` is room for labels."""

    def __init__(self, x, y, width=400, height=250, left=46, right=12, top=10, bottom=36):
        self.x, self.y = x, y
        self.width, self.height = width, height
        self.left, self.top = left, top
        self.inner_width = width - left - right
        self.inner_height = height - top - bottom
        self.parts, self.labels = [], []

    def at(self, x, y):
        return (self.left + self.inner_width * self.x.place(x),
                self.top + self.inner_height * (1 - self.y.place(y)))

    def axes(self, x_name, y_name, x_ticks=6, y_ticks=6):
        right, bottom = self.left + self.inner_width, self.top + self.inner_height
        for value in self.x.ticks(x_ticks):
            at, _ = self.at(value, self.y.low)
            self._grid(at, self.top, at, bottom)
            self._text(at, bottom + 13, self.x.form(value), "tick middle")
        for value in self.y.ticks(y_ticks):
            _, at = self.at(self.x.low, value)
            self._grid(self.left, at, right, at)
            self._text(self.left - 5, at + 3.5, self.y.form(value), "tick end")
        self._text(self.left + self.inner_width / 2, self.height - 5, x_name,
                   "name middle")
        middle = self.top + self.inner_height / 2
        self.parts.append(f'<text class="name middle" transform="translate(9 '
                          f'{middle:.1f}) rotate(-90)">{escape(y_name)}</text>')
        return self

    def _grid(self, x1, y1, x2, y2):
        self.parts.append(f'<path class="grid" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>')

    def _text(self, x, y, text, kind):
        self.parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">'
                          f'{escape(text)}</text>')

    def line(self, points, kind, label=None, marks=True):
        places = [self.at(x, y) for x, y in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        if len(places) > 1:
            self.parts.append(f'<path class="line {kind}" d="M{path}"/>')
        if marks:
            self.parts += [mark(x, y, kind) for x, y in places]
        if label and places:
            self.labels.append([places[-1][1], label, kind])

    def rule(self, y, kind, label=None):
        """A horizontal line over the whole width."""
        _, at = self.at(self.x.low, y)
        right = self.left + self.inner_width
        self.parts.append(
            f'<path class="rule {kind}" d="M{self.left} {at:.1f}H{right}"/>')
        if label:
            self.labels.append([at, label, kind])

    def identity(self):
        low, high = max(self.x.low, self.y.low), min(self.x.high, self.y.high)
        (x1, y1), (x2, y2) = self.at(low, low), self.at(high, high)
        self.parts.append(
            f'<path class="identity" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>')

    def dots(self, points, kind):
        """A cloud; points beyond the axes are drawn at the edge."""
        places = []
        for x, y in points:
            x = min(max(x, self.x.low), self.x.high)
            y = min(max(y, self.y.low), self.y.high)
            across, down = self.at(x, y)
            places.append((round(10 * across), round(10 * down)))
        for layer in range(LAYERS):
            path, before = [], (0, 0)
            for place in sorted(places[layer::LAYERS]):
                path.append(f"m{tenths(place[0] - before[0])}"
                            f"{tenths(place[1] - before[1], True)}h0")
                before = place
            if path:
                self.parts.append(f'<path class="dots {kind}" d="{"".join(path)}"/>')

    def note(self, x, y, text, kind="tick"):
        across, down = self.at(x, y)
        self._text(across, down, text, kind)

    def svg(self, title):
        self._place_labels()
        return (f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
                f'aria-label="{escape(title)}">{"".join(self.parts)}</svg>')

    def _place_labels(self):
        """Labels right of the plot, pushed apart so that none covers another."""
        self.labels.sort(key=lambda label: label[0])
        room = self.top + self.inner_height
        total = LABEL_HEIGHT * len(self.labels)
        floor = self.top
        for index, label in enumerate(self.labels):
            below = total - LABEL_HEIGHT * (index + 1)
            label.append(max(floor, min(label[0], room - below)))
            floor = label[3] + LABEL_HEIGHT
        right = self.left + self.inner_width
        for wanted, text, kind, placed in self.labels:
            self.parts.append(f'<path class="leader {kind}" d="M{right} {wanted:.1f}'
                              f'L{right + 7} {placed:.1f}"/>')
            self._text(right + 9, placed + 3.8, text, f"label {kind}")


def tenths(value, separated=False):
    """A tenth of the whole number, in as few letters as SVG can read."""
    sign = "-" if value < 0 else " " if separated else ""
    whole, rest = divmod(abs(value), 10)
    digits = f"{whole}" if not rest else f"{whole or ''}.{rest}"
    return sign + digits


SHAPES = {
    "s-default": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "s-fast": "M-2.6-2.6h5.2v5.2h-5.2z",
    "s-paper": "M0-3.5L3.3 2.4H-3.3z",
    "s-athena": "M0 3.5L3.3-2.4H-3.3z",
    "s-incremental": "M0-3.8L3.8 0L0 3.8L-3.8 0z",
    "s-word2vec": "M-3.2-1h2.2v-2.2h2v2.2h2.2v2h-2.2v2.2h-2v-2.2h-2.2z",
}


def mark(x, y, kind):
    shape = SHAPES.get(kind, SHAPES["s-default"])
    return f'<path class="mark {kind}" transform="translate({x:.1f} {y:.1f})" d="{shape}"/>'


def key(kinds):
    """A legend for the page: [(class, text)], each with its line and mark."""
    items = "".join(
        f'<li><svg class="key" aria-hidden="true" viewBox="0 0 26 12">'
        f'<path class="line {kind}" d="M1 6H25"/>{mark(13, 6, kind)}</svg>{escape(text)}</li>'
        for kind, text in kinds)
    return f'<ul class="legend">{items}</ul>'


def dot_key(kinds):
    items = "".join(
        f'<li><svg class="key" aria-hidden="true" viewBox="0 0 12 12">'
        f'<path class="blob {kind}" d="M6 6h0"/></svg>{escape(text)}</li>'
        for kind, text in kinds)
    return f'<ul class="legend">{items}</ul>'
