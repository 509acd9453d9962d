"""The plot over time: weighted F1 from month to month, and when the world changed."""
from html import escape

import page
import svg
from hashtag_document import Picture
from hashtag_plan import FIXED, PLAINER, REFRESHED
from svg import Axis, Plot, fitting

STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 600)
HEADINGS = {FIXED: "the classifier stays", REFRESHED: "the classifier learns anew",
            PLAINER: "plainer classifiers"}
COMPARED = {REFRESHED: ["stream", "static"], PLAINER: ["stream"]}  # drawn in these too


class TimeAxis(Axis):
    """Ticks are the beginnings of months, weeks or days."""

    def __init__(self, calendar):
        super().__init__(0, calendar.size, form=lambda value: calendar.name(int(value)))
        self.size = calendar.size

    def ticks(self, most=6):
        most = min(most, 4)  # dates are long
        step = next((step for step in STEPS if self.size / step <= most), STEPS[-1])
        return list(range(0, self.size, step))


def points_of(found, split, model):
    """(middle of the month, mean F1) where there were labels to tell."""
    points = []
    for index in range(found.plan.calendar(split).size):
        mean = found.f1_of_periods(split, model.name, index, index + 1)
        if mean is not None:
            points.append((index + 0.5, mean.mean))
    return points


def drawn_in(found, panel):
    """The models of a panel, and what they are compared with."""
    return [model for model in found.plan.models
            if model.panel == panel or model.name in COMPARED.get(panel, [])]


def mark_moment(plot, calendar, parts):
    """A line where the most frequent of the new labels is born."""
    if not parts.newborn:
        return
    across, _ = plot.at(calendar.place(parts.born_at), plot.y.low)
    bottom = plot.top + plot.inner_height
    plot.parts.append(f'<path class="identity" d="M{across:.1f} {plot.top}V{bottom}"/>')
    late = across > plot.left + plot.inner_width * 0.6
    plot.parts.append(f'<text class="tick{" end" if late else ""}" '
                      f'x="{across + (-4 if late else 4):.1f}" y="{plot.top + 9}">'
                      f'#{escape(parts.newborn)}</text>')


def panel_of(found, split, panel, lines, y):
    calendar = found.plan.calendar(split)
    shown = drawn_in(found, panel)
    plot = Plot(TimeAxis(calendar), y, height=260).axes(calendar.unit, "weighted F1")
    mark_moment(plot, calendar, found.plan.parts[split])
    for model in shown:
        plot.line(lines[model.name], model.kind)
    key = svg.key([(model.kind, model.name) for model in shown])
    return HEADINGS[panel], key + plot.svg(f"{split.name}: {HEADINGS[panel]}")


def time_figure(found, split):
    lines = {model.name: points_of(found, split, model) for model in found.plan.models}
    y = fitting([f1 for points in lines.values() for _, f1 in points], zero=True)
    panels = [panel for panel in HEADINGS
              if any(model.panel == panel for model in found.plan.models)]
    newborn = found.plan.parts[split].newborn
    moment = (f" The dashed line is the first post of #{newborn}, the most frequent of the "
              "labels that are born in the test." if newborn else "")
    return Picture(
        f"time-{split.name}", "Weighted F1 over time",
        page.panels([panel_of(found, split, panel, lines, y) for panel in panels]),
        f"Means over seeds, by {found.plan.calendar(split).unit}.{moment} A classifier that "
        "learns anew tells other labels in the course of time, and so is judged by other "
        "posts than one that stays.")
