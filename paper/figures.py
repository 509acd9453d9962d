"""The figures of the report: from measurements to matplotlib."""
import math

from lab import plots

COUNT_POINTS = 3000  # per panel, at most
CELL_POINTS = 2000
COLUMNS = 5  # of cells
NAMES = {"twin": "the paper's word2vec again"}  # the others are names of profiles
WAYS = {"plain": "plain Space-Saving (the paper)", "gate": "with the gate (default)"}
HELD, DROPPED = plots.BLUE, plots.RED
STYLES = {"default": (plots.BLUE, "o"), "fast": (plots.CYAN, "s"), "paper": (plots.RED, "^"),
          "athena": (plots.AMBER, "v"), "incremental": (plots.GREEN, "D"),
          "word2vec": (plots.GRAY, "P"), "twin": (plots.GRAY, "P")}


def rows(path):
    """The rows of a TSV file with a header, as lists of texts."""
    with open(path, encoding="utf-8") as file:
        next(file, None)
        for line in file:
            yield line.rstrip("\n").split("\t")


def line(axes, points, profile, label=None):
    color, marker = STYLES[profile]
    axes.plot([x for x, _ in points], [y for _, y in points], color=color, marker=marker,
              label=label or profile)


# -- counts --------------------------------------------------------------------------------


def count_points(path, k):
    """(rank, error, held) of the true top K words, thinned out: half of the points evenly by
    rank, the other half by its logarithm."""
    half = COUNT_POINTS / 2
    log_density, density = half / math.log(max(k, 2)), min(1, half / k)
    points, last = [], (-1, -1)
    for rank, _, _, held, error in rows(path):
        rank = int(rank)
        if rank > k:
            break
        bin_ = (int(log_density * math.log(rank)), int(density * rank))
        if bin_ != last:
            points.append((rank, float(error), held == "1"))
        last = bin_
    return points


def error_limit(clouds):
    """The error that only a few points exceed; these are drawn there."""
    errors = sorted(error for points in clouds.values() for _, error, _ in points)
    return errors[int(0.998 * (len(errors) - 1))] * 1.05 or 1 if errors else 1


def count_panels(clouds, k, scales):
    """Plain Space-Saving next to the gated one, a row of panels for each scale of the rank."""
    drawn, axes = plots.figure(len(scales), 2, 8.4, 0.4 + 2.7 * len(scales), sharey=True,
                               squeeze=False)
    most = error_limit(clouds)
    for row, scale in zip(axes, scales):
        for panel, (way, heading) in zip(row, WAYS.items()):
            for kind, color, name in ((True, HELD, "held"),
                                      (False, DROPPED, "dropped: smallest counter taken")):
                plots.dots(panel, [(r, min(e, most)) for r, e, held in clouds[way]
                                   if held is kind], color, label=name, alpha=0.6)
            plots.name_axes(panel, "true rank of the word", "", log_x=scale == "log")
            panel.set_title(heading)
            panel.set_xlim(0.9 if scale == "log" else 0, max(k, 10))
            panel.set_ylim(-0.02 * most, most)
        row[0].set_ylabel("relative error of its count")
    handles = axes[0, 0].get_legend_handles_labels()
    if len(handles[0]) > 1:
        axes[0, 0].legend(markerscale=2, loc="upper left")
    return drawn


# -- agreement ------------------------------------------------------------------------------


def cell_points(path):
    """{(first, second): [(cosine in the reference, cosine in the model)]}"""
    cells = {}
    for first, second, _, _, a, b in rows(path):
        cells.setdefault((first, second), []).append((float(b), float(a)))
    return {cell: points[:CELL_POINTS] for cell, points in cells.items()}


def cell_title(cell):
    heading = f"{cell['first']} × {cell['second']}".replace("-", "–")
    if cell["pearson"] is None:
        return heading + "\nnot defined"
    undefined = f"\n{cell['undefined']:.0%} undefined" if cell["undefined"] else ""
    return f"{heading}\nr {cell['pearson']:.2f}, bias {cell['bias']:+.2f}{undefined}".replace(
        "-", "−")


