"""The figures: from what was measured to SVG."""
import math

import page
import svg
from svg import Axis, Plot, fitting

COUNT_POINTS = 3000  # of a panel at most
CELL_POINTS = 2000
NAMES = {"twin": "the paper's word2vec again"}  # others are those of profiles


def rows(path):
    """The rows of a TSV file with a head, as lists of text."""
    with open(path, encoding="utf-8") as file:
        next(file, None)
        for line in file:
            yield line.rstrip("\n").split("\t")


# -- counts --------------------------------------------------------------------------------


def count_points(path, k):
    """(rank, error, held) of the true top K words, thinned out: one half evenly over the
    rank, the other over its logarithm."""
    half = COUNT_POINTS / 2
    log_density, density = half / math.log(max(k, 2)), min(1, half / k)
    points, last = [], (-1, -1)
    for rank, _, _, held, error in rows(path):
        rank = int(rank)
        if rank > k:
            break
        place = (int(log_density * math.log(rank)), int(density * rank))
        if place != last:
            points.append((rank, float(error), held == "1"))
        last = place
    return points


def error_axis(clouds):
    """From 0 to where all but a few points are."""
    errors = sorted(error for points in clouds for _, error, _ in points)
    most = errors[int(0.998 * (len(errors) - 1))] if errors else 1
    return fitting([0, most or 1], zero=True)


def count_plot(points, y, k, title, log):
    plot = Plot(Axis(1 if log else 0, max(k, 10), log=log), y).axes(
        "true rank of the word", "relative error of its count", y_ticks=5)
    for kind, wanted in (("firm s-held", True), ("firm s-dropped", False)):
        plot.dots([(r, e) for r, e, held in points if held is wanted], kind)
    return plot.svg(title)


def count_panels(clouds, k, log):
    """Plain Space-Saving and the gated one, in the same frame."""
    y = error_axis(clouds.values())
    headings = {"plain": "plain Space-Saving (the paper)", "gate": "with the gate (default)"}
    return page.panels([(heading, count_plot(clouds[way], y, k, heading, log))
                        for way, heading in headings.items()])


def counts_figure(name, number, k, types, clouds):
    size = min(k, types)
    body = svg.dot_key([("s-held", "held"), ("s-dropped", "dropped, smallest counter taken")])
    body += count_panels(clouds, size, log=True)
    body += page.more("Over the rank itself, as in the paper",
                      count_panels(clouds, size, log=False), opened=True)
    return page.figure(
        name, f"Figure {number}: error of counts, K = {k:,}", body,
        f"Relative error of a word's count against its true rank, the {size:,} most frequent "
        f"words, of which up to {COUNT_POINTS:,} are drawn. A dropped word is given the "
        "smallest counter, as in the paper.")


def held_figure(name, number, k, types, clouds):
    kept = {way: [point for point in points if point[2]] for way, points in clouds.items()}
    return page.figure(
        name, f"Figure {number}: the same without dropped words, K = {k:,}",
        count_panels(kept, min(k, types), log=False),
        "Over the rank itself. Strata are words of the same true frequency, whose errors have "
        "the same denominator.")


# -- agreement ------------------------------------------------------------------------------


def cell_points(path):
    """{(first, second): [(cosine of the reference, cosine of the model)]}."""
    cells = {}
    for first, second, _, _, a, b in rows(path):
        cells.setdefault((first, second), []).append((float(b), float(a)))
    return {cell: points[:CELL_POINTS] for cell, points in cells.items()}


def cosine_axis(clouds):
    """One frame for all cells of the report: -0.5 to 1, or -1 to 1."""
    lowest = min((min(point) for cells in clouds for points in cells.values()
                  for point in points), default=0)
    return Axis(-0.5 if lowest >= -0.5 else -1, 1, form=lambda v: f"{v:g}".replace("-", "−"))


def cell_plot(cell, points, axis, profile):
    plot = Plot(axis, axis, width=180, height=172, left=36, right=6, top=5, bottom=31)
    plot.axes("word2vec", "again" if profile == "twin" else profile, x_ticks=4, y_ticks=4)
    plot.identity()
    plot.dots(points, f"s-{profile}")
    name = NAMES.get(profile, f"profile {profile}")
    return plot.svg(f"{name}: cosines of words of ranks {cell['first']} with "
                    f"{cell['second']}")


def cell_html(cell, points, axis, profile):
    heading = f"{cell['first']} × {cell['second']}".replace("-", "–")
    r, bias = page.fraction(cell["pearson"], 2), page.fraction(cell["bias"], 2, "+")
    return (f'<div class="cell"><h4>{heading}</h4>{cell_plot(cell, points, axis, profile)}'
            f"<p><b>r {r}</b> · bias {bias}<br>undefined {cell['undefined']:.2f}</p></div>")


