"""The sections of the report on hashtags: tables, F1 over time, and the paper."""
from hashtag_findings import AGE_NAMES, CHANCE, NOT_FOUND, verdict
from hashtag_plan import FIXED, REFRESHED, SIMPLER
from lab import plots
from lab.document import escaped
from lab.tables import MISSING, fraction, whole

COLUMNS = ["precision", "recall", "F1", "P@1", "P@5", "R@5", "unknown words"]
PAPER = [("stream-cnn", 0.40, 0.49, 0.42), ("static-cnn", 0.40, 0.52, 0.43)]
KNOWN_AGES = [age for age in AGE_NAMES if age != NOT_FOUND]
HEADINGS = {FIXED: "fixed classifier", REFRESHED: "retrained classifier",
            SIMPLER: "simpler classifiers"}
ALSO_DRAWN = {REFRESHED: ["stream", "static"], SIMPLER: ["stream"]}  # for comparison

# Classifiers of two models that are compared predict the same labels, so that both are
# scored on the same posts.
BY_AGE = ("stream", "static")
PAIRS = [BY_AGE, ("stream", "frozen"), ("stream", "stream, no anchors"),
         ("stream, refreshed", "static, refreshed")]


def shown(measure, digits=3):
    """0.412 ± 0.003"""
    if measure is None:
        return MISSING
    spread = "" if measure.spread is None else f" ± {fraction(measure.spread, digits)}"
    return fraction(measure.mean, digits) + spread


def points(gain):
    return fraction(100 * gain, 1, "+")


# -- one split -------------------------------------------------------------------------


def ages_table(document, found, split, panel):
    models = [m.name for m in found.plan.models if m.panel == panel]
    if not models:
        return
    rows = []
    for age in AGE_NAMES:
        labels, posts = found.size_of_age(split, models[0], age)
        if labels:
            rows.append([age, whole(labels), whole(posts),
                         *(shown(found.f1_of_age(split, name, age)) for name in models)])
    document.table(["age of the label", "labels", "posts", *models], rows,
                   f"Weighted F1 by age of the label, {HEADINGS[panel]}.",
                   name=f"ages-{panel}-{split.name}")


def f1_over_time(found, split, model):
    """[(middle of the month, mean F1)] where a label was predicted."""
    months = range(found.plan.calendar(split).size)
    means = [found.f1_of_periods(split, model.name, month, month + 1) for month in months]
    return [(month + 0.5, mean.mean) for month, mean in zip(months, means) if mean]