def agreement(profile, cells, clouds):
    """A panel for each pair of bands, all with the same axes."""
    columns = min(COLUMNS, len(cells))
    lines = math.ceil(len(cells) / columns)
    drawn, axes = plots.figure(lines, columns, max(2.1 * columns, 3), 2.6 * lines, sharex=True,
                               sharey=True, squeeze=False)
    low = min((min(point) for points in clouds.values() for point in points), default=0)
    low = -0.5 if low >= -0.5 else -1
    for panel in axes.flat[len(cells):]:
        panel.set_visible(False)
    for panel, cell in zip(axes.flat, cells):
        panel.axline((0, 0), slope=1, color=plots.INK, linewidth=0.8, linestyle="--")
        plots.dots(panel, clouds.get((cell["first"], cell["second"]), []), STYLES[profile][0])
        panel.set(xlim=(low, 1), ylim=(low, 1), aspect="equal")
        panel.set_title(cell_title(cell), fontsize=8)
        plots.name_axes(panel, "", "")
        panel.locator_params(nbins=4)
    drawn.supxlabel("cosine in the paper's word2vec", fontsize=9)
    drawn.supylabel("the same in another run" if profile == "twin" else f"in {profile}",
                    fontsize=9)
    return drawn


# -- along the stream -------------------------------------------------------------------------


def stream_quality(traces, what, levels, y_name):
    """`traces` is {profile: steps}, `levels` [(label, quality)] of batch word2vec."""
    drawn, axes = plots.figure(width=7)
    for profile, steps in traces.items():
        line(axes, [(s["tokens"], s[what]) for s in steps if s[what] is not None], profile)
    for (label, value), style in zip(levels, ("--", ":")):
        axes.axhline(value, color=plots.GRAY, linestyle=style, label=label)
    plots.name_axes(axes, "words of the stream", y_name)
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    plots.legend(axes)
    return drawn


def per_thousand(steps, what):
    """Events per thousand words of the stream, step by step; steps without any are left
    out."""
    points, before = [], {"tokens": 0, what: 0}
    for step in steps:
        read = step["tokens"] - before["tokens"]
        if read and step[what] > before[what]:
            points.append((step["tokens"], 1000 * (step[what] - before[what]) / read))
        before = step
    return points


def churn(traces):
    drawn, axes = plots.figure(1, 2, 8.4, 2.8)
    for panel, (what, heading) in zip(axes, (("admitted", "words admitted"),
                                             ("evicted_young", "words evicted young"))):
        lines = {profile: per_thousand(steps, what) for profile, steps in traces.items()}
        for profile, points in lines.items():
            line(panel, points, profile)
        plots.name_axes(panel, "words of the stream", "per thousand words",
                        log_y=any(lines.values()))
        panel.set_title(heading)
        if not any(lines.values()):
            panel.text(0.5, 0.5, "none", transform=panel.transAxes)
    plots.legend(axes[-1])
    return drawn


def time(traces, what, batches, y_name):
    """`batches` is [(epochs, seconds, quality)]."""
    drawn, axes = plots.figure(width=7)
    for profile, steps in traces.items():
        line(axes, [(s["cpu_seconds"], s[what]) for s in steps
                    if s[what] is not None and s["cpu_seconds"] > 0], profile)
    line(axes, [(seconds, quality) for _, seconds, quality in batches], "word2vec",
         "batch word2vec;\nthe number is its epochs")
    for epochs, seconds, quality in batches:
        axes.annotate(str(epochs), (seconds, quality), xytext=(0, 6), ha="center",
                      textcoords="offset points")
    plots.name_axes(axes, "CPU seconds of one core", y_name, log_x=True)
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    plots.legend(axes)
    return drawn