def cells_grid(cells, clouds, axis, profile):
    body = "".join(
        cell_html(cell, clouds.get((cell["first"], cell["second"]), []), axis, profile)
        for cell in cells)
    return f'<div class="cells">{body}</div>'


def agreement_figure(name, number, k, found, axis):
    """`found` is {profile: (cells, clouds)}; the paper's two and the default stay open."""
    body = "".join(
        page.more(NAMES.get(profile, f"profile {profile}"),
                  cells_grid(cells, clouds, axis, profile),
                  opened=profile in ("paper", "athena", "default"))
        for profile, (cells, clouds) in found.items())
    return page.figure(
        name, f"Figure {number}: cosines beside the paper's word2vec, K = {k:,}", body,
        "A point is a pair of different words, one of each band of ranks: its cosine in the "
        "model against its cosine in the word2vec of the paper's program. r is Pearson's "
        "correlation over all pairs that are defined, bias the mean of the difference, "
        f"undefined the share of pairs with a dropped word. At most {CELL_POINTS:,} pairs are "
        "drawn; the dashed line is equality.")


# -- along the stream -------------------------------------------------------------------------


def stream_axis(traces):
    return Axis(0, max(step["tokens"] for steps in traces.values() for step in steps))


def stream_quality(name, number, traces, what, levels, y_name, caption):
    """`traces` is {profile: steps}, `levels` [(label, value)] of word2vec."""
    lines = {p: [(s["tokens"], s[what]) for s in steps if s[what] is not None]
             for p, steps in traces.items()}
    values = [v for points in lines.values() for _, v in points]
    values += [value for _, value in levels]
    plot = Plot(stream_axis(traces), fitting(values, zero=True), height=280,
                right=104).axes("words of the stream", y_name)
    for label, value in levels:
        plot.rule(value, "s-word2vec", label)
    for profile, points in lines.items():
        plot.line(points, f"s-{profile}", profile)
    return page.figure(name, f"Figure {number}: quality along the stream",
                       page.single(plot.svg("quality along the stream")), caption)


def per_thousand(steps, what):
    """How many a thousand words of the stream, step by step; none are left out."""
    points, before = [], {"tokens": 0, what: 0}
    for step in steps:
        read = step["tokens"] - before["tokens"]
        if read and step[what] > before[what]:
            points.append((step["tokens"], 1000 * (step[what] - before[what]) / read))
        before = step
    return points


def churn_figure(name, number, traces, caption):
    headings = [("admitted", "words admitted"), ("evicted_young", "words ejected young")]
    pictures = []
    for what, heading in headings:
        lines = {p: per_thousand(steps, what) for p, steps in traces.items()}
        values = [v for points in lines.values() for _, v in points]
        plot = Plot(stream_axis(traces), fitting(values, log=True), right=16).axes(
            "words of the stream", "per thousand words")
        if not values:
            plot.note(plot.x.high * 0.47, 3, "none")
        for profile, points in lines.items():
            plot.line(points, f"s-{profile}")
        pictures.append((heading, plot.svg(heading)))
    body = svg.key([(f"s-{p}", p) for p in traces]) + page.panels(pictures)
    return page.figure(name, f"Figure {number}: words that come and go", body, caption)


# -- quality against time -------------------------------------------------------------------


def time_figure(name, number, traces, what, batches, y_name, caption):
    """`batches` is [(epochs, seconds, quality)]."""
    lines = {p: [(s["cpu_seconds"], s[what]) for s in steps
                 if s[what] is not None and s["cpu_seconds"] > 0]
             for p, steps in traces.items()}
    everything = [*(p for points in lines.values() for p in points),
                  *((t, q) for _, t, q in batches)]
    plot = Plot(fitting([t for t, _ in everything], log=True),
                fitting([q for _, q in everything], zero=True), height=280).axes(
                    "CPU seconds of one core", y_name)
    plot.line([(t, q) for _, t, q in batches], "s-word2vec")
    for epochs, seconds, quality in batches:
        across, down = plot.at(seconds, quality)
        plot.parts.append(f'<text class="tick middle" x="{across:.1f}" y="{down - 7:.1f}">'
                          f"{epochs}</text>")
    for profile, points in lines.items():
        plot.line(points, f"s-{profile}")
    kinds = [(f"s-{p}", p) for p in traces]
    kinds.append(("s-word2vec", "batch word2vec; the number is its epochs"))
    return page.figure(name, f"Figure {number}: quality against time", svg.key(kinds) +
                       page.single(plot.svg("quality against time")), caption)