def draw_panel(axes, found, split, panel):
    calendar, parts = found.plan.calendar(split), found.plan.parts[split]
    for model in found.plan.models:
        if model.panel == panel or model.name in ALSO_DRAWN.get(panel, []):
            line = f1_over_time(found, split, model)
            axes.plot([x for x, _ in line], [y for _, y in line], "o-", color=model.color,
                      markersize=3, label=model.name)
    if parts.newborn:
        late = calendar.position(parts.born_at) / calendar.size > 0.6
        axes.axvline(calendar.position(parts.born_at), color=plots.INK, linestyle="--",
                     linewidth=0.9)
        axes.annotate(f"#{parts.newborn}", (calendar.position(parts.born_at), 1),
                      xycoords=("data", "axes fraction"), va="top",
                      xytext=(-4 if late else 4, 0), textcoords="offset points",
                      ha="right" if late else "left")
    step = -(-calendar.size // 6)
    axes.set_xticks(range(0, calendar.size, step),
                    [calendar.name(month) for month in range(0, calendar.size, step)])
    axes.set(xlim=(0, calendar.size), ylabel="weighted F1")
    axes.set_title(HEADINGS[panel])
    plots.legend(axes)


def time_figure(document, found, split):
    panels = [panel for panel in HEADINGS
              if any(model.panel == panel for model in found.plan.models)]
    drawn, axes = plots.figure(len(panels), 1, 8, 2.6 * len(panels), sharey=True,
                               squeeze=False)
    for one, panel in zip(axes.flat, panels):
        draw_panel(one, found, split, panel)
    axes[0, 0].set_ylim(bottom=0)
    newborn = found.plan.parts[split].newborn
    moment = (f" The dashed line is the first post of #{escaped(newborn)}, the most frequent "
              "of the labels that are new in the test." if newborn else "")
    document.figure(
        f"time-{split.name}", "Weighted F1 over time", plots.svg(drawn),
        f"Means over seeds, by {found.plan.calendar(split).unit}.{moment} A retrained "
        "classifier predicts other labels as time goes by, and so is scored on other posts "
        "than a fixed one.")


def split_section(document, found, split):
    parts, plan = found.plan.parts[split], found.plan
    refit = ""
    if any(model.panel == REFRESHED for model in plan.models):
        refit = f" A retrained classifier is fitted every {plan.refit(split):,} posts."
    document.section(f"split-{split.name}", f"Split {split.name}")
    document.text(
        f"Trained on {parts.posts:,} posts, from {split.train.begin} to before "
        f"{split.train.end}; tested on {parts.tested:,}, from {split.test.begin} to before "
        f"{split.test.end}.{refit}")
    document.table(
        ["model", *COLUMNS],
        [[model.name, *map(shown, found.row(split, model.name))] for model in plan.models],
        "All posts of the test with a label that is predicted at the time; precision, recall "
        "and F1 are weighted means over labels.", name=f"scores-{split.name}")
    time_figure(document, found, split)
    for panel in HEADINGS:
        ages_table(document, found, split, panel)
    document.text(
        "The age of a label is the time from its first post in the whole stream to the "
        "beginning of the test; none is older than the stream, which begins in "
        f"{found.survey.first[:7]}. Labels that are new in the test can be predicted only by a "
        "retrained classifier.")


# -- gains -----------------------------------------------------------------------------


def compared(found, split):
    """The pairs whose two runs both exist."""
    return [pair for pair in PAIRS if found.has(split, *pair)]


def gain_cell(found, split, pair, ask, *where):
    one, other = (ask(split, model, *where) for model in pair)
    if one is None or other is None:
        return MISSING
    return f"{points(one.mean - other.mean)} {verdict(one, other) or ''}".rstrip()


def gains_table(document, found, split, pairs):
    halves = found.halves(split)
    rows = [[" − ".join(pair),
             *(gain_cell(found, split, pair, ask)
               for ask in (found.f1, found.precision_at_1, found.recall_at_5)),
             *(gain_cell(found, split, pair, found.f1_of_periods, first, last)
               for _, first, last in halves)] for pair in pairs]
    document.table(["models", "F1", "P@1", "R@5", *(f"F1, {name}" for name, _, _ in halves)],
                   rows, "Differences in points, of weighted F1, P@1 and R@5, and of F1 in the "
                   "two halves of the test.", name=f"gains-{split.name}")


def gains_by_age(document, found, split):
    rows = [[age, gain_cell(found, split, BY_AGE, found.f1_of_age, age)] for age in KNOWN_AGES]
    document.table(["age of the label", " − ".join(BY_AGE)],
                   [row for row in rows if row[1] != MISSING],
                   "Differences in points of weighted F1, by age of the label.",
                   name=f"gains-ages-{split.name}")


def sentence(found, split, one, other):
    """What the scores of two models say."""
    a, b = found.f1(split, one), found.f1(split, other)
    if a is None or b is None:
        return f"{one} and {other} cannot be compared: no post had a label that was predicted."
    gain = a.mean - b.mean
    result = {
        "better": f"is {fraction(100 * gain, 1)} points better than {other}",
        "worse": f"is {fraction(-100 * gain, 1)} points worse than {other}",
        "level": f"is level with {other}",
        None: f"has {points(gain)} points against {other}, with one seed and no verdict",
    }[verdict(a, b)]
    ages = by_age(found, split, one, other) if (one, other) == BY_AGE else ""
    return f"{one} {result} (weighted F1 {shown(a)} against {shown(b)}).{ages}"


def by_age(found, split, one, other):
    ages = {"better": [], "worse": [], "level": []}
    for age in KNOWN_AGES:
        result = verdict(found.f1_of_age(split, one, age), found.f1_of_age(split, other, age))
        if result:
            ages[result].append(age)
    parts = [f"{result} at {', '.join(names)}" for result, names in ages.items() if names]
    return f" By age of the label: {'; '.join(parts)}." if parts else ""


def noise(seeds):
    if seeds == 1:
        return "There was one seed, so the spread is unknown and there are no verdicts."
    return (f"Scores are means over {seeds} seeds with their sample standard deviation. A "
            f"difference counts when it is more than {CHANCE} times the larger of the two "
            "deviations; otherwise both are level.")


def gains_section(document, found):
    document.section("gains", "What the live vocabulary gains and loses")
    if not any(compared(found, split) for split in found.plan.splits):
        document.text("No two models that can be compared were run.")
        return
    document.text(noise(len(found.plan.seeds)))
    for split in found.plan.splits:
        pairs = compared(found, split)
        if pairs:
            document.heading(f"Split {split.name}")
            document.bullets([sentence(found, split, *pair) for pair in pairs])
            gains_table(document, found, split, pairs)
        if BY_AGE in pairs:
            gains_by_age(document, found, split)


# -- the paper, and all sections ---------------------------------------------------------


def paper_section(document, found):
    rows = [["the paper", name, *(f"{value:.2f}" for value in scores)]
            for name, *scores in PAPER]
    rows += [[f"this stream, split {split.name}", name,
              *map(shown, found.row(split, name)[:3])]
             for split in found.plan.splits
             for name in ("stream", "athena", "paper", "static")
             if found.has(split, name)]
    document.section("paper", "Next to the paper")
    document.note("The paper's scores are of another corpus, a sample of tweets of January and "
                  "February 2016, with one run of each model. Do not compare values with those "
                  "of this stream, only which of two models is ahead, and by how much.")
    document.table(["corpus", "model", *COLUMNS[:3]], rows,
                   "Weighted precision, recall and F1.", texts=2, name="paper-table")


def add_sections(document, found):
    gains_section(document, found)
    for split in found.plan.splits:
        split_section(document, found, split)
    paper_section(document, found)
    document.section("models", "The models")
    document.facts([(model.name, model.about) for model in found.plan.models])
