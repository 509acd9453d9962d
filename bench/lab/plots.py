"""Figures as SVG, drawn by matplotlib.

The background is transparent and all colors are of middle lightness, so that a figure can
be read on a light page and on a dark one. The same data gives the same bytes. Clouds of
points are embedded as pictures: as vectors they would take 80 bytes per point.

matplotlib is only imported when the first figure is drawn, because the peak memory of a
child process is never less than that of its parent.
"""
import importlib.util
import io

from lab import Failed

INK = "#7a828c"  # text and axes
BLUE, ORANGE, GREEN, PURPLE = "#2f81c9", "#d2691e", "#1f9a72", "#9a63c9"
RED, AMBER, GRAY, CYAN = "#d1495b", "#b8860b", "#808080", "#1c9bb5"
SETTINGS = {
    "svg.hashsalt": "wordtide", "svg.fonttype": "none", "text.parse_math": False,
    "font.family": "sans-serif", "font.size": 9, "axes.titlesize": 9,
    "axes.titleweight": "bold", "axes.labelsize": 9, "legend.fontsize": 9,
    "text.color": INK, "axes.labelcolor": INK, "axes.titlecolor": INK,
    "xtick.color": INK, "ytick.color": INK, "axes.edgecolor": INK,
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.alpha": 0.25, "grid.color": INK, "axes.axisbelow": True,
    "legend.frameon": False, "lines.linewidth": 1.6, "lines.markersize": 5,
    "axes.unicode_minus": True, "figure.constrained_layout.use": True,
}
DOTS_DPI = 150


def require():
    """To be called before hours of measurements."""
    if not importlib.util.find_spec("matplotlib"):
        raise Failed("figures need matplotlib: install python3-matplotlib")


def figure(rows=1, columns=1, width=6.0, height=3.2, **options):
    """A figure of that many inches and its axes, an array if there are several; other
    options are those of subplots()."""
    require()
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(SETTINGS)
    drawn = Figure(figsize=(width, height))
    return drawn, drawn.subplots(rows, columns, **options)


def svg(drawn):
    """The text of a figure."""
    text = io.StringIO()
    drawn.savefig(text, format="svg", transparent=True, dpi=DOTS_DPI,
                  bbox_inches="tight", pad_inches=0.05,
                  metadata={"Date": None, "Creator": None})
    return text.getvalue()


def short_number(value, _=None):
    """1200 as 1.2k, 17000000 as 17M; small numbers as they are."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}".replace("-", "−")


def name_axes(axes, x, y, log_x=False, log_y=False):
    """Names the axes of a plot that has its data, and writes numbers in full."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for axis, log, scale in ((axes.xaxis, log_x, axes.set_xscale),
                             (axes.yaxis, log_y, axes.set_yscale)):
        if log:
            scale("log")
            low, high = axis.get_data_interval()
            wide = not 0 < low < high < 300 * low
            axis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
            axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(short_number)


def dots(axes, points, color, label=None, alpha=0.35):
    """A cloud of [(x, y)]."""
    if points:
        axes.scatter(*zip(*points), s=6, color=color, alpha=alpha, linewidths=0, label=label,
                     rasterized=True)


def legend(axes, **options):
    """Next to the plot, on the right."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), **options)


def place_labels(drawn, axes, labels, lines=()):
    """Writes a label next to each of [(x, y, text, color)], within the axes, where it covers
    no point, no other label and, if possible, none of the lines, pairs of points (x, y)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    renderer, frame = canvas.get_renderer(), axes.get_window_extent().extents
    inch = drawn.dpi / 72  # pixels per typographic point
    pixels = axes.transData.transform
    taken = [square(pixels((x, y)), 4 * inch) for x, y, _, _ in labels]
    for start, end in lines:
        (left, bottom), (right, top) = pixels(start), pixels(end)
        taken += [square((left + (right - left) * i / 100, bottom + (top - bottom) * i / 100),
                         inch) for i in range(101)]
    for x, y, text, color in labels:
        label = axes.annotate(text, (x, y), (0, 0), textcoords="offset points", color=color,
                              fontsize=8, va="bottom")
        label.set_in_layout(False)
        size, point = label.get_window_extent(renderer), pixels((x, y))
        box = free_place(point, (size.width, size.height), taken, frame, 5 * inch)
        label.set_position(((box[0] - point[0]) / inch, (box[1] - point[1]) / inch))
        taken.append(box)


def square(center, half):
    return (center[0] - half, center[1] - half, center[0] + half, center[1] + half)


def free_place(point, size, taken, frame, gap):
    """A box (left, bottom, right, top) of this size next to a point, as near as possible, that
    overlaps none of `taken` and lies in `frame`; if there is none, that which overlaps least."""
    (x, y), (width, height) = point, size
    best, least = None, None
    for step in range(6):
        for across, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            distance = gap + step * height / 2
            left = x + across * (width / 2 + distance) - width / 2
            bottom = y + up * (height / 2 + distance) - height / 2
            box = (left, bottom, left + width, bottom + height)
            cost = (sum(overlap(box, other) for other in taken) + 9 * outside(box, frame)
                    + step * height**2 / 2)
            if best is None or cost < least:
                best, least = box, cost
    return best


def overlap(one, other):
    """The area that two boxes share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0, width) * max(0, height)


def outside(box, frame):
    """The area of a box that lies outside of another."""
    return (box[2] - box[0]) * (box[3] - box[1]) - overlap(box, frame)
